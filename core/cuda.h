/* core/cuda.h - what every .cu file needs: vector types, error checks, launch arithmetic. */
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

static inline unsigned md_blocks(int64_t n, int block)
{
  return (unsigned)((n + block - 1) / block);
}

static __device__ __forceinline__ int64_t md_thread(void)
{
  return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
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
