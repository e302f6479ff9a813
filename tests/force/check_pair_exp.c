/* tests/force/check_pair_exp.c - the exponential of pairs on the CPU.
 *
 * Rounding errors have no sign on average, those of a series that ends too early have: one term
 * less than needed shows in the mean where it is the largest, with the sign of the first term left
 * out. */
#define MD_PREC 2
#define MD_ISA 0
#include "force/pair_cpu.h"
#include "tests/drive/run_pair_exp.h"
#include "tests/test.h"

static double single(double y)
{
  return run_pair_exp_single((float)y);
}

static double twice(double y)
{
  return pair_exp((simd_real){0} + y)[0];
}

typedef double exp_fn(double y);
static const struct {
  exp_fn *value;
  double epsilon, most; /* y for which it is not yet almost zero */
} table[] = {{single, 0x1p-23, 80}, {twice, 0x1p-52, 700}};

/* Relative errors at y = n ln 2 - s, s in lo..hi; the mean, and the largest is checked. */
static double mean_error(exp_fn *value, double epsilon, double lo, double hi)
{
  enum { POINTS = 20000 };
  double sum = 0;
  for (int k = 0; k < POINTS; k++) {
    const double s = lo + (hi - lo) * k / POINTS;
    const double y = (float)((1 + k % 20) * M_LN2 - s); /* a float in both precisions */
    const double error = (double)(value(y) / expl(-(long double)y) - 1);
    ck_assert_msg(fabs(error) < 1.5 * epsilon, "exp(-%.17g): error %g", y, error);
    sum += error;
  }
  return sum / POINTS;
}

START_TEST(errors_are_rounding)
{
  const double epsilon = table[_i].epsilon;
  for (int k = -5; k < 5; k++) {
    const double mean = mean_error(table[_i].value, epsilon, 0.069 * k, 0.069 * (k + 1));
    ck_assert_msg(fabs(mean) < 0.1 * epsilon, "s in %g..%g: mean error %g epsilon", 0.069 * k,
                  0.069 * (k + 1), mean / epsilon);
  }
}
END_TEST

START_TEST(ends_of_the_range)
{
  exp_fn *value = table[_i].value;
  ck_assert(value(0) == 1);
  for (double y = 0.125; y < table[_i].most; y += 0.125)
    ck_assert_double_eq_tol(value(y) * exp(y), 1, 2 * table[_i].epsilon);
  const double last = value(table[_i].most);
  ck_assert(last > 0 && last < 1e-34);
  ck_assert(value(2 * table[_i].most) == last && value(1e30) == last && value(INFINITY) == last);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pair_exp");
  TCase *tc = tcase_create("pair_exp");
  tcase_add_loop_test(tc, errors_are_rounding, 0, 2);
  tcase_add_loop_test(tc, ends_of_the_range, 0, 2);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
