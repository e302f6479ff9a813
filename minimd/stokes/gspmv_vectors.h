/* minimd/stokes/gspmv_vectors.h - what `minimd gspmv` multiplies, how long a product takes, and
 * whether it is right. */
#ifndef GSPMV_VECTORS_H
#define GSPMV_VECTORS_H

#include "stokes/matrix/matrix.h"

/* m vectors stored in `columns` columns, those behind the m-th zero: rows row[k] of blocks of them
 * [n], or the first n where row is NULL.  Numbers are in -1..1 and depend on m, row and column. */
void gspmv_fill(double *x, int64_t n, const int64_t *row, int m, int columns);

/* Median time of so many products on the context's backend; one more before is not counted.
 * Errors: MD_ENOMEM, those of stokes_matrix_multiply. */
md_status gspmv_time(md_ctx *ctx, const stokes_matrix *matrix, int repeat, int m, const double *x,
                     double *y, double *seconds);

/* Largest difference of a sum, and largest sum. */
typedef struct {
  double most, scale;
} gspmv_difference;
/* Of the rows of Y that these blocks make, from sums in long double; row: as above, of columns too.
 * One row in `stride` of the whole matrix is looked at. */
gspmv_difference gspmv_compare(const stokes_blocks *blocks, const int64_t *row, int64_t stride,
                               const double *y, int m, int columns);
/* So that about 1000 rows of n are. */
int64_t gspmv_stride(int64_t n);
/* Relative to the largest sum. */
double gspmv_error(gspmv_difference of);

#endif
