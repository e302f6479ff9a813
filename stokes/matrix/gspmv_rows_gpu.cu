/* stokes/matrix/gspmv_rows_gpu.cu - y = R x with the rows of R one after the other.
 *
 * A block of threads takes a chunk (stokes/matrix/row_chunks_gpu.h).  A bulk copy brings its blocks
 * to shared memory while the threads, a few blocks each, gather x; each block's three sums replace
 * it, and a few lanes add up a row.  A row longer than a chunk takes several copies.  72, 36 or 24
 * bytes a block from memory, x from cache.  Several vectors take eight lanes a row and column
 * instead. */
#include "stokes/matrix/bulk_gpu.h"
#include "stokes/matrix/row_chunks_gpu.h"
#include "stokes/matrix/gspmv_gpu.h"

/* SLOTS: blocks of threads for the chunks of a window, about as many as there are.  AHEAD: how far
 * on the chunk is that is asked for, in blocks of threads on each multiprocessor. */
enum { THREADS = 128, PER_THREAD = CHUNK_BLOCKS / THREADS, SLOTS = 13, AHEAD = 3, TEAM = 8 };

typedef struct {
  int64_t n_rows;
  const int64_t *start;
  const int32_t *column;
  row_chunk_table table;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  int m;
  unsigned distance; /* how far on the chunk is whose blocks are asked for */
  gspmv_use use;
} rows_job;

md_status gspmv_gpu_reserve_row_chunks(stokes_matrix *matrix)
{
  return md_buffer_reserve(matrix->ctx, &matrix->slices.place, row_chunk_table_bytes(matrix), 0);
}

/* Warp: one window. */
static __global__ void cut_kernel(const __grid_constant__ row_chunk_table table)
{
  __shared__ int32_t near[THREADS / MD_WARP][CHUNK_NEAR];
  const int64_t window = md_thread() / MD_WARP;
  if (window < table.windows) chunk_cut(&table, window, near[threadIdx.x / MD_WARP]);
}

