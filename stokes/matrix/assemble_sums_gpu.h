/* stokes/matrix/assemble_sums_gpu.h - how assembly sums diagonal blocks and stores blocks in
 * slices, on the GPU. */
#ifndef STOKES_ASSEMBLE_SUMS_GPU_H
#define STOKES_ASSEMBLE_SUMS_GPU_H

#include "stokes/matrix/slice_fill_gpu.h"

enum { TERMS = 6 }; /* of a symmetric block */

/* c += A B for A [8][4] and B [4][8]: lane l has A[l / 4][l % 4], B[l % 4][l / 4] and
 * c[l / 4][2 (l % 4)] with the next. */
static __device__ __forceinline__ void multiply_add(double a, double b, double *c)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/* Pairs of numbers at their place in a slice. */
static __device__ __forceinline__ void store_sliced(const slice_layout *l, int storage,
                                                    const slice_address *at, int k, int32_t column,
                                                    const assemble_terms *t,
                                                    const stokes_pair_entry *entry)
{
  if (storage == STOKES_PAIR) {
    slice_put_pair(l, at, k, entry);
    return;
  }
  double b[9];
  for (int q = 0; q < 9; q++)
    b[q] = assemble_element(t, q / 3, q % 3);
  slice_put_nine(l, storage, at, k, column, b);
}

#endif
