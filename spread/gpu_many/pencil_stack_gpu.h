/* spread/gpu_many/pencil_stack_gpu.h - stacks of pencils and a warp's walk through them; for
 * interpolate_stacks.single.cu.
 *
 * A stack is some pencils (pencil.h) side by side along the middle axis.  What its particles of one
 * plane reach of the next p is the patch of a window: lines of 16 points, the same of every plane.
 * A unit is a plane of a stack; particles lie unit by unit (sort_stacks.single.cu).  A block works
 * on a slice of them, such that slices are of equal work whatever units hold.
 *
 * Warps of a block do different work on the same windows; each walks by itself, from stop to stop:
 * units of the slice that have particles.  Windows are ranges of planes in the order in which they
 * are loaded: `base` is the number of a window's first one. */
#ifndef STACK_GPU_H
#define STACK_GPU_H

#include "spread/gpu/pair_gpu.h"

/* Pencils of a stack, and lines of its patch, at most. */
#define STACK_PENCILS(p) ((p) <= 3 ? 2 : (p) <= 5 ? 3 : (p) == 6 ? 4 : (p) <= 8 ? 1 : 2)
#define STACK_ROWS(p) (STACK_PENCILS(p) * (PENCIL_HEIGHT(p) - (p) + 1))
#define STACK_LINES(p) (STACK_ROWS(p) + (p)-1)
enum { STACK_LINES_MAX = 24 };

/* The mesh in stacks. */
typedef struct {
  spread_pencils pencils;
  int32_t planes, most; /* pencils of a stack, at most */
  int32_t bands, units; /* stacks along the middle axis; units in all */
} stack_grid;

static inline stack_grid stacks_of(const spread_plan *plan)
{
  const spread_pencils *pencils = &plan->pencils;
  const int32_t planes = plan->grid.mesh[0], most = STACK_PENCILS(plan->grid.order);
  const int32_t bands = (pencils->n[0] + most - 1) / most;
  return (stack_grid){*pencils, planes, most, bands, bands * pencils->n[1] * planes};
}

/* Along the middle axis, the first pencil of a band of stacks, which are as equal as can be; and
 * the band of a pencil. */
static __device__ __forceinline__ int32_t first_pencil(const stack_grid &g, int32_t band)
{
  return (int32_t)((int64_t)band * g.pencils.n[0] / g.bands);
}
static __device__ __forceinline__ int32_t band_of(const stack_grid &g, int32_t pencil)
{
  return (int32_t)(((int64_t)(pencil + 1) * g.bands - 1) / g.pencils.n[0]);
}

/* What a launch reads and writes. */
typedef struct {
  const pencil_particle *particle;
  const int32_t *start; /* as SPREAD_STACKS */
  stack_grid grid;
  int32_t mesh[3], n;
  const real *from;
  int64_t points;
  real *value; /* [particle][row] */
  int32_t row; /* values that a particle has, at least those of the launch */
} reading;

/* Particles from particle[0] to before particle[1], which are of units unit[0] to unit[1]. */
typedef struct {
  int32_t unit[2], particle[2];
} slice;

/* The first particle of a unit; of one beyond the last, the end. */
static __device__ __forceinline__ int32_t first_of(const reading &s, int32_t unit)
{
  return s.start[(int64_t)min(unit, s.grid.units) * s.grid.most];
}

/* Warp: where work up to `goal` ends; a unit is as much as so many particles. */
enum { UNIT_WORK = 64 };
static __device__ __forceinline__ void find_end(const reading &s, int64_t goal, int32_t *unit,
                                                int32_t *particle)
{
  int32_t low = 0, high = s.grid.units; /* goal lies in units low .. high */
#pragma unroll 1
  while (low < high) {
    const int32_t step = (high - low + MD_WARP - 1) / MD_WARP,
                  probe = low + (warp_lane() + 1) * step;
    const bool less = probe <= high && first_of(s, probe) + (int64_t)UNIT_WORK * probe <= goal;
    const int passed = __popc(__ballot_sync(MD_ALL_LANES, less));
    low += passed * step;
    high = min(high, low + step - 1);
  }
  const int32_t before = first_of(s, low);
  const int64_t rest = goal - before - (int64_t)UNIT_WORK * low;
  *unit = low;
  *particle = before + (int32_t)min(rest, (int64_t)(first_of(s, low + 1) - before)) / BATCH * BATCH;
}

