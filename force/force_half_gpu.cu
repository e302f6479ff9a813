/* force/force_half_gpu.cu - forces from half lists: thread i sums the force on atom i and takes
 * each pair's share from f[j] (a ghost's goes to its home with newton, nowhere without) by an
 * atomic reduction.  [AK] section 4.
 *
 * A reduction costs one sector operation of the L2 whatever its width: float forces go as one
 * vector of four (sm_90), doubles as three.  At density 0.8442 and r_cut 2.5 there are 28 pairs an
 * atom: 29 sector operations in single and mixed, 86 in double, at 1e11 a second.
 *
 * The order of atomic additions varies and so do the last bits.  A deterministic context adds
 * integers instead: forces in steps of 2^-46 epsilon/sigma (1.4e-14; the error of a sum is less
 * than that times the root of its terms), three 64-bit operations a pair in every precision.  A
 * pair force may be up to 16384 epsilon/sigma, an eighth of the range, so that no sum of such pairs
 * leaves it: as many equal forces from one side would need atoms nearer to each other than the
 * limit lets them be.  Larger ones are refused, and to say so the host waits for every call. */
#include "force/force_gpu.h"

static const double FIXED_STEPS = 0x1p46, FIXED_LIMIT = 0x1p60;
enum { CONVERT_BLOCK = 256 };

static __device__ __forceinline__ long long fixed_of(const force_rows *rows, real f)
{
  const double steps = (double)f * rows->fixed_scale;
  if (!(fabs(steps) < FIXED_LIMIT)) *rows->too_large = 1;
  return __double2ll_rn(steps);
}

/* f[i] += f, among other threads that do the same. */
static __device__ __forceinline__ void give(const force_rows *rows, int32_t i, real fx, real fy,
                                            real fz, bool exact)
{
  if (exact) {
    unsigned long long *to = (unsigned long long *)rows->fixed + 3 * (int64_t)i;
    atomicAdd(to, (unsigned long long)fixed_of(rows, fx));
    atomicAdd(to + 1, (unsigned long long)fixed_of(rows, fy));
    atomicAdd(to + 2, (unsigned long long)fixed_of(rows, fz));
    return;
  }
  real4 *to = rows->f + i;
#if MD_PREC == 2
  atomicAdd(&to->x, fx);
  atomicAdd(&to->y, fy);
  atomicAdd(&to->z, fz);
#else
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "f"(fx), "f"(fy), "f"(fz), "f"(0.0f)
               : "memory");
#endif
}

static __device__ __forceinline__ void half_pair(const force_rows *rows, force_row *row, int32_t j,
                                                 coord3 x, bool present, bool shifted, bool tally,
                                                 bool exact)
{
  const bool ghost = j >= rows->n;
  const double weight = ghost && !rows->newton ? 0.5 : 1; /* listed in both rows */
  const force_pair_at p = add_pair(rows, row, x, present, weight, shifted, tally);
  if (!p.inside || (ghost && !rows->newton)) return;
  const real g = -p.f_over_r * rows->scale;
  give(rows, ghost ? rows->home[j - rows->n] : j, p.dx * g, p.dy * g, p.dz * g, exact);
}

static __device__ __forceinline__ void half_row(const force_rows *rows, bool shifted, bool tally,
                                                bool exact)
{
  const int64_t i = md_thread();
  force_row row = {};
  if (i < rows->n) {
    row = open_row(rows, i);
    for (int32_t k = 0; k < row.count; k += FORCE_BATCH) {
      int32_t j[FORCE_BATCH];
      coord3 x[FORCE_BATCH];
#pragma unroll
      for (int u = 0; u < FORCE_BATCH; u++)
        j[u] = k + u < row.count ? load_index(row.nbr + (int64_t)(k + u) * MD_WARP) : row.i;
#pragma unroll
      for (int u = 0; u < FORCE_BATCH; u++)
        x[u] = load_coord(rows->coord + j[u]);
#pragma unroll
      for (int u = 0; u < FORCE_BATCH; u++)
        half_pair(rows, &row, j[u], x[u], k + u < row.count, shifted, tally, exact);
    }
    give(rows, row.i, row.fx * rows->scale, row.fy * rows->scale, row.fz * rows->scale, exact);
  }
  if (tally) close_tally(rows, row.energy, row.virial);
}

