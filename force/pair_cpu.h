/* force/pair_cpu.h - a vector of pairs on the CPU, as full and half lists see it.
 *
 * The formula of lj.h on SIMD_LANES pairs at a time.  Displacements stay in units of coord_scale:
 * the constants of the force carry that factor instead, so that f_over_r times a displacement is a
 * force.  Where coord is a float type the factor is 1. */
#ifndef PAIR_CPU_H
#define PAIR_CPU_H

#include "core/simd.h"

/* exp(-y) for y >= 0: 2^-n e^s with n ln 2 - y = s, |s| <= ln 2 / 2, e^s by its series.  Adding
 * ROUND leaves n in the low bits. */
MD_INLINE simd_real pair_exp(simd_real y)
{
#if MD_PREC == 2
  enum { MANTISSA = 52, TERMS = 13 };
  const real round = 0x1.8p52, most = 700, high = 0x1.62e42fefa38p-1, low = 0x1.ef35793c7673p-45;
#else
  enum { MANTISSA = 23, TERMS = 7 };
  const real round = 0x1.8p23f, most = 80, high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f;
#endif
  const simd_mask near = y < most;
  y = (simd_real)(((simd_mask)y & near) | ((simd_mask)((simd_real){0} + most) & ~near));
  const simd_real shifted = y * (real)1.4426950408889634 + round, n = shifted - round;
  const simd_real s = (n * high - y) + n * low;
  simd_real p = (simd_real){0} + 1;
  for (int k = TERMS; k > 0; k--)
    p = p * s * (real)(1.0 / k) + 1;
  return (simd_real)((simd_mask)p - ((simd_mask)shifted << MANTISSA));
}
#define LJ_REAL simd_real
#define LJ_SQRT simd_sqrt
#define LJ_FMA simd_fma
#define LJ_EACH(a) ((simd_real){0} + (real)(a))
#define COULOMB_EXP pair_exp
#include "force/coulomb_near.h"
#include "force/force_impl.h"

typedef struct {
  lj_reals plain;
  lj_reals scaled;    /* the force's constants times coord_scale */
  real unit, unit_sq; /* coord_scale, coord_scale^2 */
  coulomb_reals coulomb;
  bool near; /* charges by coulomb_near.h, else by coulomb.h */
} pair_constants;

/* Charges of pairs as a kernel knows them when it is compiled: none; as constants say; near. */
typedef enum { PAIR_PLAIN, PAIR_CHARGED, PAIR_NEAR } pair_charge;

MD_INLINE bool pair_is_near(const pair_constants *c, pair_charge charge)
{
  return charge == PAIR_NEAR || (charge == PAIR_CHARGED && c->near);
}

/* Sums over pairs, a double for each lane. */
typedef struct {
  simd_accum energy;
  simd_accum virial; /* in units of coord_scale */
} pair_sums;

static inline pair_constants pair_round(const force_job *job)
{
  lj_constants c = job->lj;
  const lj_reals plain = lj_round(&c);
  c.lj1 *= job->coord_scale;
  c.lj2 *= job->coord_scale;
  c.f_shift *= job->coord_scale;
  return (pair_constants){plain,
                          lj_round(&c),
                          (real)job->coord_scale,
                          (real)(job->coord_scale * job->coord_scale),
                          coulomb_round(&job->coulomb),
                          coulomb_is_near(&job->coulomb)};
}

/* a - b; in fixed point the difference wraps, as coord_difference() does. */
MD_INLINE simd_real pair_difference(simd_coord a, simd_coord b)
{
#if MD_PREC == 1
  return __builtin_convertvector((simd_i32)((simd_u32)a - (simd_u32)b), simd_real);
#else
  return a - b;
#endif
}

MD_INLINE simd_real pair_only(simd_mask mask, simd_real value)
{
  return (simd_real)(mask & (simd_mask)value);
}

/* Charges of the atoms index[0], index[1], ... */
MD_INLINE simd_real pair_charges(const real *charge, const int32_t *index)
{
  simd_real q;
  for (int l = 0; l < SIMD_LANES; l++)
    q[l] = charge[index[l]];
  return q;
}

/* Pairs on their way through the formula: pair_see fills d and r_sq, pair_divide the rest, inv_r
 * of charged ones. */
typedef struct {
  simd_real d[3], r_sq, inv_sq, inv_r;
} pair_state;

MD_INLINE void pair_see(const pair_constants *c, const simd_coord i[3], const simd_coord j[3],
                        pair_state *p)
{
  for (int k = 0; k < 3; k++)
    p->d[k] = pair_difference(i[k], j[k]);
  p->r_sq = p->d[0] * p->d[0];
  p->r_sq = simd_fma(p->d[1], p->d[1], p->r_sq);
  p->r_sq = simd_fma(p->d[2], p->d[2], p->r_sq);
#if MD_PREC == 1
  p->r_sq *= c->unit_sq;
#else
  (void)c;
#endif
}

/* With AVX-512 1 / r comes from its approximation y to 14 bits: y (1 - e)^(-1/2), e = 1 - y^2 r^2,
 * |e| < 2^-13, by its series, of which 2^-27 is left out in float and 2^-53 in double.  Quotients
 * and roots would keep the divider busy for longer than all else takes. */
