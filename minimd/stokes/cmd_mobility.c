/* minimd/stokes/cmd_mobility.c - `minimd mobility`: velocities of spheres from forces on them
 * through the fluid, timed for several numbers of vectors and compared with the straight sum. */
#include "core/output/output.h"
#include "core/time/stopwatch.h"
#include "core/time/timer.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/median.h"
#include "minimd/stokes/mobility_case.h"
#include "minimd/stokes/mobility_observe.h"
#include "minimd/stokes/mobility_report.h"

#include <math.h>
#include <stdlib.h>

/* Splits of a map: the chosen one and four with smaller and with larger xi. */
enum { MAP_SPLITS = 9, CHECK_SPHERES = 100, CHECK_VECTORS = 4 };
static const double MAP_RATIO = 1.25;

typedef struct {
  mobility_request asked;
  md_ctx *ctx;
  mobility_case given;
  stokes_view view;     /* on the host */
  md_buffer spheres, f; /* where products are made: [n][4], [3 n][vectors] */
  mobility_row *rows;
  int n_rows;
} session;

static md_status read_spheres(session *r)
{
  const char *file = options_value(r->asked.opts, MOBILITY_CASE);
  if (!file)
    MD_TRY(mobility_case_open(options_value(r->asked.opts, MOBILITY_INPUT), r->asked.viscosity,
                              r->ctx->threads, &r->given));
  else
    MD_TRY(mobility_case_read(file, &r->given));
  if (file) r->asked.vectors[0] = r->given.m, r->asked.n_vectors = 1;
  const stokes_packing *spheres = &r->given.spheres;
  r->view =
      (stokes_view){spheres->n, {spheres->box[0], spheres->box[1], spheres->box[2]}, spheres->x};
  const size_t bytes = (size_t)spheres->n * 4 * sizeof *spheres->x;
  MD_TRY(md_buffer_reserve(r->ctx, &r->spheres, bytes, 0));
  return md_write(r->ctx, r->spheres.data, spheres->x, bytes);
}

static size_t bytes_of(const session *r, int vectors)
{
  return (size_t)r->view.n * 3 * (size_t)vectors * sizeof(double);
}

/* Forces where products are made: those of the file, or as many random ones. */
static md_status set_forces(session *r, int vectors)
{
  if (!r->given.u) MD_TRY(mobility_case_force(&r->given, vectors, r->asked.seed));
  MD_TRY(md_buffer_reserve(r->ctx, &r->f, bytes_of(r, vectors), 0));
  return md_write(r->ctx, r->f.data, r->given.f, bytes_of(r, vectors));
}

/* Median times of both parts of products u = M f. */
static md_status time_products(const session *r, rpy *mobility, double *u, mobility_row *row)
{
  md_stopwatch watch;
  const double *f = r->f.data;
  double *seconds = calloc(2 * (size_t)r->asked.repeat, sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %lld times", (long long)r->asked.repeat);
  md_status status = md_stopwatch_create(r->ctx, &watch);
  if (!status) status = rpy_multiply(mobility, row->vectors, f, u);
  for (int64_t k = 0; !status && k < r->asked.repeat; k++) {
    status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_multiply_near(mobility, row->vectors, f, u);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[k]);
    if (!status) status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_add_far(mobility, row->vectors, f, u);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[r->asked.repeat + k]);
  }
  row->near = median_of(seconds, (int)r->asked.repeat);
  row->far = median_of(seconds + r->asked.repeat, (int)r->asked.repeat);
  md_stopwatch_destroy(&watch);
  free(seconds);
  return status;
}

/* |u - v| / |v| over columns and rows of three; v has `columns` columns, u m. */
static double compare(const double *u, int m, const double *v, int columns, int64_t count,
                      const int64_t *which)
{
  double off = 0, all = 0;
  for (int64_t t = 0; t < count; t++)
    for (int d = 0; d < 3; d++)
      for (int c = 0; c < columns; c++) {
        const double exact = v[(3 * t + d) * columns + c];
        const double error = u[(3 * which[t] + d) * m + c] - exact;
        off += error * error, all += exact * exact;
      }
  return sqrt(off / all);
}

