/* spread/spread_back_gpu.cu - interpolation on the GPU for particles sorted by pencil.
 *
 * The transpose of spread_tiled_gpu.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, loaded once; the next plane is on its way while particles of this one are
 * served.  Eight particles at once: the product of the window's lines, mesh[(z, y)][x], with their X
 * (pair_gpu.h) leaves a number for each of p lines of 8 or 16 points, which the lanes multiply with Z
 * and Y and add up.  Numbers are split for the products once, those of the mesh when their plane
 * moves in (window_gpu.h) and X whatever the order; and products of different lines need not wait for
 * each other, as in the sum over lines they would.
 *
 * Eight particles cost 3 products for 16 lines (in double precision 2) and 3 shuffles for their
 * values; twice the products, with the slopes of X, and 7 shuffles with gradients. */
#include <cuda_pipeline.h>

#include "spread/window_gpu.h"

enum { WARPS = MD_PREC == 2 ? 1 : 2, BLOCK = WARPS * MD_WARP };

/* As measured: batches of eight that a warp reads together, so as to wait less; vectors that it reads
 * together; blocks that a multiprocessor shall hold. */
#if MD_PREC == 2
#define BATCHES(p) 1
#define VECTORS(p) ((p) <= 6 ? 2 : 1)
#define BLOCKS(p, vectors) ((p) <= 6 && (vectors) == 1 ? 12 : 8)
#else
#define BATCHES(p) 2
#define VECTORS(p) ((p) <= 6 ? 4 : 1)
#define BLOCKS(p, vectors) ((p) > 6 ? 6 : (vectors) == 1 ? 8 : 1)
#endif
enum { MOST_BATCHES = 2, MOST_SETS = 4 };

/* Particles staged at once: those that a warp stages together and those left of the ones before, so
 * that a batch may have both; but not where records of slopes would leave room for few warps. */
#define SLOTS(p, vectors, sloped)                                                                  \
  (MD_WARP + ((sloped) ? (MD_PREC == 2 ? 0 : 8) : (vectors) > 1 ? 8 : 8 * BATCHES(p)))

/* Results; NULL: not wanted.  Of one or VECTORS vectors, `stride` values and `points` apart. */
typedef struct {
  pencil_view view;
  const real *mesh;
  real *value, *gradient;
  int64_t stride, points;
  real scale[3]; /* from d / d fraction to d / d x */
} pencil_reader;

/* Slopes are records of their own behind those of weights, without offsets. */
#define RECORDS_LENGTH(p, vectors, sloped)                                                         \
  (((sloped) ? 2 : 1) * SLOTS(p, vectors, sloped) * RECORD_LENGTH(p, 0))

/* Lane: a particle's records. */
static __device__ __forceinline__ void
stage_particle(const int p, const bool sloped, const pencil_particle &particle, const staged &s)
{
  const int slot = wrap_slot(s, s.tail + warp_lane());
  real *record = s.record + slot * s.length;
  real f[3], w[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    if (sloped)
      bspline_derivatives(p, f[a], w[a], d[a]);
    else
      bspline_weights(p, f[a], w[a]);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    w[2][k] *= WEIGHT_SCALE;
    d[2][k] *= WEIGHT_SCALE;
  }
  store_weights(p, w, record);
  store_offsets(p, middle, fast, record);
  if (sloped) store_weights(p, d, record + s.slots * s.length);
  s.index[slot] = particle.index;
}

/* Of eight staged particles, the first one `from` slots after the head, where the lane's weights are:
 * X of one at its columns, Y at its lines and Z of two others.  Beyond the last others stand in, whose
 * results go nowhere. */
typedef struct {
  const real *x, *y[2], *z[2];
} lane_records;

static __device__ __forceinline__ lane_records find_records(const int p, const staged &s, int from)
{
  const int row = warp_lane() / 4, member = warp_lane() % 4, first = s.head + from;
  const real *mine = s.record + wrap_slot(s, first + row) * s.length;
  lane_records found;
  found.x = mine + load_offsets(p, mine).y + member;
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    found.z[i] = s.record + wrap_slot(s, first + 2 * member + i) * s.length;
    found.y[i] = found.z[i] + load_offsets(p, found.z[i]).x + row;
  }
  return found;
}

