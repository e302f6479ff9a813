/* neighbor/gpu/bins_gpu.h - the map from positions to bins on the GPU, for keys and for lists. */
#ifndef BINS_GPU_H
#define BINS_GPU_H

#include "core/gpu/cuda.h"
#include "neighbor/neighbor_impl.h"

/* The map from positions to bins; monotone along each axis, so what lies between two positions lies
 * between their bins.  Bin 0 of this rank is bin `first` of the `whole` that the box has, and its
 * corner is lo: a position has one bin on all ranks. */
typedef struct {
  state origin[3], lo[3], side[3], inv_side[3];
  int32_t n[3], first[3], whole[3];
} bins;

static bins bins_of(const neighbor_grid *grid, bool margin)
{
  bins b;
  for (int d = 0; d < 3; d++) {
    const int32_t around = margin ? 0 : grid->margin[d];
    const double origin = grid->lo[d] - (margin ? grid->margin[d] * grid->side[d] : 0);
    b.n[d] = grid->n[d] - 2 * around;
    b.first[d] = grid->first[d];
    b.whole[d] = grid->whole[d] + (margin ? 2 * grid->margin[d] : 0);
    b.origin[d] = (state)origin;
    b.lo[d] = (state)(origin + grid->first[d] * grid->side[d]);
    b.side[d] = (state)grid->side[d];
    b.inv_side[d] = (state)(1 / grid->side[d]);
  }
  return b;
}

static __device__ __forceinline__ int32_t bin_along(const bins *b, int d, state x)
{
  const state at = floor((x - b->origin[d]) * b->inv_side[d]);
  const int32_t bin = min((int32_t)fmax(at, (state)0), b->whole[d] - 1); /* saturates */
  return min(max(bin - b->first[d], 0), b->n[d] - 1);
}

#endif
