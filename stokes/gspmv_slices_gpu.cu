/* stokes/gspmv_slices_gpu.cu - Y = R X with the rows of R in slices (stokes/slices_gpu.h).
 *
 * One large block of threads on each multiprocessor takes chunks of neighbouring slices, the next
 * chunk as far on as there are blocks, so that all of them read the same part of X at a time; its
 * warps take the slices of a chunk as they get free.  TEAM threads share a lane of a slice, that is
 * a row or a part of one, and hold PER columns of its three results each: 16 bytes of X at a time
 * where rows of X are so aligned.  Nothing is summed across threads but the parts of long rows.
 * Blocks are asked for from memory to the L2 cache some steps ahead.
 * Bytes: 80, 40 or 24 a block; X comes from cache as often as the order of the rows lets it. */
#include "stokes/gspmv_gpu.h"
#include "stokes/slice_columns_gpu.h"

/* PREFETCH: bytes of a slice that are asked for at a time. */
enum { CHUNK = 32, PREFETCH = 1280, UNITS = 5 };

typedef struct {
  int64_t n_slices;
  const int64_t *first;
  const matrix_lane *lane;
  const void *block;
  const double *diagonal, *x;
  double *y;
  int m, panels;
  int chunk; /* slices that are taken together, a multiple of those of a warp */
  gspmv_use use;
} slices_job;

/* One block as it lies in memory. */
typedef struct {
  double2 wide[UNITS];
  float2 narrow[UNITS];
} raw_block;

static __device__ __forceinline__ double2 load_once(const double2 *p)
{
  double2 v;
  asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
  return v;
}

static __device__ __forceinline__ float2 load_once(const float2 *p)
{
  float2 v;
  asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
  return v;
}

/* Units from ... to - 1 of the block at `at`, which is that of my lane. */
static __device__ __forceinline__ void load_units(int storage, int width, const void *at, int from,
                                                  int to, raw_block *b)
{
#pragma unroll
  for (int k = from; k < to; k++) {
    if (storage == STOKES_BCRS)
      b->wide[k] = load_once((const double2 *)at + k * width);
    else
      b->narrow[k] = load_once((const float2 *)at + k * width);
  }
}

static __device__ __forceinline__ int32_t column_of(int storage, const raw_block *b)
{
  const int last = slice_units(storage) - 1;
  return storage == STOKES_BCRS ? (int32_t)__double2loint(b->wide[last].y)
                                : __float_as_int(b->narrow[last].y);
}

/* sum += block * X for my columns. */
static __device__ __forceinline__ void multiply_block(const raw_block *b, int storage, int per,
                                                      const double (*x)[MOST_PER],
                                                      double (*sum)[MOST_PER])
{
  if (storage == STOKES_PAIR) { /* e, squeeze; slide */
    const double e[3] = {b->narrow[0].x, b->narrow[0].y, b->narrow[1].x};
    const double squeeze = -b->narrow[1].y, slide = -b->narrow[2].x;
    const double f[3] = {squeeze * e[0], squeeze * e[1], squeeze * e[2]};
#pragma unroll
    for (int v = 0; v < per; v++) {
      const double along = e[0] * x[0][v] + e[1] * x[1][v] + e[2] * x[2][v];
#pragma unroll
      for (int d = 0; d < 3; d++) {
        sum[d][v] += slide * x[d][v];
        sum[d][v] += f[d] * along;
      }
    }
    return;
  }
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const double a = storage == STOKES_BCRS ? (q % 2 ? b->wide[q / 2].y : b->wide[q / 2].x)
                                            : (q % 2 ? b->narrow[q / 2].y : b->narrow[q / 2].x);
#pragma unroll
    for (int v = 0; v < per; v++)
      sum[q / 3][v] += a * x[q % 3][v];
  }
}

/* What a warp works on: one slice, or several side by side. */
typedef struct {
  int64_t step; /* first of my slice */
  int steps;
  matrix_lane mine;
} slice_part;

static __device__ __forceinline__ slice_part find_part(const slices_job *job, int width,
                                                       int64_t slice, int lane)
{
  slice_part part = {0, 0, {-1, 1}};
  if (slice >= job->n_slices) return part;
  part.step = job->first[slice];
  part.steps = (int)(job->first[slice + 1] - part.step);
  part.mine = job->lane[slice * width + lane];
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
                                                int per, bool pairs, int m,
                                                const slice_columns *columns, const double *x,
                                                const slice_part *part, int lane, bool lead,
                                                double (*sum)[MOST_PER])
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
    double xs[3][MOST_PER];
    load_x(columns, per, pairs, m, x, column_of(storage, &now), xs);
    multiply_block(&now, storage, per, xs, sum);
  }
}

