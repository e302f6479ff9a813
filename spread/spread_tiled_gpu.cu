/* spread/spread_tiled_gpu.cu - tiled spreading on the GPU: pencils swept by warps.
 *
 * A warp sweeps along the slowest axis with a ring of p planes of its pencil's patch in registers.
 * Particles of plane z add to planes z .. z + p - 1 of the ring, eight at once: mesh[x][(y, z)] is a
 * product of their X with their Y Z, which tensor cores take (tile_gpu.h).  Nothing is atomic and
 * no two lanes meet.  When no particle can reach a plane any more it is added to the mesh by one
 * RED a point, in rows of eight.
 *
 * Eight particles cost 3 p products a tile (p in double precision), 12 loads from shared memory and
 * 16 bytes each (32 in double); a plane of a pencil 16 REDs a line, whatever it holds.
 *
 * Deterministic plans store the planes of each slice side by side instead, and a second kernel adds
 * them in the order of pencils and slices.  Plane t of slice s, counted through all pencils with
 * their p - 1 planes beyond the end, lies at t + s p: slices share at most p planes. */
#include "spread/tile_gpu.h"

enum { WARPS = MD_PREC == 2 ? 2 : 4, BLOCK = WARPS * MD_WARP, SUM_BLOCK = 128 };
/* Particles of one plane after which the ring is emptied, as products round sums toward zero. */
enum { MOST_TOGETHER = 512 };

/* Vectors that a warp sums at once: as many rings as registers allow. */
enum { MOST_VECTORS = 4, MOST_WORDS = 128 };
#define RING_WORDS(p) (4 * (p)*PENCIL_TILES(p) * (int)(sizeof(real) / 4))
#define VECTORS(p) (4 * RING_WORDS(p) <= MOST_WORDS ? 4 : 2 * RING_WORDS(p) <= MOST_WORDS ? 2 : 1)

/* What a sweep reads and writes: charges q of one or VECTORS vectors, and their meshes, or the
 * planes of one vector. */
typedef struct {
  pencil_view view;
  const real *q;
  int64_t q_stride, points;
  real *mesh, *planes;
} sweep;

/* [vector][tile][plane][of the lane]; loops over constants keep it in registers. */
typedef real ring[MOST_VECTORS][PENCIL_TILES_MAX][SPREAD_ORDER_MAX][4];

/* What a lane fetched ahead: the particle it stages next with its charges, and the one after it. */
typedef struct {
  pencil_particle now, later;
  real q[MOST_VECTORS];
} fetched;

static __device__ __forceinline__ void fetch_charges(const int vectors, const sweep &s,
                                                     fetched *ahead)
{
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    ahead->q[v] = s.q[ahead->now.index + v * s.q_stride];
}

/* i: the lane's particle, or beyond the end. */
static __device__ __forceinline__ pencil_particle fetch(const sweep &s, int32_t i)
{
  return s.view.particle[min(i, s.view.n - 1)];
}

/* Lane: its particle's record; one vector's charge goes into X, more follow it. */
static __device__ __forceinline__ void stage_particle(const int p, const int vectors,
                                                      const fetched &ahead, real *record)
{
  const real scale = bspline_inverse_factorial(p - 1), cube = scale * scale * scale;
  real f[3], w[3][SPREAD_ORDER_MAX];
  uint32_t middle, fast;
  pencil_unpack(&ahead.now, f, &middle, &fast);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    bspline_unscaled(p, f[a], w[a]);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    w[2][k] *= vectors == 1 ? ahead.q[0] * cube : cube;
  store_weights(p, w, record);
  store_offsets(p, middle, fast, record);
  if (vectors > 1) store_reals(vectors, ahead.q, record + RECORD_MORE(p));
}

/* Warp: up to eight particles of one plane.  The lane looks at two of them, each at its points. */
static __device__ __forceinline__ void add_eight(const int p, const int vectors,
                                                 const real *records, int32_t first, int32_t count,
                                                 ring planes)
{
  const int member = warp_lane() % 4, row = warp_lane() / 4, line = row / 2 + row % 2 * 4;
  const int length = RECORD_LENGTH(p, vectors > 1 ? vectors : 0);
  real z[2][SPREAD_ROW], y[2][PENCIL_TILES_MAX];
  operand a[MOST_VECTORS][4];
  SPREAD_UNROLL
  for (int j = 0; j < 2; j++) {
    const int k = member + 4 * j;
    const real *record = records + (k < count ? first + k : MD_WARP) * length;
    const int2 offset = load_offsets(p, record);
    const real *y_from = record + offset.x + line, *x_from = record + offset.y + row;
    real charge[QUAD * QUADS(MOST_VECTORS)];
    load_reals(p, record, z[j]);
    if (vectors > 1) load_reals(vectors, record + RECORD_MORE(p), charge);
    SPREAD_UNROLL
    for (int t = 0; t < PENCIL_TILES(p); t++)
      y[j][t] = y_from[8 * t];
    SPREAD_UNROLL
    for (int c = 0; c < 2; c++)
      SPREAD_UNROLL
    for (int v = 0; v < vectors; v++)
      a[v][2 * j + c] = operand_of(vectors > 1 ? x_from[8 * c] * charge[v] : x_from[8 * c]);
  }
  SPREAD_UNROLL
  for (int t = 0; t < PENCIL_TILES(p); t++)
    SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    const operand b[2] = {operand_of(y[0][t] * z[0][k]), operand_of(y[1][t] * z[1][k])};
    SPREAD_UNROLL
    for (int v = 0; v < vectors; v++)
      add_product(a[v], b, planes[v][t][k]);
  }
}

