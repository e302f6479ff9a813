/* tests/spread/check_spread_plan.c - what plans promise: moments, the transpose, determinism,
 * reuse, parts, tuning. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

#include <stdio.h>

/* Loop index: method on this backend, in double. */
static bool pick(int i, bool deterministic, md_ctx **ctx, spread_method *method)
{
  *method = (spread_method)i;
  if (!spread_method_on(*method, test_backend())) return false;
  if (deterministic && test_backend() == MD_GPU &&
      (*method == SPREAD_PARTICLE || *method == SPREAD_GATHER))
    return false;
  *ctx = test_ctx(MD_DOUBLE, 2, deterministic);
  return true;
}

START_TEST(sum_and_first_moments)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, false, &ctx, &method)) return;
  enum { K = 24, N = 40 };
  for (int p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++) {
    const spread_spec spec = ref_spec(method, K, K, K, p);
    ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, N);
    double charge = 0, moment[3] = {0};
    for (int i = 0; i < N; i++) {
      charge += particles.q[i];
      for (int a = 0; a < 3; a++) { /* into the lower half, so that nothing wraps */
        double *x = &particles.x[3 * i + a];
        *x = spec.lo[a] + 0.5 * (*x - spec.lo[a]);
        const double u = (*x - spec.lo[a]) / (spec.hi[a] - spec.lo[a]) * K;
        moment[a] += particles.q[i] * (u + (p - 2) / 2.0);
      }
    }
    ref_run run = ref_run_open(ctx, &spec, &particles);
    double *mesh = malloc(sizeof(double[K * K * K]));
    ref_run_spread(&run, mesh);
    double sum = 0, first[3] = {0};
    for (int m = 0; m < K * K * K; m++) {
      const int at[3] = {m / (K * K), m / K % K, m % K};
      sum += mesh[m];
      for (int a = 0; a < 3; a++)
        first[a] += at[a] * mesh[m];
    }
    ck_assert_double_eq_tol(sum, charge, 1e-13);
    for (int a = 0; a < 3; a++)
      ck_assert_double_eq_tol(first[a], moment[a], 1e-12);
    free(mesh);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(interpolation_is_the_transpose)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, false, &ctx, &method)) return;
  enum { N = 700, POINTS = 14 * 25 * 19 };
  for (int p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++) {
    const spread_spec spec = ref_spec(method, 14, 25, 19, p);
    ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, N);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    double *mesh = malloc(sizeof(double[POINTS])), *spread = malloc(sizeof(double[POINTS]));
    double value[N], on_mesh = 0, on_particles = 0, size = 0;
    for (int m = 0; m < POINTS; m++)
      mesh[m] = sin(1.0 + m * (double)m);
    ref_run_spread(&run, spread);
    ref_run_interpolate(&run, mesh, value, NULL);
    for (int m = 0; m < POINTS; m++) {
      on_mesh += spread[m] * mesh[m];
      size += fabs(spread[m] * mesh[m]);
    }
    for (int i = 0; i < N; i++)
      on_particles += particles.q[i] * value[i];
    ck_assert_double_eq_tol(on_mesh, on_particles, 1e-15 * size);
    free(mesh);
    free(spread);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Results of one fresh context and plan. */
static void fresh(spread_method method, int threads, ref_place place, md_precision precision,
                  double *mesh, double *value)
{
  md_ctx *ctx = test_ctx(precision, threads, true);
  spread_spec spec = ref_spec(method, 20, 26, 22, 6);
  spec.vectors = 3;
  ref_particles particles = ref_particles_make(&spec, precision, place, 4000);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  ref_run_spread(&run, mesh);
  ref_run_interpolate(&run, mesh, value, NULL);
  ref_run_close(&run);
  ref_particles_free(&particles);
  md_ctx_destroy(ctx);
}

START_TEST(deterministic_plans_repeat)
{
  md_ctx *ctx;
  spread_method method;
  if (!pick(_i, true, &ctx, &method)) return;
  md_ctx_destroy(ctx);
  const size_t points = 3 * 20 * 26 * 22, values = 3 * 4000;
  double *mesh = malloc(points * sizeof *mesh), *again = malloc(points * sizeof *again);
  double *value = malloc(values * sizeof *value), *value_again = malloc(values * sizeof *value);
  for (int precision = 0; precision < MD_PRECISION_COUNT; precision++)
    for (int place = REF_UNIFORM; place <= REF_CLUSTERED; place += 2) {
      fresh(method, 1, (ref_place)place, (md_precision)precision, mesh, value);
      for (int threads = 1; threads <= 3; threads++) {
        fresh(method, threads, (ref_place)place, (md_precision)precision, again, value_again);
        ck_assert_int_eq(memcmp(mesh, again, points * sizeof *mesh), 0);
        ck_assert_int_eq(memcmp(value, value_again, values * sizeof *value), 0);
      }
    }
  free(mesh), free(again), free(value), free(value_again);
}
END_TEST

