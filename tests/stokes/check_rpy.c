/* tests/stokes/check_rpy.c - mobilities against sums in long double, the exact series of one
 * sphere, and what every mobility has: symmetry, positivity, no mean velocity. */
#include "stokes/mobility/rpy_table.h"
#include "tests/drive/run_rpy.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* 6 pi eta a u / F = 1 - 2.837... a/L + 4 pi/3 (a/L)^3, exactly, for any a/L. */
START_TEST(one_sphere_has_an_exact_series)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  for (double a = 0.05; a < 0.36; a += 0.05) {
    double x[4] = {0.31, 0.77, 5.2, a}, f[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[9];
    ref_rpy_case c = {.view = {1, {1, 1, 1}, x}, .viscosity = 1.3, .m = 3};
    const rpy_spec spec = run_rpy_tight(&c, 9, 1);
    const double exact =
        (1 - 2.8372974794806195 * a + 4 * M_PI / 3 * a * a * a) / (6 * M_PI * c.viscosity * a);
    rpy *mobility = run_rpy_make(ctx, &spec, &c);
    run_rpy_multiply(ctx, mobility, RUN_RPY_WHOLE, 1, 3, f, u);
    for (int k = 0; k < 9; k++)
      ck_assert_double_le(fabs(u[k] / exact - f[k]), 1e-12);
    rpy_destroy(mobility);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Twenty radii from 0.2 to 1.1 that overlap and engulf each other, in a box with unequal edges. */
START_TEST(any_radii_and_overlaps)
{
  const double box[3] = {7, 9, 6};
  ref_rpy_case c = ref_rpy_random(20, box, 0.2, 1.1, 2);
  double *one = ref_alloc(120, sizeof *one), *other = ref_alloc(120, sizeof *other), *direct;
  int64_t which[20];
  for (int k = 0; k < 20; k++)
    which[k] = k;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  direct = ref_alloc(120, sizeof *direct);
  ref_rpy_product(&c, 0.6, one);
  ref_rpy_product(&c, 1.1, other);
  ck_assert_double_le(ref_rpy_error(one, other, 120), 1e-14);
  const rpy_spec spec = run_rpy_tight(&c, 0.9, 20);
  ck_assert_double_le(run_rpy_error(ctx, &spec, &c, one), 1e-10);
  ck_ok(rpy_direct(ctx, &c.view, c.viscosity, 14, 2, c.f, 20, which, direct));
  ck_assert_double_le(ref_rpy_error(direct, one, 120), 1e-12);
  ck_ok(rpy_direct(ctx, &c.view, c.viscosity, 4, 2, c.f, 7, which + 5, direct));
  ck_assert_double_le(ref_rpy_error(direct, one + 30, 42), 1e-4);
  md_ctx_destroy(ctx);
  free(direct);
  free(one);
  free(other);
  ref_rpy_free(&c);
}
END_TEST

/* Symmetric up to rounding, and no eigenvalue below `least` times the largest. */
static void check_positive(double *m, int64_t rows, double rounding, double least)
{
  double *value = ref_alloc(rows, sizeof *value), most = 0, off = 0;
  for (int64_t k = 0; k < rows * rows; k++) {
    most = fmax(most, fabs(m[k]));
    off = fmax(off, fabs(m[k] - m[k % rows * rows + k / rows]));
  }
  ck_assert_double_le(off, rounding * most);
  ref_eigenvalues(m, rows, value);
  ck_assert_double_ge(value[0], least * value[rows - 1]);
  free(value);
  free(m);
}

/* Also where the mesh is much too coarse for the far part, which then is wrong but no less
 * positive. */
START_TEST(symmetric_and_positive)
{
  const double box[3] = {8, 9, 7};
  ref_rpy_case c = ref_rpy_random(25, box, 0.4, 1, 1);
  for (int precision = MD_MIXED; precision <= MD_DOUBLE; precision++) {
    md_ctx *ctx = test_ctx((md_precision)precision, 2, true);
    const double rounding = precision == MD_DOUBLE ? 1e-14 : 2e-6;
    rpy_spec spec = run_rpy_spec(&c, 1e-3);
    rpy *mobility = run_rpy_make(ctx, &spec, &c);
    for (int part = 0; part < 3; part++)
      check_positive(run_rpy_dense(ctx, mobility, 25, (run_rpy_part)part), 75, rounding,
                     part == RUN_RPY_FAR ? -rounding : 1e-4);
    rpy_destroy(mobility);
    spec.split = (rpy_split){1.2, 2, {6, 8, 7}, 5, 2};
    mobility = run_rpy_make(ctx, &spec, &c);
    check_positive(run_rpy_dense(ctx, mobility, 25, RUN_RPY_FAR), 75, rounding, -rounding);
    rpy_destroy(mobility);
    md_ctx_destroy(ctx);
  }
  ref_rpy_free(&c);
}
END_TEST

/* Nothing depends on where the box begins, images or the order of spheres; the mean velocity under
 * equal spheres' forces is what the near part leaves: less than the tolerance. */
START_TEST(places_are_relative)
{
  const double box[3] = {10, 11, 12};
  ref_rpy_case c = ref_rpy_random(50, box, 0.3, 1, 3);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  rpy_spec spec = run_rpy_spec(&c, 1e-4);
  rpy *mobility = run_rpy_make(ctx, &spec, &c);
  rpy_report report;
  double *before = run_rpy_velocities(ctx, mobility, &c), *after;
  rpy_describe(mobility, &report);
  for (int64_t k = 0; k < 200; k++) /* by three mesh points, and whole boxes */
    if (k % 4 < 3)
      c.x[k] += box[k % 4] * (3.0 / report.split.mesh[k % 4] + (k % 7 == 0 ? -5 : k % 3));
  ck_ok(run_rpy_set(ctx, mobility, &c.view));
  after = run_rpy_velocities(ctx, mobility, &c);
  ck_assert_double_le(ref_rpy_error(after, before, 450), 1e-11);
  free(after);
  for (int64_t k = 0; k < 200; k++)
    if (k % 4 < 3) c.x[k] += 0.123 + 0.1 * (double)(k % 4);
  ck_ok(run_rpy_set(ctx, mobility, &c.view));
  after = run_rpy_velocities(ctx, mobility, &c);
  ck_assert_double_le(ref_rpy_error(after, before, 450), 1.5e-4);
  free(after);
  free(before);
  rpy_destroy(mobility);
  md_ctx_destroy(ctx);
  ref_rpy_free(&c);
}
END_TEST

START_TEST(many_vectors_are_many_of_one)
{
  const double box[3] = {12, 12, 12};
  ref_rpy_case c = ref_rpy_random(80, box, 0.5, 0.9, 7);
  for (int threads = 1; threads < 4; threads += 2) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, true);
    const rpy_spec spec = run_rpy_spec(&c, 1e-3);
    rpy *mobility = run_rpy_make(ctx, &spec, &c);
    double *all = run_rpy_velocities(ctx, mobility, &c), f[240], u[240], one[240];
    for (int k = 0; k < 7; k++) {
      for (int i = 0; i < 240; i++)
        f[i] = c.f[7 * i + k], one[i] = all[7 * i + k];
      run_rpy_multiply(ctx, mobility, RUN_RPY_WHOLE, 80, 1, f, u);
      ck_assert_double_le(ref_rpy_error(one, u, 240), 1e-14);
    }
    free(all);
    rpy_destroy(mobility);
    md_ctx_destroy(ctx);
  }
  ref_rpy_free(&c);
}
END_TEST

