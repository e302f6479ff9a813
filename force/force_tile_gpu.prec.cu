/* force/force_tile_gpu.prec.cu - forces from lists by tiles (neighbor/neighbor.h): one block a
 * tile, one thread a row.
 *
 * The block copies the tile's halo once, coalesced as far as the atoms' order allows, to shared
 * memory (tile_entry_gpu.h), past the registers; each thread then follows 16-bit offsets into it, 8
 * in one load, and sums the force on its atom: no two threads write one address.
 *
 * The fused kernel goes on to v += kick f twice and x += drift v, for the atom and its images.
 * Other blocks still read the old positions, so it writes the new ones elsewhere.  Halo indices,
 * the first of the list and where images begin and end, which stay, are loaded while the kernel
 * before still runs, and nothing waits for them before the halo is asked for.  Velocities are
 * brought near meanwhile, shifts of images while forces are summed: where a few rounds of blocks
 * are all, nothing else hides these latencies, and registers for more loads at once are worth more
 * than room for more blocks (docs/decisions/50-rows-wait-for-nothing.md).
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
#define TILE_(name, blocks, form, tally, charged, fused, types, mail)                              \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    tile_rows(&job, (tile_mode){form, tally, charged, fused, EAM_NONE, types, mail, false});       \
  }
#define TILE(name, blocks, form, tally, charged, fused)                                            \
  TILE_(name, blocks, form, tally, charged, fused, TYPES_ALIKE, false)
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
TILE(tile_fused_few, FEW_BLOCKS, LJ_PLAIN, false, false, true)
/* Atoms of several types: two of them where it is worth instances of their own. */
#define TYPED(name, blocks, form, tally, charged, fused)                                           \
  TILE_(name, blocks, form, tally, charged, fused, TYPES_MANY, false)
TYPED(typed_plain, TYPED_BLOCKS, LJ_PLAIN, false, false, false)
TYPED(typed_tally, 2, LJ_PLAIN, true, false, false)
TYPED(typed_shifted, TYPED_BLOCKS, LJ_SHIFTED, false, false, false)
TYPED(typed_shifted_tally, 2, LJ_SHIFTED, true, false, false)
TYPED(typed_charged, 2, LJ_PLAIN, false, true, false)
TYPED(typed_charged_tally, 2, LJ_PLAIN, true, true, false)
TYPED(typed_charged_shifted, 2, LJ_SHIFTED, false, true, false)
TYPED(typed_charged_shifted_tally, 2, LJ_SHIFTED, true, true, false)
TYPED(typed_fused, TYPED_BLOCKS, LJ_PLAIN, false, false, true)
TYPED(typed_shifted_fused, TYPED_BLOCKS, LJ_SHIFTED, false, false, true)
TILE_(two_plain, TYPED_BLOCKS, LJ_PLAIN, false, false, false, TYPES_TWO, false)
TILE_(two_fused, TYPED_BLOCKS, LJ_PLAIN, false, false, true, TYPES_TWO, false)
static tile_kernel *const kernels[LJ_FORM_COUNT][2][2] = {
    [LJ_PLAIN] = {{tile_plain, tile_tally}, {tile_charged, tile_charged_tally}},
    [LJ_SHIFTED] = {{tile_shifted, tile_shifted_tally},
                    {tile_charged_shifted, tile_charged_shifted_tally}}};
static tile_kernel *const fused_kernels[LJ_FORM_COUNT][2] = {
    [LJ_PLAIN] = {tile_fused, tile_fused_few},
    [LJ_SHIFTED] = {tile_shifted_fused, tile_shifted_fused}};
static tile_kernel *const typed_kernels[LJ_FORM_COUNT][2][2] = {
    [LJ_PLAIN] = {{typed_plain, typed_tally}, {typed_charged, typed_charged_tally}},
    [LJ_SHIFTED] = {{typed_shifted, typed_shifted_tally},
                    {typed_charged_shifted, typed_charged_shifted_tally}}};
static tile_kernel *const typed_fused_kernels[LJ_FORM_COUNT] = {typed_fused, typed_shifted_fused};
/* Steps that exchange ghosts, which takes registers. */
#define MAILED(name, blocks, form) TILE_(name, blocks, form, false, false, true, TYPES_ALIKE, true)
MAILED(mailed_fused, FEW_BLOCKS, LJ_PLAIN)
MAILED(mailed_shifted, 4, LJ_SHIFTED)
static tile_kernel *const mailed_kernels[LJ_FORM_COUNT] = {mailed_fused, mailed_shifted};

