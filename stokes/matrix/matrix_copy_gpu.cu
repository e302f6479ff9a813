/* stokes/matrix/matrix_copy_gpu.cu - a matrix from blocks on the host and back again. */
#include <stdlib.h>
#include <string.h>

#include "stokes/matrix/gspmv_gpu.h"

enum { BLOCK = 128 };

/* Thread: one block of any matrix; row[p] is its row. */
static __global__ void place_kernel(int64_t n, const int32_t *row, const int32_t *column,
                                    const double *block,
                                    const __grid_constant__ slice_layout layout, double *diagonal)
{
  const int64_t p = md_thread();
  if (p >= n) return;
  const int64_t i = row[p];
  const slice_address at = slice_address_of(&layout, i);
  slice_put_block(&layout, &at, i, (int)(p - layout.start[i]), column[p], block + 9 * p);
  if (column[p] != i) return;
  for (int q = 0; q < 9; q++)
    diagonal[6 * i + assemble_packed(q / 3, q % 3)] = block[9 * p + q];
}

/* Thread: one row; its blocks in full, the diagonal of a matrix of pairs first. */
static __global__ void gather_kernel(int64_t n_rows, const __grid_constant__ slice_layout layout,
                                     const double *diagonal, int32_t *column, double *block)
{
  const int64_t i = md_thread();
  if (i >= n_rows) return;
  const bool pair = layout.storage == STOKES_PAIR;
  const slice_address at = slice_address_of(&layout, i);
  const int64_t begin = layout.start[i];
  int64_t to = begin + (pair ? i : 0);
  if (pair) {
    for (int q = 0; q < 9; q++)
      block[9 * to + q] = diagonal[6 * i + assemble_packed(q / 3, q % 3)];
    column[to++] = (int32_t)i;
  }
  for (int k = 0; k < (int)(layout.start[i + 1] - begin); k++, to++) {
    if (pair) {
      stokes_pair_entry entry;
      float *word = (float *)&entry;
      for (int w = 0; w < 6; w++)
        word[w] = ((const float *)layout.block)[slice_word(&at, k, w)];
      const assemble_terms terms = assemble_widen(&entry);
      for (int q = 0; q < 9; q++)
        block[9 * to + q] = assemble_element(&terms, q / 3, q % 3);
      column[to] = entry.column;
      continue;
    }
    const bool single = layout.storage == STOKES_SINGLE;
    for (int q = 0; q < 9; q++) {
      const int64_t w = slice_word(&at, k, q);
      block[9 * to + q] =
          single ? ((const float *)layout.block)[w] : ((const double *)layout.block)[w];
    }
    const int64_t w = slice_word(&at, k, 9);
    column[to] = !layout.width ? layout.column[begin + k]
                 : single      ? ((const int32_t *)layout.block)[w]
                               : (int32_t)((const int64_t *)layout.block)[w];
  }
}

/* Arrays of blocks on the device. */
typedef struct {
  md_buffer row, column, block;
  int32_t *rows; /* host */
} device_blocks;

static void release(md_ctx *ctx, device_blocks *d)
{
  md_buffer_free(ctx, &d->row);
  md_buffer_free(ctx, &d->column);
  md_buffer_free(ctx, &d->block);
  free(d->rows);
}

static md_status reserve(md_ctx *ctx, size_t n, device_blocks *d)
{
  MD_TRY(md_buffer_reserve(ctx, &d->column, n * sizeof(int32_t), 0));
  return md_buffer_reserve(ctx, &d->block, 9 * n * sizeof(double), 0);
}