/* Cubics by gap are f and g as single precision has them, for radii near and far from each
 * other. */
START_TEST(tables_are_the_formula)
{
  static const double pairs[][4] = {/* a, b, xi, cut */
                                    {1, 1, 0.3, 6.8}, {1, 1, 0.8, 1.9},  {1, 1, 1, 7},
                                    {1, 5, 0.2, 9},   {0.2, 3, 0.4, 17}, {4, 4, 0.6, 2.8}};
  rpy_cubic table[RPY_STEPS];
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    const double a = pairs[k][0], b = pairs[k][1], xi = pairs[k][2], cut = pairs[k][3];
    const double scale = 1 / (6 * M_PI * 1.3 * fmax(a, b));
    rpy_table_fill(a, b, xi, 1.3, cut, table);
    for (int s = 0; s <= 1000; s++) {
      const double gap = cut * s / 1000;
      const rpy_block exact = rpy_near_pair(a + b + gap, a, b, xi, 1.3);
      const rpy_rounded found = rpy_table_at(table, (float)gap, (float)(RPY_STEPS / cut));
      ck_assert_double_le(fabs((double)found.f - exact.f), 2e-7 * scale);
      ck_assert_double_le(fabs((double)found.g - exact.g), 2e-7 * scale);
    }
  }
  int n = 0;
  for (int q = 0; q < 5; q++)
    for (int p = 0; p <= q; p++, n++) {
      ck_assert_int_eq(rpy_table_of(p, q), n);
      ck_assert_int_eq(rpy_table_of(q, p), n);
    }
}
END_TEST

