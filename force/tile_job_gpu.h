/* force/tile_job_gpu.h - forces by tiles: what a kernel reads and writes, how its instances differ,
 * and a tile's halo on its way to shared memory. */
#ifndef TILE_JOB_GPU_H
#define TILE_JOB_GPU_H

#include "core/gpu/flags_gpu.h"
#include "force/eam/eam_tile_gpu.h"
#include "force/tile_squeezed_gpu.h"
#include "force/tile_waits_gpu.h"
#include "force/types_gpu.h"

enum {
  ROWS = NEIGHBOR_TILE_ROWS,
  WARPS = ROWS / MD_WARP,
  GROUP = NEIGHBOR_TILE_GROUP,
  BANKS = NEIGHBOR_TILE_BANKS,
  LOADS = 7,       /* 256 of them are about a halo */
  TYPED_LOADS = 8, /* a denser one's, whose last types would come late */
  /* Measured best, for each precision: blocks that a multiprocessor holds, where it is one after
   * the other and where few rounds of them are all; and groups of the list that are asked for
   * early. */
  FUSED_BLOCKS = MD_PREC == 2 ? 3 : 5,
  FEW_BLOCKS = MD_PREC == 2 ? 2 : 4,
  FEW_ROUNDS = 2, /* of all blocks, up to which these are few */
  CHARGED_BLOCKS = MD_PREC == 2 ? 2 : 4,
  MAILED_BLOCKS = MD_PREC == 2 ? 3 : 4,  /* that exchange ghosts */
  DENSITY_BLOCKS = MD_PREC == 2 ? 3 : 5, /* the same of the two passes of embedded atoms */
  EMBEDDED_BLOCKS = MD_PREC == 2 ? 2 : 4,
  PACKED_DENSITY_BLOCKS = MD_PREC == 2 ? 3 : 4, /* by packed words */
  PACKED_EMBEDDED_BLOCKS = MD_PREC == 2 ? 2 : 3,
  TYPED_BLOCKS = MD_PREC == 2 ? 3 : 4, /* of atoms of several types */
  AHEAD = 2,
  TAGGED = sizeof(coord4) == 16 /* items of mail tell by themselves that they have come */
};

/* Where atoms and images are, and where they go. */
typedef struct {
  const coord4 *coord;
  const state4 *x;
  state4 *x_new;
  coord4 *coord_new;
} tile_places;

/* A block's tile, with its first halo: nobody looks for a tile before asking for the halo. */
typedef struct {
  int64_t start;
  int32_t count;
  int32_t tile; /* or ~tile, not at a border of the rank */
} tile_turn;

/* How many tiles are at a border, and how many are not. */
typedef struct {
  uint32_t border, inner;
} tile_sides;

/* Tiles in the order of blocks: those at a border first.  Counts of two rebuilds take turns: who
 * makes one sets the other to zero. */
typedef struct {
  tile_sides sides[2];
  tile_turn turn[];
} tile_order;

/* A step that exchanges ghosts (tile_mail_gpu.h). */
typedef struct {
  md_mail mail;
  tile_order *tiles;
  int32_t which;  /* of its counts */
  md_round round; /* in which it sends */
  md_round free;  /* neighbours told that one: the place is free that it sends to */
  md_round read;  /* it tells neighbours that one: the mail is read that came before it */
  int32_t slot;   /* where to */
  bool reads, sends;
  const coord4 *ghosts; /* entry j of other ranks' atoms: what came, or the places of ghosts */
} tile_post;

/* What a kernel reads and writes. */
typedef struct {
  int64_t n;
  neighbor_tiles tiles;
  const int32_t *rows, *shift, *first;
  tile_places places;
  real4 *f;
  state4 *v;
  state kick, drift;
  double scale, edge[3]; /* length of a step of coord; of a frame */
  real scale_sq;         /* of squares of differences, where they have another unit */
  tile_entry far;        /* from every row, farther than a cutoff */
  lj_reals lj;
  real unit; /* of sums of forces */
  coulomb_reals coulomb;
  double *partial;
  eam_tables eam; /* of a pass */
  eam_near near;
  tile_squeezed squeezed;
  coord4 *placed; /* [n + n_ghost]: where atoms and images are, F' in the place of a charge */
  type_tables types;
  int32_t table; /* bytes before their table in shared memory */
  tile_post post;
  tile_waits waits;
} tile_job;

