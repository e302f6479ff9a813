/* tests/minimd/check_tune.c - candidates of `tune` are as exact as they are said to be. */
#include "minimd/run/tune.h"
#include "minimd/shell/settings.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

/* Settings of a command line; the table lives as long as they do. */
static options settings_of(char **argv, int argc)
{
  static option table[SETTINGS_COUNT];
  options opts;
  settings_table(table);
  ck_ok(options_parse(table, SETTINGS_COUNT, argc, argv, &opts));
  return opts;
}

/* Atoms that have left the lattice. */
static engine_state melted(const options *opts)
{
  static const tune_point none;
  config *cfg;
  engine *sim;
  engine_state out;
  ck_ok(tune_configure(opts, none, false, &cfg));
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(engine_steps(sim, 99));
  ck_ok(engine_step(sim, true));
  ck_ok(engine_save(sim, &out));
  engine_destroy(sim);
  config_destroy(cfg);
  return out;
}

/* Forces of these settings at a state, by id, which is 1 .. n. */
static double *forces_at(const options *opts, const tune_point at, const engine_state *state)
{
  config *cfg;
  engine *sim;
  const int64_t n = state->n;
  double *unordered = ref_alloc(3 * n, sizeof *unordered), *f = ref_alloc(3 * n, sizeof *f);
  int64_t *id = ref_alloc(n, sizeof *id);
  ck_ok(tune_configure(opts, at, false, &cfg));
  ck_ok(engine_restore(config_get(cfg), state, false, &sim));
  ck_ok(md_atoms_get(sim->atoms, NULL, NULL, unordered, id, NULL));
  for (int64_t i = 0; i < 3 * n; i++)
    f[3 * (id[i / 3] - 1) + i % 3] = unordered[i];
  engine_destroy(sim);
  config_destroy(cfg);
  free(unordered);
  free(id);
  return f;
}

static double rms(const double *a, const double *less, int64_t n)
{
  double sum = 0;
  for (int64_t k = 0; k < 3 * n; k++)
    sum += pow(a[k] - (less ? less[k] : 0), 2);
  return sqrt(sum / (double)n);
}

/* Of a molten salt, against forces whose estimated error is 1e-9. */
START_TEST(candidates_of_pme_are_as_exact)
{
  char *argv[] = {"test",    "--backend", "cpu",   "--input",           "inputs/in.nacl",
                  "--cells", "4",         "--set", "lj.shift=\"force\""};
  options opts = settings_of(argv, 9);
  tune_request request = {.opts = &opts, .over = {[TUNE_PME] = true}, .named = true};
  tune_values values[TUNE_DIMENSION_COUNT];
  tuning t = {.pme_error = NAN};
  ck_ok(tune_make_values(&request, values, &t));
  ck_assert(t.pme_error > 0.5e-3 && t.pme_error <= 1e-3);
  ck_assert_int_gt(values[TUNE_PME].n, 8);
  engine_state state = melted(&opts);
  tune_point point = {""};
  snprintf(point[TUNE_PME], TUNE_VALUE, "10:3.9:1.4:80x80x80");
  double *exact = forces_at(&opts, point, &state);
  for (int k = 0; k < values[TUNE_PME].n; k++) {
    memcpy(point[TUNE_PME], values[TUNE_PME].value[k], TUNE_VALUE);
    double *f = forces_at(&opts, point, &state);
    const double ratio = rms(f, exact, state.n) / t.pme_error;
    ck_assert_msg(ratio > 0.1 && ratio < 1.3, "%s: error %g of what is stated", point[TUNE_PME],
                  ratio);
    free(f);
  }
  free(exact);
  engine_state_free(&state);
  options_free(&opts);
}
END_TEST

START_TEST(precision_errors_are_those_of_forces)
{
  char *argv[] = {"test", "--backend", "cpu", "--cells", "4"};
  options opts = settings_of(argv, 5);
  tuning t;
  ck_ok(tune_measure_errors(&opts, &t));
  engine_state state = melted(&opts);
  tune_point point = {""};
  double *exact = forces_at(&opts, point, &state);
  ck_assert_double_eq(t.precision_error[MD_DOUBLE], 0);
  for (int p = MD_SINGLE; p < MD_DOUBLE; p++) {
    snprintf(point[TUNE_PRECISION], TUNE_VALUE, "%s", md_precision_words[p]);
    double *f = forces_at(&opts, point, &state);
    const double error = rms(f, exact, state.n) / rms(exact, NULL, state.n);
    ck_assert_msg(t.precision_error[p] > 0.5 * error && t.precision_error[p] < 2 * error,
                  "%s: %g, and at another state %g", md_precision_words[p], t.precision_error[p],
                  error);
    free(f);
  }
  /* What is more wrong than allowed is no candidate, even if it was given. */
  tune_request request = {.opts = &opts, .over = {[TUNE_PRECISION] = true}};
  tune_values values[TUNE_DIMENSION_COUNT];
  request.error = t.precision_error[MD_SINGLE] * 1.01;
  ck_ok(tune_make_values(&request, values, &t));
  ck_assert_int_eq(values[TUNE_PRECISION].n, MD_PRECISION_COUNT);
  ck_assert_str_eq(values[TUNE_PRECISION].value[0], "double");
  request.error = 0;
  ck_ok(tune_make_values(&request, values, &t));
  ck_assert_int_eq(values[TUNE_PRECISION].n, 1);
  ck_assert_str_eq(t.from[TUNE_PRECISION], "double");
  free(exact);
  engine_state_free(&state);
  options_free(&opts);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tune");
  TCase *slow = test_long_case("candidates");
  tcase_add_test(slow, candidates_of_pme_are_as_exact);
  tcase_add_test(slow, precision_errors_are_those_of_forces);
  suite_add_tcase(suite, slow);
  return test_main(suite);
}
