/* bench/bench_stokes.c - packings, products, solves and steps of suspensions, one CSV row a case.
 *
 * pack: seconds to pack E. coli's proteins, and sweeps of the walk.  product: median seconds of a
 * product with m vectors of matrices like those of [Liu] Table I (Figs. 1 and 2), in each storage,
 * beside the model, from a cold cache on the GPU; the bytes that it must move, its rate, and what
 * share of the time those bytes alone would take; beside the best call of cuSPARSE on the GPU.
 * assemble: the same for making the matrix.  step: mean seconds of a time step in 16 steps by each
 * algorithm (Table VI) after as many to warm up, and mean iterations of the first solve.  memory:
 * bytes that these steps held at most, and those of the matrix with the vectors that the method
 * names: the spheres' forces and velocities, solutions, residuals, directions, products; and of
 * the matrix with the vectors of one product.  list (on a GPU): median seconds to make the pair
 * list of 1e6 spheres on a distorted lattice, sorted along a curve, in no order, of ten radii;
 * bytes: those of spheres and list.  assemble lattice: the matrix from that list. */
#include "bench/lattice.h"
#include "bench/stokes_rows.h"
#ifdef MD_HAVE_CUDA
#include "bench/cusparse.h"
#endif
#include "core/time/stopwatch.h"
#include "stokes/step/run.h"

#include <math.h>

static void bench_pack(md_ctx *ctx)
{
  static const double occupancy[] = {0.1, 0.3, 0.5};
  static const char *const words[] = {"occupancy 0.1", "occupancy 0.3", "occupancy 0.5"};
  stokes_radii radii;
  bench_stop(stokes_radii_read("ecoli", &radii));
  for (int64_t n = 3000; n <= 30000; n *= 10)
    for (int k = 0; k < 3; k++) {
      const stokes_pack_spec spec = stokes_pack_defaults(n, occupancy[k]);
      stokes_packing packing;
      stokes_pack_report report;
      bench_stop(stokes_pack(ctx, &radii, &spec, &packing, &report));
      row(ctx, &(result){.what = "pack",
                         .variant = words[k],
                         .spheres = n,
                         .iterations = (double)report.sweeps,
                         .seconds = report.seconds});
      stokes_packing_free(&packing);
    }
  stokes_radii_free(&radii);
}

