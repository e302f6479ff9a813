/* bench/bench_stokes.c - packings, products, solves and steps of suspensions, one CSV row a case.
 *
 * pack: seconds to pack E. coli's proteins.  product: median seconds of a product with m vectors of
 * matrices like those of [Liu] Table I (Figs. 1 and 2), in each storage, beside the model.  step:
 * mean seconds of a time step in 16 steps by each algorithm (Table VI), and mean iterations of the
 * first solve.  Wall time with all threads. */
#include "bench/bench.h"
#include "minimd/suspension.h"
#include "stokes/run.h"

enum { REPEATS = 7, STEPS = 16 };

static void row(const md_ctx *ctx, const char *what, const char *variant, int64_t spheres, int m,
                double iterations, double seconds, double model)
{
  bench_origin(stdout, ctx->backend);
  printf("%s,%s,%lld,%d,%.6g,%.6g,%.6g\n", what, variant, (long long)spheres, m, iterations,
         seconds, model);
  fflush(stdout);
}

static void bench_pack(md_ctx *ctx)
{
  static const double occupancy[] = {0.1, 0.3, 0.5};
  static const char *const words[] = {"occupancy 0.1", "occupancy 0.3", "occupancy 0.5"};
  stokes_radii radii;
  bench_stop(stokes_radii_read("ecoli", &radii));
  for (int64_t n = 3000; n <= 300000; n *= 10)
    for (int k = 0; k < 3; k++) {
      const stokes_pack_spec spec = stokes_pack_defaults(n, occupancy[k]);
      stokes_packing packing;
      stokes_pack_report report;
      bench_stop(stokes_pack(ctx, &radii, &spec, &packing, &report));
      row(ctx, "pack", words[k], n, 0, report.iterations, report.seconds, 0);
      stokes_packing_free(&packing);
    }
  stokes_radii_free(&radii);
}

static double time_product(md_ctx *ctx, const stokes_matrix *matrix, int m)
{
  const stokes_shape shape = stokes_matrix_shape(matrix);
  const size_t bytes = (size_t)shape.n_rows * 3 * (size_t)m * sizeof(double);
  md_buffer x = {0}, y = {0};
  double seconds[REPEATS];
  bench_stop(md_buffer_reserve(ctx, &x, bytes, 0));
  bench_stop(md_buffer_reserve(ctx, &y, bytes, 0));
  bench_stop(md_fill(ctx, x.data, 0, bytes));
  for (int k = -1; k < REPEATS; k++) {
    const double began = md_wall_seconds();
    bench_stop(stokes_matrix_multiply(matrix, m, x.data, y.data));
    bench_stop(md_ctx_sync(ctx));
    if (k >= 0) seconds[k] = md_wall_seconds() - began;
  }
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  return bench_median(seconds, REPEATS);
}

static void bench_products(md_ctx *ctx)
{
  static const int widths[] = {1, 2, 4, 8, 16, 32};
  static const struct {
    const char *name;
    int64_t rows;
    double occupancy, gap_cut;
  } matrices[] = {
      {"mat1", 300000, 0.1, 2.02}, {"mat2", 395000, 0.5, 2.06}, {"mat3", 395000, 0.5, 3.02}};
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_machine machine;
    bench_stop(stokes_machine_measure(ctx, (stokes_storage)storage, &machine));
    for (int k = 0; k < 3; k++) {
      const suspension_spec spec = {matrices[k].rows, matrices[k].occupancy, 1, true};
      const stokes_resistance law = {1, matrices[k].gap_cut, 1e-3};
      char what[64];
      stokes_matrix *matrix;
      bench_stop(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
      bench_stop(suspension_matrix(ctx, &spec, &law, 32, matrix));
      const stokes_shape shape = stokes_matrix_shape(matrix);
      snprintf(what, sizeof what, "product %s", matrices[k].name);
      for (int w = 0; w < 6; w++)
        row(ctx, what, stokes_storage_words[storage], shape.n_rows, widths[w], 0,
            time_product(ctx, matrix, widths[w]),
            stokes_model_time(&machine, &shape, widths[w], 0));
      stokes_matrix_destroy(matrix);
    }
  }
}

static void bench_steps(md_ctx *ctx, int64_t n, double occupancy, stokes_preconditioner kind)
{
  for (int algorithm = 0; algorithm < STOKES_ALGORITHM_COUNT; algorithm++) {
    const suspension_spec suspension = {n, occupancy, 1, true};
    stokes_packing packing;
    bench_stop(suspension_make(ctx, &suspension, &packing));
    stokes_run_spec spec = stokes_run_defaults();
    spec.algorithm = (stokes_algorithm)algorithm;
    spec.preconditioner = kind;
    spec.vectors = STEPS;
    spec.law.gap_cut = 2;
    stokes_run *run;
    double iterations = 0;
    char what[64];
    bench_stop(stokes_run_create(ctx, &spec, &packing, &run));
    const double began = md_wall_seconds();
    for (int k = 0; k < STEPS; k++) {
      stokes_step step;
      bench_stop(stokes_run_step(run, &step));
      if (k > 0) iterations += step.iterations_first / (STEPS - 1.0);
    }
    snprintf(what, sizeof what, "step %s occupancy %g", stokes_preconditioner_words[kind],
             occupancy);
    row(ctx, what, stokes_algorithm_words[algorithm], packing.n,
        algorithm == STOKES_MRHS ? STEPS : 1, iterations, (md_wall_seconds() - began) / STEPS, 0);
    stokes_run_destroy(run);
    stokes_packing_free(&packing);
  }
}

int main(int argc, char **argv)
{
  int backend = MD_CPU;
  if (argc > 1) backend = md_word_index(argv[1], md_backend_words, MD_BACKEND_COUNT);
  if (argc > 2 || backend < 0) {
    fprintf(stderr, "usage: bench_stokes [cpu|gpu]\n");
    return 2;
  }
  md_ctx *ctx;
  bench_stop(md_ctx_create(&(md_ctx_spec){(md_backend)backend, MD_DOUBLE, 0, true}, &ctx));
  printf("date,commit,machine,what,variant,spheres,vectors,iterations,seconds,model_seconds\n");
  bench_products(ctx);
  if (backend == MD_CPU) {
    bench_pack(ctx);
    for (int64_t n = 3000; n <= 30000; n *= 10)
      bench_steps(ctx, n, 0.5, STOKES_PRECONDITION_NONE);
    for (int k = 0; k < 3; k++)
      bench_steps(ctx, 30000, 0.1 + 0.2 * k, STOKES_PRECONDITION_JACOBI);
  }
  md_ctx_destroy(ctx);
  return 0;
}
