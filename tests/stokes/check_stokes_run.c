/* tests/stokes/check_stokes_run.c - steps of Stokesian dynamics: against a dense reference, between
 * the two algorithms, between numbers of threads. */
#include "stokes/step/run.h"
#include "stokes/normal.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const double pi = 3.141592653589793;

static stokes_run_spec spec_of(stokes_algorithm algorithm, int vectors)
{
  stokes_run_spec spec = stokes_run_defaults();
  spec.algorithm = algorithm;
  spec.vectors = vectors;
  spec.seed = 5;
  return spec;
}

/* Packings are made on the CPU. */
static md_ctx *host(void)
{
  md_ctx *ctx;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 1, true}, &ctx));
  return ctx;
}

/* All steps; rows: NULL, or [steps].  Positions replace those of the packing. */
static void walk(md_ctx *ctx, const stokes_run_spec *spec, int64_t steps, stokes_packing *packing,
                 stokes_step *rows)
{
  stokes_run *run;
  stokes_step unused;
  ck_ok(stokes_run_create(ctx, spec, packing, &run));
  for (int64_t k = 0; k < steps; k++) {
    stokes_step *row = rows ? rows + k : &unused;
    ck_ok(stokes_run_step(run, row));
    ck_assert_int_eq(row->step, k);
  }
  ck_ok(stokes_run_read(run, packing));
  stokes_run_destroy(run);
}

/* A x = b by elimination; destroys a and b. */
static void solve_dense(double *a, int64_t n, double *b)
{
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  for (int64_t k = n - 1; k >= 0; k--) {
    for (int64_t j = k + 1; j < n; j++)
      b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

/* b = L z with L L^T = a. */
static void cholesky_times(const double *a, int64_t n, const double *z, double *b)
{
  double *l = ref_alloc(n * n, sizeof *l);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      double rest = a[i * n + j];
      for (int64_t k = 0; k < j; k++)
        rest -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? sqrt(rest) : rest / l[j * n + j];
    }
  for (int64_t i = 0; i < n; i++) {
    b[i] = 0;
    for (int64_t j = 0; j <= i; j++)
      b[i] += l[i * n + j] * z[j];
  }
  free(l);
}

/* v with R' v = L z, where L belongs to the spheres at `first` and R' to those at `now`. */
static void reference_velocity(const stokes_packing *first, const stokes_packing *now,
                               const stokes_run_spec *spec, double *v)
{
  const int64_t n = 3 * first->n;
  double *z = ref_alloc(n, sizeof *z), *r = ref_resistance(first, &spec->law);
  for (int64_t i = 0; i < first->n; i++)
    normal_three(spec->seed, NORMAL_BROWNIAN, (uint64_t)i, 0, z + 3 * i);
  cholesky_times(r, n, z, v);
  free(r);
  r = ref_resistance(now, &spec->law);
  solve_dense(r, n, v);
  free(r);
  free(z);
}

static void move(stokes_packing *packing, const stokes_run_spec *spec, double part, const double *v)
{
  for (int64_t i = 0; i < packing->n; i++) {
    const double friction = 6 * pi * spec->viscosity * spec->law.far_field * packing->x[4 * i + 3];
    for (int d = 0; d < 3; d++)
      packing->x[4 * i + d] -= part * sqrt(2 * spec->dt / friction) * v[3 * i + d];
  }
}

/* One step by Cholesky factors.  The factor depends on the order of the spheres, so that one step
 * of spheres that lie along a Hilbert curve already is compared. */
START_TEST(a_step_is_that_of_dense_algebra)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing = ref_packing(60, 0.35, true, 41);
  md_ctx *cpu = host();
  ck_ok(stokes_packing_sort(cpu, &packing, &(ordering){.kind = ORDERING_HILBERT}, NULL));
  md_ctx_destroy(cpu);
  stokes_run_spec spec = spec_of(STOKES_ORIGINAL, 1);
  spec.method = STOKES_CHOLESKY, spec.force = STOKES_FORCE_CHOLESKY;
  spec.law.far_field = 1.7, spec.dt = 0.7;
  spec.tolerance = 1e-11;
  double *v = ref_alloc(3 * packing.n, sizeof *v);
  stokes_packing middle = ref_copy(&packing), expect = ref_copy(&packing);
  reference_velocity(&packing, &packing, &spec, v);
  move(&middle, &spec, 0.5, v);
  reference_velocity(&packing, &middle, &spec, v);
  move(&expect, &spec, 1, v);
  stokes_step row;
  walk(ctx, &spec, 1, &packing, &row);
  ck_assert_int_eq(row.overlaps, 0);
  for (int64_t k = 0; k < 4 * packing.n; k++)
    ck_assert_double_eq_tol(packing.x[k], expect.x[k], 1e-8);
  free(v);
  stokes_packing_free(&packing);
  stokes_packing_free(&middle);
  stokes_packing_free(&expect);
  md_ctx_destroy(ctx);
}
END_TEST

