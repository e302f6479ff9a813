/* stokes/gspmv_rows_gpu.cu - y = R x with the rows of R one after the other.
 *
 * A block of threads takes a chunk (stokes/chunks_gpu.h).  A bulk copy brings its blocks to shared
 * memory while the threads, a few blocks each, gather x; each block's three sums replace it, and a
 * few lanes add up a row.  A row longer than a chunk takes several copies.  72, 36 or 24 bytes a
 * block from memory, x from cache.  Several vectors take eight lanes a row and column instead. */
#include "stokes/chunks_gpu.h"
#include "stokes/gspmv_gpu.h"

/* SLOTS: blocks of threads for the chunks of a window, about as many as there are. */
enum { THREADS = 128, PER_THREAD = CHUNK_BLOCKS / THREADS, SLOTS = 13, TEAM = 8 };

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  const int32_t *column;
  chunk_table table;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  int m, team;
  gspmv_use use;
} rows_job;

md_status gspmv_gpu_reserve_chunks(stokes_matrix *matrix)
{
  const size_t bytes = CHUNK_MOST * sizeof(rows_chunk) + sizeof(int32_t);
  const int64_t windows = chunk_table_of(matrix).windows;
  return md_buffer_reserve(matrix->ctx, &matrix->slices.place, (size_t)windows * bytes, 0);
}

/* Warp: one window. */
static __global__ void cut_kernel(const __grid_constant__ chunk_table table)
{
  __shared__ int32_t near[THREADS / MD_WARP][CHUNK_NEAR];
  const int64_t window = md_thread() / MD_WARP;
  if (window < table.windows) chunk_cut(&table, window, near[threadIdx.x / MD_WARP]);
}

md_status gspmv_gpu_cut_chunks(const stokes_matrix *matrix, cudaStream_t stream)
{
  const chunk_table table = chunk_table_of(matrix);
  cut_kernel<<<md_blocks(table.windows * MD_WARP, THREADS), THREADS, 0, stream>>>(table);
  MD_LAUNCHED();
  return MD_OK;
}

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

/* Everyone is done with what was copied: it may be overwritten. */
static __device__ __forceinline__ void copy_again(void)
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
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
  int64_t begin; /* the first one */
  int count;
  bool last;    /* of their chunk */
  double *sums; /* three for each block, `stride` apart */
  int stride;
} staged_blocks;

/* Add up the rows of a chunk as far as they are here: `team` lanes each, which keep what they have
 * of a row that goes on; then it is the only one. */
static __device__ __forceinline__ void sum_rows(const rows_job *job, int storage,
                                                const rows_chunk *c, const staged_blocks *s,
                                                double *kept)
{
  const int lane = threadIdx.x % job->team;
  for (int first = 0; first < c->rows; first += THREADS / job->team) {
    const int64_t i = c->row + first + threadIdx.x / job->team;
    const bool mine = i < c->row + c->rows;
    const int from = mine ? (int)max(__ldg(job->start + i) - s->begin, (int64_t)0) : 0;
    const int to = mine ? (int)min(__ldg(job->start + i + 1) - s->begin, (int64_t)s->count) : 0;
    double y[3] = {kept[0], kept[1], kept[2]};
    for (int k = from + lane; k < to; k += job->team)
      for (int d = 0; d < 3; d++)
        y[d] += s->sums[k * s->stride + d];
    if (!s->last) {
      for (int d = 0; d < 3; d++)
        kept[d] = y[d];
      return;
    }
    for (int step = 1; step < job->team; step *= 2)
      for (int d = 0; d < 3; d++)
        y[d] += __shfl_xor_sync(MD_ALL_LANES, y[d], step);
    if (!mine || lane >= 3) continue;
    double sum = lane == 0 ? y[0] : lane == 1 ? y[1] : y[2];
    if (storage == STOKES_PAIR)
      for (int d = 0; d < 3; d++)
        sum += __ldg(job->diagonal + 6 * i + assemble_packed(lane, d)) * __ldg(job->x + 3 * i + d);
    gspmv_put(&job->use, sum, job->x, job->y, 3 * i + lane);
  }
}

