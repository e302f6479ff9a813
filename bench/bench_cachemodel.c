/* bench/bench_cachemodel.c - cache models on one core, one CSV row a sweep and model.
 *
 * seconds: processor time of making the whole trace and simulating it, median of the rounds;
 * trace_s: of making the trace alone.  A round takes all sweeps and models, one after the other:
 * seconds in which the processor is slower spoil one round of several cases, not all of one. */
#include "bench/bench.h"
#include "cachemodel/cachemodel.h"

enum { ROUNDS = 5, BATCH = 16384 };

typedef struct {
  const char *name; /* NULL level: stack distances of all capacities */
  const cachemodel_level *level;
} model;

static const cachemodel_level lru = {512, 0, CACHEMODEL_LRU}, fifo = {512, 0, CACHEMODEL_FIFO},
                              ways = {512, 16, CACHEMODEL_LRU};
static const model models[] = {
    {"all capacities", NULL}, {"lru 512", &lru}, {"fifo 512", &fifo}, {"lru 512 16-way", &ways}};
enum { MODELS = sizeof models / sizeof *models };

typedef struct {
  int32_t edge;
  const char *stencil;
  int64_t line; /* cells in one */
} shape;

static const char *const orders[] = {"row", "morton", "hilbert", "random"};
static const shape shapes[] = {
    {64, "block:1", 2}, {64, "block:1", 8}, {64, "sphere:3", 8}, {128, "block:1", 8}};
enum { ORDERS = sizeof orders / sizeof *orders, SHAPES = sizeof shapes / sizeof *shapes };

/* Of a sweep: seconds by round of each model, and of the trace alone. */
typedef struct {
  double accesses, seconds[MODELS + 1][ROUNDS];
  int64_t misses[MODELS];
} timing;

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

static void make_trace(cachemodel_trace *trace, uint32_t *line)
{
  while (cachemodel_trace_next(trace, BATCH, line) > 0)
    continue;
}

static void take_round(const char *order, const shape *c, int round, timing *t)
{
  static uint32_t line[BATCH];
  cachemodel_sweep sweep = {.n = {c->edge, c->edge, c->edge}, .line = c->line};
  cachemodel_trace *trace;
  bench_stop(ordering_parse(order, &sweep.order));
  bench_stop(ordering_stencil_parse(c->stencil, &sweep.stencil));
  bench_stop(cachemodel_trace_create(&sweep, &trace));
  t->accesses = (double)cachemodel_sweep_accesses(&sweep);
  for (int m = 0; m <= MODELS; m++) {
    cachemodel_trace_rewind(trace);
    const double began = md_cpu_seconds();
    if (m == MODELS)
      make_trace(trace, line);
    else
      t->misses[m] =
          models[m].level ? run_cache(trace, models[m].level, line) : run_stack(trace, line);
    t->seconds[m][round] = md_cpu_seconds() - began;
  }
  cachemodel_trace_destroy(trace);
}

static void print_rows(const char *order, const shape *c, timing *t)
{
  const double making = bench_median(t->seconds[MODELS], ROUNDS);
  for (int m = 0; m < MODELS; m++) {
    const double seconds = bench_median(t->seconds[m], ROUNDS);
    bench_origin(stdout, MD_CPU);
    printf("%s,%s,%d,%s,%lld,%.0f,%lld,%.6g,%.6g,%.6g\n", models[m].name, order, c->edge,
           c->stencil, (long long)c->line, t->accesses, (long long)t->misses[m], making, seconds,
           t->accesses / seconds);
  }
}

int main(void)
{
  static timing timings[ORDERS][SHAPES];
  for (int round = 0; round < ROUNDS; round++)
    for (int o = 0; o < ORDERS; o++)
      for (int s = 0; s < SHAPES; s++)
        take_round(orders[o], &shapes[s], round, &timings[o][s]);
  puts("date,commit,machine,model,order,size,stencil,line,accesses,misses_512,trace_s,seconds,"
       "accesses_per_s");
  for (int o = 0; o < ORDERS; o++)
    for (int s = 0; s < SHAPES; s++)
      print_rows(orders[o], &shapes[s], &timings[o][s]);
  return 0;
}