/* Spheres that are far apart diffuse freely: dr = sqrt(2 D dt) z with D = kT / 6 pi eta a. */
START_TEST(lone_spheres_diffuse)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing;
  ck_ok(stokes_packing_create(27, &packing));
  for (int d = 0; d < 3; d++)
    packing.box[d] = 900;
  for (int i = 0; i < 27; i++) {
    const int cell[3] = {i / 9, i / 3 % 3, i % 3};
    for (int d = 0; d < 3; d++)
      packing.x[4 * i + d] = 300 * cell[d] + 20;
    packing.x[4 * i + 3] = 20 + i;
  }
  stokes_run_spec spec = spec_of((stokes_algorithm)_i, 2);
  spec.tolerance = spec.root_tolerance = 1e-9;
  stokes_packing before = ref_copy(&packing);
  walk(ctx, &spec, 2, &packing, NULL);
  for (int i = 0; i < 27; i++) {
    const double step = sqrt(2 * spec.dt / (6 * pi * spec.viscosity * (20 + i)));
    double z[2][3];
    for (int k = 0; k < 2; k++)
      normal_three(spec.seed, NORMAL_BROWNIAN, (uint64_t)i, (uint64_t)k, z[k]);
    for (int d = 0; d < 3; d++)
      ck_assert_double_eq_tol(packing.x[4 * i + d],
                              before.x[4 * i + d] - step * (z[0][d] + z[1][d]), 1e-5);
  }
  stokes_packing_free(&packing);
  stokes_packing_free(&before);
  md_ctx_destroy(ctx);
}
END_TEST

/* The same trajectory for any number of right-hand sides, kind of guess, and square root. */
START_TEST(algorithms_agree)
{
  enum { STEPS = 7, CASES = 6 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_packing packing = ref_packing(240, 0.4, false, 42), first = {0};
  static const int vectors[CASES] = {1, 3, 7, 16, 2, 3};
  static const stokes_force kinds[] = {STOKES_FORCE_CHEBYSHEV, STOKES_FORCE_PAIRS,
                                       STOKES_FORCE_CHOLESKY};
  for (int k = 0; k < CASES; k++) {
    stokes_run_spec spec = spec_of(k ? STOKES_MRHS : STOKES_ORIGINAL, vectors[k]);
    spec.tolerance = 1e-10;
    spec.root_tolerance = 1e-9;
    spec.force = !_i && k == 4 ? STOKES_FORCE_LANCZOS : kinds[_i];
    const bool series = spec.force == STOKES_FORCE_CHEBYSHEV && k == 5;
    spec.guess = series ? STOKES_GUESS_SERIES : STOKES_GUESS_SOLVE;
    stokes_packing moved = ref_copy(&packing);
    stokes_step rows[STEPS];
    walk(ctx, &spec, STEPS, &moved, rows);
    for (int s = 0; k && s < STEPS; s++) { /* a group begins without a guess, or with a good one */
      const bool begins = s % vectors[k] == 0;
      if (series && begins) ck_assert_double_lt(rows[s].guess_error, 1e-8);
      ck_assert_int_eq(rows[s].guess_error > 0, series || !begins);
      ck_assert_int_eq(rows[s].time_guess > 0, begins);
      ck_assert_double_lt(rows[s].guess_error, 0.3);
    }
    if (!k) {
      first = moved;
      continue;
    }
    double most = 0;
    for (int64_t q = 0; q < 4 * packing.n; q++)
      most = fmax(most, fabs(moved.x[q] - first.x[q]));
    ck_assert_msg(most < 1e-5, "case %d: %g", k, most);
    ck_assert_double_gt(fabs(moved.x[0] - packing.x[0]), 1e-3);
    stokes_packing_free(&moved);
  }
  stokes_packing_free(&first);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(threads_do_not_matter)
{
  stokes_packing packing = ref_packing(2100, 0.4, false, 43), first = {0};
  for (int threads = 1; threads <= 3; threads += 2) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, true);
    const stokes_run_spec spec = spec_of(STOKES_MRHS, 4);
    stokes_packing moved = ref_copy(&packing);
    walk(ctx, &spec, 3, &moved, NULL);
    if (first.n == 0) first = ref_copy(&moved);
    ck_assert_mem_eq(first.x, moved.x, (size_t)packing.n * 4 * sizeof *moved.x);
    stokes_packing_free(&moved);
    md_ctx_destroy(ctx);
  }
  stokes_packing_free(&first);
  stokes_packing_free(&packing);
}
END_TEST

