/* stokes/matrix/gspmv_rows_gpu.cu - y = R x with the rows of R one after the other.
 *
 * A block of threads takes a chunk (stokes/matrix/row_chunks_gpu.h).  A bulk copy brings its blocks
 * to shared memory while the threads, a few blocks each, gather x; each block's three sums replace
 * it, and a few lanes add up a row.  A row longer than a chunk takes several copies.  72, 36 or 24
 * bytes a block from memory, x from cache.
 *
 * Where other GPUs have rows of X the first blocks store what those need; chunks that need ghosts
 * come last, and wait (stokes/matrix/halo_gpu.h). */
#include "stokes/matrix/bulk_gpu.h"
#include "stokes/matrix/row_chunks_gpu.h"
#include "stokes/matrix/gspmv_gpu.h"
#include "stokes/matrix/halo_gpu.h"
#include "stokes/matrix/inner_first_gpu.h"

/* AHEAD: how far on the chunk is that is asked for, in blocks of threads on each multiprocessor. */
enum { THREADS = 128, PER_THREAD = CHUNK_BLOCKS / THREADS, AHEAD = 3 };
/* STORING: blocks that store rows of X for other GPUs, of each multiprocessor, at most; their
 * threads have about PUT_FEW numbers each. */
enum { STORING = 4, PUT_FEW = 4 };

typedef struct {
  row_chunk_table table;
  const int32_t *column;
  const unsigned char *block;
  const double *diagonal, *x;
  double *y;
  unsigned distance; /* how far on the chunk is whose blocks are asked for */
  gspmv_use use;
  halo_job halo;
  const int32_t *order; /* of slots (stokes/matrix/inner_first_gpu.h) */
} rows_job;

md_status gspmv_gpu_reserve_row_chunks(stokes_matrix *matrix)
{
  if (matrix->inner) MD_TRY(inner_first_reserve_slots(matrix));
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
  return matrix->inner ? inner_first_slots(matrix, stream) : MD_OK;
}

static __device__ __forceinline__ void load_x(const rows_job *job, bool halo, int64_t column,
                                              double *x)
{
  const double *from = !halo || column < job->halo.n_own ? job->x : job->halo.ghosts;
  for (int d = 0; d < 3; d++) /* ghosts come meanwhile: they are not read as what stays */
    x[d] = halo ? from[3 * column + d] : __ldg(from + 3 * column + d);
}

/* The blocks in shared memory. */
typedef struct {
  int64_t begin; /* the first one */
  int count;
  bool last;    /* of their chunk */
  double *sums; /* three for each block, `stride` apart */
  int stride;
} staged_blocks;

/* What a kernel is for: rows_kind. */
enum { USE_PRODUCT, USE_SERIES, USE_HALO, USES };

/* What is a constant in a kernel: the storage and its bytes a block, lanes to a row, a step of a
 * series or a plain product, of which other GPUs may have rows of X, and whether the first rows of
 * a chunk are looked up while its blocks come, which takes registers. */
