/* force/force_full_gpu.prec.cu - forces from full lists: thread i sums the force on atom i, so no
 * two threads write one address and one list gives one result, bit for bit.  [AK] section 5.
 *
 * Where slices of 32 rows are too few to keep a GPU busy, `share` warps, which are a block, sum
 * every share-th entry of each row of one slice; the first warp adds up what they found.  Entries
 * are read as before, 128 bytes by a warp.
 *
 * Floor, per atom at density 0.8442 and r_list 2.8 (75 entries): 75 indices of 4 bytes, its own
 * position and force, 0.34 kB of device memory in single and 0.38 in double; 0.08 and 0.09 ms for
 * 2^20 atoms on an H200.  Measured: 0.142 ms, and 0.214 after 0.017 of repacking in double, with
 * the L1's data pipe 90 % busy: 75 gathers of 11 lines a warp, in double 18.  The order of atoms
 * decides how many lines that are. */
#include "force/force_gpu.h"

enum {
  BATCH = sizeof(real) == 4 ? FORCE_FULL_BATCH : FORCE_FULL_BATCH_WIDE,
  MOST_SHARE = 16,
  BUSY_WARPS = 32 /* of FORCE_REGISTERS, on a multiprocessor */
};

/* The entries of a row that one of `share` warps sums: every share-th. */
static __device__ __forceinline__ void take_share(force_row *row, int32_t share)
{
  const int32_t warp = (int32_t)threadIdx.x / MD_WARP;
  row->nbr += (int64_t)warp * MD_WARP;
  row->count = (row->count + share - 1 - warp) / share;
}

/* Entries of the row, `stride` apart. */
static __device__ __forceinline__ void sum_row(const force_rows *rows, force_row *row,
                                               int32_t stride, force_mode mode)
{
  int32_t k = 0, j[BATCH], type[BATCH];
  coord3 x[BATCH];
  real q[BATCH];
  for (; k + BATCH <= row->count; k += BATCH) {
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      j[u] = load_index(row->nbr + (int64_t)(k + u) * stride);
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      x[u] = load_atom(rows, j[u], &q[u], mode), type[u] = load_type(rows, j[u], mode);
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      add_pair(rows, row, x[u], q[u], type[u], true, 1, mode);
  }
#pragma unroll
  for (int u = 0; u < BATCH - 1; u++) {
    const bool present = k + u < row->count;
    j[u] = present ? load_index(row->nbr + (int64_t)(k + u) * stride) : row->i;
    x[u] = load_atom(rows, j[u], &q[u], mode), type[u] = load_type(rows, j[u], mode);
  }
#pragma unroll
  for (int u = 0; u < BATCH - 1; u++)
    add_pair(rows, row, x[u], q[u], type[u], k + u < row->count, 1, mode);
}

/* To the first warp what all warps of the block found of its rows, in their order. */
static __device__ __forceinline__ void gather_shares(force_row *row)
{
  __shared__ real part[3][MOST_SHARE][MD_WARP];
  const int32_t lane = (int32_t)threadIdx.x % MD_WARP, warp = (int32_t)threadIdx.x / MD_WARP;
  const int32_t share = (int32_t)blockDim.x / MD_WARP;
  part[0][warp][lane] = row->fx, part[1][warp][lane] = row->fy, part[2][warp][lane] = row->fz;
  __syncthreads();
  if (warp > 0) return;
  for (int32_t w = 1; w < share; w++) {
    row->fx += part[0][w][lane];
    row->fy += part[1][w][lane];
    row->fz += part[2][w][lane];
  }
}

