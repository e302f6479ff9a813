/* neighbor/tiles/tile_halo_gpu.h - the halo of one tile: one block of 256 threads a tile.
 *
 * The block gathers what lies within r_list of the boxes around its warps' atoms into shared
 * memory, column of bins by column, and writes down whose positions they are; each warp then tests
 * those near its own boxes (tile_tests_gpu.h) and writes the rows of its atoms (tile_rows_gpu.h).
 * A halo that does not fit is worked off in passes.  Threads take candidates in turn and keep their
 * order, so that the same atoms give the same halo. */
#ifndef TILE_HALO_GPU_H
#define TILE_HALO_GPU_H

#include "neighbor/tiles/tile_tests_gpu.h"

enum { FAR_ENTRIES = 32, MOST_BOXES = 4, GATHERED = 2 /* candidates of a thread at once */ };

typedef struct {
  state x, y, z;
} state3;

/* A box around atoms of a warp: centre and half edges; the bit of the warp. */
typedef struct {
  float x, y, z, half_x, half_y, half_z;
  uint32_t warp, unused;
} tile_box;

static __device__ __forceinline__ float outside_sq(const tile_box *box, float x, float y, float z)
{
  const float dx = fmaxf(fabsf(x - box->x) - box->half_x, 0);
  const float dy = fmaxf(fabsf(y - box->y) - box->half_y, 0);
  const float dz = fmaxf(fabsf(z - box->z) - box->half_z, 0);
  return dx * dx + dy * dy + dz * dz;
}

static __device__ __forceinline__ void put_entry(const tile_room *room, int32_t at, uint4 entry,
                                                 int32_t index, unsigned near)
{
  room->halo[at] = entry;
  room->index[at] = index;
  room->near[at] = (uint8_t)near;
}

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
  int32_t sum[2][TILE_WARPS];
  int64_t halo; /* where the pass at hand lies in job->halo */
} tile_store;

/* What the threads of a block agree on. */
typedef struct {
  const tile_job *job;
  tile_store *store;
  const tile_room *room;
  state3 origin;
  float lo[3], hi[3]; /* around all rows */
  int32_t n_boxes;    /* of all warps */
  int32_t m, pass;    /* entries of the halo, passes done */
  int32_t most;       /* in one pass */
  int turn;           /* which of store->sum comes next */
} tile_block;

/* Sum of the warps before this one, each with its own value; *total gets the sum of all. */
static __device__ __forceinline__ int32_t sum_warps(tile_block *b, int32_t value, int warp,
                                                    int32_t *total)
{
  int32_t before = 0;
  int32_t *sum = b->store->sum[b->turn];
  b->turn ^= 1;
  if (threadIdx.x % MD_WARP == 0) sum[warp] = value;
  __syncthreads();
  *total = 0;
  for (int w = 0; w < TILE_WARPS; w++) {
    if (w < warp) before += sum[w];
    *total += sum[w];
  }
  return before;
}

