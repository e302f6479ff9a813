/* tests/force/check_eam.c - embedded-atom potentials: files and functions. */
#include "force/eam/eam.h"
#include "minimd/shell/commands.h"
#include "tests/drive/files.h"
#include "tests/ref/ref_eam.h"
#include "tests/test.h"

#include <stdio.h>

/* The file that `minimd potential` writes; valid until files_end. */
static const char *copper(const char *name, const char *knots)
{
  const char *path = files_path(name);
  char *argv[] = {"potential", "--knots", (char *)knots, "-o", (char *)path};
  ck_ok(cmd_potential(5, argv));
  return path;
}

static eam_potential read_copper(const char *name, const char *knots)
{
  eam_potential eam;
  ck_ok(eam_read(copper(name, knots), &eam));
  return eam;
}

START_TEST(functions_are_those_of_the_file)
{
  eam_potential eam = read_copper("cu", "400");
  ref_eam want = ref_eam_read(files_path("cu"));
  ck_assert_str_eq(eam.element, "Cu");
  ck_assert_double_eq(eam.mass, 63.55);
  ck_assert_double_eq(eam.cutoff, 4.95);
  uint64_t seed = 1;
  for (int k = 0; k < 20000; k++) {
    const double r = 0.02 + 5 * ref_uniform(&seed), rho = 65 * ref_uniform(&seed);
    double got[3], slope[3];
    got[0] = eam_embed(&eam, rho, &slope[0]);
    got[1] = eam_density(&eam, r, &slope[1]);
    got[2] = eam_pair(&eam, r, &slope[2]);
    for (int what = 0; what < 3; what++) {
      long double d;
      const double at = what == 0 ? rho : r;
      const long double value = ref_eam_at(&want, (ref_eam_what)what, at, &d);
      const double size = 1e-12 * (1 + fabs((double)value)), steep = 1e-10 * (1 + fabs((double)d));
      ck_assert_msg(fabs(got[what] - (double)value) <= size, "function %d at %g: %.17g, not %.17g",
                    what, at, got[what], (double)value);
      ck_assert_msg(fabs(slope[what] - (double)d) <= steep, "slope %d at %g: %.17g, not %.17g",
                    what, at, slope[what], (double)d);
    }
  }
  ref_eam_free(&want);
  eam_free(&eam);
}
END_TEST

/* A file of more knots is nearer to the functions that it tabulates; least where their third
 * derivatives jump, at the start of the switch. */
START_TEST(tables_come_near_the_exact_functions)
{
  static const char *const knots[] = {"2000", "10000"};
  static const double most[] = {2e-6, 6e-8};
  const ref_eam exact = ref_eam_copper();
  for (int k = 0; k < 2; k++) {
    eam_potential eam = read_copper(knots[k], knots[k]);
    for (double r = 2; r < 5; r += 0.00137) {
      long double d;
      double slope;
      const long double phi = ref_eam_at(&exact, REF_EAM_PAIR, r, &d);
      ck_assert_msg(fabs(eam_pair(&eam, r, &slope) - (double)phi) <= most[k] / 10, "phi at %g", r);
      ck_assert_msg(fabs(slope - (double)d) <= most[k], "phi' at %g: off by %g", r,
                    slope - (double)d);
      const long double rho = ref_eam_at(&exact, REF_EAM_DENSITY, r, &d);
      ck_assert_msg(fabs(eam_density(&eam, r, &slope) - (double)rho) <= most[k] / 10, "rho at %g",
                    r);
      ck_assert_msg(fabs(slope - (double)d) <= most[k], "rho' at %g", r);
    }
    eam_free(&eam);
  }
}
END_TEST

/* Cubics are what splines of five points reproduce, but next to the ends. */
START_TEST(cubics_are_exact)
{
  enum { N = 12 };
  double f[N], slope;
  for (int k = 0; k < N; k++) {
    const double x = 0.5 * k;
    f[k] = 1 - 2 * x + 0.5 * x * x - 0.25 * x * x * x;
  }
  eam_curve curve;
  ck_ok(eam_curve_make(f, N, 0.5, &curve));
  for (double x = 1; x <= 4.5; x += 0.01) {
    const double want = 1 - 2 * x + 0.5 * x * x - 0.25 * x * x * x, d = -2 + x - 0.75 * x * x;
    ck_assert_double_eq_tol(eam_curve_at(&curve, x, &slope), want, 1e-13);
    ck_assert_double_eq_tol(slope, d, 1e-12);
  }
  ck_assert_double_eq(eam_curve_at(&curve, 1e300, &slope), f[N - 1]);
  ck_assert(isnan(eam_curve_at(&curve, NAN, &slope)));
  free(curve.knot);
}
END_TEST