MD_INLINE void pair_divide(pair_state *p, bool charged)
{
#if MD_ISA == 2
  if (charged) {
    const simd_real one = (simd_real){0} + 1;
#if MD_PREC == 2
    const simd_real y = (simd_real)_mm512_rsqrt14_pd((__m512d)p->r_sq);
    const simd_real e = simd_fma(-(p->r_sq * y), y, one);
    const simd_real series = simd_fma(simd_fma(one * 0.3125, e, one * 0.375), e, one * 0.5);
#else
    const simd_real y = (simd_real)_mm512_rsqrt14_ps((__m512)p->r_sq);
    const simd_real e = simd_fma(-(p->r_sq * y), y, one), series = one * 0.5f;
#endif
    p->inv_r = simd_fma(y * e, series, y);
    p->inv_sq = p->inv_r * p->inv_r;
    return;
  }
#endif
  p->inv_sq = 1 / p->r_sq;
  if (charged) p->inv_r = simd_sqrt(p->r_sq) * p->inv_sq;
}

/* The lanes of `valid` that are within the cutoff; lj as in pair_force, as below. */
MD_INLINE simd_mask pair_near(const pair_constants *c, const pair_state *p, simd_mask valid,
                              const lj_reals *lj)
{
  const simd_mask far = p->r_sq >= (lj ? lj : &c->plain)->r_cut_sq;
  return valid & ~far;
}

/* |f|/r in the lanes `near`, else 0. */
MD_INLINE simd_real pair_pull(const pair_constants *c, const pair_state *p, simd_mask near,
                              lj_form form, const lj_reals *lj)
{
  const simd_real pull = lj ? lj_f_over_r_inv(p->r_sq, p->inv_sq, lj, form) * c->unit
                            : lj_f_over_r_inv(p->r_sq, p->inv_sq, &c->scaled, form);
  return pair_only(near, pull);
}

/* The same of two charges with the product qq, and unless u is NULL their energy. */
MD_INLINE simd_real pair_pull_charges(const pair_constants *c, const pair_state *p, bool near,
                                      simd_real qq, simd_mask valid, simd_real *u)
{
  const coulomb_reals *coulomb = &c->coulomb;
  const simd_mask close = valid & ~(simd_mask)(p->r_sq >= coulomb->r_cut_sq);
  simd_real pull, energy = {0};
  if (near) {
    pull = coulomb_near_f_over_r(p->r_sq, p->inv_r, p->inv_sq, coulomb);
    if (u) energy = coulomb_near_energy(p->r_sq, pull, coulomb);
  } else
    pull = coulomb_f_over_r_inv(p->r_sq, p->inv_sq, coulomb, &energy);
  if (u) *u = pair_only(close, qq * energy);
#if MD_PREC == 1
  qq *= c->unit;
#endif
  return pair_only(close, qq * pull);
}

/* f is added the force of j on i in the lanes of `valid` that are within the cutoff; g, unless
 * NULL, gets it, 0 in other lanes.  A NaN counts as within, so that it shows in the force.  sums,
 * unless NULL, gets the pairs times their weight.  qq: products of the two charges; lj, unless
 * NULL, the constants of the pairs, which are those of c otherwise. */
MD_INLINE void pair_force(const pair_constants *c, const simd_coord i[3], const simd_coord j[3],
                          simd_mask valid, simd_real weight, lj_form form, const lj_reals *lj,
                          pair_charge charge, simd_real qq, simd_real f[3], simd_real *g,
                          pair_sums *sums)
{
  pair_state p;
  pair_see(c, i, j, &p);
  pair_divide(&p, charge != PAIR_PLAIN);
  const simd_real r_sq = p.r_sq, inv_sq = p.inv_sq;
  const simd_mask near = pair_near(c, &p, valid, lj);
  simd_real pull = pair_pull(c, &p, near, form, lj);
  simd_real u_charges = {0};
  if (charge)
    pull += pair_pull_charges(c, &p, pair_is_near(c, charge), qq, valid, sums ? &u_charges : NULL);
  if (sums) {
    simd_real u =
        lj ? lj_energy_inv(r_sq, inv_sq, lj, form) : lj_energy_inv(r_sq, inv_sq, &c->plain, form);
    u = pair_only(near, u);
    if (charge) u += u_charges;
    sums->energy += __builtin_convertvector(weight * u, simd_accum);
    sums->virial += __builtin_convertvector(weight * pull * r_sq, simd_accum);
  }
  for (int k = 0; k < 3; k++)
    if (g)
      f[k] += g[k] = pull * p.d[k];
    else
      f[k] = simd_fma(pull, p.d[k], f[k]);
}

/* Add the lanes of sums to total[2], energy and virial. */
static inline void pair_add(const force_job *job, const pair_sums *sums, accum total[2])
{
  accum energy = 0, virial = 0;
  for (int l = 0; l < SIMD_LANES; l++)
    energy += sums->energy[l], virial += sums->virial[l];
  total[0] += energy;
  total[1] += virial / job->coord_scale;
}

#endif
