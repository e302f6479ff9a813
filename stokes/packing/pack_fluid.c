/* stokes/packing/pack_fluid.c - what theory says of a fluid of hard spheres: see pack_impl.h.
 *
 * Boublik, Mansoori, Carnahan, Starling, Leland (BMCSL), for one size Carnahan and Starling:
 *   g_ab = 1/v + 3 z2 q/v^2 + 2 z2^2 q^2/v^3,  v = 1 - z3,  q = s_a s_b/(s_a + s_b),
 *   z_k = pi/6 rho <s^k>,  s: diameters.
 * g is a polynomial in q, and s_ab^2 and s_ab^3 times powers of q are polynomials in s_a and s_b:
 * sums over all pairs of sizes are products of moments <s^k>. */
#include "stokes/packing/pack_impl.h"

#include <math.h>

static const double pi = 3.141592653589793;

pack_fluid pack_fluid_of(const stokes_packing *packing)
{
  double s[4] = {1, 0, 0, 0};
  for (int64_t i = 0; i < packing->n; i++) {
    const double diameter = 2 * packing->x[4 * i + 3];
    s[1] += diameter, s[2] += diameter * diameter, s[3] += diameter * diameter * diameter;
  }
  for (int k = 1; k < 4; k++)
    s[k] /= (double)packing->n;
  const double volume = packing->box[0] * packing->box[1] * packing->box[2];
  pack_fluid f = {.rho = (double)packing->n / volume};
  const double z2 = pi / 6 * f.rho * s[2], v = 1 - pi / 6 * f.rho * s[3];
  const double one = 1 / v, by_q = 3 * z2 / (v * v), by_q_sq = 2 * z2 * z2 / (v * v * v);
  f.sigma_cubed = (s[3] + 3 * s[1] * s[2]) / 4;
  const double sum_cubed =
      one * f.sigma_cubed + by_q * (s[1] * s[3] + s[2] * s[2]) / 4 + by_q_sq * s[2] * s[3] / 4;
  const double sum_squared =
      one * (s[2] + s[1] * s[1]) / 2 + by_q * s[1] * s[2] / 2 + by_q_sq * s[2] * s[2] / 4;
  f.z = 1 + 2 * pi / 3 * f.rho * sum_cubed;
  f.free_path = 1 / (pi * f.rho * sum_squared);
  f.by_q[0] = one, f.by_q[1] = by_q, f.by_q[2] = by_q_sq;
  return f;
}

double pack_fluid_contact(const pack_fluid *f, double a, double b)
{
  const double q = 2 * a * b / (a + b);
  return f->by_q[0] + f->by_q[1] * q + f->by_q[2] * q * q;
}

double pack_fluid_value(const pack_fluid *f, double z)
{
  return (z - 1) / (2 * pi / 3 * f->rho * f->sigma_cubed);
}

double pack_fluid_gap(double z, int64_t n)
{
  return z > 1 ? 2 / (3 * (double)n * (z - 1)) : NAN;
}

pack_spread pack_spread_of(const stokes_radii *radii)
{
  double mean = 0, square = 0, cube = 0;
  for (int k = 0; k < radii->n; k++)
    mean += radii->fraction[k] * radii->radius[k];
  for (int k = 0; k < radii->n; k++) {
    const double off = radii->radius[k] / mean - 1;
    square += radii->fraction[k] * off * off;
    cube += radii->fraction[k] * off * off * off;
  }
  return (pack_spread){.deviation = sqrt(square),
                       .limit = 0.634 + 0.0658 * sqrt(square) +
                                (square > 0 ? 0.0857 * cube / sqrt(square) : 0)};
}
