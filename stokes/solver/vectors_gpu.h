/* stokes/solver/vectors_gpu.h - launches that the two halves of the GPU's vectors share. */
#ifndef STOKES_VECTORS_GPU_H
#define STOKES_VECTORS_GPU_H

#include "core/buffer.h"
#include "core/gpu/cuda.h"
#include "stokes/solver/jacobi.h"
#include "stokes/solver/vectors_impl.h"

enum { VECTOR_BLOCK = 256, VECTOR_PARTS = 256 };

static inline cudaStream_t vector_stream(const vector_space *s)
{
  return (cudaStream_t)s->ctx->stream;
}

MD_BEGIN_C

/* sums[k] = partial[0][k] + partial[1][k] + ... for k < width, on the host. */
md_status vector_gpu_add(vector_space *s, int width, double *sums);
/* y = M^-1 x; only with a preconditioner. */
md_status vector_gpu_solve(vector_space *s, int m, const double *x, double *y);

md_status vector_gpu_gram(vector_space *s, int m, const double *x, const double *y, double *g);
md_status vector_gpu_block_update(vector_space *s, int m, const block_vectors *v,
                                  const double *step, const double *back, double *g);
md_status vector_gpu_block_turn(vector_space *s, int m, const block_vectors *v, const double *t,
                                const double *turn);
md_status vector_gpu_cg_begin(vector_space *s, const cg_vectors *v, double tolerance);
md_status vector_gpu_cg_step(vector_space *s, const cg_vectors *v);

MD_END_C
#endif
