/* spread/gpu_many/pencil_stack_gpu.h - stacks of pencils and a warp's walk through them; for
 * interpolate_stacks.single.cu.
 *
 * A stack is some pencils (pencil.h) side by side along the middle axis.  What its particles of one
 * plane reach of the next p is the patch of a window: lines of 16 points, the same of every plane.
 * A unit is a plane of a stack.  A block works on a slice: particles of units that follow each
 * other, from some particle of the first to some of the last, so that slices are of equal work
 * whatever units hold.
 *
 * Warps of a block do different work on the same windows; each walks by itself, from stop to stop:
 * units of the slice that have particles.  Windows are ranges of planes in the order in which they
 * are loaded: `base` is the number of a window's first one. */
#ifndef STACK_GPU_H
#define STACK_GPU_H

#include "spread/gpu/pair_gpu.h"

/* Pencils of a stack, and lines of its patch, at most. */
#define STACK_PENCILS(p)                                                                           \
  ((p) <= 2 ? 2 : (p) <= 4 ? 3 : (p) == 5 ? 4 : (p) == 6 ? 5 : (p) <= 8 ? 1 : 2)
#define STACK_ROWS(p) (STACK_PENCILS(p) * (PENCIL_HEIGHT(p) - (p) + 1))
#define STACK_LINES(p) (STACK_ROWS(p) + (p)-1)
enum { STACK_LINES_MAX = 24 };

enum { SEGMENTS = 8, AHEAD = MD_WARP / SEGMENTS };

/* What a launch reads and writes. */
typedef struct {
  const pencil_particle *particle;
  const int32_t *start; /* first particle of each plane of a pencil */
  spread_pencils pencils;
  int32_t mesh[3], n;
  int32_t bands, units; /* stacks along the middle axis; units in all */
  const real *from;
  int64_t points;
  real *value; /* [particle][row] */
  int32_t row; /* values that a particle has, at least those of the launch */
} reading;

/* From particle `skip[0]` of unit[0] to before `skip[1]` of unit[1]. */
typedef struct {
  int32_t unit[2], skip[2];
} slice;

/* Along the middle axis, the first pencil of a band of stacks, which are as equal as can be. */
static __device__ __forceinline__ int32_t first_pencil(const reading &s, int32_t band)
{
  return (int32_t)((int64_t)band * s.pencils.n[0] / s.bands);
}

/* How many particles come before those of a unit. */
static __device__ __forceinline__ int32_t count_before(const int p, const reading &s, int32_t unit)
{
  const int32_t planes = s.mesh[0], stack = unit / planes, across = s.pencils.n[1];
  const int32_t band = stack / across, begin = first_pencil(s, band);
  const int32_t end = first_pencil(s, band + 1);
  if (unit >= s.units) return s.n;
  int32_t before = s.start[(int64_t)begin * across * planes];
  SPREAD_UNROLL
  for (int k = 0; k < STACK_PENCILS(p); k++) {
    if (begin + k >= end) continue;
    const int32_t *row = s.start + (int64_t)(begin + k) * across * planes;
    before += row[(int64_t)(stack % across) * planes + unit % planes] - row[0];
  }
  return before;
}

/* Warp: where work up to `goal` ends; a unit is as much as so many particles. */
enum { UNIT_WORK = 64 };
static __device__ __forceinline__ void find_end(const int p, const reading &s, int64_t goal,
                                                int32_t *unit, int32_t *skip)
{
  int32_t low = 0, high = s.units; /* goal lies in units low .. high */
#pragma unroll 1
  while (low < high) {
    const int32_t step = (high - low + MD_WARP - 1) / MD_WARP,
                  probe = low + (warp_lane() + 1) * step;
    const bool less =
        probe <= high && count_before(p, s, probe) + (int64_t)UNIT_WORK * probe <= goal;
    const int passed = __popc(__ballot_sync(MD_ALL_LANES, less));
    low += passed * step;
    high = min(high, low + step - 1);
  }
  const int32_t before = count_before(p, s, low);
  *unit = low;
  *skip = low == s.units ? 0
                         : (int32_t)min(goal - before - (int64_t)UNIT_WORK * low,
                                        (int64_t)(count_before(p, s, low + 1) - before)) /
                               BATCH * BATCH;
}

