/* core/gpu/exact_gpu.h - sums without rounding (core/exact.h) on the GPU: integers, so that neither
 * the order of atoms nor that of blocks matters.
 *
 * A block adds its numbers up in shared memory, then its words that are not 0 to the total.  A word
 * gets less than 2^32 of each number: 2^30 numbers fit, and the host carries. */
#ifndef EXACT_GPU_H
#define EXACT_GPU_H

#include "core/buffer.h"
#include "core/exact.h"
#include "core/gpu/cuda.h"

static __device__ __forceinline__ void md_exact_word(int64_t *word, int64_t value)
{
  if (value != 0) atomicAdd((unsigned long long *)word, (unsigned long long)value);
}

/* Thread by thread: add x to a sum in shared memory. */
static __device__ __forceinline__ void md_exact_add(exact_sum *sum, double x)
{
  const exact_cut cut = exact_cut_up(x);
  for (int k = 0; k < cut.n; k++)
    md_exact_word((int64_t *)sum + cut.word + k, cut.terms[k]);
}

/* Block: before and after it adds to sums[0 .. n) in shared memory; every thread must come
 * along. */
static __device__ __forceinline__ void md_exact_open(exact_sum *sums, int n)
{
  for (int k = (int)threadIdx.x; k < n * EXACT_WORDS; k += (int)blockDim.x)
    ((int64_t *)sums)[k] = 0;
  __syncthreads();
}
static __device__ __forceinline__ void md_exact_close(const exact_sum *sums, int n, exact_sum *to)
{
  __syncthreads();
  for (int k = (int)threadIdx.x; k < n * EXACT_WORDS; k += (int)blockDim.x)
    md_exact_word((int64_t *)to + k, ((const int64_t *)sums)[k]);
}

/* Host: n sums that kernels add to, zero; and read back, when they have. */
static inline md_status md_exact_begin(md_ctx *ctx, md_buffer *buffer, int n)
{
  const size_t bytes = (size_t)n * sizeof(exact_sum);
  MD_TRY(md_buffer_reserve(ctx, buffer, bytes, 0));
  return md_fill(ctx, buffer->data, 0, bytes);
}
static inline md_status md_exact_read(md_ctx *ctx, const md_buffer *buffer, int n, exact_sum *to)
{
  MD_TRY(md_read(ctx, to, buffer->data, (size_t)n * sizeof *to));
  for (int k = 0; k < n; k++)
    exact_carry(&to[k]);
  return MD_OK;
}

#endif
