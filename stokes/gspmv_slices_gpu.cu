/* stokes/gspmv_slices_gpu.cu - Y = R X with the rows of R in slices (stokes/slices_gpu.h).
 *
 * A warp takes one slice or several.  TEAM threads share a lane of the slice, that is a row or a
 * part of one, and hold PER columns of its three results each: a thread reads its own columns of X,
 * 16 bytes at a time where it can, and all threads of a team the same block.  Nothing is summed
 * across threads but the parts of long rows.  A product with more columns than a team holds takes
 * neighbouring blocks of threads for its panels of TEAM PER columns.
 * Bytes: 80, 40 or 24 a block; X comes from cache as often as the order of the rows lets it. */
#include "stokes/gspmv_gpu.h"

enum { THREADS = 256 };

typedef struct {
  int64_t n_slices;
  const int64_t *first;
  const matrix_lane *lane;
  const void *block;
  const double *diagonal, *x;
  double *y;
  int m, panels;
} slices_job;

/* My columns of one row of X or Y: pairs of columns 2 team apart, or one column. */
static __device__ __forceinline__ void load_columns(const double *row, int per, int team, int own,
                                                    int m, double *to)
{
  if (per == 1) {
    to[0] = own < m ? __ldg(row + own) : 0;
    return;
  }
  for (int v = 0; v < per; v += 2) {
    const int column = 2 * own + v * team;
    const double2 two = column < m ? __ldg((const double2 *)(row + column)) : make_double2(0, 0);
    to[v] = two.x, to[v + 1] = two.y;
  }
}

static __device__ __forceinline__ void store_columns(double *row, int per, int team, int own, int m,
                                                     const double *from)
{
  if (per == 1) {
    if (own < m) row[own] = from[0];
    return;
  }
  for (int v = 0; v < per; v += 2) {
    const int column = 2 * own + v * team;
    if (column < m) *(double2 *)(row + column) = make_double2(from[v], from[v + 1]);
  }
}

enum { MOST_PER = 4 };

/* One block as it is used: nine elements, or direction and resistances. */
typedef struct {
  double a[9];
  int32_t column;
} slice_block;

static __device__ __forceinline__ slice_block load_block(const slices_job *job, int storage,
                                                         int width, int64_t step, int lane)
{
  slice_block b;
  if (storage == STOKES_BCRS) {
    const double2 *at = (const double2 *)job->block + step * 5 * width + lane;
    for (int k = 0; k < 4; k++) {
      const double2 two = __ldcs(at + k * width);
      b.a[2 * k] = two.x, b.a[2 * k + 1] = two.y;
    }
    const double2 last = __ldcs(at + 4 * width);
    b.a[8] = last.x;
    b.column = (int32_t)__double_as_longlong(last.y);
    return b;
  }
  const int units = storage == STOKES_PAIR ? 3 : 5;
  const float2 *at = (const float2 *)job->block + step * units * width + lane;
  for (int k = 0; k < units; k++) {
    const float2 two = __ldcs(at + k * width);
    b.a[2 * k] = two.x;
    if (k + 1 < units)
      b.a[2 * k + 1] = two.y;
    else
      b.column = __float_as_int(two.y);
  }
  return b;
}

/* sum += block * X for my columns. */
static __device__ __forceinline__ void multiply_block(const slice_block *b, int storage, int per,
                                                      const double (*x)[MOST_PER],
                                                      double (*sum)[MOST_PER])
{
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (storage == STOKES_PAIR) { /* e, squeeze, slide */
      const double along = b->a[3] * (b->a[0] * x[0][v] + b->a[1] * x[1][v] + b->a[2] * x[2][v]);
      for (int d = 0; d < 3; d++)
        sum[d][v] -= b->a[4] * x[d][v] + b->a[d] * along;
    } else {
      for (int row = 0; row < 3; row++)
        for (int col = 0; col < 3; col++)
          sum[row][v] += b->a[3 * row + col] * x[col][v];
    }
  }
}

static __device__ __forceinline__ void add_diagonal(const slices_job *job, int64_t i, int per,
                                                    const double (*x)[MOST_PER],
                                                    double (*sum)[MOST_PER])
{
  const double *d = job->diagonal + 6 * i;
#pragma unroll
  for (int v = 0; v < per; v++) {
    const double xs[3] = {x[0][v], x[1][v], x[2][v]};
    double ys[3] = {sum[0][v], sum[1][v], sum[2][v]};
    gspmv_diagonal(d, xs, ys);
    for (int k = 0; k < 3; k++)
      sum[k][v] = ys[k];
  }
}

/* Add up the parts of long rows; every thread of the warp comes along. */
static __device__ __forceinline__ void join_parts(int parts, int team, int per,
                                                  double (*sum)[MOST_PER])
{
  const int most = __reduce_max_sync(MD_ALL_LANES, (unsigned)parts);
  for (int step = 1; step < most; step *= 2)
#pragma unroll
    for (int v = 0; v < per; v++)
      for (int d = 0; d < 3; d++) {
        const double other = __shfl_xor_sync(MD_ALL_LANES, sum[d][v], step * team);
        if (step < parts) sum[d][v] += other;
      }
}

