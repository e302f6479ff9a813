/* minimd/stokes/cmd_mobility.c - `minimd mobility`: velocities of spheres from forces on them
 * through the fluid, timed for several numbers of vectors and compared with the straight sum. */
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "core/stopwatch.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/median.h"
#include "minimd/shell/plot.h"
#include "minimd/stokes/mobility_case.h"
#include "minimd/stokes/mobility_report.h"
#include "stokes/matrix/matrix.h"

#include <math.h>
#include <stdlib.h>

enum {
  INPUT,
  CASE,
  TOLERANCE,
  VECTORS,
  CHECK,
  MAP,
  MOVES,
  VISCOSITY,
  BACKEND,
  DEVICE,
  PRECISION,
  REPEAT,
  SEED,
  THREADS,
  DETERMINISTIC,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"input", 'i', "FILE", "spheres, extended XYZ with radii, as `minimd pack` writes"},
    {"case", 0, "FILE",
     "instead: spheres, forces and velocities, comma-separated; the error is that against\nthe "
     "file's velocities"},
    {"tolerance", 0, "E",
     "root mean square error of velocities under random forces, relative to them,\n1e-12..0.1 "
     "(1e-3)"},
    {"vectors", 0, "LIST", "how many vectors at once, separated by commas (1,4,16)"},
    {"check", 0, NULL, "compare with the straight sum: all vectors up to 4, at 100 spheres"},
    {"map", 0, NULL, "measure nine splits between near and far for each number of vectors"},
    {"moves", 0, NULL, "choose splits for spheres that are set anew before each product"},
    {"viscosity", 0, "X", "of the fluid (1)"},
    OPTION_BACKEND("auto|cpu|gpu", "auto"),
    OPTION_DEVICE,
    {"precision", 0, "single|double",
     "of near blocks and mesh; vectors are double (single where the tolerance is 1e-4 or more)"},
    {"repeat", 0, "N", "products timed for each row; the median counts (5)"},
    OPTION_SEED("the random forces"),
    OPTION_THREADS,
    {"deterministic", 0, NULL, "bit-identical reruns: splits are chosen from usual times"},
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

/* Splits of a map: the chosen one and four with smaller and with larger xi. */
enum { MAP_SPLITS = 9, CHECK_SPHERES = 100, CHECK_VECTORS = 4 };
static const double MAP_RATIO = 1.25;

typedef struct {
  const options *opts;
  int format;
  double tolerance, viscosity;
  int64_t repeat;
  uint64_t seed;
  bool check, map, quiet;
  md_ctx_spec where;
  int *vectors; /* [n_vectors] */
  int n_vectors;
  md_ctx *ctx;
  mobility_case given;
  stokes_view view;     /* on the host */
  md_buffer spheres, f; /* where products are made: [n][4], [3 n][vectors] */
  mobility_row *rows;
  int n_rows;
} request;

static md_status read_vectors(request *r)
{
  const char *text = options_value(r->opts, VECTORS);
  char **words;
  MD_TRY(options_blame(r->opts, VECTORS,
                       md_parse_list(text ? text : "1,4,16", "vectors", &words, &r->n_vectors)));
  r->vectors = calloc((size_t)r->n_vectors, sizeof *r->vectors);
  r->rows = calloc((size_t)r->n_vectors * MAP_SPLITS, sizeof *r->rows);
  md_status status =
      r->vectors && r->rows ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for %d rows", r->n_vectors);
  for (int k = 0; !status && k < r->n_vectors; k++) {
    int64_t number = 0;
    status = options_blame(r->opts, VECTORS, md_parse_int64(words[k], 1, STOKES_COLUMNS, &number));
    r->vectors[k] = (int)number;
  }
  free(words);
  return status;
}

static md_status read_where(request *r)
{
  static const char *const backends[] = {"auto", "cpu", "gpu"};
  static const char *const precisions[] = {"single", "double"};
  int backend = 0, precision = r->tolerance >= 1e-4 ? 0 : 1;
  int64_t threads = 0;
  MD_TRY(options_word(r->opts, BACKEND, backends, 3, &backend));
  MD_TRY(options_device(r->opts, DEVICE, backend != 1));
  MD_TRY(options_word(r->opts, PRECISION, precisions, 2, &precision));
  MD_REQUIRE(precision == 1 || r->tolerance >= RPY_SINGLE, MD_EINVAL,
             "--precision single: a tolerance of %g needs double, single allows %g or more",
             r->tolerance, RPY_SINGLE);
  MD_TRY(options_read_threads(r->opts, THREADS, &threads));
  const bool gpu = backend == 2 || (backend == 0 && md_gpu_available());
  r->where = (md_ctx_spec){gpu ? MD_GPU : MD_CPU, precision ? MD_DOUBLE : MD_MIXED, (int)threads,
                           options_value(r->opts, DETERMINISTIC) != NULL};
  return MD_OK;
}

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  r->quiet = options_value(opts, QUIET);
  r->check = options_value(opts, CHECK);
  r->map = options_value(opts, MAP);
  MD_REQUIRE(!options_value(opts, INPUT) != !options_value(opts, CASE), MD_EINVAL,
             "expected spheres: -i FILE, or --case FILE; see --help");
  MD_REQUIRE(!options_value(opts, CASE) || (!options_value(opts, VECTORS) && !r->check && !r->map &&
                                            !options_value(opts, VISCOSITY)),
             MD_EINVAL,
             "--case: the file has vectors, viscosity and velocities to compare with, so that "
             "--vectors, --viscosity, --check and --map do not go with it");
  MD_TRY(options_read_format(opts, FORMAT, &r->format));
  MD_TRY(options_number(opts, TOLERANCE, RPY_TOLERANCE_MIN, RPY_TOLERANCE_MAX, &r->tolerance));
  MD_TRY(options_number(opts, VISCOSITY, 1e-100, 1e100, &r->viscosity));
  MD_TRY(options_integer(opts, REPEAT, 1, 1000000, &r->repeat));
  MD_TRY(options_read_seed(opts, SEED, &r->seed));
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  MD_TRY(read_vectors(r));
  return read_where(r);
}

