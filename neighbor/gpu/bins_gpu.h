/* neighbor/gpu/bins_gpu.h - the map from positions to bins on the GPU, for keys and for lists. */
#ifndef BINS_GPU_H
#define BINS_GPU_H

#include "core/gpu/cuda.h"
#include "neighbor/neighbor_impl.h"

/* The map from positions to bins; monotone along each axis, so what lies between two positions lies
 * between their bins. */
typedef struct {
  state origin[3], side[3], inv_side[3];
  int32_t n[3];
} bins;

static bins bins_of(const neighbor_grid *grid, bool margin)
{
  bins b;
  for (int d = 0; d < 3; d++) {
    const int32_t around = margin ? 0 : grid->margin[d];
    b.n[d] = grid->n[d] - 2 * around;
    b.origin[d] = (state)(grid->lo[d] - (margin ? grid->margin[d] * grid->side[d] : 0));
    b.side[d] = (state)grid->side[d];
    b.inv_side[d] = (state)(1 / grid->side[d]);
  }
  return b;
}

static __device__ __forceinline__ int32_t bin_along(const bins *b, int d, state x)
{
  const state at = floor((x - b->origin[d]) * b->inv_side[d]);
  return min((int32_t)fmax(at, (state)0), b->n[d] - 1); /* the conversion saturates */
}

#endif
