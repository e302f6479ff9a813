/* tests/minimd/check_tune.c - the search of `tune` on clocks whose optimum is known, made up and
 * recorded, against looking at every point; candidates as exact as they are said to be. */
#include "minimd/run/tune.h"
#include "minimd/shell/settings.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

enum { DIMENSIONS = 4 };
static const tune_dimension used[DIMENSIONS] = {TUNE_ORDER, TUNE_LIST, TUNE_BIN_SIZE, TUNE_SKIN};
static const int sizes[DIMENSIONS] = {3, 2, 4, 7};

typedef struct {
  double cost[DIMENSIONS][8]; /* factors */
  double together;            /* what order 1 with list 1 costs beside its factors */
  double noise;
  uint64_t seed;
  int64_t steps, calls;
} world;

static double exact(const world *w, const int *at)
{
  double seconds = 1e-3;
  for (int d = 0; d < DIMENSIONS; d++)
    seconds *= w->cost[d][at[d]];
  return at[0] == 1 && at[1] == 1 ? seconds * w->together : seconds;
}

static void indices(const tune_point point, int *at)
{
  for (int d = 0; d < DIMENSIONS; d++)
    at[d] = atoi(point[used[d]]);
}

static double timed(void *with, const tune_point point, int64_t steps, double *setup_s)
{
  *setup_s = 0;
  world *w = with;
  int at[DIMENSIONS];
  indices(point, at);
  w->calls++;
  w->steps += steps;
  return exact(w, at) * (1 + w->noise * (ref_uniform(&w->seed) - 0.5));
}

static world make_world(uint64_t seed, double noise)
{
  world w = {.noise = noise, .seed = seed, .together = 0.9 + 0.2 * ref_uniform(&seed)};
  for (int d = 0; d < DIMENSIONS; d++)
    for (int k = 0; k < sizes[d]; k++)
      w.cost[d][k] = 1 + ref_uniform(&seed);
  return w;
}

static double best_of_all(const world *w)
{
  double best = INFINITY;
  int at[DIMENSIONS];
  for (at[0] = 0; at[0] < sizes[0]; at[0]++)
    for (at[1] = 0; at[1] < sizes[1]; at[1]++)
      for (at[2] = 0; at[2] < sizes[2]; at[2]++)
        for (at[3] = 0; at[3] < sizes[3]; at[3]++)
          best = fmin(best, exact(w, at));
  return best;
}

static double search(world *w, bool exhaustive, tune_point point)
{
  tune_values values[TUNE_DIMENSION_COUNT] = {0};
  int64_t runs = 0;
  int at[DIMENSIONS];
  for (int d = 0; d < DIMENSIONS; d++) {
    values[used[d]].n = sizes[d];
    for (int k = 0; k < sizes[d]; k++)
      snprintf(values[used[d]].value[k], TUNE_VALUE, "%d", k);
    snprintf(point[used[d]], TUNE_VALUE, "0");
  }
  ck_ok(tune_search(values, exhaustive, 100, timed, w, point, &runs));
  ck_assert_int_eq(runs + 1, w->calls);
  indices(point, at);
  return exact(w, at);
}

START_TEST(optimum_is_found)
{
  for (uint64_t seed = 1; seed <= 200; seed++) {
    world w = make_world(seed, 0);
    tune_point point = {""};
    const double found = search(&w, false, point);
    ck_assert_msg(found <= 1.02 * best_of_all(&w) || w.together < 1, "world %llu: %g instead of %g",
                  (unsigned long long)seed, found, best_of_all(&w));
    ck_assert_double_le(found, 1.12 * best_of_all(&w));
    /* Far fewer runs than points, and about the steps that 100 s allow. */
    ck_assert_int_lt(w.calls, 3 * 2 * 4 * 7 / 2);
    ck_assert_double_lt((double)w.steps * best_of_all(&w), 150);
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
      if (d == TUNE_SORT_EVERY || d == TUNE_THREADS) ck_assert_str_eq(point[d], "");
  }
}
END_TEST

START_TEST(noise_costs_little)
{
  for (uint64_t seed = 1; seed <= 100; seed++) {
    world w = make_world(seed, 0.02);
    w.together = 1;
    tune_point point = {""};
    ck_assert_double_le(search(&w, false, point), 1.05 * best_of_all(&w));
  }
}
END_TEST

START_TEST(what_cannot_be_had_is_left)
{
  world w = make_world(3, 0);
  for (int k = 1; k < sizes[3]; k++)
    w.cost[3][k] = INFINITY;
  for (int k = 0; k < sizes[2]; k++)
    w.cost[2][k] = k == 2 ? 1 : INFINITY;
  w.cost[0][0] = INFINITY; /* of the point that it begins from, too */
  tune_point point = {""};
  ck_assert(!isfinite(search(&w, false, point)) || atoi(point[TUNE_SKIN]) == 0);
  w.cost[0][0] = 1;
  w.cost[2][0] = 5;
  memset(point, 0, sizeof point);
  w.calls = 0;
  ck_assert(isfinite(search(&w, false, point)));
  ck_assert_int_eq(atoi(point[TUNE_SKIN]), 0);
  ck_assert_int_eq(atoi(point[TUNE_BIN_SIZE]), 2);
}
END_TEST

