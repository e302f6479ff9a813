/* force/eam/eam_pair_cpu.h - a vector of pairs of embedded atoms on the CPU, from tables of cubics.
 *
 * In double the cubics are the file's, by distance, and a knot has those of r phi and of the slope
 * of rho side by side, in units in which the force needs no more constants (eam_knots.c); with q =
 * 1/t, t the distance in steps, and z = r phi, ' a slope by the step:
 *     f/r = q [ (z' - z q) q + (F'_i + F'_j) rho' ]
 * In single and mixed precision they are the GPU's, by r^2 (eam_pair.h): no root, no quotient. */
#ifndef EAM_PAIR_CPU_H
#define EAM_PAIR_CPU_H

#include "force/rows_cpu.h"

typedef struct {
  real r_cut_sq, unit, unit_sq;                /* coord_scale and its square */
  real step, inv_step, last;                   /* of r or r^2; the last knot that is entered */
  real energy_unit;                            /* of energies by z q, in double */
  const real *density, *pair, *slope, *energy; /* energy: not in double */
} eam_constants;

/* How many fours of coefficients of pair and slope a knot has side by side. */
enum { EAM_FOURS = MD_PREC == 2 ? 2 : 1 };

static eam_constants eam_round(const force_job *job)
{
  const force *fc = job->fc;
  const eam_potential *eam = fc->eam;
  const bool wide = MD_PREC == 2;
  const double cut_sq = eam->cutoff * eam->cutoff;
  const double step = wide ? eam->pair.step : cut_sq / EAM_SQUARES;
  const int64_t n = wide ? eam->pair.n : eam_words(fc, eam);
  const real *force_knots = fc->force_knots.data;
  return (eam_constants){.r_cut_sq = (real)cut_sq,
                         .unit = (real)job->coord_scale,
                         .unit_sq = (real)(job->coord_scale * job->coord_scale),
                         .step = (real)step,
                         .inv_step = (real)(1 / step),
                         .last = (real)(n - (wide ? 2 : 1)),
                         .energy_unit = (real)(-step * step),
                         .density = fc->density_knots.data,
                         .pair = force_knots,
                         .slope = force_knots + 4 * (wide ? 1 : n),
                         .energy = wide ? NULL : force_knots + 8 * n};
}

/* The lanes whose rows have an entry k; each: how many they have. */
MD_INLINE simd_mask eam_lanes(simd_mask each, int32_t k)
{
  return (simd_mask){0} + k < each;
}

/* The lesser one; of a number and no number, b. */
MD_INLINE simd_real eam_least(simd_real a, simd_real b)
{
#if MD_ISA == 2 && MD_PREC == 2
  return _mm512_min_pd(a, b);
#elif MD_ISA == 2
  return _mm512_min_ps(a, b);
#elif MD_ISA == 1 && MD_PREC == 2
  return _mm256_min_pd(a, b);
#elif MD_ISA == 1
  return _mm256_min_ps(a, b);
#else
  const simd_mask less = a < b;
  return (simd_real)(((simd_mask)a & less) | ((simd_mask)b & ~less));
#endif
}

/* 1 / a within an ulp or two.  With AVX-512 by an estimate of 14 bits and two of Newton's steps:
 * there is room for them beside the roots, which keep the divider busy. */
MD_INLINE simd_real eam_inverse(simd_real a)
{
#if MD_ISA == 2 && MD_PREC == 2
  const simd_real one = (simd_real){0} + 1;
  simd_real y = _mm512_rcp14_pd(a);
  for (int step = 0; step < 2; step++)
    y = simd_fma(simd_fma(-a, y, one), y, y);
  return y;
#else
  return 1 / a;
#endif
}

/* n + 1 in the lanes of a mask. */
MD_INLINE simd_index eam_count(simd_index n, simd_mask lanes)
{
#if MD_ISA == 2 && MD_PREC == 2
  const __m256i m = (__m256i)n;
  return (simd_index)_mm256_mask_add_epi32(m, _mm512_movepi64_mask((__m512i)lanes), m,
                                           _mm256_set1_epi32(1));
#else
  return n - __builtin_convertvector(lanes, simd_index);
#endif
}