/* One chunk; *pass: how many copies there were before.  A block's sums lie where it was, or apart
 * where its own bytes are too few. */
static __device__ __forceinline__ void multiply_chunk(const rows_job *job, int storage, int bytes,
                                                      const rows_chunk *c, unsigned char *staged,
                                                      double *apart, uint64_t *barrier, int *pass)
{
  staged_blocks s = {c->block, 0, false, NULL, storage == STOKES_BCRS ? 9 : 3};
  double kept[3] = {0, 0, 0};
  do {
    const int64_t left = c->block + c->blocks - s.begin;
    s.count = (int)min(left, (int64_t)CHUNK_BLOCKS);
    s.last = left <= CHUNK_BLOCKS;
    const int offset = (int)(s.begin * bytes % 16);
    s.sums = storage == STOKES_SINGLE ? apart : (double *)(staged + offset);
    if (threadIdx.x == 0)
      copy_begin(staged, job->block + s.begin * bytes - offset,
                 (unsigned)(offset + s.count * bytes + 15) / 16 * 16, barrier);
    double x[PER_THREAD][3];
    if (storage != STOKES_PAIR)
      for (int q = 0; q < PER_THREAD; q++) {
        const int k = threadIdx.x + q * THREADS;
        if (k < s.count) load_x(job, __ldg(job->column + s.begin + k), x[q]);
      }
    __syncthreads(); /* the barrier is made */
    copy_wait(barrier, (*pass)++);
    for (int q = 0; q < PER_THREAD; q++) {
      const int k = threadIdx.x + q * THREADS;
      if (k >= s.count) break;
      const unsigned char *block = staged + offset + k * bytes;
      if (storage == STOKES_PAIR) load_x(job, ((const stokes_pair_entry *)block)->column, x[q]);
      double sum[3];
      block_sums(storage, block, x[q], sum);
      for (int d = 0; d < 3; d++)
        s.sums[k * s.stride + d] = sum[d];
    }
    __syncthreads();
    sum_rows(job, storage, c, &s, kept);
    s.begin += s.count;
    if (!s.last) copy_again();
  } while (!s.last);
}

/* Block of threads: a slot of a window. */
static __device__ __forceinline__ void chunk_body(const rows_job *job, int storage, int bytes,
                                                  unsigned char *staged, double *apart,
                                                  uint64_t *barrier)
{
  const int64_t window = blockIdx.x / SLOTS;
  const int count = job->table.count[window];
  const rows_chunk *chunk = job->table.chunk + window * CHUNK_MOST;
  int slot = blockIdx.x % SLOTS, pass = 0;
  rows_chunk c = chunk[slot];
  if (slot >= count) return;
  if (threadIdx.x == 0) barrier_make(barrier);
  for (;;) {
    multiply_chunk(job, storage, bytes, &c, staged, apart, barrier, &pass);
    slot += SLOTS;
    if (slot >= count) return;
    c = chunk[slot];
    copy_again();
  }
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
                        chunk_table_of(matrix),
                        (const unsigned char *)matrix->block.data,
                        (const double *)matrix->diagonal.data,
                        x,
                        y,
                        m,
                        mean < 32 ? 4 : 8,
                        *use};
  if (m > 1) {
    const dim3 grid(md_blocks(matrix->n_rows * TEAM, THREADS), m);
    row_kernel<<<grid, THREADS, 0, stream>>>(job, (int)matrix->storage,
                                             (int)matrix_entry_bytes(matrix->storage));
  } else {
    static void (*const kernels[STOKES_STORAGE_COUNT])(rows_job) = {chunk_BCRS, chunk_SINGLE,
                                                                    chunk_PAIR};
    kernels[matrix->storage]<<<(unsigned)(job.table.windows * SLOTS), THREADS, 0, stream>>>(job);
  }
  MD_LAUNCHED();
  return MD_OK;
}
