/* tests/minimd/check_tune_search.c - the search of `tune` on clocks whose optimum is known, made up
 * and recorded, against looking at every point. */
#include "minimd/run/tune.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

enum { DIMENSIONS = 5, ORDERS = 3, LISTS = 2, BINS = 4, SORTS = 3, SKINS = 7 };
static const tune_dimension used[DIMENSIONS] = {TUNE_ORDER, TUNE_LIST, TUNE_BIN_SIZE,
                                                TUNE_SORT_EVERY, TUNE_SKIN};
static const int sizes[DIMENSIONS] = {ORDERS, LISTS, BINS, SORTS, SKINS};
enum { POINTS = ORDERS * LISTS * BINS * SORTS * SKINS };

typedef struct {
  double cost[DIMENSIONS][8];          /* factors */
  double together[LISTS][BINS][SKINS]; /* what these do to each other: factors */
  double build[LISTS][BINS],
      build_rate; /* > 0: a list's build, and how often a skin of 1 needs it */
  double noise, setup_s, clock_s;
  uint64_t seed;
  int64_t calls;
  double spent_s;
} world;

/* With a rate of builds, skins are no factor: pairs rise with their volume, builds fall with them.
 * */
static double exact(const world *w, const int *at)
{
  double seconds = 1e-3 * w->cost[0][at[0]] * w->cost[1][at[1]] * w->cost[3][at[3]];
  if (w->build_rate == 0)
    return seconds * w->cost[2][at[2]] * w->cost[4][at[4]] * w->together[at[1]][at[2]][at[4]];
  const double skin = 0.2 + 0.1 * at[4], reach = (2.5 + skin) / 2.8;
  return seconds * pow(reach, 3) +
         1e-3 * w->build_rate / skin * w->build[at[1]][at[2]] * pow(reach, 2);
}

static void indices(const tune_point point, int *at)
{
  for (int d = 0; d < DIMENSIONS; d++)
    at[d] = atoi(point[used[d]]);
}

/* A busy machine: every fifth run is up to 1.5 times as long, and all of it is now faster, now
 * slower, by 5 %. */
static double timed(void *with, const tune_point point, int64_t steps, double *setup_s)
{
  world *w = with;
  int at[DIMENSIONS];
  indices(point, at);
  double seconds = exact(w, at);
  *setup_s = w->setup_s;
  w->calls++;
  w->spent_s += (double)steps * seconds + w->setup_s;
  if (w->noise == 0) return seconds;
  seconds *= 1 + w->noise * (ref_uniform(&w->seed) - 0.5) + 0.05 * sin(w->spent_s / 7);
  return ref_uniform(&w->seed) < 0.2 ? seconds * (1 + 0.5 * ref_uniform(&w->seed)) : seconds;
}

/* Choices differ by up to `spread`, and what they do to each other by up to 10 %. */
static world make_world(uint64_t seed, double spread, bool builds, double noise)
{
  world w = {.noise = noise, .setup_s = 2e-3};
  double bin[BINS];
  for (int d = 0; d < DIMENSIONS; d++)
    for (int k = 0; k < sizes[d]; k++)
      w.cost[d][k] = 1 + spread * ref_uniform(&seed);
  for (int b = 0; b < BINS; b++)
    bin[b] = 0.3 + 0.7 * ref_uniform(&seed);
  for (int l = 0; l < LISTS; l++)
    for (int b = 0; b < BINS; b++) {
      w.build[l][b] = bin[b] * (l ? 0.6 : 1) * (0.9 + 0.2 * ref_uniform(&seed));
      for (int k = 0; k < SKINS; k++)
        w.together[l][b][k] = 0.9 + 0.2 * ref_uniform(&seed);
    }
  if (builds) w.build_rate = 0.05 + 0.3 * ref_uniform(&seed);
  w.seed = seed;
  return w;
}

static double best_of_all(const world *w)
{
  double best = INFINITY;
  for (int k = 0; k < POINTS; k++) {
    int at[DIMENSIONS], rest = k;
    for (int d = 0; d < DIMENSIONS; rest /= sizes[d++])
      at[d] = rest % sizes[d];
    best = fmin(best, exact(w, at));
  }
  return best;
}

static double search(world *w, bool exhaustive, double budget, tune_point point)
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
  ck_ok(tune_search(values, exhaustive, budget, timed, w, point, &runs));
  ck_assert_int_eq(runs + 1, w->calls);
  indices(point, at);
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (d == TUNE_BLOCK_SIZE || d == TUNE_THREADS) ck_assert_str_eq(point[d], "");
  return exact(w, at);
}

/* Choices worth much and little, as factors and as costs of builds. */
static const struct {
  double spread;
  bool builds;
} kinds[] = {{1, false}, {0.3, false}, {0.3, true}, {0.1, true}};

