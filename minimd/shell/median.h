/* minimd/shell/median.h - the median of a few measurements. */
#ifndef MEDIAN_H
#define MEDIAN_H

#include <stdlib.h>

static inline int median_compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of values[n], n > 0; sorts them. */
static inline double median_of(double *values, int n)
{
  qsort(values, (size_t)n, sizeof *values, median_compare);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

#endif
