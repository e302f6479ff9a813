/* ordering/ordering_cpu.c - tables, stable sort and permutation with OpenMP.
 *
 * The sort is a counting sort: of the whole key where the counters stay in the second-level cache,
 * else of at most 12 bits a pass, lowest bits first.  Each thread
 * counts and later moves one contiguous part of the items; the counters are scanned digit by digit,
 * thread by thread, so that the result is the stable one whatever the number of threads. */
#include "ordering/curve.h"
#include "ordering/ordering_impl.h"

#include <math.h>
#include <omp.h>
#include <string.h>

ordering_encode_fn *const ordering_encoders[MD_ISA_COUNT] = SIMD_ROW(ordering_encode);

enum { DIGIT_BITS = 12, COUNTERS = 1 << 18, ITEMS_PER_THREAD = 16384, KEYS = 256 };

/* In a cube of a power of two the index is the key itself. */
static bool is_key(const ordering *o, const int32_t n[3])
{
  const bool cube = n[0] == n[1] && n[1] == n[2] && (n[0] & (n[0] - 1)) == 0;
  const bool turned = o->turn[0] || o->turn[1] || o->turn[2];
  return cube && !turned && curve_octree(o->kind) >= 0;
}

/* One row of cells along k. */
static void key_row(const md_ctx *ctx, const ordering *o, const int32_t n[3], int32_t i, int32_t j,
                    uint32_t *row)
{
  int32_t c[3][KEYS];
  uint64_t key[KEYS];
  for (int32_t k = 0; k < n[2]; k += KEYS) {
    const int32_t count = n[2] - k < KEYS ? n[2] - k : KEYS;
    for (int32_t q = 0; q < count; q++)
      c[0][q] = i, c[1][q] = j, c[2][q] = k + q;
    ordering_encoders[ctx->isa](curve_octree(o->kind), octree_levels(n), count, c[0], c[1], c[2],
                                key);
    for (int32_t q = 0; q < count; q++)
      row[k + q] = (uint32_t)key[q];
  }
}

static void index_row(const ordering *o, const int32_t n[3], int32_t i, int32_t j, uint32_t *row)
{
  for (int32_t k = 0; k < n[2]; k++) {
    const int32_t cell[3] = {i, j, k};
    row[k] = curve_index(o, n, cell);
  }
}

md_status ordering_cpu_table(md_ctx *ctx, const ordering *order, const int32_t n[3], bool inverse,
                             uint32_t *table)
{
  const int64_t rows = (int64_t)n[0] * n[1], cells = rows * n[2];
  if (inverse) {
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t index = 0; index < cells; index++) {
      int32_t c[3];
      curve_cell(order, n, (uint32_t)index, c);
      table[index] = (uint32_t)(((int64_t)c[0] * n[1] + c[1]) * n[2] + c[2]);
    }
    return MD_OK;
  }
  const bool keys = is_key(order, n);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int64_t r = 0; r < rows; r++) {
    const int32_t i = (int32_t)(r / n[1]), j = (int32_t)(r % n[1]);
    if (keys)
      key_row(ctx, order, n, i, j, table + r * n[2]);
    else
      index_row(order, n, i, j, table + r * n[2]);
  }
  return MD_OK;
}

/* One pass of the sort: what is read, what is written, which bits of the key decide. */
typedef struct {
  int64_t n;
  const uint32_t *keys;  /* read by the first pass, NULL later */
  const uint64_t *pairs; /* read by the others: key << 32 | item */
  uint64_t *to;          /* written, unless NULL: by the last pass */
  int32_t *order;        /* written by the last pass */
  uint32_t *sorted;      /* likewise, unless NULL */
  int shift, bits;
  int32_t *count; /* [threads][1 << bits] */
} sort_pass;

MD_INLINE uint64_t pass_pair(const sort_pass *p, int64_t i)
{
  return p->keys ? (uint64_t)p->keys[i] << 32 | (uint64_t)i : p->pairs[i];
}

MD_INLINE uint32_t pass_digit(const sort_pass *p, uint64_t pair)
{
  return (uint32_t)(pair >> 32) >> p->shift & ((1u << p->bits) - 1);
}

/* Make counters into places: digits before threads, so that equal digits keep their order. */
static void scan_counters(const sort_pass *p, int threads)
{
  int32_t place = 0;
  for (int64_t d = 0; d < (int64_t)1 << p->bits; d++)
    for (int t = 0; t < threads; t++) {
      int32_t *count = p->count + ((int64_t)t << p->bits) + d;
      const int32_t here = *count;
      *count = place;
      place += here;
    }
}

static void move_items(const sort_pass *p, int64_t begin, int64_t end, int32_t *place)
{
  for (int64_t i = begin; i < end; i++) {
    const uint64_t pair = pass_pair(p, i);
    const int32_t at = place[pass_digit(p, pair)]++;
    if (p->to) {
      p->to[at] = pair;
      continue;
    }
    p->order[at] = (int32_t)(uint32_t)pair;
    if (p->sorted) p->sorted[at] = (uint32_t)(pair >> 32);
  }
}

static void run_pass(const sort_pass *p, int wanted)
{
#pragma omp parallel num_threads(wanted)
  {
    const int threads = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t begin = p->n * t / threads, end = p->n * (t + 1) / threads;
    int32_t *count = p->count + ((int64_t)t << p->bits);
    memset(count, 0, sizeof *count << p->bits);
    for (int64_t i = begin; i < end; i++)
      count[pass_digit(p, pass_pair(p, i))]++;
#pragma omp barrier
#pragma omp single
    scan_counters(p, threads);
    move_items(p, begin, end, count);
  }
}

