/* force/tile_embedded_gpu.h - forces by tiles: pairs of embedded atoms. */
#ifndef TILE_EMBEDDED_GPU_H
#define TILE_EMBEDDED_GPU_H

#include "force/tile_job_gpu.h"

/* r^2 in the units of functions. */
static __device__ __forceinline__ real length_sq(const tile_job *job, real r_sq, tile_mode mode)
{
  return mode.squeezed ? r_sq * job->scale_sq : r_sq;
}

/* rho, or the force over r of a pair of the row, by words in shared memory. */
static __device__ __forceinline__ real pair_by_words(const tile_job *job, const tile_row *row,
                                                     real r_sq, real q, bool wanted, double *u,
                                                     tile_mode mode)
{
  const real slopes = row->at.q + q;
  if (mode.packed && u) *u = energy_of(&job->eam, length_sq(job, r_sq, mode));
  return mode.packed
             ? packed_pair(&job->eam, job->near, row->words, r_sq, slopes, wanted, mode.pass)
             : held_pair(&job->eam, job->near, row->words, r_sq, slopes, wanted, mode.pass, u);
}

/* close: the pair may be too near. */
static __device__ __forceinline__ bool has_words(const tile_job *job, real r_sq, bool close)
{
  return r_sq < job->eam.grid.r_cut_sq && !(close && r_sq < job->eam.grid.near_sq);
}

/* Whether a pair that has no words there finds words that are 0. */
static __device__ __forceinline__ bool is_zero_unwanted(tile_mode mode)
{
  return mode.packed && MD_PREC != 2 && !mode.tally;
}

static __device__ __forceinline__ void add_force(tile_row *row, real dx, real dy, real dz,
                                                 real r_sq, real f, double u, tile_mode mode)
{
  row->fx += dx * f, row->fy += dy * f, row->fz += dz * f;
  if (mode.tally) row->energy += u, row->virial += (double)r_sq * (double)f;
}

/* A pair in the pass for forces. */
static __device__ __forceinline__ void add_embedded(const tile_job *job, tile_row *row, real dx,
                                                    real dy, real dz, real r_sq, real q,
                                                    tile_mode mode)
{
  double u = 0;
  const bool wanted = is_zero_unwanted(mode) || has_words(job, r_sq, row->close);
  const real f = pair_by_words(job, row, r_sq, q, wanted, mode.tally ? &u : NULL, mode);
  if (wanted) add_force(row, dx, dy, dz, r_sq, f, u, mode);
}

/* From a row to an entry, in steps of coord, and r^2. */
typedef struct {
  real dx, dy, dz, r_sq;
} tile_way;

static __device__ __forceinline__ tile_way way_to(const tile_job *job, const tile_row *row,
                                                  tile_entry other)
{
  tile_way way;
  way.dx = coord_difference(row->at.x, other.x), way.dy = coord_difference(row->at.y, other.y);
  way.dz = coord_difference(row->at.z, other.z);
  way.r_sq = way.dx * way.dx + way.dy * way.dy + way.dz * way.dz;
  if (MD_PREC == 1) way.r_sq *= job->scale_sq;
  return way;
}

/* Entries as the pass has them. */
static __device__ __forceinline__ void load_places(const tile_job *job, tile_base base,
                                                   uint32_t offsets, tile_entry two[2],
                                                   tile_mode mode)
{
  if (!mode.squeezed) {
    load_entries(base, job->tiles.most, offsets, has_q(mode), two);
    return;
  }
  const uint32_t rest = base + (uint32_t)job->tiles.most * ENTRY, low = offsets & 0xffff,
                 high = offsets >> 16;
  const bool beside = mode.pass == EAM_FORCES;
  two[0] = beside ? load_beside(base + low, rest + low / 2) : load_squeezed(base + low);
  two[1] = beside ? load_beside(base + high, rest + high / 2) : load_squeezed(base + high);
}

/* The pairs of a group that are so close that shared memory has no words for them.  Few rows have
 * any; one after the other, since registers are for the others. */
static __device__ __forceinline__ void add_close(const tile_job *job, tile_base base, uint4 group,
                                                 tile_row *row, tile_mode mode)
{
#pragma unroll 1
  for (int k = 0; k < GROUP; k++) {
    tile_entry two[2];
    double u = 0;
    load_places(job, base, (group.x & 0xffff) * 0x10001, two, mode);
    group.x = __funnelshift_r(group.x, group.y, 16),
    group.y = __funnelshift_r(group.y, group.z, 16);
    group.z = __funnelshift_r(group.z, group.w, 16), group.w >>= 16;
    const tile_way way = way_to(job, row, two[0]);
    if (!(way.r_sq < job->eam.grid.near_sq && way.r_sq < job->eam.grid.r_cut_sq)) continue;
    const real f = close_pair(&job->eam, length_sq(job, way.r_sq, mode), row->at.q + two[0].q,
                              mode.pass, mode.tally ? &u : NULL);
    if (mode.pass == EAM_DENSITIES)
      row->fx += f;
    else
      add_force(row, way.dx, way.dy, way.dz, way.r_sq, f, u, mode);
  }
}

/* Numbers > 0 have the order of these. */
static __device__ __forceinline__ int32_t magnitude(real a)
{
#if MD_PREC == 2
  return __double2hiint(a);
#else
  return __float_as_int(a);
#endif
}

/* Densities of a group's pairs: first how far they are, then their words. */
static __device__ __forceinline__ void add_densities(const tile_job *job, tile_base base,
                                                     uint4 group, tile_row *row, tile_mode mode)
{
  const uint32_t word[GROUP / 2] = {group.x, group.y, group.z, group.w};
  real r_sq[GROUP];
  int32_t closest = INT32_MAX;
#pragma unroll
  for (int u = 0; u < GROUP; u += 2) {
    tile_entry two[2];
    load_places(job, base, word[u / 2], two, mode);
    r_sq[u] = way_to(job, row, two[0]).r_sq, r_sq[u + 1] = way_to(job, row, two[1]).r_sq;
    closest = min(closest, min(magnitude(r_sq[u]), magnitude(r_sq[u + 1])));
  }
  const bool close = closest <= magnitude(job->eam.grid.near_sq);
  if (closest > magnitude(job->eam.grid.r_cut_sq)) return;
#pragma unroll
  for (int u = 0; u < GROUP; u++) {
    const bool wanted = is_zero_unwanted(mode) || has_words(job, r_sq[u], close);
    const real f = pair_by_words(job, row, r_sq[u], 0, wanted, NULL, mode);
    if (wanted) row->fx += f;
  }
  if (!close) return;
  row->close = true;
  add_close(job, base, group, row, mode);
}

#endif
