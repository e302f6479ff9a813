/* spread/scan.cu - running sums of row lengths, by CUB. */
#include "core/cuda.h"
#include "spread/spread_impl.h"

#include <cub/device/device_scan.cuh>

#define SCAN(name, type)                                                                           \
  md_status name(md_ctx *ctx, md_buffer *scratch, type *data, int64_t n)                           \
  {                                                                                                \
    const cudaStream_t stream = (cudaStream_t)ctx->stream;                                         \
    size_t bytes = 0;                                                                              \
    MD_CUDA(cub::DeviceScan::ExclusiveSum(NULL, bytes, data, data, n, stream));                    \
    MD_TRY(md_buffer_reserve(ctx, scratch, bytes, 0));                                             \
    MD_CUDA(cub::DeviceScan::ExclusiveSum(scratch->data, bytes, data, data, n, stream));           \
    return MD_OK;                                                                                  \
  }
SCAN(spread_gpu_scan, int64_t)
SCAN(spread_gpu_scan_int32, int32_t)
