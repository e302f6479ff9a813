/* stokes/slices/gspmv_slices_gpu.real.cu - Y = R X with the rows of R in slices
 * (stokes/slices/slices_gpu.h).
 *
 * One large block of threads on each multiprocessor takes windows of neighbouring rows, the next
 * one as far on as there are blocks, so that all of them read the same part of X at a time; its
 * warps take the slices of a window as they get free.  All blocks end together, as windows have as
 * much work each.  TEAM threads share a lane of a slice, that is
 * a row or a part of one, and hold PER columns of its three results each: 16 bytes of X at a time
 * where rows of X are so aligned.  Nothing is summed across threads but the parts of long rows.
 * Blocks are asked for from memory to the L2 cache some steps ahead.  Slower on an H200: blocks in
 * registers two or three steps ahead, the first block of the next slice and the diagonal read
 * early, X of the next window asked for: first-level caches are busy for most of the time.
 * Where other GPUs have rows of X a few warps of each block store first what those need; windows
 * that need ghosts come last, and warps wait before they take them (stokes/matrix/halo_gpu.h).
 * Compiled for vectors of floats, which only steps of series have, and of doubles.
 * Bytes: 80, 40 or 24 a block; X comes from cache as often as the order of the rows lets it. */
#include "stokes/matrix/gspmv_gpu.h"
#include "stokes/matrix/halo_gpu.h"
#include "stokes/slices/slice_blocks_gpu.h"
#include "stokes/slices/slice_columns_gpu.h"
#include "stokes/slices/slice_shapes_gpu.h"

/* PREFETCH: bytes of a slice that are asked for at a time.  ROUNDS: windows of a block, at most.
 * PUTTERS: warps of a block that store rows of X into mailboxes. */
enum { PREFETCH = 2560, ROUNDS = 512, PUTTERS = 4 };

typedef struct {
  int64_t n_windows;
  const int64_t *window; /* first slice of each, and the end */
  const int64_t *first;
  const matrix_lane *lane;
  const void *block;
  const double *diagonal;
  const real *x; /* from the first column of the range on */
  real *y;
  int m, count, panels; /* numbers in a row; columns of the range */
  bool series;
  real f[5];
  real *total; /* as in gspmv_use */
  halo_job halo;
} slices_job;

/* What a warp works on: one slice, or several side by side. */
typedef struct {
  int64_t step; /* first of my slice */
  int steps;
  matrix_lane mine;
} slice_part;

static __device__ __forceinline__ slice_part find_part(const slices_job *job, int width, int slice,
                                                       int until, int lane)
{
  slice_part part = {0, 0, {-1, 1}};
  if (slice >= until) return part;
  part.step = job->first[slice];
  part.steps = (int)(job->first[slice + 1] - part.step);
  part.mine = job->lane[(int64_t)slice * width + lane];
  return part;
}

/* Steps of so many bytes that are asked for together: a power of two. */
static __host__ __device__ constexpr int steps_ahead(int bytes)
{
  return bytes * 16 <= PREFETCH ? 16 : bytes * 8 <= PREFETCH ? 8 : bytes * 4 <= PREFETCH ? 4 : 2;
}

/* Ask for steps of blocks, `count` or as many as go together. */
static __device__ __forceinline__ void prefetch(const slices_job *job, int bytes, int64_t step,
                                                int count)
{
  if (count <= 0) return;
  asm volatile(
      "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((const char *)job->block + step * bytes),
      "r"(min(count, steps_ahead(bytes)) * bytes)
      : "memory");
}

/* sum = my lane of the slice times X; `lead` asks for the blocks to come. */
static __device__ __forceinline__ void sum_part(const slices_job *job, int storage, int width,
                                                int per, bool wide, bool halo, int m,
                                                const slice_columns *columns, int offset,
                                                const slice_part *part, int lane, bool lead,
                                                real (*sum)[MOST_PER])
{
  const int units = slice_units(storage), unit = slice_unit_bytes(storage);
  const int bytes = units * unit * width, count = part->mine.parts_count >> 3;
  const int early = storage == STOKES_PAIR ? 0 : units - 1; /* units from here are loaded ahead */
  const int ahead = steps_ahead(bytes);
  const char *at = (const char *)job->block + part->step * bytes + lane * unit;
  raw_block next;
  if (count > 0) load_units(storage, width, at, early, units, &next);
#pragma unroll 2
  for (int k = 0; k < count; k++, at += bytes) {
    if (lead && k % ahead == 0)
      prefetch(job, bytes, part->step + k + ahead, part->steps - k - ahead);
    raw_block now = next;
    if (k + 1 < count) load_units(storage, width, at + bytes, early, units, &next);
    load_units(storage, width, at, 0, early, &now);
    real xs[3][MOST_PER];
    const int32_t column = column_of(storage, &now);
    const real *x = !halo || column < job->halo.n_own ? job->x : (const real *)job->halo.ghosts;
    load_x(columns, per, wide, halo, m, x + offset, column, xs);
    multiply_block(&now, storage, per, xs, sum);
  }
}

