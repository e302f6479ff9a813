/* spread/cpu/window_cpu.h - windows of a tile's row of mesh points.
 *
 * A row of SPREAD_ROW points is cut into windows of 8 (16 from order 9 on) that overlap by p - 1,
 * so that the p points of a particle lie within one.  The last window ends where the row does.
 * Particles of one window and one column of cells touch the same p x p pieces of rows. */
#ifndef WINDOW_CPU_H
#define WINDOW_CPU_H

#include "spread/spread_impl.h"

#define WINDOW_WIDTH(p) ((p) <= 8 ? 8 : SPREAD_ROW)
#define WINDOW_CELLS(p) (WINDOW_WIDTH(p) - (p) + 1)
/* Of a tile, at most: order 8 has one for each of its 9 cells. */
enum { WINDOWS_MAX = SPREAD_ROW - 8 + 1 };

/* The window of the particles in a cell of the tile, and the point where it begins. */
MD_INLINE int32_t window_of(int32_t p, int32_t cell)
{
  return cell / WINDOW_CELLS(p);
}

MD_INLINE int32_t window_begin(int32_t p, int32_t window)
{
  const int32_t begin = window * WINDOW_CELLS(p), last = SPREAD_ROW - WINDOW_WIDTH(p);
  return begin < last ? begin : last;
}

#endif
