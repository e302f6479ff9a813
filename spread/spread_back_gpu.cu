/* spread/spread_back_gpu.cu - interpolation on the GPU for particles sorted by pencil.
 *
 * The transpose of spread_tiled_gpu.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, loaded once and in rows of eight; the next plane is on its way while
 * particles of this one are served.  Eight particles at once: the product of mesh[x][(y, z)] with
 * their Y Z (tile_gpu.h) leaves a column of 16 numbers for each, which the lanes multiply with X and
 * add up.  They cost 3 p products a tile (p in double precision) and 3 shuffles for their values,
 * three times the products and 7 shuffles with gradients. */
#include "spread/tile_gpu.h"

enum { WARPS = MD_PREC == 2 ? 1 : 2, BLOCK = WARPS * MD_WARP };

/* Results; NULL: not wanted. */
typedef struct {
  pencil_view view;
  const real *mesh;
  real *value, *gradient;
  real scale[3]; /* from d / d fraction to d / d x */
} pencil_reader;

/* [plane][tile][of the lane]; loops over constants keep it in registers. */
typedef operand window[SPREAD_ORDER_MAX][PENCIL_TILES_MAX][4];

/* Slopes are records of their own behind those of weights, without offsets. */
#define ALL_RECORDS(sloped) ((sloped) ? 2 * RECORDS : RECORDS)

/* Lane: its particle's records. */
static __device__ __forceinline__ void stage_particle(const int p, const bool sloped,
                                                      const pencil_particle &particle, real *record)
{
  real f[3], w[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    if (sloped)
      bspline_derivatives(p, f[a], w[a], d[a]);
    else
      bspline_weights(p, f[a], w[a]);
  store_weights(p, w, record);
  store_offsets(p, middle, fast, record);
  if (sloped) store_weights(p, d, record + RECORDS * RECORD_LENGTH(p, 0));
}

/* What a lane needs of the batch: of one particle Z and Y at its lines, of two others X at its
 * columns, [particle][column]. */
typedef struct {
  real z[SPREAD_ROW], y[TILE_LINES_MAX], x[2][2];
} lane_weights;

/* Where those are, in records of weights or of slopes. */
typedef struct {
  const real *z, *y, *x[2];
} lane_records;

static __device__ __forceinline__ void load_weights(const int p, const lane_records &from,
                                                    int records, lane_weights *to)
{
  const int skip = records * RECORD_LENGTH(p, 0);
  load_reals(p, from.z + skip, to->z);
  SPREAD_UNROLL
  for (int j = 0; j < 2 * PENCIL_TILES(p); j++)
    to->y[j] = from.y[skip + 4 * j];
  SPREAD_UNROLL
  for (int i = 0; i < 4; i++)
    to->x[i / 2][i % 2] = from.x[i / 2][skip + i % 2 * 8];
}

/* Columns of eight particles: the sum over planes and lines of Y Z mesh. */
static __device__ __forceinline__ void sum_lines(const int p, const real *y, const real *z,
                                                 const window planes, real sum[4])
{
  SPREAD_UNROLL
  for (int i = 0; i < 4; i++)
    sum[i] = 0;
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    SPREAD_UNROLL
  for (int t = 0; t < PENCIL_TILES(p); t++) {
    const operand b[2] = {operand_of(y[2 * t] * z[k]), operand_of(y[2 * t + 1] * z[k])};
    add_product(planes[k][t], b, sum);
  }
}

/* The lane's share of both particles' sums over columns. */
static __device__ __forceinline__ void sum_columns(const real x[2][2], const real sum[4],
                                                   real out[2])
{
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++)
    out[i] = x[i][0] * sum[i] + x[i][1] * sum[2 + i];
}

/* Of two numbers, one's sum with that of the lane `step` away, which keeps the other. */
static __device__ __forceinline__ real share(int step, real first, real second)
{
  const bool upper = warp_lane() & step;
  return (upper ? second : first) + __shfl_xor_sync(MD_ALL_LANES, upper ? first : second, step);
}

/* Warp: up to eight particles of one plane, of which `index` is the lane's own in the order given.
 * Each lane ends with one particle's value or one component of its gradient. */
