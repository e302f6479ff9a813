/* force/coulomb.h - the real-space part of Ewald's sum for one pair, shared by every kernel and by
 * the tests.  For two unit charges at distance r < r_cut, z = alpha r:
 *
 *   U     = erfc(z) / r               = 1 / r - alpha erf(z) / z
 *   |f|/r = -U' / r                   = 1 / r^3 - alpha^3 G(z^2)
 *   G(s)  = [erf(z) - 2 z exp(-s) / sqrt(pi)] / z^3,   s = z^2
 *
 * G is an entire function of s, so that a force takes no exponential:
 *
 *   G(s)  = P(t) / (s + S),   t = (3 s - S) / (s + S),   0 <= s <= S
 *
 * P interpolates G (s + S) at the Chebyshev points of -1 <= t <= 1.  Beyond S the pair is left out
 * as if it were beyond r_cut.  Errors of a pair force, as parts of 1 / r^2:
 *
 *            S    terms   interpolated   left out beyond S
 *   float    18   12      5.3e-8         7.3e-8
 *   double   40   28      4.2e-17        3.0e-17
 *
 * Rounding adds up to 4e-7 in float and 3e-15 in double.  Coefficients were computed with 60
 * digits.  Energies, which are wanted rarely, take an exponential: erf(z) / z = s G + 2 exp(-s) /
 * sqrt(pi).  Types as in lj.h; COULOMB_EXP(y) is exp(-y) for y >= 0.
 *
 * Floor: 12 or 28 multiply-adds, and about ten for the rest.  A charged pair of a full list takes
 * 1.9 (float) and 1.7 times (double) fewer instructions of a GPU than by erfc(z) as exp(-s) times a
 * polynomial with two divisions: kernels of 960 and 1136 in place of 1832 and 1960. */
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
#define COULOMB_REACH_SQ 40 /* S */
#define COULOMB_TERMS(X)                                                                           \
  X(4.0748821240649595e-9)                                                                         \
  X(-2.3236877688187098e-8)                                                                        \
  X(-6.3592981562524778e-8)                                                                        \
  X(4.1386058060718613e-7)                                                                         \
  X(4.9929359690336205e-7)                                                                         \
  X(-5.0537529858147412e-6)                                                                        \
  X(8.50357577837891e-8)                                                                           \
  X(5.2328381591096482e-5)                                                                         \
  X(-9.1208166968712722e-5)                                                                        \
  X(-0.00034859872773931746)                                                                       \
  X(0.0018571187706199444)                                                                         \
  X(-0.0020520047296106998)                                                                        \
  X(-0.012454414684672527)                                                                         \
  X(0.076203768532428754)                                                                          \
  X(-0.24606899923028931)                                                                          \
  X(0.58078109302924964)                                                                           \
  X(-1.1008927786970238)                                                                           \
  X(1.7547755495738571)                                                                            \
  X(-2.4229544152396083)                                                                           \
  X(2.9673191346374312)                                                                            \
  X(-3.2934667291046939)                                                                           \
  X(3.3825862820496104)                                                                            \
  X(-3.2766144100616663)                                                                           \
  X(3.0371137817306489)                                                                            \
  X(-2.7106570900846467)                                                                           \
  X(2.311305232831376)                                                                             \
  X(-1.8255992765773877)                                                                           \
  X(1.0954375401023597)
#else
#define COULOMB_REACH_SQ 18
#define COULOMB_TERMS(X)                                                                           \
  X(-0.00056208452)                                                                                \
  X(0.000149332387)                                                                                \
  X(0.00803104578)                                                                                 \
  X(-0.0130093328)                                                                                 \
  X(-0.0695177223)                                                                                 \
  X(0.405686528)                                                                                   \
  X(-1.10444748)                                                                                   \
  X(2.01775268)                                                                                    \
  X(-2.75601878)                                                                                   \
  X(2.97446152)                                                                                    \
  X(-2.61205776)                                                                                   \
  X(1.62093651)
#endif

/* The constants in the type of the pair arithmetic. */
typedef struct {
  real r_cut_sq;                            /* of the cutoff, or of S where that is nearer */
  real alpha, alpha_sq, alpha_cubed, slope; /* slope = 2 alpha / sqrt(pi) */
} coulomb_reals;

MD_INLINE coulomb_reals coulomb_round(const coulomb_constants *c)
{
  const double alpha = c->alpha, reach_sq = COULOMB_REACH_SQ / (alpha * alpha);
  coulomb_reals r;
  r.r_cut_sq = (real)(c->r_cut_sq < reach_sq ? c->r_cut_sq : reach_sq);
  r.alpha = (real)alpha, r.alpha_sq = (real)(alpha * alpha);
  r.alpha_cubed = (real)(alpha * alpha * alpha);
  r.slope = (real)(alpha * 1.1283791670955126);
  return r;
}

/* 1 / y, and 1 / sqrt(r_sq) where inv_sq = 1 / r_sq: on a GPU the hardware's approximations, as in
 * lj.h. */
#ifdef __CUDA_ARCH__
MD_INLINE real coulomb_inverse(real y)
{
#if MD_PREC == 2
  double a;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(a) : "d"(y));
  const double e = fma(-y, a, 1.0);
  return fma(a, fma(e, e, e), a);
#else
  float a;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(y));
  return a;
#endif
}

MD_INLINE real coulomb_inverse_root(real r_sq, real inv_sq)
{
  (void)inv_sq;
  return lj_inverse_root(r_sq);
}
#else
MD_INLINE LJ_REAL coulomb_inverse(LJ_REAL y)
{
  return 1 / y;
}

MD_INLINE LJ_REAL coulomb_inverse_root(LJ_REAL r_sq, LJ_REAL inv_sq)
{
  return LJ_SQRT(r_sq) * inv_sq;
}
#endif

/* |f|/r of two unit charges at squared distance r_sq < c->r_cut_sq, inv_sq = 1 / r_sq; *u gets
 * their energy.  No product is summed that is used twice, so that compilers contract alike where
 * the energy is not wanted, and forces are the same bits. */
MD_INLINE LJ_REAL coulomb_f_over_r_inv(LJ_REAL r_sq, LJ_REAL inv_sq, const coulomb_reals *c,
                                       LJ_REAL *u)
{
  const real reach_sq = COULOMB_REACH_SQ;
  const LJ_REAL inv_r = coulomb_inverse_root(r_sq, inv_sq);
  const LJ_REAL w = coulomb_inverse(r_sq * c->alpha_sq + reach_sq);
  const LJ_REAL t = (r_sq * (3 * c->alpha_sq) - reach_sq) * w;
  LJ_REAL p = t - t;
#define COULOMB_TERM(value) p = p * t + (real)(value);
  COULOMB_TERMS(COULOMB_TERM)
#undef COULOMB_TERM
  const LJ_REAL g = p * w, z = r_sq * inv_r * c->alpha;
  *u = inv_r - (z * z * g * c->alpha + c->slope * COULOMB_EXP(z * z));
  return inv_r * inv_sq - g * c->alpha_cubed;
}

#endif
#endif
