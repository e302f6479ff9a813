/* tests/stokes/check_stokes_response.c - answers to patterns of forces against dense matrices that
 * are written down from the formulas, and against the series of a cubic array. */
#include "stokes/step/response.h"
#include "stokes/normal.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_flow.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const double viscosity = 0.2162;

static stokes_response_spec spec_of(int hydrodynamics, double tolerance, int vectors)
{
  return (stokes_response_spec){.hydrodynamics = (stokes_hydrodynamics)hydrodynamics,
                                .viscosity = viscosity,
                                .tolerance = tolerance,
                                .law = {1, 0.5, 1e-3},
                                .most = 2000,
                                .vectors = vectors};
}

/* N [3 n][3 n]. */
static double *matrix_of(const stokes_packing *p, const stokes_response_spec *spec)
{
  const int64_t rows = 3 * p->n;
  if (spec->hydrodynamics == STOKES_HYDRODYNAMICS_RPY) return ref_mobility(p, viscosity);
  if (spec->hydrodynamics == STOKES_HYDRODYNAMICS_FULL)
    return ref_flow(p, viscosity, &spec->law, NULL);
  double *r = ref_lubrication(p, viscosity, &spec->law), *n = ref_alloc(rows * rows, sizeof *n);
  for (int64_t k = 0; k < rows * rows; k++) {
    n[k] = k % (rows + 1) == 0;
    r[k] += n[k] * 6 * M_PI * viscosity * p->x[k / rows / 3 * 4 + 3];
  }
  ref_solve(r, rows, rows, n);
  free(r);
  return n;
}

/* What the header says of power, alone and sum. */
static stokes_answer answer_of(const stokes_packing *p, const double *n,
                               const stokes_pattern *pattern)
{
  const int64_t rows = 3 * p->n;
  const bool waves = pattern->kind != STOKES_SIGNS;
  double *f = ref_alloc(rows, sizeof *f), *u = ref_alloc(rows, sizeof *u);
  stokes_answer out = {0};
  for (int64_t k = 0; k < rows; k++) {
    const double *x = p->x + k / 3 * 4;
    const int d = (int)(k % 3), axis = pattern->axis;
    const double angle = 2 * M_PI * pattern->periods * x[axis] / p->box[axis];
    double z[3];
    normal_three(pattern->seed, NORMAL_PROBE, (uint64_t)(k / 3), pattern->number, z);
    f[k] = !waves      ? (z[d] < 0 ? -1 : 1) * sqrt(x[3])
           : d != axis ? 0
                       : (pattern->kind == STOKES_COSINE ? cos(angle) : sin(angle));
    out.alone += f[k] * f[k] / (6 * M_PI * viscosity * x[3]);
    out.sum += waves ? f[k] : 0;
  }
  ref_multiply(n, rows, 1, f, u);
  for (int64_t k = 0; k < rows; k++)
    out.power += f[k] * u[k];
  free(f);
  free(u);
  return out;
}

static void check_answer(const stokes_answer *a, const stokes_answer *b)
{
  ck_assert_double_eq_tol(a->power, b->power, 1e-6 * b->alone);
  ck_assert_double_eq_tol(a->alone, b->alone, 1e-12 * b->alone);
  ck_assert_double_eq_tol(a->sum, b->sum, 1e-11);
}

