/* bench/bench_forces.c - Brownian forces of suspensions, by pairs and by Chebyshev: CSV rows.
 *
 * Median seconds for m columns, the two ways measured in turn, on one thread of a CPU.  bytes: by
 * pairs, of list, spheres and forces; by Chebyshev, of its products ("iterations" of them).
 * blocks: of the matrix; by pairs the numbers of a pair are drawn once or twice, so that
 * arithmetic bounds it, not these bytes. */
#include "bench/stokes_rows.h"
#include "core/time/stopwatch.h"
#include "stokes/model/model.h"
#include "stokes/solver/solver.h"
#include "stokes/step/pair_force.h"

/* One way to make forces of m columns; *products: how many it needed. */
typedef struct {
  const suspension *spheres;
  const stokes_noise *noise;
  stokes_solver *solver;
  const double *z;
  double *f;
} force_case;

static void make_force(const force_case *c, bool pairs, int m, int *products)
{
  const stokes_pair_view list = stokes_pairs_view(c->spheres->pairs);
  stokes_outcome out = {0};
  if (pairs)
    bench_stop(stokes_pair_force(c->spheres->ctx, &c->spheres->view, &list, &c->spheres->law,
                                 c->noise, m, c->f));
  else
    bench_stop(
        stokes_solver_root(c->solver, STOKES_ROOT_CHEBYSHEV, m, c->z, c->f, 1e-3, 5000, &out));
  *products = out.iterations;
}

/* By pairs and by Chebyshev, one after the other in turn. */
static void bench_force(const force_case *c, const char *what, int m, double bandwidth,
                        const stokes_shape *shape)
{
  md_ctx *ctx = c->spheres->ctx;
  md_stopwatch watch;
  double seconds[2][REPEATS + 1];
  int products[2];
  bench_stop(md_stopwatch_create(ctx, &watch));
  for (int k = 0; k <= REPEATS; k++)
    for (int way = 0; way < 2; way++) {
      bench_stop(md_stopwatch_start(&watch, true));
      make_force(c, way == 0, m, &products[way]);
      bench_stop(md_stopwatch_stop(&watch, &seconds[way][k]));
    }
  md_stopwatch_destroy(&watch);
  const double n = (double)c->spheres->view.n;
  const double entries = (double)stokes_pairs_view(c->spheres->pairs).n_entries;
  const double bytes[2] = {4 * entries + (8 + 32 + 4 + 24.0 * m) * n,
                           products[1] * stokes_model_bytes(shape, m, -1)};
  for (int way = 0; way < 2; way++)
    row(ctx, &(result){.what = what,
                       .variant = way ? "chebyshev" : "pairs",
                       .spheres = c->spheres->view.n,
                       .blocks = shape->n_blocks,
                       .vectors = m,
                       .iterations = products[way],
                       .seconds = bench_median(seconds[way] + 1, REPEATS),
                       .bytes = bytes[way],
                       .floor = bytes[way] / bandwidth});
}

static void bench_forces(md_ctx *ctx, int64_t n, double occupancy, double gap_cut)
{
  const suspension_spec spec = {n, occupancy, 1, true};
  const stokes_resistance law = {1, gap_cut, 1e-3};
  stokes_machine machine;
  suspension s;
  stokes_matrix *matrix;
  stokes_solver *solver;
  md_buffer id = {0}, z = {0}, f = {0};
  char what[64];
  snprintf(what, sizeof what, "force occupancy %g cutoff %g", occupancy, gap_cut);
  bench_stop(stokes_machine_measure(ctx, STOKES_BCRS, &machine));
  bench_stop(suspension_open(ctx, &spec, &law, STEPS, &s));
  bench_stop(stokes_matrix_create(ctx, STOKES_BCRS, &matrix));
  bench_stop(stokes_solver_create(ctx, STOKES_PRECONDITION_NONE, &solver));
  int32_t *number = malloc((size_t)s.view.n * sizeof *number);
  if (!number) bench_stop(MD_FAIL(MD_ENOMEM, "out of memory for %lld spheres", (long long)n));
  for (int64_t i = 0; i < s.view.n; i++)
    number[i] = (int32_t)i;
  bench_stop(md_buffer_reserve(ctx, &id, (size_t)s.view.n * sizeof *number, 0));
  bench_stop(md_write(ctx, id.data, number, (size_t)s.view.n * sizeof *number));
  bench_stop(md_ctx_sync(ctx));
  free(number);
  make_vectors(ctx, (size_t)s.view.n * 3 * STEPS, &z, &f);
  const stokes_noise noise = {1, 0, id.data};
  const force_case c = {&s, &noise, solver, z.data, f.data};
  for (int m = 1; m <= STEPS; m *= STEPS) {
    bench_stop(suspension_assemble(&s, m, matrix));
    bench_stop(stokes_solver_attach(solver, matrix));
    const stokes_shape shape = stokes_matrix_shape(matrix);
    bench_force(&c, what, m, machine.bandwidth, &shape);
  }
  md_buffer *buffers[] = {&id, &z, &f};
  for (int k = 0; k < 3; k++)
    md_buffer_free(ctx, buffers[k]);
  stokes_solver_destroy(solver);
  stokes_matrix_destroy(matrix);
  suspension_close(&s);
}

int main(int argc, char **argv)
{
  int backend = MD_CPU;
  if (argc > 1) backend = md_word_index(argv[1], md_backend_words, MD_BACKEND_COUNT);
  if (argc > 2 || backend < 0) {
    fprintf(stderr, "usage: bench_forces [cpu|gpu]\n");
    return 2;
  }
  const int threads = backend == MD_CPU; /* 0: all */
  md_ctx *ctx;
  bench_stop(md_ctx_create(&(md_ctx_spec){(md_backend)backend, MD_DOUBLE, threads, true}, &ctx));
  rows_begin();
  for (int64_t n = 3000; n <= (backend == MD_GPU ? 300000 : 30000); n *= 10)
    for (int k = 0; k < 6; k++)
      bench_forces(ctx, n, 0.1 + 0.2 * (k % 3), k < 3 ? 0.5 : 2);
  md_ctx_destroy(ctx);
  return 0;
}
