/* minimd/run/compare.c - medians, their intervals and ranks (compare.h).
 *
 * Each of n independent values lies below the true median with probability 1/2, so that the k-th
 * smallest and the k-th largest hold it between them except with probability 2 P(B < k), B binomial
 * of n and 1/2: the sign test.  It is chosen over the signed-rank test because times on a shared
 * machine are disturbed upward by any factor: one disturbed pair counts as one against, however far
 * out it lies. */
#include "minimd/run/compare.h"
#include "core/random.h"
#include "minimd/shell/median.h"

#include <math.h>
#include <string.h>

static const double tail = 0.025; /* half of 5 % */

/* P(B = k). */
static double probability(int64_t n, int64_t k)
{
  return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) -
             (double)n * log(2));
}

/* The largest k <= n / 2 with P(B < k) <= level, 0 if there is none; *below is P(B < k). */
static int64_t order_of_bound(int64_t n, double level, double *below)
{
  int64_t k = 0;
  *below = 0;
  for (double next; k < n / 2 && (next = *below + probability(n, k)) <= level; k++)
    *below = next;
  return k;
}

double compare_confidence(int64_t n)
{
  double below;
  if (order_of_bound(n, tail, &below) == 0) below = probability(n, 0);
  return n > 1 ? 1 - 2 * below : 0;
}

compare_estimate compare_summarise(double *values, int64_t n)
{
  double below;
  const int64_t k = order_of_bound(n, tail, &below), bound = k ? k : 1;
  const double median = median_of(values, (int)n);
  return (compare_estimate){median, values[bound - 1], values[n - bound]};
}

/* The level of each tail of one pair of variants. */
static double tail_of_pair(int variants)
{
  return variants > 2 ? tail / (0.5 * variants * (variants - 1.0)) : tail;
}

int64_t compare_repeats(int variants, int against)
{
  const double level = tail_of_pair(variants);
  int64_t repeats = 1;
  for (double below; order_of_bound(repeats, level, &below) <= against;)
    repeats++;
  return repeats;
}

compare_estimate compare_ratio(const double *slow, const double *fast, int64_t repeats,
                               int variants, double *work)
{
  double below;
  const int64_t k = order_of_bound(repeats, tail_of_pair(variants), &below);
  for (int64_t r = 0; r < repeats; r++)
    work[r] = slow[r] / fast[r];
  const double median = median_of(work, (int)repeats);
  if (k == 0) return (compare_estimate){median, NAN, NAN};
  return (compare_estimate){median, work[k - 1], work[repeats - k]};
}

static int faster(const void *a, const void *b)
{
  return median_compare(&((const compare_variant *)a)->time[COMPARE_TOTAL].median,
                        &((const compare_variant *)b)->time[COMPARE_TOTAL].median);
}

/* Whether the pairs of times tell a variant from one that stands behind it. */
static bool ahead(const comparison *all, int fast, int slow, double *work)
{
  return compare_ratio(all->variants[slow].seconds[COMPARE_TOTAL],
                       all->variants[fast].seconds[COMPARE_TOTAL], all->repeats, all->n, work)
             .low > 1;
}

/* Variants [0, k] are ahead of those from worst_rank[k] on. */
static void set_ranks(comparison *all, double *work)
{
  for (int k = 0, first_behind = 0; k < all->n; k++) {
    int behind = all->n;
    while (behind > k + 1 && ahead(all, k, behind - 1, work))
      behind--;
    if (behind > first_behind) first_behind = behind;
    all->variants[k].worst_rank = first_behind;
  }
  for (int k = 0, ahead_of = 0; k < all->n; k++) {
    while (all->variants[ahead_of].worst_rank <= k)
      ahead_of++;
    all->variants[k].best_rank = ahead_of + 1;
  }
}

md_status compare_rank(comparison *all)
{
  const size_t bytes = (size_t)all->repeats * sizeof(double);
  double *work = malloc(bytes);
  MD_REQUIRE(work, MD_ENOMEM, "out of memory for %lld repeats", (long long)all->repeats);
  for (int k = 0; k < all->n; k++)
    for (int t = 0; t < COMPARE_TIME_COUNT; t++) {
      memcpy(work, all->variants[k].seconds[t], bytes);
      all->variants[k].time[t] = compare_summarise(work, all->repeats);
    }
  qsort(all->variants, (size_t)all->n, sizeof *all->variants, faster);
  for (int k = 0; k < all->n; k++)
    all->variants[k].ratio =
        compare_ratio(all->variants[k].seconds[COMPARE_TOTAL],
                      all->variants[0].seconds[COMPARE_TOTAL], all->repeats, all->n, work);
  set_ranks(all, work);
  free(work);
  return MD_OK;
}

void compare_shuffle(int n, int32_t *seed, int *order)
{
  for (int k = 0; k < n; k++) {
    const int other = (int)(random_park_miller(seed) * (k + 1));
    order[k] = k;
    order[k] = order[other];
    order[other] = k;
  }
}
