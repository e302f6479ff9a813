/* ordering/ordering_gpu.cu - tables, stable sort and permutation on the GPU.
 *
 * Tables: one thread a cell, with the functions of curve.h.  Sort: where keys hardly repeat, as
 * those of bins, counting: items in the order they come, and within a key put in order by counting
 * those before each; else CUB's radix sort of as many bits as key_end - 1 has.  Permutation: one
 * thread a word of 16 bytes where items allow it, else of 4, so that neighbouring threads write
 * neighbouring words; items that are moved by the sort itself have one thread each.  Few atoms take
 * hardly more than kernels' starts: who makes keys may count them, counts are cleared by who reads
 * them last, one kernel scans them, each starts while the one before it ends. */
#include "core/gpu/cuda.h"
#include "core/gpu/launch_gpu.h"
#include "core/gpu/scan_gpu.h"
#include "ordering/curve.h"
#include "ordering/ordering_impl.h"

#include <cub/device/device_radix_sort.cuh>

enum {
  BLOCK = 256,
  MOST_ALIKE = 64, /* items of a key, on average, that are worth counting */
  MOST_KEYS = 64   /* keys of an item */
};

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
typedef struct {
  item_move set[ORDERING_MOST_ITEMS];
} item_moves;

static item_moves moves_of(int n_items, const ordering_items *items)
{
  item_moves moves = {};
  for (int k = 0; k < n_items; k++) {
    const ordering_items *of = &items[k];
    const bool wide = ((uintptr_t)of->from | (uintptr_t)of->to | of->bytes) % 16 == 0;
    moves.set[k] = (item_move){wide, (int)(of->bytes / (wide ? 16 : 4)), of->from, of->to};
  }
  return moves;
}

/* Thread: one item; its place among those of its key, as they come. */
static __global__ void count_kernel(int64_t n, const uint32_t *keys, int32_t *count,
                                    int32_t *arrival)
{
  const int64_t i = md_thread();
  if (i < n) arrival[i] = atomicAdd(&count[keys[i]], 1);
}

/* An item at a place of its key's, which begin there. */
typedef struct {
  int32_t item, begin;
} __align__(8) placed;

static __global__ void place_kernel(int64_t n, const uint32_t *keys, const int32_t *start,
                                    const int32_t *arrival, placed *out)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread();
  if (i >= n) return;
  const int32_t begin = start[keys[i]];
  out[begin + arrival[i]] = (placed){(int32_t)i, begin};
}

/* Words of an item that are on their way at once: two of 16 bytes, or four of 4. */
typedef struct {
  uint4 word[2];
} item_part;

static __device__ __forceinline__ item_part load_part(const item_move *move, int64_t from,
                                                      int first)
{
  item_part part = {};
  const int left = move->words - first;
  if (move->wide) {
    const uint4 *at = (const uint4 *)move->from + from * move->words + first;
    if (left > 0) part.word[0] = at[0];
    if (left > 1) part.word[1] = at[1];
    return part;
  }
  const uint32_t *at = (const uint32_t *)move->from + from * move->words + first;
  if (left > 0) part.word[0].x = at[0];
  if (left > 1) part.word[0].y = at[1];
  if (left > 2) part.word[0].z = at[2];
  if (left > 3) part.word[0].w = at[3];
  return part;
}

static __device__ __forceinline__ void store_part(const item_move *move, int64_t to, int first,
                                                  const item_part *part)
{
  const int left = move->words - first;
  if (move->wide) {
    uint4 *at = (uint4 *)move->to + to * move->words + first;
    if (left > 0) at[0] = part->word[0];
    if (left > 1) at[1] = part->word[1];
    return;
  }
  uint32_t *at = (uint32_t *)move->to + to * move->words + first;
  if (left > 0) at[0] = part->word[0].x;
  if (left > 1) at[1] = part->word[0].y;
  if (left > 2) at[2] = part->word[0].z;
  if (left > 3) at[3] = part->word[0].w;
}

/* A set's words of an item, whose first part is on its way. */
static __device__ __forceinline__ void move_item(const item_move *move, const item_part *part,
                                                 int64_t from, int64_t to)
{
  const int step = move->wide ? 2 : 4;
  store_part(move, to, 0, part);
  for (int first = step; first < move->words; first += step) {
    const item_part next = load_part(move, from, first);
    store_part(move, to, first, &next);
  }
}

/* Thread: one place; its item to where it belongs among those of its key, and its data, of so many
 * sets at once: one needs few registers. */