/* Add up the parts of long rows; every thread of the warp comes along. */
static __device__ __forceinline__ void join_parts(int parts, int team, int per,
                                                  real (*sum)[MOST_PER])
{
  const int most = __reduce_max_sync(MD_ALL_LANES, (unsigned)parts);
  for (int step = 1; step < most; step *= 2)
#pragma unroll
    for (int v = 0; v < per; v++)
#pragma unroll
      for (int d = 0; d < 3; d++) {
        const real other = __shfl_xor_sync(MD_ALL_LANES, sum[d][v], step * team);
        if (step < parts) sum[d][v] += other;
      }
}

/* My columns of the three rows of sphere i in a vector that is read for the last time. */
static __device__ __forceinline__ void last_columns(const slice_columns *c, int per, bool wide,
                                                    int m, const real *row, real (*to)[MOST_PER])
{
#pragma unroll
  for (int d = 0; d < 3; d++)
#pragma unroll
    for (int v = 0; v < per; v++) {
      if (!wide)
        to[d][v] = __ldcs(row + d * m + c->at[v]);
      else if (v % WIDE == 0)
        unpack_wide(__ldcs((const wide_real *)(row + d * m + c->at[v])), &to[d][v]);
    }
}

/* sum = f[0] sum + f[1] x + f[2] y and total += f[3] sum + f[4] x for my columns of row i, whose y
 * and total begin at `at`.  What is read is asked for before anything is stored. */
static __device__ __forceinline__ void use_row(const slices_job *job, int per, bool wide, int m,
                                               const slice_columns *columns, int64_t at,
                                               const real (*x)[MOST_PER], real (*sum)[MOST_PER])
{
  const real *f = job->f;
  real other[3][MOST_PER];
  last_columns(columns, per, wide, m, job->y + at, other);
#pragma unroll
  for (int d = 0; d < 3; d++)
#pragma unroll
    for (int v = 0; v < per; v++)
      sum[d][v] = f[0] * sum[d][v] + f[1] * x[d][v] + f[2] * other[d][v];
  if (!job->total) return;
  last_columns(columns, per, wide, m, job->total + at, other);
#pragma unroll
  for (int d = 0; d < 3; d++) {
#pragma unroll
    for (int v = 0; v < per; v++)
      other[d][v] += f[3] * sum[d][v] + f[4] * x[d][v];
    store_columns(columns, per, wide, job->total + at + d * m, other[d]);
  }
}

static __device__ __forceinline__ void finish_row(const slices_job *job, int storage, int per,
                                                  bool wide, int m, const slice_columns *columns,
                                                  int offset, int64_t i, real (*sum)[MOST_PER])
{
  const int64_t at = offset + 3 * i * m;
  real x[3][MOST_PER];
  if (storage == STOKES_PAIR || job->series)
    load_x(columns, per, wide, false, m, job->x + offset, (int32_t)i, x);
  if (storage == STOKES_PAIR) {
    real d[6];
    for (int q = 0; q < 6; q++)
      d[q] = (real)job->diagonal[6 * i + q];
#pragma unroll
    for (int v = 0; v < per; v++) {
      sum[0][v] += d[0] * x[0][v] + d[1] * x[1][v] + d[2] * x[2][v];
      sum[1][v] += d[1] * x[0][v] + d[3] * x[1][v] + d[4] * x[2][v];
      sum[2][v] += d[2] * x[0][v] + d[4] * x[1][v] + d[5] * x[2][v];
    }
  }
  if (job->series) use_row(job, per, wide, m, columns, at, x, sum);
#pragma unroll
  for (int d = 0; d < 3; d++)
    store_columns(columns, per, wide, job->y + at + d * m, sum[d]);
}

/* Slices first ... until - 1. */
typedef struct {
  int first, until;
} slice_range;

/* Of `count` windows, those before this block's round k. */
static __device__ __forceinline__ int rounds_of(int64_t count)
{
  return (int)((count - blockIdx.x + gridDim.x - 1) / gridDim.x);
}

