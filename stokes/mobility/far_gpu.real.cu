/* stokes/mobility/far_gpu.real.cu - the far part on the GPU: transforms in batches by cuFFT, and
 * what lies between spreading and interpolating, for several columns at once.
 *
 * Projection.  A thread has one mode of all columns: the table's numbers, and 3 rank amplitudes of
 * each column, which it reads and writes.  With m columns that is (48 m + 4) rank bytes a mode in
 * single precision, twice as many in double; there are about half as many modes as mesh points.
 *
 * Loading and pushing turn doubles [3 n][m] into numbers [m][3 rank][n] and back: 24 bytes of a
 * sphere and column on one side, 48 where they are added to, 12 rank on the other (single).  Both
 * sides are read and written in lines: a block of spheres passes through shared memory.
 *
 * Random numbers are those of the CPU (stokes/normal.h), a mesh point and column a thread. */
#include <stdlib.h>

#include "core/gpu/cuda.h"
#include "spread/pme/fft_gpu.h"
#include "stokes/mobility/rpy_impl.h"
#include "stokes/normal.h"

#if MD_PREC == 2
typedef double2 complex;
#define FORWARD forward_double
#define BACKWARD backward_double
enum { TO_SPECTRUM = CUFFT_D2Z, TO_SPACE = CUFFT_Z2D };
#else
typedef float2 complex;
#define FORWARD forward_single
#define BACKWARD backward_single
enum { TO_SPECTRUM = CUFFT_R2C, TO_SPACE = CUFFT_C2R };
#endif

enum { BLOCK = 256 };

/* One way for so many meshes. */
typedef struct {
  int type, meshes;
  cufftHandle handle;
} planned;

/* rpy_far.transforms: what has been planned so far. */
typedef struct {
  const fft_library *cufft;
  int n;
  planned *plan;
} transforms;

static cudaStream_t stream_of(const rpy_far *far)
{
  return (cudaStream_t)far->ctx->stream;
}

md_status PREC(rpy_far_gpu_plan)(rpy_far *far)
{
  transforms *t = (transforms *)calloc(1, sizeof *t);
  MD_REQUIRE(t, MD_ENOMEM, "out of memory for the transforms");
  far->transforms = t;
  return fft_library_open(&t->cufft);
}

void PREC(rpy_far_gpu_drop)(rpy_far *far)
{
  transforms *t = (transforms *)far->transforms;
  if (!t) return;
  for (int k = 0; k < t->n; k++)
    t->cufft->destroy(t->plan[k].handle);
  free(t->plan);
  free(t);
}

/* The plan of that type for so many meshes; made when it is asked for first. */
static md_status find_plan(const rpy_far *far, int type, int meshes, cufftHandle *out)
{
  transforms *t = (transforms *)far->transforms;
  for (int k = 0; k < t->n; k++)
    if (t->plan[k].type == type && t->plan[k].meshes == meshes) {
      *out = t->plan[k].handle;
      return MD_OK;
    }
  planned *more = (planned *)realloc(t->plan, (size_t)(t->n + 1) * sizeof *more);
  MD_REQUIRE(more, MD_ENOMEM, "out of memory for the transforms");
  t->plan = more;
  int size[3] = {far->mesh[0], far->mesh[1], far->mesh[2]};
  MD_TRY(
      fft_check(t->cufft->plan_many(out, 3, size, NULL, 1, 0, NULL, 1, 0, (cufftType)type, meshes),
                "cufftPlanMany"));
  t->plan[t->n++] = (planned){type, meshes, *out};
  return fft_check(t->cufft->set_stream(*out, stream_of(far)), "cufftSetStream");
}

static md_status forward(const rpy_far *far, int meshes)
{
  const transforms *t = (const transforms *)far->transforms;
  cufftHandle plan;
  MD_TRY(find_plan(far, TO_SPECTRUM, meshes, &plan));
  return fft_check(t->cufft->FORWARD(plan, (real *)far->space.data, (complex *)far->spectrum.data),
                   "cufftExec, forward");
}

static md_status backward(const rpy_far *far, int meshes)
{
  const transforms *t = (const transforms *)far->transforms;
  cufftHandle plan;
  MD_TRY(find_plan(far, TO_SPACE, meshes, &plan));
  return fft_check(t->cufft->BACKWARD(plan, (complex *)far->spectrum.data, (real *)far->space.data),
                   "cufftExec, backward");
}

typedef struct {
  int64_t modes;
  int32_t mesh[3], length; /* length: modes along the last axis */
  real unit[3];            /* wave number of the first mode along each axis */
  int rank, columns;
  const real *table;
  complex *spectrum;
} mode_job;

static mode_job mode_job_of(const rpy_far *far, int columns)
{
  mode_job job = {
      far->modes, {},      far->mesh[2] / 2 + 1,          {},
      far->rank,  columns, (const real *)far->table.data, (complex *)far->spectrum.data};
  for (int d = 0; d < 3; d++) {
    job.mesh[d] = far->mesh[d];
    job.unit[d] = (real)far->wave[d][1];
  }
  return job;
}

