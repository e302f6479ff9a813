/* stokes/matrix/gspmv_gpu.h - products on the GPU by layout. */
#ifndef STOKES_GSPMV_GPU_H
#define STOKES_GSPMV_GPU_H

#include "stokes/slices/slices_gpu.h"

MD_BEGIN_C

/* Room for the chunks of plain rows, in slices.place; and cut them. */
md_status gspmv_gpu_reserve_row_chunks(stokes_matrix *matrix);
md_status gspmv_gpu_cut_row_chunks(const stokes_matrix *matrix, cudaStream_t stream);

/* What becomes of a product: y = A x, or a step of a series,
 * y = f[0] A x + f[1] x + f[2] y,  total += f[3] y + f[4] x (total may be NULL). */
typedef struct {
  bool series;
  double f[5];
  void *total;            /* of the type of x and y */
  const gspmv_halo *halo; /* of a product of doubles; NULL: X is whole */
} gspmv_use;
/* Plain rows, for one vector and for several. */
md_status gspmv_gpu_rows(const stokes_matrix *matrix, const double *x, double *y,
                         const gspmv_use *use);
md_status gspmv_gpu_row_columns(const stokes_matrix *matrix, int m, const double *x, double *y,
                                const gspmv_use *use);
/* Vectors of float or of double, with ways for them; x, y and what use refers to begin with the
 * first column of the range. */
int gspmv_gpu_ways_single(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS]);
int gspmv_gpu_ways_double(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS]);
md_status gspmv_gpu_slices_single(const stokes_matrix *matrix, const gspmv_range *range,
                                  const void *x, void *y, const gspmv_use *use);
md_status gspmv_gpu_slices_double(const stokes_matrix *matrix, const gspmv_range *range,
                                  const void *x, void *y, const gspmv_use *use);

MD_END_C

/* What is known of element `at` before its product is: the result is f[0] product + rest, and total
 * goes on by f[3] times that.  series: a constant, whether it is a step of a series. */
typedef struct {
  double rest, total;
} gspmv_known;

static __device__ __forceinline__ gspmv_known gspmv_before(const gspmv_use *use, bool series,
                                                           const double *x, const double *y,
                                                           int64_t at)
{
  gspmv_known known = {0, 0};
  if (!series) return known;
  const double now = x[at];
  known.rest = use->f[1] * now + use->f[2] * y[at];
  if (use->total) known.total = ((const double *)use->total)[at] + use->f[4] * now;
  return known;
}

static __device__ __forceinline__ void gspmv_put(const gspmv_use *use, bool series,
                                                 const gspmv_known *known, double product,
                                                 double *y, int64_t at)
{
  const double result = series ? use->f[0] * product + known->rest : product;
  y[at] = result;
  if (series && use->total) ((double *)use->total)[at] = known->total + use->f[3] * result;
}

/* y += D x for a diagonal block of six. */
static __device__ __forceinline__ void gspmv_diagonal(const double *d, const double *x, double *y)
{
  y[0] += d[0] * x[0] + d[1] * x[1] + d[2] * x[2];
  y[1] += d[1] * x[0] + d[3] * x[1] + d[4] * x[2];
  y[2] += d[2] * x[0] + d[4] * x[1] + d[5] * x[2];
}

/* y -= (slide I + squeeze e e^T) x; the entry lies at a multiple of eight bytes. */
static __device__ __forceinline__ void gspmv_pair(const stokes_pair_entry *p, const double *x,
                                                  double *y)
{
  const float2 *two = (const float2 *)p;
  const double e[3] = {two[0].x, two[0].y, two[1].x}, squeeze = -two[1].y, slide = -p->slide;
  const double along = squeeze * (e[0] * x[0] + e[1] * x[1] + e[2] * x[2]);
  for (int d = 0; d < 3; d++) {
    y[d] += slide * x[d];
    y[d] += e[d] * along;
  }
}

/* Three sums of one block. */
static __device__ __forceinline__ void block_sums(int storage, const unsigned char *block,
                                                  const double *x, double *sum)
{
  sum[0] = sum[1] = sum[2] = 0;
  if (storage == STOKES_PAIR) {
    gspmv_pair((const stokes_pair_entry *)block, x, sum);
    return;
  }
  for (int row = 0; row < 3; row++)
    for (int col = 0; col < 3; col++)
      sum[row] += x[col] * (storage == STOKES_SINGLE ? ((const float *)block)[3 * row + col]
                                                     : ((const double *)block)[3 * row + col]);
}

#endif
