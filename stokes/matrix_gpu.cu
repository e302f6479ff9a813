/* stokes/matrix_gpu.cu - assembly of resistance matrices on the GPU.
 *
 * A warp goes through the lists of 32 spheres as if they were one, 32 entries at a time, so that no
 * lane waits for longer rows: a ballot numbers the pairs of each row that are near enough, each lane
 * works out one block, and diagonals are summed over the lanes of a row in one order.  Some hundred
 * operations a pair; 36 bytes gathered for an entry, 24 to 80 written for a block, those of plain
 * rows through shared memory, in one piece. */
#include <cub/device/device_scan.cuh>

#include "stokes/gspmv_gpu.h"

enum { BLOCK = 256 };

typedef struct {
  int64_t n;
  double box[3];
  const double *x;
  const int64_t *start;
  const int32_t *neighbor;
  lubrication_range range;
  double inv_far;
} list_job;

static list_job list_of(const assemble_job *job)
{
  const stokes_view *s = job->spheres;
  const list_job list = {s->n,
                         {s->box[0], s->box[1], s->box[2]},
                         s->x,
                         job->pairs->start,
                         job->pairs->neighbor,
                         job->range,
                         job->inv_far};
  return list;
}

/* A warp goes through the lists of as many rows as it has lanes, which lie one after the other, and
 * takes as many entries at a time.  Lane r keeps the account of row r; its own entry may belong to
 * any of them. */
typedef struct {
  int64_t row, base; /* first row; first entry */
  int begin, end;    /* the list of my row, from base */
  int total, lane;
} warp_rows;

static __device__ __forceinline__ warp_rows rows_of_warp(const list_job *job)
{
  warp_rows w;
  w.lane = threadIdx.x % MD_WARP;
  w.row = md_thread() / MD_WARP * MD_WARP;
  if (w.row > job->n) w.row = job->n;
  w.base = job->start[w.row];
  const int64_t mine = min(w.row + w.lane, job->n);
  w.begin = (int)(job->start[mine] - w.base);
  w.end = (int)(job->start[min(mine + 1, job->n)] - w.base);
  w.total = __shfl_sync(MD_ALL_LANES, w.end, MD_WARP - 1);
  return w;
}

/* Which lanes hold entries of row r, of the entries from k on: from `low` to before `high`. */
static __device__ __forceinline__ unsigned row_lanes(const warp_rows *w, int k, int *low, int *high)
{
  *low = min(max(w->begin - k, 0), MD_WARP);
  *high = min(max(w->end - k, 0), MD_WARP);
  return (unsigned)((1ull << *high) - (1ull << *low));
}

/* The row of entry k: how many rows end before it. */
static __device__ __forceinline__ int row_of(const warp_rows *w, int k)
{
  int row = 0;
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    if (__shfl_sync(MD_ALL_LANES, w->end, row + step - 1) <= k) row += step;
  return row;
}

static __device__ __forceinline__ void load_sphere(const list_job *job, int64_t i, double *to)
{
  const double2 *from = (const double2 *)(job->x + 4 * i);
  const double2 low = __ldg(from), high = __ldg(from + 1);
  to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}

/* start[i + 1] = blocks of row i. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(const __grid_constant__ list_job job, int own, int64_t *start)
{
  const warp_rows w = rows_of_warp(&job);
  int found = own;
  for (int k = 0; k < w.total; k += MD_WARP) {
    const int entry = k + w.lane, row = row_of(&w, entry);
    int low, high;
    bool near = false;
    if (entry < w.total) {
      double a[4], b[4];
      load_sphere(&job, w.row + row, a);
      load_sphere(&job, job.neighbor[w.base + entry], b);
      near = assemble_near(job.box, a, b, job.range.gap_cut);
    }
    found += __popc(__ballot_sync(MD_ALL_LANES, near) & row_lanes(&w, k, &low, &high));
  }
  if (w.row == 0 && w.lane == 0) start[0] = 0;
  if (w.row + w.lane < job.n) start[w.row + w.lane + 1] = found;
}

/* Sums of d over the lanes low ... my own. */
static __device__ __forceinline__ void sum_from(int lane, int low, double *d)
{
  for (int step = 1; step < MD_WARP; step *= 2)
    for (int q = 0; q < 6; q++) {
      const double other = __shfl_up_sync(MD_ALL_LANES, d[q], step);
      if (lane - step >= low) d[q] += other;
    }
}

