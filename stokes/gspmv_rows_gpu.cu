/* stokes/gspmv_rows_gpu.cu - y = R x with the rows of R one after the other.
 *
 * A chunk is a run of whole rows with at most CHUNK_BLOCKS blocks.  One bulk copy brings its blocks
 * to shared memory while the threads, one or two blocks each, gather x; each block's three sums
 * replace it, and a few lanes add up a row.  72, 36 or 24 bytes a block from memory, x from cache.
 * Matrices with very long rows, and several vectors, take eight lanes a row and column instead. */
#include "stokes/gspmv_gpu.h"

enum { THREADS = 256, PER_THREAD = CHUNK_BLOCKS / THREADS, TEAM = 8 };

/* Thread: the first row of one chunk, by bisection. */
static __global__ void chunk_kernel(int64_t n_rows, int64_t n_chunks, int64_t blocks,
                                    const int64_t *__restrict__ start, int32_t *first)
{
  const int64_t t = md_thread();
  if (t > n_chunks) return;
  int64_t low = 0, high = n_rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (start[middle] < t * blocks)
      low = middle + 1;
    else
      high = middle;
  }
  first[t] = (int32_t)(t == n_chunks ? n_rows : low);
}

/* Rows that start within this many blocks of each other make a chunk. */
static int64_t chunk_step(const stokes_matrix *matrix)
{
  return CHUNK_BLOCKS - matrix->slices.longest_row + 1;
}

static int64_t chunk_count(const stokes_matrix *matrix)
{
  return matrix->n_stored / chunk_step(matrix) + 1;
}

md_status gspmv_gpu_chunks(stokes_matrix *matrix)
{
  if (matrix->slices.longest_row > CHUNK_LONGEST) return MD_OK;
  const int64_t n = chunk_count(matrix);
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->slices.place, (n + 1) * sizeof(int32_t), 0));
  chunk_kernel<<<md_blocks(n + 1, THREADS), THREADS, 0, (cudaStream_t)matrix->ctx->stream>>>(
      matrix->n_rows, n, chunk_step(matrix), (const int64_t *)matrix->start.data,
      (int32_t *)matrix->slices.place.data);
  MD_LAUNCHED();
  return MD_OK;
}

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  const int32_t *column, *first;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  int m, team;
} rows_job;

/* A bulk copy to shared memory, and the barrier that tells when it has arrived. */
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void copy_begin(void *to, const void *from, unsigned bytes,
                                                  uint64_t *barrier)
{
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
  if (bytes > 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

static __device__ __forceinline__ void copy_wait(uint64_t *barrier)
{
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier))
                 : "memory");
}

/* Three sums of one block. */
static __device__ __forceinline__ void block_sums(int storage, const unsigned char *block,
                                                  const double *x, double *sum)
{
  sum[0] = sum[1] = sum[2] = 0;
  if (storage == STOKES_PAIR) {
    gspmv_pair((const stokes_pair_entry *)block, x, sum);
    return;
  }
  for (int row = 0; row < 3; row++)
    for (int col = 0; col < 3; col++)
      sum[row] += x[col] * (storage == STOKES_SINGLE ? ((const float *)block)[3 * row + col]
                                                     : ((const double *)block)[3 * row + col]);
}

static __device__ __forceinline__ void load_x(const rows_job *job, int64_t column, double *x)
{
  for (int d = 0; d < 3; d++)
    x[d] = __ldg(job->x + 3 * column + d);
}

/* Sum the rows of a chunk: `team` lanes each. */
static __device__ __forceinline__ void sum_rows(const rows_job *job, int storage, int64_t lo,
                                                int64_t hi, int64_t begin, const double *sums,
                                                int stride)
{
  const int lane = threadIdx.x % job->team;
  for (int64_t r = lo; r < hi; r += THREADS / job->team) {
    const int64_t i = r + threadIdx.x / job->team;
    const bool mine = i < hi;
    const int from = mine ? (int)(job->start[i] - begin) : 0;
    const int to = mine ? (int)(job->start[i + 1] - begin) : 0;
    double y[3] = {0, 0, 0};
    for (int k = from + lane; k < to; k += job->team)
      for (int d = 0; d < 3; d++)
        y[d] += sums[k * stride + d];
    for (int step = 1; step < job->team; step *= 2)
      for (int d = 0; d < 3; d++)
        y[d] += __shfl_xor_sync(MD_ALL_LANES, y[d], step);
    if (!mine || lane > 0) continue;
    if (storage == STOKES_PAIR) gspmv_diagonal(job->diagonal + 6 * i, job->x + 3 * i, y);
    for (int d = 0; d < 3; d++)
      job->y[3 * i + d] = y[d];
  }
}

