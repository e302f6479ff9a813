/* core/simd.h - names and vector types of one instruction set.
 *
 * Kernels that depend on the instruction set are compiled once for each of MD_ISAS with MD_ISA = 0
 * (portable, 16-byte vectors), 1 (AVX2 + FMA, 32 bytes), 2 (AVX-512, 64 bytes); a table in room.c
 * picks by md_ctx.isa.  ISA(name) adds the suffix, KERNEL(name) that of the precision as well:
 * force_cpu_full_double_avx512().
 *
 * Arithmetic, comparisons and masks are the compiler's vector extensions, so that a kernel is
 * written once.  Comparisons yield -1 or 0 in each lane; `value & mask` on the integer type keeps
 * or clears.  Only what the compilers do badly is in here: moving structures of four in and out of
 * lanes, and packing the lanes that a mask selects. */
#ifndef SIMD_H
#define SIMD_H

#if MD_ISA == 0
#define ISA_(name) name##_portable
#define SIMD_BYTES 16
#elif MD_ISA == 1
#define ISA_(name) name##_avx2
#define SIMD_BYTES 32
#else
#define ISA_(name) name##_avx512
#define SIMD_BYTES 64
#endif
#define ISA(name) ISA_(name)
#ifdef MD_PREC
#include "core/real.h"
#define KERNEL(name) ISA(PREC(name))
#endif

/* Rows of a dispatch table for KERNEL functions: table[precision][isa]. */
#define SIMD_ROW(name)                                                                             \
  {                                                                                                \
    name##_portable, name##_avx2, name##_avx512                                                    \
  }
