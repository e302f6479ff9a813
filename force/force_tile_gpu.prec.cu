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
 * 16 bytes from shared memory, 0.04 ms without conflicts; 1,800 instructions a warp, 0.06 ms.
 * Measured, with the time step: 0.084 ms in single, 0.104 in mixed, 0.153 in double, where z is a
 * load of 8 bytes, which 16 lanes read together, two of them from one bank: half of these pairs
 * wait for each other.  Fewer conflicts took less time here, but slower lists or less L1 took that
 * away (docs/decisions/63-lists-by-tiles-by-counting.md).  2^17 atoms, 4 tiles a multiprocessor,
 * take 0.0124 ms: older blocks come first, so that the youngest end alone, and all wait for the
 * slowest multiprocessor.  Tiles of many wait for those near them, not for a whole step
 * (tile_waits_gpu.h).  Embedded atoms: eam/eam_tile_gpu.prec.cu. */
#include "force/tile_survey_gpu.h"

static_assert(FORCE_WAITING_TILES == WAIT_BITS * ROWS, "a thread looks at a word of bits");

#define TILE_(name, blocks, form, tally, charged, fused, types, mail, waits)                       \
  static __global__ void __launch_bounds__(ROWS, blocks) name(const tile_job job)                  \
  {                                                                                                \
    tile_rows(&job, (tile_mode){form, tally, charged, fused, EAM_NONE, types, mail, false, false,  \
                                waits});                                                           \
  }
#define TILE(name, blocks, form, tally, charged, fused)                                            \
  TILE_(name, blocks, form, tally, charged, fused, TYPES_ALIKE, false, false)
#define WAITING(name, blocks, form, types)                                                         \
  TILE_(name, blocks, form, false, false, true, types, false, true)
TILE(tile_plain, FUSED_BLOCKS, LJ_PLAIN, false, false, false)
TILE(tile_tally, 2, LJ_PLAIN, true, false, false)
TILE(tile_shifted, 4, LJ_SHIFTED, false, false, false)
TILE(tile_shifted_tally, 2, LJ_SHIFTED, true, false, false)
TILE(tile_charged, CHARGED_BLOCKS, LJ_PLAIN, false, true, false)
TILE(tile_charged_tally, 2, LJ_PLAIN, true, true, false)
TILE(tile_charged_shifted, CHARGED_BLOCKS, LJ_SHIFTED, false, true, false)
TILE(tile_charged_shifted_tally, 2, LJ_SHIFTED, true, true, false)
TILE(tile_fused, FUSED_BLOCKS, LJ_PLAIN, false, false, true)
TILE(tile_fused_few, FEW_BLOCKS, LJ_PLAIN, false, false, true)
WAITING(tile_waiting, FUSED_BLOCKS, LJ_PLAIN, TYPES_ALIKE)
WAITING(tile_shifted_fused, 4, LJ_SHIFTED, TYPES_ALIKE)
/* Atoms of several types: two of them where it is worth instances of their own. */
#define TYPED(name, blocks, form, tally, charged, fused)                                           \
  TILE_(name, blocks, form, tally, charged, fused, TYPES_MANY, false, false)
TYPED(typed_plain, TYPED_BLOCKS, LJ_PLAIN, false, false, false)
TYPED(typed_tally, 2, LJ_PLAIN, true, false, false)
TYPED(typed_shifted, TYPED_BLOCKS, LJ_SHIFTED, false, false, false)
TYPED(typed_shifted_tally, 2, LJ_SHIFTED, true, false, false)
TYPED(typed_charged, 2, LJ_PLAIN, false, true, false)
TYPED(typed_charged_tally, 2, LJ_PLAIN, true, true, false)
TYPED(typed_charged_shifted, 2, LJ_SHIFTED, false, true, false)
TYPED(typed_charged_shifted_tally, 2, LJ_SHIFTED, true, true, false)
TILE_(two_plain, TYPED_BLOCKS, LJ_PLAIN, false, false, false, TYPES_TWO, false, false)
WAITING(typed_fused, TYPED_BLOCKS, LJ_PLAIN, TYPES_MANY)
WAITING(typed_shifted_fused, TYPED_BLOCKS, LJ_SHIFTED, TYPES_MANY)
WAITING(two_fused, TYPED_BLOCKS, LJ_PLAIN, TYPES_TWO)
static tile_kernel *const kernels[LJ_FORM_COUNT][2][2] = {
    [LJ_PLAIN] = {{tile_plain, tile_tally}, {tile_charged, tile_charged_tally}},
    [LJ_SHIFTED] = {{tile_shifted, tile_shifted_tally},
                    {tile_charged_shifted, tile_charged_shifted_tally}}};
/* Of many tiles; of few, with more registers; those that wait for what is near. */
typedef enum { FUSED_MANY, FUSED_FEW, FUSED_WAITING, FUSED_WAYS } fused_way;
static tile_kernel *const fused_kernels[LJ_FORM_COUNT][FUSED_WAYS] = {
    [LJ_PLAIN] = {tile_fused, tile_fused_few, tile_waiting},
    [LJ_SHIFTED] = {tile_shifted_fused, tile_shifted_fused, tile_shifted_fused}};
static tile_kernel *const typed_kernels[LJ_FORM_COUNT][2][2] = {
    [LJ_PLAIN] = {{typed_plain, typed_tally}, {typed_charged, typed_charged_tally}},
    [LJ_SHIFTED] = {{typed_shifted, typed_shifted_tally},
                    {typed_charged_shifted, typed_charged_shifted_tally}}};