enum { MOST_WORDS = 18 };

/* What a warp needs in shared memory: diagonal blocks, and blocks on their way to plain rows with
 * the places where they go. */
typedef struct {
  double diagonal[MD_WARP][6];
  uint32_t stage[MD_WARP * MOST_WORDS];
  int64_t place[MD_WARP];
} warp_space;

/* Store `count` blocks of `words` four-byte words. */
static __device__ __forceinline__ void store_plain(const slice_layout *l, const warp_space *space,
                                                   int words, int count)
{
  uint32_t *out = (uint32_t *)l->block;
  __syncwarp();
  for (int k = threadIdx.x % MD_WARP; k < count * words; k += MD_WARP)
    out[space->place[k / words] * words + k % words] = space->stage[k];
  __syncwarp();
}

/* The block of a pair as 4-byte words of a plain row. */
static __device__ __forceinline__ void pack_plain(int storage, const assemble_terms *t,
                                                  const stokes_pair_entry *entry, uint32_t *to)
{
  if (storage == STOKES_PAIR) {
    const uint32_t *from = (const uint32_t *)entry;
    for (int w = 0; w < 6; w++)
      to[w] = from[w];
    return;
  }
  for (int q = 0; q < 9; q++) {
    const double value = assemble_element(t, q / 3, q % 3);
    if (storage == STOKES_SINGLE)
      to[q] = __float_as_uint((float)value);
    else
      ((uint2 *)to)[q] =
          make_uint2((unsigned)__double2loint(value), (unsigned)__double2hiint(value));
  }
}

/* Pairs of numbers at their place in a slice. */
static __device__ __forceinline__ void store_sliced(const slice_layout *l, int storage,
                                                    const slice_address *at, int k, int32_t column,
                                                    const assemble_terms *t,
                                                    const stokes_pair_entry *entry)
{
  const int64_t unit = slice_word(at, k, 0) / 2;
  if (storage == STOKES_PAIR) {
    float2 *to = (float2 *)l->block + unit;
    to[0] = make_float2(entry->e[0], entry->e[1]);
    to[l->width] = make_float2(entry->e[2], entry->squeeze);
    to[2 * l->width] = make_float2(entry->slide, __int_as_float(column));
    return;
  }
  double b[9];
  for (int q = 0; q < 9; q++)
    b[q] = assemble_element(t, q / 3, q % 3);
  if (storage == STOKES_SINGLE) {
    float2 *to = (float2 *)l->block + unit;
    for (int u = 0; u < 4; u++)
      to[u * l->width] = make_float2((float)b[2 * u], (float)b[2 * u + 1]);
    to[4 * l->width] = make_float2((float)b[8], __int_as_float(column));
  } else {
    double2 *to = (double2 *)l->block + unit;
    for (int u = 0; u < 4; u++)
      to[u * l->width] = make_double2(b[2 * u], b[2 * u + 1]);
    to[4 * l->width] = make_double2(b[8], __longlong_as_double(column));
  }
}

/* The address of row r, which lane r has. */
static __device__ __forceinline__ slice_address address_of(const slice_address *own, int row)
{
  slice_address at = *own;
  at.base = __shfl_sync(MD_ALL_LANES, own->base, row);
  at.parts = __shfl_sync(MD_ALL_LANES, own->parts, row);
  return at;
}

/* storage and plain are constants where this is inlined.  The diagonal is block 0 of a row where
 * blocks hold it. */