/* Block of threads: one chunk.  A block's sums lie at `stride` doubles from the last one's: where
 * it was, or apart where its own bytes are too few. */
static __device__ __forceinline__ void chunk_body(const rows_job *job, int storage, int bytes,
                                                  unsigned char *staged, double *apart,
                                                  uint64_t *barrier)
{
  const int64_t lo = job->first[blockIdx.x], hi = job->first[blockIdx.x + 1];
  const int64_t begin = job->start[lo];
  const int count = (int)(job->start[hi] - begin), offset = (int)(begin * bytes % 16);
  if (threadIdx.x == 0)
    copy_begin(staged, job->block + begin * bytes - offset,
               (unsigned)(offset + count * bytes + 15) / 16 * 16, barrier);
  double x[PER_THREAD][3];
  if (storage != STOKES_PAIR)
    for (int q = 0; q < PER_THREAD; q++) {
      const int k = threadIdx.x + q * THREADS;
      if (k < count) load_x(job, __ldg(job->column + begin + k), x[q]);
    }
  __syncthreads(); /* the barrier is made */
  copy_wait(barrier);
  double *sums = storage == STOKES_SINGLE ? apart : (double *)(staged + offset);
  const int stride = storage == STOKES_BCRS ? 9 : 3;
  for (int q = 0; q < PER_THREAD; q++) {
    const int k = threadIdx.x + q * THREADS;
    if (k >= count) break;
    const unsigned char *block = staged + offset + k * bytes;
    if (storage == STOKES_PAIR) load_x(job, ((const stokes_pair_entry *)block)->column, x[q]);
    double sum[3];
    block_sums(storage, block, x[q], sum);
    for (int d = 0; d < 3; d++)
      sums[k * stride + d] = sum[d];
  }
  __syncthreads();
  sum_rows(job, storage, lo, hi, begin, sums, stride);
}

#define CHUNK_KERNEL(name, bytes, apart)                                                           \
  static __global__ void __launch_bounds__(THREADS)                                                \
      chunk_##name(const __grid_constant__ rows_job job)                                           \
  {                                                                                                \
    __shared__ __align__(16) unsigned char staged[CHUNK_BLOCKS * (bytes) + 16];                    \
    __shared__ double sums[apart];                                                                 \
    __shared__ uint64_t barrier;                                                                   \
    chunk_body(&job, STOKES_##name, bytes, staged, sums, &barrier);                                \
  }
CHUNK_KERNEL(BCRS, 72, 1)
CHUNK_KERNEL(SINGLE, 36, 3 * CHUNK_BLOCKS)
CHUNK_KERNEL(PAIR, 24, 1)

/* Team: one row and one column, blockIdx.y, of several. */
static __global__ void row_kernel(const __grid_constant__ rows_job job, int storage, int bytes)
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
  for (int d = 0; d < 3; d++)
    job.y[(3 * i + d) * job.m + column] = y[d];
}

md_status gspmv_gpu_rows(const stokes_matrix *matrix, int m, const double *x, double *y)
{
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  const int64_t mean = matrix->n_stored / matrix->n_rows;
  const rows_job job = {matrix->n_rows,
                        (const int64_t *)matrix->start.data,
                        (const int32_t *)matrix->column.data,
                        (const int32_t *)matrix->slices.place.data,
                        (const unsigned char *)matrix->block.data,
                        (const double *)matrix->diagonal.data,
                        x,
                        y,
                        m,
                        mean < 12   ? 4
                        : mean < 32 ? 8
                                    : 16};
  if (m > 1 || matrix->slices.longest_row > CHUNK_LONGEST) {
    const dim3 grid(md_blocks(matrix->n_rows * TEAM, THREADS), m);
    row_kernel<<<grid, THREADS, 0, stream>>>(job, (int)matrix->storage,
                                             (int)matrix_entry_bytes(matrix->storage));
  } else {
    static void (*const kernels[STOKES_STORAGE_COUNT])(rows_job) = {chunk_BCRS, chunk_SINGLE,
                                                                    chunk_PAIR};
    kernels[matrix->storage]<<<(unsigned)chunk_count(matrix), THREADS, 0, stream>>>(job);
  }
  MD_LAUNCHED();
  return MD_OK;
}