/* storage, width, team and per are constants where this is inlined. */
static __device__ __forceinline__ void slices_body(const slices_job *job, int storage, int width,
                                                   int team, int per)
{
  const int own = threadIdx.x % team, lane = threadIdx.x / team % width;
  const int64_t thread = (int64_t)(blockIdx.x / job->panels) * THREADS + threadIdx.x;
  const int64_t slice = thread / (team * width);
  const int panel = (int)(blockIdx.x % job->panels) * team * per;
  const int m = job->m - panel; /* columns from here on */
  matrix_lane mine = {-1, 1};
  if (slice < job->n_slices) mine = job->lane[slice * width + lane];
  const int parts = mine.parts_count & 7, count = mine.parts_count >> 3;
  const int64_t step = slice < job->n_slices ? job->first[slice] : 0;
  const double *x = job->x + panel;
  double sum[3][MOST_PER] = {}, xs[3][MOST_PER];
#pragma unroll 2
  for (int k = 0; k < count; k++) {
    const slice_block b = load_block(job, storage, width, step + k, lane);
    for (int d = 0; d < 3; d++)
      load_columns(x + (3 * (int64_t)b.column + d) * job->m, per, team, own, m, xs[d]);
    multiply_block(&b, storage, per, xs, sum);
  }
  __syncwarp();
  join_parts(parts, team, per, sum);
  if (mine.row < 0 || lane % parts != 0) return;
  const int64_t i = mine.row;
  if (storage == STOKES_PAIR) {
    for (int d = 0; d < 3; d++)
      load_columns(x + (3 * i + d) * job->m, per, team, own, m, xs[d]);
    add_diagonal(job, i, per, xs, sum);
  }
  for (int d = 0; d < 3; d++)
    store_columns(job->y + panel + (3 * i + d) * job->m, per, team, own, m, sum[d]);
}

/* Shapes: lanes of a slice, threads a lane, columns a thread. */
#define SHAPES(X, s)                                                                               \
  X(s, 8, 1, 1)                                                                                    \
  X(s, 8, 2, 1)                                                                                    \
  X(s, 8, 4, 1)                                                                                    \
  X(s, 8, 1, 2)                                                                                    \
  X(s, 8, 2, 2)                                                                                    \
  X(s, 8, 4, 2)                                                                                    \
  X(s, 4, 8, 1)                                                                                    \
  X(s, 4, 8, 2)                                                                                    \
  X(s, 4, 8, 4)
#define KERNEL(s, width, team, per)                                                                \
  static __global__ void __launch_bounds__(THREADS)                                                \
      slices_##s##_##width##_##team##_##per(const __grid_constant__ slices_job job)                \
  {                                                                                                \
    slices_body(&job, STOKES_##s, width, team, per);                                               \
  }
#define ENTRY(s, width, team, per) {width, team, per, slices_##s##_##width##_##team##_##per},
#define KERNELS(name, word) SHAPES(KERNEL, name)
#define TABLE(name, word) {SHAPES(ENTRY, name)},
STOKES_STORAGES(KERNELS)

enum { N_SHAPES = 9 };
typedef struct {
  int width, team, per;
  void (*kernel)(slices_job);
} slices_shape;
static const slices_shape shapes[STOKES_STORAGE_COUNT][N_SHAPES] = {STOKES_STORAGES(TABLE)};

static int panels_of(const slices_shape *s, int m)
{
  return (m + s->team * s->per - 1) / (s->team * s->per);
}

/* The shape of this width that takes the fewest panels, of those the one with the fewest idle
 * columns, then with the most columns a thread; pairs of columns need rows of 16 bytes. */
static const slices_shape *choose(const slices_shape *table, int width, int m)
{
  const slices_shape *best = NULL;
  for (int k = 0; k < N_SHAPES; k++) {
    const slices_shape *s = &table[k];
    if (s->width != width || (s->per > 1 && m % 2 != 0)) continue;
    const int fewer = best ? panels_of(best, m) - panels_of(s, m) : 1;
    const int leaner = best ? best->team * best->per - s->team * s->per : 0;
    if (fewer > 0 || (fewer == 0 && (leaner > 0 || (leaner == 0 && s->per > best->per)))) best = s;
  }
  return best;
}

md_status gspmv_gpu_slices(const stokes_matrix *matrix, int m, const double *x, double *y)
{
  const matrix_slices *s = &matrix->slices;
  const slices_shape *shape = choose(shapes[matrix->storage], s->width, m);
  const slices_job job = {s->n_slices,
                          (const int64_t *)s->first.data,
                          (const matrix_lane *)s->lane.data,
                          matrix->block.data,
                          (const double *)matrix->diagonal.data,
                          x,
                          y,
                          m,
                          panels_of(shape, m)};
  const unsigned blocks = md_blocks(s->n_slices * s->width * shape->team, THREADS);
  shape->kernel<<<blocks * job.panels, THREADS, 0, (cudaStream_t)matrix->ctx->stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
