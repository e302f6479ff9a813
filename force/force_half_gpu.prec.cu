/* force/force_half_gpu.prec.cu - forces from half lists: thread i sums the force on atom i and
 * takes each pair's share from f[j] (a ghost's goes to its home with newton, nowhere without) by an
 * atomic reduction.  [AK] section 4.
 *
 * A reduction costs one sector operation of the L2, 1e11 a second, however much of the sector it
 * covers.  Float forces go as one vector of four (sm_90).  Doubles have no vector; four lanes turn
 * their 4 x 4 numbers over so that one instruction takes x, y, z of one atom from three
 * neighbouring lanes, which the hardware merges.  Either way there is one operation a pair: at
 * density 0.8442 and r_cut 2.5 29 an atom, 0.29 ms for 2^20 atoms on an H200.  Measured: 0.34 ms in
 * single, 0.50 in double (1.0 with scalar reductions), the L2 82 and 88 % busy.
 *
 * The order of atomic additions varies and so do the last bits.  A deterministic context adds
 * integers instead, forces in steps of 2^-50 epsilon/sigma (9e-16).  A pair force may be up to an
 * eighth of the range, 1024 epsilon/sigma, so that no sum of such pairs leaves it: as many equal
 * forces from one side would need atoms nearer to each other than the limit lets them be.  If one
 * is larger, a second pass computes all again with steps as long as the largest needs; else it ends
 * as soon as it begins, so that the host need not wait to see which.  If that one is no number, no
 * force is. */
#include "force/force_gpu.h"

static const double FIXED_LIMIT = 0x1p60, FINEST = 0x1p50;
enum { LIMIT_EXPONENT = 60, BATCH = FORCE_HALF_BATCH, CONVERT_BLOCK = 256, NOBODY = -1 };

/* Steps in a unit of force: those of the first pass, or as many as the largest part leaves room
 * for. */
static __device__ __forceinline__ double steps_per_force(double at_first, double largest)
{
  if (largest == 0) return at_first;
  return isfinite(largest) ? scalbn(1.0, LIMIT_EXPONENT - 1 - ilogb(largest)) : nan("");
}

static __device__ __forceinline__ unsigned long long to_bits(const force_rows *rows, real f,
                                                             double scale, bool exact)
{
  if (!exact) return (unsigned long long)__double_as_longlong((double)f);
  const double steps = (double)f * scale;
  /* Positive doubles, infinity and NaN are in the order of their bits. */
  if (!rows->again && !(fabs(steps) < FIXED_LIMIT))
    atomicMax((unsigned long long *)rows->largest,
              (unsigned long long)__double_as_longlong(fabs((double)f)));
  return (unsigned long long)__double2ll_rn(steps);
}

/* Four lanes hold four words each: lane c gets word c of all four. */
static __device__ __forceinline__ void turn_over(unsigned long long word[4])
{
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
    const bool upper = threadIdx.x & step;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (k & step) continue;
      const unsigned long long other =
          __shfl_xor_sync(MD_ALL_LANES, upper ? word[k] : word[k + step], step);
      if (upper)
        word[k] = other;
      else
        word[k + step] = other;
    }
  }
}

/* f[to] += f among other threads that do the same; nothing for NOBODY.  Whole warps come here. */
static __device__ __forceinline__ void give(const force_rows *rows, int32_t to, real fx, real fy,
                                            real fz, double scale, bool exact)
{
#if MD_PREC != 2
  if (!exact) {
    if (to != NOBODY)
      asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                   :
                   : "l"(rows->f + to), "f"(fx), "f"(fy), "f"(fz), "f"(0.0f)
                   : "memory");
    return;
  }
#endif
  unsigned long long word[4] = {0, 0, 0, 0};
  if (to != NOBODY) {
    word[0] = to_bits(rows, fx, scale, exact);
    word[1] = to_bits(rows, fy, scale, exact);
    word[2] = to_bits(rows, fz, scale, exact);
  }
  turn_over(word);
  const int c = threadIdx.x % 4;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int32_t atom = __shfl_sync(MD_ALL_LANES, to, k, 4);
    if (atom == NOBODY || c == 3) continue;
    if (exact)
      atomicAdd(rows->fixed + 4 * (int64_t)atom + c, word[k]);
    else
      atomicAdd((double *)(rows->f + atom) + c, __longlong_as_double((long long)word[k]));
  }
}

static __device__ __forceinline__ void half_pair(const force_rows *rows, force_row *row, int32_t j,
                                                 coord3 x, real q, int32_t type, bool present,
                                                 force_mode mode, double fixed, bool exact)
{
  const bool ghost = j >= rows->n, lone = ghost && !rows->newton;
  /* A pair that both rows list counts half in each. */
  const force_pair_at p = add_pair(rows, row, x, q, type, present, lone ? 0.5 : 1, mode);
  int32_t to = NOBODY;
  if (p.inside && !lone) to = ghost ? rows->home[j - rows->n] : j;
  const real g = -p.f_over_r * rows->scale;
  give(rows, to, p.dx * g, p.dy * g, p.dz * g, fixed, exact);
}

