/* spread/spread_back_gpu.cu - interpolation on the GPU for particles sorted by pencil.
 *
 * The transpose of spread_tiled_gpu.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, each lane R points a plane, loaded once and coalesced; the next plane is
 * on its way while particles of this one are served.  Every lane multiplies its points with a
 * particle's weights, and a butterfly adds up the warp, four numbers at once.  A particle costs p R
 * multiply-adds a lane and 1.5 shuffles for its value, 2 p R and 6 with its gradient. */
#include "spread/pencil_gpu.h"

enum { WARPS = 2, BLOCK = WARPS * MD_WARP };

/* Results; NULL: not wanted. */
typedef struct {
  pencil_view view;
  const real *mesh;
  real *value, *gradient;
  real scale[3]; /* from d / d fraction to d / d x */
} pencil_reader;

/* [row][plane]; loops over constants keep it in registers. */
typedef real window[LANE_ROWS_MAX][SPREAD_ORDER_MAX];

/* The weights of a staged particle are followed by their slopes, in the same form. */
#define STAGE_SLOPES(p, w) STAGE_STRIDE(p, w, 0)
#define STAGE_BOTH(p, w) ((QUADS(2 * STAGE_STRIDE(p, w, 0)) | 1) * QUAD)

/* Lane: weights of one particle; returns its index in the given order. */
static __device__ __forceinline__ uint32_t stage_particle(const int p, const int w,
                                                          const bool sloped, const pencil_reader &s,
                                                          int32_t i, real *stage)
{
  const pencil_particle particle = s.view.particle[i];
  real f[3], weights[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    if (sloped)
      bspline_derivatives(p, f[a], weights[a], d[a]);
    else
      bspline_weights(p, f[a], weights[a]);
  stage_weights(p, w, stage, middle, fast, weights[2], weights[1], weights[0], 1);
  if (sloped) stage_weights(p, w, stage + STAGE_SLOPES(p, w), middle, fast, d[2], d[1], d[0], 1);
  return particle.index;
}

/* The lane's weights. */
typedef struct {
  real x, y[SPREAD_ROW], z[SPREAD_ROW];
} lane_weights;

static __device__ __forceinline__ lane_weights load_weights(const int p, const int w,
                                                            const real *stage)
{
  const int lane = warp_lane();
  lane_weights to;
  to.x = stage[lane % w];
  load_reals(PENCIL_ROWS(p, w), stage + STAGE_Y(w) + lane / w * STAGE_ROWS(p, w), to.y);
  load_reals(p, stage + STAGE_Z(p, w), to.z);
  return to;
}

static __device__ __forceinline__ real exchange(real value, int step)
{
  return __shfl_xor_sync(MD_ALL_LANES, value, step);
}

/* Four sums over the warp: that of out[k] in lanes 8 k .. 8 k + 7.  Lanes give away half of what
 * they hold in each of the first two rounds. */
static __device__ __forceinline__ real sum_four(const real *out)
{
  const bool upper = warp_lane() & 16, odd = warp_lane() & 8;
  const real a = (upper ? out[2] : out[0]) + exchange(upper ? out[0] : out[2], 16);
  const real b = (upper ? out[3] : out[1]) + exchange(upper ? out[1] : out[3], 16);
  real sum = (odd ? b : a) + exchange(odd ? a : b, 8);
  for (int step = 4; step > 0; step /= 2)
    sum += exchange(sum, step);
  return sum;
}

/* The lane's share of a staged particle's value. */
static __device__ __forceinline__ real read_value(const int p, const int w, const real *stage,
                                                  const window planes)
{
  const lane_weights weights = load_weights(p, w, stage);
  real sum = 0;
  SPREAD_UNROLL
  for (int r = 0; r < PENCIL_ROWS(p, w); r++) {
    real along = 0;
    SPREAD_UNROLL
    for (int k = 0; k < p; k++)
      along += weights.z[k] * planes[r][k];
    sum += weights.y[r] * along;
  }
  return weights.x * sum;
}

/* The same with its slopes along the slowest, middle and fastest axis. */
static __device__ __forceinline__ void read_slopes(const int p, const int w, const real *stage,
                                                   const window planes, real out[4])
{
  const lane_weights weights = load_weights(p, w, stage);
  const lane_weights d = load_weights(p, w, stage + STAGE_SLOPES(p, w));
  real sum = 0, outer = 0, middle = 0;
  SPREAD_UNROLL
  for (int r = 0; r < PENCIL_ROWS(p, w); r++) {
    real along = 0, slope = 0;
    SPREAD_UNROLL
    for (int k = 0; k < p; k++) {
      along += weights.z[k] * planes[r][k];
      slope += d.z[k] * planes[r][k];
    }
    sum += weights.y[r] * along;
    outer += weights.y[r] * slope;
    middle += d.y[r] * along;
  }
  out[0] = weights.x * sum;
  out[1] = weights.x * outer;
  out[2] = weights.x * middle;
  out[3] = d.x * sum;
}

/* Staged particles [from, until): values of four at a time, or one value with its slopes, into
 * shared memory. */
static __device__ __forceinline__ void read_staged(const int p, const int w, const bool sloped,
                                                   int32_t from, int32_t until, const real *stage,
                                                   const window planes, real (*result)[4])
{
  const int stride = sloped ? STAGE_BOTH(p, w) : STAGE_STRIDE(p, w, 0), lane = warp_lane();
  for (int32_t i = from; i < until; i += sloped ? 1 : 4) {
    real out[4] = {0, 0, 0, 0};
    if (sloped) {
      read_slopes(p, w, stage + i * stride, planes, out);
    } else {
      SPREAD_UNROLL
      for (int k = 0; k < 4; k++)
        if (i + k < until) out[k] = read_value(p, w, stage + (i + k) * stride, planes);
    }
    const real sum = sum_four(out);
    if (lane % 8 == 0 && sloped) result[i][lane / 8] = sum;
    if (lane % 8 == 0 && !sloped && i + lane / 8 < until) result[i + lane / 8][0] = sum;
  }
}

static __device__ __forceinline__ void load_plane(const int p, const int w, const pencil_reader &s,
                                                  int32_t plane, const uint32_t *point, int reach,
                                                  real *to)
{
  const int32_t *mesh = s.view.mesh;
  const real *from = s.mesh + (int64_t)(plane % mesh[0]) * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int r = 0; r < PENCIL_ROWS(p, w); r++)
    to[r] = r < reach ? from[point[r]] : (real)0;
}