/* Vectors of charges that become smaller along one axis by several orders, each by others. */
static void fill_charges(int64_t n, int vectors, const ref_particles *particles)
{
  for (int v = 0; v < vectors; v++)
    for (int64_t i = 0; i < n; i++) {
      const double z = fmod(particles->x[3 * i], 1);
      particles->q[v * n + i] = (float)ldexp((double)((i * 7 + v) % 11) - 4.5,
                                             (v % 4 - 1) * (int)(12 * z) + 20 * (v % 5 - 2));
    }
}

/* Many vectors at once are what one after the other is, where charges are large and where they are
 * small. */
START_TEST(many_vectors_are_many_of_one)
{
  enum { VECTORS = 21, N = 90000, PLANE = 24 * 25, PLANES = 26, PART = PLANES / 2 * PLANE };
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  const double tolerance = ctx->precision == MD_DOUBLE ? 1e-14 : 3e-6;
  double *all = malloc(VECTORS * PLANES * PLANE * sizeof *all), *one = malloc(PLANES * PLANE * 8);
  for (int p = 3; p <= 7; p += 2) {
    spread_spec spec = ref_spec(SPREAD_TILED, PLANES, 24, 25, p);
    spec.vectors = VECTORS;
    ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, N);
    double *q = particles.q;
    fill_charges(N, VECTORS, &particles);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ref_run_spread(&run, all);
    ref_run_close(&run);
    spec.vectors = 1;
    for (int v = 0; v < VECTORS; v++, particles.q += N) {
      ref_run single = ref_run_open(ctx, &spec, &particles);
      ref_run_spread(&single, one);
      ref_run_close(&single);
      const double *mine = all + v * PLANES * PLANE;
      ck_assert_double_le(ref_error(PART, mine, one), tolerance);
      ck_assert_double_le(ref_error(PART, mine + PART, one + PART), tolerance);
    }
    particles.q = q;
    ref_particles_free(&particles);
  }
  free(all), free(one);
  md_ctx_destroy(ctx);
}
END_TEST

/* The first few of a plan's vectors are what they are among all, on the mesh and back; meshes of
 * the others are left alone. */
START_TEST(a_plan_takes_fewer_vectors)
{
  static const int32_t used[] = {40, 17, 1, 35, 3};
  enum { VECTORS = 40, N = 30000, POINTS = 26 * 24 * 25 };
  md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
  const double tolerance = ctx->precision == MD_DOUBLE ? 1e-14 : 3e-6;
  spread_spec spec = ref_spec(SPREAD_TILED, 26, 24, 25, 6);
  spec.vectors = VECTORS;
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, N);
  double *q = particles.q, *mesh[2], *value[2];
  for (int k = 0; k < 2; k++) {
    mesh[k] = malloc(VECTORS * POINTS * sizeof **mesh);
    value[k] = malloc(VECTORS * N * sizeof **value);
  }
  fill_charges(N, VECTORS, &particles);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  for (size_t k = 0; k < sizeof used / sizeof *used; k++) {
    ck_ok(spread_use(run.plan, used[k]));
    run.spec.vectors = used[k];
    ck_ok(md_fill(ctx, run.mesh.data, 0xff, run.mesh.bytes));
    ref_run_spread(&run, mesh[k > 0]);
    if (used[k] < VECTORS) {
      const size_t real_size = ctx->precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
      const char *beyond = (const char *)run.mesh.data + (size_t)used[k] * POINTS * real_size;
      int32_t word = 0;
      ck_ok(md_read(ctx, &word, beyond, sizeof word));
      ck_assert_int_eq(word, -1);
    }
    ref_run_interpolate(&run, mesh[0], value[k > 0], NULL);
    ck_assert_double_le(ref_error((int64_t)used[k] * POINTS, mesh[k > 0], mesh[0]), tolerance);
    ck_assert_double_le(ref_error((int64_t)used[k] * N, value[k > 0], value[0]), tolerance);
  }
  ck_assert_int_eq(spread_use(run.plan, 0), MD_EINVAL);
  ck_assert_int_eq(spread_use(run.plan, VECTORS + 1), MD_EINVAL);
  ref_run_close(&run);
  for (int k = 0; k < 2; k++)
    free(mesh[k]), free(value[k]);
  particles.q = q;
  ref_particles_free(&particles);
  md_ctx_destroy(ctx);
}
END_TEST

