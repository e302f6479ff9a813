/* force/tile_entry_gpu.h - how an atom of a tile's halo lies in shared memory.
 *
 * In float an entry is x, y, z, q in one load of 16 bytes; in double x and y in one, z in another
 * of 8, or with q of 16: all x, y first, the rest behind them.  Without charges a type lies in q,
 * or of two in double in the lowest bit of z; with them types are words behind all entries. */
#ifndef TILE_ENTRY_GPU_H
#define TILE_ENTRY_GPU_H

#include "core/gpu/cuda.h"
#include "force/force_impl.h"

enum { ENTRY = 16 }; /* bytes from x, y of an entry to the next */

/* A place as pair kernels read it: differences of two are exact, or rounded once. */
typedef coord place;

typedef struct {
  place x, y, z;
  real q;
} tile_entry;

/* Bytes of an entry with or without q, its part behind the others counted. */
static __host__ __device__ __forceinline__ size_t entry_bytes(bool charged)
{
  return sizeof(real) == 8 ? (charged ? 32 : 24) : 16;
}

static __device__ __forceinline__ tile_entry entry_at(coord4 c, real q)
{
  return (tile_entry){c.x, c.y, c.z, q};
}

/* Where no atom of the frame around `middle` is near: in fixed point half of all steps away, of
 * which comm_borders leaves a margin on either side of the frame. */
static tile_entry far_entry(const force_job *job)
{
  place at[3];
  for (int d = 0; d < 3; d++)
#if MD_PREC == 1
    at[d] = (place)((uint32_t)coord_from(job->middle[d], 1 / job->coord_scale) + 0x80000000u);
#else
    at[d] = (place)(job->middle[d] + job->edge[d] + 0x1p20 * job->list->r_list);
#endif
  return (tile_entry){at[0], at[1], at[2], 0};
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

/* 16 bytes on their way until wait_entries(). */
static __device__ __forceinline__ void copy_piece(void *to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
               :
               : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
               : "memory");
}

/* The same of 8 bytes to such an address. */
static __device__ __forceinline__ void copy_half_piece(uint32_t to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(to), "l"(from) : "memory");
}

/* The same of an atom with such coordinates, on its way until wait_entries(); a charge only where
 * coordinates have it. */
static __device__ __forceinline__ void copy_entry(unsigned char *room, int32_t capacity, int32_t k,
                                                  const coord4 *from, bool charged)
{
  const uint32_t to = (uint32_t)__cvta_generic_to_shared(room) + (uint32_t)k * ENTRY;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
#if MD_PREC == 2
  const uint32_t rest = (uint32_t)__cvta_generic_to_shared(room) + (uint32_t)capacity * ENTRY;
  if (charged)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                 :
                 : "r"(rest + (uint32_t)k * 16), "l"(&from->z)
                 : "memory");
  else
    copy_half_piece(rest + (uint32_t)k * 8, &from->z);
#endif
}

/* An atom at c with q beside it, as copy_entry() takes it. */
static __device__ __forceinline__ coord4 with_charge(coord4 c, real q)
{
#if MD_PREC == 1
  c.w = __float_as_int(q);
#else
  c.w = q;
#endif
  return c;
}

static __device__ __forceinline__ real charge_in(coord4 c)
{
#if MD_PREC == 1
  return __int_as_float(c.w);
#else
  return c.w;
#endif
}

/* The charge of an entry, where coordinates have none. */
static __device__ __forceinline__ void set_charge(unsigned char *room, int32_t k, real q)
{
  ((float4 *)room)[k].w = (float)q;
}

/* The type of an entry with q: in its place, or beside a charge.  After wait_entries(). */
static __device__ __forceinline__ void set_type(unsigned char *room, int32_t capacity, int32_t k,
                                                bool charged, int32_t type)
{
  const int32_t in_q = sizeof(real) == 8 ? capacity * ENTRY + k * ENTRY + 8 : k * ENTRY + 12;
  const int32_t beside = capacity * (int32_t)entry_bytes(true) + k * 4;
  *(int32_t *)(room + (charged ? beside : in_q)) = type;
}

/* z with a type of two as its lowest bit; in double only. */
static __device__ __forceinline__ place with_type_bit(place z, int32_t type)
{
#if MD_PREC == 2
  return __hiloint2double(__double2hiint(z), (__double2loint(z) & ~1) | type);
#else
  (void)type;
  return z;
#endif
}

