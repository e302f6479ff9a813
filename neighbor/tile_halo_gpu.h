/* neighbor/tile_halo_gpu.h - the halo of one tile: one block of 256 threads a tile.
 *
 * The block gathers what lies within r_list of the boxes around its warps' atoms into shared memory,
 * column of bins by column, and writes down whose positions they are; each warp then writes the rows
 * of its atoms (tile_rows_gpu.h).  A halo that does not fit is worked off in passes.  Threads take
 * candidates in turn and keep their order, so that the same atoms give the same halo. */
#ifndef TILE_HALO_GPU_H
#define TILE_HALO_GPU_H

#include "neighbor/tile_rows_gpu.h"

enum { FAR_ENTRIES = 64, MOST_BOXES = 4 };

typedef struct {
  state x, y, z;
} state3;

/* Shared memory beside the halo. */
typedef struct {
  __align__(16) uint16_t queue[TILE_WARPS][TILE_QUEUE * TILE_BANKS];
  __align__(16) uint16_t slots[TILE_SLOTS * TILE_ROWS];
  uint16_t waiting[TILE_WAITING * TILE_ROWS];
  tile_box box[TILE_WARPS * MOST_BOXES];    /* around the atoms, warp after warp */
  int32_t boxes[TILE_WARPS];                /* of each warp */
  state corner[2][3][TILE_WARPS];           /* of all its atoms, lo and hi */
  int32_t end[TILE_ROWS], begin[TILE_ROWS]; /* of the columns at hand: candidates up to and with
                                               it; where they begin, less those before */
  int32_t sum[2][TILE_WARPS];
} tile_store;

/* What the threads of a block agree on. */
typedef struct {
  const tile_job *job;
  tile_store *store;
  float4 *halo;
  state3 origin;
  int32_t first_box, n_boxes; /* of this warp, of all */
  int32_t m, pass, total;     /* entries of the halo, passes done, entries in them */
  int32_t most;               /* in one pass */
  int turn;                   /* which of store->sum comes next */
} tile_block;

/* Exclusive sum over the block's threads; *total gets the sum of all.  Whole warps. */
static __device__ __forceinline__ int32_t block_scan(tile_block *b, int32_t value, int32_t *total)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  int32_t upto = value, before = 0;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const int32_t other = __shfl_up_sync(MD_ALL_LANES, upto, step);
    if (lane >= step) upto += other;
  }
  int32_t *sum = b->store->sum[b->turn];
  b->turn ^= 1;
  if (lane == MD_WARP - 1) sum[warp] = upto;
  __syncthreads();
  *total = 0;
  for (int w = 0; w < TILE_WARPS; w++) {
    if (w < warp) before += sum[w];
    *total += sum[w];
  }
  return before + upto - value;
}

/* What encloses value over those lanes that belong. */
static __device__ __forceinline__ void enclose(state value, bool belongs, state *lo, state *hi)
{
  *lo = belongs ? value : (state)INFINITY, *hi = belongs ? value : (state)-INFINITY;
  for (int step = MD_WARP / 2; step > 0; step /= 2) {
    *lo = fmin(*lo, __shfl_xor_sync(MD_ALL_LANES, *lo, step));
    *hi = fmax(*hi, __shfl_xor_sync(MD_ALL_LANES, *hi, step));
  }
}

/* Lanes at which a new box begins: where the next atom is far from the one before, as it is where a
 * curve jumps, but at most MOST_BOXES. */
static __device__ __forceinline__ unsigned box_starts(const tile_row *row, state reach)
{
  const state dx = row->at.x - __shfl_up_sync(MD_ALL_LANES, row->at.x, 1);
  const state dy = row->at.y - __shfl_up_sync(MD_ALL_LANES, row->at.y, 1);
  const state dz = row->at.z - __shfl_up_sync(MD_ALL_LANES, row->at.z, 1);
  const bool jumps = fmax(fabs(dx), fmax(fabs(dy), fabs(dz))) > reach;
  unsigned starts = __ballot_sync(MD_ALL_LANES, jumps) | 1;
  while (__popc(starts) > MOST_BOXES)
    starts &= ~(0x80000000u >> __clz(starts));
  return starts;
}

