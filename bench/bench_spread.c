/* bench/bench_spread.c - spreading and interpolation: building, one spreading, one interpolation,
 * one CSV row a case (spread_rows.h).
 *
 * Uniform particles.  On the GPU: every method, cuSPARSE's product with the same matrix, other
 * orders, double precision, several vectors, fixed orders of sums; the sweeps of [Guo] are those of
 * study_spread.c.  On the CPU, one thread: every method at three densities, orders, vectors. */
#include "bench/spread_rows.h"

static const measured WHAT = {SPREAD_CASE_UNIFORM, true, 1000000};

static void bench_list(const machine *m, const config *list, size_t count)
{
  for (size_t k = 0; k < count; k++)
    rows_print(m, &list[k], &WHAT);
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
  BENCH(m, {1000000, 128, 6, 1, PARTICLE, {.lanes = 1}, "lanes 1"},
        {1000000, 128, 6, 1, PARTICLE, {.sorted = true}, "sorted"},
        {100000, 256, 6, 1, PARTICLE, {.sorted = true}, "sorted"});
}

static void bench_cpu(const machine *m)
{
  BENCH(m, {10000, 64, 6, 1, ALL, {0}, ""}, {100000, 64, 6, 1, ALL, {0}, ""},
        {1000000, 64, 6, 1, ALL, {0}, ""}, {100000, 64, 4, 1, TILED, {0}, ""},
        {100000, 64, 8, 1, TILED, {0}, ""}, {100000, 64, 6, 16, TILED, {0}, ""},
        {1000000, 64, 4, 1, TILED, {0}, ""}, {1000000, 64, 8, 1, TILED, {0}, ""});
}

static void bench_context(md_backend backend, md_precision precision, bool deterministic)
{
  const md_ctx_spec where = {backend, precision, backend == MD_CPU, deterministic};
  machine m;
  bench_stop(md_ctx_create(&where, &m.ctx));
  m.bandwidth = bench_bandwidth(m.ctx);
  if (backend == MD_CPU)
    bench_cpu(&m);
  else if (precision == MD_SINGLE && !deterministic)
    bench_gpu_single(&m);
  else
    BENCH(&m, {1000000, 128, 6, 1, TILED | SINGLE, {0}, ""}, {10000000, 128, 6, 1, TILED, {0}, ""});
  md_ctx_destroy(m.ctx);
}

int main(int argc, char **argv)
{
  const md_backend backend = argc > 1 && strcmp(argv[1], "gpu") == 0 ? MD_GPU : MD_CPU;
  rows_head();
  bench_context(backend, MD_SINGLE, false);
  bench_context(backend, MD_DOUBLE, false);
  if (backend == MD_GPU) {
    bench_context(backend, MD_SINGLE, true);
    bench_context(backend, MD_DOUBLE, true);
  }
  return 0;
}
