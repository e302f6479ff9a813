/* stokes/slices/slices_gpu.cu - which lane holds which row of a sliced matrix.
 *
 * Rows are cut into windows with as much work in each, and as many for every multiprocessor, which
 * products hand out one by one.  A window is one block of threads, about one thread a row.  Each
 * thread counts what comes before its row when rows are sorted by length, longest first: that gives
 * its lane without a sort.
 * Long rows are cut into two or four parts in neighbouring lanes; as they come first, parts are
 * aligned to their number.  Where rows need ghosts windows are cut from inner rows, then from the
 * others (stokes/matrix/inner_first_gpu.h).  The kernel runs twice, to count slices and steps, and
 * to write them; between the two, places are lanes of a window. */
#include <cub/block/block_scan.cuh>

#include "stokes/matrix/inner_first_gpu.h"
#include "stokes/slices/slices_gpu.h"

/* ROWS: rows of a window for each lane of a slice, on average, at most; a row's work is its blocks
 * and as much as ROW_WORK of them or more, so that no window has MOST_ROWS rows a lane. */
enum { ROWS = 32, MOST_ROWS = 3 * ROWS + 8, ROW_WORK = 12, MOST_WIDTH = 8 };
/* Rows of more blocks than SPLIT and than a third more than the mean are cut. */
enum { SPLIT = 16, MOST_PARTS = 4, MOST_SLICES = MOST_ROWS * MOST_PARTS };
/* Of the number of a row in its window. */
enum { INDEX_BITS = 10 };

typedef struct {
  int64_t n_rows, n_windows;
  const int64_t *start;   /* by place */
  const int32_t *order;   /* the row at a place; NULL: that itself */
  const int64_t *n_inner; /* with `order` */
  int32_t *calm;          /* windows of inner rows only */
  int width;
  int64_t *row, *slices, *steps; /* [n_windows + 1]: first place; counts, later what comes before */
  int64_t *first;                /* NULL in the counting run */
  matrix_lane *lane;
  int32_t *place;
} window_job;

/* Blocks of a row on average: the host need not know how many there are. */
static __device__ __forceinline__ int mean_of(const window_job *job)
{
  return (int)(job->start[job->n_rows] / job->n_rows);
}

static __device__ __forceinline__ int parts_of(int mean, int length)
{
  const int split = max(mean + mean / 3, (int)SPLIT);
  return length > 2 * split ? 4 : length > split ? 2 : 1;
}

static __device__ __forceinline__ int64_t work_before(const window_job *job, int mean, int64_t row)
{
  return job->start[row] + row * max(mean / 2 + 1, (int)ROW_WORK);
}

