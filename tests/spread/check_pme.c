/* tests/spread/check_pme.c - smooth PME: Madelung's constant of rock salt, energy, forces and
 * virial against Ewald's sum, derivatives, what is refused. */
#include "tests/drive/run_pme.h"
#include "tests/test.h"

/* The terms that PME computes, by the plain sum; f in s->exact_f. */
static ref_coulomb reference(sample *s, double alpha)
{
  memset(s->exact_f, 0, (size_t)s->c.n * sizeof(double[3]));
  ref_coulomb exact = {.f = s->exact_f};
  ref_ewald_reciprocal(&s->c, alpha, &exact);
  ref_ewald_constant(&s->c, alpha, &exact);
  return exact;
}

START_TEST(madelung_constant_of_rock_salt)
{
  static const struct {
    int mesh, order;
    double error;
  } table[] = {{16, 4, 7.5e-5}, {16, 5, 3.2e-6}, {16, 6, 8.5e-7}, {16, 7, 8.5e-7},
               {16, 8, 3.2e-8}, {32, 4, 4.5e-6}, {32, 5, 4.4e-8}, {32, 6, 9.6e-9},
               {32, 7, 9.6e-9}, {32, 8, 6.2e-11}};
  static const double MADELUNG = 1.7475645946331822, ALPHA = 2;
  static const double SHIFT[] = {.123, .456, .789};
  sample s = sample_make(8, 2, 2, 2, true);
  for (int i = 0; i < 8; i++) {
    const int at[] = {i & 1, i >> 1 & 1, i >> 2};
    for (int d = 0; d < 3; d++)
      s.x[3 * i + d] = at[d] + SHIFT[d];
    s.q[i] = (at[0] + at[1] + at[2]) % 2 ? -1 : 1;
  }
  ref_coulomb real = {.f = s.exact_f};
  memset(s.exact_f, 0, 24 * sizeof(double));
  ref_ewald_real(&s.c, ALPHA, 0, &real);
  ck_assert_double_eq_tol(real.energy, -.110133348308538, 1e-14);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    const int mesh = table[k].mesh;
    const pme_spec spec = sample_spec(&s, mesh, mesh, mesh, table[k].order, ALPHA);
    const pme_tally t = sample_once(ctx, &spec, &s);
    ck_assert_double_eq_tol(t.self, -9.027033336764100, 1e-14);
    ck_assert_double_eq_tol(t.background, 0, 1e-30);
    const double error = fabs(-(real.energy + tally_total(&t)) / 4 / MADELUNG - 1);
    ck_assert_msg(error <= 1.02 * table[k].error, "mesh %d order %d: error %g, expected %g", mesh,
                  table[k].order, error, table[k].error);
  }
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

/* Meshes and orders, even and odd, fine enough for the last digits. */
static const struct {
  int k[3], order;
  double tolerance; /* double */
} fine[] = {{{64, 80, 60}, 10, 1e-12}, {{63, 81, 75}, 9, 1e-12}, {{90, 96, 80}, 8, 1e-12}};

START_TEST(agrees_with_the_plain_sum)
{
  static const double limit[] = {2e-5, 2e-5, 0};
  for (int net = 0; net < 2; net++) {
    sample s = sample_make(60, 4.1, 5.3, 3.7, !net);
    const double alpha = 0.7;
    const ref_coulomb exact = reference(&s, alpha);
    for (int precision = 0; precision < MD_PRECISION_COUNT; precision++) {
      md_ctx *ctx = test_ctx((md_precision)precision, 2, false);
      const pme_spec spec =
          sample_spec(&s, fine[_i].k[0], fine[_i].k[1], fine[_i].k[2], fine[_i].order, alpha);
      const pme_tally t = sample_once(ctx, &spec, &s);
      const double most = precision == MD_DOUBLE ? fine[_i].tolerance : limit[precision];
      const double force = sample_difference(3 * s.c.n, s.f, s.exact_f);
      ck_assert_msg(force <= most, "force error %g", force);
      ck_assert_double_eq_tol(tally_total(&t), exact.energy, most * fabs(exact.energy));
      ck_assert_double_eq_tol(t.virial, exact.virial, most * fabs(t.self));
      md_ctx_destroy(ctx);
    }
    sample_free(&s);
  }
}
END_TEST

/* With real space the total may not depend on alpha: also for a net charge, by the background. */
START_TEST(alpha_only_splits_the_sum)
{
  for (int net = 0; net < 2; net++) {
    sample s = sample_make(40, 3.1, 4.0, 3.6, !net);
    ref_coulomb exact = reference(&s, 1.4);
    ref_ewald_real(&s.c, 1.4, 0, &exact);
    double *all = malloc((size_t)s.c.n * sizeof(double[3]));
    memcpy(all, s.exact_f, (size_t)s.c.n * sizeof(double[3]));
    md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
    const pme_spec spec = sample_spec(&s, 80, 96, 90, 10, 0.8);
    const pme_tally t = sample_once(ctx, &spec, &s);
    ref_coulomb sum = {tally_total(&t), t.virial, s.f};
    ref_ewald_real(&s.c, 0.8, 0, &sum);
    ck_assert(net ? t.background < -0.1 : fabs(t.background) < 1e-30);
    const double size = fabs(t.reciprocal) + fabs(t.self) + fabs(t.background); /* they cancel */
    ck_assert_double_eq_tol(sum.energy, exact.energy, 1e-13 * size);
    ck_assert_double_eq_tol(sum.virial, exact.virial, 1e-12 * size);
    ck_assert_double_eq_tol(sum.energy, sum.virial, 1e-12 * size); /* U ~ 1 / r */
    ck_assert_double_le(sample_difference(3 * s.c.n, s.f, all), 1e-12);
    md_ctx_destroy(ctx);
    free(all);
    sample_free(&s);
  }
}
END_TEST

