/* spread/spread_back_gpu.cu - interpolation on the GPU for particles sorted by pencil.
 *
 * The transpose of spread_tiled_gpu.cu: a warp sweeps a pencil with the planes z .. z + p - 1 of
 * its patch in registers, loaded once; the next plane is on its way while particles of this one are
 * served.  Eight particles at once: the product of the window's lines, mesh[(z, y)][x], with their X
 * (tile_gpu.h) leaves a number for each of p lines of 8 or 16 points, which the lanes multiply with Z
 * and Y and add up.  X is split for the products once, whatever the order; and products of different
 * lines need not wait for each other, as in the sum over lines they would.
 *
 * Eight particles cost 6 products for 16 lines (in double precision 2) and 3 shuffles for their
 * values; twice the products, with the slopes of X, and 7 shuffles with gradients. */
#include <cuda_pipeline.h>

#include "spread/window_gpu.h"

enum { WARPS = MD_PREC == 2 ? 1 : 2, BLOCK = WARPS * MD_WARP };

/* As measured: batches of eight that a warp reads together, so as to wait less; vectors that it reads
 * together; blocks that a multiprocessor shall hold; whether numbers of the window are split for
 * products when they are used, where registers do not hold both parts. */
#if MD_PREC == 2
#define BATCHES(p) 1
#define VECTORS(p) ((p) <= 6 ? 2 : 1)
#define BLOCKS(p, vectors) ((p) <= 6 && (vectors) == 1 ? 12 : 8)
#else
#define BATCHES(p) ((p) <= 7 || (p) == 9 ? 2 : 1)
#define VECTORS(p) ((p) <= 6 ? 4 : 1)
#define BLOCKS(p, vectors) ((p) <= 6 ? 1 : 6)
#endif
#define SPLIT_LATE(p, vectors) ((p) > 6 || (vectors) > 1)
enum { MOST_BATCHES = 2, MOST_SETS = 4 };

/* Results; NULL: not wanted.  Of one or VECTORS vectors, `stride` values and `points` apart. */
typedef struct {
  pencil_view view;
  const real *mesh;
  real *value, *gradient;
  int64_t stride, points;
  real scale[3]; /* from d / d fraction to d / d x */
} pencil_reader;

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

/* Where a particle is staged; beyond the last others stand in, whose results go nowhere. */
static __device__ __forceinline__ int staged_at(uint32_t number)
{
  return (int)(number % (uint32_t)MD_WARP);
}

/* Of eight staged particles from `first` on, where the lane's weights are: X of one at its columns, Y
 * at its lines and Z of two others. */
typedef struct {
  const real *x, *y[2], *z[2];
} lane_records;

static __device__ __forceinline__ lane_records find_records(const int p, const real *records,
                                                            uint32_t first)
{
  const int row = warp_lane() / 4, member = warp_lane() % 4, length = RECORD_LENGTH(p, 0);
  const real *mine = records + staged_at(first + row) * length;
  lane_records from;
  from.x = mine + load_offsets(p, mine).y + member;
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++) {
    from.z[i] = records + staged_at(first + 2 * member + i) * length;
    from.y[i] = from.z[i] + load_offsets(p, from.z[i]).x + row;
  }
  return from;
}

typedef operand columns[PATCH_COLUMNS];

static __device__ __forceinline__ void load_columns(const real *x, columns to)
{
  SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++)
    to[j] = operand_of(x[4 * j]);
}

/* Of eight particles, for lines 2 t and 2 t + 1 of the window: the sums over columns of X mesh. */
static __device__ __forceinline__ void sum_columns(const bool late, const int t, const columns x,
                                                   const window lines, real sum[4])
{
  SPREAD_UNROLL
  for (int i = 0; i < 4; i++)
    sum[i] = 0;
  SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j += 2) {
    const operand(*two)[PATCH_COLUMNS] = lines + 2 * t;
    const operand a[4] = {use(late, two[0][j]), use(late, two[1][j]), use(late, two[0][j + 1]),
                          use(late, two[1][j + 1])};
    add_lines_product(a, x + j, sum);
  }
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