/* Within 2 % of the best of all points, in 98 of 100 worlds, and and in the time it is given. */
static void find_in_worlds(int kind, double noise)
{
  int missed = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    world w = make_world(977 * seed, kinds[kind].spread, kinds[kind].builds, noise);
    tune_point point = {""};
    const double best = best_of_all(&w), found = search(&w, false, 36, point);
    missed += found > 1.02 * best;
    ck_assert_msg(found <= 1.15 * best, "world %llu: %g instead of %g", (unsigned long long)seed,
                  found, best);
    ck_assert_double_lt(w.spent_s, 1.3 * 36);
  }
  ck_assert_msg(missed <= 4, "%d of 200 worlds: more than 2 %% above the best", missed);
}

START_TEST(optimum_is_found)
{
  find_in_worlds(_i, 0);
}
END_TEST

START_TEST(optimum_is_found_on_a_busy_machine)
{
  find_in_worlds(_i, 0.02);
}
END_TEST

START_TEST(what_cannot_be_had_is_left)
{
  world w = make_world(3, 1, false, 0);
  for (int k = 1; k < SKINS; k++)
    w.cost[4][k] = INFINITY;
  for (int k = 0; k < BINS; k++)
    w.cost[2][k] = k == 0 ? 5 : k == 2 ? 1 : INFINITY;
  tune_point point = {""};
  ck_assert(isfinite(search(&w, false, 36, point)));
  ck_assert_int_eq(atoi(point[TUNE_SKIN]), 0);
  ck_assert_int_eq(atoi(point[TUNE_BIN_SIZE]), 2);
  /* Nothing can be had: it stays where it began. */
  for (int k = 0; k < ORDERS; k++)
    w.cost[0][k] = INFINITY;
  memset(point, 0, sizeof point);
  w.calls = 0;
  ck_assert(!isfinite(search(&w, false, 36, point)));
  for (int d = 0; d < DIMENSIONS; d++)
    ck_assert_int_eq(atoi(point[used[d]]), 0);
}
END_TEST

/* Whatever choices do to each other. */
START_TEST(exhaustive_search_finds_it)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    world w = make_world(seed, 0.01, false, 0);
    tune_point point = {""};
    ck_assert_double_eq(search(&w, true, 100, point), best_of_all(&w));
    ck_assert_int_ge(w.calls, POINTS);
  }
}
END_TEST

/* Time enough, hardly any, and set-up that takes most of it: what is spent is what was given, or
 * what the fewest runs take, about three for each change. */
START_TEST(time_is_kept)
{
  static const struct {
    double budget, setup_s, most_s;
  } cases[] = {{200, 0, 240}, {20, 0, 24}, {200, 1, 300}, {1, 0.1, 30}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    world w = make_world(11 + k, 0.3, false, 0);
    tune_point point = {""};
    w.setup_s = cases[k].setup_s;
    search(&w, false, cases[k].budget, point);
    ck_assert_msg(w.spent_s < cases[k].most_s, "%g s of %g, in %lld runs", w.spent_s,
                  cases[k].budget, (long long)w.calls);
    ck_assert_double_gt(w.spent_s, 0.3 * cases[k].budget);
  }
}
END_TEST

/* --- Recorded costs: docs/results/tune_NAME.csv, every point of a space as bench/study_tune.sh
 * timed it. */

enum { RECORDED_MOST = 4096 };
typedef struct {
  int n;
  tune_point at[RECORDED_MOST];
  double us[RECORDED_MOST], least, all, spent_us; /* all: of a step of each */
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
  out->all = out->spent_us = 0;
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
    out->all += isfinite(out->us[out->n]) ? out->us[out->n] : 0;
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
  recorded *r = with;
  *setup_s = 0;
  for (int k = 0; k < r->n; k++)
    if (memcmp(r->at[k], at, sizeof(tune_point)) == 0) {
      r->spent_us += (double)steps * r->us[k];
      return 1e-6 * r->us[k];
    }
  ck_abort_msg("a point that was not recorded, %lld steps", (long long)steps);
  return 0;
}

/* Within 2 % of the best of all points. */
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
  /* In the time that every point takes three times. */
  ck_ok(tune_search(values, false, 3 * 20e-6 * r.all, replay, &r, at, &runs));
  ck_assert_double_lt(r.spent_us, 1.3 * 3 * 20 * r.all);
  double setup_s;
  const double found = 1e6 * replay(&r, at, 1, &setup_s);
  ck_assert_msg(found <= 1.02 * r.least, "%s: %g us a step instead of %g", paths[_i], found,
                r.least);
}
END_TEST

int main(void)
{
  const int n_kinds = (int)(sizeof kinds / sizeof *kinds);
  Suite *suite = suite_create("tune_search");
  TCase *worlds = test_long_case("worlds");
  tcase_add_loop_test(worlds, optimum_is_found, 0, n_kinds);
  tcase_add_loop_test(worlds, optimum_is_found_on_a_busy_machine, 0, n_kinds);
  suite_add_tcase(suite, worlds);
  TCase *tcase = tcase_create("search");
  tcase_add_test(tcase, what_cannot_be_had_is_left);
  tcase_add_test(tcase, exhaustive_search_finds_it);
  tcase_add_test(tcase, time_is_kept);
  tcase_add_loop_test(tcase, recorded_optimum_is_found, 0, 2);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