/* Iterations of the first solve without and with guesses as an independent program has them with
 * packings in equilibrium, 75 +- 7 and 51 +- 5, 121 +- 2 and 72 +- 1, 127 +- 2 and 72 +- 1 (five
 * packings each); the error of guesses grows as the square root of the step ([Liu] Fig. 5). */
START_TEST(guesses_help)
{
  enum { STEPS = 10 };
  static const struct {
    double occupancy;
    int least, most, least_guessed, most_guessed;
  } cases[] = {{0.1, 45, 105, 31, 71}, {0.3, 111, 131, 60, 86}, {0.5, 117, 137, 60, 86}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_packing packing = ref_packing(3000, cases[_i].occupancy, false, 1);
  stokes_run_spec spec = spec_of(STOKES_MRHS, STEPS);
  spec.law.gap_cut = 2;
  spec.force = STOKES_FORCE_CHEBYSHEV;
  spec.root_tolerance = 1e-4; /* guesses and solutions have the same forces */
  stokes_step rows[STEPS];
  walk(ctx, &spec, STEPS, &packing, rows);
  for (int s = 1; s < STEPS; s++) {
    ck_assert_int_ge(rows[s].iterations_first, cases[_i].least_guessed);
    ck_assert_int_le(rows[s].iterations_first, cases[_i].most_guessed);
  }
  const double slope = log(rows[STEPS - 1].guess_error / rows[1].guess_error) / log(STEPS - 1);
  ck_assert_msg(slope > 0.35 && slope < 0.65, "slope %g", slope);
  spec.algorithm = STOKES_ORIGINAL;
  walk(ctx, &spec, 1, &packing, rows);
  ck_assert_int_ge(rows[0].iterations_first, cases[_i].least);
  ck_assert_int_le(rows[0].iterations_first, cases[_i].most);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Stopped, saved and gone on, against never stopped, in and between the groups of mrhs: every bit.
 * Steps of 10 ps leave the skin more than once, those of 2 ps do not. */
START_TEST(saved_runs_go_on_exactly)
{
  enum { STEPS = 9 };
  static const struct {
    stokes_algorithm algorithm;
    int vectors, stop;
    double dt;
    stokes_force force;
    stokes_storage storage;
  } cases[] = {{STOKES_ORIGINAL, 1, 4, 2, STOKES_FORCE_CHEBYSHEV, STOKES_BCRS},
               {STOKES_MRHS, 4, 4, 10, STOKES_FORCE_CHEBYSHEV, STOKES_BCRS},
               {STOKES_MRHS, 4, 6, 2, STOKES_FORCE_LANCZOS, STOKES_PAIR},
               {STOKES_MRHS, 16, 3, 2, STOKES_FORCE_CHEBYSHEV, STOKES_SINGLE},
               {STOKES_ORIGINAL, 1, 4, 10, STOKES_FORCE_PAIRS, STOKES_BCRS},
               {STOKES_MRHS, 4, 6, 10, STOKES_FORCE_PAIRS, STOKES_PAIR},
               {STOKES_MRHS, 4, 6, 2, STOKES_FORCE_CHOLESKY, STOKES_BCRS}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_packing packing = ref_packing(240, 0.4, false, 45);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    stokes_run_spec spec = spec_of(cases[k].algorithm, cases[k].vectors);
    spec.force = cases[k].force;
    spec.storage = cases[k].storage;
    spec.dt = cases[k].dt;
    stokes_packing expect = ref_copy(&packing), moved = ref_copy(&packing);
    stokes_step expected[STEPS], row;
    walk(ctx, &spec, STEPS, &expect, expected);
    stokes_run *run;
    stokes_run_state state;
    ck_ok(stokes_run_create(ctx, &spec, &packing, &run));
    for (int s = 0; s < cases[k].stop; s++)
      ck_ok(stokes_run_step(run, &row));
    ck_ok(stokes_run_save(run, &state));
    stokes_run_destroy(run);
    ck_assert_int_eq(state.step, cases[k].stop);
    ck_assert((state.many != NULL) == (cases[k].stop % cases[k].vectors != 0));
    ck_ok(stokes_run_restore(ctx, &spec, &state, &run));
    for (int s = cases[k].stop; s < STEPS; s++) {
      ck_ok(stokes_run_step(run, &row));
      ck_assert_int_eq(row.step, s);
      ck_assert_int_eq(row.iterations_first, expected[s].iterations_first);
      ck_assert_mem_eq(&row.guess_error, &expected[s].guess_error, sizeof row.guess_error);
    }
    ck_ok(stokes_run_read(run, &moved));
    ck_assert_mem_eq(expect.x, moved.x, (size_t)packing.n * 4 * sizeof *moved.x);
    stokes_run_destroy(run);
    state.place[3] = state.place[4];
    ck_assert_int_eq(stokes_run_restore(ctx, &spec, &state, &run), MD_EINVAL);
    ck_assert_ptr_null(run);
    stokes_run_state_free(&state);
    stokes_packing_free(&expect);
    stokes_packing_free(&moved);
  }
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(probing_changes_nothing)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_packing packing = ref_packing(240, 0.4, false, 44);
  stokes_packing expect = ref_copy(&packing), moved = ref_copy(&packing);
  stokes_run_spec spec = spec_of(STOKES_MRHS, 2);
  spec.force = STOKES_FORCE_CHEBYSHEV;
  walk(ctx, &spec, 3, &expect, NULL);
  stokes_run *run;
  stokes_counts counts;
  stokes_shape shape;
  stokes_step row;
  spec.vectors = 9;
  ck_ok(stokes_run_create(ctx, &spec, &packing, &run));
  ck_ok(stokes_run_probe(run, &counts, &shape));
  ck_assert_int_eq(shape.n_rows, packing.n);
  ck_assert_double_gt(counts.unguessed, counts.second);
  ck_assert_double_gt(counts.order, 5);
  ck_assert_int_eq(stokes_run_set_vectors(run, 65), MD_EINVAL);
  ck_ok(stokes_run_set_vectors(run, 2));
  for (int k = 0; k < 3; k++)
    ck_ok(stokes_run_step(run, &row));
  ck_ok(stokes_run_read(run, &moved));
  ck_assert_mem_eq(expect.x, moved.x, (size_t)packing.n * 4 * sizeof *moved.x);
  stokes_run_destroy(run);
  stokes_packing_free(&packing);
  stokes_packing_free(&expect);
  stokes_packing_free(&moved);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(bad_input_is_named)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing = ref_packing(240, 0.3, false, 46);
  stokes_run *run;
  stokes_run_spec bad[8];
  for (int k = 0; k < 8; k++)
    bad[k] = spec_of(STOKES_MRHS, 4);
  bad[0].vectors = 0, bad[1].vectors = 65, bad[2].dt = -1, bad[3].tolerance = 0;
  bad[4].viscosity = NAN, bad[5].method = STOKES_CHOLESKY, bad[6].law.gap_cut = 50;
  bad[7].guess = STOKES_GUESS_SERIES; /* of forces by pairs */
  for (int k = 0; k < 8; k++) {
    ck_assert_int_eq(stokes_run_create(ctx, &bad[k], &packing, &run), MD_EINVAL);
    ck_assert_ptr_null(run);
  }
  const stokes_run_spec good = spec_of(STOKES_MRHS, 4);
  const double kept = packing.x[4 * 7];
  packing.x[4 * 7] = NAN;
  ck_assert_int_eq(stokes_run_create(ctx, &good, &packing, &run), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "sphere 8"));
  packing.x[4 * 7] = kept;
  memcpy(packing.x + 4 * 11, packing.x + 4 * 7, 3 * sizeof(double));
  ck_assert_int_eq(stokes_run_create(ctx, &good, &packing, &run), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "overlap"));
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_run");
  TCase *steps = tcase_create("steps");
  tcase_add_test(steps, a_step_is_that_of_dense_algebra);
  tcase_add_loop_test(steps, lone_spheres_diffuse, 0, STOKES_ALGORITHM_COUNT);
  tcase_add_loop_test(steps, algorithms_agree, 0, 3);
  tcase_add_test(steps, threads_do_not_matter);
  tcase_add_loop_test(steps, guesses_help, 0, 3);
  tcase_add_test(steps, saved_runs_go_on_exactly);
  tcase_add_test(steps, probing_changes_nothing);
  tcase_add_test(steps, bad_input_is_named);
  tcase_set_timeout(steps, 120);
  suite_add_tcase(suite, steps);
  return test_main(suite);
}
