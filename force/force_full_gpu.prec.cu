/* force/force_full_gpu.prec.cu - forces from full lists: thread i sums the force on atom i, so no
 * two threads write one address and one list gives one result, bit for bit.  [AK] section 5.
 *
 * Floor, per atom at density 0.8442 and r_list 2.8 (75 entries): 75 indices of 4 bytes, its own
 * position and force, 0.34 kB of device memory in single and 0.38 in double; 0.08 and 0.09 ms for
 * 2^20 atoms on an H200.  Measured: 0.142 ms, and 0.214 after 0.017 of repacking in double, with
 * the L1's data pipe 90 % busy: 75 gathers of 11 lines a warp, in double 18.  The order of atoms
 * decides how many lines that are. */
#include "force/force_gpu.h"

enum { BATCH = sizeof(real) == 4 ? FORCE_FULL_BATCH : FORCE_FULL_BATCH_WIDE };

static __device__ __forceinline__ void full_row(const force_rows *rows, force_mode mode)
{
  const int64_t i = md_thread();
  force_row row = {};
  if (i < rows->n) {
    row = open_row(rows, i, mode);
    int32_t k = 0, j[BATCH], type[BATCH];
    coord3 x[BATCH];
    real q[BATCH];
    for (; k + BATCH <= row.count; k += BATCH) {
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        j[u] = load_index(row.nbr + (int64_t)(k + u) * MD_WARP);
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        x[u] = load_coord(rows->coord, j[u]), q[u] = load_charge(rows, j[u], mode),
        type[u] = load_type(rows, j[u], mode);
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        add_pair(rows, &row, x[u], q[u], type[u], true, 1, mode);
    }
#pragma unroll
    for (int u = 0; u < BATCH - 1; u++) {
      const bool present = k + u < row.count;
      j[u] = present ? load_index(row.nbr + (int64_t)(k + u) * MD_WARP) : row.i;
      x[u] = load_coord(rows->coord, j[u]), q[u] = load_charge(rows, j[u], mode);
      type[u] = load_type(rows, j[u], mode);
    }
#pragma unroll
    for (int u = 0; u < BATCH - 1; u++)
      add_pair(rows, &row, x[u], q[u], type[u], k + u < row.count, 1, mode);
    real4 f = {};
    f.x = row.fx * rows->scale, f.y = row.fy * rows->scale, f.z = row.fz * rows->scale;
    rows->f[i] = f;
  }
  if (!mode.tally) return;
  /* Each pair is seen from both sides. */
  if (rows->exact)
    close_exactly(rows->exact, 0.5 * row.energy, 0.5 * row.virial);
  else
    close_tally(rows->partial, 0.5 * row.energy, 0.5 * row.virial);
}

/* What blocks have added up exactly. */
static md_status read_exactly(force *fc, force_tally *tally)
{
  MD_TRY(md_exact_read(fc->ctx, &fc->exact, 2, tally->exact));
  tally->energy = exact_value(&tally->exact[0]);
  tally->virial = exact_value(&tally->exact[1]);
  return MD_OK;
}

typedef void full_kernel(force_rows rows);
#define FULL_(name, form, tally, charged, typed)                                                   \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name(const force_rows rows)                  \
  {                                                                                                \
    full_row(&rows, (force_mode){form, tally, charged, typed});                                    \
  }
#define FULL(name, form, tally, charged)                                                           \
  FULL_(name, form, tally, charged, false)                                                         \
  FULL_(name##_typed, form, tally, charged, true)
#define PAIR(name)                                                                                 \
  {                                                                                                \
    name, name##_typed                                                                             \
  }
FULL(full_plain, LJ_PLAIN, false, false)
FULL(full_tally, LJ_PLAIN, true, false)
FULL(full_shifted, LJ_SHIFTED, false, false)
FULL(full_shifted_tally, LJ_SHIFTED, true, false)
FULL(full_charged, LJ_PLAIN, false, true)
FULL(full_charged_tally, LJ_PLAIN, true, true)
FULL(full_charged_shifted, LJ_SHIFTED, false, true)
FULL(full_charged_shifted_tally, LJ_SHIFTED, true, true)
static full_kernel *const kernels[LJ_FORM_COUNT][2][2][2] = {
    [LJ_PLAIN] = {{PAIR(full_plain), PAIR(full_tally)},
                  {PAIR(full_charged), PAIR(full_charged_tally)}},
    [LJ_SHIFTED] = {{PAIR(full_shifted), PAIR(full_shifted_tally)},
                    {PAIR(full_charged_shifted), PAIR(full_charged_shifted_tally)}}};

md_status PREC(force_gpu_full)(force *fc, const force_job *job)
{
  const int block = force_block(fc);
  full_kernel *kernel = kernels[lj_form_of(&job->lj)][job->coulomb.r_cut_sq > 0][job->tally != NULL]
                               [job->types != NULL];
  force_rows rows;
  MD_TRY(set_carveout(fc, (const void *)kernel));
  MD_TRY(open_rows(fc, job, &rows));
  const bool exact = job->tally && job->tally->is_exact;
  if (exact) MD_TRY(md_exact_begin(fc->ctx, &fc->exact, 2));
  rows.exact = exact ? (exact_sum *)fc->exact.data : NULL;
  kernel<<<md_blocks(job->n, block), block, 0, (cudaStream_t)fc->ctx->stream>>>(rows);
  MD_LAUNCHED();
  if (!job->tally) return MD_OK;
  return exact ? read_exactly(fc, job->tally) : read_tally(fc, job, md_blocks(job->n, block), 1);
}
