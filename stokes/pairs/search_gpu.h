/* stokes/pairs/search_gpu.h - a warp finds the spheres near one, and puts their numbers in order.
 *
 * Each lane has one of the runs of cells around the sphere (stokes/pairs/search.h), no longer than
 * a ball is there, and the spheres of all runs are gone through as if they were one list, 32 at a
 * time, so that no lane waits for a longer run.  Windows and runs are worked out in single
 * precision from the shrunk sphere, and are wider by more than its errors. */
#ifndef STOKES_SEARCH_GPU_H
#define STOKES_SEARCH_GPU_H

#include "stokes/pairs/search.h"
#include "stokes/pairs/shrunk_gpu.h"

/* Of a row that a lane can put in order. */
enum { SEARCH_ITEMS = 16 };

/* A class, and how wide its cells are. */
typedef struct {
  float radius; /* 0: the class is empty */
  float width[3], inv_width[3];
  int32_t cells[3], first;
} search_cells_law;

typedef struct {
  int64_t n;
  const double *x;
  const int32_t *cell_start, *order;
  const uint4 *small, *own; /* by cell, as in order; as in x */
  shrunk_law law;
  float slack; /* of a window [cells] */
  search_cells_law class_law[SEARCH_CLASSES];
  search_grid grid;
} search_job;

/* Some spheres of a run of cells, for number k of those of all runs: the one at k + shift, or as
 * much farther as `jump` from k = `wrap` on, where the run goes on around the box. */
typedef struct __align__(16)
{
  int shift, wrap, jump;
}
search_piece;

/* A lane's run of cells: `count` spheres, up to `end` of those of all lanes' runs. */
typedef struct {
  int first, before, jump, count, end;
} search_lane;

/* Cells along an axis that a sphere reaches: lo..lo + more; where it is among them [cells], no
 * number where it reaches all of them. */
typedef struct {
  int32_t lo, more;
  float at;
} search_axis;

static __device__ __forceinline__ search_axis axis_of(uint32_t part, float reach, float slack,
                                                      float inv_width, int32_t cells)
{
  const uint32_t below = part * (uint32_t)cells; /* in units of 2^-32 cells */
  const float at = (float)below * (1 / 4294967296.0f);
  const float far = fminf(reach * inv_width * (1 + 1e-5f) + slack, (float)cells);
  const int32_t low = (int32_t)floorf(at - far), high = (int32_t)floorf(at + far);
  if (high - low + 1 > cells) return (search_axis){0, cells - 1, NAN};
  const int32_t lo = (int32_t)__umulhi(part, (uint32_t)cells) + low;
  return (search_axis){lo < 0 ? lo + cells : lo, high - low, at - (float)low};
}

/* How far a sphere is from cell k of an axis [cells]. */
static __device__ __forceinline__ float axis_gap(const search_axis *axis, int k)
{
  return fmaxf(fmaxf((float)k - axis->at, axis->at - (float)(k + 1)), 0);
}

/* Where cells lo..hi along the last axis lie, which may go on around the box. */
static __device__ __forceinline__ search_lane cells_of(const int32_t *start, int32_t cells,
                                                       int32_t lo, int32_t hi)
{
  search_lane run = {};
  const int32_t whole = lo >= cells ? cells : 0; /* all of them lie around the box */
  const int32_t around = hi - whole - cells;     /* last cell around the box, if there is one */
  const int32_t end = start[(around < 0 ? hi - whole : cells - 1) + 1];
  run.first = start[lo - whole];
  run.before = end - run.first;
  run.count = run.before;
  if (around >= 0) {
    const int32_t origin = start[0];
    run.jump = origin - end;
    run.count += start[around + 1] - origin;
  }
  return run;
}