/* Thread: one window. */
static __global__ void rows_kernel(const __grid_constant__ window_job job)
{
  const int64_t w = md_thread();
  if (w > job.n_windows) return;
  const int mean = mean_of(&job);
  const int64_t n = job.n_windows, before = work_before(&job, mean, job.n_rows) * w;
  int64_t low = 0, high = job.n_rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (work_before(&job, mean, middle) * n < before)
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

/* What rows are compared by, greater for one that comes before: longer, or as long and earlier.
 * Rows too long to tell apart have four parts anyway. */
static __device__ unsigned rank_key(int length, int t)
{
  return (unsigned)min(length, INT_MAX >> INDEX_BITS) << INDEX_BITS | ((1 << INDEX_BITS) - 1 - t);
}

/* Lanes of the rows that come before one of this key; key: [rows], and zeros up to a multiple of
 * four. */
static __device__ int lanes_before(const unsigned *key, unsigned own, const window_counts *all,
                                   int parts)
{
  int rows = 0;
  for (int k = 0; k < all->rows; k += 4) {
    const uint4 four = *(const uint4 *)(key + k);
    rows += (four.x > own) + (four.y > own) + (four.z > own) + (four.w > own);
  }
  const int twice = parts > 1 ? rows : all->long_rows;
  const int more = parts > 2 ? rows : all->longest_rows;
  return rows + twice + 2 * more;
}

/* What the threads of a window share; key: see lanes_before. */
typedef struct {
  unsigned key[MOST_ROWS * MOST_WIDTH + 4];
  int longest[MOST_SLICES], used;
  window_counts all;
} window_space;

static __device__ __forceinline__ int64_t row_at(const window_job *job, int64_t place)
{
  return job->order ? job->order[place] : place;
}

static __device__ __forceinline__ int length_of(const window_job *job, int64_t i)
{
  return (int)(job->start[i + 1] - job->start[i]);
}

/* Block: the lane, in its window, of each row, from its length; into job.place. */
static __device__ void rank_rows(const window_job *job, int mean, int64_t from, int rows,
                                 window_space *space)
{
  if (threadIdx.x == 0) space->all = {rows, 0, 0};
  __syncthreads();
  for (int t = threadIdx.x; t < rows + 3; t += blockDim.x) {
    const int own = t < rows ? length_of(job, from + t) : 0, parts = parts_of(mean, own);
    space->key[t] = t < rows ? rank_key(own, t) : 0;
    if (parts > 1) atomicAdd(&space->all.long_rows, 1);
    if (parts > 2) atomicAdd(&space->all.longest_rows, 1);
  }
  __syncthreads();
  for (int t = threadIdx.x; t < rows; t += blockDim.x) {
    const int parts = parts_of(mean, length_of(job, from + t));
    job->place[row_at(job, from + t)] = lanes_before(space->key, space->key[t], &space->all, parts);
  }
}

/* Block: one window; thread: some of its rows. */
static __global__ void window_kernel(const __grid_constant__ window_job job)
{
  __shared__ __align__(16) window_space space;
  const int64_t from = job.row[blockIdx.x];
  const int thread = threadIdx.x, rows = (int)(job.row[blockIdx.x + 1] - from);
  const int mean = mean_of(&job);
  for (int k = thread; k < MOST_SLICES; k += blockDim.x)
    space.longest[k] = 0;
  if (thread == 0) space.used = 0;
  if (!job.first) rank_rows(&job, mean, from, rows, &space);
  __syncthreads();
  for (int t = thread; t < rows; t += blockDim.x) {
    const int own = length_of(&job, from + t), parts = parts_of(mean, own);
    const int lane = job.place[row_at(&job, from + t)];
    atomicMax(&space.longest[lane / job.width], (own + parts - 1) / parts);
    atomicMax(&space.used, lane + parts);
  }
  __syncthreads();
  const int n_slices = (space.used + job.width - 1) / job.width;
  if (!job.first) {
    if (thread == 0) {
      if (job.order && job.row[blockIdx.x + 1] <= *job.n_inner) atomicAdd(job.calm, 1);
      job.slices[blockIdx.x] = n_slices;
      job.steps[blockIdx.x] = steps_before(space.longest, n_slices);
    }
    return;
  }
  const int64_t slice = job.slices[blockIdx.x], step = job.steps[blockIdx.x];
  for (int k = thread; k <= n_slices; k += blockDim.x) /* the end is the next window's first */
    job.first[slice + k] = step + steps_before(space.longest, k);
  matrix_lane *lanes = job.lane + slice * job.width;
  for (int k = space.used + thread; k < n_slices * job.width; k += blockDim.x)
    lanes[k] = (matrix_lane){-1, 1};
  for (int t = thread; t < rows; t += blockDim.x) {
    const int own = length_of(&job, from + t), parts = parts_of(mean, own);
    const int32_t row = (int32_t)row_at(&job, from + t), lane = job.place[row];
    job.place[row] = (int32_t)(slice * job.width) + lane;
    for (int p = 0; p < parts; p++) /* part p takes blocks p, p + parts, p + 2 parts, ... */
      lanes[lane + p] = (matrix_lane){row, parts | (own - p + parts - 1) / parts << 3};
  }
}

/* Counts of slices and of steps to what comes before each window, by one block of threads: each
 * takes some windows that lie one after the other.  total: both sums. */
enum { SCAN_BLOCK = 1024 };
static __global__ void __launch_bounds__(SCAN_BLOCK)
    scan_kernel(const __grid_constant__ window_job job, int64_t *total)
{
  typedef cub::BlockScan<int64_t, SCAN_BLOCK> block_scan;
  __shared__ typename block_scan::TempStorage space;
  const int64_t each = (job.n_windows + SCAN_BLOCK) / SCAN_BLOCK; /* the end is one, too */
  const int64_t from = min(each * threadIdx.x, job.n_windows + 1);
  const int64_t to = min(from + each, job.n_windows + 1);
  for (int which = 0; which < 2; which++) {
    int64_t *count = which ? job.steps : job.slices, sum = 0, before, all;
    for (int64_t w = from; w < to; w++)
      sum += count[w];
    block_scan(space).ExclusiveSum(sum, before, all);
    for (int64_t w = from; w < to; w++) {
      const int64_t own = count[w];
      count[w] = before;
      before += own;
    }
    if (threadIdx.x == 0) total[which] = all;
    __syncthreads();
  }
}

/* Rows and windows. */
static md_status plan(stokes_matrix *matrix, int width, window_job *job)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const int64_t together = (int64_t)processors * width * ROWS;
  job->n_rows = matrix->n_rows;
  job->n_windows = (matrix->n_rows + together - 1) / together * processors;
  job->start = (const int64_t *)matrix->start.data;
  job->width = width;
  if (!matrix->inner) return MD_OK;
  inner_first places;
  MD_TRY(inner_first_rows(matrix, &places));
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->calm, sizeof(int32_t), 0));
  job->start = places.start;
  job->order = places.row;
  job->n_inner = places.n_inner;
  job->calm = (int32_t *)matrix->calm.data;
  return md_fill(matrix->ctx, job->calm, 0, sizeof *job->calm);
}

