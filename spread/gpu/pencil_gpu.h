/* spread/gpu/pencil_gpu.h - how a warp walks through its share of the sorted particles; for
 * spread_sweep.real.cu and interpolate_sweep.real.cu.
 *
 * Particles lie sorted by pencil and plane.  Every warp takes a slice of equal work
 * (shares.real.cu), wherever pencils begin and end, so that any distribution is balanced;
 * there are as many slices as warps the device holds, so that none waits for another, or more where
 * the mesh is beyond the cache. Weights of 32 particles at a time are computed, one a lane, and
 * staged in shared memory (staged_gpu.h). */
#ifndef PENCIL_GPU_H
#define PENCIL_GPU_H

#include "core/gpu/cuda.h"
#include "core/gpu/launch_gpu.h"
#include "spread/bspline.h"
#include "spread/pencil.h"

/* 16 bytes of reals, the unit of shared memory accesses. */
#if MD_PREC == 2
typedef double2 quad;
#define QUAD 2
#else
typedef float4 quad;
#define QUAD 4
#endif
#define QUADS(n) (((n) + QUAD - 1) / QUAD)

/* What the kernels read. */
typedef struct {
  const pencil_particle *particle;
  const int32_t *start; /* [keys + 1] */
  const uint32_t *key;  /* of every 32nd particle */
  int64_t keys;
  int32_t n, slices;    /* particles, slices of them */
  const int32_t *begin; /* [slices + 1] */
  spread_pencils pencils;
  int32_t mesh[3];
} pencil_view;

/* Where a walk stands: plane `plane` of a pencil.  ends holds, in lane l, the first particle beyond
 * plane window + l. */
typedef struct {
  int32_t pencil, plane, window, ends;
} walk;

/* The view of a part, whose planes begin as in `start`, for a kernel of that many warps on the
 * device that works on so many meshes at once. */
md_status PREC(spread_gpu_view)(spread_plan *plan, spread_part *part, const md_buffer *start,
                                int64_t warps, int meshes, pencil_view *view);

static __device__ __forceinline__ int warp_lane(void)
{
  return threadIdx.x % MD_WARP;
}

/* Sum of the values of this lane and those below. */
template <typename number> static __device__ __forceinline__ number inclusive_sum(number value)
{
  SPREAD_UNROLL
  for (int step = 1; step < MD_WARP; step *= 2) {
    const number other = __shfl_up_sync(MD_ALL_LANES, value, step);
    if (warp_lane() >= step) value += other;
  }
  return value;
}

/* The key of particle i: the last one that does not begin after it, between those of two 32nd
 * particles.  All lanes look, 32 keys a round. */
static __device__ __forceinline__ int64_t find_key(const pencil_view &view, int32_t i)
{
  const int32_t block = i / MD_WARP;
  int64_t low = view.key[block];
  int64_t high = (block + 1) * MD_WARP < view.n ? (int64_t)view.key[block + 1] + 1 : view.keys;
  while (high - low > 1) {
    const int64_t step = (high - low + MD_WARP) / (MD_WARP + 1);
    const int64_t probe = low + (warp_lane() + 1) * step;
    const bool begun = probe < high && view.start[probe] <= i;
    const int passed = __popc(__ballot_sync(MD_ALL_LANES, begun));
    low += passed * step;
    high = high < low + step ? high : low + step;
  }
  return low;
}

/* A walk that stands nowhere yet. */
static __device__ __forceinline__ walk walk_begin(void)
{
  const walk at = {0, 0, INT32_MIN / 2, INT32_MIN};
  return at;
}

/* On to the plane of particle i, which is not behind: within the window, or by a search. */
static __device__ __forceinline__ void walk_to(const pencil_view &view, int32_t i, walk *at)
{
  const unsigned beyond = __ballot_sync(MD_ALL_LANES, at->ends > i);
  if (beyond) {
    at->plane = at->window + __ffs((int)beyond) - 1;
    return;
  }
  const uint32_t key = (uint32_t)find_key(view, i), planes = (uint32_t)view.mesh[0];
  at->pencil = (int32_t)(key / planes);
  at->plane = (int32_t)(key % planes);
  at->window = INT32_MIN / 2;
}

/* Of a slice that ends at `end`, the first particle beyond the present plane or a later one, be it
 * beyond the mesh.  A walk to a particle of a plane before the last one asked for would go
 * astray. */
static __device__ __forceinline__ int32_t plane_end(const pencil_view &view, int32_t plane,
                                                    int32_t end, walk *at)
{
  if (plane - at->window >= MD_WARP) {
    const int32_t last = view.mesh[0] - 1, mine = plane + warp_lane();
    at->window = plane;
    at->ends = view.start[(int64_t)at->pencil * view.mesh[0] + min(mine, last) + 1];
  }
  return min(end, __shfl_sync(MD_ALL_LANES, at->ends, plane - at->window));
}

/* What particles of a pencil reach of a plane: so many lines and columns, from point (y, x) on. */
typedef struct {
  int32_t y, x, lines, columns;
} footprint;

static __device__ __forceinline__ footprint find_footprint(const int p, const pencil_view &view,
                                                           const walk &at)
{
  const spread_pencils &cut = view.pencils;
  footprint foot;
  foot.y = at.pencil / cut.n[1] * cut.cells[0];
  foot.x = at.pencil % cut.n[1] * cut.cells[1];
  foot.lines = min(cut.cells[0], view.mesh[1] - foot.y) + p - 1;
  foot.columns = min(cut.cells[1], view.mesh[2] - foot.x) + p - 1;
  return foot;
}

/* Offset in the plane of one of its points; whether it is one. */
static __device__ __forceinline__ uint32_t point_at(const pencil_view &view, const footprint &foot,
                                                    int line, int column)
{
  return (uint32_t)((foot.y + line) % view.mesh[1]) * (uint32_t)view.mesh[2] +
         (uint32_t)((foot.x + column) % view.mesh[2]);
}
static __device__ __forceinline__ bool has_point(const footprint &foot, int line, int column)
{
  return line < foot.lines && column < foot.columns;
}

/* count reals from an address that begins a quad, or as few as are loaded at once.  Every word
 * loaded costs its turn on the way from shared memory, broadcast or not, so none is loaded in vain;
 * `to` has room for whole quads. */
static __device__ __forceinline__ void load_reals(const int count, const real *from, real *to)
{
  SPREAD_UNROLL
  for (int k = 0; k + QUAD <= count; k += QUAD) {
    const quad four = *(const quad *)(from + k);
    to[k] = four.x;
    to[k + 1] = four.y;
#if QUAD == 4
    to[k + 2] = four.z;
    to[k + 3] = four.w;
#endif
  }
#if QUAD == 4
  const int done = count / QUAD * QUAD;
  if (count - done >= 2) {
    const float2 two = *(const float2 *)(from + done);
    to[done] = two.x;
    to[done + 1] = two.y;
  }
#endif
  if (count % 2) to[count - 1] = from[count - 1];
}

#endif
