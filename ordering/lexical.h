/* ordering/lexical.h - row-major and column-major order of any box.  [AK] section 2. */
#ifndef ORDERING_LEXICAL_H
#define ORDERING_LEXICAL_H

#include "ordering/grid.h"

/* Cells before unit u when axis `slow` is outermost (0: row-major, 2: column-major). */
MD_INLINE int64_t lexical_rank(const ordering_grid *g, int slow, const int32_t u[3])
{
  const int fast = 2 - slow;
  const int64_t w_slow = grid_cells(g, slow, u[slow], (int64_t)u[slow] + 1);
  const int64_t w_mid = grid_cells(g, 1, u[1], (int64_t)u[1] + 1);
  return grid_cells(g, slow, 0, u[slow]) * g->clip[1] * g->clip[fast] +
         w_slow *
             (grid_cells(g, 1, 0, u[1]) * g->clip[fast] + w_mid * grid_cells(g, fast, 0, u[fast]));
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t lexical_locate(const ordering_grid *g, int slow, int64_t rank, int32_t u[3])
{
  const int fast = 2 - slow;
  const int64_t plane = g->unit * g->clip[1] * g->clip[fast];
  u[slow] = (int32_t)(rank / plane);
  rank -= u[slow] * plane;
  const int64_t w_slow = grid_cells(g, slow, u[slow], (int64_t)u[slow] + 1);
  const int64_t row = w_slow * g->unit * g->clip[fast];
  u[1] = (int32_t)(rank / row);
  rank -= u[1] * row;
  const int64_t one = w_slow * grid_cells(g, 1, u[1], (int64_t)u[1] + 1) * g->unit;
  u[fast] = (int32_t)(rank / one);
  return rank - u[fast] * one;
}

#endif
