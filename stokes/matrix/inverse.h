/* stokes/matrix/inverse.h - 1 / x, 1 / sqrt(x) and ln(x) of numbers that are positive and neither
 * huge nor tiny, to the last bits.  A GPU's own functions spend branches on all the others: here
 * division begins with an approximation to some twenty bits, which one step of third order
 * completes, and logarithms are series.  For floats, in files that a GPU's compiler takes in single
 * precision: approximations to 22 bits, improved by one step but for logarithms. */
#ifndef STOKES_INVERSE_H
#define STOKES_INVERSE_H

#include <math.h>

#include "core/md.h"

MD_INLINE double inverse_of(double x)
{
#ifdef __CUDA_ARCH__
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double rest = fma(-x, y, 1.0);
  return fma(y, fma(rest, rest, rest), y);
#else
  return 1 / x;
#endif
}

/* 1 / sqrt(x) and *root = sqrt(x). */
MD_INLINE double inverse_root_of(double x, double *root)
{
#ifdef __CUDA_ARCH__
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double rest = fma(-x * y, y, 1.0);
  y = fma(y * rest, fma(rest, 0.375, 0.5), y);
  const double near = x * y;
  *root = fma(0.5 * y, fma(-near, near, x), near);
  return y;
#else
  *root = sqrt(x);
  return 1 / *root;
#endif
}

/* ln(x) = e ln(2) + 2 artanh(s) for x = 2^e m, s = (m - 1) / (m + 1), |s| < 0.172, where the series
 * up to s^19 leaves out less than 2^-55 of it. */
MD_INLINE double log_of(double x)
{
#ifdef __CUDA_ARCH__
  const int high = __double2hiint(x), e = (high - 0x3fe6a09e) >> 20; /* from sqrt(1/2) on */
  const double m = __hiloint2double(high - (e << 20), __double2loint(x));
  const double s = (m - 1) * inverse_of(m + 1), z = s * s;
  double sum = 1.0 / 19;
#pragma unroll
  for (int k = 17; k > 1; k -= 2)
    sum = fma(sum, z, 1.0 / k);
  return fma((double)e, 0.6931471805599453, fma(2 * s * z, sum, 2 * s));
#else
  return log(x);
#endif
}

#ifdef __CUDACC__
MD_INLINE float inverse_of(float x)
{
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(y, fmaf(-x, y, 1.0f), y);
#else
  return 1 / x;
#endif
}

MD_INLINE float inverse_root_of(float x, float *root)
{
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  y = fmaf(0.5f * y, fmaf(-x * y, y, 1.0f), y);
  const float near = x * y;
  *root = fmaf(0.5f * y, fmaf(-near, near, x), near);
  return y;
#else
  *root = sqrtf(x);
  return 1 / *root;
#endif
}

MD_INLINE float log_of(float x)
{
#ifdef __CUDA_ARCH__
  return 0.6931471806f * __log2f(x);
#else
  return logf(x);
#endif
}
#endif

#endif
