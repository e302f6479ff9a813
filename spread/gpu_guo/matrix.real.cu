/* spread/gpu_guo/matrix.real.cu - building the sparse matrix of single, group and hybrid
 * (matrix_gpu.h) on the GPU.
 *
 * [Guo] section 3.1 counts and fills with p^3 threads a particle and atomics.  Here particles lie
 * sorted by cell, so the particles of p neighbouring cells of a line are one run: a row is p^2
 * runs, its length a sum of differences, and its entries come out in one order, without atomics.
 * Every entry works out its weights again, which costs less than fetching them. */
#include "spread/gpu_guo/matrix_gpu.h"

enum { BLOCK = 128, FILL_LANES = 4, LENGTHS = 2048 };

/* What the kernels read. */
typedef struct {
  const spread_particle *particle;
  const int32_t *start; /* [points + 1] */
  mesh_size mesh;
} cells;

/* Particles [begin, end) in the cells of one line that reach column x; the run is in two pieces
 * where it closes the ring. */
typedef struct {
  int32_t begin[2], end[2];
} run;

static __device__ __forceinline__ run find_run(const cells &s, int p, uint32_t line, int32_t x)
{
  const int32_t n = s.mesh.n[2], first = x - p + 1;
  const int32_t *start = s.start + line;
  run r = {{start[max(first, 0)], 0}, {start[x + 1], 0}};
  if (first < 0) {
    r.begin[1] = start[n + first];
    r.end[1] = start[n];
  }
  return r;
}

static __device__ __forceinline__ uint32_t line_before(const cells &s, const int32_t at[3], int i,
                                                       int j)
{
  return join_point(s.mesh, ring_before(at[0], i, s.mesh.n[0]), ring_before(at[1], j, s.mesh.n[1]),
                    0);
}

/* Thread: one mesh point; its row's length.  The last thread writes the 0 that the scan turns into
 * the total. */
static __global__ void length_kernel(cells s, int p, int64_t *__restrict__ length)
{
  const int64_t m = md_thread();
  if (m > s.mesh.points) return;
  int64_t sum = 0;
  if (m < s.mesh.points) {
    int32_t at[3];
    split_point(s.mesh, (uint32_t)m, at);
    for (int i = 0; i < p; i++)
      for (int j = 0; j < p; j++) {
        const run r = find_run(s, p, line_before(s, at, i, j), at[2]);
        sum += r.end[0] - r.begin[0] + r.end[1] - r.begin[1];
      }
  }
  length[m] = sum;
}

/* Thread: one group; slots it takes. */
static __global__ void group_kernel(matrix a, int64_t groups, int64_t *__restrict__ slots)
{
  const int64_t g = md_thread();
  if (g > groups) return;
  int64_t longest = 0;
  for (int64_t m = g * a.group_rows; m < min((g + 1) * a.group_rows, a.points); m++)
    longest = max(longest, a.rows[m + 1] - a.rows[m]);
  slots[g] = longest * a.group_rows;
}

/* Thread: one row; how many of its entries go into the list. */
static __global__ void rest_kernel(matrix a, int64_t *__restrict__ rest)
{
  const int64_t m = md_thread();
  if (m > a.points) return;
  rest[m] = m < a.points ? max(a.rows[m + 1] - a.rows[m] - a.width, (int64_t)0) : 0;
}

/* Thread: rows m, m + all threads, ...; count[l]: rows of length l, or longer than LENGTHS - 2. */
static __global__ void histogram_kernel(matrix a, unsigned long long *count)
{
  __shared__ unsigned here[LENGTHS];
  for (int l = threadIdx.x; l < LENGTHS; l += blockDim.x)
    here[l] = 0;
  __syncthreads();
  for (int64_t m = md_thread(); m < a.points; m += (int64_t)gridDim.x * blockDim.x)
    atomicAdd(&here[min(a.rows[m + 1] - a.rows[m], (int64_t)LENGTHS - 1)], 1u);
  __syncthreads();
  for (int l = threadIdx.x; l < LENGTHS; l += blockDim.x)
    if (here[l]) atomicAdd(&count[l], (unsigned long long)here[l]);
}

static __device__ __forceinline__ void put(const matrix &a, int64_t m, int64_t e, int32_t column,
                                           real value)
{
  if (a.list && e >= a.width) {
    const int64_t at = a.list[m] + e - a.width;
    a.list_row[at] = (int32_t)(uint32_t)m;
    a.list_column[at] = column;
    a.list_value[at] = value;
    return;
  }
  const int64_t at = a.list    ? e * a.points + m
                     : a.group ? a.group[m / a.group_rows] + e * a.group_rows + m % a.group_rows
                               : a.rows[m] + e;
  a.column[at] = column;
  a.value[at] = value;
}

/* FILL_LANES threads: one row. */
static __device__ __forceinline__ void fill_row(const int p, const cells &s, const matrix &a)
{
  const int64_t m = md_thread() / FILL_LANES;
  const int32_t lane = threadIdx.x % FILL_LANES;
  if (m >= a.points) return;
  int32_t at[3];
  int64_t e = 0;
  split_point(s.mesh, (uint32_t)m, at);
  for (int i = 0; i < p; i++)
    for (int j = 0; j < p; j++) {
      const uint32_t line = line_before(s, at, i, j);
      const run r = find_run(s, p, line, at[2]);
      for (int piece = 0; piece < 2; piece++) {
        for (int32_t d = r.begin[piece] + lane; d < r.end[piece]; d += FILL_LANES) {
          const spread_particle particle = s.particle[d];
          const int32_t k = ring_before(at[2], (int32_t)(particle.word - line), s.mesh.n[2]);
          put(a, m, e + d - r.begin[piece], d,
              bspline_weight(p, particle.f[0], i) * bspline_weight(p, particle.f[1], j) *
                  bspline_weight(p, particle.f[2], k));
        }
        e += r.end[piece] - r.begin[piece];
      }
    }
}