#define SIMD_TABLE(name)                                                                           \
  {                                                                                                \
    SIMD_ROW(name##_single), SIMD_ROW(name##_mixed), SIMD_ROW(name##_double)                       \
  }
#define SIMD_DECLARE_(type, name) type name##_portable, name##_avx2, name##_avx512
#define SIMD_DECLARE(type, name)                                                                   \
  SIMD_DECLARE_(type, name##_single);                                                              \
  SIMD_DECLARE_(type, name##_mixed);                                                               \
  SIMD_DECLARE_(type, name##_double)
/* The same for GPU functions: table[precision]. */
#define PREC_TABLE(name)                                                                           \
  {                                                                                                \
    MD_GPU(name##_single), MD_GPU(name##_mixed), MD_GPU(name##_double)                             \
  }
#define PREC_DECLARE(type, name) type name##_single, name##_mixed, name##_double
/* The function of a context from the two tables. */
#define SIMD_PICK(ctx, cpu, gpu)                                                                   \
  ((ctx)->backend == MD_GPU ? (gpu)[(ctx)->precision] : (cpu)[(ctx)->precision][(ctx)->isa])

#ifdef MD_ISA
#include <stdint.h>
#if MD_ISA > 0
#include <immintrin.h>
#endif

typedef float simd_f32 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t simd_i32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t simd_u32 __attribute__((vector_size(SIMD_BYTES)));
typedef double simd_f64 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_i64 __attribute__((vector_size(SIMD_BYTES)));
/* One structure of four. */
typedef float simd_four_f32 __attribute__((vector_size(16), may_alias));
typedef double simd_four_f64 __attribute__((vector_size(32), may_alias));
enum { SIMD_F32 = SIMD_BYTES / 4, SIMD_F64 = SIMD_BYTES / 8 };

/* Interleave the low or high halves of each 16 bytes of a and b, in items of 4 or 8 bytes; item `u`
 * of 16 bytes of one vector, or of two as 32 bytes. */
#define SIMD_MIX_(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#if MD_ISA == 0
#define SIMD_LO32(a, b) SIMD_MIX_(a, b, 0, 4, 1, 5)
#define SIMD_HI32(a, b) SIMD_MIX_(a, b, 2, 6, 3, 7)
#define SIMD_LO64(a, b) SIMD_MIX_(a, b, 0, 2)
#define SIMD_HI64(a, b) SIMD_MIX_(a, b, 1, 3)
#elif MD_ISA == 1
#define SIMD_LO32(a, b) SIMD_MIX_(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define SIMD_HI32(a, b) SIMD_MIX_(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define SIMD_LO64(a, b) SIMD_MIX_(a, b, 0, 4, 2, 6)
#define SIMD_HI64(a, b) SIMD_MIX_(a, b, 1, 5, 3, 7)
#else
#define SIMD_LO32(a, b) SIMD_MIX_(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define SIMD_HI32(a, b) SIMD_MIX_(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define SIMD_LO64(a, b) SIMD_MIX_(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define SIMD_HI64(a, b) SIMD_MIX_(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#endif

/* 16 bytes each from base + item index[0], index[step], index[2 step], ... */
MD_INLINE simd_f32 simd_units_(const char *base, size_t item, const int32_t *index, int step)
{
#define UNIT_(k) (const float *)(base + item * (size_t)index[(k)*step])
#if MD_ISA == 0
  (void)step;
  return *(const simd_four_f32 *)UNIT_(0);
#elif MD_ISA == 1
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(UNIT_(0))), _mm_load_ps(UNIT_(1)),
                              1);
#else
  __m512 v = _mm512_castps128_ps512(_mm_load_ps(UNIT_(0)));
  v = _mm512_insertf32x4(v, _mm_load_ps(UNIT_(1)), 1);
  v = _mm512_insertf32x4(v, _mm_load_ps(UNIT_(2)), 2);
  return _mm512_insertf32x4(v, _mm_load_ps(UNIT_(3)), 3);
#endif
#undef UNIT_
}

/* The components of the structures base[index[0]], base[index[1]], ..., one component a vector:
 * SIMD_F32 structures of 16 bytes, or the first three of SIMD_F64 of 32. */
MD_INLINE void simd_load_fours(const void *base, const int32_t *index, simd_f32 out[4])
{
  const simd_f32 a = simd_units_(base, 16, index, 4), b = simd_units_(base, 16, index + 1, 4);
  const simd_f32 c = simd_units_(base, 16, index + 2, 4), d = simd_units_(base, 16, index + 3, 4);
  const simd_f64 xy01 = (simd_f64)SIMD_LO32(a, b), xy23 = (simd_f64)SIMD_LO32(c, d);
  const simd_f64 zw01 = (simd_f64)SIMD_HI32(a, b), zw23 = (simd_f64)SIMD_HI32(c, d);
  out[0] = (simd_f32)SIMD_LO64(xy01, xy23);
  out[1] = (simd_f32)SIMD_HI64(xy01, xy23);
  out[2] = (simd_f32)SIMD_LO64(zw01, zw23);
  out[3] = (simd_f32)SIMD_HI64(zw01, zw23);
}

MD_INLINE void simd_load_f32(const void *base, const int32_t *index, simd_f32 out[3])
{
  simd_f32 four[4];
  simd_load_fours(base, index, four);
  for (int d = 0; d < 3; d++)
    out[d] = four[d];
}

/* Four of SIMD_F64 structures of 32 bytes. */
MD_INLINE void simd_load_fours_f64(const void *base, const int32_t *index, simd_f64 out[4])
{
#if MD_ISA == 2
#define TWO_(a, b)                                                                                 \
  (simd_f64) _mm512_insertf64x4(                                                                   \
      _mm512_castpd256_pd512(_mm256_loadu_pd((const double *)base + 4 * (int64_t)index[a])),       \
      _mm256_loadu_pd((const double *)base + 4 * (int64_t)index[b]), 1)
  const simd_f64 a = TWO_(0, 2), b = TWO_(1, 3), c = TWO_(4, 6), d = TWO_(5, 7);
#undef TWO_
  const simd_f64 lo[2] = {SIMD_LO64(a, b), SIMD_LO64(c, d)};
  const simd_f64 hi[2] = {SIMD_HI64(a, b), SIMD_HI64(c, d)};
  out[0] = SIMD_MIX_(lo[0], lo[1], 0, 1, 4, 5, 8, 9, 12, 13);
  out[1] = SIMD_MIX_(hi[0], hi[1], 0, 1, 4, 5, 8, 9, 12, 13);
  out[2] = SIMD_MIX_(lo[0], lo[1], 2, 3, 6, 7, 10, 11, 14, 15);
  out[3] = SIMD_MIX_(hi[0], hi[1], 2, 3, 6, 7, 10, 11, 14, 15);
#else
  const char *xy = base, *zw = xy + 16;
  const simd_f64 a = (simd_f64)simd_units_(xy, 32, index, 2);
  const simd_f64 b = (simd_f64)simd_units_(xy, 32, index + 1, 2);
  const simd_f64 c = (simd_f64)simd_units_(zw, 32, index, 2);
  const simd_f64 d = (simd_f64)simd_units_(zw, 32, index + 1, 2);
  out[0] = SIMD_LO64(a, b);
  out[1] = SIMD_HI64(a, b);
  out[2] = SIMD_LO64(c, d);
  out[3] = SIMD_HI64(c, d);
#endif
}

MD_INLINE void simd_load_f64(const void *base, const int32_t *index, simd_f64 out[3])
{
  simd_f64 four[4]; /* what is not used, the compiler drops */
  simd_load_fours_f64(base, index, four);
  for (int d = 0; d < 3; d++)
    out[d] = four[d];
}

/* The reverse: lane k of (x, y, z) as the structure out[k] = {x, y, z, 0}. */
MD_INLINE void simd_fours_f32(const simd_f32 in[3], simd_four_f32 out[SIMD_F32])
{
  const simd_f32 zero = {0};
  const simd_f64 xy01 = (simd_f64)SIMD_LO32(in[0], in[1]), z01 = (simd_f64)SIMD_LO32(in[2], zero);
  const simd_f64 xy23 = (simd_f64)SIMD_HI32(in[0], in[1]), z23 = (simd_f64)SIMD_HI32(in[2], zero);
  const simd_f32 four[4] = {(simd_f32)SIMD_LO64(xy01, z01), (simd_f32)SIMD_HI64(xy01, z01),
                            (simd_f32)SIMD_LO64(xy23, z23), (simd_f32)SIMD_HI64(xy23, z23)};
  for (int k = 0; k < 4; k++) {
    out[k] = SIMD_MIX_(four[k], four[k], 0, 1, 2, 3);
#if MD_ISA > 0
    out[k + 4] = SIMD_MIX_(four[k], four[k], 4, 5, 6, 7);
#endif
#if MD_ISA > 1
    out[k + 8] = SIMD_MIX_(four[k], four[k], 8, 9, 10, 11);
    out[k + 12] = SIMD_MIX_(four[k], four[k], 12, 13, 14, 15);
#endif
  }
}

MD_INLINE void simd_fours_f64(const simd_f64 in[3], simd_four_f64 out[SIMD_F64])
{
  const simd_f64 zero = {0};
  const simd_f64 xy[2] = {SIMD_LO64(in[0], in[1]), SIMD_HI64(in[0], in[1])};
  const simd_f64 z[2] = {SIMD_LO64(in[2], zero), SIMD_HI64(in[2], zero)};
  for (int k = 0; k < 2; k++) {
    out[k] = SIMD_MIX_(xy[k], z[k], 0, 1, SIMD_F64, SIMD_F64 + 1);
#if MD_ISA > 0
    out[k + 2] = SIMD_MIX_(xy[k], z[k], 2, 3, SIMD_F64 + 2, SIMD_F64 + 3);
#endif
#if MD_ISA > 1
    out[k + 4] = SIMD_MIX_(xy[k], z[k], 4, 5, SIMD_F64 + 4, SIMD_F64 + 5);
    out[k + 6] = SIMD_MIX_(xy[k], z[k], 6, 7, SIMD_F64 + 6, SIMD_F64 + 7);
#endif
  }
}

/* Some of the lanes: a bit for each where the processor has registers of them, else -1 or 0 in
 * each. The bitwise operators work on both. */
#if MD_ISA == 2
typedef __mmask16 simd_some;
#else
typedef simd_i32 simd_some;
#endif

/* Lanes where that is so. */
MD_INLINE simd_some simd_less(simd_f32 a, simd_f32 b)
{
#if MD_ISA == 2
  return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
  return a < b;
#endif
}
MD_INLINE simd_some simd_more(simd_i32 a, simd_i32 b)
{
#if MD_ISA == 2
  return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
#else
  return a > b;
#endif
}
MD_INLINE simd_some simd_same(simd_i32 a, simd_i32 b)
{
#if MD_ISA == 2
  return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
#else
  return a == b;
#endif
}

/* In these lanes the larger of a and b, elsewhere a. */
MD_INLINE simd_f32 simd_max_of(simd_f32 a, simd_f32 b, simd_some lanes)
{
#if MD_ISA == 2
  return (simd_f32)_mm512_mask_max_ps((__m512)a, lanes, (__m512)a, (__m512)b);
#elif MD_ISA == 1
  return (simd_f32)_mm256_max_ps((__m256)a, _mm256_blendv_ps((__m256)a, (__m256)b, (__m256)lanes));
#else
  const simd_i32 more = (a < b) & lanes;
  return (simd_f32)(((simd_i32)b & more) | ((simd_i32)a & ~more));
#endif
}

/* Whether all of them are less than b. */
MD_INLINE bool simd_all_less(simd_f32 a, float b)
{
#if MD_ISA == 2
  return simd_less(a, (simd_f32){0} + b) == 0xffff;
#elif MD_ISA == 1
  return _mm256_movemask_ps((__m256)simd_less(a, (simd_f32){0} + b)) == 0xff;
#else
  return a[0] < b && a[1] < b && a[2] < b && a[3] < b;
#endif
}

/* Write those lanes of value to `to`, packed; SIMD_F32 places must be writable.  Returns their
 * number. */
MD_INLINE int simd_pack(int32_t *to, simd_i32 value, simd_some lanes)
{
#if MD_ISA == 2
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(lanes, (__m512i)value));
  return _mm_popcnt_u32(lanes);
#elif MD_ISA == 1
  const unsigned bits = (unsigned)_mm256_movemask_ps((__m256)lanes);
  const uint64_t bytes = _pdep_u64(bits, 0x0101010101010101) * 0xff;
  const uint64_t from = _pext_u64(0x0706050403020100, bytes);
  const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)from));
  _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32((__m256i)value, order));
  return _mm_popcnt_u32(bits);
