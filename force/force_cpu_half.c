/* force/force_cpu_half.c - Lennard-Jones forces from half lists on the CPU.
 *
 * The lanes of a vector are the neighbours of one atom.  Shared entries act on both atoms: after
 * the pairs are evaluated, forces are turned back into structures of four and subtracted from f[j]
 * one after the other, so that a ghost's home may come twice in one vector.  Chunks own the atoms
 * of their rows and never write others: threads need no atomics.  Compiled once per precision and
 * instruction set. */
#include "force/pair_cpu.h"

/* Subtract g in the first `lanes` from the forces on atoms j; a ghost stands for its home. */
MD_INLINE void react(const force_job *job, const int32_t *j, const simd_real g[3], int64_t lanes)
{
  simd_four *f = job->f, four[SIMD_LANES];
  simd_fours(g, four);
  for (int l = 0; l < SIMD_LANES && l < lanes; l++) {
    const int64_t ghost = j[l] - job->n;
    f[ghost < 0 ? j[l] : job->home[ghost]] -= four[l];
  }
}

/* The pairs of row r. */
MD_INLINE void row_forces(const force_job *job, const pair_constants *c, int64_t r, bool shifted,
                          pair_sums *sums)
{
  const neighbor_view *list = job->list;
  const int32_t atom = list->atom[r], count = list->count[r], shared = list->shared[r];
  const int32_t *nbr = list->nbr + list->start[r];
  simd_coord i[3], j[3];
  simd_real f[3] = {{0}, {0}, {0}}, g[3];
  simd_mask lane;
  for (int l = 0; l < SIMD_LANES; l++)
    lane[l] = l;
  for (int x = 0; x < 3; x++)
    i[x] = (simd_coord){0} + ((const coord *)job->coord)[4 * (int64_t)atom + x];
  for (int32_t k = 0; k < count; k += SIMD_LANES, nbr += SIMD_LANES) {
    simd_load_coord(job->coord, nbr, j);
    const simd_mask valid = lane < count - k, both = lane < shared - k;
    const simd_real weight = (real)0.5 - (real)0.5 * __builtin_convertvector(both, simd_real);
    pair_force(c, i, j, valid, weight, shifted, g, sums);
    for (int x = 0; x < 3; x++)
      f[x] += g[x];
    /* Padding is the row's own atom with no force: it may react, which saves a short vector. */
    if (k + SIMD_LANES <= shared || (k < shared && shared == count))
      react(job, nbr, g, SIMD_LANES);
    else if (k < shared)
      react(job, nbr, g, shared - k);
  }
  simd_four four[SIMD_LANES];
  simd_fours(f, four);
  for (int step = SIMD_LANES / 2; step > 0; step /= 2)
    for (int l = 0; l < step; l++)
      four[l] += four[l + step];
  ((simd_four *)job->f)[atom] += four[0];
}

/* The rows of one chunk; tally (energy and virial) may be NULL. */
MD_INLINE void chunk_forces(const force_job *job, int32_t chunk, bool shifted, accum *tally)
{
  const neighbor_view *list = job->list;
  const int64_t begin = list->chunk[chunk], end = list->chunk[chunk + 1];
  const pair_constants c = pair_round(job);
  pair_sums sums = {0};
  for (int64_t r = begin; r < end; r++)
    ((simd_four *)job->f)[list->atom[r]] = (simd_four){0};
  for (int64_t r = begin; r < end; r++)
    row_forces(job, &c, r, shifted, tally ? &sums : NULL);
  if (tally) pair_add(job, &sums, tally);
}

md_status KERNEL(force_cpu_half)(force *fc, const force_job *job)
{
  const int32_t n = job->list->n_chunks;
  const bool shifted = job->lj.f_shift != 0;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, (size_t)n * sizeof(accum[2]), 0));
  accum(*part)[2] = fc->partial.data;
#pragma omp parallel for schedule(dynamic, 1) num_threads(fc->ctx->threads)
  for (int32_t k = 0; k < n; k++) {
    part[k][0] = part[k][1] = 0;
    if (job->tally && shifted)
      chunk_forces(job, k, true, part[k]);
    else if (job->tally)
      chunk_forces(job, k, false, part[k]);
    else if (shifted)
      chunk_forces(job, k, true, NULL);
    else
      chunk_forces(job, k, false, NULL);
  }
  for (int32_t k = 0; job->tally && k < n; k++) {
    job->tally->energy += part[k][0];
    job->tally->virial += part[k][1];
  }
  return MD_OK;
}
