/* tests/engine/check_fastest.c - the greatest v^2 against a loop over a copy of the velocities. */
#include "engine/integrate/integrate.h"
#include "tests/drive/run_cases.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static const int64_t sizes[] = {0, 1, 2, 15, 33, 1000, 4099};
enum { SIZES = 7 };

/* n atoms with velocities v [n][3] in a box of 10 x 10 x 10. */
static md_atoms *make_atoms(md_ctx *ctx, int64_t n, const double *v)
{
  run_case c = {.box = {{0, 0, 0}, {10, 10, 10}}, .n = n, .x = ref_alloc(3 * n, sizeof *c.x)};
  uint64_t seed = 3;
  for (int64_t k = 0; k < 3 * n; k++)
    c.x[k] = 10 * ref_uniform(&seed);
  md_atoms *atoms = run_case_atoms(ctx, &c, v);
  run_case_free(&c);
  return atoms;
}

/* The slow twin. */
static double greatest(const md_atoms *atoms)
{
  run_snapshot s = run_snapshot_take(atoms);
  double most = 0;
  for (int64_t i = 0; i < s.n; i++) {
    double v_sq = 0;
    for (int d = 0; d < 3; d++)
      v_sq += s.v[3 * i + d] * s.v[3 * i + d];
    most = fmax(most, v_sq);
  }
  run_snapshot_free(&s);
  return most;
}

START_TEST(fastest_is_the_greatest_of_all)
{
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < 3 * SIZES; k++) {
    const int64_t n = sizes[k / 3];
    double *v = run_velocities(n, 1.3, 23), got = -1;
    md_ctx *ctx = test_ctx(precision, 1 + k % 3, false);
    md_atoms *atoms = make_atoms(ctx, n, v);
    const double want = greatest(atoms);
    ck_ok(integrate_fastest(atoms, &got));
    ck_assert_msg(fabs(got - want) <= 1e-15 * want, "%lld atoms: %.17g, not %.17g", (long long)n,
                  got, want);
    md_atoms_destroy(atoms);
    md_ctx_destroy(ctx);
    free(v);
  }
}
END_TEST

/* A velocity that is none must show wherever it is. */
START_TEST(not_a_number_shows)
{
  const int64_t n = 100;
  for (int64_t lost = 0; lost < 3 * n; lost += 7) {
    double *v = run_velocities(n, 1.3, 23), got = 0;
    v[lost] = NAN;
    md_ctx *ctx = test_ctx((md_precision)_i, 2, false);
    md_atoms *atoms = make_atoms(ctx, n, v);
    ck_ok(integrate_fastest(atoms, &got));
    ck_assert_msg(isnan(got), "component %lld is lost, and v^2 is %g", (long long)lost, got);
    md_atoms_destroy(atoms);
    md_ctx_destroy(ctx);
    free(v);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("fastest");
  TCase *tc = tcase_create("fastest");
  tcase_add_loop_test(tc, fastest_is_the_greatest_of_all, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, not_a_number_shows, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
