/* stokes/gspmv_gpu.h - products on the GPU by layout. */
#ifndef STOKES_GSPMV_GPU_H
#define STOKES_GSPMV_GPU_H

#include "stokes/slices_gpu.h"

MD_BEGIN_C

/* Room for the chunks of plain rows, in slices.place; and cut them. */
md_status gspmv_gpu_reserve_chunks(stokes_matrix *matrix);
md_status gspmv_gpu_cut_chunks(const stokes_matrix *matrix, cudaStream_t stream);

/* What becomes of a product: y = A x where total is NULL, or else a step of a series,
 * y = f[0] A x + f[1] x + f[2] y,  total += f[3] y. */
typedef struct {
  double f[4];
  double *total;
} gspmv_use;
md_status gspmv_gpu_rows(const stokes_matrix *matrix, int m, const double *x, double *y,
                         const gspmv_use *use);
md_status gspmv_gpu_slices(const stokes_matrix *matrix, int m, const double *x, double *y,
                           const gspmv_use *use);

MD_END_C

/* Element `at` of the product goes where it is used. */
static __device__ __forceinline__ void gspmv_put(const gspmv_use *use, double product,
                                                 const double *x, double *y, int64_t at)
{
  if (use->total) {
    product = use->f[0] * product + use->f[1] * x[at] + use->f[2] * y[at];
    use->total[at] += use->f[3] * product;
  }
  y[at] = product;
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

#endif
