/* spread/cpu/sort.prec.c - locating particles, and sorting them by tile and, in a tile, by window
 * and column (window_cpu.h).
 *
 * Stable, so the result is the same for any number of threads.  Bytes a particle: position, key and
 * place, and its record twice, as given and as sorted: to locate particles once more took longer
 * than to bring records along. */
#include "spread/cpu/window_cpu.h"

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

MD_INLINE uint32_t locate_tile(const spread_plan *plan, const state *x, spread_particle *particle)
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

/* The places of a tile: window by window its columns, those along the slowest axis together, as
 * their strips do not overlap in part. */
typedef struct {
  int32_t side[2], count;
  uint16_t window[SPREAD_ROW]; /* of a cell along the fastest axis: its first place */
} places;
enum { SIDE_MAX = SPREAD_ORDER_MAX - 1, PLACES_MAX = WINDOWS_MAX * SIDE_MAX * SIDE_MAX };

static places places_of(const spread_plan *plan)
{
  places at;
  int32_t cells[3];
  for (int a = 0; a < 3; a++)
    cells[a] = (plan->grid.mesh[a] + plan->tiles.n[a] - 1) / plan->tiles.n[a];
  const int32_t columns = cells[0] * cells[1];
  at.side[0] = cells[0];
  at.side[1] = cells[1];
  for (int32_t c = 0; c < cells[2]; c++)
    at.window[c] = (uint16_t)(window_of(plan->grid.order, c) * columns);
  at.count = at.window[cells[2] - 1] + columns;
  return at;
}

MD_INLINE uint16_t place_of(const places *at, uint32_t word)
{
  return (uint16_t)(at->window[word & 0xff] + (int32_t)(word >> 8 & 0xff) * at->side[0] +
                    (int32_t)(word >> 16));
}

/* A tile's particles, in the given order, by place; so few that most are alone stay as they are. */
enum { FEW = 2 }; /* places a particle */
static void sort_tile(int32_t begin, int32_t end, const places *at, const uint16_t *place,
                      const int32_t *given, int32_t *sorted)
{
  int32_t to[PLACES_MAX], sum = begin;
  if (FEW * (end - begin) < at->count) {
    memcpy(sorted + begin, given + begin, (size_t)(end - begin) * sizeof *sorted);
    return;
  }
  memset(to, 0, (size_t)at->count * sizeof *to);
  for (int32_t k = begin; k < end; k++)
    to[place[given[k]]]++;
  for (int32_t c = 0; c < at->count; c++) {
    const int32_t here = to[c];
    to[c] = sum;
    sum += here;
  }
  for (int32_t k = begin; k < end; k++)
    sorted[to[place[given[k]]]++] = given[k];
}

md_status KERNEL(spread_cpu_sort)(spread_plan *plan, spread_part *part, const void *positions,
                                  int64_t stride)
{
  enum { AHEAD = 16 };
  const state *x = positions;
  md_ctx *ctx = plan->ctx;
  const int32_t n = part->n;
  const int32_t *tiles = plan->tiles.n, n_tiles = tiles[0] * tiles[1] * tiles[2];
  md_buffer *buffer = part->buffer, *scratch = plan->scratch;
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_RECORD], (size_t)n * sizeof(spread_particle), 0));
  spread_particle *record = buffer[SPREAD_RECORD].data;
  if (plan->layout == SPREAD_GIVEN) {
#pragma omp parallel for num_threads(ctx->threads)
    for (int32_t i = 0; i < n; i++)
      record[i] = locate_given(&plan->grid, x + i * stride);
    return MD_OK;
  }
  const places at = places_of(plan);
  const size_t room = (size_t)n + SPREAD_AHEAD;
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], room * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_START], (size_t)(n_tiles + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[0], (size_t)n * sizeof(uint32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[1], (size_t)n * sizeof(uint16_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[2], (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &scratch[3], (size_t)n * sizeof(spread_particle), 0));
  uint32_t *keys = scratch[0].data;
  uint16_t *place = scratch[1].data;
  int32_t *by_tile = scratch[2].data, *order = buffer[SPREAD_ORDER].data;
  int32_t *start = buffer[SPREAD_START].data;
  spread_particle *located = scratch[3].data;
#pragma omp parallel for num_threads(ctx->threads)
  for (int32_t i = 0; i < n; i++) {
    keys[i] = locate_tile(plan, x + i * stride, &located[i]);
    place[i] = place_of(&at, located[i].word);
  }
  MD_TRY(ordering_sort(plan->sorter, n, keys, (uint32_t)n_tiles, by_tile, start));
  memset(order + n, 0, SPREAD_AHEAD * sizeof *order);
#pragma omp parallel num_threads(ctx->threads)
  {
#pragma omp for schedule(dynamic, 8)
    for (int32_t t = 0; t < n_tiles; t++)
      sort_tile(start[t], start[t + 1], &at, place, by_tile, order);
#pragma omp for
    for (int32_t i = 0; i < n; i++) {
      const int32_t later = i + AHEAD < n ? i + AHEAD : i;
      __builtin_prefetch(located + order[later]);
      record[i] = located[order[i]];
    }
  }
  return MD_OK;
}
