/* tests/stokes/check_rpy_sample.c - random velocities with the covariance of a mobility. */
#include "stokes/step/run.h"
#include "tests/drive/run_rpy.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* Samples u have covariance M where M^-1/2 u is normal: |L^-1 u|^2 of many samples, L L^T = M, is
 * chi-squared, and so is each mode of M. */
START_TEST(samples_have_the_covariance)
{
  enum { N = 12, ROWS = 3 * N, COLUMNS = 64, GROUPS = 60, COUNT = COLUMNS * GROUPS };
  const double box[3] = {6, 7, 5};
  ref_rpy_case c = ref_rpy_random(N, box, 0.4, 0.9, 1);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  const rpy_spec spec = run_rpy_spec(&c, 1e-4);
  rpy *mobility = run_rpy_make(ctx, &spec, &c);
  double *m = run_rpy_dense(ctx, mobility, N, RUN_RPY_WHOLE),
         *u = ref_alloc(ROWS * COLUMNS, sizeof *u), all = 0;
  double mean[ROWS][ROWS] = {{0}}, value[ROWS] = {0};
  for (int row = 0; row < ROWS; row++) /* Cholesky's factor, in place */
    for (int col = 0; col <= row; col++) {
      double sum = m[row * ROWS + col];
      for (int k = 0; k < col; k++)
        sum -= m[row * ROWS + k] * m[col * ROWS + k];
      m[row * ROWS + col] = row == col ? sqrt(sum) : sum / m[col * ROWS + col];
    }
  for (int group = 0; group < GROUPS; group++) {
    run_rpy_sample(ctx, mobility, N, COLUMNS, 7, (uint64_t)group * COLUMNS, u, NULL);
    for (int k = 0; k < COLUMNS; k++) {
      for (int row = 0; row < ROWS; row++) {
        value[row] = u[row * COLUMNS + k];
        for (int col = 0; col < row; col++)
          value[row] -= m[row * ROWS + col] * value[col];
        value[row] /= m[row * ROWS + row];
        all += value[row] * value[row];
        for (int col = 0; col <= row; col++)
          mean[row][col] += value[row] * value[col] / COUNT;
      }
    }
  }
  ck_assert_double_le(fabs(all / ((double)COUNT * ROWS) - 1),
                      4 * sqrt(2.0 / ((double)COUNT * ROWS)));
  for (int row = 0; row < ROWS; row++)
    for (int col = 0; col <= row; col++)
      ck_assert_double_le(fabs(mean[row][col] - (row == col)),
                          4.8 * sqrt((row == col ? 2.0 : 1.0) / COUNT));
  free(m);
  free(u);
  rpy_destroy(mobility);
  md_ctx_destroy(ctx);
  ref_rpy_free(&c);
}
END_TEST

/* The noise of a step is the same alone and among others, for any number of threads. */
START_TEST(samples_belong_to_steps)
{
  const double box[3] = {8, 8, 8};
  ref_rpy_case c = ref_rpy_random(40, box, 0.4, 0.8, 1);
  double *u = ref_alloc(120 * 5, sizeof *u), one[120], many[120], first[120] = {0};
  for (int threads = 1; threads < 4; threads += 2) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, true);
    const rpy_spec spec = run_rpy_spec(&c, 1e-6);
    rpy *mobility = run_rpy_make(ctx, &spec, &c);
    stokes_outcome outcome;
    run_rpy_sample(ctx, mobility, 40, 5, 3, 100, u, &outcome);
    ck_assert_int_gt(outcome.iterations, 1);
    ck_assert_double_le(outcome.residual, spec.tolerance);
    run_rpy_sample(ctx, mobility, 40, 1, 3, 103, one, NULL);
    for (int k = 0; k < 120; k++)
      many[k] = u[5 * k + 3];
    ck_assert_double_le(ref_rpy_error(one, many, 120), 1e-5);
    if (threads == 1) memcpy(first, one, sizeof one);
    ck_assert_int_eq(memcmp(first, one, sizeof one), 0);
    rpy_destroy(mobility);
    md_ctx_destroy(ctx);
  }
  free(u);
  ref_rpy_free(&c);
}
END_TEST

