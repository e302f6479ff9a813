/* spread/spread_sum_gpu.cu - the planes that slices of tiled spreading left side by side, added up
 * in one order in every run.
 *
 * Plane t of slice s, counted through all pencils with their p - 1 planes beyond the end, lies at
 * t + s p; slices share at most p planes.  A point of the mesh is covered by about four patches at
 * order 6, most planes of which come from one slice, so a point costs four reads of rows of 16 and a
 * write: about 50 MB of 128^3 points in single precision.
 *
 * A thread waits for where its planes are, then for their numbers: of one row of pencils it asks for
 * all at once.  For all rows at once there are too few registers, and the sum takes twice as long.
 * Where planes are is looked for once for the same positions.  In double precision a third of them kept
 * in the cache by priority would gain 2 %, read as not needed again they lose 4 %. */
#include "spread/pencil_gpu.h"

enum { BLOCK = 128 };

/* Slice that has particle i. */
static __device__ __forceinline__ int32_t slice_of(const pencil_view &view, int32_t i)
{
  int32_t low = 0, high = view.slices;
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    if (view.begin[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Thread: plane z of a pencil, counted from its first cell and possibly beyond the mesh; where the
 * first slice whose particles reach it stores it, and how many do.  Of those between the first and
 * the last some may have no particles; zeros stand for what they do not store. */
static __global__ void __launch_bounds__(BLOCK)
    find_kernel(pencil_view view, int p, int64_t n, int2 *__restrict__ where,
                real *__restrict__ stored)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t at = md_thread();
  if (at >= n) return;
  const int32_t planes = view.mesh[0], z = (int32_t)(at % (planes + p - 1));
  const int32_t patch = PENCIL_HEIGHT(p) * PENCIL_WIDTH;
  const int32_t *start = view.start + at / (planes + p - 1) * planes;
  const int32_t first = start[max(0, z - p + 1)], last = start[min(z, planes - 1) + 1] - 1;
  const int32_t from = slice_of(view, first), to = first > last ? from - 1 : slice_of(view, last);
  where[at] = {(int32_t)at + from * p, to - from + 1};
  for (int32_t s = from + 1; s < to; s++)
    for (int32_t k = 0; view.begin[s] == view.begin[s + 1] && k < patch; k++)
      stored[(at + (int64_t)s * p) * patch + k] = 0;
}

/* What slices left, and where. */
typedef struct {
  pencil_view view;
  const real *planes;
  const int2 *where;
} stored_planes;

/* Lines that a block adds up, as many as a pencil has cells; pencils that cover a point along the
 * fastest axis, at most. */
#define LINES(p) (PENCIL_HEIGHT(p) - (p) + 1)
#define COVERING(p) ((2 * PENCIL_WIDTH - (p)) / (PENCIL_WIDTH - (p) + 1))
enum { LINES_MAX = 10, COVERING_MAX = 3 }; /* of orders 7 and 10 */
/* Of the slices that share a plane, those whose numbers are asked for together: two where a thread
 * has registers for them. */
#define AT_ONCE(p) (LINES(p) * COVERING(p) <= 8 ? 2 : 1)
enum { AT_ONCE_MAX = 2, LEAST_BLOCKS = 8 };

/* Add what one plane of the pencils in row b has at column i, counted from the first pencil and
 * possibly beyond the mesh, and at the lines from `line` on, of which some may not exist. */
static __device__ __forceinline__ void add_row(const int p, const stored_planes &from, int32_t b,
                                               int32_t i, int32_t z, int32_t line,
                                               real sum[LINES_MAX])
{
  const int rows = PENCIL_HEIGHT(p), w = PENCIL_WIDTH, wide = w - p + 1;
  const int32_t *n = from.view.pencils.n, last = min(n[1] - 1, i / wide);
  const int64_t layers = from.view.mesh[0] + p - 1, plane = (int64_t)(b * n[1] + last) * layers + z;
  int2 at[COVERING_MAX];
  real got[COVERING_MAX][AT_ONCE_MAX][LINES_MAX];
  SPREAD_UNROLL
  for (int c = 0; c < COVERING(p); c++) {
    const bool inside = c <= last && i - (last - c) * wide < w;
    at[c] = inside ? from.where[plane - c * layers] : make_int2(0, 0);
  }
  const int32_t first = line * w + i - last * wide;
  SPREAD_UNROLL
  for (int c = 0; c < COVERING(p); c++)
    SPREAD_UNROLL
  for (int s = 0; s < AT_ONCE(p); s++)
    SPREAD_UNROLL
  for (int r = 0; r < LINES(p); r++) {
    const bool some = s < at[c].y && (unsigned)(line + r) < (unsigned)rows;
    const real *point = from.planes + ((int64_t)at[c].x + s * p) * (rows * w);
    got[c][s][r] = some ? point[first + c * wide + r * w] : (real)0;
  }
  SPREAD_UNROLL
  for (int k = 0; k < COVERING(p) * AT_ONCE(p) * LINES(p); k++)
    sum[k % LINES(p)] += got[k / LINES(p) / AT_ONCE(p)][k / LINES(p) % AT_ONCE(p)][k % LINES(p)];
  SPREAD_UNROLL
  for (int c = 0; c < COVERING(p); c++)
#pragma unroll 1
    for (int32_t s = AT_ONCE(p); s < at[c].y; s++) {
      const real *point = from.planes + ((int64_t)at[c].x + s * p) * (rows * w);
      SPREAD_UNROLL
      for (int r = 0; r < LINES(p); r++)
        if ((unsigned)(line + r) < (unsigned)rows) sum[r] += point[first + c * wide + r * w];
    }
}

/* Block: some lines of the mesh along the fastest axis; every point is read from all patches that
 * cover it, their images included.  fresh: the mesh held nothing. */
static __device__ __forceinline__ void sum_lines(const int p, const stored_planes &from, bool fresh,
                                                 real *__restrict__ to)
{
  const int rows = PENCIL_HEIGHT(p), high = LINES(p);
  const int32_t *mesh = from.view.mesh, *n = from.view.pencils.n;
  const int32_t width = (n[1] - 1) * (PENCIL_WIDTH - p + 1) + PENCIL_WIDTH;
  const int32_t height = (n[0] - 1) * high + rows;
  const int32_t z = (int32_t)(blockIdx.x / (uint32_t)n[0]);
  const int32_t y = (int32_t)(blockIdx.x % (uint32_t)n[0]) * high;
  for (int32_t x = threadIdx.x; x < mesh[2]; x += BLOCK) {
    real sum[LINES_MAX] = {};
    for (int32_t i = x; i < width; i += mesh[2])
      for (int32_t j = y; j < height; j += mesh[1])
        for (int32_t b = min(n[0] - 1, (j + high - 1) / high); b >= 0 && j - b * high < rows; b--)
          for (int32_t k = z; k < mesh[0] + p - 1; k += mesh[0])
            add_row(p, from, b, i, k, j - b * high, sum);
    real *point = to + ((int64_t)z * mesh[1] + y) * mesh[2] + x;
    SPREAD_UNROLL
    for (int r = 0; r < high; r++, point += mesh[2])
      if (y + r < mesh[1]) *point = fresh ? sum[r] : *point + sum[r];
  }
}

typedef void sum_kernel(stored_planes from, bool fresh, real *mesh);
#define SUM_KERNEL(p)                                                                              \
  static __global__ void __launch_bounds__(BLOCK, LEAST_BLOCKS)                                    \
      sum_kernel_##p(stored_planes from, bool fresh, real *__restrict__ mesh)                      \
  {                                                                                                \
    cudaGridDependencySynchronize();                                                               \
    sum_lines(p, from, fresh, mesh);                                                               \
  }
SPREAD_ORDERS(SUM_KERNEL)

static sum_kernel *pick_kernel(int order)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    return sum_kernel_##p;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return NULL;
}

md_status PREC(spread_gpu_find_planes)(spread_plan *plan, const pencil_view *view, bool known,
                                       real **planes, int2 **where)
{
  md_ctx *ctx = plan->ctx;
  const int p = plan->grid.order;
  const int64_t pencils = (int64_t)view->pencils.n[0] * view->pencils.n[1];
  const int64_t layers = pencils * (view->mesh[0] + p - 1),
                stored = layers + (int64_t)view->slices * p;
  const size_t patch = (size_t)(PENCIL_HEIGHT(p) * PENCIL_WIDTH) * sizeof(real);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[1], (size_t)stored * patch, 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[2], (size_t)layers * sizeof(int2), 0));
  *planes = (real *)plan->scratch[1].data;
  *where = (int2 *)plan->scratch[2].data;
  if (known) return MD_OK;
  find_kernel<<<md_blocks(layers, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(*view, p, layers,
                                                                                 *where, *planes);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_sum_planes)(const spread_plan *plan, const pencil_view *view, bool fresh,
                                      const real *planes, const int2 *where, real *mesh)
{
  const unsigned blocks = (unsigned)((int64_t)view->mesh[0] * view->pencils.n[0]);
  const stored_planes from = {*view, planes, where};
  sum_kernel *kernel = pick_kernel(plan->grid.order);
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(plan->ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, kernel, from, fresh, mesh));
  return MD_OK;
}