#define KERNEL_P(p)                                                                                \
  static __global__ void __launch_bounds__(BLOCK) fill_kernel_##p(cells s, matrix a)               \
  {                                                                                                \
    fill_row(p, s, a);                                                                             \
  }
SPREAD_ORDERS(KERNEL_P)

/* The width with the fewest bytes and least trouble: a slot of the regular part is paid for whether
 * used or not, an entry of the list counts three, for its row and for the atomics. */
static int64_t best_width(const unsigned long long *count, int64_t points, int64_t entries)
{
  int64_t best = 0, rest = entries, longer = points;
  double least = 3.0 * (double)entries;
  for (int64_t width = 1; width < LENGTHS; width++) {
    longer -= (int64_t)count[width - 1]; /* rows that fill column width - 1 */
    rest -= longer;
    const double cost = (double)(width * points) + 3.0 * (double)rest;
    if (cost < least) {
      least = cost;
      best = width;
    }
  }
  return best;
}

static md_status choose_width(spread_plan *plan, spread_part *part, int64_t entries)
{
  md_ctx *ctx = plan->ctx;
  static_assert(LENGTHS * sizeof(unsigned long long) <= 16384, "fits on the stack");
  unsigned long long count[LENGTHS];
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[1], sizeof count, 0));
  MD_TRY(md_fill(ctx, plan->scratch[1].data, 0, sizeof count));
  histogram_kernel<<<4 * plan->multiprocessors, BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      matrix_of(plan, part), (unsigned long long *)plan->scratch[1].data);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, count, plan->scratch[1].data, sizeof count));
  part->width = best_width(count, plan->grid.points, entries);
  return MD_OK;
}

/* The last element of a scanned array of n + 1. */
static md_status read_total(md_ctx *ctx, const int64_t *sums, int64_t n, int64_t *total)
{
  return md_read(ctx, total, sums + n, sizeof *total);
}

/* Begin of groups, or of rows in the list, in SPREAD_EXTRA; slots for entries outside the list. */
static md_status lay_out(spread_plan *plan, spread_part *part, int64_t entries, int64_t *slots)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int64_t points = plan->grid.points;
  const bool hybrid = plan->method == SPREAD_HYBRID;
  *slots = entries;
  if (plan->method == SPREAD_SINGLE) return MD_OK;
  if (hybrid) MD_TRY(choose_width(plan, part, entries));
  const int64_t group_rows = matrix_of(plan, part).group_rows;
  const int64_t n = hybrid ? points : (points + group_rows - 1) / group_rows;
  md_buffer *extra = &part->buffer[SPREAD_EXTRA];
  MD_TRY(md_buffer_reserve(ctx, extra, (size_t)(n + 1) * sizeof(int64_t), 0));
  int64_t *sums = (int64_t *)extra->data, total;
  const matrix a = matrix_of(plan, part);
  if (hybrid)
    rest_kernel<<<md_blocks(n + 1, BLOCK), BLOCK, 0, stream>>>(a, sums);
  else
    group_kernel<<<md_blocks(n + 1, BLOCK), BLOCK, 0, stream>>>(a, n, sums);
  MD_LAUNCHED();
  MD_TRY(spread_gpu_scan(ctx, &plan->scratch[1], sums, n + 1));
  MD_TRY(read_total(ctx, sums, n, &total));
  *slots = hybrid ? part->width * points : total;
  part->spilled = hybrid ? total : total - entries;
  return MD_OK;
}

md_status PREC(spread_gpu_matrix)(spread_plan *plan, spread_part *part)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int64_t points = plan->grid.points, entries = spread_entries(plan, part->n);
  md_buffer *buffer = part->buffer;
  const cells s = {(const spread_particle *)buffer[SPREAD_RECORD].data,
                   (const int32_t *)buffer[SPREAD_START].data, mesh_of(plan)};
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ROWS], (size_t)(points + 1) * sizeof(int64_t), 0));
  int64_t *rows = (int64_t *)buffer[SPREAD_ROWS].data, slots;
  length_kernel<<<md_blocks(points + 1, BLOCK), BLOCK, 0, stream>>>(s, plan->grid.order, rows);
  MD_LAUNCHED();
  MD_TRY(spread_gpu_scan(ctx, &plan->scratch[1], rows, points + 1));
  MD_TRY(lay_out(plan, part, entries, &slots));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_COLUMN], (size_t)slots * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_VALUE], (size_t)slots * sizeof(real), 0));
  if (plan->method == SPREAD_HYBRID) {
    const size_t rest = (size_t)part->spilled;
    MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_LIST], rest * sizeof(int32_t), 0));
    MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_LIST_COLUMN], rest * sizeof(int32_t), 0));
    MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_LIST_VALUE], rest * sizeof(real), 0));
  }
  const matrix a = matrix_of(plan, part);
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    fill_kernel_##p<<<md_blocks(points *FILL_LANES, BLOCK), BLOCK, 0, stream>>>(s, a);             \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  MD_LAUNCHED();
  return MD_OK;
}
