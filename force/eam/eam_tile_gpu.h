/* force/eam/eam_tile_gpu.h - tables of embedded atoms in a tile's shared memory, behind its halo.
 *
 * 32 threads that read 32 words of 16 bytes keep shared memory busy for about 10.5 cycles, of 8
 * bytes for 6, the L1 for one a line of 128.  So words are packed where a file allows it: one of 8
 * bytes in float, one of 16 in double is a function at a pair (eam_pair.h).  In float every lane
 * has its own copy of each, which takes 4 cycles of 16 bytes and 2 of 8; in double pairs beyond the
 * cutoff read none.  Only words before the cutoff lie there; rows with pairs so near that these
 * need others walk along their entries once more (add_close). */
#ifndef EAM_TILE_GPU_H
#define EAM_TILE_GPU_H

#include "core/gpu/bulk_gpu.h"
#include "force/eam/eam_gpu.h"

enum { EAM_NEAR = 1536 }; /* knots in double, where they are not packed */

/* Words first .. first + count - 1 of each table of a pass lie `at` bytes behind the start of
 * shared memory, which is then `end` bytes. */
typedef struct {
  int32_t first, count, at, end;
} eam_near;

/* Bytes from a word of a pass to the next, and how many tables it has: packed ones in float are one
 * of both functions of a force, as often as fills all banks. */
static __host__ __device__ __forceinline__ int32_t eam_word_bytes(bool packed)
{
  return packed && MD_PREC != 2 ? EAM_PACKED_ROW : 16;
}
static __host__ __device__ __forceinline__ int32_t eam_tables_of(eam_pass pass, bool packed)
{
  return pass == EAM_FORCES && !(packed && MD_PREC != 2) ? 2 : 1;
}

/* Bytes from a lane's copy of a word to the next lane's. */
static __device__ __forceinline__ uint32_t eam_own_bytes(eam_pass pass, bool packed)
{
  if (!packed || MD_PREC == 2) return 0;
  return pass == EAM_DENSITIES ? 8 : 16;
}

static __device__ __forceinline__ uint64_t *words_barrier(void)
{
  __shared__ uint64_t barrier;
  return &barrier;
}

/* A pass's tables on their way to shared memory; where word 0 of the first would lie.  Bulk copies
 * leave to other loads the unit that is the limit. */
static __device__ __forceinline__ uint32_t copy_words(const eam_tables *eam, eam_near near,
                                                      eam_pass pass, bool packed)
{
  extern __shared__ __align__(16) unsigned char room[];
  const uint32_t to = shared_address(room) + (uint32_t)near.at;
  const uint32_t all = (uint32_t)(near.end - near.at),
                 tables = (uint32_t)eam_tables_of(pass, packed);
  const uint32_t skip = (uint32_t)(near.first * eam_word_bytes(packed));
  const uint32_t own = threadIdx.x * eam_own_bytes(pass, packed) % EAM_PACKED_ROW;
  if (threadIdx.x > 0) return to - skip + own;
  barrier_make(words_barrier());
  copy_expect(words_barrier(), all);
  copy_bulk(to, (const char *)eam->held[pass] + skip, all / tables, words_barrier());
  if (tables == 2)
    copy_bulk(to + all / 2, (const char *)eam->held_slope + skip, all / 2, words_barrier());
  return to - skip;
}

/* Until they have come; all threads have met since. */
static __device__ __forceinline__ void await_words(void)
{
  copy_wait(words_barrier(), 0);
}

/* The cubic from a knot whose word lies at such an address; any where it is not wanted. */
static __device__ __forceinline__ void held_cubic(uint32_t at, bool wanted, real c[4])
{
#if MD_PREC == 2
  eam_word w[2] = {}; /* or registers are taken for what they might hold before */
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
               "@p ld.shared.v2.f64 {%0, %1}, [%4];\n"
               "@p ld.shared.v2.f64 {%2, %3}, [%4 + 16]; }"
               : "+d"(w[0].f), "+d"(w[0].d), "+d"(w[1].f), "+d"(w[1].d)
               : "r"(at), "r"((uint32_t)wanted));
  eam_between(w, c);
#else
  for (int k = 0; k < 4; k++)
    c[k] = 0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
               "@p ld.shared.v4.f32 {%0, %1, %2, %3}, [%4]; }"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(at), "r"((uint32_t)wanted));
