/* core/gpu/bulk_gpu.h - bulk copies from a GPU's memory to shared memory, past the load and store
 * units, and the barrier that tells when they have arrived. */
#ifndef BULK_GPU_H
#define BULK_GPU_H

#include "core/gpu/cuda.h"

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void barrier_make(uint64_t *barrier)
{
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* So many bytes will arrive. */
static __device__ __forceinline__ void copy_expect(uint64_t *barrier, unsigned bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/* Some of them, a multiple of 16, on their way to such an address. */
static __device__ __forceinline__ void copy_bulk(unsigned to, const void *from, unsigned bytes,
                                                 uint64_t *barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/* Until copy number `pass` has arrived. */
static __device__ __forceinline__ void copy_wait(uint64_t *barrier, int pass)
{
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(pass % 2)
                 : "memory");
}

#endif