/* First item at or after i that has another key than the one before it. */
static int64_t key_change(int64_t n, const uint32_t *sorted, int64_t i)
{
  while (i > 0 && i < n && sorted[i] == sorted[i - 1])
    i++;
  return i;
}

/* start[c] = first place of key c or higher.  Each thread takes items begin..end-1 and the keys
 * from..to-1 that they have: the last item of a key marks where the next key starts, and keys
 * without items take over the start before them.  No branch depends on the keys. */
static void fill_start(int64_t n, const uint32_t *sorted, uint32_t key_end, int32_t *start,
                       int threads)
{
  start[0] = 0;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++) {
    const int64_t begin = key_change(n, sorted, n * t / threads);
    const int64_t end = key_change(n, sorted, n * (t + 1) / threads);
    const int64_t from = begin == 0 ? 0 : begin < n ? sorted[begin] : key_end;
    const int64_t to = end == n ? key_end : end == 0 ? 0 : sorted[end];
    memset(start + from + 1, 0, (size_t)(to - from) * sizeof *start);
    for (int64_t i = begin; i < end; i++)
      start[sorted[i] + (int64_t)1] = (int32_t)(i + 1);
    int32_t reached = (int32_t)begin;
    for (int64_t c = from + 1; c <= to; c++) {
      reached = start[c] > reached ? start[c] : reached;
      start[c] = reached;
    }
  }
}

/* How n keys are sorted: by this many threads, in so many passes over so many bits. */
typedef struct {
  int threads, passes, bits;
} sort_way;
static sort_way way_of(const md_ctx *ctx, int64_t n, uint32_t key_end)
{
  const int64_t useful = n / ITEMS_PER_THREAD + 1;
  const int threads = useful < ctx->threads ? (int)useful : ctx->threads;
  const int all = ordering_key_bits(key_end);
  const bool fits = (int64_t)threads << all <= (n < COUNTERS / 2 ? 2 * n : COUNTERS);
  const int passes = all == 0 || fits ? 1 : (all + DIGIT_BITS - 1) / DIGIT_BITS;
  return (sort_way){threads, passes, (all + passes - 1) / passes};
}

double ordering_memory(const md_ctx *ctx, double n, double key_end)
{
  if (ctx->backend == MD_GPU) return 12 * n + 8 * key_end; /* a counting sort */
  if (!(n < INT32_MAX && key_end < UINT32_MAX)) return 20 * n;
  const sort_way way = way_of(ctx, (int64_t)n, (uint32_t)key_end);
  return n * (4 + 8 * fmin(way.passes - 1, 2)) + ldexp(4 * way.threads, way.bits);
}

md_status ordering_cpu_sort(ordering_sorter *s, int64_t n, const uint32_t *keys, uint32_t key_end,
                            int32_t *order, int32_t *start)
{
  md_ctx *ctx = s->ctx;
  const sort_way way = way_of(ctx, n, key_end);
  const int threads = way.threads, passes = way.passes, bits = way.bits;
  const size_t items = (size_t)n;
  MD_TRY(md_buffer_reserve(ctx, &s->scratch, sizeof(int32_t) * (size_t)threads << bits, 0));
  if (start) MD_TRY(md_buffer_reserve(ctx, &s->keys, sizeof(uint32_t) * items, 0));
  if (passes > 1) MD_TRY(md_buffer_reserve(ctx, &s->pairs[0], sizeof(uint64_t) * items, 0));
  if (passes > 2) MD_TRY(md_buffer_reserve(ctx, &s->pairs[1], sizeof(uint64_t) * items, 0));

  uint32_t *sorted = start ? s->keys.data : NULL;
  sort_pass p = {.n = n, .keys = keys, .bits = bits, .count = s->scratch.data};
  for (int k = 0; k < passes; k++) {
    const bool last = k == passes - 1;
    p.to = last ? NULL : s->pairs[k % 2].data;
    p.order = last ? order : NULL;
    p.sorted = last ? sorted : NULL;
    run_pass(&p, threads);
    p.keys = NULL;
    p.pairs = p.to;
    p.shift += bits;
  }
  if (start) fill_start(n, sorted, key_end, start, threads);
  return MD_OK;
}

/* bytes is a constant where this is inlined, so that a copy is a few moves. */
MD_INLINE void permute_items(int64_t begin, int64_t end, const int32_t *order, size_t bytes,
                             const char *from, char *to)
{
  for (int64_t i = begin; i < end; i++)
    memcpy(to + (size_t)i * bytes, from + (size_t)order[i] * bytes, bytes);
}

md_status ordering_cpu_permute(md_ctx *ctx, int64_t n, const int32_t *order, size_t item_bytes,
                               const void *from, void *to)
{
#pragma omp parallel num_threads(n < ITEMS_PER_THREAD ? 1 : ctx->threads)
  {
    const int threads = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t begin = n * t / threads, end = n * (t + 1) / threads;
    switch (item_bytes) {
    case 4:
      permute_items(begin, end, order, 4, from, to);
      break;
    case 8:
      permute_items(begin, end, order, 8, from, to);
      break;
    case 12:
      permute_items(begin, end, order, 12, from, to);
      break;
    case 16:
      permute_items(begin, end, order, 16, from, to);
      break;
    case 32:
      permute_items(begin, end, order, 32, from, to);
      break;
    default:
      permute_items(begin, end, order, item_bytes, from, to);
    }
  }
  return MD_OK;
}
