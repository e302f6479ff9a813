/* neighbor/tiles/tile_halo_gpu.h - the halo of one tile: one block of 256 threads a tile.
 *
 * The block gathers what lies within r_list of the boxes around its warps' atoms into shared
 * memory, column of bins by column, and writes down whose positions they are; each warp then tests
 * those near its own boxes (tile_tests_gpu.h) and writes the rows of its atoms (tile_rows_gpu.h).
 * A halo that does not fit is worked off in passes.  Threads take candidates in turn and keep their
 * order, so that the same atoms give the same halo. */
#ifndef TILE_HALO_GPU_H
#define TILE_HALO_GPU_H

#include "neighbor/tiles/tile_boxes_gpu.h"

enum { FAR_ENTRIES = 32, GATHERED = 2 /* candidates of a thread at once */ };

static __device__ __forceinline__ void put_entry(const tile_room *room, int32_t at, uint4 entry,
                                                 int32_t index)
{
  room->halo[at] = entry;
  room->index[at] = index;
}

/* Sum of the warps before this one, each with its own value; *total gets the sum of all. */
static __device__ __forceinline__ int32_t sum_warps(tile_block *b, int32_t value, int warp,
                                                    int32_t *total)
{
  const int lane = threadIdx.x % MD_WARP;
  int32_t *sum = b->store->sum[b->turn];
  b->turn ^= 1;
  if (lane == 0) sum[warp] = value;
  __syncthreads();
  const int32_t one = lane < TILE_WARPS ? sum[lane] : 0;
  *total = __reduce_add_sync(MD_ALL_LANES, one);
  return __reduce_add_sync(MD_ALL_LANES, lane < warp ? one : 0);
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
  const float unit = b->inv_reach, reach = (float)b->job->reach;
  const float half_x = (float)g->side[0] / 2 * unit, half_y = (float)g->side[1] / 2 * unit;
  const float x = (float)(g->lo[0] + i * g->side[0] - b->origin.x) * unit + half_x;
  const float y = (float)(g->lo[1] + j * g->side[1] - b->origin.y) * unit + half_y;
  float lo = INFINITY, hi = -INFINITY;
  for (int k = 0; k < b->n_boxes; k++) {
    const tile_box *box = &b->store->box[k];
    const float dx = fmaxf(fabsf(x - box->x) - box->half_x - half_x, 0);
    const float dy = fmaxf(fabsf(y - box->y) - box->half_y - half_y, 0);
    const float rest = 1 - dx * dx - dy * dy;
    if (!(rest > 0)) continue;
    lo = fminf(lo, box->z - box->half_z - sqrtf(rest));
    hi = fmaxf(hi, box->z + box->half_z + sqrtf(rest));
  }
  if (!(lo <= hi)) return 0;
  const int64_t column = ((int64_t)i * g->n[1] + j) * g->n[2];
  *begin = b->job->bin_start[column + bin_along(g, 2, b->origin.z + lo * reach)];
  return b->job->bin_start[column + bin_along(g, 2, b->origin.z + hi * reach) + 1] - *begin;
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
          (neighbor_piece){start, b->m, {}};
  }
  const int32_t end = b->m + (int32_t)threadIdx.x;
  if (threadIdx.x < FAR_ENTRIES) put_entry(b->room, end, far_entry(), ABSENT);
  if (threadIdx.x < TILE_NEAR_END) b->room->near[near_at(job, end)] = 0;
}

/* The atoms of the pass's halo to where there is room, behind take_halo; and the last of them. */
static __device__ __forceinline__ void write_halo(const tile_block *b)
{
  const tile_job *job = b->job;
  const int64_t start = b->store->halo;
  int32_t last = 0;
  if (start + b->m > job->room.halo || b->pass >= job->room.passes) return;
  for (int32_t e = (int32_t)threadIdx.x; e < b->m; e += TILE_ROWS) {
    const int32_t index = b->room->index[e];
    job->halo[start + e] = index;
    last = max(last, index);
  }
  last = __reduce_max_sync(MD_ALL_LANES, last);
  if (threadIdx.x % MD_WARP == 0)
    atomicMax(&job->halos[(int64_t)blockIdx.x * job->room.passes + b->pass].last, last);
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
  int column = b->store->column[c >> b->step];
  while (b->store->end[column] <= c)
    column++;
  return c + b->store->begin[column];
}

