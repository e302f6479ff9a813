/* minimd/spread/spread_report.h - what `minimd spread` prints and draws. */
#ifndef SPREAD_REPORT_H
#define SPREAD_REPORT_H

#include "minimd/shell/options.h"
#include "minimd/spread/spread_run.h"

MD_BEGIN_C

/* Measured methods of one configuration. */
typedef struct {
  const options *opts;
  const spread_spec *spec;
  const md_ctx *ctx;
  int64_t particles;
  double bandwidth; /* of the memory [B/s] */
  bool chosen;      /* auto was asked for: say why it chose */
  spread_timing timing[SPREAD_METHOD_COUNT];
  int n;
  bool peered;        /* hybrid on the GPU: cuSPARSE was asked for the same product */
  spread_timing peer; /* its figures, */
  char missing[256];  /* or why there are none */
} spread_table;

/* Rows; then why auto chose, cuSPARSE beside the methods, and which of these costs least for how
 * many spreadings: below a table, as members of JSON, on standard error beside CSV. */
void spread_table_print(const spread_table *all, options_format format, FILE *stream);

/* Building and spreading time of each method as bars.  Errors: MD_EIO. */
md_status spread_table_plot(const spread_table *all, const char *path);

MD_END_C
#endif
