/* bench/bench.h - what every benchmark prints first, medians, bandwidth. */
#ifndef BENCH_H
#define BENCH_H

#include "core/time/timer.h"
#include "minimd/shell/bandwidth.h"
#include "minimd/shell/median.h"
#include "minimd/shell/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Median of values[n]; sorts them. */
static inline double bench_median(double *values, int n)
{
  return median_of(values, n);
}

/* The first three columns of every row: date, commit, machine. */
static inline void bench_origin(FILE *stream, md_backend backend)
{
  char date[32], machine[256];
  provenance_date(date);
  provenance_machine(backend, machine, sizeof machine);
  fprintf(stream, "%.10s,%s,%s,", date, provenance_commit(), machine);
}

static inline void bench_stop(md_status status)
{
  if (!status) return;
  fprintf(stderr, "bench: error: %s\n", md_message());
  exit(md_exit_code(status));
}

/* Bytes per second of a large copy on the context's backend. */
static inline double bench_bandwidth(md_ctx *ctx)
{
  double bandwidth;
  bench_stop(bandwidth_measure(ctx, &bandwidth));
  return bandwidth;
}

#endif
