/* engine/integrate/integrate_gpu.prec.cu - velocity Verlet, sums and rescaling, one thread per
 * atom.
 *
 *     v += (dt / 2m) f   once or twice,   x += dt v
 *
 * Bytes per atom of a whole step (two kicks and the drift): read x, v, f, write x, v: 80 in single,
 * 144 and 16 for the fixed-point coordinates in mixed, 160 in double; nothing is read twice.  2^20
 * atoms on an H200: 0.020 ms in single, 0.051 in double; the floor at 4.2 TB/s is 0.020 and 0.040.
 */
#include "core/gpu/exact_gpu.h"
#include "core/gpu/launch_gpu.h"
#include "core/gpu/verlet_gpu.h"
#include "engine/integrate/integrate_impl.h"

enum { BLOCK = 256, SUM_BLOCKS = 528 };

/* One number for each type, in the constant memory of arguments. */
typedef struct {
  double of[MD_TYPES];
} per_type;

static per_type of_types(const double *from, int32_t n)
{
  per_type out = {};
  for (int32_t t = 0; t < n; t++)
    out.of[t] = from[t];
  return out;
}

static __device__ __forceinline__ void advance(int64_t n, state kick, const per_type *kick_of,
                                               int kicks, state drift, double inv_scale,
                                               const real4 *__restrict__ f, state4 *__restrict__ v,
                                               state4 *__restrict__ x, coord4 *__restrict__ fixed)
{
  cudaGridDependencySynchronize();
  const int64_t i = md_thread();
  if (i >= n) return;
  state4 vi = v[i];
  if (kicks > 0) {
    verlet_kick(&vi, f[i], kick_of ? (state)kick_of->of[(int)vi.w] : kick, kicks);
    v[i] = vi;
  }
  if (drift == 0 && kicks > 0) return;
  state4 xi = x[i];
  verlet_drift(&xi, vi, drift);
  x[i] = xi;
  if (fixed) fixed[i] = verlet_coord(xi, inv_scale);
}

static __global__ void advance_kernel(int64_t n, state kick, int kicks, state drift,
                                      double inv_scale, const real4 *__restrict__ f,
                                      state4 *__restrict__ v, state4 *__restrict__ x,
                                      coord4 *__restrict__ fixed)
{
  advance(n, kick, NULL, kicks, drift, inv_scale, f, v, x, fixed);
}

static __global__ void advance_types_kernel(int64_t n, const per_type kick, int kicks, state drift,
                                            double inv_scale, const real4 *__restrict__ f,
                                            state4 *__restrict__ v, state4 *__restrict__ x,
                                            coord4 *__restrict__ fixed)
{
  advance(n, 0, &kick, kicks, drift, inv_scale, f, v, x, fixed);
}

md_status PREC(integrate_gpu_advance)(md_atoms *atoms, const double *kick, int kicks, double drift)
{
  if (atoms->n == 0) return MD_OK;
  const bool follow = MD_PREC == 1 && atoms->r_ghost > 0;
  const real4 *f = (const real4 *)atoms->f.data;
  state4 *v = (state4 *)atoms->v.data, *x = (state4 *)atoms->x.data;
  coord4 *fixed = follow ? (coord4 *)atoms->fixed.data : NULL;
  const double inv_scale = 1 / atoms->coord_scale;
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(atoms->ctx, dim3(md_blocks(atoms->n, BLOCK)), BLOCK, true, &overlap);
  if (kicks > 0 && atoms->n_types > 1)
    MD_CUDA(cudaLaunchKernelEx(&config, advance_types_kernel, atoms->n,
                               of_types(kick, atoms->n_types), kicks, (state)drift, inv_scale, f, v,
                               x, fixed));
  else
    MD_CUDA(cudaLaunchKernelEx(&config, advance_kernel, atoms->n, kicks > 0 ? (state)kick[0] : 0,
                               kicks, (state)drift, inv_scale, f, v, x, fixed));
  return MD_OK;
}

/* Partial sums of integrate_sum, which waits for them: one call at a time uses them. */
static __device__ double partial[SUM_BLOCKS][4];
static __device__ double total[4];

