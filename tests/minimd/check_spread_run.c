/* tests/minimd/check_spread_run.c - what `minimd spread` measures: errors by their definition,
 * times of one call. */
#include "core/time/timer.h"
#include "minimd/spread/spread_run.h"
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* Particles with all that `spread` runs on. */
typedef struct {
  md_ctx *ctx;
  spread_spec spec;
  spread_case particles;
  spread_bench bench;
} fixture;

static fixture open_all(int64_t n, int32_t vectors)
{
  fixture f = {.ctx = test_ctx(MD_DOUBLE, 1, false), .spec = ref_spec(SPREAD_AUTO, 8, 10, 12, 4)};
  f.spec.vectors = vectors;
  ck_ok(spread_case_make(&f.spec, MD_DOUBLE, 1, SPREAD_CASE_UNIFORM, n, 3, &f.particles));
  return f;
}

static void close_all(fixture *f)
{
  spread_bench_close(&f->bench);
  spread_case_free(&f->particles);
  md_ctx_destroy(f->ctx);
}

/* Relative, in the Euclidean norm, of the worst vector. */
START_TEST(errors_are_relative)
{
  fixture f = open_all(200, 3);
  spread_timing out;
  ck_ok(spread_bench_open(f.ctx, &f.spec, &f.particles, true, &f.bench));
  ck_ok(spread_bench_run(&f.bench, SPREAD_TILED, 1, false, &out));
  ck_assert_double_lt(out.error, 1e-14);
  for (int64_t m = 960; m < 2 * 960; m++) /* of the second vector's mesh */
    f.bench.exact[m] *= 2;
  ck_ok(spread_bench_run(&f.bench, SPREAD_TILED, 1, false, &out));
  ck_assert_double_eq_tol(out.error, 0.5, 1e-14);
  for (int64_t m = 960; m < 2 * 960; m++)
    f.bench.exact[m] = 0;
  ck_ok(spread_bench_run(&f.bench, SPREAD_TILED, 1, false, &out));
  ck_assert_double_gt(out.error, 0.5); /* nothing to compare with: the norm itself */
  close_all(&f);
}
END_TEST

/* Lanes of a row as [Guo] has them, 1 to 16; bytes that have to move: positions and charges
 * read, meshes written. */
START_TEST(reports_are_of_the_plan)
{
  static const int64_t counts[] = {10, 200, 2000};
  static const int lanes[] = {1, 8, 16}; /* 64 n entries in 960 rows: .7, 13, 133 */
  for (int k = 0; k < 3; k++) {
    const int64_t n = counts[k];
    fixture f = open_all(n, 3);
    spread_timing out;
    ck_ok(spread_bench_open(f.ctx, &f.spec, &f.particles, false, &f.bench));
    ck_ok(spread_bench_run(&f.bench, SPREAD_SINGLE, 1, false, &out));
    ck_assert_int_eq(out.report.particles, n);
    ck_assert_int_eq(out.report.compute_unit, lanes[k]);
    ck_assert_double_eq_tol(out.report.per_point, 64. * (double)n / 960, 1e-12);
    ck_assert_int_eq(out.report.floor_bytes, 8 * (n * (3 + 3) + 3 * 960));
    close_all(&f);
  }
}
END_TEST

/* Of so many calls half took the median at least, and all of them no longer than the clock says. */
START_TEST(times_are_those_of_one_call)
{
  enum { REPEATS = 20000 };
  fixture f = open_all(10, 1);
  spread_timing out;
  ck_ok(spread_bench_open(f.ctx, &f.spec, &f.particles, false, &f.bench));
  const double began = md_wall_seconds();
  ck_ok(spread_bench_run(&f.bench, SPREAD_TILED, REPEATS, true, &out));
  const double took = md_wall_seconds() - began;
  ck_assert(isnan(out.error) && out.build_s > 0 && out.build_s < took);
  ck_assert_double_gt(out.spread_s, 0);
  ck_assert_double_gt(out.gather_s, 0);
  ck_assert_double_lt((out.spread_s + out.gather_s) * REPEATS / 2, took);
  close_all(&f);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_run");
  TCase *tc = tcase_create("run");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, errors_are_relative);
  tcase_add_test(tc, reports_are_of_the_plan);
  tcase_add_test(tc, times_are_those_of_one_call);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
