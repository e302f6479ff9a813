/* core/gpu/scan_gpu.h - sums over what lies before, in the kernel that has the terms: one pass over
 * memory.
 *
 * A block publishes its aggregate, then looks back over the blocks before it, 128 at a time, until
 * one has published an inclusive prefix (decoupled look-back, Merrill and Garland 2016); blocks are
 * taken to begin in their order, as CUB does.  A status carries the number of the scan, so that
 * those of earlier scans need not be cleared. */
#ifndef SCAN_GPU_H
#define SCAN_GPU_H

#include "core/buffer.h"
#include "core/gpu/cuda.h"

/* For one kernel. */
typedef struct {
  unsigned long long *status; /* of each block: round, kind and sum */
  uint32_t round;
} md_scan;

enum { MD_SCAN_AGGREGATE = 1, MD_SCAN_PREFIX = 2, MD_SCAN_WINDOW = 4 };
enum { MD_SCAN_SUM_BITS = 44, MD_SCAN_LOW_BITS = 24, MD_SCAN_ROUNDS = 1 << 18 };
#define MD_SCAN_SUM ((1ull << MD_SCAN_SUM_BITS) - 1)

/* For a kernel of so many blocks, whose sum is below 2^44.  status, round: empty before the first
 * scan, kept between scans. */
static inline md_status md_scan_open(md_ctx *ctx, md_buffer *status, uint32_t *round,
                                     int64_t blocks, md_scan *out)
{
  const size_t bytes = (size_t)blocks * sizeof *out->status;
  if (bytes > status->bytes || *round + 1 == MD_SCAN_ROUNDS) {
    MD_TRY(md_buffer_reserve(ctx, status, bytes, 0));
    MD_TRY(md_fill(ctx, status->data, 0, status->bytes));
    *round = 0;
  }
  *out = (md_scan){(unsigned long long *)status->data, ++*round};
  return MD_OK;
}

/* start[k] = sum of the counts before k, which are below 2^31 together; counts become zero and have
 * room for a multiple of MD_SCAN_COUNTS of them.  Begins while the kernel before it ends, and lets
 * the next one begin (core/gpu/launch_gpu.h). */
enum { MD_SCAN_COUNTS = 8 };
md_status md_scan_counts(md_ctx *ctx, md_buffer *status, uint32_t *round, int64_t n, int32_t *count,
                         int32_t *start);

static __device__ __forceinline__ void md_scan_publish(const md_scan *scan, uint32_t kind,
                                                       uint64_t sum)
{
  *(volatile unsigned long long *)(scan->status + blockIdx.x) =
      (unsigned long long)(scan->round * 4 + kind) << MD_SCAN_SUM_BITS | sum;
}

/* What a block publishes, as soon as it does; *inclusive: it is an inclusive prefix. */
static __device__ __forceinline__ uint64_t md_scan_wait(const md_scan *scan, int64_t block,
                                                        bool *inclusive)
{
  unsigned long long status;
  do {
    status = *(volatile unsigned long long *)(scan->status + block);
  } while (status >> (MD_SCAN_SUM_BITS + 2) != scan->round);
  *inclusive = (status >> MD_SCAN_SUM_BITS & 3) == MD_SCAN_PREFIX;
  return status & MD_SCAN_SUM;
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
  for (int64_t end = blockIdx.x; end > 0; end -= MD_SCAN_WINDOW * MD_WARP) {
    uint64_t sum = 0;
    bool found = false; /* the sum up to one of this lane's blocks: none before it count */
    const int64_t last = end - 1 - lane * MD_SCAN_WINDOW;
#pragma unroll
    for (int k = 0; k < MD_SCAN_WINDOW; k++) {
      bool inclusive = false;
      const uint64_t status = last - k >= 0 ? md_scan_wait(scan, last - k, &inclusive) : 0;
      if (!found) sum += status;
      found |= inclusive;
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
  uint32_t inclusive = value;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const uint32_t other = __shfl_up_sync(MD_ALL_LANES, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  if (lane == MD_WARP - 1) part[warp] = inclusive;
  __syncthreads();
  uint32_t sum = inclusive - value, total = 0;
  for (int w = 0; w < warps; w++) {
    if (w < warp) sum += part[w];
    total += part[w];
  }
  if (warp == 0) {
    if (lane == 0)
      md_scan_publish(&scan, blockIdx.x > 0 ? MD_SCAN_AGGREGATE : MD_SCAN_PREFIX, total);
    const uint64_t found = md_scan_look_back(&scan);
    if (lane == 0) {
      if (blockIdx.x > 0) md_scan_publish(&scan, MD_SCAN_PREFIX, found + total);
      before = found;
    }
  }
  __syncthreads();
  return (int64_t)(before + sum);
}

/* The same of several values a thread, where there are many, so that fewer blocks look back.  They
 * are in rows of a warp: value k of lane l is number 32 k + l of its warp's, and a warp reads what
 * lies side by side. */
enum { MD_SCAN_ROWS = 4, MD_SCAN_RESIDENT = 3 /* blocks of a multiprocessor, at least */ };

static inline md_status md_scan_rows(int64_t n, int block, int *rows)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const int64_t most = n / ((int64_t)MD_SCAN_RESIDENT * block * processors);
  *rows = most < 1 ? 1 : most < MD_SCAN_ROWS ? (int)most : MD_SCAN_ROWS;
  return MD_OK;
}

/* The number of this thread's first value. */
static __device__ __forceinline__ int64_t md_scan_first(int rows)
{
  return md_thread() / MD_WARP * rows * MD_WARP + threadIdx.x % MD_WARP;
}

/* Returns the sum before the warp's values, of which before[k] are before value k; of values from
 * `rows` on nothing is read or said. */
static __device__ __forceinline__ int64_t md_scan_before_each(md_scan scan, int rows,
                                                              const uint32_t value[MD_SCAN_ROWS],
                                                              uint32_t before[MD_SCAN_ROWS])
{
  const int lane = (int)threadIdx.x % MD_WARP;
  uint32_t all = 0;
#pragma unroll
  for (int k = 0; k < MD_SCAN_ROWS; k++) {
    if (k >= rows) break;
    before[k] = all;
    if (!__any_sync(MD_ALL_LANES, value[k] > 0)) continue;
    uint32_t inclusive = value[k];
    for (int step = 1; step < MD_WARP; step *= 2) {
      const uint32_t other = __shfl_up_sync(MD_ALL_LANES, inclusive, step);
      if (lane >= step) inclusive += other;
    }
    before[k] += inclusive - value[k];
    all += __shfl_sync(MD_ALL_LANES, inclusive, MD_WARP - 1);
  }
  const int64_t first = md_scan_before(scan, lane == 0 ? all : 0);
  return __shfl_sync(MD_ALL_LANES, first, 0);
}

#endif
