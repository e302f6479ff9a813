/* stokes/slices/slice_blocks_gpu.h - the blocks that one lane of a slice has, and what is done with
 * them.
 *
 * Counts and kinds are constants where these are inlined. */
#ifndef STOKES_SLICE_BLOCKS_GPU_H
#define STOKES_SLICE_BLOCKS_GPU_H

#include "stokes/slices/slice_columns_gpu.h"
#include "stokes/slices/slices_gpu.h"

enum { UNITS = 5 }; /* of a block, at most */

/* One block as it lies in memory. */
typedef struct {
  double2 wide[UNITS];
  float2 narrow[UNITS];
} raw_block;

static __device__ __forceinline__ double2 load_once(const double2 *p)
{
  double2 v;
  asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
  return v;
}

static __device__ __forceinline__ float2 load_once(const float2 *p)
{
  float2 v;
  asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

/* Units from ... to - 1 of the block at `at`, which is that of my lane. */
static __device__ __forceinline__ void load_units(int storage, int width, const void *at, int from,
                                                  int to, raw_block *b)
{
#pragma unroll
  for (int k = from; k < to; k++) {
    if (storage == STOKES_BCRS)
      b->wide[k] = load_once((const double2 *)at + k * width);
    else
      b->narrow[k] = load_once((const float2 *)at + k * width);
  }
}

static __device__ __forceinline__ int32_t column_of(int storage, const raw_block *b)
{
  const int last = slice_units(storage) - 1;
  return storage == STOKES_BCRS ? (int32_t)__double2loint(b->wide[last].y)
                                : __float_as_int(b->narrow[last].y);
}

/* sum += block * X for my columns. */
static __device__ __forceinline__ void multiply_block(const raw_block *b, int storage, int per,
                                                      const real (*x)[MOST_PER],
                                                      real (*sum)[MOST_PER])
{
  if (storage == STOKES_PAIR) { /* e, squeeze; slide */
    const real e[3] = {b->narrow[0].x, b->narrow[0].y, b->narrow[1].x};
    const real squeeze = -b->narrow[1].y, slide = -b->narrow[2].x;
    const real f[3] = {squeeze * e[0], squeeze * e[1], squeeze * e[2]};
#pragma unroll
    for (int v = 0; v < per; v++) {
      const real along = e[0] * x[0][v] + e[1] * x[1][v] + e[2] * x[2][v];
#pragma unroll
      for (int d = 0; d < 3; d++) {
        sum[d][v] += slide * x[d][v];
        sum[d][v] += f[d] * along;
      }
    }
    return;
  }
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const real a =
        (real)(storage == STOKES_BCRS ? (q % 2 ? b->wide[q / 2].y : b->wide[q / 2].x)
                                      : (q % 2 ? b->narrow[q / 2].y : b->narrow[q / 2].x));
#pragma unroll
    for (int v = 0; v < per; v++)
      sum[q / 3][v] += a * x[q % 3][v];
  }
}

#endif
