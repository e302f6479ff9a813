/* stokes/step/drift_gpu.cu - see drift_impl.h.  A thread has one number, which is read and written
 * once. */
#include "core/gpu/cuda.h"
#include "stokes/step/drift_impl.h"

enum { BLOCK = 256 };

static cudaStream_t stream_of(const md_ctx *ctx)
{
  return (cudaStream_t)ctx->stream;
}

static __global__ void __launch_bounds__(BLOCK) drive_kernel(int64_t n, double3 force, double *f)
{
  const int64_t k = md_thread();
  if (k < 3 * n) f[k] = k % 3 == 0 ? force.x : k % 3 == 1 ? force.y : force.z;
}

static md_status drive(md_ctx *ctx, int64_t n, const double force[3], double *f)
{
  drive_kernel<<<md_blocks(3 * n, BLOCK), BLOCK, 0, stream_of(ctx)>>>(
      n, make_double3(force[0], force[1], force[2]), f);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    combine_kernel(int64_t n, int m, double dt, const double *__restrict__ v, double scale,
                   double *__restrict__ many)
{
  const int64_t k = md_thread();
  if (k < 3 * n * m) many[k] = dt * v[k / m] + scale * many[k];
}

static md_status combine(md_ctx *ctx, int64_t n, int m, double dt, const double *v, double scale,
                         double *many)
{
  combine_kernel<<<md_blocks(3 * n * m, BLOCK), BLOCK, 0, stream_of(ctx)>>>(n, m, dt, v, scale,
                                                                            many);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    advance_kernel(int64_t n, int m, int column, const double *__restrict__ many,
                   double *__restrict__ x)
{
  const int64_t k = md_thread();
  if (k < 3 * n) x[k / 3 * 4 + k % 3] += many[k * m + column];
}

static md_status advance(md_ctx *ctx, int64_t n, int m, int column, const double *many, double *x)
{
  advance_kernel<<<md_blocks(3 * n, BLOCK), BLOCK, 0, stream_of(ctx)>>>(n, m, column, many, x);
  MD_LAUNCHED();
  return MD_OK;
}

const drift_backend drift_gpu = {drive, combine, advance};
