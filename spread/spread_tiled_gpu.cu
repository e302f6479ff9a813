/* spread/spread_tiled_gpu.cu - tiled spreading on the GPU: pencils swept by warps.
 *
 * A warp sweeps along the slowest axis with a ring of p planes of its pencil's patch in registers:
 * lane l holds column l % w of R rows (pencil.h).  A particle of plane z adds to planes z .. z + p
 * - 1 of the ring, each lane X Y Z at its own points, zero where the particle does not reach:
 * nothing is atomic and no two lanes meet.  When no particle can reach a plane any more it is added
 * to the mesh by one RED a point, in rows of w.
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
#define RING_WORDS(p, w) ((p)*PENCIL_ROWS(p, w) * (int)(sizeof(real) / 4))
#define VECTORS(p, w)                                                                              \
  (4 * RING_WORDS(p, w) <= MOST_WORDS ? 4 : 2 * RING_WORDS(p, w) <= MOST_WORDS ? 2 : 1)

/* What a sweep reads and writes: charges q of one or VECTORS vectors, and their meshes, or the
 * planes of one vector. */
typedef struct {
  pencil_view view;
  const real *q;
  int64_t q_stride, points;
  real *mesh, *planes;
} sweep;

/* [vector][row][plane]; loops over constants keep it in registers. */
typedef real ring[MOST_VECTORS][LANE_ROWS_MAX][SPREAD_ORDER_MAX];

/* Lane: the weights and charges of one particle; one vector's charge goes into its X. */
static __device__ __forceinline__ void stage_particle(const int p, const int w, const int vectors,
                                                      const sweep &s, int32_t i, real *stage)
{
  const pencil_particle particle = s.view.particle[i];
  const real *q = s.q + particle.index;
  real f[3], weights[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&particle, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    bspline_weights(p, f[a], weights[a]);
  stage_weights(p, w, stage, middle, fast, weights[2], weights[1], weights[0],
                vectors == 1 ? *q : (real)1);
  SPREAD_UNROLL
  for (int v = 0; v < vectors && vectors > 1; v++)
    stage[STAGE_MORE(p, w) + v] = q[v * s.q_stride];
}

static __device__ __forceinline__ void add_staged(const int p, const int w, const int vectors,
                                                  const real *stage, ring planes)
{
  const int lane = warp_lane(), rows = PENCIL_ROWS(p, w);
  const real x = stage[lane % w];
  real y[SPREAD_ROW], z[SPREAD_ROW], charge[QUAD * QUADS(MOST_VECTORS)] = {1};
  load_reals(rows, stage + STAGE_Y(w) + lane / w * STAGE_ROWS(p, w), y);
  load_reals(p, stage + STAGE_Z(p, w), z);
  if (vectors > 1) load_reals(vectors, stage + STAGE_MORE(p, w), charge);
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const real scaled = vectors > 1 ? x * charge[v] : x;
    SPREAD_UNROLL
    for (int r = 0; r < rows; r++) {
      const real c = scaled * y[r];
      SPREAD_UNROLL
      for (int k = 0; k < p; k++)
        planes[v][r][k] += c * z[k];
    }
  }
}

/* Give the first plane away and move the others up. */
static __device__ __forceinline__ void flush_plane(const int p, const int w, const int vectors,
                                                   const bool ordered, const sweep &s,
                                                   const walk &at, const uint32_t *point, int reach,
                                                   int32_t slice, ring planes)
{
  const int rows = PENCIL_ROWS(p, w), lane = warp_lane();
  const int32_t *mesh = s.view.mesh;
  const int32_t plane = at.plane < mesh[0] ? at.plane : at.plane - mesh[0];
  const int64_t t = (int64_t)at.pencil * (mesh[0] + p - 1) + at.plane + (int64_t)slice * p;
  real *store = s.planes + (t * PENCIL_HEIGHT(p, w) + lane / w * rows) * w + lane % w;
  real *add = s.mesh + (int64_t)plane * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++, add += s.points)
    SPREAD_UNROLL
  for (int r = 0; r < rows; r++) {
    real *row = planes[v][r];
    if (ordered)
      store[r * w] = row[0];
    else if (r < reach && row[0] != 0)
      atomicAdd(add + point[r], row[0]);
    SPREAD_UNROLL
    for (int k = 1; k < p; k++)
      row[k - 1] = row[k];
    row[p - 1] = 0;
  }
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void sweep_slice(const int p, const int w, const int vectors,
                                                   const bool ordered, const sweep &s, real *stage)
{
  const int stride = STAGE_STRIDE(p, w, vectors > 1 ? vectors : 0);
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = slice * s.view.slice, staged = i, staged_end = i;
  const int32_t end = min(i + s.view.slice, s.view.n);
  ring planes = {};
  walk at = walk_begin();
  while (i < end) {
    uint32_t point[LANE_ROWS_MAX];
    walk_to(s.view, i, &at);
    const int reach = lane_points(p, w, s.view, at, point);
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
              stage_particle(p, w, vectors, s, i + warp_lane(), stage + warp_lane() * stride);
            __syncwarp();
          }
          for (const int32_t until = min(stop, staged_end); i < until; i++)
            add_staged(p, w, vectors, stage + (i - staged) * stride, planes);
        }
      }
      if (left-- == 0) break;
      flush_plane(p, w, vectors, ordered, s, at, point, reach, slice, planes);
    }
  }
}

