/* force/totals_gpu.h - what all kernels of pair forces share: reciprocals, totals, the carve-out.
 */
#ifndef TOTALS_GPU_H
#define TOTALS_GPU_H

#include "core/gpu/cuda.h"
#include "core/gpu/exact_gpu.h"
#include "force/force_impl.h"

enum { FORCE_SUM_BLOCK = 256 };

/* 1 / a within one unit in the last place: the hardware's approximation (20 bits or more) and one
 * step of Newton's (float) or of third order (double).  NaN for 0. */
static __device__ __forceinline__ real inverse(real a)
{
  real y;
#if MD_PREC == 2
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a, y, 1.0);
  return fma(y, fma(e, e, e), y);
#else
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return fmaf(y, fmaf(-a, y, 1.0f), y);
#endif
}

/* This block's part of the totals. */
static __device__ __forceinline__ void close_tally(double *partial, double energy, double virial)
{
  energy = md_block_sum(energy);
  virial = md_block_sum(virial);
  if (threadIdx.x > 0) return;
  partial[2 * blockIdx.x] = energy;
  partial[2 * blockIdx.x + 1] = virial;
}

/* The same without rounding, each row's energy and virial for itself. */
static __device__ __forceinline__ void close_exactly(exact_sum *total, double energy, double virial)
{
  __shared__ exact_sum sums[2];
  md_exact_open(sums, 2);
  md_exact_add(&sums[0], energy);
  md_exact_add(&sums[1], virial);
  md_exact_close(sums, 2, total);
}

static __global__ void __launch_bounds__(FORCE_SUM_BLOCK)
    tally_kernel(int64_t blocks, const double *__restrict__ partial, double *total)
{
  double energy = 0, virial = 0;
  for (int64_t b = threadIdx.x; b < blocks; b += FORCE_SUM_BLOCK)
    energy += partial[2 * b], virial += partial[2 * b + 1];
  energy = md_block_sum(energy);
  virial = md_block_sum(virial);
  if (threadIdx.x == 0) total[0] = energy, total[1] = virial;
}

/* How the multiprocessors share out their memory while the kernel runs, L1 and shared: as the
 * settings say, or `otherwise`. */
static md_status set_carveout(const force *fc, const void *kernel,
                              int otherwise = cudaSharedmemCarveoutDefault)
{
  const int percent = fc->spec.carveout > 0 ? fc->spec.carveout : otherwise;
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
  return MD_OK;
}

/* What blocks have added up exactly. */
static md_status read_exactly(force *fc, force_tally *tally)
{
  MD_TRY(md_exact_read(fc->ctx, &fc->exact, 2, tally->exact));
  tally->energy = exact_value(&tally->exact[0]);
  tally->virial = exact_value(&tally->exact[1]);
  return MD_OK;
}

/* Totals without rounding; or add up the blocks' parts on the device and read 16 bytes. */
static md_status read_tally(force *fc, const force_job *job, int64_t blocks, double share)
{
  if (job->tally->is_exact) return read_exactly(fc, job->tally);
  double *partial = (double *)fc->partial.data, total[2];
  tally_kernel<<<1, FORCE_SUM_BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(blocks, partial,
                                                                         partial + 2 * blocks);
  MD_LAUNCHED();
  MD_TRY(md_read(fc->ctx, total, partial + 2 * blocks, sizeof total));
  job->tally->energy = share * total[0];
  job->tally->virial = share * total[1];
  return MD_OK;
}

#endif
