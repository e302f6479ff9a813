/* stokes/matrix/matrix_cpu.c - assembly and products on the CPU; a row belongs to one thread. */
#include "stokes/matrix/assemble.h"
#include "stokes/team.h"

#include <string.h>

/* Vectors up to this size stay in the second-level cache of a core. */
enum { CACHED_DOUBLES = 100000 };

static md_status reserve(stokes_matrix *matrix)
{
  const size_t n = (size_t)matrix->n_stored, rows = (size_t)matrix->n_rows;
  const bool pair = matrix->storage == STOKES_PAIR;
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->column, pair ? 0 : n * sizeof(int32_t)));
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->block,
                        n * matrix_entry_bytes(matrix->storage) + MATRIX_PADDING));
  return md_buffer_reserve(matrix->ctx, &matrix->diagonal, rows * 6 * sizeof(double), 0);
}

/* Rows of the list that are near enough, and where each row of the matrix starts. */
static md_status count(stokes_matrix *matrix, const assemble_job *job)
{
  const stokes_view *s = job->spheres;
  const stokes_pair_view *list = job->pairs;
  const int64_t n = matrix->n_rows;
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  int64_t *start = matrix->start.data;
#pragma omp parallel for schedule(static, 256) num_threads(team_size(matrix->ctx, n))
  for (int64_t row = 0; row < n; row++) {
    const int64_t i = job->first + row;
    int64_t near = matrix->storage != STOKES_PAIR;
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      const assemble_place p =
          assemble_between(s->box, s->x + 4 * i, s->x + 4 * (int64_t)list->neighbor[k]);
      near += assemble_near(&p, job->range.gap_cut);
    }
    start[row + 1] = near;
  }
  start[0] = 0;
  for (int64_t i = 0; i < n; i++)
    start[i + 1] += start[i];
  matrix->n_stored = start[n];
  matrix->n_blocks = start[n] + (matrix->storage == STOKES_PAIR ? n : 0);
  return MD_OK;
}

/* Store the nine elements of a block at place p. */
static void store(stokes_matrix *matrix, int64_t p, int32_t column, const double *block)
{
  ((int32_t *)matrix->column.data)[p] = column;
  for (int k = 0; k < 9; k++) {
    if (matrix->storage == STOKES_SINGLE)
      ((float *)matrix->block.data)[9 * p + k] = (float)block[k];
    else
      ((double *)matrix->block.data)[9 * p + k] = block[k];
  }
}

static void unpack_diagonal(const double *d, double *block)
{
  for (int row = 0; row < 3; row++)
    for (int col = 0; col < 3; col++)
      block[3 * row + col] = d[assemble_packed(row, col)];
}

/* One row of blocks: pairs in ascending order with the diagonal at its place. */
static void fill_blocks(stokes_matrix *matrix, const assemble_job *job, int64_t row, double *d)
{
  const double *x = job->spheres->x, *box = job->spheres->box;
  const int64_t i = job->first + row;
  int64_t at = ((const int64_t *)matrix->start.data)[row], own = -1;
  double block[9];
  for (int64_t k = job->pairs->start[i]; k < job->pairs->start[i + 1]; k++) {
    const int64_t j = job->pairs->neighbor[k];
    if (own < 0 && j > i) own = at++;
    const assemble_place p = assemble_between(box, x + 4 * i, x + 4 * j);
    if (!assemble_near(&p, job->range.gap_cut)) continue;
    const assemble_terms t = assemble_pair(&p, &job->range, job->inv_far);
    for (int q = 0; q < 9; q++)
      block[q] = assemble_element(&t, q / 3, q % 3);
    store(matrix, at++, (int32_t)j, block);
    assemble_diagonal(d, &t, x[4 * i + 3], x[4 * j + 3]);
  }
  unpack_diagonal(d, block);
  store(matrix, own < 0 ? at : own, (int32_t)i, block);
}

/* One row of pairs, then the diagonal from what was stored. */
static void fill_pairs(stokes_matrix *matrix, const assemble_job *job, int64_t row, double *d)
{
  const double *x = job->spheres->x, *box = job->spheres->box;
  const int64_t i = job->first + row, start = ((const int64_t *)matrix->start.data)[row];
  stokes_pair_entry *entry = matrix->block.data;
  int64_t at = start;
  for (int64_t k = job->pairs->start[i]; k < job->pairs->start[i + 1]; k++) {
    const int32_t j = job->pairs->neighbor[k];
    const assemble_place p = assemble_between(box, x + 4 * i, x + 4 * (int64_t)j);
    if (!assemble_near(&p, job->range.gap_cut)) continue;
    const assemble_terms t = assemble_pair(&p, &job->range, job->inv_far);
    entry[at++] = assemble_round(&t, j);
  }
  for (int64_t p = start; p < at; p++) {
    const assemble_terms t = assemble_widen(&entry[p]);
    assemble_diagonal(d, &t, x[4 * i + 3], x[4 * (int64_t)entry[p].column + 3]);
  }
}

static md_status assemble(stokes_matrix *matrix, const assemble_job *job, int vectors)
{
  (void)vectors;
  MD_TRY(count(matrix, job));
  MD_TRY(reserve(matrix));
#pragma omp parallel for schedule(dynamic, 256) num_threads(team_size(matrix->ctx, matrix->n_rows))
  for (int64_t i = 0; i < matrix->n_rows; i++) {
    double *d = (double *)matrix->diagonal.data + 6 * i;
    memcpy(d, (const double[6]){1, 0, 0, 1, 0, 1}, 6 * sizeof *d);
    (matrix->storage == STOKES_PAIR ? fill_pairs : fill_blocks)(matrix, job, i, d);
  }
  return MD_OK;
}

