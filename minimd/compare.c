/* minimd/compare.c - medians, their intervals and ranks (compare.h).
 *
 * Each of n independent values lies below the true median with probability 1/2, so that the k-th
 * smallest and the k-th largest hold it between them except with probability 2 P(B < k), B binomial
 * of n and 1/2. */
#include "minimd/compare.h"
#include "minimd/median.h"

#include <math.h>

/* P(B = k). */
static double probability(int64_t n, int64_t k)
{
  return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) -
             (double)n * log(2));
}

/* The largest k >= 1 with P(B < k) <= 2.5 %, or 1; *outside is 2 P(B < k). */
static int64_t order_of_bound(int64_t n, double *outside)
{
  int64_t k = 1;
  double below = probability(n, 0);
  for (double next; k < n / 2 && (next = below + probability(n, k)) <= 0.025; k++)
    below = next;
  *outside = 2 * below;
  return k;
}

double compare_confidence(int64_t n)
{
  double outside;
  order_of_bound(n, &outside);
  return n > 1 ? 1 - outside : 0;
}

compare_estimate compare_summarise(double *values, int64_t n)
{
  double outside;
  const int64_t k = order_of_bound(n, &outside);
  const double median = median_of(values, (int)n);
  return (compare_estimate){median, values[k - 1], values[n - k]};
}

static int faster(const void *a, const void *b)
{
  return median_compare(&((const compare_variant *)a)->time[COMPARE_TOTAL].median,
                        &((const compare_variant *)b)->time[COMPARE_TOTAL].median);
}

void compare_rank(comparison *all)
{
  for (int k = 0; k < all->n; k++)
    for (int t = 0; t < COMPARE_TIME_COUNT; t++)
      all->variants[k].time[t] = compare_summarise(all->variants[k].seconds[t], all->repeats);
  qsort(all->variants, (size_t)all->n, sizeof *all->variants, faster);
  for (int k = 0; k < all->n; k++) {
    compare_variant *v = &all->variants[k];
    const compare_estimate *own = &v->time[COMPARE_TOTAL];
    v->best_rank = v->worst_rank = 1;
    for (int other = 0; other < all->n; other++) {
      const compare_estimate *t = &all->variants[other].time[COMPARE_TOTAL];
      if (t->high < own->low) v->best_rank++;
      if (other != k && t->low <= own->high) v->worst_rank++;
    }
  }
}
