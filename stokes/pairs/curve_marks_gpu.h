/* stokes/pairs/curve_marks_gpu.h - which of the spheres that a warp has found are near which of its
 * own.
 *
 * Each lane has a row.  Spheres that were found are tested 32 at a time ("chunk"), one after the
 * other, against all rows at once: a row's part of a chunk is a mask.  Of a pair, with places from
 * the middle of the warp's box, s for a sphere's part of the reach and c = |x|^2 - s^2,
 *
 *     |x_a - x_b|^2 - (s_a + s_b)^2 = c_a + c_b - 2 (x_a . x_b + s_a s_b),
 *
 * four multiplications and additions and one more addition, whose sign is collected.  Chunks with
 * their masks wait in memory until rows know their place: nothing waits for other warps. */
#ifndef STOKES_CURVE_MARKS_GPU_H
#define STOKES_CURVE_MARKS_GPU_H

#include "stokes/pairs/curve_gpu.h"

/* 32 spheres, ascending, INT32_MAX beyond the last; which of them are near each of 32 rows. */
typedef struct {
  int32_t sphere[MD_WARP];
  unsigned near[MD_WARP];
} curve_chunk;

/* The chunks of some rows, and the first of these among the rows of a chunk; first is -1 where
 * there was no room. */
typedef struct {
  int first, count, row;
} curve_group;

/* Where a list's marks are; used: how many chunks were asked for. */
typedef struct {
  int32_t *count; /* [n]: length of each row */
  curve_group *group;
  curve_chunk *chunk;
  int64_t room;
  unsigned long long *used;
} curve_marks;

/* A sphere's place, its part of the reach, c; see above. */
enum { CURVE_TERMS = 5, CURVE_QUARTERS = MD_WARP / 4 };
typedef struct {
  float v[CURVE_TERMS];
} curve_terms;

/* Of 32 spheres, to be read four at a time. */
typedef float4 curve_tile[CURVE_TERMS][CURVE_QUARTERS];

/* What a warp needs in shared memory for `room` spheres, a multiple of 32. */
typedef struct {
  float4 (*tile)[CURVE_QUARTERS];
  int32_t *found; /* [room] */
} curve_space;

static __host__ __device__ __forceinline__ int curve_bytes(int room)
{
  return (int)sizeof(curve_tile) + room * (int)sizeof(int32_t);
}

static __device__ __forceinline__ curve_space curve_space_of(float4 *shared, int room)
{
  float4 *own = shared + threadIdx.x / MD_WARP * (curve_bytes(room) / (int)sizeof(float4));
  return {(float4(*)[CURVE_QUARTERS])own, (int32_t *)(own + CURVE_TERMS * CURVE_QUARTERS)};
}

/* Of a sphere, or of none, which is near nothing. */
static __device__ __forceinline__ curve_terms curve_terms_of(const curve_job *job,
                                                             const curve_box *box, uint4 own,
                                                             bool is_one)
{
  const float *unit = job->law.unit;
  if (!is_one) return {{0, 0, 0, 0, 1e30f}};
  const float x = unit[0] * (float)(int32_t)(own.x - box->middle[0]);
  const float y = unit[1] * (float)(int32_t)(own.y - box->middle[1]);
  const float z = unit[2] * (float)(int32_t)(own.z - box->middle[2]);
  const float s = job->law.scale * __uint_as_float(own.w) + 0.5f * job->law.skin;
  return {{x, y, z, s, x * x + y * y + z * z - s * s}};
}

/* Beyond the reach of a row, whose first four terms are -2 times a sphere's, by so much? */
static __device__ __forceinline__ float curve_beyond(const curve_terms *row, float x, float y,
                                                     float z, float s, float c)
{
  return fmaf(row->v[0], x,
              fmaf(row->v[1], y, fmaf(row->v[2], z, fmaf(row->v[3], s, row->v[4] + c))));
}

/* Single precision cannot tell where that is less.  Sums are below span^2, the sum of how far rows
 * and spheres are from the middle: rounding is below 1.3e-6 of it, that of places a few units. */
