/* minimd/spread/spread_run.c - see spread_run.h. */
#include "core/most.h"
#include "minimd/spread/spread_run.h"
#include "core/sizes.h"
#include "core/time/timer.h"
#include "minimd/shell/median.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 9 };
static const double BUILDING = 0.01; /* [s] */

static int64_t points_of(const spread_spec *spec)
{
  return (int64_t)spec->mesh[0] * spec->mesh[1] * spec->mesh[2];
}

static size_t real_size(const md_ctx *ctx)
{
  return ctx->precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
}

static md_status check_memory(const md_ctx *ctx, const spread_spec *spec, int64_t n, bool compare)
{
  const double meshes = (double)points_of(spec) * spec->vectors;
  const double item = (double)real_size(ctx), state = ctx->precision == MD_SINGLE ? 4 : 8;
  const double arrays = (double)n * (3 * state + item * spec->vectors) + meshes * item;
  const double compared = compare ? meshes * (8 + item) : 0;
  const double present = (double)md_memory_free();
  const double host = compared + (ctx->backend == MD_CPU ? arrays : 0);
  MD_REQUIRE(host <= present, MD_ENOMEM,
             "%d meshes of %lld points and %lld particles take %.1f GB, but %.1f GB are free",
             spec->vectors, (long long)points_of(spec), (long long)n, host / 1e9, present / 1e9);
  if (ctx->backend == MD_CPU) return MD_OK;
  md_gpu_info gpu;
  MD_TRY(md_gpu_describe(&gpu));
  MD_REQUIRE(arrays <= (double)gpu.memory_free, MD_ENOMEM,
             "%d meshes of %lld points and %lld particles take %.1f GB, but the device has %.1f GB",
             spec->vectors, (long long)points_of(spec), (long long)n, arrays / 1e9,
             (double)gpu.memory_free / 1e9);
  return MD_OK;
}

