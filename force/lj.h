/* force/lj.h - the Lennard-Jones pair formula, shared by every kernel and by the tests.
 *
 *   |f|/r = (s/r)^6 [48 eps (s/r)^6 - 24 eps] / r^2 + f_shift / r
 *   U     = (s/r)^6 [4 eps (s/r)^6 - 4 eps] - u_shift - f_shift r
 *
 * shift none    u_shift = f_shift = 0
 * shift energy  u_shift = U(r_cut)
 * shift force   f_shift = U'(r_cut), u_shift = U(r_cut) - r_cut U'(r_cut)
 *
 * Kernels have an instance for each form, so that loops do not test it: only the linear force shift
 * needs a root.  A kernel that holds several pairs in one vector defines LJ_REAL as that vector,
 * LJ_SQRT as its root, LJ_FMA(a, b, c) as a b + c in one instruction and LJ_EACH as one of equal
 * numbers before it includes this header; otherwise a pair is a `real`.  Constants are of that type
 * too: pairs of several types have each their own.
 *
 * A pair of two types whose constants nobody gives has sqrt(eps_i eps_j), and for sigma and the
 * cutoff sqrt(s_i s_j) (geometric) or (s_i + s_j) / 2 (arithmetic, Lorentz-Berthelot). */
#ifndef LJ_H
#define LJ_H

#include "core/md.h"

/* How the formula is computed; PLAIN: f_shift is 0. */
typedef enum { LJ_PLAIN, LJ_SHIFTED, LJ_FORM_COUNT } lj_form;

typedef struct {
  double r_cut_sq;         /* pairs with r^2 < r_cut_sq strictly */
  double lj1, lj2;         /* 48 eps s^12, 24 eps s^6: force */
  double lj3, lj4;         /* 4 eps s^12, 4 eps s^6: energy */
  double u_shift, f_shift; /* see above */
} lj_constants;

MD_INLINE lj_form lj_form_of(const lj_constants *c)
{
  return c->f_shift != 0 ? LJ_SHIFTED : LJ_PLAIN;
}

#ifdef MD_PREC
#include "core/real.h"
#include <math.h>

#ifndef LJ_REAL
#define LJ_REAL real
#define LJ_EACH(a) (real)(a)
#define LJ_SQRT(a) lj_root(a)
#define LJ_FMA(a, b, c) ((a) * (b) + (c))

/* Roots of a > 0: on a GPU the hardware's approximation of 1 / sqrt(a), within an ulp or two of
 * float, and with one step of third order of double; an exact root takes many instructions. */
#ifdef __CUDA_ARCH__
MD_INLINE real lj_inverse_root(real a)
{
#if MD_PREC == 2
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a * y, y, 1.0);
  return fma(y * e, fma(0.375, e, 0.5), y);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
#endif
}

MD_INLINE real lj_root(real a)
{
  return a * lj_inverse_root(a);
}
#else
MD_INLINE real lj_root(real a)
{
  return sizeof(real) == 4 ? (real)sqrtf((float)a) : (real)sqrt(a);
}
#endif
#endif

/* The constants in the type of the pair arithmetic. */
typedef struct {
  LJ_REAL r_cut_sq, lj1, lj2, lj3, lj4, u_shift, f_shift;
  real ratio; /* -lj2 / lj1 */
} lj_reals;

MD_INLINE lj_reals lj_round(const lj_constants *c)
{
  lj_reals r;
  r.r_cut_sq = LJ_EACH(c->r_cut_sq), r.lj1 = LJ_EACH(c->lj1), r.lj2 = LJ_EACH(c->lj2);
  r.lj3 = LJ_EACH(c->lj3), r.lj4 = LJ_EACH(c->lj4);
  r.u_shift = LJ_EACH(c->u_shift), r.f_shift = LJ_EACH(c->f_shift);
  r.ratio = (real)(-c->lj2 / c->lj1);
  return r;
}

/* |f|/r of one pair at squared distance r_sq, inv_sq = 1 / r_sq.  Vectors name the sums that are
 * one instruction: compilers choose other ones where the energy, which shares products, is wanted
 * too, and forces would depend on it in their last bits. */
MD_INLINE LJ_REAL lj_f_over_r_inv(LJ_REAL r_sq, LJ_REAL inv_sq, const lj_reals *c, lj_form form)
{
  const LJ_REAL inv_4 = inv_sq * inv_sq, inv_6 = inv_4 * inv_sq;
  const LJ_REAL plain = inv_4 * inv_4 * LJ_FMA(c->lj1, inv_6, -c->lj2);
  return form == LJ_PLAIN ? plain : LJ_FMA(c->f_shift * inv_sq, LJ_SQRT(r_sq), plain);
}

/* The same without a linear force shift in units of lj1, which saves a product.  The sum is one
 * instruction by name: compilers contract it in another way where the energy, which has the same
 * product, is wanted too. */
MD_INLINE real lj_unit_f_over_r_inv(real inv_sq, const lj_reals *c)
{
  const real inv_4 = inv_sq * inv_sq;
  const real pull = sizeof(real) == 4 ? (real)fmaf((float)inv_4, (float)inv_sq, (float)c->ratio)
                                      : (real)fma((double)inv_4, (double)inv_sq, (double)c->ratio);
  return inv_4 * inv_4 * pull;
}

MD_INLINE LJ_REAL lj_energy_inv(LJ_REAL r_sq, LJ_REAL inv_sq, const lj_reals *c, lj_form form)
{
  const LJ_REAL inv_6 = inv_sq * inv_sq * inv_sq;
  const LJ_REAL plain = inv_6 * (c->lj3 * inv_6 - c->lj4) - c->u_shift;
  return form == LJ_PLAIN ? plain : plain - c->f_shift * LJ_SQRT(r_sq);
}

MD_INLINE LJ_REAL lj_f_over_r(LJ_REAL r_sq, const lj_reals *c, lj_form form)
{
  return lj_f_over_r_inv(r_sq, 1 / r_sq, c, form);
}

MD_INLINE LJ_REAL lj_energy(LJ_REAL r_sq, const lj_reals *c, lj_form form)
{
  return lj_energy_inv(r_sq, 1 / r_sq, c, form);
}
#endif

#endif
