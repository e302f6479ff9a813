/* spread/spread_back_gpu.cu - interpolation on the GPU for particles sorted by pencil.
 *
 * The transpose of spread_tiled_gpu.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, each lane R points a plane, loaded once and coalesced; the next plane is
 * on its way while particles of this one are served.  Every lane multiplies its points with a
 * particle's weights, and a butterfly adds up the warp.  A particle costs p R multiply-adds a lane
 * and 5 shuffles for its value, 2 p R and 6 with its gradient. */
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
typedef real window[PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)][SPREAD_ORDER_MAX];

/* The weights of a staged particle are followed by their slopes, in the same form. */
#define STAGE_SLOPES(p) STAGE_STRIDE(p, 0)
#define STAGE_BOTH(p) ((QUADS(2 * STAGE_STRIDE(p, 0)) | 1) * QUAD)

/* Lane: weights of one particle; returns its index in the given order. */
static __device__ __forceinline__ uint32_t stage_particle(const int p, const bool sloped,
                                                          const pencil_reader &s, int32_t i,
                                                          real *stage)
{
  const pencil_particle particle = s.view.particle[i];
  real f[3], w[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    if (sloped)
      bspline_derivatives(p, f[a], w[a], d[a]);
    else
      bspline_weights(p, f[a], w[a]);
  stage_weights(p, stage, middle, fast, w[2], w[1], w[0], 1);
  if (sloped) stage_weights(p, stage + STAGE_SLOPES(p), middle, fast, d[2], d[1], d[0], 1);
  return particle.index;
}

/* The lane's weights. */
typedef struct {
  real x, y[SPREAD_ROW], z[SPREAD_ROW];
} lane_weights;

static __device__ __forceinline__ lane_weights load_weights(const int p, const real *stage)
{
  const int lane = warp_lane();
  lane_weights w;
  w.x = stage[lane % SPREAD_ROW];
  load_reals(PENCIL_LANE_ROWS(p), stage + STAGE_Y + lane / SPREAD_ROW * STAGE_ROWS(p), w.y);
  load_reals(p, stage + STAGE_Z(p), w.z);
  return w;
}

static __device__ __forceinline__ real exchange(real value, int step)
{
  return __shfl_xor_sync(MD_ALL_LANES, value, step);
}

/* Sum over the warp, in all lanes. */
static __device__ __forceinline__ real sum_one(real a)
{
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    a += exchange(a, step);
  return a;
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

/* Value of a staged particle (all lanes), or value and slopes along the slowest, middle and fastest
 * axis (eight lanes each). */
static __device__ __forceinline__ real read_staged(const int p, const bool sloped,
                                                   const real *stage, const window planes)
{
  const lane_weights w = load_weights(p, stage);
  lane_weights d;
  if (sloped) d = load_weights(p, stage + STAGE_SLOPES(p));
  real sum = 0, outer = 0, middle = 0;
  SPREAD_UNROLL
  for (int r = 0; r < PENCIL_LANE_ROWS(p); r++) {
    real along = 0, slope = 0;
    SPREAD_UNROLL
    for (int k = 0; k < p; k++) {
      along += w.z[k] * planes[r][k];
      if (sloped) slope += d.z[k] * planes[r][k];
    }
    sum += w.y[r] * along;
    if (sloped) {
      outer += w.y[r] * slope;
      middle += d.y[r] * along;
    }
  }
  if (!sloped) return sum_one(w.x * sum);
  const real out[4] = {w.x * sum, w.x * outer, w.x * middle, d.x * sum};
  return sum_four(out);
}

static __device__ __forceinline__ void load_plane(const int p, const pencil_reader &s,
                                                  int32_t plane, const uint32_t *point, int reach,
                                                  real *to)
{
  const int32_t *mesh = s.view.mesh;
  const real *from = s.mesh + (int64_t)(plane % mesh[0]) * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int r = 0; r < PENCIL_LANE_ROWS(p); r++)
    to[r] = r < reach ? from[point[r]] : (real)0;
}

/* Lane: the results of its particle, from the four that the warp left in shared memory. */
static __device__ __forceinline__ void write_results(const bool sloped, const pencil_reader &s,
                                                     uint32_t index, const real *result)
{
  if (s.value) s.value[index] = result[0];
  if (!sloped) return;
  for (int a = 0; a < 3; a++)
    s.gradient[3 * (int64_t)index + a] = s.scale[a] * result[1 + a];
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void
read_slice(const int p, const bool sloped, const pencil_reader &s, real *stage, real (*result)[4])
{
  const int stride = sloped ? STAGE_BOTH(p) : STAGE_STRIDE(p, 0), lane = warp_lane();
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  const int32_t end = min((slice + 1) << s.view.slice_bits, s.view.n);
  int32_t i = slice << s.view.slice_bits, staged = i, staged_end = i;
  uint32_t index = 0;
  while (i < end) {
    uint32_t point[PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)];
    window planes;
    walk at = walk_to(s.view, i);
    const int reach = lane_points(p, s.view, at, point);
    SPREAD_UNROLL
    for (int k = 0; k < p; k++) {
      real plane[PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)];
      load_plane(p, s, at.plane + k, point, reach, plane);
      SPREAD_UNROLL
      for (int r = 0; r < PENCIL_LANE_ROWS(p); r++)
        planes[r][k] = plane[r];
    }
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      real next[PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)];
      load_plane(p, s, at.plane + p, point, reach, next);
      const int32_t stop = min(plane_end(s.view, &at), end);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (i == staged_end) {
          staged = i;
          staged_end = min(i + MD_WARP, end);
          if (i + lane < end) index = stage_particle(p, sloped, s, i + lane, stage + lane * stride);
          __syncwarp();
        }
        for (const int32_t until = min(stop, staged_end); i < until; i++) {
          const real out = read_staged(p, sloped, stage + (i - staged) * stride, planes);
          if (lane % 8 == 0) result[i - staged][lane / 8] = out;
        }
        if (i == staged_end) {
          __syncwarp();
          if (staged + lane < staged_end) write_results(sloped, s, index, result[lane]);
          __syncwarp();
        }
      }
      SPREAD_UNROLL
      for (int r = 0; r < PENCIL_LANE_ROWS(p); r++) {
        SPREAD_UNROLL
        for (int k = 1; k < p; k++)
          planes[r][k - 1] = planes[r][k];
        planes[r][p - 1] = next[r];
      }
    }
  }
}

