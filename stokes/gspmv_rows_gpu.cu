/* stokes/gspmv_rows_gpu.cu - y = R x with the rows of R one after the other.
 *
 * A chunk is a run of whole rows, one block of threads'.  Bulk copies bring its blocks to shared
 * memory, up to STAGED at once, while the threads, one or two blocks each, gather x; each block's
 * three sums replace it, and a few lanes add up a row.  Most chunks need one copy; what a row has
 * in the copies before is carried on.  72, 36 or 24 bytes a block from memory, x from cache.
 * Several vectors take eight lanes a row and column instead. */
#include "stokes/gspmv_gpu.h"

enum { THREADS = 256, STAGED = 512, PER_THREAD = STAGED / THREADS, TEAM = 8 };

/* Rows that start within so many blocks of each other make a chunk: few of them go beyond STAGED.
 */
enum { CHUNK_BLOCKS = STAGED / 8 * 7 };

/* Where a chunk begins. */
typedef struct {
  int64_t row, block;
} rows_chunk;

/* Thread: one chunk, by bisection. */
static __global__ void chunk_kernel(int64_t n_rows, int64_t n_chunks,
                                    const int64_t *__restrict__ start, rows_chunk *chunk)
{
  const int64_t t = md_thread();
  if (t > n_chunks) return;
  int64_t low = 0, high = n_rows;
  while (low < high && t < n_chunks) {
    const int64_t middle = (low + high) / 2;
    if (start[middle] < t * CHUNK_BLOCKS)
      low = middle + 1;
    else
      high = middle;
  }
  chunk[t] = (rows_chunk){high, start[high]};
}

static int64_t chunk_count(const stokes_matrix *matrix)
{
  return matrix->n_stored / CHUNK_BLOCKS + 1;
}

md_status gspmv_gpu_chunks(stokes_matrix *matrix)
{
  const int64_t n = chunk_count(matrix);
  MD_TRY(md_buffer_reserve(matrix->ctx, &matrix->slices.place, (n + 1) * sizeof(rows_chunk), 0));
  chunk_kernel<<<md_blocks(n + 1, THREADS), THREADS, 0, (cudaStream_t)matrix->ctx->stream>>>(
      matrix->n_rows, n, (const int64_t *)matrix->start.data,
      (rows_chunk *)matrix->slices.place.data);
  MD_LAUNCHED();
  return MD_OK;
}

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  const int32_t *column;
  const rows_chunk *chunk;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  int m, team;
  gspmv_use use;
} rows_job;