/* Add up the parts of long rows; every thread of the warp comes along. */
static __device__ __forceinline__ void join_parts(int parts, int team, int per,
                                                  double (*sum)[MOST_PER])
{
  const int most = __reduce_max_sync(MD_ALL_LANES, (unsigned)parts);
  for (int step = 1; step < most; step *= 2)
#pragma unroll
    for (int v = 0; v < per; v++)
#pragma unroll
      for (int d = 0; d < 3; d++) {
        const double other = __shfl_xor_sync(MD_ALL_LANES, sum[d][v], step * team);
        if (step < parts) sum[d][v] += other;
      }
}

/* A step of a series for my columns of a row, whose product is `product`. */
static __device__ __forceinline__ void use_columns(const slices_job *job, const slice_columns *c,
                                                   int per, bool pairs, int64_t row,
                                                   double *product)
{
  const double *f = job->use.f;
  double *const total = job->use.total;
  double x[MOST_PER];
  load_columns(c, per, pairs, job->x + row, x);
#pragma unroll
  for (int v = 0; v < per; v++) {
    if (!c->used[v]) continue;
    const int64_t at = row + c->at[v];
    if (!pairs) {
      product[v] = f[0] * product[v] + f[1] * x[v] + f[2] * __ldcs(job->y + at);
      if (total) __stcs(total + at, __ldcs(total + at) + f[3] * product[v] + f[4] * x[v]);
    } else if (v % 2 == 0) {
      const double2 old = __ldcs((const double2 *)(job->y + at));
      product[v] = f[0] * product[v] + f[1] * x[v] + f[2] * old.x;
      product[v + 1] = f[0] * product[v + 1] + f[1] * x[v + 1] + f[2] * old.y;
      if (!total) continue;
      double2 sum = __ldcs((const double2 *)(total + at));
      sum.x += f[3] * product[v] + f[4] * x[v], sum.y += f[3] * product[v + 1] + f[4] * x[v + 1];
      __stcs((double2 *)(total + at), sum);
    }
  }
}

static __device__ __forceinline__ void finish_row(const slices_job *job, int storage, int per,
                                                  bool pairs, int m, const slice_columns *columns,
                                                  int offset, int64_t i, double (*sum)[MOST_PER])
{
  if (storage == STOKES_PAIR) {
    const double *d = job->diagonal + 6 * i;
    double x[3][MOST_PER];
    load_x(columns, per, pairs, m, job->x + offset, (int32_t)i, x);
#pragma unroll
    for (int v = 0; v < per; v++) {
      const double xs[3] = {x[0][v], x[1][v], x[2][v]};
      double ys[3] = {sum[0][v], sum[1][v], sum[2][v]};
      gspmv_diagonal(d, xs, ys);
      sum[0][v] = ys[0], sum[1][v] = ys[1], sum[2][v] = ys[2];
    }
  }
#pragma unroll
  for (int k = 0; k < 3; k++) {
    const int64_t row = offset + (3 * i + k) * m;
    if (job->use.series) use_columns(job, columns, per, pairs, row, sum[k]);
    store_columns(columns, per, pairs, job->y + row, sum[k]);
  }
}

/* storage, width, team, per, pairs and whole are constants where this is inlined; whole: m is just
 * what a team holds. */
static __device__ __forceinline__ void slices_body(const slices_job *job, int storage, int width,
                                                   int team, int per, bool pairs, bool whole)
{
  __shared__ int ticket;
  const int side = MD_WARP / (team * width); /* slices of a warp */
  const int own = threadIdx.x % MD_WARP, lane = own / team % width, place = own / (team * width);
  const int bytes = slice_units(storage) * slice_unit_bytes(storage) * width;
  const bool lead = own % (team * width) == 0;
  const int groups = job->chunk / side;
  if (threadIdx.x == 0) ticket = 0;
  __syncthreads();
  const int m = whole ? team * per : job->m, panels = whole ? 1 : job->panels;
  int64_t slice = -1;
  int panel = 0;
  slice_part part = {};
  for (bool first = true;; first = false) {
    int t = 0;
    if (own == 0) t = atomicAdd(&ticket, 1);
    t = __shfl_sync(MD_ALL_LANES, t, 0);
    const int turn = t / panels;
    const int64_t next =
        ((int64_t)(turn / groups) * gridDim.x + blockIdx.x) * job->chunk + turn % groups * side;
    const slice_part coming = find_part(job, width, next + place, lane);
    if (lead) prefetch(job, bytes, coming.step, coming.steps);
    if (!first) {
      if (slice >= job->n_slices) return;
      const int offset = panel * team * per, parts = part.mine.parts_count & 7;
      slice_columns columns;
      find_columns(team, per, pairs, m - offset, &columns);
      double sum[3][MOST_PER] = {};
      sum_part(job, storage, width, per, pairs, m, &columns, job->x + offset, &part, lane, lead,
               sum);
      __syncwarp();
      join_parts(parts, team, per, sum);
      if (part.mine.row >= 0 && lane % parts == 0)
        finish_row(job, storage, per, pairs, m, &columns, offset, part.mine.row, sum);
    }
    slice = next, panel = t % panels, part = coming;
  }
}

