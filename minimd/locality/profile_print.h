/* minimd/locality/profile_print.h - what `minimd profile` found, as tables and as a picture. */
#ifndef PROFILE_PRINT_H
#define PROFILE_PRINT_H

#include "minimd/locality/profile.h"

MD_BEGIN_C

typedef struct {
  options_format format;
  profile_tool tool;
  profile_metrics metrics;
  bool caches[PROFILE_CACHES_COUNT]; /* that were asked for */
  bool measured, modelled;
  /* Launches of all cases, the ones of a case after those of the one before; nvprof's are of one
   * case each [n_variants]. */
  profile_values *values[PROFILE_CACHES_COUNT];
} profile_report;

void profile_report_free(profile_report *report, const profile_job *job);
/* Tell each case what shared memory its launches had. */
void profile_report_shared(const profile_report *report, profile_job *job);

/* A row for each quantity, case and state of the caches. */
void profile_print(const profile_report *report, const profile_job *job, FILE *stream);
/* A row for each case: times of profile_time. */
void profile_print_times(const profile_report *report, const profile_job *job, FILE *stream);
/* Hit rates and transactions, measured and modelled, by case.  Errors: those of plot_open and
 * plot_close. */
md_status profile_plot(const profile_report *report, const profile_job *job, const char *path);

MD_END_C
#endif