/* d of pairs, in units of coord_scale; returns r^2.  w, unless NULL: what is fourth beside the
 * coordinates x. */
MD_INLINE simd_real eam_see(const eam_constants *c, const simd_coord i[3], const void *x,
                            const int32_t *nbr, simd_real d[3], simd_real *w)
{
  simd_real j[4];
  rows_load_fours(x, nbr, j);
  for (int k = 0; k < 3; k++)
    d[k] = pair_difference(i[k], (simd_coord)j[k]);
  if (w) *w = j[3];
  simd_real r_sq = simd_fma(d[1], d[1], d[0] * d[0]);
  r_sq = simd_fma(d[2], d[2], r_sq);
#if MD_PREC == 1
  r_sq *= c->unit_sq;
#else
  (void)c;
#endif
  return r_sq;
}

/* Where pairs lie between knots: those before them, how far on the way to the next, and in double
 * the inverse of the distance in steps. */
typedef struct {
  int32_t m[SIMD_LANES];
  simd_real p, q;
} eam_spots;

/* q: whether it is needed.  Adding ROUND leaves the whole part in the low bits; what is no number
 * is at the last knot, and p shows it. */
MD_INLINE void eam_locate(const eam_constants *c, simd_real r_sq, bool q, eam_spots *out)
{
  const simd_real zero = {0}, inv_step = zero + c->inv_step;
#if MD_PREC == 2
  const real round = 0x1.8p52;
  const simd_real along = simd_sqrt(r_sq);
  if (q) out->q = eam_inverse(along * inv_step);
#else
  const real round = 0x1.8p23f;
  const simd_real along = r_sq;
  (void)q;
#endif
  const simd_real half = zero + (real)0.5;
  const simd_real shifted = eam_least(simd_fma(along, inv_step, -half), zero + c->last) + round;
  const simd_mask m = (simd_mask)shifted - (simd_mask)(zero + round);
  *(simd_index *)out->m = __builtin_convertvector(m, simd_index);
  out->p = eam_least(zero + 1, simd_fma(along, inv_step, round - shifted));
}

/* A cubic's value, and what is left of it by each step of Horner's rule, for its slope. */
MD_INLINE simd_real eam_cubic(const simd_real c[4], simd_real p, simd_real left[2])
{
  left[0] = simd_fma(p, c[3], c[2]);
  left[1] = simd_fma(p, left[0], c[1]);
  return simd_fma(p, left[1], c[0]);
}

MD_INLINE simd_real eam_rho(const eam_constants *c, const eam_spots *at)
{
  simd_real k4[4], left[2];
  rows_load_fours(c->density, at->m, k4);
  return eam_cubic(k4, at->p, left);
}

/* Force over r, in units of coord_scale; slopes: F' of both atoms, added.  energy, unless NULL,
 * gets phi.  The at of the spots counts fours (EAM_FOURS). */
MD_INLINE simd_real eam_pull(const eam_constants *c, const eam_spots *at, simd_real slopes,
                             simd_real *energy)
{
  simd_real z4[4], s4[4], left[2];
  const simd_real p = at->p;
  rows_load_fours(c->pair, at->m, z4);
  rows_load_fours(c->slope, at->m, s4);
  const simd_real z = eam_cubic(z4, p, left);
#if MD_PREC == 2
  const simd_real q = at->q;
  const simd_real d_z = simd_fma(p, simd_fma(p, z4[3], left[0]), left[1]);
  const simd_real d_rho = simd_fma(p, simd_fma(p, s4[2], s4[1]), s4[0]);
  const simd_real d_phi = simd_fma(-z, q, d_z) * q;
  if (energy) *energy = z * q * c->energy_unit;
  return simd_fma(slopes, d_rho, d_phi) * q;
#else
  const simd_real pull = simd_fma(slopes, eam_cubic(s4, p, left), z);
  if (energy) {
    rows_load_fours(c->energy, at->m, z4);
    *energy = eam_cubic(z4, p, left);
  }
#if MD_PREC == 1
  return pull * c->unit;
#else
  return pull;
#endif
#endif
}

#endif
