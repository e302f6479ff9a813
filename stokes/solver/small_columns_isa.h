/* stokes/solver/small_columns_isa.h - small dense products on a few rows of block vectors that lie
 * in cache.
 *
 * Included by files that are compiled once for each instruction set.  Sums run over rows or columns
 * in order, so that results do not depend on how rows are dealt out to threads. */
#ifndef STOKES_SMALL_COLUMNS_ISA_H
#define STOKES_SMALL_COLUMNS_ISA_H

#include "stokes/matrix/simd_vec.h"

#include <string.h>

/* A tile of results in registers: TALL broadcast values by WIDE vectors. */
enum { TALL = 4, WIDE = 2, SPAN = WIDE * LANES };

/* Columns that lie side by side: so many vectors, of which the last has `last` columns. */
typedef struct {
  int wide, last;
} column_span;

/* Vector b of a span at p. */
MD_INLINE vec span_load(const double *p, int b, column_span s)
{
  p += b * LANES;
  return b < s.wide - 1 || s.last == LANES ? vec_load(p) : vec_load_part(p, s.last);
}

MD_INLINE void span_store(double *p, int b, column_span s, vec v)
{
  p += b * LANES;
  if (b < s.wide - 1 || s.last == LANES)
    vec_store(p, v);
  else
    vec_store_part(p, v, s.last);
}

/* WORK(span) for the next columns of which `left` are left, with what is constant in it known to
 * the compiler. */
#define WITH_SPAN(left, WORK)                                                                      \
  do {                                                                                             \
    if ((left) >= SPAN)                                                                            \
      WORK(((column_span){WIDE, LANES}));                                                          \
    else if ((left) > LANES)                                                                       \
      WORK(((column_span){WIDE, (left)-LANES}));                                                   \
    else if ((left) == LANES)                                                                      \
      WORK(((column_span){1, LANES}));                                                             \
    else                                                                                           \
      WORK(((column_span){1, left}));                                                              \
  } while (0)

/* g[a..][..] += sum over rows of x[row][a..] y[row][..], tall (a constant) x span. */
MD_INLINE void gram_at(int rows, int m, const double *x, const double *y, double *g, int tall,
                       column_span s)
{
  vec sum[TALL][WIDE];
  for (int a = 0; a < tall; a++)
    for (int b = 0; b < s.wide; b++)
      sum[a][b] = span_load(g + a * m, b, s);
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int b = 0; b < s.wide; b++) {
      const vec yv = vec_keep(span_load(y + r * m, b, s));
#pragma GCC unroll 4
      for (int a = 0; a < tall; a++)
        sum[a][b] += x[r * m + a] * yv;
    }
  }
  for (int a = 0; a < tall; a++)
    for (int b = 0; b < s.wide; b++)
      span_store(g + a * m, b, s, sum[a][b]);
}

/* The columns of a span from column b on, in all rows that reach its diagonal. */
MD_INLINE void gram_span(int rows, int m, const double *x, const double *y, double *g, int b,
                         column_span s)
{
  const int end = b + SPAN < m ? b + SPAN : m;
  int a = 0;
  for (; a + TALL <= end; a += TALL)
    gram_at(rows, m, x + a, y + b, g + a * m + b, TALL, s);
  for (; a < end; a++)
    gram_at(rows, m, x + a, y + b, g + a * m + b, 1, s);
}

/* Fewer columns than pay for vectors of them: their number is a constant, sums are in registers. */
enum { FEW = 4 };
#define WITH_FEW(m, WORK)                                                                          \
  do {                                                                                             \
    if ((m) == 1) WORK(1);                                                                         \
    if ((m) == 2) WORK(2);                                                                         \
    if ((m) == 3) WORK(3);                                                                         \
    if ((m) == FEW) WORK(FEW);                                                                     \
  } while (0)

/* As tile_gram, m is FEW at most and a constant. */
MD_INLINE void gram_few(int rows, int m, const double *x, const double *y, double *g)
{
  double sum[FEW * FEW];
  memcpy(sum, g, (size_t)(m * m) * sizeof *sum);
  for (int r = 0; r < rows; r++)
    for (int a = 0; a < m; a++)
      for (int b = a; b < m; b++)
        sum[a * m + b] += x[r * m + a] * y[r * m + b];
  memcpy(g, sum, (size_t)(m * m) * sizeof *sum);
}

/* As tile_combine, likewise. */
MD_INLINE void combine_few(int rows, int m, double sign, const double *x, const double *s,
                           bool keep, double *y)
{
  double column[FEW * FEW];
  for (int k = 0; k < m * m; k++)
    column[k] = sign * s[k];
  for (int r = 0; r < rows; r++) {
    double sum[FEW];
    for (int b = 0; b < m; b++) {
      sum[b] = keep ? y[r * m + b] : 0;
      for (int a = 0; a < m; a++)
        sum[b] += x[r * m + a] * column[a * m + b];
    }
    memcpy(y + r * m, sum, (size_t)m * sizeof *sum);
  }
}

/* g += x^T y for `rows` rows of m columns, where that is symmetric: below the diagonal it is not
 * complete. */
MD_INLINE void tile_gram(int rows, int m, const double *x, const double *y, double *g)
{
#define GRAM_FEW(n) gram_few(rows, n, x, y, g)
  WITH_FEW(m, GRAM_FEW);
#undef GRAM_FEW
  if (m <= FEW) return;
  for (int b = 0; b < m; b += SPAN) {
#define GRAM_SPAN(s) gram_span(rows, m, x, y, g, b, s)
    WITH_SPAN(m - b, GRAM_SPAN);
#undef GRAM_SPAN
  }
}

/* y[row][..] = sign x[row][..] s[..][..] + (keep ? y : 0), tall rows (a constant) x span. */
MD_INLINE void combine_at(int m, double sign, const double *x, const double *s, bool keep,
                          double *y, int tall, column_span span)
{
  vec sum[TALL][WIDE] = {0};
  for (int a = 0; a < m; a++) {
#pragma GCC unroll 2
    for (int b = 0; b < span.wide; b++) {
      const vec sv = vec_keep(span_load(s + a * m, b, span));
#pragma GCC unroll 4
      for (int r = 0; r < tall; r++)
        sum[r][b] += x[r * m + a] * sv;
    }
  }
  for (int r = 0; r < tall; r++)
    for (int b = 0; b < span.wide; b++) {
      const vec v = sign * sum[r][b];
      span_store(y + r * m, b, span, keep ? span_load(y + r * m, b, span) + v : v);
    }
}

MD_INLINE void combine_span(int rows, int m, double sign, const double *x, const double *s,
                            bool keep, double *y, column_span span)
{
  int r = 0;
  for (; r + TALL <= rows; r += TALL)
    combine_at(m, sign, x + r * m, s, keep, y + r * m, TALL, span);
  for (; r < rows; r++)
    combine_at(m, sign, x + r * m, s, keep, y + r * m, 1, span);
}

/* y = sign x s + (keep ? y : 0) for `rows` rows; s is m x m. */
MD_INLINE void tile_combine(int rows, int m, double sign, const double *x, const double *s,
                            bool keep, double *y)
{
#define COMBINE_FEW(n) combine_few(rows, n, sign, x, s, keep, y)
  WITH_FEW(m, COMBINE_FEW);
#undef COMBINE_FEW
  if (m <= FEW) return;
  for (int b = 0; b < m; b += SPAN) {
#define COMBINE_SPAN(span) combine_span(rows, m, sign, x, s + b, keep, y + b, span)
    WITH_SPAN(m - b, COMBINE_SPAN);
#undef COMBINE_SPAN
  }
}

#endif
