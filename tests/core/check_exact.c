/* tests/core/check_exact.c - sums without rounding: of integers that are known, in any order. */
#include "core/exact.h"
#include "core/random.h"
#include "tests/test.h"

#include <float.h>

static exact_sum sum_of(const double *x, int n, int step)
{
  exact_sum sum = {.nan = 0};
  for (int k = 0, at = 0; k < n; k++, at = (at + step) % n)
    exact_add(&sum, x[at]);
  return sum;
}

START_TEST(sums_are_exact)
{
  static const double x[] = {1e300, 1, -1e300, 0x1p-1074, 3, -0x1p-1074, 0, -0.0, 1e-300};
  exact_sum sum = sum_of(x, 8, 3);
  ck_assert(exact_value(&sum) == 4);
  exact_add(&sum, -4);
  ck_assert(exact_value(&sum) == 0);
  exact_add(&sum, -0x1p-1074);
  ck_assert(exact_value(&sum) == -0x1p-1074);
  exact_add(&sum, DBL_MAX);
  ck_assert(exact_value(&sum) == DBL_MAX);
  exact_add(&sum, DBL_MAX);
  ck_assert(isinf(exact_value(&sum)));
  exact_add(&sum, -DBL_MAX);
  ck_assert(exact_value(&sum) == DBL_MAX); /* what overflowed was only its rounding */
}
END_TEST

/* Sums of integers times a power of two, which 64 bits hold. */
START_TEST(any_order_any_parts)
{
  enum { N = 1009 };
  double x[N];
  int32_t seed = 99;
  for (int round = 0; round < 200; round++) {
    const int scale = round * 10 - 1070;
    int64_t whole = 0;
    for (int k = 0; k < N; k++) {
      const int64_t one = (int64_t)((random_park_miller(&seed) - 0.5) * 0x1p40);
      whole += one;
      x[k] = ldexp((double)one, scale);
    }
    const exact_sum all = sum_of(x, N, 1 + round);
    ck_assert(exact_value(&all) == ldexp((double)whole, scale));
    exact_sum parts = sum_of(x, 300, 1), rest = sum_of(x + 300, N - 300, 1);
    exact_join(&parts, &rest);
    ck_assert(exact_value(&parts) == exact_value(&all));
    exact_sum one = all, two = parts;
    exact_carry(&one);
    exact_carry(&two);
    ck_assert_mem_eq(one.piece, two.piece, sizeof one.piece);
  }
}
END_TEST

START_TEST(what_is_no_number_shows)
{
  exact_sum sum = {.nan = 0}, other = {.nan = 0};
  exact_add(&sum, 7);
  exact_add(&sum, INFINITY);
  ck_assert(exact_value(&sum) == INFINITY);
  exact_add(&other, -INFINITY);
  ck_assert(exact_value(&other) == -INFINITY);
  exact_join(&sum, &other);
  ck_assert(isnan(exact_value(&sum)));
  exact_sum none = {.nan = 0};
  exact_add(&none, NAN);
  ck_assert(isnan(exact_value(&none)));
}
END_TEST

/* Carries come before pieces overflow. */
START_TEST(many_terms)
{
  exact_sum sum = {.nan = 0};
  const double x = 0x1.fffffffffffffp52;
  for (int64_t k = 0; k < 1 << 20; k++)
    exact_add(&sum, x);
  sum.terms = INT32_MAX / 2 - 1;
  exact_add(&sum, x);
  ck_assert(sum.terms == 0 && sum.piece[33] >> 32 == 0);
  exact_add(&sum, -x);
  ck_assert(exact_value(&sum) == x * 0x1p20);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("exact");
  TCase *tc = tcase_create("exact");
  tcase_add_test(tc, sums_are_exact);
  tcase_add_test(tc, any_order_any_parts);
  tcase_add_test(tc, what_is_no_number_shows);
  tcase_add_test(tc, many_terms);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
