/* stokes/matrix/row_chunks_gpu.h - rows that lie one after the other, cut into chunks for products.
 *
 * A chunk is as many whole rows as have CHUNK_BLOCKS blocks together, or one longer row.  Chunks
 * are cut one after the other within windows, each by a warp; no window waits for another. */
#ifndef STOKES_ROW_CHUNKS_GPU_H
#define STOKES_ROW_CHUNKS_GPU_H

#include "core/gpu/cuda.h"
#include "stokes/matrix/matrix_impl.h"

/* CHUNK_WINDOW: rows and blocks of a window.  Of two chunks that follow each other in one, the
 * first has CHUNK_ROWS rows or both together more than CHUNK_BLOCKS blocks: that bounds their
 * number.  CHUNK_SLOTS: blocks of threads of a product for the chunks of a window, about as many as
 * there are. */
enum {
  CHUNK_BLOCKS = 512,
  CHUNK_ROWS = 512,
  CHUNK_WINDOW = 6144,
  CHUNK_NEAR = 1024,
  CHUNK_MOST = 2 * CHUNK_WINDOW / CHUNK_BLOCKS + CHUNK_WINDOW / CHUNK_ROWS + 2,
  CHUNK_SLOTS = 13
};

typedef struct {
  int64_t row, block; /* where it begins */
  int32_t rows, blocks;
} row_chunk;

/* chunk [windows][CHUNK_MOST], and how many of them each window has; before [n_rows]: blocks of the
 * rows before in the same chunk. */
typedef struct {
  int64_t n_rows, windows;
  const int64_t *start;
  row_chunk *chunk;
  int32_t *count;
  uint16_t *before;
} row_chunk_table;

/* Where the chunks of a matrix with plain rows lie, in slices.place. */
static inline row_chunk_table row_chunk_table_of(const stokes_matrix *matrix)
{
  const int64_t windows = (matrix->n_stored + matrix->n_rows) / CHUNK_WINDOW + 1;
  row_chunk *chunk = (row_chunk *)matrix->slices.place.data;
  int32_t *count = (int32_t *)(chunk + windows * CHUNK_MOST);
  const row_chunk_table table = {matrix->n_rows, windows, (const int64_t *)matrix->start.data,
                                 chunk,          count,   (uint16_t *)(count + windows)};
  return table;
}

static inline size_t row_chunk_table_bytes(const stokes_matrix *matrix)
{
  const size_t bytes = CHUNK_MOST * sizeof(row_chunk) + sizeof(int32_t);
  return (size_t)row_chunk_table_of(matrix).windows * bytes +
         (size_t)matrix->n_rows * sizeof(uint16_t);
}

/* The first rows before which there are at least so many rows and blocks; one for each half of a
 * warp, whose work it is. */
static __device__ __forceinline__ int64_t chunk_find_row(const row_chunk_table *t, int64_t before)
{
  enum { HALF = MD_WARP / 2 };
  const int lane = threadIdx.x % HALF, shift = threadIdx.x % MD_WARP / HALF * HALF;
  int64_t low = 0, high = t->n_rows;
  while (__any_sync(MD_ALL_LANES, low < high)) {
    const int64_t step = (high - low + HALF - 1) / HALF, probe = low + lane * step;
    const bool less = probe < high && t->start[probe] + probe < before;
    const int count = __popc(__ballot_sync(MD_ALL_LANES, less) >> shift & ((1u << HALF) - 1));
    high = min(low + count * step, high);
    if (count > 0) low += (count - 1) * step + 1;
  }
  return low;
}

/* The rows of a window, and the blocks before each of them, counted from its first; those of the
 * first few rows lie in shared memory. */
typedef struct {
  int64_t row, block;
  int rows;
  const int64_t *start;
  int32_t *near; /* [CHUNK_NEAR] */
} chunk_window;

static __device__ __forceinline__ int chunk_before(const chunk_window *w, int row)
{
  return row < CHUNK_NEAR ? w->near[row] : (int)(w->start[w->row + row] - w->block);
}

static __device__ __forceinline__ chunk_window chunk_open(const row_chunk_table *t, int64_t window,
                                                          int32_t *near)
{
  const int lane = threadIdx.x % MD_WARP;
  const int64_t mine = chunk_find_row(t, (window + (lane >= MD_WARP / 2)) * CHUNK_WINDOW);
  const int64_t row = __shfl_sync(MD_ALL_LANES, mine, 0);
  const int64_t until = __shfl_sync(MD_ALL_LANES, mine, MD_WARP - 1);
  const chunk_window w = {row, t->start[row], (int)(until - row), t->start, near};
#pragma unroll 4
  for (int k = lane; k < CHUNK_NEAR && k <= w.rows; k += MD_WARP)
    near[k] = (int)(t->start[row + k] - w.block);
  __syncwarp();
  return w;
}

/* The end of the chunk that begins with this row. */
static __device__ __forceinline__ int chunk_find_end(const chunk_window *w, int row)
{
  const int last = min(w->rows, row + (int)CHUNK_ROWS), most = chunk_before(w, row) + CHUNK_BLOCKS;
  for (int end = row; end < last; end += MD_WARP) {
    const int probe = end + 1 + threadIdx.x % MD_WARP;
    const bool fits = probe <= last && chunk_before(w, probe) <= most;
    const int count = __popc(__ballot_sync(MD_ALL_LANES, fits));
    if (count < MD_WARP) return max(end + count, row + 1);
  }
  return last;
}

/* Warp: one window. */
static __device__ __forceinline__ void chunk_cut(const row_chunk_table *t, int64_t window,
                                                 int32_t *near)
{
  const chunk_window w = chunk_open(t, window, near);
  row_chunk *const chunk = t->chunk + window * CHUNK_MOST;
  int count = 0;
  for (int row = 0; row < w.rows;) {
    const int end = chunk_find_end(&w, row), before = chunk_before(&w, row);
    chunk[count++] =
        (row_chunk){w.row + row, w.block + before, end - row, chunk_before(&w, end) - before};
    for (int k = row + threadIdx.x % MD_WARP; k < end; k += MD_WARP)
      t->before[w.row + k] = (uint16_t)(chunk_before(&w, k) - before);
    row = end;
  }
  t->count[window] = count;
}

#endif