template <int SETS>
static __global__ void order_kernel(int64_t n, const placed *all, int32_t *order,
                                    const __grid_constant__ item_moves moves)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t p = md_thread();
  if (p >= n) return;
  const placed mine = all[p];
  item_part part[SETS];
#pragma unroll
  for (int k = 0; k < SETS; k++)
    part[k] = load_part(&moves.set[k], mine.item, 0);
  int32_t at = mine.begin;
  for (int64_t q = mine.begin; q < n && all[q].begin == mine.begin; q++)
    at += all[q].item < mine.item;
  order[at] = mine.item;
#pragma unroll
  for (int k = 0; k < SETS; k++)
    move_item(&moves.set[k], &part[k], mine.item, at);
}

/* Bytes of n items, rounded up so that what follows is aligned. */
static size_t aligned(int64_t n)
{
  return ((size_t)n * sizeof(int32_t) + 255) / 256 * 256;
}

static bool counts(int64_t n, uint32_t key_end)
{
  return n > 0 && n / MOST_ALIKE <= key_end && key_end / MOST_KEYS <= n;
}

/* Places among the items of a key as they come; behind them items by place. */
static int32_t *arrivals(const ordering_sorter *s)
{
  return (int32_t *)s->keys.data;
}

/* Room for a counting sort, its counts zero. */
static md_status open_counts(ordering_sorter *s, int64_t n, uint32_t key_end)
{
  MD_TRY(md_buffer_reserve(s->ctx, &s->keys, aligned(n) + (size_t)n * sizeof(placed), 0));
  const size_t bytes = aligned((int64_t)key_end + 1);
  if (bytes <= s->count.bytes) return MD_OK;
  MD_TRY(md_buffer_reserve(s->ctx, &s->count, bytes, 0));
  return md_fill(s->ctx, s->count.data, 0, s->count.bytes);
}

md_status ordering_gpu_counter(ordering_sorter *s, int64_t n, uint32_t key_end,
                               ordering_counter *out)
{
  if (!counts(n, key_end)) return MD_OK;
  if (s->counted) MD_TRY(md_fill(s->ctx, s->count.data, 0, s->count.bytes)); /* no sort came */
  MD_TRY(open_counts(s, n, key_end));
  *out = (ordering_counter){(int32_t *)s->count.data, arrivals(s)};
  s->counted = true;
  return MD_OK;
}

static md_status counting_sort(ordering_sorter *s, int64_t n, const uint32_t *keys,
                               uint32_t key_end, int32_t *order, int32_t *start, int n_items,
                               const ordering_items *items)
{
  md_ctx *ctx = s->ctx;
  const int64_t ends = (int64_t)key_end + 1;
  if (!s->counted) {
    MD_TRY(open_counts(s, n, key_end));
    count_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
        n, keys, (int32_t *)s->count.data, arrivals(s));
    MD_LAUNCHED();
  }
  s->counted = false;
  if (!start) MD_TRY(md_buffer_reserve(ctx, &s->scratch, (size_t)ends * sizeof *start, 0));
  int32_t *first = start ? start : (int32_t *)s->scratch.data;
  int32_t *arrival = arrivals(s);
  placed *place = (placed *)((unsigned char *)arrival + aligned(n));
  const unsigned blocks = md_blocks(n, BLOCK);
  MD_TRY(md_scan_counts(ctx, &s->scan_status, &s->round, ends, (int32_t *)s->count.data, first));
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(ctx, dim3(blocks), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, place_kernel, n, keys, (const int32_t *)first,
                             (const int32_t *)arrival, place));
  const auto kernel = n_items > 1 ? order_kernel<ORDERING_MOST_ITEMS> : order_kernel<1>;
  MD_CUDA(cudaLaunchKernelEx(&config, kernel, n, (const placed *)place, order,
                             moves_of(n_items, items)));
  return MD_OK;
}

md_status ordering_gpu_sort_move(ordering_sorter *s, int64_t n, const uint32_t *keys,
                                 uint32_t key_end, int32_t *order, int32_t *start, int n_items,
                                 const ordering_items *items)
{
  if (counts(n, key_end)) return counting_sort(s, n, keys, key_end, order, start, n_items, items);
  MD_TRY(radix_sort(s, n, keys, key_end, order, start));
  for (int k = 0; k < n_items && n > 0; k++)
    MD_TRY(ordering_gpu_permute(s->ctx, n, order, items[k].bytes, items[k].from, items[k].to));
  return MD_OK;
}
