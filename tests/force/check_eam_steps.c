/* tests/force/check_eam_steps.c - steps of embedded atoms; what must change no bit of forces. */
#include "engine/integrate/integrate.h"
#include "tests/force/eam_copper.h"

/* Forces with and without sums, for which a kernel has an instance each: the same bits, or a
 * restart would go another way than the run that it goes on with. */
START_TEST(sums_change_no_bit)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_spec spec = spec_of(knots_of(_i < MD_PRECISION_COUNT, precision), precision);
  run_case c = copper_case(3, spec.precision);
  double *with = ref_alloc(3 * c.n, sizeof *with), *f = ref_alloc(3 * c.n, sizeof *f);
  for (int list = 0; list < RUN_LISTS; list++) {
    if (!has_list(list)) continue;
    force_tally tally;
    run_set_list(&spec.list, list);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    run_md_state(&md, NULL, NULL, with);
    run_md_force(&md, NULL);
    run_md_state(&md, NULL, NULL, f);
    ck_assert_msg(memcmp(f, with, (size_t)(3 * c.n) * sizeof *f) == 0, "%s",
                  run_spec_text(&md.spec));
    run_md_close(&md);
  }
  free(with), free(f);
  run_case_free(&c);
}
END_TEST

/* Full lists, and half lists in a deterministic context: the same bits for any threads. */
START_TEST(threads_change_no_bit)
{
  run_spec spec = spec_of("500", (md_precision)_i);
  spec.deterministic = true;
  run_case c = copper_case(3, spec.precision);
  double *first = ref_alloc(3 * c.n, sizeof *first), *f = ref_alloc(3 * c.n, sizeof *f);
  force_tally tally, one = {0};
  for (int k = 0; k < 3 * RUN_LISTS; k++) {
    if (!has_list(k / 3)) continue;
    run_set_list(&spec.list, k / 3);
    spec.threads = k % 3 + 1;
    compute(&spec, &c, &tally, k % 3 ? f : first);
    if (k % 3 == 0) one = tally;
    if (k % 3) ck_assert(memcmp(f, first, (size_t)(3 * c.n) * sizeof *f) == 0);
    ck_assert(memcmp(&tally, &one, sizeof one) == 0);
  }
  free(first), free(f);
  run_case_free(&c);
}
END_TEST

/* Least-squares slope of the total energy of an atom over 4000 steps of 2.5 fs near 800 K, by mass
 * 1, once the first 1000 have shared out kinetic and potential energy, of which the energy that
 * the integrator keeps has other parts of order dt^2. */
START_TEST(steps_keep_the_energy)
{
  enum { SAMPLES = 400, EVERY = 10 };
  run_spec spec = spec_of("2000", MD_DOUBLE);
  run_set_list(&spec.list, _i ? RUN_TRACED : 0);
  spec.every = 0;
  spec.skin = 1;
  spec.dt = 0.0308;
  run_case c = copper_case(0, MD_DOUBLE);
  double *v = run_velocities(c.n, 0.12, 3), sum_xy = 0, sum_xx = 0;
  run_md md = run_md_open(&spec, &c, v);
  const run_energy before = run_md_energy(&md);
  run_md_steps(&md, 1000);
  const double start = run_md_energy(&md).total;
  for (int k = 0; k < SAMPLES; k++) {
    run_md_steps(&md, EVERY);
    const double x = EVERY * (k - (SAMPLES - 1) / 2.0);
    sum_xy += x * (run_md_energy(&md).total - start) / (double)c.n;
    sum_xx += x * x;
  }
  const run_energy after = run_md_energy(&md);
  const double temperature = 2 * after.kinetic / (3 * (double)c.n - 3) / 8.617e-5;
  ck_assert_msg(temperature > 300 && temperature < 1500, "%g K", temperature);
  ck_assert_msg(fabs(sum_xy / sum_xx) <= 1e-9, "drift of %g eV a step", sum_xy / sum_xx);
  for (int d = 0; d < 3; d++)
    ck_assert_double_eq_tol(after.momentum[d], before.momentum[d], 1e-9);
  free(v);
  run_md_close(&md);
  run_case_free(&c);
}
END_TEST

/* Steps whose second pass also moves atoms, and their images, are the bits of forces, kicks, drift
 * and new images one after the other; several at once as well. */
START_TEST(fused_steps_are_single_steps)
{
  enum { STEPS = 5 };
  const double kick = 1e-3, drift = 1e-2;
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_spec spec = spec_of(knots_of(_i < MD_PRECISION_COUNT, precision), precision);
  spec.list.kind = NEIGHBOR_TILE;
  run_case c = copper_case(3, spec.precision);
  double *v = run_velocities(c.n, 1, 5);
  run_snapshot state[2];
  for (int fused = 0; fused < 2; fused++) {
    run_md md = run_md_open(&spec, &c, v);
    ck_assert(force_advances(md.fc, md.list));
    if (fused) {
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, 1, NULL));
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, STEPS - 1, NULL));
    }
    for (int k = 0; k < STEPS && !fused; k++) {
      run_md_force(&md, NULL);
      ck_ok(integrate_advance(md.atoms, &kick, 2, drift));
      ck_ok(comm_forward(md.cm, md.atoms));
    }
    state[fused] = run_snapshot_take(md.atoms);
    run_md_close(&md);
  }
  run_snapshots_match(state);
  free(v);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("eam_steps");
  TCase *tc = tcase_create("steps");
  tcase_add_checked_fixture(tc, files_begin, end);
  tcase_set_timeout(tc, 120);
  const int kinds = test_backend() == MD_GPU ? 2 : 1; /* full lists, and tiles */
  tcase_add_loop_test(tc, sums_change_no_bit, 0, kinds * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, threads_change_no_bit, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, steps_keep_the_energy, 0, kinds);
  if (test_backend() == MD_GPU)
    tcase_add_loop_test(tc, fused_steps_are_single_steps, 0, 2 * MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
