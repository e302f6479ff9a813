/* tests/force/eam_words.h - pairs of embedded atoms as GPU kernels compute them, in the
 * precision of MD_PREC, against the functions of eam.h. */
#ifndef EAM_WORDS_H
#define EAM_WORDS_H

#include "core/context_impl.h"
#include "force/eam/eam_pair.h"
#include "minimd/shell/commands.h"
#include "tests/drive/files.h"
#include "tests/ref/ref_eam.h"
#include "tests/test.h"

typedef struct {
  double rho, f_over_r, energy;
} words_pair;

static void cubic_at(const eam_word *table, int32_t m, real c[4])
{
  const eam_word two[2] = {table[m], table[MD_PREC == 2 ? m + 1 : m]};
  eam_between(two, c);
}

static words_pair pair_at(const force *fc, const eam_potential *eam, double r, double slopes)
{
  const int64_t n = eam_words(fc, eam);
  const bool wide = MD_PREC == 2;
  const eam_word *rho = fc->density_knots.data, *others = fc->force_knots.data;
  const real r_sq = (real)(r * r);
  const double cut_sq = eam->cutoff * eam->cutoff;
  const eam_grid grid = {
      .r_cut_sq = (real)cut_sq,
      .inv_step = (real)(wide ? 1 / eam->density.step : EAM_SQUARES / cut_sq),
      .last = (real)(n - (wide ? 2 : 1)),
  };
  const eam_spot at = eam_locate(&grid, r_sq, (real)(1 / r));
  real c[4], z[4], s[4], u[4];
  cubic_at(rho, at.m, c);
  cubic_at(others, at.m, z);
  cubic_at(wide ? rho : others + n, at.m, s);
  if (!wide) cubic_at(others + 2 * n, at.m, u);
  return (words_pair){eam_cubic(c, at.p), eam_pull(&grid, at, z, s, (real)slopes),
                      wide ? eam_cubic(z, at.p) * at.inv_r : eam_cubic(u, at.p)};
}

/* rho, force and energy within these parts of their own size and of that at 2.5 A. */
static const double words_goal = MD_PREC == 2 ? 1e-12 : 1e-6;

START_TEST(words_are_the_functions)
{
  static const char *const knots[] = {"300", "2000"};
  md_ctx *ctx = test_ctx(MD_PREC == 2 ? MD_DOUBLE : MD_SINGLE, 1, false);
  force *fc;
  eam_potential eam;
  const char *path = files_path("cu");
  char *argv[] = {"potential", "--knots", (char *)knots[_i], "-o", (char *)path};
  ck_ok(cmd_potential(5, argv));
  ck_ok(eam_read(path, &eam));
  ck_ok(force_create(ctx, &(force_spec){.epsilon = 1, .sigma = 1, .r_cut = 1}, &fc));
  ck_ok(eam_set_words(fc, &eam));
  double d_rho, d_phi;
  const double rho_size = eam_density(&eam, 2.5, &d_rho), phi_size = eam_pair(&eam, 2.5, &d_phi);
  const double f_size = fabs(d_phi) + fabs(d_rho);
  for (double r = 1; r < eam.cutoff; r += 0.000731) {
    const double slopes = -0.1;
    const double rho = eam_density(&eam, r, &d_rho), phi = eam_pair(&eam, r, &d_phi);
    const double f = -(d_phi + slopes * d_rho) / r;
    const words_pair got = pair_at(fc, &eam, r, slopes);
    ck_assert_msg(fabs(got.rho - rho) <= words_goal * (rho + rho_size), "rho(%g): %g, not %g", r,
                  got.rho, rho);
    ck_assert_msg(fabs(got.energy - phi) <= words_goal * (phi + phi_size), "phi(%g): %g, not %g", r,
                  got.energy, phi);
    ck_assert_msg(fabs(got.f_over_r - f) <= 3 * words_goal * (fabs(f) + f_size),
                  "f(%g): %g, not %g", r, got.f_over_r, f);
  }
  /* Any number finds words that there are. */
  static const double odd[] = {0, 1e-9, 0.1, 4.9499999, 4.95, 5, 1e6};
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
    (void)pair_at(fc, &eam, odd[k], 1);
  force_destroy(fc);
  eam_free(&eam);
  md_ctx_destroy(ctx);
}
END_TEST

/* The packed words of a potential of so many knots. */
typedef struct {
  eam_potential eam;
  eam_packing packing;
  eam_packed *words;
  int64_t n; /* of each function */
} words_packed;

