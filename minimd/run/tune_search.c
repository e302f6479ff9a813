/* minimd/run/tune_search.c - the search of tune.h, whatever the clock is. */
#include "minimd/run/tune.h"

#include <math.h>
#include <string.h>

enum { PASSES = 2, STEPS_LEAST = 20 };

typedef struct {
  int index; /* of the value */
  double seconds;
} entrant;

static void set(tune_point point, int d, const char *value)
{
  snprintf(point[d], TUNE_VALUE, "%s", value);
}

/* Sort by time; the one that was first stays before its equals. */
static void sort(entrant *all, int n)
{
  for (int k = 1; k < n; k++)
    for (int j = k; j > 0 && all[j].seconds < all[j - 1].seconds; j--) {
      const entrant other = all[j];
      all[j] = all[j - 1];
      all[j - 1] = other;
    }
}

/* The best value of a dimension.  Rounds take the same time: half the entrants, twice the steps. */
static void halve(const tune_values *values, int d, double budget, tune_clock *clock, void *with,
                  tune_point at, double *step_s, int64_t *runs)
{
  entrant all[16] = {0};
  int n = 0, rounds = 0;
  for (; n < values->n; n++)
    all[n] = (entrant){n, 0};
  for (int left = n; left > 1; left = (left + 1) / 2)
    rounds++;
  while (n > 1) {
    const double seconds = budget / (rounds * n);
    const int64_t steps = (int64_t)fmax(STEPS_LEAST, fmin(1e9, seconds / *step_s));
    for (int k = 0; k < n; k++) {
      tune_point candidate;
      memcpy(candidate, at, sizeof candidate);
      set(candidate, d, values->value[all[k].index]);
      all[k].seconds = clock(with, candidate, steps);
      ++*runs;
    }
    sort(all, n);
    n = (n + 1) / 2;
    if (isfinite(all[0].seconds)) *step_s = all[0].seconds;
  }
  if (isfinite(all[0].seconds)) set(at, d, values->value[all[0].index]);
}

void tune_search(const tune_values values[TUNE_DIMENSION_COUNT], double budget, tune_clock *clock,
                 void *with, tune_point at, int64_t *runs)
{
  int dimensions = 0;
  double step_s = clock(with, at, STEPS_LEAST);
  if (!isfinite(step_s) || step_s <= 0) step_s = 1e-3;
  for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
    dimensions += values[d].n > 1;
  for (int pass = 0; pass < PASSES; pass++)
    for (int d = 0; d < TUNE_DIMENSION_COUNT; d++)
      if (values[d].n > 1)
        halve(&values[d], d, budget / (PASSES * dimensions), clock, with, at, &step_s, runs);
}