typedef void sweep_kernel(sweep s);

#define SLICE_KERNEL(name, p, w, vectors, ordered)                                                 \
  static __global__ void __launch_bounds__(BLOCK) name##_##p##_##w(sweep s)                        \
  {                                                                                                \
    __shared__ quad                                                                                \
        stage[WARPS][MD_WARP * STAGE_STRIDE(p, w, (vectors) > 1 ? (vectors) : 0) / QUAD];          \
    sweep_slice(p, w, vectors, ordered, s, (real *)stage[threadIdx.x / MD_WARP]);                  \
  }
#define KERNELS(p, w)                                                                              \
  SLICE_KERNEL(add_kernel, p, w, 1, false)                                                         \
  SLICE_KERNEL(add_vectors_kernel, p, w, VECTORS(p, w), false)                                     \
  SLICE_KERNEL(store_kernel, p, w, 1, true)
PENCIL_SHAPES(KERNELS)

/* The kernels of a plan: one vector at a time, and *vectors at a time. */
typedef struct {
  sweep_kernel *add, *add_vectors, *store;
  int32_t vectors;
} sweep_kernels;

static sweep_kernels pick_kernels(const spread_plan *plan)
{
  sweep_kernels picked = {};
  switch (PENCIL_SHAPE(plan->grid.order, plan->pencils.width)) {
#define CASE(p, w)                                                                                 \
  case PENCIL_SHAPE(p, w):                                                                         \
    picked = {add_kernel_##p##_##w, add_vectors_kernel_##p##_##w, store_kernel_##p##_##w,          \
              VECTORS(p, w)};                                                                      \
    break;
    PENCIL_SHAPES(CASE)
#undef CASE
  }
  return picked;
}

/* Queue one sweep of s, over a view of as many slices as the device holds at once. */
static md_status launch(const spread_plan *plan, sweep_kernel *kernel, const sweep &s)
{
  kernel<<<md_blocks(s.view.slices, WARPS), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(s);
  MD_LAUNCHED();
  return MD_OK;
}

/* The part's view for a kernel. */
static md_status cut_slices(const spread_plan *plan, const spread_part *part, sweep_kernel *kernel,
                            int meshes, pencil_view *view)
{
  int blocks;
  MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0));
  *view = view_part(plan, part, (int64_t)plan->multiprocessors * blocks * WARPS, meshes);
  return MD_OK;
}

/* Thread: plane z of a pencil, counted from its first cell and possibly beyond the mesh; the slices
 * whose particles reach it: the first, and how many. */
static __global__ void slices_kernel(sweep s, int p, int64_t n, int2 *slices)
{
  const int64_t at = md_thread();
  if (at >= n) return;
  const int32_t planes = s.view.mesh[0], z = (int32_t)(at % (planes + p - 1));
  const int32_t *start = s.view.start + at / (planes + p - 1) * planes;
  const int32_t first = start[max(0, z - p + 1)], last = start[min(z, planes - 1) + 1] - 1;
  const int32_t from = first / s.view.slice;
  slices[at] = {from, first > last ? 0 : last / s.view.slice - from + 1};
}

