/* tests/force/check_physics.c - what a trajectory must obey: reversibility, order of the
 * integrator, conservation, and the same physics from every way to compute it. */
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

#include <stdio.h>

static const double origin[3] = {0, 0, 0};

static run_md start(const run_spec *spec, const int cells[3], double temperature)
{
  run_case c = run_case_fcc("lattice", cells, origin, 0);
  double *v = run_velocities(c.n, temperature, 11);
  run_md md = run_md_open(spec, &c, v);
  free(v);
  run_case_free(&c);
  return md;
}

static double largest_difference(const double *a, const double *b, int64_t n)
{
  double most = 0;
  for (int64_t k = 0; k < n; k++)
    most = fmax(most, fabs(a[k] - b[k]));
  return most;
}

/* Unwrapped positions, then velocities, by id. */
static double *state_of(run_md *md)
{
  const int64_t n = md->atoms->n;
  double *state = ref_alloc(6 * n, sizeof *state);
  run_md_state(md, state, state + 3 * n, NULL);
  return state;
}

START_TEST(time_runs_backwards)
{
  run_spec spec = run_spec_default();
  run_set_list(&spec.list, _i);
  run_md md = start(&spec, (int[]){8, 8, 8}, 1.4);
  const int64_t n = md.atoms->n;
  double *first = state_of(&md);
  run_md_steps(&md, 400);
  double *middle = state_of(&md);
  run_scale_velocities(md.atoms, -1);
  run_md_steps(&md, 400);
  run_scale_velocities(md.atoms, -1);
  double *last = state_of(&md);
  ck_assert_double_gt(largest_difference(first, middle, 3 * n), 0.5);
  const double x_off = largest_difference(first, last, 3 * n);
  const double v_off = largest_difference(first + 3 * n, last + 3 * n, 3 * n);
  ck_assert_msg(x_off <= 1e-11 && v_off <= 1e-10, "%s: %g and %g away from the start",
                run_spec_text(&spec), x_off, v_off);
  free(first), free(middle), free(last);
  run_md_close(&md);
}
END_TEST

/* Root mean square of the energy's deviation from its start, at the same times for every dt. */
static double energy_error(int per_sample)
{
  enum { SAMPLES = 40 };
  run_spec spec = run_spec_default();
  spec.dt = 0.04 / per_sample;
  spec.every = 0;
  run_md md = start(&spec, (int[]){4, 4, 4}, 1.4);
  const double before = run_md_energy(&md).total;
  double sum = 0;
  for (int k = 0; k < SAMPLES; k++) {
    run_md_steps(&md, per_sample);
    sum += pow(run_md_energy(&md).total - before, 2);
  }
  const double error = sqrt(sum / SAMPLES) / (double)md.atoms->n;
  run_md_close(&md);
  return error;
}

START_TEST(energy_error_falls_as_the_square_of_the_step)
{
  double last = energy_error(8);
  for (int per_sample = 16; per_sample <= 64; per_sample *= 2) {
    const double error = energy_error(per_sample), order = log2(last / error);
    ck_assert_msg(fabs(order - 2) <= 0.1, "dt %g: error %g, order %g", 0.04 / per_sample, error,
                  order);
    last = error;
  }
}
END_TEST

/* Slope of the energy against the step by least squares, after melting; half the usual dt, so that
 * the fluctuations of the energy do not hide it. */
START_TEST(energy_does_not_drift)
{
  enum { SAMPLES = 500, STEPS = 10 };
  run_spec spec = run_spec_default();
  run_md md = start(&spec, (int[]){8, 8, 8}, 1.4);
  run_md_steps(&md, 1500);
  md.spec.dt /= 2;
  double sum_e = 0, sum_te = 0, sum_tt = 0;
  for (int k = 0; k < SAMPLES; k++) {
    run_md_steps(&md, STEPS);
    const double t = STEPS * (k - (SAMPLES - 1) / 2.0), e = run_md_energy(&md).total;
    sum_e += e, sum_te += t * e, sum_tt += t * t;
  }
  const double n = (double)md.atoms->n, drift = sum_te / sum_tt / n;
  ck_assert_msg(fabs(drift) <= 1e-9, "energy %g drifts by %g per atom and step",
                sum_e / SAMPLES / n, drift);
  run_md_close(&md);
}
END_TEST