/* Doubles of the host as floats or doubles of the backend. */
static md_status put(md_ctx *ctx, md_buffer *to, int64_t n, const double *from, bool narrow)
{
  const size_t bytes = (size_t)n * (narrow ? sizeof(float) : sizeof(double));
  MD_TRY(md_buffer_reserve(ctx, to, bytes + 1, 0));
  if (!narrow) return md_write(ctx, to->data, from, bytes);
  float *floats = malloc(bytes + 1);
  MD_REQUIRE(floats, MD_ENOMEM, "out of memory for %lld numbers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    floats[i] = (float)from[i];
  md_status status = md_write(ctx, to->data, floats, bytes);
  if (!status) status = md_ctx_sync(ctx);
  free(floats);
  return status;
}

static md_status fill(spread_bench *bench, bool compare)
{
  md_ctx *ctx = bench->ctx;
  const spread_case *particles = bench->particles;
  const int64_t n = particles->n, points = points_of(&bench->spec);
  const int32_t vectors = bench->spec.vectors;
  MD_TRY(put(ctx, &bench->x, 3 * n, particles->x, ctx->precision == MD_SINGLE));
  MD_TRY(put(ctx, &bench->q, vectors * n, particles->q, ctx->precision != MD_DOUBLE));
  MD_TRY(md_buffer_reserve(ctx, &bench->mesh, (size_t)(points * vectors) * real_size(ctx), 0));
  if (!compare) return MD_OK;
  bench->exact = malloc((size_t)(points * vectors) * sizeof *bench->exact);
  MD_REQUIRE(bench->exact, MD_ENOMEM, "out of memory for the direct sum");
  for (int32_t v = 0; v < vectors; v++)
    spread_case_direct(&bench->spec, particles, v, ctx->threads, bench->exact + v * points);
  return MD_OK;
}

md_status spread_bench_open(md_ctx *ctx, const spread_spec *spec, const spread_case *particles,
                            bool compare, spread_bench *out)
{
  *out = (spread_bench){.ctx = ctx, .particles = particles, .spec = *spec};
  MD_TRY(check_memory(ctx, spec, particles->n, compare));
  const md_status status = fill(out, compare);
  if (status) spread_bench_close(out);
  return status;
}

void spread_bench_close(spread_bench *bench)
{
  md_buffer_free(bench->ctx, &bench->x);
  md_buffer_free(bench->ctx, &bench->q);
  md_buffer_free(bench->ctx, &bench->mesh);
  free(bench->exact);
  bench->exact = NULL;
}

/* Seconds of spread_set_positions, memory in place: the median of as many as a short while
 * holds. */
static md_status time_builds(spread_bench *bench, spread_plan *plan, double *out)
{
  double seconds[BATCHES], sum = 0;
  int builds = 0;
  do {
    spread_report report;
    MD_TRY(spread_set_positions(plan, bench->particles->n, bench->x.data, 3));
    spread_describe(plan, &report);
    sum += seconds[builds++] = report.build_s;
  } while (builds < BATCHES && sum < BUILDING);
  *out = median_of(seconds, builds);
  return MD_OK;
}

/* What is timed: cuSPARSE's product if there is a peer, interpolation if there are values, else
 * spreading. */
typedef struct {
  spread_plan *plan;
  spread_peer *peer;
  void *value;
} timed;

static md_status call(const spread_bench *bench, const timed *what)
{
  if (what->peer) return spread_peer_charges(what->peer, bench->q.data);
  if (what->value) return spread_interpolate(what->plan, bench->mesh.data, what->value, NULL);
  return spread_charges(what->plan, bench->q.data, bench->mesh.data);
}

/* Seconds of one call: `repeats` calls in up to nine batches, the host waiting only between them.
 */
static md_status time_calls(spread_bench *bench, const timed *what, int64_t repeats, double *out)
{
  const int64_t batches = repeats < BATCHES ? repeats : BATCHES;
  double seconds[BATCHES] = {0};
  int64_t done = 0;
  for (int64_t b = -1; b < batches; b++) {
    const int64_t until = b < 0 ? 1 : repeats * (b + 1) / batches;
    const int64_t calls = b < 0 ? 1 : until - done;
    MD_TRY(md_ctx_sync(bench->ctx));
    const double began = md_wall_seconds();
    for (int64_t k = 0; k < calls; k++)
      MD_TRY(call(bench, what));
    MD_TRY(md_ctx_sync(bench->ctx));
    if (b < 0) continue;
    seconds[b] = (md_wall_seconds() - began) / (double)calls;
    done = until;
  }
  *out = median_of(seconds, (int)batches);
  return MD_OK;
}

/* Worst vector's distance from the direct sum. */
static double mesh_error(const spread_bench *bench, const void *mesh)
{
  const int64_t points = points_of(&bench->spec);
  double worst = 0;
  for (int32_t v = 0; v < bench->spec.vectors; v++) {
    double difference = 0, norm = 0;
    for (int64_t m = v * points; m < (v + 1) * points; m++) {
      const double value = bench->ctx->precision == MD_DOUBLE ? ((const double *)mesh)[m]
                                                              : (double)((const float *)mesh)[m];
      difference += (value - bench->exact[m]) * (value - bench->exact[m]);
      norm += bench->exact[m] * bench->exact[m];
    }
    worst = md_most(worst, sqrt(norm > 0 ? difference / norm : difference));
  }
  return worst;
}

static md_status compare_mesh(const spread_bench *bench, double *error)
{
  const size_t bytes =
      (size_t)(points_of(&bench->spec) * bench->spec.vectors) * real_size(bench->ctx);
  void *mesh = malloc(bytes);
  MD_REQUIRE(mesh, MD_ENOMEM, "out of memory for a mesh of %.1f GB", (double)bytes / 1e9);
  const md_status status = md_read(bench->ctx, mesh, bench->mesh.data, bytes);
  if (!status) *error = mesh_error(bench, mesh);
  free(mesh);
  return status;
}

static md_status run_plan(spread_bench *bench, spread_plan *plan, int64_t repeats, bool interpolate,
                          spread_timing *out)
{
  md_ctx *ctx = bench->ctx;
  const int64_t n = bench->particles->n;
  MD_TRY(spread_set_positions(plan, n, bench->x.data, 3));
  MD_TRY(time_builds(bench, plan, &out->build_s));
  timed what = {.plan = plan};
  MD_TRY(time_calls(bench, &what, repeats, &out->spread_s));
  spread_describe(plan, &out->report);
  snprintf(out->reason, sizeof out->reason, "%s", out->report.reason);
  if (bench->exact) MD_TRY(compare_mesh(bench, &out->error));
  if (!interpolate) return MD_OK;
  md_buffer value = {0};
  const size_t bytes = (size_t)(n * bench->spec.vectors) * real_size(ctx) + 1;
  md_status status = md_buffer_reserve(ctx, &value, bytes, 0);
  what.value = value.data;
  if (!status) status = time_calls(bench, &what, repeats, &out->gather_s);
  md_buffer_free(ctx, &value);
  return status;
}

md_status spread_bench_run(spread_bench *bench, spread_method method, int64_t repeats,
                           bool interpolate, spread_timing *out)
{
  *out = (spread_timing){.error = NAN};
  spread_plan *plan;
  spread_spec spec = bench->spec;
  spec.method = method;
  MD_TRY(spread_create(bench->ctx, &spec, &plan));
  const md_status status = run_plan(bench, plan, repeats, interpolate, out);
  spread_destroy(plan);
  out->report.reason = out->reason;
  return status;
}

static md_status run_peer(spread_bench *bench, spread_plan *plan, int64_t repeats,
                          spread_timing *out)
{
  timed what = {.plan = plan};
  MD_TRY(spread_set_positions(plan, bench->particles->n, bench->x.data, 3));
  spread_describe(plan, &out->report);
  out->build_s = out->report.build_s;
  MD_TRY(spread_peer_create(plan, bench->mesh.data, &what.peer));
  md_status status = time_calls(bench, &what, repeats, &out->spread_s);
  if (!status && bench->exact) status = compare_mesh(bench, &out->error);
  spread_peer_destroy(what.peer);
  return status;
}

md_status spread_bench_peer(spread_bench *bench, int64_t repeats, spread_timing *out)
{
  *out = (spread_timing){.error = NAN};
  spread_plan *plan;
  spread_spec spec = bench->spec;
  spec.method = SPREAD_SINGLE;
  MD_TRY(spread_create(bench->ctx, &spec, &plan));
  const md_status status = run_peer(bench, plan, repeats, out);
  spread_destroy(plan);
  out->report.reason = "cuSPARSE, compressed rows";
  return status;
}
