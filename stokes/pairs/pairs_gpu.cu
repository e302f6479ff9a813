/* stokes/pairs/pairs_gpu.cu - the pair list on the GPU.
 *
 * One warp a sphere, a lane for each of the runs of cells around it in turn, first to count and
 * then to fill its row, which is put in order in shared memory.  Extremes are atomic maxima of the
 * bits of doubles that are not negative, whose order is that of the numbers: the same result in any
 * order of the threads. */
#include <cub/device/device_scan.cuh>

#include "core/gpu/cuda.h"
#include "stokes/pairs/pairs_impl.h"

enum { BLOCK = 128, STAGE = 1024 };

typedef unsigned long long bits;

static __device__ __forceinline__ void raise(bits *to, double value)
{
  /* one atomic a warp; fmax and the order of bits agree, as nothing is negative or NaN */
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    value = fmax(value, __shfl_xor_sync(MD_ALL_LANES, value, step));
  if (threadIdx.x % MD_WARP == 0) atomicMax(to, (bits)__double_as_longlong(value));
}

/* out: largest |x|, largest radius, largest 1 / radius; infinite where a value is not finite or a
 * radius not > 0. */
static __global__ void extent_kernel(int64_t n, const double *__restrict__ x, bits *out)
{
  const int64_t i = md_thread();
  double reach = 0, radius = 0, inverse = 0;
  if (i < n) {
    const double *s = x + 4 * i;
    const bool good = isfinite(s[0]) && isfinite(s[1]) && isfinite(s[2]) && isfinite(s[3]);
    reach = good ? fmax(fmax(fabs(s[0]), fabs(s[1])), fabs(s[2])) : INFINITY;
    radius = s[3] > 0 ? s[3] : 0;
    inverse = s[3] > 0 ? 1 / s[3] : INFINITY;
  }
  raise(&out[0], reach);
  raise(&out[1], radius);
  raise(&out[2], inverse);
}

static __global__ void moved_kernel(int64_t n, const double *__restrict__ now,
                                    const double *__restrict__ then, bits *out)
{
  const int64_t i = md_thread();
  double sum = 0;
  if (i < n) {
    for (int d = 0; d < 3; d++) {
      const double step = now[4 * i + d] - then[4 * i + d];
      sum += step * step;
    }
    if (!isfinite(sum) || now[4 * i + 3] != then[4 * i + 3]) sum = INFINITY;
  }
  raise(out, sum);
}

/* Spheres are counted by cell; arrival[i]: how many came to that of sphere i before it. */
static __global__ void cells_kernel(int64_t n, const double *__restrict__ x,
                                    const __grid_constant__ search_grid grid, uint32_t *key,
                                    int32_t *arrival, int32_t *count)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const int32_t cell = search_cell(&grid, x + 4 * i);
  key[i] = (uint32_t)cell;
  arrival[i] = atomicAdd(&count[cell], 1);
}

static __global__ void order_kernel(int64_t n, const uint32_t *__restrict__ key,
                                    const int32_t *__restrict__ arrival,
                                    const int32_t *__restrict__ cell_start, int32_t *order)
{
  const int64_t i = md_thread();
  if (i < n) order[cell_start[key[i]] + arrival[i]] = (int32_t)i;
}

/* Warp: one sphere. */
static __global__ void count_kernel(int64_t n, const double *__restrict__ x,
                                    const __grid_constant__ search_grid grid,
                                    const int32_t *__restrict__ cell_start,
                                    const int32_t *__restrict__ order, int64_t *start)
{
  const int64_t i = md_thread() / MD_WARP;
  const int lane = threadIdx.x % MD_WARP;
  if (i == 0 && lane == 0) start[0] = 0;
  if (i >= n) return;
  const int32_t found = search_row(&grid, x, cell_start, order, i, lane, MD_WARP, NULL);
  const int32_t all = __reduce_add_sync(MD_ALL_LANES, found);
  if (lane == 0) start[i + 1] = all;
}

/* Warp: one sphere.  Entries come in any order, but no two are equal, so that each finds its place
 * by counting. */
