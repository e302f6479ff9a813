/* spread/spread_tiled_gpu.cu - tiled spreading on the GPU: pencils swept by warps.
 *
 * A warp sweeps along the slowest axis with a ring of p planes of its pencil's patch in registers:
 * lane l holds column l % 16 of R rows (pencil.h).  A particle of plane z adds to planes z .. z + p
 * - 1 of the ring, each lane X Y Z at its own points, zero where the particle does not reach:
 * nothing is atomic and no two lanes meet.  When no particle can reach a plane any more it is added
 * to the mesh by one RED a point, in rows of 16.
 *
 * A particle costs p R multiply-adds a lane, 4-6 loads from shared memory, and 16 bytes (32 in
 * double); a plane of a pencil 32 R REDs, whatever it holds.
 *
 * Deterministic plans store the planes of each slice side by side instead, and a second kernel adds
 * them in the order of pencils and slices.  Plane t of slice s, counted through all pencils with
 * their p - 1 planes beyond the end, lies at t + s p: slices share at most p planes. */
#include "spread/pencil_gpu.h"

enum { WARPS = 4, BLOCK = WARPS * MD_WARP, SUM_BLOCK = 256 };

/* Vectors that a warp sums at once: as many rings as registers allow. */
enum { MOST_VECTORS = 4, MOST_WORDS = 96 };
#define RING_WORDS(p) ((p)*PENCIL_LANE_ROWS(p) * (int)(sizeof(real) / 4))
#define VECTORS(p) (4 * RING_WORDS(p) <= MOST_WORDS ? 4 : 2 * RING_WORDS(p) <= MOST_WORDS ? 2 : 1)

/* What a sweep reads and writes: charges q of `vectors` vectors, and their meshes, or the planes of
 * one vector. */
typedef struct {
  pencil_view view;
  const real *q;
  int64_t q_stride, points;
  real *mesh, *planes;
} sweep;

/* [vector][row][plane]; loops over constants keep it in registers. */
typedef real ring[MOST_VECTORS][PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)][SPREAD_ORDER_MAX];

/* Lane: the weights and charges of one particle; one vector's charge goes into its X. */
static __device__ __forceinline__ void stage_particle(const int p, const int vectors,
                                                      const sweep &s, int32_t i, real *stage)
{
  const pencil_particle particle = s.view.particle[i];
  const real *q = s.q + particle.index;
  real f[3], w[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    bspline_weights(p, f[a], w[a]);
  stage_weights(p, stage, middle, fast, w[2], w[1], w[0], vectors == 1 ? *q : (real)1);
  SPREAD_UNROLL
  for (int v = 0; v < vectors && vectors > 1; v++)
    stage[STAGE_MORE(p) + v] = q[v * s.q_stride];
}

static __device__ __forceinline__ void add_staged(const int p, const int vectors, const real *stage,
                                                  ring planes)
{
  const int lane = warp_lane();
  const real x = stage[lane % SPREAD_ROW];
  real y[SPREAD_ROW], z[SPREAD_ROW], charge[QUAD * QUADS(MOST_VECTORS)] = {1};
  load_reals(PENCIL_LANE_ROWS(p), stage + STAGE_Y + lane / SPREAD_ROW * STAGE_ROWS(p), y);
  load_reals(p, stage + STAGE_Z(p), z);
  if (vectors > 1) load_reals(vectors, stage + STAGE_MORE(p), charge);
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const real scaled = vectors > 1 ? x * charge[v] : x;
    SPREAD_UNROLL
    for (int r = 0; r < PENCIL_LANE_ROWS(p); r++) {
      const real c = scaled * y[r];
      SPREAD_UNROLL
      for (int k = 0; k < p; k++)
        planes[v][r][k] += c * z[k];
    }
  }
}

