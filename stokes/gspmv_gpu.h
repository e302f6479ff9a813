/* stokes/gspmv_gpu.h - products on the GPU by layout. */
#ifndef STOKES_GSPMV_GPU_H
#define STOKES_GSPMV_GPU_H

#include "stokes/slices_gpu.h"

MD_BEGIN_C

/* slices.place[t] = chunk t of plain rows. */
md_status gspmv_gpu_chunks(stokes_matrix *matrix);
md_status gspmv_gpu_rows(const stokes_matrix *matrix, int m, const double *x, double *y);
md_status gspmv_gpu_slices(const stokes_matrix *matrix, int m, const double *x, double *y);

MD_END_C

/* y += D x for a diagonal block of six. */
static __device__ __forceinline__ void gspmv_diagonal(const double *d, const double *x, double *y)
{
  y[0] += d[0] * x[0] + d[1] * x[1] + d[2] * x[2];
  y[1] += d[1] * x[0] + d[3] * x[1] + d[4] * x[2];
  y[2] += d[2] * x[0] + d[4] * x[1] + d[5] * x[2];
}

/* y -= (slide I + squeeze e e^T) x */
static __device__ __forceinline__ void gspmv_pair(const stokes_pair_entry *p, const double *x,
                                                  double *y)
{
  const double along = (double)p->squeeze * (p->e[0] * x[0] + p->e[1] * x[1] + p->e[2] * x[2]);
  for (int d = 0; d < 3; d++)
    y[d] -= (double)p->slide * x[d] + p->e[d] * along;
}

#endif
