/* stokes/solver/vectors_cg_gpu.cu - the steps of conjugate gradients on the GPU, for one vector.
 *
 * Scalars stay on the device in a cg_state, so that the host waits for none of them; a state that
 * is done turns further steps into nothing.  A step is two kernels, each of which begins while the
 * one before ends: one takes all sums (cg_scalars.h), the other updates x, r and p.  Each block of
 * threads sums a part of the spheres; the last one to finish adds the parts in their order and
 * works out the scalars.  M is factored where it is used, which costs no more bytes than to store
 * M^-1 r; with M = L D L^T sums need a forward substitution of r and one of q only.
 *
 * Where several GPUs share the vectors the last block stores its sums into the mailboxes of the
 * others (comm/gpus.h), waits for theirs and adds them all up in the order of ranks: every GPU goes
 * on with the same scalars. */
#include "core/gpu/flags_gpu.h"
#include "core/gpu/launch_gpu.h"
#include "stokes/solver/cg_scalars.h"
#include "stokes/solver/vectors_gpu.h"

/* Five blocks of sums, of 48 registers a thread, for each of 132 multiprocessors: all at once. */
enum { CG_PARTS = 660 };

/* A round of the mailboxes, by which sums of ranks meet. */
typedef struct {
  int n_ways, rank; /* 0 ways: this GPU has all */
  const md_way *ways;
  md_round round;
  const double *slot; /* [ranks][CG_SUMS] */
  volatile md_late *late;
} cg_mail;

typedef struct {
  int64_t n;            /* spheres */
  const double *jacobi; /* M, or NULL */
  cg_vectors v;
  double *partial;   /* [CG_PARTS][CG_SUMS] */
  uint32_t *waiting; /* blocks that are done with their part */
  cg_mail mail;
} cg_job;

/* Block: thread 0 has sums of this rank, then those of all. */
static __device__ __forceinline__ void add_ranks(const cg_mail *by, int width, double *sum)
{
  for (int w = 0; w < by->n_ways && threadIdx.x == 0; w++) {
    double *to = (double *)by->ways[w].slot[by->round % MD_SLOTS] + by->rank * CG_SUMS;
    for (int k = 0; k < width; k++)
      to[k] = sum[k];
    raise_flag(by->ways[w].flag, by->round);
  }
  wait_flags(by->n_ways, by->ways, by->round, by->late);
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 0; k < width; k++) {
    const double own = sum[k];
    sum[k] = 0;
    for (int r = 0; r <= by->n_ways; r++)
      sum[k] += r == by->rank ? own : *(const volatile double *)&by->slot[r * CG_SUMS + k];
  }
}

/* All sums over my block at once, for thread 0. */
static __device__ __forceinline__ void block_sums(int width, double *sum)
{
  enum { WARPS = VECTOR_BLOCK / MD_WARP };
  __shared__ double of_warp[CG_SUMS][WARPS];
  const int lane = threadIdx.x % MD_WARP, warp = threadIdx.x / MD_WARP;
  for (int k = 0; k < width; k++) {
    const double part = md_warp_sum(sum[k]);
    if (lane == 0) of_warp[k][warp] = part;
  }
  __syncthreads();
  for (int k = 0; k < width && warp == 0; k++)
    sum[k] = md_warp_sum(lane < WARPS ? of_warp[k][lane] : 0);
}

/* Keep the sums of my part; true for the threads of the last block, which gets the total. */
static __device__ __forceinline__ bool add_up(const cg_job *job, int width, double *sum)
{
  block_sums(width, sum);
  for (int k = 0; k < width && threadIdx.x == 0; k++)
    job->partial[(int64_t)blockIdx.x * CG_SUMS + k] = sum[k];
  if (!md_last_block(job->waiting)) return false;
  for (int k = 0; k < width; k++) {
    sum[k] = 0;
    for (unsigned p = threadIdx.x; p < gridDim.x; p += VECTOR_BLOCK)
      sum[k] += __ldcg(&job->partial[(int64_t)p * CG_SUMS + k]);
  }
  block_sums(width, sum);
  if (job->mail.n_ways > 0) add_ranks(&job->mail, width, sum);
  return true;
}

/* z = M^-1 r of sphere i. */
static __device__ __forceinline__ void precondition(const cg_job *job, int64_t i, const double *r,
                                                    double *z)
{
  if (job->jacobi)
    jacobi_solve_block(job->jacobi + 6 * i, 1, r, z);
  else
    for (int d = 0; d < 3; d++)
      z[d] = r[d];
}

/* The spheres of a part, one thread after the other. */
#define FOR_SPHERES(i, n)                                                                          \
  for (int64_t i = md_thread(); i < (n); i += (int64_t)gridDim.x * VECTOR_BLOCK)

static __device__ __forceinline__ void load_three(const double *from, int64_t i, double *to)
{
  for (int d = 0; d < 3; d++)
    to[d] = from[3 * i + d];
}

static __global__ void begin_kernel(const __grid_constant__ cg_job job, double tolerance)
{
  double sum[2] = {0, 0};
  FOR_SPHERES(i, job.n)
  {
    double b[3], q[3], r[3], z[3];
    load_three(job.v.b, i, b);
    load_three(job.v.q, i, q);
    for (int d = 0; d < 3; d++)
      r[d] = b[d] - q[d];
    precondition(&job, i, r, z);
    for (int d = 0; d < 3; d++) {
      sum[0] += b[d] * b[d];
      sum[1] += r[d] * r[d];
      job.v.r[3 * i + d] = r[d];
      job.v.p[3 * i + d] = z[d];
    }
  }
  if (!add_up(&job, 2, sum) || threadIdx.x > 0) return;
  const double bb = sum[0], rr = sum[1], limit = tolerance * tolerance * bb;
  *job.v.state = cg_state{bb, rr, 0, 0, limit, 0, rr <= limit};
}

