/* tests/spread/check_spread_rows.c - charges and values by particle are those by vector. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* to [n][vectors][size] = from [vectors][n][size], or back. */
static void turn(int64_t n, int vectors, int size, bool back, const double *from, double *to)
{
  for (int64_t i = 0; i < n; i++)
    for (int v = 0; v < vectors; v++)
      for (int a = 0; a < size; a++) {
        const int64_t row = (i * vectors + v) * size + a, column = (v * n + i) * size + a;
        to[back ? column : row] = from[back ? row : column];
      }
}

typedef struct {
  double *mesh, *value, *gradient, *alone;
} results;

static results run_plan(md_ctx *ctx, const spread_spec *spec, const ref_particles *particles,
                        int32_t used)
{
  ref_run run = ref_run_open(ctx, spec, particles);
  const size_t points = (size_t)(run.points * used), values = (size_t)(particles->n * used);
  const results r = {malloc(points * 8), calloc(values + 1, 8), calloc(values + 1, 24),
                     calloc(values + 1, 8)};
  ck_ok(spread_use(run.plan, used));
  run.spec.vectors = used;
  ref_run_spread(&run, r.mesh);
  ref_run_interpolate(&run, r.mesh, r.value, r.gradient);
  ref_run_interpolate(&run, r.mesh, r.alone, NULL);
  ref_run_close(&run);
  return r;
}

static void free_results(const results *r)
{
  free(r->mesh), free(r->value), free(r->gradient), free(r->alone);
}

/* The first `used` vectors of a plan, given both ways. */
static void compare(md_ctx *ctx, spread_spec spec, int64_t n, int32_t used)
{
  const double tolerance = ctx->precision == MD_DOUBLE ? 1e-13 : 6e-6;
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, n);
  double *q = particles.q, *rows = calloc((size_t)(n * spec.vectors) + 1, 8);
  double *turned = calloc((size_t)(n * used) + 1, 24);
  const int64_t points = (int64_t)spec.mesh[0] * spec.mesh[1] * spec.mesh[2] * used;
  const results by_vector = run_plan(ctx, &spec, &particles, used);
  spec.by_particle = true;
  turn(n, used, 1, false, q, rows);
  particles.q = rows;
  const results by_particle = run_plan(ctx, &spec, &particles, used);
  ck_assert_double_le(ref_error(points, by_particle.mesh, by_vector.mesh), tolerance);
  turn(n, used, 1, true, by_particle.value, turned);
  ck_assert_double_le(ref_error(n * used, turned, by_vector.value), tolerance);
  turn(n, used, 1, true, by_particle.alone, turned);
  ck_assert_double_le(ref_error(n * used, turned, by_vector.alone), tolerance);
  turn(n, used, 3, true, by_particle.gradient, turned);
  ck_assert_double_le(ref_error(3 * n * used, turned, by_vector.gradient), 4 * tolerance);
  free_results(&by_vector);
  free_results(&by_particle);
  free(rows), free(turned);
  particles.q = q;
  ref_particles_free(&particles);
}

/* Loop index: precision, and method on this backend. */
START_TEST(every_method_takes_rows)
{
  const spread_method method = (spread_method)(_i / MD_PRECISION_COUNT);
  if (!spread_method_on(method, test_backend())) return;
  md_ctx *ctx = test_ctx((md_precision)(_i % MD_PRECISION_COUNT), 2, false);
  static const int32_t vectors[] = {1, 2, 5, 16, 18};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    spread_spec spec = ref_spec(method, 13, 10, 17, 5);
    spec.vectors = vectors[k];
    spec.tuning.part = k % 2 ? 301 : 0;
    compare(ctx, spec, 777, spec.vectors);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* So many vectors and particles that kernels on a GPU take rows as they lie: all of a plan's
 * vectors or some, and where some are left over or rows are no quads. */
START_TEST(many_vectors_take_rows)
{
  static const struct {
    int mesh[3], order, vectors, used, part, n;
  } what[] = {{{21, 33, 18}, 6, 16, 16, 0, 9000},   {{21, 33, 17}, 6, 32, 32, 4000, 9001},
              {{24, 19, 23}, 9, 24, 24, 0, 7000},   {{20, 18, 30}, 8, 48, 16, 0, 6000},
              {{22, 20, 19}, 4, 34, 34, 0, 5003},   {{22, 20, 26}, 3, 17, 17, 0, 9000},
              {{18, 17, 22}, 10, 8, 8, 3000, 8000}, {{25, 24, 26}, 7, 16, 16, 0, 30}};
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
    const int *mesh = what[k].mesh;
    spread_spec spec = ref_spec(SPREAD_TILED, mesh[0], mesh[1], mesh[2], what[k].order);
    spec.vectors = what[k].vectors;
    spec.tuning.part = what[k].part;
    compare(ctx, spec, what[k].n, what[k].used);
  }
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_rows");
  TCase *tc = tcase_create("spread_rows");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, every_method_takes_rows, 0, SPREAD_METHOD_COUNT * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, many_vectors_take_rows, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
