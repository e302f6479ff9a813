/* stokes/solver/jacobi.h - the block-Jacobi preconditioner M = L L^T, one sphere at a time.
 *
 * Blocks are packed: symmetric ones as xx xy xz yy yz zz, L as 00 10 11 20 21 22.  Host and device
 * code. */
#ifndef STOKES_JACOBI_H
#define STOKES_JACOBI_H

#include "stokes/matrix/inverse.h"

/* L and M^-1 of a diagonal block d; false if d is not positive definite. */
MD_INLINE bool jacobi_factor(const double *d, double *lower, double *inverse)
{
  const double a = sqrt(d[0]), b = d[1] / a, c = d[2] / a;
  const double e = sqrt(d[3] - b * b), f = (d[4] - b * c) / e, g = sqrt(d[5] - c * c - f * f);
  const double ia = 1 / a, ie = 1 / e, ig = 1 / g; /* L^-1: ia; ib ie; ic ih ig */
  const double ib = -b * ia * ie, ih = -f * ie * ig, ic = -(c * ia + f * ib) * ig;
  lower[0] = a, lower[1] = b, lower[2] = e, lower[3] = c, lower[4] = f, lower[5] = g;
  inverse[0] = ia * ia + ib * ib + ic * ic;
  inverse[1] = ib * ie + ic * ih;
  inverse[2] = ic * ig;
  inverse[3] = ie * ie + ih * ih;
  inverse[4] = ih * ig;
  inverse[5] = ig * ig;
  return a > 0 && e > 0 && g > 0; /* NaN is not */
}

/* Largest eigenvalue of a symmetric block: the roots of its characteristic polynomial are cosines.
 */
MD_INLINE double jacobi_largest(const double *d)
{
  const double mean = (d[0] + d[3] + d[5]) / 3, a = d[0] - mean, b = d[3] - mean, c = d[5] - mean;
  const double off = d[1] * d[1] + d[2] * d[2] + d[4] * d[4];
  const double spread = sqrt((a * a + b * b + c * c + 2 * off) / 6);
  if (!(spread > 0)) return mean;
  const double det =
      a * (b * c - d[4] * d[4]) - d[1] * (d[1] * c - d[4] * d[2]) + d[2] * (d[1] * d[4] - b * d[2]);
  const double cosine = det / (2 * spread * spread * spread);
  return mean + 2 * spread * cos(acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine) / 3);
}

/* y = M^-1 x for rows m apart; y may be x. */
MD_INLINE void jacobi_solve(const double *inverse, int m, const double *x, double *y)
{
  const double a = x[0], b = x[m], c = x[2 * m];
  y[0] = inverse[0] * a + inverse[1] * b + inverse[2] * c;
  y[m] = inverse[1] * a + inverse[3] * b + inverse[4] * c;
  y[2 * m] = inverse[2] * a + inverse[4] * b + inverse[5] * c;
}

/* M = L D L^T with ones on the diagonal of L, below them a; b c; and the inverse of D. */
typedef struct {
  double a, b, c, inverse[3];
} jacobi_unit;

/* block is positive definite. */
MD_INLINE jacobi_unit jacobi_unit_of(const double *block)
{
  const double first = inverse_of(block[0]), a = block[1] * first, b = block[2] * first;
  const double second = inverse_of(block[3] - a * block[1]), rest = block[4] - b * block[1];
  const double c = rest * second, third = inverse_of(block[5] - b * block[2] - c * rest);
  const jacobi_unit unit = {a, b, c, {first, second, third}};
  return unit;
}

/* y = L^-1 x for rows m apart; x.M^-1 w is the sum of y_d D_d^-1 v_d with v = L^-1 w. */
MD_INLINE void jacobi_forward(const jacobi_unit *unit, int m, const double *x, double *y)
{
  y[0] = x[0];
  y[1] = x[m] - unit->a * y[0];
  y[2] = x[2 * m] - unit->b * y[0] - unit->c * y[1];
}

/* y = M^-1 x from M itself. */
MD_INLINE void jacobi_solve_block(const double *block, int m, const double *x, double *y)
{
  const jacobi_unit unit = jacobi_unit_of(block);
  double v[3];
  jacobi_forward(&unit, m, x, v);
  const double w = v[2] * unit.inverse[2], middle = v[1] * unit.inverse[1] - unit.c * w;
  y[0] = v[0] * unit.inverse[0] - unit.a * middle - unit.b * w;
  y[m] = middle;
  y[2 * m] = w;
}

/* y = L x for rows m apart; y may be x. */
MD_INLINE void jacobi_lower(const double *lower, int m, const double *x, double *y)
{
  const double a = x[0], b = x[m], c = x[2 * m];
  y[0] = lower[0] * a;
  y[m] = lower[1] * a + lower[2] * b;
  y[2 * m] = lower[3] * a + lower[4] * b + lower[5] * c;
}

#endif
