/* stokes/step/flow_gpu.cu - see flow_impl.h.  A thread has one number, which is read and written
 * once. */
#include "core/gpu/cuda.h"
#include "stokes/step/flow_impl.h"

enum { BLOCK = 256 };

static cudaStream_t stream_of(const md_ctx *ctx)
{
  return (cudaStream_t)ctx->stream;
}

static __global__ void __launch_bounds__(BLOCK)
    scales_kernel(int64_t n, double drag, const double *__restrict__ x, double *__restrict__ scale)
{
  const int64_t i = md_thread();
  if (i < n) scale[i] = sqrt(drag * x[4 * i + 3]);
}

static md_status scales(md_ctx *ctx, int64_t n, double drag, const double *x, double *scale)
{
  scales_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream_of(ctx)>>>(n, drag, x, scale);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    scale_kernel(int64_t n, int row, bool inverse, const double *__restrict__ scale,
                 const double *from, double *to)
{
  const int64_t k = md_thread();
  if (k >= n * row) return;
  const double by = scale[k / row];
  to[k] = inverse ? from[k] / by : from[k] * by;
}

static md_status scale_rows(md_ctx *ctx, int64_t n, int m, bool inverse, const double *scale,
                            const double *from, double *to)
{
  scale_kernel<<<md_blocks(3 * n * m, BLOCK), BLOCK, 0, stream_of(ctx)>>>(n, 3 * m, inverse, scale,
                                                                          from, to);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    put_kernel(int64_t n, int m, int column, double3 shift, double factor,
               const double *__restrict__ from, double *__restrict__ to)
{
  const int64_t k = md_thread();
  if (k >= 3 * n) return;
  const double by = k % 3 == 0 ? shift.x : k % 3 == 1 ? shift.y : shift.z;
  to[k * m + column] = by + factor * from[k];
}

static md_status put(md_ctx *ctx, int64_t n, int m, int column, const double shift[3],
                     double factor, const double *from, double *to)
{
  put_kernel<<<md_blocks(3 * n, BLOCK), BLOCK, 0, stream_of(ctx)>>>(
      n, m, column, make_double3(shift[0], shift[1], shift[2]), factor, from, to);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    move_kernel(int64_t n, int m, int column, double factor, const double *__restrict__ v,
                const double *from, double *to)
{
  const int64_t k = md_thread(), i = k / 4, d = k % 4;
  if (i < n) to[k] = from[k] + (d < 3 ? factor * v[(3 * i + d) * m + column] : 0);
}

static md_status move(md_ctx *ctx, int64_t n, int m, int column, double factor, const double *v,
                      const double *from, double *to)
{
  move_kernel<<<md_blocks(4 * n, BLOCK), BLOCK, 0, stream_of(ctx)>>>(n, m, column, factor, v, from,
                                                                     to);
  MD_LAUNCHED();
  return MD_OK;
}

const flow_backend flow_gpu = {scales, scale_rows, put, move};