/* The tile's origin, in the middle of all its atoms. */
static __device__ __forceinline__ void find_origin(tile_block *b, const tile_row *row)
{
  const int warp = threadIdx.x / MD_WARP;
  const state at[3] = {row->at.x, row->at.y, row->at.z};
  state mid[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    state lo, hi;
    enclose(at[d], true, &lo, &hi);
    if (threadIdx.x % MD_WARP == 0)
      b->store->corner[0][d][warp] = lo, b->store->corner[1][d][warp] = hi;
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < 3; d++) {
    state lo = b->store->corner[0][d][0], hi = b->store->corner[1][d][0];
    for (int w = 1; w < TILE_WARPS; w++) {
      lo = fmin(lo, b->store->corner[0][d][w]);
      hi = fmax(hi, b->store->corner[1][d][w]);
    }
    mid[d] = lo + (hi - lo) / 2;
  }
  b->origin = (state3){mid[0], mid[1], mid[2]};
}

/* Boxes around the warps' atoms; the row's place in the tile. */
static __device__ __forceinline__ void make_boxes(tile_block *b, tile_row *row)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  unsigned starts = box_starts(row, b->job->reach);
  if (lane == 0) b->store->boxes[warp] = __popc(starts);
  find_origin(b, row); /* all have come by */
  row->x = (float)(row->at.x - b->origin.x), row->y = (float)(row->at.y - b->origin.y);
  row->z = (float)(row->at.z - b->origin.z);
  b->first_box = b->n_boxes = 0;
  for (int w = 0; w < TILE_WARPS; w++) {
    if (w < warp) b->first_box += b->store->boxes[w];
    b->n_boxes += b->store->boxes[w];
  }
  for (tile_box *box = b->store->box + b->first_box; starts; box++) {
    const int from = __ffs(starts) - 1;
    starts &= starts - 1;
    const bool belongs = lane >= from && (!starts || lane < __ffs(starts) - 1);
    state lo[3], hi[3];
    enclose(row->x, belongs, &lo[0], &hi[0]);
    enclose(row->y, belongs, &lo[1], &hi[1]);
    enclose(row->z, belongs, &lo[2], &hi[2]);
    if (lane == 0)
      *box = (tile_box){(float)(lo[0] + hi[0]) / 2, (float)(lo[1] + hi[1]) / 2,
                        (float)(lo[2] + hi[2]) / 2, (float)(hi[0] - lo[0]) / 2,
                        (float)(hi[1] - lo[1]) / 2, (float)(hi[2] - lo[2]) / 2};
  }
  __syncthreads();
}

/* The bins around the tile: first and number along each axis but the innermost. */
typedef struct {
  int32_t i0, j0, ni, nj;
} tile_columns;

static __device__ __forceinline__ tile_columns columns_of(const tile_block *b)
{
  const bins *g = &b->job->grid;
  const state reach = b->job->reach;
  state lo[2] = {(state)INFINITY, (state)INFINITY}, hi[2] = {(state)-INFINITY, (state)-INFINITY};
#pragma unroll
  for (int d = 0; d < 2; d++)
    for (int w = 0; w < TILE_WARPS; w++) {
      lo[d] = fmin(lo[d], b->store->corner[0][d][w]);
      hi[d] = fmax(hi[d], b->store->corner[1][d][w]);
    }
  tile_columns c;
  c.i0 = bin_along(g, 0, lo[0] - reach), c.j0 = bin_along(g, 1, lo[1] - reach);
  c.ni = bin_along(g, 0, hi[0] + reach) - c.i0 + 1;
  c.nj = bin_along(g, 1, hi[1] + reach) - c.j0 + 1;
  return c;
}

/* Candidates of one column of bins that may lie within reach of a box. */
static __device__ __forceinline__ int32_t column_at(const tile_block *b, int32_t i, int32_t j,
                                                    int32_t *begin)
{
  const bins *g = &b->job->grid;
  const float reach_sq = (float)b->job->reach * (float)b->job->reach;
  const float half_x = (float)g->side[0] / 2, half_y = (float)g->side[1] / 2;
  const float x = (float)(g->origin[0] + i * g->side[0] - b->origin.x) + half_x;
  const float y = (float)(g->origin[1] + j * g->side[1] - b->origin.y) + half_y;
  float lo = INFINITY, hi = -INFINITY;
  for (int k = 0; k < b->n_boxes; k++) {
    const tile_box *box = &b->store->box[k];
    const float dx = fmaxf(fabsf(x - box->x) - box->half_x - half_x, 0);
    const float dy = fmaxf(fabsf(y - box->y) - box->half_y - half_y, 0);
    const float rest = reach_sq - dx * dx - dy * dy;
    if (!(rest > 0)) continue;
    lo = fminf(lo, box->z - box->half_z - sqrtf(rest));
    hi = fmaxf(hi, box->z + box->half_z + sqrtf(rest));
  }
  if (!(lo <= hi)) return 0;
  const int64_t column = ((int64_t)i * g->n[1] + j) * g->n[2];
  *begin = b->job->bin_start[column + bin_along(g, 2, b->origin.z + lo)];
  return b->job->bin_start[column + bin_along(g, 2, b->origin.z + hi) + 1] - *begin;
}