md_status gspmv_gpu_cut_row_chunks(const stokes_matrix *matrix, cudaStream_t stream)
{
  const row_chunk_table table = row_chunk_table_of(matrix);
  cut_kernel<<<md_blocks(table.windows * MD_WARP, THREADS), THREADS, 0, stream>>>(table);
  MD_LAUNCHED();
  return MD_OK;
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

/* What is a constant in a kernel: the storage and its bytes a block, lanes to a row, a step of a
 * series or a plain product, and whether the first rows of a chunk are looked up while its blocks
 * come, which takes registers. */
typedef struct {
  int storage, bytes, team;
  bool series, early;
} rows_kind;

/* What a team has of its row: places of its blocks in the chunk, and what is known of the results
 * of my lane, one or all three. */
typedef struct {
  int64_t row;
  int from, to;
  gspmv_known known[3];
  double own[3]; /* of the diagonal block, where that lies apart */
} row_part;

static __device__ __forceinline__ int results_of(int team)
{
  return (2 + team) / team;
}

/* My team's row of a chunk, `first` rows behind its beginning; `to` = 0 where there is none. */
static __device__ __forceinline__ void find_row(const rows_job *job, int team, const row_chunk *c,
                                                int first, row_part *part)
{
  const uint16_t *before = job->table.before;
  part->row = c->row + first + threadIdx.x / team;
  part->from = part->to = 0;
  if (part->row >= c->row + c->rows) return;
  part->from = __ldg(before + part->row);
  part->to = part->row + 1 < c->row + c->rows ? __ldg(before + part->row + 1) : c->blocks;
}

/* What is known of my results of it; the diagonal block of a pair matrix lies apart. */
static __device__ __forceinline__ void know_row(const rows_job *job, rows_kind kind,
                                                const row_chunk *c, row_part *part)
{
  if (part->row >= c->row + c->rows) return;
#pragma unroll
  for (int k = 0; k < results_of(kind.team); k++) {
    const int r = threadIdx.x % kind.team * results_of(kind.team) + k;
    if (r >= 3) break;
    part->known[k] = gspmv_before(&job->use, kind.series, job->x, job->y, 3 * part->row + r);
    part->own[k] = 0;
    if (kind.storage != STOKES_PAIR || kind.team == 1) continue;
    for (int d = 0; d < 3; d++)
      part->own[k] += __ldg(job->diagonal + 6 * part->row + assemble_packed(r, d)) *
                      __ldg(job->x + 3 * part->row + d);
  }
  if (kind.storage != STOKES_PAIR || kind.team > 1) return;
  const double2 *two = (const double2 *)(job->diagonal + 6 * part->row);
  const double2 a = __ldg(two), b = __ldg(two + 1), e = __ldg(two + 2);
  const double block[6] = {a.x, a.y, b.x, b.y, e.x, e.y};
  double x[3];
  load_x(job, part->row, x);
  gspmv_diagonal(block, x, part->own);
}

/* Store my results of a row whose sums every lane has. */
static __device__ __forceinline__ void finish_row(const rows_job *job, rows_kind kind,
                                                  const row_part *part, const double *y)
{
#pragma unroll
  for (int k = 0; k < results_of(kind.team); k++) {
    const int r = threadIdx.x % kind.team * results_of(kind.team) + k;
    if (r >= 3) break;
    const double sum = r == 0 ? y[0] : r == 1 ? y[1] : y[2];
    gspmv_put(&job->use, kind.series, &part->known[k], sum + part->own[k], job->y,
              3 * part->row + r);
  }
}

/* Add up the rows of a chunk as far as they are here: `team` lanes each, which keep what they have
 * of a row that goes on; then it is the only one. */
static __device__ __forceinline__ void sum_rows(const rows_job *job, rows_kind kind,
                                                const row_chunk *c, const staged_blocks *s,
                                                row_part *part, double *kept)
{
  const int here = (int)(s->begin - c->block);
  for (int first = 0; first < c->rows; first += THREADS / kind.team) {
    const bool found = kind.early && first == 0;
    if (!found) find_row(job, kind.team, c, first, part);
    const int to = min(part->to - here, s->count);
    double y[3] = {kept[0], kept[1], kept[2]};
    for (int k = max(part->from - here, 0) + threadIdx.x % kind.team; k < to; k += kind.team)
      for (int d = 0; d < 3; d++)
        y[d] += s->sums[k * s->stride + d];
    if (!s->last) {
      for (int d = 0; d < 3; d++)
        kept[d] = y[d];
      return;
    }
    for (int step = 1; step < kind.team; step *= 2)
      for (int d = 0; d < 3; d++)
        y[d] += __shfl_xor_sync(MD_ALL_LANES, y[d], step);
    if (!found) know_row(job, kind, c, part);
    if (part->row < c->row + c->rows) finish_row(job, kind, part, y);
  }
}

/* One chunk; *pass: how many copies there were before.  A block's sums lie where it was, or apart
 * where its own bytes are too few. */
static __device__ __forceinline__ void multiply_chunk(const rows_job *job, rows_kind kind,
                                                      const row_chunk *c, unsigned char *staged,
                                                      double *apart, uint64_t *barrier, int *pass)
{
  const int storage = kind.storage, bytes = kind.bytes;
  staged_blocks s = {c->block, 0, false, NULL, storage == STOKES_BCRS ? 9 : 3};
  double kept[3] = {0, 0, 0};
  row_part part;
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
        if (k < s.count) load_x(job, __ldcs(job->column + s.begin + k), x[q]);
      }
    if (kind.early && s.begin == c->block) {
      find_row(job, kind.team, c, 0, &part);
      know_row(job, kind, c, &part);
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
    sum_rows(job, kind, c, &s, &part, kept);
    s.begin += s.count;
    if (!s.last) copy_again();
  } while (!s.last);
}

/* Ask for the blocks of the chunk that a later block of threads takes, so that memory stays busy
 * while blocks of threads come and go. */
static __device__ __forceinline__ void ask_ahead(const rows_job *job, int bytes)
{
  const unsigned later = blockIdx.x + job->distance;
  const int64_t window = later / SLOTS;
  const int slot = (int)(later % SLOTS);
  if (later >= gridDim.x || slot >= job->table.count[window]) return;
  const row_chunk c = job->table.chunk[window * CHUNK_MOST + slot];
  ask_for(job->block + c.block * bytes / 16 * 16,
          (unsigned)(min(c.blocks, (int)CHUNK_BLOCKS) * bytes / 16 * 16));
}