static md_status read_spheres(request *r)
{
  const char *file = options_value(r->opts, CASE);
  if (!file)
    MD_TRY(mobility_case_open(options_value(r->opts, INPUT), r->viscosity, r->ctx->threads,
                              &r->given));
  else
    MD_TRY(mobility_case_read(file, &r->given));
  if (file) r->vectors[0] = r->given.m, r->n_vectors = 1;
  const stokes_packing *spheres = &r->given.spheres;
  r->view =
      (stokes_view){spheres->n, {spheres->box[0], spheres->box[1], spheres->box[2]}, spheres->x};
  const size_t bytes = (size_t)spheres->n * 4 * sizeof *spheres->x;
  MD_TRY(md_buffer_reserve(r->ctx, &r->spheres, bytes, 0));
  return md_write(r->ctx, r->spheres.data, spheres->x, bytes);
}

static size_t bytes_of(const request *r, int vectors)
{
  return (size_t)r->view.n * 3 * (size_t)vectors * sizeof(double);
}

/* Forces where products are made: those of the file, or as many random ones. */
static md_status set_forces(request *r, int vectors)
{
  if (!r->given.u) MD_TRY(mobility_case_force(&r->given, vectors, r->seed));
  MD_TRY(md_buffer_reserve(r->ctx, &r->f, bytes_of(r, vectors), 0));
  return md_write(r->ctx, r->f.data, r->given.f, bytes_of(r, vectors));
}

/* Median times of both parts of products u = M f. */
static md_status time_products(const request *r, rpy *mobility, double *u, mobility_row *row)
{
  md_stopwatch watch;
  const double *f = r->f.data;
  double *seconds = calloc(2 * (size_t)r->repeat, sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %lld times", (long long)r->repeat);
  md_status status = md_stopwatch_create(r->ctx, &watch);
  if (!status) status = rpy_multiply(mobility, row->vectors, f, u);
  for (int64_t k = 0; !status && k < r->repeat; k++) {
    status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_multiply_near(mobility, row->vectors, f, u);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[k]);
    if (!status) status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_add_far(mobility, row->vectors, f, u);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[r->repeat + k]);
  }
  row->near = median_of(seconds, (int)r->repeat);
  row->far = median_of(seconds + r->repeat, (int)r->repeat);
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
static md_status check_product(const request *r, const double *u, mobility_row *row)
{
  const int64_t n = r->view.n, count = n < CHECK_SPHERES ? n : CHECK_SPHERES;
  const int m = row->vectors, columns = m < CHECK_VECTORS ? m : CHECK_VECTORS;
  const double digits = fmin(2.5 - log10(r->tolerance), 15);
  int64_t which[CHECK_SPHERES];
  double *f = malloc((size_t)(n + count) * 3 * (size_t)columns * sizeof *f);
  MD_REQUIRE(f, MD_ENOMEM, "out of memory for the straight sum");
  double *exact = f + 3 * n * columns;
  for (int64_t t = 0; t < count; t++)
    which[t] = t * n / count;
  for (int64_t k = 0; k < 3 * n; k++)
    for (int c = 0; c < columns; c++)
      f[k * columns + c] = r->given.f[k * m + c];
  const md_status status =
      rpy_direct(r->ctx, &r->view, r->given.viscosity, digits, columns, f, count, which, exact);
  if (!status) row->error = compare(u, m, exact, columns, count, which);
  free(f);
  return status;
}