/* Whatever choices do to each other. */
START_TEST(exhaustive_search_finds_it)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    world w = make_world(seed, 0);
    w.together = 0.3;
    tune_point point = {""};
    ck_assert_double_eq(search(&w, true, point), best_of_all(&w));
    ck_assert_int_ge(w.calls, 3 * 2 * 4 * 7);
  }
}
END_TEST

typedef struct {
  double setup_s;
  int64_t most;
} costly;

static double costs(void *with, const tune_point at, int64_t steps, double *setup_s)
{
  costly *c = with;
  *setup_s = c->setup_s;
  if (at[TUNE_LIST][0] && steps > c->most) c->most = steps;
  return 1e-2;
}

START_TEST(setup_counts_as_spent)
{
  tune_values values[TUNE_DIMENSION_COUNT] = {0};
  values[TUNE_LIST] = (tune_values){2, {"0", "1"}};
  for (int slow = 0; slow < 2; slow++) {
    costly c = {.setup_s = slow ? 4 : 0};
    tune_point point = {""};
    int64_t runs;
    ck_ok(tune_search(values, false, 20, costs, &c, point, &runs));
    /* Two passes of 10 s, two runs each: 5 s a run at 10 ms a step, less what setting up takes. */
    ck_assert_int_eq(c.most, slow ? 100 : 500);
  }
}
END_TEST

/* --- Recorded costs: docs/results/tune_NAME.csv, every point of a space as bench/study_tune.sh
 * timed it. */

enum { RECORDED_MOST = 4096 };
typedef struct {
  int n;
  tune_point at[RECORDED_MOST];
  double us[RECORDED_MOST], least;
} recorded;

/* The first row of each point is its cost. */
static void read_recorded(const char *path, recorded *out, tune_values *values)
{
  char line[1024];
  FILE *file = fopen(path, "r");
  ck_assert_msg(file, "%s is missing", path);
  ck_assert(fgets(line, sizeof line, file)); /* the header */
  memset(values, 0, TUNE_DIMENSION_COUNT * sizeof *values);
  out->least = INFINITY;
  for (out->n = 0; fgets(line, sizeof line, file);) {
    char *rest = line;
    ck_assert_int_lt(out->n, RECORDED_MOST);
    memset(out->at[out->n], 0, sizeof(tune_point));
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
      snprintf(out->at[out->n][d], TUNE_VALUE, "%s", strsep(&rest, ","));
    strsep(&rest, ",");
    bool known = false;
    for (int k = 0; k < out->n && !known; k++)
      known = memcmp(out->at[k], out->at[out->n], sizeof(tune_point)) == 0;
    if (known) continue;
    out->us[out->n] = *rest == '\n' ? INFINITY : atof(rest);
    out->least = fmin(out->least, out->us[out->n]);
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++) {
      tune_values *to = &values[d];
      int k = 0;
      while (k < to->n && strcmp(to->value[k], out->at[out->n][d]) != 0)
        k++;
      if (k == to->n && out->at[out->n][d][0])
        memcpy(to->value[to->n++], out->at[out->n][d], TUNE_VALUE);
    }
    out->n++;
  }
  fclose(file);
}

static double replay(void *with, const tune_point at, int64_t steps, double *setup_s)
{
  const recorded *r = with;
  *setup_s = 0;
  for (int k = 0; k < r->n; k++)
    if (memcmp(r->at[k], at, sizeof(tune_point)) == 0) return 1e-6 * r->us[k];
  ck_abort_msg("a point that was not recorded, %lld steps", (long long)steps);
  return 0;
}

/* From every value of the first two dimensions on: within 2 % of the best of all points. */
START_TEST(recorded_optimum_is_found)
{
  static const char *const paths[] = {"docs/results/tune_melt.csv", "docs/results/tune_salt.csv"};
  static recorded r;
  tune_values values[TUNE_DIMENSION_COUNT];
  read_recorded(paths[_i], &r, values);
  ck_assert_int_gt(r.n, 100);
  int64_t points = 1, runs;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    points *= values[d].n > 0 ? values[d].n : 1;
  ck_assert_int_eq(points, r.n);
  tune_point at;
  memset(at, 0, sizeof at);
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    memcpy(at[d], values[d].value[0], TUNE_VALUE);
  ck_ok(tune_search(values, false, 100, replay, &r, at, &runs));
  ck_assert_int_lt(runs, r.n);
  double setup_s;
  const double found = 1e6 * replay(&r, at, 1, &setup_s);
  ck_assert_msg(found <= 1.02 * r.least, "%s: %g us a step instead of %g", paths[_i], found,
                r.least);
}
END_TEST

/* --- Candidates. */

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
  TCase *tcase = tcase_create("search");
  tcase_add_test(tcase, optimum_is_found);
  tcase_add_test(tcase, noise_costs_little);
  tcase_add_test(tcase, what_cannot_be_had_is_left);
  tcase_add_test(tcase, exhaustive_search_finds_it);
  tcase_add_test(tcase, setup_counts_as_spent);
  suite_add_tcase(suite, tcase);
  TCase *slow = test_long_case("measured");
  tcase_add_loop_test(slow, recorded_optimum_is_found, 0, 2);
  tcase_add_test(slow, candidates_of_pme_are_as_exact);
  tcase_add_test(slow, precision_errors_are_those_of_forces);
  suite_add_tcase(suite, slow);
  return test_main(suite);
}