/* How a job's kernel works. */
static tile_mode mode_of(const force_job *job, bool fused)
{
  const lj_form form = lj_form_of(&job->lj);
  const bool tally = job->tally != NULL, charged = job->coulomb.r_cut_sq > 0;
  const bool two = job->types && job->types->n == 2 && form == LJ_PLAIN && !tally && !charged;
  const tile_types types = !job->types ? TYPES_ALIKE : two ? TYPES_TWO : TYPES_MANY;
  return (tile_mode){form, tally, charged, fused, EAM_NONE, types, fused && job->mail, false};
}

static tile_kernel *kernel_of(tile_mode mode)
{
  if (mode.types == TYPES_ALIKE) return kernels[mode.form][mode.charged][mode.tally];
  if (mode.types == TYPES_TWO) return two_plain;
  return typed_kernels[mode.form][mode.charged][mode.tally];
}

/* A halo in shared memory. */
static size_t halo_bytes(const tile_job *job, tile_mode mode)
{
  const bool beside = mode.charged && mode.types != TYPES_ALIKE;
  return (size_t)job->tiles.most * (entry_bytes(has_q(mode)) + (beside ? sizeof(int32_t) : 0));
}

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
  out.types = open_types(job);
  out.table = (int32_t)((halo_bytes(&out, mode) + ENTRY - 1) / ENTRY * ENTRY);
  return out;
}

static md_status check_shared(const tile_job *job, size_t bytes)
{
  int device, most;
  MD_CUDA(cudaGetDevice(&device));
  MD_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  MD_REQUIRE(bytes <= (size_t)most, MD_EINVAL,
             "up to %d atoms around a tile and the constants of %d types take %zu bytes of shared "
             "memory, and the GPU has %d for a block: expected a full list",
             job->tiles.most, job->types.n, bytes, most);
  return MD_OK;
}

/* Before launches of a kernel; *shared gets the bytes of shared memory it needs. */
static md_status prepare(const force *fc, const tile_job *job, tile_kernel *kernel, tile_mode mode,
                         size_t *shared)
{
  *shared = job->near.end > 0 ? (size_t)job->near.end : halo_bytes(job, mode);
  if (mode.types == TYPES_MANY) {
    *shared = (size_t)job->table + table_bytes(&job->types);
    MD_TRY(check_shared(job, *shared));
  }
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
  const tile_mode mode = mode_of(job, false);
  if (job->tally)
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, 2 * ((size_t)blocks + 1) * sizeof(double), 0));
  tile_job tiles = open_tiles(fc, job, mode);
  tile_kernel *const kernel = kernel_of(mode);
  size_t shared;
  MD_TRY(prepare(fc, &tiles, kernel, mode, &shared));
  MD_TRY(launch(fc, &tiles, kernel, shared, false));
  return job->tally ? read_tally(fc, job, blocks, 0.5) : MD_OK; /* each pair was seen twice */
}

/* Rounds of tiles at work beside each other, so many of them on a multiprocessor. */
static unsigned rounds_of(unsigned tiles, unsigned blocks, int processors)
{
  const unsigned at_once = blocks * (unsigned)processors;
  return (tiles + at_once - 1) / at_once;
}

/* Whether a few rounds stay as few although threads have the most registers. */
static md_status are_few(const force_job *job, bool *few)
{
  const unsigned tiles = md_blocks(job->n, ROWS);
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const unsigned rounds = rounds_of(tiles, FEW_BLOCKS, processors);
  *few = rounds <= FEW_ROUNDS && rounds == rounds_of(tiles, FUSED_BLOCKS, processors);
  return MD_OK;
}

static md_status pick_fused(const force_job *job, tile_mode mode, tile_kernel **out)
{
  bool few = false;
  if (mode.types == TYPES_ALIKE) MD_TRY(are_few(job, &few));
  if (mode.mail)
    *out = mailed_kernels[mode.form];
  else if (mode.types == TYPES_ALIKE)
    *out = fused_kernels[mode.form][few];
  else
    *out = mode.types == TYPES_TWO ? two_fused : typed_fused_kernels[mode.form];
  return MD_OK;
}