/* shared: a block's warps share one slice; else each has one. */
static __device__ __forceinline__ void full_row(const force_rows *rows, force_mode mode,
                                                bool shared)
{
  const int64_t i = shared ? (int64_t)blockIdx.x * MD_WARP + threadIdx.x % MD_WARP : md_thread();
  force_row row = {};
  if (i < rows->n) {
    row = open_row(rows, i, mode);
    if (shared) take_share(&row, (int32_t)blockDim.x / MD_WARP);
    sum_row(rows, &row, shared ? (int32_t)blockDim.x : MD_WARP, mode);
  }
  if (shared) gather_shares(&row);
  if (i < rows->n && (!shared || threadIdx.x < MD_WARP)) {
    real4 f = {};
    f.x = row.fx * rows->scale, f.y = row.fy * rows->scale, f.z = row.fz * rows->scale;
    rows->f[i] = f;
  }
  if (mode.tally) tally_row(rows, &row);
}

typedef void full_kernel(force_rows rows);
#define FULL_(name, form, tally, charged, typed)                                                   \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name(const force_rows rows)                  \
  {                                                                                                \
    full_row(&rows, (force_mode){form, tally, charged, typed}, false);                             \
  }                                                                                                \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name##_shared(const force_rows rows)         \
  {                                                                                                \
    full_row(&rows, (force_mode){form, tally, charged, typed}, true);                              \
  }
#define FULL(name, form, tally, charged)                                                           \
  FULL_(name, form, tally, charged, false)                                                         \
  FULL_(name##_typed, form, tally, charged, true)
#define ALL(name)                                                                                  \
  {                                                                                                \
    {name, name##_shared},                                                                         \
    {                                                                                              \
      name##_typed, name##_typed_shared                                                            \
    }                                                                                              \
  }
FULL(full_plain, LJ_PLAIN, false, false)
FULL(full_tally, LJ_PLAIN, true, false)
FULL(full_shifted, LJ_SHIFTED, false, false)
FULL(full_shifted_tally, LJ_SHIFTED, true, false)
FULL(full_charged, LJ_PLAIN, false, true)
FULL(full_charged_tally, LJ_PLAIN, true, true)
FULL(full_charged_shifted, LJ_SHIFTED, false, true)
FULL(full_charged_shifted_tally, LJ_SHIFTED, true, true)
static full_kernel *const kernels[LJ_FORM_COUNT][2][2][2][2] = {
    [LJ_PLAIN] = {{ALL(full_plain), ALL(full_tally)}, {ALL(full_charged), ALL(full_charged_tally)}},
    [LJ_SHIFTED] = {{ALL(full_shifted), ALL(full_shifted_tally)},
                    {ALL(full_charged_shifted), ALL(full_charged_shifted_tally)}}};

/* Warps that share a slice: as many as are at work at once, 1 where a block size was asked for or
 * sums must not depend on the number of atoms. */
static md_status choose_share(const force *fc, int64_t slices, int32_t *share)
{
  int processors;
  *share = 1;
  if (fc->spec.block_size > 0 || fc->ctx->deterministic) return MD_OK;
  MD_TRY(md_multiprocessors(&processors));
  while (*share < MOST_SHARE && 2 * *share * slices <= (int64_t)BUSY_WARPS * processors)
    *share *= 2;
  return MD_OK;
}

md_status PREC(force_gpu_full)(force *fc, const force_job *job)
{
  int32_t share;
  MD_TRY(choose_share(fc, md_blocks(job->n, MD_WARP), &share));
  const int block = share > 1 ? share * MD_WARP : force_block(fc);
  const unsigned blocks = md_blocks(job->n, share > 1 ? MD_WARP : block);
  full_kernel *kernel = kernels[lj_form_of(&job->lj)][job->coulomb.r_cut_sq > 0][job->tally != NULL]
                               [job->types != NULL][share > 1];
  force_rows rows;
  MD_TRY(set_carveout(fc, (const void *)kernel));
  MD_TRY(open_rows(fc, job, blocks, &rows));
  kernel<<<blocks, block, 0, (cudaStream_t)fc->ctx->stream>>>(rows);
  MD_LAUNCHED();
  return job->tally ? read_tally(fc, job, blocks, 1) : MD_OK;
}
