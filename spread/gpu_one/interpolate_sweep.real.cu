/* spread/gpu_one/interpolate_sweep.real.cu - interpolation on the GPU for particles sorted by
 * pencil.
 *
 * The transpose of spread_sweep.real.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, loaded once; the next plane is on its way while particles of this one are
 * served (values_gpu.h).  Numbers are split for products once, those of the mesh when their plane
 * moves in (window_gpu.h) and X whatever the order; and products of different lines need not wait
 * for each other, as in the sum over lines they would. */
#include <cuda_pipeline.h>

#include "spread/gpu_one/values_gpu.h"

enum { WARPS = MD_PREC == 2 ? 1 : 2, BLOCK = WARPS * MD_WARP };

/* As measured: particles that a warp reads together, at most; vectors that it reads together;
 * blocks that a multiprocessor shall hold. */
#if MD_PREC == 2
#define MOST(p, vectors, sloped) ((sloped) || (p) > 6 ? 8 : 16)
#define VECTORS(p) ((p) <= 6 ? 2 : 1)
#define BLOCKS(p, vectors, sloped) ((p) <= 6 && (vectors) == 1 && !(sloped) ? 12 : 8)
#else
#define MOST(p, vectors, sloped) ((sloped) || (vectors) > 1 || (p) > 6 ? 8 : 16)
#define VECTORS(p) ((p) <= 6 ? 4 : 1)
#define BLOCKS(p, vectors, sloped) ((p) > 6 ? 6 : (vectors) == 1 ? 8 : 1)
#endif
/* Particles staged at once: those that a warp stages together and those left of the ones before, so
 * that a batch may have both; but not where records of slopes would leave room for few warps. */
#define SLOTS(p, vectors, sloped)                                                                  \
  (MD_WARP + ((sloped) && MD_PREC == 2 ? 0 : MOST(p, vectors, sloped)))

/* Slopes are records of their own behind those of weights, without offsets. */
#define RECORDS_LENGTH(p, vectors, sloped)                                                         \
  (((sloped) ? 2 : 1) * SLOTS(p, vectors, sloped) * RECORD_LENGTH(p, 0))

/* Lane: a particle's records. */
static __device__ __forceinline__ void
stage_particle(const int p, const bool sloped, const pencil_particle &particle, const staged &s)
{
  const int slot = wrap_slot(s, s.tail + warp_lane());
  const real inverse = sloped ? (real)1 : bspline_inverse_factorial(p - 1);
  real *record = s.record + slot * s.length;
  real f[3], w[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    if (sloped)
      bspline_derivatives(p, f[a], w[a], d[a]);
    else
      bspline_polynomials(p, f[a], w[a]);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    w[1][k] *= inverse * inverse;
    w[2][k] *= inverse * WEIGHT_SCALE;
    d[2][k] *= WEIGHT_SCALE;
  }
  store_weights(p, w, record);
  store_place(p, middle, fast, particle.index, record);
  if (sloped) store_weights(p, d, record + s.slots * s.length);
}

/* Lane: ask for particle i, or the last one, to be copied while others are served.  It is not
 * needed again, and shall not drive from the cache what values are written to. */
static __device__ __forceinline__ void fetch(const pencil_view &view, int32_t i,
                                             pencil_particle *to)
{
  const int4 *from = (const int4 *)(view.particle + min(i, view.n - 1));
  uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
  uint64_t once;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(once));
  SPREAD_UNROLL
  for (size_t k = 0; k < sizeof *to / sizeof *from; k++, from++, shared += sizeof *from)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared),
                 "l"(from), "l"(once)
                 : "memory");
  __pipeline_commit();
}

/* Warp: stage the next particles, up to the end of a slice.  ahead: of the lane, the particle that
 * it stages next. */
static __device__ __forceinline__ void stage_more(const int p, const bool sloped,
                                                  const pencil_reader &reader, int32_t end,
                                                  pencil_particle *ahead, staged *s)
{
  __pipeline_wait_prior(0);
  __syncwarp();
  ask_for_value(reader, ahead->index);
  stage_particle(p, sloped, *ahead, *s);
  fetch(reader.view, s->end + MD_WARP + warp_lane(), ahead);
  s->tail = wrap_slot(*s, s->tail + MD_WARP);
  s->end = min(s->end + MD_WARP, end);
  __syncwarp();
}

/* Warp: particles i and those after it, up to `stop`, all of one plane.  Each kind of batch moves
 * on by itself: joined, their ends cost a tenth. */
