/* force/coulomb_near.h - G of coulomb.h for cutoffs with (alpha r_cut)^2 <= 10, as vectors of pairs
 * on the CPU compute it: a polynomial without a quotient,
 *
 *   G(s) = P(v),   v = 0.7 - s / 10,   0 <= s <= 10
 *
 * P interpolates G at the Chebyshev points of s.  About v = 0 its coefficients are almost all
 * positive: terms cancel neither near s = 10, where a pair has little force left, nor near 0, where
 * r^3 makes errors small.  Even and odd powers are summed apart, so that half as many multiply-adds
 * wait for one another.  Errors of a pair force, as parts of 1 / r^2:
 *
 *            terms   interpolated   with rounding
 *   float    16      4.4e-9         2.7e-7
 *   double   24      1.4e-16        5.1e-16
 *
 * At the cutoff the force of such charges is 1.7e-4 of a bare one: alpha r_cut is 3.0 for a force
 * error of 1e-3 in inputs/in.nacl, and 3.12 for GROMACS' default ewald-rtol of 1e-5.  Types as in
 * lj.h.
 *
 * Floor: 16 or 24 multiply-adds, where coulomb.h has 12 or 28, three more products and a
 * quotient. */
#ifndef COULOMB_NEAR_H
#define COULOMB_NEAR_H

#include "force/coulomb.h"

#ifdef MD_PREC

#define COULOMB_NEAR_SQ 10
/* Coefficients of v^k and v^(k+1): of the highest k, then of all others. */
#if MD_PREC == 2
#define COULOMB_NEAR_EVEN -0.0039875932972713067
#define COULOMB_NEAR_ODD 0.0018685661704093872
#define COULOMB_NEAR_TERMS(X)                                                                      \
  X(-5.7471958304091807e-05, 0.006755582479115921)                                                 \
  X(0.013472190079831334, 0.0058095511274454774)                                                   \
  X(0.044384639550715921, 0.023650904211725478)                                                    \
  X(0.12888926181482918, 0.07796322547436399)                                                      \
  X(0.29466150383758422, 0.20106761834571624)                                                      \
  X(0.51722383859559506, 0.40423015380578686)                                                      \
  X(0.6763790150587109, 0.61486423265149681)                                                       \
  X(0.63860105220698637, 0.68579848907651197)                                                      \
  X(0.42448311653991233, 0.54455101494825831)                                                      \
  X(0.19603848746640745, 0.30223203594917036)                                                      \
  X(0.053838061210269995, 0.11389734743231891)
#else
#define COULOMB_NEAR_EVEN -0.874540363
#define COULOMB_NEAR_ODD 0.66994976
#define COULOMB_NEAR_TERMS(X)                                                                      \
  X(0.324313054, 0.785968104)                                                                      \
  X(0.558591361, 0.241502226)                                                                      \
  X(0.670154421, 0.628419585)                                                                      \
  X(0.638964154, 0.685466823)                                                                      \
  X(0.424473705, 0.544544926)                                                                      \
  X(0.196038579, 0.302232323)                                                                      \
  X(0.0538380611, 0.113897346)
#endif

MD_INLINE bool coulomb_is_near(const coulomb_constants *c)
{
  return c->r_cut_sq * c->alpha * c->alpha <= COULOMB_NEAR_SQ;
}

/* |f|/r of two unit charges at squared distance r_sq <= COULOMB_NEAR_SQ / c->alpha_sq, inv_r = 1 /
 * r, inv_sq = 1 / r_sq. */
MD_INLINE LJ_REAL coulomb_near_f_over_r(LJ_REAL r_sq, LJ_REAL inv_r, LJ_REAL inv_sq,
                                        const coulomb_reals *c)
{
  const LJ_REAL v = LJ_FMA(r_sq, LJ_EACH(c->alpha_sq / -COULOMB_NEAR_SQ), LJ_EACH(0.7));
  const LJ_REAL v_sq = v * v;
  LJ_REAL even = LJ_EACH(COULOMB_NEAR_EVEN), odd = LJ_EACH(COULOMB_NEAR_ODD);
#define COULOMB_NEAR_TERM(a, b)                                                                    \
  even = LJ_FMA(even, v_sq, LJ_EACH(a)), odd = LJ_FMA(odd, v_sq, LJ_EACH(b));
  COULOMB_NEAR_TERMS(COULOMB_NEAR_TERM)
#undef COULOMB_NEAR_TERM
  const LJ_REAL g = LJ_FMA(odd, v, even);
  return LJ_FMA(g, LJ_EACH(-c->alpha_cubed), inv_r * inv_sq);
}

/* Their energy, of that |f|/r. */
MD_INLINE LJ_REAL coulomb_near_energy(LJ_REAL r_sq, LJ_REAL f_over_r, const coulomb_reals *c)
{
  return r_sq * f_over_r - c->slope * COULOMB_EXP(r_sq * c->alpha_sq);
}

#endif
#endif