/* The windows of this block of threads; returns how many there are. */
static __device__ __forceinline__ int find_windows(const slices_job *job, slice_range *mine)
{
  const int rounds = rounds_of(job->n_windows);
  for (int k = threadIdx.x; k < rounds; k += blockDim.x) {
    const int64_t *at = job->window + (int64_t)k * gridDim.x + blockIdx.x;
    mine[k] = (slice_range){(int)at[0], (int)at[1]};
  }
  return rounds;
}

/* Where a warp is among the windows of its block: turns before this one. */
typedef struct {
  int window, turns;
} window_place;

/* What is left of the window in which a later turn falls, `side` slices a turn; nothing at the
 * end. */
static __device__ __forceinline__ slice_range find_turn(const slice_range *mine, int rounds,
                                                        int side, int turn, window_place *at)
{
  for (; at->window < rounds; at->window++) {
    const slice_range all = mine[at->window];
    const int turns = (all.until - all.first + side - 1) / side;
    if (turn < at->turns + turns)
      return (slice_range){all.first + (turn - at->turns) * side, all.until};
    at->turns += turns;
  }
  return (slice_range){0, 0};
}

/* storage, width, team, per, wide, whole and halo are constants where this is inlined; whole: the
 * columns are all there are, and just what a team holds; halo: other GPUs have rows of X. */
static __device__ __forceinline__ void slices_body(const slices_job *job, int storage, int width,
                                                   int team, int per, bool wide, bool whole,
                                                   bool halo)
{
  __shared__ slice_range mine[ROUNDS];
  __shared__ int ticket, seen;
  const int side = MD_WARP / (team * width); /* slices of a warp */
  const int own = threadIdx.x % MD_WARP, lane = own / team % width, place = own / (team * width);
  const int bytes = slice_units(storage) * slice_unit_bytes(storage) * width;
  const bool lead = own % (team * width) == 0;
  const int rounds = find_windows(job, mine);
  const int calm = halo ? rounds_of(*job->halo.calm) : 0;
  if (threadIdx.x == 0) ticket = 0, seen = HALO_UNSEEN;
  __syncthreads();
  if (halo && threadIdx.x < PUTTERS * MD_WARP && blockIdx.x < job->halo.putters)
    halo_store(&job->halo.put, halo_is_wide(&job->halo.put),
               blockIdx.x * PUTTERS + threadIdx.x / MD_WARP, own, MD_WARP);
  const int m = whole ? team * per : job->m, count = whole ? m : job->count;
  const int panels = whole ? 1 : job->panels;
  window_place at = {0, 0};
  bool last = false, waits = false, there = false;
  int panel = 0;
  slice_part part = {};
  for (bool first = true;; first = false) {
    int t = 0;
    if (own == 0) t = atomicAdd(&ticket, 1);
    t = __shfl_sync(MD_ALL_LANES, t, 0);
    const slice_range next = find_turn(mine, rounds, side, t / panels, &at);
    const slice_part coming = find_part(job, width, next.first + place, next.until, lane);
    if (!first) {
      if (halo && waits && !there) {
        halo_await(&job->halo.put, &seen);
        there = true;
      }
      if (last) return;
      const int offset = panel * team * per, parts = part.mine.parts_count & 7;
      slice_columns columns;
      find_columns(team, per, wide, count - offset, &columns);
      real sum[3][MOST_PER] = {};
      sum_part(job, storage, width, per, wide, halo, m, &columns, offset, &part, lane, lead, sum);
      if (lead) prefetch(job, bytes, coming.step, coming.steps); /* known by now */
      __syncwarp();
      join_parts(parts, team, per, sum);
      if (part.mine.row >= 0 && lane % parts == 0)
        finish_row(job, storage, per, wide, m, &columns, offset, part.mine.row, sum);
    } else if (lead)
      prefetch(job, bytes, coming.step, coming.steps);
    last = next.until == 0, panel = t % panels, part = coming;
    waits = at.window >= calm && (!last || blockIdx.x == 0);
  }
}

