/* tests/check_stokes_model.c - the performance model of products with many vectors. */
#include "stokes/run.h"
#include "tests/test.h"

/* Numbers worked out by hand. */
START_TEST(model)
{
  const stokes_machine machine = {20e9, 40e9};
  const stokes_shape shape = {.n_rows = 1000, .n_blocks = 25000, .product_bytes = 1908000};
  ck_assert_double_eq_tol(stokes_model_bytes(&shape, 4, 0), 4 * 72000 + 1908000, 1e-6);
  ck_assert_double_eq_tol(stokes_model_bytes(&shape, 4, 2), 4 * 120000 + 1908000, 1e-6);
  ck_assert_double_eq_tol(stokes_model_time(&machine, &shape, 1, 0), 99e-6, 1e-12);
  ck_assert_double_eq_tol(stokes_model_time(&machine, &shape, 32, 0), 360e-6, 1e-12);
  ck_assert_double_eq_tol(stokes_model_relative(&machine, &shape, 32, 0), 360.0 / 99, 1e-12);
  /* 11.25 us m against 95.4 + 3.6 m us: from 12.5 on */
  ck_assert_int_eq(stokes_model_switch(&machine, &shape, 0), 13);
  const stokes_counts counts = {162, 80, 63, 30};
  ck_assert_double_eq_tol(stokes_model_step(&machine, &shape, &counts, 1, 0), 255 * 99e-6, 1e-9);
  const double two = (192 * 102.6 + (110 + 126) * 99) / 2 * 1e-6;
  ck_assert_double_eq_tol(stokes_model_step(&machine, &shape, &counts, 2, 0), two, 1e-9);
  int best = 1;
  for (int m = 1; m <= 64; m++)
    if (stokes_model_step(&machine, &shape, &counts, m, 0) <
        stokes_model_step(&machine, &shape, &counts, best, 0))
      best = m;
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, 64, 0), best);
  ck_assert_int_ge(best, 10); /* near m_s, as the paper says */
  ck_assert_int_le(best, 16);
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, 4, 0), 4);
  /* [Liu] Table VII, 300,000 spheres at 50 %: 7.70 s without and 5.46 s with 16 right-hand sides */
  const stokes_machine xeon = {19.4e9, 40e9};
  const stokes_shape large = {
      .n_rows = 300000, .n_blocks = 7470000, .product_bytes = 300000 * 4.0 + 7470000 * 76.0};
  ck_assert_double_eq_tol(stokes_model_step(&xeon, &large, &counts, 1, 0), 7.76, 0.01);
  ck_assert_double_eq_tol(stokes_model_step(&xeon, &large, &counts, 16, 0), 5.66, 0.1);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_machine here;
  ck_ok(stokes_machine_measure(ctx, STOKES_BCRS, &here));
  ck_assert(here.bandwidth > 1e7 && here.flops > 1e6 && isfinite(here.flops));
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_model");
  TCase *numbers = tcase_create("numbers");
  tcase_add_test(numbers, model);
  tcase_set_timeout(numbers, 120);
  suite_add_tcase(suite, numbers);
  return test_main(suite);
}
