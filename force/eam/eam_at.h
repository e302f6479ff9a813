/* force/eam/eam_at.h - a tabulated function between and beyond its knots (eam.h): one formula for
 * host and device, in double.  On a device curve->knot lies there. */
#ifndef EAM_AT_H
#define EAM_AT_H

#include "force/eam/eam.h"

/* The cubic from knot m; on a device by two loads of 16 bytes. */
MD_INLINE void eam_coefficients(const eam_curve *curve, int64_t m, double c[4])
{
#ifdef __CUDA_ARCH__
  const double2 *at = (const double2 *)curve->knot[m];
  const double2 low = at[0], high = at[1];
  c[0] = low.x, c[1] = low.y, c[2] = high.x, c[3] = high.y;
#else
  for (int k = 0; k < 4; k++)
    c[k] = curve->knot[m][k];
#endif
}

/* Value and slope; beyond the last knot those of the last. */
MD_INLINE double eam_at(const eam_curve *curve, double at, double *slope)
{
  const double t = at / curve->step, last = (double)(curve->n - 2);
  const int64_t m = t >= last ? curve->n - 2 : t > 0 ? (int64_t)t : 0; /* NaN: 0 */
  const double p = t - (double)m > 1 ? 1 : t - (double)m;
  double c[4];
  eam_coefficients(curve, m, c);
  *slope = (c[1] + p * (2 * c[2] + p * 3 * c[3])) / curve->step;
  return c[0] + p * (c[1] + p * (c[2] + p * c[3]));
}

/* How far the knots reach. */
MD_INLINE double eam_end(const eam_curve *curve)
{
  return (double)(curve->n - 1) * curve->step;
}

/* Value and slope; beyond the last knot the function goes on linearly. */
MD_INLINE double eam_on(const eam_curve *curve, double at, double *slope)
{
  const double value = eam_at(curve, at, slope), end = eam_end(curve);
  return at > end ? value + *slope * (at - end) : value;
}

#endif