#else
  int n = 0;
  for (int k = 0; k < SIMD_F32; k++) {
    to[n] = value[k];
    n -= lanes[k];
  }
  return n;
#endif
}

#ifdef MD_PREC
/* The vectors of one precision: SIMD_LANES pairs at a time. */
enum { SIMD_LANES = SIMD_BYTES / sizeof(real), SIMD_STATES = SIMD_BYTES / sizeof(state) };
typedef double simd_accum __attribute__((vector_size(SIMD_BYTES / sizeof(real) * 8)));
#if MD_PREC == 2
typedef simd_f64 simd_real, simd_coord;
typedef simd_i64 simd_mask;
typedef simd_four_f64 simd_four;
#define simd_fours simd_fours_f64
#else
typedef simd_f32 simd_real;
typedef simd_i32 simd_mask;
typedef simd_four_f32 simd_four;
#define simd_fours simd_fours_f32
#endif
#if MD_PREC == 0
typedef simd_f32 simd_coord;
typedef simd_f32 simd_state;
#define simd_load_state simd_load_f32
#else
typedef simd_f64 simd_state;
#define simd_load_state simd_load_f64
#endif
#if MD_PREC == 1
typedef simd_i32 simd_coord;
#endif
/* a b + c, in one instruction where the processor has it, whatever else needs a b: compilers
 * contract a product with one use only.  And roots, which not all compilers make vectors of. */
