/* stokes/ranks/rows_gpu.cu - which rows of X this rank's rows need, and rows on their way, on a
 * GPU.
 *
 * Entries of the list's own rows mark spheres of other ranks; a sum over the marks numbers them;
 * own rows of the list are copied with those numbers, and the spheres they name.  12 bytes an
 * entry, 8 a sphere of all, and 64 a sphere that is named.  A row of a product that is sent is read
 * and written once. */
#include "core/gpu/cuda.h"
#include "core/gpu/scan_gpu.h"
#include "stokes/ranks/rows_impl.h"

#include <stdlib.h>

enum { BLOCK = 256 };

/* Own rows among all, and the whole list. */
typedef struct {
  int64_t first, n_own, n_all;
  const int64_t *start;
  const int32_t *neighbor;
} find_job;

static __device__ __forceinline__ bool is_own(const find_job *job, int32_t row)
{
  return row >= job->first && row < job->first + job->n_own;
}

/* Thread: an entry of own rows. */
static __global__ void mark_kernel(const __grid_constant__ find_job job, int64_t n, int32_t *needed)
{
  const int64_t k = md_thread();
  if (k >= n) return;
  const int32_t row = job.neighbor[job.start[job.first] + k];
  if (!is_own(&job, row)) needed[row] = 1;
}

/* Thread: a row of all. */
static __global__ void list_kernel(int64_t n_all, const int32_t *before, int32_t *ghost)
{
  const int64_t row = md_thread();
  if (row < n_all && before[row + 1] > before[row]) ghost[before[row]] = (int32_t)row;
}

