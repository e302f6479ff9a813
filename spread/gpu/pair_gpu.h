/* spread/gpu/pair_gpu.h - products on tensor cores, of operands that hold terms in pairs.
 *
 * A product adds up 8 terms for 16 x 8 numbers at once, or 16: sum[r][c] += a[r][k] b[k][c].
 * Operands and sums are spread over the lanes of a warp; of lane l, row = l / 4 and member = l % 4,
 *
 *   a[j][c]      row `row + 8 c`, pair `member` of terms      j: of each 8 terms, c = 0, 1
 *   b[j]         column `row`, pair `member`
 *   sum[2 c + i] row `row + 8 c`, column `2 member + i`      i = 0, 1
 *
 * Spreading adds up particles, four apart in a pair, interpolation columns of a line, likewise.
 *
 * Double precision has such products.  Single takes those of halves, 16 terms at once: a number
 * becomes two halves, high and low, of 11 bits each, and three products the one wanted; what they
 * leave out is 2^-24 of it.  They round sums toward zero, so long sums must be cut.
 *
 * A half is nothing below 2^-24 and full from 2^-14 to 2^16, so operands are scaled by powers of
 * two: weights to 2^14, charges and numbers of a mesh so that the largest of those near by is about
 * as large.  Of charges those are 32 staged at a time: one 2^17 times smaller keeps all its digits,
 * and the error of any is at most 2^-38 of the largest (of meshes: window_gpu.h). */
#ifndef PAIR_GPU_H
#define PAIR_GPU_H

#include "spread/gpu/staged_gpu.h"

#if MD_PREC == 2
enum { PAIRS = 1 };
typedef struct {
  double first, second;
} pair;

static __device__ __forceinline__ pair pair_of(real first, real second)
{
  const pair both = {first, second};
  return both;
}

/* sum += a b, of one pair of terms or two: a[pair][c], b[pair]. */
static __device__ __forceinline__ void add_pairs(const int pairs, const pair (*a)[2], const pair *b,
                                                 real sum[4])
{
  if (pairs == 2)
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, "
        "%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0][0].first), "d"(a[0][1].first), "d"(a[0][0].second), "d"(a[0][1].second),
          "d"(a[1][0].first), "d"(a[1][1].first), "d"(a[1][0].second), "d"(a[1][1].second),
          "d"(b[0].first), "d"(b[0].second), "d"(b[1].first), "d"(b[1].second));
  else
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0][0].first), "d"(a[0][1].first), "d"(a[0][0].second), "d"(a[0][1].second),
          "d"(b[0].first), "d"(b[0].second));
}
#else
#include <cuda_fp16.h>

enum { PAIRS = 2 };
/* Two halves each. */
typedef struct {
  __half2 high, low;
} pair;

static __device__ __forceinline__ pair pair_of(real first, real second)
{
  const __half2 high = __floats2half2_rn(first, second);
  const float2 taken = __half22float2(high);
  const pair both = {high, __floats2half2_rn(first - taken.x, second - taken.y)};
  return both;
}

static __device__ __forceinline__ uint32_t word_of(__half2 two)
{
  return *(const uint32_t *)&two;
}

#define ADD_HALVES(a_part, b_part)                                                                 \
  if (pairs == 2)                                                                                  \
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "   \
        "{%8, %9}, {%0, %1, %2, %3};"                                                              \
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                   \
        : "r"(word_of(a[0][0].a_part)), "r"(word_of(a[0][1].a_part)),                              \
          "r"(word_of(a[1][0].a_part)), "r"(word_of(a[1][1].a_part)), "r"(word_of(b[0].b_part)),   \
          "r"(word_of(b[1].b_part)));                                                              \
  else                                                                                             \
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "      \
        "{%0, %1, %2, %3};"                                                                        \
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                   \
        : "r"(word_of(a[0][0].a_part)), "r"(word_of(a[0][1].a_part)), "r"(word_of(b[0].b_part)))
static __device__ __forceinline__ void add_pairs(const int pairs, const pair (*a)[2], const pair *b,
                                                 real sum[4])
{
  ADD_HALVES(low, high);
  ADD_HALVES(high, low);
  ADD_HALVES(high, high);
}
#endif
enum { BATCH = 8 * PAIRS }; /* particles at once */

/* The scale of numbers: the exponent of the largest one, as in its bits, or a larger one up to the
 * slack.  The least leaves room for what is computed from it. */
enum { LEAST_EXPONENT = 40, NO_EXPONENT = 127, SCALE_SLACK = 8 };
#define WEIGHT_SCALE (MD_PREC == 2 ? (real)1 : (real)0x1p14)

#if MD_PREC == 2
static __device__ __forceinline__ int32_t largest_exponent(real value)
{
  return LEAST_EXPONENT;
}
static __device__ __forceinline__ real scale_down(int32_t exponent)
{
  return 1;
}
static __device__ __forceinline__ real scale_up(int32_t exponent)
{
  return 1;
}
static __device__ __forceinline__ real rescale(int32_t from, int32_t to)
{
  return 1;
}
static __device__ __forceinline__ int32_t least_scale(int32_t from, int32_t to, int32_t largest)
{
  return from;
}
#else
static __device__ __forceinline__ real power_of_two(int32_t exponent)
{
  return __int_as_float((exponent + NO_EXPONENT) << 23);
}
/* Warp: of its values. */
static __device__ __forceinline__ int32_t largest_exponent(real value)
{
  return (int32_t)(__reduce_max_sync(MD_ALL_LANES, __float_as_uint(value) & 0x7fffffffu) >> 23);
}
/* What numbers are multiplied with, and their sums with weights. */
static __device__ __forceinline__ real scale_down(int32_t exponent)
{
  return power_of_two(13 + NO_EXPONENT - exponent);
}
static __device__ __forceinline__ real scale_up(int32_t exponent)
{
  return power_of_two(exponent - NO_EXPONENT - 13 - 14);
}
/* Sums of one scale in another. */
static __device__ __forceinline__ real rescale(int32_t from, int32_t to)
{
  return to - from < NO_EXPONENT ? power_of_two(from - to) : 0;
}
/* The smallest scale from `to` on in which sums up to an exponent stay below 2^100. */
static __device__ __forceinline__ int32_t least_scale(int32_t from, int32_t to, int32_t largest)
{
  return min(from, max(max(to, from - 100), from + largest - NO_EXPONENT - 100));
}
#endif

#endif
