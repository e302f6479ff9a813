/* minimd/stokes/gspmv_report.h - how `minimd gspmv` shows what it measured. */
#ifndef GSPMV_REPORT_H
#define GSPMV_REPORT_H

#include "minimd/shell/options.h"
#include "stokes/model/model.h"

/* Products with m vectors. */
typedef struct {
  int m, columns; /* vectors, and the columns in which they are stored: the others are zero */
  char parts[64]; /* how a product with these columns is made (stokes_matrix_time) */
  double seconds, bytes, model, error;
} gspmv_row;

typedef struct {
  const options *opts;
  options_format format;
  bool quiet;
  const char *matrix; /* its name */
  md_backend backend;
  stokes_shape shape;
  stokes_machine machine;
  int64_t cache; /* bytes of the last-level cache; 0: not known */
  const gspmv_row *row;
  int n;
  double one; /* seconds with one vector */
} gspmv_table;

/* The rows to the stream, with notes: how products are made, whether the matrix fits the cache.
 * Notes on CSV go to standard error, unless `quiet`. */
void gspmv_table_print(const gspmv_table *all, FILE *stream);
/* The same as a picture ([Liu] Fig. 2).  Errors: those of plot_open. */
md_status gspmv_table_plot(const gspmv_table *all, const char *path);

#endif
