/* spread/pme/pme_gpu.prec.cu - smooth PME on the GPU: cuFFT and the product with the influence
 * function.
 *
 * One thread a charge or coordinate, one warp a row of modes along the fastest axis, for which two
 * of the three pairs of table entries are the same.  Bytes: a mode is read and written once, 16 in
 * single and mixed, 32 in double; tables stay in the caches.  Sums are taken over the blocks of a
 * grid of fixed size, then over the blocks: no atomics, one result in every run. */
#include "core/gpu/cuda.h"
#include "spread/pme/fft_gpu.h"
#include "spread/pme/pme_impl.h"

#if MD_PREC == 2
typedef double2 complex;
#define FORWARD forward_double
#define BACKWARD backward_double
enum { TO_SPECTRUM = CUFFT_D2Z, TO_MESH = CUFFT_Z2D };
#else
typedef float2 complex;
#define FORWARD forward_single
#define BACKWARD backward_single
enum { TO_SPECTRUM = CUFFT_R2C, TO_MESH = CUFFT_C2R };
#endif

enum { BLOCK = 256, SUM_BLOCKS = 1056 };

/* Transforms of one solver. */
typedef struct {
  const fft_library *cufft;
  cufftHandle forward, backward;
  bool has_forward, has_backward;
} transforms;

md_status PREC(pme_gpu_plan)(pme *solver)
{
  const int32_t *k = solver->spec.mesh;
  transforms *t = (transforms *)calloc(1, sizeof *t);
  MD_REQUIRE(t, MD_ENOMEM, "out of memory for the transforms");
  solver->transforms = t;
  MD_TRY(fft_library_open(&t->cufft));
  MD_TRY(fft_check(t->cufft->plan_3d(&t->forward, k[0], k[1], k[2], (cufftType)TO_SPECTRUM),
                   "cufftPlan3d"));
  t->has_forward = true;
  MD_TRY(fft_check(t->cufft->plan_3d(&t->backward, k[0], k[1], k[2], (cufftType)TO_MESH),
                   "cufftPlan3d"));
  t->has_backward = true;
  const cudaStream_t stream = (cudaStream_t)solver->ctx->stream;
  MD_TRY(fft_check(t->cufft->set_stream(t->forward, stream), "cufftSetStream"));
  return fft_check(t->cufft->set_stream(t->backward, stream), "cufftSetStream");
}

void PREC(pme_gpu_drop)(pme *solver)
{
  transforms *t = (transforms *)solver->transforms;
  if (!t) return;
  if (t->has_forward) t->cufft->destroy(t->forward);
  if (t->has_backward) t->cufft->destroy(t->backward);
  free(t);
}

/* This block's two sums. */
static __device__ __forceinline__ void close_sums(double a, double b, double *partial)
{
  a = md_block_sum(a);
  b = md_block_sum(b);
  if (threadIdx.x == 0) partial[2 * blockIdx.x] = a, partial[2 * blockIdx.x + 1] = b;
}

/* One block: the sums of the blocks. */
static __global__ void __launch_bounds__(BLOCK)
    total_kernel(const double *__restrict__ partial, double *total)
{
  double a = 0, b = 0;
  for (int k = threadIdx.x; k < SUM_BLOCKS; k += BLOCK)
    a += partial[2 * k], b += partial[2 * k + 1];
  close_sums(a, b, total);
}

static md_status read_sums(pme *solver, double scale, double sums[2])
{
  double *partial = (double *)solver->partial.data, *total = partial + 2 * SUM_BLOCKS;
  total_kernel<<<1, BLOCK, 0, (cudaStream_t)solver->ctx->stream>>>(partial, total);
  MD_LAUNCHED();
  MD_TRY(md_read(solver->ctx, sums, total, sizeof(double[2])));
  sums[0] *= scale;
  sums[1] *= scale;
  return MD_OK;
}

static __global__ void __launch_bounds__(BLOCK)
    load_kernel(int64_t n, const state *__restrict__ from, int64_t stride, real *__restrict__ q,
                double *partial)
{
  double sum = 0, sum_sq = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double charge = from[i * stride];
    q[i] = (real)charge;
    sum += charge;
    sum_sq += charge * charge;
  }
  if (partial) close_sums(sum, sum_sq, partial);
}

