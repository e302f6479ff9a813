/* force/force_tile_gpu.prec.cu - forces from lists by tiles (neighbor/neighbor.h): one block a
 * tile, one thread a row.
 *
 * The block copies the tile's halo once, coalesced as far as the atoms' order allows, to shared
 * memory (tile_entry_gpu.h), past the registers; each thread then follows 16-bit offsets into it, 8
 * in one load, and sums the force on its atom: no two threads write one address.
 *
 * The fused kernel goes on to v += kick f twice and x += drift v, for the atom and its images.
 * Other blocks still read the old positions, so it writes the new ones elsewhere.  Halo indices and
 * the first of the list, which stay, are loaded while the kernel before still runs, and velocities
 * and shifts of images are brought near while forces are summed: where all blocks are at work at
 * once, nothing else hides these latencies, and registers for more loads at once are worth more
 * than room for more blocks.
 *
 * Per atom at density 0.8442 and r_list 2.8 (75 entries, 83 slots), single: 165 bytes of list, 26
 * of halo indices, 80 of positions and velocities, 0.07 ms for 2^20 atoms on an H200; 83 loads of
 * 16 bytes from shared memory, 0.04 ms without conflicts; 1,900 instructions a warp, 0.06 ms.
 * Measured, with the time step: 0.089 ms in single, 0.112 in mixed, 0.154 in double.  Shared memory
 * and the L1 are busy 85 and 90 % of it: conflicts of entries that found no slot of their bank take
 * 19 and 31 % more loads than there are, and a halo is copied line by line.  2^17 atoms, 4 tiles a
 * multiprocessor, take 0.0138 ms: older blocks come first, so that the youngest end alone, and all
 * wait for the slowest multiprocessor. */
#include "core/gpu/launch_gpu.h"
#include "force/tile_pairs_gpu.h"

typedef void tile_kernel(tile_job job);
#define TILE(name, blocks, form, tally, charged, fused)                                            \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    tile_rows(&job, (tile_mode){form, tally, charged, fused, EAM_NONE});                           \
  }
TILE(tile_plain, FUSED_BLOCKS, LJ_PLAIN, false, false, false)
TILE(tile_tally, 2, LJ_PLAIN, true, false, false)
TILE(tile_shifted, 4, LJ_SHIFTED, false, false, false)
TILE(tile_shifted_tally, 2, LJ_SHIFTED, true, false, false)
TILE(tile_charged, 2, LJ_PLAIN, false, true, false)
TILE(tile_charged_tally, 2, LJ_PLAIN, true, true, false)
TILE(tile_charged_shifted, 2, LJ_SHIFTED, false, true, false)
TILE(tile_charged_shifted_tally, 2, LJ_SHIFTED, true, true, false)
TILE(tile_fused, FUSED_BLOCKS, LJ_PLAIN, false, false, true)
TILE(tile_shifted_fused, 4, LJ_SHIFTED, false, false, true)
#if MD_PREC == 2
#define tile_fused_few tile_fused
#else
TILE(tile_fused_few, FEW_BLOCKS, LJ_PLAIN, false, false, true)
#endif
static tile_kernel *const kernels[LJ_FORM_COUNT][2][2] = {
    [LJ_PLAIN] = {{tile_plain, tile_tally}, {tile_charged, tile_charged_tally}},
    [LJ_SHIFTED] = {{tile_shifted, tile_shifted_tally},
                    {tile_charged_shifted, tile_charged_shifted_tally}}};
static tile_kernel *const fused_kernels[LJ_FORM_COUNT][2] = {
    [LJ_PLAIN] = {tile_fused, tile_fused_few},
    [LJ_SHIFTED] = {tile_shifted_fused, tile_shifted_fused}};

static tile_job open_tiles(const force *fc, const force_job *job, tile_mode mode)
{
  tile_job out = {};
  out.n = job->n;
  out.tiles = *job->list->tiles;
  out.rows = job->list->atom, out.shift = job->shift, out.first = job->first;
  out.places = (tile_places){(const coord4 *)job->coord, (const state4 *)job->x,
                             (state4 *)fc->x_new.data, (coord4 *)fc->coord_new.data};
  out.f = (real4 *)job->f;
  out.v = (state4 *)job->v;
  out.kick = (state)job->kick, out.drift = (state)job->drift;
  out.scale = job->coord_scale;
  out.scale_sq = (real)(job->coord_scale * job->coord_scale);
  for (int d = 0; d < 3; d++)
    out.edge[d] = job->edge[d];
  out.far = far_entry(job);
  out.lj = lj_round(&job->lj);
  out.unit = (real)(job->coord_scale * (has_unit(mode) ? job->lj.lj1 : 1));
  out.coulomb = coulomb_round(&job->coulomb);
  out.partial = (double *)fc->partial.data;
  return out;
}

/* Before launches of a kernel; *shared gets the bytes of shared memory it needs. */
static md_status prepare(const force *fc, const tile_job *job, tile_kernel *kernel, bool charged,
                         size_t *shared)
{
  *shared =
      job->near.end > 0 ? (size_t)job->near.end : (size_t)job->tiles.most * entry_bytes(charged);
  MD_TRY(set_carveout(fc, (const void *)kernel));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*shared));
  return MD_OK;
}