static md_status place(stokes_matrix *matrix, const stokes_blocks *b, device_blocks *d)
{
  md_ctx *ctx = matrix->ctx;
  const size_t n = (size_t)b->n_blocks;
  MD_TRY(md_fill(ctx, matrix->diagonal.data, 0, (size_t)b->n_rows * 6 * sizeof(double)));
  if (n == 0) return MD_OK;
  d->rows = (int32_t *)malloc(n * sizeof *d->rows);
  MD_REQUIRE(d->rows, MD_ENOMEM, "out of memory for %zu blocks", n);
  for (int64_t i = 0; i < b->n_rows; i++)
    for (int64_t p = b->start[i]; p < b->start[i + 1]; p++)
      d->rows[p] = (int32_t)i;
  MD_TRY(reserve(ctx, n, d));
  MD_TRY(md_buffer_reserve(ctx, &d->row, n * sizeof(int32_t), 0));
  MD_TRY(md_write(ctx, d->row.data, d->rows, n * sizeof(int32_t)));
  MD_TRY(md_write(ctx, d->column.data, b->column, n * sizeof(int32_t)));
  MD_TRY(md_write(ctx, d->block.data, b->block, 9 * n * sizeof(double)));
  place_kernel<<<md_blocks(b->n_blocks, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      b->n_blocks, (const int32_t *)d->row.data, (const int32_t *)d->column.data,
      (const double *)d->block.data, slice_layout_of(matrix), (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return md_ctx_sync(ctx);
}

md_status matrix_gpu_set(stokes_matrix *matrix, const stokes_blocks *blocks, int vectors)
{
  md_ctx *ctx = matrix->ctx;
  const size_t bytes = ((size_t)blocks->n_rows + 1) * sizeof(int64_t);
  MD_TRY(md_buffer_reserve(ctx, &matrix->start, bytes, 0));
  MD_TRY(md_write(ctx, matrix->start.data, blocks->start, bytes));
  MD_TRY(matrix_gpu_reserve(matrix, vectors));
  if (matrix->slices.width == 0)
    MD_TRY(gspmv_gpu_cut_row_chunks(matrix, (cudaStream_t)matrix->ctx->stream));
  device_blocks d = {};
  const md_status status = place(matrix, blocks, &d);
  release(ctx, &d);
  return status;
}

/* Columns ascending in every row, blocks with them. */
static void sort_rows(stokes_blocks *b)
{
  for (int64_t i = 0; i < b->n_rows; i++)
    for (int64_t k = b->start[i] + 1; k < b->start[i + 1]; k++) {
      const int32_t column = b->column[k];
      double block[9];
      memcpy(block, b->block + 9 * k, sizeof block);
      int64_t at = k;
      for (; at > b->start[i] && b->column[at - 1] > column; at--) {
        b->column[at] = b->column[at - 1];
        memcpy(b->block + 9 * at, b->block + 9 * (at - 1), sizeof block);
      }
      b->column[at] = column;
      memcpy(b->block + 9 * at, block, sizeof block);
    }
}

static md_status gather(const stokes_matrix *matrix, stokes_blocks *out, device_blocks *d)
{
  md_ctx *ctx = matrix->ctx;
  const size_t n = (size_t)out->n_blocks;
  MD_TRY(reserve(ctx, n, d));
  gather_kernel<<<md_blocks(out->n_rows, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      out->n_rows, slice_layout_of(matrix), (const double *)matrix->diagonal.data,
      (int32_t *)d->column.data, (double *)d->block.data);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, out->start, matrix->start.data, ((size_t)out->n_rows + 1) * sizeof(int64_t)));
  MD_TRY(md_read(ctx, out->column, d->column.data, n * sizeof(int32_t)));
  MD_TRY(md_read(ctx, out->block, d->block.data, 9 * n * sizeof(double)));
  for (int64_t i = 0; matrix->storage == STOKES_PAIR && i <= out->n_rows; i++)
    out->start[i] += i;
  sort_rows(out);
  return MD_OK;
}

md_status matrix_gpu_get(const stokes_matrix *matrix, stokes_blocks *out)
{
  device_blocks d = {};
  const md_status status = gather(matrix, out, &d);
  release(matrix->ctx, &d);
  return status;
}