static md_status set(stokes_matrix *matrix, const stokes_blocks *blocks, int vectors)
{
  (void)vectors;
  const size_t rows = (size_t)blocks->n_rows;
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->start, (rows + 1) * sizeof(int64_t), 0));
  MD_TRY(reserve(matrix));
  memcpy(matrix->start.data, blocks->start, (rows + 1) * sizeof(int64_t));
  if (rows > 0) memset(matrix->diagonal.data, 0, rows * 6 * sizeof(double));
  for (int64_t i = 0; i < blocks->n_rows; i++)
    for (int64_t p = blocks->start[i]; p < blocks->start[i + 1]; p++) {
      const double *block = blocks->block + 9 * p;
      store(matrix, p, blocks->column[p], block);
      if (blocks->column[p] != i) continue;
      double *d = (double *)matrix->diagonal.data + 6 * i;
      for (int row = 0; row < 3; row++)
        for (int col = row; col < 3; col++)
          d[assemble_packed(row, col)] = block[3 * row + col];
    }
  return MD_OK;
}

static md_status take(stokes_matrix *matrix, const stokes_matrix *source, int64_t first)
{
  const int64_t n = matrix->n_rows, *old = source->start.data, begin = old[first];
  const size_t entry = matrix_entry_bytes(matrix->storage), skipped = (size_t)begin;
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  int64_t *start = matrix->start.data;
  for (int64_t k = 0; k <= n; k++)
    start[k] = old[first + k] - begin;
  matrix->n_stored = start[n];
  matrix->n_blocks = matrix->n_stored + (matrix->storage == STOKES_PAIR ? n : 0);
  MD_TRY(reserve(matrix));
  MD_TRY(md_copy(matrix->ctx, matrix->block.data,
                 (const char *)source->block.data + entry * skipped, entry * (size_t)start[n]));
  if (matrix->storage != STOKES_PAIR)
    MD_TRY(md_copy(matrix->ctx, matrix->column.data, (const int32_t *)source->column.data + skipped,
                   (size_t)start[n] * sizeof(int32_t)));
  return md_copy(matrix->ctx, matrix->diagonal.data,
                 (const double *)source->diagonal.data + 6 * first, (size_t)n * 6 * sizeof(double));
}

/* Block p of the stored ones in full. */
static int32_t expand(const stokes_matrix *matrix, int64_t p, double *block)
{
  if (matrix->storage == STOKES_PAIR) {
    const stokes_pair_entry *entry = (const stokes_pair_entry *)matrix->block.data + p;
    const assemble_terms t = assemble_widen(entry);
    for (int q = 0; q < 9; q++)
      block[q] = assemble_element(&t, q / 3, q % 3);
    return entry->column;
  }
  for (int q = 0; q < 9; q++)
    block[q] = matrix->storage == STOKES_SINGLE ? ((const float *)matrix->block.data)[9 * p + q]
                                                : ((const double *)matrix->block.data)[9 * p + q];
  return ((const int32_t *)matrix->column.data)[p];
}

static md_status get(const stokes_matrix *matrix, stokes_blocks *out)
{
  const int64_t *start = matrix->start.data;
  const bool pair = matrix->storage == STOKES_PAIR;
  int64_t at = 0;
  for (int64_t i = 0; i < matrix->n_rows; i++) {
    bool own = !pair;
    out->start[i] = at;
    for (int64_t p = start[i]; p <= start[i + 1]; p++) {
      double block[9];
      const int32_t column = p < start[i + 1] ? expand(matrix, p, block) : INT32_MAX;
      if (!own && column > i) {
        own = true;
        out->column[at] = (int32_t)i;
        unpack_diagonal((const double *)matrix->diagonal.data + 6 * i, out->block + 9 * at++);
      }
      if (p == start[i + 1]) break;
      out->column[at] = column;
      memcpy(out->block + 9 * at++, block, sizeof block);
    }
  }
  out->start[matrix->n_rows] = at;
  return MD_OK;
}

static int ways(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS])
{
  static gspmv_ways_fn *const of_isa[] = SIMD_ROW(gspmv_cpu_ways);
  return of_isa[matrix->ctx->isa](m, way);
}

static md_status multiply_runs(const stokes_matrix *matrix, const matrix_run *run, int64_t n_runs,
                               const gspmv_range *range, const double *x, double *y)
{
  static gspmv_fn *const one[] = SIMD_ROW(gspmv_cpu_one), *const many[] = SIMD_ROW(gspmv_cpu_many);
  const int m = range->m; /* which are all of them */
  const gspmv_job job = {matrix->n_rows,
                         run,
                         n_runs,
                         matrix->start.data,
                         matrix->column.data,
                         matrix->block.data,
                         matrix->diagonal.data,
                         team_size(matrix->ctx, matrix->n_rows),
                         3.0 * (double)m * (double)matrix->n_rows > CACHED_DOUBLES,
                         m,
                         range->part.panels,
                         x,
                         y};
  (m == 1 ? one : many)[matrix->ctx->isa](&job, matrix->storage);
  return MD_OK;
}

static md_status multiply(const stokes_matrix *matrix, const gspmv_range *range, const double *x,
                          double *y, const gspmv_halo *halo)
{
  (void)halo; /* which is a GPU's */
  return multiply_runs(matrix, NULL, 0, range, x, y);
}

const matrix_backend matrix_cpu = {assemble,      set,  get,  ways, multiply,
                                   multiply_runs, take, NULL, NULL, NULL};