static __device__ __forceinline__ void read_eight(const int p, const bool sloped,
                                                  const pencil_reader &s, const real *records,
                                                  uint32_t index, int32_t first, int32_t count,
                                                  const window planes)
{
  const int row = warp_lane() / 4, pair = 2 * (warp_lane() % 4), length = RECORD_LENGTH(p, 0);
  const real *mine = records + (row < count ? first + row : MD_WARP) * length;
  lane_records from = {mine, mine + load_offsets(p, mine).x + TILE_LINE(0)};
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    const real *other = records + (pair + i < count ? first + pair + i : MD_WARP) * length;
    from.x[i] = other + load_offsets(p, other).y + TILE_COLUMN(0);
  }
  lane_weights w, d;
  real sum[4], value[2], slope[3][2];
  load_weights(p, from, 0, &w);
  sum_lines(p, w.y, w.z, planes, sum);
  sum_columns(w.x, sum, value);
  const int which = pair + (row >> 2); /* of the eight */
  const int64_t to = __shfl_sync(MD_ALL_LANES, index, (first + which) % MD_WARP);
  real out = share(16, value[0], value[1]);
  if (!sloped) {
    out += __shfl_xor_sync(MD_ALL_LANES, out, 8);
    out += __shfl_xor_sync(MD_ALL_LANES, out, 4);
    if (which < count && row % 4 == 0) s.value[to] = out;
    return;
  }
  load_weights(p, from, RECORDS, &d);
  sum_columns(d.x, sum, slope[2]);
  sum_lines(p, w.y, d.z, planes, sum);
  sum_columns(w.x, sum, slope[0]);
  sum_lines(p, d.y, w.z, planes, sum);
  sum_columns(w.x, sum, slope[1]);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    slope[a][0] = share(16, slope[a][0], slope[a][1]);
  out = share(4, share(8, out, slope[1][0]), share(8, slope[0][0], slope[2][0]));
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

static __device__ __forceinline__ void load_plane(const int p, const pencil_reader &s,
                                                  int32_t plane, const tile_points &points,
                                                  real to[TILE_LINES_MAX][2])
{
  const int32_t *mesh = s.view.mesh;
  const real *from = s.mesh + (int64_t)(plane % mesh[0]) * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int j = 0; j < 2 * PENCIL_TILES(p); j++)
    SPREAD_UNROLL
  for (int c = 0; c < 2; c++)
    to[j][c] = reaches(points, j, c) ? from[points.at[j][c]] : (real)0;
}

static __device__ __forceinline__ void place_plane(const int p, const real from[TILE_LINES_MAX][2],
                                                   operand to[PENCIL_TILES_MAX][4])
{
  SPREAD_UNROLL
  for (int j = 0; j < 2 * PENCIL_TILES(p); j++)
    SPREAD_UNROLL
  for (int c = 0; c < 2; c++)
    to[j / 2][j % 2 * 2 + c] = operand_of(from[j][c]);
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void read_slice(const int p, const bool sloped,
                                                  const pencil_reader &s, real *records)
{
  const int lane = warp_lane();
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = slice * s.view.slice, staged = i, staged_end = i;
  const int32_t end = min(i + s.view.slice, s.view.n), last = s.view.n - 1;
  pencil_particle ahead = s.view.particle[min(i + lane, last)];
  uint32_t index = 0;
  walk at = walk_begin();
  clear_records(records, ALL_RECORDS(sloped) * RECORD_LENGTH(p, 0));
  while (i < end) {
    window planes;
    real next[TILE_LINES_MAX][2];
    walk_to(s.view, i, &at);
    const tile_points points = find_points(p, s.view, at);
    SPREAD_UNROLL
    for (int k = 0; k < p; k++) {
      load_plane(p, s, at.plane + k, points, next);
      place_plane(p, next, planes[k]);
    }
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      load_plane(p, s, at.plane + p, points, next);
      const int32_t stop = min(plane_end(s.view, &at), end);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (i == staged_end) {
          staged = i;
          staged_end = min(i + MD_WARP, end);
          __syncwarp();
          stage_particle(p, sloped, ahead, records + lane * RECORD_LENGTH(p, 0));
          index = ahead.index;
          ahead = s.view.particle[min(i + MD_WARP + lane, last)];
          __syncwarp();
        }
        const int32_t until = min(stop, staged_end);
        for (; i < until; i += 8)
          read_eight(p, sloped, s, records, index, i - staged, until - i, planes);
        i = until;
      }
      SPREAD_UNROLL
      for (int k = 1; k < p; k++)
        SPREAD_UNROLL
      for (int j = 0; j < 4 * PENCIL_TILES(p); j++)
        planes[k - 1][j / 4][j % 4] = planes[k][j / 4][j % 4];
      place_plane(p, next, planes[p - 1]);
    }
  }
}

typedef void read_kernel(pencil_reader s);

#define SLICE_KERNEL(name, p, sloped)                                                              \
  static __global__ void __launch_bounds__(BLOCK) name##_##p(pencil_reader s)                      \
  {                                                                                                \
    __shared__ quad records[WARPS][ALL_RECORDS(sloped) * RECORD_LENGTH(p, 0) / QUAD];              \
    read_slice(p, sloped, s, (real *)records[threadIdx.x / MD_WARP]);                              \
  }
#define KERNELS(p)                                                                                 \
  SLICE_KERNEL(values_kernel, p, false)                                                            \
  SLICE_KERNEL(slopes_kernel, p, true)
SPREAD_ORDERS(KERNELS)

static read_kernel *pick_kernel(const spread_plan *plan, bool sloped)
{
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    return sloped ? slopes_kernel_##p : values_kernel_##p;
    SPREAD_ORDERS(CASE)
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