/* Run r of a window, empty beyond the last; runs go along the last axis. */
static __device__ __forceinline__ search_lane run_of(const search_job *job,
                                                     const search_cells_law *c,
                                                     const search_axis *axis, float reach, int r)
{
  const int tall = axis[1].more + 1;
  const int a = (int)__fdividef((float)r + 0.5f, (float)tall), b = r - a * tall;
  const float x = axis_gap(&axis[0], a) * c->width[0], y = axis_gap(&axis[1], b) * c->width[1];
  const float more = 1e-5f * reach + 2 * job->slack * (c->width[0] + c->width[1]);
  const float left = reach * (reach + more) - x * x - y * y;
  search_lane run = {};
  if (a <= axis[0].more && left >= 0) {
    const float far =
        left * rsqrtf(fmaxf(left, 1e-30f)) * c->inv_width[2] * (1 + 1e-5f) + job->slack;
    const int32_t low = (int32_t)fmaxf(floorf(axis[2].at - far), 0);
    const int32_t high = (int32_t)fminf(floorf(axis[2].at + far), (float)axis[2].more);
    int32_t u = axis[0].lo + a, v = axis[1].lo + b;
    u -= u < c->cells[0] ? 0 : c->cells[0];
    v -= v < c->cells[1] ? 0 : c->cells[1];
    const int32_t *start = job->cell_start + c->first + (u * c->cells[1] + v) * c->cells[2];
    if (low <= high) run = cells_of(start, c->cells[2], axis[2].lo + low, axis[2].lo + high);
  }
  run.end = run.count;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const int other = __shfl_up_sync(MD_ALL_LANES, run.end, step);
    if ((int)threadIdx.x % MD_WARP >= step) run.end += other;
  }
  return run;
}

static __device__ __forceinline__ bool is_near(const search_job *job, int64_t i, uint4 own, int at,
                                               int32_t j)
{
  const int verdict = shrunk_judge(&job->law, own, job->small[at]);
  if (j == i || verdict >= 0) return j != i && verdict;
  const double *a = job->x + 4 * i, *b = job->x + 4 * (int64_t)j;
  const double reach = job->grid.scale * (a[3] + b[3]) + job->grid.skin;
  return search_distance_sq(job->grid.box, a, b) < reach * reach;
}

/* What a warp needs in shared memory: what it finds, and the runs that are not empty. */
enum { SEARCH_STAGE = MD_WARP * SEARCH_ITEMS };
typedef struct {
  int32_t stage[SEARCH_STAGE];
  search_piece piece[MD_WARP];
} search_space;

/* Warp: the neighbours of sphere i among those of the lanes' runs, behind `found` others. */
static __device__ __forceinline__ int32_t search_runs(const search_job *job, int64_t i, uint4 own,
                                                      const search_lane *run, int32_t found,
                                                      search_space *space)
{
  const int lane = threadIdx.x % MD_WARP, begin = run->end - run->count;
  const unsigned less = (1u << lane) - 1;
  const int total = __shfl_sync(MD_ALL_LANES, run->end, MD_WARP - 1);
  const unsigned filled = __ballot_sync(MD_ALL_LANES, run->count > 0);
  __syncwarp();
  if (run->count > 0)
    space->piece[__popc(filled & less)] =
        (search_piece){run->first - begin, begin + run->before, run->jump};
  __syncwarp();
  int begun = -1; /* the run of number e - 1 */
  for (int e = 0; e < total; e += MD_WARP) {
    const bool begins = run->count > 0 && begin >= e && begin < e + MD_WARP;
    const unsigned heads = __reduce_or_sync(MD_ALL_LANES, begins ? 1u << (begin - e) : 0);
    const search_piece piece = space->piece[begun + __popc(heads & (less * 2 + 1))];
    const int k = e + lane;
    begun += __popc(heads);
    int32_t j = 0;
    bool near = false;
    if (k < total) {
      const int at = k + piece.shift + (k < piece.wrap ? 0 : piece.jump);
      j = job->order[at];
      near = is_near(job, i, own, at, j);
    }
    const unsigned all = __ballot_sync(MD_ALL_LANES, near);
    const int32_t to = found + __popc(all & less);
    if (near && to < SEARCH_STAGE) space->stage[to] = j;
    found += __popc(all);
  }
  return found;
}

/* Warp: the neighbours of sphere i, in any order, as far as there is room.  Returns how
 * many there are. */