typedef struct {
  int storage, bytes, team;
  bool series, halo, early;
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
  load_x(job, false, part->row, x);
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
        if (k < s.count) load_x(job, kind.halo, __ldcs(job->column + s.begin + k), x[q]);
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
      if (storage == STOKES_PAIR)
        load_x(job, kind.halo, ((const stokes_pair_entry *)block)->column, x[q]);
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

/* Which slot of which window a block of threads takes. */
static __device__ __forceinline__ unsigned slot_of(const rows_job *job, bool halo, unsigned block)
{
  return halo ? (unsigned)job->order[block] : block;
}

/* Ask for the blocks of the chunk that a later block of threads takes, so that memory stays busy
 * while blocks of threads come and go. */
static __device__ __forceinline__ void ask_ahead(const rows_job *job, rows_kind kind,
                                                 unsigned block)
{
  const unsigned later = block + job->distance;
  if (later >= gridDim.x - (kind.halo ? job->halo.putters : 0)) return;
  const unsigned place = slot_of(job, kind.halo, later);
  const int64_t window = place / CHUNK_SLOTS;
  const int slot = (int)(place % CHUNK_SLOTS);
  if (slot >= job->table.count[window]) return;
  const row_chunk c = job->table.chunk[window * CHUNK_MOST + slot];
  ask_for(job->block + c.block * kind.bytes / 16 * 16,
          (unsigned)(min(c.blocks, (int)CHUNK_BLOCKS) * kind.bytes / 16 * 16));
}

/* Block: all ghosts have come. */
static __device__ __forceinline__ void await(const rows_job *job)
{
  wait_flags(job->halo.put.n_ways, job->halo.put.ways, job->halo.put.round, job->halo.put.late);
  __syncthreads();
}

/* Block of threads: a slot of a window. */
static __device__ __forceinline__ void multiply_slot(const rows_job *job, rows_kind kind,
                                                     unsigned block, unsigned char *staged,
                                                     double *apart, uint64_t *barrier)
{
  const unsigned place = slot_of(job, kind.halo, block);
  const int64_t window = place / CHUNK_SLOTS;
  const int count = job->table.count[window];
  const row_chunk *chunk = job->table.chunk + window * CHUNK_MOST;
  int slot = (int)(place % CHUNK_SLOTS), pass = 0;
  cudaTriggerProgrammaticLaunchCompletion(); /* what follows may get ready: core/gpu/launch_gpu.h */
  row_chunk c = chunk[slot];
  if (kind.storage == STOKES_PAIR && threadIdx.x == MD_WARP) ask_ahead(job, kind, block);
  if (slot >= count) return;
  if (kind.halo && (int)block >= *job->halo.calm) await(job);
  if (threadIdx.x == 0) barrier_make(barrier);
  __syncwarp();
  for (;;) {
    multiply_chunk(job, kind, &c, staged, apart, barrier, &pass);
    slot += CHUNK_SLOTS;
    if (slot >= count) return;
    c = chunk[slot];
    copy_again();
  }
}

/* The first blocks store what others need, and one of them waits, so that a rank whose rows need no
 * ghosts is no round ahead. */
static __device__ __forceinline__ void chunk_body(const rows_job *job, rows_kind kind,
                                                  unsigned char *staged, double *apart,
                                                  uint64_t *barrier)
{
  const unsigned before = kind.halo ? job->halo.putters : 0;
  if (blockIdx.x >= before) {
    multiply_slot(job, kind, blockIdx.x - before, staged, apart, barrier);
    return;
  }
  cudaTriggerProgrammaticLaunchCompletion();
  halo_store(&job->halo.put, false, blockIdx.x, threadIdx.x, THREADS); /* rows of three numbers */
  if (blockIdx.x == 0) await(job);
}

/* least: blocks of threads that a multiprocessor shall hold.  Rows of a few blocks are added up by
 * one thread each. */
#define CHUNK_KERNEL(name, bytes, apart, least, team, use)                                         \
  static __global__ void __launch_bounds__(THREADS, least)                                         \
      chunk_##name##_##team##_##use(const __grid_constant__ rows_job job)                          \
  {                                                                                                \
    const rows_kind kind = {STOKES_##name,     bytes,           team,                              \
                            use == USE_SERIES, use == USE_HALO, STOKES_##name != STOKES_PAIR};     \
    __shared__ __align__(16) unsigned char staged[CHUNK_BLOCKS * (bytes) + 16];                    \
    __shared__ double sums[apart];                                                                 \
    __shared__ uint64_t barrier;                                                                   \
    chunk_body(&job, kind, staged, sums, &barrier);                                                \
  }
#define CHUNK_STORAGES(team, use, pairs)                                                           \
  CHUNK_KERNEL(BCRS, 72, 1, 5, team, use)                                                          \
  CHUNK_KERNEL(SINGLE, 36, 3 * CHUNK_BLOCKS, 7, team, use)                                         \
  CHUNK_KERNEL(PAIR, 24, 1, pairs, team, use)
#define CHUNK_TEAMS(team)                                                                          \
  CHUNK_STORAGES(team, USE_PRODUCT, 12)                                                            \
  CHUNK_STORAGES(team, USE_SERIES, 10)                                                             \
  CHUNK_STORAGES(team, USE_HALO, 10)
CHUNK_TEAMS(1)
CHUNK_TEAMS(4)
CHUNK_TEAMS(8)

#define CHUNK_ROW(team, use)                                                                       \
  {                                                                                                \
    chunk_BCRS_##team##_##use, chunk_SINGLE_##team##_##use, chunk_PAIR_##team##_##use              \
  }
#define CHUNK_ENTRY(team)                                                                          \
  {                                                                                                \
    CHUNK_ROW(team, USE_PRODUCT), CHUNK_ROW(team, USE_SERIES), CHUNK_ROW(team, USE_HALO)           \
  }
static void (*const chunk_kernels[][USES][STOKES_STORAGE_COUNT])(rows_job) = {
    CHUNK_ENTRY(1), CHUNK_ENTRY(4), CHUNK_ENTRY(8)};

/* As many blocks store as have something to do, but for some of each multiprocessor. */
static halo_job halo_of(const stokes_matrix *matrix, const gspmv_halo *halo, int processors)
{
  const unsigned ways = (unsigned)halo->put.n_ways;
  const unsigned most = max(STORING * (unsigned)processors / ways, 1u);
  const unsigned groups = min(md_blocks(3 * halo->most + 1, THREADS * PUT_FEW), most);
  return halo_job_of(matrix, halo, 1, 0, groups, groups * ways);
}

md_status gspmv_gpu_rows(const stokes_matrix *matrix, const double *x, double *y,
                         const gspmv_use *use)
{
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  const int64_t mean = matrix->n_stored / matrix->n_rows;
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  rows_job job = {};
  job.table = row_chunk_table_of(matrix);
  job.column = (const int32_t *)matrix->column.data;
  job.block = (const unsigned char *)matrix->block.data;
  job.diagonal = (const double *)matrix->diagonal.data;
  job.x = x;
  job.y = y;
  job.distance = (unsigned)(AHEAD * processors);
  job.use = *use;
  job.order = (const int32_t *)matrix->order.data;
  if (use->halo) job.halo = halo_of(matrix, use->halo, processors);
  const int what = use->halo ? USE_HALO : use->series ? USE_SERIES : USE_PRODUCT;
  const int team = mean < 8 ? 0 : mean < 32 ? 1 : 2;
  const unsigned blocks = job.halo.putters + (unsigned)(job.table.windows * CHUNK_SLOTS);
  chunk_kernels[team][what][matrix->storage]<<<blocks, THREADS, 0, stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
