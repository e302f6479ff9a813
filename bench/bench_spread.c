/* bench/bench_spread.c - spreading and interpolation: building, one spreading, one interpolation,
 * one CSV row a case.
 *
 * Uniform particles.  On the GPU: the configurations of [Guo] (order 6, N = 1e3..1e7, K = 32..256)
 * by every method, compute units (Fig. 3), group sizes (Fig. 4), shuffles against shared memory
 * (Fig. 5), cuSPARSE's product with the same matrix, other orders, double precision, several
 * vectors, fixed orders of sums, both widths of pencils.  On the CPU, one thread: every method at
 * three densities, orders, vectors. build_s: spread_set_positions with memory in place; spread_s
 * and interpolate_s: median of batches after one call to warm up.  fraction_of_bytes: time in which
 * the memory moves positions, charges and mesh once, as a part of spread_s.  atomics_per_s: of
 * methods that add p^3 numbers a particle atomically.  error: relative L2 against the direct sum in
 * double. */
#include "bench/bench.h"
#include "minimd/spread_run.h"

#include <math.h>

enum { REPEATS = 27, CPU_REPEATS = 5 };
#define COMPARED 1000000 /* particles, at most, for which the direct sum is worth its time */
#define ROW_MAX 4096     /* entries a matrix row, at most */

typedef struct {
  md_ctx *ctx;
  double bandwidth;
} machine;

/* One configuration; methods are a mask of 1 << spread_method. */
typedef struct {
  int64_t n;
  int32_t mesh, order, vectors;
  unsigned methods;
  spread_tuning tuning;
  const char *variant;
} config;

static void print_row(const machine *m, const config *c, const spread_bench *bench,
                      const char *method, const spread_timing *t)
{
  const double n = (double)c->n, p = c->order;
  const bool atomic = t->report.method == SPREAD_PARTICLE && m->ctx->backend == MD_GPU;
  bench_origin(stdout, m->ctx->backend);
  printf("%s,%s,%s,%lld,%d,%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.4g,", method,
         c->variant ? c->variant : "", md_precision_words[m->ctx->precision], (long long)c->n,
         c->mesh, c->order, c->vectors, m->ctx->deterministic, t->report.per_point, t->build_s,
         t->spread_s, t->gather_s, n * c->vectors / t->spread_s,
         (double)t->report.floor_bytes / m->bandwidth / t->spread_s);
  if (atomic) printf("%.4g", n * p * p * p * c->vectors / t->spread_s);
  printf(",%lld,", (long long)t->report.bytes);
  if (bench->exact) printf("%.3g", t->error);
  putchar('\n');
  fflush(stdout);
}

static bool wanted(const machine *m, const config *c, spread_method method)
{
  const bool matrix = method == SPREAD_SINGLE || method == SPREAD_GROUP || method == SPREAD_HYBRID;
  const double row = (double)c->n * pow(c->order, 3) / pow(c->mesh, 3);
  return (c->methods >> method & 1) && spread_method_on(method, m->ctx->backend) &&
         (!m->ctx->deterministic || spread_method_ordered(method, m->ctx->backend)) &&
         !(matrix && row > ROW_MAX);
}

/* Every method of a configuration, on the same particles. */
static void bench_config(const machine *m, const config *c)
{
  spread_spec spec = {.mesh = {c->mesh, c->mesh, c->mesh},
                      .order = c->order,
                      .vectors = c->vectors,
                      .tuning = c->tuning};
  spread_case particles;
  spread_bench bench;
  for (int a = 0; a < 3; a++)
    spec.hi[a] = c->mesh;
  bench_stop(spread_case_make(&spec, m->ctx->precision, SPREAD_CASE_UNIFORM, c->n, 1, &particles));
  bench_stop(
      spread_bench_open(m->ctx, &spec, &particles, c->n <= COMPARED && c->vectors == 1, &bench));
  for (int method = 1; method < SPREAD_METHOD_COUNT; method++) {
    if (!wanted(m, c, (spread_method)method)) continue;
    spread_timing timing;
    const int repeats = m->ctx->backend == MD_GPU ? REPEATS : CPU_REPEATS;
    bench_stop(spread_bench_run(&bench, (spread_method)method, repeats, true, &timing));
    print_row(m, c, &bench, spread_method_words[method], &timing);
    if (method == SPREAD_HYBRID && spread_bench_peer(&bench, repeats, &timing) == MD_OK)
      print_row(m, c, &bench, "cusparse", &timing);
  }
  spread_bench_close(&bench);
  spread_case_free(&particles);
}

#define ALL ~0u
#define TILED (1u << SPREAD_TILED)
#define SINGLE (1u << SPREAD_SINGLE)
#define GROUP (1u << SPREAD_GROUP)
#define PARTICLE (1u << SPREAD_PARTICLE)