/* The same after a step. */
static __host__ __device__ __forceinline__ tile_places next_places(const tile_places *at)
{
#if MD_PREC == 1
  return (tile_places){at->coord_new, at->x_new, (state4 *)at->x, (coord4 *)at->coord};
#else
  return (tile_places){(const coord4 *)at->x_new, at->x_new, (state4 *)at->x, NULL};
#endif
}

/* Atoms are alike; of two types, whose constants fit a row's registers; of more, by a table. */
typedef enum { TYPES_ALIKE, TYPES_TWO, TYPES_MANY } tile_types;

/* How an instance of the kernel works: formula, totals, charges, integration; pass of embedded
 * atoms, which are charged with F' in the second; types; whether it exchanges ghosts. */
typedef struct {
  lj_form form;
  bool tally, charged, fused;
  eam_pass pass;
  tile_types types;
  bool mail;
  bool packed;   /* tables of that pass */
  bool squeezed; /* positions of that pass */
  bool waits;    /* may wait for the tiles near, not for all */
  bool inner;    /* of steps that exchange ghosts, a tile that is not at a border */
} tile_mode;

/* Plain forces are sums in units of lj1, which saves one product a pair. */
static __host__ __device__ __forceinline__ bool has_unit(tile_mode mode)
{
  return mode.form == LJ_PLAIN && !mode.charged && mode.types == TYPES_ALIKE;
}

/* Whether a tile may read mail. */
static __host__ __device__ __forceinline__ bool may_read_mail(tile_mode mode)
{
  return mode.mail && !mode.inner;
}

/* Whether a type is the lowest bit of z: in double a word for it would cost as much as a third of a
 * position.  A position is then what another last bit of z makes it, alike for rows and entries, so
 * that a pair's forces still cancel. */
static __host__ __device__ __forceinline__ bool has_type_bit(tile_mode mode)
{
  return MD_PREC == 2 && mode.types == TYPES_TWO;
}

/* Whether such a bit takes part in positions, as it has to in all instances that sum the same
 * forces. */
static __device__ __forceinline__ bool rounds_z(const tile_job *job, tile_mode mode)
{
  return has_type_bit(mode) || (MD_PREC == 2 && mode.types == TYPES_MANY && !mode.charged &&
                                mode.form == LJ_PLAIN && job->types.n == 2);
}

/* Whether entries have a fourth number: a charge, F' or a type. */
static __host__ __device__ __forceinline__ bool has_q(tile_mode mode)
{
  return mode.charged || (mode.types != TYPES_ALIKE && !has_type_bit(mode));
}

/* A row while it is summed: forces are in units of coord's steps, and of lj1, until the end. */
typedef struct {
  tile_entry at;
  real fx, fy, fz;
  double energy, virial;
  uint32_t words;     /* of tables in shared memory */
  bool close;         /* as in eam_tables */
  int32_t pairs;      /* where those of its type begin in tables of types */
  lj_reals own[2];    /* the first two of them */
  uint32_t pull, cut; /* where they are in the table in shared memory */
  state4 x, v;        /* what it moves from, where they are read early */
} tile_row;

/* Constants of pairs behind a halo in shared memory: [n][n] lj1 and lj2, then r_cut^2, then
 * f_shift. A load of two words has no conflicts among up to 4 types, one of a word among 5; one of
 * all four words would be busy as long as both. */
enum { PULL = 2 * sizeof(real), CUT = sizeof(real) };

static size_t table_bytes(const type_tables *types)
{
  return (size_t)types->n * (size_t)types->n * (PULL + 2 * CUT);
}

static __device__ __forceinline__ void copy_table(const tile_job *job)
{
  extern __shared__ __align__(16) unsigned char room[];
  const int32_t pairs = job->types.n * job->types.n;
  real *pull = (real *)(room + job->table), *cut = pull + 2 * pairs, *shift = cut + pairs;
  for (int32_t k = (int32_t)threadIdx.x; k < pairs; k += ROWS) {
    const real4 c = job->types.force[k];
    cut[k] = c.x, pull[2 * k] = c.y, pull[2 * k + 1] = c.z, shift[k] = c.w;
  }
}

/* The first entries of a thread's part of a halo, asked for early; by plain loads, which share an
 * address, as those of __ldcs do not: registers for seven of them would be spilled.  An index is
 * held: compilers make it 64 bits wide before it is known to be wanted. */
typedef struct {
  uint32_t j[TYPED_LOADS];
  int32_t type[TYPED_LOADS];
} tile_first;

static __device__ __forceinline__ int loads_of(tile_mode mode)
{
  return mode.types == TYPES_ALIKE ? LOADS : TYPED_LOADS;
}

