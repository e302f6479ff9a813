/* ordering/serpentine.h - row-major order that turns back at the end of each row and of each plane,
 * so that every step leads to a cell with a common face (boustrophedon). */
#ifndef SERPENTINE_H
#define SERPENTINE_H

#include "ordering/grid.h"

/* Cells along an axis before unit u, as it is walked along: forwards or back. */
MD_INLINE int64_t serpentine_before(const ordering_grid *g, int axis, int32_t u, bool back)
{
  return back ? grid_cells(g, axis, (int64_t)u + 1, g->m[axis]) : grid_cells(g, axis, 0, u);
}

/* Rows are walked along back in every second plane, cells back in every second row. */
MD_INLINE bool serpentine_back(const ordering_grid *g, const int32_t u[3])
{
  const int64_t rows = (g->clip[1] + g->unit - 1) / g->unit;
  const int64_t row = u[0] % 2 ? rows - 1 - u[1] : u[1];
  return (u[0] * rows + row) % 2;
}

/* Cells before unit u. */
MD_INLINE int64_t serpentine_rank(const ordering_grid *g, const int32_t u[3])
{
  const int64_t w_0 = grid_cells(g, 0, u[0], (int64_t)u[0] + 1);
  const int64_t w_1 = grid_cells(g, 1, u[1], (int64_t)u[1] + 1);
  const int64_t planes = grid_cells(g, 0, 0, u[0]);
  const int64_t rows = serpentine_before(g, 1, u[1], u[0] % 2);
  const int64_t cells = serpentine_before(g, 2, u[2], serpentine_back(g, u));
  return (planes * g->clip[1] + w_0 * rows) * g->clip[2] + w_0 * w_1 * cells;
}

/* The unit along an axis that holds the cell with this many before it. */
MD_INLINE int32_t serpentine_unit(const ordering_grid *g, int axis, int64_t before, bool back)
{
  return (int32_t)((back ? g->clip[axis] - 1 - before : before) / g->unit);
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t serpentine_locate(const ordering_grid *g, int64_t rank, int32_t u[3])
{
  u[0] = (int32_t)(rank / (g->clip[1] * g->clip[2]) / g->unit);
  rank -= grid_cells(g, 0, 0, u[0]) * g->clip[1] * g->clip[2];
  const int64_t w_0 = grid_cells(g, 0, u[0], (int64_t)u[0] + 1);
  u[1] = serpentine_unit(g, 1, rank / (w_0 * g->clip[2]), u[0] % 2);
  rank -= serpentine_before(g, 1, u[1], u[0] % 2) * w_0 * g->clip[2];
  const int64_t w_1 = grid_cells(g, 1, u[1], (int64_t)u[1] + 1);
  const bool back = serpentine_back(g, u);
  u[2] = serpentine_unit(g, 2, rank / (w_0 * w_1), back);
  return rank - serpentine_before(g, 2, u[2], back) * w_0 * w_1;
}

#endif