/* Warp: values of up to `batches` times eight particles of one plane, of which `index` is the lane's
 * own in the order given; of several vectors, or of several batches. */
static __device__ __forceinline__ void
read_values(const int p, const int vectors, const int batches, const pencil_reader &s,
            const real *records, uint32_t index, int32_t first, int32_t count, const window *lines)
{
  const int sets = vectors * batches, lane = warp_lane();
  const int set = (sets > 1 ? lane / 8 % 2 : 0) + (sets == 4 ? lane / 4 % 2 * 2 : 0);
  const int which = 2 * (lane % 4) + lane / 16 + (batches > 1 ? 8 * set : 0);
  lane_records from[MOST_BATCHES];
  columns x[MOST_BATCHES];
  real z[MOST_BATCHES][2][SPREAD_ROW], value[MOST_SETS];
  plane_sums sum[MOST_SETS] = {};
  SPREAD_UNROLL
  for (int b = 0; b < batches; b++) {
    from[b] = find_records(p, records, first + 8 * b);
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
    sum_columns(SPLIT_LATE(p, vectors), t, x[k % batches], lines[k / batches], column);
    add_planes(p, t, z[k % batches], column, sum[k]);
  }
  SPREAD_UNROLL
  for (int k = 0; k < sets; k++) {
    const real *const *y = from[k % batches].y;
    value[k] = share(16, add_lines(p, y[0], sum[k][0]), add_lines(p, y[1], sum[k][1]));
  }
  const uint32_t to = __shfl_sync(MD_ALL_LANES, index, staged_at(first + which));
  real out = sets == 1 ? both(8, value[0]) : share(8, value[0], value[1]);
  out = sets == 4 ? share(4, out, share(8, value[2], value[3])) : both(4, out);
  const bool last = sets == 4 || !(lane & (sets == 2 ? 4 : 12));
  if (which < count && last) s.value[to + (vectors > 1 ? set * s.stride : 0)] = out;
}

/* Warp: values and gradients of up to eight particles.  Each lane ends with one particle's value or
 * one component of its gradient. */