static __device__ __forceinline__ tile_first first_entries(const tile_job *job, neighbor_piece halo,
                                                           tile_mode mode)
{
  const int32_t *mine = job->tiles.halo + halo.start + threadIdx.x;
  tile_first first;
#pragma unroll
  for (int u = 0; u < loads_of(mode); u++) {
    const int32_t k = (int32_t)threadIdx.x + u * ROWS;
    first.j[u] = held(k < halo.count ? (uint32_t)mine[u * ROWS] : 0);
  }
#pragma unroll
  for (int u = 0; u < loads_of(mode); u++)
    first.type[u] = mode.types == TYPES_ALIKE ? 0 : job->types.type[first.j[u]];
  return first;
}

/* What coordinates of mixed precision do not have. */
static __device__ __forceinline__ void add_charges(const tile_job *job, const tile_places *at,
                                                   unsigned char *room, neighbor_piece halo)
{
  for (int32_t k = (int32_t)threadIdx.x; k < halo.count; k += ROWS)
    set_charge(room, k, (real)at->x[job->tiles.halo[halo.start + k]].w);
}

/* The type of entry k of a halo that has been copied. */
static __device__ __forceinline__ void add_type(unsigned char *room, int32_t most, int32_t k,
                                                int32_t type, tile_mode mode)
{
  if (has_type_bit(mode))
    set_type_bit(room, most, k, type);
  else
    set_type(room, most, k, mode.charged, type);
}

/* The first far entry behind so many others. */
static __device__ __forceinline__ int32_t far_of(int32_t count)
{
  return (count + BANKS - 1) & ~(BANKS - 1);
}

/* Types, and those of the far entries. */
static __device__ __forceinline__ void add_types(const tile_job *job, unsigned char *room,
                                                 neighbor_piece halo, const tile_first *first,
                                                 tile_mode mode)
{
  const int32_t t = (int32_t)threadIdx.x, m = halo.count, most = job->tiles.most;
#pragma unroll
  for (int u = 0; u < TYPED_LOADS; u++)
    if (t + u * ROWS < m) add_type(room, most, t + u * ROWS, first->type[u], mode);
#pragma unroll 1
  for (int32_t k = t + TYPED_LOADS * ROWS; k < m; k += ROWS)
    add_type(room, most, k, job->types.type[job->tiles.halo[halo.start + k]], mode);
  if (t < BANKS) add_type(room, most, far_of(m) + t, 0, mode);
}

/* A ghost of another rank's atom. */
static __device__ __forceinline__ bool by_mail(const tile_job *job, uint32_t j)
{
  return j >= (uint32_t)(job->n + job->post.mail.n_own);
}

/* Coordinates of an atom or ghost. */
static __device__ __forceinline__ const coord4 *coord_of(const tile_job *job, const tile_places *at,
                                                         uint32_t j, tile_mode mode)
{
  const coord4 *from = may_read_mail(mode) && by_mail(job, j) ? job->post.ghosts : at->coord;
  return from + j;
}

/* Bytes of an entry behind all entries' first ones. */
static __host__ __device__ __forceinline__ uint32_t rest_bytes(tile_mode mode)
{
  if (mode.squeezed) return mode.pass == EAM_DENSITIES ? 0 : ENTRY / 2;
  return (uint32_t)entry_bytes(has_q(mode)) - ENTRY;
}

/* An atom or ghost to such addresses. */
static __device__ __forceinline__ void copy_atom(const tile_job *job, const tile_places *at,
                                                 uint32_t to, uint32_t rest, uint32_t j,
                                                 tile_mode mode)
{
  if (!mode.squeezed) {
    const coord4 *from = mode.pass == EAM_FORCES ? job->placed + j : coord_of(job, at, j, mode);
    copy_entry(to, rest, from, has_q(mode));
    return;
  }
  const tile_beside *beside = &job->squeezed.beside;
  const bool first = mode.pass == EAM_DENSITIES;
  copy_piece(to, (first ? job->squeezed.of : beside->near) + j);
  if (!first) copy_half_piece(rest, beside->rest + j);
}

/* Tiles that exchange; where there are none one does, for the neighbours' sake. */
static __device__ __forceinline__ uint32_t takers(const tile_job *job)
{
  return max(job->post.tiles->sides[job->post.which].border, 1u);
}

