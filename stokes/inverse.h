/* stokes/inverse.h - 1 / x and 1 / sqrt(x) of numbers that are positive and neither huge nor tiny,
 * to the last bit or the one before.  A GPU's own division spends branches on all the others: here
 * it begins with an approximation to some twenty bits, which one step of third order completes. */
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

#endif
