/* bench/bench_stokes.c - packings, products, solves and steps of suspensions, one CSV row a case.
 *
 * pack: seconds to pack E. coli's proteins.  product: median seconds of a product with m vectors of
 * matrices like those of [Liu] Table I (Figs. 1 and 2), in each storage, beside the model, from a
 * cold cache on the GPU; the bytes that it must move, its rate, and what share of the time those
 * bytes alone would take.  assemble: the same for making the matrix.  step: mean seconds of a time
 * step in 16 steps by each algorithm (Table VI), and mean iterations of the first solve. */
#include "bench/bench.h"
#include "core/stopwatch.h"
#include "minimd/suspension.h"
#include "stokes/run.h"

enum { REPEATS = 7, STEPS = 16 };

typedef struct {
  const char *what, *variant;
  int64_t spheres, blocks;
  int vectors;
  double iterations, seconds, model;
  double bytes, floor; /* 0: not known */
} result;

static void row(const md_ctx *ctx, const result *r)
{
  bench_origin(stdout, ctx->backend);
  printf("%s,%s,%lld,%d,%.6g,%.6g,%.6g,%lld,%.6g,%.6g,%.6g,%.3f\n", r->what, r->variant,
         (long long)r->spheres, r->vectors, r->iterations, r->seconds, r->model,
         (long long)r->blocks, r->bytes, 1e-9 * r->bytes / r->seconds, r->floor,
         r->floor / r->seconds);
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
      row(ctx, &(result){.what = "pack",
                         .variant = words[k],
                         .spheres = n,
                         .iterations = (double)report.iterations,
                         .seconds = report.seconds});
      stokes_packing_free(&packing);
    }
  stokes_radii_free(&radii);
}

static double time_product(md_ctx *ctx, const stokes_matrix *matrix, int m)
{
  const stokes_shape shape = stokes_matrix_shape(matrix);
  const size_t bytes = (size_t)shape.n_rows * 3 * (size_t)m * sizeof(double);
  md_buffer x = {0}, y = {0};
  md_stopwatch watch;
  double seconds[REPEATS + 1];
  bench_stop(md_stopwatch_create(ctx, &watch));
  bench_stop(md_buffer_reserve(ctx, &x, bytes, 0));
  bench_stop(md_buffer_reserve(ctx, &y, bytes, 0));
  bench_stop(md_fill(ctx, x.data, 0, bytes));
  for (int k = 0; k <= REPEATS; k++) {
    bench_stop(md_stopwatch_start(&watch, true));
    bench_stop(stokes_matrix_multiply(matrix, m, x.data, y.data));
    bench_stop(md_stopwatch_stop(&watch, &seconds[k]));
  }
  md_stopwatch_destroy(&watch);
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  return bench_median(seconds + 1, REPEATS);
}

static double time_assembly(const suspension *s, int m, stokes_matrix *matrix)
{
  md_stopwatch watch;
  double seconds[REPEATS + 1];
  bench_stop(md_stopwatch_create(s->ctx, &watch));
  for (int k = 0; k <= REPEATS; k++) {
    bench_stop(md_stopwatch_start(&watch, true));
    bench_stop(suspension_assemble(s, m, matrix));
    bench_stop(md_stopwatch_stop(&watch, &seconds[k]));
  }
  md_stopwatch_destroy(&watch);
  return bench_median(seconds + 1, REPEATS);
}

/* Assembly for m vectors and products with them. */
static void bench_width(const suspension *s, const char *name, stokes_storage storage,
                        const stokes_machine *machine, int m, stokes_matrix *matrix)
{
  const double assembly = time_assembly(s, m, matrix);
  const stokes_shape shape = stokes_matrix_shape(matrix);
  const double bytes = stokes_model_bytes(&shape, m, -1);
  char what[64];
  snprintf(what, sizeof what, "product %s", name);
  result r = {.what = what,
              .variant = stokes_storage_words[storage],
              .spheres = shape.n_rows,
              .blocks = shape.n_blocks,
              .vectors = m,
              .seconds = time_product(s->ctx, matrix, m),
              .model = stokes_model_time(machine, &shape, m, 0),
              .bytes = bytes,
              .floor = bytes / machine->bandwidth};
  row(s->ctx, &r);
  snprintf(what, sizeof what, "assemble %s", name);
  r.seconds = assembly;
  r.model = 0;
  r.bytes = shape.product_bytes + 4.0 * (double)stokes_pairs_view(s->pairs).n_entries;
  r.floor = r.bytes / machine->bandwidth;
  row(s->ctx, &r);
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
  stokes_machine machines[STOKES_STORAGE_COUNT];
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    bench_stop(stokes_machine_measure(ctx, (stokes_storage)storage, &machines[storage]));
  for (int k = 0; k < 3; k++) {
    const suspension_spec spec = {matrices[k].rows, matrices[k].occupancy, 1, true};
    const stokes_resistance law = {1, matrices[k].gap_cut, 1e-3};
    suspension s;
    bench_stop(suspension_open(ctx, &spec, &law, 32, &s));
    for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
      stokes_matrix *matrix;
      bench_stop(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
      for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        bench_width(&s, matrices[k].name, (stokes_storage)storage, &machines[storage], widths[w],
                    matrix);
      stokes_matrix_destroy(matrix);
    }
    suspension_close(&s);
  }
}

static void bench_steps(md_ctx *ctx, int64_t n, double occupancy, stokes_preconditioner kind)
{
  for (int algorithm = 0; algorithm < STOKES_ALGORITHM_COUNT; algorithm++) {
    const suspension_spec made = {n, occupancy, 1, true};
    stokes_packing packing;
    bench_stop(suspension_make(ctx, &made, &packing));
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
    row(ctx, &(result){.what = what,
                       .variant = stokes_algorithm_words[algorithm],
                       .spheres = packing.n,
                       .vectors = algorithm == STOKES_MRHS ? STEPS : 1,
                       .iterations = iterations,
                       .seconds = (md_wall_seconds() - began) / STEPS});
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
  printf("date,commit,machine,what,variant,spheres,vectors,iterations,seconds,model_seconds,"
         "blocks,bytes,gb_per_s,floor_seconds,fraction_of_floor\n");
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