/* Wave vector of a mode, and 1 / k^2. */
typedef struct {
  real k[3], inv_sq;
} wave_vector;

static __device__ __forceinline__ wave_vector wave_of(const mode_job *job, uint32_t at)
{
  const uint32_t row = at / (uint32_t)job->length, l = at % (uint32_t)job->length;
  const int32_t i = (int32_t)(row / (uint32_t)job->mesh[1]);
  const int32_t j = (int32_t)(row % (uint32_t)job->mesh[1]);
  wave_vector w;
  w.k[0] = job->unit[0] * (real)(2 * i > job->mesh[0] ? i - job->mesh[0] : i);
  w.k[1] = job->unit[1] * (real)(2 * j > job->mesh[1] ? j - job->mesh[1] : j);
  w.k[2] = job->unit[2] * (real)l;
  const real k_sq = w.k[0] * w.k[0] + w.k[1] * w.k[1] + w.k[2] * w.k[2];
  w.inv_sq = k_sq > 0 ? 1 / k_sq : 0;
  return w;
}

/* Take away what lies along k, and put the rest, times the table, where the column's spectra
 * lie. */
static __device__ __forceinline__ void put_across(const mode_job *job, const wave_vector *w,
                                                  uint32_t at, int column, complex *sum)
{
  const real x = w->k[0] * sum[0].x + w->k[1] * sum[1].x + w->k[2] * sum[2].x;
  const real y = w->k[0] * sum[0].y + w->k[1] * sum[1].y + w->k[2] * sum[2].y;
  complex *to = job->spectrum + (int64_t)column * 3 * job->rank * job->modes + at;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    sum[d].x -= w->k[d] * x * w->inv_sq;
    sum[d].y -= w->k[d] * y * w->inv_sq;
  }
  for (int t = 0; t < job->rank; t++) {
    const real weight = job->table[t * job->modes + at];
#pragma unroll
    for (int d = 0; d < 3; d++)
      to[(3 * t + d) * job->modes] = {weight * sum[d].x, weight * sum[d].y};
  }
}

/* Thread: one mode of all columns. */
static __global__ void __launch_bounds__(BLOCK) project_kernel(const __grid_constant__ mode_job job)
{
  const int64_t at = md_thread();
  if (at >= job.modes) return;
  const wave_vector w = wave_of(&job, (uint32_t)at);
  for (int c = 0; c < job.columns; c++) {
    const complex *from = job.spectrum + (int64_t)c * 3 * job.rank * job.modes + at;
    complex sum[3] = {};
    for (int t = 0; t < job.rank; t++) {
      const real weight = job.table[t * job.modes + at];
#pragma unroll
      for (int d = 0; d < 3; d++) {
        const complex z = from[(3 * t + d) * job.modes];
        sum[d].x += weight * z.x;
        sum[d].y += weight * z.y;
      }
    }
    put_across(&job, &w, (uint32_t)at, c, sum);
  }
}

md_status PREC(rpy_far_gpu_apply)(const rpy_far *far, int count)
{
  MD_TRY(forward(far, 3 * far->rank * count));
  project_kernel<<<md_blocks(far->modes, BLOCK), BLOCK, 0, stream_of(far)>>>(
      mode_job_of(far, count));
  MD_LAUNCHED();
  return backward(far, 3 * far->rank * count);
}

/* Thread: three normal numbers of a mesh point and a column. */
static __global__ void __launch_bounds__(BLOCK)
    noise_kernel(int64_t points, uint64_t seed, uint64_t step, real *space)
{
  const int64_t p = md_thread();
  if (p >= points) return;
  double z[3];
  normal_three(seed, NORMAL_MESH, (uint64_t)p, step + blockIdx.y, z);
  for (int d = 0; d < 3; d++)
    space[(3 * (int64_t)blockIdx.y + d) * points + p] = (real)z[d];
}

/* Thread: one mode of all columns.  The spectra of noise, three a column, lie at the beginning;
 * columns are taken from the last on, so that none is written over before it was read. */
static __global__ void __launch_bounds__(BLOCK)
    shape_kernel(const __grid_constant__ mode_job job, real scale)
{
  const int64_t at = md_thread();
  if (at >= job.modes) return;
  const wave_vector w = wave_of(&job, (uint32_t)at);
  for (int c = job.columns - 1; c >= 0; c--) {
    complex sum[3];
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const complex z = job.spectrum[(3 * (int64_t)c + d) * job.modes + at];
      sum[d] = {scale * z.x, scale * z.y};
    }
    put_across(&job, &w, (uint32_t)at, c, sum);
  }
}

