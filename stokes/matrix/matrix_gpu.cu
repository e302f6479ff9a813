/* stokes/matrix/matrix_gpu.cu - assembly of resistance matrices on the GPU.
 *
 * The pairs that are near enough are counted, which also gives rows their places, and blocks are
 * filled in (assemble_gpu.real.cu, assemble_slices_gpu.real.cu), those of plain rows as a rule
 * while the host learns how many there are.  Where a list reaches just as far as pairs resist, and
 * its spheres are where they were, as the GPU sees for itself, rows are as long as the list's. */
#include "core/gpu/launch_gpu.h"
#include "core/gpu/scan_gpu.h"
#include "core/gpu/readback_gpu.h"
#include "stokes/matrix/assemble_gpu.h"
#include "stokes/pairs/shrunk_gpu.h"

enum { BLOCK = 256 };

/* Has every entry of the list resisted where it was made? */
static bool is_exact(const assemble_job *job)
{
  const stokes_pair_view *pairs = job->pairs;
  const double *box = job->spheres->box;
  bool exact = pairs->built && pairs->skin == 0 && pairs->scale == 1 + job->range.gap_cut / 2;
  for (int d = 0; d < 3; d++)
    exact = exact && pairs->box[d] == box[d];
  return exact;
}

static list_job list_of(const assemble_job *job)
{
  const stokes_view *s = job->spheres;
  const list_job list = {job->pairs->n,
                         {s->box[0], s->box[1], s->box[2]},
                         s->x,
                         job->pairs->start,
                         job->pairs->neighbor,
                         job->range,
                         job->inv_far,
                         NULL,
                         0};
  return list;
}

/* n: spheres, of which the first have rows.  built, moved: NULL, or spheres that these are compared
 * with: *moved becomes job.round where one has moved. */
static __global__ void __launch_bounds__(BLOCK)
    shrink_kernel(const __grid_constant__ list_job job, int64_t n, uint4 *small,
                  const double *built, uint32_t *moved)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread();
  if (i >= n) return;
  double s[4];
  load_sphere(&job, i, s);
  small[i] = shrunk_sphere(job.box, s);
  if (!built) return;
  bool same = true;
  for (int d = 0; d < 4; d++)
    same = same && s[d] == built[4 * i + d];
  if (!same) *moved = job.round;
}

/* start[i + 1] = blocks of the rows up to i.  Lists are read while spheres are still shrunk. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(const __grid_constant__ list_job job, const __grid_constant__ shrunk_law law,
                 const uint4 *small, int own, md_scan scan, int64_t *start)
{
  const warp_rows w = rows_of_warp(&job);
  const bool mine = w.row + w.lane < job.n;
  int found = mine ? own : 0;
  int32_t coming = neighbor_of(&job, &w, 0);
  cudaGridDependencySynchronize();
  if (blockIdx.x == 0 && threadIdx.x == 0) start[0] = 0;
  if (all_are_near(&job)) { /* as all threads of the grid find */
    const int64_t i = w.row + w.lane + 1;
    if (mine) start[i] = job.start[i] + own * i;
    return;
  }
  for (int k = 0; k < w.total; k += MD_WARP) {
    const int entry = k + w.lane, row = row_of(&w, entry);
    const int32_t j = coming;
    int near = 0;
    coming = neighbor_of(&job, &w, k + MD_WARP);
    if (entry < w.total) near = shrunk_judge(&law, small[w.row + row], small[j]);
    if (near < 0) {
      double a[4], b[4];
      load_sphere(&job, w.row + row, a);
      load_sphere(&job, j, b);
      const assemble_place p = assemble_between(job.box, a, b);
      near = assemble_near(&p, job.range.gap_cut);
    }
    found += __popc(__ballot_sync(MD_ALL_LANES, near) & row_lanes(&w, k));
  }
  const int64_t before = md_scan_before(scan, (uint32_t)found);
  if (mine) start[w.row + w.lane + 1] = before + found;
}

static cudaStream_t stream_of(const stokes_matrix *matrix)
{
  return (cudaStream_t)matrix->ctx->stream;
}

static size_t diagonal_bytes(const stokes_matrix *matrix)
{
  return (size_t)matrix->n_rows * 6 * sizeof(double);
}

enum { PADDING = 4096 }; /* bytes beyond the last block: whole chunks are copied */