/* early: the kernel may start, and ask for its lists, while the one before it, early too, ends. */
static md_status launch(const force *fc, tile_job *job, tile_kernel *kernel, size_t shared,
                        bool early)
{
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config =
      md_launch_config(fc->ctx, dim3(md_blocks(job->n, ROWS)), ROWS, early, &overlap);
  config.dynamicSmemBytes = shared;
  void *arguments[] = {job};
  MD_CUDA(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
  return MD_OK;
}

md_status PREC(force_gpu_tile)(force *fc, const force_job *job)
{
  const int64_t blocks = md_blocks(job->n, ROWS);
  const bool charged = job->coulomb.r_cut_sq > 0;
  const lj_form form = lj_form_of(&job->lj);
  if (job->tally)
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, 2 * ((size_t)blocks + 1) * sizeof(double), 0));
  tile_job tiles =
      open_tiles(fc, job, (tile_mode){form, job->tally != NULL, charged, false, EAM_NONE});
  tile_kernel *const kernel = kernels[form][charged][job->tally != NULL];
  size_t shared;
  MD_TRY(prepare(fc, &tiles, kernel, charged, &shared));
  MD_TRY(launch(fc, &tiles, kernel, shared, false));
  return job->tally ? read_tally(fc, job, blocks, 0.5) : MD_OK; /* each pair was seen twice */
}

/* Whether all tiles find room beside each other although threads have the most registers. */
static md_status are_few(const force_job *job, bool *few)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  *few = md_blocks(job->n, ROWS) <= (unsigned)(FEW_BLOCKS * processors);
  return MD_OK;
}

md_status PREC(force_gpu_tile_advance)(force *fc, const force_job *job)
{
  const lj_form form = lj_form_of(&job->lj);
  tile_job tiles = open_tiles(fc, job, (tile_mode){form, false, false, true, EAM_NONE});
  bool few = false;
  MD_TRY(are_few(job, &few));
  tile_kernel *const kernel = fused_kernels[form][few];
  size_t shared;
  MD_TRY(prepare(fc, &tiles, kernel, false, &shared));
  for (int32_t s = 0; s < job->steps; s++) {
    MD_TRY(launch(fc, &tiles, kernel, shared, s > 0 || !tiles.tiles.unfit));
    tiles.places = next_places(&tiles.places);
  }
  return MD_OK;
}

/* Embedded atoms: a pass for densities, in which halos have no F' yet, and one for forces. */
#define EMBEDDED(name, blocks, pass, tally, fused)                                                 \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    tile_rows(&job, (tile_mode){LJ_PLAIN, tally, pass == EAM_FORCES, fused, pass});                \
  }
EMBEDDED(tile_densities, DENSITY_BLOCKS, EAM_DENSITIES, false, false)
EMBEDDED(tile_densities_tally, 2, EAM_DENSITIES, true, false)
EMBEDDED(tile_embedded, EMBEDDED_BLOCKS, EAM_FORCES, false, false)
EMBEDDED(tile_embedded_tally, 2, EAM_FORCES, true, false)
EMBEDDED(tile_embedded_fused, EMBEDDED_BLOCKS, EAM_FORCES, false, true)

typedef struct {
  tile_job job;
  tile_kernel *kernel;
  size_t shared;
} tile_pass;

static md_status open_pass(force *fc, const force_job *job, const eam_tables *eam, eam_pass which,
                           tile_kernel *kernel, tile_pass *out)
{
  const bool charged = which == EAM_FORCES;
  out->job = open_tiles(fc, job, (tile_mode){LJ_PLAIN, false, charged, false, which});
  out->job.unit = (real)job->coord_scale;
  out->job.eam = *eam;
  out->job.near = eam_near_of(fc, (size_t)job->list->tiles->most * entry_bytes(charged), which);
  out->kernel = kernel;
  return prepare(fc, &out->job, kernel, charged, &out->shared);
}

md_status PREC(eam_gpu_tile)(force *fc, const force_job *job)
{
  const int64_t blocks = md_blocks(job->n, ROWS);
  const bool tally = job->tally != NULL;
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(eam_open(fc, job, blocks, &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, tally ? tile_densities_tally : tile_densities,
                   &first));
  MD_TRY(
      open_pass(fc, job, &eam, EAM_FORCES, tally ? tile_embedded_tally : tile_embedded, &second));
  if (tally) second.job.partial += 2 * blocks;
  MD_TRY(launch(fc, &first.job, first.kernel, first.shared, false));
  MD_TRY(eam_share(fc));
  MD_TRY(launch(fc, &second.job, second.kernel, second.shared, false));
  return tally ? eam_read(fc, job, blocks) : MD_OK;
}

md_status PREC(eam_gpu_tile_advance)(force *fc, const force_job *job)
{
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(eam_open(fc, job, md_blocks(job->n, ROWS), &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, tile_densities, &first));
  MD_TRY(open_pass(fc, job, &eam, EAM_FORCES, tile_embedded_fused, &second));
  for (int32_t s = 0; s < job->steps; s++) {
    MD_TRY(launch(fc, &first.job, first.kernel, first.shared, s > 0 || !first.job.tiles.unfit));
    MD_TRY(launch(fc, &second.job, second.kernel, second.shared, true));
    first.job.places = second.job.places = next_places(&second.job.places);
  }
  return MD_OK;
}