/* Give the first plane away and move the others up. */
static __device__ __forceinline__ void flush_plane(const int p, const int vectors,
                                                   const bool ordered, const sweep &s,
                                                   const walk &at, const uint32_t *point, int reach,
                                                   int32_t slice, ring planes)
{
  const int rows = PENCIL_LANE_ROWS(p), lane = warp_lane();
  const int32_t *mesh = s.view.mesh;
  const int32_t plane = at.plane < mesh[0] ? at.plane : at.plane - mesh[0];
  const int64_t t = (int64_t)at.pencil * (mesh[0] + p - 1) + at.plane + (int64_t)slice * p;
  real *store = s.planes + (t * 2 + lane / SPREAD_ROW) * rows * SPREAD_ROW + lane % SPREAD_ROW;
  real *add = s.mesh + (int64_t)plane * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++, add += s.points)
    SPREAD_UNROLL
  for (int r = 0; r < rows; r++) {
    real *row = planes[v][r];
    if (ordered)
      store[r * SPREAD_ROW] = row[0];
    else if (r < reach && row[0] != 0)
      atomicAdd(add + point[r], row[0]);
    SPREAD_UNROLL
    for (int k = 1; k < p; k++)
      row[k - 1] = row[k];
    row[p - 1] = 0;
  }
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void sweep_slice(const int p, const int vectors,
                                                   const bool ordered, const sweep &s, real *stage)
{
  const int stride = STAGE_STRIDE(p, vectors > 1 ? vectors : 0);
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  const int32_t end = min((slice + 1) << s.view.slice_bits, s.view.n);
  int32_t i = slice << s.view.slice_bits, staged = i, staged_end = i;
  ring planes = {};
  while (i < end) {
    uint32_t point[PENCIL_LANE_ROWS(SPREAD_ORDER_MAX)];
    walk at = walk_to(s.view, i);
    const int reach = lane_points(p, s.view, at, point);
    for (int left = 0;; at.plane++) { /* left: planes that particles have reached */
      if (at.plane < s.view.mesh[0]) {
        const int32_t stop = min(plane_end(s.view, &at), end);
        if (stop > i) left = p;
        while (i < stop) {
          if (i == staged_end) {
            staged = i;
            staged_end = min(i + MD_WARP, end);
            __syncwarp();
            if (i + warp_lane() < end)
              stage_particle(p, vectors, s, i + warp_lane(), stage + warp_lane() * stride);
            __syncwarp();
          }
          for (const int32_t until = min(stop, staged_end); i < until; i++)
            add_staged(p, vectors, stage + (i - staged) * stride, planes);
        }
      }
      if (left-- == 0) break;
      flush_plane(p, vectors, ordered, s, at, point, reach, slice, planes);
    }
  }
}

#define KERNELS(p)                                                                                 \
  static __global__ void __launch_bounds__(BLOCK) add_kernel_##p(sweep s)                          \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * STAGE_STRIDE(p, 0) / QUAD];                             \
    sweep_slice(p, 1, false, s, (real *)stage[threadIdx.x / MD_WARP]);                             \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK) add_vectors_kernel_##p(sweep s)                  \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * STAGE_STRIDE(p, VECTORS(p)) / QUAD];                    \
    sweep_slice(p, VECTORS(p), false, s, (real *)stage[threadIdx.x / MD_WARP]);                    \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK) store_kernel_##p(sweep s)                        \
  {                                                                                                \
    __shared__ quad stage[WARPS][MD_WARP * STAGE_STRIDE(p, 0) / QUAD];                             \
    sweep_slice(p, 1, true, s, (real *)stage[threadIdx.x / MD_WARP]);                              \
  }
SPREAD_ORDERS(KERNELS)

/* Sum of what the slices of one pencil left at a point of plane z, counted from the pencil's first
 * cell and possibly beyond the mesh. */
