/* minimd/stokes/stokes_report.h - what steps of `minimd stokes` took: table, picture, summary. */
#ifndef STOKES_REPORT_H
#define STOKES_REPORT_H

#include "minimd/stokes/stokes_ranks.h"
#include "minimd/surroundings.h"

MD_BEGIN_C

typedef struct {
  const options *opts;
  int format;
  const stokes_settings *settings;
  const stokes_step *rows; /* [done] */
  int64_t done;
  const stokes_ranks_part *parts; /* of several ranks, or NULL */
} stokes_report;

/* A row for each step; the columns follow from the hydrodynamics.  JSON has the ranks, too. */
void stokes_report_print(const stokes_report *report, FILE *stream);
/* Iterations and errors of guesses by step.  Errors: those of plot_open and plot_close. */
md_status stokes_report_draw(const stokes_report *report, const char *path);
/* Wall time of all steps and of those behind the first half, which has warmed up; 0: of none. */
typedef struct {
  double all, late;
  int64_t n_late;
} stokes_seconds;
/* To stderr. */
void stokes_report_summary(const stokes_report *report, const stokes_seconds *seconds,
                           const md_waiting *waiting);

MD_END_C
#endif