/* Rows from the halo as it is; it begins anew. */
static __device__ __forceinline__ void close_pass(tile_block *b, const tile_room *room,
                                                  tile_row *row)
{
  const tile_job *job = b->job;
  const int warp = threadIdx.x / MD_WARP;
  const uint32_t far = (b->m + TILE_BANKS - 1) / TILE_BANKS * TILE_BANKS * TILE_ENTRY;
  if (threadIdx.x < FAR_ENTRIES)
    b->halo[b->m + threadIdx.x] = make_float4(INFINITY, 0, 0, __int_as_float(ABSENT));
  __syncthreads();
  const int32_t was = row->cursor;
  scan_halo(job, room, b->store->box + b->first_box, b->store->boxes[warp], b->m, far, row);
  do
    write_rows(job, room, far, row);
  while (__any_sync(MD_ALL_LANES, n_waiting(row) > 0));
  if (b->pass < job->passes) {
    const int64_t at = (int64_t)blockIdx.x * job->passes + b->pass;
    if (threadIdx.x == 0) job->halo_count[at] = b->m;
    if (threadIdx.x % MD_WARP == 0)
      job->chunk_count[((int64_t)blockIdx.x * TILE_WARPS + warp) * job->passes + b->pass] =
          row->cursor - was;
  }
  b->pass++;
  b->total += b->m;
  b->most = max(b->most, b->m);
  b->m = 0;
  __syncthreads();
}

/* Of `total` candidates in the columns at hand, append to the halo those within reach of a warp. */
static __device__ __forceinline__ void gather_columns(tile_block *b, int32_t total,
                                                      const tile_room *room, tile_row *row)
{
  const tile_job *job = b->job;
  const float reach_sq = (float)job->reach * (float)job->reach;
  for (int32_t base = 0; base < total; base += TILE_ROWS) {
    const int32_t c = base + (int32_t)threadIdx.x;
    bool kept = false;
    float4 q;
    if (c < total) {
      int column = 0;
      for (int step = TILE_ROWS / 2; step > 0; step /= 2)
        if (b->store->end[column + step - 1] <= c) column += step;
      const state4 s = job->sorted[c + b->store->begin[column]];
      q = make_float4((float)(s.x - b->origin.x), (float)(s.y - b->origin.y),
                      (float)(s.z - b->origin.z), __int_as_float(candidate_index(s)));
      for (int k = 0; k < b->n_boxes; k++)
        kept = kept || outside_sq(&b->store->box[k], q.x, q.y, q.z) < reach_sq;
    }
    int32_t all;
    const int32_t before = block_scan(b, kept, &all);
    if (b->m + all > job->capacity - FAR_ENTRIES) close_pass(b, room, row);
    if (kept) {
      const int32_t at = b->m + before;
      b->halo[at] = q;
      if (b->pass < job->passes)
        job->halo[((int64_t)blockIdx.x * job->passes + b->pass) * job->capacity + at] =
            __float_as_int(q.w);
    }
    b->m += all;
  }
}

/* All candidates of the tile, 256 columns of bins at a time. */
static __device__ __forceinline__ void gather_halo(tile_block *b, const tile_room *room,
                                                   tile_row *row)
{
  const tile_columns c = columns_of(b);
  const int32_t columns = c.ni * c.nj; /* fewer than bins, which fit */
  for (int32_t first = 0; first < columns; first += TILE_ROWS) {
    const int32_t k = first + (int32_t)threadIdx.x;
    int32_t begin = 0, length = 0, total;
    if (k < columns) length = column_at(b, c.i0 + k / c.nj, c.j0 + k % c.nj, &begin);
    const int32_t before = block_scan(b, length, &total);
    b->store->end[threadIdx.x] = before + length;
    b->store->begin[threadIdx.x] = begin - before;
    __syncthreads();
    gather_columns(b, total, room, row);
    __syncthreads();
  }
  close_pass(b, room, row);
}

#endif