#if MD_ISA == 0
MD_INLINE simd_real simd_fma(simd_real a, simd_real b, simd_real c)
{
  return a * b + c;
}
MD_INLINE simd_real simd_sqrt(simd_real a)
{
  simd_real root = a;
  for (int l = 0; l < SIMD_LANES; l++)
    root[l] = sizeof(real) == 4 ? (real)__builtin_sqrtf((float)a[l]) : (real)__builtin_sqrt(a[l]);
  return root;
}
#else
#if MD_ISA == 1 && MD_PREC == 2
#define SIMD_OP_(op) _mm256_##op##_pd
#elif MD_ISA == 1
#define SIMD_OP_(op) _mm256_##op##_ps
#elif MD_PREC == 2
#define SIMD_OP_(op) _mm512_##op##_pd
#else
#define SIMD_OP_(op) _mm512_##op##_ps
#endif
MD_INLINE simd_real simd_fma(simd_real a, simd_real b, simd_real c)
{
  return SIMD_OP_(fmadd)(a, b, c);
}
MD_INLINE simd_real simd_sqrt(simd_real a)
{
  return SIMD_OP_(sqrt)(a);
}
#undef SIMD_OP_
#endif

/* Components of SIMD_LANES structures of coordinates. */
MD_INLINE void simd_load_coord(const void *base, const int32_t *index, simd_coord out[3])
{
#if MD_PREC == 2
  simd_load_f64(base, index, out);
#else
  simd_f32 bits[3];
  simd_load_f32(base, index, bits);
  for (int d = 0; d < 3; d++)
    out[d] = (simd_coord)bits[d];
#endif
}
#endif
#endif

#endif
