/* force/tile_squeezed_gpu.h - positions of embedded atoms in double in fewer bytes.
 *
 * The pass for densities reads whole numbers of 42 bits in 16 bytes, by one load of shared memory
 * where three doubles take two: rounding moves an atom by 2^-43 of the frame at most, see
 * squeeze_of().  The pass for forces reads numbers of 47 bits with F' beside them, in 24 bytes in
 * place of 32: 2^-48. */
#ifndef TILE_SQUEEZED_GPU_H
#define TILE_SQUEEZED_GPU_H

#include "force/eam/eam_pair.h"
#include "force/tile_entry_gpu.h"

/* Number k is the double 2^52 + k, and x the number base - 2^52 + x per. */
typedef struct {
  double per, base[3];
} tile_numbers;

/* Of an atom for forces: the lower 32 bits of x, y, z, then the upper 16 of x, y; F', whose lowest
 * 16 bits are the upper ones of z: it is rounded so that nobody has to take them away. */
typedef struct {
  uint4 *near; /* [n + n_ghost] each */
  double *rest;
} tile_beside;

typedef struct {
  tile_numbers coarse, fine; /* for densities, for forces */
  uint4 *of; /* [n + n_ghost], or NULL: the lower 32 bits of x, y, z, then the upper 10, 11, 11 */
  tile_beside beside;
} tile_squeezed;

static __device__ __forceinline__ double number_of(const tile_numbers *s, int d, double x)
{
  return fma(x, s->per, s->base[d]);
}

static __device__ __forceinline__ uint4 squeeze(const tile_squeezed *squeezed, double x, double y,
                                                double z)
{
  const tile_numbers *s = &squeezed->coarse;
  const double a = number_of(s, 0, x), b = number_of(s, 1, y), c = number_of(s, 2, z);
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

/* The double nearest to a whose lowest 16 bits are these. */
static __device__ __forceinline__ double ending_with(double a, uint32_t low)
{
  const int64_t bits = __double_as_longlong(a), size = (bits & INT64_MAX) + 0x8000 - (int64_t)low;
  return __longlong_as_double((bits & INT64_MIN) | (max(size, (int64_t)0) & ~(int64_t)0xffff) |
                              (int64_t)low);
}

static __device__ __forceinline__ void squeeze_beside(const tile_squeezed *squeezed, int32_t j,
                                                      coord4 at, real q)
{
  const tile_numbers *s = &squeezed->fine;
  const double a = number_of(s, 0, (double)at.x), b = number_of(s, 1, (double)at.y),
               c = number_of(s, 2, (double)at.z);
  const uint32_t high =
      __byte_perm((uint32_t)__double2hiint(a), (uint32_t)__double2hiint(b), 0x5410);
  squeezed->beside.near[j] = make_uint4((uint32_t)__double2loint(a), (uint32_t)__double2loint(b),
                                        (uint32_t)__double2loint(c), high);
  squeezed->beside.rest[j] = ending_with((double)q, (uint32_t)__double2hiint(c) & 0xffff);
}

static __device__ __forceinline__ tile_entry unsqueezed_beside(uint4 c, double rest)
{
#if MD_PREC == 2
  const uint32_t whole = 0x43300000; /* of 2^52 */
  const uint32_t x = __byte_perm(c.w, whole, 0x7610), y = __byte_perm(c.w, whole, 0x7632),
                 z = __byte_perm((uint32_t)__double2loint(rest), whole, 0x7610);
  return (tile_entry){__hiloint2double((int)x, (int)c.x), __hiloint2double((int)y, (int)c.y),
                      __hiloint2double((int)z, (int)c.z), rest};
#else
  (void)c, (void)rest;
  return (tile_entry){};
#endif
}

static __device__ __forceinline__ tile_entry load_squeezed(uint32_t at)
{
  return unsqueezed(load_piece(at));
}

static __device__ __forceinline__ tile_entry load_beside(uint32_t at, uint32_t rest)
{
  return unsqueezed_beside(load_piece(at), (double)load_real(rest));
}

#endif