md_status PREC(pme_gpu_load)(pme *solver, const pme_charges *charges, double sums[2])
{
  MD_TRY(
      md_buffer_reserve(solver->ctx, &solver->partial, 2 * (SUM_BLOCKS + 1) * sizeof(double), 0));
  load_kernel<<<SUM_BLOCKS, BLOCK, 0, (cudaStream_t)solver->ctx->stream>>>(
      charges->n, (const state *)charges->q, charges->q_stride, (real *)solver->q.data,
      sums ? (double *)solver->partial.data : NULL);
  MD_LAUNCHED();
  return sums ? read_sums(solver, 1, sums) : MD_OK;
}

/* Modes of a lane that are on their way from memory at a time. */
enum { AHEAD = 4 };

/* Warp: rows of the spectrum, one after the other. */
static __global__ void __launch_bounds__(BLOCK)
    multiply_kernel(const __grid_constant__ pme_tables t, complex *__restrict__ spectrum,
                    double *partial)
{
  const int64_t rows = (int64_t)t.n[0] * t.n[1], warps = (int64_t)gridDim.x * BLOCK / MD_WARP;
  const int32_t lane = (int32_t)threadIdx.x % MD_WARP;
  double energy = 0, virial = 0;
  for (int64_t row = md_thread() / MD_WARP; row < rows; row += warps) {
    const uint32_t i = (uint32_t)row / (uint32_t)t.n[1], j = (uint32_t)row % (uint32_t)t.n[1];
    const double m_sq_ij = t.m_sq[0][i] + t.m_sq[1][j];
    const double factor_ij = t.scale * t.factor[0][i] * t.factor[1][j];
    complex *const mode = spectrum + row * t.n[2];
    for (int32_t first = lane; first < t.n[2]; first += AHEAD * MD_WARP) {
      complex z[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        if (first + u * MD_WARP < t.n[2]) z[u] = mode[first + u * MD_WARP];
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int32_t k = first + u * MD_WARP;
        if (k >= t.n[2]) break;
        const double m_sq = m_sq_ij + t.m_sq[2][k];
        const double psi = pme_psi(factor_ij * t.factor[2][k], m_sq);
        if (partial) {
          const double re = z[u].x, im = z[u].y;
          const double both = pme_weight(&t, k) * psi * (re * re + im * im);
          energy += both;
          virial += both * (1 - t.slope * m_sq);
        }
        z[u].x *= (real)psi;
        z[u].y *= (real)psi;
        mode[k] = z[u];
      }
    }
  }
  if (partial) close_sums(energy, virial, partial);
}

md_status PREC(pme_gpu_solve)(pme *solver, double sums[2])
{
  const transforms *t = (const transforms *)solver->transforms;
  real *mesh = (real *)solver->mesh.data;
  complex *spectrum = (complex *)solver->spectrum.data;
  MD_TRY(fft_check(t->cufft->FORWARD(t->forward, mesh, spectrum), "cufftExec, forward"));
  multiply_kernel<<<SUM_BLOCKS, BLOCK, 0, (cudaStream_t)solver->ctx->stream>>>(
      pme_tables_of(solver), spectrum, sums ? (double *)solver->partial.data : NULL);
  MD_LAUNCHED();
  MD_TRY(fft_check(t->cufft->BACKWARD(t->backward, spectrum, mesh), "cufftExec, backward"));
  return sums ? read_sums(solver, 0.5, sums) : MD_OK;
}

/* Thread: one coordinate. */
static __global__ void __launch_bounds__(BLOCK)
    push_kernel(int64_t n, const real *__restrict__ q, const real *__restrict__ gradient,
                real *__restrict__ f)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t at = md_thread();
  if (at >= 3 * n) return;
  const int64_t i = at / 3;
  f[4 * i + at % 3] -= q[i] * gradient[at];
}

md_status PREC(pme_gpu_push)(pme *solver, int64_t n, void *f)
{
  push_kernel<<<md_blocks(3 * n, BLOCK), BLOCK, 0, (cudaStream_t)solver->ctx->stream>>>(
      n, (const real *)solver->q.data, (const real *)solver->gradient.data, (real *)f);
  MD_LAUNCHED();
  return MD_OK;
}
