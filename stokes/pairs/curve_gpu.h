/* stokes/pairs/curve_gpu.h - pair lists of spheres that follow a curve: a warp finds the rows of
 * eight that follow each other.
 *
 * Spheres that follow each other lie together, so that boxes around 32, 1024 and 32768 of them tell
 * where to look.  A warp goes down from the largest boxes to the spheres within reach of a box
 * around its eight, in ascending order, and tests them 32 at a time against each of the eight: what
 * a row has is then a mask of each 32, and nothing need be put in order.  Where a warp has no room
 * for them, its rows are found one by one, to be counted, and once more, to be written.
 *
 * Boxes and tests are worked out in single precision from shrunk spheres; where that cannot tell,
 * doubles decide. */
#ifndef STOKES_CURVE_GPU_H
#define STOKES_CURVE_GPU_H

#include "stokes/pairs/search.h"
#include "stokes/pairs/shrunk_gpu.h"

enum { CURVE_ROWS = 8, CURVE_LEVELS = 3 };

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

/* Which of 32 spheres are near one, and how many of those before them. */
typedef struct __align__(8)
{
  unsigned near;
  int before;
}
curve_mark;

/* What a warp needs in shared memory for `room` spheres, a multiple of 32. */
typedef struct {
  float4 *row;      /* [CURVE_ROWS]: place from the middle of the box; its part of a reach */
  int32_t *found;   /* [room] */
  curve_mark *mark; /* [room / MD_WARP][CURVE_ROWS] */
} curve_space;

static __host__ __device__ __forceinline__ int curve_bytes(int room)
{
  return CURVE_ROWS * (int)sizeof(float4) + room * (int)sizeof(int32_t) +
         room / MD_WARP * CURVE_ROWS * (int)sizeof(curve_mark);
}

static __device__ __forceinline__ curve_space curve_space_of(float4 *shared, int room)
{
  curve_space space;
  space.row = shared + threadIdx.x / MD_WARP * (curve_bytes(room) / (int)sizeof(float4));
  space.found = (int32_t *)(space.row + CURVE_ROWS);
  space.mark = (curve_mark *)(space.found + room);
  return space;
}

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

/* May one of the spheres of a node be near one in the box?  half: of the node.  Errors are below
 * 1e-5 of the square of the reach and a few units times the reach. */
static __device__ __forceinline__ bool curve_may_reach(const curve_job *job, const curve_box *box,
                                                       uint4 middle, float3 half)
{
  const uint32_t part[3] = {middle.x, middle.y, middle.z};
  const float wide[3] = {half.x, half.y, half.z};
  const shrunk_law *law = &job->law;
  const float sum = box->radius + __uint_as_float(middle.w);
  const float reach = law->scale * sum + law->skin + law->slack;
  float square = 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const float away = law->unit[d] * (float)(int32_t)(part[d] - box->middle[d]);
    const float gap = fmaxf(fabsf(away) - (wide[d] + box->half[d]), 0);
    square += gap * gap;
  }
  return square <= reach * reach * (1 + 2e-5f);
}

/* Where a warp is on its way through all nodes that the box may reach: what is left of 32 nodes of
 * each level, and the first of these. */
typedef struct {
  int first[CURVE_LEVELS];
  unsigned left[CURVE_LEVELS];
} curve_walk;

static __device__ __forceinline__ unsigned curve_look(const curve_job *job, const curve_box *box,
                                                      int level, int first)
{
  const int k = first + (int)threadIdx.x % MD_WARP;
  bool near = false;
  if (k < job->count[level]) {
    const curve_node node = job->node[level][k];
    near =
        curve_may_reach(job, box, node.middle, make_float3(node.half.x, node.half.y, node.half.z));
  }
  return __ballot_sync(MD_ALL_LANES, near);
}

static __device__ __forceinline__ int curve_take(curve_walk *w, int level)
{
  const int bit = __ffs((int)w->left[level]) - 1;
  w->left[level] &= w->left[level] - 1;
  return w->first[level] + bit;
}

