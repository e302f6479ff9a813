/* stokes/vectors_cg_gpu.cu - the steps of conjugate gradients on the GPU, for one vector and many.
 *
 * One vector: scalars stay on the device in a cg_state, so that the host waits for none of them; a
 * state that is done turns further steps into nothing.  Many: products with m x m matrices, which
 * lie in shared memory with a tile of TILE rows. */
#include "stokes/vectors_gpu.h"

enum { RR, RZ, BB, CG_SUMS, TILE = 32, ENTRIES = STOKES_VECTORS * STOKES_VECTORS / VECTOR_BLOCK };

/* Sums of one part for the threads of its block, to partial[part][...]. */
static __device__ __forceinline__ void keep_sum(double value, double *partial, int width, int k)
{
  const double sum = md_block_sum(value);
  if (threadIdx.x == 0) partial[(int64_t)blockIdx.x * width + k] = sum;
}

/* Of all parts, in order; every thread of one warp gets the result. */
static __device__ __forceinline__ double add_parts(const double *partial, int width, int k)
{
  double sum = 0;
  for (int p = threadIdx.x; p < VECTOR_PARTS; p += MD_WARP)
    sum += partial[(int64_t)p * width + k];
  return md_warp_sum(sum);
}

typedef struct {
  int64_t n; /* spheres */
  const double *inverse;
  cg_vectors v;
  double *partial;
} cg_job;

/* z = M^-1 r of sphere i; adds to the sums of the new residual. */
static __device__ __forceinline__ void residual(const cg_job *job, int64_t i, double *rr,
                                                double *rz)
{
  const double *r = job->v.r + 3 * i, *z = r;
  if (job->inverse) {
    jacobi_solve(job->inverse + 6 * i, 1, r, job->v.z + 3 * i);
    z = job->v.z + 3 * i;
  }
  for (int d = 0; d < 3; d++) {
    *rr += r[d] * r[d];
    *rz += r[d] * z[d];
  }
}

/* The spheres of a part, one thread after the other. */
#define FOR_SPHERES(i, n)                                                                          \
  for (int64_t i = md_thread(); i < (n); i += (int64_t)VECTOR_PARTS * VECTOR_BLOCK)

static __global__ void begin_kernel(cg_job job)
{
  double rr = 0, rz = 0, bb = 0;
  FOR_SPHERES(i, job.n)
  {
    for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
      job.v.r[k] = job.v.b[k] - job.v.q[k];
      bb += job.v.b[k] * job.v.b[k];
    }
    residual(&job, i, &rr, &rz);
    for (int64_t k = 3 * i; k < 3 * i + 3; k++)
      job.v.p[k] = job.v.z[k];
  }
  keep_sum(rr, job.partial, CG_SUMS, RR);
  keep_sum(rz, job.partial, CG_SUMS, RZ);
  keep_sum(bb, job.partial, CG_SUMS, BB);
}

/* One warp. */
static __global__ void begin_state_kernel(const double *partial, double tolerance, cg_state *state)
{
  const double rr = add_parts(partial, CG_SUMS, RR), rz = add_parts(partial, CG_SUMS, RZ);
  const double bb = add_parts(partial, CG_SUMS, BB), limit = tolerance * tolerance * bb;
  if (threadIdx.x > 0) return;
  *state = cg_state{bb, rr, rz, 0, 0, limit, 0, rr <= limit};
}

static __global__ void product_kernel(cg_job job)
{
  double sum = 0;
  FOR_SPHERES(i, job.n)
  for (int64_t k = 3 * i; k < 3 * i + 3; k++)
    sum += job.v.p[k] * job.v.q[k];
  keep_sum(sum, job.partial, 1, 0);
}

static __global__ void product_state_kernel(const double *partial, cg_state *state)
{
  const double pq = add_parts(partial, 1, 0);
  if (threadIdx.x > 0 || state->done) return;
  state->pq = pq;
  if (!(pq > 0)) state->done = 2;
}

static __global__ void update_kernel(cg_job job)
{
  const cg_state *state = job.v.state;
  if (state->done) return;
  const double alpha = state->rz / state->pq;
  double rr = 0, rz = 0;
  FOR_SPHERES(i, job.n)
  {
    for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
      job.v.x[k] += alpha * job.v.p[k];
      job.v.r[k] -= alpha * job.v.q[k];
    }
    residual(&job, i, &rr, &rz);
  }
  keep_sum(rr, job.partial, CG_SUMS, RR);
  keep_sum(rz, job.partial, CG_SUMS, RZ);
}

static __global__ void update_state_kernel(const double *partial, cg_state *state)
{
  const double rr = add_parts(partial, CG_SUMS, RR), rz = add_parts(partial, CG_SUMS, RZ);
  if (threadIdx.x > 0 || state->done) return;
  state->beta = rz / state->rz;
  state->rr = rr;
  state->rz = rz;
  state->steps++;
  state->done = rr <= state->limit;
}

static __global__ void direction_kernel(cg_job job)
{
  if (job.v.state->done) return;
  const double beta = job.v.state->beta;
  FOR_SPHERES(i, job.n)
  for (int64_t k = 3 * i; k < 3 * i + 3; k++)
    job.v.p[k] = job.v.z[k] + beta * job.v.p[k];
}

