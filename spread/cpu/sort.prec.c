/* spread/cpu/sort.prec.c - locating particles, and sorting them by tile.
 *
 * Stable, so the result is the same for any number of threads.  Bytes a particle: positions read
 * twice, key and place, record written. */
#include "spread/spread_impl.h"

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

static uint32_t locate_tile(const spread_plan *plan, const state *x, spread_particle *particle)
{
  const spread_tiles *tiles = &plan->tiles;
  uint32_t key = 0, word = 0;
  for (int a = 0; a < 3; a++) {
    double f;
    const int32_t cell = spread_locate(&plan->grid, a, (double)x[a], &f);
    const int32_t t = tiles->of_cell[a][cell];
    key = key * (uint32_t)tiles->n[a] + (uint32_t)t;
    word = word << 8 | (uint32_t)(cell - tiles->first[a][t]);
    particle->f[a] = (real)f;
  }
  particle->word = word;
  return key;
}

md_status KERNEL(spread_cpu_sort)(spread_plan *plan, spread_part *part, const void *positions,
                                  int64_t stride)
{
  const state *x = positions;
  md_ctx *ctx = plan->ctx;
  const int64_t n = part->n;
  const int32_t *tiles = plan->tiles.n, n_tiles = tiles[0] * tiles[1] * tiles[2];
  md_buffer *buffer = part->buffer, *scratch = plan->scratch;
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_RECORD], (size_t)n * sizeof(spread_particle), 0));
  spread_particle *record = buffer[SPREAD_RECORD].data;
  if (plan->layout == SPREAD_GIVEN) {
#pragma omp parallel for num_threads(ctx->threads)
    for (int64_t i = 0; i < n; i++)
      record[i] = locate_given(&plan->grid, x + i * stride);
    return MD_OK;
  }
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_START], (size_t)(n_tiles + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[0], (size_t)n * sizeof(uint32_t), 0));
  uint32_t *keys = scratch[0].data;
  int32_t *order = buffer[SPREAD_ORDER].data;
#pragma omp parallel for num_threads(ctx->threads)
  for (int64_t i = 0; i < n; i++) {
    spread_particle located;
    keys[i] = locate_tile(plan, x + i * stride, &located);
  }
  MD_TRY(ordering_sort(plan->sorter, n, keys, (uint32_t)n_tiles, order, buffer[SPREAD_START].data));
#pragma omp parallel for num_threads(ctx->threads)
  for (int64_t i = 0; i < n; i++)
    (void)locate_tile(plan, x + order[i] * stride, &record[i]);
  return MD_OK;
}