/* Block of threads: a slot of a window. */
static __device__ __forceinline__ void chunk_body(const rows_job *job, rows_kind kind,
                                                  unsigned char *staged, double *apart,
                                                  uint64_t *barrier)
{
  const int64_t window = blockIdx.x / SLOTS;
  const int count = job->table.count[window];
  const row_chunk *chunk = job->table.chunk + window * CHUNK_MOST;
  int slot = blockIdx.x % SLOTS, pass = 0;
  cudaTriggerProgrammaticLaunchCompletion(); /* what follows may get ready: core/gpu/launch_gpu.h */
  row_chunk c = chunk[slot];
  if (kind.storage == STOKES_PAIR && threadIdx.x == MD_WARP) ask_ahead(job, kind.bytes);
  if (slot >= count) return;
  if (threadIdx.x == 0) barrier_make(barrier);
  __syncwarp();
  for (;;) {
    multiply_chunk(job, kind, &c, staged, apart, barrier, &pass);
    slot += SLOTS;
    if (slot >= count) return;
    c = chunk[slot];
    copy_again();
  }
}

/* least: blocks of threads that a multiprocessor shall hold.  Rows of a few blocks are added up by
 * one thread each. */
#define CHUNK_KERNEL(name, bytes, apart, least, team, series)                                      \
  static __global__ void __launch_bounds__(THREADS, least)                                         \
      chunk_##name##_##team##_##series(const __grid_constant__ rows_job job)                       \
  {                                                                                                \
    const rows_kind kind = {STOKES_##name, bytes, team, series, STOKES_##name != STOKES_PAIR};     \
    __shared__ __align__(16) unsigned char staged[CHUNK_BLOCKS * (bytes) + 16];                    \
    __shared__ double sums[apart];                                                                 \
    __shared__ uint64_t barrier;                                                                   \
    chunk_body(&job, kind, staged, sums, &barrier);                                                \
  }
#define CHUNK_STORAGES(team, series, pairs)                                                        \
  CHUNK_KERNEL(BCRS, 72, 1, 5, team, series)                                                       \
  CHUNK_KERNEL(SINGLE, 36, 3 * CHUNK_BLOCKS, 7, team, series)                                      \
  CHUNK_KERNEL(PAIR, 24, 1, pairs, team, series)
#define CHUNK_TEAMS(team) CHUNK_STORAGES(team, 0, 12) CHUNK_STORAGES(team, 1, 10)
CHUNK_TEAMS(1)
CHUNK_TEAMS(4)
CHUNK_TEAMS(8)

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
  for (int d = 0; d < 3; d++) {
    const int64_t at = (3 * i + d) * job.m + column;
    const gspmv_known known = gspmv_before(&job.use, job.use.series, job.x, job.y, at);
    gspmv_put(&job.use, job.use.series, &known, y[d], job.y, at);
  }
}

#define CHUNK_ROW(team, series)                                                                    \
  {                                                                                                \
    chunk_BCRS_##team##_##series, chunk_SINGLE_##team##_##series, chunk_PAIR_##team##_##series     \
  }
#define CHUNK_ENTRY(team)                                                                          \
  {                                                                                                \
    CHUNK_ROW(team, 0), CHUNK_ROW(team, 1)                                                         \
  }
static void (*const chunk_kernels[][2][STOKES_STORAGE_COUNT])(rows_job) = {
    CHUNK_ENTRY(1), CHUNK_ENTRY(4), CHUNK_ENTRY(8)};

md_status gspmv_gpu_rows(const stokes_matrix *matrix, int m, const double *x, double *y,
                         const gspmv_use *use)
{
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  const int64_t mean = matrix->n_stored / matrix->n_rows;
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  const rows_job job = {matrix->n_rows,
                        (const int64_t *)matrix->start.data,
                        (const int32_t *)matrix->column.data,
                        row_chunk_table_of(matrix),
                        (const unsigned char *)matrix->block.data,
                        (const double *)matrix->diagonal.data,
                        x,
                        y,
                        m,
                        (unsigned)(AHEAD * processors),
                        *use};
  if (m > 1) {
    const dim3 grid(md_blocks(matrix->n_rows * TEAM, THREADS), m);
    row_kernel<<<grid, THREADS, 0, stream>>>(job, (int)matrix->storage,
                                             (int)matrix_entry_bytes(matrix->storage));
  } else {
    const int team = mean < 8 ? 0 : mean < 32 ? 1 : 2;
    const unsigned blocks = (unsigned)(job.table.windows * SLOTS);
    chunk_kernels[team][use->series][matrix->storage]<<<blocks, THREADS, 0, stream>>>(job);
  }
  MD_LAUNCHED();
  return MD_OK;
}
