/* minimd/cmd_pack.c - `minimd pack`: non-overlapping periodic packings of spheres. */
#include "core/parse.h"
#include "minimd/commands.h"
#include "minimd/memory.h"
#include "minimd/plot.h"
#include "minimd/table.h"
#include "stokes/packing.h"

#include <inttypes.h>
#include <math.h>

enum {
  PARTICLES,
  OCCUPANCY,
  RADII,
  OUTPUT,
  GAP,
  SWEEPS,
  ITERATIONS,
  SEED,
  THREADS,
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
    {"gap", 0, "X", "push pairs apart to this gap 2 r / (a_i + a_j) - 2 before they walk (0.001)"},
    {"sweeps", 0, "N", "sweeps of the hard-sphere Monte Carlo walk that follows (20)"},
    {"iterations", 0, "N", "at most, to push overlapping spheres apart (5000)"},
    {"seed", 0, "N", "of the random places and moves (1)"},
    {"threads", 0, "N", "OpenMP threads (all)"},
    {"format", 0, "table|csv|json", "how the summary is printed (table)"},
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
  int64_t n = 0, sweeps, iterations;
  double occupancy = 0;
  r->radii = options_value(opts, RADII) ? options_value(opts, RADII) : "ecoli";
  MD_TRY(options_word(opts, FORMAT, options_format_words, OPTIONS_FORMAT_COUNT, &r->format));
  MD_REQUIRE(options_value(opts, PARTICLES), MD_EINVAL, "expected --particles N; see --help");
  MD_REQUIRE(options_value(opts, OCCUPANCY), MD_EINVAL, "expected --occupancy PHI; see --help");
  MD_REQUIRE(options_value(opts, OUTPUT), MD_EINVAL,
             "expected -o FILE, where the packing is written; see --help");
  MD_TRY(options_integer(opts, PARTICLES, 1, INT32_MAX, &n));
  MD_TRY(options_number(opts, OCCUPANCY, 1e-6, 0.999, &occupancy));
  r->spec = stokes_pack_defaults(n, occupancy);
  sweeps = r->spec.sweeps, iterations = r->spec.iterations;
  MD_TRY(options_number(opts, GAP, 1e-9, 1, &r->spec.gap));
  MD_TRY(options_integer(opts, SWEEPS, 0, INT32_MAX, &sweeps));
  MD_TRY(options_integer(opts, ITERATIONS, 1, INT32_MAX, &iterations));
  r->spec.sweeps = (int)sweeps, r->spec.iterations = (int)iterations;
  if (options_value(opts, SEED))
    MD_TRY(options_blame(opts, SEED, md_parse_uint64(options_value(opts, SEED), &r->spec.seed)));
  MD_TRY(options_integer(opts, THREADS, 1, 4096, &r->threads));
  if (options_value(opts, PLOT)) MD_TRY(plot_check(options_value(opts, PLOT)));
  return MD_OK;
}

static void print_summary(const request *r, const stokes_packing *packing,
                          const stokes_pack_report *report)
{
  static const table_column columns[] = {
      {"particles", 10, 0}, {"occupancy", 0, 6}, {"edge", 12, 3},  {"gap_min", 12, 8},
      {"iterations", 0, 0}, {"accepted", 0, 4},  {"time_s", 10, 3}};
  table t;
  table_begin(&t, stdout, (options_format)r->format, "pack", r->opts, columns, 7);
  table_integer(&t, packing->n);
  table_real(&t, stokes_packing_occupancy(packing));
  table_real(&t, packing->box[0]);
  table_real(&t, report->gap_min);
  table_integer(&t, report->iterations);
  table_real(&t, report->accepted);
  table_real(&t, report->seconds);
  table_end(&t);
}

/* Circles where spheres meet the plane z = 0. */
static md_status draw(const stokes_packing *packing, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 900, &picture));
  fprintf(picture.stream,
          "set size square\nset xrange [0:%.9g]\nset yrange [0:%.9g]\nunset key\n"
          "set xlabel 'x'\nset ylabel 'y'\nset style fill solid 0.5 border lc 'black'\n"
          "plot '-' with circles lc 'steelblue'\n",
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

/* The file is open before the work begins, so that one that cannot be written is known at once. */
static md_status make(const request *r, md_ctx *ctx, const stokes_radii *radii)
{
  enum { BYTES = 400 }; /* a sphere: itself, its cell and its neighbours */
  const char *picture = options_value(r->opts, PLOT);
  stokes_packing packing;
  stokes_pack_report report;
  md_output out;
  MD_TRY(memory_announce("a packing", BYTES * (double)r->spec.n, options_value(r->opts, QUIET)));
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  md_status status = stokes_pack(ctx, radii, &r->spec, &packing, &report);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  stokes_packing_print(&packing, out.stream);
  status = md_output_close(&out);
  if (!status && picture) status = draw(&packing, picture);
  if (!status) print_summary(r, &packing, &report);
  stokes_packing_free(&packing);
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
    options_help(stdout, "minimd pack --particles N --occupancy PHI [--radii ecoli|FILE] -o FILE",
                 "Non-overlapping spheres in a periodic cube, at random.", option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  options_free(&opts);
  return status;
}