/* A bulk copy to shared memory, and the barrier that tells when it has arrived. */
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void barrier_make(uint64_t *barrier)
{
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void copy_begin(void *to, const void *from, unsigned bytes,
                                                  uint64_t *barrier)
{
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
  if (bytes > 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Until copy number `pass` has arrived. */
static __device__ __forceinline__ void copy_wait(uint64_t *barrier, int pass)
{
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(pass % 2)
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

/* The blocks in shared memory. */
typedef struct {
  int64_t begin, end; /* which ones they are */
  int pass;           /* how many copies were there before */
  double *sums;       /* three for each block, `stride` apart */
  int stride;
  double (*carry)[3]; /* [2]: of the row that goes on after this copy, and of that from before */
} staged_blocks;

/* Add up rows lo ... hi - 1 as far as they are here: `team` lanes each. */
static __device__ __forceinline__ void sum_rows(const rows_job *job, int storage, int64_t lo,
                                                int64_t hi, const staged_blocks *s)
{
  const int lane = threadIdx.x % job->team;
  for (int64_t r = lo; r < hi; r += THREADS / job->team) {
    const int64_t i = r + threadIdx.x / job->team;
    const int64_t begin = i < hi ? job->start[i] : 0, end = i < hi ? job->start[i + 1] : 0;
    const int from = (int)(max(begin, s->begin) - s->begin),
              to = (int)(min(end, s->end) - s->begin);
    double y[3] = {0, 0, 0};
    for (int k = from + lane; k < to; k += job->team)
      for (int d = 0; d < 3; d++)
        y[d] += s->sums[k * s->stride + d];
    for (int step = 1; step < job->team; step *= 2)
      for (int d = 0; d < 3; d++)
        y[d] += __shfl_xor_sync(MD_ALL_LANES, y[d], step);
    if (i >= hi || lane >= 3) continue;
    const bool ends = end <= s->end && (end > s->begin || s->pass == 0);
    double sum = lane == 0 ? y[0] : lane == 1 ? y[1] : y[2];
    if (begin < s->begin && end > s->begin) sum += s->carry[(s->pass + 1) % 2][lane];
    if (ends && storage == STOKES_PAIR)
      for (int d = 0; d < 3; d++)
        sum += job->diagonal[6 * i + assemble_packed(lane, d)] * job->x[3 * i + d];
    if (ends)
      gspmv_put(&job->use, sum, job->x, job->y, 3 * i + lane);
    else if (begin < s->end && end > s->end)
      s->carry[s->pass % 2][lane] = sum;
  }
}

/* Block of threads: one chunk.  A block's sums lie where it was, or apart where its own bytes are
 * too few. */
static __device__ __forceinline__ void chunk_body(const rows_job *job, int storage, int bytes,
                                                  unsigned char *staged, double *apart,
                                                  uint64_t *barrier)
{
  __shared__ double carry[2][3];
  const rows_chunk lo = job->chunk[blockIdx.x], hi = job->chunk[blockIdx.x + 1];
  staged_blocks s = {lo.block, 0, 0, NULL, storage == STOKES_BCRS ? 9 : 3, carry};
  if (threadIdx.x == 0) barrier_make(barrier);
  do {
    s.end = min(s.begin + STAGED, hi.block);
    const int count = (int)(s.end - s.begin), offset = (int)(s.begin * bytes % 16);
    s.sums = storage == STOKES_SINGLE ? apart : (double *)(staged + offset);
    if (threadIdx.x == 0)
      copy_begin(staged, job->block + s.begin * bytes - offset,
                 (unsigned)(offset + count * bytes + 15) / 16 * 16, barrier);
    double x[PER_THREAD][3];
    if (storage != STOKES_PAIR)
      for (int q = 0; q < PER_THREAD; q++) {
        const int k = threadIdx.x + q * THREADS;
        if (k < count) load_x(job, __ldg(job->column + s.begin + k), x[q]);
      }
    __syncthreads(); /* the barrier is made */
    copy_wait(barrier, s.pass);
    for (int q = 0; q < PER_THREAD; q++) {
      const int k = threadIdx.x + q * THREADS;
      if (k >= count) break;
      const unsigned char *block = staged + offset + k * bytes;
      if (storage == STOKES_PAIR) load_x(job, ((const stokes_pair_entry *)block)->column, x[q]);
      double sum[3];
      block_sums(storage, block, x[q], sum);
      for (int d = 0; d < 3; d++)
        s.sums[k * s.stride + d] = sum[d];
    }
    __syncthreads();
    sum_rows(job, storage, lo.row, hi.row, &s);
    s.begin = s.end;
    s.pass++;
    if (s.begin >= hi.block) return;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* before the next copy */
    __syncthreads();
  } while (true);
}

#define CHUNK_KERNEL(name, bytes, apart)                                                           \
  static __global__ void __launch_bounds__(THREADS)                                                \
      chunk_##name(const __grid_constant__ rows_job job)                                           \
  {                                                                                                \
    __shared__ __align__(16) unsigned char staged[STAGED * (bytes) + 16];                          \
    __shared__ double sums[apart];                                                                 \
    __shared__ uint64_t barrier;                                                                   \
    chunk_body(&job, STOKES_##name, bytes, staged, sums, &barrier);                                \
  }
CHUNK_KERNEL(BCRS, 72, 1)
CHUNK_KERNEL(SINGLE, 36, 3 * STAGED)
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
    gspmv_put(&job.use, y[d], job.x, job.y, (3 * i + d) * job.m + column);
}

md_status gspmv_gpu_rows(const stokes_matrix *matrix, int m, const double *x, double *y,
                         const gspmv_use *use)
{
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  const int64_t mean = matrix->n_stored / matrix->n_rows;
  const rows_job job = {matrix->n_rows,
                        (const int64_t *)matrix->start.data,
                        (const int32_t *)matrix->column.data,
                        (const rows_chunk *)matrix->slices.place.data,
                        (const unsigned char *)matrix->block.data,
                        (const double *)matrix->diagonal.data,
                        x,
                        y,
                        m,
                        mean < 12   ? 4
                        : mean < 32 ? 8
                                    : 16,
                        *use};
  if (m > 1) {
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