/* A step of Brownian dynamics without much noise moves spheres by dt M F, F the same for all. */
START_TEST(steps_move_by_the_mobility)
{
  enum { N = 60 };
  stokes_packing packing = ref_packing(N, 0.15, true, 7), after = ref_copy(&packing);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_run_spec spec = stokes_run_defaults();
  spec.hydrodynamics = STOKES_HYDRODYNAMICS_RPY;
  spec.root_tolerance = 1e-6;
  spec.dt = 1e-14;
  spec.drive[0] = 2e12, spec.drive[2] = -1e12;
  double f[3 * N], exact[3 * N], moved[3 * N];
  int64_t which[N];
  for (int k = 0; k < 3 * N; k++)
    f[k] = spec.dt * spec.drive[k % 3], which[k / 3] = k / 3;
  const stokes_view view = {N, {packing.box[0], packing.box[1], packing.box[2]}, packing.x};
  ck_ok(rpy_direct(ctx, &view, spec.viscosity, 8, 1, f, N, which, exact));
  stokes_run *run;
  stokes_step step;
  ck_ok(stokes_run_create(ctx, &spec, &packing, &run));
  ck_ok(stokes_run_step(run, &step));
  ck_assert_int_gt(step.order, 0);
  ck_ok(stokes_run_read(run, &after));
  for (int k = 0; k < 3 * N; k++)
    moved[k] = after.x[4 * (k / 3) + k % 3] - packing.x[4 * (k / 3) + k % 3];
  ck_assert_double_le(ref_rpy_error(moved, exact, 3 * N), 2e-3);
  stokes_run_destroy(run);
  md_ctx_destroy(ctx);
  stokes_packing_free(&after);
  stokes_packing_free(&packing);
}
END_TEST

/* Without a force a component moves by 2 dt M_ii in the mean square, and M_ii of spheres of one
 * size is that of one sphere in the box. */
START_TEST(steps_have_the_noise_of_the_mobility)
{
  enum { N = 60, STEPS = 24 };
  stokes_packing packing = ref_packing(N, 0.15, true, 8), before = ref_copy(&packing),
                 after = ref_copy(&packing);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_run_spec spec = stokes_run_defaults();
  spec.hydrodynamics = STOKES_HYDRODYNAMICS_RPY;
  spec.lambda = 10;
  spec.dt = 1e-14;
  const double a = packing.x[3], share = a / packing.box[0];
  const double self = (1 - 2.8372974794806195 * share + 4 * M_PI / 3 * share * share * share) /
                      (6 * M_PI * spec.viscosity * a);
  stokes_run *run;
  stokes_step step;
  double sum = 0, both = 0, last[4 * N] = {0};
  ck_ok(stokes_run_create(ctx, &spec, &packing, &run));
  for (int k = 0; k < STEPS; k++) {
    ck_ok(stokes_run_step(run, &step));
    ck_ok(stokes_run_read(run, &after));
    for (int64_t i = 0; i < 4 * N; i++) {
      const double moved = after.x[i] - before.x[i];
      sum += moved * moved;
      both += moved * last[i];
      last[i] = moved;
      before.x[i] = after.x[i];
    }
  }
  ck_assert_double_le(fabs(sum / (3.0 * N * STEPS * 2 * spec.dt * self) - 1), 0.15);
  ck_assert_double_le(fabs(both / sum), 0.1); /* steps know nothing of each other */
  stokes_run_destroy(run);
  md_ctx_destroy(ctx);
  stokes_packing_free(&after);
  stokes_packing_free(&before);
  stokes_packing_free(&packing);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rpy_sample");
  TCase *tc = tcase_create("samples");
  tcase_set_timeout(tc, 120);
  if (stokes_dense_available()) {
    tcase_add_test(tc, samples_have_the_covariance);
    tcase_add_test(tc, samples_belong_to_steps);
    tcase_add_test(tc, steps_move_by_the_mobility);
    tcase_add_test(tc, steps_have_the_noise_of_the_mobility);
  }
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
