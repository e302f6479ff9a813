/* force/coulomb.h - the real-space part of Ewald's sum for one pair, shared by every kernel and by
 * the tests.  For two unit charges at distance r < r_cut:
 *
 *   U     = erfc(alpha r) / r
 *   |f|/r = [U + 2 alpha / sqrt(pi) exp(-alpha^2 r^2)] / r^2
 *
 *   erfc(z) = exp(-z^2) P(t) / (1 + 2 z),   t = (z - c) / (z + c)
 *
 * where P, smooth and without zeros, interpolates (1 + 2 z) erfc(z) exp(z^2) at the Chebyshev
 * points of 0 <= z <= 8 (double, 19 coefficients, relative error 1.3e-16) or 5 (float, 9, 2.5e-8);
 * both were computed with 60 digits.  Types as in lj.h; COULOMB_EXP(y) is exp(-y) for y >= 0. */
#ifndef COULOMB_H
#define COULOMB_H

#include "force/lj.h"

typedef struct {
  double r_cut_sq; /* 0: no charges */
  double alpha;
} coulomb_constants;

#ifdef MD_PREC

#ifndef COULOMB_EXP
#define COULOMB_EXP(y) (sizeof(real) == 4 ? (real)expf((float)-(y)) : (real)exp(-(y)))
#endif

#if MD_PREC == 2
#define COULOMB_CENTRE 4
#define COULOMB_TERMS(X)                                                                           \
  X(-2.3839934567248788e-07)                                                                       \
  X(-1.0405712939387181e-06)                                                                       \
  X(5.3964787298709789e-07)                                                                        \
  X(6.2214903584535366e-06)                                                                        \
  X(-1.0937745094903579e-05)                                                                       \
  X(-2.4434562487964626e-05)                                                                       \
  X(0.0001505208663709347)                                                                         \
  X(-0.00019928329046494723)                                                                       \
  X(-0.00075776271826549758)                                                                       \
  X(0.0050319756483503189)                                                                         \
  X(-0.016197734294646864)                                                                         \
  X(0.037167515069736271)                                                                          \
  X(-0.066330365835308699)                                                                         \
  X(0.093732835016725455)                                                                          \
  X(-0.10103906603500561)                                                                          \
  X(0.06809705425436878)                                                                           \
  X(0.015379652102602361)                                                                          \
  X(-0.13962111684056075)                                                                          \
  X(1.2329951186255526)
#else
#define COULOMB_CENTRE 3
#define COULOMB_TERMS(X)                                                                           \
  X(0.00269633107)                                                                                 \
  X(0.00261047822)                                                                                 \
  X(-0.0240214621)                                                                                 \
  X(0.0682211101)                                                                                  \
  X(-0.119257264)                                                                                  \
  X(0.12965257)                                                                                    \
  X(-0.047562728)                                                                                  \
  X(-0.135621244)                                                                                  \
  X(1.25300806)
#endif

/* The constants in the type of the pair arithmetic. */
typedef struct {
  real r_cut_sq, alpha, slope; /* slope = 2 alpha / sqrt(pi) */
} coulomb_reals;

MD_INLINE coulomb_reals coulomb_round(const coulomb_constants *c)
{
  coulomb_reals r;
  r.r_cut_sq = (real)c->r_cut_sq, r.alpha = (real)c->alpha;
  r.slope = (real)(c->alpha * 1.1283791670955126);
  return r;
}

/* |f|/r of two unit charges at squared distance r_sq, inv_sq = 1 / r_sq; *u gets their energy.  No
 * product is summed that is used twice, so that compilers contract alike where the energy is not
 * wanted, and forces are the same bits. */
MD_INLINE LJ_REAL coulomb_f_over_r_inv(LJ_REAL r_sq, LJ_REAL inv_sq, const coulomb_reals *c,
                                       LJ_REAL *u)
{
  const real centre = COULOMB_CENTRE;
  const LJ_REAL r = LJ_SQRT(r_sq), z = c->alpha * r;
  const LJ_REAL decay = COULOMB_EXP(z * z);
  const LJ_REAL t = (z - centre) / (z + centre);
  LJ_REAL p = t - t;
#define COULOMB_TERM(value) p = p * t + (real)(value);
  COULOMB_TERMS(COULOMB_TERM)
#undef COULOMB_TERM
  const LJ_REAL rest = p / (r + 2 * z * r);
  *u = decay * rest;
  return decay * (rest + c->slope) * inv_sq;
}

#endif
#endif
