/* minimd/stokes/gspmv_vectors.c - see gspmv_vectors.h. */
#include "minimd/stokes/gspmv_vectors.h"
#include "core/most.h"
#include "core/time/stopwatch.h"
#include "minimd/shell/median.h"

#include <math.h>

/* Element of row k, column c. */
static double number(size_t k, int c, int m)
{
  return (double)((k * (size_t)m + (size_t)c) * 2654435761u % 2000003u) / 1000001.5 - 1;
}

void gspmv_fill(double *x, int64_t n, const int64_t *row, int m, int columns)
{
  for (int64_t k = 0; k < 3 * n; k++) {
    const size_t at = row ? (size_t)(3 * row[k / 3] + k % 3) : (size_t)k;
    for (int c = 0; c < columns; c++)
      *x++ = c < m ? number(at, c, m) : 0;
  }
}

md_status gspmv_time(md_ctx *ctx, const stokes_matrix *matrix, int repeat, int m, const double *x,
                     double *y, double *seconds)
{
  md_stopwatch watch;
  double *all = calloc((size_t)repeat + 1, sizeof *all);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for %d times", repeat);
  md_status status = md_stopwatch_create(ctx, &watch);
  for (int k = 0; !status && k <= repeat; k++) {
    status = md_stopwatch_start(&watch, true);
    if (!status) status = stokes_matrix_multiply(matrix, m, x, y);
    if (!status) status = md_stopwatch_stop(&watch, &all[k]);
  }
  *seconds = median_of(all + 1, repeat);
  md_stopwatch_destroy(&watch);
  free(all);
  return status;
}

/* Element d of row i times column c. */
static long double sum_of(const stokes_blocks *blocks, const int64_t *row, int64_t i, int d, int c,
                          int m)
{
  long double sum = 0;
  for (int64_t p = blocks->start[i]; p < blocks->start[i + 1]; p++) {
    const int64_t column = row ? row[blocks->column[p]] : blocks->column[p];
    for (int q = 0; q < 3; q++)
      sum += (long double)blocks->block[9 * p + 3 * d + q] * number((size_t)(3 * column + q), c, m);
  }
  return sum;
}

gspmv_difference gspmv_compare(const stokes_blocks *blocks, const int64_t *row, int64_t stride,
                               const double *y, int m, int columns)
{
  gspmv_difference found = {0, 0};
  for (int64_t i = 0; i < blocks->n_rows; i++) {
    if ((row ? row[i] : i) % stride) continue;
    for (int d = 0; d < 3; d++)
      for (int c = 0; c < m; c++) {
        const double sum = (double)sum_of(blocks, row, i, d, c, m);
        found.most = md_most(found.most, fabs(sum - y[(3 * i + d) * columns + c]));
        found.scale = fmax(found.scale, fabs(sum));
      }
  }
  return found;
}

int64_t gspmv_stride(int64_t n)
{
  return 1 + n / 1000;
}

double gspmv_error(gspmv_difference of)
{
  return of.scale > 0 ? of.most / of.scale : of.most;
}
