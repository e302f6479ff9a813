/* stokes/pairs/search_gpu.h - a warp finds the spheres near one, and puts their numbers in order.
 *
 * Each lane has one of the runs of cells around the sphere (stokes/pairs/search.h), and the spheres
 * of all runs are gone through as if they were one list, 32 at a time, so that no lane waits for a
 * longer run. */
#ifndef STOKES_SEARCH_GPU_H
#define STOKES_SEARCH_GPU_H

#include "stokes/pairs/search.h"
#include "stokes/pairs/shrunk_gpu.h"

/* Of a row that a lane can put in order. */
enum { SEARCH_ITEMS = 16 };

typedef struct {
  int64_t n;
  const double *x;
  const int32_t *cell_start, *order;
  const uint4 *small; /* by cell, as in order */
  shrunk_law law;
  search_grid grid;
} search_job;

/* A lane's run of cells: `count` spheres from `first` on, but that those from `before` on lie
 * `jump` farther, as the run goes on around the box.  end: spheres of the runs of all lanes up to
 * this. */
typedef struct {
  int first, before, jump, count, end;
} search_lane;

/* Cells lo..hi along each axis that a sphere can reach, an axis a lane. */
static __device__ __forceinline__ void window_of(const search_job *job, const search_class *c,
                                                 int64_t i, int32_t *lo, int32_t *hi)
{
  const int d = threadIdx.x % MD_WARP % 3;
  const double reach = job->grid.scale * (job->x[4 * i + 3] + c->radius) + job->grid.skin;
  int32_t low, high;
  search_range(job->x[4 * i + d], reach, job->grid.box[d], c->cells[d], &low, &high);
  for (int a = 0; a < 3; a++) {
    lo[a] = __shfl_sync(MD_ALL_LANES, low, a);
    hi[a] = __shfl_sync(MD_ALL_LANES, high, a);
  }
}

/* Run r of a window, empty beyond the last; runs go along the last axis. */
static __device__ __forceinline__ search_lane run_of(const search_job *job, const search_class *c,
                                                     const int32_t *lo, const int32_t *hi, int r)
{
  const int tall = hi[1] - lo[1] + 1, u = lo[0] + r / tall, v = lo[1] + r % tall;
  search_lane run = {};
  if (u <= hi[0]) {
    const int32_t *start = job->cell_start + c->first +
                           (u % c->cells[0] * c->cells[1] + v % c->cells[1]) * c->cells[2];
    const int32_t around = hi[2] - c->cells[2]; /* last cell around the box, if there is one */
    const int32_t end = start[(around < 0 ? hi[2] : c->cells[2] - 1) + 1];
    run.first = start[lo[2]];
    run.before = end - run.first;
    run.jump = start[0] - end;
    run.count = run.before + (around < 0 ? 0 : start[around + 1] - start[0]);
  }
  run.end = run.count;
  for (int step = 1; step < MD_WARP; step *= 2) {
    const int other = __shfl_up_sync(MD_ALL_LANES, run.end, step);
    if ((int)threadIdx.x % MD_WARP >= step) run.end += other;
  }
  return run;
}

/* Where number e of the spheres of all runs lies. */
static __device__ __forceinline__ int place_of(const search_lane *run, int e)
{
  int lane = 0;
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    if (__shfl_sync(MD_ALL_LANES, run->end, lane + step - 1) <= e) lane += step;
  const int begin = __shfl_sync(MD_ALL_LANES, run->end - run->count, lane);
  const int first = __shfl_sync(MD_ALL_LANES, run->first, lane);
  const int before = __shfl_sync(MD_ALL_LANES, run->before, lane);
  const int jump = __shfl_sync(MD_ALL_LANES, run->jump, lane);
  const int k = e - begin;
  return first + k + (k < before ? 0 : jump);
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

/* Warp: the neighbours of sphere i, in any order, as far as there is room.  Returns how
 * many there are. */
static __device__ __forceinline__ int32_t search_warp(const search_job *job, int64_t i,
                                                      int32_t *stage, int room)
{
  const int lane = threadIdx.x % MD_WARP;
  const uint4 own = shrunk_sphere(job->grid.box, job->x + 4 * i);
  int32_t found = 0;
  for (int k = 0; k < job->grid.n_classes; k++) {
    const search_class *c = &job->grid.classes[k];
    if (!(c->radius > 0)) continue;
    int32_t lo[3], hi[3];
    window_of(job, c, i, lo, hi);
    const int runs = (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1);
    for (int r = 0; r < runs; r += MD_WARP) {
      const search_lane run = run_of(job, c, lo, hi, r + lane);
      const int total = __shfl_sync(MD_ALL_LANES, run.end, MD_WARP - 1);
      for (int e = 0; e < total; e += MD_WARP) {
        const int at = place_of(&run, e + lane);
        int32_t j = 0;
        bool near = false;
        if (e + lane < total) {
          j = job->order[at];
          near = is_near(job, i, own, at, j);
        }
        const unsigned all = __ballot_sync(MD_ALL_LANES, near);
        const int32_t to = found + __popc(all & ((1u << lane) - 1));
        if (near && to < room) stage[to] = j;
        found += __popc(all);
      }
    }
  }
  __syncwarp();
  return found;
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
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2)
#pragma unroll
      for (int r = 0; r < items; r++) {
        const bool up = ((lane * items + r) & size) == 0;
        if (stride >= items) {
          const int32_t other = __shfl_xor_sync(MD_ALL_LANES, v[r], stride / items);
          const bool least = up == ((lane * items & stride) == 0);
          v[r] = least ? min(v[r], other) : max(v[r], other);
        } else if (!(r & stride)) {
          const int32_t low = min(v[r], v[r + stride]), high = max(v[r], v[r + stride]);
          v[r] = up ? low : high;
          v[r + stride] = up ? high : low;
        }
      }
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
