/* force/tile_squeezed_gpu.h - positions in double in 16 bytes: whole numbers of 42 bits, which the
 * pass for densities of embedded atoms reads by one load of shared memory where three doubles take
 * two.  Rounding moves an atom by 2^-43 of the frame at most, see squeeze_of(). */
#ifndef TILE_SQUEEZED_GPU_H
#define TILE_SQUEEZED_GPU_H

#include "force/eam/eam_pair.h"
#include "force/tile_entry_gpu.h"

/* Number k is the double 2^52 + k; of: the lower 32 bits of x, y, z, then the upper 10, 11, 11. */
typedef struct {
  double per, base[3]; /* x is number base - 2^52 + x per */
  uint4 *of;           /* [n + n_ghost], or NULL */
} tile_squeezed;

static __device__ __forceinline__ uint4 squeeze(const tile_squeezed *s, double x, double y,
                                                double z)
{
  const double a = fma(x, s->per, s->base[0]), b = fma(y, s->per, s->base[1]),
               c = fma(z, s->per, s->base[2]);
  const uint32_t high = ((uint32_t)__double2hiint(a) & 0x3ff) |
                        ((uint32_t)__double2hiint(b) & 0x7ff) << 10 |
                        (uint32_t)__double2hiint(c) << 21;
  return make_uint4((uint32_t)__double2loint(a), (uint32_t)__double2loint(b),
                    (uint32_t)__double2loint(c), high);
}

/* In the numbers' units. */
static __device__ __forceinline__ tile_entry unsqueezed(uint4 c)
{
#if MD_PREC == 2
  const uint32_t whole = 0x43300000; /* of 2^52 */
  return (tile_entry){__hiloint2double((int)eam_merge(c.w, 0x3ff, whole), (int)c.x),
                      __hiloint2double((int)eam_merge(c.w >> 10, 0x7ff, whole), (int)c.y),
                      __hiloint2double((int)(whole + (c.w >> 21)), (int)c.z), 0};
#else
  (void)c;
  return (tile_entry){};
#endif
}

static __device__ __forceinline__ tile_entry load_squeezed(uint32_t at)
{
  uint4 c;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
               : "r"(at));
  return unsqueezed(c);
}

#endif
