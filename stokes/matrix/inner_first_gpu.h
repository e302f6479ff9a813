/* stokes/matrix/inner_first_gpu.h - in which order a product takes rows of which some need other
 * GPUs' rows of X: those that need none first, so that the others' halo is there when they come. */
#ifndef STOKES_INNER_FIRST_GPU_H
#define STOKES_INNER_FIRST_GPU_H

#include "core/gpu/cuda.h"
#include "stokes/matrix/matrix_impl.h"

MD_BEGIN_C

/* Rows of matrix->start with matrix->inner, inner ones in their order, then the others backwards:
 * row[k] is the one at place k, start[k] how many blocks are before it, and *n_inner how many are
 * inner. */
typedef struct {
  int64_t *start; /* [n_rows + 1] */
  int64_t *n_inner;
  int32_t *row; /* [n_rows] */
} inner_first;
md_status inner_first_rows(stokes_matrix *matrix, inner_first *out);

/* Chunks of plain rows (stokes/matrix/row_chunks_gpu.h) by slots of their windows: room, and the
 * order.  order[k] is window * CHUNK_SLOTS + slot, and matrix->calm counts those that need no
 * ghosts. */
md_status inner_first_reserve_slots(stokes_matrix *matrix);
md_status inner_first_slots(const stokes_matrix *matrix, cudaStream_t stream);

MD_END_C
#endif