md_status matrix_gpu_reserve(stokes_matrix *matrix, int vectors)
{
  const bool pair = matrix->storage == STOKES_PAIR;
  matrix_slices *s = &matrix->slices;
  s->width = 0;
  if (vectors > 1) MD_TRY(slices_build(matrix, vectors > 8 ? 4 : 8));
  const size_t sliced = (size_t)s->n_steps * (size_t)s->width *
                        (size_t)(slice_units(matrix->storage) * slice_unit_bytes(matrix->storage));
  const size_t plain = (size_t)matrix->n_stored * matrix_entry_bytes(matrix->storage);
  const size_t columns = pair || s->width ? 0 : (size_t)matrix->n_stored * sizeof(int32_t);
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->block, (s->width ? sliced : plain) + PADDING));
  MD_TRY(matrix_reserve(matrix->ctx, &matrix->column, columns));
  if (!s->width) MD_TRY(gspmv_gpu_reserve_row_chunks(matrix));
  return md_buffer_reserve(matrix->ctx, &matrix->diagonal, diagonal_bytes(matrix), 0);
}

/* start[i] = blocks of the rows before i; how many there are is on its way to the host.  spheres:
 * those that the list names, in rows or entries. */
static md_status count(stokes_matrix *matrix, const double *built, int64_t spheres, list_job *list)
{
  const int64_t n = list->n;
  const size_t shrunk = (size_t)spheres * sizeof(uint4), own = diagonal_bytes(matrix);
  const cudaStream_t stream = stream_of(matrix);
  md_ctx *ctx = matrix->ctx;
  MD_TRY(md_buffer_reserve(ctx, &matrix->start, ((size_t)n + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &matrix->moved, sizeof(uint32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &matrix->diagonal, shrunk > own ? shrunk : own, 0));
  int64_t *start = (int64_t *)matrix->start.data;
  uint4 *small = (uint4 *)matrix->diagonal.data; /* which is filled in later */
  const unsigned blocks = md_blocks(n, BLOCK);
  const shrunk_law law = shrunk_law_of(list->box, 1 + list->range.gap_cut / 2, 0);
  md_scan scan;
  MD_TRY(md_scan_open(ctx, &matrix->scan_status, &matrix->round, blocks, &scan));
  list->round = matrix->round; /* whatever *moved was: at worst rows are counted */
  if (built) list->moved = (const uint32_t *)matrix->moved.data;
  shrink_kernel<<<md_blocks(spheres, BLOCK), BLOCK, 0, stream>>>(*list, spheres, small, built,
                                                                 (uint32_t *)matrix->moved.data);
  MD_LAUNCHED();
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, count_kernel, *list, law, (const uint4 *)small,
                             (int)(matrix->storage != STOKES_PAIR), scan, start));
  MD_TRY(md_readback_open(&matrix->readback, sizeof *start));
  return md_readback_queue(ctx, matrix->readback, start + n, sizeof *start);
}

/* How many there are. */
static md_status receive_count(stokes_matrix *matrix)
{
  const void *bytes = NULL;
  MD_TRY(md_readback_wait(matrix->readback, &bytes));
  matrix->n_stored = *(const int64_t *)bytes;
  matrix->n_blocks = matrix->n_stored + (matrix->storage == STOKES_PAIR ? matrix->n_rows : 0);
  return MD_OK;
}

