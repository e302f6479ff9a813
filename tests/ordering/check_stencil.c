/* tests/ordering/check_stencil.c - stencils against their definition and the paper's counts. */
#include "ordering/stencil.h"
#include "tests/ref/ref_ordering.h"

/* Nearest points of two unit cells d apart are this far from each other along an axis. */
static int ref_gap(int d)
{
  return abs(d) > 1 ? abs(d) - 1 : 0;
}

START_TEST(stencils_hold_what_they_should)
{
  for (int32_t g = 1; g <= 9; g++)
    for (int kind = 0; kind < ORDERING_STENCIL_COUNT; kind++)
      for (int half = 0; half < 2; half++) {
        const ordering_stencil s = {(ordering_stencil_kind)kind, g};
        int32_t(*list)[3];
        int64_t n, at = 0;
        ck_ok(ordering_stencil_offsets(&s, half, &list, &n));
        for (int i = -g; i <= g; i++)
          for (int j = -g; j <= g; j++)
            for (int k = -g; k <= g; k++) {
              const int gap_sq =
                  ref_gap(i) * ref_gap(i) + ref_gap(j) * ref_gap(j) + ref_gap(k) * ref_gap(k);
              const bool upper = k > 0 || (k == 0 && (j > 0 || (j == 0 && i >= 0)));
              if ((kind == ORDERING_STENCIL_SPHERE && gap_sq >= g * g) || (half && !upper))
                continue;
              ck_assert_int_lt(at, n);
              ck_assert(list[at][0] == i && list[at][1] == j && list[at][2] == k);
              at++;
            }
        ck_assert_int_eq(at, n);
        ck_assert_int_eq(half ? (ordering_stencil_bins(&s) + 1) / 2 : ordering_stencil_bins(&s), n);
        free(list);
      }
}
END_TEST

START_TEST(stencil_counts_agree_with_the_oracle)
{
  FILE *file = oracle("stencil_counts.csv");
  int g, rows = 0;
  long long block, half, sphere;
  double deviation;
  char rest[64];
  while (fscanf(file, "%d,%lld,%lld,%lld,%*[0-9]", &g, &block, &half, &sphere) == 4) {
    if (fscanf(file, ",%lf,", &deviation) != 1)
      ck_assert_int_eq(fscanf(file, ",,%lf,", &deviation), 1);
    (void)!fgets(rest, sizeof rest, file);
    const ordering_stencil b = {ORDERING_STENCIL_BLOCK, g}, s = {ORDERING_STENCIL_SPHERE, g};
    ck_assert_int_eq(ordering_stencil_bins(&b), block);
    ck_assert_int_eq((ordering_stencil_bins(&b) + 1) / 2, half);
    ck_assert_int_eq(ordering_stencil_bins(&s), sphere);
    ck_assert_double_eq_tol(ordering_stencil_deviation(&s), deviation, 5.1e-5);
    rows++;
  }
  fclose(file);
  ck_assert_int_eq(rows, 50);
}
END_TEST

START_TEST(stencil_names)
{
  ordering_stencil s;
  char text[32];
  ck_ok(ordering_stencil_parse("sphere:3", &s));
  ordering_stencil_format(&s, text);
  ck_assert_str_eq(text, "sphere:3");
  static const char *const bad[] = {"block",  "block:", "block:0",     "block:-1", "block:1x",
                                    "ball:2", ":1",     "block:10001", "block:1.5"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_int_eq(ordering_stencil_parse(bad[k], &s), MD_EINVAL);
  ck_assert_int_eq(s.g, 3);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stencil");
  TCase *stencils = tcase_create("stencils");
  tcase_add_test(stencils, stencils_hold_what_they_should);
  tcase_add_test(stencils, stencil_counts_agree_with_the_oracle);
  tcase_add_test(stencils, stencil_names);
  suite_add_tcase(suite, stencils);
  return test_main(suite);
}
