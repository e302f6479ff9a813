/* stokes/mobility/rpy_pair.h - the near part of the mobility of two spheres, and of one.
 *
 *     M^near = f (I - e e^T) + g e e^T        for centres r apart
 *
 * With t = xi |x|, E = erfc t, G = exp(-t^2) / sqrt(pi) and the odd function
 *
 *     W(x)   = sgn(x) pi/(48 xi^4) [3/4 erf t + t^4 E - (t^3 - t/2) G]
 *     W'(x)  =        pi/(12 xi^3) [t^3 E - (t^2 - 1/2) G]
 *     W''(x) = sgn(x) pi/( 4 xi^2) [t^2 E - t G]
 *     U(r)   = W(r + a - b) + W(r - a + b) - W(r + a + b) - W(r - a - b)
 *
 * f = -c (U''/r - U'/r^2 + U/r^3), g = -2 c (U'/r^2 - U/r^3), c = 1 / (8 pi^2 eta a b).  The same
 * formula holds for unequal, overlapping and engulfed spheres: r W is four times the integral of
 * sin(kr) (1 - H) / k^5, and multiplication with sin(ka) is a difference of shifts.  What E leaves
 * of the erf, 3/4 sgn(x), is summed apart, so that nothing cancels where spheres do not overlap. */
#ifndef RPY_PAIR_H
#define RPY_PAIR_H

#include <math.h>

#include "core/md.h"

typedef struct {
  double f, g;
} rpy_block;

/* w += sign (W, W', W'') at x, in units of pi/48 xi^-4, pi/12 xi^-3 and pi/4 xi^-2, where W lacks
 * 3/4 sgn(x), of which sgn(x) is added to *sum; at x = 0 the two cancel. */
MD_INLINE void rpy_add_w(double sign, double x, double xi, double *w, double *sum)
{
  const double inv_root_pi = 0.5641895835477563;
  const double s = x < 0 ? -sign : sign, t = xi * fabs(x), t_sq = t * t;
  const double tail = erfc(t), bell = inv_root_pi * exp(-t_sq);
  w[0] += s * ((t_sq * t_sq - 0.75) * tail - t * (t_sq - 0.5) * bell);
  w[1] += sign * (t_sq * t * tail - (t_sq - 0.5) * bell);
  w[2] += s * t * (t * tail - bell);
  *sum += s;
}

/* Centres at one place: f = g = -4 c/3 [W'''(a - b) - W'''(a + b)] with
 * W''' = pi/(4 xi) [2 t E - G]. */
MD_INLINE double rpy_near_centred(double a, double b, double xi, double viscosity)
{
  const double inv_root_pi = 0.5641895835477563;
  const double inner = xi * fabs(a - b), outer = xi * (a + b);
  const double both = 2 * outer * erfc(outer) - 2 * inner * erfc(inner) +
                      inv_root_pi * (exp(-inner * inner) - exp(-outer * outer));
  return both / (24 * 3.141592653589793 * viscosity * a * b * xi);
}

/* Centres nearer than this many (a + b) count as one place, for U loses its digits there: f and g
 * are then wrong by at most 3e-5 of the value. */
#define RPY_CENTRED 5e-5

MD_INLINE rpy_block rpy_near_pair(double r, double a, double b, double xi, double viscosity)
{
  double w[3] = {0, 0, 0}, sum = 0;
  if (r < RPY_CENTRED * (a + b)) {
    const double same = rpy_near_centred(a, b, xi, viscosity);
    return (rpy_block){same, same};
  }
  rpy_add_w(1, r + a - b, xi, w, &sum);
  rpy_add_w(1, r - a + b, xi, w, &sum);
  rpy_add_w(-1, r + a + b, xi, w, &sum);
  rpy_add_w(-1, r - a - b, xi, w, &sum);
  const double inv_r = 1 / r, inv_xi = 1 / xi;
  /* c pi/4 xi^-2; over r, r^2 and r^3 what U'', U' and U are in these units */
  const double c = inv_xi * inv_xi / (32 * 3.141592653589793 * viscosity * a * b);
  const double curve = w[2] * inv_r;
  const double slope = w[1] * inv_xi / 3 * inv_r * inv_r;
  const double value = (w[0] + 0.75 * sum) * inv_xi * inv_xi / 12 * inv_r * inv_r * inv_r;
  return (rpy_block){-c * (curve - slope + value), -2 * c * (slope - value)};
}

#endif
