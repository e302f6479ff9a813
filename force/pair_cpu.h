/* force/pair_cpu.h - a vector of pairs on the CPU, as full and half lists see it.
 *
 * The formula of lj.h on SIMD_LANES pairs at a time.  Displacements stay in units of coord_scale:
 * the constants of the force carry that factor instead, so that f_over_r times a displacement is a
 * force.  Where coord is a float type the factor is 1. */
#ifndef PAIR_CPU_H
#define PAIR_CPU_H

#include "core/simd.h"

MD_INLINE simd_real pair_sqrt(simd_real a)
{
  simd_real root = a;
  for (int l = 0; l < SIMD_LANES; l++)
    root[l] = sizeof(real) == 4 ? (real)__builtin_sqrtf((float)a[l]) : (real)__builtin_sqrt(a[l]);
  return root;
}
#define LJ_REAL simd_real
#define LJ_SQRT pair_sqrt
#include "force/force_impl.h"

typedef struct {
  lj_reals plain;
  lj_reals scaled; /* the force's constants times coord_scale */
  real unit_sq;    /* coord_scale^2 */
} pair_constants;

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
  return (pair_constants){plain, lj_round(&c), (real)(job->coord_scale * job->coord_scale)};
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

/* f gets the force of j on i in the lanes of `valid` that are within the cutoff, else 0.  A NaN
 * counts as within, so that it shows in the force.  sums, unless NULL, gets the pairs times their
 * weight. */
MD_INLINE void pair_force(const pair_constants *c, const simd_coord i[3], const simd_coord j[3],
                          simd_mask valid, simd_real weight, bool shifted, simd_real f[3],
                          pair_sums *sums)
{
  simd_real d[3];
  for (int k = 0; k < 3; k++)
    d[k] = pair_difference(i[k], j[k]);
  simd_real r_sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
#if MD_PREC == 1
  r_sq *= c->unit_sq;
#endif
  const simd_mask near = valid & ~(simd_mask)(r_sq >= c->plain.r_cut_sq);
  const simd_real inv_sq = 1 / r_sq;
  const simd_real pull = pair_only(near, lj_f_over_r_inv(r_sq, inv_sq, &c->scaled, shifted));
  if (sums) {
    const simd_real u = pair_only(near, lj_energy_inv(r_sq, inv_sq, &c->plain, shifted));
    sums->energy += __builtin_convertvector(weight * u, simd_accum);
    sums->virial += __builtin_convertvector(weight * pull * r_sq, simd_accum);
  }
  for (int k = 0; k < 3; k++)
    f[k] = pull * d[k];
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
