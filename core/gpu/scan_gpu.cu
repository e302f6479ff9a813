/* core/gpu/scan_gpu.cu - where each key begins, from how often each was counted: once over both. */
#include "core/gpu/scan_gpu.h"
#include "core/gpu/launch_gpu.h"

enum { BLOCK = 256 };

/* Thread: MD_SCAN_COUNTS counts. */
static __global__ void __launch_bounds__(BLOCK)
    counts_kernel(int64_t n, md_scan scan, int32_t *count, int32_t *start)
{
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const int64_t first = md_thread() * MD_SCAN_COUNTS;
  int4 *from = (int4 *)(count + first);
  int4 low = {}, high = {};
  if (first < n) {
    low = from[0], high = from[1];
    from[0] = from[1] = make_int4(0, 0, 0, 0);
  }
  const int32_t four = low.x + low.y + low.z + low.w;
  const int32_t all = four + high.x + high.y + high.z + high.w;
  const int32_t at = (int32_t)md_scan_before(scan, (uint32_t)all), mid = at + four;
  const int32_t begin[MD_SCAN_COUNTS] = {
      at,  at + low.x,   at + low.x + low.y,    mid - low.w,
      mid, mid + high.x, mid + high.x + high.y, at + all - high.w};
  if (first + MD_SCAN_COUNTS <= n && (uintptr_t)start % sizeof(int4) == 0) {
    int4 *to = (int4 *)(start + first);
    to[0] = make_int4(begin[0], begin[1], begin[2], begin[3]);
    to[1] = make_int4(begin[4], begin[5], begin[6], begin[7]);
    return;
  }
#pragma unroll
  for (int k = 0; k < MD_SCAN_COUNTS; k++)
    if (first + k < n) start[first + k] = begin[k];
}

md_status md_scan_counts(md_ctx *ctx, md_buffer *status, uint32_t *round, int64_t n, int32_t *count,
                         int32_t *start)
{
  const unsigned blocks = md_blocks(n, BLOCK * MD_SCAN_COUNTS);
  md_scan scan;
  MD_TRY(md_scan_open(ctx, status, round, blocks, &scan));
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, counts_kernel, n, scan, count, start));
  return MD_OK;
}
