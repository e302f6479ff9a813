/* tests/spread/check_spread_weights.c - the weights of B-splines. */
#include "spread/bspline.h"
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

START_TEST(weights_at_rational_points)
{
  static const struct {
    int p;
    double f, w[6];
  } table[] = {
      {2, 0.25, {0.75, 0.25}},
      {3, 0.5, {1. / 8, 3. / 4, 1. / 8}},
      {4, 0, {1. / 6, 2. / 3, 1. / 6, 0}},
      {4, 0.25, {9. / 128, 235. / 384, 121. / 384, 1. / 384}},
      {4, 0.5, {1. / 48, 23. / 48, 23. / 48, 1. / 48}},
      {6, 0, {1. / 120, 13. / 60, 11. / 20, 13. / 60, 1. / 120, 0}},
      {6, 0.5, {1. / 3840, 79. / 1280, 841. / 1920, 841. / 1920, 79. / 1280, 1. / 3840}},
  };
  for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
    double w[SPREAD_ORDER_MAX];
    bspline_weights(table[t].p, table[t].f, w);
    for (int j = 0; j < table[t].p; j++)
      ck_assert_double_le(fabs(w[j] - table[t].w[j]), 2.3e-16 * table[t].w[j]);
  }
}
END_TEST

START_TEST(weights_and_slopes_of_every_order)
{
  for (int p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++)
    for (double f = 0.0625; f < 1; f += 0.125) {
      double plain[SPREAD_ORDER_MAX], w[SPREAD_ORDER_MAX], d[SPREAD_ORDER_MAX];
      double even[SPREAD_ORDER_MAX];
      double sum = 0, first = 0, slope = 0, first_slope = 0;
      bspline_weights(p, f, plain);
      bspline_derivatives(p, f, w, d);
      bspline_polynomials(p, f, even);
      for (int j = 0; j < p; j++) {
        const double u = f + p - 1 - j;
        ck_assert_double_eq(plain[j], w[j]);
        ck_assert_double_eq_tol(even[j] * bspline_inverse_factorial(p - 1), w[j], 4e-16);
        ck_assert_double_eq_tol(w[j], ref_bspline(p, u), 1e-15);
        ck_assert_double_eq_tol(d[j], ref_bspline_slope(p, u), 4e-15);
        sum += w[j];
        first += j * w[j];
        slope += d[j];
        first_slope += j * d[j];
      }
      ck_assert_double_eq_tol(sum, 1, 1e-15);
      ck_assert_double_eq_tol(first, f + (p - 2) / 2.0, 4e-15);
      ck_assert_double_eq_tol(slope, 0, 4e-15);
      ck_assert_double_eq_tol(first_slope, 1, 1e-14);
    }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_weights");
  TCase *tc = tcase_create("weights");
  tcase_add_test(tc, weights_at_rational_points);
  tcase_add_test(tc, weights_and_slopes_of_every_order);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