static tile_kernel *const typed_fused_kernels[LJ_FORM_COUNT] = {typed_fused, typed_shifted_fused};
/* Steps that exchange ghosts, which takes registers. */
#define MAILED(name, blocks, form, waits)                                                          \
  TILE_(name, blocks, form, false, false, true, TYPES_ALIKE, true, waits)
MAILED(mailed_fused, MAILED_BLOCKS, LJ_PLAIN, true)
MAILED(mailed_few, FEW_BLOCKS, LJ_PLAIN, false)
MAILED(mailed_shifted, MAILED_BLOCKS, LJ_SHIFTED, true)
static tile_kernel *const mailed_kernels[LJ_FORM_COUNT][2] = {
    [LJ_PLAIN] = {mailed_fused, mailed_few}, [LJ_SHIFTED] = {mailed_shifted, mailed_shifted}};

/* How a job's kernel works. */
static tile_mode mode_of(const force_job *job, bool fused)
{
  const lj_form form = lj_form_of(&job->lj);
  const bool tally = job->tally != NULL, charged = job->coulomb.r_cut_sq > 0;
  const bool two = job->types && job->types->n == 2 && form == LJ_PLAIN && !tally && !charged;
  const tile_types types = !job->types ? TYPES_ALIKE : two ? TYPES_TWO : TYPES_MANY;
  return (tile_mode){form,  tally, charged, fused, EAM_NONE, types, fused && job->mail,
                     false, false, false,   false};
}

static tile_kernel *kernel_of(tile_mode mode)
{
  if (mode.types == TYPES_ALIKE) return kernels[mode.form][mode.charged][mode.tally];
  if (mode.types == TYPES_TWO) return two_plain;
  return typed_kernels[mode.form][mode.charged][mode.tally];
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

/* How tiles take a step.  To wait for those near costs more than it saves where all are at work
 * beside each other, where a few rounds stay as few although threads have the most registers, and
 * where a step has so many tiles that its end is short beside it.  In single precision these are
 * best with more registers, too (docs/decisions/50-rows-wait-for-nothing.md). */
static md_status fused_way_of(const force_job *job, tile_mode mode, fused_way *out)
{
  const unsigned tiles = md_blocks(job->n, ROWS);
  const unsigned blocks = mode.mail                   ? MAILED_BLOCKS
                          : mode.types == TYPES_ALIKE ? FUSED_BLOCKS
                                                      : TYPED_BLOCKS;
  const bool carried = mode.mail && job->mail->carry;
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const unsigned most = rounds_of(tiles, blocks, processors);
  const unsigned least = rounds_of(tiles, FEW_BLOCKS, processors);
  const bool few = least <= FEW_ROUNDS && least == most;
  const bool vast = MD_PREC == 0 && tiles > FORCE_WAITING_TILES && !mode.mail;
  *out = few || vast ? FUSED_FEW : FUSED_MANY;
  if (most > FEW_ROUNDS && tiles <= FORCE_WAITING_TILES && job->steps > 1 && !job->list->atom &&
      !carried)
    *out = FUSED_WAITING;
  return MD_OK;
}

static tile_kernel *pick_fused(tile_mode mode, fused_way way)
{
  if (mode.mail) return mailed_kernels[mode.form][way == FUSED_FEW];
  if (mode.types == TYPES_ALIKE) return fused_kernels[mode.form][way];
  return mode.types == TYPES_TWO ? two_fused : typed_fused_kernels[mode.form];
}

/* What step s of such a job exchanges. */
static void post_step(tile_job *job, int32_t s)
{
  tile_post *post = &job->post;
  const md_mail *mail = &post->mail;
  post->round = mail->round + (md_round)s;
  post->free = round_before(post->round, MD_SLOTS - 1);
  post->read = round_before(post->round, MD_READ_LATER);
  post->reads = s > 0;
  post->sends = s + 1 < mail->steps;
  post->slot = (int32_t)(post->round % MD_SLOTS);
  post->ghosts = job->places.coord;
  if (s > 0)
    post->ghosts = (const coord4 *)mail->slot[(post->round - 1) % MD_SLOTS] - job->n - mail->n_own;
}

md_status PREC(force_gpu_tile_advance)(force *fc, const force_job *job)
{
  const tile_mode mode = mode_of(job, true);
  tile_job tiles = open_tiles(fc, job, mode);
  fused_way way;
  size_t shared;
  MD_TRY(fused_way_of(job, mode, &way));
  tile_kernel *const kernel = pick_fused(mode, way);
  MD_TRY(prepare(fc, &tiles, kernel, mode, &shared));
  MD_TRY(survey(fc, job, &tiles, way == FUSED_WAITING));
  const md_mail *carried = mode.mail && job->mail->carry ? job->mail : NULL;
  for (int32_t s = 0; s < job->steps; s++) {
    if (s > 0) MD_TRY(next_waits(fc, job, s, &tiles.waits));
    if (mode.mail) post_step(&tiles, s);
    if (carried) MD_TRY(carried->carry(carried->carrier, tiles.post.round, tiles.post.sends));
    const bool early = s > 0 ? !carried : !(tiles.tiles.unfit || mode.mail);
    MD_TRY(launch(fc, &tiles, kernel, shared, early));
    tiles.places = next_places(&tiles.places);
  }
  return MD_OK;
}