#endif
}

/* rho, or the force over r of a pair whose F' add up to slopes, and unless u is NULL its energy;
 * any numbers where it is not wanted. */
static __device__ __forceinline__ real held_pair(const eam_tables *eam, eam_near near,
                                                 uint32_t words, real r_sq, real slopes,
                                                 bool wanted, eam_pass pass, double *u)
{
  const eam_spot at = eam_locate(&eam->grid, r_sq, eam_inverse_root(r_sq));
  const uint32_t word = words + (uint32_t)at.m * 16;
  real c[4], s[4];
  held_cubic(word, wanted, c);
  if (pass == EAM_DENSITIES) return eam_cubic(c, at.p);
  held_cubic(word + (uint32_t)near.count * 16, wanted, s);
  if (u) *u = eam_energy(eam, at, c);
  return eam_pull(&eam->grid, at, c, s, slopes);
}

/* A packed word of the first pass at such an address; in double any where it is not wanted. */
static __device__ __forceinline__ eam_packed held_word(uint32_t at, bool wanted)
{
  eam_packed word = {};
#if MD_PREC == 2
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0;\n"
               "@p ld.shared.v4.b32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(word.low), "+r"(word.high), "+r"(word.line), "+r"(word.curve)
               : "r"(at), "r"((uint32_t)wanted));
#else
  (void)wanted;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=f"(word.value), "=r"(word.rest) : "r"(at));
#endif
  return word;
}

/* Those of both functions of a force, the second `apart` bytes behind the first. */
static __device__ __forceinline__ void held_words(uint32_t at, uint32_t apart, bool wanted,
                                                  eam_packed word[2])
{
#if MD_PREC == 2
  word[0] = held_word(at, wanted), word[1] = held_word(at + apart, wanted);
#else
  (void)apart, (void)wanted;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=f"(word[0].value), "=r"(word[0].rest), "=f"(word[1].value), "=r"(word[1].rest)
               : "r"(at));
#endif
}

/* phi of a pair, from global memory. */
static __device__ __forceinline__ double energy_of(const eam_tables *eam, real r_sq)
{
  const eam_spot at = eam_locate(&eam->grid, r_sq, eam_inverse_root(r_sq));
  real c[4] = {};
  if (MD_PREC == 2) eam_load_cubic(eam->pair, at.m, c);
  return eam_energy(eam, at, c);
}

/* rho, or the force over r as held_pair(), by packed words. */
static __device__ __forceinline__ real packed_pair(const eam_tables *eam, eam_near near,
                                                   uint32_t words, real r_sq, real slopes,
                                                   bool wanted, eam_pass pass)
{
  const int bits = pass == EAM_DENSITIES ? EAM_DENSITY_BITS : EAM_FORCE_BITS;
  const eam_scale *scale = &eam->scale[pass == EAM_DENSITIES ? EAM_OF_DENSITY : EAM_OF_PAIR];
  const eam_spot at = eam_locate_packed(&eam->grid, scale, r_sq, eam_root(r_sq), bits);
  const uint32_t step = (uint32_t)eam_word_bytes(true);
  const uint32_t place = words - (uint32_t)EAM_FROM * step + (uint32_t)at.m * step;
  if (pass == EAM_DENSITIES) return eam_unpack(held_word(place, wanted), scale, at);
  eam_packed word[2];
  held_words(place, (uint32_t)near.count * step, wanted, word);
  return eam_unpack_two(word, scale, slopes, at);
}

/* The same of a pair that is nearer. */
static __device__ __forceinline__ real close_pair(const eam_tables *eam, real r_sq, real slopes,
                                                  eam_pass pass, double *u)
{
  const eam_spot at = eam_locate(&eam->grid, r_sq, eam_inverse_root(r_sq));
  real c[4], s[4];
  eam_load_cubic(pass == EAM_DENSITIES ? eam->density : eam->pair, at.m, c);
  if (pass == EAM_DENSITIES) return eam_cubic(c, at.p);
  eam_load_cubic(eam->slope, at.m, s);
  if (u) *u = eam_energy(eam, at, c);
  return eam_pull(&eam->grid, at, c, s, slopes);
}

#endif
