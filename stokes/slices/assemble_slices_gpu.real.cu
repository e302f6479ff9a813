/* stokes/slices/assemble_slices_gpu.real.cu - the blocks of a resistance matrix in slices, on the
 * GPU.
 *
 * A warp fills eight lanes of slices, four entries of each at a time (slice_fill_gpu.h).  A thread
 * sums what its entries add to the diagonal block, and the threads of a row add their sums at its
 * end.  Entries that do not resist are left out first: lanes of a slice would else come to a step
 * of it at different times, and memory be written by parts of sectors.  24 to 80 bytes written
 * for a block, 36 gathered, and 32 of these twice where the list holds others. */
#include "core/real.h"
#include "stokes/slices/slice_fill_gpu.h"

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP };
enum { LANES = SLICE_FILL_LANES, GROUP = SLICE_FILL_GROUP, MOST_PARTS = 4 };

/* Pairs of numbers at their place in a slice. */
static __device__ __forceinline__ void store_sliced(const slice_layout *l, int storage,
                                                    const slice_address *at, int k, int32_t column,
                                                    const assemble_terms *t)
{
  if (storage == STOKES_PAIR) {
    const stokes_pair_entry entry = assemble_round(t, column);
    slice_put_pair(l, at, k, &entry);
    return;
  }
  double b[9];
  for (int q = 0; q < 9; q++)
    b[q] = assemble_element(t, q / 3, q % 3);
  slice_put_nine(l, storage, at, k, column, b);
}

/* The sums of all threads of a row, in each of them; diagonal blocks begin as one. */
static __device__ __forceinline__ void join_sums(const slice_row *r, double *d)
{
#pragma unroll
  for (int step = 1; step < GROUP * MOST_PARTS; step *= 2)
#pragma unroll
    for (int q = 0; q < TERMS; q++) {
      const double other = __shfl_xor_sync(MD_ALL_LANES, d[q], step);
      if (step < GROUP * r->parts) d[q] += other;
    }
  d[0] += 1, d[3] += 1, d[5] += 1;
}

/* The diagonal blocks, also as the first blocks of rows that hold them.  space: [LANES]. */
static __device__ __forceinline__ void close_lanes(const slice_layout *l, int storage,
                                                   const slice_row *r, double *d,
                                                   double (*space)[TERMS], double *diagonal)
{
  const int k = threadIdx.x % GROUP;
  const bool first = r->row >= 0 && r->part == 0;
  double *own = space[r->lane];
  join_sums(r, d);
  for (int q = 0; q < TERMS && k == 0; q++)
    own[q] = d[q];
  __syncwarp();
  if (!first) return;
  if (k < TERMS / 2) ((double2 *)(diagonal + TERMS * r->row))[k] = ((const double2 *)own)[k];
  for (int w = k; w < 10 && storage != STOKES_PAIR; w += GROUP) {
    const int64_t at = slice_word(&r->at, 0, w);
    const double value = own[assemble_packed(min(w, 8) / 3, min(w, 8) % 3)];
    if (storage == STOKES_BCRS)
      ((double *)l->block)[at] = w < 9 ? value : __longlong_as_double(r->row);
    else
      ((float *)l->block)[at] = w < 9 ? (float)value : __int_as_float((int)r->row);
  }
}

/* Where a thread's entries go. */
typedef struct {
  const list_job *job;
  const slice_layout *layout;
  int storage; /* a constant where this is inlined */
  double a[4]; /* the row's sphere */
} fill_target;

/* The pair of the row with sphere j, at a place of the row; adds to the diagonal block d. */
static __device__ __forceinline__ void put_pair(const fill_target *t, const slice_row *r,
                                                const assemble_place *between, int place, int32_t j,
                                                double *d)
{
  const assemble_terms terms = assemble_pair(between, &t->job->range, t->job->inv_far);
  assemble_diagonal(d, &terms, between->a_i, between->a_j);
  store_sliced(t->layout, t->storage, &r->at, place, j, &terms);
}

/* Every entry of the list resists. */
static __device__ __forceinline__ void fill_all(const fill_target *t, const slice_row *r, int own,
                                                double *d)
{
  const int step = r->parts * GROUP, rounds = slice_row_rounds(r, r->length);
  const int stored = t->storage != STOKES_PAIR;
  double b[4];
  int32_t next = slice_row_neighbor(t->job, r, own);
  int32_t after = slice_row_neighbor(t->job, r, own + step);
  load_sphere(t->job, next, b); /* which is asked for a round ahead */
  for (int round = 0, entry = own; round < rounds; round++, entry += step) {
    const int32_t j = next;
    const assemble_place between = assemble_between(t->job->box, t->a, b);
    next = after;
    load_sphere(t->job, next, b);
    after = slice_row_neighbor(t->job, r, entry + 2 * step);
    if (slice_row_has(r, entry)) put_pair(t, r, &between, stored + entry, j, d);
  }
}

