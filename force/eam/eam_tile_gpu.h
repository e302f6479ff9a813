/* force/eam/eam_tile_gpu.h - tables of embedded atoms in a tile's shared memory, behind its halo.
 *
 * 32 threads that read 32 words keep shared memory busy for about 11 cycles, the L1 for one a line
 * of 8 words; pairs beyond the cutoff read none.  In double no more than EAM_NEAR words before the
 * cutoff lie there; pairs so near that they need others read these from global memory. */
#ifndef EAM_TILE_GPU_H
#define EAM_TILE_GPU_H

#include "force/eam/eam_gpu.h"

enum { EAM_NEAR = 1536 };

/* Words first .. first + count - 1 of each table of a pass lie `at` bytes behind the start of
 * shared memory, which is then `end` bytes. */
typedef struct {
  int32_t first, count, at, end;
} eam_near;

static eam_near eam_near_of(const force *fc, size_t halo, eam_pass pass)
{
  const int64_t all = eam_words(fc, fc->eam);
  eam_near near;
  near.count = all < EAM_NEAR ? (int32_t)all : (int32_t)EAM_NEAR;
  near.first = (int32_t)all - near.count;
  near.at = (int32_t)((halo + sizeof(eam_word) - 1) / sizeof(eam_word) * sizeof(eam_word));
  near.end = near.at + near.count * (int32_t)sizeof(eam_word) * (pass == EAM_FORCES ? 2 : 1);
  return near;
}

static __device__ __forceinline__ void copy_word(uint32_t to, const eam_word *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}

/* A pass's tables on their way to shared memory, until cp.async.wait_all; where word 0 of the first
 * would lie. */
static __device__ __forceinline__ uint32_t copy_words(const eam_tables *eam, eam_near near,
                                                      eam_pass pass)
{
  extern __shared__ __align__(16) unsigned char room[];
  const uint32_t to = (uint32_t)__cvta_generic_to_shared(room) + (uint32_t)near.at;
  const eam_word *one = pass == EAM_DENSITIES ? eam->density : eam->pair;
  for (int32_t k = (int32_t)threadIdx.x; k < near.count; k += (int32_t)blockDim.x) {
    copy_word(to + (uint32_t)k * 16, one + near.first + k);
    if (pass == EAM_FORCES)
      copy_word(to + (uint32_t)(near.count + k) * 16, eam->slope + near.first + k);
  }
  return to - (uint32_t)near.first * 16;
}

/* The cubic from knot m of a table whose word 0 would lie at `words`, any where it is not wanted;
 * all: the whole table. */
static __device__ __forceinline__ void
near_cubic(uint32_t words, eam_near near, const eam_word *all, int32_t m, bool wanted, real c[4])
{
  const uint32_t at = words + (uint32_t)m * 16;
#if MD_PREC == 2
  if (m < near.first) {
    eam_load_cubic(all, m, c);
    return;
  }
  eam_word w[2] = {};
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
 * any numbers beyond the cutoff. */
static __device__ __forceinline__ real near_pair(const eam_tables *eam, eam_near near,
                                                 uint32_t words, real r_sq, real slopes,
                                                 eam_pass pass, double *u)
{
  const eam_spot at = eam_locate(&eam->grid, r_sq, eam_inverse_root(r_sq));
  const bool wanted = r_sq < eam->grid.r_cut_sq;
  real c[4], s[4];
  near_cubic(words, near, pass == EAM_DENSITIES ? eam->density : eam->pair, at.m, wanted, c);
  if (pass == EAM_DENSITIES) return eam_cubic(c, at.p);
  near_cubic(words + (uint32_t)near.count * 16, near, eam->slope, at.m, wanted, s);
  if (u) *u = eam_energy(eam, at, c);
  return eam_pull(&eam->grid, at, c, s, slopes);
}

#endif
