/* bench/bench_cachemodel.c - cache models on one core, one CSV row a sweep and model.
 *
 * seconds: processor time of making the whole trace and simulating it, median of the repeats;
 * trace_s: of making the trace alone. */
#include "bench/bench.h"
#include "cachemodel/cachemodel.h"

enum { REPEATS = 5, BATCH = 16384 };

typedef struct {
  const char *name; /* NULL level: stack distances of all capacities */
  const cachemodel_level *level;
} model;

static const cachemodel_level lru = {512, 0, CACHEMODEL_LRU}, fifo = {512, 0, CACHEMODEL_FIFO},
                              ways = {512, 16, CACHEMODEL_LRU};
static const model models[] = {
    {"all capacities", NULL}, {"lru 512", &lru}, {"fifo 512", &fifo}, {"lru 512 16-way", &ways}};

/* Misses of a cache of 512 lines. */
static int64_t run_stack(cachemodel_trace *trace, uint32_t *line)
{
  cachemodel_stack *stack;
  int64_t misses[512];
  bench_stop(cachemodel_stack_create(md_isa_detect(), &stack));
  for (int64_t n; (n = cachemodel_trace_next(trace, BATCH, line)) > 0;)
    bench_stop(cachemodel_stack_feed(stack, n, line));
  cachemodel_stack_misses(stack, 512, misses);
  cachemodel_stack_destroy(stack);
  return misses[511];
}

static int64_t run_cache(cachemodel_trace *trace, const cachemodel_level *level, uint32_t *line)
{
  cachemodel_cache *cache;
  int64_t accesses, misses;
  bench_stop(cachemodel_cache_create(md_isa_detect(), 1, level, CACHEMODEL_INCLUSIVE, &cache));
  for (int64_t n; (n = cachemodel_trace_next(trace, BATCH, line)) > 0;)
    bench_stop(cachemodel_cache_feed(cache, n, line));
  cachemodel_cache_counts(cache, 0, &accesses, &misses);
  cachemodel_cache_destroy(cache);
  return misses;
}

static double trace_seconds(cachemodel_trace *trace, uint32_t *line)
{
  double seconds[REPEATS];
  for (int r = 0; r < REPEATS; r++) {
    cachemodel_trace_rewind(trace);
    const double began = md_cpu_seconds();
    while (cachemodel_trace_next(trace, BATCH, line) > 0)
      continue;
    seconds[r] = md_cpu_seconds() - began;
  }
  return bench_median(seconds, REPEATS);
}

static void bench_sweep(const char *order, int32_t edge, const char *stencil, int64_t cells)
{
  static uint32_t line[BATCH];
  cachemodel_sweep sweep = {.n = {edge, edge, edge}, .line = cells};
  cachemodel_trace *trace;
  bench_stop(ordering_parse(order, &sweep.order));
  bench_stop(ordering_stencil_parse(stencil, &sweep.stencil));
  bench_stop(cachemodel_trace_create(&sweep, &trace));
  const double accesses = (double)cachemodel_sweep_accesses(&sweep);
  const double making = trace_seconds(trace, line);
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    double seconds[REPEATS];
    int64_t misses = 0;
    for (int r = 0; r < REPEATS; r++) {
      cachemodel_trace_rewind(trace);
      const double began = md_cpu_seconds();
      misses = models[m].level ? run_cache(trace, models[m].level, line) : run_stack(trace, line);
      seconds[r] = md_cpu_seconds() - began;
    }
    const double median = bench_median(seconds, REPEATS);
    bench_origin(stdout, MD_CPU);
    printf("%s,%s,%d,%s,%lld,%.0f,%lld,%.6g,%.6g,%.6g\n", models[m].name, order, edge, stencil,
           (long long)cells, accesses, (long long)misses, making, median, accesses / median);
    fflush(stdout);
  }
  cachemodel_trace_destroy(trace);
}

int main(void)
{
  static const char *const orders[] = {"row", "morton", "hilbert", "random"};
  puts("date,commit,machine,model,order,size,stencil,line,accesses,misses_512,trace_s,seconds,"
       "accesses_per_s");
  for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
    bench_sweep(orders[o], 64, "block:1", 2);
    bench_sweep(orders[o], 64, "block:1", 8);
    bench_sweep(orders[o], 64, "sphere:3", 8);
    bench_sweep(orders[o], 128, "block:1", 8);
  }
  return 0;
}