/* Which tiles are at a border, before the first of a job's steps. */
static md_status order_tiles(force *fc, const force_job *job, tile_job *tiles)
{
  const unsigned blocks = md_blocks(job->n, ROWS);
  const size_t bytes = sizeof(tile_order) + blocks * sizeof(tile_turn);
  if (bytes > fc->order.bytes) {
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->order, bytes, 0));
    MD_TRY(md_fill(fc->ctx, fc->order.data, 0, sizeof(tile_order)));
  }
  fc->order_turn = !fc->order_turn;
  tiles->post = (tile_post){};
  tiles->post.mail = *job->mail;
  tiles->post.which = fc->order_turn;
  tiles->post.tiles = (tile_order *)fc->order.data;
  order_kernel<<<md_blocks(blocks, WARPS), ROWS, 0, (cudaStream_t)fc->ctx->stream>>>(*tiles,
                                                                                     blocks);
  MD_LAUNCHED();
  return MD_OK;
}

/* What step s of such a job exchanges. */
static void post_step(tile_job *job, int32_t s)
{
  tile_post *post = &job->post;
  const md_mail *mail = &post->mail;
  post->round = mail->round + (md_round)s;
  post->reads = s > 0;
  post->sends = s + 1 < mail->steps;
  post->slot = (int32_t)(post->round % MD_SLOTS);
  post->ghosts = s > 0 ? (const coord4 *)mail->slot[(post->round - 1) % MD_SLOTS]
                       : job->places.coord + job->n + mail->n_own;
}

md_status PREC(force_gpu_tile_advance)(force *fc, const force_job *job)
{
  const tile_mode mode = mode_of(job, true);
  tile_job tiles = open_tiles(fc, job, mode);
  tile_kernel *kernel;
  size_t shared;
  MD_TRY(pick_fused(job, mode, &kernel));
  MD_TRY(prepare(fc, &tiles, kernel, mode, &shared));
  if (mode.mail) MD_TRY(order_tiles(fc, job, &tiles));
  const md_mail *carried = mode.mail && job->mail->carry ? job->mail : NULL;
  for (int32_t s = 0; s < job->steps; s++) {
    if (mode.mail) post_step(&tiles, s);
    if (carried) MD_TRY(carried->carry(carried->carrier, tiles.post.round, tiles.post.sends));
    const bool early = s > 0 ? !carried : !(tiles.tiles.unfit || mode.mail);
    MD_TRY(launch(fc, &tiles, kernel, shared, early));
    tiles.places = next_places(&tiles.places);
  }
  return MD_OK;
}

/* Embedded atoms: a pass for densities, in which halos have no F' yet, and one for forces. */
#define EMBEDDED(name, blocks, pass, tally, fused, packed)                                         \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    const bool charged = pass == EAM_FORCES;                                                       \
    tile_rows(&job,                                                                                \
              (tile_mode){LJ_PLAIN, tally, charged, fused, pass, TYPES_ALIKE, false, packed});     \
  }
EMBEDDED(tile_densities, DENSITY_BLOCKS, EAM_DENSITIES, false, false, false)
EMBEDDED(tile_densities_tally, 2, EAM_DENSITIES, true, false, false)
EMBEDDED(tile_embedded, EMBEDDED_BLOCKS, EAM_FORCES, false, false, false)
EMBEDDED(tile_embedded_tally, 2, EAM_FORCES, true, false, false)
EMBEDDED(tile_embedded_fused, EMBEDDED_BLOCKS, EAM_FORCES, false, true, false)
EMBEDDED(packed_densities, DENSITY_BLOCKS, EAM_DENSITIES, false, false, true)
EMBEDDED(packed_densities_tally, 2, EAM_DENSITIES, true, false, true)
EMBEDDED(packed_embedded, EMBEDDED_BLOCKS, EAM_FORCES, false, false, true)
EMBEDDED(packed_embedded_tally, 2, EAM_FORCES, true, false, true)
EMBEDDED(packed_embedded_fused, EMBEDDED_BLOCKS, EAM_FORCES, false, true, true)

