/* ordering/ordering_gpu.cu - tables, stable sort and permutation on the GPU.
 *
 * Tables: one thread a cell, with the functions of curve.h.  Sort: where keys hardly repeat, as those
 * of bins, counting: items in the order they come, and within a key put in order by counting those
 * before each; else CUB's radix sort of as many bits as key_end - 1 has.  Permutation: one thread a
 * word of 16 bytes where items allow it, else of 4, so that neighbouring threads write neighbouring
 * words; of two sets of small items, which take hardly more than a kernel's start, one thread an item. */
#include "core/cuda.h"
#include "ordering/curve.h"
#include "ordering/ordering_impl.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

enum { BLOCK = 256, MOST_ALIKE = 8 /* items of a key, on average, that are worth counting */ };

typedef struct {
  int32_t n[3];
} table_size;

/* Thread: one cell.  4 bytes written, nothing read. */
static __global__ void index_kernel(int64_t cells, ordering order, table_size size, uint32_t *index)
{
  const int64_t cell = md_thread();
  if (cell >= cells) return;
  const int32_t k = (int32_t)(cell % size.n[2]);
  const int64_t row = cell / size.n[2];
  const int32_t c[3] = {(int32_t)(row / size.n[1]), (int32_t)(row % size.n[1]), k};
  index[cell] = curve_index(&order, size.n, c);
}

/* Thread: one index. */
static __global__ void cell_kernel(int64_t cells, ordering order, table_size size, uint32_t *cell)
{
  const int64_t index = md_thread();
  if (index >= cells) return;
  int32_t c[3];
  curve_cell(&order, size.n, (uint32_t)index, c);
  cell[index] = (uint32_t)(((int64_t)c[0] * size.n[1] + c[1]) * size.n[2] + c[2]);
}

