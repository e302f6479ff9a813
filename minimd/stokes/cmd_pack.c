/* minimd/stokes/cmd_pack.c - `minimd pack`: non-overlapping periodic packings of spheres. */
#include "core/parse/parse.h"
#include "minimd/shell/commands.h"
#include "minimd/shell/memory.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/progress.h"
#include "minimd/shell/table.h"
#include "stokes/packing/packing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
  PARTICLES,
  OCCUPANCY,
  RADII,
  OUTPUT,
  SWEEPS,
  ITERATIONS,
  SEED,
  THREADS,
  CONTACTS,
  FORMAT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"particles", 0, "N", "spheres"},
    {"occupancy", 0, "PHI", "volume of the spheres over that of the box, between 0 and 1"},
    {"radii", 0, "ecoli|FILE",
     "proteins of E. coli, or a file with a line `radius,fraction` for each size (ecoli)"},
    {"output", 'o', "FILE", "write the packing here: extended XYZ with radii"},
    {"sweeps", 0, "N",
     "at most, of the hard-sphere walk: a sweep is about N events (until Z is stationary)"},
    {"iterations", 0, "N", "at most, to push overlapping spheres apart first (5000)"},
    OPTION_SEED("the random places and moves"),
    OPTION_THREADS,
    {"contacts", 0, "FILE",
     "also write the contact values of every two sizes, measured by as many sweeps again"},
    OPTION_FORMAT,
    {"plot", 0, "FILE", "also draw FILE (.png or .svg): the spheres cut by the plane z = 0"},
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  int format;
  int64_t threads;
  stokes_pack_spec spec;
  const char *radii;
} request;

static md_status read_request(request *r)
{
  const options *opts = r->opts;
  int64_t n = 0, iterations;
  double occupancy = 0;
  r->radii = options_value(opts, RADII) ? options_value(opts, RADII) : "ecoli";
  MD_TRY(options_read_format(opts, FORMAT, &r->format));
  MD_REQUIRE(options_value(opts, PARTICLES), MD_EINVAL, "expected --particles N; see --help");
  MD_REQUIRE(options_value(opts, OCCUPANCY), MD_EINVAL, "expected --occupancy PHI; see --help");
  MD_REQUIRE(options_value(opts, OUTPUT), MD_EINVAL,
             "expected -o FILE, where the packing is written; see --help");
  MD_TRY(options_integer(opts, PARTICLES, 1, INT32_MAX, &n));
  MD_TRY(options_number(opts, OCCUPANCY, 1e-6, 0.999, &occupancy));
  r->spec = stokes_pack_defaults(n, occupancy);
  iterations = r->spec.iterations;
  MD_TRY(options_integer(opts, SWEEPS, 0, INT32_MAX, &r->spec.sweeps));
  MD_TRY(options_integer(opts, ITERATIONS, 1, INT32_MAX, &iterations));
  r->spec.iterations = (int)iterations;
  MD_TRY(options_read_seed(opts, SEED, &r->spec.seed));
  MD_TRY(options_read_threads(opts, THREADS, &r->threads));
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  MD_TRY(options_writes(opts, CONTACTS));
  return MD_OK;
}

static void print_summary(const request *r, const stokes_packing *packing,
                          const stokes_pack_report *report)
{
  static const table_column columns[] = {
      {"particles", 10, 0},   {"occupancy", 0, 6},  {"edge", 10, 3},    {"iterations", 0, 0},
      {"sweeps", 0, 0},       {"stationary", 0, 0}, {"z", 8, 4},        {"z_error", 0, 4},
      {"z_theory", 8, 4},     {"g_contact", 0, 4},  {"g_theory", 0, 4}, {"gap_min", 12, 9},
      {"gap_expected", 0, 9}, {"time_s", 8, 3}};
  table t;
  table_begin(&t, stdout, (options_format)r->format, "pack", r->opts, columns, 14);
  table_integer(&t, packing->n);
  table_real(&t, stokes_packing_occupancy(packing));
  table_real(&t, packing->box[0]);
  table_integer(&t, report->iterations);
  table_integer(&t, report->sweeps);
  table_text(&t, report->stationary ? "yes" : "no");
  table_real(&t, report->z);
  table_real(&t, report->z_error);
  table_real(&t, report->z_theory);
  table_real(&t, report->g);
  table_real(&t, report->g_theory);
  table_real(&t, report->gap_min);
  table_real(&t, report->gap_expected);
  table_real(&t, report->seconds);
  table_end(&t);
}

static void warn_early(const stokes_pack_report *report)
{
  if (report->stationary) return;
  fprintf(stderr,
          "minimd: warning: the walk ended after %" PRId64 " sweeps, before Z was stationary",
          report->sweeps);
  if (report->z > 0) fprintf(stderr, " (%.4g, theory %.4g)", report->z, report->z_theory);
  fprintf(stderr,
          ": the packing is no equilibrium one; such packings usually take %" PRId64 " sweeps\n",
          report->sweeps_usual);
}

/* A file that cannot be written is known before the work begins; a temporary one that waited until
 * its end would be left by a killed run. */
static md_status try_output(const char *path, md_output *out)
{
  MD_TRY(md_output_open(path, out));
  if (out->temporary) md_output_discard(out);
  return MD_OK;
}

static md_status open_again(const char *path, md_output *out)
{
  return out->stream ? MD_OK : md_output_open(path, out);
}

