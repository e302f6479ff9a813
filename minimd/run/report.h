/* minimd/run/report.h - what a run prints: table, CSV or JSON. */
#ifndef REPORT_H
#define REPORT_H

#include "core/hardware/processors.h"
#include "minimd/run/restart.h"
#include "minimd/shell/options.h"
#include "minimd/run/skin.h"

#include <stdio.h>

MD_BEGIN_C

/* What one of several ranks has and did. */
typedef struct {
  comm_load load;
  int64_t entries, memory; /* of its list; bytes */
  int64_t beyond;          /* force_beyond */
  char host[64], device[160];
  double phase_s[MD_PHASE_COUNT];
} rank_figures;

/* A run, as far as it got. */
typedef struct {
  const config *cfg;
  const checkpoint *restart; /* what it goes on from, or NULL */
  restart_plan plan;         /* and how */
  engine *sim;
  skin_choice skin;      /* reason: NULL unless it was measured */
  engine_thermo *thermo; /* [n_thermo] */
  int64_t n_thermo, thermo_room;
  int64_t steps;          /* timed */
  double setup_s, wall_s; /* before the first step; all timed steps */
  double phase_s[MD_PHASE_COUNT];
  md_waiting waiting;  /* during the timed steps */
  rank_figures *ranks; /* [n_ranks]: of several ranks, as gathered last; free with free */
  int n_ranks;
  uint64_t state_hash; /* of all atoms at the end, or 0 before */
} report;

/* Bring the ranks' figures together, on all of them; nothing with one rank.  Errors: MD_ENOMEM. */
md_status report_gather(report *run);

/* state_hash of all ranks' atoms: of id, position and velocity of each, in any order.  Equal states
 * have equal hashes whatever the order, ranks or precision that made them.  Errors: MD_ENOMEM,
 * MD_ECUDA. */
md_status report_hash(report *run);

/* Before the first step: what is run (table), the header (CSV). */
void report_begin(const report *run, options_format format, FILE *stream);
/* A thermo line; JSON waits for the end. */
void report_thermo(const engine_thermo *line, options_format format, FILE *stream);
/* Timing, rate and counts (table), everything (JSON). */
void report_end(const report *run, options_format format, FILE *stream);

/* Thermo and phase times as a picture (--plot).  Errors: MD_EIO. */
md_status report_plot(const report *run, const char *path);

MD_END_C
#endif