static __global__ void fill_kernel(int64_t n, const double *__restrict__ x,
                                   const __grid_constant__ search_grid grid,
                                   const int32_t *__restrict__ cell_start,
                                   const int32_t *__restrict__ order, const int64_t *start,
                                   int32_t *neighbor)
{
  __shared__ int32_t stage[BLOCK / MD_WARP][STAGE], found[BLOCK / MD_WARP];
  const int64_t i = md_thread() / MD_WARP;
  const int lane = threadIdx.x % MD_WARP;
  if (i >= n) return;
  const int32_t length = (int32_t)(start[i + 1] - start[i]);
  int32_t *row = neighbor + start[i], *to = length <= STAGE ? stage[threadIdx.x / MD_WARP] : row;
  const search_list list = {to, &found[threadIdx.x / MD_WARP]};
  if (lane == 0) *list.count = 0;
  __syncwarp();
  search_row(&grid, x, cell_start, order, i, lane, MD_WARP, &list);
  __syncwarp();
  if (length > STAGE) {
    if (lane == 0) search_sort(row, length);
    return;
  }
  for (int k = lane; k < length; k += MD_WARP) {
    int before = 0;
    for (int other = 0; other < length; other++)
      before += to[other] < to[k];
    row[before] = to[k];
  }
}

static cudaStream_t stream_of(const stokes_pairs *pairs)
{
  return (cudaStream_t)pairs->ctx->stream;
}

static md_status extremes(stokes_pairs *pairs, int count, bits **device)
{
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->scratch, 3 * sizeof(bits), 0));
  *device = (bits *)pairs->scratch.data;
  return md_fill(pairs->ctx, *device, 0, count * sizeof(bits));
}

static md_status extent(stokes_pairs *pairs, const stokes_view *spheres, pairs_extent *out)
{
  bits *device;
  double host[3];
  MD_TRY(extremes(pairs, 3, &device));
  extent_kernel<<<md_blocks(spheres->n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(spheres->n,
                                                                              spheres->x, device);
  MD_LAUNCHED();
  MD_TRY(md_read(pairs->ctx, host, device, sizeof host));
  out->reach = host[0];
  out->radius_max = host[1];
  out->radius_min = 1 / host[2];
  return MD_OK;
}

static md_status moved(stokes_pairs *pairs, const stokes_view *spheres, double *out)
{
  bits *device;
  MD_TRY(extremes(pairs, 1, &device));
  moved_kernel<<<md_blocks(spheres->n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(
      spheres->n, spheres->x, (const double *)pairs->built.data, device);
  MD_LAUNCHED();
  return md_read(pairs->ctx, out, device, sizeof *out);
}

/* n counts to sums. */
template <typename number> static md_status scan(stokes_pairs *pairs, int64_t n, number *counts)
{
  size_t bytes = 0;
  MD_CUDA(cub::DeviceScan::InclusiveSum(NULL, bytes, counts, counts, n, stream_of(pairs)));
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->scratch, bytes, 0));
  MD_CUDA(cub::DeviceScan::InclusiveSum(pairs->scratch.data, bytes, counts, counts, n,
                                        stream_of(pairs)));
  return MD_OK;
}

/* Spheres of a cell come in any order: rows are put in theirs. */
static md_status sort(stokes_pairs *pairs, const stokes_view *spheres)
{
  const int64_t n = spheres->n, cells = pairs->grid.n_cells;
  MD_TRY(pairs_reserve(pairs, n, n));
  int32_t *start = pairs->cell_start, *arrival = start + cells + 1;
  MD_TRY(md_fill(pairs->ctx, start, 0, ((size_t)cells + 1) * sizeof *start));
  cells_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(n, spheres->x, pairs->grid,
                                                                    pairs->key, arrival, start + 1);
  MD_LAUNCHED();
  MD_TRY(scan(pairs, cells, start + 1));
  order_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(n, pairs->key, arrival, start,
                                                                    pairs->order);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status rows(stokes_pairs *pairs, const stokes_view *spheres)
{
  const int64_t n = spheres->n;
  const unsigned blocks = md_blocks(n * MD_WARP, BLOCK);
  int64_t *start = (int64_t *)pairs->start.data;
  const int32_t *cells = pairs->cell_start, *order = pairs->order;
  count_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(n, spheres->x, pairs->grid, cells, order,
                                                       start);
  MD_LAUNCHED();
  MD_TRY(scan(pairs, n, start + 1));
  MD_TRY(md_read(pairs->ctx, &pairs->n_entries, start + n, sizeof pairs->n_entries));
  const size_t bytes = (size_t)pairs->n_entries * sizeof(int32_t);
  if (bytes > pairs->neighbor.bytes) { /* a little more than now, not half as much again */
    md_buffer_free(pairs->ctx, &pairs->neighbor);
    MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->neighbor, bytes + bytes / 128, 0));
  }
  fill_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(n, spheres->x, pairs->grid, cells, order,
                                                      start, (int32_t *)pairs->neighbor.data);
  MD_LAUNCHED();
  return MD_OK;
}

const pairs_backend pairs_gpu = {extent, moved, sort, rows};