typedef void half_kernel(force_rows rows);
#define HALF(name, shifted, tally, exact)                                                          \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name(const force_rows rows)            \
  {                                                                                                \
    half_row(&rows, shifted, tally, exact);                                                        \
  }
HALF(half_plain, false, false, false)
HALF(half_plain_exact, false, false, true)
HALF(half_tally, false, true, false)
HALF(half_tally_exact, false, true, true)
HALF(half_shifted, true, false, false)
HALF(half_shifted_exact, true, false, true)
HALF(half_shifted_tally, true, true, false)
HALF(half_shifted_tally_exact, true, true, true)
static half_kernel *const kernels[2][2][2] = {
    {{half_plain, half_plain_exact}, {half_tally, half_tally_exact}},
    {{half_shifted, half_shifted_exact}, {half_shifted_tally, half_shifted_tally_exact}}};

/* Integer forces to floating point: reads 24 bytes an atom, writes 16 or 32. */
static __global__ void convert_kernel(int64_t n, double step, const long long *__restrict__ fixed,
                                      real4 *__restrict__ f)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  real4 fi = {};
  fi.x = (real)((double)fixed[3 * i] * step), fi.y = (real)((double)fixed[3 * i + 1] * step);
  fi.z = (real)((double)fixed[3 * i + 2] * step);
  f[i] = fi;
}

/* Where forces are added up, set to zero; the flag lies behind the integers. */
static md_status open_sums(force *fc, const force_job *job, force_rows *rows)
{
  if (!fc->ctx->deterministic) return md_fill(fc->ctx, job->f, 0, (size_t)job->n * sizeof(real4));
  const size_t sums = (size_t)job->n * 3 * sizeof(long long);
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->fixed, sums + sizeof(long long), 0));
  rows->fixed = (long long *)fc->fixed.data;
  rows->too_large = (int *)(rows->fixed + 3 * job->n);
  rows->fixed_scale = FIXED_STEPS * fc->spec.sigma / fc->spec.epsilon;
  return md_fill(fc->ctx, rows->fixed, 0, sums + sizeof(long long));
}

static md_status close_sums(force *fc, const force_job *job, const force_rows *rows)
{
  if (!fc->ctx->deterministic) return MD_OK;
  convert_kernel<<<md_blocks(job->n, CONVERT_BLOCK), CONVERT_BLOCK, 0,
                   (cudaStream_t)fc->ctx->stream>>>(job->n, 1 / rows->fixed_scale, rows->fixed,
                                                    rows->f);
  MD_LAUNCHED();
  int too_large;
  MD_TRY(md_read(fc->ctx, &too_large, rows->too_large, sizeof too_large));
  MD_REQUIRE(!too_large, MD_ENUMERIC,
             "a force is larger than %g, the limit of deterministic half lists on the GPU: the "
             "time step may be too long, or atoms overlap; or use full lists",
             FIXED_LIMIT / rows->fixed_scale);
  return MD_OK;
}

md_status PREC(force_gpu_half)(force *fc, const force_job *job)
{
  const int block = force_block(fc);
  force_rows rows;
  MD_TRY(open_rows(fc, job, &rows));
  MD_TRY(open_sums(fc, job, &rows));
  kernels[job->lj.f_shift != 0][job->tally != NULL][fc->ctx->deterministic]<<<
      md_blocks(job->n, block), block, 0, (cudaStream_t)fc->ctx->stream>>>(rows);
  MD_LAUNCHED();
  MD_TRY(close_sums(fc, job, &rows));
  return job->tally ? read_tally(fc, job, 1) : MD_OK;
}
