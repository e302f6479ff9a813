/* stokes/model/model.c - see model.h. */
#include "stokes/model/model.h"
#include "core/time/stopwatch.h"
#include "core/time/timer.h"
#include "stokes/team.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Multiplications and additions of one block and vector; bytes of a number, a column and a row. */
enum { FLOPS = 18, NUMBER = 8 };

double stokes_model_bytes(const stokes_shape *shape, int m, double k)
{
  return 3 * (double)shape->n_rows * m * (3 + k) * NUMBER + shape->product_bytes;
}

static double compute_time(const stokes_machine *machine, const stokes_shape *shape, int m)
{
  return FLOPS * (double)m * (double)shape->n_blocks / machine->flops;
}

double stokes_model_time(const stokes_machine *machine, const stokes_shape *shape, int m, double k)
{
  return fmax(stokes_model_bytes(shape, m, k) / machine->bandwidth,
              compute_time(machine, shape, m));
}

double stokes_model_relative(const stokes_machine *machine, const stokes_shape *shape, int m,
                             double k)
{
  return stokes_model_time(machine, shape, m, k) / stokes_model_time(machine, shape, 1, k);
}

/* Both times grow by as much with each vector; that of memory begins with the matrix. */
int stokes_model_switch(const stokes_machine *machine, const stokes_shape *shape, double k)
{
  const double matrix = stokes_model_bytes(shape, 0, k) / machine->bandwidth;
  const double vector = stokes_model_bytes(shape, 1, k) / machine->bandwidth - matrix;
  const double more = compute_time(machine, shape, 1) - vector;
  const double m = fmax(1, ceil(matrix / more));
  return more > 0 && m < INT_MAX ? (int)m : 0;
}

double stokes_model_step(const stokes_machine *machine, const stokes_shape *shape,
                         const stokes_counts *counts, int m, double k)
{
  const double many = stokes_model_time(machine, shape, m, k);
  const double one = stokes_model_time(machine, shape, 1, k);
  return ((counts->unguessed + counts->order) * many +
          ((m - 1) * (counts->first + counts->order) + m * counts->second) * one) /
         m;
}

int stokes_model_best(const stokes_machine *machine, const stokes_shape *shape,
                      const stokes_counts *counts, const int *widths, int n, double k)
{
  int best = 0;
  double least = INFINITY;
  for (int w = 0; w < n; w++) {
    const double time = stokes_model_step(machine, shape, counts, widths[w], k);
    if (time < least) least = time, best = widths[w];
  }
  return best;
}

int stokes_model_vectors(double blocks_per_row, double byte_per_flop)
{
  /* A row of a block matrix as BCRS stores it; bandwidth 1. */
  const double matrix = 4 + blocks_per_row * (4 + 9 * NUMBER), one = 9 * NUMBER + matrix;
  int m = 1;
  while (fmax(9.0 * NUMBER * (m + 1) + matrix, FLOPS * (m + 1) * blocks_per_row * byte_per_flop) <=
         2 * one)
    m++;
  return m;
}

/* Copy of a large array, by all threads. */
static md_status measure_bandwidth(md_ctx *ctx, double *out)
{
  enum { NUMBERS = 1 << 24, LEAST = 4, MOST = 40 };
  const double enough = 0.5; /* seconds */
  const size_t bytes = (size_t)NUMBERS * sizeof(double);
  md_buffer from = {0}, to = {0};
  md_stopwatch watch;
  double best = INFINITY, seconds = 0;
  md_status status = md_stopwatch_create(ctx, &watch);
  if (!status) status = md_buffer_reserve(ctx, &from, bytes, 0);
  if (!status) status = md_buffer_reserve(ctx, &to, bytes, 0);
  const double start = md_wall_seconds();
  for (int k = 0; !status && k <= MOST; k++) {
    if (k > LEAST && md_wall_seconds() - start > enough) break;
    status = md_stopwatch_start(&watch, false);
    if (ctx->backend == MD_CPU) {
      double *x = from.data, *y = to.data;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
      for (int64_t i = 0; i < NUMBERS; i++)
        if (k == 0)
          x[i] = y[i] = 1; /* memory is not there before it is written */
        else
          y[i] = 2 * x[i]; /* a plain copy might go around the cache */
    } else if (!status) {
      status = md_copy(ctx, to.data, from.data, bytes);
    }
    if (!status) status = md_stopwatch_stop(&watch, &seconds);
    if (k > 0) best = fmin(best, seconds);
  }
  md_stopwatch_destroy(&watch);
  md_buffer_free(ctx, &from);
  md_buffer_free(ctx, &to);
  *out = (ctx->backend == MD_CPU ? 3 : 2) * (double)bytes / best; /* the CPU reads before writing */
  return status;
}

