/* spread/gpu/transpose.cu - numbers by particle to numbers by vector, and back, for kernels that do
 * not take the former. */
#include "core/gpu/launch_gpu.h"
#include "spread/spread_impl.h"

enum { BLOCK = 256 };

/* Thread: a word of the result. */
static __global__ void __launch_bounds__(BLOCK)
    transpose_kernel(int64_t rows, int64_t columns, int64_t words, const uint32_t *from,
                     uint32_t *to)
{
  const int64_t k = md_thread(), at = k / words;
  if (at >= rows * columns) return;
  to[k] = from[(at % rows * columns + at / rows) * words + k % words];
}

md_status spread_gpu_transpose(md_ctx *ctx, int64_t rows, int64_t columns, size_t bytes,
                               const void *from, void *to)
{
  const int64_t words = (int64_t)(bytes / sizeof(uint32_t)), n = rows * columns * words;
  if (n == 0) return MD_OK;
  transpose_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      rows, columns, words, (const uint32_t *)from, (uint32_t *)to);
  MD_LAUNCHED();
  return MD_OK;
}
