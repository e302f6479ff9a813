/* stokes/matrix/slices_gpu.cu - which lane holds which row of a sliced matrix.
 *
 * Rows are cut into windows with as much work in each, and as many for every multiprocessor, which
 * products hand out one by one.  A window is one block of threads, one thread a row.  Each thread
 * counts what comes before its row when rows are sorted by length, longest first: that gives its
 * lane without a sort.
 * Long rows are cut into two or four parts in neighbouring lanes; as they come first, parts are
 * aligned to their number.  The kernel runs twice, to count slices and steps, and to write them;
 * between the two, places are lanes of a window. */
#include <cub/device/device_scan.cuh>

#include "stokes/matrix/slices_gpu.h"

/* ROWS: rows of a window for each lane of a slice, on average, at most; a row's work is its blocks
 * and as much as ROW_WORK of them or more, so that no window has MOST_ROWS rows a lane. */
enum { ROWS = 32, MOST_ROWS = 3 * ROWS + 8, ROW_WORK = 12, MOST_WIDTH = 8 };
/* Rows of more blocks than SPLIT and than a third more than the mean are cut. */
enum { SPLIT = 16, MOST_PARTS = 4, MOST_SLICES = MOST_ROWS * MOST_PARTS };

typedef struct {
  int64_t n_rows, n_windows;
  const int64_t *start;
  int width, split, row_work;
  int64_t *row, *slices, *steps; /* [n_windows + 1]: first row; counts, later what comes before */
  int64_t *first;                /* NULL in the counting run */
  matrix_lane *lane;
  int32_t *place;
} window_job;

static __device__ __forceinline__ int parts_of(const window_job *job, int length)
{
  return length > 2 * job->split ? 4 : length > job->split ? 2 : 1;
}

static __device__ __forceinline__ int64_t work_before(const window_job *job, int64_t row)
{
  return job->start[row] + row * job->row_work;
}

/* Thread: one window. */
static __global__ void rows_kernel(const __grid_constant__ window_job job)
{
  const int64_t w = md_thread();
  if (w > job.n_windows) return;
  const int64_t n = job.n_windows, before = work_before(&job, job.n_rows) * w;
  int64_t low = 0, high = job.n_rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (work_before(&job, middle) * n < before)
      low = middle + 1;
    else
      high = middle;
  }
  job.row[w] = low;
}

/* Steps of the slices before `until`. */
static __device__ int64_t steps_before(const int *longest, int until)
{
  int64_t sum = 0;
  for (int k = 0; k < until; k++)
    sum += longest[k];
  return sum;
}

/* Rows of a window, and of them long ones: of two parts or more, and of four. */
typedef struct {
  int rows, long_rows, longest_rows;
} window_counts;

/* Lanes of the rows that are longer than row t of a window, or as long and before it. */
static __device__ int lanes_before(const int *length, int t, const window_counts *all, int parts)
{
  int rows = 0;
  for (int k = 0; k < all->rows; k++)
    rows += length[k] >= length[t] + (k >= t);
  const int twice = parts > 1 ? rows : all->long_rows;
  const int more = parts > 2 ? rows : all->longest_rows;
  return rows + twice + 2 * more;
}

/* Block: one window; thread: one row. */
static __global__ void window_kernel(const __grid_constant__ window_job job)
{
  __shared__ int length[MOST_ROWS * MOST_WIDTH], longest[MOST_SLICES], used;
  const int64_t from = job.row[blockIdx.x];
  const int t = threadIdx.x, rows = (int)(job.row[blockIdx.x + 1] - from);
  const int64_t i = from + t;
  const bool mine = t < rows;
  const int own = mine ? (int)(job.start[i + 1] - job.start[i]) : 0;
  length[t] = own;
  for (int k = t; k < MOST_SLICES; k += blockDim.x)
    longest[k] = 0;
  if (t == 0) used = 0;
  const int parts = parts_of(&job, own), count = (own + parts - 1) / parts;
  const window_counts all = {rows, __syncthreads_count(parts > 1), __syncthreads_count(parts > 2)};
  int lane = 0;
  if (mine) {
    lane = job.first ? job.place[i] : lanes_before(length, t, &all, parts);
    job.place[i] = lane;
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
  for (int k = t; k <= n_slices; k += blockDim.x) /* the next window's first, too: the end is one */
    job.first[slice + k] = step + steps_before(longest, k);
  matrix_lane *lanes = job.lane + slice * job.width;
  for (int k = used + t; k < n_slices * job.width; k += blockDim.x)
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

/* Windows, and what is long. */
static md_status plan(const stokes_matrix *matrix, int width, window_job *job)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const int64_t together = (int64_t)processors * width * ROWS;
  const int mean = (int)(matrix->n_stored / matrix->n_rows);
  job->n_rows = matrix->n_rows;
  job->n_windows = (matrix->n_rows + together - 1) / together * processors;
  job->start = (const int64_t *)matrix->start.data;
  job->width = width;
  job->split = mean + mean / 3 > SPLIT ? mean + mean / 3 : (int)SPLIT;
  job->row_work = mean / 2 + 1 > ROW_WORK ? mean / 2 + 1 : (int)ROW_WORK;
  return MD_OK;
}

md_status slices_build(stokes_matrix *matrix, int width)
{
  md_ctx *ctx = matrix->ctx;
  matrix_slices *s = &matrix->slices;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  window_job job = {};
  MD_TRY(plan(matrix, width, &job));
  const int64_t windows = job.n_windows;
  MD_TRY(md_buffer_reserve(ctx, &s->window, 3 * (windows + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &s->place, matrix->n_rows * sizeof(int32_t), 0));
  MD_TRY(md_fill(ctx, s->window.data, 0, 3 * (windows + 1) * sizeof(int64_t)));
  job.slices = (int64_t *)s->window.data;
  job.steps = job.slices + windows + 1;
  job.row = job.steps + windows + 1;
  job.place = (int32_t *)s->place.data;
  rows_kernel<<<md_blocks(windows + 1, MD_WARP), MD_WARP, 0, stream>>>(job);
  MD_LAUNCHED();
  window_kernel<<<(unsigned)windows, MOST_ROWS * width, 0, stream>>>(job);
  MD_LAUNCHED();
  MD_TRY(scan(matrix, job.slices, windows + 1));
  MD_TRY(scan(matrix, job.steps, windows + 1));
  MD_TRY(md_read(ctx, &s->n_slices, job.slices + windows, sizeof s->n_slices));
  MD_TRY(md_read(ctx, &s->n_steps, job.steps + windows, sizeof s->n_steps));
  MD_REQUIRE(s->n_slices * width <= INT32_MAX, MD_ECAPACITY,
             "a matrix of %lld rows has too many slices", (long long)matrix->n_rows);
  MD_TRY(matrix_reserve(ctx, &s->first, (size_t)(s->n_slices + 1) * sizeof(int64_t)));
  MD_TRY(matrix_reserve(ctx, &s->lane, (size_t)s->n_slices * (size_t)width * sizeof(matrix_lane)));
  job.first = (int64_t *)s->first.data;
  job.lane = (matrix_lane *)s->lane.data;
  window_kernel<<<(unsigned)windows, MOST_ROWS * width, 0, stream>>>(job);
  MD_LAUNCHED();
  s->n_windows = windows;
  s->width = width;
  return MD_OK;
}
