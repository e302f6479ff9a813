/* stokes/solver/vectors_gpu.cu - vectors of solvers on the GPU: sums, and one thread an element or
 * a sphere.
 *
 * Rows are cut into VECTOR_PARTS parts, whatever the GPU; a block of threads sums one part, each
 * column in one order, and a second kernel adds the parts in order: bit-identical reruns. */
#include "stokes/solver/vectors_gpu.h"

#include <string.h>

typedef unsigned long long bits;

static __global__ void factor_kernel(int64_t n, const double *__restrict__ diagonal, bits *found)
{
  const int64_t i = md_thread();
  double largest = 0;
  if (i < n) {
    const double own = jacobi_largest(diagonal + 6 * i);
    if (own > 0) largest = own;
    double l[6], unused[6];
    if (!jacobi_factor(diagonal + 6 * i, l, unused)) atomicAdd(&found[0], 1ull);
  }
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    largest = fmax(largest, __shfl_xor_sync(MD_ALL_LANES, largest, step));
  const bits word = (bits)__double_as_longlong(largest);
  if (threadIdx.x % MD_WARP == 0 && word > *(volatile bits *)&found[1]) atomicMax(&found[1], word);
}

/* Blocks of threads take whole rows of m columns, `tall` of them: which row and column am I?  The
 * threads left over stand beyond any row. */
static const int64_t NOBODY = (int64_t)1 << 40;
typedef struct {
  int64_t i;
  int c;
} vector_place;

static __device__ __forceinline__ vector_place place_of(int m)
{
  const int tall = VECTOR_BLOCK / m, row = threadIdx.x / m;
  const vector_place at = {row < tall ? (int64_t)blockIdx.x * tall + row : NOBODY,
                           (int)threadIdx.x - row * m};
  return at;
}

static unsigned blocks_of(int64_t rows, int m)
{
  return md_blocks(rows, VECTOR_BLOCK / m);
}

static md_status factor(vector_space *s, double *inverse, int64_t *bad, double *largest)
{
  bits found[2];
  MD_TRY(md_buffer_reserve(s->ctx, &s->small, sizeof found, 0));
  MD_TRY(md_fill(s->ctx, s->small.data, 0, sizeof found));
  factor_kernel<<<md_blocks(s->n_rows, VECTOR_BLOCK), VECTOR_BLOCK, 0, vector_stream(s)>>>(
      s->n_rows, s->diagonal, (bits *)s->small.data);
  MD_LAUNCHED();
  MD_TRY(md_read(s->ctx, found, s->small.data, sizeof found));
  *bad = (int64_t)found[0];
  memcpy(largest, &found[1], sizeof *largest);
  return MD_OK;
}

/* One thread a sphere and column. */
static __global__ void normals_kernel(int64_t n, int m, uint64_t seed, normal_use use,
                                      uint64_t step, const int32_t *__restrict__ id, double *v)
{
  const vector_place at = place_of(m);
  if (at.i >= n) return;
  double z[3];
  normal_three(seed, use, (uint64_t)(id ? id[at.i] : at.i), step + (uint64_t)at.c, z);
  for (int d = 0; d < 3; d++)
    v[(3 * at.i + d) * m + at.c] = z[d];
}

static md_status normals(vector_space *s, int m, uint64_t seed, normal_use use, uint64_t step,
                         const int32_t *id, double *v)
{
  normals_kernel<<<blocks_of(s->n_rows, m), VECTOR_BLOCK, 0, vector_stream(s)>>>(s->n_rows, m, seed,
                                                                                 use, step, id, v);
  MD_LAUNCHED();
  return MD_OK;
}

typedef struct {
  double a[STOKES_VECTORS], b[STOKES_VECTORS];
} column_factors;

static __global__ void columns_kernel(int64_t n, int m, const __grid_constant__ column_factors f,
                                      const double *__restrict__ x, double *y)
{
  const vector_place at = place_of(m);
  const int64_t t = at.i * m + at.c;
  if (at.i < n) y[t] = f.a[at.c] * x[t] + f.b[at.c] * y[t];
}

static md_status columns(vector_space *s, int m, const double *a, const double *x, const double *b,
                         double *y)
{
  column_factors f;
  memcpy(f.a, a, (size_t)m * sizeof *a);
  memcpy(f.b, b, (size_t)m * sizeof *b);
  const int64_t n = 3 * s->n_rows;
  columns_kernel<<<blocks_of(n, m), VECTOR_BLOCK, 0, vector_stream(s)>>>(n, m, f, x, y);
  MD_LAUNCHED();
  return MD_OK;
}