/* Exclusive sum over the block's threads; *total gets the sum of all.  Whole warps. */
static __device__ __forceinline__ int32_t block_scan(tile_block *b, int32_t value, int32_t *total)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  int32_t inclusive = value;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const int32_t other = __shfl_up_sync(MD_ALL_LANES, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  const int32_t all = __shfl_sync(MD_ALL_LANES, inclusive, MD_WARP - 1);
  return sum_warps(b, all, warp, total) + inclusive - value;
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
 * curve jumps, but at most MOST_BOXES. */
static __device__ __forceinline__ unsigned box_starts(float3 at, float reach)
{
  const float dx = at.x - __shfl_up_sync(MD_ALL_LANES, at.x, 1);
  const float dy = at.y - __shfl_up_sync(MD_ALL_LANES, at.y, 1);
  const float dz = at.z - __shfl_up_sync(MD_ALL_LANES, at.z, 1);
  const bool jumps = fmaxf(fabsf(dx), fmaxf(fabsf(dy), fabsf(dz))) > reach;
  unsigned starts = __ballot_sync(MD_ALL_LANES, jumps) | 1;
  while (__popc(starts) > MOST_BOXES)
    starts &= ~(0x80000000u >> __clz(starts));
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
    if (lane == 0)
      *box = (tile_box){(lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2,
                        (hi[0] - lo[0]) / 2, (hi[1] - lo[1]) / 2, (hi[2] - lo[2]) / 2,
                        1u << warp};
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
  tile_columns c;
  c.i0 = bin_along(g, 0, b->lo[0] - reach), c.j0 = bin_along(g, 1, b->lo[1] - reach);
  c.ni = bin_along(g, 0, b->hi[0] + reach) - c.i0 + 1;
  c.nj = bin_along(g, 1, b->hi[1] + reach) - c.j0 + 1;
  return c;
}

/* Candidates of one column of bins that may lie within reach of a box. */
static __device__ __forceinline__ int32_t column_at(const tile_block *b, int32_t i, int32_t j,
                                                    int32_t *begin)
{
  const bins *g = &b->job->grid;
  const float reach_sq = (float)b->job->reach * (float)b->job->reach;
  const float half_x = (float)g->side[0] / 2, half_y = (float)g->side[1] / 2;
  const float x = (float)(g->lo[0] + i * g->side[0] - b->origin.x) + half_x;
  const float y = (float)(g->lo[1] + j * g->side[1] - b->origin.y) + half_y;
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

/* Take room for the pass's halo, note it down, and add what stands behind it. */
static __device__ __forceinline__ void take_halo(tile_block *b)
{
  const tile_job *job = b->job;
  if (threadIdx.x == 0) {
    const int64_t start = (int64_t)atomicAdd(&job->result->halos, (unsigned long long)b->m);
    b->store->halo = start;
    if (start + b->m > job->room.halo || b->pass >= job->room.passes ||
        b->m + 2 * TILE_BANKS > job->room.most)
      job->result->unfit = 1;
    if (b->pass < job->room.passes)
      job->halos[(int64_t)blockIdx.x * job->room.passes + b->pass] =
          (neighbor_piece){start, b->m, 0};
  }
  if (threadIdx.x < FAR_ENTRIES)
    put_entry(b->room, b->m + (int32_t)threadIdx.x, far_entry(), ABSENT, 0);
}

/* The atoms of the pass's halo to where there is room. */
static __device__ __forceinline__ void write_halo(const tile_block *b)
{
  const int64_t start = b->store->halo;
  if (start + b->m > b->job->room.halo) return;
  for (int32_t e = (int32_t)threadIdx.x; e < b->m; e += TILE_ROWS)
    b->job->halo[start + e] = b->room->index[e];
}

/* Rows from the halo as it is; it begins anew. */
static __device__ __forceinline__ void close_pass(tile_block *b, tile_row *row)
{
  const tile_job *job = b->job;
  const int warp = threadIdx.x / MD_WARP;
  const uint32_t far = (b->m + TILE_BANKS - 1) / TILE_BANKS * TILE_BANKS * TILE_ENTRY;
  take_halo(b);
  __syncthreads();
  write_halo(b);
  row->last = -1;
  row->piece = b->pass < job->room.passes
                   ? ((int64_t)blockIdx.x * TILE_WARPS + warp) * job->room.passes + b->pass
                   : INT64_MAX;
  scan_halo(job, b->room, b->m, far, row);
  b->store->self[threadIdx.x] = UINT16_MAX;
  b->pass++;
  b->most = max(b->most, b->m);
  b->m = 0;
  __syncthreads();
}

/* Where a row finds its own atom. */
static __device__ __forceinline__ void note_self(const tile_block *b, int32_t index, int32_t at)
{
  const tile_job *job = b->job;
  if (index >= job->n) return;
  const uint32_t row =
      (uint32_t)((job->row_of ? job->row_of[index] : index) - (int32_t)blockIdx.x * TILE_ROWS);
  if (row < TILE_ROWS) b->store->self[row] = (uint16_t)(at * TILE_ENTRY);
}

/* Where candidate c of those in the columns at hand is among all. */
static __device__ __forceinline__ int32_t candidate_at(const tile_block *b, int32_t c)
{
  int column = 0;
  for (int step = TILE_ROWS / 2; step > 0; step /= 2)
    if (b->store->end[column + step - 1] <= c) column += step;
  return c + b->store->begin[column];
}

/* The warps whose reach a place lies in, each a bit. */
static __device__ __forceinline__ void find_near(const tile_block *b, const float3 at[GATHERED],
                                                 unsigned near[GATHERED])
{
  const float reach_sq = (float)b->job->reach * (float)b->job->reach;
#pragma unroll
  for (int u = 0; u < GATHERED; u++)
    near[u] = 0;
  for (int k = 0; k < b->n_boxes; k++) {
    const tile_box box = b->store->box[k];
#pragma unroll
    for (int u = 0; u < GATHERED; u++)
      if (outside_sq(&box, at[u].x, at[u].y, at[u].z) < reach_sq) near[u] |= box.warp;
  }
}

/* Exclusive sum over the block's threads of how many of near are not 0, in the order of warps and
 * then of u; *total gets the sum of all. */
static __device__ __forceinline__ void count_near(tile_block *b, const unsigned near[GATHERED],
                                                  int32_t before[GATHERED], int32_t *total)
{
  const int warp = threadIdx.x / MD_WARP, lane = threadIdx.x % MD_WARP;
  int32_t mine = 0;
#pragma unroll
  for (int u = 0; u < GATHERED; u++) {
    const unsigned all = __ballot_sync(MD_ALL_LANES, near[u] != 0);
    before[u] = mine + __popc(all & ((1u << lane) - 1));
    mine += __popc(all);
  }
  const int32_t first = sum_warps(b, mine, warp, total);
#pragma unroll
  for (int u = 0; u < GATHERED; u++)
    before[u] += first;
}

/* Of `total` candidates in the columns at hand, append to the halo those within reach of a warp;
 * the next ones are on their way meanwhile. */
static __device__ __forceinline__ void gather_columns(tile_block *b, int32_t total, tile_row *row)
{
  const tile_job *job = b->job;
  const int32_t last = total - 1;
  const int32_t t = (int32_t)(threadIdx.x / MD_WARP * GATHERED * MD_WARP + threadIdx.x % MD_WARP);
  if (total == 0) return;
  state4 next[GATHERED];
  int32_t next_index[GATHERED];
#pragma unroll
  for (int u = 0; u < GATHERED; u++) {
    const int32_t c = candidate_at(b, min(t + u * MD_WARP, last));
    next[u] = job->sorted[c], next_index[u] = job->sorted_index[c];
  }
  for (int32_t base = 0; base < total; base += GATHERED * TILE_ROWS) {
    float3 at[GATHERED];
    int32_t index[GATHERED], before[GATHERED], all;
    unsigned near[GATHERED];
#pragma unroll
    for (int u = 0; u < GATHERED; u++) {
      const state4 s = next[u];
      at[u] = make_float3((float)(s.x - b->origin.x), (float)(s.y - b->origin.y),
                          (float)(s.z - b->origin.z));
      index[u] = next_index[u];
      const int32_t c = candidate_at(b, min(base + GATHERED * TILE_ROWS + t + u * MD_WARP, last));
      next[u] = job->sorted[c], next_index[u] = job->sorted_index[c];
    }
    find_near(b, at, near);
#pragma unroll
    for (int u = 0; u < GATHERED; u++)
      if (base + t + u * MD_WARP > last) near[u] = 0;
    count_near(b, near, before, &all);
    if (b->m + all > job->room.capacity - FAR_ENTRIES) close_pass(b, row);
#pragma unroll
    for (int u = 0; u < GATHERED; u++)
      if (near[u]) {
        const tile_point p = split_point(at[u].x, at[u].y, at[u].z, job->inv_r);
        put_entry(b->room, b->m + before[u], entry_of(&p), index[u], near[u]);
        note_self(b, index[u], b->m + before[u]);
      }
    b->m += all;
  }
}

/* All candidates of the tile, 256 columns of bins at a time. */
static __device__ __forceinline__ void gather_halo(tile_block *b, tile_row *row)
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
    gather_columns(b, total, row);
    __syncthreads();
  }
  close_pass(b, row);
}

#endif