static __device__ __forceinline__ int32_t search_warp(const search_job *job, int64_t i,
                                                      search_space *space)
{
  const int lane = threadIdx.x % MD_WARP;
  const uint4 own = job->own[i];
  const float near = __uint_as_float(own.w);
  const float radius = isnan(near) ? (float)job->x[4 * i + 3] : near;
  int32_t found = 0;
  for (int k = 0; k < job->grid.n_classes; k++) {
    const search_cells_law *c = &job->class_law[k];
    if (!(c->radius > 0)) continue;
    const float reach = job->law.scale * (radius + c->radius) + job->law.skin;
    const search_axis axis[3] = {axis_of(own.x, reach, job->slack, c->inv_width[0], c->cells[0]),
                                 axis_of(own.y, reach, job->slack, c->inv_width[1], c->cells[1]),
                                 axis_of(own.z, reach, job->slack, c->inv_width[2], c->cells[2])};
    const int runs = (axis[0].more + 1) * (axis[1].more + 1);
    for (int r = 0; r < runs; r += MD_WARP) {
      const search_lane run = run_of(job, c, axis, reach, r + lane);
      found = search_runs(job, i, own, &run, found, space);
    }
  }
  __syncwarp();
  return found;
}

/* Lane: one of two numbers, which another lane has the other of. */
static __device__ __forceinline__ int32_t search_pick(bool least, int32_t a, int32_t b)
{
  return least ? min(a, b) : max(a, b);
}

static __device__ __forceinline__ void search_exchange(int32_t *low, int32_t *high)
{
  const int32_t least = min(*low, *high);
  *high = max(*low, *high);
  *low = least;
}

/* Warp: merge halves of `size` numbers, each ascending, of which a lane has `items`: the first step
 * compares what lies opposite, so that all are ascending. */
static __device__ __forceinline__ void merge_halves(const int items, const int size, int32_t *v)
{
  const int lane = threadIdx.x % MD_WARP, lanes = size / items;
  if (lanes > 1) {
    const bool least = !(lane & lanes / 2);
#pragma unroll
    for (int r = 0; r < (items + 1) / 2; r++) {
      const int32_t low = v[r], high = v[items - 1 - r];
      const int32_t from_high = __shfl_xor_sync(MD_ALL_LANES, high, lanes - 1);
      v[r] = search_pick(least, low, from_high);
      if (items > 1)
        v[items - 1 - r] = search_pick(least, high, __shfl_xor_sync(MD_ALL_LANES, low, lanes - 1));
    }
  } else {
#pragma unroll
    for (int r = 0; r < items; r++)
      if (!(r & size / 2)) search_exchange(&v[r], &v[r ^ (size - 1)]);
  }
#pragma unroll
  for (int stride = size / 4; stride > 0; stride /= 2) {
    const bool least = !(lane & stride / items);
#pragma unroll
    for (int r = 0; r < items; r++)
      if (stride >= items)
        v[r] = search_pick(least, v[r], __shfl_xor_sync(MD_ALL_LANES, v[r], stride / items));
      else if (!(r & stride))
        search_exchange(&v[r], &v[r + stride]);
  }
}

/* Warp: up to 32 `items` numbers in order, by a bitonic network; lane l has those from l items
 * on. */
static __device__ __forceinline__ void sort_items(const int items, int32_t *stage, int32_t count)
{
  const int lane = threadIdx.x % MD_WARP;
  int32_t v[SEARCH_ITEMS];
#pragma unroll
  for (int r = 0; r < items; r++)
    v[r] = r * MD_WARP + lane < count ? stage[r * MD_WARP + lane] : INT32_MAX;
#pragma unroll
  for (int size = 2; size <= MD_WARP * items; size *= 2)
    merge_halves(items, size, v);
  __syncwarp();
#pragma unroll
  for (int r = 0; r < items; r++)
    stage[lane * items + r] = v[r];
  __syncwarp();
}

static __device__ __forceinline__ void sort_row(int32_t *stage, int32_t count)
{
  if (count <= MD_WARP)
    sort_items(1, stage, count);
  else if (count <= 2 * MD_WARP)
    sort_items(2, stage, count);
  else if (count <= 4 * MD_WARP)
    sort_items(4, stage, count);
  else if (count <= 8 * MD_WARP)
    sort_items(8, stage, count);
  else
    sort_items(SEARCH_ITEMS, stage, count);
}

#endif