/* The next 32 spheres, -1 at the end.  Begins with first[2] = -MD_WARP, all else 0. */
static __device__ __forceinline__ int curve_next(const curve_job *job, const curve_box *box,
                                                 curve_walk *w)
{
  while (!w->left[0]) {
    while (!w->left[1]) {
      while (!w->left[2]) {
        if (w->first[2] + MD_WARP >= job->count[2]) return -1;
        w->first[2] += MD_WARP;
        w->left[2] = curve_look(job, box, 2, w->first[2]);
      }
      w->first[1] = curve_take(w, 2) * MD_WARP;
      w->left[1] = curve_look(job, box, 1, w->first[1]);
    }
    w->first[0] = curve_take(w, 1) * MD_WARP;
    w->left[0] = curve_look(job, box, 0, w->first[0]);
  }
  return curve_take(w, 0);
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
  const int lane = threadIdx.x % MD_WARP;
  curve_walk walk = {{0, 0, -MD_WARP}, {0, 0, 0}};
  const int last = (int)job->n - 1;
  int leaf = -1, found = 0, j = 0;
  uint4 b = make_uint4(0, 0, 0, 0);
  for (;;) {
    const int next = row >= 0 || found <= room ? curve_next(job, box, &walk) : -1;
    const int j_next = max(next, 0) * MD_WARP + lane;
    const uint4 b_next = job->own[min(j_next, last)]; /* while the one before is tested */
    if (leaf >= 0) {
      const bool near =
          j <= last && (row >= 0 ? curve_judge(job, row, own, j, b)
                                 : curve_may_reach(job, box, b, make_float3(0, 0, 0)));
      const unsigned all = __ballot_sync(MD_ALL_LANES, near);
      const int to = found + __popc(all & ((1u << lane) - 1));
      if (near && to < room) out[to] = j;
      found += __popc(all);
    }
    if (next < 0) return found;
    leaf = next, j = j_next, b = b_next;
  }
}

/* Warp: row i, stored where `out` is not NULL; returns its length. */
static __device__ __noinline__ int curve_row(const curve_job *job, int64_t i, int32_t *out)
{
  const uint4 own = job->own[i];
  const curve_box box = {{own.x, own.y, own.z}, {0, 0, 0}, __uint_as_float(own.w)};
  return curve_find(job, &box, i, own, out ? INT32_MAX : 0, out);
}

/* A box around the warp's spheres, of which lane l has number l % CURVE_ROWS. */
static __device__ __forceinline__ curve_box curve_box_of(const curve_job *job, uint4 own)
{
  const float none[3] = {0, 0, 0};
  const curve_node all = curve_around(job->law.unit, own, none);
  return {{all.middle.x, all.middle.y, all.middle.z},
          {all.half.x, all.half.y, all.half.z},
          __uint_as_float(all.middle.w)};
}

/* The farthest that a sphere near one in the box is from its middle, along an axis. */
static __device__ __forceinline__ float curve_far(const curve_job *job, const curve_box *box)
{
  const float wide = fmaxf(fmaxf(box->half[0], box->half[1]), box->half[2]);
  return wide + job->law.scale * (box->radius + job->largest) + job->law.skin;
}

/* Not much larger than what one of its spheres reaches, and what is near has one image near. */
static __device__ __forceinline__ bool curve_is_compact(const curve_job *job, const curve_box *box)
{
  const float far = curve_far(job, box);
  const float own = 2 * job->law.scale * box->radius + job->law.skin;
  bool compact = true;
#pragma unroll
  for (int d = 0; d < 3; d++)
    compact = compact && box->half[d] <= 4 * own && far < 0.499f * 4294967296.0f * job->law.unit[d];
  return compact;
}

/* Places from the middle of the box, and their part of a reach; of none, so far out that nothing is
 * near. */
#define CURVE_NOWHERE 1e30f

static __device__ __forceinline__ float4 curve_place(const curve_job *job, const curve_box *box,
                                                     uint4 own)
{
  const float *unit = job->law.unit;
  return make_float4(unit[0] * (float)(int32_t)(own.x - box->middle[0]),
                     unit[1] * (float)(int32_t)(own.y - box->middle[1]),
                     unit[2] * (float)(int32_t)(own.z - box->middle[2]),
                     job->law.scale * __uint_as_float(own.w) + 0.5f * job->law.skin);
}

