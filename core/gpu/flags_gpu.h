/* core/gpu/flags_gpu.h - flags in mailboxes of GPUs (core/mail.h), raised, awaited by kernels. */
#ifndef FLAGS_GPU_H
#define FLAGS_GPU_H

#include "core/gpu/cuda.h"
#include "core/mail.h"

/* After a fence of the system: who sees the flag sees what was stored before the fence. */
static __device__ __forceinline__ void put_flag(md_round *flag, md_round round)
{
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(round) : "memory");
}

static __device__ __forceinline__ void raise_flag(md_round *flag, md_round round)
{
  __threadfence_system();
  put_flag(flag, round);
}

/* One more has come: what it stored, and what it saw, is seen by who counts later. */
static __device__ __forceinline__ uint32_t arrive(uint32_t *count)
{
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(count)
               : "memory");
  return before;
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

/* Until the flag is up or somebody was late. */
static __device__ void wait_long(const md_way *way, md_round round, volatile md_late *late)
{
  const unsigned long long patience = MD_PATIENCE * 1000000000ull, began = nanoseconds();
  while (load_flag(way->wait) < round) {
    const unsigned long long waited = nanoseconds() - began;
    if (waited < QUIET) continue;
    if (late->rank >= 0) return;
    if (waited > patience) {
      late->rank = way->rank;
      return;
    }
  }
}

/* Thread: some of n neighbours.  It looks at a flag a few times before it reads the clock, which
 * takes longer.  Who was late once is waited for no more. */
static __device__ __forceinline__ void wait_flags(int n, const md_way *ways, md_round round,
                                                  volatile md_late *late)
{
  enum { LOOKS = 16 };
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x) {
    const md_round *flag = ways[w].wait;
    int looks = 0;
    while (looks < LOOKS && load_flag(flag) < round)
      looks++;
    if (looks == LOOKS) wait_long(&ways[w], round, late);
  }
}

#endif
