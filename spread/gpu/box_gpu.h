/* spread/gpu/box_gpu.h - the box of mesh points that a group of particles reaches, which follow
 * each other: gpu_one/boxes.single.cu sums them there, and the survey counts its points. */
#ifndef BOX_GPU_H
#define BOX_GPU_H

#include "core/gpu/cuda.h"
#include "spread/spread_impl.h"

/* Cells of a group, counted from that of its first particle; in shared memory. */
typedef struct {
  int32_t lo[3], hi[3];
} box_range;

/* From cell a to cell b of a ring of n, the shorter way. */
static __device__ __forceinline__ int32_t ring_way(int32_t a, int32_t b, int32_t n)
{
  const int32_t way = b - a;
  return way > n / 2 ? way - n : way < -(n / 2) ? way + n : way;
}

/* One thread, before others take part in the range. */
static __device__ __forceinline__ void open_range(box_range *range)
{
  for (int a = 0; a < 3; a++)
    range->lo[a] = INT32_MAX, range->hi[a] = INT32_MIN;
}

/* Whole warps, each of one group: the particles' ways from the first one. */
static __device__ __forceinline__ void widen_range(box_range *range, const int32_t way[3])
{
  for (int a = 0; a < 3; a++) {
    const int32_t lo = __reduce_min_sync(MD_ALL_LANES, way[a]);
    const int32_t hi = __reduce_max_sync(MD_ALL_LANES, way[a]);
    if (threadIdx.x % MD_WARP == 0) atomicMin(&range->lo[a], lo), atomicMax(&range->hi[a], hi);
  }
}

/* Points along the axes; returns how many there are, or INT32_MAX where there are more. */
static __device__ __forceinline__ int32_t size_range(int order, const box_range *range,
                                                     int32_t size[3])
{
  int64_t points = 1;
  for (int a = 0; a < 3; a++) {
    size[a] = range->hi[a] - range->lo[a] + order;
    points = min(points * size[a], (int64_t)INT32_MAX);
  }
  return (int32_t)points;
}

#endif
