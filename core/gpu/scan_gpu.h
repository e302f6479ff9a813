/* core/gpu/scan_gpu.h - sums over what lies before, in the kernel that has the terms: one pass over
 * memory.
 *
 * A block tells its total, then looks back over the blocks before it, 128 at a time, until one
 * knows the sum up to its own end (decoupled look-back, Merrill and Garland 2016); blocks are taken
 * to begin in their order, as CUB does.  What a block tells carries the number of the scan, so that
 * nobody has to clear what earlier scans left. */
#ifndef SCAN_GPU_H
#define SCAN_GPU_H

#include "core/buffer.h"
#include "core/gpu/cuda.h"

/* For one kernel. */
typedef struct {
  unsigned long long *said; /* by each block: round, kind and sum */
  uint32_t round;
} md_scan;

enum { MD_SCAN_TOTAL = 1, MD_SCAN_UPTO = 2, MD_SCAN_FAR = 4 };
enum { MD_SCAN_SUM_BITS = 44, MD_SCAN_LOW_BITS = 24, MD_SCAN_ROUNDS = 1 << 18 };
#define MD_SCAN_SUM ((1ull << MD_SCAN_SUM_BITS) - 1)

/* For a kernel of so many blocks, whose sum is below 2^44.  said, round: empty before the first
 * scan, kept between scans. */
static inline md_status md_scan_open(md_ctx *ctx, md_buffer *said, uint32_t *round, int64_t blocks,
                                     md_scan *out)
{
  const size_t bytes = (size_t)blocks * sizeof *out->said;
  if (bytes > said->bytes || *round + 1 == MD_SCAN_ROUNDS) {
    MD_TRY(md_buffer_reserve(ctx, said, bytes, 0));
    MD_TRY(md_fill(ctx, said->data, 0, said->bytes));
    *round = 0;
  }
  *out = (md_scan){(unsigned long long *)said->data, ++*round};
  return MD_OK;
}

/* start[k] = sum of the counts before k, which are below 2^31 together; counts become zero and have
 * room for a multiple of MD_SCAN_COUNTS of them.  Begins while the kernel before it ends, and lets
 * the next one begin (core/gpu/launch_gpu.h). */
enum { MD_SCAN_COUNTS = 8 };
md_status md_scan_counts(md_ctx *ctx, md_buffer *said, uint32_t *round, int64_t n, int32_t *count,
                         int32_t *start);

static __device__ __forceinline__ void md_scan_say(const md_scan *scan, uint32_t kind, uint64_t sum)
{
  *(volatile unsigned long long *)(scan->said + blockIdx.x) =
      (unsigned long long)(scan->round * 4 + kind) << MD_SCAN_SUM_BITS | sum;
}

/* What a block says, as soon as it does; *upto: it is the sum up to its end. */
static __device__ __forceinline__ uint64_t md_scan_hear(const md_scan *scan, int64_t block,
                                                        bool *upto)
{
  unsigned long long said;
  do {
    said = *(volatile unsigned long long *)(scan->said + block);
  } while (said >> (MD_SCAN_SUM_BITS + 2) != scan->round);
  *upto = (said >> MD_SCAN_SUM_BITS & 3) == MD_SCAN_UPTO;
  return said & MD_SCAN_SUM;
}

/* Warp: sum of numbers below 2^46. */
static __device__ __forceinline__ uint64_t md_scan_add(uint64_t value)
{
  const uint32_t low = (uint32_t)value & ((1u << MD_SCAN_LOW_BITS) - 1);
  const uint32_t high = (uint32_t)(value >> MD_SCAN_LOW_BITS);
  return ((uint64_t)__reduce_add_sync(MD_ALL_LANES, high) << MD_SCAN_LOW_BITS) +
         __reduce_add_sync(MD_ALL_LANES, low);
}

/* Sum of the totals of all blocks before this one, in its first warp. */
static __device__ __forceinline__ uint64_t md_scan_look_back(const md_scan *scan)
{
  const int lane = (int)threadIdx.x % MD_WARP;
  uint64_t before = 0;
  for (int64_t end = blockIdx.x; end > 0; end -= MD_SCAN_FAR * MD_WARP) {
    uint64_t sum = 0;
    bool found = false; /* the sum up to one of this lane's blocks: none before it count */
    const int64_t last = end - 1 - lane * MD_SCAN_FAR;
#pragma unroll
    for (int k = 0; k < MD_SCAN_FAR; k++) {
      bool upto = false;
      const uint64_t said = last - k >= 0 ? md_scan_hear(scan, last - k, &upto) : 0;
      if (!found) sum += said;
      found |= upto;
    }
    const unsigned all = __ballot_sync(MD_ALL_LANES, found);
    const int nearest = all ? __ffs((int)all) - 1 : MD_WARP;
    before += md_scan_add(lane <= nearest ? sum : 0);
    if (all) break;
  }
  return before;
}

/* Sum of `value` over all threads of the grid before this one, below 2^32 within a block: whole
 * warps, one dimension, once a kernel. */
static __device__ __forceinline__ int64_t md_scan_before(md_scan scan, uint32_t value)
{
  __shared__ uint32_t part[MD_WARP];
  __shared__ uint64_t before;
  const int lane = (int)threadIdx.x % MD_WARP, warp = (int)threadIdx.x / MD_WARP;
  const int warps = (int)blockDim.x / MD_WARP;
  uint32_t upto = value;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const uint32_t other = __shfl_up_sync(MD_ALL_LANES, upto, step);
    if (lane >= step) upto += other;
  }
  if (lane == MD_WARP - 1) part[warp] = upto;
  __syncthreads();
  uint32_t sum = upto - value, total = 0;
  for (int w = 0; w < warps; w++) {
    if (w < warp) sum += part[w];
    total += part[w];
  }
  if (warp == 0) {
    if (lane == 0) md_scan_say(&scan, blockIdx.x > 0 ? MD_SCAN_TOTAL : MD_SCAN_UPTO, total);
    const uint64_t found = md_scan_look_back(&scan);
    if (lane == 0) {
      if (blockIdx.x > 0) md_scan_say(&scan, MD_SCAN_UPTO, found + total);
      before = found;
    }
  }
  __syncthreads();
  return (int64_t)(before + sum);
}

#endif
