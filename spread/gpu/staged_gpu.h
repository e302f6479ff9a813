/* spread/gpu/staged_gpu.h - particles staged in shared memory, and the points of a pencil's patch.
 *
 * A particle is staged in shared memory as a record of reals: Z[p], two offsets, then Y[p] and X[p]
 * between zeros, so that a lane finds Y of its line and X of its column at
 *
 *   record + yo + line        record + xo + column
 *
 * wherever in the pencil the particle lies, and zero where it does not reach.  A record of zeros
 * stands in for no particle.  The zeros between are written once, as records keep their places. */
#ifndef TILE_GPU_H
#define TILE_GPU_H

#include "spread/gpu/pencil_gpu.h"

/* Of the patch the lane holds lines TILE_LINE(j), j < 2 PENCIL_PATCHES(p), at columns
 * TILE_COLUMN(c), c < 2. */
#define TILE_LINE(j) (warp_lane() % 4 + 4 * (j))
#define TILE_COLUMN(c) (warp_lane() / 4 + 8 * (c))
enum { TILE_LINES_MAX = 2 * PENCIL_TILES_MAX };

/* Offsets in a plane of the mesh of the lane's points. */
typedef struct {
  uint32_t at[TILE_LINES_MAX][2];
} tile_points;

static __device__ __forceinline__ tile_points find_points(const int p, const pencil_view &view,
                                                          const walk &at)
{
  const footprint foot = find_footprint(p, view, at);
  tile_points points;
  SPREAD_UNROLL
  for (int i = 0; i < 4 * PENCIL_PATCHES(p); i++)
    points.at[i / 2][i % 2] = point_at(view, foot, TILE_LINE(i / 2), TILE_COLUMN(i % 2));
  return points;
}

/* Where the parts of a record begin [reals]; `more` reals follow them.  Its length is an odd number
 * of quads, so that lanes writing one each meet different banks. */
#define RECORD_INT2 (8 / (int)sizeof(real))
#define RECORD_AT(p) (((p) + RECORD_INT2 - 1) / RECORD_INT2 * RECORD_INT2)
#define RECORD_Y(p) (QUADS(RECORD_AT(p) + RECORD_INT2 + PENCIL_HEIGHT(p) - (p)) * QUAD)
#define RECORD_X(p) (QUADS(RECORD_Y(p) + PENCIL_WIDTH) * QUAD)
#define RECORD_MORE(p) (RECORD_X(p) + PENCIL_WIDTH)
#define RECORD_LENGTH(p, more) ((QUADS(RECORD_MORE(p) + (more)) | 1) * QUAD)
/* A warp's staged particles.  Particle i is in slot `head` and those after it in the next ones, the
 * first slot after the last; those up to `end` are there.  More slots than lanes, so that a batch
 * may have some of those staged last and some of those before. */
typedef struct {
  real *record;
  int slots, length; /* slots, reals of a record */
  int head, tail;    /* slots of particles i and `end` */
  int32_t end;
} staged;

/* From up to twice as many. */
static __device__ __forceinline__ int wrap_slot(const staged &s, int slot)
{
  return (int)min((unsigned)slot, (unsigned)(slot - s.slots));
}

/* Warp: records of zeros. */
static __device__ __forceinline__ void clear_records(real *records, int count)
{
  for (int k = warp_lane(); k < count; k += MD_WARP)
    records[k] = 0;
  __syncwarp();
}

/* count reals to an address that begins a quad. */
static __device__ __forceinline__ void store_reals(const int count, const real *from, real *to)
{
  SPREAD_UNROLL
  for (int k = 0; k + QUAD <= count; k += QUAD) {
#if QUAD == 4
    *(quad *)(to + k) = make_float4(from[k], from[k + 1], from[k + 2], from[k + 3]);
#else
    *(quad *)(to + k) = make_double2(from[k], from[k + 1]);
#endif
  }
#if QUAD == 4
  const int done = count / QUAD * QUAD;
  if (count - done >= 2) *(float2 *)(to + done) = make_float2(from[done], from[done + 1]);
#endif
  if (count % 2) to[count - 1] = from[count - 1];
}

/* Weights along the slowest, middle and fastest axis. */
static __device__ __forceinline__ void store_weights(const int p, const real w[3][SPREAD_ORDER_MAX],
                                                     real *record)
{
  store_reals(p, w[0], record);
  store_reals(p, w[1], record + RECORD_Y(p));
  store_reals(p, w[2], record + RECORD_X(p));
}

/* yo and xo of a particle at cell (middle, fast) of its pencil. */
static __device__ __forceinline__ void store_offsets(const int p, uint32_t middle, uint32_t fast,
                                                     real *record)
{
  *(int2 *)(record + RECORD_AT(p)) = make_int2(RECORD_Y(p) - (int)middle, RECORD_X(p) - (int)fast);
}

static __device__ __forceinline__ int2 load_offsets(const int p, const real *record)
{
  return *(const int2 *)(record + RECORD_AT(p));
}

#endif