static __device__ __forceinline__ void fill_body(const list_job *job, const slice_layout *layout,
                                                 int storage, bool plain, warp_space *space,
                                                 double *diagonal)
{
  const warp_rows w = rows_of_warp(job);
  const bool pair = storage == STOKES_PAIR, mine = w.row + w.lane < job->n;
  slice_address own = {};
  if (mine) own = slice_address_of(layout, w.row + w.lane);
  own.step = __shfl_sync(MD_ALL_LANES, own.step, 0);
  own.part = __shfl_sync(MD_ALL_LANES, own.part, 0);
  own.plane = __shfl_sync(MD_ALL_LANES, own.plane, 0);
  const int64_t first = mine ? layout->start[w.row + w.lane] : 0;
  for (int q = 0; q < 6; q++)
    space->diagonal[w.lane][q] = q == 0 || q == 3 || q == 5;
  __syncwarp();
  const int words = pair ? 6 : storage == STOKES_SINGLE ? 9 : MOST_WORDS;
  int done = !pair;
  for (int k = 0; k < w.total; k += MD_WARP) {
    const int entry = k + w.lane, row = row_of(&w, entry);
    int low, high;
    const unsigned lanes = row_lanes(&w, k, &low, &high);
    const unsigned others = __shfl_sync(MD_ALL_LANES, lanes, row);
    const int from = __shfl_sync(MD_ALL_LANES, low, row);
    const int until = __shfl_sync(MD_ALL_LANES, high, row);
    const int before = __shfl_sync(MD_ALL_LANES, done, row);
    const int64_t row_first = __shfl_sync(MD_ALL_LANES, first, row);
    const slice_address at = address_of(&own, row);
    double a[4], b[4], d[6] = {};
    int32_t j = 0;
    bool near = false;
    if (entry < w.total) {
      j = job->neighbor[w.base + entry];
      load_sphere(job, w.row + row, a);
      load_sphere(job, j, b);
      near = assemble_near(job->box, a, b, job->range.gap_cut);
    }
    const unsigned found = __ballot_sync(MD_ALL_LANES, near);
    const unsigned less = (1u << w.lane) - 1;
    const int place = before + __popc(found & others & less), rank = __popc(found & less);
    if (near) {
      assemble_terms terms = assemble_pair(job->box, a, b, &job->range, job->inv_far);
      const stokes_pair_entry rounded = assemble_round(&terms, j);
      if (pair) terms = assemble_widen(&rounded);
      assemble_diagonal(d, &terms, a[3], b[3]);
      if (plain) {
        pack_plain(storage, &terms, &rounded, space->stage + rank * words);
        space->place[rank] = row_first + place;
        if (!pair) layout->column[row_first + place] = j;
      } else {
        store_sliced(layout, storage, &at, place, j, &terms, &rounded);
      }
    }
    if (plain) store_plain(layout, space, words, __popc(found));
    sum_from(w.lane, from, d);
    if (entry < w.total && w.lane == until - 1)
      for (int q = 0; q < 6; q++)
        space->diagonal[row][q] += d[q];
    done += __popc(found & lanes);
    __syncwarp();
  }
  __syncwarp();
  double *out = diagonal + 6 * w.row;
  for (int k = w.lane; k < 6 * MD_WARP && w.row + k / 6 < job->n; k += MD_WARP)
    out[k] = space->diagonal[k / 6][k % 6];
  if (!mine || pair) return;
  double block[9];
  for (int q = 0; q < 9; q++)
    block[q] = space->diagonal[w.lane][assemble_packed(q / 3, q % 3)];
  slice_put_block(layout, &own, w.row + w.lane, 0, (int32_t)(w.row + w.lane), block);
}

