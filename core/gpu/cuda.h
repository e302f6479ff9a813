/* core/gpu/cuda.h - what every .cu file needs: vector types, error checks, launch arithmetic,
 * sums. */
#ifndef MD_CUDA_H
#define MD_CUDA_H

#include <cuda_runtime.h>

#include "core/md.h"

#define MD_CUDA(call)                                                                              \
  do {                                                                                             \
    const cudaError_t e_ = (call);                                                                 \
    if (e_)                                                                                        \
      return md_fail(e_ == cudaErrorMemoryAllocation ? MD_ENOMEM : MD_ECUDA, __FILE__, __LINE__,   \
                     "%s: %s", #call, cudaGetErrorString(e_));                                     \
  } while (0)

/* Check a kernel launch without waiting for it. */
#define MD_LAUNCHED() MD_CUDA(cudaPeekAtLastError())

enum { MD_WARP = 32 };
#define MD_ALL_LANES 0xffffffffu

static inline unsigned md_blocks(int64_t n, int block)
{
  return (unsigned)((n + block - 1) / block);
}

/* Multiprocessors of the device in use; cheap enough to ask for at every launch. */
static inline md_status md_multiprocessors(int *count)
{
  int device;
  MD_CUDA(cudaGetDevice(&device));
  MD_CUDA(cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device));
  return MD_OK;
}

static __device__ __forceinline__ int64_t md_thread(void)
{
  return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Sums over a warp or a block of whole warps, in one order in every run.  Every thread must come
 * along; the block's sum is valid in thread 0. */
static __device__ __forceinline__ double md_warp_sum(double value)
{
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(MD_ALL_LANES, value, step);
  return value;
}

static __device__ __forceinline__ double md_block_sum(double value)
{
  __shared__ double part[MD_WARP];
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  value = md_warp_sum(value);
  __syncthreads(); /* an earlier sum has been read */
  if (lane == 0) part[warp] = value;
  __syncthreads();
  return warp == 0 ? md_warp_sum(lane < (int)blockDim.x / MD_WARP ? part[lane] : 0) : 0;
}

/* Whether this block is the last of its grid that comes here: it sees what all wrote before.  *come
 * is 0 before, and again after.  Every thread must come along. */
static __device__ __forceinline__ bool md_last_block(uint32_t *come)
{
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(come, 1u) == gridDim.x - 1;
    if (last) *come = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

#ifdef MD_PREC
#include "core/real.h"
#if MD_PREC == 0
typedef float4 state4;
typedef float4 coord4;
typedef float4 real4;
#elif MD_PREC == 1
typedef double4_32a state4;
typedef int4 coord4;
typedef float4 real4;
#else
typedef double4_32a state4;
typedef double4_32a coord4;
typedef double4_32a real4;
#endif
#endif

#endif
