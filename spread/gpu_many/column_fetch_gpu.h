/* spread/gpu_many/column_fetch_gpu.h - chunks on their way to shared memory, and the largest of
 * their charges; for spread_columns.single.cu.
 *
 * While a block stages and adds chunk `turn` of its share, charges of the next one have come or are
 * about to, and those of the one after it are asked for as soon as their place is free.  Each
 * thread looks at what it has copied itself, so that a chunk's scale is known before it is
 * staged. */
#ifndef COLUMN_FETCH_GPU_H
#define COLUMN_FETCH_GPU_H

#include <cuda_pipeline.h>

#include "spread/gpu_many/spread_columns_gpu.h"

/* Chunks known at once; numbers of a vector each. */
enum { HEADS = 4, LARGEST = GROUP * GROUPS_MAX };

/* Of a block, in shared memory: of chunks turn .. turn + 3; particles and charges of two; of
 * two, upper halves of the largest charges. */
typedef struct {
  column_chunk *head;
  quad *fetched;
  uint32_t *largest;
} coming;

static __device__ __forceinline__ column_chunk *head_of(const coming &to, int turn)
{
  return to.head + turn % HEADS;
}
static __device__ __forceinline__ quad *fetched_of(const int p, const coming &to, int turn)
{
  return to.fetched + turn % 2 * CHUNK * FETCHED(p);
}

/* The exponent of the largest charge of the lane's vector. */
static __device__ __forceinline__ int32_t find_largest(const coming &of, int turn)
{
  return (int32_t)(of.largest[turn % 2 * LARGEST + warp_lane() % LARGEST] >> 7);
}

/* Of a chunk a thread copies quad `thread % CHARGE_QUADS` of the charges of every so many-th
 * particle, whose index says where they lie. */
#define COPIES(p) ((CHUNK * CHARGE_QUADS(p) + BLOCK - 1) / BLOCK)
#define COPIED(p, k) ((int)(threadIdx.x / CHARGE_QUADS(p)) + (k) * (BLOCK / CHARGE_QUADS(p)))
enum { COPIES_MAX = COPIES(SPREAD_ORDER_MIN) };
typedef struct {
  uint32_t of[COPIES_MAX];
} copy_index;

/* Volatile, as else it is put off until it is waited for. */
static __device__ __forceinline__ copy_index fetch_index(const int p, const filling &s,
                                                         const column_chunk &chunk)
{
  const uint32_t *first = s.index + chunk.first;
  copy_index to = {};
  SPREAD_UNROLL
  for (int k = 0; k < COPIES(p); k++)
    asm volatile("ld.global.u32 %0, [%1];"
                 : "=r"(to.of[k])
                 : "l"(first + max(min(COPIED(p, k), chunk.count - 1), 0)));
  return to;
}

/* Block: ask for chunk i to be copied. */
static __device__ __forceinline__ void fetch_head(const filling &s, int32_t i, column_chunk *to)
{
  const int k = threadIdx.x;
  if (k < (int)(sizeof *to / sizeof(uint4)))
    __pipeline_memcpy_async((uint4 *)to + k, (const uint4 *)(s.chunk + i) + k, sizeof(uint4));
  __pipeline_commit();
}

/* Block: ask for a chunk's particles and charges to be copied. */
static __device__ __forceinline__ void fetch_chunk(const int p, const filling &s, const coming &to,
                                                   int turn, const copy_index &index)
{
  const int count = head_of(to, turn)->count, part = threadIdx.x % CHARGE_QUADS(p);
  const pencil_particle *particle = s.particle + head_of(to, turn)->first + COPIED(p, 0);
  const quad *charge = (const quad *)s.charge + part;
  quad *fetched = fetched_of(p, to, turn) + COPIED(p, 0) * FETCHED(p);
  SPREAD_UNROLL
  for (int k = 0; k < COPIES(p); k++) {
    const int further = k * (BLOCK / CHARGE_QUADS(p));
    if (COPIED(p, k) >= count) continue;
    __pipeline_memcpy_async(fetched + further * FETCHED(p) + 1 + part,
                            charge + (uint64_t)index.of[k] * s.row, sizeof(quad));
    if (part == 0)
      __pipeline_memcpy_async(fetched + further * FETCHED(p), particle + further, sizeof(quad));
  }
  __pipeline_commit();
}