/* Where a walk stands.  Of lane 8 k + i, segment i, pencil i of the stack in plane window + k:
 * particle x of the unit is first + x in that segment, if x < inclusive and not in one before;
 * begin, end: of plane window + k + AHEAD. */
typedef struct {
  slice of;
  const int32_t *start; /* of planes of the lane's pencil, or NULL */
  int32_t stack, plane, window;
  int32_t first, inclusive, begin, end;
  int32_t base, step; /* step: planes that the window moved on last */
  int32_t low, high;  /* particles of the stop */
} stack_walk;

/* Warp: into a stack, or beyond the last; whether it has particles. */
static __device__ __forceinline__ bool enter_stack(const reading &s, int32_t stack, stack_walk *at)
{
  const int32_t across = s.pencils.n[1], band = stack / across, x = stack - band * across;
  const int32_t row = first_pencil(s, band) + warp_lane() % SEGMENTS;
  const bool mine = row < min(first_pencil(s, band + 1), s.pencils.n[0]);
  at->stack = stack;
  at->window = INT32_MIN / 2;
  at->start = mine ? s.start + (int64_t)(row * across + x) * s.mesh[0] : NULL;
  return __any_sync(MD_ALL_LANES, mine && at->start[s.mesh[0]] > at->start[0]);
}

/* Lane: ask for its segment of planes from `plane` on. */
static __device__ __forceinline__ void ask_for_segment(const reading &s, int32_t plane,
                                                       stack_walk *at)
{
  const int32_t mine = plane + warp_lane() / SEGMENTS;
  at->begin = at->end = 0;
  if (!at->start || mine >= s.mesh[0]) return;
  at->begin = at->start[mine];
  at->end = at->start[mine + 1];
}

/* Look at the planes asked for, which begin with `plane`, and ask for the next ones. */
static __device__ __forceinline__ void look_ahead(const reading &s, int32_t plane, stack_walk *at)
{
  const int32_t count = at->end - at->begin;
  int32_t inclusive = count;
  SPREAD_UNROLL
  for (int step = 1; step < SEGMENTS; step *= 2) {
    const int32_t other = __shfl_up_sync(MD_ALL_LANES, inclusive, step);
    if (warp_lane() % SEGMENTS >= step) inclusive += other;
  }
  at->inclusive = inclusive;
  at->first = at->begin - (inclusive - count);
  at->window = plane;
  ask_for_segment(s, plane + AHEAD, at);
}

static __device__ __forceinline__ stack_walk begin_walk(const int p, const reading &s,
                                                        const slice &of)
{
  stack_walk at = {};
  at.of = of;
  at.plane = of.unit[0] % s.mesh[0] - 1;
  enter_stack(s, of.unit[0] / s.mesh[0], &at);
  at.base = -p;
  return at;
}

/* Warp: on to the next stop; false: there is none. */
static __device__ __forceinline__ bool walk_on(const int p, const reading &s, stack_walk *at)
{
  const int32_t last = at->plane;
  bool same = at->base >= 0;
  for (at->step = 0;;) {
    if (++at->plane == s.mesh[0]) {
      const int32_t end = at->of.unit[1] / s.mesh[0];
      at->plane = 0;
      same = false;
      if (at->stack >= end) return false;
      while (!enter_stack(s, at->stack + 1, at) && at->stack < end) {
      }
    }
    const int32_t unit = at->stack * s.mesh[0] + at->plane;
    if (unit > at->of.unit[1] || unit == s.units) return false;
    if (at->plane - at->window >= AHEAD) {
      if (at->window < 0) ask_for_segment(s, at->plane, at);
      look_ahead(s, at->plane, at);
    }
    const int32_t lane = (at->plane - at->window) * SEGMENTS + SEGMENTS - 1;
    const int32_t total = __shfl_sync(MD_ALL_LANES, at->inclusive, lane);
    at->low = unit == at->of.unit[0] ? at->of.skip[0] : 0;
    at->high = unit == at->of.unit[1] ? at->of.skip[1] : total;
    if (at->low < at->high) break;
  }
  at->step = same && at->plane - last < p ? at->plane - last : p;
  at->base += at->step;
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
