/* minimd/run/tune_search.c - the search of tune.h, whatever the clock is.
 *
 * A point's time is nearly a product of a factor for each choice, but not quite: bins, skin and
 * list change what the others are worth, and on a busy machine equal runs differ by more than most
 * choices do.  So a pass has two halves.  The sweep times every single change of the point where
 * the search stands; the product of these ratios is what a combination promises.  The race runs
 * the best single change and the combinations that promise most, drops the slower half after every
 * round (successive halving), and the next pass goes on from the winner.  What lost a race runs in
 * no other.
 *
 * Entrants take turns, and each is as fast as its fastest run: what else the machine does makes
 * runs longer, never shorter. */
#include "minimd/run/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PASSES = 3,
  TURNS = 3, /* of every entrant in a round; fewer where there is no time */
  RACERS = 128,
  RACERS_LEAST = 8,
  STEPS_LEAST = 20
};
static const double sweep_share = 0.2;

typedef struct {
  int64_t index;  /* of a point */
  double seconds; /* a step: what it promises, then the least it took */
} entrant;

typedef struct {
  const tune_values *values;
  tune_clock *clock;
  void *with;
  tune_point start;
  int64_t stride[TUNE_DIMENSION_COUNT], points;
  int64_t changes; /* of a point in one dimension, and itself */
  bool *raced;     /* [points] */
  int turns;
  double step_s, setup_s; /* of the last round, on average */
  int64_t runs;
} search;

typedef double ratios[TUNE_DIMENSION_COUNT][TUNE_VALUES];

/* Which of its values a point has. */
static int value_of(const search *s, int64_t index, int d)
{
  return (int)(index / s->stride[d] % s->values[d].n);
}

static int64_t change(const search *s, int64_t index, int d, int v)
{
  return index + (v - value_of(s, index, d)) * s->stride[d];
}

static void name_point(const search *s, int64_t index, tune_point out)
{
  memcpy(out, s->start, sizeof s->start);
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (s->values[d].n) memcpy(out[d], s->values[d].value[value_of(s, index, d)], TUNE_VALUE);
}