md_status ordering_gpu_table(md_ctx *ctx, const ordering *order, const int32_t n[3], bool inverse,
                             uint32_t *table)
{
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int64_t cells = (int64_t)n[0] * n[1] * n[2];
  const table_size size = {{n[0], n[1], n[2]}};
  if (inverse)
    cell_kernel<<<md_blocks(cells, BLOCK), BLOCK, 0, stream>>>(cells, *order, size, table);
  else
    index_kernel<<<md_blocks(cells, BLOCK), BLOCK, 0, stream>>>(cells, *order, size, table);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void iota_kernel(int64_t n, int32_t *iota)
{
  const int64_t i = md_thread();
  if (i < n) iota[i] = (int32_t)i;
}

/* Thread: the gap before one sorted key; start[c] = first place of key c or higher. */
static __global__ void start_kernel(int64_t n, const uint32_t *__restrict__ sorted,
                                    uint32_t key_end, int32_t *__restrict__ start)
{
  const int64_t i = md_thread();
  if (i > n) return;
  const int64_t from = i > 0 ? (int64_t)sorted[i - 1] + 1 : 0;
  const int64_t to = i < n ? sorted[i] : key_end;
  for (int64_t c = from; c <= to; c++)
    start[c] = (int32_t)i;
}

/* 0, 1, 2, ... for the sort to carry along; kept, since it never changes. */
static md_status prepare_iota(ordering_sorter *s, int64_t n)
{
  if (n <= s->n_iota) return MD_OK;
  MD_TRY(md_buffer_reserve(s->ctx, &s->iota, sizeof(int32_t) * (size_t)n, 0));
  s->n_iota = (int64_t)(s->iota.bytes / sizeof(int32_t));
  iota_kernel<<<md_blocks(s->n_iota, BLOCK), BLOCK, 0, (cudaStream_t)s->ctx->stream>>>(
      s->n_iota, (int32_t *)s->iota.data);
  MD_LAUNCHED();
  return MD_OK;
}

static md_status radix_sort(ordering_sorter *s, int64_t n, const uint32_t *keys, uint32_t key_end,
                            int32_t *order, int32_t *start)
{
  md_ctx *ctx = s->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  int bits = 1;
  while (key_end > 1 && bits < 32 && (key_end - 1) >> bits)
    bits++;
  if (n > 0) {
    MD_TRY(prepare_iota(s, n));
    MD_TRY(md_buffer_reserve(ctx, &s->keys, sizeof(uint32_t) * (size_t)n, 0));
    const int32_t *iota = (const int32_t *)s->iota.data;
    uint32_t *sorted = (uint32_t *)s->keys.data;
    size_t bytes = 0;
    MD_CUDA(cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, sorted, iota, order, (int)n, 0, bits,
                                            stream));
    MD_TRY(md_buffer_reserve(ctx, &s->scratch, bytes, 0));
    MD_CUDA(cub::DeviceRadixSort::SortPairs(s->scratch.data, bytes, keys, sorted, iota, order,
                                            (int)n, 0, bits, stream));
  }
  if (!start) return MD_OK;
  start_kernel<<<md_blocks(n + 1, BLOCK), BLOCK, 0, stream>>>(n, (const uint32_t *)s->keys.data,
                                                              key_end, start);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one item; its place among those of its key, as they come. */
static __global__ void count_kernel(int64_t n, const uint32_t *__restrict__ keys,
                                    int32_t *__restrict__ count, int32_t *__restrict__ arrival)
{
  const int64_t i = md_thread();
  if (i < n) arrival[i] = atomicAdd(&count[keys[i]], 1);
}

static __global__ void place_kernel(int64_t n, const uint32_t *__restrict__ keys,
                                    const int32_t *__restrict__ start,
                                    const int32_t *__restrict__ arrival, int32_t *__restrict__ item)
{
  const int64_t i = md_thread();
  if (i < n) item[start[keys[i]] + arrival[i]] = (int32_t)i;
}

/* Thread: one place; its item to where it belongs among those of its key. */
static __global__ void order_kernel(int64_t n, const uint32_t *__restrict__ keys,
                                    const int32_t *__restrict__ start,
                                    const int32_t *__restrict__ item, int32_t *__restrict__ order)
{
  const int64_t p = md_thread();
  if (p >= n) return;
  const int32_t i = item[p], begin = start[keys[i]], end = start[keys[i] + 1];
  int32_t at = begin;
  for (int32_t q = begin; q < end; q++)
    at += item[q] < i;
  order[at] = i;
}

/* Bytes of n items, rounded up so that what follows is aligned. */
static size_t aligned(int64_t n)
{
  return ((size_t)n * sizeof(int32_t) + 255) / 256 * 256;
}

static md_status counting_sort(ordering_sorter *s, int64_t n, const uint32_t *keys,
                               uint32_t key_end, int32_t *order, int32_t *start)
{
  md_ctx *ctx = s->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int64_t ends = (int64_t)key_end + 1;
  size_t scan_bytes = 0;
  MD_CUDA(cub::DeviceScan::ExclusiveSum(NULL, scan_bytes, start, start, ends, stream));
  MD_TRY(md_buffer_reserve(ctx, &s->keys, 2 * aligned(n), 0));
  MD_TRY(md_buffer_reserve(ctx, &s->scratch, aligned(ends) + scan_bytes, 0));
  int32_t *arrival = (int32_t *)s->keys.data, *item = arrival + aligned(n) / sizeof *item;
  int32_t *first = start ? start : (int32_t *)s->scratch.data;
  MD_TRY(md_fill(ctx, first, 0, (size_t)ends * sizeof *first));
  count_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(n, keys, first, arrival);
  MD_LAUNCHED();
  MD_CUDA(cub::DeviceScan::ExclusiveSum((char *)s->scratch.data + aligned(ends), scan_bytes, first,
                                        first, ends, stream));
  place_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(n, keys, first, arrival, item);
  order_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, stream>>>(n, keys, first, item, order);
  MD_LAUNCHED();
  return MD_OK;
}

md_status ordering_gpu_sort(ordering_sorter *s, int64_t n, const uint32_t *keys, uint32_t key_end,
                            int32_t *order, int32_t *start)
{
  if (n > 0 && n / MOST_ALIKE <= key_end) return counting_sort(s, n, keys, key_end, order, start);
  return radix_sort(s, n, keys, key_end, order, start);
}

/* Thread: one word of one item; words of an item are neighbours. */
static __global__ void permute16_kernel(int64_t words, int per_item,
                                        const int32_t *__restrict__ order,
                                        const uint4 *__restrict__ from, uint4 *__restrict__ to)
{
  const int64_t w = md_thread();
  if (w < words) to[w] = from[(int64_t)order[w / per_item] * per_item + w % per_item];
}

static __global__ void permute4_kernel(int64_t words, int per_item,
                                       const int32_t *__restrict__ order,
                                       const uint32_t *__restrict__ from, uint32_t *__restrict__ to)
{
  const int64_t w = md_thread();
  if (w < words) to[w] = from[(int64_t)order[w / per_item] * per_item + w % per_item];
}

md_status ordering_gpu_permute(md_ctx *ctx, int64_t n, const int32_t *order, size_t item_bytes,
                               const void *from, void *to)
{
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  if (((uintptr_t)from | (uintptr_t)to | item_bytes) % 16 == 0) {
    const int per_item = (int)(item_bytes / 16);
    permute16_kernel<<<md_blocks(n * per_item, BLOCK), BLOCK, 0, stream>>>(
        n * per_item, per_item, order, (const uint4 *)from, (uint4 *)to);
  } else {
    const int per_item = (int)(item_bytes / 4);
    permute4_kernel<<<md_blocks(n * per_item, BLOCK), BLOCK, 0, stream>>>(
        n * per_item, per_item, order, (const uint32_t *)from, (uint32_t *)to);
  }
  MD_LAUNCHED();
  return MD_OK;
}

/* Items to move, as words of 16 bytes or of 4. */
typedef struct {
  bool wide;
  int words; /* of an item */
  const void *from;
  void *to;
} item_move;

static item_move move_of(const ordering_items *items)
{
  const bool wide = ((uintptr_t)items->from | (uintptr_t)items->to | items->bytes) % 16 == 0;
  return (item_move){wide, (int)(items->bytes / (wide ? 16 : 4)), items->from, items->to};
}

/* Thread: one item of one set. */
static __global__ void permute_both_kernel(int64_t n, const int32_t *__restrict__ order,
                                           const item_move first, const item_move second)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const int64_t j = order[i];
  const bool behind = blockIdx.y > 0;
  const int words = behind ? second.words : first.words;
  const void *from = behind ? second.from : first.from;
  void *to = behind ? second.to : first.to;
  if (behind ? second.wide : first.wide)
    for (int k = 0; k < words; k++)
      ((uint4 *)to)[i * words + k] = ((const uint4 *)from)[j * words + k];
  else
    for (int k = 0; k < words; k++)
      ((uint32_t *)to)[i * words + k] = ((const uint32_t *)from)[j * words + k];
}

md_status ordering_gpu_permute_both(md_ctx *ctx, int64_t n, const int32_t *order,
                                    const ordering_items items[2])
{
  const dim3 blocks(md_blocks(n, BLOCK), 2);
  permute_both_kernel<<<blocks, BLOCK, 0, (cudaStream_t)ctx->stream>>>(n, order, move_of(&items[0]),
                                                                       move_of(&items[1]));
  MD_LAUNCHED();
  return MD_OK;
}