md_status PREC(rpy_far_gpu_noise)(const rpy_far *far, int count, uint64_t seed, uint64_t step)
{
  const dim3 grid(md_blocks(far->points, BLOCK), (unsigned)count);
  noise_kernel<<<grid, BLOCK, 0, stream_of(far)>>>(far->points, seed, step,
                                                   (real *)far->space.data);
  MD_LAUNCHED();
  MD_TRY(forward(far, 3 * count));
  shape_kernel<<<md_blocks(far->modes, BLOCK), BLOCK, 0, stream_of(far)>>>(
      mode_job_of(far, count), (real)(1 / sqrt((double)far->points)));
  MD_LAUNCHED();
  return backward(far, 3 * far->rank * count);
}

/* `tile` spheres a block; `count` of m columns. */
typedef struct {
  int64_t n;
  int m, count, rank, tile, stride; /* stride: of a sphere's numbers in shared memory, odd */
} turn_job;

static turn_job turn_job_of(const rpy_far *far, int m, int count)
{
  const int tile = MD_WARP * (count < 16 ? 16 / count : 1);
  return (turn_job){far->n, m, count, far->rank, tile, 3 * count | 1};
}

static unsigned turn_bytes(const turn_job *job)
{
  return (unsigned)((size_t)job->tile * (size_t)job->stride * sizeof(real));
}

/* Where number k of a block lies: of a sphere in shared memory, and of column and direction. */
typedef struct {
  int sphere, column, d;
} turn_place;

static __device__ __forceinline__ turn_place turn_across(const turn_job *job, int k)
{
  const int w = k / job->tile;
  return {k % job->tile, w / 3, w % 3};
}

static __device__ __forceinline__ turn_place turn_along(const turn_job *job, int k)
{
  const int width = 3 * job->count, w = k % width;
  return {k / width, w % job->count, w / job->count};
}

/* Block: charge[3 rank c + 3 t + d][i] = coefficient[t][i] f[3 i + d][c] of some spheres. */
static __global__ void __launch_bounds__(BLOCK)
    load_kernel(const __grid_constant__ turn_job job, const double *__restrict__ f,
                const real *__restrict__ coefficient, real *__restrict__ charge)
{
  extern __shared__ real number[];
  const int64_t first = (int64_t)blockIdx.x * job.tile;
  const int here = (int)min((int64_t)job.tile, job.n - first);
  for (int k = threadIdx.x; k < here * 3 * job.count; k += BLOCK) {
    const turn_place p = turn_along(&job, k);
    number[p.sphere * job.stride + 3 * p.column + p.d] =
        (real)f[((first + p.sphere) * 3 + p.d) * job.m + p.column];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < job.tile * 3 * job.count; k += BLOCK) {
    const turn_place p = turn_across(&job, k);
    if (p.sphere >= here) continue;
    const real value = number[p.sphere * job.stride + 3 * p.column + p.d];
    const int64_t i = first + p.sphere;
    for (int t = 0; t < job.rank; t++)
      charge[(((int64_t)p.column * job.rank + t) * 3 + p.d) * job.n + i] =
          coefficient[t * job.n + i] * value;
  }
}

md_status PREC(rpy_far_gpu_load)(const rpy_far *far, int m, int count, const double *f)
{
  const turn_job job = turn_job_of(far, m, count);
  load_kernel<<<md_blocks(far->n, job.tile), BLOCK, turn_bytes(&job), stream_of(far)>>>(
      job, f, (const real *)far->coefficient.data, (real *)far->charge.data);
  MD_LAUNCHED();
  return MD_OK;
}

/* Block: the way back; u[3 i + d][c] += the sum over t. */
static __global__ void __launch_bounds__(BLOCK)
    push_kernel(const __grid_constant__ turn_job job, const real *__restrict__ value,
                const real *__restrict__ coefficient, double *__restrict__ u)
{
  extern __shared__ real number[];
  const int64_t first = (int64_t)blockIdx.x * job.tile;
  const int here = (int)min((int64_t)job.tile, job.n - first);
  for (int k = threadIdx.x; k < job.tile * 3 * job.count; k += BLOCK) {
    const turn_place p = turn_across(&job, k);
    if (p.sphere >= here) continue;
    const int64_t i = first + p.sphere;
    real sum = 0;
    for (int t = 0; t < job.rank; t++)
      sum += coefficient[t * job.n + i] *
             value[(((int64_t)p.column * job.rank + t) * 3 + p.d) * job.n + i];
    number[p.sphere * job.stride + 3 * p.column + p.d] = sum;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < here * 3 * job.count; k += BLOCK) {
    const turn_place p = turn_along(&job, k);
    u[((first + p.sphere) * 3 + p.d) * job.m + p.column] +=
        number[p.sphere * job.stride + 3 * p.column + p.d];
  }
}

md_status PREC(rpy_far_gpu_push)(const rpy_far *far, int m, int count, double *u)
{
  const turn_job job = turn_job_of(far, m, count);
  push_kernel<<<md_blocks(far->n, job.tile), BLOCK, turn_bytes(&job), stream_of(far)>>>(
      job, (const real *)far->charge.data, (const real *)far->coefficient.data, u);
  MD_LAUNCHED();
  return MD_OK;
}
