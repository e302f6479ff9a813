/* tests/stokes/check_stokes_replicas.c - several noises on one matrix: the first moves the spheres
 * as it would alone, all of them sample the dense inverse. */
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static stokes_run_spec spec_of(int replicas)
{
  stokes_run_spec spec = stokes_run_defaults();
  spec.algorithm = STOKES_ORIGINAL;
  spec.preconditioner = STOKES_PRECONDITION_JACOBI;
  spec.replicas = replicas;
  spec.tolerance = 1e-9;
  return spec;
}

static stokes_step steps(md_ctx *ctx, const stokes_run_spec *spec, int n, stokes_packing *packing)
{
  stokes_run *run;
  stokes_step row;
  ck_ok(stokes_run_create(ctx, spec, packing, &run));
  for (int k = 0; k < n; k++)
    ck_ok(stokes_run_step(run, &row));
  ck_ok(stokes_run_read(run, packing));
  stokes_run_destroy(run);
  return row;
}

/* One step of several replicas is one step of one; the next step has noises of its own. */
START_TEST(the_first_moves_the_spheres)
{
  stokes_packing first = ref_packing(200, 0.4, false, 81), one = ref_copy(&first);
  stokes_packing many = ref_copy(&first), two = ref_copy(&first);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  const stokes_run_spec single = spec_of(1), several = spec_of(5);
  steps(ctx, &single, 1, &one);
  const stokes_step row = steps(ctx, &several, 1, &many);
  ck_assert_int_gt(row.iterations_first, 1);
  ck_assert_int_gt(row.iterations_second, 1);
  double moved = 0;
  for (int64_t k = 0; k < 4 * first.n; k++) {
    ck_assert_double_eq_tol(many.x[k], one.x[k], 1e-6);
    moved = fmax(moved, fabs(one.x[k] - first.x[k]));
  }
  ck_assert_double_gt(moved, 1e-2);
  steps(ctx, &several, 2, &two);
  double apart = 0; /* the second step of five is not the second noise of the first */
  stokes_packing alone = ref_copy(&first);
  steps(ctx, &single, 2, &alone);
  for (int64_t k = 0; k < 4 * first.n; k++)
    apart = fmax(apart, fabs(two.x[k] - alone.x[k]));
  ck_assert_double_gt(apart, 1e-2);
  stokes_packing *all[] = {&first, &one, &many, &two, &alone};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    stokes_packing_free(all[k]);
  md_ctx_destroy(ctx);
}
END_TEST

/* Mean and spread of D_s / D_0 over 64 replicas against the trace of the dense inverse A: the mean
 * is tr A / n, the variance of a sample 2 |A|^2 / n^2; five standard deviations. */
START_TEST(diffusion_is_the_trace)
{
  enum { K = STOKES_VECTORS };
  stokes_packing packing = ref_packing(200, 0.25, _i == 0, 82);
  const stokes_run_spec spec = spec_of(K);
  const int64_t n = 3 * packing.n;
  double *r = ref_resistance(&packing, &spec.law), *a = ref_alloc(n * n, sizeof *a);
  for (int64_t k = 0; k < n * n; k++)
    a[k] = k % (n + 1) == 0;
  ref_solve(r, n, n, a);
  double mean = 0, square = 0;
  for (int64_t k = 0; k < n * n; k++) {
    mean += k % (n + 1) == 0 ? a[k] / (double)n : 0;
    square += a[k] * a[k];
  }
  const double variance = 2 * square / (double)(n * n);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  const stokes_step row = steps(ctx, &spec, 1, &packing);
  ck_assert_double_lt(mean, 0.95);
  ck_assert_double_eq_tol(row.diffusion, mean, 5 * sqrt(variance / K));
  ck_assert_double_eq_tol(row.spread / ((K - 1) * variance), 1, 5 * sqrt(2.0 / (K - 1)));
  free(r);
  free(a);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(what_does_not_go_with_replicas)
{
  stokes_packing packing = ref_packing(100, 0.2, true, 83);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_run_spec spec = spec_of(3);
  stokes_run *run;
  if (_i == 0) spec.algorithm = STOKES_MRHS;
  if (_i == 1) spec.force = STOKES_FORCE_CHEBYSHEV;
  if (_i == 2) spec.method = STOKES_CHOLESKY;
  if (_i == 3) spec.hydrodynamics = STOKES_HYDRODYNAMICS_RPY;
  if (_i == 4) spec.replicas = STOKES_VECTORS + 1;
  ck_assert_int_eq(stokes_run_create(ctx, &spec, &packing, &run), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "replicas"));
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_replicas");
  TCase *tc = tcase_create("replicas");
  tcase_add_test(tc, the_first_moves_the_spheres);
  tcase_add_loop_test(tc, diffusion_is_the_trace, 0, 2);
  tcase_add_loop_test(tc, what_does_not_go_with_replicas, 0, 5);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
