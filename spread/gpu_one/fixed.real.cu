/* spread/gpu_one/fixed.real.cu - before and after sweeps in fixed point (fixed_gpu.h): zeros and
 * the largest charge; sums from integers.
 *
 * Bytes a mesh point: an integer zeroed, added to and read, a number written; second integers are
 * read only if some were needed.  In double precision integers lie where their sums go. */
#include "spread/gpu_one/fixed_gpu.h"

#include <math.h>

enum { BLOCK = 256, BLOCKS = 8 }; /* threads; blocks a multiprocessor */
enum { TOGETHER = 8 };            /* numbers that a thread asks for at once */

/* Block: the largest of all threads' values, in thread 0. */
static __device__ __forceinline__ int32_t block_max(int32_t value)
{
  __shared__ int32_t of_warp[MD_WARP];
  const int lane = warp_lane(), warp = (int)threadIdx.x / MD_WARP;
  value = __reduce_max_sync(MD_ALL_LANES, value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  return warp == 0 ? __reduce_max_sync(MD_ALL_LANES, lane < BLOCK / MD_WARP ? of_warp[lane] : 0)
                   : 0;
}

static __global__ void __launch_bounds__(BLOCK)
    most_kernel(const int32_t *__restrict__ start, int64_t keys, fixed_facts *facts)
{
  int32_t most = 0;
  for (int64_t k = md_thread(); k < keys; k += (int64_t)gridDim.x * BLOCK)
    most = max(most, start[k + 1] - start[k]);
  most = block_max(most);
  if (threadIdx.x == 0) atomicMax(&facts->most, most);
}

/* Zeros, and what a spreading must know; sweeps may begin at once and wait before they add. */
static __global__ void __launch_bounds__(BLOCK)
    begin_kernel(int64_t points, int32_t n, const real *__restrict__ q, uint64_t turn,
                 int64_t reach, unsigned long long *sum, unsigned long long *rest,
                 fixed_facts *facts)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t step = (int64_t)gridDim.x * BLOCK;
  int32_t largest = 1;
#pragma unroll 4
  for (int64_t i = md_thread(); i < points; i += step)
    sum[i] = 0;
#pragma unroll 4
  for (int64_t i = md_thread(); i < n; i += step)
    largest = max(largest, exponent_field(q[i]));
  largest = block_max(largest);
  if (threadIdx.x == 0)
    atomicMax(&facts->largest, (unsigned long long)(turn << EXPONENT_BITS | (uint64_t)largest));
  if (md_thread() == 0) facts->turn = turn, facts->reach = reach, facts->rest = rest;
}

/* What turns integers into numbers. */
typedef struct {
  double scale, rest_scale;
  unsigned long long *rest; /* NULL: not needed */
} numbers;

/* Block: one thread asks, as all would keep each other waiting for the same word of the cache. */
static __device__ __forceinline__ numbers find_numbers(const fixed_facts *facts)
{
  __shared__ numbers found;
  if (threadIdx.x == 0) {
    const int32_t shift = find_shift(facts);
    const uint64_t rest = __ldcg((const uint64_t *)&facts->rest);
    const bool finite = largest_field(facts) != NOT_FINITE;
    found.scale = finite ? exact_power(-shift) : NAN;
    found.rest_scale = exact_power(-shift - REST);
    found.rest = __ldcg(&facts->rests) == __ldcg(&facts->turn) ? (unsigned long long *)rest : NULL;
  }
  __syncthreads();
  return found;
}

/* Sums may lie where they go: each thread reads some of its own and then writes them. */
static __global__ void __launch_bounds__(BLOCK)
    end_kernel(int64_t points, const unsigned long long *sum, const fixed_facts *facts, bool fresh,
               real *mesh)
{
  const int64_t step = (int64_t)gridDim.x * BLOCK;
  cudaGridDependencySynchronize();
  const numbers made = find_numbers(facts);
  for (int64_t first = md_thread(); first < points; first += TOGETHER * step) {
    long long whole[TOGETHER];
    SPREAD_UNROLL
    for (int k = 0; k < TOGETHER; k++)
      whole[k] = (long long)sum[min(first + k * step, points - 1)];
    SPREAD_UNROLL
    for (int k = 0; k < TOGETHER; k++) {
      const int64_t i = first + k * step;
      if (i >= points) break;
      double all = (double)whole[k] * made.scale;
      if (made.rest) {
        all += (double)(long long)made.rest[i] * made.rest_scale;
        made.rest[i] = 0;
      }
      mesh[i] = fresh ? (real)all : mesh[i] + (real)all;
    }
  }
}

/* Of particles in the fullest plane of a pencil, as in fixed_gpu.h; pencils that reach a point are
 * those that p cells in a row meet along each axis, one of which may be narrow. */
static int64_t find_reach(const spread_plan *plan)
{
  const int32_t p = plan->grid.order, *cells = plan->pencils.cells, *mesh = plan->grid.mesh;
  const int64_t pencils = ((p - 2) / cells[0] + 3) * ((p - 2) / cells[1] + 3);
  return min(mesh[1], mesh[2]) < p ? 2 * pencils : (4 * pencils + p - 1) / p;
}

static unsigned blocks_for(const spread_plan *plan, int64_t n)
{
  return min(md_blocks(n, BLOCK), (unsigned)(BLOCKS * plan->multiprocessors));
}

/* Facts of new positions. */
static md_status find_most(spread_plan *plan, const pencil_view *view, fixed_facts *facts)
{
  MD_TRY(md_fill(plan->ctx, facts, 0, sizeof *facts));
  most_kernel<<<blocks_for(plan, view->keys), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(
      view->start, view->keys, facts);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_fixed_begin)(spread_plan *plan, spread_part *part,
                                       const pencil_view *view, const real *q, real *mesh,
                                       unsigned long long **sum, fixed_facts **facts)
{
  md_ctx *ctx = plan->ctx;
  md_buffer *beside = &plan->scratch[1], *known = &plan->scratch[2], *rest = &plan->scratch[4];
  const int64_t points = plan->grid.points;
  const size_t bytes = (size_t)points * sizeof **sum;
  const bool inside = mesh && sizeof(real) == sizeof **sum;
  if (!inside) MD_TRY(md_buffer_reserve(ctx, beside, bytes, 0));
  MD_TRY(md_buffer_reserve(ctx, known, sizeof **facts, 0));
  if (!rest->data) {
    MD_TRY(md_buffer_reserve(ctx, rest, bytes, 0));
    MD_TRY(md_fill(ctx, rest->data, 0, bytes));
  }
  *sum = inside ? (unsigned long long *)mesh : (unsigned long long *)beside->data;
  *facts = (fixed_facts *)known->data;
  if (!part->found || plan->n_parts > 1) /* facts are those of the last part */
    MD_TRY(find_most(plan, view, *facts));
  part->found = true;
  begin_kernel<<<blocks_for(plan, max(points, (int64_t)part->n)), BLOCK, 0,
                 (cudaStream_t)ctx->stream>>>(points, part->n, q, ++plan->turn, find_reach(plan),
                                              *sum, (unsigned long long *)rest->data, *facts);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_fixed_end)(const spread_plan *plan, const unsigned long long *sum,
                                     const fixed_facts *facts, bool fresh, real *mesh)
{
  const int64_t points = plan->grid.points;
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(plan->ctx, dim3(blocks_for(plan, points)), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, end_kernel, points, sum, facts, fresh, mesh));
  return MD_OK;
}