/* Against the straight sum, at spheres all through the box. */
static md_status check_product(const session *r, const double *u, mobility_row *row)
{
  const int64_t n = r->view.n, count = n < CHECK_SPHERES ? n : CHECK_SPHERES;
  const int m = row->vectors, columns = m < CHECK_VECTORS ? m : CHECK_VECTORS;
  const double digits = fmin(2.5 - log10(r->asked.tolerance), 15);
  int64_t which[CHECK_SPHERES];
  double *f = malloc((size_t)(n + count) * 3 * (size_t)columns * sizeof *f);
  MD_REQUIRE(f, MD_ENOMEM, "out of memory for the straight sum");
  double *exact = f + 3 * n * columns;
  for (int64_t t = 0; t < count; t++)
    which[t] = t * n / count;
  for (int64_t k = 0; k < 3 * n; k++)
    for (int c = 0; c < columns; c++)
      f[k * columns + c] = r->given.f[k * m + c];
  const double began = md_wall_seconds();
  const md_status status =
      rpy_direct(r->ctx, &r->view, r->given.viscosity, digits, columns, f, count, which, exact);
  row->direct = md_wall_seconds() - began;
  row->direct_spheres = count;
  if (!status) row->error = compare(u, m, exact, columns, count, which);
  free(f);
  return status;
}

static md_status compare_case(const session *r, const double *u, mobility_row *row)
{
  const int64_t n = r->view.n;
  double off = 0, all = 0;
  for (int64_t k = 0; k < 3 * n * row->vectors; k++) {
    off += (u[k] - r->given.u[k]) * (u[k] - r->given.u[k]);
    all += r->given.u[k] * r->given.u[k];
  }
  row->error = sqrt(off / all);
  return MD_OK;
}

/* Median time of setting spheres that have moved, for all that it matters. */
static md_status time_set(const session *r, rpy *mobility, const stokes_view *spheres,
                          mobility_row *row)
{
  md_stopwatch watch;
  double *seconds = calloc((size_t)r->asked.repeat, sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %lld times", (long long)r->asked.repeat);
  md_status status = md_stopwatch_create(r->ctx, &watch);
  for (int64_t k = 0; !status && k < r->asked.repeat; k++) {
    status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_set(mobility, spheres);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[k]);
  }
  row->set = median_of(seconds, (int)r->asked.repeat);
  md_stopwatch_destroy(&watch);
  free(seconds);
  return status;
}

/* The row of a mobility; u: velocities where products are made. */
static md_status fill_row(const session *r, rpy *mobility, md_buffer *u, mobility_row *row)
{
  const size_t bytes = bytes_of(r, row->vectors);
  const stokes_view spheres = {
      r->view.n, {r->view.box[0], r->view.box[1], r->view.box[2]}, r->spheres.data};
  MD_TRY(md_buffer_reserve(r->ctx, u, bytes, 0));
  MD_TRY(rpy_set(mobility, &spheres));
  MD_TRY(time_set(r, mobility, &spheres, row));
  MD_TRY(time_products(r, mobility, u->data, row));
  rpy_describe(mobility, &row->report);
  if (!r->asked.check && !r->given.u) return MD_OK;
  double *host = malloc(bytes);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %d vectors", row->vectors);
  md_status status = md_read(r->ctx, host, u->data, bytes);
  if (!status) status = r->asked.check ? check_product(r, host, row) : compare_case(r, host, row);
  free(host);
  return status;
}

/* A row with the split for a xi, or the best one. */
static md_status measure(const session *r, int vectors, double xi, mobility_row *row)
{
  rpy_spec spec = {.box = {r->view.box[0], r->view.box[1], r->view.box[2]},
                   .viscosity = r->given.viscosity,
                   .tolerance = r->asked.tolerance,
                   .vectors = vectors,
                   .moves = options_value(r->asked.opts, MOBILITY_MOVES),
                   .split = {.xi = xi}};
  *row = (mobility_row){
      .vectors = vectors, .tolerance = r->asked.tolerance, .error = NAN, .direct = NAN};
  rpy *mobility;
  md_buffer u = {0};
  MD_TRY(rpy_create(r->ctx, &spec, &mobility));
  const md_status status = fill_row(r, mobility, &u, row);
  md_buffer_free(r->ctx, &u);
  rpy_destroy(mobility);
  return status;
}