START_TEST(embedding_goes_on_linearly)
{
  eam_potential eam = read_copper("cu", "200");
  double end_slope, slope;
  const double end = eam_embed(&eam, 60, &end_slope);
  ck_assert(!eam_embed_beyond(&eam, 59.999) && eam_embed_beyond(&eam, 60.001));
  for (double rho = 60; rho < 1e4; rho *= 1.7) {
    ck_assert_double_eq_tol(eam_embed(&eam, rho, &slope), end + (rho - 60) * end_slope, 1e-9);
    ck_assert_double_eq_tol(slope, end_slope, 1e-12);
  }
  eam_free(&eam);
}
END_TEST

static const char setfl[] = "one\ntwo\nthree\n1 Xx\n5 0.5 6 0.25 1.25\n1 2.5 3 fcc\n"
                            "0 -1 -1.5\n-1.75 -2\n 1 2 3 4 5 6\n\n0 2 4 6 8 10\n";
static const char funcfl[] = "a comment\n1 2.5 3 fcc\n5 0.5 6 0.25 1.25\n0 -1 -1.5 -1.75 -2\n"
                             "6 5 4 3 2 1\n1 2 3 4 5 6 \n\n";

START_TEST(both_formats_are_read)
{
  eam_potential a, b;
  double slope;
  ck_ok(eam_read(files_text("a", setfl), &a));
  ck_ok(eam_read(files_text("b", funcfl), &b));
  ck_assert_str_eq(a.element, "Xx");
  ck_assert_str_eq(b.element, "");
  ck_assert_double_eq(a.mass, b.mass);
  ck_assert_double_eq(a.cutoff, b.cutoff);
  for (double at = 0; at < 3; at += 0.1) {
    ck_assert_double_eq(eam_embed(&a, at, &slope), eam_embed(&b, at, &slope));
    ck_assert_double_eq(eam_density(&a, at, &slope), eam_density(&b, at, &slope));
  }
  ck_assert_double_eq_tol(eam_pair(&a, 0.5, &slope), 4 / 0.5, 1e-13);
  ck_assert_double_eq_tol(eam_pair(&b, 0.5, &slope), 27.2 * 0.529 * 16 / 0.5, 1e-12);
  ck_assert_double_eq(eam_pair(&b, 1.25, &slope), 0);
  eam_free(&a);
  eam_free(&b);
}
END_TEST

/* What is replaced in a good file, and what the message must hold. */
static const struct {
  const char *text, *old, *new, *message;
} bad[] = {
    {setfl, "1 Xx", "2 Xx Yy", "file:4: 2 elements: expected 1"},
    {setfl, "1 Xx", "1 Abcdefghijklmnopqrst", "file:4: 'Abcdefghijklmnopqrst'"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 6 0.25", "file:5: expected 'n_rho d_rho n_r d_r cutoff'"},
    {setfl, "5 0.5 6 0.25 1.25", "4 0.5 6 0.25 1.25", "file:5: n_rho: "},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 6e0 0.25 1.25", "file:5: n_r: "},
    {setfl, "5 0.5 6 0.25 1.25", "5 -0.5 6 0.25 1.25", "file:5: d_rho -0.5"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 6 0 1.25", "expected all > 0"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 6 0.25 1.6", "file:5: cutoff 1.6: expected at most"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 6000 0.25 1.25", "cannot be in a file of"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 7 0.25 1.25", "file:12: the file ends after 5 of 7 values"},
    {setfl, "5 0.5 6 0.25 1.25", "5 0.5 5 0.25 1.25", "file:11: '8' behind the last table"},
    {setfl, "1 2.5 3 fcc", "1 -2.5 3 fcc", "file:6: expected a mass > 0"},
    {setfl, "1 2.5 3 fcc", "1", "file:6: expected 'Z mass"},
    {setfl, "-1.75", "nan", "file:8: F: "},
    {setfl, "1 2 3 4", "1 2 x 4", "file:9: rho: "},
    {setfl, "8 10", "8 1e999", "file:11: r phi: "},
    {setfl, "0 2 4 6 8 10\n", "", "the file ends after 0 of 6 values of r phi"},
    {funcfl, "1 2.5 3 fcc", "1 zwei 3 fcc", "file:2: mass: "},
    {funcfl, "1 2.5 3 fcc\n5 0.5", "1 2.5 3 fcc\n5.5 0.5", "file:3: n_rho: "},
    {funcfl, "6 5 4", "1e200 5 4", "Z: its square is not finite"},
    {funcfl, "4 5 6 ", "4 5", "the file ends after 5 of 6 values of rho"},
    {funcfl, "4 5 6 ", "4 5 6 7", "file:6: '7' behind the last table"},
};
enum { N_BAD = sizeof bad / sizeof *bad };

START_TEST(bad_files_are_named)
{
  const char *path = files_text("file", files_edit(bad[_i].text, bad[_i].old, bad[_i].new));
  eam_potential eam;
  ck_assert_int_eq(eam_read(path, &eam), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), bad[_i].message), "'%s' is not in '%s'", bad[_i].message,
                md_message());
  ck_assert_ptr_null(eam.embed.knot);
}
END_TEST

