/* force/tile_survey_gpu.h - what steps by tiles need beside a list, found by one kernel before the
 * first of them: which tiles are near each (tile_waits_gpu.h), and on several GPUs which are at a
 * border of the rank and take their turns first (tile_mail_gpu.h).
 *
 * Bytes: 4 of each entry of a halo, and 4 more of an image; a bit for each pair of tiles; where
 * there is mail, 8 of each row and 16 of each that has images. */
#ifndef TILE_SURVEY_GPU_H
#define TILE_SURVEY_GPU_H

#include "force/tile_launch_gpu.h"

/* Thread, of a warp whose threads are here together: the tile of its atom is near. */
static __device__ __forceinline__ void note_near(uint32_t *bits, int32_t atom)
{
  const uint32_t near = (uint32_t)atom / ROWS, before = __shfl_up_sync(MD_ALL_LANES, near, 1);
  if (threadIdx.x % MD_WARP == 0 || near != before)
    atomicOr(&bits[near / WAIT_BITS], 1u << near % WAIT_BITS);
}

/* Block, a tile: which tiles are near it, and that it is near those, of bits that are zero.  Atoms
 * of a tile lie beside each other in a halo: of each run one thread sets the bit. */
static __device__ __forceinline__ void find_near(const tile_job *job, const int32_t *home)
{
  enum { AT_ONCE = 8 };
  __shared__ uint32_t bits[ROWS];
  const int32_t t = (int32_t)threadIdx.x, tile = (int32_t)blockIdx.x, words = job->waits.words;
  bits[t] = 0;
  __syncthreads();
  for (int32_t p = 0; p < job->tiles.passes; p++) {
    const neighbor_piece halo = job->tiles.halos[tile * job->tiles.passes + p];
    const int32_t *entry = job->tiles.halo + halo.start;
    for (int32_t k = t; k - t < halo.count; k += AT_ONCE * ROWS) {
      int32_t j[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++)
        j[u] = k + u * ROWS < halo.count ? entry[k + u * ROWS] : tile * ROWS;
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++)
        if (j[u] >= job->n) j[u] = home[j[u] - job->n];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++)
        note_near(bits, j[u] < 0 ? tile * ROWS : j[u]); /* another rank's comes by mail */
    }
  }
  __syncthreads();
  if (t >= words || bits[t] == 0) return;
  atomicOr(&job->waits.near[tile * words + t], bits[t]);
  for (uint32_t left = bits[t]; left; left &= left - 1) {
    const int32_t near = t * WAIT_BITS + __ffs((int)left) - 1;
    atomicOr(&job->waits.near[near * words + tile / WAIT_BITS], 1u << tile % WAIT_BITS);
  }
}

/* Block, a tile: its turn.  Those at a border have theirs from the front on, the others from the
 * end; about in the order of the curve, as blocks begin in it. */
static __device__ __forceinline__ void take_turn(const tile_job *job)
{
  const int64_t tile = blockIdx.x, row = tile * ROWS + threadIdx.x;
  tile_order *to = job->post.tiles;
  tile_sides *sides = &to->sides[job->post.which];
  const bool border =
      __syncthreads_or(reads_mail(job, tile) || (row < job->n && is_sent(job, row)));
  if (threadIdx.x > 0) return;
  const uint32_t at =
      border ? atomicAdd(&sides->border, 1u) : gridDim.x - 1 - atomicAdd(&sides->inner, 1u);
  const neighbor_piece halo = job->tiles.halos[tile * job->tiles.passes];
  to->turn[at] = (tile_turn){halo.start, halo.count, border ? (int32_t)tile : ~(int32_t)tile};
}

/* Words to be zero. */
typedef struct {
  uint32_t *at;
  int64_t count;
} wiped;

static __device__ __forceinline__ void wipe(const wiped *w)
{
  const int64_t threads = (int64_t)gridDim.x * ROWS;
  for (int64_t k = blockIdx.x * ROWS + threadIdx.x; k < w->count; k += threads)
    w->at[k] = 0;
}

