/* bench/study_spread.c - the sweeps of [Guo] section 4 over N and K, a CSV row a method
 * (spread_rows.h).
 *
 *   study_spread cpu|gpu methods-single|methods-double|units|groups|atomics
 *
 * methods  every method by particles, mesh, distribution, order (Figs. 7 to 9, section 4.5);
 *          rows of `auto` say which it chose for R spreadings, with that method's times; CPU: one
 *          thread
 * units    single: lanes a row, which add up by shuffles or in shared memory (Figs. 3 and 5)
 * groups   group: rows a group (Fig. 4)
 * atomics  particle, and the same with stores in place of atomic additions (Fig. 6) */
#include "bench/spread_rows.h"

static const int32_t REPEATED[] = {1, 10, 1000}; /* spreadings of one set of positions */

/* The method that auto takes for R spreadings. */
static spread_method choice(const spread_bench *bench, int32_t repeats)
{
  spread_plan *plan;
  spread_report report;
  spread_spec spec = bench->spec;
  spec.method = SPREAD_AUTO;
  spec.repeats = repeats;
  bench_stop(spread_create(bench->ctx, &spec, &plan));
  bench_stop(spread_set_positions(plan, bench->particles->n, bench->x.data, 3));
  spread_describe(plan, &report);
  spread_destroy(plan);
  return report.method;
}

static void print_choices(const machine *m, const config *c, const measured *what,
                          const spread_bench *bench, const spread_timing *timing)
{
  for (size_t k = 0; k < sizeof REPEATED / sizeof *REPEATED; k++) {
    char variant[64];
    const spread_method method = choice(bench, REPEATED[k]);
    snprintf(variant, sizeof variant, "%d %s", REPEATED[k], spread_method_words[method]);
    print_row(m, c, what, "auto", variant, &timing[method]);
  }
}

/* Meshes of one set of particles; order 0 ends the list. */
typedef struct {
  int32_t mesh, order;
} sweep;

static void run_sweeps(const machine *m, const measured *what, int64_t n, const sweep *list)
{
  spread_case particles = {0};
  for (; list->order; list++) {
    const config c = {n, list->mesh, list->order, 1, ALL, {0}, ""};
    spread_timing timing[SPREAD_METHOD_COUNT] = {0};
    spread_bench bench;
    rows_open(m, &c, what, &particles, &bench);
    rows_of(m, &c, what, &bench, timing);
    print_choices(m, &c, what, &bench, timing);
    spread_bench_close(&bench);
  }
  spread_case_free(&particles);
}

static void methods(const machine *m)
{
  static const sweep cpu[] = {{32, 6}, {64, 6}, {64, 4}, {64, 8}, {0, 0}};
  static const sweep gpu[] = {{32, 6},  {64, 6},  {128, 6}, {256, 6},
                              {128, 4}, {128, 5}, {128, 8}, {0, 0}};
  const bool on_gpu = m->ctx->backend == MD_GPU;
  for (int d = 0; d < SPREAD_CASE_COUNT; d++)
    for (int64_t n = 1000; n <= (on_gpu ? 10000000 : 100000); n *= 10) {
      const measured what = {(spread_distribution)d, false, 10000};
      run_sweeps(m, &what, n, on_gpu ? gpu : cpu);
    }
}

static const measured UNIFORM = {SPREAD_CASE_UNIFORM, false, 0};

static void units(const machine *m)
{
  char variant[32];
  for (int32_t mesh = 32; mesh <= 128; mesh *= 2)
    for (int64_t n = 1000; n <= 1000000; n *= 10)
      for (int32_t unit = 1; unit <= 16; unit *= 2)
        for (int shared = 0; shared < 2; shared++) {
          const config c = {
              n, mesh, 6, 1, SINGLE, {.compute_unit = unit, .shared_sum = shared}, variant};
          snprintf(variant, sizeof variant, "%d %s", unit, shared ? "shared" : "shuffle");
          rows_print(m, &c, &UNIFORM);
        }
}

static void groups(const machine *m)
{
  char variant[32];
  for (int64_t n = 1000; n <= 1000000; n *= 10)
    for (int32_t group = 8; group <= 512; group *= 2) {
      const config c = {n, 128, 6, 1, GROUP, {.group = group}, variant};
      snprintf(variant, sizeof variant, "%d", group);
      rows_print(m, &c, &UNIFORM);
    }
}

static void atomics(const machine *m)
{
  char variant[32];
  for (int64_t n = 1000; n <= 10000000; n *= 10)
    for (int lanes = 0; lanes < 2; lanes++)
      for (int stores = 0; stores < 2; stores++) {
        const config c = {n, 64, 6, 1, PARTICLE, {.lanes = lanes, .stores = stores}, variant};
        snprintf(variant, sizeof variant, "%s %s", lanes ? "1 lane" : "6 lanes",
                 stores ? "stores" : "atomic");
        rows_print(m, &c, &UNIFORM);
      }
}

static const struct {
  const char *word;
  void (*run)(const machine *m);
  md_precision precision;
} PARTS[] = {{"methods-single", methods, MD_SINGLE},
             {"methods-double", methods, MD_DOUBLE},
             {"units", units, MD_SINGLE},
             {"groups", groups, MD_SINGLE},
             {"atomics", atomics, MD_SINGLE}};

int main(int argc, char **argv)
{
  for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS && argc == 3; k++) {
    if (strcmp(argv[2], PARTS[k].word) != 0) continue;
    const md_backend backend = strcmp(argv[1], "gpu") == 0 ? MD_GPU : MD_CPU;
    const md_ctx_spec where = {backend, PARTS[k].precision, backend == MD_CPU, false};
    machine m;
    bench_stop(md_ctx_create(&where, &m.ctx));
    m.bandwidth = bench_bandwidth(m.ctx);
    rows_head();
    PARTS[k].run(&m);
    md_ctx_destroy(m.ctx);
    return 0;
  }
  fputs("usage: study_spread cpu|gpu methods-single|methods-double|units|groups|atomics\n", stderr);
  return 2;
}