/* The upper halves of two numbers without their signs: exponents and some digits. */
static __device__ __forceinline__ uint32_t upper_halves(real first, real second)
{
  return __byte_perm(__float_as_uint(first), __float_as_uint(second), 0x7632) & 0x7fff7fffu;
}

/* Thread: what it has copied of a chunk's charges counts.  Half the lanes go on with the first two
 * of their vectors, half with the others. */
static __device__ __forceinline__ void note_largest(const int p, const coming &to, int turn)
{
  const int part = threadIdx.x % CHARGE_QUADS(p), count = head_of(to, turn)->count;
  const quad *fetched = fetched_of(p, to, turn) + COPIED(p, 0) * FETCHED(p) + 1 + part;
  const bool other = warp_lane() >= MD_WARP / 2;
  uint32_t most[2] = {};
  SPREAD_UNROLL
  for (int k = 0; k < COPIES(p); k++) {
    if (COPIED(p, k) >= count) continue;
    const quad of = fetched[k * (BLOCK / CHARGE_QUADS(p)) * FETCHED(p)];
    most[0] = __vmaxu2(most[0], upper_halves(of.x, of.y));
    most[1] = __vmaxu2(most[1], upper_halves(of.z, of.w));
  }
  uint32_t mine = other ? most[1] : most[0];
  mine = __vmaxu2(mine, __shfl_xor_sync(MD_ALL_LANES, other ? most[0] : most[1], MD_WARP / 2));
  SPREAD_UNROLL
  for (int step = CHARGE_QUADS(p); step < MD_WARP / 2; step *= 2)
    mine = __vmaxu2(mine, __shfl_xor_sync(MD_ALL_LANES, mine, step));
  if (warp_lane() % (MD_WARP / 2) < CHARGE_QUADS(p)) {
    uint32_t *largest = to.largest + turn % 2 * LARGEST + part * QUAD + 2 * other;
    atomicMax(largest, mine & 0xffffu);
    atomicMax(largest + 1, mine >> 16);
  }
}

/* Block: before the first turn, two chunks come, and who comes next is known. */
static __device__ __forceinline__ void begin_fetch(const int p, const filling &s, int32_t i,
                                                   int32_t last, const coming &to)
{
  for (int turn = 0; turn < HEADS - 1; turn++)
    fetch_head(s, min(i + turn, last - 1), to.head + turn);
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int turn = 0; turn < 2; turn++)
    fetch_chunk(p, s, to, turn, fetch_index(p, s, to.head[turn]));
  __pipeline_wait_prior(1);
  note_largest(p, to, 0);
  __syncthreads();
}

/* Block: as a turn begins, ask for a chunk, and where charges of the one before it lie. */
static __device__ __forceinline__ copy_index fetch_on(const int p, const filling &s, int32_t i,
                                                      int32_t last, int turn, const coming &to)
{
  fetch_head(s, min(i + HEADS - 1, last - 1), head_of(to, turn + HEADS - 1));
  return fetch_index(p, s, *head_of(to, turn + 2));
}

/* Thread: charges of the next chunk have come. */
static __device__ __forceinline__ void note_next(const int p, const coming &to, int turn)
{
  __pipeline_wait_prior(1);
  note_largest(p, to, turn);
}

/* Block: as a turn ends, the chunk asked for is known, and what its charges were is forgotten. */
static __device__ __forceinline__ void end_turn(const coming &to, int turn)
{
  if (threadIdx.x < LARGEST) to.largest[turn % 2 * LARGEST + threadIdx.x] = 0;
  __pipeline_wait_prior(1);
}

#endif