/* Meshes so coarse that every mode counts, also the last ones of even and odd edges. */
static const int coarse[][3] = {{14, 15, 12}, {12, 14, 13}, {11, 10, 10}};
enum { N_COARSE = sizeof coarse / sizeof *coarse };

START_TEST(every_mode_of_a_coarse_mesh)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  sample s = sample_make(9, 2, 2.5, 1.5, false);
  for (int order = 3; order <= SPREAD_ORDER_MAX; order++) {
    const pme_spec spec = sample_spec(&s, coarse[_i][0], coarse[_i][1], coarse[_i][2], order, 9);
    const ref_coulomb exact = sample_mesh_sum(&spec, &s);
    const pme_tally t = sample_once(ctx, &spec, &s);
    const double virial = t.virial - 3 * t.background;
    ck_assert_msg(fabs(t.reciprocal / exact.energy - 1) < 1e-12, "order %d: %.17g, expected %.17g",
                  order, t.reciprocal, exact.energy);
    ck_assert_msg(fabs(virial - exact.virial) < 1e-12 * exact.energy,
                  "order %d: virial %.17g, expected %.17g", order, virial, exact.virial);
  }
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

START_TEST(forces_are_derivatives)
{
  static const double H = 1e-4;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  sample s = sample_make(12, 4, 5, 3, false);
  for (int order = 4; order <= SPREAD_ORDER_MAX; order++) {
    const pme_spec spec = sample_spec(&s, coarse[_i][0], coarse[_i][1], coarse[_i][2], order, 1.1);
    pme *solver;
    ck_ok(pme_create(ctx, &spec, &solver));
    sample_compute(solver, ctx, &s);
    memcpy(s.exact_f, s.f, 36 * sizeof(double));
    for (int k = 0; k < 36; k += 5) {
      const double at = s.x[k];
      s.x[k] = at + H;
      const pme_tally above = sample_compute(solver, ctx, &s);
      s.x[k] = at - H;
      const pme_tally below = sample_compute(solver, ctx, &s);
      s.x[k] = at;
      const double slope = (above.reciprocal - below.reciprocal) / (2 * H);
      ck_assert_double_eq_tol(s.exact_f[k], -slope, 2e-6);
    }
    pme_destroy(solver);
  }
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

START_TEST(virial_is_a_derivative)
{
  static const double H = 1e-4;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  double energy[2];
  sample s = sample_make(30, 4, 5, 3, false);
  const pme_spec spec = sample_spec(&s, 14, 15, 12, 5, 1.1);
  const pme_tally middle = sample_once(ctx, &spec, &s);
  for (int up = 0; up < 2; up++) {
    sample scaled = sample_make(30, 4, 5, 3, false);
    const double by = exp(up ? H : -H);
    for (int d = 0; d < 3; d++)
      scaled.c.edge[d] *= by;
    for (int k = 0; k < 90; k++)
      scaled.x[k] *= by;
    const pme_spec there = sample_spec(&scaled, 14, 15, 12, 5, 1.1);
    const pme_tally t = sample_once(ctx, &there, &scaled);
    energy[up] = tally_total(&t);
    sample_free(&scaled);
  }
  ck_assert_double_eq_tol(middle.virial, (energy[0] - energy[1]) / (2 * H),
                          1e-6 * fabs(middle.virial));
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

START_TEST(methods_agree_and_repeat)
{
  if (!spread_method_on((spread_method)_i, test_backend())) return;
  sample s = sample_make(500, 4.1, 5.3, 3.7, true);
  pme_spec spec = sample_spec(&s, 20, 27, 18, 6, 1.5);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  const pme_tally first = sample_once(ctx, &spec, &s);
  memcpy(s.exact_f, s.f, 1500 * sizeof(double));
  spec.method = (spread_method)_i;
  const pme_tally t = sample_once(ctx, &spec, &s);
  ck_assert_double_le(sample_difference(1500, s.f, s.exact_f), 1e-13);
  ck_assert_double_eq_tol(t.reciprocal, first.reciprocal, 1e-12 * first.reciprocal);
  md_ctx_destroy(ctx);
  if (!spread_method_ordered(spec.method, test_backend())) return sample_free(&s);
  for (int threads = 1; threads <= 3; threads++) {
    ctx = test_ctx(MD_DOUBLE, threads, true);
    const pme_tally again = sample_once(ctx, &spec, &s);
    if (threads == 1) memcpy(s.exact_f, s.f, 1500 * sizeof(double));
    ck_assert_int_eq(memcmp(s.exact_f, s.f, 1500 * sizeof(double)), 0);
    ck_assert_double_eq_tol(again.reciprocal, first.reciprocal, 1e-12 * first.reciprocal);
    md_ctx_destroy(ctx);
  }
  sample_free(&s);
}
END_TEST

START_TEST(number_of_charges_may_change)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  sample many = sample_make(300, 4, 4, 4, true), few = sample_make(3, 4, 4, 4, true);
  sample none = sample_make(0, 4, 4, 4, true);
  const pme_spec spec = sample_spec(&many, 24, 24, 24, 6, 1);
  const pme_tally alone = sample_once(ctx, &spec, &few);
  pme *solver;
  ck_ok(pme_create(ctx, &spec, &solver));
  sample_compute(solver, ctx, &many);
  const pme_tally empty = sample_compute(solver, ctx, &none);
  ck_assert(tally_total(&empty) == 0 && empty.virial == 0);
  const pme_tally after = sample_compute(solver, ctx, &few);
  ck_assert_double_eq_tol(tally_total(&after), tally_total(&alone),
                          1e-13 * fabs(tally_total(&alone)));
  pme_report report;
  pme_describe(solver, &report);
  ck_assert_int_eq(report.spread.particles, 3);
  ck_assert(report.bytes > 24 * 24 * 24 * 16);
  pme_destroy(solver);
  sample_free(&many), sample_free(&few), sample_free(&none);
  md_ctx_destroy(ctx);
}
END_TEST

static void refused(md_ctx *ctx, pme_spec spec, md_status expected, const char *word)
{
  pme *solver = NULL;
  ck_assert_int_eq(pme_create(ctx, &spec, &solver), expected);
  ck_assert_ptr_null(solver);
  ck_assert_msg(strstr(md_message(), word) != NULL, "%s", md_message());
}

START_TEST(bad_input_is_refused)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  sample s = sample_make(10, 4, 4, 4, true);
  const pme_spec good = sample_spec(&s, 16, 16, 16, 4, 1);
  static const double bad[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    pme_spec spec = good;
    spec.alpha = bad[k];
    refused(ctx, spec, MD_EINVAL, "alpha");
    pme_problem p = {.hi = {4, 4, 4}, .n = 10, .q_sq = 10, .r_cut = 1, .order = 4};
    ck_assert_int_eq(pme_choose(&p, bad[k]), MD_EINVAL);
    p.r_cut = bad[k];
    ck_assert_int_eq(pme_choose(&p, 1e-3), MD_EINVAL);
  }
  refused(ctx, sample_spec(&s, 16, 16, 16, 2, 1), MD_EINVAL, "order 3");
  refused(ctx, sample_spec(&s, 16, 16, 16, 11, 1), MD_EINVAL, "order");
  refused(ctx, sample_spec(&s, 16, 3, 16, 4, 1), MD_EINVAL, "axis 2");
  refused(ctx, sample_spec(&s, 4096, 4096, 4096, 4, 1), MD_ECAPACITY, "2^32");
  pme_problem none = {.hi = {4, 4, 4}, .n = 10, .r_cut = 1, .order = 4};
  ck_assert_int_eq(pme_choose(&none, 1e-3), MD_EINVAL);
  none.q_sq = 10;
  ck_assert_int_eq(pme_choose(&none, 1e-300), MD_ECAPACITY);
  pme *solver;
  ck_ok(pme_create(ctx, &good, &solver));
  s.x[7] = NAN;
  md_buffer x4 = {0};
  sample_upload(ctx, &s, &x4);
  const pme_charges charges = {10, x4.data, 4, (double *)x4.data + 3, 4};
  ck_assert_int_eq(pme_compute(solver, &charges, NULL, NULL), MD_EINVAL);
  ck_assert(strstr(md_message(), "particle 2 ") != NULL);
  md_buffer_free(ctx, &x4);
  pme_destroy(solver);
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pme");
  TCase *sums = tcase_create("sums"), *rules = tcase_create("rules");
  tcase_set_timeout(sums, 60);
  tcase_add_test(sums, madelung_constant_of_rock_salt);
  tcase_add_loop_test(sums, agrees_with_the_plain_sum, 0, sizeof fine / sizeof *fine);
  tcase_add_test(sums, alpha_only_splits_the_sum);
  tcase_add_loop_test(sums, every_mode_of_a_coarse_mesh, 0, N_COARSE);
  tcase_add_loop_test(sums, forces_are_derivatives, 0, N_COARSE);
  tcase_add_test(sums, virial_is_a_derivative);
  tcase_add_loop_test(sums, methods_agree_and_repeat, 0, SPREAD_METHOD_COUNT);
  tcase_set_timeout(rules, 60);
  tcase_add_test(rules, number_of_charges_may_change);
  tcase_add_test(rules, bad_input_is_refused);
  suite_add_tcase(suite, sums);
  suite_add_tcase(suite, rules);
  return test_main(suite);
}
