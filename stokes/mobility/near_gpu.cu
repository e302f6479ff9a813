/* stokes/mobility/near_gpu.cu - the near blocks of a mobility, made from a pair list on the GPU.
 *
 * Every entry of the list is a block, so that rows begin where the list's do (with the diagonal
 * block before them where it is stored as a block).  Of plain rows a warp goes through the lists of
 * 32 spheres, 32 entries at a time (stokes/matrix/assemble_gpu.h); of slices it fills eight lanes,
 * four entries of each at a time (stokes/slices/slice_fill_gpu.h).  In single precision a block is
 * -(slide I + squeeze e e^T) with slide = -f, squeeze = f - g from a table by gap; overlapping
 * spheres, radii without tables and double precision take the formula.  Bytes of an entry: 4 of the
 * list and 33 gathered, 24 or 76 written. */
#include <stdlib.h>

#include "stokes/slices/slice_fill_gpu.h"
#include "stokes/mobility/rpy_impl.h"
#include "stokes/mobility/rpy_table.h"

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP };

typedef struct {
  list_job list; /* without a law */
  double xi, viscosity;
  const rpy_cubic *table; /* [pairs of radii][RPY_STEPS]; NULL: none */
  const uint8_t *kind;
  float inv_step;
} near_job;

/* Which of the radii a sphere has. */
typedef struct {
  int n;
  double radius[RPY_RADII];
} kind_job;

static __global__ void __launch_bounds__(BLOCK)
    kind_kernel(int64_t n, const double *__restrict__ x, const __grid_constant__ kind_job job,
                uint8_t *kind)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const double a = x[4 * i + 3];
  int q = 0;
  while (q < job.n - 1 && job.radius[q] < a)
    q++;
  kind[i] = (uint8_t)q;
}

static md_status write_tables(rpy_near *near, const rpy_radii *radii, rpy_cubic *host)
{
  for (int q = 0; q < radii->n; q++)
    for (int p = 0; p <= q; p++)
      rpy_table_fill(radii->radius[p], radii->radius[q], near->xi, near->viscosity, near->cut,
                     host + (size_t)rpy_table_of(p, q) * RPY_STEPS);
  const size_t bytes = (size_t)rpy_table_of(0, radii->n) * RPY_STEPS * sizeof *host;
  MD_TRY(md_buffer_reserve(near->ctx, &near->table, bytes, 0));
  MD_TRY(md_write(near->ctx, near->table.data, host, bytes));
  return md_ctx_sync(near->ctx);
}

md_status rpy_near_gpu_tables(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii)
{
  md_buffer_free(near->ctx, &near->table);
  if (near->ctx->precision == MD_DOUBLE || radii->nodes) return MD_OK;
  kind_job job = {radii->n, {}};
  for (int q = 0; q < radii->n; q++)
    job.radius[q] = radii->radius[q];
  MD_TRY(md_buffer_reserve(near->ctx, &near->kind, (size_t)spheres->n, 0));
  kind_kernel<<<md_blocks(spheres->n, BLOCK), BLOCK, 0, (cudaStream_t)near->ctx->stream>>>(
      spheres->n, spheres->x, job, (uint8_t *)near->kind.data);
  MD_LAUNCHED();
  rpy_cubic *host =
      (rpy_cubic *)malloc((size_t)rpy_table_of(0, radii->n) * RPY_STEPS * sizeof *host);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for the tables of %d radii", radii->n);
  const md_status status = write_tables(near, radii, host);
  free(host);
  return status;
}

/* The vector between two spheres, so that it is exactly opposite for (j, i). */
static __device__ __forceinline__ void between(const near_job *job, const double *a,
                                               const double *b, double *e)
{
  for (int d = 0; d < 3; d++)
    e[d] = search_difference(a[d], b[d], job->list.box[d]);
}

/* Rare in single precision, and has more registers than all else. */
static __device__ __noinline__ rpy_block exact_pair(double r_sq, double a, double b, double xi,
                                                    double viscosity)
{
  return rpy_near_pair(sqrt(r_sq), a, b, xi, viscosity);
}

static __device__ __forceinline__ double square_of(const double *e)
{
  return e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
}

/* A sphere, and which of the radii it has. */
typedef struct {
  double x[4];
  int kind;
} near_sphere;