static double time_product(md_ctx *ctx, const stokes_matrix *matrix, int m, const double *x,
                           double *y)
{
  md_stopwatch watch;
  double seconds[REPEATS + 1];
  bench_stop(md_stopwatch_create(ctx, &watch));
  for (int k = 0; k <= REPEATS; k++) {
    bench_stop(md_stopwatch_start(&watch, true));
    bench_stop(stokes_matrix_multiply(matrix, m, x, y));
    bench_stop(md_stopwatch_stop(&watch, &seconds[k]));
  }
  md_stopwatch_destroy(&watch);
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

/* A matrix in one storage, and cuSPARSE's where it can be had. */
typedef struct {
  const suspension *spheres;
  const char *name;
  stokes_storage storage;
  stokes_machine machine;
  stokes_matrix *matrix;
  struct cusparse_peer *peer;
} product_case;

#ifdef MD_HAVE_CUDA
static void make_peer(product_case *c)
{
  md_ctx *ctx = c->spheres->ctx;
  if (ctx->backend != MD_GPU || c->storage != STOKES_BCRS) return;
  bench_stop(suspension_assemble(c->spheres, 1, c->matrix));
  if (cusparse_peer_create(ctx, c->matrix, &c->peer)) fprintf(stderr, "%s\n", md_message());
}

static void bench_peer(const product_case *c, result r, const double *x, const double *y)
{
  cusparse_best best;
  if (!c->peer) return;
  bench_stop(cusparse_peer_measure(c->peer, r.vectors, x, y, &best));
  if (!(best.error < 1e-12)) bench_stop(MD_FAIL(MD_ENUMERIC, "%s: %g", best.call, best.error));
  r.variant = best.call;
  r.seconds = best.seconds;
  r.model = 0;
  row(c->spheres->ctx, &r);
}
#endif

/* Assembly for m vectors and products with them. */
static void bench_width(const product_case *c, int m)
{
  md_ctx *ctx = c->spheres->ctx;
  md_buffer x = {0}, y = {0};
  const double assembly = time_assembly(c->spheres, m, c->matrix);
  const stokes_shape shape = stokes_matrix_shape(c->matrix);
  const double bytes = stokes_model_bytes(&shape, m, -1);
  char what[64];
  make_vectors(ctx, (size_t)shape.n_rows * 3 * (size_t)m, &x, &y);
  snprintf(what, sizeof what, "product %s", c->name);
  result r = {.what = what,
              .variant = stokes_storage_words[c->storage],
              .spheres = shape.n_rows,
              .blocks = shape.n_blocks,
              .vectors = m,
              .seconds = time_product(ctx, c->matrix, m, x.data, y.data),
              .model = stokes_model_time(&c->machine, &shape, m, 0),
              .bytes = bytes,
              .floor = bytes / c->machine.bandwidth};
  row(ctx, &r);
#ifdef MD_HAVE_CUDA
  bench_peer(c, r, x.data, y.data);
#endif
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  snprintf(what, sizeof what, "assemble %s", c->name);
  r.seconds = assembly;
  r.model = 0;
  r.bytes = shape.product_bytes + 4.0 * (double)stokes_pairs_view(c->spheres->pairs).n_entries;
  r.floor = r.bytes / c->machine.bandwidth;
  row(ctx, &r);
}

static void bench_products(md_ctx *ctx)
{
  static const int widths[] = {1, 2, 4, 8, 16, 32};
  stokes_machine machines[STOKES_STORAGE_COUNT];
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    bench_stop(stokes_machine_measure(ctx, (stokes_storage)storage, &machines[storage]));
  for (int k = 0; k < SUSPENSION_MATRICES; k++) {
    const suspension_matrix *matrix = &suspension_matrices[k];
    const suspension_spec spec = {matrix->rows, matrix->occupancy, 1, true};
    const stokes_resistance law = {1, matrix->gap_cut, 1e-3};
    suspension s;
    bench_stop(suspension_open(ctx, &spec, &law, 32, &s));
    for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
      product_case c = {.spheres = &s,
                        .name = matrix->name,
                        .storage = (stokes_storage)storage,
                        .machine = machines[storage]};
      bench_stop(stokes_matrix_create(ctx, c.storage, &c.matrix));
#ifdef MD_HAVE_CUDA
      make_peer(&c);
#endif
      for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        bench_width(&c, widths[w]);
#ifdef MD_HAVE_CUDA
      cusparse_peer_destroy(c.peer);
#endif
      stokes_matrix_destroy(c.matrix);
    }
    suspension_close(&s);
  }
}

/* What a run held beside what it needs at least: `held` bytes; r says what was done. */
static void bench_memory(md_ctx *ctx, stokes_run *run, const stokes_run_spec *spec, double held,
                         result r)
{
  stokes_counts counts;
  stokes_shape shape;
  char variant[128];
  bench_stop(stokes_run_probe(run, &counts, &shape));
  const bool mrhs = spec->algorithm == STOKES_MRHS;
  const bool solves = !mrhs || spec->guess == STOKES_GUESS_SOLVE;
  const double column = 24.0 * (double)shape.n_rows;
  /* Forces, solutions, residuals, directions, products, preconditioned residuals; or the numbers,
   * and their series with two vectors in single precision.  Besides them those of a step. */
  const double wide = !solves ? 2.5 : spec->preconditioner == STOKES_PRECONDITION_NONE ? 5 : 6;
  const double vectors = (wide * r.vectors + (!mrhs ? 1 : solves ? 2 : 3)) * column;
  const struct {
    const char *words;
    double bytes;
  } rows[] = {{"held", held},
              {"matrix and vectors of the method", shape.product_bytes + vectors},
              {"matrix and vectors of a product", shape.product_bytes + 2 * r.vectors * column}};
  const char *kind = r.variant;
  r.iterations = r.seconds = 0;
  r.blocks = shape.n_blocks;
  r.variant = variant;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    snprintf(variant, sizeof variant, "%s: %s", kind, rows[k].words);
    r.bytes = rows[k].bytes;
    row(ctx, &r);
  }
}