/* A matrix of a few bands that fits the caches: rows i - WIDTH/2 ... i + WIDTH/2 and the first. */
static md_status banded(stokes_blocks *blocks, int64_t rows)
{
  enum { WIDTH = 8 };
  *blocks = (stokes_blocks){rows, rows * WIDTH, NULL, NULL, NULL};
  blocks->start = malloc(((size_t)rows + 1) * sizeof *blocks->start);
  blocks->column = malloc((size_t)blocks->n_blocks * sizeof *blocks->column);
  blocks->block = malloc((size_t)blocks->n_blocks * 9 * sizeof *blocks->block);
  MD_REQUIRE(blocks->start && blocks->column && blocks->block, MD_ENOMEM,
             "out of memory for a matrix to measure with");
  for (int64_t i = 0; i <= rows; i++)
    blocks->start[i] = i * WIDTH;
  for (int64_t p = 0; p < blocks->n_blocks; p++) {
    const int64_t first = p / WIDTH - WIDTH / 2, last = rows - WIDTH;
    blocks->column[p] = (int32_t)((first < 0 ? 0 : first > last ? last : first) + p % WIDTH);
    for (int k = 0; k < 9; k++)
      blocks->block[9 * p + k] = 0.01 * k;
  }
  return MD_OK;
}

static md_status time_products(md_ctx *ctx, const stokes_matrix *matrix, int m, double *out)
{
  enum { REPEATS = 400 };
  const double enough = 0.3; /* seconds */
  const stokes_shape shape = stokes_matrix_shape(matrix);
  const size_t bytes = (size_t)shape.n_rows * 3 * (size_t)m * sizeof(double);
  md_buffer x = {0}, y = {0};
  md_stopwatch watch;
  md_status status = md_stopwatch_create(ctx, &watch);
  if (!status) status = md_buffer_reserve(ctx, &x, bytes, 0);
  if (!status) status = md_buffer_reserve(ctx, &y, bytes, 0);
  if (!status) status = md_fill(ctx, x.data, 0, bytes);
  *out = INFINITY;
  const double start = md_wall_seconds();
  for (int k = 0; !status && k < REPEATS && md_wall_seconds() - start < enough; k++) {
    double seconds = INFINITY;
    status = md_stopwatch_start(&watch, false);
    if (!status) status = stokes_matrix_multiply(matrix, m, x.data, y.data);
    if (!status) status = md_stopwatch_stop(&watch, &seconds);
    *out = fmin(*out, seconds);
  }
  md_stopwatch_destroy(&watch);
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  return status;
}

static md_status measure_flops(md_ctx *ctx, stokes_storage storage, double *out)
{
  enum { VECTORS = 16, GPU_ROWS = 1 << 16 }; /* 40 MB of blocks: in the GPU's L2 */
  const int64_t rows = ctx->backend == MD_GPU ? GPU_ROWS : (int64_t)TEAM_ITEMS * ctx->threads;
  stokes_matrix *matrix = NULL;
  stokes_blocks blocks = {0};
  double seconds = 0;
  md_status status = banded(&blocks, rows);
  if (!status)
    status = stokes_matrix_create(ctx, storage == STOKES_PAIR ? STOKES_BCRS : storage, &matrix);
  if (!status) status = stokes_matrix_set(matrix, &blocks, VECTORS);
  if (!status) status = time_products(ctx, matrix, VECTORS, &seconds);
  *out = FLOPS * (double)VECTORS * (double)blocks.n_blocks / seconds;
  stokes_matrix_destroy(matrix);
  stokes_blocks_free(&blocks);
  return status;
}

md_status stokes_machine_measure(md_ctx *ctx, stokes_storage storage, stokes_machine *out)
{
  MD_TRY(measure_bandwidth(ctx, &out->bandwidth));
  return measure_flops(ctx, storage, &out->flops);
}
