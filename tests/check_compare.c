/* tests/check_compare.c - medians, their intervals and ranks of `minimd compare`. */
#include "minimd/compare.h"
#include "tests/test.h"

/* n values, scrambled: 0 .. n - 1. */
static double *scrambled(int64_t n)
{
  double *values = malloc((size_t)n * sizeof *values);
  for (int64_t k = 0; k < n; k++)
    values[k] = (double)k;
  uint64_t seed = (uint64_t)n;
  for (int64_t k = n - 1; k > 0; k--) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const int64_t other = (int64_t)((seed >> 33) % (uint64_t)(k + 1));
    const double value = values[k];
    values[k] = values[other];
    values[other] = value;
  }
  return values;
}

/* Tables of the sign test: the interval from the k-th smallest to the k-th largest, and with which
 * probability it misses the median. */
START_TEST(intervals_are_those_of_the_sign_test)
{
  static const struct {
    int64_t n, k;
    double outside;
  } known[] = {{1, 1, 1},           {2, 1, 0.5},           {5, 1, 0.0625},
               {6, 1, 0.03125},     {8, 1, 0.0078125},     {9, 2, 0.0390625},
               {12, 3, 0.03857422}, {20, 6, 0.0413894653}, {100, 40, 0.0352002}};
  for (size_t c = 0; c < sizeof known / sizeof *known; c++) {
    const int64_t n = known[c].n;
    double *values = scrambled(n);
    const compare_estimate e = compare_summarise(values, n);
    ck_assert_double_eq(e.median, 0.5 * (double)(n - 1));
    ck_assert_double_eq(e.low, (double)(known[c].k - 1));
    ck_assert_double_eq(e.high, (double)(n - known[c].k));
    ck_assert_double_eq_tol(compare_confidence(n), 1 - known[c].outside, 1e-6);
    free(values);
  }
}
END_TEST

/* Far more repeats than 2^-n can express: near the normal distribution's 1.96 sqrt(n) / 2. */
START_TEST(many_repeats_have_narrow_intervals)
{
  const int64_t n = 10000;
  double *values = scrambled(n);
  const compare_estimate e = compare_summarise(values, n);
  ck_assert_double_eq_tol(e.high - e.low, 1.96 * sqrt((double)n), 3);
  ck_assert_double_eq_tol(compare_confidence(n), 0.95, 0.002);
  free(values);
}
END_TEST

/* a and b overlap, b and c overlap, d is slower than all of them. */
START_TEST(variants_share_ranks_where_intervals_meet)
{
  double total[4][3] = {{9, 10, 11}, {5, 4, 3}, {1, 2, 3}, {4.5, 5.5, 6.5}};
  double zero[3] = {0};
  compare_variant variants[4] = {{.order = "d"}, {.order = "b"}, {.order = "a"}, {.order = "c"}};
  static const char *const names[4] = {"a", "b", "c", "d"};
  static const int best[4] = {1, 1, 2, 4}, worst[4] = {2, 3, 3, 4};
  for (int v = 0; v < 4; v++) {
    for (int t = 0; t < COMPARE_TIME_COUNT; t++)
      variants[v].seconds[t] = zero;
    variants[v].seconds[COMPARE_TOTAL] = total[v];
  }
  comparison all = {.variants = variants, .n = 4, .repeats = 3};
  compare_rank(&all);
  for (int v = 0; v < 4; v++) {
    ck_assert_str_eq(variants[v].order, names[v]);
    ck_assert_int_eq(variants[v].best_rank, best[v]);
    ck_assert_int_eq(variants[v].worst_rank, worst[v]);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("compare");
  TCase *tcase = tcase_create("ranking");
  tcase_add_test(tcase, intervals_are_those_of_the_sign_test);
  tcase_add_test(tcase, many_repeats_have_narrow_intervals);
  tcase_add_test(tcase, variants_share_ranks_where_intervals_meet);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