static words_packed packed_of(const char *knots)
{
  words_packed p = {.n = EAM_PACKED_MOST};
  const char *path = files_path(knots);
  char *argv[] = {"potential", "--knots", (char *)knots, "-o", (char *)path};
  ck_ok(cmd_potential(5, argv));
  ck_ok(eam_read(path, &p.eam));
  if (MD_PREC == 2) p.n = eam_wide_words(&p.eam);
  p.words = calloc((size_t)(EAM_PACKED_FUNCTIONS * p.n + 1), sizeof *p.words);
  return p;
}

static void pack(words_packed *p)
{
#if MD_PREC == 2
  eam_pack_wide(&p->eam, (uint32_t *)p->words, &p->packing);
#else
  eam_pack(&p->eam, (uint32_t *)p->words, &p->packing);
#endif
}

static void packed_free(words_packed *p)
{
  free(p->words);
  eam_free(&p->eam);
}

static double packed_at(const words_packed *p, eam_function which, double r)
{
#if MD_PREC == 2
  const eam_scale *scale = p->packing.wide;
  const int bits = 0;
  const int32_t first = p->packing.first, end = p->packing.end;
#else
  const eam_scale *scale = p->packing.units;
  const int bits = which == EAM_OF_DENSITY ? EAM_DENSITY_BITS : EAM_FORCE_BITS;
  const int32_t first = 1, end = eam_pack_words(&p->packing, which) - 1;
#endif
  const eam_grid grid = {
      .packed = (real)p->packing.per, .first = p->packing.first, .end = p->packing.end};
  const eam_spot at = eam_locate_packed(&grid, scale + which, (real)(r * r), (real)r, bits);
  ck_assert_int_ge(at.m - EAM_FROM, first);
  ck_assert_int_lt(at.m - EAM_FROM, end);
  return (double)eam_unpack(p->words[p->n * (int)which + at.m - EAM_FROM], scale + which, at);
}

/* Packed words are as good as cubics from the first on, by knots near and far from each other: in
 * double to these parts of their own size and of that at 2.5 A. */
static const double packed_goal = MD_PREC == 2 ? 1e-11 : 2e-6;
START_TEST(packed_words_are_the_functions)
{
  static const char *const knots[] = {"500", "2000"};
  words_packed p = packed_of(knots[_i]);
  pack(&p);
#if MD_PREC == 2
  const double start = (p.packing.first + 1) / p.packing.per;
#else
  const double start = sqrt((double)eam_as_float((uint32_t)p.packing.first) / p.packing.per) + 1e-6;
#endif
  ck_assert_double_gt(start, 0.39 * p.eam.cutoff);
  ck_assert_double_lt(start, 0.42 * p.eam.cutoff);
  for (int f = 0; f < EAM_PACKED_FUNCTIONS; f++) {
    const double size = fabs(eam_of_square(&p.eam, (eam_function)f, 2.5 * 2.5));
    for (double r = start; r < p.eam.cutoff; r += 0.0000731) {
      const double want = eam_of_square(&p.eam, (eam_function)f, (double)(real)(r * r));
      const double got = packed_at(&p, (eam_function)f, r);
      ck_assert_msg(fabs(got - want) <= packed_goal * (fabs(want) + size),
                    "function %d at %g: %.17g, not %.17g", f, r, got, want);
    }
  }
  packed_free(&p);
}
END_TEST

/* Files whose numbers jump have no packed words, in double none whose words would not fit. */
START_TEST(some_files_are_not_packed)
{
  words_packed p = packed_of("2000");
  for (int64_t m = 0; m < p.eam.density.n; m++)
    p.eam.density.knot[m][0] *= 1 + 1e-5 * (double)(m % 2);
  pack(&p);
  ck_assert_int_eq(p.packing.end, 0);
  packed_free(&p);
  p = packed_of("3000");
  if (MD_PREC == 2) ck_assert_int_eq(eam_wide_words(&p.eam), 0);
  packed_free(&p);
}
END_TEST

static int words_main(const char *name)
{
  Suite *suite = suite_create(name);
  TCase *tc = tcase_create("words");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  if (test_backend() == MD_CPU) tcase_add_loop_test(tc, words_are_the_functions, 0, 2);
  tcase_add_loop_test(tc, packed_words_are_the_functions, 0, 2);
  tcase_add_test(tc, some_files_are_not_packed);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}

#endif
