/* minimd/locality/miss_plot.h - pictures of miss rates over the capacity of a cache. */
#ifndef MISS_PLOT_H
#define MISS_PLOT_H

#include "core/md.h"

MD_BEGIN_C

typedef struct {
  int64_t capacity, accesses, misses;
} miss_count;

typedef struct {
  const char *name;
  const miss_count *counts; /* [n], capacities ascending where n is large */
  int64_t n;
} miss_curve;

/* One line a curve, axes logarithmic, under a title.  Errors: those of plot_open and plot_close.
 */
md_status miss_plot(const char *path, const char *title, int n, const miss_curve *curves);

MD_END_C
#endif