/* Block: one part; thread: one column of every few rows. */
static __global__ void dots_kernel(int64_t rows, int m, const double *__restrict__ x,
                                   const double *__restrict__ y, double *partial)
{
  __shared__ double sums[VECTOR_BLOCK];
  const int64_t share = (rows + gridDim.x - 1) / gridDim.x;
  const int64_t first = blockIdx.x * share, end = first + share < rows ? first + share : rows;
  const int t = threadIdx.x, tall = VECTOR_BLOCK / m, c = t % m;
  double sum = 0;
  if (t < tall * m)
    for (int64_t r = first + t / m; r < end; r += tall)
      sum += x[r * m + c] * y[r * m + c];
  sums[t] = sum;
  __syncthreads();
  if (t >= m) return;
  for (int k = 1; k < tall; k++)
    sum += sums[k * m + t];
  partial[(int64_t)blockIdx.x * m + t] = sum;
}

/* Warp: one sum. */
static __global__ void add_kernel(int width, const double *__restrict__ partial, double *sums)
{
  const int64_t k = md_thread() / MD_WARP;
  const int lane = threadIdx.x % MD_WARP;
  if (k >= width) return;
  double sum = 0;
  for (int p = lane; p < VECTOR_PARTS; p += MD_WARP)
    sum += partial[(int64_t)p * width + k];
  sum = md_warp_sum(sum);
  if (lane == 0) sums[k] = sum;
}

md_status vector_gpu_add(vector_space *s, int width, double *sums)
{
  const size_t bytes = (size_t)width * sizeof *sums;
  MD_TRY(md_buffer_reserve(s->ctx, &s->small, bytes, 0));
  add_kernel<<<md_blocks((int64_t)width * MD_WARP, VECTOR_BLOCK), VECTOR_BLOCK, 0,
               vector_stream(s)>>>(width, (const double *)s->partial.data, (double *)s->small.data);
  MD_LAUNCHED();
  MD_TRY(md_read(s->ctx, sums, s->small.data, bytes));
  return s->shared.n_all ? vectors_add_ranks(s, width, sums) : MD_OK;
}

static md_status dots(vector_space *s, int m, const double *x, const double *y, double *out)
{
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, (size_t)VECTOR_PARTS * (size_t)m * sizeof *out, 0));
  dots_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, vector_stream(s)>>>(3 * s->n_rows, m, x, y,
                                                                   (double *)s->partial.data);
  MD_LAUNCHED();
  return vector_gpu_add(s, m, out);
}

/* One thread a sphere and column: M^-1 x, or L x. */
static __global__ void solve_kernel(int64_t n, int m, const double *__restrict__ diagonal,
                                    const double *x, double *y)
{
  const vector_place p = place_of(m);
  const int64_t at = 3 * p.i * m + p.c;
  if (p.i < n) jacobi_solve_block(diagonal + 6 * p.i, m, x + at, y + at);
}

static __global__ void lower_kernel(int64_t n, int m, const double *__restrict__ diagonal,
                                    const double *x, double *y)
{
  const vector_place p = place_of(m);
  const int64_t at = 3 * p.i * m + p.c;
  double l[6], unused[6];
  if (p.i >= n) return;
  jacobi_factor(diagonal + 6 * p.i, l, unused);
  jacobi_lower(l, m, x + at, y + at);
}

