/* tests/stokes/check_rpy_cases.c - mobilities against numbers from elsewhere, and errors against
 * the tolerance that was asked for. */
#include "tests/drive/run_rpy.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

START_TEST(oracle_cases)
{
  static const struct {
    const char *name;
    double xi;
    int rank;
  } cases[] = {{"pair0", 0.6, 1},    {"pair1", 0.6, 1},     {"pair2", 0.6, 2},
               {"pair3", 0.6, 1},    {"pair4", 0.6, 2},     {"pair5", 0.6, 1},
               {"one_0.05", 8, 1},   {"one_0.1", 8, 1},     {"one_0.2", 8, 1},
               {"one_0.3", 8, 1},    {"mono_27", 0.8, 1},   {"overlap_64", 0.8, 2},
               {"mono_125", 0.8, 1}, {"sediment_64", 1, 1}, {"ecoli_100", 0.015, 14}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    ref_rpy_case c = ref_rpy_read(cases[k].name);
    const rpy_spec spec = run_rpy_tight(&c, cases[k].xi, cases[k].rank);
    const double error = run_rpy_error(ctx, &spec, &c, c.u);
    ck_assert_msg(error < 1e-10, "%s: error %g", cases[k].name, error);
    ref_rpy_free(&c);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* More radii than are kept apart: functions of the radius are interpolated between nodes. */
START_TEST(a_continuum_of_radii)
{
  const double box[3] = {14, 14, 14};
  ref_rpy_case c = ref_rpy_random(60, box, 0.3, 1, 1);
  double *exact = ref_alloc(180, sizeof *exact);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  ref_rpy_product(&c, 0.5, exact);
  for (double tolerance = 1e-3; tolerance > 1e-8; tolerance /= 100) {
    const rpy_spec spec = run_rpy_spec(&c, tolerance);
    const double error = run_rpy_error(ctx, &spec, &c, exact);
    ck_assert_msg(error < 1.5 * tolerance, "error %g instead of %g", error, tolerance);
  }
  md_ctx_destroy(ctx);
  free(exact);
  ref_rpy_free(&c);
}
END_TEST

/* The error of a case is the tolerance, not much more and not much less. */
static void check_tolerances(md_precision precision, const char *name, double least, double most)
{
  md_ctx *ctx = test_ctx(precision, 2, true);
  ref_rpy_case c = ref_rpy_read(name);
  for (double tolerance = 1e-2; tolerance > 0.9e-5; tolerance /= 10) {
    if (precision != MD_DOUBLE && tolerance < 0.9e-4) break;
    const rpy_spec spec = run_rpy_spec(&c, tolerance);
    const double error = run_rpy_error(ctx, &spec, &c, c.u) / tolerance;
    ck_assert_msg(error > least && error < most, "%s: error %g of the tolerance %g", name, error,
                  tolerance);
  }
  ref_rpy_free(&c);
  md_ctx_destroy(ctx);
}

START_TEST(errors_are_the_tolerance)
{
  const char *const many[] = {"mono_27", "overlap_64", "ecoli_100", "mono_125"};
  const char *const few[] = {"pair0", "pair1",    "pair2",   "pair3",   "pair4",
                             "pair5", "one_0.05", "one_0.1", "one_0.2", "one_0.3"};
  for (int k = 0; k < 4; k++) {
    check_tolerances(MD_DOUBLE, many[k], 0.5, 1.5);
    check_tolerances(MD_MIXED, many[k], 0.5, 1.5);
  }
  for (int k = 0; k < 10; k++)
    check_tolerances(MD_DOUBLE, few[k], 0, 1.5);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rpy_cases");
  TCase *tc = test_long_case("cases");
  tcase_add_test(tc, oracle_cases);
  tcase_add_test(tc, a_continuum_of_radii);
  tcase_add_test(tc, errors_are_the_tolerance);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
