/* stokes/pairs/pairs_gpu.cu - the pair list on the GPU.
 *
 * Spheres that follow a curve are looked for among each other (stokes/pairs/curve_gpu.cu).  Others
 * are sorted by cell, and shrunk to 16 bytes (stokes/pairs/shrunk_gpu.h).  A warp looks for
 * the neighbours of one sphere: each lane has one of the runs of cells around it, and the spheres
 * of all runs are gone through as if they were one list, 32 at a time.  What it finds is put in
 * order in registers, learns its place from the rows before it in the same pass
 * (core/gpu/scan_gpu.h) and is written, where there is room: as a rule there was as much the last
 * time.
 *
 * A row of r neighbours tests about 2 r spheres of 20 bytes, most of them from a cache, and writes
 * 4 r bytes.  Least that 1e6 spheres with r = 87 must move: 32 bytes a sphere five times, 348
 * written, .5 GB or .16 ms on an H100.  An update takes 2.3 ms: some 1400 instructions of a warp a
 * sphere, 300 of them to put its row in order, and a third of all waits is for the other warps of a
 * block, before their place is known.  Extremes are atomic maxima of the bits of doubles that are
 * not negative, whose order is that of the numbers: the same result in any order of the threads. */
#include <cub/device/device_scan.cuh>
#include <string.h>

#include "core/gpu/scan_gpu.h"
#include "stokes/pairs/pairs_impl.h"
#include "stokes/pairs/search_gpu.h"

enum { BLOCK = 256, WARPS = BLOCK / MD_WARP };

typedef unsigned long long bits;

/* The largest of the block's values and what is there.  fmax and the order of bits agree, as
 * nothing is negative or NaN. */
static __device__ __forceinline__ void raise(bits *to, double value)
{
  __shared__ double part[WARPS];
  const int lane = threadIdx.x % MD_WARP;
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    value = fmax(value, __shfl_xor_sync(MD_ALL_LANES, value, step));
  __syncthreads(); /* an earlier value has been read */
  if (lane == 0) part[threadIdx.x / MD_WARP] = value;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 0; w < WARPS; w++)
    value = fmax(value, part[w]);
  atomicMax(to, (bits)__double_as_longlong(value));
}

/* Is a sphere farther from another than `far`, along an axis? */
typedef struct {
  double box[3], far;
} jump_law;
static __device__ __forceinline__ bool jumps(const jump_law *law, double4_16a a, double4_16a b)
{
  const double x = fabs(search_difference(a.x, b.x, law->box[0]));
  const double y = fabs(search_difference(a.y, b.y, law->box[1]));
  const double z = fabs(search_difference(a.z, b.z, law->box[2]));
  return fmax(fmax(x, y), z) > law->far;
}

/* out: largest |x|, largest radius, largest 1 / radius; infinite where a value is not finite or a
 * radius not > 0; how many spheres are far from the one before them. */
static __global__ void __launch_bounds__(BLOCK)
    extent_kernel(int64_t n, const double4_16a *__restrict__ x,
                  const __grid_constant__ jump_law law, bits *out)
{
  double reach = 0, radius = 0, inverse = 0;
  int far = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double4_16a s = x[i];
    const bool good = isfinite(s.x) && isfinite(s.y) && isfinite(s.z) && isfinite(s.w);
    reach = fmax(reach, good ? fmax(fmax(fabs(s.x), fabs(s.y)), fabs(s.z)) : INFINITY);
    radius = fmax(radius, s.w > 0 ? s.w : 0);
    inverse = fmax(inverse, s.w > 0 ? 1 / s.w : INFINITY);
    far += i > 0 && jumps(&law, s, x[i - 1]);
  }
  far = __reduce_add_sync(MD_ALL_LANES, far);
  if (threadIdx.x % MD_WARP == 0 && far > 0) atomicAdd(&out[3], (bits)far);
  raise(&out[0], reach);
  raise(&out[1], radius);
  raise(&out[2], inverse);
}

static __global__ void __launch_bounds__(BLOCK)
    moved_kernel(int64_t n, const double4_16a *__restrict__ now,
                 const double4_16a *__restrict__ then, bits *out)
{
  double most = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double4_16a a = now[i], b = then[i];
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    const double sum = x * x + y * y + z * z;
    most = fmax(most, isfinite(sum) && a.w == b.w ? sum : INFINITY);
  }
  raise(out, most);
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

static __global__ void
order_kernel(int64_t n, const double *__restrict__ x, const __grid_constant__ search_grid grid,
             const uint32_t *__restrict__ key, const int32_t *__restrict__ cell_start,
             const int32_t *__restrict__ arrival, int32_t *order, uint4 *small, uint4 *own)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const int32_t at = cell_start[key[i]] + arrival[i];
  order[at] = (int32_t)i;
  small[at] = own[i] = shrunk_sphere(grid.box, x + 4 * i);
}

