/* stokes/matrix/inner_first_gpu.cu - see inner_first_gpu.h.
 *
 * Rows are placed by one scan over their marks, and blocks before them counted by another: 13 bytes
 * a row are read, 12 written. */
#include <cub/block/block_scan.cuh>

#include "core/gpu/scan_gpu.h"
#include "stokes/matrix/inner_first_gpu.h"
#include "stokes/matrix/row_chunks_gpu.h"

enum { BLOCK = 256, SCAN_BLOCK = 1024 };

typedef struct {
  int64_t n_rows;
  const char *inner;
  const int64_t *start; /* by row */
  inner_first to;
} rows_job;

/* Thread: a row, which gets its place. */
static __global__ void __launch_bounds__(BLOCK)
    place_kernel(const __grid_constant__ rows_job job, md_scan scan)
{
  const int64_t i = md_thread();
  const bool inner = i < job.n_rows && job.inner[i];
  const int64_t before = md_scan_before(scan, inner);
  if (i >= job.n_rows) return;
  job.to.row[inner ? before : job.n_rows - 1 - (i - before)] = (int32_t)i;
  if (i == job.n_rows - 1) *job.to.n_inner = before + inner;
}

/* Thread: a place. */
static __global__ void __launch_bounds__(BLOCK)
    start_kernel(const __grid_constant__ rows_job job, md_scan scan)
{
  const int64_t k = md_thread();
  uint32_t length = 0;
  if (k < job.n_rows) {
    const int64_t *at = job.start + job.to.row[k];
    length = (uint32_t)(at[1] - at[0]);
  }
  const int64_t before = md_scan_before(scan, length);
  if (k == 0) job.to.start[0] = 0;
  if (k < job.n_rows) job.to.start[k + 1] = before + length;
}

md_status inner_first_rows(stokes_matrix *matrix, inner_first *out)
{
  md_ctx *ctx = matrix->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const size_t n = (size_t)matrix->n_rows;
  const unsigned blocks = md_blocks(matrix->n_rows, BLOCK);
  md_scan scan;
  MD_TRY(
      md_buffer_reserve(ctx, &matrix->order, (n + 2) * sizeof(int64_t) + n * sizeof(int32_t), 0));
  out->start = (int64_t *)matrix->order.data;
  out->n_inner = out->start + n + 1;
  out->row = (int32_t *)(out->n_inner + 1);
  const rows_job job = {matrix->n_rows, matrix->inner, (const int64_t *)matrix->start.data, *out};
  MD_TRY(md_scan_open(ctx, &matrix->scan_status, &matrix->round, blocks, &scan));
  place_kernel<<<blocks, BLOCK, 0, stream>>>(job, scan);
  MD_LAUNCHED();
  MD_TRY(md_scan_open(ctx, &matrix->scan_status, &matrix->round, blocks, &scan));
  start_kernel<<<blocks, BLOCK, 0, stream>>>(job, scan);
  MD_LAUNCHED();
  return MD_OK;
}

/* Slots of the windows, and which of them need no ghosts. */
typedef struct {
  row_chunk_table table;
  int64_t n_slots;
  const char *inner;
  int32_t *order, *marks; /* [n_slots] */
  int32_t *calm;
} slots_job;

/* Warp: a slot. */
static __global__ void __launch_bounds__(BLOCK) mark_kernel(const __grid_constant__ slots_job job)
{
  const int64_t k = md_thread() / MD_WARP, window = k / CHUNK_SLOTS;
  if (k >= job.n_slots) return;
  const int count = job.table.count[window];
  bool calm = true;
  for (int slot = (int)(k % CHUNK_SLOTS); slot < count; slot += CHUNK_SLOTS) {
    const row_chunk c = job.table.chunk[window * CHUNK_MOST + slot];
    for (int i = threadIdx.x % MD_WARP; i < c.rows; i += MD_WARP)
      calm = calm && job.inner[c.row + i];
  }
  calm = __all_sync(MD_ALL_LANES, calm);
  if (threadIdx.x % MD_WARP == 0) job.marks[k] = calm;
}

/* One block; thread: some slots that follow each other. */
static __global__ void __launch_bounds__(SCAN_BLOCK)
    order_kernel(const __grid_constant__ slots_job job)
{
  typedef cub::BlockScan<int32_t, SCAN_BLOCK> block_scan;
  __shared__ typename block_scan::TempStorage space;
  const int64_t each = (job.n_slots + SCAN_BLOCK - 1) / SCAN_BLOCK;
  const int64_t from = min(each * threadIdx.x, job.n_slots), to = min(from + each, job.n_slots);
  int32_t own = 0, before, all;
  for (int64_t k = from; k < to; k++)
    own += job.marks[k];
  block_scan(space).ExclusiveSum(own, before, all);
  for (int64_t k = from; k < to; k++) {
    const bool calm = job.marks[k];
    job.order[calm ? before : all + k - before] = (int32_t)k;
    before += calm;
  }
  if (threadIdx.x == 0) *job.calm = all;
}

static int64_t slots_of(const stokes_matrix *matrix)
{
  return row_chunk_table_of(matrix).windows * CHUNK_SLOTS;
}

md_status inner_first_reserve_slots(stokes_matrix *matrix)
{
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->calm, sizeof(int32_t), 0));
  return md_buffer_reserve(matrix->ctx, &matrix->order,
                           2 * (size_t)slots_of(matrix) * sizeof(int32_t), 0);
}

md_status inner_first_slots(const stokes_matrix *matrix, cudaStream_t stream)
{
  const int64_t slots = slots_of(matrix);
  int32_t *order = (int32_t *)matrix->order.data;
  const slots_job job = {row_chunk_table_of(matrix),  slots, matrix->inner, order, order + slots,
                         (int32_t *)matrix->calm.data};
  mark_kernel<<<md_blocks(slots * MD_WARP, BLOCK), BLOCK, 0, stream>>>(job);
  MD_LAUNCHED();
  order_kernel<<<1, SCAN_BLOCK, 0, stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
