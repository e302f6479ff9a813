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

/* Where entries begin, as an address in shared memory. */
typedef uint32_t tile_base;

/* The same in a register, not computed over and over. */
static __device__ __forceinline__ uint32_t held(uint32_t address)
{
  asm volatile("" : "+r"(address));
  return address;
}

static __device__ __forceinline__ tile_base base_of(const unsigned char *room)
{
  return held((tile_base)__cvta_generic_to_shared(room));
}

/* 16 bytes on their way to such an address until wait_entries(). */
static __device__ __forceinline__ void copy_piece(uint32_t to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}

/* The same of 8 bytes. */
static __device__ __forceinline__ void copy_half_piece(uint32_t to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(to), "l"(from) : "memory");
}

/* The same of an atom with such coordinates, z of doubles to `rest`; a charge only where
 * coordinates have it. */
static __device__ __forceinline__ void copy_entry(uint32_t to, uint32_t rest, const coord4 *from,
                                                  bool charged)
{
  copy_piece(to, from);
  if (sizeof(real) == 8 && charged)
    copy_piece(rest, &from->z);
  else if (sizeof(real) == 8)
    copy_half_piece(rest, &from->z);
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

static __device__ __forceinline__ real load_real(uint32_t at)
{
  real a;
#if MD_PREC == 2
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(a) : "r"(at));
#else
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(a) : "r"(at));
#endif
  return a;
}

static __device__ __forceinline__ void load_two(uint32_t at, real *a, real *b)
{
#if MD_PREC == 2
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(*a), "=d"(*b) : "r"(at));
#else
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(*a), "=f"(*b) : "r"(at));
#endif
}

static __device__ __forceinline__ uint4 load_piece(uint32_t at)
{
  uint4 c;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
               : "r"(at));
  return c;
}

static __device__ __forceinline__ int32_t load_type(uint32_t at)
{
  int32_t type;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(type) : "r"(at));
  return type;
}

/* The entry at such an address, in double z at another. */
static __device__ __forceinline__ tile_entry load_entry(uint32_t at, uint32_t rest, bool charged)
{
#if MD_PREC == 2
  tile_entry e = {};
  load_two(at, &e.x, &e.y);
  if (charged)
    load_two(rest, &e.z, &e.q);
  else
    e.z = load_real(rest);
  return e;
#else
  (void)rest, (void)charged;
  const uint4 c = load_piece(at);
#if MD_PREC == 1
  return (tile_entry){(place)c.x, (place)c.y, (place)c.z, __uint_as_float(c.w)};
#else
  return (tile_entry){__uint_as_float(c.x), __uint_as_float(c.y), __uint_as_float(c.z),
                      __uint_as_float(c.w)};
#endif
#endif
}

/* The entries at the lower and the upper half of `offsets`; either address is one instruction. */
static __device__ __forceinline__ void
load_entries(tile_base base, int32_t capacity, uint32_t offsets, bool charged, tile_entry entry[2])
{
  const uint32_t rest = base + (uint32_t)capacity * ENTRY;
  const int part = charged ? 1 : 2; /* of an entry's bytes, behind the others */
  entry[0] = load_entry(__dp2a_lo(offsets, 1u, base), rest + (offsets & 0xffff) / part, charged);
  entry[1] = load_entry(base + (offsets >> 16), rest + (offsets >> 16) / part, charged);
}

/* The types of entries that were loaded so. */
static __device__ __forceinline__ void load_types(tile_base base, int32_t capacity,
                                                  uint32_t offsets, bool charged,
                                                  const tile_entry entry[2], int32_t type[2])
{
  type[0] = type_in(entry[0].q), type[1] = type_in(entry[1].q);
  if (!charged) return;
  const uint32_t types = base + (uint32_t)capacity * (uint32_t)entry_bytes(true);
  type[0] = load_type(types + (offsets & 0xffff) / 4);
  type[1] = load_type(types + (offsets >> 16) / 4);
}

#endif
