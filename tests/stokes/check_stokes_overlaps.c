/* tests/stokes/check_stokes_overlaps.c - spheres that overlap are counted and moved apart. */
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static double gap_of(const stokes_packing *p, int64_t i, int64_t j)
{
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    double e = p->x[4 * i + d] - p->x[4 * j + d];
    e -= p->box[d] * round(e / p->box[d]);
    sum += e * e;
  }
  return 2 * sqrt(sum) / (p->x[4 * i + 3] + p->x[4 * j + 3]) - 2;
}

START_TEST(overlaps_are_counted_and_undone)
{
  stokes_packing packing = ref_packing(1200, 0.45, false, 45), first = {0};
  uint64_t seed = 3;
  for (int64_t k = 0; k < 4 * packing.n; k++)
    if (k % 4 != 3) packing.x[k] += 3 * (ref_uniform(&seed) - 0.5);
  int64_t expected = 0;
  for (int64_t i = 0; i < packing.n; i++)
    for (int64_t j = i + 1; j < packing.n; j++)
      expected += gap_of(&packing, i, j) < 0;
  ck_assert_int_gt(expected, 20);
  for (int threads = 1; threads <= 2; threads++) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, true);
    stokes_packing moved = ref_copy(&packing);
    ref_suspension s = ref_suspend(ctx, &moved, 0.5);
    const stokes_pair_view list = stokes_pairs_view(s.pairs);
    md_buffer scratch = {0};
    int64_t found;
    ck_ok(stokes_separate(ctx, moved.box, &list, 1e-3, NULL, s.x.data, &scratch, &found));
    ck_assert_int_eq(found, expected);
    ck_ok(md_read(ctx, moved.x, s.x.data, (size_t)moved.n * 4 * sizeof *moved.x));
    for (int64_t i = 0; i < moved.n; i++)
      for (int64_t j = i + 1; j < moved.n; j++)
        ck_assert_msg(gap_of(&moved, i, j) >= 0, "%d and %d: %g", (int)i, (int)j,
                      gap_of(&moved, i, j));
    ck_ok(stokes_separate(ctx, moved.box, &list, 1e-3, NULL, s.x.data, &scratch, &found));
    ck_assert_int_eq(found, 0);
    if (first.n == 0) first = ref_copy(&moved);
    ck_assert_mem_eq(first.x, moved.x, (size_t)moved.n * 4 * sizeof *moved.x);
    md_buffer_free(ctx, &scratch);
    ref_suspension_free(&s);
    stokes_packing_free(&moved);
    md_ctx_destroy(ctx);
  }
  stokes_packing_free(&first);
  stokes_packing_free(&packing);
}
END_TEST

/* Along the line of centres, to the smallest gap, the smaller sphere farther. */
START_TEST(a_pair_is_pushed_apart)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing;
  ck_ok(stokes_packing_create(2, &packing));
  for (int d = 0; d < 3; d++)
    packing.box[d] = 300;
  static const double start[8] = {290, 50, 50, 30, 25, 50, 50, 10}; /* 35 apart across the edge */
  memcpy(packing.x, start, sizeof start);
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  const stokes_pair_view list = stokes_pairs_view(s.pairs);
  md_buffer scratch = {0};
  int64_t found;
  ck_ok(stokes_separate(ctx, packing.box, &list, 0.01, NULL, s.x.data, &scratch, &found));
  ck_ok(md_read(ctx, packing.x, s.x.data, sizeof start));
  ck_assert_int_eq(found, 1);
  ck_assert_double_eq_tol(gap_of(&packing, 0, 1), 0.01, 1e-9);
  ck_assert_double_eq_tol(packing.x[0], 290 - 5.2 / 4, 1e-9);
  ck_assert_double_eq_tol(packing.x[4], 25 + 5.2 * 3 / 4, 1e-9);
  for (int d = 1; d < 3; d++)
    ck_assert(packing.x[d] == 50 && packing.x[4 + d] == 50);
  md_buffer_free(ctx, &scratch);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Without a line of centres any direction will do, but not the same for both. */
START_TEST(spheres_in_one_place_part)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing;
  ck_ok(stokes_packing_create(2, &packing));
  static const double start[8] = {100, 50, 50, 20, 100, 50, 50, 20};
  for (int d = 0; d < 3; d++)
    packing.box[d] = 300;
  memcpy(packing.x, start, sizeof start);
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  const stokes_pair_view list = stokes_pairs_view(s.pairs);
  md_buffer scratch = {0};
  int64_t found;
  ck_ok(stokes_separate(ctx, packing.box, &list, 0.01, NULL, s.x.data, &scratch, &found));
  ck_ok(md_read(ctx, packing.x, s.x.data, sizeof start));
  ck_assert_int_eq(found, 1);
  ck_assert_double_ge(gap_of(&packing, 0, 1), 0);
  for (int d = 0; d < 3; d++) /* their middle stays */
    ck_assert_double_eq_tol(packing.x[d] + packing.x[4 + d], 2 * start[d], 1e-9);
  md_buffer_free(ctx, &scratch);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_overlaps");
  TCase *pairs = tcase_create("pairs");
  tcase_add_test(pairs, overlaps_are_counted_and_undone);
  tcase_add_test(pairs, a_pair_is_pushed_apart);
  tcase_add_test(pairs, spheres_in_one_place_part);
  tcase_set_timeout(pairs, 120);
  suite_add_tcase(suite, pairs);
  return test_main(suite);
}
