/* spread/bspline.h - cardinal B-splines, shared by every kernel and by the tests.
 *
 *   M_2(u) = 1 - |u - 1| on [0, 2],   M_n(u) = [u M_{n-1}(u) + (n - u) M_{n-1}(u - 1)] / (n - 1)
 *
 * A particle at fraction f in [0, 1] of its cell has the weights w[j] = M_p(f + p - 1 - j) at mesh
 * point floor(u) + j, j = 0..p-1, so
 *
 *   (n - 1) w_n[j] = (f + n - 1 - j) w_{n-1}[j-1] + (1 + j - f) w_{n-1}[j],   w_1[0] = 1
 *   d w_n[j] / df = w_{n-1}[j-1] - w_{n-1}[j]
 *
 * The divisions wait until the end, one by (p-1)!: at rational points all before it is exact. Every
 * term is positive, nothing cancels.  Callers pass the order as a constant, so that loops unroll.
 * Kernels that hold several particles in one vector define BSPLINE_VECTOR as that vector. */
#ifndef BSPLINE_H
#define BSPLINE_H

#include "core/md.h"

#if defined(__CUDA_ARCH__)
#define SPREAD_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define SPREAD_UNROLL
#elif defined(__clang__)
#define SPREAD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SPREAD_UNROLL _Pragma("GCC unroll 16")
#endif

#ifdef MD_PREC
#include "core/real.h"
typedef real bspline_scalar;
#else
typedef double bspline_scalar;
#endif
#ifndef BSPLINE_VECTOR
#define BSPLINE_VECTOR bspline_scalar
#endif

/* 1 / n!, n <= 9, in double and in the type of the weights.  Without a loop, as nvcc divides at run
 * time where it unrolls one late. */
MD_INLINE double bspline_inverse_double(int n)
{
  return 1 / ((n < 2 ? 1. : 2.) * (n < 3 ? 1. : 3.) * (n < 4 ? 1. : 4.) * (n < 5 ? 1. : 5.) *
              (n < 6 ? 1. : 6.) * (n < 7 ? 1. : 7.) * (n < 8 ? 1. : 8.) * (n < 9 ? 1. : 9.));
}

MD_INLINE bspline_scalar bspline_inverse_factorial(int n)
{
  return (bspline_scalar)bspline_inverse_double(n);
}

/* (n-1)! w_n from (n-2)! w_{n-1}, in place. */
MD_INLINE void bspline_raise(int n, BSPLINE_VECTOR f, BSPLINE_VECTOR *w)
{
  w[n - 1] = f * w[n - 2];
  SPREAD_UNROLL
  for (int j = n - 2; j > 0; j--)
    w[j] = (f + (bspline_scalar)(n - 1 - j)) * w[j - 1] + ((bspline_scalar)(1 + j) - f) * w[j];
  w[0] = ((bspline_scalar)1 - f) * w[0];
}

/* (p-1)! w_p, for callers that fold the division into something else. */
MD_INLINE void bspline_unscaled(int p, BSPLINE_VECTOR f, BSPLINE_VECTOR *w)
{
  w[0] = (bspline_scalar)1 - f;
  w[1] = f;
  SPREAD_UNROLL
  for (int n = 3; n <= p; n++)
    bspline_raise(n, f, w);
}

/* The same times a constant, as even and odd polynomials in t = f - 1/2: half the operations, but
 * errors as large as those of the largest weight.  The coefficient of t^m in (p-1)! w_p[j] is (p-1
 * over m) times the m-th difference of (p-1-m)! w_{p-m} at t = 0; compilers know them all. */
MD_INLINE void bspline_scaled(int p, BSPLINE_VECTOR f, double scale, BSPLINE_VECTOR *w)
{
  const BSPLINE_VECTOR t = f - (bspline_scalar)0.5, square = t * t, zero = {0};
  BSPLINE_VECTOR part[2][8]; /* even, odd */
  double middle[16] = {1}, difference[16], binomial = 1;
  SPREAD_UNROLL
  for (int m = p - 1; m >= 0; m--) {
    SPREAD_UNROLL
    for (int j = 0; j < p; j++)
      difference[j] = binomial * middle[j];
    SPREAD_UNROLL
    for (int i = 0; i < m; i++) {
      SPREAD_UNROLL
      for (int j = p - 1; j > 0; j--)
        difference[j] = difference[j - 1] - difference[j];
      difference[0] = -difference[0];
    }
    SPREAD_UNROLL
    for (int j = 0; j < (p + 1) / 2; j++) {
      const bspline_scalar c = (bspline_scalar)(scale * difference[j]);
      part[m % 2][j] = (m < p - 2 ? part[m % 2][j] * square : zero) + c;
    }
    SPREAD_UNROLL
    for (int j = p - m; j > 0; j--)
      middle[j] = (p - m - j + 0.5) * middle[j - 1] + (0.5 + j) * middle[j];
    middle[0] *= 0.5;
    binomial = binomial * m / (p - m);
  }
  SPREAD_UNROLL
  for (int j = 0; j < (p + 1) / 2; j++) {
    w[p - 1 - j] = part[0][j] - t * part[1][j];
    w[j] = part[0][j] + t * part[1][j];
  }
}

MD_INLINE void bspline_polynomials(int p, BSPLINE_VECTOR f, BSPLINE_VECTOR *w)
{
  bspline_scaled(p, f, 1, w);
}

/* The weights w[0..p-1]. */
MD_INLINE void bspline_weights(int p, BSPLINE_VECTOR f, BSPLINE_VECTOR *w)
{
  bspline_unscaled(p, f, w);
  const bspline_scalar scale = bspline_inverse_factorial(p - 1);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    w[j] *= scale;
}

/* The weight w[j] alone, for a j known at run time only. */
MD_INLINE BSPLINE_VECTOR bspline_weight(int p, BSPLINE_VECTOR f, int j)
{
  BSPLINE_VECTOR w[16], picked;
  bspline_weights(p, f, w);
  picked = w[0];
  SPREAD_UNROLL
  for (int k = 1; k < p; k++)
    picked = k == j ? w[k] : picked;
  return picked;
}

/* The weights and their derivatives d[j] = d w[j] / df. */
MD_INLINE void bspline_derivatives(int p, BSPLINE_VECTOR f, BSPLINE_VECTOR *w, BSPLINE_VECTOR *d)
{
  if (p == 2) { /* M_1 is a box */
    bspline_unscaled(2, f, w);
    d[1] = f - f + (bspline_scalar)1;
    d[0] = -d[1];
    return;
  }
  bspline_unscaled(p - 1, f, w);
  const bspline_scalar lower = bspline_inverse_factorial(p - 2);
  d[0] = -lower * w[0];
  SPREAD_UNROLL
  for (int j = 1; j < p - 1; j++)
    d[j] = lower * (w[j - 1] - w[j]);
  d[p - 1] = lower * w[p - 2];
  bspline_raise(p, f, w);
  const bspline_scalar scale = bspline_inverse_factorial(p - 1);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    w[j] *= scale;
}

#endif