/* Two groups of steps, the first to warm up; *what and *variant say what was done. */
static void bench_run(md_ctx *ctx, const stokes_packing *packing, const stokes_run_spec *spec,
                      double occupancy)
{
  stokes_run *run;
  const int64_t before = ctx->bytes_allocated;
  double iterations = 0, began = 0, held = 0;
  char done[128], what[144], variant[64];
  bench_stop(stokes_run_create(ctx, spec, packing, &run));
  for (int k = 0; k < 2 * STEPS; k++) {
    stokes_step step;
    if (k == STEPS) began = md_wall_seconds();
    bench_stop(stokes_run_step(run, &step));
    held = fmax(held, (double)(ctx->bytes_allocated - before));
    if (k > STEPS) iterations += step.iterations_first / (STEPS - 1.0);
  }
  const double seconds = (md_wall_seconds() - began) / STEPS;
  const bool mrhs = spec->algorithm == STOKES_MRHS;
  snprintf(done, sizeof done, " occupancy %g cutoff %g %s %s", occupancy, spec->law.gap_cut,
           stokes_preconditioner_words[spec->preconditioner], stokes_storage_words[spec->storage]);
  snprintf(what, sizeof what, "step%s", done);
  snprintf(variant, sizeof variant, "%s%s%s %s", stokes_algorithm_words[spec->algorithm],
           mrhs ? " " : "", mrhs ? stokes_guess_words[spec->guess] : "",
           stokes_force_words[spec->force]);
  result r = {.what = what,
              .variant = variant,
              .spheres = packing->n,
              .vectors = mrhs ? spec->vectors : 1,
              .iterations = iterations,
              .seconds = seconds};
  row(ctx, &r);
  snprintf(what, sizeof what, "memory%s", done);
  bench_memory(ctx, run, spec, held, r);
  stokes_run_destroy(run);
}

/* Algorithms 1 and 2 with forces by pairs and by Chebyshev, and Algorithm 2 with guesses from a
 * series. */
static void bench_steps(md_ctx *ctx, int64_t n, double occupancy, stokes_preconditioner kind,
                        stokes_storage storage, double gap_cut)
{
  static const struct {
    stokes_algorithm algorithm;
    stokes_guess guess;
    stokes_force force;
  } ways[] = {{STOKES_ORIGINAL, STOKES_GUESS_SOLVE, STOKES_FORCE_PAIRS},
              {STOKES_ORIGINAL, STOKES_GUESS_SOLVE, STOKES_FORCE_CHEBYSHEV},
              {STOKES_MRHS, STOKES_GUESS_SOLVE, STOKES_FORCE_PAIRS},
              {STOKES_MRHS, STOKES_GUESS_SOLVE, STOKES_FORCE_CHEBYSHEV},
              {STOKES_MRHS, STOKES_GUESS_SERIES, STOKES_FORCE_CHEBYSHEV}};
  const suspension_spec made = {n, occupancy, 1, true};
  stokes_packing packing;
  md_ctx *host;
  bench_stop(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, ctx->threads, true}, &host));
  bench_stop(suspension_make(host, &made, &packing));
  md_ctx_destroy(host);
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    stokes_run_spec spec = stokes_run_defaults();
    spec.algorithm = ways[k].algorithm;
    spec.guess = ways[k].guess;
    spec.force = ways[k].force;
    spec.preconditioner = kind;
    spec.storage = storage;
    spec.vectors = STEPS;
    spec.law.gap_cut = gap_cut;
    bench_run(ctx, &packing, &spec, occupancy);
  }
  stokes_packing_free(&packing);
}

static void bench_suspensions(md_ctx *ctx)
{
  const bool gpu = ctx->backend == MD_GPU;
  bench_products(ctx);
  if (!gpu) bench_pack(ctx);
  for (int64_t n = gpu ? 30000 : 3000; n <= (gpu ? 300000 : 30000); n *= 10)
    for (int k = 0; k < 3; k++)
      bench_steps(ctx, n, 0.1 + 0.2 * k, STOKES_PRECONDITION_JACOBI, STOKES_PAIR, 0.5);
  const int64_t n = gpu ? 300000 : 30000;
  bench_steps(ctx, n, 0.5, STOKES_PRECONDITION_JACOBI, STOKES_PAIR, 2);
  bench_steps(ctx, n, 0.5, STOKES_PRECONDITION_NONE, STOKES_BCRS, 2);
}

