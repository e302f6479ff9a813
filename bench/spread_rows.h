/* bench/spread_rows.h - one configuration of spreading, a CSV row for each method.
 *
 * build_s: spread_set_positions with memory in place, the median of several unless it is long.
 * spread_s and interpolate_s (empty: not timed): median of batches after one call to warm up.
 * fraction_of_bytes: time in which the memory moves positions, charges and mesh once, as a part of
 * spread_s.  atomics_per_s: of methods that add p^3 numbers a particle atomically.  error: relative
 * L2 against the direct sum in double. */
#ifndef SPREAD_ROWS_H
#define SPREAD_ROWS_H

#include "bench/bench.h"
#include "minimd/spread/spread_run.h"

#include <math.h>

enum { REPEATS = 27, FEW_REPEATS = 5 };
#define ROW_MAX 4096  /* entries a matrix row, at most */
#define LONG_ROWS 1e9 /* entries of a matrix for which few repeats are enough */

#define ALL ~0u
#define TILED (1u << SPREAD_TILED)
#define SINGLE (1u << SPREAD_SINGLE)
#define GROUP (1u << SPREAD_GROUP)
#define PARTICLE (1u << SPREAD_PARTICLE)

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

/* What is measured in a configuration: interpolation too, if wanted. */
typedef struct {
  spread_distribution distribution;
  bool interpolate;
  int64_t compared; /* particles, at most, for which the direct sum is worth its time */
} measured;

static inline void rows_head(void)
{
  puts("date,commit,machine,method,variant,distribution,precision,particles,mesh,order,vectors,"
       "deterministic,asm,build_s,spread_s,interpolate_s,particles_per_s,fraction_of_bytes,"
       "atomics_per_s,bytes,error");
}

static inline void print_row(const machine *m, const config *c, const measured *what,
                             const char *method, const char *variant, const spread_timing *t)
{
  const double n = (double)c->n, p = c->order;
  const bool atomic = t->report.method == SPREAD_PARTICLE && m->ctx->backend == MD_GPU;
  bench_origin(stdout, m->ctx->backend);
  printf("%s,%s,%s,%s,%lld,%d,%d,%d,%d,%.6g,%.6g,%.6g,", method, variant ? variant : "",
         spread_distribution_words[what->distribution], md_precision_words[m->ctx->precision],
         (long long)c->n, c->mesh, c->order, c->vectors, m->ctx->deterministic, t->report.per_point,
         t->build_s, t->spread_s);
  if (t->gather_s > 0) printf("%.6g", t->gather_s);
  printf(",%.6g,%.4g,", n * c->vectors / t->spread_s,
         (double)t->report.floor_bytes / m->bandwidth / t->spread_s);
  if (atomic) printf("%.4g", n * p * p * p * c->vectors / t->spread_s);
  printf(",%lld,", (long long)t->report.bytes);
  if (!isnan(t->error)) printf("%.3g", t->error);
  putchar('\n');
  fflush(stdout);
}

static inline bool wanted(const machine *m, const config *c, spread_method method)
{
  const bool matrix = method == SPREAD_SINGLE || method == SPREAD_GROUP || method == SPREAD_HYBRID;
  const double row = (double)c->n * pow(c->order, 3) / pow(c->mesh, 3);
  return (c->methods >> method & 1) && spread_method_on(method, m->ctx->backend) &&
         (!m->ctx->deterministic || spread_method_ordered(method, m->ctx->backend)) &&
         !(matrix && row > ROW_MAX);
}

/* Every method of a configuration that fits the memory, on the same particles; timing[method] for
 * those that ran, 0 elsewhere, unless NULL. */
static inline void rows_of(const machine *m, const config *c, const measured *what,
                           spread_bench *bench, spread_timing *timing)
{
  const bool slow = m->ctx->backend == MD_CPU || (double)c->n * pow(c->order, 3) > LONG_ROWS;
  const int repeats = slow ? FEW_REPEATS : REPEATS;
  bench->spec.tuning = c->tuning;
  for (int method = 1; method < SPREAD_METHOD_COUNT; method++) {
    spread_timing t;
    if (!wanted(m, c, (spread_method)method)) continue;
    const md_status status =
        spread_bench_run(bench, (spread_method)method, repeats, what->interpolate, &t);
    if (status == MD_ENOMEM) { /* padded rows of crowded meshes */
      fprintf(stderr, "bench: %s left out: %s\n", spread_method_words[method], md_message());
      continue;
    }
    bench_stop(status);
    print_row(m, c, what, spread_method_words[method], c->variant, &t);
    if (timing) timing[method] = t;
    if (method == SPREAD_HYBRID && spread_bench_peer(bench, repeats, &t) == MD_OK)
      print_row(m, c, what, "cusparse", c->variant, &t);
  }
}

/* Particles of a configuration on the backend, in a box of edge 1. */
static inline void rows_open(const machine *m, const config *c, const measured *what,
                             spread_case *particles, spread_bench *bench)
{
  spread_spec spec = {
      .mesh = {c->mesh, c->mesh, c->mesh}, .order = c->order, .vectors = c->vectors};
  for (int a = 0; a < 3; a++)
    spec.hi[a] = 1;
  if (!particles->x)
    bench_stop(spread_case_make(&spec, m->ctx->precision, m->ctx->threads, what->distribution, c->n,
                                1, particles));
  bench_stop(spread_bench_open(m->ctx, &spec, particles, c->n <= what->compared && c->vectors == 1,
                               bench));
}

/* The whole of a configuration. */
static inline void rows_print(const machine *m, const config *c, const measured *what)
{
  spread_case particles = {0};
  spread_bench bench;
  rows_open(m, c, what, &particles, &bench);
  rows_of(m, c, what, &bench, NULL);
  spread_bench_close(&bench);
  spread_case_free(&particles);
}

#endif