/* The warps whose reach a place lies in, each a bit. */
static __device__ __forceinline__ void find_near(const tile_block *b, const float3 at[GATHERED],
                                                 unsigned near[GATHERED])
{
#pragma unroll
  for (int u = 0; u < GATHERED; u++)
    near[u] = 0;
  for (int k = 0; k < b->n_boxes; k++) {
    const tile_box box = b->store->box[k];
#pragma unroll
    for (int u = 0; u < GATHERED; u++)
      if (reaches(&box, at[u], b->inv_reach)) near[u] |= box.warp;
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

/* Of `total` candidates in the columns at hand, append to the halo those within reach of a warp,
 * from `base` on; returns where the halo is full, or total.  The next ones are on their way
 * meanwhile. */
static __device__ __forceinline__ int32_t gather_columns(tile_block *b, int32_t total, int32_t base)
{
  const tile_job *job = b->job;
  const int32_t last = total - 1;
  const int32_t t = (int32_t)(threadIdx.x / MD_WARP * GATHERED * MD_WARP + threadIdx.x % MD_WARP);
  if (total == 0) return total;
  state4 next[GATHERED];
  int32_t next_index[GATHERED];
#pragma unroll
  for (int u = 0; u < GATHERED; u++) {
    const int32_t c = candidate_at(b, min(base + t + u * MD_WARP, last));
    next[u] = job->sorted[c], next_index[u] = job->sorted_index[c];
  }
  for (; base < total; base += GATHERED * TILE_ROWS) {
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
    if (b->m + all > job->room.capacity - FAR_ENTRIES) return base;
#pragma unroll
    for (int u = 0; u < GATHERED; u++)
      if (near[u]) {
        const tile_point p = split_point(at[u].x, at[u].y, at[u].z, job->inv_r);
        put_entry(b->room, b->m + before[u], entry_of(&p), index[u]);
        b->room->near[near_at(job, b->m + before[u])] = (uint8_t)near[u];
        note_self(b, index[u], b->m + before[u]);
      }
    b->m += all;
  }
  return total;
}

/* Candidates of the next 256 columns of bins, from `first` of `columns` on: all of them; where
 * columns end and begin to store->end and begin, to store->column[s] that of candidate s 2^step.
 * Such steps are 32, or longer where 256 of them were too few. */
static __device__ __forceinline__ int32_t find_columns(tile_block *b, const tile_columns *c,
                                                       int32_t first)
{
  const int32_t columns = c->ni * c->nj, k = first + (int32_t)threadIdx.x;
  int32_t begin = 0, length = 0, total;
  if (k < columns) length = column_at(b, c->i0 + k / c->nj, c->j0 + k % c->nj, &begin);
  const int32_t before = block_scan(b, length, &total), end = before + length;
  b->store->end[threadIdx.x] = end;
  b->store->begin[threadIdx.x] = begin - before;
  b->step = 5;
  while ((total - 1) >> b->step >= TILE_ROWS)
    b->step++;
  for (int32_t s = (before + (1 << b->step) - 1) >> b->step; s << b->step < end; s++)
    b->store->column[s] = (uint8_t)threadIdx.x;
  __syncthreads();
  return total;
}

/* All candidates of the tile, 256 columns of bins at a time. */
static __device__ __forceinline__ void gather_halo(tile_block *b, tile_row *row)
{
  const tile_columns c = columns_of(b);
  const int32_t columns = c.ni * c.nj; /* fewer than bins, which fit */
  int32_t first = 0, base = 0, total = 0;
  do {
    for (; first < columns; first += TILE_ROWS, base = total = 0) {
      if (base == total) total = find_columns(b, &c, first), base = 0;
      base = gather_columns(b, total, base);
      if (base < total) break;
      __syncthreads();
    }
    close_pass(b, row);
  } while (first < columns);
}

#endif