static void bench_list(const machine *m, const config *list, size_t count)
{
  for (size_t k = 0; k < count; k++)
    bench_config(m, &list[k]);
}
#define BENCH(m, ...)                                                                              \
  do {                                                                                             \
    static const config list_[] = {__VA_ARGS__};                                                   \
    bench_list((m), list_, sizeof list_ / sizeof *list_);                                          \
  } while (0)

static void bench_gpu_single(const machine *m)
{
  BENCH(m, {100000, 128, 6, 1, ALL, {0}, ""}, {1000000, 128, 6, 1, ALL, {0}, ""},
        {10000000, 128, 6, 1, ALL, {0}, ""}, {10000000, 256, 6, 1, TILED | PARTICLE, {0}, ""},
        {1000000, 128, 4, 1, TILED | PARTICLE, {0}, ""},
        {1000000, 128, 8, 1, TILED | PARTICLE, {0}, ""}, {1000000, 128, 6, 4, TILED, {0}, ""},
        {1000000, 128, 6, 16, TILED, {0}, ""}, {10000000, 128, 6, 16, TILED, {0}, ""});
  static const int32_t widths[] = {8, 16};
  for (int k = 0; k < 2; k++)
    for (int32_t mesh = 128; mesh <= 256; mesh *= 2)
      for (int64_t n = 300000; n <= 10000000; n = n * 10 / 3) {
        const config c = {n, mesh, 6, 1, TILED, {.width = widths[k]}, k ? "width 16" : "width 8"};
        bench_config(m, &c);
      }
  BENCH(m, {1000000, 128, 6, 1, PARTICLE, {.lanes = 1}, "lanes 1"},
        {1000000, 128, 6, 1, PARTICLE, {.sorted = true}, "sorted"},
        {100000, 256, 6, 1, PARTICLE, {.sorted = true}, "sorted"});
}

/* [Guo] Figs. 3 to 5, 8 and 9. */
static void bench_gpu_paper(const machine *m)
{
  char variant[32];
  for (int32_t mesh = 32; mesh <= 256; mesh *= 2)
    for (int64_t n = 1000; n <= 10000000; n *= 10) {
      const config c = {n, mesh, 6, 1, ALL, {0}, "paper"};
      bench_config(m, &c);
    }
  for (int64_t n = 1000; n <= 1000000; n *= 10) {
    for (int32_t unit = 1; unit <= 16; unit *= 2)
      for (int shared = 0; shared < 2; shared++) {
        config c = {n, 128, 6, 1, SINGLE, {.compute_unit = unit, .shared_sum = shared}, variant};
        snprintf(variant, sizeof variant, "unit %d%s", unit, shared ? " shared" : "");
        bench_config(m, &c);
      }
    for (int32_t group = 8; group <= 512; group *= 2) {
      config c = {n, 128, 6, 1, GROUP, {.group = group}, variant};
      snprintf(variant, sizeof variant, "group %d", group);
      bench_config(m, &c);
    }
  }
}

static void bench_cpu(const machine *m)
{
  BENCH(m, {10000, 64, 6, 1, ALL, {0}, ""}, {100000, 64, 6, 1, ALL, {0}, ""},
        {1000000, 64, 6, 1, ALL, {0}, ""}, {100000, 64, 4, 1, TILED, {0}, ""},
        {100000, 64, 8, 1, TILED, {0}, ""}, {100000, 64, 6, 16, TILED, {0}, ""});
}

static void bench_context(md_backend backend, md_precision precision, bool deterministic,
                          bool paper)
{
  const md_ctx_spec where = {backend, precision, backend == MD_CPU, deterministic};
  machine m;
  bench_stop(md_ctx_create(&where, &m.ctx));
  m.bandwidth = bench_bandwidth(m.ctx);
  if (backend == MD_CPU)
    bench_cpu(&m);
  else if (precision == MD_SINGLE && !deterministic)
    paper ? bench_gpu_paper(&m) : bench_gpu_single(&m);
  else
    BENCH(&m, {1000000, 128, 6, 1, TILED | SINGLE, {0}, ""}, {10000000, 128, 6, 1, TILED, {0}, ""});
  md_ctx_destroy(m.ctx);
}

int main(int argc, char **argv)
{
  const md_backend backend = argc > 1 && strcmp(argv[1], "gpu") == 0 ? MD_GPU : MD_CPU;
  const bool quick = argc > 2 && strcmp(argv[2], "quick") == 0;
  puts(
      "date,commit,machine,method,variant,precision,particles,mesh,order,vectors,deterministic,asm,"
      "build_s,spread_s,interpolate_s,particles_per_s,fraction_of_bytes,atomics_per_s,bytes,error");
  bench_context(backend, MD_SINGLE, false, false);
  bench_context(backend, MD_DOUBLE, false, false);
  if (backend == MD_GPU) {
    bench_context(backend, MD_SINGLE, true, false);
    bench_context(backend, MD_DOUBLE, true, false);
    if (!quick) bench_context(backend, MD_SINGLE, false, true);
  }
  return 0;
}