/* A fixed number of blocks walks over the atoms, so that the order of the sums depends on n only;
 * 16 or 32 bytes an atom. */
static __device__ __forceinline__ void sum(int64_t n, const state4 *__restrict__ v,
                                           const per_type *weight)
{
  double s[4] = {0, 0, 0, 0};
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK) {
    const state4 vi = v[i];
    const double vx = vi.x, vy = vi.y, vz = vi.z, w = weight ? weight->of[(int)vi.w] : 1;
    const double px = w * vx, py = w * vy, pz = w * vz;
    s[0] += px, s[1] += py, s[2] += pz;
    s[3] += px * vx + py * vy + pz * vz;
  }
  for (int k = 0; k < 4; k++) {
    const double total_k = md_block_sum(s[k]);
    if (threadIdx.x == 0) partial[blockIdx.x][k] = total_k;
  }
}

static __global__ void __launch_bounds__(BLOCK) sum_kernel(int64_t n, const state4 *__restrict__ v)
{
  sum(n, v, NULL);
}

static __global__ void __launch_bounds__(BLOCK)
    sum_types_kernel(int64_t n, const state4 *__restrict__ v, const per_type weight)
{
  sum(n, v, &weight);
}

/* w v^2 without rounding: thread, an atom. */
static __global__ void __launch_bounds__(BLOCK)
    exact_kernel(int64_t n, const state4 *__restrict__ v, const per_type weight, bool weighted,
                 exact_sum *to)
{
  __shared__ exact_sum sum;
  md_exact_open(&sum, 1);
  const int64_t i = md_thread();
  if (i < n) {
    const state4 vi = v[i];
    const double of[3] = {vi.x, vi.y, vi.z}, w = weighted ? weight.of[(int)vi.w] : 1;
    for (int d = 0; d < 3; d++)
      md_exact_add(&sum, w * of[d] * of[d]);
  }
  md_exact_close(&sum, 1, to);
}

/* v_sq is then the same for any order of atoms. */
static md_status sum_exactly(const md_atoms *atoms, const double *weight, integrate_sums *out)
{
  const double one = 1;
  md_buffer sum = {NULL, 0};
  md_ctx *ctx = atoms->ctx;
  md_status status = md_exact_begin(ctx, &sum, 1);
  if (!status) {
    exact_kernel<<<md_blocks(atoms->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
        atoms->n, (const state4 *)atoms->v.data,
        weight ? of_types(weight, atoms->n_types) : of_types(&one, 1), weight != NULL,
        (exact_sum *)sum.data);
    status = md_exact_read(ctx, &sum, 1, &out->exact);
  }
  md_buffer_free(ctx, &sum);
  MD_LAUNCHED();
  out->v_sq = exact_value(&out->exact);
  return status;
}

static __global__ void __launch_bounds__(BLOCK) total_kernel(void)
{
  for (int k = 0; k < 4; k++) {
    double s = 0;
    for (int b = (int)threadIdx.x; b < SUM_BLOCKS; b += BLOCK)
      s += partial[b][k];
    s = md_block_sum(s);
    if (threadIdx.x == 0) total[k] = s;
  }
}

md_status PREC(integrate_gpu_sum)(md_atoms *atoms, const double *weight, integrate_sums *out)
{
  const cudaStream_t stream = (cudaStream_t)atoms->ctx->stream;
  const state4 *v = (const state4 *)atoms->v.data;
  if (weight)
    sum_types_kernel<<<SUM_BLOCKS, BLOCK, 0, stream>>>(atoms->n, v,
                                                       of_types(weight, atoms->n_types));
  else
    sum_kernel<<<SUM_BLOCKS, BLOCK, 0, stream>>>(atoms->n, v);
  total_kernel<<<1, BLOCK, 0, stream>>>();
  MD_LAUNCHED();
  void *from;
  double sums[4];
  MD_CUDA(cudaGetSymbolAddress(&from, total));
  MD_TRY(md_read(atoms->ctx, sums, from, sizeof sums));
  for (int d = 0; d < 3; d++)
    out->v[d] = sums[d];
  out->v_sq = sums[3];
  return atoms->ctx->deterministic ? sum_exactly(atoms, weight, out) : MD_OK;
}
