/* minimd/run/tune_search.c - the search of tune.h, whatever the clock is. */
#include "minimd/run/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 2, STEPS_LEAST = 20 };

typedef struct {
  int64_t index; /* of a combination of values */
  double seconds;
} entrant;

typedef struct {
  const tune_values *values;
  tune_clock *clock;
  void *with;
  double step_s, setup_s; /* of what was fast last */
  int64_t runs;
} search;

/* The point `at` with combination `index` of the values of dimensions first .. last - 1. */
static void combine(const search *s, int first, int last, int64_t index, tune_point at)
{
  for (int d = first; d < last; d++)
    if (s->values[d].n) {
      memcpy(at[d], s->values[d].value[index % s->values[d].n], TUNE_VALUE);
      index /= s->values[d].n;
    }
}

static int compare(const void *a, const void *b)
{
  const entrant *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index); /* the first one stays before its equals */
}

/* The best combination.  Rounds take the same time: half the entrants, twice the steps. */
static void halve(search *s, int first, int last, double budget, int64_t n, entrant *all,
                  tune_point at)
{
  int rounds = 0;
  for (int64_t k = 0; k < n; k++)
    all[k] = (entrant){k, 0};
  for (int64_t left = n; left > 1; left = (left + 1) / 2)
    rounds++;
  while (n > 1) {
    const double seconds = budget / (double)(rounds * n) - s->setup_s;
    const int64_t steps = (int64_t)fmax(STEPS_LEAST, fmin(1e9, seconds / s->step_s));
    double setup_s = 0;
    for (int64_t k = 0; k < n; k++) {
      tune_point candidate;
      memcpy(candidate, at, sizeof candidate);
      combine(s, first, last, all[k].index, candidate);
      all[k].seconds = s->clock(s->with, candidate, steps, &setup_s);
      s->runs++;
    }
    qsort(all, (size_t)n, sizeof *all, compare);
    n = (n + 1) / 2;
    if (isfinite(all[0].seconds)) s->step_s = all[0].seconds;
    s->setup_s = setup_s;
  }
  if (isfinite(all[0].seconds)) combine(s, first, last, all[0].index, at);
}

md_status tune_search(const tune_values values[TUNE_DIMENSION_COUNT], bool exhaustive,
                      double budget, tune_clock *clock, void *with, tune_point at, int64_t *runs)
{
  search s = {.values = values, .clock = clock, .with = with};
  int64_t points = 1;
  int dimensions = 0;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    if (values[d].n > 1) {
      points *= values[d].n;
      dimensions++;
    }
  const int64_t room = exhaustive ? points : TUNE_VALUES;
  entrant *all = malloc((size_t)room * sizeof *all);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for %lld points", (long long)room);
  s.step_s = clock(with, at, STEPS_LEAST, &s.setup_s);
  if (!isfinite(s.step_s) || s.step_s <= 0) s.step_s = 1e-3;
  if (exhaustive) halve(&s, 0, TUNE_DIMENSION_COUNT, budget, points, all, at);
  for (int pass = 0; pass < PASSES && !exhaustive; pass++)
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
      if (values[d].n > 1)
        halve(&s, d, d + 1, budget / (PASSES * dimensions), values[d].n, all, at);
  free(all);
  *runs = s.runs;
  return MD_OK;
}