/* Entry k, which may have been copied before it came. */
static __device__ __forceinline__ void await_entry(const tile_job *job, unsigned char *room,
                                                   neighbor_piece halo, int32_t k)
{
  const md_mail *mail = &job->post.mail;
  const md_round round = job->post.round - 1;
  uint4 *entry = (uint4 *)room + k;
  if (entry->w == tag_of(round)) return;
  const coord4 *from = job->post.ghosts + job->tiles.halo[halo.start + k];
  *entry = wait_item(from, round, mail->n_ways, mail->ways, mail->late);
}

/* All neighbours have read what lies where the tile will send to. */
static __device__ __forceinline__ void await_readers(const tile_job *job)
{
  const md_mail *mail = &job->post.mail;
  wait_readers(mail->n_ways, mail->ways, job->post.free, mail->late);
}

/* The entries of this thread that come by mail: among the first a bit of `mailed` each. */
static __device__ __forceinline__ void await_entries(const tile_job *job, unsigned char *room,
                                                     neighbor_piece halo, uint32_t mailed,
                                                     tile_mode mode)
{
  const int32_t t = (int32_t)threadIdx.x;
#pragma unroll 1
  for (; mailed; mailed &= mailed - 1)
    await_entry(job, room, halo, t + (__ffs((int)mailed) - 1) * ROWS);
#pragma unroll 1
  for (int32_t k = t + loads_of(mode) * ROWS; k < halo.count; k += ROWS)
    if (by_mail(job, (uint32_t)job->tiles.halo[halo.start + k])) await_entry(job, room, halo, k);
}

/* The largest numbers, which no atom of the frame is near. */
static __device__ __forceinline__ void store_far(unsigned char *room, int32_t most, int32_t far,
                                                 tile_mode mode)
{
  ((uint4 *)room)[far] = make_uint4(~0u, ~0u, ~0u, ~0u);
  if (mode.pass == EAM_FORCES)
    ((uint64_t *)(room + (size_t)most * ENTRY))[far] = 0xffff; /* F' is next to 0 */
}

/* One pass's halo to shared memory, and behind it the far entries.  exchanges: the tile does. */
static __device__ __forceinline__ void load_halo(const tile_job *job, const tile_places *at,
                                                 unsigned char *room, tile_base base,
                                                 neighbor_piece halo, const tile_first *first,
                                                 bool exchanges, tile_mode mode)
{
  const bool awaits = may_read_mail(mode) && TAGGED && exchanges && job->post.reads;
  const int32_t t = (int32_t)threadIdx.x, m = halo.count, most = job->tiles.most;
  const uint32_t part = rest_bytes(mode);
  uint32_t mailed = 0, to = held(base + (uint32_t)t * ENTRY), rest = 0;
  if (part > 0) rest = held(base + (uint32_t)most * ENTRY + (uint32_t)t * part);
#pragma unroll
  for (int u = 0; u < loads_of(mode); u++, to += ROWS * ENTRY, rest += ROWS * part) {
    if (t + u * ROWS < m) copy_atom(job, at, to, rest, first->j[u], mode);
    if (t + u * ROWS < m && may_read_mail(mode) && by_mail(job, first->j[u])) mailed |= 1u << u;
  }
#pragma unroll 4
  for (int32_t k = t + loads_of(mode) * ROWS; k < m;
       k += ROWS, to += ROWS * ENTRY, rest += ROWS * part)
    copy_atom(job, at, to, rest, (uint32_t)__ldcs(job->tiles.halo + halo.start + k), mode);
  const int32_t far = far_of(m) + t;
  if (t < BANKS && mode.squeezed)
    store_far(room, most, far, mode);
  else if (t < BANKS)
    store_entry(room, most, far, job->far, has_q(mode));
  if (awaits) await_readers(job);
  wait_entries();
  if (awaits) await_entries(job, room, halo, mailed, mode);
  if (mode.charged && MD_PREC == 1 && mode.pass == EAM_NONE) add_charges(job, at, room, halo);
  if (mode.types != TYPES_ALIKE) add_types(job, room, halo, first, mode);
  __syncthreads();
}

/* The same for a tile of either kind.  Where blocks are many an inner tile has code of its own, but
 * in mixed precision (docs/decisions/57-borders-first.md). */
static __device__ __forceinline__ void bring_halo(const tile_job *job, const tile_places *at,
                                                  unsigned char *room, tile_base base,
                                                  neighbor_piece halo, const tile_first *first,
                                                  bool exchanges, tile_mode mode)
{
  tile_mode inner = mode;
  inner.inner = true;
  if (mode.mail && mode.waits && MD_PREC != 1 && !exchanges)
    load_halo(job, at, room, base, halo, first, false, inner);
  else
    load_halo(job, at, room, base, halo, first, exchanges, mode);
}

#endif