static __device__ __forceinline__ int32_t read_batch(const int p, const int vectors,
                                                     const bool sloped, const pencil_reader &s,
                                                     int32_t i, int32_t stop, const window *planes,
                                                     staged *particles, unwritten *late)
{
  const int32_t until = min(stop, particles->end), count = until - i;
  if (MOST(p, vectors, sloped) > 8 && count > 8) {
    read_many(p, vectors, s, *particles, count, planes, late);
    particles->head = wrap_slot(*particles, particles->head + min(16, count));
    return min(i + 16, until);
  }
  if (sloped)
    read_slopes(p, s, *particles, count, planes[0]);
  else
    read_few(p, vectors, s, *particles, count, planes);
  particles->head = wrap_slot(*particles, particles->head + min(8, count));
  return min(i + 8, until);
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void read_slice(const int p, const int vectors, const bool sloped,
                                                  const pencil_reader &s, staged particles,
                                                  pencil_particle *ahead)
{
  const int batch = MOST(p, vectors, sloped);
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = s.view.begin[slice];
  const int32_t end = s.view.begin[slice + 1];
  const mesh_planes meshes = {s.mesh, s.points, (uint32_t)s.view.mesh[1] * (uint32_t)s.view.mesh[2],
                              s.view.mesh[0]};
  walk at = walk_begin();
  unwritten late = {{0, 0}, NOBODY};
  particles.end = i;
  fetch(s.view, i + warp_lane(), ahead);
  clear_records(particles.record, RECORDS_LENGTH(p, vectors, sloped));
  while (i < end) {
    window planes[MOST_VECTORS] = {};
    plane_points next[MOST_VECTORS];
    walk_to(s.view, i, &at);
    const patch here = find_patch(p, s.view, at);
    fill_window(p, vectors, here, meshes, at.plane, planes);
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      const int32_t stop = plane_end(s.view, at.plane, end, &at);
      load_plane(p, vectors, here, meshes, at.plane + p, next);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (particles.end < min(stop, i + batch) && particles.end - i <= particles.slots - MD_WARP)
          stage_more(p, sloped, s, end, ahead, &particles);
        i = read_batch(p, vectors, sloped, s, i, stop, planes, &particles, &late);
      }
      if (!fits(p, vectors, next, planes)) break;
      move_window(p, vectors, next, planes);
    }
  }
  if (WRITES_LATE(vectors)) write_sums(s, late);
}

typedef void read_kernel(pencil_reader asked);

#define SLICE_KERNEL(name, p, vectors, sloped, far)                                                \
  static __global__ void __launch_bounds__(BLOCK, BLOCKS(p, vectors, sloped))                      \
      name##_##p(pencil_reader asked)                                                              \
  {                                                                                                \
    __shared__ quad records[WARPS][RECORDS_LENGTH(p, vectors, sloped) / QUAD];                     \
    __shared__ pencil_particle ahead[BLOCK];                                                       \
    const int warp = threadIdx.x / MD_WARP;                                                        \
    pencil_reader s = asked;                                                                       \
    s.beyond = far;                                                                                \
    const staged none = {(real *)records[warp], SLOTS(p, vectors, sloped), RECORD_LENGTH(p, 0)};   \
    read_slice(p, vectors, sloped, s, none, ahead + threadIdx.x);                                  \
  }
#define KERNELS(p)                                                                                 \
  SLICE_KERNEL(values_kernel, p, 1, false, false)                                                  \
  SLICE_KERNEL(beyond_kernel, p, 1, false, true)                                                   \
  SLICE_KERNEL(vectors_kernel, p, VECTORS(p), false, false)                                        \
  SLICE_KERNEL(slopes_kernel, p, 1, true, false)
SPREAD_ORDERS(KERNELS)

/* The kernels of a plan: one vector at a time, values within the cache or beyond, and *vectors at a
 * time. */
typedef struct {
  read_kernel *values, *beyond, *of_vectors, *slopes;
  int32_t vectors;
} read_kernels;

static read_kernels pick_kernels(const spread_plan *plan)
{
  read_kernels picked = {};
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    picked = {values_kernel_##p, beyond_kernel_##p, vectors_kernel_##p, slopes_kernel_##p,         \
              VECTORS(p)};                                                                         \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return picked;
}

md_status PREC(spread_gpu_tiled_interpolate)(spread_plan *plan, spread_part *part,
                                             const spread_job *job)
{
  const read_kernels kernels = pick_kernels(plan);
  pencil_reader s = {{},
                     (const real *)job->mesh,
                     (real *)job->value,
                     (real *)job->gradient,
                     job->q_stride,
                     plan->grid.points,
                     {},
                     false};
  for (int a = 0; a < 3; a++)
    s.scale[a] = (real)spread_slope_scale(&plan->grid, a);
  int32_t done = 0;
  if (!s.gradient && spread_many_by_stacks(plan, part->n, job->vectors))
    MD_TRY(spread_gpu_many_interpolate(plan, part, job, &done));
  s.mesh += done * s.points;
  if (s.value) s.value += done * s.stride;
  /* values that the cache does not hold, in no order, are written faster one vector after the
   * other */
  const int64_t bytes = (int64_t)sizeof(real) * part->n;
  const bool together = !s.gradient && bytes * kernels.vectors <= plan->l2_bytes;
  s.beyond = !together && bytes * job->vectors > plan->l2_bytes;
  for (int32_t v = done, step; v < job->vectors; v += step) {
    step = together && job->vectors - v >= kernels.vectors ? kernels.vectors : 1;
    read_kernel *kernel = s.gradient ? kernels.slopes
                          : step > 1 ? kernels.of_vectors
                          : s.beyond ? kernels.beyond
                                     : kernels.values;
    int blocks;
    MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0));
    MD_TRY(PREC(spread_gpu_view)(plan, part, &part->buffer[SPREAD_START],
                                 (int64_t)plan->multiprocessors * blocks * WARPS, step, &s.view));
    kernel<<<md_blocks(s.view.slices, WARPS), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(s);
    MD_LAUNCHED();
    s.mesh += step * s.points;
    if (s.value) s.value += step * s.stride;
    if (s.gradient) s.gradient += 3 * s.stride;
  }
  return MD_OK;
}