#define FILL_KERNEL(name, plain)                                                                   \
  static __global__ void __launch_bounds__(BLOCK)                                                  \
      fill_##name##_##plain(const __grid_constant__ list_job job,                                  \
                            const __grid_constant__ slice_layout layout, double *diagonal)         \
  {                                                                                                \
    __shared__ __align__(16) warp_space space[BLOCK / MD_WARP];                                    \
    fill_body(&job, &layout, STOKES_##name, plain, &space[threadIdx.x / MD_WARP], diagonal);       \
  }
#define FILL_KERNELS(name, word) FILL_KERNEL(name, 0) FILL_KERNEL(name, 1)
#define FILL_ENTRY(name, word) {fill_##name##_0, fill_##name##_1},
STOKES_STORAGES(FILL_KERNELS)

static cudaStream_t stream_of(const stokes_matrix *matrix)
{
  return (cudaStream_t)matrix->ctx->stream;
}

md_status matrix_gpu_reserve(stokes_matrix *matrix, int vectors)
{
  const size_t padding = 4096; /* whole chunks are copied */
  const bool pair = matrix->storage == STOKES_PAIR;
  matrix_slices *s = &matrix->slices;
  s->width = 0;
  if (vectors > 1) MD_TRY(slices_build(matrix, vectors >= 16 ? 4 : 8));
  const size_t sliced = (size_t)s->n_steps * (size_t)s->width *
                        (size_t)(slice_units(matrix->storage) * slice_unit_bytes(matrix->storage));
  const size_t plain = (size_t)matrix->n_stored * matrix_entry_bytes(matrix->storage);
  const size_t columns = pair || s->width ? 0 : (size_t)matrix->n_stored * sizeof(int32_t);
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->block, (s->width ? sliced : plain) + padding));
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->column, columns));
  if (!s->width) MD_TRY(gspmv_gpu_chunks(matrix));
  return md_buffer_reserve(matrix->ctx, &matrix->diagonal,
                           (size_t)matrix->n_rows * 6 * sizeof(double), 0);
}

static md_status count(stokes_matrix *matrix, const list_job *list)
{
  const int64_t n = list->n;
  const cudaStream_t stream = stream_of(matrix);
  md_ctx *ctx = matrix->ctx;
  size_t bytes = 0;
  int64_t *start = NULL;
  MD_CUDA(cub::DeviceScan::InclusiveSum(NULL, bytes, start, start, n, stream));
  MD_TRY(md_buffer_reserve(ctx, &matrix->scratch, bytes, 0));
  MD_TRY(md_buffer_reserve(ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  start = (int64_t *)matrix->start.data;
  count_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(*list, matrix->storage != STOKES_PAIR,
                                                          start);
  MD_LAUNCHED();
  MD_CUDA(
      cub::DeviceScan::InclusiveSum(matrix->scratch.data, bytes, start + 1, start + 1, n, stream));
  MD_TRY(md_read(ctx, &matrix->n_stored, start + n, sizeof(int64_t)));
  matrix->n_blocks = matrix->n_stored + (matrix->storage == STOKES_PAIR ? n : 0);
  return MD_OK;
}

static md_status assemble(stokes_matrix *matrix, const assemble_job *job, int vectors)
{
  const list_job list = list_of(job);
  MD_TRY(count(matrix, &list));
  MD_TRY(matrix_gpu_reserve(matrix, vectors));
  static void (*const kernels[STOKES_STORAGE_COUNT][2])(list_job, slice_layout,
                                                        double *) = {STOKES_STORAGES(FILL_ENTRY)};
  kernels[matrix->storage]
         [matrix->slices.width == 0]<<<md_blocks(list.n, BLOCK), BLOCK, 0, stream_of(matrix)>>>(
             list, slice_layout_of(matrix), (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status multiply(const stokes_matrix *matrix, int m, const double *x, double *y)
{
  const gspmv_use use = {{1, 0, 0, 0}, NULL};
  return (matrix->slices.width ? gspmv_gpu_slices : gspmv_gpu_rows)(matrix, m, x, y, &use);
}

static md_status series(const stokes_matrix *matrix, int m, const double factor[4],
                        const double *now, double *next, double *total)
{
  const gspmv_use use = {{factor[0], factor[1], factor[2], factor[3]}, total};
  return (matrix->slices.width ? gspmv_gpu_slices : gspmv_gpu_rows)(matrix, m, now, next, &use);
}

const matrix_backend matrix_gpu = {assemble, matrix_gpu_set, matrix_gpu_get, multiply, series};