/* Other splits around the best one; those that cannot reach the tolerance are left out. */
static md_status measure_map(session *r, int vectors)
{
  mobility_row best;
  MD_TRY(measure(r, vectors, 0, &best));
  for (int k = 0; k < MAP_SPLITS; k++) {
    const int away = k - MAP_SPLITS / 2;
    const double xi = best.report.split.xi * pow(MAP_RATIO, away);
    mobility_row *row = &r->rows[r->n_rows];
    const md_status status = away == 0 ? MD_OK : measure(r, vectors, xi, row);
    if (status == MD_EINVAL) {
      if (!r->asked.quiet) fprintf(stderr, "xi = %.4g left out: %s\n", xi, md_message());
      continue;
    }
    MD_TRY(status);
    if (away == 0) *row = best;
    r->n_rows++;
  }
  return MD_OK;
}

static md_status measure_all(session *r)
{
  for (int k = 0; k < r->asked.n_vectors; k++) {
    MD_TRY(set_forces(r, r->asked.vectors[k]));
    if (r->asked.map)
      MD_TRY(measure_map(r, r->asked.vectors[k]));
    else
      MD_TRY(measure(r, r->asked.vectors[k], 0, &r->rows[r->n_rows++]));
  }
  return MD_OK;
}

/* Rows of times to the stream. */
static md_status report_times(session *r, FILE *stream)
{
  const mobility_request *asked = &r->asked;
  const char *picture = options_value(asked->opts, MOBILITY_PLOT);
  r->rows = calloc((size_t)asked->n_vectors * MAP_SPLITS, sizeof *r->rows);
  MD_REQUIRE(r->rows, MD_ENOMEM, "out of memory for %d rows", asked->n_vectors);
  MD_TRY(measure_all(r));
  const mobility_table all = {asked->opts,     (options_format)asked->format,
                              r->ctx->backend, asked->quiet,
                              asked->map,      r->rows,
                              r->n_rows};
  if (picture) MD_TRY(mobility_table_plot(&all, picture));
  mobility_table_print(&all, stream);
  return MD_OK;
}

static md_status answer(session *r)
{
  const mobility_request *asked = &r->asked;
  md_output out;
  MD_TRY(md_ctx_create(&asked->where, &r->ctx));
  MD_TRY(read_spheres(r));
  MD_TRY(md_output_open(options_value(asked->opts, MOBILITY_OUTPUT), &out));
  const md_status status = asked->observes
                               ? mobility_observe(asked, r->ctx, &r->given.spheres, out.stream)
                               : report_times(r, out.stream);
  if (!status) return md_output_close(&out);
  md_output_discard(&out);
  return status;
}

md_status cmd_mobility(int argc, char **argv)
{
  options opts;
  session r = {.n_rows = 0};
  md_status status = options_parse(mobility_option_table, MOBILITY_OPTION_COUNT, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout,
        "minimd mobility -i FILE [--tolerance E] [--vectors LIST] [options]\n"
        "       minimd mobility --case FILE [--tolerance E] [options]\n"
        "       minimd mobility -i FILE --observe LIST [--hydrodynamics WORD] [options]",
        "Velocities of spheres from forces on them through the fluid between them, at any\n"
        "distance: how long products take, and how the sum is best split.  Or what the\n"
        "suspension does as a whole: diffusion, sedimentation, hydrodynamic function.",
        mobility_option_table, MOBILITY_OPTION_COUNT);
  else if (!status)
    status = mobility_request_read(&opts, &r.asked);
  if (!status && !opts.help) status = answer(&r);
  mobility_case_free(&r.given);
  if (r.ctx) {
    md_buffer_free(r.ctx, &r.spheres);
    md_buffer_free(r.ctx, &r.f);
    md_ctx_destroy(r.ctx);
  }
  mobility_request_free(&r.asked);
  free(r.rows);
  options_free(&opts);
  return status;
}
