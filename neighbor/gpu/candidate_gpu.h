/* neighbor/gpu/candidate_gpu.h - candidates for a list: atoms and ghosts in the order of bins, each
 * with its index beside its position. */
#ifndef CANDIDATE_GPU_H
#define CANDIDATE_GPU_H

#include "core/gpu/cuda.h"
#include "neighbor/neighbor_impl.h"

/* A candidate is a position with its index in w; ABSENT: in no row of this list. */
enum { ABSENT = -1 };

static __device__ __forceinline__ int32_t candidate_index(state4 c)
{
#if MD_PREC == 0
  return __float_as_int(c.w);
#else
  return __double2loint(c.w);
#endif
}

static __device__ __forceinline__ state4 candidate(state4 x, int32_t index)
{
#if MD_PREC == 0
  x.w = __int_as_float(index);
#else
  x.w = __hiloint2double(0, index);
#endif
  return x;
}

#endif
