/* force/tile_step_gpu.h - forces by tiles, a thread's row from its list to its new position, see
 * force_tile_gpu.prec.cu. */
#ifndef TILE_STEP_GPU_H
#define TILE_STEP_GPU_H

#include "force/tile_mail_gpu.h"
#include "force/tile_pairs_gpu.h"
#include "force/totals_gpu.h"

/* Whether a row has its position, or its velocity, in registers before forces are summed: where
 * there are registers. */
static __device__ __forceinline__ bool has_early_x(tile_mode mode)
{
  return mode.fused && MD_PREC != 1 && !mode.charged && mode.types == TYPES_ALIKE;
}

static __device__ __forceinline__ bool has_early_v(tile_mode mode)
{
  return has_early_x(mode) && MD_PREC == 0 && (!mode.waits || mode.mail);
}

/* The images of an atom: from begin to before end. */
typedef struct {
  int32_t begin, end;
} tile_images;

/* An atom's images after it moved to x. */
static __device__ __forceinline__ void move_ghosts(const tile_job *job, const tile_places *at,
                                                   tile_images images, state4 x, tile_mode mode)
{
  for (int32_t g = images.begin; g < images.end; g++) {
    const state4 image = shifted_by(x, job->shift[g], job->edge);
    at->x_new[job->n + g] = image;
    if (MD_PREC == 2 && mode.pass == EAM_FORCES && job->squeezed.of)
      job->squeezed.of[job->n + g] = squeeze(&job->squeezed, image.x, image.y, image.z);
    if (MD_PREC == 1) at->coord_new[job->n + g] = verlet_coord(image, 1 / job->scale);
  }
}

/* What a thread knows of its row before positions are there. */
typedef struct {
  uint32_t i; /* its atom */
  int32_t tile;
  bool exchanges; /* the tile does */
  uint32_t near;  /* of this thread's word, tiles that it waits for */
  tile_images images;
  int32_t pairs; /* as in tile_row */
  neighbor_piece halo, groups;
  tile_first first;
  tile_next next;
} tile_start;

/* The row's force into f, or into its velocity and position. */
static __device__ __forceinline__ void close_row(const tile_job *job, const tile_places *at,
                                                 const tile_start *start, const tile_row *row,
                                                 tile_mode mode)
{
  const uint32_t i = start->i;
  real4 f = {};
  f.x = row->fx * job->unit, f.y = row->fy * job->unit, f.z = row->fz * job->unit;
  if (!mode.fused) {
    job->f[i] = f;
    return;
  }
  state4 v = has_early_v(mode) ? row->v : job->v[i], x = has_early_x(mode) ? row->x : at->x[i];
  verlet_kick(&v, f, job->kick, 2);
  job->v[i] = v;
  verlet_drift(&x, v, job->drift);
  at->x_new[i] = x;
  if (MD_PREC == 2 && mode.pass == EAM_FORCES && job->squeezed.of)
    job->squeezed.of[i] = squeeze(&job->squeezed, x.x, x.y, x.z);
  if (MD_PREC == 1) at->coord_new[i] = verlet_coord(x, 1 / job->scale);
  if (!mode.mail)
    move_ghosts(job, at, start->images, x, mode);
  else if (job->post.sends)
    send_images(job, at, start->images.begin, start->images.end, x);
}

/* What moves the row, or brought near for that, while the halo is on its way. */
static __device__ __forceinline__ void expect_close(const tile_job *job, const tile_places *at,
                                                    const tile_start *start, tile_row *row,
                                                    tile_mode mode)
{
  if (has_early_v(mode))
    row->v = job->v[start->i];
  else
    asm volatile("prefetch.global.L1 [%0];" : : "l"(job->v + start->i));
  if (!has_early_x(mode) && (MD_PREC == 1 || mode.pass == EAM_FORCES))
    asm volatile("prefetch.global.L1 [%0];" : : "l"(at->x + start->i));
}

/* Images' shifts brought near. */
static __device__ __forceinline__ void expect_images(const tile_job *job, tile_images images,
                                                     tile_mode mode)
{
  if (images.begin >= images.end) return;
  const void *at = job->shift + images.begin;
  if (mode.mail) {
    at = job->post.mail.image + images.begin;
    asm volatile("prefetch.global.L1 [%0];" : : "l"(job->post.mail.ways));
  }
  asm volatile("prefetch.global.L1 [%0];" : : "l"(at));
}