/* r.z, r.u and q.u of one sphere. */
static __device__ __forceinline__ void add_preconditioned(const double *block, const double *r,
                                                          const double *q, double *sum)
{
  const jacobi_unit unit = jacobi_unit_of(block);
  double from_r[3], from_q[3];
  jacobi_forward(&unit, 1, r, from_r);
  jacobi_forward(&unit, 1, q, from_q);
  for (int d = 0; d < 3; d++) {
    const double zd = unit.inverse[d] * from_r[d], ud = unit.inverse[d] * from_q[d];
    sum[CG_RZ] += from_r[d] * zd;
    sum[CG_RU] += from_r[d] * ud;
    sum[CG_QU] += from_q[d] * ud;
  }
}

static __device__ __forceinline__ void add_sums(const cg_job *job, bool preconditioned)
{
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  cg_state *state = job->v.state;
  if (state->done) {
    if (md_thread() == 0) state->alpha = 0; /* x has come where it should */
    return;
  }
  double sum[CG_SUMS] = {0};
  FOR_SPHERES(i, job->n)
  {
    double r[3], q[3];
    load_three(job->v.r, i, r);
    load_three(job->v.q, i, q);
    for (int d = 0; d < 3; d++) {
      sum[CG_RR] += r[d] * r[d];
      sum[CG_RQ] += r[d] * q[d];
      sum[CG_QQ] += q[d] * q[d];
    }
    if (preconditioned) add_preconditioned(job->jacobi + 6 * i, r, q, sum);
  }
  if (!add_up(job, preconditioned ? CG_SUMS : CG_PLAIN, sum) || threadIdx.x > 0) return;
  cg_advance(state, preconditioned, sum);
}

static __global__ void sums_kernel(const __grid_constant__ cg_job job)
{
  add_sums(&job, false);
}

static __global__ void preconditioned_sums_kernel(const __grid_constant__ cg_job job)
{
  add_sums(&job, true);
}

static __global__ void update_kernel(const __grid_constant__ cg_job job)
{
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const double alpha = job.v.state->alpha, beta = job.v.state->beta;
  const int64_t i = md_thread();
  if (alpha == 0 || i >= job.n) return;
  double x[3], p[3], r[3], q[3], z[3];
  load_three(job.v.x, i, x);
  load_three(job.v.p, i, p);
  load_three(job.v.r, i, r);
  load_three(job.v.q, i, q);
  for (int d = 0; d < 3; d++)
    r[d] -= alpha * q[d];
  precondition(&job, i, r, z);
  for (int d = 0; d < 3; d++) {
    job.v.x[3 * i + d] = x[d] + alpha * p[d];
    job.v.r[3 * i + d] = r[d];
    job.v.p[3 * i + d] = z[d] + beta * p[d];
  }
}

static md_status cg_prepare(vector_space *s, const cg_vectors *v, cg_job *job)
{
  const size_t numbers = (size_t)CG_PARTS * CG_SUMS;
  MD_TRY(md_buffer_reserve(s->ctx, &s->partial, (numbers + 1) * sizeof(double), 0));
  double *partial = (double *)s->partial.data;
  *job = cg_job{s->n_rows, s->jacobi, *v, partial, (uint32_t *)(partial + numbers), {}};
  return MD_OK;
}

/* For the next kernel that sums. */
static md_status open_round(vector_space *s, cg_job *job)
{
  const stokes_rows_sums *by = &s->shared.device;
  gpus_mail *mail = by->mail;
  if (!mail) return MD_OK;
  MD_TRY(gpus_mail_begin(mail, 1));
  s->shared.sums++;
  job->mail = cg_mail{by->n_ways,
                      world_rank(),
                      by->ways,
                      mail->round,
                      (const double *)gpus_mail_slot(mail, mail->round),
                      (volatile md_late *)mail->late.data};
  return MD_OK;
}

md_status vector_gpu_cg_begin(vector_space *s, const cg_vectors *v, double tolerance)
{
  cg_job job;
  MD_TRY(cg_prepare(s, v, &job));
  MD_TRY(md_fill(s->ctx, job.waiting, 0, sizeof *job.waiting));
  MD_TRY(open_round(s, &job));
  begin_kernel<<<CG_PARTS, VECTOR_BLOCK, 0, vector_stream(s)>>>(job, tolerance);
  MD_LAUNCHED();
  return MD_OK;
}

md_status vector_gpu_cg_step(vector_space *s, const cg_vectors *v)
{
  cg_job job;
  MD_TRY(cg_prepare(s, v, &job));
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config =
      md_launch_config(s->ctx, dim3(CG_PARTS), VECTOR_BLOCK, true, &overlap);
  MD_TRY(open_round(s, &job));
  MD_CUDA(cudaLaunchKernelEx(&config, s->jacobi ? preconditioned_sums_kernel : sums_kernel, job));
  config.gridDim = dim3(md_blocks(s->n_rows, VECTOR_BLOCK));
  MD_CUDA(cudaLaunchKernelEx(&config, update_kernel, job));
  return MD_OK;
}