/* f and g where surfaces touch, from outside and from within, are what they are beside. */
START_TEST(contact_is_nothing_special)
{
  static const double at[][3] = {/* r, a, b */ {2, 1, 1}, {3, 1, 2}, {1, 1, 2}, {0.5, 0.75, 0.25}};
  for (size_t k = 0; k < sizeof at / sizeof *at; k++)
    for (int side = -1; side <= 1; side += 2) {
      const double r = at[k][0], a = at[k][1], b = at[k][2];
      const rpy_block here = rpy_near_pair(r, a, b, 0.5, 1);
      const rpy_block beside = rpy_near_pair(r + side * 1e-9, a, b, 0.5, 1);
      ck_assert_double_le(fabs(here.f - beside.f), 1e-9);
      ck_assert_double_le(fabs(here.g - beside.g), 1e-9);
    }
}
END_TEST

/* With the same split single precision is double precision, rounded: spheres of three sizes of
 * which some overlap, for every way in which vectors are taken. */
START_TEST(single_is_double_rounded)
{
  const double box[3] = {9, 10, 11};
  ref_rpy_case c = ref_rpy_random(150, box, 0.3, 0.6, 40);
  for (int64_t i = 0; i < 150; i++)
    c.x[4 * i + 3] = 0.3 + 0.15 * (double)(i % 3);
  rpy_spec spec = run_rpy_spec(&c, 1e-4);
  spec.split = (rpy_split){0.9, 2.2, {24, 24, 30}, 6, 2};
  double *u[2], *f = ref_alloc(450 * 40, sizeof *f);
  for (int m = 1; m <= 40; m = m == 1 ? 3 : m == 3 ? 8 : m == 8 ? 16 : m + 24) {
    spec.vectors = m;
    for (int64_t k = 0; k < 450; k++)
      for (int v = 0; v < m; v++)
        f[k * m + v] = c.f[k * 40 + v];
    for (int part = RUN_RPY_NEAR; part <= RUN_RPY_FAR; part++) {
      for (int which = 0; which < 2; which++) {
        md_ctx *ctx = test_ctx(which ? MD_DOUBLE : MD_MIXED, 2, true);
        rpy *mobility = run_rpy_make(ctx, &spec, &c);
        u[which] = ref_alloc(450 * m, sizeof *u[which]);
        run_rpy_multiply(ctx, mobility, (run_rpy_part)part, 150, m, f, u[which]);
        rpy_destroy(mobility);
        md_ctx_destroy(ctx);
      }
      const double error = ref_rpy_error(u[0], u[1], 450 * m);
      ck_assert_msg(error < 2e-6, "%d vectors, part %d: error %g", m, part, error);
      free(u[0]);
      free(u[1]);
    }
  }
  free(f);
  ref_rpy_free(&c);
}
END_TEST

/* A mobility takes products with more and with fewer vectors than it was made for, and spheres that
 * change in number and in radius. */
START_TEST(vectors_and_spheres_may_change)
{
  const double box[3] = {12, 12, 12};
  ref_rpy_case c = ref_rpy_random(90, box, 0.5, 0.9, 5);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  rpy_spec spec = run_rpy_spec(&c, 1e-5);
  for (spec.vectors = 1; spec.vectors <= 40; spec.vectors += 39) {
    rpy *mobility = run_rpy_make(ctx, &spec, &c);
    double *whole = run_rpy_dense(ctx, mobility, 90, RUN_RPY_WHOLE),
           *u = run_rpy_velocities(ctx, mobility, &c);
    for (int64_t row = 0; row < 270; row++)
      for (int v = 0; v < 5; v++) {
        double sum = 0;
        for (int64_t col = 0; col < 270; col++)
          sum += whole[row * 270 + col] * c.f[5 * col + v];
        ck_assert_double_le(fabs(u[5 * row + v] - sum), 1e-12);
      }
    const double a = c.x[3];
    c.view.n = 80, c.x[3] = 0.7;
    ck_ok(run_rpy_set(ctx, mobility, &c.view));
    double *few = run_rpy_velocities(ctx, mobility, &c), *exact = ref_alloc(240 * 5, sizeof *exact);
    ref_rpy_product(&c, 0.8, exact);
    ck_assert_double_le(ref_rpy_error(few, exact, 240 * 5), 2e-5);
    c.view.n = 90, c.x[3] = a;
    free(exact);
    free(few);
    free(u);
    free(whole);
    rpy_destroy(mobility);
  }
  md_ctx_destroy(ctx);
  ref_rpy_free(&c);
}
END_TEST

