/* tests/spread/check_pme_choose.c - error estimates of PME against measured errors, and what is
 * chosen by them. */
#include "tests/drive/run_pme.h"
#include "tests/test.h"

/* Root mean square of |s.f - exact|. */
static double rms_error(const sample *s)
{
  double sum = 0;
  for (int k = 0; k < 3 * s->c.n; k++)
    sum += (s->f[k] - s->exact_f[k]) * (s->f[k] - s->exact_f[k]);
  return sqrt(sum / s->c.n);
}

START_TEST(estimates_match_measured_errors)
{
  sample s = sample_make(300, 6, 7, 5, true);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  for (double alpha = 0.9; alpha < 2; alpha += 0.5) {
    memset(s.exact_f, 0, 900 * sizeof(double));
    ref_coulomb exact = {.f = s.exact_f};
    ref_ewald_reciprocal(&s.c, alpha, &exact);
    pme_problem problem = {.hi = {6, 7, 5}, .n = 300, .q_sq = 300, .r_cut = 2, .alpha = alpha};
    for (int order = 3; order <= SPREAD_ORDER_MAX; order++)
      for (int mesh = 12; mesh <= 40; mesh += 7) {
        const pme_spec spec = sample_spec(&s, mesh, mesh + 2, mesh, order, alpha);
        problem.order = order;
        memcpy(problem.mesh, spec.mesh, sizeof spec.mesh);
        sample_once(ctx, &spec, &s);
        const double ratio = pme_mesh_error(&problem) / rms_error(&s);
        ck_assert_msg(rms_error(&s) < 1e-11 || (ratio > 0.5 && ratio < 2),
                      "alpha %g order %d mesh %d: estimate / error = %g", alpha, order, mesh,
                      ratio);
      }
    memset(s.f, 0, 900 * sizeof(double));
    memset(s.exact_f, 0, 900 * sizeof(double));
    ref_coulomb cut = {.f = s.f}, all = {.f = s.exact_f};
    ref_ewald_real(&s.c, alpha, problem.r_cut, &cut);
    ref_ewald_real(&s.c, alpha, 0, &all);
    const double ratio = pme_real_error(&problem) / rms_error(&s);
    ck_assert_msg(ratio > 0.5 && ratio < 2, "alpha %g: real space %g", alpha, ratio);
  }
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

/* Modes beyond those of a coarse mesh are lost. */
START_TEST(lost_modes_count)
{
  sample s = sample_make(300, 6, 7, 5, true);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  for (int order = 8; order <= SPREAD_ORDER_MAX; order++) {
    const pme_spec spec = sample_spec(&s, 12, 14, 12, order, 4);
    const pme_problem problem = {.hi = {6, 7, 5},
                                 .mesh = {12, 14, 12},
                                 .n = 300,
                                 .q_sq = 300,
                                 .alpha = spec.alpha,
                                 .order = order};
    memset(s.exact_f, 0, 900 * sizeof(double));
    ref_coulomb exact = {.f = s.exact_f};
    ref_ewald_reciprocal(&s.c, spec.alpha, &exact);
    sample_once(ctx, &spec, &s);
    const double ratio = pme_mesh_error(&problem) / rms_error(&s);
    ck_assert_msg(ratio > 0.7 && ratio < 1.4, "order %d: estimate / error = %g", order, ratio);
  }
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

/* Edges that transforms like: even, without factors above 7, and no larger than that needs.
 * Returns how many are no powers of two. */
static int check_sizes(const pme_problem *p)
{
  int odd = 0;
  for (int d = 0; d < 3; d++) {
    int rest = p->mesh[d];
    for (int factor = 2; factor <= 7; factor++)
      while (rest % factor == 0)
        rest /= factor;
    ck_assert_msg(rest == 1 && p->mesh[d] % 2 == 0, "an edge of %d", p->mesh[d]);
    odd += (p->mesh[d] & (p->mesh[d] - 1)) != 0;
    for (int e = 0; e < 3; e++) { /* alike spacings: sizes are near each other */
      const double here = p->mesh[d] / p->hi[d], there = p->mesh[e] / p->hi[e];
      ck_assert_msg(here < 1.35 * there, "edges of %d and %d", p->mesh[d], p->mesh[e]);
    }
  }
  return odd;
}

/* The mesh makes a charge feel itself: the part of the estimate that does not grow with the
 * number of charges, as errors of pairs do. */
START_TEST(a_charge_alone)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (int order = 4; order <= 8; order++) {
    sample s = sample_make(1, 4, 4, 4, true);
    const pme_spec spec = sample_spec(&s, 12, 12, 12, order, 1.05);
    double sq[2], sum = 0;
    for (int n = 1; n <= 2; n++) {
      const pme_problem problem = {.hi = {4, 4, 4},
                                   .mesh = {12, 12, 12},
                                   .n = n,
                                   .q_sq = n,
                                   .alpha = spec.alpha,
                                   .order = order};
      sq[n - 1] = pow(pme_mesh_error(&problem), 2);
    }
    pme *solver;
    ck_ok(pme_create(ctx, &spec, &solver));
    for (int k = 0; k < 512; k++) { /* 8 x 8 x 8 places in a cell */
      for (int d = 0; d < 3; d++)
        s.x[d] = 4 / 12. * ((k >> 3 * d & 7) + 0.5) / 8;
      sample_compute(solver, ctx, &s);
      for (int d = 0; d < 3; d++)
        sum += s.f[d] * s.f[d] / 512;
    }
    const double ratio = sqrt((2 * sq[0] - sq[1]) / sum);
    ck_assert_msg(ratio > 0.9 && ratio < 1.15, "order %d: estimate / error = %g", order, ratio);
    pme_destroy(solver);
    sample_free(&s);
  }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(a_tolerance_is_met)
{
  static const struct {
    double tolerance;
    int order;
  } table[] = {{0.2, 3},  {0.1, 4},  {3e-3, 4}, {2e-3, 5},
               {1e-4, 6}, {1e-5, 7}, {1e-6, 8}, {1e-8, 10}};
  int odd_factors = 0;
  sample s = sample_make(300, 6, 7, 5, true);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  memset(s.exact_f, 0, 900 * sizeof(double));
  ref_coulomb exact = {.f = s.exact_f};
  ref_ewald_real(&s.c, 1, 0, &exact);
  ref_ewald_reciprocal(&s.c, 1, &exact);
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    const double tolerance = table[k].tolerance;
    pme_problem p = {.hi = {6, 7, 5}, .n = 300, .q_sq = 300, .r_cut = 2.2, .order = table[k].order};
    ck_ok(pme_choose(&p, tolerance));
    const double expected = hypot(pme_real_error(&p), pme_mesh_error(&p));
    ck_assert(expected <= tolerance && expected > tolerance / 2);
    const pme_spec spec = sample_spec(&s, p.mesh[0], p.mesh[1], p.mesh[2], p.order, p.alpha);
    sample_once(ctx, &spec, &s);
    ref_coulomb real = {.f = s.f};
    ref_ewald_real(&s.c, p.alpha, p.r_cut, &real);
    odd_factors += check_sizes(&p);
    const double error = rms_error(&s);
    ck_assert_msg(error < 1.5 * tolerance && error > tolerance / 4,
                  "order %d: asked for %g, expected %g, got %g", p.order, tolerance, expected,
                  error);
  }
  pme_problem given = {.hi = {6, 7, 5}, .n = 300, .q_sq = 300, .r_cut = 2, .order = 5};
  given.alpha = 1.25;
  ck_ok(pme_choose(&given, 1e-3));
  ck_assert(given.alpha == 1.25 && given.mesh[0] > 0);
  ck_assert_int_gt(odd_factors, 3);
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pme_choose");
  TCase *tc = tcase_create("choose");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, estimates_match_measured_errors);
  tcase_add_test(tc, a_charge_alone);
  tcase_add_test(tc, a_tolerance_is_met);
  suite_add_tcase(suite, tc);
  TCase *sums = test_long_case("sums");
  tcase_add_test(sums, lost_modes_count);
  suite_add_tcase(suite, sums);
  return test_main(suite);
}
