/* ordering/grid.h - the box that a curve runs through.
 *
 * A curve visits m[0] x m[1] x m[2] units.  A unit is a cube of unit^3 cells, but the box ends
 * after clip[] cells, so the last unit along an axis may be cut.  A plain ordering has units of one
 * cell; a hybrid's outer curve visits tiles, its inner one the cells of a tile that the box may
 * have cut. The rank of a unit is the number of cells in the units before it: this is the
 * compaction of the curve onto the box, in closed form, without keys to sort.
 *
 * Included by host and device code; all counts are 64-bit. */
#ifndef ORDERING_GRID_H
#define ORDERING_GRID_H

#include "core/md.h"

typedef struct {
  int64_t unit, clip[3];
  int32_t m[3];
} ordering_grid;

/* Cells of the units lo..hi-1 along one axis. */
MD_INLINE int64_t grid_cells(const ordering_grid *g, int axis, int64_t lo, int64_t hi)
{
  const int64_t begin = lo * g->unit, end = hi * g->unit;
  const int64_t cut = end < g->clip[axis] ? end : g->clip[axis];
  return cut > begin ? cut - begin : 0;
}

/* The grid of a box of single cells. */
MD_INLINE ordering_grid grid_plain(const int32_t n[3])
{
  ordering_grid g;
  g.unit = 1;
  for (int a = 0; a < 3; a++)
    g.m[a] = n[a], g.clip[a] = n[a];
  return g;
}

/* Tiles of `tile` cells along each edge in a box of n cells. */
MD_INLINE ordering_grid grid_tiles(const int32_t n[3], int32_t tile)
{
  ordering_grid g;
  g.unit = tile;
  for (int a = 0; a < 3; a++) {
    g.m[a] = (int32_t)(((int64_t)n[a] + tile - 1) / tile);
    g.clip[a] = n[a];
  }
  return g;
}

/* The cells of the tile t of such a grid: a curve of tile^3 cells, cut where the box ends. */
MD_INLINE ordering_grid grid_within(const int32_t n[3], int32_t tile, const int32_t t[3])
{
  ordering_grid g;
  g.unit = 1;
  for (int a = 0; a < 3; a++) {
    const int64_t left = n[a] - (int64_t)t[a] * tile;
    g.m[a] = tile;
    g.clip[a] = left < tile ? left : tile;
  }
  return g;
}

#endif