static __device__ __forceinline__ near_sphere load_near(const near_job *job, int64_t i)
{
  near_sphere s;
  load_sphere(&job->list, i, s.x);
  s.kind = job->table ? __ldg(job->kind + i) : 0;
  return s;
}

/* Entry of spheres a and b, whose number is j. */
static __device__ __forceinline__ stokes_pair_entry pair_entry(const near_job *job,
                                                               const near_sphere *a,
                                                               const near_sphere *b, int32_t j)
{
  double apart[3];
  between(job, a->x, b->x, apart);
  const float e[3] = {(float)apart[0], (float)apart[1], (float)apart[2]};
  const float r_sq = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
  const float inv_r = r_sq > 0 ? rsqrtf(r_sq) : 0, r = r_sq * inv_r;
  const float gap = r - (float)(a->x[3] + b->x[3]);
  rpy_rounded fg;
  if (job->table && gap > -1e-6f * r) { /* touching ones, up to rounding, do not overlap */
    const int which = rpy_table_of(a->kind, b->kind);
    fg = rpy_table_at(job->table + which * RPY_STEPS, fmaxf(gap, 0), job->inv_step);
  } else {
    const rpy_block exact = exact_pair(square_of(apart), a->x[3], b->x[3], job->xi, job->viscosity);
    fg = {(float)exact.f, (float)exact.g};
  }
  return {{inv_r * e[0], inv_r * e[1], inv_r * e[2]}, fg.f - fg.g, -fg.f, j};
}

/* Pairs of plain rows leave a warp in one piece. */
static __device__ __forceinline__ void put_staged(const slice_layout *layout, int64_t first,
                                                  int count, int lane, float2 *stage,
                                                  const stokes_pair_entry *p)
{
  stage[3 * lane] = make_float2(p->e[0], p->e[1]);
  stage[3 * lane + 1] = make_float2(p->e[2], p->squeeze);
  stage[3 * lane + 2] = make_float2(p->slide, __int_as_float(p->column));
  __syncwarp();
  float2 *to = (float2 *)layout->block + 3 * first;
  for (int k = lane; k < 3 * count; k += MD_WARP)
    to[k] = stage[k];
  __syncwarp();
}

/* block: f I + (g - f) e e^T */
static __device__ __forceinline__ void block_of(const near_job *job, const double *a,
                                                const double *b, double *block)
{
  double e[3];
  between(job, a, b, e);
  const double r_sq = square_of(e);
  const rpy_block pair = exact_pair(r_sq, a[3], b[3], job->xi, job->viscosity);
  const double both = r_sq > 0 ? (pair.g - pair.f) / r_sq : 0;
  for (int q = 0; q < 9; q++)
    block[q] = both * (e[q / 3] * e[q % 3]) + (q % 4 ? 0 : pair.f);
}

/* pair is a constant where this is inlined. */
static __device__ __forceinline__ void fill_rows(const near_job *job, const slice_layout *layout,
                                                 bool pair, float2 *stage)
{
  const list_job *list = &job->list;
  const warp_rows w = rows_of_warp(list);
  int32_t next = neighbor_of(list, &w, 0);
  for (int k = 0; k < w.total; k += MD_WARP) {
    const int entry = k + w.lane, row = row_of(&w, entry);
    const int begin = __shfl_sync(MD_ALL_LANES, w.begin, row);
    const int64_t i = min(w.row + row, list->n - 1);
    const int32_t j = next;
    next = neighbor_of(list, &w, k + MD_WARP);
    const near_sphere a = load_near(job, i), b = load_near(job, j);
    if (pair) {
      stokes_pair_entry p = {};
      if (entry < w.total) p = pair_entry(job, &a, &b, j);
      put_staged(layout, w.base + k, min((int)MD_WARP, w.total - k), w.lane, stage, &p);
    } else if (entry < w.total) {
      double block[9];
      block_of(job, a.x, b.x, block);
      const slice_address at = slice_address_of(layout, i);
      slice_put_block(layout, &at, i, entry - begin + 1, j, block);
    }
  }
}