/* The own row that has entry k. */
static __device__ __forceinline__ int64_t row_of(const find_job *job, int64_t k)
{
  int64_t low = 0, high = job->n_own; /* entries before: no more, more */
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (job->start[job->first + middle] - job->start[job->first] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Thread: an entry of own rows, and one of their beginnings.  inner [n_own]: 1 before. */
static __global__ void rename_kernel(const __grid_constant__ find_job job, int64_t n,
                                     const int32_t *before, int64_t *start, int32_t *neighbor,
                                     char *inner)
{
  const int64_t k = md_thread(), begin = job.start[job.first];
  if (k <= job.n_own) start[k] = job.start[job.first + k] - begin;
  if (k >= n) return;
  const int32_t row = job.neighbor[begin + k];
  const bool own = is_own(&job, row);
  neighbor[k] = (int32_t)(own ? row - job.first : job.n_own + before[row]);
  if (!own) inner[row_of(&job, k)] = 0;
}

/* Thread: half a sphere. */
static __global__ void gather_kernel(int64_t first, int64_t n_own, int64_t n_ghosts,
                                     const int32_t *ghost, const double2 *x, double2 *own)
{
  const int64_t k = md_thread(), row = k / 2;
  if (row < n_own + n_ghosts)
    own[k] = x[2 * (row < n_own ? first + row : ghost[row - n_own]) + k % 2];
}

/* Thread: a number of a row that is sent. */
static __global__ void pack_kernel(int64_t n_sent, unsigned numbers, const int32_t *sent,
                                   const double *x, double *out)
{
  const int64_t k = md_thread(), row = k / numbers;
  if (row < n_sent) out[k] = x[(int64_t)sent[row] * numbers + k % numbers];
}

static cudaStream_t stream_of(const stokes_rows *rows)
{
  return (cudaStream_t)rows->ctx->stream;
}

/* How many entries own rows have; marks, and how many are before each row. */
static md_status number_ghosts(stokes_rows *rows, const find_job *job, int64_t *entries)
{
  md_ctx *ctx = rows->ctx;
  rows_gpu *gpu = &rows->gpu;
  int64_t begin, end;
  int32_t ghosts;
  const size_t ends = (size_t)job->n_all + 1;
  const size_t bytes = (ends + MD_SCAN_COUNTS) / MD_SCAN_COUNTS * MD_SCAN_COUNTS * sizeof(int32_t);
  if (bytes > gpu->needed.bytes) {
    MD_TRY(md_buffer_reserve(ctx, &gpu->needed, bytes, 0));
    MD_TRY(md_fill(ctx, gpu->needed.data, 0, gpu->needed.bytes));
  }
  MD_TRY(md_buffer_reserve(ctx, &gpu->before, bytes, 0));
  MD_TRY(md_read(ctx, &begin, job->start + job->first, sizeof begin));
  MD_TRY(md_read(ctx, &end, job->start + job->first + job->n_own, sizeof end));
  *entries = end - begin;
  if (*entries > 0) {
    mark_kernel<<<md_blocks(*entries, BLOCK), BLOCK, 0, stream_of(rows)>>>(
        *job, *entries, (int32_t *)gpu->needed.data);
    MD_LAUNCHED();
  }
  int32_t *before = (int32_t *)gpu->before.data;
  MD_TRY(md_scan_counts(ctx, &gpu->scan_status, &gpu->round, (int64_t)ends,
                        (int32_t *)gpu->needed.data, before));
  MD_TRY(md_read(ctx, &ghosts, before + job->n_all, sizeof ghosts));
  rows->view.n_ghosts = ghosts;
  return MD_OK;
}

/* The list of own rows and its spheres. */
static md_status copy_own(stokes_rows *rows, const find_job *job, int64_t entries, const double *x)
{
  md_ctx *ctx = rows->ctx;
  rows_gpu *gpu = &rows->gpu;
  const int64_t ghosts = rows->view.n_ghosts, named = job->n_own + ghosts;
  const int64_t most = entries > job->n_own ? entries : job->n_own + 1;
  MD_TRY(md_buffer_reserve(ctx, &gpu->ghost, (size_t)(ghosts + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &gpu->start, (size_t)(job->n_own + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &gpu->neighbor, (size_t)(entries + 1) * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &gpu->x, (size_t)named * 4 * sizeof(double), 0));
  MD_TRY(md_buffer_reserve(ctx, &gpu->inner, (size_t)job->n_own, 0));
  MD_TRY(md_fill(ctx, gpu->inner.data, 1, (size_t)job->n_own));
  const int32_t *before = (const int32_t *)gpu->before.data;
  int32_t *ghost = (int32_t *)gpu->ghost.data;
  list_kernel<<<md_blocks(job->n_all, BLOCK), BLOCK, 0, stream_of(rows)>>>(job->n_all, before,
                                                                           ghost);
  MD_LAUNCHED();
  rename_kernel<<<md_blocks(most, BLOCK), BLOCK, 0, stream_of(rows)>>>(
      *job, entries, before, (int64_t *)gpu->start.data, (int32_t *)gpu->neighbor.data,
      (char *)gpu->inner.data);
  MD_LAUNCHED();
  gather_kernel<<<md_blocks(2 * named, BLOCK), BLOCK, 0, stream_of(rows)>>>(
      job->first, job->n_own, ghosts, ghost, (const double2 *)x, (double2 *)gpu->x.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status rows_gpu_find(stokes_rows *rows, const stokes_view *spheres,
                        const stokes_pair_view *pairs, int32_t **ghost, stokes_view *own_spheres,
                        stokes_pair_view *own_pairs)
{
  const rows_gpu *gpu = &rows->gpu;
  stokes_rows_view *v = &rows->view;
  const find_job job = {rows->cut[world_rank()], v->n_own, v->n_all, pairs->start, pairs->neighbor};
  int64_t entries;
  MD_TRY(number_ghosts(rows, &job, &entries));
  MD_TRY(copy_own(rows, &job, entries, spheres->x));
  const size_t bytes = (size_t)v->n_ghosts * sizeof **ghost;
  *ghost = (int32_t *)malloc(bytes + 1);
  MD_REQUIRE(*ghost, MD_ENOMEM, "out of memory for the rows of a rank");
  MD_TRY(md_read(rows->ctx, *ghost, gpu->ghost.data, bytes));
  *own_spheres = *spheres;
  own_spheres->n = v->n_own + v->n_ghosts;
  own_spheres->x = (const double *)gpu->x.data;
  *own_pairs = *pairs;
  own_pairs->n = v->n_own;
  own_pairs->n_entries = entries;
  own_pairs->start = (const int64_t *)gpu->start.data;
  own_pairs->neighbor = (const int32_t *)gpu->neighbor.data;
  own_pairs->built = NULL;
  return MD_OK;
}

md_status rows_gpu_pack(stokes_rows *rows, int m, const double *x)
{
  const rows_gpu *gpu = &rows->gpu;
  const int64_t n = rows->view.n_sent;
  const unsigned numbers = (unsigned)rows_numbers(m);
  if (n == 0) return MD_OK;
  pack_kernel<<<md_blocks(n * numbers, BLOCK), BLOCK, 0, stream_of(rows)>>>(
      n, numbers, (const int32_t *)gpu->sent.data, x, (double *)gpu->out.data);
  MD_LAUNCHED();
  return MD_OK;
}