START_TEST(files_cut_anywhere_are_refused)
{
  const char *const whole[] = {setfl, funcfl};
  for (int k = 0; k < 2; k++)
    for (size_t length = 0; length < strlen(whole[k]) - 5; length++) {
      eam_potential eam;
      const md_status status = eam_read(files_write("cut", whole[k], length), &eam);
      ck_assert_msg(status == MD_EINVAL, "cut at %zu: status %d", length, (int)status);
    }
  eam_potential eam;
  ck_assert_int_eq(eam_read(files_path("none"), &eam), MD_EIO);
}
END_TEST

/* Sums of the file's functions over the pairs of the oracle, which has exact ones. */
START_TEST(oracle_of_exact_functions)
{
  ref_eam_oracle oracle = ref_eam_oracle_read();
  eam_potential eam = read_copper("cu", "10000");
  ref_pairs pairs = ref_pairs_find(&oracle.box, oracle.n, oracle.x, eam.cutoff);
  double *rho = ref_alloc(oracle.n, sizeof *rho), *own = ref_alloc(oracle.n, sizeof *own);
  double slope;
  for (int64_t k = 0; k < pairs.n; k++) {
    rho[pairs.pair[k].i] += eam_density(&eam, (double)pairs.pair[k].r, &slope);
    own[pairs.pair[k].i] += eam_pair(&eam, (double)pairs.pair[k].r, &slope) / 2;
  }
  for (int64_t i = 0; i < oracle.n; i++) {
    own[i] += eam_embed(&eam, rho[i], &slope);
    ck_assert_msg(fabs(rho[i] - oracle.density[i]) <= 1e-10, "density of %d: off by %g", (int)i,
                  rho[i] - oracle.density[i]);
    ck_assert_msg(fabs(own[i] - oracle.own[i]) <= 1e-10, "energy of %d: off by %g", (int)i,
                  own[i] - oracle.own[i]);
  }
  free(rho), free(own);
  ref_pairs_free(&pairs);
  eam_free(&eam);
  ref_eam_oracle_free(&oracle);
}
END_TEST

/* The slow reference itself, by exact functions, is what the oracle has. */
START_TEST(reference_is_the_oracle)
{
  ref_eam_oracle oracle = ref_eam_oracle_read();
  const ref_eam exact = ref_eam_copper();
  ref_eam_sums got = ref_eam_find(&exact, &oracle.box, oracle.n, oracle.x);
  const double edge = oracle.box.hi[0];
  const double pressure = got.virial / (3 * edge * edge * edge) * 1.602176634e6;
  ck_assert_double_eq_tol(got.energy, oracle.energy, 1e-9);
  ck_assert_double_eq_tol(pressure, oracle.pressure, 1e-6);
  for (int64_t k = 0; k < 3 * oracle.n; k++)
    ck_assert_msg(fabs(got.f[k] - oracle.f[k]) <= 1e-12, "force %d off by %g", (int)k,
                  got.f[k] - oracle.f[k]);
  for (int64_t i = 0; i < oracle.n; i++) {
    ck_assert_msg(fabs(got.own[i] - oracle.own[i]) <= 1e-12, "energy of %d", (int)i);
    ck_assert_msg(fabs(got.density[i] - oracle.density[i]) <= 1e-12, "density of %d", (int)i);
  }
  ref_eam_sums_free(&got);
  ref_eam_oracle_free(&oracle);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("eam");
  TCase *tc = tcase_create("files and functions");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, functions_are_those_of_the_file);
  tcase_add_test(tc, tables_come_near_the_exact_functions);
  tcase_add_test(tc, cubics_are_exact);
  tcase_add_test(tc, embedding_goes_on_linearly);
  tcase_add_test(tc, both_formats_are_read);
  tcase_add_loop_test(tc, bad_files_are_named, 0, N_BAD);
  tcase_add_test(tc, files_cut_anywhere_are_refused);
  tcase_add_test(tc, oracle_of_exact_functions);
  tcase_add_test(tc, reference_is_the_oracle);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
