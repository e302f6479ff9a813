/* neighbor/cpu/all.prec.c - full lists by testing every atom and ghost against every atom, on the
 * CPU: O(n^2), without bins or tiles, to compare with.
 *
 * Rows are atoms in their order, in slices as wide as a vector (neighbor_view).  A first pass
 * counts, a second one writes.  Compiled once per precision and instruction set. */
#include "neighbor/neighbor_impl.h"

typedef struct {
  neighbor_list *list;
  int64_t n, all; /* owned atoms; with ghosts */
  double reach_sq;
} all_job;

/* The neighbours of atom i: their number, and, unless to is NULL, they themselves, every SIMD_LANES
 * places. */
static int32_t find_row(const all_job *job, int64_t i, int32_t *to)
{
  const state *x = (const state *)job->list->x, *me = x + 4 * i;
  int32_t count = 0;
  for (int64_t j = 0; j < job->all; j++) {
    double r_sq = 0;
    for (int d = 0; d < 3; d++) {
      const double delta = (double)me[d] - x[4 * j + d];
      r_sq += delta * delta;
    }
    if (j == i || !(r_sq < job->reach_sq)) continue;
    if (to) to[(int64_t)count * SIMD_LANES] = (int32_t)j;
    count++;
  }
  return count;
}

/* Atoms and lengths of all rows; rows beyond the last atom, which fill the last slice, are empty
 * ones of that atom. */
static void count_rows(const all_job *job, int64_t rows)
{
  int32_t *atom = job->list->atom.data, *count = job->list->count.data;
#pragma omp parallel for schedule(static) num_threads(job->list->ctx->threads)
  for (int64_t r = 0; r < rows; r++) {
    atom[r] = (int32_t)(r < job->n ? r : job->n - 1);
    count[r] = r < job->n ? find_row(job, r, NULL) : 0;
  }
}

/* Where slices begin, and the totals of the view. */
static void lay_out(const all_job *job, int64_t slices)
{
  const int32_t *count = job->list->count.data;
  int64_t *start = job->list->start.data;
  neighbor_view *view = &job->list->view;
  start[0] = 0;
  for (int64_t s = 0; s < slices; s++) {
    int32_t longest = 0;
    for (int l = 0; l < SIMD_LANES; l++) {
      const int32_t entries = count[s * SIMD_LANES + l];
      longest = entries > longest ? entries : longest;
      view->n_entries += entries;
    }
    start[s + 1] = start[s] + (int64_t)SIMD_LANES * longest;
    view->max_count = longest > view->max_count ? longest : view->max_count;
  }
}

/* Entries of all rows, the row's own atom where a row is shorter than its slice. */
static void write_rows(const all_job *job, int64_t rows)
{
  const int32_t *atom = job->list->atom.data;
  const int64_t *start = job->list->start.data;
  int32_t *nbr = job->list->nbr.data;
#pragma omp parallel for schedule(static) num_threads(job->list->ctx->threads)
  for (int64_t r = 0; r < rows; r++) {
    const int64_t s = r / SIMD_LANES;
    int32_t *row = nbr + start[s] + r % SIMD_LANES;
    for (int64_t k = 0; k < start[s + 1] - start[s]; k += SIMD_LANES)
      row[k] = atom[r];
    if (r < job->n) find_row(job, r, row);
  }
}

md_status KERNEL(neighbor_cpu_all)(neighbor_list *list, const md_atoms *atoms)
{
  const all_job job = {list, atoms->n, atoms->n + atoms->n_ghost, list->r_near * list->r_near};
  const int64_t slices = (job.n + SIMD_LANES - 1) / SIMD_LANES, rows = slices * SIMD_LANES;
  md_ctx *ctx = list->ctx;
  MD_TRY(md_buffer_reserve(ctx, &list->atom, (size_t)rows * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->count, (size_t)rows * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &list->start, (size_t)(slices + 1) * sizeof(int64_t), 0));
  count_rows(&job, rows);
  lay_out(&job, slices);
  const int64_t *start = list->start.data;
  MD_TRY(md_buffer_reserve(ctx, &list->nbr, (size_t)start[slices] * sizeof(int32_t), 0));
  write_rows(&job, rows);
  neighbor_view *view = &list->view;
  view->width = SIMD_LANES;
  view->start = start;
  view->nbr = list->nbr.data;
  view->count = list->count.data;
  view->atom = list->atom.data;
  return MD_OK;
}
