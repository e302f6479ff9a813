/* stokes/solver/vectors_block_gpu.cu - products of tall matrices with m columns and m x m matrices
 * on the GPU, for block conjugate gradients.
 *
 * Both kinds of products go through the matrix units: 8 x 8 results from 8 x 4 and 4 x 8 fragments,
 * which a warp loads from memory as they are, one number a lane, with zeros beyond the last row and
 * column.  Each number of the tall matrices is read once; sums are taken over fixed parts of the
 * rows in a fixed order.  Bytes: 8 a number and access; the arithmetic hides behind them. */
#include "stokes/solver/vectors_gpu.h"

enum { EDGE = 8, DEPTH = 4, MOST_EDGES = STOKES_VECTORS / EDGE, PANEL = 4 * EDGE };

/* c += a b: lane l has a[l / 4][l % 4], b[l % 4][l / 4] and c[l / 4][2 (l % 4) + {0, 1}]. */
static __device__ __forceinline__ void multiply_add(double *c, double a, double b)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

enum { GRAM_BLOCK = 512, GRAM_WARPS = GRAM_BLOCK / MD_WARP };

typedef struct {
  int64_t rows;
  int m;
  const double *x, *y;
  double *partial; /* [VECTOR_PARTS][m][m] */
} gram_job;

/* Block: one part of the rows, and a panel of up to `edges` x `edges` fragments of the result. */
static __device__ __forceinline__ void gram_body(const gram_job *job, int edges)
{
  __shared__ double shared[GRAM_WARPS][EDGE * EDGE];
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP, m = job->m;
  const int left = blockIdx.y * PANEL + lane / 4, right = blockIdx.z * PANEL + lane / 4;
  const int64_t share = (job->rows + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
  const int64_t end = min(first + share, job->rows);
  double sum[4][4][2] = {};
#pragma unroll 2
  for (int64_t r = first + DEPTH * warp; r < end; r += DEPTH * GRAM_WARPS) {
    const int64_t row = r + lane % 4;
    double a[4], b[4];
#pragma unroll
    for (int e = 0; e < edges; e++) {
      a[e] = row < end && left + e * EDGE < m ? job->x[row * m + left + e * EDGE] : 0;
      b[e] = row < end && right + e * EDGE < m ? job->y[row * m + right + e * EDGE] : 0;
    }
#pragma unroll
    for (int i = 0; i < edges; i++)
#pragma unroll
      for (int j = 0; j < edges; j++)
        multiply_add(sum[i][j], a[i], b[j]);
  }
  double *to = job->partial + (int64_t)blockIdx.x * m * m;
#pragma unroll
  for (int i = 0; i < edges; i++)
#pragma unroll
    for (int j = 0; j < edges; j++) {
      __syncthreads();
      shared[warp][2 * lane] = sum[i][j][0];
      shared[warp][2 * lane + 1] = sum[i][j][1];
      __syncthreads();
      if (threadIdx.x >= EDGE * EDGE) continue;
      const int p = blockIdx.y * PANEL + i * EDGE + threadIdx.x / EDGE;
      const int q = blockIdx.z * PANEL + j * EDGE + threadIdx.x % EDGE;
      double total = 0;
      for (int w = 0; w < GRAM_WARPS; w++)
        total += shared[w][threadIdx.x];
      if (p < m && q < m) to[p * m + q] = total;
    }
}

/* small (rows of `pitch`) as it is read: every lane of a half warp from another bank. */
typedef struct {
  int64_t rows;
  int m;
  double sign;
  const double *x, *a, *add;
  double *out;
} combine_job;

/* out = sign x a + add, where add is NULL for nothing; warp: 8 rows after the other, which it reads
 * before it writes, so that out may be x or add.  edges: fragments along a row. */
static __device__ __forceinline__ void combine_body(const combine_job *job, int edges)
{
  enum { PITCH = STOKES_VECTORS + 4 };
  __shared__ double small[STOKES_VECTORS * PITCH];
  const int lane = threadIdx.x % MD_WARP, m = job->m, wide = edges * EDGE;
  for (int k = threadIdx.x; k < wide * wide; k += VECTOR_BLOCK) {
    const int p = k / wide, q = k % wide;
    small[p * PITCH + q] = p < m && q < m ? job->a[p * m + q] : 0;
  }
  __syncthreads();
  const int64_t warps = (int64_t)gridDim.x * (VECTOR_BLOCK / MD_WARP);
  for (int64_t g = md_thread() / MD_WARP; g * EDGE < job->rows; g += warps) {
    const int64_t row = g * EDGE + lane / 4;
    const bool mine = row < job->rows;
    double sum[MOST_EDGES][2] = {}, a[2 * MOST_EDGES];
#pragma unroll
    for (int k = 0; k < 2 * edges; k++) {
      const int column = k * DEPTH + lane % 4;
      a[k] = mine && column < m ? job->x[row * m + column] : 0;
    }
#pragma unroll
    for (int k = 0; k < 2 * edges; k++)
#pragma unroll
      for (int e = 0; e < edges; e++)
        multiply_add(sum[e], a[k], small[(k * DEPTH + lane % 4) * PITCH + e * EDGE + lane / 4]);
#pragma unroll
    for (int e = 0; e < edges; e++) {
      const int column = e * EDGE + 2 * (lane % 4);
      const int64_t at = row * m + column;
      if (!mine || column >= m) continue;
      if (m % 2 == 0) {
        double2 two = make_double2(job->sign * sum[e][0], job->sign * sum[e][1]);
        if (job->add) {
          const double2 other = *(const double2 *)(job->add + at);
          two.x += other.x, two.y += other.y;
        }
        *(double2 *)(job->out + at) = two;
      } else {
        for (int c = 0; c < 2 && column + c < m; c++)
          job->out[at + c] = job->sign * sum[e][c] + (job->add ? job->add[at + c] : 0);
      }
    }
  }
}

#define EDGES_(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define COMBINE(edges)                                                                             \
  static __global__ void __launch_bounds__(VECTOR_BLOCK)                                           \
      combine_##edges(const __grid_constant__ combine_job job)                                     \
  {                                                                                                \
    combine_body(&job, edges);                                                                     \
  }
#define GRAM(edges)                                                                                \
  static __global__ void __launch_bounds__(GRAM_BLOCK)                                             \
      gram_##edges(const __grid_constant__ gram_job job)                                           \
  {                                                                                                \
    gram_body(&job, edges);                                                                        \
  }
#define COMBINE_NAME(edges) combine_##edges,
EDGES_(COMBINE)
GRAM(1)
GRAM(2)
GRAM(3)
GRAM(4)

md_status vector_gpu_gram(vector_space *s, int m, const double *x, const double *y, double *g)
{
  static void (*const kernels[])(gram_job) = {gram_1, gram_2, gram_3, gram_4};
  const size_t bytes = (size_t)VECTOR_PARTS * (size_t)(m * m) * sizeof *g;
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, bytes, 0));
  const gram_job job = {3 * s->n_rows, m, x, y, (double *)s->partial.data};
  const int panels = (m + PANEL - 1) / PANEL, edges = panels > 1 ? 4 : (m + EDGE - 1) / EDGE;
  const dim3 grid(VECTOR_PARTS, panels, panels);
  kernels[edges - 1]<<<grid, GRAM_BLOCK, 0, vector_stream(s)>>>(job);
  MD_LAUNCHED();
  return vector_gpu_add(s, m * m, g);
}

