/* neighbor/gpu/walk_gpu.h - a warp walks over everything near the 32 atoms of a slice of rows.
 *
 * The warp gathers what lies within r_list of the box around its atoms into shared memory, 128
 * candidates at a time, and each lane tests all of them against its own atom: 550 tests an atom for
 * 78 neighbours at density 0.8442 and r_list 2.8, but no divergence and no scattered reads.  Where
 * the 32 are scattered (random order, the end of a row of bins) it works in groups: the middle atom
 * of those left and all within 2 r_list of it.  The entries of a row are in the order of bins (i,
 * j, k; k innermost), within a bin in the order of atoms, whatever the groups were. */
#ifndef WALK_GPU_H
#define WALK_GPU_H

#include "neighbor/gpu/bins_gpu.h"
#include "neighbor/gpu/candidate_gpu.h"

#include <math.h>

enum { STAGE = 128, UNROLL = 8 };

typedef struct {
  unsigned long long entries;
  int32_t most; /* entries of the deepest row */
} build_result;

typedef struct {
  bins grid;
  int32_t n, slots; /* rows, entries that a row has room for */
  state r_sq;       /* r_list^2 */
  state reach;      /* r_list and what rounding may add */
  bool sphere;
  const state4 *x, *sorted;
  const int32_t *bin_start;
  int32_t *nbr, *count;
  int64_t *start;
  build_result *result;
} build_job;

/* What one lane knows of its row.  Entries go to to[0], to[32], ...: shared memory, or the list. */
typedef struct {
  state4 x;
  int32_t i;
  state r_sq;            /* r_list^2 while the row's group is at work, else negative */
  int32_t *to, at, lost; /* the next entry goes to to[at]; entries for which there was no room */
} build_row;

/* How an instance of the kernel works: for a half list; with rows too deep for shared memory. */
typedef struct {
  bool half, deep;
} build_mode;

typedef struct {
  state lo[3], hi[3];
} build_box;

static __device__ __forceinline__ void enclose(state x, bool inside, state *lo, state *hi)
{
  *lo = inside ? x : (state)INFINITY, *hi = inside ? x : (state)-INFINITY;
  for (int step = MD_WARP / 2; step > 0; step /= 2) {
    *lo = fmin(*lo, __shfl_xor_sync(MD_ALL_LANES, *lo, step));
    *hi = fmax(*hi, __shfl_xor_sync(MD_ALL_LANES, *hi, step));
  }
}

static __device__ __forceinline__ state outside(state x, state lo, state hi)
{
  return fmax((state)0, fmax(lo - x, x - hi));
}

static __device__ __forceinline__ bool is_near(const build_job *job, const build_box *box, state4 q)
{
  const state dx = outside(q.x, box->lo[0], box->hi[0]), dy = outside(q.y, box->lo[1], box->hi[1]),
              dz = outside(q.z, box->lo[2], box->hi[2]);
  return dx * dx + dy * dy + dz * dz < job->reach * job->reach && candidate_index(q) != ABSENT;
}

/* Bins (i, j, k0..k1) of one column that may hold something within reach of the box: candidates
 * *begin .. *begin + return value. */
static __device__ int32_t column_of(const build_job *job, const build_box *box, int32_t i,
                                    int32_t j, int32_t *begin)
{
  const bins *b = &job->grid;
  state rest = job->reach * job->reach;
  if (job->sphere) {
    const state li = b->lo[0] + i * b->side[0], lj = b->lo[1] + j * b->side[1];
    const state di = outside(li, box->lo[0] - b->side[0], box->hi[0]);
    const state dj = outside(lj, box->lo[1] - b->side[1], box->hi[1]);
    rest -= di * di + dj * dj;
  }
  if (!(rest > 0)) return 0;
  const state reach = sqrt(rest);
  const int64_t column = ((int64_t)i * b->n[1] + j) * b->n[2];
  *begin = job->bin_start[column + bin_along(b, 2, box->lo[2] - reach)];
  return job->bin_start[column + bin_along(b, 2, box->hi[2] + reach) + 1] - *begin;
}

/* Of two owned atoms the one with the larger index has the pair if their indices differ by an even
 * number, the other one else: rows come out equally long. */
static __device__ __forceinline__ bool is_wanted(const build_job *job, int32_t i, int32_t j,
                                                 build_mode mode)
{
  if (!mode.half) return j != i;
  return j >= job->n || (j > i) != ((j ^ i) & 1);
}

/* Test staged candidates, a multiple of UNROLL of them, against every lane's row.  Without a
 * branch: each is written where the next entry goes, which moves on if it was one.  Behind the
 * row's slots is room for UNROLL more. */
static __device__ __forceinline__ void test(const build_job *job, const state4 *stage, int staged,
                                            build_row *row, build_mode mode)
{
  const int32_t end = job->slots * MD_WARP;
  for (int c = 0; c < staged; c += UNROLL) {
    state4 q[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      q[u] = stage[c + u];
    const int32_t over = max(row->at - end, 0);
    row->at -= over, row->lost += over / MD_WARP;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      const state dx = row->x.x - q[u].x, dy = row->x.y - q[u].y, dz = row->x.z - q[u].z;
      const int32_t j = candidate_index(q[u]);
      const bool entry = dx * dx + dy * dy + dz * dz < row->r_sq && is_wanted(job, row->i, j, mode);
      if (!mode.deep || (entry && row->at < end)) row->to[row->at] = j;
      row->at += entry ? MD_WARP : 0;
    }
  }
}

