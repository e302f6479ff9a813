/* force/rows_run.h - all rows of a list by a kernel's `run`, which stands above the line that
 * includes this; in the kernel's file, so that what it is told is known when it is compiled:
 *
 * void run(const force_job *job, int64_t begin, int64_t end, bool half, accum *part,
 *          exact_sum *exact)
 *   the forces of slices begin to end - 1, and unless job->tally is NULL what they tally, to part;
 *   atom by atom also to exact, unless it is NULL.
 *
 * cachegrind counts a kernel by these functions' names (minimd/counters/profile_cpu.c). */
#ifndef ROWS_RUN_H
#define ROWS_RUN_H

/* A full list; exact is NULL or what reserve_exact gave.  PARTS are reserved. */
static void rows_run_full(const force_job *job, exact_sum (*exact)[2])
{
  const int64_t n = slices_before(job->list->n_rows);
  accum(*part)[2] = job->fc->partial.data;
#pragma omp parallel for schedule(static) num_threads(job->fc->ctx->threads)
  for (int p = 0; p < PARTS; p++)
    run(job, n * p / PARTS, n * (p + 1) / PARTS, false, part[p], exact ? exact[p] : NULL);
  if (exact)
    join_exact(job, exact);
  else
    add_parts(job, PARTS);
}

/* What half lists add to, `width` reals of each atom and each ghost, is 0 first where chunk c adds
 * to it: by the thread that has its rows, so that no two threads write it.  A chunk that is alone
 * takes all in the order of memory: 2 to 3 % of a step of 4,000 atoms.  A zero that no compiler
 * knows is not stored by memset, which cachegrind could not tell from others. */
MD_INLINE void rows_run_half_open(const force_job *job, int32_t c, real *sum, int width)
{
  const neighbor_view *list = job->list;
  if (list->n_chunks == 1) {
    real zero = 0;
    __asm__("" : "+m"(zero));
    for (int64_t k = 0; k < (job->n + job->n_ghost) * width; k++)
      sum[k] = zero;
    return;
  }
  for (int64_t r = list->chunk[c]; r < list->chunk[c + 1]; r++)
    for (int d = 0; d < width; d++)
      sum[(int64_t)list->atom[r] * width + d] = 0;
  for (int64_t k = list->ghost_start[c]; k < list->ghost_start[c + 1]; k++)
    for (int d = 0; d < width; d++)
      sum[(job->n + list->ghost[k]) * width + d] = 0;
}

/* And what its ghosts got goes to their homes. */
MD_INLINE void rows_run_half_close(const force_job *job, int32_t c, real *sum, int width)
{
  const neighbor_view *list = job->list;
  for (int64_t k = list->ghost_start[c]; k < list->ghost_start[c + 1]; k++) {
    const int64_t ghost = list->ghost[k], home = job->home[ghost];
    for (int d = 0; d < width; d++)
      sum[home * width + d] += sum[(job->n + ghost) * width + d];
  }
}

/* A half list.  Errors: MD_ENOMEM. */
static md_status rows_run_half(force *fc, const force_job *job)
{
  const neighbor_view *list = job->list;
  MD_TRY(reserve_parts(fc, list->n_chunks));
  accum(*part)[2] = fc->partial.data;
#pragma omp parallel for schedule(static, 1) num_threads(fc->ctx->threads)
  for (int32_t c = 0; c < list->n_chunks; c++) {
    rows_run_half_open(job, c, job->f, 4);
    run(job, slices_before(list->chunk[c]), slices_before(list->chunk[c + 1]), true, part[c], NULL);
    rows_run_half_close(job, c, job->f, 4);
  }
  add_parts(job, list->n_chunks);
  return MD_OK;
}

#endif