/* Block, a tile: what steps of a job need beside a list.  done, other: bits that are zero then. */
static __global__ void __launch_bounds__(ROWS)
    survey_kernel(const tile_job job, const int32_t *home, const wiped done, const wiped other)
{
  cudaGridDependencySynchronize();
  wipe(&done);
  wipe(&other);
  tile_order *order = job.post.tiles;
  if (order && blockIdx.x == 0 && threadIdx.x == 0) order->sides[!job.post.which] = (tile_sides){};
  if (is_unfit(&job.tiles)) return;
  if (order) take_turn(&job);
  if (job.waits.words > 0) find_near(&job, home);
}

/* Steps from one that waits for all to the next such one: so many rows of bits of what is done. */
enum { WAITING_STEPS = 64 };
static size_t done_bytes(const force_job *job, const tile_waits *w)
{
  const int32_t rows = job->steps < WAITING_STEPS ? job->steps : WAITING_STEPS;
  return (size_t)rows * (size_t)w->words * sizeof *w->done;
}

/* Bits of near tiles, all zero. */
static md_status open_near(force *fc, size_t bytes, uint32_t **out)
{
  md_buffer *near = &fc->tiles_near[fc->near_turn];
  if (bytes > near->bytes) {
    MD_TRY(md_buffer_reserve(fc->ctx, near, bytes, 0));
    MD_TRY(md_fill(fc->ctx, near->data, 0, near->bytes));
  }
  *out = (uint32_t *)near->data;
  return MD_OK;
}

/* Tiles that wait for those near; *done and *to_come are to be zero before the first step. */
static md_status open_waits(force *fc, const force_job *job, tile_waits *w, wiped *done,
                            wiped *to_come)
{
  const unsigned count = md_blocks(job->n, ROWS);
  fc->near_turn = !fc->near_turn;
  w->words = (int32_t)(count + WAIT_BITS - 1) / WAIT_BITS;
  MD_TRY(open_near(fc, (size_t)count * (size_t)w->words * sizeof *w->near, &w->near));
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->tiles_done, done_bytes(job, w), 0));
  w->done = (uint32_t *)fc->tiles_done.data;
  const md_buffer *other = &fc->tiles_near[!fc->near_turn];
  *done = (wiped){w->done, (int64_t)(done_bytes(job, w) / sizeof *w->done)};
  *to_come = (wiped){(uint32_t *)other->data, (int64_t)(other->bytes / sizeof *w->near)};
  return MD_OK;
}

/* Before step s > 0 of a job. */
static md_status next_waits(const force *fc, const force_job *job, int32_t s, tile_waits *w)
{
  if (w->words == 0) return MD_OK;
  const unsigned count = md_blocks(job->n, ROWS);
  w->before = w->done, w->done += w->words;
  w->first = (int32_t)(((unsigned)w->first + count / (job->mail ? 2 : 4)) % count);
  if (s % WAITING_STEPS > 0) return MD_OK;
  w->before = NULL, w->done = (uint32_t *)fc->tiles_done.data;
  return md_fill(fc->ctx, w->done, 0, done_bytes(job, w));
}

/* Tiles that take turns, those at a border first. */
static md_status open_order(force *fc, const force_job *job, tile_post *post)
{
  const size_t bytes = sizeof(tile_order) + md_blocks(job->n, ROWS) * sizeof(tile_turn);
  if (bytes > fc->order.bytes) {
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->order, bytes, 0));
    MD_TRY(md_fill(fc->ctx, fc->order.data, 0, sizeof(tile_order)));
  }
  fc->order_turn = !fc->order_turn;
  post->mail = *job->mail;
  post->which = fc->order_turn;
  post->tiles = (tile_order *)fc->order.data;
  return MD_OK;
}

/* Before the first of a job's steps. */
static md_status survey(force *fc, const force_job *job, tile_job *tiles, bool waits)
{
  wiped done = {}, to_come = {};
  if (job->mail) MD_TRY(open_order(fc, job, &tiles->post));
  if (waits) MD_TRY(open_waits(fc, job, &tiles->waits, &done, &to_come));
  if (!job->mail && !waits) return MD_OK;
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(fc->ctx, dim3(md_blocks(job->n, ROWS)), ROWS, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, survey_kernel, *tiles, job->home, done, to_come));
  return MD_OK;
}

#endif