#define KERNELS(p)                                                                                 \
  static __global__ void __launch_bounds__(BLOCK) read_kernel_##p(pencil_reader s)                 \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * STAGE_STRIDE(p, 0) / QUAD];                             \
    __shared__ real result[WARPS][MD_WARP][4];                                                     \
    const int warp = threadIdx.x / MD_WARP;                                                        \
    read_slice(p, false, s, (real *)stage[warp], result[warp]);                                    \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK) read_slopes_kernel_##p(pencil_reader s)          \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * STAGE_BOTH(p) / QUAD];                                  \
    __shared__ real result[WARPS][MD_WARP][4];                                                     \
    const int warp = threadIdx.x / MD_WARP;                                                        \
    read_slice(p, true, s, (real *)stage[warp], result[warp]);                                     \
  }
SPREAD_ORDERS(KERNELS)

md_status PREC(spread_gpu_tiled_back)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  pencil_reader s = {view_part(plan, part),
                     (const real *)job->mesh,
                     (real *)job->value,
                     (real *)job->gradient,
                     {0, 0, 0}};
  for (int a = 0; a < 3; a++)
    s.scale[a] = (real)spread_slope_scale(&plan->grid, a);
  const unsigned blocks = md_blocks(s.view.slices, WARPS);
  for (int32_t v = 0; v < job->vectors; v++) {
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (s.gradient)                                                                                \
      read_slopes_kernel_##p<<<blocks, BLOCK, 0, stream>>>(s);                                     \
    else                                                                                           \
      read_kernel_##p<<<blocks, BLOCK, 0, stream>>>(s);                                            \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
    s.mesh += plan->grid.points;
    if (s.value) s.value += job->q_stride;
    if (s.gradient) s.gradient += 3 * job->q_stride;
  }
  return MD_OK;
}
