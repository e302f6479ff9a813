/* stokes/pairs/curve_gpu.h - pair lists of spheres that follow a curve: a warp finds the spheres
 * near some that follow each other.
 *
 * Spheres that follow each other lie together, so that boxes around 32, 1024 and 32768 of them tell
 * where to look.  A warp goes down from the largest boxes to the spheres within reach of a box
 * around its own, in ascending order; which of them are near each of its own is found by
 * curve_marks_gpu.h.  Where a warp has no room for them, its rows are found one by one, to be
 * counted, and once more, to be written.
 *
 * Boxes and tests are worked out in single precision from shrunk spheres; where that cannot tell,
 * doubles decide. */
#ifndef STOKES_CURVE_GPU_H
#define STOKES_CURVE_GPU_H

#include "stokes/pairs/search.h"
#include "stokes/pairs/shrunk_gpu.h"

/* GROUP: spheres whose rows are written together; a warp finds those of 32, or of a group. */
enum { CURVE_GROUP = 8, CURVE_LEVELS = 3 };

/* Spheres that follow each other: the middle of a box around them and the largest radius, as of a
 * shrunk sphere; half the edges of the box [length]. */
typedef struct __align__(16)
{
  uint4 middle;
  float4 half;
}
curve_node;

typedef struct {
  int64_t n;
  const double *x;
  const uint4 *own;
  const curve_node *node[CURVE_LEVELS]; /* of 32, 1024, 32768 spheres */
  int count[CURVE_LEVELS];
  shrunk_law law;
  float largest; /* radius */
  double box[3], scale, skin;
} curve_job;

/* Least and greatest of a warp's boxes, from one origin. */
typedef struct {
  float low[3], high[3], radius;
} curve_span;

static __device__ __forceinline__ void curve_join(curve_span *s)
{
#pragma unroll
  for (int step = MD_WARP / 2; step > 0; step /= 2) {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      s->low[d] = fminf(s->low[d], __shfl_xor_sync(MD_ALL_LANES, s->low[d], step));
      s->high[d] = fmaxf(s->high[d], __shfl_xor_sync(MD_ALL_LANES, s->high[d], step));
    }
    s->radius = fmaxf(s->radius, __shfl_xor_sync(MD_ALL_LANES, s->radius, step));
  }
}

/* A box around all that is at `middle`, give or take `half`, one of a lane.  Wider by more than the
 * errors of single precision. */
static __device__ __forceinline__ curve_node curve_around(const float *unit, uint4 middle,
                                                          const float *half)
{
  const uint32_t part[3] = {middle.x, middle.y, middle.z};
  uint32_t origin[3];
  curve_span s;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    origin[d] = __shfl_sync(MD_ALL_LANES, part[d], 0);
    const float away = unit[d] * (float)(int32_t)(part[d] - origin[d]);
    s.low[d] = away - half[d];
    s.high[d] = away + half[d];
  }
  s.radius = __uint_as_float(middle.w);
  curve_join(&s);
  float wide[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const float far = fmaxf(-s.low[d], s.high[d]);
    const float shift = __fdividef(0.5f * (s.low[d] + s.high[d]), unit[d]);
    origin[d] += (uint32_t)(int64_t)rintf(shift);
    wide[d] = 0.5f * (s.high[d] - s.low[d]) * (1 + 2e-6f) + 4e-6f * far + 4 * unit[d];
  }
  return {make_uint4(origin[0], origin[1], origin[2], __float_as_uint(s.radius)),
          make_float4(wide[0], wide[1], wide[2], 0)};
}

/* What a warp looks for: spheres near a box. */
typedef struct {
  uint32_t middle[3];
  float half[3], radius;
} curve_box;

/* What it reaches, beside a sphere's own part; wider by more than the errors of single precision,
 * which are below 1e-5 of the square of the reach and a few units times the reach. */
typedef struct {
  float half[3], base, scale;
} curve_limit;

static __device__ __forceinline__ curve_limit curve_limit_of(const curve_job *job,
                                                             const curve_box *box)
{
  const shrunk_law *law = &job->law;
  const float wide = 1 + 1e-5f;
  return {{box->half[0], box->half[1], box->half[2]},
          wide * (law->scale * box->radius + law->skin + law->slack),
          wide * law->scale};
}

/* May one of the spheres of a node be near one in the box?  half: of the node. */
static __device__ __forceinline__ bool curve_may_reach(const curve_job *job, const curve_box *box,
                                                       const curve_limit *limit, uint4 middle,
                                                       float3 half)
{
  const uint32_t part[3] = {middle.x, middle.y, middle.z};
  const float wide[3] = {half.x, half.y, half.z};
  const float reach = limit->scale * __uint_as_float(middle.w) + limit->base;
  float beyond = -reach * reach;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const float away = job->law.unit[d] * (float)(int32_t)(part[d] - box->middle[d]);
    const float gap = fmaxf(fabsf(away) - (wide[d] + limit->half[d]), 0);
    beyond += gap * gap;
  }
  return beyond <= 0;
}

/* Where a warp is on its way through all nodes that the box may reach: what is left of 32 nodes of
 * each level, and the first of these. */
typedef struct {
  int first[CURVE_LEVELS];
  unsigned left[CURVE_LEVELS];
} curve_walk;

