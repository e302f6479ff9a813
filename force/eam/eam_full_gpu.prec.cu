/* force/eam/eam_full_gpu.prec.cu - forces of embedded atoms from full lists on the GPU: thread i
 * walks along row i twice, in two kernels, for the density of atom i and then for its force
 *     -[ phi'(r) + (F'(rho_i) + F'(rho_j)) rho'(r) ] (x_i - x_j) / r
 * No two threads write one address: one result for one list.
 *
 * Bytes a pair: twice 4 of the list and a coord4, a real of F', and 16 or 32 (double: twice that)
 * of tables, which the L1 holds. */
#include "force/eam/eam_launch_gpu.h"
#include "force/force_gpu.h"

enum { BATCH = sizeof(real) == 4 ? FORCE_FULL_BATCH : FORCE_FULL_BATCH_WIDE };

typedef struct {
  force_rows rows;
  eam_tables eam;
} eam_job;

typedef struct {
  eam_pass pass;
  bool tally;
} eam_mode;

/* Pair of the row with an atom of F' q at x; densities are summed in fx. */
static __device__ __forceinline__ void add_embedded(const eam_job *job, force_row *row, coord3 x,
                                                    real q, bool present, eam_mode mode)
{
  const real dx = coord_difference(row->x.x, x.x), dy = coord_difference(row->x.y, x.y);
  const real dz = coord_difference(row->x.z, x.z);
  real r_sq = dx * dx + dy * dy + dz * dz, c[4], s[4];
  if (MD_PREC == 1) r_sq *= job->rows.scale_sq;
  const bool inside = present && r_sq < job->eam.grid.r_cut_sq;
  const eam_spot at = eam_locate(&job->eam.grid, r_sq, eam_inverse_root(r_sq));
  if (!inside) return;
  if (mode.pass == EAM_DENSITIES) {
    eam_load_cubic(job->eam.density, at.m, c);
    row->fx += eam_cubic(c, at.p);
    return;
  }
  eam_load_cubic(job->eam.pair, at.m, c);
  eam_load_cubic(job->eam.slope, at.m, s);
  const real f = eam_pull(&job->eam.grid, at, c, s, row->q + q);
  row->fx += dx * f, row->fy += dy * f, row->fz += dz * f;
  if (!mode.tally) return;
  row->energy += eam_energy(&job->eam, at, c);
  row->virial += (double)r_sq * (double)f;
}

/* F' of an atom in the pass that needs it, in place of a charge. */
static __device__ __forceinline__ real load_slope(const force_rows *rows, int64_t i, eam_mode mode)
{
  return mode.pass == EAM_FORCES ? __ldg(rows->charge + i) : 0;
}

/* Batches of a row's entries; behind its last the row's own atom. */
static __device__ __forceinline__ void walk(const eam_job *job, force_row *row, eam_mode mode)
{
  int32_t j[BATCH];
  coord3 x[BATCH];
  real q[BATCH];
  for (int32_t k = 0; k < row->count; k += BATCH) {
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      j[u] = k + u < row->count ? load_index(row->nbr + (int64_t)(k + u) * MD_WARP) : row->i;
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      x[u] = load_coord(job->rows.coord, j[u]), q[u] = load_slope(&job->rows, j[u], mode);
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      add_embedded(job, row, x[u], q[u], k + u < row->count, mode);
  }
}

/* F' to an atom and its images; returns F. */
static __device__ __forceinline__ double close_density(const eam_job *job, int64_t i, real density)
{
  const eam_tables *eam = &job->eam;
  real slope;
  const double u = eam_close(eam, density, &slope);
  eam->slopes[i] = slope;
  if (!eam->first) return u;
  for (int32_t g = eam->first[i]; g < eam->first[i + 1]; g++)
    eam->slopes[job->rows.n + g] = slope;
  return u;
}

static __device__ __forceinline__ void eam_row(const eam_job *job, eam_mode mode)
{
  const force_rows *rows = &job->rows;
  const int64_t i = md_thread();
  force_row row = {};
  if (i < rows->n) {
    row = open_row(rows, i, (force_mode){LJ_PLAIN, mode.tally, false, false});
    row.q = load_slope(rows, i, mode);
    walk(job, &row, mode);
    if (mode.pass == EAM_DENSITIES) {
      row.energy = 2 * close_density(job, i, row.fx);
    } else {
      real4 f = {};
      f.x = row.fx * rows->scale, f.y = row.fy * rows->scale, f.z = row.fz * rows->scale;
      rows->f[i] = f;
    }
  }
  if (mode.tally) tally_row(rows, &row);
}

typedef void eam_kernel(eam_job job);
#define EAM(name, pass, tally)                                                                     \
  static __global__ void __maxnreg__(FORCE_REGISTERS) name(const eam_job job)                      \
  {                                                                                                \
    eam_row(&job, (eam_mode){pass, tally});                                                        \
  }
EAM(eam_densities, EAM_DENSITIES, false)
EAM(eam_densities_tally, EAM_DENSITIES, true)
EAM(eam_forces, EAM_FORCES, false)
EAM(eam_forces_tally, EAM_FORCES, true)

md_status PREC(eam_gpu_full)(force *fc, const force_job *job)
{
  const int block = force_block(fc);
  const int64_t blocks = md_blocks(job->n, block);
  eam_job args = {};
  MD_TRY(eam_open(fc, job, blocks, &args.eam));
  MD_TRY(open_rows(fc, job, blocks, &args.rows));
  args.rows.charge = args.eam.slopes;
  const cudaStream_t stream = (cudaStream_t)fc->ctx->stream;
  eam_kernel *kernel = job->tally ? eam_densities_tally : eam_densities;
  MD_TRY(set_carveout(fc, (const void *)kernel));
  kernel<<<(unsigned)blocks, block, 0, stream>>>(args);
  MD_LAUNCHED();
  MD_TRY(eam_share(fc, job));
  kernel = job->tally ? eam_forces_tally : eam_forces;
  if (job->tally) args.rows.partial += 2 * blocks;
  MD_TRY(set_carveout(fc, (const void *)kernel));
  kernel<<<(unsigned)blocks, block, 0, stream>>>(args);
  MD_LAUNCHED();
  return job->tally ? eam_read(fc, job, blocks, 1) : MD_OK;
}
