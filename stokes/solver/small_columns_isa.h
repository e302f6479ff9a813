/* stokes/solver/small_columns_isa.h - small dense products on a few rows of block vectors that lie
 * in cache.
 *
 * Included by files that are compiled once for each instruction set.  Sums run over rows or columns
 * in order, so that results do not depend on how rows are dealt out to threads. */
#ifndef STOKES_SMALL_COLUMNS_ISA_H
#define STOKES_SMALL_COLUMNS_ISA_H

#include "stokes/matrix/simd_vec.h"

/* A tile of results in registers: TALL broadcast values by WIDE vectors. */
enum { TALL = 4, WIDE = 2 };

/* g[a..][b..] += sum over rows of x[row][a..] y[row][b..], tall x wide (constants). */
MD_INLINE void tile_gram_at(int rows, int m, const double *x, const double *y, double *g, int tall,
                            int wide)
{
  vec sum[TALL][WIDE];
  for (int a = 0; a < tall; a++)
    for (int b = 0; b < wide; b++)
      sum[a][b] = vec_load(g + a * m + b * LANES);
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int b = 0; b < wide; b++) {
      const vec yv = vec_keep(vec_load(y + r * m + b * LANES));
#pragma GCC unroll 4
      for (int a = 0; a < tall; a++)
        sum[a][b] += x[r * m + a] * yv;
    }
  }
  for (int a = 0; a < tall; a++)
    for (int b = 0; b < wide; b++)
      vec_store(g + a * m + b * LANES, sum[a][b]);
}

/* g += x^T y for `rows` rows of m columns. */
MD_INLINE void tile_gram(int rows, int m, const double *x, const double *y, double *g)
{
  int b = 0;
  for (; b + LANES <= m; b += LANES) {
    const bool both = b + WIDE * LANES <= m;
    int a = 0;
    for (; a + TALL <= m; a += TALL) {
      if (both)
        tile_gram_at(rows, m, x + a, y + b, g + a * m + b, TALL, WIDE);
      else
        tile_gram_at(rows, m, x + a, y + b, g + a * m + b, TALL, 1);
    }
    for (; a < m; a++) {
      if (both)
        tile_gram_at(rows, m, x + a, y + b, g + a * m + b, 1, WIDE);
      else
        tile_gram_at(rows, m, x + a, y + b, g + a * m + b, 1, 1);
    }
    if (both) b += LANES;
  }
  for (; b < m; b++)
    for (int r = 0; r < rows; r++)
      for (int a = 0; a < m; a++)
        g[a * m + b] += x[r * m + a] * y[r * m + b];
}

/* y[row][b..] = sign x[row][..] s[..][b..] + (keep ? y : 0), tall rows x wide vectors (constants).
 */
MD_INLINE void tile_combine_at(int m, double sign, const double *x, const double *s, bool keep,
                               double *y, int tall, int wide)
{
  vec sum[TALL][WIDE] = {0};
  for (int a = 0; a < m; a++) {
#pragma GCC unroll 2
    for (int b = 0; b < wide; b++) {
      const vec sv = vec_keep(vec_load(s + a * m + b * LANES));
#pragma GCC unroll 4
      for (int r = 0; r < tall; r++)
        sum[r][b] += x[r * m + a] * sv;
    }
  }
  for (int r = 0; r < tall; r++)
    for (int b = 0; b < wide; b++) {
      double *to = y + r * m + b * LANES;
      vec_store(to, keep ? vec_load(to) + sign * sum[r][b] : sign * sum[r][b]);
    }
}

/* y = sign x s + (keep ? y : 0) for `rows` rows; s is m x m. */
MD_INLINE void tile_combine(int rows, int m, double sign, const double *x, const double *s,
                            bool keep, double *y)
{
  int b = 0;
  for (; b + LANES <= m; b += LANES) {
    const bool both = b + WIDE * LANES <= m;
    int r = 0;
    for (; r + TALL <= rows; r += TALL) {
      if (both)
        tile_combine_at(m, sign, x + r * m, s + b, keep, y + r * m + b, TALL, WIDE);
      else
        tile_combine_at(m, sign, x + r * m, s + b, keep, y + r * m + b, TALL, 1);
    }
    for (; r < rows; r++)
      tile_combine_at(m, sign, x + r * m, s + b, keep, y + r * m + b, 1, both ? WIDE : 1);
    if (both) b += LANES;
  }
  for (; b < m; b++)
    for (int r = 0; r < rows; r++) {
      double sum = 0;
      for (int a = 0; a < m; a++)
        sum += x[r * m + a] * s[a * m + b];
      y[r * m + b] = sign * sum + (keep ? y[r * m + b] : 0);
    }
}

#endif