static __device__ __forceinline__ void read_slopes(const int p, const pencil_reader &s,
                                                   const real *records, uint32_t index,
                                                   int32_t first, int32_t count, const window lines)
{
  const int skip = RECORDS * RECORD_LENGTH(p, 0), row = warp_lane() / 4;
  const int which = 2 * (warp_lane() % 4) + row / 4;
  const lane_records from = find_records(p, records, first);
  columns x, dx;
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
    sum_columns(SPLIT_LATE(p, 1), t, x, lines, column);
    add_planes(p, t, z, column, sum);
    add_planes(p, t, dz, column, slow);
    sum_columns(SPLIT_LATE(p, 1), t, dx, lines, column);
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
  const int64_t to = __shfl_sync(MD_ALL_LANES, index, staged_at(first + which));
  const real out = share(4, share(8, all[0][0], all[2][0]), share(8, all[1][0], all[3][0]));
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

/* Lane: ask for particle i, or the last one, to be copied while others are served. */
static __device__ __forceinline__ void fetch(const pencil_view &view, int32_t i,
                                             pencil_particle *to)
{
  const pencil_particle *from = view.particle + min(i, view.n - 1);
  SPREAD_UNROLL
  for (size_t k = 0; k < sizeof *to / sizeof(int4); k++)
    __pipeline_memcpy_async((int4 *)to + k, (const int4 *)from + k, sizeof(int4));
  __pipeline_commit();
}

/* Warp: one slice of the particles.  ahead: of the lane, the particle that it stages next. */
static __device__ __forceinline__ void read_slice(const int p, const int vectors, const bool sloped,
                                                  const pencil_reader &s, real *records,
                                                  pencil_particle *ahead)
{
  const bool late = SPLIT_LATE(p, vectors);
  const int lane = warp_lane(), batches = vectors > 1 || sloped ? 1 : BATCHES(p);
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = slice * s.view.slice, staged = i, staged_end = i;
  const int32_t end = min(i + s.view.slice, s.view.n);
  uint32_t index = 0;
  walk at = walk_begin();
  fetch(s.view, i + lane, ahead);
  clear_records(records, ALL_RECORDS(sloped) * RECORD_LENGTH(p, 0));
  while (i < end) {
    window lines[MOST_VECTORS] = {};
    plane_points next[MOST_VECTORS];
    walk_to(s.view, i, &at);
    const patch here = find_patch(p, s.view, at);
    plane_cursor cursor = {s.mesh, s.points, s.view.mesh,
                           s.mesh + (int64_t)at.plane * s.view.mesh[1] * s.view.mesh[2], at.plane};
    SPREAD_UNROLL
    for (int k = 0; k < p; k++) {
      load_plane(p, vectors, here, &cursor, next);
      place_plane(p, vectors, late, k, next, lines);
    }
    for (int empty = 0; empty < p && i < end && at.plane < s.view.mesh[0]; at.plane++) {
      const int32_t stop = min(plane_end(s.view, &at), end);
      load_plane(p, vectors, here, &cursor, next);
      empty = stop > i ? 0 : empty + 1;
      while (i < stop) {
        if (i == staged_end) {
          staged = i;
          staged_end = min(i + MD_WARP, end);
          __pipeline_wait_prior(0);
          __syncwarp();
          stage_particle(p, sloped, *ahead, records + lane * RECORD_LENGTH(p, 0));
          index = ahead->index;
          fetch(s.view, i + MD_WARP + lane, ahead);
          __syncwarp();
        }
        const int32_t until = min(stop, staged_end), count = until - i;
        move_window(p, vectors, late, 0, lines);
        /* each moves on by itself: joined, their ends cost a tenth */
        if (sloped) {
          read_slopes(p, s, records, index, i - staged, count, lines[0]);
          i = min(i + 8, until);
        } else if (batches > 1 && count > 8) {
          read_values(p, 1, batches, s, records, index, i - staged, count, lines);
          i = min(i + 8 * batches, until);
        } else {
          read_values(p, vectors, 1, s, records, index, i - staged, count, lines);
          i = min(i + 8, until);
        }
      }
      move_window(p, vectors, late, 1, lines);
      place_plane(p, vectors, late, p - 1, next, lines);
    }
  }
}

typedef void read_kernel(pencil_reader s);

#define SLICE_KERNEL(name, p, vectors, sloped)                                                     \
  static __global__ void __launch_bounds__(BLOCK, BLOCKS(p, vectors)) name##_##p(pencil_reader s)  \
  {                                                                                                \
    __shared__ quad records[WARPS][ALL_RECORDS(sloped) * RECORD_LENGTH(p, 0) / QUAD];              \
    __shared__ pencil_particle ahead[BLOCK];                                                       \
    read_slice(p, vectors, sloped, s, (real *)records[threadIdx.x / MD_WARP],                      \
               ahead + threadIdx.x);                                                               \
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
  for (int32_t v = 0, step; v < job->vectors; v += step) {
    step = !s.gradient && job->vectors - v >= kernels.vectors ? kernels.vectors : 1;
    read_kernel *kernel = s.gradient ? kernels.slopes
                          : step > 1 ? kernels.of_vectors
                                     : kernels.values;
    int blocks;
    MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0));
    s.view = view_part(plan, part, (int64_t)plan->multiprocessors * blocks * WARPS, step);
    kernel<<<md_blocks(s.view.slices, WARPS), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(s);
    MD_LAUNCHED();
    s.mesh += step * s.points;
    if (s.value) s.value += step * s.stride;
    if (s.gradient) s.gradient += 3 * s.stride;
  }
  return MD_OK;
}