md_status vector_gpu_solve(vector_space *s, int m, const double *x, double *y)
{
  solve_kernel<<<blocks_of(s->n_rows, m), VECTOR_BLOCK, 0, vector_stream(s)>>>(s->n_rows, m,
                                                                               s->jacobi, x, y);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status lower(vector_space *s, int m, const double *x, double *y)
{
  lower_kernel<<<blocks_of(s->n_rows, m), VECTOR_BLOCK, 0, vector_stream(s)>>>(s->n_rows, m,
                                                                               s->diagonal, x, y);
  MD_LAUNCHED();
  return MD_OK;
}

typedef struct {
  double w, now, next, y; /* factors */
} series_factors;

/* One thread a sphere and column. */
static __global__ void chebyshev_kernel(int64_t n, int m, series_factors f,
                                        const double *__restrict__ diagonal,
                                        const double *__restrict__ w,
                                        const double *__restrict__ now, double *next, double *y,
                                        double *u)
{
  const vector_place p = place_of(m);
  if (p.i >= n) return;
  const int64_t at = 3 * p.i * m + p.c;
  double value[3], old[3], sum[3];
  for (int d = 0; d < 3; d++) {
    old[d] = next[at + d * m];
    sum[d] = y[at + d * m];
    value[d] = f.w * w[at + d * m] + f.now * now[at + d * m];
  }
  for (int d = 0; d < 3; d++) {
    value[d] += f.next * old[d];
    next[at + d * m] = value[d];
    y[at + d * m] = sum[d] + f.y * value[d];
  }
  if (!diagonal) return;
  jacobi_solve_block(diagonal + 6 * p.i, 1, value, sum);
  for (int d = 0; d < 3; d++)
    u[at + d * m] = sum[d];
}

static md_status chebyshev(vector_space *s, int m, const double factor[4], const double *w,
                           const double *now, double *next, double *y, double *u)
{
  const series_factors f = {factor[0], factor[1], factor[2], factor[3]};
  chebyshev_kernel<<<blocks_of(s->n_rows, m), VECTOR_BLOCK, 0, vector_stream(s)>>>(
      s->n_rows, m, f, s->jacobi, w, now, next, y, u);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void take_kernel(int64_t n, int m, int column, const double *__restrict__ v,
                                   double *single)
{
  const int64_t r = md_thread();
  if (r < n) single[r] = v[r * m + column];
}

static md_status take(vector_space *s, int m, int column, const double *v, double *single)
{
  const int64_t n = 3 * s->n_rows;
  take_kernel<<<md_blocks(n, VECTOR_BLOCK), VECTOR_BLOCK, 0, vector_stream(s)>>>(n, m, column, v,
                                                                                 single);
  MD_LAUNCHED();
  return MD_OK;
}

/* Block: one part. */
static __global__ void apart_kernel(int64_t rows, int m, int column, const double *__restrict__ v,
                                    const double *__restrict__ x, double *partial)
{
  const int64_t share = (rows + gridDim.x - 1) / gridDim.x;
  const int64_t first = blockIdx.x * share, end = min(first + share, rows);
  double rest = 0, square = 0;
  for (int64_t r = first + threadIdx.x; r < end; r += VECTOR_BLOCK) {
    const double own = x[r], other = own - v[r * m + column];
    rest += other * other;
    square += own * own;
  }
  rest = md_block_sum(rest);
  square = md_block_sum(square);
  if (threadIdx.x > 0) return;
  partial[2 * blockIdx.x] = rest;
  partial[2 * blockIdx.x + 1] = square;
}

static md_status apart(vector_space *s, int m, int column, const double *v, const double *x,
                       double out[2])
{
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, VECTOR_PARTS * 2 * sizeof *out, 0));
  apart_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, vector_stream(s)>>>(3 * s->n_rows, m, column, v, x,
                                                                    (double *)s->partial.data);
  MD_LAUNCHED();
  return vector_gpu_add(s, 2, out);
}

/* One thread a sphere. */
static __global__ void move_kernel(int64_t n, double scale, const double *from,
                                   const double *__restrict__ v, double *to)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const double radius = from[4 * i + 3], step = scale / sqrt(radius);
  for (int d = 0; d < 3; d++)
    to[4 * i + d] = from[4 * i + d] + step * v[3 * i + d];
  to[4 * i + 3] = radius;
}

static md_status move(vector_space *s, double scale, const double *from, const double *v,
                      double *to)
{
  move_kernel<<<md_blocks(s->n_rows, VECTOR_BLOCK), VECTOR_BLOCK, 0, vector_stream(s)>>>(
      s->n_rows, scale, from, v, to);
  MD_LAUNCHED();
  return MD_OK;
}

/* One thread a number. */
static __global__ void narrow_kernel(int64_t n, double a, const double *__restrict__ x, float *y)
{
  const int64_t k = md_thread();
  if (k < n) y[k] = (float)(a * x[k]);
}

static __global__ void widen_kernel(int64_t n, const float *__restrict__ x, double *y)
{
  const int64_t k = md_thread();
  if (k < n) y[k] = x[k];
}

static md_status narrow(vector_space *s, int m, double a, const double *x, float *y)
{
  const int64_t n = 3 * s->n_rows * m;
  narrow_kernel<<<md_blocks(n, VECTOR_BLOCK), VECTOR_BLOCK, 0, vector_stream(s)>>>(n, a, x, y);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status widen(vector_space *s, int m, const float *x, double *y)
{
  const int64_t n = 3 * s->n_rows * m;
  widen_kernel<<<md_blocks(n, VECTOR_BLOCK), VECTOR_BLOCK, 0, vector_stream(s)>>>(n, x, y);
  MD_LAUNCHED();
  return MD_OK;
}

const vector_backend vectors_gpu = {false,
                                    factor,
                                    normals,
                                    columns,
                                    dots,
                                    lower,
                                    vector_gpu_solve,
                                    vector_gpu_cg_begin,
                                    vector_gpu_cg_step,
                                    vector_gpu_gram,
                                    vector_gpu_block_update,
                                    vector_gpu_block_turn,
                                    chebyshev,
                                    take,
                                    apart,
                                    move,
                                    narrow,
                                    widen};
