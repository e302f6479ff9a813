/* neighbor/cpu/bin_tiles.c - cutting a grid of bins into tiles, and the order of rows. */
#include "neighbor/cpu/bin_tiles.h"

#include <math.h>
#include <string.h>

/* How the grid is cut: tiles of `edge` bins, the first one `before` bins before the grid begins, so
 * that tiles line up with the owned part. */
typedef struct {
  const neighbor_grid *grid;
  int32_t edge[3], before[3], n[3];
} cut;

static cut cut_grid(const neighbor_list *list)
{
  /* In units of r_list: narrow vectors make tests dearer than copies. */
  const double edge[3] = {4, list->ctx->isa == MD_AVX512 ? 1 : 0.5, 1};
  cut c = {.grid = &list->grid};
  for (int d = 0; d < 3; d++) {
    const double bins = edge[d] * list->spec.r_list / list->grid.side[d];
    const int32_t inner = list->grid.n[d] - 2 * list->grid.margin[d];
    c.edge[d] = (int32_t)fmax(1, fmin(inner, round(bins)));
    c.before[d] = (c.edge[d] - list->grid.margin[d] % c.edge[d]) % c.edge[d];
    c.n[d] = (list->grid.n[d] + c.before[d] - 1) / c.edge[d] + 1;
  }
  return c;
}

static tile tile_at(const cut *c, int64_t number)
{
  const int64_t at[3] = {number / c->n[2] / c->n[1], number / c->n[2] % c->n[1], number % c->n[2]};
  tile t = {.first_row = 0};
  for (int d = 0; d < 3; d++) {
    const int64_t lo = at[d] * c->edge[d] - c->before[d], hi = lo + c->edge[d] - 1;
    t.lo[d] = (int32_t)(lo > 0 ? lo : 0);
    t.hi[d] = (int32_t)(hi < c->grid->n[d] - 1 ? hi : c->grid->n[d] - 1);
  }
  return t;
}

/* The owned atoms of a tile, column by column, to `to` unless NULL; returns their number. */
static int32_t owned_atoms(const tiling *ts, const tile *t, int64_t n, int32_t *to, int32_t *least)
{
  int32_t count = 0, first = *least;
  for (int32_t i = t->lo[0]; i <= t->hi[0]; i++)
    for (int32_t j = t->lo[1]; j <= t->hi[1]; j++) {
      int32_t begin, end;
      tiles_own(ts, t, i, j, &begin, &end);
      for (int32_t p = begin; p < end; p++) {
        const int32_t atom = ts->place[p];
        if (to && atom < n) to[count] = atom;
        first = atom < first ? atom : first;
        count += atom < n;
      }
    }
  *least = first;
  return count;
}

/* For each distance of a column from a tile, how many bins the stencil reaches along axis 2. */
static void make_reach(const neighbor_list *list, int32_t *reach)
{
  const int32_t *m = list->grid.margin;
  const int32_t(*offset)[3] = list->stencil.data;
  for (int32_t c = 0; c < (m[0] + 1) * (m[1] + 1); c++)
    reach[c] = -1;
  for (int32_t s = 0; s < list->n_stencil; s++) {
    if (offset[s][0] < 0 || offset[s][1] < 0) continue;
    int32_t *most = &reach[offset[s][0] * (m[1] + 1) + offset[s][1]];
    if (offset[s][2] > *most) *most = offset[s][2];
  }
}

/* Tiles with owned atoms, in the order of their first atoms, which no two tiles share. */
static int64_t sort_tiles(const cut *c, int64_t n, int64_t cells, const int32_t *least,
                          const int32_t *count, int32_t *tile_of, tile *tiles)
{
  memset(tile_of, -1, (size_t)n * sizeof *tile_of);
  for (int64_t t = 0; t < cells; t++)
    if (count[t] > 0) tile_of[least[t]] = (int32_t)t;
  int64_t found = 0;
  int32_t row = 0;
  for (int64_t i = 0; i < n; i++)
    if (tile_of[i] >= 0) {
      tiles[found] = tile_at(c, tile_of[i]);
      tiles[found++].first_row = row;
      row += count[tile_of[i]];
    }
  tiles[found].first_row = row;
  return found;
}

md_status tiles_make(neighbor_list *list, int64_t n, int32_t *rows, tiling *out)
{
  md_ctx *ctx = list->ctx;
  const cut c = cut_grid(list);
  const int64_t cells = (int64_t)c.n[0] * c.n[1] * c.n[2];
  const int64_t columns = (int64_t)(list->grid.margin[0] + 1) * (list->grid.margin[1] + 1);
  MD_TRY(md_buffer_reserve(ctx, &list->work, (size_t)(2 * cells + columns) * sizeof(int32_t), 0));
  int32_t *least = list->work.data, *count = least + cells, *reach = count + cells;
  tiling ts = {.grid = &list->grid,
               .bin_start = list->bin_start.data,
               .place = list->place.data,
               .reach = reach};
  make_reach(list, reach);
  int64_t used = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : used)
  for (int64_t k = 0; k < cells; k++) {
    const tile t = tile_at(&c, k);
    least[k] = INT32_MAX;
    count[k] = owned_atoms(&ts, &t, n, NULL, &least[k]);
    used += count[k] > 0;
  }
  MD_TRY(md_buffer_reserve(ctx, &list->tile, (size_t)(used + 1) * sizeof(tile), 0));
  ts.tiles = list->tile.data;
  ts.count = sort_tiles(&c, n, cells, least, count, rows, list->tile.data);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t k = 0; k < ts.count; k++) {
    int32_t unused = INT32_MAX;
    owned_atoms(&ts, &ts.tiles[k], n, rows + ts.tiles[k].first_row, &unused);
  }
  *out = ts;
  return MD_OK;
}
