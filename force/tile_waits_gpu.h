/* force/tile_waits_gpu.h - steps by tiles that begin before the step before has ended.
 *
 * A tile waits for the tiles near it: those with an atom or image in its halo, and those whose halo
 * has one of its own.  When all of these have done step s - 1 its halo is there, and nobody reads
 * any more what it stores in step s, in the place of step s - 2.  So the blocks of a step go on
 * where those of the step before leave room, and the last ones of a step keep no multiprocessor
 * idle.
 *
 * What is near is a bit for each tile; what is done another, set with release and looked at with
 * acquire.  A step's blocks begin when all blocks of the step before have, and wait for nothing
 * else of their own GPU: so those they wait for are at work.  Where many tiles were done last in a
 * step, few are near the first ones of the next: each step begins a quarter of the curve further,
 * or half of the list in which tiles at a border of the rank come first (tile_mail_gpu.h). */
#ifndef TILE_WAITS_GPU_H
#define TILE_WAITS_GPU_H

#include "core/gpu/cuda.h"

enum { WAIT_BITS = 32 };

/* words 0: tiles wait for all of the step before. */
typedef struct {
  int32_t words;          /* of bits of all tiles */
  int32_t first;          /* the first block's turn */
  uint32_t *near;         /* [tiles][words] */
  const uint32_t *before; /* [words]: done in the step before; NULL: wait for all */
  uint32_t *done;         /* [words]: in this one, zero before it */
} tile_waits;

/* A block's tile, or its place where tiles are listed. */
static __device__ __forceinline__ uint32_t turn_of_block(const tile_waits *w)
{
  const uint32_t turn = blockIdx.x + (uint32_t)w->first;
  return turn < gridDim.x ? turn : turn - gridDim.x;
}

/* Of the tiles near a block's, those of this thread's word. */
static __device__ __forceinline__ uint32_t tiles_near(const tile_waits *w, uint32_t tile)
{
  const bool looks = w->before && (int32_t)threadIdx.x < w->words;
  return looks ? w->near[tile * (uint32_t)w->words + threadIdx.x] : 0;
}

/* Block: all tiles near have done the step before. */
static __device__ __forceinline__ void await_tiles(const tile_waits *w, uint32_t near)
{
  if (!w->before) {
    cudaGridDependencySynchronize();
    return;
  }
  for (uint32_t done = 0; (done & near) != near;)
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
                 : "=r"(done)
                 : "l"(w->before + threadIdx.x)
                 : "memory");
  __syncthreads();
}

/* Block: its tile has done this step.  After the last step all that waited has been done: what
 * comes next waits for that step alone. */
static __device__ __forceinline__ void tell_done(const tile_waits *w, uint32_t tile)
{
  if (w->words == 0) return;
  __syncthreads();
  if (threadIdx.x > 0) return;
  asm volatile("red.release.gpu.global.or.b32 [%0], %1;"
               :
               : "l"(w->done + tile / WAIT_BITS), "r"(1u << tile % WAIT_BITS)
               : "memory");
}

#endif