/* Warp: one sphere.  Rows that begin beyond `room`, or are too long, are only counted.  Few
 * registers: warps wait for memory, and for those of their block. */
static __global__ void __launch_bounds__(BLOCK, 6)
    rows_kernel(const __grid_constant__ search_job job, md_scan scan, int64_t room, int64_t *start,
                int32_t *neighbor, int *longest)
{
  __shared__ search_space spaces[WARPS];
  const int64_t i = md_thread() / MD_WARP;
  const int lane = threadIdx.x % MD_WARP;
  search_space *space = &spaces[threadIdx.x / MD_WARP];
  const int32_t count = i < job.n ? search_warp(&job, i, space) : 0;
  int64_t first = md_scan_before(scan, lane == 0 ? (uint32_t)count : 0);
  first = __shfl_sync(MD_ALL_LANES, first, 0);
  if (i >= job.n) return;
  if (lane == 0) {
    if (i == 0) start[0] = 0;
    start[i + 1] = first + count;
    if (count > SEARCH_STAGE) atomicMax(longest, count);
  }
  if (count > SEARCH_STAGE || first + count > room) return;
  sort_row(space->stage, count);
  for (int k = lane; k < count; k += MD_WARP)
    __stcs(neighbor + first + k, space->stage[k]);
}

/* Warp: one sphere whose row no stage holds. */
static __global__ void __launch_bounds__(BLOCK)
    long_kernel(const __grid_constant__ search_job job, const int64_t *__restrict__ start,
                int32_t *neighbor)
{
  __shared__ int32_t found[WARPS];
  const int64_t i = md_thread() / MD_WARP;
  const int lane = threadIdx.x % MD_WARP;
  if (i >= job.n) return;
  const int32_t length = (int32_t)(start[i + 1] - start[i]);
  if (length <= SEARCH_STAGE) return;
  const search_list list = {neighbor + start[i], &found[threadIdx.x / MD_WARP]};
  if (lane == 0) *list.count = 0;
  __syncwarp();
  search_row(&job.grid, job.x, job.cell_start, job.order, i, lane, MD_WARP, &list);
  __syncwarp();
  if (lane == 0) search_sort(list.out, length);
}

static cudaStream_t stream_of(const stokes_pairs *pairs)
{
  return (cudaStream_t)pairs->ctx->stream;
}

static md_status extremes(stokes_pairs *pairs, int count, bits **device)
{
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->scratch, 4 * sizeof(bits), 0));
  *device = (bits *)pairs->scratch.data;
  return md_fill(pairs->ctx, *device, 0, count * sizeof(bits));
}

/* Blocks that look for extremes: few, as all of them change one number. */
static md_status few_blocks(int64_t n, unsigned *blocks)
{
  int processors;
  MD_TRY(md_multiprocessors(&processors));
  *blocks = md_blocks(n, BLOCK);
  if (*blocks > 4u * (unsigned)processors) *blocks = 4u * (unsigned)processors;
  return MD_OK;
}

static md_status extent(stokes_pairs *pairs, const stokes_view *spheres, pairs_extent *out)
{
  enum { FAR = 4 }; /* times the edge of a cube for each sphere */
  bits *device, host[4];
  double value[3];
  unsigned blocks;
  const double *box = spheres->box;
  const double edge = cbrt(box[0] * box[1] * box[2] / (double)spheres->n);
  const jump_law law = {{box[0], box[1], box[2]}, FAR * edge};
  MD_TRY(few_blocks(spheres->n, &blocks));
  MD_TRY(extremes(pairs, 4, &device));
  extent_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(spheres->n, (const double4_16a *)spheres->x,
                                                        law, device);
  MD_LAUNCHED();
  MD_TRY(md_read(pairs->ctx, host, device, sizeof host));
  memcpy(value, host, sizeof value);
  out->reach = value[0];
  out->radius_max = value[1];
  out->radius_min = 1 / value[2];
  out->jumps = (double)host[3];
  return MD_OK;
}