/* The first piece of a tile's halo or a warp's list, in one load; a list has fewer than 2^31
 * pieces. */
static __device__ __forceinline__ neighbor_piece piece_of(const neighbor_piece *pieces, uint32_t k,
                                                          int32_t passes)
{
  const int4 words = ((const int4 *)pieces)[k * (uint32_t)passes];
  neighbor_piece piece;
  static_assert(sizeof piece == sizeof words, "a piece is one load");
  memcpy(&piece, &words, sizeof piece);
  return piece;
}

/* Of a list that was not settled: there is none. */
static __device__ __forceinline__ bool is_unfit(const neighbor_tiles *tiles)
{
  return tiles->unfit && *tiles->unfit;
}

/* Where a thread's tile, halo and list are; false where there is no list.  Neither waits for the
 * other, but that turns of no list may be anything. */
static __device__ __forceinline__ bool find_row(const tile_job *job, tile_start *s, tile_mode mode)
{
  const neighbor_tiles *tiles = &job->tiles;
  const uint32_t at = mode.waits ? turn_of_block(&job->waits) : blockIdx.x;
  uint32_t tile = at;
  if (mode.mail) {
    const tile_turn turn = job->post.tiles->turn[at];
    if (is_unfit(tiles)) return false;
    s->exchanges = turn.tile >= 0 || at == 0;
    s->halo.start = turn.start, s->halo.count = turn.count;
    tile = (uint32_t)(turn.tile < 0 ? ~turn.tile : turn.tile);
  } else {
    s->halo = piece_of(tiles->halos, tile, tiles->passes);
  }
  s->tile = (int32_t)tile;
  if (mode.waits) s->near = tiles_near(&job->waits, tile);
  s->groups = piece_of(tiles->groups, tile * WARPS + threadIdx.x / MD_WARP, tiles->passes);
  /* Counts are looked at, so that compilers ask for pieces before they wait for the flag. */
  return mode.mail || !((s->halo.count < 0) | (s->groups.count < 0) | (int)is_unfit(tiles));
}

/* All that can be asked for before the kernel before has ended. */
static __device__ __forceinline__ void start_row(const tile_job *job, tile_start *s, tile_mode mode)
{
  const int32_t *first = mode.mail ? job->post.mail.first : job->first;
  const uint32_t row = min((uint32_t)s->tile * ROWS + threadIdx.x, (uint32_t)job->n - 1);
  s->i = job->rows ? (uint32_t)job->rows[row] : row;
  if (mode.fused) s->images = (tile_images){first[s->i], (first + s->i)[1]};
  s->first = first_entries(job, s->halo, mode);
  s->next = first_groups(job, s->groups);
  s->pairs = mode.types == TYPES_ALIKE ? 0 : job->types.type[s->i] * job->types.n;
}

/* F' of an atom or image beside where it is, for the second pass. */
static __device__ __forceinline__ void put_placed(const tile_job *job, int32_t j, coord4 at,
                                                  real slope, bool squeezed)
{
  if (squeezed)
    squeeze_beside(&job->squeezed, j, at, slope);
  else
    job->placed[j] = with_charge(at, slope);
}

/* F' of an atom that has been summed, beside where it and its images are; returns F.  Meanwhile
 * images are brought near: they lie side by side. */
static __device__ __forceinline__ double close_density(const tile_job *job, const tile_row *row,
                                                       int32_t i, tile_mode mode)
{
  const eam_tables *eam = &job->eam;
  const coord4 *image = job->places.coord + job->n;
  const bool first = eam->first != NULL;
  const int32_t begin = first ? eam->first[i] : 0, end = first ? eam->first[i + 1] : 0;
  if (begin < end) asm volatile("prefetch.global.L1 [%0];" : : "l"(image + begin));
  real slope;
  coord4 own = {};
  if (mode.squeezed) own = job->places.coord[i];
  const double u = eam_close(eam, row->fx, &slope);
  if (!mode.squeezed) own.x = row->at.x, own.y = row->at.y, own.z = row->at.z;
  eam->close[i] = row->close;
  put_placed(job, i, own, slope, mode.squeezed);
  if (!first) eam->slopes[i] = slope;
  for (int32_t g = begin; g < end; g++)
    put_placed(job, (int32_t)job->n + g, image[g], slope, mode.squeezed);
  return u;
}