static const double unit[MD_PRECISION_COUNT] = {0x1p-24, 0x1p-24, 0x1p-53};

/* Momentum and energy are kept, and every precision sees the same liquid. */
START_TEST(precisions_agree_and_conserve)
{
  static const double off[MD_PRECISION_COUNT] = {3e-4, 1e-5, 1e-10};
  run_energy want = {0};
  for (int k = RUN_LISTS * MD_PRECISION_COUNT - 1; k >= 0; k--) { /* double, full comes first */
    run_spec spec = run_spec_default();
    spec.precision = (md_precision)(k / RUN_LISTS);
    run_set_list(&spec.list, RUN_LISTS - 1 - k % RUN_LISTS);
    run_md md = start(&spec, (int[]){6, 5, 7}, 1.44);
    const double n = (double)md.atoms->n, before = run_md_energy(&md).total;
    run_md_steps(&md, 100);
    const run_energy e = run_md_energy(&md);
    if (spec.precision == MD_DOUBLE && spec.list.kind == NEIGHBOR_FULL) want = e;
    for (int d = 0; d < 3; d++)
      ck_assert_msg(fabs(e.momentum[d]) <= 20 * unit[spec.precision] * n, "%s: momentum %g",
                    run_spec_text(&spec), e.momentum[d]);
    ck_assert_msg(fabs(e.total - before) <= 5e-4 * n, "%s: energy went from %.12g to %.12g",
                  run_spec_text(&spec), before / n, e.total / n);
    const double goal = off[spec.precision] * n;
    ck_assert_msg(
        fabs(e.kinetic - want.kinetic) <= goal && fabs(e.virial - want.virial) <= 20 * goal &&
            fabs(e.potential - want.potential) <= goal && fabs(e.total - want.total) <= goal,
        "%s: kinetic %.10g %.10g, potential %.10g %.10g, virial %.10g %.10g", run_spec_text(&spec),
        e.kinetic / n, want.kinetic / n, e.potential / n, want.potential / n, e.virial / n,
        want.virial / n);
    run_md_close(&md);
  }
}
END_TEST

START_TEST(one_atom_flies_straight)
{
  static const double edges[] = {9, 1.25};
  for (int k = 0; k < 2 * RUN_LISTS * MD_PRECISION_COUNT; k++) {
    const double edge = edges[k % 2], v[3] = {1.5, -0.75, 0.25};
    run_case c = {.box = {{0, 0, 0}, {edge, edge, edge}}, .n = 1, .x = ref_alloc(3, 8)};
    run_spec spec = run_spec_default();
    spec.precision = (md_precision)(k / 2 % MD_PRECISION_COUNT);
    run_set_list(&spec.list, k / 2 / MD_PRECISION_COUNT);
    run_md md = run_md_open(&spec, &c, v);
    run_md_steps(&md, 2000);
    double *state = state_of(&md);
    const double within = spec.precision == MD_DOUBLE ? 1e-11 : 3e-3;
    for (int d = 0; d < 3; d++) {
      ck_assert_msg(fabs(state[d] - 10 * v[d]) <= within, "%s, edge %g: at %.12g, not %.12g",
                    run_spec_text(&spec), edge, state[d], 10 * v[d]);
      ck_assert_msg(fabs(state[3 + d] - v[d]) <= (edge > 6 ? 0 : within), "%s, edge %g: v %.12g",
                    run_spec_text(&spec), edge, state[3 + d]);
    }
    free(state);
    run_md_close(&md);
    run_case_free(&c);
  }
}
END_TEST

/* State after some steps of a box of this many cells along each axis, less and more one. */
static double *state_after(const run_spec *spec, int cells, int steps, int64_t *n)
{
  run_md md = start(spec, (int[]){cells, cells - 1, cells + 1}, 1.44);
  run_md_steps(&md, steps);
  double *state = state_of(&md);
  *n = 6 * md.atoms->n;
  run_md_close(&md);
  return state;
}