/* The first times the list makes room for itself. */
static double time_list(suspension *s)
{
  md_stopwatch watch;
  double seconds[REPEATS + 2];
  bench_stop(md_stopwatch_create(s->ctx, &watch));
  for (int k = 0; k < REPEATS + 2; k++) {
    bench_stop(md_stopwatch_start(&watch, true));
    bench_stop(stokes_pairs_update(s->pairs, &s->view, INFINITY));
    bench_stop(md_stopwatch_stop(&watch, &seconds[k]));
  }
  md_stopwatch_destroy(&watch);
  return bench_median(seconds + 2, REPEATS);
}

/* Pair and single storage for several vectors, from the list. */
static void bench_lattice(const suspension *s, double bandwidth, const char *variant)
{
  for (int storage = STOKES_SINGLE; storage <= STOKES_PAIR; storage++) {
    stokes_matrix *matrix;
    char words[96];
    bench_stop(stokes_matrix_create(s->ctx, (stokes_storage)storage, &matrix));
    const double seconds = time_assembly(s, 8, matrix);
    const stokes_shape shape = stokes_matrix_shape(matrix);
    const double bytes = shape.product_bytes + 4.0 * (double)stokes_pairs_view(s->pairs).n_entries;
    snprintf(words, sizeof words, "%s %s", variant, stokes_storage_words[storage]);
    row(s->ctx, &(result){.what = "assemble lattice",
                          .variant = words,
                          .spheres = s->view.n,
                          .vectors = 8,
                          .seconds = seconds,
                          .blocks = shape.n_blocks,
                          .bytes = bytes,
                          .floor = bytes / bandwidth});
    stokes_matrix_destroy(matrix);
  }
}

static void bench_lists(md_ctx *ctx)
{
  static const struct {
    const char *words;
    double reach, spread; /* reach: of the smallest, in steps of the lattice */
    bool sorted;
  } cases[] = {{"sorted", 2, 1, true},
               {"sorted", 2.8, 1, true},
               {"sorted", 3.75, 1, true},
               {"no order", 2.8, 1, false},
               {"ten radii", 1.5, 2, true}};
  const double bandwidth = bench_bandwidth(ctx);
  md_ctx *host;
  bench_stop(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 0, false}, &host));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    stokes_packing p = lattice_make(host, cases[k].spread, cases[k].sorted);
    const size_t bytes = (size_t)p.n * 4 * sizeof(double);
    const double scale = cases[k].reach * LATTICE_STEP / 2;
    suspension s = {.ctx = ctx, .law = {1, 2 * (scale - 1), 1e-3}};
    bench_stop(md_buffer_reserve(ctx, &s.x, bytes, 0));
    bench_stop(md_write(ctx, s.x.data, p.x, bytes));
    s.view = (stokes_view){p.n, {p.box[0], p.box[1], p.box[2]}, s.x.data};
    bench_stop(stokes_pairs_create(ctx, scale, 0, &s.pairs));
    const double seconds = time_list(&s);
    const int64_t entries = stokes_pairs_view(s.pairs).n_entries;
    const double moved = 32.0 * (double)p.n + 4.0 * (double)entries;
    row(ctx, &(result){.what = "list",
                       .variant = cases[k].words,
                       .spheres = p.n,
                       .seconds = seconds,
                       .blocks = entries,
                       .bytes = moved,
                       .floor = moved / bandwidth});
    if (cases[k].sorted && entries < 150 * p.n) bench_lattice(&s, bandwidth, cases[k].words);
    suspension_close(&s);
    stokes_packing_free(&p);
  }
  md_ctx_destroy(host);
}

int main(int argc, char **argv)
{
  int backend = MD_CPU;
  if (argc > 1) backend = md_word_index(argv[1], md_backend_words, MD_BACKEND_COUNT);
  const bool lists = argc == 3 && strcmp(argv[2], "lists") == 0;
  if (argc > 3 || (argc == 3 && !lists) || backend < 0) {
    fprintf(stderr, "usage: bench_stokes [cpu|gpu] [lists]\n");
    return 2;
  }
  md_ctx *ctx;
  bench_stop(md_ctx_create(&(md_ctx_spec){(md_backend)backend, MD_DOUBLE, 0, true}, &ctx));
  rows_begin();
  const bool gpu = backend == MD_GPU;
  if (gpu || lists) bench_lists(ctx);
  if (!lists) bench_suspensions(ctx);
  md_ctx_destroy(ctx);
  return 0;
}
