/* spread/cpu/matrix.real.c - method single on the CPU: S as a sparse matrix of compressed rows.
 *
 * Row m holds the weights of the particles near mesh point m; spreading is one product.  Built as
 * [Guo] section 3.1 says: count the entries of each row, add up, fill.  Particles lie sorted by
 * tile and threads take tiles of one colour, so neither counting nor filling needs atomics, and the
 * order within a row is the same for any number of threads.  Memory: p^3 n (4 + real) bytes. */
#include "spread/bspline.h"
#include "spread/spread_impl.h"

#include <string.h>

/* Mesh points of one particle, p along each axis. */
typedef struct {
  int64_t slab[SPREAD_ORDER_MAX], line[SPREAD_ORDER_MAX], at[SPREAD_ORDER_MAX];
} stencil;

MD_INLINE void find_points(const spread_grid *grid, const int32_t origin[3], uint32_t word,
                           stencil *to)
{
  const int32_t *n = grid->mesh;
  const int32_t cell[3] = {origin[0] + (int32_t)(word >> 16),
                           origin[1] + (int32_t)(word >> 8 & 0xff),
                           origin[2] + (int32_t)(word & 0xff)};
  for (int j = 0; j < grid->order; j++) {
    to->slab[j] = (int64_t)spread_wrap(cell[0] + j, n[0]) * n[1] * n[2];
    to->line[j] = (int64_t)spread_wrap(cell[1] + j, n[1]) * n[2];
    to->at[j] = spread_wrap(cell[2] + j, n[2]);
  }
}

/* rows[m + 1] += 1 for every point m of every particle of a tile. */
static void count_tile(const spread_plan *plan, const spread_part *part, int32_t tile,
                       int64_t *rows)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *start = part->buffer[SPREAD_START].data;
  const int p = plan->grid.order;
  int32_t origin[3];
  stencil to;
  spread_tile_origin(&plan->tiles, tile, origin);
  for (int32_t i = start[tile]; i < start[tile + 1]; i++) {
    find_points(&plan->grid, origin, record[i].word, &to);
    for (int a = 0; a < p; a++)
      for (int b = 0; b < p; b++)
        for (int c = 0; c < p; c++)
          rows[to.slab[a] + to.line[b] + to.at[c] + 1]++;
  }
}

/* Put the entries of a tile's particles at place[m], which moves on. */
MD_INLINE void fill_tile(const int p, const spread_plan *plan, const spread_part *part,
                         int32_t tile, int64_t *place)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  const int32_t *start = part->buffer[SPREAD_START].data;
  int32_t *column = part->buffer[SPREAD_COLUMN].data;
  real *value = part->buffer[SPREAD_VALUE].data;
  int32_t origin[3];
  stencil to;
  spread_tile_origin(&plan->tiles, tile, origin);
  for (int32_t i = start[tile]; i < start[tile + 1]; i++) {
    real w[3][SPREAD_ORDER_MAX];
    find_points(&plan->grid, origin, record[i].word, &to);
    for (int a = 0; a < 3; a++)
      bspline_weights(p, record[i].f[a], w[a]);
    for (int a = 0; a < p; a++)
      for (int b = 0; b < p; b++) {
        const real outer = w[0][a] * w[1][b];
        for (int c = 0; c < p; c++) {
          const int64_t entry = place[to.slab[a] + to.line[b] + to.at[c]]++;
          column[entry] = order[i];
          value[entry] = outer * w[2][c];
        }
      }
  }
}

static void fill(const spread_plan *plan, const spread_part *part, int32_t tile, int64_t *place)
{
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    fill_tile(p, plan, part, tile, place);                                                         \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
}

/* rows[0] stays 0 and rows[m + 1] becomes the end of row m. */
static void add_up(int64_t *rows, int64_t n)
{
  for (int64_t m = 0; m < n; m++)
    rows[m + 1] += rows[m];
}

md_status KERNEL(spread_cpu_matrix)(spread_plan *plan, spread_part *part)
{
  md_ctx *ctx = plan->ctx;
  const spread_tiles *tiles = &plan->tiles;
  const int64_t points = plan->grid.points, entries = spread_entries(plan, part->n);
  md_buffer *buffer = part->buffer;
  const size_t row_bytes = (size_t)(points + 1) * sizeof(int64_t);
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ROWS], row_bytes, 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_COLUMN], (size_t)entries * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_VALUE], (size_t)entries * sizeof(real), 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], row_bytes, 0));
  int64_t *rows = buffer[SPREAD_ROWS].data, *place = plan->scratch[0].data;
  memset(rows, 0, row_bytes);
#pragma omp parallel num_threads(ctx->threads)
  {
    for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
      for (int32_t k = tiles->colour_start[c]; k < tiles->colour_start[c + 1]; k++)
        for (int32_t t = tiles->block_start[k]; t < tiles->block_start[k + 1]; t++)
          count_tile(plan, part, tiles->by_block[t], rows);
    }
#pragma omp single
    {
      add_up(rows, points);
      memcpy(place, rows, row_bytes);
    }
    for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
      for (int32_t k = tiles->colour_start[c]; k < tiles->colour_start[c + 1]; k++)
        for (int32_t t = tiles->block_start[k]; t < tiles->block_start[k + 1]; t++)
          fill(plan, part, tiles->by_block[t], place);
    }
  }
  return MD_OK;
}

md_status KERNEL(spread_cpu_single)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const int64_t *rows = part->buffer[SPREAD_ROWS].data;
  const int32_t *column = part->buffer[SPREAD_COLUMN].data;
  const real *value = part->buffer[SPREAD_VALUE].data;
  const int64_t points = plan->grid.points;
#pragma omp parallel for num_threads(plan->ctx->threads) schedule(static)
  for (int64_t m = 0; m < points; m++)
    for (int32_t v = 0; v < job->vectors; v++) {
      const real *q = (const real *)job->q + v * job->q_stride;
      real sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = rows[m]; k < rows[m + 1]; k++)
        sum += value[k] * q[column[k]];
      ((real *)job->mesh)[v * points + m] += sum;
    }
  return MD_OK;
}