#define SLICES_INSTANCE(halo, s, width, team, per, wide, whole, threads)                           \
  static __global__ void __launch_bounds__(threads + MORE_##s(team, per), 1)                       \
      slices_##s##_##width##_##team##_##per##_##wide##whole##halo(                                 \
          const __grid_constant__ slices_job job)                                                  \
  {                                                                                                \
    slices_body(&job, STOKES_##s, width, team, per, wide, whole, halo);                            \
  }
#define SLICES_KERNEL(...) SLICES_INSTANCE(0, __VA_ARGS__) SLICES_INSTANCE(1, __VA_ARGS__)
#define ENTRY(s, width, team, per, wide, whole, threads)                                           \
  {width,                                                                                          \
   team,                                                                                           \
   per,                                                                                            \
   wide,                                                                                           \
   whole,                                                                                          \
   threads + MORE_##s(team, per),                                                                  \
   {slices_##s##_##width##_##team##_##per##_##wide##whole##0,                                      \
    slices_##s##_##width##_##team##_##per##_##wide##whole##1}},
#define KERNELS(name, word) SHAPES(SLICES_KERNEL, name)
#define TABLE(name, word) {SHAPES(ENTRY, name)},
STOKES_STORAGES(KERNELS)

typedef struct {
  int width, team, per, wide, whole, threads;
  void (*kernel[2])(slices_job); /* of one GPU; of several */
} slices_shape;
static const slices_shape shapes[STOKES_STORAGE_COUNT][N_SHAPES] = {STOKES_STORAGES(TABLE)};

/* Columns of a panel. */
static int columns_of(const slices_shape *s)
{
  return s->team * s->per;
}

/* For rows of m numbers; 16 bytes at a time need rows and ranges of so many. */
static bool fits(const slices_shape *s, int width, int m)
{
  return s->width == width && (!s->wide || (m % WIDE == 0 && columns_of(s) % WIDE == 0)) &&
         (!s->whole || m == columns_of(s));
}

static int panels_of(const slices_shape *s, int m)
{
  return (m + columns_of(s) - 1) / columns_of(s);
}

/* The first shape that takes the fewest panels, of those one with the fewest idle columns. */
static int choose(const slices_shape *table, int width, int m)
{
  int best = -1;
  for (int k = 0; k < N_SHAPES; k++) {
    if (!fits(&table[k], width, m)) continue;
    const int fewer = best < 0 ? 1 : panels_of(&table[best], m) - panels_of(&table[k], m);
    if (fewer > 0 || (fewer == 0 && columns_of(&table[best]) > columns_of(&table[k]))) best = k;
  }
  return best;
}

static void add_way(const slices_shape *table, int kernel, int panels, gspmv_part *way, int *n)
{
  const gspmv_part next = {kernel, panels, panels * columns_of(&table[kernel])};
  for (int k = 0; k < *n; k++)
    if (way[k].kernel == kernel && way[k].panels == panels) return;
  way[(*n)++] = next;
}

/* Each shape with as many panels as all columns need, with those that they fill, and with one. */
int PREC(gspmv_gpu_ways)(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS])
{
  static_assert(3 * N_SHAPES <= GSPMV_WAYS, "ways of all shapes");
  const slices_shape *table = shapes[matrix->storage];
  const int width = matrix->slices.width, first = choose(table, width, m);
  int n = 0;
  add_way(table, first, panels_of(&table[first], m), way, &n);
  for (int k = 0; k < N_SHAPES; k++) {
    if (!fits(&table[k], width, m)) continue;
    add_way(table, k, panels_of(&table[k], m), way, &n);
    if (m > columns_of(&table[k])) add_way(table, k, m / columns_of(&table[k]), way, &n);
    add_way(table, k, 1, way, &n);
  }
  return n;
}

md_status PREC(gspmv_gpu_slices)(const stokes_matrix *matrix, const gspmv_range *range,
                                 const void *x, void *y, const gspmv_use *use)
{
  const matrix_slices *s = &matrix->slices;
  const slices_shape *shape = &shapes[matrix->storage][range->part.kernel];
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  slices_job job = {};
  job.n_windows = s->n_windows;
  job.window = (const int64_t *)s->window.data;
  job.first = (const int64_t *)s->first.data;
  job.lane = (const matrix_lane *)s->lane.data;
  job.block = matrix->block.data;
  job.diagonal = (const double *)matrix->diagonal.data;
  job.x = (const real *)x;
  job.y = (real *)y;
  job.m = range->m;
  job.count = range->count;
  job.panels = panels_of(shape, range->count);
  job.series = use->series;
  for (int k = 0; k < 5; k++)
    job.f[k] = (real)use->f[k];
  job.total = (real *)use->total;
  const int64_t least = (s->n_windows + ROUNDS - 1) / ROUNDS;
  const unsigned blocks = (unsigned)(least > processors ? least : processors);
  const gspmv_halo *halo = use->halo;
  if (halo) /* the first blocks, which run beside each other, wait for nobody until they stored */
    job.halo =
        halo_job_of(matrix, halo, range->m, range->first,
                    (unsigned)(processors * PUTTERS / halo->put.n_ways), (unsigned)processors);
  shape->kernel[halo != NULL]<<<blocks, shape->threads, 0, (cudaStream_t)matrix->ctx->stream>>>(
      job);
  MD_LAUNCHED();
  return MD_OK;
}