static __device__ __forceinline__ real stored_sum(const sweep &s, int p, int32_t pencil, int32_t z,
                                                  int32_t row, int32_t column)
{
  const int32_t planes = s.view.mesh[0], rows = 2 * PENCIL_LANE_ROWS(p);
  const int32_t *start = s.view.start + (int64_t)pencil * planes;
  const int32_t first = start[max(0, z - p + 1)], last = start[min(z, planes - 1) + 1] - 1;
  real sum = 0;
  if (first > last) return sum;
  for (int32_t slice = first >> s.view.slice_bits; slice <= last >> s.view.slice_bits; slice++) {
    const int64_t t = (int64_t)pencil * (planes + p - 1) + z + (int64_t)slice * p;
    sum += s.planes[(t * rows + row) * SPREAD_ROW + column];
  }
  return sum;
}

/* Thread: one mesh point; reads it from every patch that covers it, all their images included. */
static __global__ void sum_kernel(sweep s, int p)
{
  const int64_t m = md_thread();
  if (m >= s.points) return;
  const int32_t *mesh = s.view.mesh, *n = s.view.pencils.n, *cells = s.view.pencils.cells;
  const int32_t x = (int32_t)(m % mesh[2]), y = (int32_t)(m / mesh[2] % mesh[1]);
  const int32_t z = (int32_t)(m / mesh[2] / mesh[1]), rows = 2 * PENCIL_LANE_ROWS(p);
  real sum = 0;
  for (int32_t j = y; j < (n[0] - 1) * cells[0] + rows; j += mesh[1])
    for (int32_t b = max(0, (j - rows + cells[0]) / cells[0]); b <= min(n[0] - 1, j / cells[0]);
         b++)
      for (int32_t i = x; i < (n[1] - 1) * cells[1] + SPREAD_ROW; i += mesh[2])
        for (int32_t a = max(0, (i - SPREAD_ROW + cells[1]) / cells[1]);
             a <= min(n[1] - 1, i / cells[1]); a++)
          for (int32_t k = z; k < mesh[0] + p - 1; k += mesh[0])
            sum += stored_sum(s, p, b * n[1] + a, k, j - b * cells[0], i - a * cells[1]);
  s.mesh[m] += sum;
}

static md_status spread_ordered(spread_plan *plan, const spread_job *job, sweep s)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int p = plan->grid.order;
  const int64_t pencils = (int64_t)plan->pencils.n[0] * plan->pencils.n[1];
  const int64_t planes = pencils * (plan->grid.mesh[0] + p - 1) + (int64_t)s.view.slices * p;
  const size_t patch = 2 * PENCIL_LANE_ROWS(p) * SPREAD_ROW * sizeof(real);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[1], (size_t)planes * patch, 0));
  s.planes = (real *)plan->scratch[1].data;
  for (int32_t v = 0; v < job->vectors; v++, s.q += s.q_stride, s.mesh += s.points) {
    switch (p) {
#define CASE(order)                                                                                \
  case order:                                                                                      \
    store_kernel_##order<<<md_blocks(s.view.slices, WARPS), BLOCK, 0, stream>>>(s);                \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
    sum_kernel<<<md_blocks(s.points, SUM_BLOCK), SUM_BLOCK, 0, stream>>>(s, p);
    MD_LAUNCHED();
  }
  return MD_OK;
}

md_status PREC(spread_gpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  sweep s = {view_part(plan, part), (const real *)job->q, job->q_stride,
             plan->grid.points,     (real *)job->mesh,    NULL};
  if (plan->ctx->deterministic) return spread_ordered(plan, job, s);
  const unsigned blocks = md_blocks(s.view.slices, WARPS);
  for (int32_t v = 0, step; v < job->vectors;
       v += step, s.q += step * s.q_stride, s.mesh += step * s.points) {
    step = 1;
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (VECTORS(p) > 1 && job->vectors - v >= VECTORS(p)) {                                        \
      step = VECTORS(p);                                                                           \
      add_vectors_kernel_##p<<<blocks, BLOCK, 0, stream>>>(s);                                     \
    } else {                                                                                       \
      add_kernel_##p<<<blocks, BLOCK, 0, stream>>>(s);                                             \
    }                                                                                              \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
  }
  return MD_OK;
}