static __device__ __forceinline__ tile_entry squeezed_row(const tile_job *job, int32_t i,
                                                          tile_mode mode)
{
  const tile_beside *beside = &job->squeezed.beside;
  return mode.pass == EAM_DENSITIES ? unsqueezed(job->squeezed.of[i])
                                    : unsqueezed_beside(beside->near[i], beside->rest[i]);
}

/* Forces on the thread's row, of all passes. */
static __device__ __forceinline__ void sum_row(const tile_job *job, const tile_places *at,
                                               const tile_start *start, tile_row *row,
                                               tile_mode mode)
{
  extern __shared__ __align__(16) unsigned char room[];
  const neighbor_tiles *tiles = &job->tiles;
  const int64_t tile = start->tile, warp = tile * WARPS + threadIdx.x / MD_WARP;
  neighbor_piece piece = start->groups;
  tile_next next = start->next;
  coord4 own = {};
  if (!mode.squeezed) own = mode.pass == EAM_FORCES ? job->placed[start->i] : at->coord[start->i];
  row->at = entry_at(own, mode.pass == EAM_FORCES ? charge_in(own)
                          : mode.charged          ? (real)at->x[start->i].w
                                                  : 0);
  if (mode.squeezed) row->at = squeezed_row(job, start->i, mode);
  if (mode.fused) {
#if MD_PREC != 1
    row->x = own;
#endif
    expect_close(job, at, start, row, mode);
  }
  row->pairs = start->pairs;
  if (rounds_z(job, mode)) row->at.z = with_type_bit(row->at.z, row->pairs != 0);
  if (mode.pass == EAM_FORCES) row->close = job->eam.close[start->i];
  for (int k = 0; mode.types == TYPES_TWO && k < 2; k++)
    row->own[k] = load_pair(&job->types, row->pairs + k, false);
  const uint32_t table = (uint32_t)__cvta_generic_to_shared(room) + (uint32_t)job->table;
  row->pull = table + (uint32_t)row->pairs * PULL;
  row->cut = table + (uint32_t)(job->types.n * job->types.n) * PULL + (uint32_t)row->pairs * CUT;
  const tile_base base = base_of(room);
  bring_halo(job, at, room, base, start->halo, &start->first, start->exchanges, mode);
  if (mode.pass != EAM_NONE) await_words();
  if (mode.fused) expect_images(job, start->images, mode);
  for (int32_t p = 1;; p++) {
    for (;;) {
      add_groups(job, base, piece, next, row, mode);
      if (piece.next == 0) break;
      piece = tiles->groups[piece.next];
      next = first_groups(job, piece);
    }
    if (p == tiles->passes) break;
    const neighbor_piece halo = tiles->halos[tile * tiles->passes + p];
    if (halo.count == 0) break;
    const tile_first first = first_entries(job, halo, mode);
    piece = tiles->groups[warp * tiles->passes + p];
    next = first_groups(job, piece);
    __syncthreads();
    bring_halo(job, at, room, base, halo, &first, start->exchanges, mode);
  }
}

/* One step, or forces alone. */
static __device__ __forceinline__ void tile_rows(const tile_job *job, tile_mode mode)
{
  tile_row row = {};
  tile_start start = {};
  if (!find_row(job, &start, mode)) return;
  start_row(job, &start, mode);
  const bool present = (int64_t)start.tile * ROWS + threadIdx.x < job->n;
  if (mode.pass != EAM_NONE) row.words = copy_words(&job->eam, job->near, mode.pass, mode.packed);
  if (mode.types == TYPES_MANY) copy_table(job);
  if (mode.waits)
    await_tiles(&job->waits, start.near);
  else
    cudaGridDependencySynchronize();
  /* Not before: the next kernel must not start, and empty caches, while the one before this
   * reads. */
  cudaTriggerProgrammaticLaunchCompletion();
  if (mode.mail) tell_read(job);
  if (mode.mail && start.exchanges) await_mail(job);
  sum_row(job, &job->places, &start, &row, mode);
  if (present && mode.pass == EAM_DENSITIES) {
    row.energy = 2 * close_density(job, &row, start.i, mode);
  } else if (present) {
    close_row(job, &job->places, &start, &row, mode);
  }
  if (mode.mail && start.exchanges) close_mail(job);
  if (mode.waits) tell_done(&job->waits, (uint32_t)start.tile);
  if (has_unit(mode)) row.virial *= (double)job->lj.lj1;
  if (mode.squeezed) row.virial *= (double)job->scale_sq;
  if (mode.tally) close_tally(job->partial, present ? row.energy : 0, present ? row.virial : 0);
}

#endif
