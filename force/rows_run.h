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

/* A half list: forces are 0 first.  Errors: MD_ENOMEM. */
static md_status rows_run_half(force *fc, const force_job *job)
{
  const neighbor_view *list = job->list;
  MD_TRY(reserve_parts(fc, list->n_chunks));
  accum(*part)[2] = fc->partial.data;
#pragma omp parallel for schedule(dynamic, 1) num_threads(fc->ctx->threads)
  for (int32_t c = 0; c < list->n_chunks; c++) {
    for (int64_t r = list->chunk[c]; r < list->chunk[c + 1]; r++)
      ((simd_four *)job->f)[list->atom[r]] = (simd_four){0};
    run(job, slices_before(list->chunk[c]), slices_before(list->chunk[c + 1]), true, part[c], NULL);
  }
  add_parts(job, list->n_chunks);
  return MD_OK;
}

#endif
