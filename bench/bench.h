/* bench/bench.h - what every benchmark prints first, and medians. */
#ifndef BENCH_H
#define BENCH_H

#include "core/buffer.h"
#include "core/timer.h"
#include "minimd/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int bench_compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of values[n]; sorts them. */
static inline double bench_median(double *values, int n)
{
  qsort(values, (size_t)n, sizeof *values, bench_compare);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
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

/* Bytes per second of a large copy on the context's backend, reads and writes counted; the median
 * of nine. */
static inline double bench_bandwidth(md_ctx *ctx)
{
  const size_t bytes = ctx->backend == MD_GPU ? (size_t)2 << 30 : (size_t)256 << 20;
  md_buffer from = {0}, to = {0};
  double seconds[9];
  bench_stop(md_buffer_reserve(ctx, &from, bytes, 0));
  bench_stop(md_buffer_reserve(ctx, &to, bytes, 0));
  bench_stop(md_fill(ctx, from.data, 1, bytes));
  bench_stop(md_fill(ctx, to.data, 2, bytes));
  for (int k = 0; k < 9; k++) {
    bench_stop(md_ctx_sync(ctx));
    const double began = md_wall_seconds();
    bench_stop(md_copy(ctx, to.data, from.data, bytes));
    bench_stop(md_ctx_sync(ctx));
    seconds[k] = md_wall_seconds() - began;
  }
  md_buffer_free(ctx, &from);
  md_buffer_free(ctx, &to);
  return 2 * (double)bytes / bench_median(seconds, 9);
}

#endif