static md_status combine(vector_space *s, int m, double sign, const double *x, const double *a,
                         const double *add, double *out)
{
  static void (*const kernels[])(combine_job) = {EDGES_(COMBINE_NAME)};
  enum { MOST_BLOCKS = 2048 }; /* so that the small matrix is not read too often */
  const combine_job job = {3 * s->n_rows, m, sign, x, a, add, out};
  const unsigned all = md_blocks(job.rows, EDGE * VECTOR_BLOCK / MD_WARP);
  const unsigned blocks = all < MOST_BLOCKS ? all : (unsigned)MOST_BLOCKS;
  kernels[(m + EDGE - 1) / EDGE - 1]<<<blocks, VECTOR_BLOCK, 0, vector_stream(s)>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}

/* Two m x m matrices to the device; b may be NULL. */
static md_status upload(vector_space *s, int m, const double *a, const double *b, double *to[2])
{
  const size_t bytes = (size_t)(m * m) * sizeof *a;
  MD_TRY(md_buffer_reserve(s->ctx, &s->small, 2 * bytes, 0));
  to[0] = (double *)s->small.data;
  to[1] = to[0] + m * m;
  MD_TRY(md_write(s->ctx, to[0], a, bytes));
  return b ? md_write(s->ctx, to[1], b, bytes) : MD_OK;
}

md_status vector_gpu_block_update(vector_space *s, int m, const block_vectors *v,
                                  const double *step, const double *back, double *g)
{
  double *small[2];
  MD_TRY(upload(s, m, step, back, small));
  MD_TRY(combine(s, m, 1, v->p, small[0], v->x, v->x));
  MD_TRY(combine(s, m, -1, v->w, small[1], v->q, v->q));
  if (s->jacobi) MD_TRY(vector_gpu_solve(s, m, v->q, v->z));
  return vector_gpu_gram(s, m, v->q, v->z, g);
}

md_status vector_gpu_block_turn(vector_space *s, int m, const block_vectors *v, const double *t,
                                const double *turn)
{
  double *small[2];
  MD_TRY(upload(s, m, t, turn, small));
  MD_TRY(combine(s, m, 1, v->q, small[0], NULL, v->q));
  if (s->jacobi) MD_TRY(combine(s, m, 1, v->z, small[0], NULL, v->z));
  return turn ? combine(s, m, 1, v->p, small[1], v->z, v->p) : MD_OK;
}