/* Of `total` candidates in 32 columns, each lane holding where one begins (minus what lies in the
 * columns before it, `before`), stage those within reach of the box and test them. */
static __device__ __forceinline__ void sweep(const build_job *job, const build_box *box,
                                             int32_t before, int32_t begin, int32_t total,
                                             state4 *stage, build_row *row, build_mode mode)
{
  enum { LOADS = STAGE / MD_WARP };
  const int lane = threadIdx.x % MD_WARP;
  for (int32_t base = 0; base < total; base += STAGE) {
    state4 q[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const uint32_t t = min((uint32_t)(base + u * MD_WARP + lane), (uint32_t)(total - 1));
      int column = 0;
      for (int step = MD_WARP / 2; step > 0; step /= 2)
        if ((uint32_t)__shfl_sync(MD_ALL_LANES, before, column + step) <= t) column += step;
      q[u] = job->sorted[(int32_t)t + __shfl_sync(MD_ALL_LANES, begin, column)];
    }
    int staged = 0;
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      const bool kept = u * MD_WARP + lane < total - base && is_near(job, box, q[u]);
      const unsigned all = __ballot_sync(MD_ALL_LANES, kept);
      if (kept) stage[staged + __popc(all & ((1u << lane) - 1))] = q[u];
      staged += __popc(all);
    }
    if (lane < UNROLL) stage[staged + lane].x = INFINITY;
    __syncwarp();
    test(job, stage, staged, row, mode);
    __syncwarp();
  }
}

/* All candidates of one group, 32 columns of bins at a time; of several warps, which are the block,
 * each has its part of the columns. */
static __device__ __forceinline__ void visit(const build_job *job, const build_box *box,
                                             state4 *stage, build_row *row, build_mode mode)
{
  const int lane = threadIdx.x % MD_WARP;
  const int64_t part = threadIdx.x / MD_WARP, parts = blockDim.x / MD_WARP;
  const bins *b = &job->grid;
  const int32_t i0 = bin_along(b, 0, box->lo[0] - job->reach);
  const int32_t j0 = bin_along(b, 1, box->lo[1] - job->reach);
  const int32_t ni = bin_along(b, 0, box->hi[0] + job->reach) - i0 + 1;
  const int32_t nj = bin_along(b, 1, box->hi[1] + job->reach) - j0 + 1;
  const int32_t columns = ni * nj; /* fewer than bins, which fit */
  const int32_t end = (int32_t)(columns * (part + 1) / parts);
  for (int32_t first = (int32_t)(columns * part / parts); first < end; first += MD_WARP) {
    const int32_t c = first + lane;
    int32_t begin = 0, length = 0;
    if (c < end) length = column_of(job, box, i0 + c / nj, j0 + c % nj, &begin);
    int32_t inclusive = length;
    for (int step = 1; step < MD_WARP; step *= 2) {
      const int32_t other = __shfl_up_sync(MD_ALL_LANES, inclusive, step);
      if (lane >= step) inclusive += other;
    }
    const int32_t before = inclusive - length;
    const int32_t total = __shfl_sync(MD_ALL_LANES, inclusive, MD_WARP - 1);
    sweep(job, box, before, begin - before, total, stage, row, mode);
  }
}

/* Group by group, everything near those rows of a slice that are left. */
static __device__ __forceinline__ void walk(const build_job *job, unsigned left, state4 *stage,
                                            build_row *row, build_mode mode)
{
  const unsigned bit = 1u << threadIdx.x % MD_WARP;
  while (left) {
    const bool middle = left & bit && __popc(left & (bit - 1)) == __popc(left) / 2;
    const int leader = __ffs(__ballot_sync(MD_ALL_LANES, middle)) - 1;
    const state dx = row->x.x - __shfl_sync(MD_ALL_LANES, row->x.x, leader);
    const state dy = row->x.y - __shfl_sync(MD_ALL_LANES, row->x.y, leader);
    const state dz = row->x.z - __shfl_sync(MD_ALL_LANES, row->x.z, leader);
    const bool member = left & bit && fmax(fabs(dx), fmax(fabs(dy), fabs(dz))) <= 2 * job->reach;
    build_box box;
    enclose(row->x.x, member, &box.lo[0], &box.hi[0]);
    enclose(row->x.y, member, &box.lo[1], &box.hi[1]);
    enclose(row->x.z, member, &box.lo[2], &box.hi[2]);
    row->r_sq = member ? job->r_sq : -1;
    const unsigned group = __ballot_sync(MD_ALL_LANES, member);
    if (group) visit(job, &box, stage, row, mode);
    left &= ~(group | 1u << leader); /* a NaN is in no group, not even its own */
  }
}

#endif
