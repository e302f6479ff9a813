/* stokes/matrix/bulk_gpu.h - bulk copies from a GPU's memory to shared memory and to its
 * second-level cache. */
#ifndef STOKES_BULK_GPU_H
#define STOKES_BULK_GPU_H

#include "core/gpu/bulk_gpu.h"

/* What is copied is not read again soon: it leaves the second-level cache before anything else. */
static __device__ __forceinline__ void copy_begin(void *to, const void *from, unsigned bytes,
                                                  uint64_t *barrier)
{
  uint64_t once;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  copy_expect(barrier, bytes);
  if (bytes > 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(once)
                 : "memory");
}

/* Everyone is done with what was copied: it may be overwritten. */
static __device__ __forceinline__ void copy_again(void)
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

/* Ask for bytes, whole multiples of 16 of them, so that they are in the second-level cache when
 * they are read. */
static __device__ __forceinline__ void ask_for(const void *from, unsigned bytes)
{
  if (bytes > 0)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

#endif
