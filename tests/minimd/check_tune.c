/* tests/minimd/check_tune.c - the search of `tune` on clocks whose optimum is known, against
 * looking at every point. */
#include "minimd/run/tune.h"
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

static double timed(void *with, const tune_point point, int64_t steps)
{
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

static double search(world *w, tune_point point)
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
  tune_search(values, 100, timed, w, point, &runs);
  ck_assert_int_eq(runs + 1, w->calls);
  indices(point, at);
  return exact(w, at);
}

START_TEST(optimum_is_found)
{
  for (uint64_t seed = 1; seed <= 200; seed++) {
    world w = make_world(seed, 0);
    tune_point point = {""};
    const double found = search(&w, point);
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
    ck_assert_double_le(search(&w, point), 1.05 * best_of_all(&w));
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
  ck_assert(!isfinite(search(&w, point)) || atoi(point[TUNE_SKIN]) == 0);
  w.cost[0][0] = 1;
  w.cost[2][0] = 5;
  memset(point, 0, sizeof point);
  w.calls = 0;
  ck_assert(isfinite(search(&w, point)));
  ck_assert_int_eq(atoi(point[TUNE_SKIN]), 0);
  ck_assert_int_eq(atoi(point[TUNE_BIN_SIZE]), 2);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tune");
  TCase *tcase = tcase_create("search");
  tcase_add_test(tcase, optimum_is_found);
  tcase_add_test(tcase, noise_costs_little);
  tcase_add_test(tcase, what_cannot_be_had_is_left);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
