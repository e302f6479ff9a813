/* stokes/matrix/lubrication.h - resistance of two nearly touching spheres to approach and to slide.
 *
 *     T = X e e^T + Y (I - e e^T),   X, Y = 6 pi eta [F(xi) - F(xi_cut)]
 *     F(xi) = g1 / xi + (g2 + g3 xi) ln(1 / xi)
 *
 * e is the unit vector between the centres, xi = 2 r / (a_i + a_j) - 2 the gap.  The coefficients
 * are those of Jeffrey and Onishi (1984) times the radius a_i.  With p = a_i a_j, q = a_i + a_j and
 * u = p / q^2 that product is the same for (i, j) and (j, i), down to the last bit, so that R is
 * symmetric.  [Liu] section II. */
#ifndef LUBRICATION_H
#define LUBRICATION_H

#include "stokes/matrix/inverse.h"

typedef struct {
  double g1, g2, g3; /* of 1/xi, ln(1/xi), xi ln(1/xi) [length] */
} lubrication_terms;

typedef struct {
  double x, y; /* along and across the line of centres [length]; times 6 pi eta: resistance */
} lubrication_pair;

MD_INLINE lubrication_terms lubrication_squeeze(double p, double q)
{
  const double inv = inverse_of(q), u = p * (inv * inv);
  return (lubrication_terms){2 * q * (u * u), q * (u * (u + 0.2)),
                             q * (1.0 / 42) * (1 + u * (14 - 63 * u))};
}

MD_INLINE lubrication_terms lubrication_shear(double p, double q)
{
  const double inv = inverse_of(q), u = p * (inv * inv);
  return (lubrication_terms){0, q * (4.0 / 15) * (u * (2 - 3 * u)),
                             q * (2.0 / 375) * (16 + u * (180 * u - 109))};
}

/* What depends on the gap: 1 / xi, ln(1 / xi), xi ln(1 / xi). */
typedef struct {
  double inverse, log, xi_log;
} lubrication_gap_terms;

MD_INLINE lubrication_gap_terms lubrication_at(double xi)
{
  const double log_inv_xi = -log_of(xi);
  return (lubrication_gap_terms){inverse_of(xi), log_inv_xi, xi * log_inv_xi};
}

MD_INLINE double lubrication_sum(const lubrication_terms *t, const lubrication_gap_terms *at)
{
  return t->g1 * at->inverse + t->g2 * at->log + t->g3 * at->xi_log;
}

/* Gap of two spheres whose centres are r apart; negative where they overlap. */
MD_INLINE double lubrication_gap(double r, double sum_of_radii)
{
  return 2 * (r - sum_of_radii) * inverse_of(sum_of_radii);
}

/* Where the gap counts: below gap_min as at gap_min, from gap_cut on not at all. */
typedef struct {
  double gap_min, gap_cut;
  lubrication_gap_terms cut; /* at gap_cut */
} lubrication_range;

/* Resistances at a gap xi < gap_cut.  Far from contact the three terms of very unequal spheres can
 * fall below their value at the cutoff: never negative, so that R stays positive. */
MD_INLINE lubrication_pair lubrication_resistance(double a_i, double a_j, double xi,
                                                  const lubrication_range *range)
{
  const double p = a_i * a_j, q = a_i + a_j;
  const lubrication_terms squeeze = lubrication_squeeze(p, q), shear = lubrication_shear(p, q);
  lubrication_gap_terms at = lubrication_at(xi > range->gap_min ? xi : range->gap_min);
  at.inverse -= range->cut.inverse;
  at.log -= range->cut.log;
  at.xi_log -= range->cut.xi_log;
  const double x = lubrication_sum(&squeeze, &at), y = lubrication_sum(&shear, &at);
  return (lubrication_pair){x > 0 ? x : 0, y > 0 ? y : 0};
}

#endif
