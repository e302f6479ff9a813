/* force/force_gpu.h - what the kernels for full and for half lists share: one thread a row of a
 * list in slices of 32 (neighbor/neighbor.h), loads, the pair, and totals.
 *
 * Rows are read in batches, some indices and then their positions, so that many gathers are in
 * flight; each warp reads indices 128 bytes at a time and past the L1 cache, which is left to the
 * positions.  Kernels are instances of one inlined function for each constant force_mode; all fit
 * 64 registers, so that a block may have 1024 threads. */
#ifndef FORCE_GPU_H
#define FORCE_GPU_H

#include "force/totals_gpu.h"
#include "force/types_gpu.h"

enum { FORCE_BLOCK = 256, FORCE_REGISTERS = 64 };

typedef struct {
  coord x, y, z;
} coord3;

/* Coordinates as kernels load them.  A warp's gather takes the L1 a cycle for about every line of
 * 128 bytes that it touches, so doubles, which do not fit one load, are repacked first: x and y by
 * pairs and z alone touch fewer lines than two loads from structures of four would. */
#if MD_PREC == 2
typedef struct {
  const double2 *xy;
  const double *z;
  const double2 *zq; /* in its place where there are charges */
} coords;
#else
typedef const coord4 *coords;
#endif

/* What a kernel reads and writes. */
typedef struct {
  int64_t n;
  coords coord;
  const int64_t *start;
  const int32_t *nbr, *count, *home;
  real4 *f;
  bool newton;
  real scale, scale_sq; /* length of one step of coord, and its square */
  lj_reals lj;
  coulomb_reals coulomb;
  const real *charge;        /* [n + n_ghost], or NULL: of mixed precision; F' */
  double *partial;           /* [blocks][2] energy, virial */
  exact_sum *exact;          /* [2] in their place, or NULL */
  unsigned long long *fixed; /* [n][4] forces in steps of 1 / fixed_scale, or NULL */
  double fixed_scale;        /* at first */
  double *largest;           /* part of a pair force beyond what that can hold; 0: none */
  bool again;                /* only if there is one: with a scale for it */
  type_tables types;
} force_rows;

/* One row while it is summed.  Forces are in units of coord's steps until the end. */
typedef struct {
  int32_t i, count, pairs; /* pairs: where those of its type begin in tables of types */
  const int32_t *nbr;
  coord3 x;
  real q, fx, fy, fz;
  double energy, virial;
} force_row;

/* How an instance of a kernel works: formula, totals, charges, several types. */
typedef struct {
  lj_form form;
  bool tally, charged, typed;
} force_mode;

typedef struct {
  real dx, dy, dz, r_sq, f_over_r;
  bool inside;
} force_pair_at;

static __device__ __forceinline__ coord3 load_coord(coords from, int64_t i)
{
#if MD_PREC == 2
  const double2 xy = __ldg(from.xy + i);
  return (coord3){xy.x, xy.y, __ldg(from.z + i)};
#else
  const coord4 c = __ldg(from + i);
  return (coord3){c.x, c.y, c.z};
#endif
}

/* The same with the charge, which lies beside the position but for mixed precision. */
static __device__ __forceinline__ coord3 load_charged(const force_rows *rows, int64_t i, real *q)
{
#if MD_PREC == 2
  const double2 xy = __ldg(rows->coord.xy + i), zq = __ldg(rows->coord.zq + i);
  *q = zq.y;
  return (coord3){xy.x, xy.y, zq.x};
#else
  const coord4 c = __ldg(rows->coord + i);
  *q = MD_PREC == 0 ? (real)c.w : __ldg(rows->charge + i);
  return (coord3){c.x, c.y, c.z};
#endif
}

static __device__ __forceinline__ coord3 load_atom(const force_rows *rows, int64_t i, real *q,
                                                   force_mode mode)
{
  *q = 0;
  return mode.charged ? load_charged(rows, i, q) : load_coord(rows->coord, i);
}