static md_status moved(stokes_pairs *pairs, const stokes_view *spheres, double *out)
{
  bits *device;
  unsigned blocks;
  MD_TRY(few_blocks(spheres->n, &blocks));
  MD_TRY(extremes(pairs, 1, &device));
  moved_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(
      spheres->n, (const double4_16a *)spheres->x, (const double4_16a *)pairs->built.data, device);
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

/* Behind key, order and cell_start: how many came to a cell before each sphere, and the shrunk
 * spheres, by cell and as they come, at a multiple of their size. */
typedef struct {
  int32_t *arrival;
  uint4 *small, *own;
} sort_space;

static sort_space space_of(const stokes_pairs *pairs, int64_t n)
{
  int32_t *arrival = pairs->cell_start + pairs->grid.n_cells + 1;
  const uintptr_t end = (uintptr_t)(arrival + n), unit = sizeof(uint4);
  uint4 *small = (uint4 *)((end + unit - 1) / unit * unit);
  return {arrival, small, small + n};
}

/* Spheres of a cell come in any order: rows are put in theirs.  No cells along a curve. */
static md_status sort(stokes_pairs *pairs, const stokes_view *spheres)
{
  pairs->along = pairs_curve_may(pairs, spheres->n);
  if (pairs->along) return MD_OK;
  const int64_t n = spheres->n, cells = pairs->grid.n_cells;
  MD_TRY(pairs_reserve(pairs, n, 9 * n + 4));
  const sort_space space = space_of(pairs, n);
  int32_t *start = pairs->cell_start;
  MD_TRY(md_fill(pairs->ctx, start, 0, ((size_t)cells + 1) * sizeof *start));
  cells_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(
      n, spheres->x, pairs->grid, pairs->key, space.arrival, start + 1);
  MD_LAUNCHED();
  MD_TRY(scan(pairs, cells, start + 1));
  order_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream_of(pairs)>>>(
      n, spheres->x, pairs->grid, pairs->key, start, space.arrival, pairs->order, space.small,
      space.own);
  MD_LAUNCHED();
  return MD_OK;
}

static search_cells_law cells_law_of(const search_grid *grid, const search_class *c)
{
  search_cells_law law = {(float)(c->radius * (1 + 1e-6)), {}, {}, {}, c->first};
  for (int d = 0; d < 3; d++) {
    law.cells[d] = c->cells[d];
    law.width[d] = (float)(grid->box[d] / c->cells[d]);
    law.inv_width[d] = (float)(c->cells[d] / grid->box[d]);
  }
  return law;
}

static search_job job_of(const stokes_pairs *pairs, const stokes_view *spheres)
{
  const search_grid *grid = &pairs->grid;
  const sort_space space = space_of(pairs, spheres->n);
  search_job job = {spheres->n,
                    spheres->x,
                    pairs->cell_start,
                    pairs->order,
                    space.small,
                    space.own,
                    shrunk_law_of(grid->box, grid->scale, grid->skin),
                    1e-3f,
                    {},
                    *grid};
  /* beyond single precision: places in units of 2^-32, and the rounding of those far out */
  for (int k = 0; k < grid->n_classes; k++) {
    job.class_law[k] = cells_law_of(grid, &grid->classes[k]);
    for (int d = 0; d < 3; d++) {
      const double away = pairs->reach / grid->box[d];
      const double error = grid->classes[k].cells[d] * (1e-9 + 2e-15 * away);
      job.slack = fmaxf(job.slack, (float)(1e-3 + error));
    }
  }
  return job;
}

/* A little more room than is needed now, not half as much again. */
md_status pairs_gpu_make_room(stokes_pairs *pairs)
{
  const size_t bytes = (size_t)pairs->n_entries * sizeof(int32_t);
  md_buffer_free(pairs->ctx, &pairs->neighbor);
  return md_buffer_reserve(pairs->ctx, &pairs->neighbor, bytes + bytes / 128, 0);
}

/* Once where there is room, else to learn how much there must be, too. */
static md_status rows(stokes_pairs *pairs, const stokes_view *spheres)
{
  if (pairs->along) return pairs_curve_rows(pairs, spheres);
  const search_job job = job_of(pairs, spheres);
  const unsigned blocks = md_blocks(job.n * MD_WARP, BLOCK);
  int64_t *start = (int64_t *)pairs->start.data, room;
  int longest, *seen;
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->scratch, sizeof *seen, 0));
  seen = (int *)pairs->scratch.data;
  MD_TRY(md_fill(pairs->ctx, seen, 0, sizeof *seen));
  for (;;) {
    md_scan scan;
    room = (int64_t)(pairs->neighbor.bytes / sizeof(int32_t));
    MD_TRY(md_scan_open(pairs->ctx, &pairs->scan_status, &pairs->round, blocks, &scan));
    rows_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(job, scan, room, start,
                                                        (int32_t *)pairs->neighbor.data, seen);
    MD_LAUNCHED();
    MD_TRY(md_read(pairs->ctx, &pairs->n_entries, start + job.n, sizeof pairs->n_entries));
    if (pairs->n_entries <= room) break;
    MD_TRY(pairs_gpu_make_room(pairs));
  }
  MD_TRY(md_read(pairs->ctx, &longest, seen, sizeof longest));
  if (longest <= SEARCH_STAGE) return MD_OK;
  long_kernel<<<blocks, BLOCK, 0, stream_of(pairs)>>>(job, start, (int32_t *)pairs->neighbor.data);
  MD_LAUNCHED();
  return MD_OK;
}

const pairs_backend pairs_gpu = {extent, moved, sort, rows, 4};