/* The lane's sums over planes, of two particles at its lines. */
typedef real plane_sums[2][PATCH_LINES_MAX];

static __device__ __forceinline__ void add_planes(const int p, const int t,
                                                  const real z[2][SPREAD_ROW], const real column[4],
                                                  plane_sums sum)
{
  SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int plane = (2 * t + c) / PATCH_LINES(p), line = (2 * t + c) % PATCH_LINES(p);
    SPREAD_UNROLL
    for (int i = 0; i < 2 && plane < p; i++)
      sum[i][line] += z[i][plane] * column[2 * c + i];
  }
}

static __device__ __forceinline__ real add_lines(const int p, const real *y,
                                                 const real sum[PATCH_LINES_MAX])
{
  real out = 0;
  SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    out += y[8 * i] * sum[i];
  return out;
}

/* Of two numbers, one's sum with that of the lane `step` away, which keeps the other. */
static __device__ __forceinline__ real share(int step, real first, real second)
{
  const bool upper = warp_lane() & step;
  return (upper ? second : first) + __shfl_xor_sync(MD_ALL_LANES, upper ? first : second, step);
}

/* Each lane's sum with that of the lane `step` away. */
static __device__ __forceinline__ real both(int step, real value)
{
  return value + __shfl_xor_sync(MD_ALL_LANES, value, step);
}

/* Warp: values of up to `batches` times eight particles of one plane; of several vectors, or of
 * several batches. */
static __device__ __forceinline__ void read_values(const int p, const int vectors,
                                                   const int batches, const pencil_reader &s,
                                                   const staged &particles, int32_t count,
                                                   const window *planes)
{
  const int sets = vectors * batches, lane = warp_lane();
  const int set = (sets > 1 ? lane / 8 % 2 : 0) + (sets == 4 ? lane / 4 % 2 * 2 : 0);
  const int which = 2 * (lane % 4) + lane / 16 + (batches > 1 ? 8 * set : 0);
  lane_records from[MOST_BATCHES];
  line_pairs x[MOST_BATCHES];
  real z[MOST_BATCHES][2][SPREAD_ROW], value[MOST_SETS];
  plane_sums sum[MOST_SETS] = {};
  SPREAD_UNROLL
  for (int b = 0; b < batches; b++) {
    from[b] = find_records(p, particles, 8 * b);
    load_columns(from[b].x, x[b]);
    SPREAD_UNROLL
    for (int i = 0; i < 2; i++)
      load_reals(p, from[b].z[i], z[b][i]);
  }
  SPREAD_UNROLL
  for (int t = 0; t < WINDOW_LINES(p) / 2; t++)
    SPREAD_UNROLL
  for (int k = 0; k < sets; k++) {
    real column[4];
    sum_columns(t, x[k % batches], planes[k / batches], column);
    add_planes(p, t, z[k % batches], column, sum[k]);
  }
  SPREAD_UNROLL
  for (int k = 0; k < sets; k++) {
    const real *const *y = from[k % batches].y;
    value[k] = share(16, add_lines(p, y[0], sum[k][0]), add_lines(p, y[1], sum[k][1])) *
               scale_up(planes[k / batches].scale);
  }
  const uint32_t to = particles.index[wrap_slot(particles, particles.head + which)];
  real out = sets == 1 ? both(8, value[0]) : share(8, value[0], value[1]);
  out = sets == 4 ? share(4, out, share(8, value[2], value[3])) : both(4, out);
  const bool last = sets == 4 || !(lane & (sets == 2 ? 4 : 12));
  if (which < count && last) s.value[to + (vectors > 1 ? set * s.stride : 0)] = out;
}

/* Warp: values and gradients of up to eight particles.  Each lane ends with one particle's value or
 * one component of its gradient. */