/* Contact values of every two sizes beside theory. */
static md_status write_contacts(const request *r, const stokes_radii *radii,
                                const stokes_packing *packing, int64_t sweeps, md_output *out)
{
  static const table_column columns[] = {
      {"radius_a", 10, 4}, {"radius_b", 10, 4}, {"g_contact", 10, 4}, {"g_theory", 10, 4}};
  const size_t pairs = (size_t)radii->n * (size_t)radii->n;
  double *g = calloc(2 * pairs, sizeof *g);
  MD_REQUIRE(g, MD_ENOMEM, "out of memory for %d sizes", radii->n);
  md_status status = stokes_contacts(radii, packing, r->spec.seed + 1, sweeps, g, g + pairs);
  if (!status) status = open_again(options_value(r->opts, CONTACTS), out);
  if (!status) {
    table t;
    table_begin(&t, out->stream, (options_format)r->format, "pack", r->opts, columns, 4);
    for (int a = 0; a < radii->n; a++)
      for (int b = a; b < radii->n; b++) {
        table_real(&t, radii->radius[a]);
        table_real(&t, radii->radius[b]);
        table_real(&t, g[a * radii->n + b]);
        table_real(&t, g[pairs + (size_t)(a * radii->n + b)]);
      }
    table_end(&t);
    status = md_output_close(out);
  }
  free(g);
  return status;
}

/* Circles where spheres meet the plane z = 0. */
static md_status draw(const stokes_packing *packing, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 900, &picture));
  fprintf(picture.stream,
          "set size square\nset xrange [0:%.9g]\nset yrange [0:%.9g]\nunset key\n"
          "set xlabel 'x'\nset ylabel 'y'\nset style fill solid 0.5 border lc 'black'\n"
          "plot '-' with circles lt 5\n",
          packing->box[0], packing->box[1]);
  for (int64_t i = 0; i < packing->n; i++) {
    const double *x = packing->x + 4 * i;
    const double z = x[2] - packing->box[2] * round(x[2] / packing->box[2]);
    if (fabs(z) < x[3])
      fprintf(picture.stream, "%.9g %.9g %.9g\n", x[0], x[1], sqrt(x[3] * x[3] - z * z));
  }
  fputs("e\n", picture.stream);
  return plot_close(&picture);
}

/* Work has two parts, each with a line of its own. */
static void show(void *watcher, int64_t done, int64_t most)
{
  progress *bar = watcher;
  if (bar->total != most) {
    const bool shown = bar->shown;
    progress_end(bar);
    progress_begin(bar, most, !shown);
  }
  progress_update(bar, done);
}

/* Where results go. */
typedef struct {
  md_output packing, contacts;
} outputs;

static md_status finish(const request *r, const stokes_radii *radii, const stokes_packing *packing,
                        const stokes_pack_report *report, outputs *out)
{
  const char *picture = options_value(r->opts, PLOT);
  MD_TRY(open_again(options_value(r->opts, OUTPUT), &out->packing));
  stokes_packing_print(packing, out->packing.stream);
  MD_TRY(md_output_close(&out->packing));
  if (options_value(r->opts, CONTACTS))
    MD_TRY(write_contacts(r, radii, packing, report->sweeps_usual, &out->contacts));
  if (picture) MD_TRY(draw(packing, picture));
  print_summary(r, packing, report);
  warn_early(report);
  return MD_OK;
}

static md_status work(request *r, md_ctx *ctx, const stokes_radii *radii, outputs *out)
{
  stokes_packing packing;
  stokes_pack_report report;
  progress bar;
  progress_begin(&bar, 0, options_value(r->opts, QUIET));
  r->spec.progress = show, r->spec.watcher = &bar;
  md_status status = stokes_pack(ctx, radii, &r->spec, &packing, &report);
  progress_end(&bar);
  if (status) return status;
  status = finish(r, radii, &packing, &report, out);
  stokes_packing_free(&packing);
  return status;
}

static md_status make(request *r, md_ctx *ctx, const stokes_radii *radii)
{
  enum { BYTES = 600 }; /* a sphere: itself, its cells and its neighbours */
  outputs out = {0};
  MD_TRY(memory_announce("a packing", BYTES * (double)r->spec.n, options_value(r->opts, QUIET)));
  md_status status = try_output(options_value(r->opts, OUTPUT), &out.packing);
  if (!status && options_value(r->opts, CONTACTS))
    status = try_output(options_value(r->opts, CONTACTS), &out.contacts);
  if (!status) status = work(r, ctx, radii, &out);
  md_output_discard(&out.packing);
  md_output_discard(&out.contacts);
  return status;
}

static md_status answer(request *r)
{
  md_ctx *ctx;
  stokes_radii radii;
  MD_TRY(read_request(r));
  MD_TRY(stokes_radii_read(r->radii, &radii));
  md_status status = md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, (int)r->threads, false}, &ctx);
  if (!status) {
    status = make(r, ctx, &radii);
    md_ctx_destroy(ctx);
  }
  stokes_radii_free(&radii);
  return status;
}

md_status cmd_pack(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(
        stdout, "minimd pack --particles N --occupancy PHI [--radii ecoli|FILE] -o FILE",
        "Hard spheres in a periodic cube, in equilibrium: random places, pushed apart, then\n"
        "walked by event chains until Z = P V / (N k T) is stationary.",
        option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  options_free(&opts);
  return status;
}
