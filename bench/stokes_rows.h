/* bench/stokes_rows.h - CSV rows of measurements with suspensions, and vectors to measure with. */
#ifndef STOKES_ROWS_H
#define STOKES_ROWS_H

#include "bench/bench.h"
#include "minimd/stokes/suspension.h"

enum { REPEATS = 7, STEPS = 16 };

typedef struct {
  const char *what, *variant;
  int64_t spheres, blocks;
  int vectors;
  double iterations, seconds, model;
  double bytes, floor; /* 0: not known */
} result;

static inline void row(const md_ctx *ctx, const result *r)
{
  bench_origin(stdout, ctx->backend);
  const double rate = r->seconds > 0 ? 1 / r->seconds : 0;
  printf("%s,%s,%lld,%d,%.6g,%.6g,%.6g,%lld,%.6g,%.6g,%.6g,%.3f\n", r->what, r->variant,
         (long long)r->spheres, r->vectors, r->iterations, r->seconds, r->model,
         (long long)r->blocks, r->bytes, 1e-9 * r->bytes * rate, r->floor, r->floor * rate);
  fflush(stdout);
}

static inline void rows_begin(void)
{
  printf("date,commit,machine,what,variant,spheres,vectors,iterations,seconds,model_seconds,"
         "blocks,bytes,gb_per_s,floor_seconds,fraction_of_floor\n");
}

/* X with numbers in -1..1, and Y. */
static inline void make_vectors(md_ctx *ctx, size_t n, md_buffer *x, md_buffer *y)
{
  double *host = malloc(n * sizeof *host);
  if (!host) bench_stop(MD_FAIL(MD_ENOMEM, "out of memory for %zu numbers", n));
  for (size_t k = 0; k < n; k++)
    host[k] = (double)(k * 2654435761u % 2000003u) / 1000001.5 - 1;
  bench_stop(md_buffer_reserve(ctx, x, n * sizeof *host, 0));
  bench_stop(md_buffer_reserve(ctx, y, n * sizeof *host, 0));
  bench_stop(md_write(ctx, x->data, host, n * sizeof *host));
  bench_stop(md_ctx_sync(ctx));
  free(host);
}

#endif