static md_status cg_prepare(vector_space *s, const cg_vectors *v, cg_job *job)
{
  const size_t bytes = (size_t)VECTOR_PARTS * CG_SUMS * sizeof(double);
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, bytes, 0));
  *job = cg_job{s->n_rows, s->inverse, *v, (double *)s->partial.data};
  return MD_OK;
}

md_status vector_gpu_cg_begin(vector_space *s, const cg_vectors *v, double tolerance)
{
  const cudaStream_t stream = vector_stream(s);
  cg_job job;
  MD_TRY(cg_prepare(s, v, &job));
  begin_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, stream>>>(job);
  begin_state_kernel<<<1, MD_WARP, 0, stream>>>(job.partial, tolerance, v->state);
  MD_LAUNCHED();
  return MD_OK;
}

md_status vector_gpu_cg_step(vector_space *s, const cg_vectors *v)
{
  const cudaStream_t stream = vector_stream(s);
  cg_job job;
  MD_TRY(cg_prepare(s, v, &job));
  product_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, stream>>>(job);
  product_state_kernel<<<1, MD_WARP, 0, stream>>>(job.partial, v->state);
  update_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, stream>>>(job);
  update_state_kernel<<<1, MD_WARP, 0, stream>>>(job.partial, v->state);
  direction_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}

/* Block: one part; thread: up to ENTRIES elements of the m x m result. */
static __global__ void gram_kernel(int64_t rows, int m, const double *__restrict__ x,
                                   const double *__restrict__ y, double *partial)
{
  __shared__ double left[TILE * STOKES_VECTORS], right[TILE * STOKES_VECTORS];
  const int64_t share = (rows + gridDim.x - 1) / gridDim.x;
  const int64_t first = blockIdx.x * share, end = first + share < rows ? first + share : rows;
  double sum[ENTRIES] = {0};
  for (int64_t r = first; r < end; r += TILE) {
    const int tall = r + TILE < end ? TILE : (int)(end - r);
    __syncthreads();
    for (int k = threadIdx.x; k < tall * m; k += VECTOR_BLOCK) {
      left[k] = x[r * m + k];
      right[k] = y[r * m + k];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < ENTRIES; e++) {
      const int entry = threadIdx.x + e * VECTOR_BLOCK;
      if (entry >= m * m) break;
      for (int k = 0; k < tall; k++)
        sum[e] += left[k * m + entry / m] * right[k * m + entry % m];
    }
  }
#pragma unroll
  for (int e = 0; e < ENTRIES; e++) {
    const int entry = threadIdx.x + e * VECTOR_BLOCK;
    if (entry < m * m) partial[(int64_t)blockIdx.x * m * m + entry] = sum[e];
  }
}

md_status vector_gpu_gram(vector_space *s, int m, const double *x, const double *y, double *g)
{
  const size_t bytes = (size_t)VECTOR_PARTS * (size_t)(m * m) * sizeof *g;
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, bytes, 0));
  gram_kernel<<<VECTOR_PARTS, VECTOR_BLOCK, 0, vector_stream(s)>>>(3 * s->n_rows, m, x, y,
                                                                   (double *)s->partial.data);
  MD_LAUNCHED();
  return vector_gpu_add(s, m * m, g);
}

/* out = sign x a + add for TILE rows a block, where add is NULL for nothing; out may be x or add:
 * a block reads all of its rows of x before it writes. */
static __global__ void combine_kernel(int64_t rows, int m, double sign, const double *x,
                                      const double *__restrict__ a, const double *add, double *out)
{
  __shared__ double tile[TILE * STOKES_VECTORS], small[STOKES_VECTORS * STOKES_VECTORS];
  const int64_t first = (int64_t)blockIdx.x * TILE;
  const int tall = first + TILE < rows ? TILE : (int)(rows - first);
  for (int k = threadIdx.x; k < m * m; k += VECTOR_BLOCK)
    small[k] = a[k];
  for (int k = threadIdx.x; k < tall * m; k += VECTOR_BLOCK)
    tile[k] = x[first * m + k];
  __syncthreads();
  for (int k = threadIdx.x; k < tall * m; k += VECTOR_BLOCK) {
    const double *row = tile + k / m * m;
    double sum = 0;
    for (int q = 0; q < m; q++)
      sum += row[q] * small[q * m + k % m];
    out[first * m + k] = sign * sum + (add ? add[first * m + k] : 0);
  }
}

static md_status combine(vector_space *s, int m, double sign, const double *x, const double *a,
                         const double *add, double *out)
{
  const int64_t rows = 3 * s->n_rows;
  combine_kernel<<<md_blocks(rows, TILE), VECTOR_BLOCK, 0, vector_stream(s)>>>(rows, m, sign, x, a,
                                                                               add, out);
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
  if (s->inverse) MD_TRY(vector_gpu_solve(s, m, v->q, v->z));
  return vector_gpu_gram(s, m, v->q, v->z, g);
}

md_status vector_gpu_block_turn(vector_space *s, int m, const block_vectors *v, const double *t,
                                const double *turn)
{
  double *small[2];
  MD_TRY(upload(s, m, t, turn, small));
  MD_TRY(combine(s, m, 1, v->q, small[0], NULL, v->q));
  if (s->inverse) MD_TRY(combine(s, m, 1, v->z, small[0], NULL, v->z));
  return turn ? combine(s, m, 1, v->p, small[1], v->z, v->p) : MD_OK;
}