static __device__ __forceinline__ void load_window(const int p, const int w, const pencil_reader &s,
                                                   int32_t plane, const uint32_t *point, int reach,
                                                   window planes)
{
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    real column[LANE_ROWS_MAX];
    load_plane(p, w, s, plane + k, point, reach, column);
    SPREAD_UNROLL
    for (int r = 0; r < PENCIL_ROWS(p, w); r++)
      planes[r][k] = column[r];
  }
}

/* Lane: the results of its particle, from those that the warp left in shared memory. */
static __device__ __forceinline__ void write_results(const bool sloped, const pencil_reader &s,
                                                     uint32_t index, const real *result)
{
  if (s.value) s.value[index] = result[0];
  if (!sloped) return;
  for (int a = 0; a < 3; a++)
    s.gradient[3 * (int64_t)index + a] = s.scale[a] * result[1 + a];
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void read_slice(const int p, const int w, const bool sloped,
                                                  const pencil_reader &s, real *stage,
                                                  real (*result)[4])
{
  const int stride = sloped ? STAGE_BOTH(p, w) : STAGE_STRIDE(p, w, 0), lane = warp_lane();
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = slice * s.view.slice, staged = i, staged_end = i;
  const int32_t end = min(i + s.view.slice, s.view.n);
  uint32_t index = 0;
  walk at = walk_begin();
  while (i < end) {
    uint32_t point[LANE_ROWS_MAX];
    window planes;
    walk_to(s.view, i, &at);
    const int reach = lane_points(p, w, s.view, at, point);
    load_window(p, w, s, at.plane, point, reach, planes);
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      real next[LANE_ROWS_MAX];
      load_plane(p, w, s, at.plane + p, point, reach, next);
      const int32_t stop = min(plane_end(s.view, &at), end);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (i == staged_end) {
          staged = i;
          staged_end = min(i + MD_WARP, end);
          if (i + lane < end)
            index = stage_particle(p, w, sloped, s, i + lane, stage + lane * stride);
          __syncwarp();
        }
        const int32_t until = min(stop, staged_end);
        read_staged(p, w, sloped, i - staged, until - staged, stage, planes, result);
        i = until;
        if (i == staged_end) {
          __syncwarp();
          if (staged + lane < staged_end) write_results(sloped, s, index, result[lane]);
          __syncwarp();
        }
      }
      SPREAD_UNROLL
      for (int r = 0; r < PENCIL_ROWS(p, w); r++) {
        SPREAD_UNROLL
        for (int k = 1; k < p; k++)
          planes[r][k - 1] = planes[r][k];
        planes[r][p - 1] = next[r];
      }
    }
  }
}

typedef void read_kernel(pencil_reader s);

#define SLICE_KERNEL(name, p, w, sloped, stride)                                                   \
  static __global__ void __launch_bounds__(BLOCK) name##_##p##_##w(pencil_reader s)                \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * (stride) / QUAD];                                       \
    __shared__ real result[WARPS][MD_WARP][4];                                                     \
    const int warp = threadIdx.x / MD_WARP;                                                        \
    read_slice(p, w, sloped, s, (real *)stage[warp], result[warp]);                                \
  }
#define KERNELS(p, w)                                                                              \
  SLICE_KERNEL(values_kernel, p, w, false, STAGE_STRIDE(p, w, 0))                                  \
  SLICE_KERNEL(slopes_kernel, p, w, true, STAGE_BOTH(p, w))
PENCIL_SHAPES(KERNELS)

static read_kernel *pick_kernel(const spread_plan *plan, bool sloped)
{
  switch (PENCIL_SHAPE(plan->grid.order, plan->pencils.width)) {
#define CASE(p, w)                                                                                 \
  case PENCIL_SHAPE(p, w):                                                                         \
    return sloped ? slopes_kernel_##p##_##w : values_kernel_##p##_##w;
    PENCIL_SHAPES(CASE)
#undef CASE
  }
  return NULL;
}

md_status PREC(spread_gpu_tiled_back)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  read_kernel *kernel = pick_kernel(plan, job->gradient != NULL);
  int blocks;
  MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0));
  pencil_reader s = {view_part(plan, part, (int64_t)plan->multiprocessors * blocks * WARPS, 1),
                     (const real *)job->mesh,
                     (real *)job->value,
                     (real *)job->gradient,
                     {0, 0, 0}};
  for (int a = 0; a < 3; a++)
    s.scale[a] = (real)spread_slope_scale(&plan->grid, a);
  for (int32_t v = 0; v < job->vectors; v++) {
    kernel<<<md_blocks(s.view.slices, WARPS), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(s);
    MD_LAUNCHED();
    s.mesh += plan->grid.points;
    if (s.value) s.value += job->q_stride;
    if (s.gradient) s.gradient += 3 * job->q_stride;
  }
  return MD_OK;
}
