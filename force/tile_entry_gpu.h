/* force/tile_entry_gpu.h - how an atom of a tile's halo lies in shared memory.
 *
 * In float an entry is x, y, z, q in one load of 16 bytes; in double x and y in one, z in another of
 * 8, or with q of 16: all x, y first, the rest behind them. */
#ifndef TILE_ENTRY_GPU_H
#define TILE_ENTRY_GPU_H

#include "core/cuda.h"
#include "force/force_impl.h"

enum { ENTRY = 16 }; /* bytes from x, y of an entry to the next */

/* A place as pair kernels read it: differences of two are exact, or rounded once. */
typedef coord place;

typedef struct {
  place x, y, z;
  real q;
} tile_entry;

/* Bytes of an entry, its part behind the others counted. */
static size_t entry_bytes(bool charged)
{
  return sizeof(real) == 8 ? (charged ? 32 : 24) : 16;
}

static __device__ __forceinline__ tile_entry entry_at(coord4 c, real q)
{
  return (tile_entry){c.x, c.y, c.z, q};
}

/* As far from everything in the tile as can be. */
static __device__ __forceinline__ tile_entry far_entry(coord4 origin, real far)
{
#if MD_PREC == 1
  const uint32_t half = 0x80000000u;
  (void)far;
  return (tile_entry){(place)((uint32_t)origin.x + half), (place)((uint32_t)origin.y + half),
                      (place)((uint32_t)origin.z + half), 0};
#else
  return (tile_entry){origin.x + far, origin.y + far, origin.z + far, 0};
#endif
}

/* Entry k of `room`, which holds `capacity`. */
static __device__ __forceinline__ void store_entry(unsigned char *room, int32_t capacity, int32_t k,
                                                   tile_entry e, bool charged)
{
#if MD_PREC == 2
  unsigned char *rest = room + (size_t)capacity * sizeof(double2);
  ((double2 *)room)[k] = make_double2(e.x, e.y);
  if (charged)
    ((double2 *)rest)[k] = make_double2(e.z, e.q);
  else
    ((double *)rest)[k] = e.z;
#elif MD_PREC == 1
  ((int4 *)room)[k] = make_int4(e.x, e.y, e.z, __float_as_int(e.q));
#else
  ((float4 *)room)[k] = make_float4(e.x, e.y, e.z, e.q);
#endif
}

/* The entry that lies `offset` bytes into `room`; rest: what is behind all the x, y. */
static __device__ __forceinline__ tile_entry load_entry(const unsigned char *room,
                                                        const unsigned char *rest, uint32_t offset,
                                                        bool charged)
{
#if MD_PREC == 2
  const double2 xy = *(const double2 *)(room + offset);
  if (!charged) return (tile_entry){xy.x, xy.y, *(const double *)(rest + offset / 2), 0};
  const double2 zq = *(const double2 *)(rest + offset);
  return (tile_entry){xy.x, xy.y, zq.x, zq.y};
#elif MD_PREC == 1
  const int4 e = *(const int4 *)(room + offset);
  return (tile_entry){e.x, e.y, e.z, __int_as_float(e.w)};
#else
  const float4 e = *(const float4 *)(room + offset);
  return (tile_entry){e.x, e.y, e.z, e.w};
#endif
}

#endif
