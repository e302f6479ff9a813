/* stokes/lubrication.h - resistance of two nearly touching spheres to approach and to slide.
 *
 *     T = X e e^T + Y (I - e e^T),   X, Y = 6 pi eta [F(xi) - F(xi_cut)]
 *     F(xi) = g1 / xi + (g2 + g3 xi) ln(1 / xi)
 *
 * e is the unit vector between the centres, xi = 2 r / (a_i + a_j) - 2 the gap.  The coefficients
 * are those of Jeffrey and Onishi (1984) times the radius a_i.  With p = a_i a_j and q = a_i + a_j
 * that product is the same for (i, j) and (j, i), down to the last bit, so that R is symmetric.
 * [Liu] section II. */
#ifndef LUBRICATION_H
#define LUBRICATION_H

#include <math.h>

#include "core/md.h"

typedef struct {
  double g1, g2, g3; /* of 1/xi, ln(1/xi), xi ln(1/xi) [length] */
} lubrication_terms;

typedef struct {
  double x, y; /* along and across the line of centres [length]; times 6 pi eta: resistance */
} lubrication_pair;

MD_INLINE lubrication_terms lubrication_squeeze(double p, double q)
{
  const double inv = 1 / (q * q * q), sum_sq = q * q - 2 * p; /* a_i^2 + a_j^2 */
  return (lubrication_terms){2 * p * p * inv, p * (sum_sq + 7 * p) * (inv * (1.0 / 5)),
                             (sum_sq * sum_sq + 18 * p * sum_sq - 31 * p * p) * (inv * (1.0 / 42))};
}

MD_INLINE lubrication_terms lubrication_shear(double p, double q)
{
  const double inv = 1 / (q * q * q), sum_sq = q * q - 2 * p;
  return (lubrication_terms){0, p * (2 * sum_sq + p) * (inv * (4.0 / 15)),
                             (16 * sum_sq * sum_sq - 45 * p * sum_sq + 26 * p * p) *
                                 (inv * (2.0 / 375))};
}

MD_INLINE double lubrication_sum(const lubrication_terms *t, double xi, double log_inv_xi)
{
  return t->g1 * (1 / xi) + (t->g2 + t->g3 * xi) * log_inv_xi;
}

/* Gap of two spheres whose centres are r apart; negative where they overlap. */
MD_INLINE double lubrication_gap(double r, double sum_of_radii)
{
  return 2 * r / sum_of_radii - 2;
}

/* Where the gap counts: below gap_min as at gap_min, from gap_cut on not at all. */
typedef struct {
  double gap_min, gap_cut, log_cut; /* log_cut = ln(1 / gap_cut) */
} lubrication_range;

/* Resistances at a gap xi < gap_cut.  Far from contact the three terms of very unequal spheres can
 * fall below their value at the cutoff: never negative, so that R stays positive. */
MD_INLINE lubrication_pair lubrication_resistance(double a_i, double a_j, double xi,
                                                  const lubrication_range *range)
{
  const double p = a_i * a_j, q = a_i + a_j;
  const double gap = xi > range->gap_min ? xi : range->gap_min, log_gap = -log(gap);
  const lubrication_terms squeeze = lubrication_squeeze(p, q), shear = lubrication_shear(p, q);
  const double x = lubrication_sum(&squeeze, gap, log_gap) -
                   lubrication_sum(&squeeze, range->gap_cut, range->log_cut);
  const double y = lubrication_sum(&shear, gap, log_gap) -
                   lubrication_sum(&shear, range->gap_cut, range->log_cut);
  return (lubrication_pair){x > 0 ? x : 0, y > 0 ? y : 0};
}

#endif
