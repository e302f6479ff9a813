/* stokes/matrix/simd_vec.h - vectors of doubles of one instruction set, and parts of them.
 *
 * Included by files that are compiled once for each instruction set (core/simd.h). */
#ifndef STOKES_SIMD_VEC_H
#define STOKES_SIMD_VEC_H

#include "core/md.h"
#include "core/simd.h"

typedef simd_f64 vec;
typedef double vec_loose __attribute__((vector_size(SIMD_BYTES), aligned(8), may_alias));
enum { LANES = SIMD_F64 };

MD_INLINE vec vec_load(const double *p)
{
  return (vec) * (const vec_loose *)p;
}

MD_INLINE void vec_store(double *p, vec v)
{
  *(vec_loose *)p = (vec_loose)v;
}

/* A value that is used several times and shall be loaded once: compilers would rather repeat the
 * load as an operand of each use, and kernels here are bound by their loads. */
MD_INLINE vec vec_keep(vec v)
{
#if defined(__x86_64__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

/* The first 1..LANES-1 doubles; the other lanes are 0 and their memory is not touched. */
#if MD_ISA == 2
MD_INLINE vec vec_load_part(const double *p, int n)
{
  return (vec)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
}
MD_INLINE void vec_store_part(double *p, vec v, int n)
{
  _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), (__m512d)v);
}
#elif MD_ISA == 1
MD_INLINE __m256i vec_part(int n)
{
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
MD_INLINE vec vec_load_part(const double *p, int n)
{
  return (vec)_mm256_maskload_pd(p, vec_part(n));
}
MD_INLINE void vec_store_part(double *p, vec v, int n)
{
  _mm256_maskstore_pd(p, vec_part(n), (__m256d)v);
}
#else
MD_INLINE vec vec_load_part(const double *p, int n)
{
  (void)n; /* two lanes: 1 */
  return (vec){p[0], 0};
}
MD_INLINE void vec_store_part(double *p, vec v, int n)
{
  (void)n;
  p[0] = v[0];
}
#endif

#endif
