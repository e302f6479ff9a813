/* neighbor/cpu/bin_tiles.h - the bins of a grid in tiles, for list building on the CPU.
 *
 * All atoms of a tile share one halo of candidates: the bins of the tile and of the stencil around
 * them.  A tile is about 4 r_list long along axis 0 and r_list or half of it along the others: an
 * atom need only be tested against the part of the halo, contiguous in memory, that it can reach
 * along axis 0.  Wider tiles copy fewer candidates and test more.  Rows of a list follow the tiles,
 * and the tiles follow their first atoms, so that rows that follow each other are near each other
 * in memory and in space, whatever the bins' size and the atoms' order. */
#ifndef TILES_H
#define TILES_H

#include "neighbor/neighbor_impl.h"

MD_BEGIN_C

typedef struct {
  int32_t lo[3];     /* its first bin along each axis, >= 0 */
  int32_t hi[3];     /* its last */
  int32_t first_row; /* rows follow each other from tile to tile */
} tile;

typedef struct {
  const neighbor_grid *grid;
  const int32_t *bin_start, *place;
  const tile *tiles; /* [count + 1], those with owned atoms, in the order of rows */
  int64_t count;
  const int32_t *reach; /* [margin[0] + 1][margin[1] + 1]: bins along axis 2, -1 for none */
} tiling;

/* Cut the bins of the last bin_start and place into tiles, and write the n owned atoms in the order
 * of tiles to rows [n].  The same bins give the same tiles.  Errors: MD_ENOMEM. */
md_status tiles_make(neighbor_list *list, int64_t n, int32_t *rows, tiling *out);

/* The tile that holds row r. */
static inline int64_t tiles_of_row(const tiling *ts, int64_t r)
{
  int64_t low = 0, high = ts->count;
  while (high - low > 1) {
    const int64_t mid = low + (high - low) / 2;
    if (ts->tiles[mid].first_row <= r)
      low = mid;
    else
      high = mid;
  }
  return low;
}

/* Candidates in column (i, j) of bins, for tile t: [*begin, *end) in place.  False when the stencil
 * does not reach that column.  i and j are at most margin from the tile, and within the grid. */
static inline bool tiles_column(const tiling *ts, const tile *t, int32_t i, int32_t j,
                                int64_t *begin, int64_t *end)
{
  const neighbor_grid *g = ts->grid;
  const int32_t di = i < t->lo[0] ? t->lo[0] - i : i > t->hi[0] ? i - t->hi[0] : 0;
  const int32_t dj = j < t->lo[1] ? t->lo[1] - j : j > t->hi[1] ? j - t->hi[1] : 0;
  const int32_t reach = ts->reach[di * (g->margin[1] + 1) + dj];
  if (reach < 0) return false;
  const int32_t k0 = t->lo[2] > reach ? t->lo[2] - reach : 0;
  const int32_t k1 = t->hi[2] < g->n[2] - 1 - reach ? t->hi[2] + reach : g->n[2] - 1;
  const int64_t row = ((int64_t)i * g->n[1] + j) * g->n[2];
  *begin = ts->bin_start[row + k0];
  *end = ts->bin_start[row + k1 + 1];
  return true;
}

/* The same of what is the tile's own in one of its columns. */
static inline void tiles_own(const tiling *ts, const tile *t, int32_t i, int32_t j, int32_t *begin,
                             int32_t *end)
{
  const int64_t column = ((int64_t)i * ts->grid->n[1] + j) * ts->grid->n[2];
  *begin = ts->bin_start[column + t->lo[2]];
  *end = ts->bin_start[column + t->hi[2] + 1];
}

MD_END_C
#endif
