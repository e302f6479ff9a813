/* core/gpu/flags_gpu.h - flags in mailboxes of GPUs (core/mail.h), raised, awaited by kernels; and
 * items that tell by themselves that they have come.
 *
 * Such an item is 16 bytes, stored and loaded at once, and its last word is the tag of its round:
 * who finds the tag has the item, with no flag after it and no fence before that.  No mail of other
 * kinds has a tag in its place: as a float it is no number, as the upper word of a double 1e306, as
 * a count 2^31. */
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

/* Block: what it read is read, and what it stored is on its way; of so many blocks the last one
 * raises the flags of all ways: who sees them sees that, too.  *come is 0 before and after. */
static __device__ __forceinline__ void close_round(uint32_t *come, uint32_t blocks, int n_ways,
                                                   const md_way *ways, md_round round)
{
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (arrive(come) < blocks - 1) return;
  *come = 0;
  __threadfence_system(); /* for all blocks, which this one has seen arrive */
  for (int w = 0; w < n_ways; w++)
    put_flag(ways[w].flag, round);
}

/* Thread, for a group that it is in step with: what the group stored one way is on its way.  The
 * last of so many groups raises the flag.  *come is 0 before and after. */
static __device__ __forceinline__ void close_way(uint32_t *come, uint32_t groups, md_round *flag,
                                                 md_round round)
{
  __threadfence_system(); /* for all of the group */
  if (atomicAdd(come, 1u) < groups - 1) return;
  *come = 0;
  raise_flag(flag, round);
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

/* Whether somebody was late, and that this neighbour was. */
static __device__ __forceinline__ bool was_late(const md_way *ways)
{
  return *(const volatile int32_t *)&ways->gone != 0;
}

static __device__ __forceinline__ void note_late(const md_way *ways, int w, volatile md_late *late)
{
  late->rank = ways[w].rank;
  *(volatile int32_t *)&((md_way *)ways)->gone = 1;
}

/* The round so many before; 0, of which all flags are up, where there was none. */
static __host__ __device__ __forceinline__ md_round round_before(md_round round, md_round by)
{
  return round > by ? round - by : 0;
}

/* Until the flag of neighbour w is up or somebody was late. */
static __device__ __forceinline__ void wait_long(const md_way *ways, int w, md_round round,
                                                 volatile md_late *late)
{
  const unsigned long long patience = MD_PATIENCE * 1000000000ull, began = nanoseconds();
  while (load_flag(ways[w].wait) < round && !was_late(ways))
    if (nanoseconds() - began > patience) note_late(ways, w, late);
}

/* Until the flag of neighbour w is up.  A thread looks at it a few times before it reads the clock,
 * which takes longer.  Who was late once is waited for no more. */
static __device__ __forceinline__ void wait_flag(const md_way *ways, int w, md_round round,
                                                 volatile md_late *late)
{
  enum { LOOKS = 16 };
  const md_round *flag = ways[w].wait;
  int looks = 0;
  while (looks < LOOKS && load_flag(flag) < round)
    looks++;
  if (looks == LOOKS) wait_long(ways, w, round, late);
}

/* Thread: some of n neighbours. */
static __device__ __forceinline__ void wait_flags(int n, const md_way *ways, md_round round,
                                                  volatile md_late *late)
{
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x)
    wait_flag(ways, w, round, late);
}

/* The same where no mail is read after, but memory is written that neighbours have read: no order
 * is asked for, which would empty the L1. */
static __device__ __forceinline__ void wait_readers(int n, const md_way *ways, md_round round,
                                                    volatile md_late *late)
{
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x) {
    md_round seen;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(ways[w].wait) : "memory");
    if (seen < round) wait_long(ways, w, round, late);
  }
}

/* The last word of an item of that round. */
static __device__ __forceinline__ uint32_t tag_of(md_round round)
{
  return 0x7f800000u | ((uint32_t)round & 0x7fffffu);
}

/* As one number of 128 bits, which is stored and loaded whole; four words need not be. */
static __device__ __forceinline__ void put_item(void *to, uint4 item)
{
  const uint64_t low = item.x | (uint64_t)item.y << 32, high = item.z | (uint64_t)item.w << 32;
  asm volatile(
      "{ .reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.sys.global.b128 [%0], v; }" ::"l"(to),
      "l"(low), "l"(high)
      : "memory");
}

static __device__ __forceinline__ uint4 load_item(const void *from)
{
  uint64_t low, high;
  asm volatile("{ .reg .b128 v; ld.relaxed.sys.global.b128 v, [%2]; mov.b128 {%0, %1}, v; }"
               : "=l"(low), "=l"(high)
               : "l"(from)
               : "memory");
  return make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
}

/* The item, when it has come, or whatever lies there when somebody was late: of n neighbours the
 * one whose flag is not up. */
static __device__ __forceinline__ uint4 wait_item(const void *from, md_round round, int n,
                                                  const md_way *ways, volatile md_late *late)
{
  const unsigned long long patience = MD_PATIENCE * 1000000000ull, began = nanoseconds();
  const uint32_t tag = tag_of(round);
  uint4 item = load_item(from);
  while (item.w != tag && !was_late(ways)) {
    item = load_item(from);
    if (item.w == tag || nanoseconds() - began < patience) continue;
    int w = n - 1;
    while (w > 0 && load_flag(ways[w].wait) >= round)
      w--;
    note_late(ways, w, late);
  }
  return item;
}

#endif