/* Where a slice stands in a pencil. */
typedef struct {
  walk at;
  tile_points points;
  int32_t stored; /* planes below are stored already, in part; deterministic plans */
} place;

/* Give the first plane away and move the others up. */
static __device__ __forceinline__ void flush_plane(const int p, const int vectors,
                                                   const bool ordered, const sweep &s,
                                                   const place &here, int32_t slice, ring planes)
{
  const int32_t *mesh = s.view.mesh, z = here.at.plane;
  const int32_t plane = z < mesh[0] ? z : z - mesh[0];
  const int64_t patch = (int64_t)here.at.pencil * (mesh[0] + p - 1) + z + (int64_t)slice * p;
  real *store = s.planes + patch * PENCIL_HEIGHT(p) * PENCIL_WIDTH;
  real *add = s.mesh + (int64_t)plane * mesh[1] * mesh[2];
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++, add += s.points)
    SPREAD_UNROLL
  for (int i = 0; i < 4 * PENCIL_TILES(p); i++) {
    const int j = i / 4 * 2 + i % 2, c = i % 4 / 2;
    real(*tile)[4] = planes[v][i / 4];
    const real sum = tile[0][i % 4];
    real *to = store + TILE_LINE(j) * PENCIL_WIDTH + TILE_COLUMN(c);
    if (ordered)
      *to = z < here.stored ? *to + sum : sum;
    else if (reaches(here.points, j, c) && sum != 0)
      atomicAdd(add + here.points.at[j][c], sum);
    SPREAD_UNROLL
    for (int k = 1; k < p; k++)
      tile[k - 1][i % 4] = tile[k][i % 4];
    tile[p - 1][i % 4] = 0;
  }
}

/* The first particle that is not for the present plane; of very many the plane takes some, and the
 * ring is emptied before the others. */
static __device__ __forceinline__ int32_t turn_end(const sweep &s, int32_t i, int32_t end, walk *at,
                                                   bool *cut)
{
  if (*cut || at->plane >= s.view.mesh[0]) return i;
  const int32_t last = min(plane_end(s.view, at), end), stop = min(last, i + MOST_TOGETHER);
  *cut = stop < last;
  return stop;
}

/* Warp: one slice of the particles. */
static __device__ __forceinline__ void
sweep_slice(const int p, const int vectors, const bool ordered, const sweep &s, real *records)
{
  const int length = RECORD_LENGTH(p, vectors > 1 ? vectors : 0), lane = warp_lane();
  const int32_t slice = (int32_t)blockIdx.x * WARPS + threadIdx.x / MD_WARP;
  if (slice >= s.view.slices) return;
  int32_t i = slice * s.view.slice, staged = i, staged_end = i;
  const int32_t end = min(i + s.view.slice, s.view.n);
  ring planes = {};
  place here = {walk_begin()};
  fetched ahead = {fetch(s, i + lane), fetch(s, i + MD_WARP + lane)};
  fetch_charges(vectors, s, &ahead);
  clear_records(records, RECORDS * length);
  while (i < end) {
    const int32_t pencil = here.at.pencil;
    walk_to(s.view, i, &here.at);
    if (here.at.pencil != pencil) here.stored = 0;
    here.points = find_points(p, s.view, here.at);
    bool cut = false;
    int32_t stop = turn_end(s, i, end, &here.at, &cut);
    for (int left = p; left > 0;) { /* planes that particles have reached */
      if (i < stop) {
        if (i == staged_end) {
          staged = i;
          staged_end = min(i + MD_WARP, end);
          __syncwarp();
          stage_particle(p, vectors, ahead, records + lane * length);
          ahead.now = ahead.later;
          fetch_charges(vectors, s, &ahead);
          ahead.later = fetch(s, i + 2 * MD_WARP + lane);
          __syncwarp();
        }
        const int32_t until = min(stop, staged_end);
        add_eight(p, vectors, records, i - staged, until - i, planes);
        i = min(i + 8, until);
        left = p;
      }
      if (i >= stop) {
        flush_plane(p, vectors, ordered, s, here, slice, planes);
        left--;
        here.at.plane++;
        stop = turn_end(s, i, end, &here.at, &cut);
      }
    }
    here.stored = max(here.stored, here.at.plane);
  }
}

