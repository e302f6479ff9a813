/* force/tile_pairs_gpu.h - forces by tiles: pairs of a row, along its list. */
#ifndef TILE_PAIRS_GPU_H
#define TILE_PAIRS_GPU_H

#include "force/tile_embedded_gpu.h"

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
#if MD_PREC != 2 /* registers without a value before; measured: in double that is slower */
  *c = make_uint4(0, 0, 0, 0);
#endif
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
               "@p ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(c->x), "+r"(c->y), "+r"(c->z), "+r"(c->w)
               : "l"(at), "r"((uint32_t)wanted)
               : "memory");
}

/* The entries at both halves of `offsets`, and their types. */
static __device__ __forceinline__ void load_two_atoms(const tile_job *job, tile_base base,
                                                      uint32_t offsets, tile_entry two[2],
                                                      int32_t type[2], tile_mode mode)
{
  load_places(job, base, offsets, two, mode);
  type[0] = type[1] = 0;
  if (has_type_bit(mode))
    type[0] = type_in((real)two[0].z) & 1, type[1] = type_in((real)two[1].z) & 1;
  else if (mode.types != TYPES_ALIKE)
    load_types(base, job->tiles.most, offsets, mode.charged, two, type);
  for (int k = 0; k < 2 && mode.types == TYPES_MANY && rounds_z(job, mode); k++)
    two[k].z = with_type_bit(two[k].z, type[k]);
}

static __device__ __forceinline__ void add_group(const tile_job *job, tile_base base, uint4 group,
                                                 tile_row *row, tile_mode mode)
{
  if (mode.pass == EAM_DENSITIES) {
    add_densities(job, base, group, row, mode);
    return;
  }
  const uint32_t word[GROUP / 2] = {group.x, group.y, group.z, group.w};
#pragma unroll
  for (int u = 0; u < GROUP / 2; u++) {
    tile_entry two[2];
    int32_t type[2];
    load_two_atoms(job, base, word[u], two, type, mode);
    add_pair(job, row, two[0], type[0], mode);
    add_pair(job, row, two[1], type[1], mode);
  }
  if (mode.pass == EAM_FORCES && row->close) add_close(job, base, group, row, mode);
}

/* The next groups of a thread's row. */
typedef struct {
  const uint4 *at; /* the first of them */
  uint4 group[AHEAD];
} tile_next;

static __device__ __forceinline__ tile_next first_groups(const tile_job *job, neighbor_piece piece)
{
  tile_next next;
  next.at = (const uint4 *)job->tiles.list + piece.start * MD_WARP + threadIdx.x % MD_WARP;
#pragma unroll
  for (int a = 0; a < AHEAD; a++)
    next.group[a] = load_group(next.at + min(a, max(piece.count - 1, 0)) * MD_WARP);
  return next;
}

/* A piece of the warp's list, AHEAD groups of it on their way from memory as long as there are. */
static __device__ __forceinline__ void add_groups(const tile_job *job, tile_base base,
                                                  neighbor_piece piece, tile_next next,
                                                  tile_row *row, tile_mode mode)
{
  const uint4 *list = next.at + (AHEAD - 1) * MD_WARP;
  for (int32_t left = piece.count; left > 0; left -= AHEAD)
#pragma unroll
    for (int a = 0; a < AHEAD; a++) {
      const uint4 now = next.group[a];
      list += MD_WARP;
      load_more(list, left > a + AHEAD, &next.group[a]);
      if (a == 0 || left > a) add_group(job, base, now, row, mode);
    }
}

#endif
