/* stokes/matrix/assemble_slices_gpu.cu - the blocks of a resistance matrix in slices, on the GPU.
 *
 * A warp fills eight lanes of slices, four entries of each at a time (slice_fill_gpu.h).  The four
 * are those that assembly of plain rows sums at once (assemble_gpu.cu): a diagonal block has the
 * same bits in every layout.  24 to 80 bytes written for a block, 36 gathered: .27 ms for mat2 and
 * bcrs on an H100, where all of assembly takes .61, a fifth of it to count and to arrange slices.
 * Arithmetic in double precision bounds it with pairs.
 */
#include "stokes/matrix/assemble_sums_gpu.h"

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP };
enum { LANES = SLICE_FILL_LANES, GROUP = SLICE_FILL_GROUP };

/* What a warp needs in shared memory: what each entry adds to diagonal blocks, and these. */
typedef struct {
  double term[MD_WARP][TERMS + 1];
  double diagonal[LANES][TERMS];
} slice_sums;

/* Add the four entries of each lane, one lane after the other.  odd: threads whose group of four
 * is an odd one; busy: those whose entries resist. */
static __device__ __forceinline__ void add_lanes(const slice_sums *sums, const slice_row *r,
                                                 unsigned odd, unsigned busy, double c[2][2])
{
  const int k = threadIdx.x % GROUP, term = min(r->lane, TERMS - 1);
#pragma unroll
  for (int lane = 0; lane < LANES; lane++) {
    const unsigned threads = ((1u << GROUP) - 1) << lane * GROUP;
    if (!(busy & threads)) continue;
    const bool mine = lane >= r->lane && lane < r->lane + r->parts && r->part == 0;
    const double b = sums->term[lane * GROUP + k][term];
    if (odd & threads)
      multiply_add(mine ? 1 : 0, b, c[1]);
    else
      multiply_add(mine ? 1 : 0, b, c[0]);
  }
}

/* The diagonal blocks, also as the first blocks of rows that hold them. */
static __device__ __forceinline__ void close_lanes(const slice_layout *l, int storage,
                                                   const slice_row *r, slice_sums *sums,
                                                   double c[2][2], double *diagonal)
{
  const int k = threadIdx.x % GROUP;
  const bool first = r->row >= 0 && r->part == 0;
  if (k < TERMS / 2) { /* terms 0, 3 and 5 are on the diagonal, and begin as one */
    const double low = (k == 0) + (c[0][0] + c[1][0]), high = (k > 0) + (c[0][1] + c[1][1]);
    sums->diagonal[r->lane][2 * k] = low;
    sums->diagonal[r->lane][2 * k + 1] = high;
    if (first) ((double2 *)(diagonal + TERMS * r->row))[k] = make_double2(low, high);
  }
  __syncwarp();
  if (!first || storage == STOKES_PAIR) return;
  for (int w = k; w < 10; w += GROUP) {
    const int64_t at = slice_word(&r->at, 0, w);
    const double value = sums->diagonal[r->lane][assemble_packed(min(w, 8) / 3, min(w, 8) % 3)];
    if (storage == STOKES_BCRS)
      ((double *)l->block)[at] = w < 9 ? value : __longlong_as_double(r->row);
    else
      ((float *)l->block)[at] = w < 9 ? (float)value : __int_as_float((int)r->row);
  }
}

/* storage is a constant where this is inlined. */
static __device__ __forceinline__ void fill_lanes(const list_job *job, const slice_layout *layout,
                                                  int64_t n_lanes, int storage, slice_sums *sums,
                                                  double *diagonal)
{
  const int thread = threadIdx.x % MD_WARP, k = thread % GROUP;
  const slice_row r = slice_row_open(job, layout, n_lanes);
  const int step = r.parts * GROUP, own = (r.begin / GROUP + r.part) * GROUP + k;
  const int rounds = slice_row_rounds(&r, r.end - r.begin / GROUP * GROUP);
  double c[2][2] = {{0, 0}, {0, 0}}, a[4], b[4];
  int stored = storage != STOKES_PAIR;
  load_sphere(job, max(r.row, (int64_t)0), a);
  int32_t next = slice_row_neighbor(job, &r, own);
  int32_t after = slice_row_neighbor(job, &r, own + step);
  load_sphere(job, next, b); /* which is asked for a round ahead */
  for (int round = 0, entry = own; round < rounds; round++, entry += step) {
    const int32_t j = next;
    const assemble_place between = assemble_between(job->box, a, b);
    const bool near = slice_row_has(&r, entry) && assemble_near(&between, job->range.gap_cut);
    next = after;
    load_sphere(job, next, b);
    after = slice_row_neighbor(job, &r, entry + 2 * step);
    const unsigned found = __ballot_sync(MD_ALL_LANES, near);
    const unsigned odd = __ballot_sync(MD_ALL_LANES, entry / GROUP % 2);
    const int place = stored + __popc(found & r.threads & ((1u << thread) - 1));
    double d[TERMS] = {};
    if (near) {
      assemble_terms terms = assemble_pair(&between, &job->range, job->inv_far);
      const stokes_pair_entry rounded = assemble_round(&terms, j);
      if (storage == STOKES_PAIR) terms = assemble_widen(&rounded);
      assemble_diagonal(d, &terms, between.a_i, between.a_j);
      store_sliced(layout, storage, &r.at, place, j, &terms, &rounded);
    }
#pragma unroll
    for (int q = 0; q < TERMS; q++)
      sums->term[thread][q] = d[q];
    __syncwarp();
    add_lanes(sums, &r, odd, found, c);
    stored += __popc(found & r.threads);
    __syncwarp();
  }
  close_lanes(layout, storage, &r, sums, c, diagonal);
}

#define FILL_KERNEL(name)                                                                          \
  static __global__ void __launch_bounds__(BLOCK, 2) fill_slices_##name(                           \
      const __grid_constant__ list_job job, const __grid_constant__ slice_layout layout,           \
      int64_t n_lanes, double *diagonal)                                                           \
  {                                                                                                \
    __shared__ slice_sums sums[WARPS];                                                             \
    fill_lanes(&job, &layout, n_lanes, STOKES_##name, &sums[threadIdx.x / MD_WARP], diagonal);     \
  }
FILL_KERNEL(BCRS)
FILL_KERNEL(SINGLE)
FILL_KERNEL(PAIR)

md_status assemble_gpu_fill_slices(stokes_matrix *matrix, const list_job *list)
{
  static void (*const kernels[STOKES_STORAGE_COUNT])(list_job, slice_layout, int64_t, double *) = {
      fill_slices_BCRS, fill_slices_SINGLE, fill_slices_PAIR};
  const int64_t n_lanes = matrix->slices.n_slices * matrix->slices.width;
  const cudaStream_t stream = (cudaStream_t)matrix->ctx->stream;
  kernels[matrix->storage]<<<md_blocks(n_lanes * GROUP, BLOCK), BLOCK, 0, stream>>>(
      *list, slice_layout_of(matrix), n_lanes, (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return MD_OK;
}
