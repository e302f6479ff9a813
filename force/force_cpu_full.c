/* force/force_cpu_full.c - Lennard-Jones forces from full lists on the CPU.
 *
 * The lanes of a vector are the atoms of a slice; a step takes one neighbour of each: SIMD_LANES
 * structures of four, transposed in registers, which beats gathers.  No sums across lanes, one
 * store an atom, no two threads write one address.  Bytes a pair: 4 + a coord4.  Compiled once per
 * precision and instruction set. */
#include "force/pair_cpu.h"

/* Tallies are summed over PARTS equal parts, then over the parts: one result for any threads. */
enum { PARTS = 256 };

/* Slices begin..end; tally (energy and virial) may be NULL. */
MD_INLINE void slices(const force_job *job, int64_t begin, int64_t end, bool shifted, accum *tally)
{
  const neighbor_view *list = job->list;
  const pair_constants c = pair_round(job);
  const simd_mask all = ~(simd_mask){0};
  const simd_real half = (simd_real){0} + (real)0.5; /* each pair is seen from both atoms */
  pair_sums sums = {0};
  for (int64_t s = begin; s < end; s++) {
    const int64_t row = s * SIMD_LANES;
    const int32_t *atom = list->atom + row, *count = list->count + row;
    const int32_t *nbr = list->nbr + list->start[s];
    int32_t common = count[0], longest = count[0];
    simd_real length;
    for (int l = 0; l < SIMD_LANES; l++) {
      common = count[l] < common ? count[l] : common;
      longest = count[l] > longest ? count[l] : longest;
      length[l] = (real)count[l];
    }
    simd_coord i[3], j[3];
    simd_real f[3] = {{0}, {0}, {0}}, g[3];
    simd_load_coord(job->coord, atom, i);
    for (int32_t k = 0; k < longest; k++, nbr += SIMD_LANES) {
      const simd_mask valid = k < common ? all : (simd_mask)((real)k < length);
      simd_load_coord(job->coord, nbr, j);
      pair_force(&c, i, j, valid, half, shifted, g, tally ? &sums : NULL);
      for (int x = 0; x < 3; x++)
        f[x] += g[x];
    }
    simd_four four[SIMD_LANES];
    simd_fours(f, four);
    const int64_t left = list->n_rows - row;
    for (int l = 0; l < SIMD_LANES && l < left; l++)
      ((simd_four *)job->f)[atom[l]] = four[l];
  }
  if (tally) pair_add(job, &sums, tally);
}

md_status KERNEL(force_cpu_full)(force *fc, const force_job *job)
{
  const int64_t n = (job->list->n_rows + SIMD_LANES - 1) / SIMD_LANES;
  const bool shifted = job->lj.f_shift != 0;
  accum part[PARTS][2] = {{0}};
#pragma omp parallel for schedule(static) num_threads(fc->ctx->threads)
  for (int p = 0; p < PARTS; p++) {
    const int64_t begin = n * p / PARTS, end = n * (p + 1) / PARTS;
    if (job->tally && shifted)
      slices(job, begin, end, true, part[p]);
    else if (job->tally)
      slices(job, begin, end, false, part[p]);
    else if (shifted)
      slices(job, begin, end, true, NULL);
    else
      slices(job, begin, end, false, NULL);
  }
  if (!job->tally) return MD_OK;
  for (int p = 0; p < PARTS; p++) {
    job->tally->energy += part[p][0];
    job->tally->virial += part[p][1];
  }
  return MD_OK;
}