/* Sum of what those slices left at a point of the plane. */
static __device__ __forceinline__ real stored_sum(const sweep &s, int p, const int2 *slices,
                                                  int64_t plane, int32_t at)
{
  const int32_t w = s.view.pencils.width, patch = PENCIL_HEIGHT(p, w) * w;
  const int2 here = slices[plane];
  const real *from = s.planes + (plane + (int64_t)here.x * p) * patch + at;
  real sum = 0;
  for (int32_t k = 0; k < here.y; k++, from += p * patch)
    sum += *from;
  return sum;
}

/* Thread: one mesh point; reads it from every patch that covers it, all their images included. */
static __global__ void sum_kernel(sweep s, int p, const int2 *__restrict__ slices)
{
  if (md_thread() >= s.points) return;
  const uint32_t m = (uint32_t)md_thread();
  const int32_t *mesh = s.view.mesh, *n = s.view.pencils.n, *cells = s.view.pencils.cells;
  const uint32_t line = m / (uint32_t)mesh[2];
  const int32_t x = (int32_t)(m - line * (uint32_t)mesh[2]);
  const int32_t z = (int32_t)(line / (uint32_t)mesh[1]);
  const int32_t y = (int32_t)(line - (uint32_t)z * (uint32_t)mesh[1]);
  const int32_t w = s.view.pencils.width, rows = PENCIL_HEIGHT(p, w);
  real sum = 0;
  for (int32_t j = y; j < (n[0] - 1) * cells[0] + rows; j += mesh[1])
    for (int32_t b = max(0, (j - rows + cells[0]) / cells[0]); b <= min(n[0] - 1, j / cells[0]);
         b++)
      for (int32_t i = x; i < (n[1] - 1) * cells[1] + w; i += mesh[2])
        for (int32_t a = max(0, (i - w + cells[1]) / cells[1]); a <= min(n[1] - 1, i / cells[1]);
             a++)
          for (int32_t k = z; k < mesh[0] + p - 1; k += mesh[0])
            sum += stored_sum(s, p, slices, (int64_t)(b * n[1] + a) * (mesh[0] + p - 1) + k,
                              (j - b * cells[0]) * w + i - a * cells[1]);
  s.mesh[m] += sum;
}

static md_status spread_ordered(spread_plan *plan, const spread_job *job, sweep_kernel *kernel,
                                sweep s)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int p = plan->grid.order;
  const int64_t pencils = (int64_t)plan->pencils.n[0] * plan->pencils.n[1];
  const int64_t layers = pencils * (plan->grid.mesh[0] + p - 1);
  const int64_t planes = layers + (int64_t)s.view.slices * p;
  const int32_t w = plan->pencils.width;
  const size_t patch = (size_t)(PENCIL_HEIGHT(p, w) * w) * sizeof(real);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[1], (size_t)planes * patch, 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[2], (size_t)layers * sizeof(int2), 0));
  s.planes = (real *)plan->scratch[1].data;
  int2 *slices = (int2 *)plan->scratch[2].data;
  slices_kernel<<<md_blocks(layers, SUM_BLOCK), SUM_BLOCK, 0, stream>>>(s, p, layers, slices);
  MD_LAUNCHED();
  for (int32_t v = 0; v < job->vectors; v++, s.q += s.q_stride, s.mesh += s.points) {
    MD_TRY(launch(plan, kernel, s));
    sum_kernel<<<md_blocks(s.points, SUM_BLOCK), SUM_BLOCK, 0, stream>>>(s, p, slices);
    MD_LAUNCHED();
  }
  return MD_OK;
}

md_status PREC(spread_gpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const sweep_kernels kernels = pick_kernels(plan);
  sweep s = {{}, (const real *)job->q, job->q_stride, plan->grid.points, (real *)job->mesh, NULL};
  if (plan->ctx->deterministic) {
    MD_TRY(cut_slices(plan, part, kernels.store, 1, &s.view));
    return spread_ordered(plan, job, kernels.store, s);
  }
  for (int32_t v = 0, step; v < job->vectors;
       v += step, s.q += step * s.q_stride, s.mesh += step * s.points) {
    step = job->vectors - v >= kernels.vectors ? kernels.vectors : 1;
    sweep_kernel *kernel = step > 1 ? kernels.add_vectors : kernels.add;
    MD_TRY(cut_slices(plan, part, kernel, step, &s.view));
    MD_TRY(launch(plan, kernel, s));
  }
  return MD_OK;
}
