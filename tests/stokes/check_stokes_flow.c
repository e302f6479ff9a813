/* tests/stokes/check_stokes_flow.c - far flow with lubrication: solutions and their covariance
 * against dense matrices that are written down from the formulas, residuals, threads, and the
 * drift of a step. */
#include "stokes/step/flow.h"
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_flow.h"
#include "tests/ref/ref_rpy.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

#include <math.h>

/* The step once more, for what it does with a probe. */
#define stokes_flow_step unit_step
#include "stokes/step/flow_step.c"
#undef stokes_flow_step

static const stokes_resistance law = {1, 0.5, 1e-3};
static const double viscosity = 0.2162;

/* Spheres with their pairs in a flow. */
typedef struct {
  md_ctx *ctx;
  ref_suspension s;
  stokes_pair_view list;
  stokes_flow *flow;
} stream;

static stream make_stream(const stokes_packing *p, int threads, double mobility, double tolerance,
                          int vectors)
{
  stream t;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, threads, true}, &t.ctx));
  t.s = ref_suspend(t.ctx, p, law.gap_cut);
  t.list = stokes_pairs_view(t.s.pairs);
  const stokes_flow_spec spec = {.mobility = {.box = {p->box[0], p->box[1], p->box[2]},
                                              .viscosity = viscosity,
                                              .tolerance = mobility,
                                              .vectors = vectors},
                                 .law = law,
                                 .tolerance = tolerance,
                                 .most = 500};
  ck_ok(stokes_flow_create(t.ctx, &spec, &t.flow));
  ck_ok(stokes_flow_set(t.flow, &t.s.view, &t.list));
  return t;
}

static void free_stream(stream *t)
{
  stokes_flow_destroy(t->flow);
  ref_suspension_free(&t->s);
  md_ctx_destroy(t->ctx);
}

/* Every column of N: forces of 1 on one sphere, all at once and one at a time. */
START_TEST(columns_of_the_dense_matrix)
{
  stokes_packing p = ref_cluster(_i < 2 ? 4 : 8, _i < 4, 71 + (uint64_t)_i / 2);
  const int64_t rows = 3 * p.n;
  const int m = _i % 2 ? 1 : (int)rows, last = _i % 2 ? 3 : 1;
  stream t = make_stream(&p, 1, 1e-9, 1e-11, m);
  double *system, *expect = ref_flow(&p, viscosity, &law, &system);
  double *f = ref_alloc(rows * m, sizeof *f), *u = ref_alloc(rows * m, sizeof *u);
  double off = 0, all = 0;
  for (int turn = 0; turn < last; turn++) {
    stokes_outcome outcome;
    for (int64_t k = 0; k < rows * m; k++)
      f[k] = k % m + turn == k / m, u[k] = 0.1; /* a bad guess */
    ck_ok(stokes_flow_solve(t.flow, m, f, NULL, u, &outcome));
    ck_assert_double_le(outcome.residual, 1e-11);
    ck_assert_int_gt(outcome.iterations, 1);
    for (int64_t k = 0; k < rows * m; k++) {
      const double exact = expect[k / m * rows + k % m + turn];
      off += (u[k] - exact) * (u[k] - exact), all += exact * exact;
    }
  }
  ck_assert_msg(sqrt(off / all) <= 1e-7, "%g", sqrt(off / all));
  free(f);
  free(u);
  free(system);
  free(expect);
  free_stream(&t);
  stokes_packing_free(&p);
}
END_TEST

/* The residual that is reported is that of the dense system, rows weighed by the radii. */
START_TEST(residuals_are_true)
{
  stokes_packing p = ref_cluster(8, false, 70);
  const int64_t rows = 3 * p.n;
  stream t = make_stream(&p, 1, 1e-9, 1e-3, 1);
  double *system, *inverse = ref_flow(&p, viscosity, &law, &system),
                  *m = ref_mobility(&p, viscosity);
  double *f = ref_vector(rows, 5), *u = ref_alloc(rows, sizeof *u), *w = ref_vector(rows, 6);
  double *right = ref_alloc(rows, sizeof *u), *left = ref_alloc(rows, sizeof *u);
  stokes_outcome outcome;
  for (int64_t k = 0; k < rows; k++)
    u[k] = 0, w[k] *= 1e-3;
  ck_ok(stokes_flow_solve(t.flow, 1, f, w, u, &outcome));
  ref_multiply(m, rows, 1, f, right);
  ref_multiply(system, rows, 1, u, left);
  double off = 0, all = 0;
  for (int64_t k = 0; k < rows; k++) {
    const double weight = p.x[k / 3 * 4 + 3], b = right[k] + w[k];
    off += weight * (b - left[k]) * (b - left[k]), all += weight * b * b;
  }
  ck_assert_double_le(outcome.residual, 1e-3);
  ck_assert_double_gt(outcome.residual, 1e-6);
  ck_assert_double_eq_tol(outcome.residual, sqrt(off / all), 1e-7);
  double *all_of[] = {system, inverse, m, f, u, w, right, left};
  for (size_t k = 0; k < sizeof all_of / sizeof *all_of; k++)
    free(all_of[k]);
  free_stream(&t);
  stokes_packing_free(&p);
}
END_TEST

