/* neighbor/tiles/tile_boxes_gpu.h - what a block shares about its tile, and the boxes around its
 * atoms: what lies out of their reach is in no row. */
#ifndef TILE_BOXES_GPU_H
#define TILE_BOXES_GPU_H

#include "neighbor/tiles/tile_tests_gpu.h"

enum { MOST_BOXES = 4 /* of a warp */ };

typedef struct {
  state x, y, z;
} state3;

/* A box around atoms of a warp in units of the reach: centre, half edges, the bit of the warp. */
typedef struct {
  float x, y, z, half_x, half_y, half_z;
  uint32_t warp, unused;
} tile_box;

/* Shared memory beside the halo. */
typedef struct {
  __align__(16) uint16_t queue[TILE_WARPS][TILE_BANKS * TILE_STRIDE];
  uint32_t bits[TILE_WARPS][TILE_BITS * MD_WARP];
  uint16_t self[TILE_ROWS];
  int32_t atom[TILE_ROWS];
  __align__(16) tile_box box[TILE_WARPS * MOST_BOXES]; /* around the atoms, warp after warp */
  int32_t boxes[TILE_WARPS];                           /* of each warp */
  float corner[2][3][TILE_WARPS];                      /* of all its atoms, lo and hi */
  int32_t end[TILE_ROWS], begin[TILE_ROWS]; /* of the columns at hand: candidates up to and with
                                               it; where they begin, less those before */
  uint8_t column[TILE_ROWS];                /* of candidates 0, 2^step, ... */
  int32_t sum[2][TILE_WARPS];
  int64_t halo; /* where the pass at hand lies in job->halo */
} tile_store;

/* What the threads of a block agree on. */
typedef struct {
  const tile_job *job;
  tile_store *store;
  const tile_room *room;
  float inv_reach;
  state3 origin;
  float lo[3], hi[3]; /* around all rows */
  int32_t n_boxes;    /* of all warps */
  int step;           /* between candidates of which store->column tells, as a power of two */
  int32_t m, pass;    /* entries of the halo, passes done */
  int32_t most;       /* in one pass */
  int turn;           /* which of store->sum comes next */
} tile_block;

/* How far outside the box along an axis, 1 from there on. */
static __device__ __forceinline__ float outside(float at, float inv_reach, float centre, float half)
{
  return __saturatef(fabsf(at * inv_reach - centre) - half);
}

/* Whether a place is within reach of a box. */
static __device__ __forceinline__ bool reaches(const tile_box *box, float3 at, float inv_reach)
{
  const float dx = outside(at.x, inv_reach, box->x, box->half_x);
  const float dy = outside(at.y, inv_reach, box->y, box->half_y);
  const float dz = outside(at.z, inv_reach, box->z, box->half_z);
  return dx * dx + dy * dy + dz * dz < 1;
}

/* Floats as integers in their order, and back. */
static __device__ __forceinline__ int32_t order_key(int32_t bits)
{
  return bits ^ (bits >> 31 & INT32_MAX);
}

/* What encloses value over those lanes that belong; a NaN does not. */
static __device__ __forceinline__ void enclose(float value, bool belongs, float *lo, float *hi)
{
  const int32_t key = order_key(__float_as_int(value));
  const bool counts = belongs && value == value;
  *lo = __int_as_float(order_key(__reduce_min_sync(MD_ALL_LANES, counts ? key : INT32_MAX)));
  *hi = __int_as_float(order_key(__reduce_max_sync(MD_ALL_LANES, counts ? key : INT32_MIN)));
}

/* Lanes at which a new box begins: where the next atom is far from the one before, as it is where a
 * curve jumps.  Where that makes too many boxes, behind the longest jumps: a box may hold pieces
 * that are near each other, but one across the system would have it all for a halo. */
static __device__ __forceinline__ unsigned box_starts(float3 at, float reach)
{
  const float dx = at.x - __shfl_up_sync(MD_ALL_LANES, at.x, 1);
  const float dy = at.y - __shfl_up_sync(MD_ALL_LANES, at.y, 1);
  const float dz = at.z - __shfl_up_sync(MD_ALL_LANES, at.z, 1);
  const float jump = fmaxf(fabsf(dx), fmaxf(fabsf(dy), fabsf(dz)));
  unsigned starts = __ballot_sync(MD_ALL_LANES, jump > reach) | 1;
  for (float far = 2 * reach; __popc(starts) > MOST_BOXES; far *= 2)
    starts = __ballot_sync(MD_ALL_LANES, jump > far) | 1;
  return starts;
}

/* The box around all rows, in floats, whose rounding the reach allows for; the tile's origin in its
 * middle. */
static __device__ __forceinline__ void find_origin(tile_block *b, float3 x)
{
  const int warp = threadIdx.x / MD_WARP;
  const float at[3] = {x.x, x.y, x.z};
#pragma unroll
  for (int d = 0; d < 3; d++) {
    enclose(at[d], true, &b->lo[d], &b->hi[d]);
    if (threadIdx.x % MD_WARP == 0)
      b->store->corner[0][d][warp] = b->lo[d], b->store->corner[1][d][warp] = b->hi[d];
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < 3; d++)
    for (int w = 0; w < TILE_WARPS; w++) {
      b->lo[d] = fminf(b->lo[d], b->store->corner[0][d][w]);
      b->hi[d] = fmaxf(b->hi[d], b->store->corner[1][d][w]);
    }
  b->origin.x = b->lo[0] + (b->hi[0] - b->lo[0]) / 2;
  b->origin.y = b->lo[1] + (b->hi[1] - b->lo[1]) / 2;
  b->origin.z = b->lo[2] + (b->hi[2] - b->lo[2]) / 2;
}

/* Boxes around the warps' atoms; the row's place in the tile. */
static __device__ __forceinline__ void make_boxes(tile_block *b, state4 at, tile_row *row)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  const float3 rounded = make_float3((float)at.x, (float)at.y, (float)at.z);
  unsigned starts = box_starts(rounded, (float)b->job->reach);
  if (lane == 0) b->store->boxes[warp] = __popc(starts);
  find_origin(b, rounded); /* all have come by */
  row->x = (float)(at.x - b->origin.x), row->y = (float)(at.y - b->origin.y);
  row->z = (float)(at.z - b->origin.z);
  tile_box *box = b->store->box;
  b->n_boxes = 0;
  for (int w = 0; w < TILE_WARPS; w++) {
    if (w < warp) box += b->store->boxes[w];
    b->n_boxes += b->store->boxes[w];
  }
  for (; starts; box++) {
    const int from = __ffs(starts) - 1;
    starts &= starts - 1;
    const bool belongs = lane >= from && (!starts || lane < __ffs(starts) - 1);
    float lo[3], hi[3];
    enclose(row->x, belongs, &lo[0], &hi[0]);
    enclose(row->y, belongs, &lo[1], &hi[1]);
    enclose(row->z, belongs, &lo[2], &hi[2]);
    const float scale = b->inv_reach / 2;
    if (lane == 0)
      *box = (tile_box){(lo[0] + hi[0]) * scale,
                        (lo[1] + hi[1]) * scale,
                        (lo[2] + hi[2]) * scale,
                        (hi[0] - lo[0]) * scale,
                        (hi[1] - lo[1]) * scale,
                        (hi[2] - lo[2]) * scale,
                        1u << warp};
  }
  __syncthreads();
}

#endif