/* Seven patterns, three at a time and one at a time; spheres of one size and of several. */
START_TEST(answers_of_the_dense_matrix)
{
  static const stokes_pattern pattern[] = {{.kind = STOKES_SIGNS, .seed = 5, .number = 0},
                                           {.kind = STOKES_SIGNS, .seed = 5, .number = 9},
                                           {.kind = STOKES_COSINE, .axis = 1},
                                           {.kind = STOKES_COSINE, .axis = 0, .periods = 1},
                                           {.kind = STOKES_SINE, .axis = 0, .periods = 1},
                                           {.kind = STOKES_COSINE, .axis = 2, .periods = 7},
                                           {.kind = STOKES_SINE, .axis = 1, .periods = 3}};
  enum { N = sizeof pattern / sizeof *pattern };
  const int vectors = _i % 2 ? 1 : 3, kind = _i / 2 % STOKES_HYDRODYNAMICS_COUNT;
  stokes_packing p = ref_cluster(7, _i / 2 / STOKES_HYDRODYNAMICS_COUNT, 91);
  const stokes_response_spec spec = spec_of(kind, 1e-9, vectors);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_response *response;
  stokes_answer answer[N];
  stokes_outcome outcome;
  double *n = matrix_of(&p, &spec);
  p.x[4] += p.box[0]; /* spheres may be anywhere */
  ck_ok(stokes_response_create(ctx, &spec, &p, &response));
  ck_ok(stokes_response_ask(response, N, pattern, answer, &outcome));
  ck_assert((kind == STOKES_HYDRODYNAMICS_RPY) == (outcome.iterations == 0));
  ck_assert_double_le(outcome.residual, 1e-9);
  for (int k = 0; k < N; k++) {
    const stokes_answer expect = answer_of(&p, n, &pattern[k]);
    check_answer(&answer[k], &expect);
  }
  free(n);
  stokes_response_destroy(response);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* A cubic array of 27 spheres is one sphere in a box of a third of the edge: 1 - 2.837... a / L + 4
 * pi / 3 (a / L)^3, with lubrication, too, for no sphere moves against another. */
START_TEST(cubic_array)
{
  const double edge = 70, a = 30, x = a / edge;
  const double series = 1 - 2.8372974794806195 * x + 4 * M_PI / 3 * pow(x, 3);
  const stokes_pattern pattern[3] = {{.kind = STOKES_COSINE, .axis = 0},
                                     {.kind = STOKES_COSINE, .axis = 1},
                                     {.kind = STOKES_COSINE, .axis = 2}};
  for (int kind = STOKES_HYDRODYNAMICS_RPY; kind < STOKES_HYDRODYNAMICS_COUNT; kind++) {
    const stokes_response_spec spec = spec_of(kind, 1e-10, 3);
    md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
    stokes_packing p;
    stokes_response *response;
    stokes_answer answer[3];
    stokes_outcome outcome;
    ck_ok(stokes_packing_create(27, &p));
    for (int i = 0; i < 27; i++) {
      const int place[3] = {i % 3, i / 3 % 3, i / 9};
      for (int d = 0; d < 3; d++)
        p.x[4 * i + d] = 12 + place[d] * edge, p.box[d] = 3 * edge;
      p.x[4 * i + 3] = a;
    }
    ck_ok(stokes_response_create(ctx, &spec, &p, &response));
    ck_ok(stokes_response_ask(response, 3, pattern, answer, &outcome));
    for (int d = 0; d < 3; d++) {
      ck_assert_double_eq_tol(answer[d].power / answer[d].alone, series, 1e-7);
      ck_assert_double_eq(answer[d].sum, 27);
    }
    stokes_response_destroy(response);
    stokes_packing_free(&p);
    md_ctx_destroy(ctx);
  }
}
END_TEST

/* The same bits for any number of threads. */
START_TEST(threads_do_not_matter)
{
  stokes_packing p = ref_packing(3000, 0.2, true, 92);
  stokes_answer answer[2][4];
  const stokes_pattern pattern[4] = {{.kind = STOKES_SIGNS, .seed = 1},
                                     {.kind = STOKES_COSINE, .axis = 2, .periods = 5},
                                     {.kind = STOKES_SINE, .axis = 2, .periods = 5},
                                     {.kind = STOKES_COSINE}};
  for (int way = 0; way < 2; way++) {
    const stokes_response_spec spec = spec_of(_i, 1e-3, 4);
    md_ctx *ctx = test_ctx(MD_DOUBLE, way ? 3 : 1, true);
    stokes_response *response;
    stokes_outcome outcome;
    ck_ok(stokes_response_create(ctx, &spec, &p, &response));
    ck_ok(stokes_response_ask(response, 4, pattern, answer[way], &outcome));
    stokes_response_destroy(response);
    md_ctx_destroy(ctx);
  }
  ck_assert_mem_eq(answer[0], answer[1], sizeof answer[0]);
  stokes_packing_free(&p);
}
END_TEST

START_TEST(bad_values_are_named)
{
  stokes_packing p = ref_cluster(3, true, 93);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_response_spec spec[4];
  static const char *const words[] = {"1 to 64 patterns at once, not 0", "not 65", "viscosity",
                                      "far field"};
  for (int k = 0; k < 4; k++) {
    stokes_response *response;
    spec[k] = spec_of(STOKES_HYDRODYNAMICS_RPY, 1e-3, k == 0 ? 0 : k == 1 ? 65 : 1);
    if (k == 2) spec[k].viscosity = 0;
    if (k == 3) spec[k].law.far_field = 2;
    ck_assert_int_eq(stokes_response_create(ctx, &spec[k], &p, &response), MD_EINVAL);
    ck_assert_ptr_null(response);
    ck_assert_msg(strstr(md_message(), words[k]) != NULL, "%s", md_message());
  }
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_response");
  TCase *tc = tcase_create("answers");
  tcase_add_loop_test(tc, answers_of_the_dense_matrix, 0, 4 * STOKES_HYDRODYNAMICS_COUNT);
  tcase_add_test(tc, cubic_array);
  tcase_add_loop_test(tc, threads_do_not_matter, 0, STOKES_HYDRODYNAMICS_COUNT);
  tcase_add_test(tc, bad_values_are_named);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