static md_status compare_case(const request *r, const double *u, mobility_row *row)
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
static md_status time_set(const request *r, rpy *mobility, const stokes_view *spheres,
                          mobility_row *row)
{
  md_stopwatch watch;
  double *seconds = calloc((size_t)r->repeat, sizeof *seconds);
  MD_REQUIRE(seconds, MD_ENOMEM, "out of memory for %lld times", (long long)r->repeat);
  md_status status = md_stopwatch_create(r->ctx, &watch);
  for (int64_t k = 0; !status && k < r->repeat; k++) {
    status = md_stopwatch_start(&watch, true);
    if (!status) status = rpy_set(mobility, spheres);
    if (!status) status = md_stopwatch_stop(&watch, &seconds[k]);
  }
  row->set = median_of(seconds, (int)r->repeat);
  md_stopwatch_destroy(&watch);
  free(seconds);
  return status;
}

/* The row of a mobility; u: velocities where products are made. */
static md_status fill_row(const request *r, rpy *mobility, md_buffer *u, mobility_row *row)
{
  const size_t bytes = bytes_of(r, row->vectors);
  const stokes_view spheres = {
      r->view.n, {r->view.box[0], r->view.box[1], r->view.box[2]}, r->spheres.data};
  MD_TRY(md_buffer_reserve(r->ctx, u, bytes, 0));
  MD_TRY(rpy_set(mobility, &spheres));
  MD_TRY(time_set(r, mobility, &spheres, row));
  MD_TRY(time_products(r, mobility, u->data, row));
  rpy_describe(mobility, &row->report);
  if (!r->check && !r->given.u) return MD_OK;
  double *host = malloc(bytes);
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for %d vectors", row->vectors);
  md_status status = md_read(r->ctx, host, u->data, bytes);
  if (!status) status = r->check ? check_product(r, host, row) : compare_case(r, host, row);
  free(host);
  return status;
}

/* A row with the split for a xi, or the best one. */
static md_status measure(const request *r, int vectors, double xi, mobility_row *row)
{
  rpy_spec spec = {.box = {r->view.box[0], r->view.box[1], r->view.box[2]},
                   .viscosity = r->given.viscosity,
                   .tolerance = r->tolerance,
                   .vectors = vectors,
                   .moves = options_value(r->opts, MOVES),
                   .split = {.xi = xi}};
  *row = (mobility_row){.vectors = vectors, .tolerance = r->tolerance, .error = NAN};
  rpy *mobility;
  md_buffer u = {0};
  MD_TRY(rpy_create(r->ctx, &spec, &mobility));
  const md_status status = fill_row(r, mobility, &u, row);
  md_buffer_free(r->ctx, &u);
  rpy_destroy(mobility);
  return status;
}

/* Other splits around the best one; those that cannot reach the tolerance are left out. */
static md_status measure_map(request *r, int vectors)
{
  mobility_row best;
  MD_TRY(measure(r, vectors, 0, &best));
  for (int k = 0; k < MAP_SPLITS; k++) {
    const int away = k - MAP_SPLITS / 2;
    const double xi = best.report.split.xi * pow(MAP_RATIO, away);
    mobility_row *row = &r->rows[r->n_rows];
    const md_status status = away == 0 ? MD_OK : measure(r, vectors, xi, row);
    if (status == MD_EINVAL) {
      if (!r->quiet) fprintf(stderr, "xi = %.4g left out: %s\n", xi, md_message());
      continue;
    }
    MD_TRY(status);
    if (away == 0) *row = best;
    r->n_rows++;
  }
  return MD_OK;
}

static md_status measure_all(request *r)
{
  for (int k = 0; k < r->n_vectors; k++) {
    MD_TRY(set_forces(r, r->vectors[k]));
    if (r->map)
      MD_TRY(measure_map(r, r->vectors[k]));
    else
      MD_TRY(measure(r, r->vectors[k], 0, &r->rows[r->n_rows++]));
  }
  return MD_OK;
}

static md_status answer(request *r)
{
  const char *picture = options_value(r->opts, PLOT);
  md_output out;
  MD_TRY(read_request(r));
  MD_TRY(md_ctx_create(&r->where, &r->ctx));
  MD_TRY(read_spheres(r));
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  md_status status = measure_all(r);
  const mobility_table all = {
      r->opts, (options_format)r->format, r->ctx->backend, r->quiet, r->map, r->rows, r->n_rows};
  if (!status && picture) status = mobility_table_plot(&all, picture);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  mobility_table_print(&all, out.stream);
  return md_output_close(&out);
}

md_status cmd_mobility(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts, .tolerance = 1e-3, .viscosity = 1, .repeat = 5, .seed = 1};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout,
        "minimd mobility -i FILE [--tolerance E] [--vectors LIST] [options]\n"
        "       minimd mobility --case FILE [--tolerance E] [options]",
        "Velocities of spheres from forces on them through the fluid between them, at any\n"
        "distance: how long products take, and how the sum is best split.",
        option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  mobility_case_free(&r.given);
  if (r.ctx) {
    md_buffer_free(r.ctx, &r.spheres);
    md_buffer_free(r.ctx, &r.f);
    md_ctx_destroy(r.ctx);
  }
  free(r.vectors);
  free(r.rows);
  options_free(&opts);
  return status;
}