/* A thread's blocks are of its own lane.  The diagonal is block 0 of a row where blocks hold it. */
static __device__ __forceinline__ void fill_lanes(const near_job *job, const slice_layout *layout,
                                                  bool pair, int64_t n_lanes)
{
  const list_job *list = &job->list;
  const slice_row r = slice_row_open(list, layout, n_lanes);
  const int stored = pair ? 0 : 1, step = r.parts * SLICE_FILL_GROUP;
  const int rounds = slice_row_rounds(&r, r.length + stored);
  int place = r.part + r.parts * (int)(threadIdx.x % SLICE_FILL_GROUP);
  int entry = place - stored;
  const near_sphere a = load_near(job, max(r.row, (int64_t)0));
  int32_t next = slice_row_neighbor(list, &r, entry);
  int32_t after = slice_row_neighbor(list, &r, entry + step);
  near_sphere ahead = load_near(job, next); /* sphere `next` */
  for (int round = 0; round < rounds; round++, entry += step, place += step) {
    const int32_t j = next;
    const near_sphere b = ahead;
    next = after;
    ahead = load_near(job, next);
    after = slice_row_neighbor(list, &r, entry + 2 * step);
    if (!slice_row_has(&r, entry)) continue;
    if (pair) {
      const stokes_pair_entry p = pair_entry(job, &a, &b, j);
      slice_put_pair(layout, &r.at, place, &p);
    } else {
      double block[9];
      block_of(job, a.x, b.x, block);
      slice_put_nine(layout, STOKES_BCRS, &r.at, place, j, block);
    }
  }
}

/* Double precision has twice the registers. */
#define ROWS_KERNEL(name, pair)                                                                    \
  static __global__ void __launch_bounds__(BLOCK, 2)                                               \
      name(const __grid_constant__ near_job job, const __grid_constant__ slice_layout l)           \
  {                                                                                                \
    __shared__ float2 stage[pair ? 3 * BLOCK : 1];                                                 \
    fill_rows(&job, &l, pair, stage + (pair ? threadIdx.x / MD_WARP * 96 : 0));                    \
  }
ROWS_KERNEL(fill_plain_pairs, true)
ROWS_KERNEL(fill_plain_blocks, false)

#define LANES_KERNEL(name, pair)                                                                   \
  static __global__ void __launch_bounds__(BLOCK, 2)                                               \
      name(const __grid_constant__ near_job job, const __grid_constant__ slice_layout l,           \
           int64_t n_lanes)                                                                        \
  {                                                                                                \
    fill_lanes(&job, &l, pair, n_lanes);                                                           \
  }
LANES_KERNEL(fill_sliced_pairs, true)
LANES_KERNEL(fill_sliced_blocks, false)

/* Thread: the diagonal block of a sphere. */
static __global__ void __launch_bounds__(BLOCK)
    diagonal_kernel(const __grid_constant__ near_job job,
                    const __grid_constant__ slice_layout layout, double *diagonal)
{
  const int64_t i = md_thread();
  if (i >= job.list.n) return;
  const double a = job.list.x[4 * i + 3];
  const double self = rpy_near_pair(0, a, a, job.xi, job.viscosity).f;
  for (int q = 0; q < 6; q++)
    diagonal[6 * i + q] = q == 0 || q == 3 || q == 5 ? self : 0;
  if (layout.storage == STOKES_PAIR) return;
  const double block[9] = {self, 0, 0, 0, self, 0, 0, 0, self};
  const slice_address at = slice_address_of(&layout, i);
  slice_put_block(&layout, &at, i, 0, (int32_t)i, block);
}

/* Thread: where a row begins, with one more block in each. */
static __global__ void __launch_bounds__(BLOCK)
    start_kernel(int64_t n, const int64_t *__restrict__ from, int more, int64_t *to)
{
  const int64_t i = md_thread();
  if (i <= n) to[i] = from[i] + more * i;
}

/* Rows for the list's entries. */
static md_status open_rows(stokes_matrix *matrix, const stokes_pair_view *list, int vectors)
{
  const bool pair = matrix->storage == STOKES_PAIR;
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  const int64_t n = list->n;
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  start_kernel<<<md_blocks(n + 1, BLOCK), BLOCK, 0, stream>>>(n, list->start, !pair,
                                                              (int64_t *)matrix->start.data);
  MD_LAUNCHED();
  matrix->n_rows = n;
  matrix->resistance = false;
  matrix->n_blocks = list->n_entries + n;
  matrix->n_stored = pair ? list->n_entries : matrix->n_blocks;
  MD_TRY(matrix_gpu_reserve(matrix, vectors));
  return matrix->slices.width ? MD_OK : gspmv_gpu_cut_row_chunks(matrix, stream);
}