/* Which of the lanes' spheres are near a row; *open: single precision cannot tell. */
static __device__ __forceinline__ unsigned curve_test(const float4 *row, float4 b, float band,
                                                      bool self, bool *open)
{
  const float x = b.x - row->x, y = b.y - row->y, z = b.z - row->z;
  const float reach = b.w + row->w;
  const float beyond = x * x + y * y + z * z - reach * reach;
  *open = *open || !(fabsf(beyond) > band);
  return __ballot_sync(MD_ALL_LANES, beyond < 0 && !self);
}

/* Warp: marks of the 32 spheres at `found`, for the rows from `first` on.  Lane s counts row s.
 * Errors are below 3e-6 of the square of `far`, and a few units times that. */
static __device__ __forceinline__ void curve_mark_chunk(const curve_job *job, const curve_box *box,
                                                        int64_t first, int rows, const float4 *row,
                                                        const int32_t *found, curve_mark *mark,
                                                        int *count)
{
  const int lane = threadIdx.x % MD_WARP;
  const int32_t j = found[lane], self = j - (int32_t)first;
  const float far = curve_far(job, box), band = far * (job->law.slack + 4e-6f * far);
  float4 b = make_float4(-CURVE_NOWHERE, 0, 0, 0);
  if (j != INT32_MAX) b = curve_place(job, box, job->own[j]);
  unsigned near = 0;
  bool open = false;
#pragma unroll
  for (int s = 0; s < CURVE_ROWS; s++) {
    const unsigned all = curve_test(&row[s], b, band, self == s, &open);
    if (lane == s) near = all;
  }
  if (__any_sync(MD_ALL_LANES, open))
    for (int s = 0; s < rows; s++) {
      const bool both = j != INT32_MAX && curve_is_near(job, first + s, j);
      const unsigned all = __ballot_sync(MD_ALL_LANES, both);
      if (lane == s) near = all;
    }
  if (lane < CURVE_ROWS) mark[lane] = {near, *count};
  *count += __popc(near);
}

/* Warp: the rows of so many spheres from `first` on, in marks of *chunks times 32 spheres.  Lane s
 * counts row s.  Returns whether there was room. */
static __device__ __forceinline__ bool curve_rows(const curve_job *job, int64_t first, int rows,
                                                  int room, const curve_space *space, int *count,
                                                  int *chunks)
{
  const int lane = threadIdx.x % MD_WARP;
  const uint4 own = job->own[first + min(lane % CURVE_ROWS, rows - 1)];
  const curve_box box = curve_box_of(job, own);
  if (!curve_is_compact(job, &box)) return false;
  const int found = curve_find(job, &box, -1, own, room, space->found);
  if (found > room) return false;
  *chunks = (found + MD_WARP - 1) / MD_WARP;
  if (found + lane < *chunks * MD_WARP) space->found[found + lane] = INT32_MAX;
  if (lane < CURVE_ROWS)
    space->row[lane] =
        lane < rows ? curve_place(job, &box, own) : make_float4(CURVE_NOWHERE, 0, 0, 0);
  __syncwarp();
  for (int c = 0; c < *chunks; c++)
    curve_mark_chunk(job, &box, first, rows, space->row, space->found + c * MD_WARP,
                     space->mark + c * CURVE_ROWS, count);
  __syncwarp();
  return true;
}

/* Warp: write the rows, one after the other from `out` on. */
static __device__ __forceinline__ void curve_write(const curve_space *space, int count, int chunks,
                                                   int32_t *out)
{
  const int lane = threadIdx.x % MD_WARP;
  const unsigned own = 1u << lane;
  int before = 0, offset[CURVE_ROWS];
#pragma unroll
  for (int s = 0; s < CURVE_ROWS; s++) {
    offset[s] = before;
    before += __shfl_sync(MD_ALL_LANES, count, s);
  }
  for (int c = 0; c < chunks; c++) {
    const int32_t j = space->found[c * MD_WARP + lane];
#pragma unroll
    for (int s = 0; s < CURVE_ROWS; s++) {
      const curve_mark mark = space->mark[c * CURVE_ROWS + s];
      if (mark.near & own) __stcs(out + offset[s] + mark.before + __popc(mark.near & (own - 1)), j);
    }
  }
}

#endif
