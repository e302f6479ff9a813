/* bench/bench_ordering.c - keys, index tables and the sort on one core, one CSV row a case.
 *
 * Keys: 2^16 random cells of a cube, from arrays that stay in the second-level cache.  Index
 * tables: all cells of a cube, one that is a power of two and one that is not.  Sort: random keys
 * below n, with the bounds of each key.  seconds: processor time, median of the repeats after one
 * to warm up; rate: items per second. */
#include "bench/bench.h"
#include "ordering/ordering.h"

enum { REPEATS = 15, KEYS = 1 << 16 };

static uint64_t seed = 1;

static uint32_t random_below(uint32_t end)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((seed >> 32) * end >> 32);
}

typedef void work_fn(void *data);

/* Time a piece of work and print its row. */
static void row(const char *what, const char *variant, int64_t size, int64_t items, work_fn *work,
                void *data)
{
  double seconds[REPEATS];
  work(data);
  for (int r = 0; r < REPEATS; r++) {
    const double began = md_cpu_seconds();
    work(data);
    seconds[r] = md_cpu_seconds() - began;
  }
  const double median = bench_median(seconds, REPEATS);
  bench_origin(stdout, MD_CPU);
  printf("%s,%s,%lld,%lld,%.6g,%.6g\n", what, variant, (long long)size, (long long)items, median,
         (double)items / median);
  fflush(stdout);
}

typedef struct {
  md_ctx ctx;
  ordering_kind kind;
  int levels;
  int32_t *i, *j, *k;
  uint64_t *key;
} key_work;

static void make_keys(void *data)
{
  const key_work *w = data;
  bench_stop(ordering_keys(&w->ctx, w->kind, w->levels, KEYS, w->i, w->j, w->k, w->key));
}

static void bench_keys(md_ctx *ctx)
{
  static int32_t cell[3][KEYS];
  static uint64_t key[KEYS];
  key_work w = {*ctx, ORDERING_MORTON, 0, cell[0], cell[1], cell[2], key};
  for (w.levels = 10; w.levels <= 20; w.levels += 10) {
    for (int c = 0; c < 3 * KEYS; c++)
      cell[c / KEYS][c % KEYS] = (int32_t)random_below(1u << w.levels);
    for (w.ctx.isa = MD_PORTABLE; w.ctx.isa <= ctx->isa; w.ctx.isa++)
      for (int h = 0; h < 2; h++) {
        char what[64];
        w.kind = h ? ORDERING_HILBERT : ORDERING_MORTON;
        snprintf(what, sizeof what, "keys %s", ordering_words[w.kind]);
        row(what, md_isa_words[w.ctx.isa], INT64_C(1) << w.levels, KEYS, make_keys, &w);
      }
  }
}

typedef struct {
  md_ctx *ctx;
  ordering order;
  int32_t n[3];
  uint32_t *index;
} table_work;

static void make_table(void *data)
{
  const table_work *w = data;
  bench_stop(ordering_index(w->ctx, &w->order, w->n, w->index));
}

static void bench_tables(md_ctx *ctx)
{
  static const char *const names[] = {"row",     "morton", "hilbert", "hybrid:hilbert/row:4",
                                      "gilbert", "random"};
  static const int32_t edges[] = {64, 92};
  static uint32_t index[92 * 92 * 92];
  for (int e = 0; e < 2; e++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      table_work w = {ctx, {0}, {edges[e], edges[e], edges[e]}, index};
      bench_stop(ordering_parse(names[k], &w.order));
      row("index table", names[k], edges[e], (int64_t)edges[e] * edges[e] * edges[e], make_table,
          &w);
    }
}

typedef struct {
  ordering_sorter *sorter;
  int64_t n;
  uint32_t *keys;
  int32_t *order, *start;
} sort_work;

static void make_sort(void *data)
{
  const sort_work *w = data;
  bench_stop(ordering_sort(w->sorter, w->n, w->keys, (uint32_t)w->n, w->order, w->start));
}

static void bench_sorts(md_ctx *ctx)
{
  static const int64_t sizes[] = {100000, 131072, 1000000, 10000000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const size_t n = (size_t)sizes[s];
    sort_work w = {.n = sizes[s]};
    w.keys = malloc(n * sizeof *w.keys);
    w.order = malloc(n * sizeof *w.order);
    w.start = malloc((n + 1) * sizeof *w.start);
    bench_stop(ordering_sorter_create(ctx, &w.sorter));
    if (!w.keys || !w.order || !w.start)
      bench_stop(MD_FAIL(MD_ENOMEM, "out of memory for %zu keys", n));
    for (size_t k = 0; k < n; k++)
      w.keys[k] = random_below((uint32_t)n);
    row("sort", "random keys", w.n, w.n, make_sort, &w);
    ordering_sorter_destroy(w.sorter);
    free(w.keys);
    free(w.order);
    free(w.start);
  }
}

int main(void)
{
  md_ctx *ctx;
  const md_ctx_spec spec = {.backend = MD_CPU, .precision = MD_DOUBLE, .threads = 1};
  bench_stop(md_ctx_create(&spec, &ctx));
  puts("date,commit,machine,what,variant,size,items,seconds,items_per_s");
  bench_keys(ctx);
  bench_tables(ctx);
  bench_sorts(ctx);
  md_ctx_destroy(ctx);
  return 0;
}
