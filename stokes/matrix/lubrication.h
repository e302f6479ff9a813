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

/* The arithmetic: single precision where a file is compiled for that, else double. */
#if defined MD_PREC && MD_PREC == 0
typedef float lubrication_real;
#else
typedef double lubrication_real;
#endif

typedef struct {
  lubrication_real g1, g2, g3; /* of 1/xi, ln(1/xi), xi ln(1/xi) [length] */
} lubrication_terms;

/* Along and across the line of centres [length]; times 6 pi eta: resistance. */
typedef struct {
  lubrication_real x, y;
} lubrication_pair;

MD_INLINE lubrication_terms lubrication_squeeze(lubrication_real p, lubrication_real q)
{
  const lubrication_real fifth = 1.0 / 5, part = 1.0 / 42;
  const lubrication_real inv = inverse_of(q), u = p * (inv * inv);
  return (lubrication_terms){2 * q * (u * u), q * (u * (u + fifth)),
                             q * part * (1 + u * (14 - 63 * u))};
}

MD_INLINE lubrication_terms lubrication_shear(lubrication_real p, lubrication_real q)
{
  const lubrication_real part[2] = {4.0 / 15, 2.0 / 375};
  const lubrication_real inv = inverse_of(q), u = p * (inv * inv);
  return (lubrication_terms){0, q * part[0] * (u * (2 - 3 * u)),
                             q * part[1] * (16 + u * (180 * u - 109))};
}

/* What depends on the gap: 1 / xi, ln(1 / xi), xi ln(1 / xi). */
typedef struct {
  lubrication_real inverse, log, xi_log;
} lubrication_gap_terms;

MD_INLINE lubrication_gap_terms lubrication_at(lubrication_real xi)
{
  const lubrication_real log_inv_xi = -log_of(xi);
  return (lubrication_gap_terms){inverse_of(xi), log_inv_xi, xi * log_inv_xi};
}

MD_INLINE lubrication_real lubrication_sum(const lubrication_terms *t,
                                           const lubrication_gap_terms *at)
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
  struct {
    double inverse, log, xi_log;
  } cut; /* terms at gap_cut */
} lubrication_range;

/* In any file but those compiled in single precision. */
MD_INLINE lubrication_range lubrication_range_of(double gap_min, double gap_cut)
{
  const lubrication_gap_terms cut = lubrication_at((lubrication_real)gap_cut);
  return (lubrication_range){gap_min, gap_cut, {cut.inverse, cut.log, cut.xi_log}};
}

/* Resistances at a gap xi < gap_cut.  Far from contact the three terms of very unequal spheres can
 * fall below their value at the cutoff: never negative, so that R stays positive. */
MD_INLINE lubrication_pair lubrication_resistance(lubrication_real a_i, lubrication_real a_j,
                                                  lubrication_real xi,
                                                  const lubrication_range *range)
{
  const lubrication_real p = a_i * a_j, q = a_i + a_j, least = (lubrication_real)range->gap_min;
  const lubrication_terms squeeze = lubrication_squeeze(p, q), shear = lubrication_shear(p, q);
  lubrication_gap_terms at = lubrication_at(xi > least ? xi : least);
  at.inverse -= (lubrication_real)range->cut.inverse;
  at.log -= (lubrication_real)range->cut.log;
  at.xi_log -= (lubrication_real)range->cut.xi_log;
  const lubrication_real x = lubrication_sum(&squeeze, &at), y = lubrication_sum(&shear, &at);
  return (lubrication_pair){x > 0 ? x : 0, y > 0 ? y : 0};
}

#endif
