/* spread/gpu_one/fixed_gpu.h - sums in fixed point, the same in any order; for sweeps of
 * deterministic plans.
 *
 * Sums of a mesh point's floating-point numbers depend on their order, sums of integers do not.  A
 * slice adds each number times 2^s, rounded to an integer of 64 bits.  s is as large as the point
 * that most comes to allows: at most `most` particles lie in a plane of a pencil; of the p planes
 * that reach a point the largest weights add up to less than 2; the largest weights along the other
 * axes are at most sqrt(2 / p), or 1 where a mesh is so small that a particle reaches points more
 * than once.
 *
 * Usually that leaves more digits than floating point has.  Where charges staged together are so
 * small beside the largest one, or particles so many, that rounding takes more than 2^-DIGITS of
 * the largest of those charges, what it leaves is added to a second integer, times 2^(s + REST):
 * charges 2^REST times smaller than the largest keep as many digits. */
#ifndef FIXED_GPU_H
#define FIXED_GPU_H

#include "spread/gpu/pencil_gpu.h"

/* What all of a spreading must know; on the device. */
typedef struct {
  unsigned long long largest; /* charge: turn * 2^EXPONENT_BITS + its exponent as in double */
  uint64_t turn;              /* of spreadings */
  uint64_t rests;             /* the turn of the last one that needed second integers */
  unsigned long long *rest;   /* those, of all points; zero between spreadings */
  int64_t reach;              /* no sum exceeds that of so many times `most` charges */
  int32_t most;               /* particles of a plane of a pencil */
} fixed_facts;

enum { EXPONENT_BITS = 11, NOT_FINITE = (1 << EXPONENT_BITS) - 1, BIAS = NOT_FINITE / 2 };
enum { REST = 44, DIGITS = MD_PREC == 2 ? 50 : 28, LARGEST_SHIFT = MD_PREC == 2 ? 950 : 120 };

/* Get all ready for a spreading of the part.  mesh: where sums may be, or NULL; *sum: where they
 * are. */
md_status PREC(spread_gpu_fixed_begin)(spread_plan *plan, spread_part *part,
                                       const pencil_view *view, const real *q, real *mesh,
                                       unsigned long long **sum, fixed_facts **facts);
/* mesh += the sums, or = if it is fresh. */
md_status PREC(spread_gpu_fixed_end)(const spread_plan *plan, const unsigned long long *sum,
                                     const fixed_facts *facts, bool fresh, real *mesh);

/* The exponent of a number, with its bias; NOT_FINITE. */
static __device__ __forceinline__ int32_t exponent_field(real value)
{
  return (__double2hiint((double)value) & 0x7fffffff) >> 20;
}

static __device__ __forceinline__ long long nearest_integer(real value)
{
#if MD_PREC == 2
  return __double2ll_rn(value);
#else
  return __float2ll_rn(value);
#endif
}

/* 2^k of a k that a double has. */
static __device__ __forceinline__ double exact_power(int32_t k)
{
  return __hiloint2double((k + BIAS) << 20, 0);
}

/* The exponent of the largest charge. */
static __device__ __forceinline__ int32_t largest_field(const fixed_facts *facts)
{
  return (int32_t)(__ldcg(&facts->largest) & NOT_FINITE);
}

/* s. */
static __device__ __forceinline__ int32_t find_shift(const fixed_facts *facts)
{
  const int bits = 64 - __clzll(__ldcg(&facts->reach) * __ldcg(&facts->most));
  return min(61 - bits - (largest_field(facts) - BIAS), (int32_t)LARGEST_SHIFT);
}

#endif