md_status rpy_near_gpu_fill(rpy_near *near, const stokes_view *spheres,
                            const stokes_pair_view *list, int vectors)
{
  stokes_matrix *matrix = near->matrix;
  const cudaStream_t stream = (cudaStream_t)near->ctx->stream;
  const unsigned blocks = md_blocks(spheres->n, BLOCK);
  MD_TRY(open_rows(matrix, list, vectors));
  const slice_layout layout = slice_layout_of(matrix);
  const near_job job = {{spheres->n,
                         {spheres->box[0], spheres->box[1], spheres->box[2]},
                         spheres->x,
                         list->start,
                         list->neighbor,
                         {},
                         0,
                         NULL,
                         0},
                        near->xi,
                        near->viscosity,
                        (const rpy_cubic *)near->table.data,
                        (const uint8_t *)near->kind.data,
                        (float)(RPY_STEPS / near->cut)};
  const bool pair = matrix->storage == STOKES_PAIR; /* else STOKES_BCRS */
  const int64_t n_lanes = matrix->slices.n_slices * matrix->slices.width;
  if (matrix->slices.width) {
    const unsigned sliced = md_blocks(n_lanes * SLICE_FILL_GROUP, BLOCK);
    (pair ? fill_sliced_pairs : fill_sliced_blocks)<<<sliced, BLOCK, 0, stream>>>(job, layout,
                                                                                  n_lanes);
  } else {
    (pair ? fill_plain_pairs : fill_plain_blocks)<<<blocks, BLOCK, 0, stream>>>(job, layout);
  }
  MD_LAUNCHED();
  diagonal_kernel<<<blocks, BLOCK, 0, stream>>>(job, layout, (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status rpy_near_gpu_multiply(rpy_near *near, int m, const double *f, double *u)
{
  stokes_matrix *matrix = near->matrix;
  if (matrix->slices.width == 0) return stokes_matrix_multiply(matrix, m, f, u);
  const vector_backend *ops = vectors_of(near->ctx);
  vector_space space = {};
  space.ctx = near->ctx;
  space.n_rows = matrix->n_rows;
  const size_t numbers = 3 * (size_t)matrix->n_rows * (size_t)m;
  MD_TRY(md_buffer_reserve(near->ctx, &near->narrow, 2 * numbers * sizeof(float), 0));
  float *x = (float *)near->narrow.data, *y = x + numbers;
  gspmv_part way[GSPMV_WAYS];
  gspmv_gpu_ways_single(matrix, m, way);
  const gspmv_range all = {m, 0, m, way[0]};
  const gspmv_use use = {false, {1, 0, 0, 0, 0}, NULL, NULL};
  MD_TRY(ops->narrow(&space, m, 1, f, x));
  MD_TRY(gspmv_gpu_slices_single(matrix, &all, x, y, &use));
  return ops->widen(&space, m, y, u);
}

/* Thread: one sphere; its radius kept, and whether it was another. */
static __global__ void __launch_bounds__(BLOCK)
    keep_kernel(int64_t n, const double *__restrict__ x, double *kept, int *other)
{
  const int64_t i = md_thread();
  const double a = i < n ? x[4 * i + 3] : 0;
  const bool changed = i < n && !(a == kept[i]);
  if (changed) kept[i] = a;
  if (__any_sync(MD_ALL_LANES, changed) && threadIdx.x % MD_WARP == 0) atomicOr(other, 1);
}

md_status rpy_radii_store_gpu(md_ctx *ctx, const stokes_view *spheres, double *kept, bool *same)
{
  int *other = (int *)(kept + spheres->n), found;
  MD_TRY(md_fill(ctx, other, 0, sizeof *other));
  keep_kernel<<<md_blocks(spheres->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      spheres->n, spheres->x, kept, other);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, &found, other, sizeof found));
  *same = !found;
  return MD_OK;
}
