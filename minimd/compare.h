/* minimd/compare.h - what `minimd compare` measured: the same run under each ordering and list.
 *
 * A variant's time is the median of its repeats, with an interval that holds the true median with
 * the confidence of compare_confidence.  Variants whose intervals meet share ranks. */
#ifndef COMPARE_H
#define COMPARE_H

#include "minimd/locality.h"
#include "minimd/options.h"

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
  double median, low, high; /* [s] of the whole run */
} compare_estimate;

typedef struct {
  const char *order, *list;
  double *seconds[COMPARE_TIME_COUNT]; /* [repeats] */
  compare_estimate time[COMPARE_TIME_COUNT];
  double figure[LOCALITY_FIGURE_COUNT];
  int64_t atoms;
  int best_rank, worst_rank; /* by total time, from 1 */
} compare_variant;

typedef struct {
  config *cfg;
  compare_variant *variants; /* [n] */
  int n;
  int64_t repeats;
  md_backend backend;
} comparison;

/* Median and interval of n >= 1 values (an int holds n); sorts them.  The interval lies between
 * order statistics: the narrowest of them that holds the true median with at least 95 %, or all
 * values where none does (n <= 5). */
compare_estimate compare_summarise(double *values, int64_t n);
double compare_confidence(int64_t n);

/* From seconds to time, ranks and a sorted list, fastest first. */
void compare_rank(comparison *all);

void compare_print(const comparison *all, options_format format, const options *opts, FILE *stream);
/* Times of every variant side by side.  Errors: those of plot_open and plot_close. */
md_status compare_plot(const comparison *all, const char *path);

MD_END_C
#endif