/* Those that resist wait in a queue of the row until all its threads have one, so that the lanes of
 * a slice go on together.  queue: twice as many as the row has threads. */
static __device__ __forceinline__ void fill_near(const fill_target *t, const slice_row *r, int own,
                                                 int32_t *queue, double *d)
{
  const int step = r->parts * GROUP;
  const unsigned less = r->threads & ((1u << threadIdx.x % MD_WARP) - 1);
  int stored = t->storage != STOKES_PAIR, count = 0, at = 0;
  double b[4];
  int32_t coming = slice_row_neighbor(t->job, r, own);
  for (;;) {
    while (__any_sync(MD_ALL_LANES, count < step && at < r->length)) {
      const bool look = count < step && at < r->length;
      const int32_t j = coming;
      bool near = false;
      if (look) {
        coming = slice_row_neighbor(t->job, r, at + step + own);
        load_sphere(t->job, j, b);
        const assemble_place between = assemble_between(t->job->box, t->a, b);
        near = slice_row_has(r, at + own) && assemble_near(&between, t->job->range.gap_cut);
        at += step;
      }
      const unsigned found = __ballot_sync(MD_ALL_LANES, near);
      if (near) queue[count + __popc(found & less)] = j;
      count += __popc(found & r->threads);
    }
    if (!__any_sync(MD_ALL_LANES, count > 0)) return;
    __syncwarp();
    const int taken = min(count, step);
    if (own < taken) {
      const int32_t j = queue[own];
      load_sphere(t->job, j, b);
      const assemble_place between = assemble_between(t->job->box, t->a, b);
      put_pair(t, r, &between, stored + own, j, d);
    }
    stored += taken;
    count -= taken;
    const int32_t rest = own < count ? queue[taken + own] : 0;
    __syncwarp();
    if (own < count) queue[own] = rest;
  }
}

/* What a warp needs in shared memory. */
typedef union {
  int32_t queue[LANES][2 * GROUP];
  double diagonal[LANES][TERMS];
} fill_space;

static __device__ __forceinline__ void fill_lanes(const list_job *job, const slice_layout *layout,
                                                  int64_t n_lanes, int storage, fill_space *space,
                                                  double *diagonal)
{
  const slice_row r = slice_row_open(job, layout, n_lanes);
  const int own = r.part * GROUP + threadIdx.x % GROUP;
  fill_target target = {job, layout, storage, {}};
  double d[TERMS] = {};
  load_sphere(job, max(r.row, (int64_t)0), target.a);
  if (all_are_near(job))
    fill_all(&target, &r, own, d);
  else
    fill_near(&target, &r, own, space->queue[r.first], d);
  __syncwarp();
  close_lanes(layout, storage, &r, d, space->diagonal, diagonal);
}

/* least: blocks of threads that a multiprocessor should have at least. */
#define FILL_KERNEL(name, least)                                                                   \
  static __global__ void __launch_bounds__(BLOCK, least) fill_slices_##name(                       \
      const __grid_constant__ list_job job, const __grid_constant__ slice_layout layout,           \
      int64_t n_lanes, double *diagonal)                                                           \
  {                                                                                                \
    __shared__ __align__(16) fill_space space[WARPS];                                              \
    fill_lanes(&job, &layout, n_lanes, STOKES_##name, &space[threadIdx.x / MD_WARP], diagonal);    \
  }
#if MD_PREC == 0
FILL_KERNEL(SINGLE, 3)
FILL_KERNEL(PAIR, 3)
#else
FILL_KERNEL(BCRS, 2)
#endif

md_status PREC(assemble_gpu_fill_slices)(stokes_matrix *matrix, const list_job *list)
{
#if MD_PREC == 0
  const bool pair = matrix->storage == STOKES_PAIR;
  void (*const kernel)(list_job, slice_layout, int64_t, double *) =
      pair ? fill_slices_PAIR : fill_slices_SINGLE;
#else
  void (*const kernel)(list_job, slice_layout, int64_t, double *) = fill_slices_BCRS;
#endif
  const int64_t n_lanes = matrix->slices.n_slices * matrix->slices.width;
  kernel<<<md_blocks(n_lanes * GROUP, BLOCK), BLOCK, 0, (cudaStream_t)matrix->ctx->stream>>>(
      *list, slice_layout_of(matrix), n_lanes, (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return MD_OK;
}
