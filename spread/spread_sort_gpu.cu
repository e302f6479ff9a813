/* spread/spread_sort_gpu.cu - locating particles on the GPU, and sorting them by cell or pencil.
 *
 * Keys, a stable radix sort (ordering/), and records gathered in its order.  The first particle of
 * each key comes from a binary search in the sorted keys, so that no thread has to fill the gaps
 * that clustered particles leave.  Bytes a particle: positions read three times, key 4 + 4, the
 * sort's passes, record written. */
#include "core/cuda.h"
#include "spread/pencil.h"

enum { BLOCK = 256 };

/* Where a particle lies. */
typedef struct {
  int32_t cell[3];
  double f[3];
} place;

static __device__ __forceinline__ place locate(const spread_grid &grid, const state *x)
{
  place to;
  for (int a = 0; a < 3; a++)
    to.cell[a] = spread_locate(&grid, a, (double)x[a], &to.f[a]);
  return to;
}

static __device__ __forceinline__ uint32_t point_of(const spread_grid &grid, const place &at)
{
  return ((uint32_t)at.cell[0] * (uint32_t)grid.mesh[1] + (uint32_t)at.cell[1]) *
             (uint32_t)grid.mesh[2] +
         (uint32_t)at.cell[2];
}

/* Thread: one particle. */
static __global__ void check_kernel(int64_t n, const state *__restrict__ x, int64_t stride,
                                    spread_grid grid, unsigned long long *bad)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  bool good = true;
  for (int a = 0; a < 3; a++)
    good = good && spread_locatable(&grid, a, (double)x[i * stride + a]);
  if (!good) atomicMin(bad, (unsigned long long)i);
}

/* Thread: one particle; the key of its cell. */
static __global__ void cell_key_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                       spread_grid grid, uint32_t *__restrict__ key)
{
  const int64_t i = md_thread();
  if (i < n) key[i] = point_of(grid, locate(grid, x + i * stride));
}

/* Thread: one particle; the key of its pencil and plane. */
static __global__ void pencil_key_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                         spread_grid grid, spread_pencils pencils,
                                         uint32_t *__restrict__ key)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const place at = locate(grid, x + i * stride);
  const int32_t pencil =
      at.cell[1] / pencils.cells[0] * pencils.n[1] + at.cell[2] / pencils.cells[1];
  key[i] = (uint32_t)pencil * (uint32_t)grid.mesh[0] + (uint32_t)at.cell[0];
}

/* Thread: one place; order NULL: the given one. */
static __global__ void record_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                     spread_grid grid, const int32_t *__restrict__ order,
                                     spread_particle *__restrict__ record)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const place at = locate(grid, x + (order ? order[i] : i) * stride);
  spread_particle particle;
  for (int a = 0; a < 3; a++)
    particle.f[a] = (real)at.f[a];
  particle.word = point_of(grid, at);
  record[i] = particle;
}

/* Thread: one place. */
static __global__ void pencil_record_kernel(int32_t n, const state *__restrict__ x, int64_t stride,
                                            spread_grid grid, spread_pencils pencils,
                                            const int32_t *__restrict__ order,
                                            pencil_particle *__restrict__ record)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const int32_t from = order[i];
  const place at = locate(grid, x + from * stride);
  record[i] = pencil_pack(at.f, (uint32_t)(at.cell[1] % pencils.cells[0]),
                          (uint32_t)(at.cell[2] % pencils.cells[1]), (uint32_t)from);
}

/* Thread: one key; the first place whose key is not lower. */
static __global__ void start_kernel(int32_t n, const uint32_t *__restrict__ key,
                                    const int32_t *__restrict__ order, int64_t keys,
                                    int32_t *__restrict__ start)
{
  const int64_t k = md_thread();
  if (k > keys) return;
  int32_t low = 0, high = n;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if ((int64_t)key[order[middle]] < k)
      low = middle + 1;
    else
      high = middle;
  }
  start[k] = low;
}

md_status PREC(spread_gpu_check)(spread_plan *plan, int64_t n, const void *positions,
                                 int64_t stride, int64_t *bad)
{
  md_ctx *ctx = plan->ctx;
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], sizeof(uint64_t), 0));
  unsigned long long *lowest = (unsigned long long *)plan->scratch[0].data, found = 0;
  MD_TRY(md_fill(ctx, lowest, 0xff, sizeof *lowest));
  check_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, (const state *)positions, stride, plan->grid, lowest);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, &found, lowest, sizeof found));
  *bad = found < (unsigned long long)n ? (int64_t)found : n;
  return MD_OK;
}

/* Keys of the layout in scratch[0]. */
static md_status make_keys(spread_plan *plan, const spread_part *part, const state *x,
                           int64_t stride)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const unsigned blocks = md_blocks(part->n, BLOCK);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], (size_t)part->n * sizeof(uint32_t), 0));
  uint32_t *key = (uint32_t *)plan->scratch[0].data;
  if (plan->layout == SPREAD_PENCILS)
    pencil_key_kernel<<<blocks, BLOCK, 0, stream>>>(part->n, x, stride, plan->grid, plan->pencils,
                                                    key);
  else
    cell_key_kernel<<<blocks, BLOCK, 0, stream>>>(part->n, x, stride, plan->grid, key);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status sort_records(spread_plan *plan, spread_part *part, const state *x, int64_t stride)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const bool pencils = plan->layout == SPREAD_PENCILS;
  const int64_t keys = pencils ? pencils_keys(&plan->grid, &plan->pencils) : plan->grid.points;
  const int32_t n = part->n;
  md_buffer *buffer = part->buffer;
  MD_TRY(make_keys(plan, part, x, stride));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_ORDER], (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_START], (size_t)(keys + 1) * sizeof(int32_t), 0));
  const uint32_t *key = (const uint32_t *)plan->scratch[0].data;
  int32_t *order = (int32_t *)buffer[SPREAD_ORDER].data;
  MD_TRY(ordering_sort(plan->sorter, n, key, (uint32_t)keys, order, NULL));
  start_kernel<<<md_blocks(keys + 1, BLOCK), BLOCK, 0, stream>>>(
      n, key, order, keys, (int32_t *)buffer[SPREAD_START].data);
  MD_LAUNCHED();
  if (pencils)
    pencil_record_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(
        n, x, stride, plan->grid, plan->pencils, order,
        (pencil_particle *)buffer[SPREAD_RECORD].data);
  else
    record_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(
        n, x, stride, plan->grid, order, (spread_particle *)buffer[SPREAD_RECORD].data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_sort)(spread_plan *plan, spread_part *part, const void *positions,
                                int64_t stride)
{
  md_ctx *ctx = plan->ctx;
  const state *x = (const state *)positions;
  const int32_t n = part->n;
  md_buffer *record = &part->buffer[SPREAD_RECORD];
  const size_t item =
      plan->layout == SPREAD_PENCILS ? sizeof(pencil_particle) : sizeof(spread_particle);
  MD_TRY(md_buffer_reserve(ctx, record, (size_t)n * item, 0));
  if (plan->layout != SPREAD_GIVEN) return sort_records(plan, part, x, stride);
  record_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      n, x, stride, plan->grid, NULL, (spread_particle *)record->data);
  MD_LAUNCHED();
  return MD_OK;
}
