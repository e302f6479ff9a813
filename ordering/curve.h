/* ordering/curve.h - the index of one cell, and the cell of one index, for every ordering and box.
 *
 * Plain functions of their arguments in O(log n) time without memory, the same for host and device;
 * ordering_index() and ordering_cells() make tables of them.  ordering.h has the meaning. */
#ifndef ORDERING_CURVE_H
#define ORDERING_CURVE_H

#include "ordering/gilbert.h"
#include "ordering/lexical.h"
#include "ordering/octree.h"
#include "ordering/ordering.h"
#include "ordering/shuffle.h"

/* First state of an octree curve, -1 for other kinds. */
MD_INLINE int curve_octree(ordering_kind kind)
{
  return kind == ORDERING_HILBERT      ? OCTREE_HILBERT
         : kind == ORDERING_MORTON     ? OCTREE_MORTON
         : kind == ORDERING_MORTON_KJI ? OCTREE_MORTON_KJI
                                       : -1;
}

/* Cells before unit u of the grid.  A hybrid is two of these: curve_index.  Without `default`, an
 * ordering without a case does not compile (-Werror=switch). */
MD_INLINE int64_t curve_rank(ordering_kind kind, uint64_t seed, const ordering_grid *g,
                             const int32_t u[3])
{
  switch (kind) {
  case ORDERING_NONE:
  case ORDERING_ROW:
    return lexical_rank(g, 0, u);
  case ORDERING_COLUMN:
    return lexical_rank(g, 2, u);
  case ORDERING_MORTON:
  case ORDERING_MORTON_KJI:
  case ORDERING_HILBERT:
    return octree_rank(g, curve_octree(kind), u);
  case ORDERING_GILBERT:
    return gilbert_rank(g, u);
  case ORDERING_RANDOM:
    return shuffle_rank(g, seed, u);
  case ORDERING_HYBRID:
  case ORDERING_COUNT:
    break;
  }
  return 0;
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t curve_locate(ordering_kind kind, uint64_t seed, const ordering_grid *g,
                               int64_t rank, int32_t u[3])
{
  switch (kind) {
  case ORDERING_NONE:
  case ORDERING_ROW:
    return lexical_locate(g, 0, rank, u);
  case ORDERING_COLUMN:
    return lexical_locate(g, 2, rank, u);
  case ORDERING_MORTON:
  case ORDERING_MORTON_KJI:
  case ORDERING_HILBERT:
    return octree_locate(g, curve_octree(kind), rank, u);
  case ORDERING_GILBERT:
    return gilbert_locate(g, rank, u);
  case ORDERING_RANDOM:
    return shuffle_locate(g, seed, rank, u);
  case ORDERING_HYBRID:
  case ORDERING_COUNT:
    break;
  }
  u[0] = u[1] = u[2] = 0;
  return 0;
}

/* The cell of the untouched curve where a turned one has cell c, and back. */
MD_INLINE void curve_turn(const int32_t turn[3], const int32_t n[3], const int32_t c[3],
                          int32_t to[3])
{
  for (int a = 0; a < 3; a++)
    to[a] = c[a] - turn[a] + (c[a] < turn[a] ? n[a] : 0);
}

MD_INLINE void curve_turn_back(const int32_t turn[3], const int32_t n[3], int32_t c[3])
{
  for (int a = 0; a < 3; a++)
    c[a] += turn[a] - (c[a] + turn[a] >= n[a] ? n[a] : 0);
}

/* Index of cell c in a box of n cells, and the cell of an index. */
MD_INLINE uint32_t curve_index(const ordering *o, const int32_t n[3], const int32_t c[3])
{
  int32_t at[3];
  curve_turn(o->turn, n, c, at);
  if (o->kind != ORDERING_HYBRID) {
    const ordering_grid g = grid_plain(n);
    return (uint32_t)curve_rank(o->kind, o->seed, &g, at);
  }
  const int32_t t[3] = {at[0] / o->tile, at[1] / o->tile, at[2] / o->tile};
  const int32_t u[3] = {at[0] % o->tile, at[1] % o->tile, at[2] % o->tile};
  const ordering_grid tiles = grid_tiles(n, o->tile), cells = grid_within(n, o->tile, t);
  return (uint32_t)(curve_rank(o->outer, o->seed, &tiles, t) +
                    curve_rank(o->inner, o->seed, &cells, u));
}

MD_INLINE void curve_cell(const ordering *o, const int32_t n[3], uint32_t index, int32_t c[3])
{
  if (o->kind != ORDERING_HYBRID) {
    const ordering_grid g = grid_plain(n);
    curve_locate(o->kind, o->seed, &g, index, c);
  } else {
    int32_t t[3], u[3];
    const ordering_grid tiles = grid_tiles(n, o->tile);
    const int64_t rest = curve_locate(o->outer, o->seed, &tiles, index, t);
    const ordering_grid cells = grid_within(n, o->tile, t);
    curve_locate(o->inner, o->seed, &cells, rest, u);
    for (int a = 0; a < 3; a++)
      c[a] = t[a] * o->tile + u[a];
  }
  curve_turn_back(o->turn, n, c);
}

#endif