/* The same of an entry without q. */
static __device__ __forceinline__ void set_type_bit(unsigned char *room, int32_t capacity,
                                                    int32_t k, int32_t type)
{
  place *z = (place *)(room + (size_t)capacity * ENTRY) + k;
  *z = with_type_bit(*z, type);
}

static __device__ __forceinline__ int32_t type_in(real q)
{
#if MD_PREC == 2
  return __double2loint(q);
#else
  return __float_as_int(q);
#endif
}

/* For those that this thread copies. */
static __device__ __forceinline__ void wait_entries(void)
{
  asm volatile("cp.async.wait_all;" : : : "memory");
}

#if MD_PREC == 2
/* Where entries begin. */
typedef const unsigned char *tile_base;

static __device__ __forceinline__ tile_base base_of(const unsigned char *room)
{
  return room;
}

/* The entry at so many bytes behind the first. */
static __device__ __forceinline__ tile_entry load_entry(const unsigned char *room,
                                                        const unsigned char *rest, uint32_t offset,
                                                        bool charged)
{
  const double2 xy = *(const double2 *)(room + offset);
  if (!charged) return (tile_entry){xy.x, xy.y, *(const double *)(rest + offset / 2), 0};
  const double2 zq = *(const double2 *)(rest + offset);
  return (tile_entry){xy.x, xy.y, zq.x, zq.y};
}

/* The entries at the lower and the upper half of `offsets`. */
static __device__ __forceinline__ void
load_entries(tile_base base, int32_t capacity, uint32_t offsets, bool charged, tile_entry entry[2])
{
  const unsigned char *rest = base + (size_t)capacity * ENTRY;
  entry[0] = load_entry(base, rest, offsets & 0xffff, charged);
  entry[1] = load_entry(base, rest, offsets >> 16, charged);
}

/* The types of entries that were loaded so. */
static __device__ __forceinline__ void load_types(tile_base base, int32_t capacity,
                                                  uint32_t offsets, bool charged,
                                                  const tile_entry entry[2], int32_t type[2])
{
  type[0] = type_in(entry[0].q), type[1] = type_in(entry[1].q);
  if (!charged) return;
  const unsigned char *types = base + (size_t)capacity * entry_bytes(true);
  type[0] = *(const int32_t *)(types + (offsets & 0xffff) / 4);
  type[1] = *(const int32_t *)(types + (offsets >> 16) / 4);
}
#else
/* Where entries begin, as an address in shared memory: a register, not computed over and over. */
typedef uint32_t tile_base;

static __device__ __forceinline__ tile_base base_of(const unsigned char *room)
{
  tile_base base = (tile_base)__cvta_generic_to_shared(room);
  asm volatile("" : "+r"(base));
  return base;
}

/* The entry at such an address. */
static __device__ __forceinline__ tile_entry load_entry(uint32_t at)
{
  uint32_t x, y, z, q;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(q)
               : "r"(at));
#if MD_PREC == 1
  return (tile_entry){(place)x, (place)y, (place)z, __uint_as_float(q)};
#else
  return (tile_entry){__uint_as_float(x), __uint_as_float(y), __uint_as_float(z),
                      __uint_as_float(q)};
#endif
}

/* The entries at the lower and the upper half of `offsets`; either address is one instruction. */
static __device__ __forceinline__ void
load_entries(tile_base base, int32_t capacity, uint32_t offsets, bool charged, tile_entry entry[2])
{
  (void)capacity, (void)charged;
  entry[0] = load_entry(__dp2a_lo(offsets, 1u, base));
  entry[1] = load_entry((offsets >> 16) + base);
}

static __device__ __forceinline__ int32_t load_type(uint32_t at)
{
  int32_t type;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(type) : "r"(at));
  return type;
}

/* The types of entries that were loaded so. */
static __device__ __forceinline__ void load_types(tile_base base, int32_t capacity,
                                                  uint32_t offsets, bool charged,
                                                  const tile_entry entry[2], int32_t type[2])
{
  type[0] = type_in(entry[0].q), type[1] = type_in(entry[1].q);
  if (!charged) return;
  const uint32_t types = base + (uint32_t)capacity * ENTRY;
  type[0] = load_type(types + (offsets & 0xffff) / 4);
  type[1] = load_type(types + (offsets >> 16) / 4);
}
#endif

#endif
