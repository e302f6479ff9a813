/* force/tile_pairs_gpu.h - the device code of forces by tiles, see force_tile_gpu.prec.cu. */
#ifndef TILE_PAIRS_GPU_H
#define TILE_PAIRS_GPU_H

#include "force/tile_embedded_gpu.h"
#include "force/tile_mail_gpu.h"
#include "force/totals_gpu.h"

/* Whether a row has its position, or its velocity, in registers before forces are summed: where
 * there are registers. */
static __device__ __forceinline__ bool has_early_x(tile_mode mode)
{
  return mode.fused && MD_PREC != 1 && !mode.charged && mode.types == TYPES_ALIKE;
}

static __device__ __forceinline__ bool has_early_v(tile_mode mode)
{
  return has_early_x(mode) && MD_PREC == 0;
}

/* The reciprocal to an ulp or two: the list's tests are no better. */
static __device__ __forceinline__ real quick_inverse(real a)
{
#if MD_PREC == 2
  return inverse(a);
#else
  real y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
#endif
}

/* Keeps compilers from computing f behind the test of the cutoff, where so much makes a branch. */
static __device__ __forceinline__ void compute_now(real *f)
{
#if MD_PREC == 2
  asm volatile("" : "+d"(*f));
#else
  asm volatile("" : "+f"(*f));
#endif
}

/* Constants of the row's pairs with atoms of this type. */
static __device__ __forceinline__ lj_reals constants_with(const tile_job *job, const tile_row *row,
                                                          int32_t type, tile_mode mode)
{
  const lj_reals *zero = &row->own[0], *one = &row->own[1];
  lj_reals c = {};
  if (mode.types == TYPES_MANY) {
    const uint32_t cut = row->cut + (uint32_t)type * CUT;
    if (mode.tally) c = load_pair(&job->types, row->pairs + type, true);
    c.r_cut_sq = load_real(cut);
    load_two(row->pull + (uint32_t)type * PULL, &c.lj1, &c.lj2);
    if (mode.form == LJ_SHIFTED)
      c.f_shift = load_real(cut + (uint32_t)(job->types.n * job->types.n) * CUT);
    return c;
  }
  c.r_cut_sq = type ? one->r_cut_sq : zero->r_cut_sq;
  c.lj1 = type ? one->lj1 : zero->lj1, c.lj2 = type ? one->lj2 : zero->lj2;
  return c;
}

static __device__ __forceinline__ void add_pair(const tile_job *job, tile_row *row,
                                                tile_entry other, int32_t type, tile_mode mode)
{
  const real dx = coord_difference(row->at.x, other.x), dy = coord_difference(row->at.y, other.y),
             dz = coord_difference(row->at.z, other.z);
  real r_sq = dx * dx + dy * dy + dz * dz;
  if (MD_PREC == 1) r_sq *= job->scale_sq;
  if (mode.pass != EAM_NONE) {
    add_embedded(job, row, dx, dy, dz, r_sq, other.q, mode);
    return;
  }
  lj_reals own;
  const lj_reals *lj = &job->lj;
  if (mode.types != TYPES_ALIKE) own = constants_with(job, row, type, mode), lj = &own;
  const real inv_sq = quick_inverse(r_sq);
  const bool inside = r_sq < lj->r_cut_sq;
  real f = has_unit(mode) ? lj_unit_f_over_r_inv(inv_sq, lj)
                          : lj_f_over_r_inv(r_sq, inv_sq, lj, mode.form);
  if (mode.types != TYPES_ALIKE) compute_now(&f);
  if (inside) {
    row->fx += dx * f, row->fy += dy * f, row->fz += dz * f;
    if (mode.tally) {
      row->energy += (double)lj_energy_inv(r_sq, inv_sq, lj, mode.form);
      row->virial += (double)r_sq * (double)f;
    }
  }
  if (mode.charged && r_sq < job->coulomb.r_cut_sq) {
    real u;
    const real qq = row->at.q * other.q;
    const real g = qq * coulomb_f_over_r_inv(r_sq, inv_sq, &job->coulomb, &u);
    row->fx += dx * g, row->fy += dy * g, row->fz += dz * g;
    if (mode.tally) row->energy += (double)(qq * u), row->virial += (double)r_sq * (double)g;
  }
}

/* Loaded when it is asked for, not when it is needed. */
static __device__ __forceinline__ uint4 load_group(const uint4 *at)
{
  uint4 c;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
               : "l"(at)
               : "memory");
  return c;
}