static __device__ __forceinline__ void read_slopes(const int p, const pencil_reader &s,
                                                   const staged &particles, int32_t count,
                                                   const window &planes)
{
  const int skip = particles.slots * particles.length, row = warp_lane() / 4;
  const int which = 2 * (warp_lane() % 4) + row / 4;
  const lane_records from = find_records(p, particles, 0);
  line_pairs x, dx;
  real z[2][SPREAD_ROW], dz[2][SPREAD_ROW];
  plane_sums sum = {}, slow = {}, fast = {};
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    load_reals(p, from.z[i], z[i]);
    load_reals(p, from.z[i] + skip, dz[i]);
  }
  load_columns(from.x, x);
  load_columns(from.x + skip, dx);
  SPREAD_UNROLL
  for (int t = 0; t < WINDOW_LINES(p) / 2; t++) {
    real column[4];
    sum_columns(t, x, planes, column);
    add_planes(p, t, z, column, sum);
    add_planes(p, t, dz, column, slow);
    sum_columns(t, dx, planes, column);
    add_planes(p, t, z, column, fast);
  }
  real all[4][2];
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    all[0][i] = add_lines(p, from.y[i], sum[i]);
    all[1][i] = add_lines(p, from.y[i], slow[i]);
    all[2][i] = add_lines(p, from.y[i] + skip, sum[i]);
    all[3][i] = add_lines(p, from.y[i], fast[i]);
  }
  SPREAD_UNROLL
  for (int a = 0; a < 4; a++)
    all[a][0] = share(16, all[a][0], all[a][1]);
  const int64_t to = particles.index[wrap_slot(particles, particles.head + which)];
  const real out = share(4, share(8, all[0][0], all[2][0]), share(8, all[1][0], all[3][0])) *
                   scale_up(planes.scale);
  if (which >= count) return;
  const int axis = row % 4 - 1; /* -1: the value */
  if (axis >= 0)
    s.gradient[3 * to + axis] = (axis == 0   ? s.scale[0]
                                 : axis == 1 ? s.scale[1]
                                             : s.scale[2]) *
                                out;
  else if (s.value)
    s.value[to] = out;
}

/* Lane: ask for particle i, or the last one, to be copied while others are served.  It is not needed
 * again, and shall not drive from the cache what values are written to. */
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

/* Warp: stage the next particles, up to the end of a slice.  ahead: of the lane, the particle that it
 * stages next. */
static __device__ __forceinline__ void stage_more(const int p, const bool sloped,
                                                  const pencil_view &view, int32_t end,
                                                  pencil_particle *ahead, staged *s)
{
  __pipeline_wait_prior(0);
  __syncwarp();
  stage_particle(p, sloped, *ahead, *s);
  fetch(view, s->end + MD_WARP + warp_lane(), ahead);
  s->tail = wrap_slot(*s, s->tail + MD_WARP);
  s->end = min(s->end + MD_WARP, end);
  __syncwarp();
}

/* Warp: particles i and those after it, up to `stop`, all of one plane.  Each kind of batch moves on
 * by itself: joined, their ends cost a tenth. */