typedef void sweep_kernel(sweep s);

/* One block a multiprocessor asked for: unasked, the compiler saves registers that cost more. */
#define SLICE_KERNEL(name, p, vectors, ordered)                                                    \
  static __global__ void __launch_bounds__(BLOCK, 1) name##_##p(sweep s)                           \
  {                                                                                                \
    __shared__ quad                                                                                \
        records[WARPS][RECORDS * RECORD_LENGTH(p, (vectors) > 1 ? (vectors) : 0) / QUAD];          \
    sweep_slice(p, vectors, ordered, s, (real *)records[threadIdx.x / MD_WARP]);                   \
  }
#define KERNELS(p)                                                                                 \
  SLICE_KERNEL(add_kernel, p, 1, false)                                                            \
  SLICE_KERNEL(add_vectors_kernel, p, VECTORS(p), false)                                           \
  SLICE_KERNEL(store_kernel, p, 1, true)
SPREAD_ORDERS(KERNELS)

/* The kernels of a plan: one vector at a time, and *vectors at a time. */
typedef struct {
  sweep_kernel *add, *add_vectors, *store;
  int32_t vectors;
} sweep_kernels;

static sweep_kernels pick_kernels(const spread_plan *plan)
{
  sweep_kernels picked = {};
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    picked = {add_kernel_##p, add_vectors_kernel_##p, store_kernel_##p, VECTORS(p)};               \
    break;
    SPREAD_ORDERS(CASE)
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
  const int32_t patch = PENCIL_HEIGHT(p) * PENCIL_WIDTH;
  const int2 here = slices[plane];
  const real *from = s.planes + (plane + (int64_t)here.x * p) * patch + at;
  real sum = 0;
  for (int32_t k = 0; k < here.y; k++, from += p * patch)
    sum += *from;
  return sum;
}

/* Block: a line of the mesh along the fastest axis; every point is read from all patches that cover
 * it, their images included. */
static __global__ void __launch_bounds__(SUM_BLOCK)
    sum_kernel(sweep s, int p, const int2 *__restrict__ slices)
{
  const int32_t *mesh = s.view.mesh, *n = s.view.pencils.n, *cells = s.view.pencils.cells;
  const int32_t z = (int32_t)(blockIdx.x / (uint32_t)mesh[1]);
  const int32_t y = (int32_t)(blockIdx.x % (uint32_t)mesh[1]);
  const int32_t rows = PENCIL_HEIGHT(p), w = PENCIL_WIDTH;
  for (int32_t x = threadIdx.x; x < mesh[2]; x += SUM_BLOCK) {
    real sum = 0;
    for (int32_t i = x; i < (n[1] - 1) * cells[1] + w; i += mesh[2])
      for (int32_t a = min(n[1] - 1, i / cells[1]); a >= 0 && i - a * cells[1] < w; a--)
        for (int32_t j = y; j < (n[0] - 1) * cells[0] + rows; j += mesh[1])
          for (int32_t b = min(n[0] - 1, j / cells[0]); b >= 0 && j - b * cells[0] < rows; b--)
            for (int32_t k = z; k < mesh[0] + p - 1; k += mesh[0])
              sum += stored_sum(s, p, slices, (int64_t)(b * n[1] + a) * (mesh[0] + p - 1) + k,
                                (j - b * cells[0]) * w + i - a * cells[1]);
    s.mesh[(int64_t)blockIdx.x * mesh[2] + x] += sum;
  }
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
  const size_t patch = (size_t)(PENCIL_HEIGHT(p) * PENCIL_WIDTH) * sizeof(real);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[1], (size_t)planes * patch, 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[2], (size_t)layers * sizeof(int2), 0));
  s.planes = (real *)plan->scratch[1].data;
  int2 *slices = (int2 *)plan->scratch[2].data;
  slices_kernel<<<md_blocks(layers, SUM_BLOCK), SUM_BLOCK, 0, stream>>>(s, p, layers, slices);
  MD_LAUNCHED();
  for (int32_t v = 0; v < job->vectors; v++, s.q += s.q_stride, s.mesh += s.points) {
    MD_TRY(launch(plan, kernel, s));
    sum_kernel<<<(unsigned)(s.points / s.view.mesh[2]), SUM_BLOCK, 0, stream>>>(s, p, slices);
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