/* The same into *c where it is wanted. */
static __device__ __forceinline__ void load_more(const uint4 *at, bool wanted, uint4 *c)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
               "@p ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(c->x), "+r"(c->y), "+r"(c->z), "+r"(c->w)
               : "l"(at), "r"((uint32_t)wanted)
               : "memory");
}

/* The entries at both halves of `offsets`, and their types. */
static __device__ __forceinline__ void load_two_atoms(const tile_job *job, tile_base room,
                                                      uint32_t offsets, tile_entry two[2],
                                                      int32_t type[2], tile_mode mode)
{
  load_entries(room, job->tiles.most, offsets, has_q(mode), two);
  type[0] = type[1] = 0;
  if (has_type_bit(mode))
    type[0] = type_in((real)two[0].z) & 1, type[1] = type_in((real)two[1].z) & 1;
  else if (mode.types != TYPES_ALIKE)
    load_types(room, job->tiles.most, offsets, mode.charged, two, type);
  for (int k = 0; k < 2 && mode.types == TYPES_MANY && rounds_z(job, mode); k++)
    two[k].z = with_type_bit(two[k].z, type[k]);
}

static __device__ __forceinline__ void add_group(const tile_job *job, tile_base room, uint4 group,
                                                 tile_row *row, tile_mode mode)
{
  if (mode.pass == EAM_DENSITIES) {
    add_densities(job, room, group, row, mode);
    return;
  }
  const uint32_t word[GROUP / 2] = {group.x, group.y, group.z, group.w};
#pragma unroll
  for (int u = 0; u < GROUP / 2; u++) {
    tile_entry two[2];
    int32_t type[2];
    load_two_atoms(job, room, word[u], two, type, mode);
    add_pair(job, row, two[0], type[0], mode);
    add_pair(job, row, two[1], type[1], mode);
  }
  if (mode.pass == EAM_FORCES && row->close) add_close(job, room, group, row, mode);
}

/* The next groups of a thread's row. */
typedef struct {
  uint4 group[AHEAD];
} tile_next;

static __device__ __forceinline__ const uint4 *list_of(const tile_job *job, neighbor_piece piece)
{
  return (const uint4 *)job->tiles.list + piece.start * MD_WARP + threadIdx.x % MD_WARP;
}

static __device__ __forceinline__ tile_next first_groups(const tile_job *job, neighbor_piece piece)
{
  tile_next next;
#pragma unroll
  for (int a = 0; a < AHEAD; a++)
    next.group[a] = load_group(list_of(job, piece) + min(a, max(piece.count - 1, 0)) * MD_WARP);
  return next;
}

/* A piece of the warp's list, AHEAD groups of it on their way from memory as long as there are. */
static __device__ __forceinline__ void add_groups(const tile_job *job, const unsigned char *room,
                                                  neighbor_piece piece, tile_next next,
                                                  tile_row *row, tile_mode mode)
{
  const tile_base base = base_of(room);
  const uint4 *list = list_of(job, piece) + (AHEAD - 1) * MD_WARP;
  for (int32_t left = piece.count; left > 0; left -= AHEAD)
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
      const uint4 now = next.group[a];
      list += MD_WARP;
      load_more(list, left > a + AHEAD, &next.group[a]);
      if (a == 0 || left > a) add_group(job, base, now, row, mode);
    }
}

/* The images of an atom: from begin to before end. */
typedef struct {
  int32_t begin, end;
} tile_images;

/* An atom's images after it moved to x. */
static __device__ __forceinline__ void move_ghosts(const tile_job *job, const tile_places *at,
                                                   tile_images images, state4 x)
{
  for (int32_t g = images.begin; g < images.end; g++) {
    const state4 image = shifted_by(x, job->shift[g], job->edge);
    at->x_new[job->n + g] = image;
    if (MD_PREC == 1) at->coord_new[job->n + g] = verlet_coord(image, 1 / job->scale);
  }
}