static md_status open_aside(stokes_matrix *matrix)
{
  cudaStream_t stream;
  cudaEvent_t end;
  int least, greatest;
  if (!matrix->aside) {
    MD_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MD_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    matrix->aside = stream;
  }
  if (!matrix->aside_end) {
    MD_CUDA(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    matrix->aside_end = end;
  }
  return MD_OK;
}

static void release(stokes_matrix *matrix)
{
  md_readback_close(matrix->readback);
  if (matrix->aside) (void)cudaStreamDestroy((cudaStream_t)matrix->aside);
  if (matrix->aside_end) (void)cudaEventDestroy((cudaEvent_t)matrix->aside_end);
}

static md_status fill_rows(stokes_matrix *matrix, const list_job *list, int64_t room)
{
  return matrix->storage == STOKES_BCRS ? assemble_gpu_fill_rows_double(matrix, list, room)
                                        : assemble_gpu_fill_rows_single(matrix, list, room);
}

static md_status fill_slices(stokes_matrix *matrix, const list_job *list)
{
  return matrix->storage == STOKES_BCRS ? assemble_gpu_fill_slices_double(matrix, list)
                                        : assemble_gpu_fill_slices_single(matrix, list);
}

/* Blocks of plain rows that there is room for already. */
static int64_t room_of(const stokes_matrix *matrix)
{
  const size_t bytes = matrix->block.bytes;
  if (bytes <= PADDING) return 0;
  const size_t blocks = (bytes - PADDING) / matrix_entry_bytes(matrix->storage);
  const size_t columns = matrix->column.bytes / sizeof(int32_t);
  return (int64_t)(matrix->storage == STOKES_PAIR || blocks < columns ? blocks : columns);
}

/* Blocks are filled in while the host learns how many there are: most often there is room for them,
 * as there were about as many the last time.  Meanwhile rows, which are counted by then, are cut
 * into chunks beside the context's stream, for which few threads need long: they go before those
 * that fill. */
static md_status assemble_plain(stokes_matrix *matrix, const list_job *list)
{
  MD_TRY(open_aside(matrix));
  const cudaStream_t aside = (cudaStream_t)matrix->aside;
  const cudaEvent_t end = (cudaEvent_t)matrix->aside_end;
  const int64_t room = room_of(matrix);
  matrix->slices.width = 0;
  if (room > 0) MD_TRY(fill_rows(matrix, list, room));
  MD_TRY(receive_count(matrix));
  MD_TRY(matrix_gpu_reserve(matrix, 1));
  if (room == 0 || matrix->n_stored > room) MD_TRY(fill_rows(matrix, list, matrix->n_stored));
  MD_TRY(gspmv_gpu_cut_row_chunks(matrix, aside));
  MD_CUDA(cudaEventRecord(end, aside));
  MD_CUDA(cudaStreamWaitEvent(stream_of(matrix), end, 0));
  return MD_OK;
}

static md_status assemble(stokes_matrix *matrix, const assemble_job *job, int vectors)
{
  list_job list = list_of(job);
  const double *built = is_exact(job) ? job->pairs->built : NULL;
  MD_TRY(count(matrix, built, job->spheres->n, &list));
  if (vectors == 1) return assemble_plain(matrix, &list);
  MD_TRY(matrix_gpu_reserve(matrix, vectors)); /* slices do without the number of entries */
  MD_TRY(receive_count(matrix));
  return fill_slices(matrix, &list);
}

static int ways(const stokes_matrix *matrix, int m, gspmv_part way[GSPMV_WAYS])
{
  if (matrix->slices.width) return gspmv_gpu_ways_double(matrix, m, way);
  way[0] = (gspmv_part){0, 1, m};
  return 1;
}

static md_status product(const stokes_matrix *matrix, const gspmv_range *range, const double *x,
                         double *y, const gspmv_use *use)
{
  if (matrix->slices.width) return gspmv_gpu_slices_double(matrix, range, x, y, use);
  return range->m == 1 ? gspmv_gpu_rows(matrix, x, y, use)
                       : gspmv_gpu_row_columns(matrix, range->m, x, y, use);
}

static md_status multiply(const stokes_matrix *matrix, const gspmv_range *range, const double *x,
                          double *y, const gspmv_halo *halo)
{
  const gspmv_use use = {false, {1, 0, 0, 0, 0}, NULL, halo};
  return product(matrix, range, x, y, &use);
}

static md_status series(const stokes_matrix *matrix, const gspmv_range *range,
                        const double factor[5], const double *now, double *next, double *total)
{
  const gspmv_use use = {
      true, {factor[0], factor[1], factor[2], factor[3], factor[4]}, total, NULL};
  return product(matrix, range, now, next, &use);
}

static md_status series_single(const stokes_matrix *matrix, int m, const double factor[5],
                               const float *now, float *next, float *total)
{
  const gspmv_use use = {
      true, {factor[0], factor[1], factor[2], factor[3], factor[4]}, total, NULL};
  gspmv_part way[GSPMV_WAYS];
  gspmv_gpu_ways_single(matrix, m, way);
  const gspmv_range all = {m, 0, m, way[0]};
  return gspmv_gpu_slices_single(matrix, &all, now, next, &use);
}

const matrix_backend matrix_gpu = {assemble, matrix_gpu_set, matrix_gpu_get, ways,   multiply, NULL,
                                   NULL,     series,         series_single,  release};
