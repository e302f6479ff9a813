/* spread/gpu/scan.cu - running sums, of row lengths by CUB and of counts by key, and which
 * positions of a plan are bad. */
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
  return md_scan_counts(plan->ctx, &c->scan_status, &c->round, keys + 1, (int32_t *)c->count.data,
                        (int32_t *)c->start.data);
}

md_status spread_gpu_defer_checks(spread_plan *plan)
{
  spread_counter *c = &plan->counter;
  void *deferred_bad;
  MD_TRY(md_buffer_reserve(plan->ctx, &c->bad, sizeof(uint64_t), 0));
  MD_TRY(md_fill(plan->ctx, c->bad.data, 0xff, sizeof(uint64_t)));
  MD_CUDA(cudaHostAlloc(&deferred_bad, sizeof *c->deferred_bad, cudaHostAllocMapped));
  c->deferred_bad = (volatile uint64_t *)deferred_bad;
  *c->deferred_bad = SPREAD_NONE_BAD;
  return MD_OK;
}

void spread_gpu_free_deferred(spread_plan *plan)
{
  if (plan->counter.deferred_bad) cudaFreeHost((void *)plan->counter.deferred_bad);
}

md_status spread_gpu_deferred_bad(spread_plan *plan, int64_t *bad)
{
  spread_counter *c = &plan->counter;
  if (*c->deferred_bad == SPREAD_NONE_BAD) return MD_OK;
  MD_TRY(md_ctx_sync(plan->ctx));
  *bad = (int64_t)(*c->deferred_bad &
                   (c->check_mode == SPREAD_CHECK_BEFORE ? ~(uint64_t)0 : 0xffffffff));
  *c->deferred_bad = SPREAD_NONE_BAD;
  return md_fill(plan->ctx, c->bad.data, 0xff, sizeof(uint64_t));
}
