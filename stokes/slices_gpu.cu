/* stokes/slices_gpu.cu - which lane holds which row of a sliced matrix.
 *
 * A window is one block of threads, one thread a row: as many rows as WINDOW slices have lanes.
 * Each thread counts what comes before its row when rows are sorted by length, longest first: that
 * gives its lane without a sort.
 * Long rows are cut into two or four parts in neighbouring lanes; as they come first, parts are
 * aligned to their number.  The kernel runs twice, to count slices and steps, and to write them. */
#include <cub/device/device_scan.cuh>

#include "stokes/slices_gpu.h"

enum { WINDOW = 32, MOST_WIDTH = 8, SPLIT = 48, MOST_PARTS = 4, MOST_SLICES = WINDOW * MOST_PARTS };

static __device__ __forceinline__ int parts_of(int length)
{
  return length > 2 * SPLIT ? 4 : length > SPLIT ? 2 : 1;
}

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  int width;
  int64_t *slices, *steps; /* [n_windows + 1]: counts, later what comes before */
  int64_t *first;          /* NULL in the counting run */
  matrix_lane *lane;
  int32_t *place;
} window_job;

/* Steps of the slices before `until`. */
static __device__ int64_t steps_before(const int *longest, int until)
{
  int64_t sum = 0;
  for (int k = 0; k < until; k++)
    sum += longest[k];
  return sum;
}

/* Block: one window; thread: one row. */
static __global__ void window_kernel(window_job job)
{
  __shared__ int length[WINDOW * MOST_WIDTH], longest[MOST_SLICES], used;
  const int t = threadIdx.x, rows = blockDim.x;
  const int64_t i = md_thread();
  const bool mine = i < job.n_rows;
  const int own = mine ? (int)(job.start[i + 1] - job.start[i]) : 0;
  length[t] = mine ? own : -1;
  for (int k = t; k < MOST_SLICES; k += rows)
    longest[k] = 0;
  if (t == 0) used = 0;
  __syncthreads();
  const int parts = parts_of(own), count = (own + parts - 1) / parts;
  int lane = 0;
  for (int k = 0; k < rows; k++)
    if (length[k] > own || (length[k] == own && k < t)) lane += parts_of(length[k]);
  if (mine) {
    atomicMax(&longest[lane / job.width], count);
    atomicMax(&used, lane + parts);
  }
  __syncthreads();
  const int n_slices = (used + job.width - 1) / job.width;
  if (!job.first) {
    if (t == 0) {
      job.slices[blockIdx.x] = n_slices;
      job.steps[blockIdx.x] = steps_before(longest, n_slices);
    }
    return;
  }
  const int64_t slice = job.slices[blockIdx.x], step = job.steps[blockIdx.x];
  for (int k = t; k <= n_slices; k += rows) /* the next window's first, too: the end is one */
    job.first[slice + k] = step + steps_before(longest, k);
  matrix_lane *lanes = job.lane + slice * job.width;
  for (int k = used + t; k < n_slices * job.width; k += rows)
    lanes[k] = (matrix_lane){-1, 1};
  if (!mine) return;
  job.place[i] = (int32_t)(slice * job.width) + lane;
  for (int p = 0; p < parts; p++) /* part p takes blocks p, p + parts, p + 2 parts, ... */
    lanes[lane + p] = (matrix_lane){(int32_t)i, parts | (own - p + parts - 1) / parts << 3};
}

static md_status scan(stokes_matrix *matrix, int64_t *counts, int64_t n)
{
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  size_t bytes = 0;
  MD_CUDA(cub::DeviceScan::ExclusiveSum(NULL, bytes, counts, counts, n, stream));
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->scratch, bytes, 0));
  MD_CUDA(cub::DeviceScan::ExclusiveSum(matrix->scratch.data, bytes, counts, counts, n, stream));
  return MD_OK;
}

md_status slices_build(stokes_matrix *matrix, int width)
{
  md_ctx *ctx = matrix->ctx;
  matrix_slices *s = &matrix->slices;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int rows = WINDOW * width;
  const int64_t windows = (matrix->n_rows + rows - 1) / rows;
  MD_TRY(md_buffer_reserve(ctx, &s->window, 2 * (windows + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &s->place, matrix->n_rows * sizeof(int32_t), 0));
  MD_TRY(md_fill(ctx, s->window.data, 0, 2 * (windows + 1) * sizeof(int64_t)));
  int64_t *slices = (int64_t *)s->window.data, *steps = slices + windows + 1;
  window_job job = {
      matrix->n_rows, (const int64_t *)matrix->start.data, width, slices, steps, NULL, NULL, NULL};
  window_kernel<<<(unsigned)windows, rows, 0, stream>>>(job);
  MD_LAUNCHED();
  MD_TRY(scan(matrix, slices, windows + 1));
  MD_TRY(scan(matrix, steps, windows + 1));
  MD_TRY(md_read(ctx, &s->n_slices, slices + windows, sizeof s->n_slices));
  MD_TRY(md_read(ctx, &s->n_steps, steps + windows, sizeof s->n_steps));
  MD_REQUIRE(s->n_slices * width <= INT32_MAX, MD_ECAPACITY,
             "a matrix of %lld rows has too many slices", (long long)matrix->n_rows);
  MD_TRY(matrix_reserve(ctx, &s->first, (size_t)(s->n_slices + 1) * sizeof(int64_t)));
  MD_TRY(matrix_reserve(ctx, &s->lane, (size_t)s->n_slices * (size_t)width * sizeof(matrix_lane)));
  job.first = (int64_t *)s->first.data;
  job.lane = (matrix_lane *)s->lane.data;
  job.place = (int32_t *)s->place.data;
  window_kernel<<<(unsigned)windows, rows, 0, stream>>>(job);
  MD_LAUNCHED();
  s->width = width;
  return MD_OK;
}
