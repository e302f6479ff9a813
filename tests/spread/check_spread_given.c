/* tests/spread/check_spread_given.c - what plans are given: equal charges in one place, charges
 * that are not finite, positions with a stride. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* As many charges as there are in one place overflow nothing. */
START_TEST(equal_charges_in_one_place_add_up)
{
  enum { N = 30000, POINTS = 18 * 12 * 15 };
  double sum = 0, mesh[POINTS];
  md_ctx *ctx = test_ctx((md_precision)_i, 2, true);
  const spread_spec spec = ref_spec(SPREAD_TILED, 18, 12, 15, 2);
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_ON_POINTS, N);
  for (int i = 0; i < 3 * N; i++)
    particles.x[i] = particles.x[i % 3], particles.q[i / 3] = -0.9375;
  ref_run run = ref_run_open(ctx, &spec, &particles);
  ref_run_spread(&run, mesh);
  ref_run_close(&run);
  for (int i = 0; i < POINTS; i++)
    sum += mesh[i];
  ck_assert_double_eq_tol(sum / (-0.9375 * N), 1, 1e-5);
  ref_particles_free(&particles);
  md_ctx_destroy(ctx);
}
END_TEST

/* A charge that is no number, or infinite, shows, and is forgotten with the next ones. */
START_TEST(charges_that_are_not_finite_show)
{
  enum { N = 500, POINTS = 18 * 12 * 15 };
  static const double bad[] = {NAN, INFINITY};
  static double mesh[POINTS];
  for (int k = 0; k < 4; k++) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, 2, k % 2);
    const spread_spec spec = ref_spec(SPREAD_TILED, 18, 12, 15, 5);
    ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, N);
    const double good = particles.q[7];
    double sum = 0;
    particles.q[7] = bad[k / 2];
    ref_run run = ref_run_open(ctx, &spec, &particles);
    ref_run_spread(&run, mesh);
    for (int i = 0; i < POINTS; i++)
      sum += mesh[i];
    ck_assert(!isfinite(sum));
    particles.q[7] = good;
    ref_run_positions(&run, &particles);
    ck_assert_double_le(ref_run_error(&run, &particles), 1e-14);
    ref_run_close(&run);
    ref_particles_free(&particles);
    md_ctx_destroy(ctx);
  }
}
END_TEST

START_TEST(a_stride_skips)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  const spread_spec spec = ref_spec(SPREAD_AUTO, 8, 9, 10, 3);
  ref_particles particles = ref_particles_make(&spec, MD_DOUBLE, REF_UNIFORM, 33);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  double strided[33 * 5];
  for (int k = 0; k < 33 * 5; k++)
    strided[k] = k % 5 < 3 ? particles.x[k / 5 * 3 + k % 5] : NAN;
  ck_ok(md_buffer_reserve(ctx, &run.x, sizeof strided, 0));
  ck_ok(md_write(ctx, run.x.data, strided, sizeof strided));
  ck_ok(spread_set_positions(run.plan, 33, run.x.data, 5));
  ck_assert_double_le(ref_run_error(&run, &particles), 1e-14);
  ref_run_close(&run);
  ref_particles_free(&particles);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_given");
  TCase *tc = tcase_create("given");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, equal_charges_in_one_place_add_up, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, charges_that_are_not_finite_show);
  tcase_add_test(tc, a_stride_skips);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
