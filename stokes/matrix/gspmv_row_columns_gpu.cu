/* stokes/matrix/gspmv_row_columns_gpu.cu - products of several vectors with the rows of R one after
 * the other, as matrices have them that are made for one vector: eight lanes a row and column.  72,
 * 36 or 24 bytes a block and column. */
#include "stokes/matrix/gspmv_gpu.h"

enum { THREADS = 128, TEAM = 8 };

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  const int32_t *column;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  int m;
  gspmv_use use;
} row_job;

/* Team: one row and one column, blockIdx.y, of several. */
static __global__ void row_kernel(const __grid_constant__ row_job job, int storage, int bytes)
{
  const int64_t i = md_thread() / TEAM;
  const int lane = threadIdx.x % TEAM, column = blockIdx.y;
  const bool mine = i < job.n_rows;
  double y[3] = {0, 0, 0}, x[3], sum[3];
  for (int64_t p = mine ? job.start[i] + lane : 0; mine && p < job.start[i + 1]; p += TEAM) {
    const unsigned char *block = job.block + p * bytes;
    const int64_t j =
        storage == STOKES_PAIR ? ((const stokes_pair_entry *)block)->column : job.column[p];
    for (int d = 0; d < 3; d++)
      x[d] = __ldg(job.x + (3 * j + d) * job.m + column);
    block_sums(storage, block, x, sum);
    for (int d = 0; d < 3; d++)
      y[d] += sum[d];
  }
  for (int step = 1; step < TEAM; step *= 2)
    for (int d = 0; d < 3; d++)
      y[d] += __shfl_xor_sync(MD_ALL_LANES, y[d], step);
  if (!mine || lane > 0) return;
  for (int d = 0; d < 3; d++)
    x[d] = job.x[(3 * i + d) * job.m + column];
  if (storage == STOKES_PAIR) gspmv_diagonal(job.diagonal + 6 * i, x, y);
  for (int d = 0; d < 3; d++) {
    const int64_t at = (3 * i + d) * job.m + column;
    const gspmv_known known = gspmv_before(&job.use, job.use.series, job.x, job.y, at);
    gspmv_put(&job.use, job.use.series, &known, y[d], job.y, at);
  }
}

md_status gspmv_gpu_row_columns(const stokes_matrix *matrix, int m, const double *x, double *y,
                                const gspmv_use *use)
{
  const row_job job = {matrix->n_rows,
                       (const int64_t *)matrix->start.data,
                       (const int32_t *)matrix->column.data,
                       (const unsigned char *)matrix->block.data,
                       (const double *)matrix->diagonal.data,
                       x,
                       y,
                       m,
                       *use};
  const dim3 grid(md_blocks(matrix->n_rows * TEAM, THREADS), m);
  row_kernel<<<grid, THREADS, 0, (cudaStream_t)matrix->ctx->stream>>>(
      job, (int)matrix->storage, (int)matrix_entry_bytes(matrix->storage));
  MD_LAUNCHED();
  return MD_OK;
}
