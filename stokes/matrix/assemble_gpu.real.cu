/* stokes/matrix/assemble_gpu.real.cu - the blocks of a resistance matrix in plain rows, on the GPU.
 *
 * A warp goes through the lists of 32 spheres as if they were one, 32 entries at a time, so that no
 * lane waits for longer rows: a ballot numbers the pairs that are near enough, and each lane works
 * out one block; the sphere of a lane's next entry is asked for a round ahead.  Blocks leave
 * through shared memory, in one piece.  Diagonal blocks are sums over segments of lanes:
 * a product of a matrix of zeros and ones, eight rows and 32 entries, with the terms of those
 * entries, which the tensor cores take for doubles as they are, in one order.  Some hundred
 * operations a pair; 36 bytes gathered for an entry, 24 to 80 written for a block. */
#include "core/real.h"
#include "stokes/matrix/assemble_gpu.h"

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP, GROUP = 8 };

/* What a warp needs in shared memory: diagonal blocks; what each entry adds to them (one more than
 * that, for the banks' sake); blocks on their way to plain rows, and the places where they go. */
typedef struct {
  double diagonal[MD_WARP][TERMS];
  double term[MD_WARP][TERMS + 1];
  int place[MD_WARP];
} warp_sums;

/* c += A B for A [8][4] and B [4][8]: lane l has A[l / 4][l % 4], B[l % 4][l / 4] and
 * c[l / 4][2 (l % 4)] with the next. */
static __device__ __forceinline__ void multiply_add(double a, double b, double *c)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/* Sums of the terms of a group of rows; c is two halves of them. */
typedef struct {
  int group;
  double c[2][2];
} group_sums;

/* What my entry adds. */
static __device__ __forceinline__ void put_terms(warp_sums *sums, int lane, const double *d)
{
#pragma unroll
  for (int q = 0; q < TERMS; q++)
    sums->term[lane][q] = d[q];
}

/* Add the entries at hand that belong to the group; lanes: those of my row. */
static __device__ __forceinline__ void add_entries(const warp_sums *sums, int lane, unsigned lanes,
                                                   group_sums *g)
{
  const int k = lane % 4, term = min(lane / 4, TERMS - 1);
  const unsigned mine = __shfl_sync(MD_ALL_LANES, lanes, g->group * GROUP + lane / 4) >> k;
#pragma unroll
  for (int e = 0; e < MD_WARP; e += 4)
    multiply_add(mine & 1u << e ? 1 : 0, sums->term[e + k][term], g->c[e / 4 % 2]);
}

/* The group is done; on to the next. */
static __device__ __forceinline__ void next_group(warp_sums *sums, int lane, group_sums *g)
{
  if (lane % 4 < TERMS / 2) {
    double *to = &sums->diagonal[g->group * GROUP + lane / 4][lane % 4 * 2];
    to[0] += g->c[0][0] + g->c[1][0];
    to[1] += g->c[0][1] + g->c[1][1];
  }
  *g = (group_sums){g->group + 1, {{0, 0}, {0, 0}}};
}

/* The terms of all entries at hand, which belong to the rows first ... last. */
static __device__ __forceinline__ void sum_entries(warp_sums *sums, int lane, unsigned lanes,
                                                   int first, int last, group_sums *g)
{
  while (g->group < first / GROUP)
    next_group(sums, lane, g);
  add_entries(sums, lane, lanes, g);
  while (g->group < last / GROUP) {
    next_group(sums, lane, g);
    add_entries(sums, lane, lanes, g);
  }
}

/* Store `count` blocks of plain rows, `words` words of 8 or 4 bytes each: pairs one after the other
 * from `first` on, others at their places from there; doubles are too many to be read again
 * soon. */
static __device__ __forceinline__ void store_plain(const slice_layout *l, int storage, int lane,
                                                   const warp_sums *sums, const void *stage,
                                                   int64_t first, int count)
{
  if (storage == STOKES_PAIR) {
    uint2 *to = (uint2 *)l->block + 3 * first;
    for (int k = lane; k < 3 * count; k += MD_WARP)
      to[k] = ((const uint2 *)stage)[k];
    return;
  }
  for (int k = lane; k < 9 * count; k += MD_WARP) {
    const int64_t at = 9 * (first + sums->place[k / 9]) + k % 9;
    if (storage == STOKES_SINGLE)
      ((float *)l->block)[at] = ((const float *)stage)[k];
    else
      __stcs((double *)l->block + at, ((const double *)stage)[k]);
  }
}

/* Block `rank` of those that go to plain rows together. */
static __device__ __forceinline__ void stage_plain(int storage, const assemble_terms *t,
                                                   int32_t column, int rank, void *stage)
{
  if (storage == STOKES_PAIR) {
    const stokes_pair_entry entry = assemble_round(t, column);
    float2 *to = (float2 *)stage + 3 * rank;
    to[0] = make_float2(entry.e[0], entry.e[1]);
    to[1] = make_float2(entry.e[2], entry.squeeze);
    to[2] = make_float2(entry.slide, __int_as_float(entry.column));
    return;
  }
#pragma unroll
  for (int q = 0; q < 9; q++) {
    const real value = assemble_element(t, q / 3, q % 3);
    if (storage == STOKES_SINGLE)
      ((float *)stage)[9 * rank + q] = (float)value;
    else
      ((double *)stage)[9 * rank + q] = value;
  }
}

/* Diagonal blocks begin as one. */
static __device__ __forceinline__ void open_sums(warp_sums *sums, int lane)
{
  for (int q = 0; q < TERMS; q++)
    sums->diagonal[lane][q] = q == 0 || q == 3 || q == 5;
  __syncwarp();
}