static __device__ __forceinline__ unsigned curve_look(const curve_job *job, const curve_box *box,
                                                      const curve_limit *limit, int level,
                                                      int first)
{
  const int k = first + (int)threadIdx.x % MD_WARP;
  bool near = false;
  if (k < job->count[level]) {
    const curve_node node = job->node[level][k];
    near = curve_may_reach(job, box, limit, node.middle,
                           make_float3(node.half.x, node.half.y, node.half.z));
  }
  return __ballot_sync(MD_ALL_LANES, near);
}

static __device__ __forceinline__ int curve_take(curve_walk *w, int level)
{
  const int bit = __ffs((int)w->left[level]) - 1;
  w->left[level] &= w->left[level] - 1;
  return w->first[level] + bit;
}

/* The next nodes of 32 spheres, of 32 nodes from first[0] on; 0 at the end.  Begins with first[2] =
 * -MD_WARP, all else 0. */
static __device__ __forceinline__ unsigned curve_next(const curve_job *job, const curve_box *box,
                                                      const curve_limit *limit, curve_walk *w)
{
  do {
    while (!w->left[1]) {
      while (!w->left[2]) {
        if (w->first[2] + MD_WARP >= job->count[2]) return 0;
        w->first[2] += MD_WARP;
        w->left[2] = curve_look(job, box, limit, 2, w->first[2]);
      }
      w->first[1] = curve_take(w, 2) * MD_WARP;
      w->left[1] = curve_look(job, box, limit, 1, w->first[1]);
    }
    w->first[0] = curve_take(w, 1) * MD_WARP;
    w->left[0] = curve_look(job, box, limit, 0, w->first[0]);
  } while (!w->left[0]);
  return w->left[0];
}

static __device__ __forceinline__ bool curve_is_near(const curve_job *job, int64_t i, int64_t j)
{
  const double *a = job->x + 4 * i, *b = job->x + 4 * j;
  const double reach = job->scale * (a[3] + b[3]) + job->skin;
  return j != i && search_distance_sq(job->box, a, b) < reach * reach;
}

/* Is sphere j, shrunk to b, near sphere i, shrunk to a? */
static __device__ __forceinline__ bool curve_judge(const curve_job *job, int64_t i, uint4 a,
                                                   int64_t j, uint4 b)
{
  const int verdict = shrunk_judge(&job->law, a, b);
  return verdict < 0 ? curve_is_near(job, i, j) : j != i && verdict;
}

/* Warp: the spheres that the box may reach, or those near sphere `row` if that is not -1 (a
 * constant where this is inlined), ascending.  Stores up to `room` of them, and may stop beyond;
 * returns how many there are. */
static __device__ __forceinline__ int curve_find(const curve_job *job, const curve_box *box,
                                                 int64_t row, uint4 own, int room, int32_t *out)
{
  const int lane = threadIdx.x % MD_WARP, last = (int)job->n - 1;
  const unsigned before = (1u << lane) - 1;
  const curve_limit limit = curve_limit_of(job, box);
  curve_walk walk = {{0, 0, -MD_WARP}, {0, 0, 0}};
  int found = 0;
  while (unsigned left = curve_next(job, box, &limit, &walk)) {
    const int first = walk.first[0] * MD_WARP + lane;
    int j = first + (__ffs((int)left) - 1) * MD_WARP;
    uint4 b = job->own[min(j, last)];
    do {
      left &= left - 1;
      const int j_next = left ? first + (__ffs((int)left) - 1) * MD_WARP : j;
      const uint4 b_next = job->own[min(j_next, last)]; /* while the one before is tested */
      const bool near =
          row >= 0 ? j <= last && curve_judge(job, row, own, j, b)
                   : curve_may_reach(job, box, &limit, b, make_float3(0, 0, 0)) && j <= last;
      const unsigned all = __ballot_sync(MD_ALL_LANES, near);
      const int to = found + __popc(all & before);
      if (near && to < room) out[to] = j;
      found += __popc(all);
      j = j_next, b = b_next;
    } while (left);
    if (row < 0 && found > room) break;
  }
  return found;
}

/* Warp: row i, stored where `out` is not NULL; returns its length. */
static __device__ __noinline__ int curve_row(const curve_job *job, int64_t i, int32_t *out)
{
  const uint4 own = job->own[i];
  const curve_box box = {{own.x, own.y, own.z}, {0, 0, 0}, __uint_as_float(own.w)};
  return curve_find(job, &box, i, own, out ? INT32_MAX : 0, out);
}

/* A box around the warp's spheres, each lane's one of them. */
static __device__ __forceinline__ curve_box curve_box_of(const curve_job *job, uint4 own)
{
  const float none[3] = {0, 0, 0};
  const curve_node all = curve_around(job->law.unit, own, none);
  return {{all.middle.x, all.middle.y, all.middle.z},
          {all.half.x, all.half.y, all.half.z},
          __uint_as_float(all.middle.w)};
}

/* The farthest that a sphere near one in the box is from it, along an axis. */
static __device__ __forceinline__ float curve_reach(const curve_job *job, const curve_box *box)
{
  return job->law.scale * (box->radius + job->largest) + job->law.skin;
}

/* Not much larger than what one of its spheres reaches, and what is near has one image near. */
static __device__ __forceinline__ bool curve_is_compact(const curve_job *job, const curve_box *box)
{
  const float reach = curve_reach(job, box);
  const float own = 2 * job->law.scale * box->radius + job->law.skin;
  bool compact = true;
#pragma unroll
  for (int d = 0; d < 3; d++)
    compact = compact && box->half[d] <= 4 * own &&
              box->half[d] + reach < 0.499f * 4294967296.0f * job->law.unit[d];
  return compact;
}

#endif
