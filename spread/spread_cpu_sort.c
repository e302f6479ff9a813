/* spread/spread_cpu_sort.c - locating particles, and a stable counting sort by tile.
 *
 * Each thread counts the tiles of one stretch of particles; sums over (tile, thread) give every
 * thread the place of its first particle in each tile, so the result is that of a serial stable
 * sort for any number of threads.  Bytes a particle: positions read twice, key 4 + 4, record
 * written. */
#include "spread/spread_impl.h"

#include <omp.h>
#include <string.h>

md_status KERNEL(spread_cpu_check)(spread_plan *plan, int64_t n, const void *positions,
                                   int64_t stride, int64_t *bad)
{
  const state *x = positions;
  int64_t first = n;
#pragma omp parallel for num_threads(plan->ctx->threads) reduction(min : first)
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++)
      if (!spread_locatable(&plan->grid, a, (double)x[i * stride + a]) && i < first) first = i;
  *bad = first;
  return MD_OK;
}

static spread_particle locate_given(const spread_grid *grid, const state *x)
{
  spread_particle particle;
  uint32_t point = 0;
  for (int a = 0; a < 3; a++) {
    double f;
    point = point * (uint32_t)grid->mesh[a] + (uint32_t)spread_locate(grid, a, (double)x[a], &f);
    particle.f[a] = (real)f;
  }
  particle.word = point;
  return particle;
}

static spread_particle locate_tile(const spread_plan *plan, const state *x, uint32_t *tile)
{
  const spread_tiles *tiles = &plan->tiles;
  spread_particle particle;
  uint32_t key = 0, word = 0;
  for (int a = 0; a < 3; a++) {
    double f;
    const int32_t cell = spread_locate(&plan->grid, a, (double)x[a], &f);
    const int32_t t = tiles->of_cell[a][cell];
    key = key * (uint32_t)tiles->n[a] + (uint32_t)t;
    word = word << 8 | (uint32_t)(cell - tiles->first[a][t]);
    particle.f[a] = (real)f;
  }
  particle.word = word;
  *tile = key;
  return particle;
}

static md_status keep_order(spread_plan *plan, spread_part *part, const state *x, int64_t stride)
{
  spread_particle *record = part->buffer[SPREAD_RECORD].data;
#pragma omp parallel for num_threads(plan->ctx->threads)
  for (int64_t i = 0; i < part->n; i++)
    record[i] = locate_given(&plan->grid, x + i * stride);
  return MD_OK;
}

/* counts[thread][tile] to the place of the thread's first particle in the tile; start[tile]. */
static void counts_to_places(int32_t threads, int64_t n_tiles, int32_t *counts, int32_t *start)
{
  int32_t sum = 0;
  for (int64_t t = 0; t < n_tiles; t++) {
    start[t] = sum;
    for (int32_t k = 0; k < threads; k++) {
      const int32_t count = counts[k * n_tiles + t];
      counts[k * n_tiles + t] = sum;
      sum += count;
    }
  }
  start[n_tiles] = sum;
}

static void sort_stretch(const spread_plan *plan, spread_part *part, const state *x, int64_t stride,
                         const uint32_t *keys, int32_t *place, int64_t begin, int64_t end)
{
  spread_particle *record = part->buffer[SPREAD_RECORD].data;
  int32_t *order = part->buffer[SPREAD_ORDER].data;
  for (int64_t i = begin; i < end; i++) {
    uint32_t tile;
    const int32_t to = place[keys[i]]++;
    record[to] = locate_tile(plan, x + i * stride, &tile);
    order[to] = (int32_t)i;
  }
}

md_status KERNEL(spread_cpu_sort)(spread_plan *plan, spread_part *part, const void *positions,
                                  int64_t stride)
{
  const state *x = positions;
  md_ctx *ctx = plan->ctx;
  const int64_t n = part->n;
  const int64_t n_tiles = (int64_t)plan->tiles.n[0] * plan->tiles.n[1] * plan->tiles.n[2];
  const int32_t threads = ctx->threads;
  md_buffer *buffer = part->buffer, *scratch = plan->scratch;
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_RECORD], (size_t)n * sizeof(spread_particle), 0));
  if (plan->layout == SPREAD_GIVEN) return keep_order(plan, part, x, stride);
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_START], (size_t)(n_tiles + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[0], (size_t)n * sizeof(uint32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[1], (size_t)(threads * n_tiles) * sizeof(int32_t), 0));
  uint32_t *keys = scratch[0].data;
  int32_t *counts = scratch[1].data;
  memset(counts, 0, (size_t)(threads * n_tiles) * sizeof *counts);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 1)
    for (int32_t k = 0; k < threads; k++)
      for (int64_t i = k * n / threads; i < (k + 1) * n / threads; i++) {
        (void)locate_tile(plan, x + i * stride, &keys[i]);
        counts[k * n_tiles + keys[i]]++;
      }
#pragma omp single
    counts_to_places(threads, n_tiles, counts, buffer[SPREAD_START].data);
#pragma omp for schedule(static, 1)
    for (int32_t k = 0; k < threads; k++)
      sort_stretch(plan, part, x, stride, keys, counts + k * n_tiles, k * n / threads,
                   (k + 1) * n / threads);
  }
  return MD_OK;
}