md_status slices_build(stokes_matrix *matrix, int width)
{
  md_ctx *ctx = matrix->ctx;
  matrix_slices *s = &matrix->slices;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  window_job job = {};
  MD_TRY(plan(matrix, width, &job));
  const int64_t windows = job.n_windows;
  int64_t count[2], *total;
  MD_TRY(md_buffer_reserve(ctx, &s->window, (3 * (windows + 1) + 2) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &s->place, matrix->n_rows * sizeof(int32_t), 0));
  MD_TRY(md_fill(ctx, s->window.data, 0, 3 * (windows + 1) * sizeof(int64_t)));
  job.slices = (int64_t *)s->window.data;
  job.steps = job.slices + windows + 1;
  job.row = job.steps + windows + 1;
  total = job.row + windows + 1;
  job.place = (int32_t *)s->place.data;
  rows_kernel<<<md_blocks(windows + 1, MD_WARP), MD_WARP, 0, stream>>>(job);
  MD_LAUNCHED();
  window_kernel<<<(unsigned)windows, ROWS * width, 0, stream>>>(job);
  MD_LAUNCHED();
  scan_kernel<<<1, SCAN_BLOCK, 0, stream>>>(job, total);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, count, total, sizeof count));
  s->n_slices = count[0];
  s->n_steps = count[1];
  MD_REQUIRE(s->n_slices * width <= INT32_MAX, MD_ECAPACITY,
             "a matrix of %lld rows has too many slices", (long long)matrix->n_rows);
  MD_TRY(matrix_reserve(ctx, &s->first, (size_t)(s->n_slices + 1) * sizeof(int64_t)));
  MD_TRY(matrix_reserve(ctx, &s->lane, (size_t)s->n_slices * (size_t)width * sizeof(matrix_lane)));
  job.first = (int64_t *)s->first.data;
  job.lane = (matrix_lane *)s->lane.data;
  window_kernel<<<(unsigned)windows, ROWS * width, 0, stream>>>(job);
  MD_LAUNCHED();
  s->n_windows = windows;
  s->width = width;
  return MD_OK;
}