static void refused(md_ctx *ctx, const rpy_spec *spec, const ref_rpy_case *c, const char *words)
{
  rpy *mobility = NULL;
  md_status status = rpy_create(ctx, spec, &mobility);
  if (!status) status = run_rpy_set(ctx, mobility, &c->view);
  ck_assert_int_eq(status, MD_EINVAL);
  ck_assert_msg(strstr(md_message(), words) != NULL, "no '%s' in: %s", words, md_message());
  rpy_destroy(mobility);
}

START_TEST(refused_in_words)
{
  const double box[3] = {10, 10, 10};
  ref_rpy_case c = ref_rpy_random(30, box, 0.5, 0.9, 1);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true), *mixed = test_ctx(MD_MIXED, 1, true),
         *single = test_ctx(MD_SINGLE, 1, true);
  const rpy_spec good = run_rpy_spec(&c, 1e-3);
  double u[90];
  rpy_spec bad = good;
  bad.tolerance = 0;
  refused(ctx, &bad, &c, "tolerance must be 1e-12 to 0.1");
  bad.tolerance = 1e-6;
  refused(mixed, &bad, &c, "tolerance must be 1e-05 to 0.1 in this precision");
  refused(single, &good, &c, "expected the precision mixed or double");
  bad = good, bad.viscosity = -1;
  refused(ctx, &bad, &c, "viscosity must be > 0");
  bad = good, bad.box[1] = INFINITY;
  refused(ctx, &bad, &c, "needs a periodic box");
  bad = good, bad.box[2] = 11;
  refused(ctx, &bad, &c, "an edge of 10, the mobility in one of 11");
  bad = good, bad.vectors = 0;
  refused(ctx, &bad, &c, "takes 1 to");
  bad = good, bad.split.order = 3;
  refused(ctx, &bad, &c, "order of the B-splines must be 4 to 10");
  bad = good, bad.split.order = 4;
  refused(ctx, &bad, &c, "together with xi only");
  bad = good, bad.split = (rpy_split){0.5, 2, {8, 8, 8}, 4, 48};
  refused(ctx, &bad, &c, "a rank of 48 needs as many");
  c.x[4 * 17 + 3] = -0.5;
  refused(ctx, &good, &c, "sphere 18: its radius must be > 0");
  c.x[4 * 17 + 3] = 0.5;
  c.x[4 * 3] = NAN;
  refused(ctx, &good, &c, "finite");
  rpy *mobility;
  ck_ok(rpy_create(ctx, &good, &mobility));
  ck_assert_int_eq(rpy_multiply(mobility, 1, c.f, u), MD_EINVAL);
  rpy_destroy(mobility);
  md_ctx_destroy(ctx);
  md_ctx_destroy(mixed);
  md_ctx_destroy(single);
  ref_rpy_free(&c);
}
END_TEST

/* Many spheres of which some reach across half the box. */
START_TEST(reach_is_refused_in_words)
{
  const double box[3] = {40, 40, 6};
  ref_rpy_case c = ref_rpy_random(1001, box, 1.6, 1.6, 1);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  const rpy_spec good = run_rpy_spec(&c, 1e-3);
  refused(ctx, &good, &c, "the box edge 6 is too short");
  md_ctx_destroy(ctx);
  ref_rpy_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rpy");
  TCase *tc = tcase_create("rpy");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, one_sphere_has_an_exact_series);
  tcase_add_test(tc, any_radii_and_overlaps);
  tcase_add_test(tc, symmetric_and_positive);
  tcase_add_test(tc, places_are_relative);
  tcase_add_test(tc, many_vectors_are_many_of_one);
  tcase_add_test(tc, tables_are_the_formula);
  tcase_add_test(tc, contact_is_nothing_special);
  tcase_add_test(tc, single_is_double_rounded);
  tcase_add_test(tc, vectors_and_spheres_may_change);
  tcase_add_test(tc, refused_in_words);
  tcase_add_test(tc, reach_is_refused_in_words);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
