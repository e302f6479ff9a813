/* core/gpu/flags_gpu.h - flags in mailboxes of GPUs (core/mail.h), raised and awaited by kernels. */
#ifndef FLAGS_GPU_H
#define FLAGS_GPU_H

#include "core/gpu/cuda.h"
#include "core/mail.h"

/* What this GPU has stored before is seen by who sees the flag. */
static __device__ __forceinline__ void raise_flag(md_round *flag, md_round round)
{
  __threadfence_system();
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(round) : "memory");
}

static __device__ __forceinline__ md_round load_flag(const md_round *flag)
{
  md_round round;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(round) : "l"(flag) : "memory");
  return round;
}

static __device__ __forceinline__ unsigned long long nanoseconds(void)
{
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

enum { QUIET = 1000000 }; /* nanoseconds without a look at the host's memory, which is slow */

/* Thread: some of n neighbours.  Who was late once is waited for no more. */
static __device__ __forceinline__ void wait_flags(int n, const md_way *ways, md_round round,
                                                  volatile md_late *late)
{
  const unsigned long long patience = MD_PATIENCE * 1000000000ull, began = nanoseconds();
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x)
    while (load_flag(ways[w].wait) < round) {
      const unsigned long long waited = nanoseconds() - began;
      if (waited < QUIET) continue;
      if (late->rank >= 0) return;
      if (waited > patience) {
        late->rank = ways[w].rank;
        return;
      }
    }
}

#endif
