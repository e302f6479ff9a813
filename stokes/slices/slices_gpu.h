/* stokes/slices/slices_gpu.h - where the blocks of a GPU matrix lie. */
#ifndef STOKES_SLICES_GPU_H
#define STOKES_SLICES_GPU_H

#include "core/gpu/cuda.h"
#include "stokes/matrix/assemble.h"

MD_BEGIN_C

/* Arrange the rows of matrix->start in slices of `width` lanes (4 or 8). */
md_status slices_build(stokes_matrix *matrix, int width);

/* Choose the layout for this many vectors and make room for matrix->n_stored blocks in the rows of
 * matrix->start. */
md_status matrix_gpu_reserve(stokes_matrix *matrix, int vectors);

matrix_set_fn matrix_gpu_set;
matrix_get_fn matrix_gpu_get;

MD_END_C

/* A sliced block in units: planes of one unit a lane, the column in the last word.
 *   bcrs    5 double2: nine elements and the column
 *   single  5 float2:  nine elements and the column
 *   pair    3 float2:  stokes_pair_entry
 * A block of a plain row is nine elements (the column lies apart) or a stokes_pair_entry. */
static __host__ __device__ __forceinline__ int slice_units(int storage)
{
  return storage == STOKES_PAIR ? 3 : 5;
}

static __host__ __device__ __forceinline__ int slice_unit_bytes(int storage)
{
  return storage == STOKES_BCRS ? 16 : 8;
}

/* Word w (8 or 4 bytes) of block k of a row: base[(k / parts) * step + (k % parts) * part +
 * (w / 2) * plane + w % 2], in words, with 1, 2 or 4 parts; a plain row has one and plane = 2. */
typedef struct {
  int64_t base, step;
  int parts, part, plane;
} slice_address;

static __device__ __forceinline__ int64_t slice_word(const slice_address *a, int k, int w)
{
  const int shift = a->parts / 2;
  return a->base + (int64_t)(k >> shift) * a->step + (k & (a->parts - 1)) * a->part +
         w / 2 * a->plane + w % 2;
}

/* Everything needed to find the blocks of a row. */
typedef struct {
  int storage, width; /* 0: plain rows */
  const int64_t *start, *first;
  const matrix_lane *lane;
  const int32_t *place;
  int32_t *column;
  void *block;
} slice_layout;

static inline slice_layout slice_layout_of(const stokes_matrix *matrix)
{
  const matrix_slices *s = &matrix->slices;
  const slice_layout layout = {(int)matrix->storage,
                               s->width,
                               (const int64_t *)matrix->start.data,
                               (const int64_t *)s->first.data,
                               (const matrix_lane *)s->lane.data,
                               (const int32_t *)s->place.data,
                               (int32_t *)matrix->column.data,
                               matrix->block.data};
  return layout;
}

static __device__ __forceinline__ slice_address slice_address_of(const slice_layout *l, int64_t i)
{
  if (l->width == 0) {
    const int words = l->storage == STOKES_PAIR ? 6 : 9;
    return (slice_address){l->start[i] * words, words, 1, 0, 2};
  }
  const int32_t place = l->place[i], lane = place % l->width;
  const int64_t words = 2 * (int64_t)slice_units(l->storage) * l->width;
  return (slice_address){l->first[place / l->width] * words + 2 * lane, words,
                         l->lane[place].parts_count & 7, 2, 2 * l->width};
}

/* Store block k of row i (not for pairs). */
static __device__ __forceinline__ void slice_put_block(const slice_layout *l,
                                                       const slice_address *a, int64_t i, int k,
                                                       int32_t column, const double *block)
{
  if (l->storage == STOKES_SINGLE) {
    for (int w = 0; w < 9; w++)
      ((float *)l->block)[slice_word(a, k, w)] = (float)block[w];
    if (l->width) ((int32_t *)l->block)[slice_word(a, k, 9)] = column;
  } else {
    for (int w = 0; w < 9; w++)
      ((double *)l->block)[slice_word(a, k, w)] = block[w];
    if (l->width) ((int64_t *)l->block)[slice_word(a, k, 9)] = column;
  }
  if (!l->width) l->column[l->start[i] + k] = column;
}

#endif