/* Of densities, of forces: alone, with sums, with the time step. */
enum { ALONE, TALLY, FUSED, PASS_KERNELS };
typedef tile_kernel *pass_kernels[2][PASS_KERNELS];
static const pass_kernels knot_kernels = {
    {tile_densities, tile_densities_tally, tile_densities},
    {tile_embedded, tile_embedded_tally, tile_embedded_fused}};
static const pass_kernels packed_kernels = {
    {packed_densities, packed_densities_tally, packed_densities},
    {packed_embedded, packed_embedded_tally, packed_embedded_fused}};

typedef struct {
  tile_job job;
  tile_kernel *kernel;
  size_t shared;
} tile_pass;

/* Ghosts with F' that others told. */
static __global__ void place_ghosts(const tile_job job, int64_t n_ghost)
{
  const int64_t g = md_thread(), j = job.n + g;
  if (g < n_ghost) job.placed[j] = with_charge(job.places.coord[j], job.eam.slopes[j]);
}

/* Between the passes, where other processes take part. */
static md_status share_slopes(const force *fc, const force_job *job, const tile_job *tiles)
{
  enum { BLOCK = 256 };
  MD_TRY(eam_share(fc, job));
  if (!fc->fill || job->n_ghost == 0) return MD_OK;
  place_ghosts<<<md_blocks(job->n_ghost, BLOCK), BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(
      *tiles, job->n_ghost);
  MD_LAUNCHED();
  return MD_OK;
}

/* Tables, and room for coordinates with F' beside them. */
static md_status open_embedded(force *fc, const force_job *job, eam_tables *eam)
{
  const size_t bytes = (size_t)(job->n + job->n_ghost) * sizeof(coord4);
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->packed, bytes, 0));
  return eam_open(fc, job, md_blocks(job->n, ROWS), eam);
}

static md_status open_pass(force *fc, const force_job *job, const eam_tables *eam, eam_pass which,
                           int kernel, tile_pass *out)
{
  const bool packed = eam_is_packed(fc);
  const tile_mode mode = {LJ_PLAIN, false, which == EAM_FORCES, false, which, TYPES_ALIKE,
                          false,    packed};
  out->job = open_tiles(fc, job, mode);
  out->job.unit = (real)job->coord_scale;
  out->job.eam = *eam;
  out->job.placed = (coord4 *)fc->packed.data;
  out->job.near = eam_near_of(fc, halo_bytes(&out->job, mode), which);
  out->job.eam.grid.near_sq = eam_near_sq(fc, out->job.near);
  out->kernel = (packed ? packed_kernels : knot_kernels)[which == EAM_FORCES][kernel];
  return prepare(fc, &out->job, out->kernel, mode, &out->shared);
}

md_status PREC(eam_gpu_tile)(force *fc, const force_job *job)
{
  const int64_t blocks = md_blocks(job->n, ROWS);
  const bool tally = job->tally != NULL;
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(open_embedded(fc, job, &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, tally ? TALLY : ALONE, &first));
  MD_TRY(open_pass(fc, job, &eam, EAM_FORCES, tally ? TALLY : ALONE, &second));
  if (tally) second.job.partial += 2 * blocks;
  MD_TRY(launch(fc, &first.job, first.kernel, first.shared, false));
  MD_TRY(share_slopes(fc, job, &first.job));
  MD_TRY(launch(fc, &second.job, second.kernel, second.shared, false));
  return tally ? eam_read(fc, job, blocks, 0.5) : MD_OK;
}

md_status PREC(eam_gpu_tile_advance)(force *fc, const force_job *job)
{
  eam_tables eam;
  tile_pass first, second;
  MD_TRY(open_embedded(fc, job, &eam));
  MD_TRY(open_pass(fc, job, &eam, EAM_DENSITIES, FUSED, &first));
  MD_TRY(open_pass(fc, job, &eam, EAM_FORCES, FUSED, &second));
  for (int32_t s = 0; s < job->steps; s++) {
    MD_TRY(launch(fc, &first.job, first.kernel, first.shared, s > 0 || !first.job.tiles.unfit));
    MD_TRY(launch(fc, &second.job, second.kernel, second.shared, true));
    first.job.places = second.job.places = next_places(&second.job.places);
  }
  return MD_OK;
}