/* Diagonal blocks as the first ones of plain rows, whose elements lie one after the other. */
static __device__ __forceinline__ void close_plain(const list_job *job, const slice_layout *layout,
                                                   int storage, const warp_rows *w,
                                                   const warp_sums *sums)
{
  const int64_t i = w->row + w->lane, first = layout->start[min(i, job->n)];
#pragma unroll
  for (int k = w->lane; k < 9 * MD_WARP; k += MD_WARP) {
    const int row = k / 9, q = k % 9;
    const int64_t at = 9 * __shfl_sync(MD_ALL_LANES, first, row) + q;
    const double value = sums->diagonal[row][assemble_packed(q / 3, q % 3)];
    if (w->row + row >= job->n) continue;
    if (storage == STOKES_SINGLE)
      ((float *)layout->block)[at] = (float)value;
    else
      __stcs((double *)layout->block + at, value);
  }
  if (i < job->n) layout->column[first] = (int32_t)i;
}

/* Diagonal blocks, also as the first blocks of rows that hold them. */
static __device__ __forceinline__ void close_rows(const list_job *job, const slice_layout *layout,
                                                  int storage, const warp_rows *w,
                                                  const warp_sums *sums, double *diagonal)
{
  double *out = diagonal + TERMS * w->row;
  for (int k = w->lane; k < TERMS * MD_WARP && w->row + k / TERMS < job->n; k += MD_WARP)
    out[k] = sums->diagonal[k / TERMS][k % TERMS];
  if (storage != STOKES_PAIR) close_plain(job, layout, storage, w, sums);
}

/* storage is a constant where this is inlined.  The diagonal is block 0 of a row where blocks hold
 * it. */
static __device__ __forceinline__ void fill_body(const list_job *job, const slice_layout *layout,
                                                 int storage, warp_sums *sums, void *stage,
                                                 double *diagonal, int64_t room)
{
  if (layout->start[job->n] > room) return;
  const warp_rows w = rows_of_warp(job);
  const bool pair = storage == STOKES_PAIR, all = all_are_near(job);
  const int64_t first = layout->start[w.row];
  const unsigned less = (1u << w.lane) - 1;
  group_sums group = {};
  open_sums(sums, w.lane);
  int stored = 0; /* pairs */
  int32_t next = neighbor_of(job, &w, 0), after = neighbor_of(job, &w, MD_WARP);
  double b[4]; /* sphere `next`, which is asked for a round ahead */
  load_sphere(job, next, b);
  for (int k = 0; k < w.total; k += MD_WARP) {
    const int entry = k + w.lane, row = row_of(&w, entry);
    const unsigned lanes = row_lanes(&w, k);
    const int32_t j = next;
    double a[4];
    load_sphere(job, min(w.row + row, job->n - 1), a);
    const assemble_place between = assemble_between(job->box, a, b);
    const bool near = entry < w.total && (all || assemble_near(&between, job->range.gap_cut));
    next = after;
    load_sphere(job, next, b);
    after = neighbor_of(job, &w, k + 2 * MD_WARP);
    const unsigned found = __ballot_sync(MD_ALL_LANES, near);
    const int rank = __popc(found & less);
    double d[TERMS] = {};
    if (near) {
      const assemble_terms terms = assemble_pair(&between, &job->range, job->inv_far);
      assemble_diagonal(d, &terms, between.a_i, between.a_j);
      stage_plain(storage, &terms, j, rank, stage);
      if (!pair) {
        const int place = stored + rank + row + 1;
        sums->place[rank] = place;
        layout->column[first + place] = j;
      }
    }
    put_terms(sums, w.lane, d);
    __syncwarp();
    store_plain(layout, storage, w.lane, sums, stage, first + (pair ? stored : 0), __popc(found));
    const int last = __shfl_sync(MD_ALL_LANES, row, min(MD_WARP, w.total - k) - 1);
    sum_entries(sums, w.lane, lanes, __shfl_sync(MD_ALL_LANES, row, 0), last, &group);
    stored += __popc(found);
    __syncwarp();
  }
  next_group(sums, w.lane, &group);
  __syncwarp();
  close_rows(job, layout, storage, &w, sums, diagonal);
}

/* least: blocks of threads that a multiprocessor should have at least. */
#define FILL_KERNEL(name, bytes, least)                                                            \
  static __global__ void __launch_bounds__(BLOCK, least) fill_rows_##name(                         \
      const __grid_constant__ list_job job, const __grid_constant__ slice_layout layout,           \
      double *diagonal, int64_t room)                                                              \
  {                                                                                                \
    __shared__ warp_sums sums[WARPS];                                                              \
    __shared__ __align__(8) unsigned char stage[WARPS][bytes * MD_WARP];                           \
    const int own = threadIdx.x / MD_WARP;                                                         \
    fill_body(&job, &layout, STOKES_##name, &sums[own], stage[own], diagonal, room);               \
  }
#if MD_PREC == 0
FILL_KERNEL(SINGLE, 36, 3)
FILL_KERNEL(PAIR, 24, 3)
#else
FILL_KERNEL(BCRS, 72, 2)
#endif

md_status PREC(assemble_gpu_fill_rows)(stokes_matrix *matrix, const list_job *list, int64_t room)
{
#if MD_PREC == 0
  const bool pair = matrix->storage == STOKES_PAIR;
  void (*const kernel)(list_job, slice_layout, double *, int64_t) =
      pair ? fill_rows_PAIR : fill_rows_SINGLE;
#else
  void (*const kernel)(list_job, slice_layout, double *, int64_t) = fill_rows_BCRS;
#endif
  kernel<<<md_blocks(list->n, BLOCK), BLOCK, 0, (cudaStream_t)matrix->ctx->stream>>>(
      *list, slice_layout_of(matrix), (double *)matrix->diagonal.data, room);
  MD_LAUNCHED();
  return MD_OK;
}