static __device__ __forceinline__ float curve_band(const curve_job *job, const curve_box *box)
{
  const float *half = box->half;
  const float wide = sqrtf(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  const float span = 2 * wide + curve_reach(job, box);
  return span * (job->law.slack + 2e-6f * span);
}

/* Which of the tile's spheres are near the lane's row; *least: the least that one is from the limit
 * of its reach. */
static __device__ __forceinline__ unsigned curve_test(const float4 (*tile)[CURVE_QUARTERS],
                                                      const curve_terms *row, float *least)
{
  unsigned near = 0;
#pragma unroll
  for (int q = CURVE_QUARTERS - 1; q >= 0; q--) {
    const float4 x = tile[0][q], y = tile[1][q], z = tile[2][q], s = tile[3][q], c = tile[4][q];
    const float beyond[4] = {
        curve_beyond(row, x.x, y.x, z.x, s.x, c.x), curve_beyond(row, x.y, y.y, z.y, s.y, c.y),
        curve_beyond(row, x.z, y.z, z.z, s.z, c.z), curve_beyond(row, x.w, y.w, z.w, s.w, c.w)};
#pragma unroll
    for (int k = 3; k >= 0; k--) {
      *least = fminf(*least, fabsf(beyond[k]));
      near = __funnelshift_l(__float_as_uint(beyond[k]), near, 1); /* its sign */
    }
  }
  return near;
}

/* The mask again where doubles must decide; i: the lane's row, j: its sphere of the chunk. */
static __device__ __noinline__ unsigned curve_decide(const curve_job *job, int64_t i, int32_t j,
                                                     const float4 (*tile)[CURVE_QUARTERS],
                                                     curve_terms row, float band, unsigned near)
{
  for (int k = 0; k < MD_WARP; k++) {
    const int32_t other = __shfl_sync(MD_ALL_LANES, j, k);
    float t[CURVE_TERMS];
    for (int q = 0; q < CURVE_TERMS; q++)
      t[q] = ((const float *)tile[q])[k];
    if (fabsf(curve_beyond(&row, t[0], t[1], t[2], t[3], t[4])) > band) continue;
    const unsigned bit = 1u << k;
    near = curve_is_near(job, i, other) ? near | bit : near & ~bit;
  }
  return near;
}

/* The mask without the row's own sphere; first: that of lane 0. */
static __device__ __forceinline__ unsigned curve_others(int64_t first, int32_t j, unsigned near)
{
  const int lane = threadIdx.x % MD_WARP, from = j - (int32_t)first;
  const unsigned own = __ballot_sync(MD_ALL_LANES, (unsigned)from < MD_WARP);
  if (!own) return near;
  const int at = __ffs((int)own) - 1; /* from here on one after the other */
  const int bit = at + lane - __shfl_sync(MD_ALL_LANES, from, at);
  return bit >= at && bit < MD_WARP ? near & ~(1u << bit) : near;
}

/* Chunks for `count` of them, -1 where there is no room. */
static __device__ __forceinline__ int curve_take_chunks(const curve_marks *marks, int count)
{
  unsigned long long first = 0;
  if (threadIdx.x % MD_WARP == 0) first = atomicAdd(marks->used, (unsigned long long)count);
  first = __shfl_sync(MD_ALL_LANES, first, 0);
  return (int64_t)first + count <= marks->room ? (int)first : -1;
}

/* Warp: marks and lengths of so many rows from `first` on.  Returns whether there was room in
 * shared memory. */
static __device__ __forceinline__ bool curve_mark(const curve_job *job, int64_t first, int rows,
                                                  int room, const curve_space *space,
                                                  const curve_marks *marks)
{
  const int lane = threadIdx.x % MD_WARP;
  const uint4 own = job->own[first + min(lane, rows - 1)];
  const curve_box box = curve_box_of(job, own);
  if (!curve_is_compact(job, &box)) return false;
  const int found = curve_find(job, &box, -1, own, room, space->found);
  if (found > room) return false;
  const int chunks = (found + MD_WARP - 1) / MD_WARP;
  if (found + lane < chunks * MD_WARP) space->found[found + lane] = INT32_MAX;
  __syncwarp();
  const int to = curve_take_chunks(marks, chunks), group = (int)(first / CURVE_GROUP) + lane;
  if (lane * CURVE_GROUP < rows) marks->group[group] = {to, chunks, lane * CURVE_GROUP};
  curve_terms row = curve_terms_of(job, &box, own, lane < rows);
#pragma unroll
  for (int q = 0; q < CURVE_TERMS - 1; q++)
    row.v[q] *= -2;
  const float band = curve_band(job, &box);
  const int last = (int)job->n - 1;
  int count = 0;
  int32_t next = space->found[lane];
  uint4 b = job->own[min(next, last)];
  for (int c = 0; c < chunks; c++) {
    const int32_t j = next;
    const curve_terms t = curve_terms_of(job, &box, b, j != INT32_MAX);
#pragma unroll
    for (int q = 0; q < CURVE_TERMS; q++)
      ((float *)space->tile[q])[lane] = t.v[q];
    if (c + 1 < chunks) next = space->found[(c + 1) * MD_WARP + lane];
    b = job->own[min(next, last)]; /* while this one is tested */
    __syncwarp();
    float least = INFINITY;
    unsigned near = curve_test(space->tile, &row, &least);
    if (__any_sync(MD_ALL_LANES, least <= band))
      near = curve_decide(job, first + lane, j, space->tile, row, band, near);
    near = curve_others(first, j, near);
    count += __popc(near);
    if (to >= 0) {
      marks->chunk[to + c].sphere[lane] = j;
      marks->chunk[to + c].near[lane] = near;
    }
    __syncwarp();
  }
  if (lane < rows) marks->count[first + lane] = count;
  return true;
}

/* Warp: lengths of rows of a group, one by one. */
static __device__ __forceinline__ void curve_count(const curve_job *job, int64_t first, int rows,
                                                   const curve_marks *marks)
{
  const int lane = threadIdx.x % MD_WARP;
  int count = 0;
  for (int s = 0; s < rows; s++) {
    const int length = curve_row(job, first + s, NULL);
    if (lane == s) count = length;
  }
  if (lane < rows) marks->count[first + lane] = count;
  if (lane == 0) marks->group[first / CURVE_GROUP] = {-1, 0, 0};
}

/* Which of 32 spheres are near a row, and where the first of them goes. */
typedef struct __align__(8)
{
  unsigned near;
  int to;
}
curve_mark_at;

enum { CURVE_CHUNKS = MD_WARP / CURVE_GROUP }; /* that a warp writes at once */

/* Warp: write the rows of a group, which begin at `place` - place of row 0 from `out` on, in lane s
 * that of row s.  mark: [MD_WARP]. */
static __device__ __forceinline__ void curve_write(const curve_chunk *chunk,
                                                   const curve_group *group, int to,
                                                   curve_mark_at *mark, int32_t *out)
{
  const int lane = threadIdx.x % MD_WARP, row = lane % CURVE_GROUP;
  const unsigned own = 1u << lane;
  to = __shfl_sync(MD_ALL_LANES, to, row);
  chunk += group->first;
  for (int c = 0; c < group->count; c += CURVE_CHUNKS) {
    const int mine = c + lane / CURVE_GROUP;
    const unsigned near = mine < group->count ? __ldcs(&chunk[mine].near[group->row + row]) : 0;
    int32_t j[CURVE_CHUNKS];
#pragma unroll
    for (int k = 0; k < CURVE_CHUNKS; k++)
      j[k] = c + k < group->count ? chunk[c + k].sphere[lane] : 0;
    int sum = __popc(near);
#pragma unroll
    for (int step = CURVE_GROUP; step < MD_WARP; step *= 2) {
      const int before = __shfl_up_sync(MD_ALL_LANES, sum, step);
      if (lane >= step) sum += before;
    }
    mark[lane] = {near, to + sum - __popc(near)};
    to += __shfl_sync(MD_ALL_LANES, sum, MD_WARP - CURVE_GROUP + row);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < MD_WARP; k++) {
      const curve_mark_at m = mark[k];
      if (m.near & own) __stcs(out + m.to + __popc(m.near & (own - 1)), j[k / CURVE_GROUP]);
    }
    __syncwarp();
  }
}

#endif
