/* spread/gpu_many/sort_rows.single.cu - particles of a plane of a pencil by row, in place, for
 * interpolation of many vectors (interpolate_stacks.single.cu): those read together then reach
 * fewer lines. In single precision.
 *
 * Blocks take ranges of particles, wherever planes begin and end; what is cut off by a range's end,
 * or is longer than one, is in order in each piece by itself. */
#include "spread/gpu/pencil_gpu.h"

enum { BLOCK = 256, PIECE = 128 };

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
    rows_kernel(int32_t n, int64_t keys, const int32_t *start, const uint32_t *key,
                const uint64_t *refused, pencil_particle *particle)
{
  __shared__ uint8_t rows[BLOCK];
  if (refused && *refused != SPREAD_NONE_BAD) return;
  const int thread = threadIdx.x;
  const int32_t i = (int32_t)md_thread(), first = i - thread % PIECE;
  pencil_particle mine = {};
  uint32_t row = 0, unused;
  real f[3];
  int32_t low = 0, high = 0, before = 0;
  if (i < n) {
    const int64_t k = search_key(start, key, keys, n, i);
    mine = particle[i];
    pencil_unpack(&mine, f, &row, &unused);
    low = max(start[k], first);
    high = min(start[k + 1], first + PIECE);
  }
  rows[thread] = (uint8_t)row;
  __syncthreads();
  for (int32_t k = low; k < high; k++) {
    const uint32_t other = rows[k - first + thread / PIECE * PIECE];
    before += other < row || (other == row && k < i);
  }
  if (i < n) particle[low + before] = mine;
}

md_status spread_gpu_sort_rows(spread_plan *plan, spread_part *part, const md_buffer *start)
{
  const spread_counter *counter = &plan->counter;
  rows_kernel<<<md_blocks(part->n, BLOCK), BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(
      part->n, pencils_keys(&plan->grid, &plan->pencils), (const int32_t *)start->data,
      (const uint32_t *)part->buffer[SPREAD_EXTRA].data,
      counter->check_mode == SPREAD_CHECK_SORTING ? (const uint64_t *)counter->bad.data : NULL,
      (pencil_particle *)part->buffer[SPREAD_RECORD].data);
  MD_LAUNCHED();
  return MD_OK;
}