/* Shapes: lanes of a slice, threads a lane, columns a thread, in pairs or not, for just as many
 * columns or not, threads of a block. */
#define SHAPES(X, s)                                                                               \
  X(s, 8, 1, 1, 0, 1, 768)                                                                         \
  X(s, 8, 1, 2, 1, 1, 768)                                                                         \
  X(s, 8, 2, 2, 1, 1, 768)                                                                         \
  X(s, 8, 4, 2, 1, 1, 768)                                                                         \
  X(s, 4, 8, 2, 1, 1, 768)                                                                         \
  X(s, 4, 8, 4, 1, 1, 512)                                                                         \
  X(s, 8, 4, 1, 0, 0, 768)                                                                         \
  X(s, 8, 4, 2, 0, 0, 768)                                                                         \
  X(s, 8, 4, 2, 1, 0, 768)                                                                         \
  X(s, 4, 4, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 1, 0, 0, 768)                                                                         \
  X(s, 4, 8, 4, 0, 0, 512)                                                                         \
  X(s, 4, 4, 2, 1, 0, 768)                                                                         \
  X(s, 4, 8, 2, 1, 0, 768)                                                                         \
  X(s, 4, 8, 4, 1, 0, 512)
/* Threads besides, where pairs leave registers for them and the team is large enough to need them. */
#define MORE_BCRS(team, per) 0
#define MORE_SINGLE(team, per) 0
#define MORE_PAIR(team, per) (team >= 4 && per <= 2 ? 128 : 0)
#define KERNEL(s, width, team, per, pairs, whole, threads)                                         \
  static __global__ void __launch_bounds__(threads + MORE_##s(team, per), 1)                       \
      slices_##s##_##width##_##team##_##per##_##pairs##whole(                                      \
          const __grid_constant__ slices_job job)                                                  \
  {                                                                                                \
    slices_body(&job, STOKES_##s, width, team, per, pairs, whole);                                 \
  }
#define ENTRY(s, width, team, per, pairs, whole, threads)                                          \
  {width,                                                                                          \
   team,                                                                                           \
   per,                                                                                            \
   pairs,                                                                                          \
   whole,                                                                                          \
   threads + MORE_##s(team, per),                                                                  \
   slices_##s##_##width##_##team##_##per##_##pairs##whole},
#define KERNELS(name, word) SHAPES(KERNEL, name)
#define TABLE(name, word) {SHAPES(ENTRY, name)},
STOKES_STORAGES(KERNELS)

enum { N_SHAPES = 15 };
typedef struct {
  int width, team, per, pairs, whole, threads;
  void (*kernel)(slices_job);
} slices_shape;
static const slices_shape shapes[STOKES_STORAGE_COUNT][N_SHAPES] = {STOKES_STORAGES(TABLE)};

static int panels_of(const slices_shape *s, int m)
{
  return (m + s->team * s->per - 1) / (s->team * s->per);
}

/* The first shape of this width that takes the fewest panels, of those one with the fewest idle
 * columns; pairs of columns need rows of 16 bytes. */
static const slices_shape *choose(const slices_shape *table, int width, int m)
{
  const slices_shape *best = NULL;
  for (int k = 0; k < N_SHAPES; k++) {
    const slices_shape *s = &table[k];
    const int columns = s->team * s->per;
    if (s->width != width || (s->pairs && m % 2 != 0) || (s->whole && m != columns)) continue;
    const int fewer = best ? panels_of(best, m) - panels_of(s, m) : 1;
    if (fewer > 0 || (fewer == 0 && best->team * best->per > columns)) best = s;
  }
  return best;
}

md_status gspmv_gpu_slices(const stokes_matrix *matrix, int m, const double *x, double *y,
                           const gspmv_use *use)
{
  const matrix_slices *s = &matrix->slices;
  const slices_shape *shape = choose(shapes[matrix->storage], s->width, m);
  const int side = MD_WARP / (s->width * shape->team);
  int device, processors;
  MD_CUDA(cudaGetDevice(&device));
  MD_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  /* A few chunks for every block of threads, where there are so many slices. */
  const int64_t even = s->n_slices / (4 * (int64_t)processors) / side * side;
  const int chunk = even < side ? side : even < CHUNK ? (int)even : CHUNK;
  const slices_job job = {s->n_slices,
                          (const int64_t *)s->first.data,
                          (const matrix_lane *)s->lane.data,
                          matrix->block.data,
                          (const double *)matrix->diagonal.data,
                          x,
                          y,
                          m,
                          panels_of(shape, m),
                          chunk,
                          *use};
  const int64_t chunks = (s->n_slices + chunk - 1) / chunk;
  const unsigned blocks = (unsigned)(chunks < processors ? chunks : processors);
  shape->kernel<<<blocks, shape->threads, 0, (cudaStream_t)matrix->ctx->stream>>>(job);
  MD_LAUNCHED();
  return MD_OK;
}