static int compare(const void *a, const void *b)
{
  const entrant *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Runs of all entrants in turn, run_s seconds each, or as long as the least steps take. */
static void run_round(search *s, double run_s, int64_t n, entrant *all)
{
  const int64_t steps = (int64_t)fmax(STEPS_LEAST, fmin(1e9, (run_s - s->setup_s) / s->step_s));
  double setup_s = s->setup_s, sum = 0;
  int64_t had = 0;
  for (int turn = 0; turn < s->turns; turn++)
    for (int64_t k = 0; k < n; k++) {
      tune_point at;
      if (turn > 0 && !isfinite(all[k].seconds)) continue; /* it cannot be had */
      name_point(s, all[k].index, at);
      const double step_s = s->clock(s->with, at, steps, &setup_s);
      all[k].seconds = fmin(all[k].seconds, step_s);
      s->runs++;
      if (!isfinite(step_s)) continue;
      sum += step_s;
      had++;
    }
  if (sum > 0) s->step_s = sum / (double)had;
  s->setup_s = setup_s;
}

/* Twice as many runs as the first round has. */
static double run_seconds(const search *s, double budget, int64_t n)
{
  return budget / (double)(2 * s->turns * n);
}

/* The fastest of them comes first.  Its last rounds are of fast points, unlike the sweep that comes
 * next. */
static void race(search *s, double budget, int64_t n, entrant *all)
{
  const double run_s = run_seconds(s, budget, n), step_s = s->step_s;
  for (int64_t k = 0; k < n; k++)
    all[k].seconds = INFINITY;
  for (; n > 1; n = (n + 1) / 2) {
    run_round(s, run_s, n, all);
    qsort(all, (size_t)n, sizeof *all, compare);
  }
  s->step_s = step_s;
}

/* What every single change of a point does to its time. */
static void sweep(search *s, int64_t at, double budget, entrant *all, ratios out)
{
  int64_t n = 0;
  all[n++] = (entrant){at, INFINITY};
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    for (int v = 0; v < s->values[d].n; v++)
      if (v != value_of(s, at, d)) all[n++] = (entrant){change(s, at, d, v), INFINITY};
  run_round(s, 2 * run_seconds(s, budget, n), n, all);
  const double base = isfinite(all[0].seconds) ? all[0].seconds : 1;
  n = 1;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    for (int v = 0; v < s->values[d].n; v++)
      out[d][v] = v == value_of(s, at, d) ? 1 : all[n++].seconds / base;
}

/* The best single change, or the point itself where none is faster. */
static int64_t best_change(const search *s, int64_t at, ratios ratio)
{
  int64_t best = at;
  double least = 1;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    for (int v = 0; v < s->values[d].n; v++)
      if (ratio[d][v] < least) {
        least = ratio[d][v];
        best = change(s, at, d, v);
      }
  return best;
}

/* The point itself, its best single change, and the combinations that promise most, as many as
 * there is time for. */
static int64_t choose_racers(search *s, int64_t at, ratios ratio, double budget, entrant *all)
{
  const int64_t best = best_change(s, at, ratio);
  int64_t n = 0;
  for (int64_t k = 0; k < s->points; k++) {
    double promise = 1;
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
      if (s->values[d].n) promise *= ratio[d][value_of(s, k, d)];
    if (k == at || k == best) promise = 0;
    if (promise == 0 || !s->raced[k]) all[n++] = (entrant){k, promise};
  }
  qsort(all, (size_t)n, sizeof *all, compare);
  if (n > RACERS) n = RACERS;
  while (n > RACERS_LEAST && run_seconds(s, budget, n) < s->setup_s + STEPS_LEAST * s->step_s)
    n--;
  for (int64_t k = 0; k < n; k++)
    s->raced[all[k].index] = true;
  return n;
}

static int64_t find(search *s, double budget, int64_t at, entrant *all)
{
  const double run_s = s->setup_s + STEPS_LEAST * s->step_s;
  const double turns = budget / (PASSES * run_s * (double)(s->changes + 2 * RACERS_LEAST));
  s->turns = (int)fmax(1, fmin(TURNS, turns));
  const double sweep_s = sweep_share * budget / PASSES, race_s = budget / PASSES - sweep_s;
  for (int pass = 0; pass < PASSES; pass++) {
    ratios ratio;
    sweep(s, at, sweep_s, all, ratio);
    race(s, race_s, choose_racers(s, at, ratio, race_s, all), all);
    if (isfinite(all[0].seconds)) at = all[0].index;
  }
  return at;
}

static int64_t look_at_all(search *s, double budget, int64_t at, entrant *all)
{
  for (int64_t k = 0; k < s->points; k++)
    all[k].index = k;
  race(s, budget, s->points, all);
  return isfinite(all[0].seconds) ? all[0].index : at;
}

md_status tune_search(const tune_values values[TUNE_DIMENSION_COUNT], bool exhaustive,
                      double budget, tune_clock *clock, void *with, tune_point at, int64_t *runs)
{
  search s = {
      .values = values, .clock = clock, .with = with, .points = 1, .changes = 1, .turns = 1};
  int64_t start = 0;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++) {
    s.stride[d] = s.points;
    for (int v = 0; v < values[d].n; v++)
      if (strcmp(values[d].value[v], at[d]) == 0) start += v * s.stride[d];
    if (values[d].n) s.points *= values[d].n;
    s.changes += values[d].n ? values[d].n - 1 : 0;
  }
  entrant *all = calloc((size_t)(s.points > s.changes ? s.points : s.changes), sizeof *all);
  s.raced = calloc((size_t)s.points, sizeof *s.raced);
  md_status status = all && s.raced
                         ? MD_OK
                         : MD_FAIL(MD_ENOMEM, "out of memory for %lld points", (long long)s.points);
  if (!status) {
    memcpy(s.start, at, sizeof s.start);
    s.step_s = clock(with, at, STEPS_LEAST, &s.setup_s);
    if (!isfinite(s.step_s) || s.step_s <= 0) s.step_s = 1e-3;
    name_point(&s, (exhaustive ? look_at_all : find)(&s, budget, start, all), at);
  }
  free(all);
  free(s.raced);
  *runs = s.runs;
  return status;
}
