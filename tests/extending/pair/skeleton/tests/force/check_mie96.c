/* tests/force/check_mie96.c - the pair formula against its definition, the slope of its energy and
 * direct sums over all pairs, by every list and in every precision. */
#include "tests/drive/run_md.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static const force_spec variants[] = {
    {.epsilon = 1, .sigma = 1, .r_cut = 2.5, .shift = FORCE_SHIFT_NONE, .formula = FORCE_MIE96},
    {.epsilon = 2, .sigma = 0.9, .r_cut = 2.2, .shift = FORCE_SHIFT_ENERGY, .formula = FORCE_MIE96},
    {.epsilon = 1, .sigma = 1, .r_cut = 2.5, .shift = FORCE_SHIFT_FORCE, .formula = FORCE_MIE96}};
enum { VARIANTS = 3 };

/* The slow twin: energy and force without a shift, from the definition. */
static void plain_pair(const force_spec *spec, long double r, long double *u, long double *f)
{
  (void)spec, (void)r;
  *u = *f = 0;
  ck_abort_msg("fill in the definition of mie96: U and -dU/dr");
}

/* The same with the shift that force.h describes. */
static void pair(const force_spec *spec, long double r, long double *u, long double *f)
{
  long double u_cut, f_cut;
  plain_pair(spec, r, u, f);
  plain_pair(spec, spec->r_cut, &u_cut, &f_cut);
  if (spec->shift != FORCE_SHIFT_NONE) *u -= u_cut;
  if (spec->shift != FORCE_SHIFT_FORCE) return;
  *u += (r - spec->r_cut) * f_cut;
  *f -= f_cut;
}

START_TEST(pair_is_the_definition_and_its_slope)
{
  const force_spec *spec = &variants[_i];
  for (double r = 0.8 * spec->sigma; r < 0.99 * spec->r_cut; r += 0.01) {
    const double h = 1e-5 * r;
    double u, f_over_r, below, above, unused;
    long double want_u, want_f;
    pair(spec, r, &want_u, &want_f);
    force_pair(spec, r, &u, &f_over_r);
    force_pair(spec, r - h, &below, &unused);
    force_pair(spec, r + h, &above, &unused);
    const double scale = fabs((double)want_f) + spec->epsilon;
    ck_assert_msg(fabs(u - (double)want_u) <= 1e-13 * scale, "U(%g) is %.15g", r, u);
    ck_assert_msg(fabs(f_over_r * r - (double)want_f) <= 1e-13 * scale, "F(%g) is %.15g", r,
                  f_over_r * r);
    ck_assert_msg(fabs((above - below) / (2 * h) + f_over_r * r) <= 1e-6 * scale, "slope at %g", r);
  }
  double u, f_over_r;
  force_pair(spec, spec->r_cut, &u, &f_over_r);
  ck_assert(u == 0 && f_over_r == 0);
}
END_TEST

/* Forces [n][3] and the energy of atoms in a box by sums over all pairs. */
static double direct_sum(const force_spec *spec, const run_case *c, double *f)
{
  ref_pairs pairs = ref_pairs_find(&c->box, c->n, c->x, spec->r_cut);
  long double energy = 0;
  memset(f, 0, (size_t)(3 * c->n) * sizeof *f);
  for (int64_t k = 0; k < pairs.n; k++) {
    const ref_pair *p = &pairs.pair[k];
    long double u, f_pair;
    pair(spec, p->r, &u, &f_pair);
    energy += u / 2;
    for (int d = 0; d < 3; d++)
      f[3 * p->i + d] += (double)(f_pair * p->d[d] / p->r);
  }
  ref_pairs_free(&pairs);
  return (double)energy;
}

START_TEST(forces_equal_direct_sums)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  const double goal = precision == MD_DOUBLE ? 1e-11 : 1e-4;
  run_case c = run_case_fcc("liquid", (int[]){4, 4, 4}, (double[]){0, 0, 0}, 0.1);
  double *want = ref_alloc(3 * c.n, sizeof *want), *f = ref_alloc(3 * c.n, sizeof *f);
  run_spec spec = run_spec_default();
  spec.force = variants[_i / MD_PRECISION_COUNT];
  spec.precision = precision;
  const double energy = direct_sum(&spec.force, &c, want);
  for (int l = 0; l < RUN_LISTS; l++) {
    force_tally tally = {0};
    run_set_list(&spec.list, l);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    run_md_state(&md, NULL, NULL, f);
    ck_assert_msg(fabs(tally.energy - energy) <= goal * fabs(energy), "%s: energy %.15g, not %.15g",
                  run_spec_text(&spec), tally.energy, energy);
    for (int64_t k = 0; k < 3 * c.n; k++)
      ck_assert_msg(fabs(f[k] - want[k]) <= goal * 100, "%s: force %.15g, not %.15g",
                    run_spec_text(&spec), f[k], want[k]);
    run_md_close(&md);
  }
  free(want), free(f);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("mie96");
  TCase *tc = tcase_create("mie96");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, pair_is_the_definition_and_its_slope, 0, VARIANTS);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, VARIANTS * MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
