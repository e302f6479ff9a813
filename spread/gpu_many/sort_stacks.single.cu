/* spread/gpu_many/sort_stacks.single.cu - particles by stack, plane, pencil and row, for
 * interpolation of many vectors (interpolate_stacks.single.cu): warps then find them without
 * looking for pencils, and those read together reach few lines.  In single precision.
 *
 * They are copied, and have the row in their stack in place of that in their pencil.  Before, those
 * of a pencil's plane lie side by side, in any order.  Blocks take ranges of them, wherever planes
 * begin and end; what is cut off by a range's end, or is longer than one, is in order in each piece
 * by itself. */
#include "core/gpu/scan_gpu.h"
#include "spread/gpu_many/pencil_stack_gpu.h"

enum { BLOCK = 256, PIECE = 128 };

/* A place holds the particles of a pencil in a unit.  Thread: one of them, or one that rounds up
 * their number.  count: of its particles. */
static __global__ void __launch_bounds__(BLOCK)
    count_kernel(stack_grid g, int64_t places, int64_t rounded, const int32_t *start,
                 int32_t *count)
{
  const int64_t place = md_thread();
  if (place >= rounded) return;
  const int32_t across = g.pencils.n[1], unit = (int32_t)(place / g.most);
  const int32_t stack = unit / g.planes, band = stack / across;
  const int32_t row = first_pencil(g, band) + (int32_t)(place - (int64_t)unit * g.most);
  const int64_t key = (int64_t)(row * across + stack % across) * g.planes + unit % g.planes;
  const bool has = place < places && row < first_pencil(g, band + 1);
  count[place] = has ? start[key + 1] - start[key] : 0;
}

/* Where a particle of a key goes. */
typedef struct {
  int64_t place;
  uint32_t row; /* of the pencil's first line in the stack */
} stack_place;

static __device__ __forceinline__ stack_place place_of(const stack_grid &g, uint32_t key)
{
  const uint32_t planes = (uint32_t)g.planes, across = (uint32_t)g.pencils.n[1];
  const uint32_t pencil = key / planes, row = pencil / across;
  const int32_t band = band_of(g, (int32_t)row), turn = (int32_t)row - first_pencil(g, band);
  const uint32_t stack = (uint32_t)band * across + (pencil - row * across);
  const int64_t unit = (int64_t)stack * planes + (key - pencil * planes);
  return {unit * g.most + turn, (uint32_t)(turn * g.pencils.cells[0])};
}

/* The key of particle i: the last one that does not begin after it. */
static __device__ __forceinline__ int64_t search_key(const int32_t *start, const uint32_t *key,
                                                     int64_t keys, int32_t n, int32_t i)
{
  const int32_t block = i / MD_WARP;
  int64_t low = key[block];
  int64_t high = (block + 1) * MD_WARP < n ? (int64_t)key[block + 1] + 1 : keys;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (start[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Thread: one particle.  refused: NULL, or where it says that they are not those of these
 * planes. */
static __global__ void __launch_bounds__(BLOCK)
    stack_kernel(stack_grid g, int32_t n, int64_t keys, const int32_t *start, const uint32_t *key,
                 const uint64_t *refused, const pencil_particle *particle, const int32_t *stacks,
                 pencil_particle *stacked)
{
  __shared__ uint8_t rows[BLOCK];
  if (refused && *refused != SPREAD_NONE_BAD) return;
  const int thread = threadIdx.x;
  const int32_t i = (int32_t)md_thread(), first = i - thread % PIECE;
  pencil_particle mine = {};
  uint32_t row = 0, fast = 0;
  real f[3];
  int32_t low = 0, high = 0, before = 0;
  int64_t k = 0;
  if (i < n) {
    k = search_key(start, key, keys, n, i);
    mine = particle[i];
    pencil_unpack(&mine, f, &row, &fast);
    low = max(start[k], first);
    high = min(start[k + 1], first + PIECE);
    before = low - start[k];
  }
  rows[thread] = (uint8_t)row;
  __syncthreads();
  for (int32_t j = low; j < high; j++) {
    const uint32_t other = rows[j - first + thread / PIECE * PIECE];
    before += other < row || (other == row && j < i);
  }
  if (i >= n) return;
  const stack_place to = place_of(g, (uint32_t)k);
  mine.packed[0] += to.row << 4; /* of the stack, in place of the pencil */
  stacked[stacks[to.place] + before] = mine;
}

md_status spread_gpu_sort_stacks(spread_plan *plan, spread_part *part, const md_buffer *start)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const stack_grid g = stacks_of(plan);
  const int64_t places = (int64_t)g.units * g.most;
  const int64_t rounded = (places / MD_SCAN_COUNTS + 1) * MD_SCAN_COUNTS;
  const spread_counter *counter = &plan->counter;
  md_buffer *counts = &plan->scratch[4], *stacks = &part->buffer[SPREAD_STACKS];
  md_buffer *stacked = &part->buffer[SPREAD_STACKED];
  MD_TRY(md_buffer_reserve(ctx, counts, (size_t)rounded * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, stacks, (size_t)rounded * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, stacked, (size_t)part->n * sizeof(pencil_particle), 0));
  count_kernel<<<md_blocks(rounded, BLOCK), BLOCK, 0, stream>>>(
      g, places, rounded, (const int32_t *)start->data, (int32_t *)counts->data);
  MD_LAUNCHED();
  MD_TRY(md_scan_counts(ctx, &plan->counter.scan_status, &plan->counter.round, places + 1,
                        (int32_t *)counts->data, (int32_t *)stacks->data));
  stack_kernel<<<md_blocks(part->n, BLOCK), BLOCK, 0, stream>>>(
      g, part->n, pencils_keys(&plan->grid, &plan->pencils), (const int32_t *)start->data,
      (const uint32_t *)part->buffer[SPREAD_EXTRA].data,
      counter->check_mode == SPREAD_CHECK_SORTING ? (const uint64_t *)counter->bad.data : NULL,
      (const pencil_particle *)part->buffer[SPREAD_RECORD].data, (const int32_t *)stacks->data,
      (pencil_particle *)stacked->data);
  MD_LAUNCHED();
  part->stacked = true;
  return MD_OK;
}
