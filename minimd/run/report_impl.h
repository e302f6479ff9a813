/* minimd/run/report_impl.h - between report.c and report_ranks.c. */
#ifndef REPORT_IMPL_H
#define REPORT_IMPL_H

#include "minimd/run/report.h"

/* Over all ranks. */
typedef struct {
  int64_t ghosts, entries, memory, beyond;
} report_totals;
report_totals report_sum(const report *run);

/* Lines about ranks, of a run on several: who has what; phases, which replace those of one rank. */
void report_ranks_begin(const report *run, FILE *stream);
void report_ranks_phases(const report *run, FILE *stream);
void report_ranks_json(const report *run, md_json *json);
/* Seconds of a phase, of the rank that needed most. */
double report_phase(const report *run, int k);

#endif
