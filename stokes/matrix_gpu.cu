/* stokes/matrix_gpu.cu - assembly of resistance matrices on the GPU.
 *
 * Eight lanes go through the list of one sphere together: a ballot numbers the pairs that are near
 * enough, each lane writes its own blocks, and the diagonal is summed over the lanes in one order.
 * About 40 list entries and 25 blocks a row: 32 bytes gathered for an entry, 24 to 80 written for a
 * block. */
#include <cub/device/device_scan.cuh>

#include "stokes/gspmv_gpu.h"

enum { BLOCK = 256, TEAM = 8 };

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

/* Lanes of my team in a ballot of the warp. */
static __device__ __forceinline__ unsigned team_bits(unsigned ballot)
{
  return ballot >> (threadIdx.x % MD_WARP / TEAM * TEAM) & ((1u << TEAM) - 1);
}

static __device__ __forceinline__ bool list_near(const list_job *job, int64_t i, int64_t j)
{
  return assemble_near(job->box, job->x + 4 * i, job->x + 4 * j, job->range.gap_cut);
}

/* Team: one row; start[i + 1] = its blocks, longest = most blocks of any row. */
static __global__ void count_kernel(const __grid_constant__ list_job job, int own, int64_t *start,
                                    unsigned long long *longest)
{
  const int64_t i = md_thread() / TEAM;
  const int t = threadIdx.x % TEAM;
  int found = 0;
  if (i < job.n)
    for (int64_t k = job.start[i] + t; k < job.start[i + 1]; k += TEAM)
      found += list_near(&job, i, job.neighbor[k]);
  for (int step = TEAM / 2; step > 0; step /= 2)
    found += __shfl_xor_sync(MD_ALL_LANES, found, step);
  if (i == 0 && t == 0) start[0] = 0;
  if (i >= job.n || t > 0) return;
  start[i + 1] = found + own;
  atomicMax(longest, (unsigned long long)(found + own));
}

static __device__ __forceinline__ void put_pair(const slice_layout *l, const slice_address *a,
                                                int k, const stokes_pair_entry *entry)
{
  const float word[5] = {entry->e[0], entry->e[1], entry->e[2], entry->squeeze, entry->slide};
  for (int w = 0; w < 5; w++)
    ((float *)l->block)[slice_word(a, k, w)] = word[w];
  ((int32_t *)l->block)[slice_word(a, k, 5)] = entry->column;
}

/* Team: one row of blocks.  The diagonal is block 0 where blocks hold it. */
static __global__ void fill_kernel(const __grid_constant__ list_job job,
                                   const __grid_constant__ slice_layout layout, double *diagonal)
{
  const int64_t i = md_thread() / TEAM;
  const int t = threadIdx.x % TEAM;
  const bool pair = layout.storage == STOKES_PAIR, mine = i < job.n;
  const int64_t begin = mine ? job.start[i] : 0, end = mine ? job.start[i + 1] : 0;
  slice_address at = {};
  if (mine) at = slice_address_of(&layout, i);
  double d[6] = {}, block[9];
  int done = !pair;
  for (int64_t k = begin; __any_sync(MD_ALL_LANES, k < end); k += TEAM) {
    const int64_t j = k + t < end ? job.neighbor[k + t] : -1;
    const bool near = j >= 0 && list_near(&job, i, j);
    const unsigned bits = team_bits(__ballot_sync(MD_ALL_LANES, near));
    const int place = done + __popc(bits & ((1u << t) - 1));
    done += __popc(bits);
    if (!near) continue;
    const double *a = job.x + 4 * i, *b = job.x + 4 * j;
    assemble_terms terms = assemble_pair(job.box, a, b, &job.range, job.inv_far);
    if (pair) {
      const stokes_pair_entry entry = assemble_round(&terms, (int32_t)j);
      put_pair(&layout, &at, place, &entry);
      terms = assemble_widen(&entry);
    } else {
      for (int q = 0; q < 9; q++)
        block[q] = assemble_element(&terms, q / 3, q % 3);
      slice_put_block(&layout, &at, i, place, (int32_t)j, block);
    }
    assemble_diagonal(d, &terms, a[3], b[3]);
  }
  for (int q = 0; q < 6; q++)
    for (int step = TEAM / 2; step > 0; step /= 2)
      d[q] += __shfl_xor_sync(MD_ALL_LANES, d[q], step);
  if (!mine || t > 0) return;
  d[0] += 1, d[3] += 1, d[5] += 1;
  for (int q = 0; q < 6; q++)
    diagonal[6 * i + q] = d[q];
  if (pair) return;
  for (int q = 0; q < 9; q++)
    block[q] = d[assemble_packed(q / 3, q % 3)];
  slice_put_block(&layout, &at, i, 0, (int32_t)i, block);
}

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
  MD_TRY(md_buffer_reserve(ctx, &matrix->scratch, bytes + sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  start = (int64_t *)matrix->start.data;
  unsigned long long *longest = (unsigned long long *)matrix->scratch.data;
  MD_TRY(md_fill(ctx, longest, 0, sizeof *longest));
  count_kernel<<<md_blocks(n * TEAM, BLOCK), BLOCK, 0, stream>>>(
      *list, matrix->storage != STOKES_PAIR, start, longest);
  MD_LAUNCHED();
  MD_CUDA(cub::DeviceScan::InclusiveSum(longest + 1, bytes, start + 1, start + 1, n, stream));
  MD_TRY(md_read(ctx, &matrix->slices.longest_row, longest, sizeof(int64_t)));
  MD_TRY(md_read(ctx, &matrix->n_stored, start + n, sizeof(int64_t)));
  matrix->n_blocks = matrix->n_stored + (matrix->storage == STOKES_PAIR ? n : 0);
  return MD_OK;
}

static md_status assemble(stokes_matrix *matrix, const assemble_job *job, int vectors)
{
  const list_job list = list_of(job);
  MD_TRY(count(matrix, &list));
  MD_TRY(matrix_gpu_reserve(matrix, vectors));
  fill_kernel<<<md_blocks(list.n * TEAM, BLOCK), BLOCK, 0, stream_of(matrix)>>>(
      list, slice_layout_of(matrix), (double *)matrix->diagonal.data);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status multiply(const stokes_matrix *matrix, int m, const double *x, double *y)
{
  return (matrix->slices.width ? gspmv_gpu_slices : gspmv_gpu_rows)(matrix, m, x, y);
}

const matrix_backend matrix_gpu = {assemble, matrix_gpu_set, matrix_gpu_get, multiply};
