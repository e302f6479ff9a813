/* minimd/run/compare.h - what `minimd compare` measured: the same run under each ordering and list.
 *
 * A repeat runs every variant, in random order, so that the times of two variants in one repeat are
 * a pair that the machine's drift changes alike.  If the two were equally fast, random order alone
 * would make either of them the faster one of a pair with probability 1/2, whatever other programs
 * do.  Two variants are told apart by the sign test on these pairs, at a level that keeps the
 * probability of any wrong statement among all pairs of variants below 5 % (Bonferroni). */
#ifndef COMPARE_H
#define COMPARE_H

#include "minimd/locality/locality.h"
#include "minimd/shell/options.h"

MD_BEGIN_C

/* total is wall time, as its phases are; processor that of all threads, which other programs on the
 * same processors disturb less. */
#define COMPARE_TIMES(X)                                                                           \
  X(FORCE, "force")                                                                                \
  X(NEIGHBOR, "neighbor")                                                                          \
  X(SORT, "sort")                                                                                  \
  X(TOTAL, "total")                                                                                \
  X(PROCESSOR, "processor")
#define MD_ENUM_(name, word) COMPARE_##name,
enum { COMPARE_TIMES(MD_ENUM_) COMPARE_TIME_COUNT };
#undef MD_ENUM_

typedef struct {
  double median, low, high;
} compare_estimate;

typedef struct {
  const char *order, *list, *cut;            /* cut: of the box, by several ranks */
  double *seconds[COMPARE_TIME_COUNT];       /* [repeats] of a run */
  compare_estimate time[COMPARE_TIME_COUNT]; /* [s] of a run */
  compare_estimate ratio; /* of its total time to that of the first variant, compare_ratio */
  double figure[LOCALITY_FIGURE_COUNT];
  int64_t atoms;
  int best_rank, worst_rank; /* by median total time, from 1 */
} compare_variant;

typedef struct {
  config *cfg;
  compare_variant *variants; /* [n] */
  int n;
  int64_t repeats, runs; /* runs of a variant in one repeat, whose mean is its time */
  md_backend backend;
} comparison;

/* Median and interval of n >= 1 values (an int holds n); sorts them.  The interval lies between
 * order statistics: the narrowest of them that holds the true median with at least 95 %, or all
 * values where none does (n <= 5). */
compare_estimate compare_summarise(double *values, int64_t n);
double compare_confidence(int64_t n);

/* The least number of repeats with which that many variants can be ranked: two are told apart where
 * all pairs but `against`, 0 or 1, say so. */
int64_t compare_repeats(int variants, int against);

/* Median of the ratio slow[k] / fast[k] over the repeats, with an interval such that those of all
 * pairs of variants hold the true medians together with at least 95 %; NaN where there are too few
 * repeats for one.  work[repeats] is overwritten. */
compare_estimate compare_ratio(const double *slow, const double *fast, int64_t repeats,
                               int variants, double *work);

/* From seconds to time, ratio, ranks and a sorted list, fastest first by the median of total.
 * Neither rank falls along the list: a variant is ahead of a slower one where it and all before it
 * are told apart from that one and all behind it.  Without enough repeats all ranks are 1..n.
 * Errors: MD_ENOMEM. */
md_status compare_rank(comparison *all);

/* A random order of 0 .. n - 1; seed is that of random_park_miller. */
void compare_shuffle(int n, int32_t *seed, int *order);

/* A first short run of every variant, from which runs is set and, unless quiet, standard error is
 * told how long the comparison takes; then all runs.  Errors: those of the engine; MD_ENOMEM. */
md_status compare_run(comparison *all, bool quiet);
/* The configuration of this variant.  Errors: MD_EINVAL. */
md_status compare_set(config *cfg, const compare_variant *v);

/* What the ranks say in one sentence; variants have no names in it where it were longer than that
 * many columns.  The caller frees it.  Errors: MD_ENOMEM. */
md_status compare_verdict(const comparison *all, size_t columns, char **out);

/* Errors: MD_ENOMEM. */
md_status compare_print(const comparison *all, options_format format, const options *opts,
                        FILE *stream);
/* Times of every variant side by side.  Errors: those of plot_open and plot_close. */
md_status compare_plot(const comparison *all, const char *path);

MD_END_C
#endif