/* Orderings, lists, stencils, bins, rebuild periods and threads change rounding only. */
START_TEST(every_way_gives_the_same_trajectory)
{
  static const ordering_kind orders[] = {ORDERING_NONE,   ORDERING_ROW,     ORDERING_COLUMN,
                                         ORDERING_MORTON, ORDERING_HILBERT, ORDERING_GILBERT,
                                         ORDERING_RANDOM};
  int64_t n = 0;
  run_spec spec = run_spec_default();
  double *first = state_after(&spec, 5, 50, &n);
  for (int k = 0; k < 7 * RUN_LISTS; k++) {
    spec.list.order.kind = orders[k % 7];
    spec.threads = 1 + k % 3;
    spec.list.stencil = k % 2 ? NEIGHBOR_BLOCK : NEIGHBOR_SPHERE;
    spec.every = (const int[]){10, 0, 3, 7}[k % 4];
    spec.list.bin_size = k % 5;
    run_set_list(&spec.list, k / 7);
    double *other = state_after(&spec, 5, 50, &n);
    const double off = largest_difference(first, other, n);
    ck_assert_msg(off <= 1e-11, "%s: %g away", run_spec_text(&spec), off);
    free(other);
  }
  free(first);
}
END_TEST

/* Deterministic contexts: the same bits again, on the CPU for any number of threads. */
START_TEST(deterministic_runs_repeat)
{
  int64_t n = 0;
  run_spec spec = run_spec_default();
  spec.deterministic = true;
  spec.precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_set_list(&spec.list, _i / MD_PRECISION_COUNT);
  double *first = state_after(&spec, 12, 25, &n);
  for (int threads = 1; threads <= 3; threads++) {
    spec.threads = threads;
    double *again = state_after(&spec, 12, 25, &n);
    ck_assert_msg(memcmp(first, again, (size_t)n * sizeof *again) == 0, "%s: other bits",
                  run_spec_text(&spec));
    free(again);
  }
  free(first);
}
END_TEST

/* Fast atoms and a thin skin: forces are those of direct sums at every step. */
START_TEST(rebuilding_by_displacement_misses_no_pair)
{
  run_spec spec = run_spec_default();
  spec.force.shift = FORCE_SHIFT_NONE;
  spec.skin = 0.25;
  spec.every = 0;
  run_set_list(&spec.list, _i);
  run_md md = start(&spec, (int[]){3, 3, 3}, 4);
  const int64_t n = md.atoms->n;
  double *x = ref_alloc(3 * n, sizeof *x), *f = ref_alloc(3 * n, sizeof *f);
  for (int step = 0; step < 80; step++) {
    run_md_steps(&md, 1);
    run_md_state(&md, x, NULL, f);
    const ref_exactness exact = {1e-14, 0x1p-53};
    ref_forces want = ref_forces_find(&spec.force, &exact, &md.atoms->box, n, x);
    for (int64_t k = 0; k < 3 * n; k++)
      ck_assert_msg(fabs(f[k] - want.f[k]) <= want.slack[k / 3], "step %d: force %.15g, not %.15g",
                    step, f[k], want.f[k]);
    ref_forces_free(&want);
  }
  ck_assert_msg(md.rebuilds > 4 && md.rebuilds < 60, "%lld rebuilds", (long long)md.rebuilds);
  free(x), free(f);
  run_md_close(&md);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("physics");
  TCase *tc = tcase_create("physics");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, precisions_agree_and_conserve);
  tcase_add_test(tc, one_atom_flies_straight);
  tcase_add_test(tc, every_way_gives_the_same_trajectory);
  tcase_add_loop_test(tc, deterministic_runs_repeat, 0, RUN_LISTS * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, rebuilding_by_displacement_misses_no_pair, 0, RUN_LISTS);
  suite_add_tcase(suite, tc);
  TCase *many = test_long_case("many steps");
  tcase_add_loop_test(many, time_runs_backwards, 0, RUN_LISTS);
  tcase_add_test(many, energy_error_falls_as_the_square_of_the_step);
  tcase_add_test(many, energy_does_not_drift);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
