/* spread/scan.cu - running sums, of row lengths by CUB and of counts by key, and what a plan tells of
 * bad positions.
 *
 * Sums of counts read each count once and clear it for the next call, in one launch: a block sums a
 * tile, tells the others its sum, and looks back at what those before it told until it meets the sum
 * of all that came before.  What is told carries the number of the call, so that nothing has to be
 * cleared in between. */
#include "core/launch_gpu.h"
#include "spread/spread_impl.h"

#include <cub/device/device_scan.cuh>

md_status spread_gpu_scan(md_ctx *ctx, md_buffer *scratch, int64_t *data, int64_t n)
{
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  size_t bytes = 0;
  MD_CUDA(cub::DeviceScan::ExclusiveSum(NULL, bytes, data, data, n, stream));
  MD_TRY(md_buffer_reserve(ctx, scratch, bytes, 0));
  MD_CUDA(cub::DeviceScan::ExclusiveSum(scratch->data, bytes, data, data, n, stream));
  return MD_OK;
}

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP, TILE = 4 * BLOCK };

/* What a tile tells: a sum, whether it is that of all tiles up to it, and the call. */
typedef unsigned long long message;
#define TURN_END (1u << 31)
static __device__ __forceinline__ message tell(uint32_t turn, bool whole, int32_t sum)
{
  return (message)(turn << 1 | (uint32_t)whole) << 32 | (uint32_t)sum;
}

/* Warp: sum of all tiles before one. */
static __device__ __forceinline__ int32_t look_back(const volatile message *told, int64_t tile,
                                                    uint32_t turn)
{
  const int lane = threadIdx.x % MD_WARP;
  int32_t sum = 0;
  for (int64_t from = tile - 1;; from -= MD_WARP) {
    message heard = tell(turn, true, 0); /* before the first */
    do
      if (from >= lane) heard = told[from - lane];
    while (!__all_sync(MD_ALL_LANES, (uint32_t)(heard >> 33) == turn));
    const unsigned whole = __ballot_sync(MD_ALL_LANES, heard >> 32 & 1);
    const bool counts = !whole || lane <= __ffs((int)whole) - 1;
    sum += __reduce_add_sync(MD_ALL_LANES, counts ? (int32_t)(uint32_t)heard : 0);
    if (whole) return sum;
  }
}

/* Warp: the lane's number and those of lanes before it. */
static __device__ __forceinline__ int32_t sum_up_to(int32_t value)
{
  for (int step = 1; step < MD_WARP; step *= 2) {
    const int32_t below = __shfl_up_sync(MD_ALL_LANES, value, step);
    if ((int)threadIdx.x % MD_WARP >= step) value += below;
  }
  return value;
}

/* Block: one tile, a thread four counts. */
static __global__ void __launch_bounds__(BLOCK)
    sum_kernel(int4 *__restrict__ count, int4 *__restrict__ start, volatile message *told,
               uint32_t turn)
{
  __shared__ int32_t of_warp[WARPS], before;
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  const int4 mine = count[md_thread()];
  count[md_thread()] = make_int4(0, 0, 0, 0);
  const int32_t here = mine.x + mine.y + mine.z + mine.w;
  const int32_t up_to = sum_up_to(here);
  if (lane == MD_WARP - 1) of_warp[warp] = up_to;
  __syncthreads();
  if (warp == 0) {
    const int32_t all = __reduce_add_sync(MD_ALL_LANES, lane < WARPS ? of_warp[lane] : 0);
    if (lane == 0 && blockIdx.x > 0) told[blockIdx.x] = tell(turn, false, all);
    const int32_t sum = look_back(told, blockIdx.x, turn);
    if (lane == 0) told[blockIdx.x] = tell(turn, true, sum + all);
    if (lane == 0) before = sum;
  }
  __syncthreads();
  int32_t sum = before + up_to - here;
  for (int w = 0; w < warp; w++)
    sum += of_warp[w];
  start[md_thread()] =
      make_int4(sum, sum + mine.x, sum + mine.x + mine.y, sum + mine.x + mine.y + mine.z);
}

/* One more than keys, for the end. */
static int64_t tiles_of(int64_t keys)
{
  return keys / TILE + 1;
}

/* Room for `bytes`, all of it cleared when it is new. */
static md_status reserve_cleared(md_ctx *ctx, md_buffer *buffer, size_t bytes)
{
  if (bytes <= buffer->bytes) return MD_OK;
  MD_TRY(md_buffer_reserve(ctx, buffer, bytes, 0));
  return md_fill(ctx, buffer->data, 0, buffer->bytes);
}

md_status spread_gpu_reserve_keys(spread_plan *plan, int64_t keys)
{
  spread_counter *c = &plan->counter;
  const size_t tiles = (size_t)tiles_of(keys), bytes = tiles * TILE * sizeof(int32_t);
  MD_TRY(reserve_cleared(plan->ctx, &c->count, bytes));
  MD_TRY(reserve_cleared(plan->ctx, &c->sums, tiles * sizeof(message)));
  return md_buffer_reserve(plan->ctx, &c->start, bytes, 0);
}

md_status spread_gpu_sum_keys(spread_plan *plan, int64_t keys)
{
  spread_counter *c = &plan->counter;
  if (++c->turn == TURN_END) {
    MD_TRY(md_fill(plan->ctx, c->sums.data, 0, c->sums.bytes));
    c->turn = 1;
  }
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(plan->ctx, dim3((unsigned)tiles_of(keys)), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, sum_kernel, (int4 *)c->count.data, (int4 *)c->start.data,
                             (volatile message *)c->sums.data, c->turn));
  return MD_OK;
}

md_status spread_gpu_watch(spread_plan *plan)
{
  spread_counter *c = &plan->counter;
  void *told;
  MD_TRY(md_buffer_reserve(plan->ctx, &c->bad, sizeof(uint64_t), 0));
  MD_TRY(md_fill(plan->ctx, c->bad.data, 0xff, sizeof(uint64_t)));
  MD_CUDA(cudaHostAlloc(&told, sizeof *c->told, cudaHostAllocMapped));
  c->told = (volatile uint64_t *)told;
  *c->told = SPREAD_NONE_BAD;
  return MD_OK;
}

void spread_gpu_unwatch(spread_plan *plan)
{
  if (plan->counter.told) cudaFreeHost((void *)plan->counter.told);
}

md_status spread_gpu_told(spread_plan *plan, int64_t *bad)
{
  spread_counter *c = &plan->counter;
  if (*c->told == SPREAD_NONE_BAD) return MD_OK;
  MD_TRY(md_ctx_sync(plan->ctx));
  *bad = (int64_t)(*c->told & (c->watch == SPREAD_CHECKED ? ~(uint64_t)0 : 0xffffffff));
  *c->told = SPREAD_NONE_BAD;
  return md_fill(plan->ctx, c->bad.data, 0xff, sizeof(uint64_t));
}