static __device__ __forceinline__ int32_t read_batch(const int p, const int vectors,
                                                     const bool sloped, const pencil_reader &s,
                                                     int32_t i, int32_t stop, const window *planes,
                                                     staged *particles)
{
  const int batches = vectors > 1 || sloped ? 1 : BATCHES(p);
  const int32_t until = min(stop, particles->end), count = until - i;
  if (batches > 1 && count > 8) {
    read_values(p, 1, batches, s, *particles, count, planes);
    particles->head = wrap_slot(*particles, particles->head + min(8 * batches, count));
    return min(i + 8 * batches, until);
  }
  if (sloped)
    read_slopes(p, s, *particles, count, planes[0]);
  else
    read_values(p, vectors, 1, s, *particles, count, planes);
  particles->head = wrap_slot(*particles, particles->head + min(8, count));
  return min(i + 8, until);
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void read_slice(const int p, const int vectors, const bool sloped,
                                                  const pencil_reader &s, staged particles,
                                                  pencil_particle *ahead)
{
  const int batch = vectors > 1 || sloped ? 8 : 8 * BATCHES(p);
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = s.view.begin[slice];
  const int32_t end = s.view.begin[slice + 1];
  walk at = walk_begin();
  particles.end = i;
  fetch(s.view, i + warp_lane(), ahead);
  clear_records(particles.record, RECORDS_LENGTH(p, vectors, sloped));
  while (i < end) {
    window planes[MOST_VECTORS] = {};
    plane_points next[MOST_VECTORS];
    walk_to(s.view, i, &at);
    const patch here = find_patch(p, s.view, at);
    plane_cursor cursor = {s.mesh, s.points, s.view.mesh,
                           s.mesh + (int64_t)at.plane * s.view.mesh[1] * s.view.mesh[2], at.plane};
    fill_window(p, vectors, here, &cursor, planes);
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      const int32_t stop = min(plane_end(s.view, &at), end);
      load_plane(p, vectors, here, &cursor, next);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (particles.end < min(stop, i + batch) && particles.end - i <= particles.slots - MD_WARP)
          stage_more(p, sloped, s.view, end, ahead, &particles);
        i = read_batch(p, vectors, sloped, s, i, stop, planes, &particles);
      }
      if (!fits(p, vectors, next, planes)) break;
      move_window(p, vectors, next, planes);
    }
  }
}

typedef void read_kernel(pencil_reader s);

#define SLICE_KERNEL(name, p, vectors, sloped)                                                     \
  static __global__ void __launch_bounds__(BLOCK, BLOCKS(p, vectors)) name##_##p(pencil_reader s)  \
  {                                                                                                \
    __shared__ quad records[WARPS][RECORDS_LENGTH(p, vectors, sloped) / QUAD];                     \
    __shared__ uint32_t index[WARPS][SLOTS(p, vectors, sloped)];                                   \
    __shared__ pencil_particle ahead[BLOCK];                                                       \
    const int warp = threadIdx.x / MD_WARP;                                                        \
    const staged none = {(real *)records[warp], index[warp], SLOTS(p, vectors, sloped),            \
                         RECORD_LENGTH(p, 0)};                                                     \
    read_slice(p, vectors, sloped, s, none, ahead + threadIdx.x);                                  \
  }
#define KERNELS(p)                                                                                 \
  SLICE_KERNEL(values_kernel, p, 1, false)                                                         \
  SLICE_KERNEL(vectors_kernel, p, VECTORS(p), false)                                               \
  SLICE_KERNEL(slopes_kernel, p, 1, true)
SPREAD_ORDERS(KERNELS)

/* The kernels of a plan: one vector at a time, and *vectors at a time. */
typedef struct {
  read_kernel *values, *of_vectors, *slopes;
  int32_t vectors;
} read_kernels;

static read_kernels pick_kernels(const spread_plan *plan)
{
  read_kernels picked = {};
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    picked = {values_kernel_##p, vectors_kernel_##p, slopes_kernel_##p, VECTORS(p)};               \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return picked;
}

md_status PREC(spread_gpu_tiled_back)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const read_kernels kernels = pick_kernels(plan);
  pencil_reader s = {{},
                     (const real *)job->mesh,
                     (real *)job->value,
                     (real *)job->gradient,
                     job->q_stride,
                     plan->grid.points,
                     {}};
  for (int a = 0; a < 3; a++)
    s.scale[a] = (real)spread_slope_scale(&plan->grid, a);
  /* values that the cache does not hold, in no order, are written faster one vector after the other */
  const bool together =
      !s.gradient && (int64_t)sizeof(real) * kernels.vectors * part->n <= plan->l2_bytes;
  for (int32_t v = 0, step; v < job->vectors; v += step) {
    step = together && job->vectors - v >= kernels.vectors ? kernels.vectors : 1;
    read_kernel *kernel = s.gradient ? kernels.slopes
                          : step > 1 ? kernels.of_vectors
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