static __device__ __forceinline__ int32_t load_index(const int32_t *at)
{
  int32_t j;
  asm("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(j) : "l"(at));
  return j;
}

static __device__ __forceinline__ force_row open_row(const force_rows *rows, int64_t i,
                                                     force_mode mode)
{
  force_row row = {};
  row.i = (int32_t)i;
  row.count = rows->count[i];
  row.nbr = rows->nbr + rows->start[i / MD_WARP] + i % MD_WARP;
  row.x = load_atom(rows, i, &row.q, mode);
  if (mode.typed) row.pairs = rows->types.type[i] * rows->types.n;
  return row;
}

static __device__ __forceinline__ int32_t load_type(const force_rows *rows, int32_t j,
                                                    force_mode mode)
{
  return mode.typed ? __ldg(rows->types.type + j) : 0;
}

/* Pair of the row with an atom of this type and charge q at x; weight: how much of its energy and
 * virial this row counts. */
static __device__ __forceinline__ force_pair_at add_pair(const force_rows *rows, force_row *row,
                                                         coord3 x, real q, int32_t type,
                                                         bool present, double weight,
                                                         force_mode mode)
{
  force_pair_at p;
  lj_reals typed;
  const lj_reals *lj = &rows->lj;
  if (mode.typed) {
    typed = load_pair(&rows->types, row->pairs + type, mode.tally);
    lj = &typed;
  }
  p.dx = coord_difference(row->x.x, x.x), p.dy = coord_difference(row->x.y, x.y);
  p.dz = coord_difference(row->x.z, x.z);
  p.r_sq = p.dx * p.dx + p.dy * p.dy + p.dz * p.dz;
  if (MD_PREC == 1) p.r_sq *= rows->scale_sq;
  const real inv_sq = inverse(p.r_sq);
  p.inside = present && p.r_sq < lj->r_cut_sq;
  p.f_over_r = p.inside ? lj_f_over_r_inv(p.r_sq, inv_sq, lj, mode.form) : 0;
  const bool close = mode.charged && present && p.r_sq < rows->coulomb.r_cut_sq;
  if (close) {
    real u;
    const real unit = coulomb_f_over_r_inv(p.r_sq, inv_sq, &rows->coulomb, &u);
    const real qq = row->q * q;
    p.f_over_r = fma(qq, unit, p.f_over_r);
    if (mode.tally) row->energy += weight * (double)(qq * u);
  }
  row->fx += p.dx * p.f_over_r, row->fy += p.dy * p.f_over_r, row->fz += p.dz * p.f_over_r;
  if (mode.tally && p.inside)
    row->energy += weight * (double)lj_energy_inv(p.r_sq, inv_sq, lj, mode.form);
  p.inside |= close;
  if (mode.tally && p.inside) row->virial += weight * (double)p.r_sq * (double)p.f_over_r;
  return p;
}

static int force_block(const force *fc)
{
  return fc->spec.block_size > 0 ? fc->spec.block_size : FORCE_BLOCK;
}

#if MD_PREC == 2
/* 32 bytes of an atom or ghost read, 24 written, or 32 with a charge. */
static __global__ void pack_kernel(int64_t n, const coord4 *__restrict__ from, double2 *xy,
                                   double *z, double2 *zq)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const coord4 c = from[i];
  xy[i] = make_double2(c.x, c.y);
  if (zq)
    zq[i] = make_double2(c.z, c.w);
  else
    z[i] = c.z;
}
#endif

static md_status open_coords(force *fc, const force_job *job, coords *coord)
{
  const coord4 *from = (const coord4 *)job->coord;
#if MD_PREC == 2
  const int64_t all = job->n + job->n_ghost;
  const bool charged = job->coulomb.r_cut_sq > 0;
  MD_TRY(
      md_buffer_reserve(fc->ctx, &fc->packed, (size_t)all * (charged ? 4 : 3) * sizeof(double), 0));
  double2 *xy = (double2 *)fc->packed.data, *zq = charged ? xy + all : NULL;
  double *z = charged ? NULL : (double *)(xy + all);
  pack_kernel<<<md_blocks(all, FORCE_BLOCK), FORCE_BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(
      all, from, xy, z, zq);
  MD_LAUNCHED();
  *coord = (coords){xy, z, zq};
#else
  *coord = from;
#endif
  return MD_OK;
}

#if MD_PREC == 1
static __global__ void charge_kernel(int64_t n, const state4 *__restrict__ x, real *charge)
{
  const int64_t i = md_thread();
  if (i < n) charge[i] = (real)x[i].w;
}
#endif

/* Charges of all atoms and ghosts in a row of their own where coordinates have none; else NULL. */
static md_status open_charges(force *fc, const force_job *job, const real **charge)
{
  *charge = NULL;
#if MD_PREC == 1
  const int64_t all = job->n + job->n_ghost;
  if (job->coulomb.r_cut_sq == 0) return MD_OK;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->charge, (size_t)all * sizeof(real), 0));
  charge_kernel<<<md_blocks(all, FORCE_BLOCK), FORCE_BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(
      all, (const state4 *)job->x, (real *)fc->charge.data);
  MD_LAUNCHED();
  *charge = (const real *)fc->charge.data;
#else
  (void)fc, (void)job;
#endif
  return MD_OK;
}

/* This block's rows of a full list are done: each pair is seen from both sides. */
static __device__ __forceinline__ void tally_row(const force_rows *rows, const force_row *row)
{
  if (rows->exact)
    close_exactly(rows->exact, 0.5 * row->energy, 0.5 * row->virial);
  else
    close_tally(rows->partial, 0.5 * row->energy, 0.5 * row->virial);
}

/* Arguments of a kernel, with room for the totals of its blocks if they are asked for. */
static md_status open_rows(force *fc, const force_job *job, int64_t blocks, force_rows *rows)
{
  const size_t totals = 2 * ((size_t)blocks + 1);
  if (job->tally) MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, totals * sizeof(double), 0));
  *rows = (force_rows){};
  rows->n = job->n;
  MD_TRY(open_coords(fc, job, &rows->coord));
  MD_TRY(open_charges(fc, job, &rows->charge));
  rows->start = job->list->start, rows->nbr = job->list->nbr, rows->count = job->list->count;
  rows->home = job->home;
  rows->f = (real4 *)job->f;
  rows->newton = job->list->newton;
  rows->scale = (real)job->coord_scale;
  rows->scale_sq = (real)(job->coord_scale * job->coord_scale);
  rows->lj = lj_round(&job->lj);
  rows->coulomb = coulomb_round(&job->coulomb);
  rows->partial = (double *)fc->partial.data;
  if (job->tally && job->tally->is_exact) {
    MD_TRY(md_exact_begin(fc->ctx, &fc->exact, 2));
    rows->exact = (exact_sum *)fc->exact.data;
  }
  rows->types = open_types(job);
  return MD_OK;
}

#endif