/* Where a walk stands: of lane l, unit window + l, its particles in the slice and the number of its
 * window, and how many batches it and those before have.  left: lanes of stops that are still
 * ahead; last: the last stop of all that were looked at. */
typedef struct {
  slice of;
  int32_t window, begin, end, base, batches, last;
  uint32_t left;
} stack_walk;

static __device__ __forceinline__ stack_walk begin_walk(const int p, const slice &of)
{
  stack_walk at = {};
  at.of = of;
  at.window = of.unit[0] - MD_WARP;
  at.base = -p;
  at.last = INT32_MIN / 2;
  return at;
}

/* Of the last unit that was looked at, and those before. */
static __device__ __forceinline__ int32_t last_base(const stack_walk &at)
{
  return __shfl_sync(MD_ALL_LANES, at.base, MD_WARP - 1);
}
static __device__ __forceinline__ int32_t all_batches(const stack_walk &at)
{
  return __shfl_sync(MD_ALL_LANES, at.batches, MD_WARP - 1);
}

/* Warp: on to the next units; false: there are none. */
static __device__ __forceinline__ bool look_ahead(const int p, const reading &s, stack_walk *at)
{
  if (at->window + MD_WARP > at->of.unit[1]) return false;
  at->window += MD_WARP;
  const int32_t unit = at->window + warp_lane();
  at->begin = min(max(first_of(s, unit), at->of.particle[0]), at->of.particle[1]);
  at->end = min(max(first_of(s, unit + 1), at->of.particle[0]), at->of.particle[1]);
  const int32_t count = at->end - at->begin;
  const uint32_t stops = __ballot_sync(MD_ALL_LANES, count > 0);
  const uint32_t before = stops & ((1u << warp_lane()) - 1);
  const int32_t gap = unit - (before ? at->window + 31 - __clz((int)before) : at->last);
  const bool shares = gap < p && gap <= unit % s.grid.planes; /* planes with the stop before */
  const int32_t step = count == 0 ? 0 : shares ? gap : p;
  at->base = last_base(*at) + inclusive_sum(step);
  at->batches = all_batches(*at) + inclusive_sum((count + BATCH - 1) / BATCH);
  if (stops) at->last = at->window + 31 - __clz((int)stops);
  at->left = stops;
  return true;
}

/* Warp: on to the next stop, whose window begins with number *base; false: there is none. */
static __device__ __forceinline__ bool walk_on(const int p, const reading &s, stack_walk *at,
                                               int32_t *unit, int32_t *base)
{
  while (!at->left)
    if (!look_ahead(p, s, at)) return false;
  const int lane = __ffs((int)at->left) - 1;
  at->left &= at->left - 1;
  *unit = at->window + lane;
  *base = __shfl_sync(MD_ALL_LANES, at->base, lane);
  return true;
}

/* Barriers in shared memory, whose phases end when all who have to have come by. */
static __device__ __forceinline__ uint32_t shared_at(const void *p)
{
  return (uint32_t)__cvta_generic_to_shared(p);
}
static __device__ __forceinline__ void barrier_make(uint64_t *barrier, int count)
{
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_at(barrier)), "r"(count)
               : "memory");
}
/* Lane: come by, with all that it read and wrote. */
static __device__ __forceinline__ void barrier_come(uint64_t *barrier)
{
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_at(barrier)) : "memory");
}
enum { LONG_WAIT = 1000000 }; /* [ns], before it is asked again */
/* Until a phase has ended; it is the present one or the one before. */
static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, int32_t phase)
{
  uint32_t ended = 0;
  while (!ended)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(ended)
                 : "r"(shared_at(barrier)), "r"(phase & 1), "r"(LONG_WAIT)
                 : "memory");
}

#endif
