/* spread/gpu_guo/cells_gpu.h - numbers of mesh points and cells, for located particles. */
#ifndef CELLS_GPU_H
#define CELLS_GPU_H

#include "core/gpu/cuda.h"
#include "spread/bspline.h"
#include "spread/spread_impl.h"

/* The mesh as kernels need it. */
typedef struct {
  int32_t n[3];
  int64_t points;
} mesh_size;

MD_INLINE mesh_size mesh_of(const spread_plan *plan)
{
  const int32_t *n = plan->grid.mesh;
  const mesh_size mesh = {{n[0], n[1], n[2]}, plan->grid.points};
  return mesh;
}

static __device__ __forceinline__ void split_point(const mesh_size &mesh, uint32_t point,
                                                   int32_t at[3])
{
  const uint32_t line = point / (uint32_t)mesh.n[2];
  at[2] = (int32_t)(point - line * (uint32_t)mesh.n[2]);
  at[0] = (int32_t)(line / (uint32_t)mesh.n[1]);
  at[1] = (int32_t)(line - (uint32_t)at[0] * (uint32_t)mesh.n[1]);
}

static __device__ __forceinline__ uint32_t join_point(const mesh_size &mesh, int32_t i, int32_t j,
                                                      int32_t k)
{
  return ((uint32_t)i * (uint32_t)mesh.n[1] + (uint32_t)j) * (uint32_t)mesh.n[2] + (uint32_t)k;
}

/* k + j on a ring of n, 0 <= j <= n; and k - j. */
static __device__ __forceinline__ int32_t ring_after(int32_t k, int32_t j, int32_t n)
{
  return k + j < n ? k + j : k + j - n;
}
static __device__ __forceinline__ int32_t ring_before(int32_t k, int32_t j, int32_t n)
{
  return k >= j ? k - j : k - j + n;
}

#endif