static void change_positions(md_ctx *ctx, spread_method method)
{
  static const int64_t counts[] = {100, 3000, 0, 50, 1, 4000, 4000};
  static double mesh[18 * 12 * 15];
  double value[4000];
  for (int m = 0; m < 18 * 12 * 15; m++)
    mesh[m] = sin(m);
  const spread_spec spec = ref_spec(method, 18, 12, 15, 5);
  ref_particles none = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, 0);
  ref_run run = ref_run_open(ctx, &spec, &none);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    ref_particles particles =
        ref_particles_make(&spec, MD_DOUBLE, k % 2 ? REF_UNIFORM : REF_CLUSTERED, counts[k]);
    ref_run_positions(&run, &particles);
    for (int times = 0; times < 3; times++) { /* later ones use what the first found out */
      ck_assert_double_le(ref_run_error(&run, &particles), 1e-14);
      if (times == 1) ref_run_interpolate(&run, mesh, value, NULL);
    }
    spread_report report;
    spread_describe(run.plan, &report);
    ck_assert_int_eq(report.particles, counts[k]);
    ck_assert_int_ne(report.method, SPREAD_AUTO);
    ck_assert(*report.reason != '\0');
    ck_assert_double_eq_tol(report.per_point, 125.0 * (double)counts[k] / (18 * 12 * 15), 1e-12);
    ck_assert(report.bytes > 0 || counts[k] == 0);
    ref_particles_free(&particles);
  }
  ref_run_close(&run);
  ref_particles_free(&none);
}

START_TEST(positions_may_change)
{
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    md_ctx *ctx;
    spread_method method;
    if (!pick(_i, deterministic, &ctx, &method)) continue;
    change_positions(ctx, method);
    md_ctx_destroy(ctx);
  }
}
END_TEST

static void compare_parts(md_ctx *ctx, spread_method method, int64_t part)
{
  spread_spec spec = ref_spec(method, 11, 14, 9, 6);
  spec.tuning.part = part;
  ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, 61);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  double value[61], gradient[3 * 61], exact[61], exact_gradient[3 * 61], mesh[11 * 14 * 9];
  for (int again = 0; again < 2; again++) /* nothing is left of the first time */
    ck_assert_double_le(ref_run_error(&run, &particles), 1e-14);
  for (int m = 0; m < 11 * 14 * 9; m++)
    mesh[m] = cos(m * (double)m);
  ref_run_interpolate(&run, mesh, value, gradient);
  ref_interpolate(&spec, 61, particles.x, mesh, exact, exact_gradient);
  ck_assert_double_le(ref_error(61, value, exact), 1e-14);
  ck_assert_double_le(ref_error(3 * 61, gradient, exact_gradient), 1e-13);
  ref_run_close(&run);
  ref_particles_free(&particles);
}

START_TEST(parts_add_up)
{
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    md_ctx *ctx;
    spread_method method;
    if (!pick(_i, deterministic, &ctx, &method)) continue;
    for (int64_t part = 1; part <= 1000; part = 3 * part + 1)
      compare_parts(ctx, method, part);
    md_ctx_destroy(ctx);
  }
}
END_TEST

START_TEST(tuning_changes_no_result)
{
  static const struct {
    spread_method method;
    spread_tuning tuning;
  } table[] = {
      {SPREAD_PARTICLE, {.lanes = 1}},
      {SPREAD_PARTICLE, {.lanes = 7}},
      {SPREAD_PARTICLE, {.lanes = 1, .sorted = true}},
      {SPREAD_PARTICLE, {.lanes = 7, .sorted = true}},
      {SPREAD_SINGLE, {.compute_unit = 1}},
      {SPREAD_SINGLE, {.compute_unit = 2}},
      {SPREAD_SINGLE, {.compute_unit = 4, .shared_sum = true}},
      {SPREAD_SINGLE, {.compute_unit = 8}},
      {SPREAD_SINGLE, {.compute_unit = 16, .shared_sum = true}},
      {SPREAD_GROUP, {.group = 8}},
      {SPREAD_GROUP, {.group = 40}},
      {SPREAD_GROUP, {.group = 512}},
  };
  if (!spread_method_on(table[_i].method, test_backend())) return;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  spread_spec spec = ref_spec(table[_i].method, 13, 16, 21, 7);
  spec.tuning = table[_i].tuning;
  for (int place = REF_UNIFORM; place <= REF_CLUSTERED; place++) {
    ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, (ref_place)place, 2000);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ck_assert_double_le(ref_run_error(&run, &particles), 1e-14);
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST
enum { TUNINGS = 12 };

int main(void)
{
  Suite *suite = suite_create("spread_plan");
  TCase *tc = tcase_create("spread_plan");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, sum_and_first_moments, 0, SPREAD_METHOD_COUNT);
  tcase_add_loop_test(tc, interpolation_is_the_transpose, 0, SPREAD_METHOD_COUNT);
  tcase_add_loop_test(tc, many_vectors_are_many_of_one, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, a_plan_takes_fewer_vectors, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, deterministic_plans_repeat, 0, SPREAD_METHOD_COUNT);
  tcase_add_loop_test(tc, positions_may_change, 0, SPREAD_METHOD_COUNT);
  tcase_add_loop_test(tc, parts_add_up, 0, SPREAD_METHOD_COUNT);
  tcase_add_loop_test(tc, tuning_changes_no_result, 0, TUNINGS);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
