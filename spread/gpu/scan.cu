/* spread/gpu/scan.cu - running sums, of row lengths by CUB and of counts by key, and what a plan
 * tells of bad positions. */
#include "core/gpu/scan_gpu.h"
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

/* One more than keys, for the end; what they are rounded up to. */
static size_t ends_of(int64_t keys)
{
  return ((size_t)keys / MD_SCAN_COUNTS + 1) * MD_SCAN_COUNTS;
}

md_status spread_gpu_reserve_keys(spread_plan *plan, int64_t keys)
{
  spread_counter *c = &plan->counter;
  const size_t bytes = ends_of(keys) * sizeof(int32_t);
  MD_TRY(md_buffer_reserve(plan->ctx, &c->start, bytes, 0));
  if (bytes <= c->count.bytes) return MD_OK;
  MD_TRY(md_buffer_reserve(plan->ctx, &c->count, bytes, 0));
  return md_fill(plan->ctx, c->count.data, 0, c->count.bytes);
}

md_status spread_gpu_sum_keys(spread_plan *plan, int64_t keys)
{
  spread_counter *c = &plan->counter;
  return md_scan_counts(plan->ctx, &c->said, &c->round, keys + 1, (int32_t *)c->count.data,
                        (int32_t *)c->start.data);
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