/* Add f f^T to the sums, where f = L^-1 u for each of m columns. */
static void whiten(const double *l, int64_t n, int m, double *u, double *sum)
{
  for (int c = 0; c < m; c++)
    for (int64_t i = 0; i < n; i++) {
      for (int64_t k = 0; k < i; k++)
        u[i * m + c] -= l[i * n + k] * u[k * m + c];
      u[i * m + c] /= l[i * n + i];
      for (int64_t k = 0; k <= i; k++)
        sum[i * n + k] += u[i * m + c] * u[k * m + c];
    }
}

/* L^-1 U are independent normal numbers: their products, over many steps, against chi^2 of as many
 * degrees of freedom, five standard deviations. */
START_TEST(covariance_by_chi_squared)
{
  enum { M = 64, GROUPS = 25 };
  stokes_packing p = ref_cluster(5, _i == 0, 72);
  const int64_t n = 3 * p.n;
  stream t = make_stream(&p, 1, 1e-5, 1e-6, M);
  double *system, *l = ref_flow(&p, viscosity, &law, &system), *sum = ref_alloc(n * n, sizeof *sum);
  double *f = ref_alloc(n * M, sizeof *f), *w = ref_alloc(n * M, sizeof *w);
  double *u = ref_alloc(n * M, sizeof *u);
  int32_t id[5];
  for (int i = 0; i < 5; i++)
    id[i] = 4 - i;
  for (int64_t k = 0; k < n * n; k++)
    sum[k] = 0;
  ref_factor(l, n);
  for (int group = 0; group < GROUPS; group++) {
    stokes_outcome outcome;
    const stokes_noise noise = {13, (uint64_t)(group * M), id};
    ck_ok(stokes_flow_noise(t.flow, &t.s.view, &t.list, &noise, M, f, w, &outcome));
    for (int64_t k = 0; k < n * M; k++)
      u[k] = 0;
    ck_ok(stokes_flow_solve(t.flow, M, f, w, u, &outcome));
    whiten(l, n, M, u, sum);
  }
  const double samples = (double)M * GROUPS, pairs = (double)(n * (n - 1) / 2);
  double squares = 0, products = 0;
  for (int64_t i = 0; i < n; i++) {
    squares += sum[i * n + i];
    for (int64_t k = 0; k < i; k++)
      products += sum[i * n + k] * sum[i * n + k] / samples;
  }
  const double freedom = samples * (double)n;
  ck_assert_double_lt(fabs(squares - freedom), 5 * sqrt(2 * freedom));
  ck_assert_double_lt(fabs(products - pairs), 5 * sqrt(2 * pairs));
  double *all_of[] = {system, l, sum, f, w, u};
  for (size_t k = 0; k < sizeof all_of / sizeof *all_of; k++)
    free(all_of[k]);
  free_stream(&t);
  stokes_packing_free(&p);
}
END_TEST

/* Steps of a run: the same bits for any number of threads, and for a run that goes on from a
 * state. */
START_TEST(steps_repeat)
{
  enum { STEPS = 3 };
  stokes_packing p = ref_cluster(18, false, 73), end[3];
  stokes_run_spec spec = stokes_run_defaults();
  spec.hydrodynamics = STOKES_HYDRODYNAMICS_FULL;
  spec.drive[2] = -1e-3;
  for (int way = 0; way < 3; way++) { /* 1 thread, 3 threads, with a restart */
    md_ctx *ctx;
    stokes_run *run;
    stokes_step row;
    ctx = test_ctx(MD_DOUBLE, way == 1 ? 3 : 1, true);
    ck_ok(stokes_run_create(ctx, &spec, &p, &run));
    for (int k = 0; k < STEPS; k++) {
      if (way == 2 && k == 1) {
        stokes_run_state state;
        ck_ok(stokes_run_save(run, &state));
        stokes_run_destroy(run);
        ck_ok(stokes_run_restore(ctx, &spec, &state, &run));
        stokes_run_state_free(&state);
      }
      ck_ok(stokes_run_step(run, &row));
      ck_assert_double_le(row.residual, spec.tolerance);
      ck_assert_int_gt(row.iterations_first, 2);
    }
    end[way] = ref_copy(&p);
    ck_ok(stokes_run_read(run, &end[way]));
    stokes_run_destroy(run);
    md_ctx_destroy(ctx);
  }
  ck_assert_mem_eq(end[0].x, end[1].x, (size_t)p.n * 4 * sizeof *p.x);
  ck_assert_mem_eq(end[0].x, end[2].x, (size_t)p.n * 4 * sizeof *p.x);
  for (int way = 0; way < 3; way++)
    stokes_packing_free(&end[way]);
  stokes_packing_free(&p);
}
END_TEST