static __device__ __forceinline__ void half_row(const force_rows *rows, force_mode mode, bool exact)
{
  const int64_t i = md_thread();
  force_row row = {};
  double fixed = rows->fixed_scale;
  if (exact && rows->again) {
    if (*rows->largest == 0) return;
    fixed = steps_per_force(fixed, *rows->largest);
  }
  if (i < rows->n) row = open_row(rows, i, mode);
  const int32_t most = __reduce_max_sync(MD_ALL_LANES, row.count);
  for (int32_t k = 0; k < most; k += BATCH) {
    int32_t j[BATCH], type[BATCH];
    coord3 x[BATCH];
    real q[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      j[u] = k + u < row.count ? load_index(row.nbr + (int64_t)(k + u) * MD_WARP) : row.i;
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      x[u] = load_atom(rows, j[u], &q[u], mode), type[u] = load_type(rows, j[u], mode);
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      half_pair(rows, &row, j[u], x[u], q[u], type[u], k + u < row.count, mode, fixed, exact);
  }
  give(rows, i < rows->n ? row.i : NOBODY, row.fx * rows->scale, row.fy * rows->scale,
       row.fz * rows->scale, fixed, exact);
  if (mode.tally) close_tally(rows->partial, row.energy, row.virial);
}

typedef void half_kernel(force_rows rows);
#define HALF_(name, form, tally, charged, exact, typed)                                            \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name(const force_rows rows)                  \
  {                                                                                                \
    half_row(&rows, (force_mode){form, tally, charged, typed}, exact);                             \
  }
#define HALF(name, form, tally, charged)                                                           \
  HALF_(name, form, tally, charged, false, false)                                                  \
  HALF_(name##_exact, form, tally, charged, true, false)                                           \
  HALF_(name##_typed, form, tally, charged, false, true)                                           \
  HALF_(name##_typed_exact, form, tally, charged, true, true)
#define PAIR(name)                                                                                 \
  {                                                                                                \
    {name, name##_exact},                                                                          \
    {                                                                                              \
      name##_typed, name##_typed_exact                                                             \
    }                                                                                              \
  }
HALF(half_plain, LJ_PLAIN, false, false)
HALF(half_tally, LJ_PLAIN, true, false)
HALF(half_shifted, LJ_SHIFTED, false, false)
HALF(half_shifted_tally, LJ_SHIFTED, true, false)
HALF(half_charged, LJ_PLAIN, false, true)
HALF(half_charged_tally, LJ_PLAIN, true, true)
HALF(half_charged_shifted, LJ_SHIFTED, false, true)
HALF(half_charged_shifted_tally, LJ_SHIFTED, true, true)
static half_kernel *const kernels[LJ_FORM_COUNT][2][2][2][2] = {
    [LJ_PLAIN] = {{PAIR(half_plain), PAIR(half_tally)},
                  {PAIR(half_charged), PAIR(half_charged_tally)}},
    [LJ_SHIFTED] = {{PAIR(half_shifted), PAIR(half_shifted_tally)},
                    {PAIR(half_charged_shifted), PAIR(half_charged_shifted_tally)}}};

/* Before a second pass, if there is one. */
static __global__ void clear_kernel(const force_rows rows)
{
  const int64_t i = md_thread();
  if (i < 4 * rows.n && *rows.largest != 0) rows.fixed[i] = 0;
}

/* Integer forces to floating point: reads 32 bytes an atom, writes 16 or 32. */
static __global__ void convert_kernel(const force_rows rows)
{
  const int64_t i = md_thread();
  if (i >= rows.n) return;
  const double step = 1 / steps_per_force(rows.fixed_scale, *rows.largest);
  const unsigned long long *fixed = rows.fixed;
  real4 fi = {};
  fi.x = (real)((double)(long long)fixed[4 * i] * step);
  fi.y = (real)((double)(long long)fixed[4 * i + 1] * step);
  fi.z = (real)((double)(long long)fixed[4 * i + 2] * step);
  rows.f[i] = fi;
}

static md_status run(force *fc, const force_job *job, const force_rows *rows)
{
  const int block = force_block(fc);
  half_kernel *kernel = kernels[lj_form_of(&job->lj)][job->coulomb.r_cut_sq > 0][job->tally != NULL]
                               [job->types != NULL][rows->fixed != NULL];
  MD_TRY(set_carveout(fc, (const void *)kernel));
  kernel<<<md_blocks(job->n, block), block, 0, (cudaStream_t)fc->ctx->stream>>>(*rows);
  MD_LAUNCHED();
  return MD_OK;
}

/* Add up integers, twice if a pair force is too large for the first steps. */
static md_status run_exact(force *fc, const force_job *job, force_rows *rows)
{
  const size_t sums = (size_t)job->n * 4 * sizeof *rows->fixed, all = sums + sizeof *rows->largest;
  const cudaStream_t stream = (cudaStream_t)fc->ctx->stream;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->fixed, all, 0));
  rows->fixed = (unsigned long long *)fc->fixed.data;
  rows->fixed_scale = FINEST * fc->spec.sigma / fc->spec.epsilon;
  rows->largest = (double *)(rows->fixed + 4 * job->n);
  rows->again = false;
  MD_TRY(md_fill(fc->ctx, rows->fixed, 0, all));
  MD_TRY(run(fc, job, rows));
  clear_kernel<<<md_blocks(4 * job->n, CONVERT_BLOCK), CONVERT_BLOCK, 0, stream>>>(*rows);
  MD_LAUNCHED();
  rows->again = true;
  MD_TRY(run(fc, job, rows));
  convert_kernel<<<md_blocks(job->n, CONVERT_BLOCK), CONVERT_BLOCK, 0, stream>>>(*rows);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(force_gpu_half)(force *fc, const force_job *job)
{
  force_rows rows;
  const int64_t blocks = md_blocks(job->n, force_block(fc));
  MD_TRY(open_rows(fc, job, blocks, &rows));
  if (fc->ctx->deterministic) {
    MD_TRY(run_exact(fc, job, &rows));
  } else {
    MD_TRY(md_fill(fc->ctx, job->f, 0, (size_t)job->n * sizeof(real4)));
    MD_TRY(run(fc, job, &rows));
  }
  return job->tally ? read_tally(fc, job, blocks, 1) : MD_OK;
}
