/* minimd/stokes/mobility_report.h - how `minimd mobility` shows what it measured. */
#ifndef MOBILITY_REPORT_H
#define MOBILITY_REPORT_H

#include "minimd/shell/options.h"
#include "stokes/mobility/rpy.h"

/* Products with `vectors` vectors. */
typedef struct {
  int vectors;
  double tolerance, near, far; /* seconds of a product's parts */
  double set;                  /* of setting spheres whose radii are known */
  double error;                /* NaN: not compared */
  double direct;               /* seconds of the straight sum, on the CPU; NaN: not compared */
  int64_t direct_spheres;      /* whose velocities it gave */
  rpy_report report;
} mobility_row;

typedef struct {
  const options *opts;
  options_format format;
  md_backend backend;
  bool quiet, map; /* map: several splits for each number of vectors */
  const mobility_row *row;
  int n;
} mobility_table;

/* The rows to the stream, with notes: the times that were expected, and why these splits.  Notes on
 * CSV go to standard error, unless `quiet`. */
void mobility_table_print(const mobility_table *all, FILE *stream);
/* The same as a picture: time of a vector against how many there are, or against xi.  Errors: those
 * of plot_open. */
md_status mobility_table_plot(const mobility_table *all, const char *path);

#endif