/* The split that a state has is the one in use after a restart, for M alone as well. */
START_TEST(splits_are_kept)
{
  stokes_packing p = ref_cluster(18, false, 73);
  stokes_run_spec spec = stokes_run_defaults();
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_run_state state;
  stokes_run *run;
  stokes_step row;
  spec.hydrodynamics = _i ? STOKES_HYDRODYNAMICS_FULL : STOKES_HYDRODYNAMICS_RPY;
  spec.lambda = 1;
  ck_ok(stokes_run_create(ctx, &spec, &p, &run));
  ck_ok(stokes_run_step(run, &row));
  ck_ok(stokes_run_save(run, &state));
  stokes_run_destroy(run);
  ck_assert_double_gt(state.split.xi, 0);
  ck_assert_double_gt(state.split.cut, 0);
  const double kept = state.split.cut *= 1.01;
  ck_ok(stokes_run_restore(ctx, &spec, &state, &run));
  stokes_run_state_free(&state);
  ck_ok(stokes_run_step(run, &row));
  ck_ok(stokes_run_save(run, &state));
  ck_assert_double_eq(state.split.cut, kept);
  stokes_run_state_free(&state);
  stokes_run_destroy(run);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* Sum over all directions k of (N(r + h e_k) e_k - N(r - h e_k) e_k) / 2 h, from dense matrices. */
static double *divergence_of(const stokes_packing *p)
{
  const int64_t rows = 3 * p->n;
  const double h = 1e-3;
  double *out = ref_alloc(rows, sizeof *out), *system;
  stokes_packing moved = ref_copy(p);
  for (int64_t k = 0; k < rows; k++)
    out[k] = 0;
  for (int64_t k = 0; k < rows; k++)
    for (int side = -1; side <= 1; side += 2) {
      double *x = moved.x + k / 3 * 4 + k % 3, kept = *x;
      *x += side * h;
      double *n = ref_flow(&moved, viscosity, &law, &system);
      for (int64_t i = 0; i < rows; i++)
        out[i] += side * n[i * rows + k] / (2 * h);
      *x = kept;
      free(n);
      free(system);
    }
  stokes_packing_free(&moved);
  return out;
}

/* What a step adds for the probe e_k, summed over all k, is the divergence of N. */
START_TEST(drift_is_the_divergence)
{
  stokes_packing p = ref_cluster(3, false, 74);
  const int64_t rows = 3 * p.n;
  stokes_run_spec spec = stokes_run_defaults();
  spec.hydrodynamics = STOKES_HYDRODYNAMICS_FULL;
  md_ctx *ctx;
  stokes_run *run;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 1, true}, &ctx));
  ck_ok(stokes_run_create(ctx, &spec, &p, &run));
  memcpy(run->x.data, p.x, (size_t)p.n * 4 * sizeof *p.x); /* in the order of p */
  stream t = make_stream(&p, 1, 1e-9, 1e-12, 2);
  double *expect = divergence_of(&p), *sum = ref_alloc(rows, sizeof *sum);
  for (int64_t k = 0; k < rows; k++)
    sum[k] = 0;
  for (int64_t k = 0; k < rows; k++) {
    step_vectors v;
    stokes_step row = {0};
    stokes_outcome outcome;
    ck_ok(vectors(run, &v));
    v.probe[k] = 1;
    v.force[2 * k + 1] = 1;
    ck_ok(stokes_flow_set(t.flow, &t.s.view, &t.list));
    ck_ok(stokes_flow_solve(t.flow, 2, v.force, NULL, v.velocity, &outcome));
    ck_ok(add_divergence(run, t.flow, &v, &row));
    for (int64_t i = 0; i < rows; i++)
      sum[i] += v.velocity[2 * i];
  }
  const double error = ref_rpy_error(sum, expect, rows);
  ck_assert_msg(error < 0.02, "%g", error);
  free(expect);
  free(sum);
  free_stream(&t);
  stokes_run_destroy(run);
  md_ctx_destroy(ctx);
  stokes_packing_free(&p);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_flow");
  TCase *dense_cases = tcase_create("dense"), *many = test_long_case("many");
  TCase *steps = tcase_create("steps"), *drift = tcase_create("drift");
  tcase_add_loop_test(dense_cases, columns_of_the_dense_matrix, 0, 4);
  tcase_add_loop_test(many, columns_of_the_dense_matrix, 4, 5);
  tcase_add_loop_test(dense_cases, columns_of_the_dense_matrix, 5, 6);
  tcase_add_test(dense_cases, residuals_are_true);
  tcase_add_loop_test(many, covariance_by_chi_squared, 0, 2);
  tcase_add_test(steps, steps_repeat);
  tcase_add_loop_test(steps, splits_are_kept, 0, 2);
  tcase_add_test(drift, drift_is_the_divergence);
  TCase *all[] = {dense_cases, many, steps, drift};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tcase_set_timeout(all[k], 120);
    suite_add_tcase(suite, all[k]);
  }
  return test_main(suite);
}