/* What a thread knows of its row before positions are there. */
typedef struct {
  int32_t i, tile; /* its atom */
  bool exchanges;  /* the tile does */
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
  const int32_t i = start->i;
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
  if (MD_PREC == 1) at->coord_new[i] = verlet_coord(x, 1 / job->scale);
  if (!mode.mail)
    move_ghosts(job, at, start->images, x);
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

static __device__ __forceinline__ tile_start start_row(const tile_job *job, tile_mode mode)
{
  const neighbor_tiles *tiles = &job->tiles;
  const int32_t *first = mode.mail ? job->post.mail.first : job->first;
  tile_start s = {};
  int64_t tile = blockIdx.x;
  if (mode.mail) {
    const tile_turn turn = job->post.tiles->turn[tile];
    s.exchanges = turn.tile >= 0 || tile == 0;
    s.halo.start = turn.start, s.halo.count = turn.count;
    tile = turn.tile < 0 ? ~turn.tile : turn.tile;
  } else {
    s.halo = tiles->halos[tile * tiles->passes];
  }
  const int32_t row = (int32_t)min(tile * ROWS + threadIdx.x, job->n - 1);
  s.tile = (int32_t)tile;
  s.groups = tiles->groups[(tile * WARPS + threadIdx.x / MD_WARP) * tiles->passes];
  s.i = job->rows ? job->rows[row] : row;
  if (mode.fused) s.images = (tile_images){first[s.i], first[s.i + 1]};
  s.first = first_entries(job, s.halo, mode);
  s.next = first_groups(job, s.groups);
  s.pairs = mode.types == TYPES_ALIKE ? 0 : job->types.type[s.i] * job->types.n;
  return s;
}

/* F' of an atom that has been summed, beside where it and its images are; returns F.  Meanwhile
 * images are brought near: they lie side by side. */
static __device__ __forceinline__ double close_density(const tile_job *job, const tile_row *row,
                                                       int32_t i)
{
  const eam_tables *eam = &job->eam;
  const coord4 *image = job->places.coord + job->n;
  const bool first = eam->first != NULL;
  const int32_t begin = first ? eam->first[i] : 0, end = first ? eam->first[i + 1] : 0;
  if (begin < end) asm volatile("prefetch.global.L1 [%0];" : : "l"(image + begin));
  real slope;
  coord4 own = {};
  const double u = eam_close(eam, row->fx, &slope);
  own.x = row->at.x, own.y = row->at.y, own.z = row->at.z;
  eam->close[i] = row->close;
  job->placed[i] = with_charge(own, slope);
  if (!first) eam->slopes[i] = slope;
  for (int32_t g = begin; g < end; g++)
    job->placed[job->n + g] = with_charge(image[g], slope);
  return u;
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
  const coord4 own = mode.pass == EAM_FORCES ? job->placed[start->i] : at->coord[start->i];
  row->at = entry_at(own, mode.pass == EAM_FORCES ? charge_in(own)
                          : mode.charged          ? (real)at->x[start->i].w
                                                  : 0);
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
  load_halo(job, at, room, start->halo, &start->first, start->exchanges, mode);
  if (mode.pass != EAM_NONE) await_words();
  if (mode.fused) expect_images(job, start->images, mode);
  for (int32_t p = 1;; p++) {
    for (;;) {
      add_groups(job, room, piece, next, row, mode);
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
    load_halo(job, at, room, halo, &first, start->exchanges, mode);
  }
}

/* Of a list that was not settled: there is none. */
static __device__ __forceinline__ bool is_unfit(const neighbor_tiles *tiles)
{
  return tiles->unfit && *tiles->unfit;
}

/* One step, or forces alone. */
static __device__ __forceinline__ void tile_rows(const tile_job *job, tile_mode mode)
{
  tile_row row = {};
  if (is_unfit(&job->tiles)) return;
  const tile_start start = start_row(job, mode);
  const bool present = (int64_t)start.tile * ROWS + threadIdx.x < job->n;
  if (mode.pass != EAM_NONE) row.words = copy_words(&job->eam, job->near, mode.pass, mode.packed);
  if (mode.types == TYPES_MANY) copy_table(job);
  cudaGridDependencySynchronize();
  /* Not before: the next kernel must not start, and empty caches, while the one before this
   * reads. */
  cudaTriggerProgrammaticLaunchCompletion();
  if (mode.mail && start.exchanges) await_mail(job);
  sum_row(job, &job->places, &start, &row, mode);
  if (present && mode.pass == EAM_DENSITIES) {
    row.energy = 2 * close_density(job, &row, start.i);
  } else if (present) {
    close_row(job, &job->places, &start, &row, mode);
  }
  if (mode.mail && start.exchanges) close_mail(job);
  if (has_unit(mode)) row.virial *= (double)job->lj.lj1;
  if (mode.tally) close_tally(job->partial, present ? row.energy : 0, present ? row.virial : 0);
}

#endif
