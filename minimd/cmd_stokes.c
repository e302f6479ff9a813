/* minimd/cmd_stokes.c - `minimd stokes`: Stokesian dynamics with one or many right-hand sides. */
#include "core/parse.h"
#include "core/timer.h"
#include "minimd/commands.h"
#include "minimd/memory.h"
#include "minimd/plot.h"
#include "minimd/progress.h"
#include "minimd/table.h"
#include "stokes/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  INPUT,
  ALGORITHM,
  RHS,
  STEPS,
  DT,
  SEED,
  GAP_CUT,
  GAP_MIN,
  FAR_FIELD,
  VISCOSITY,
  METHOD,
  TOLERANCE,
  ROOT,
  ROOT_TOLERANCE,
  PRECONDITIONER,
  MOST,
  STORAGE,
  BACKEND,
  THREADS,
  DETERMINISTIC,
  TRAJECTORY,
  EVERY,
  FORMAT,
  OUTPUT,
  PLOT,
  QUIET,
  N_OPTIONS
};

static const option option_table[N_OPTIONS] = {
    {"input", 'i', "FILE", "spheres, extended XYZ with radii, as `minimd pack` writes [Angstrom]"},
    {"algorithm", 0, "original|mrhs", "Algorithm 1 or 2 of [Liu] (mrhs)"},
    {"rhs", 0, "M|auto",
     "right-hand sides of mrhs, 1 to 64; auto: from the model, with what this\nmachine and a first "
     "solve measure (16)"},
    {"steps", 0, "N", "time steps (16)"},
    {"dt", 0, "X", "time step [ps] (2)"},
    {"seed", 0, "N", "of the Brownian forces (1)"},
    {"gap-cut", 0, "X", "pairs with a gap below this resist; 2 gives [Liu]'s matrices (0.5)"},
    {"gap-min", 0, "X", "smaller gaps count as this (0.001)"},
    {"far-field", 0, "X", "c of mu_F = 6 pi eta a c (1)"},
    {"viscosity", 0, "X", "[kT ps / A^3] (0.2162, water at 298.15 K)"},
    {"method", 0, "iterative|cholesky",
     "cholesky: dense factors, for `original` and at most 2000 spheres (iterative)"},
    {"tolerance", 0, "X", "of solutions (1e-6)"},
    {"root", 0, "chebyshev|lanczos", "square root for Brownian forces (chebyshev)"},
    {"root-tolerance", 0, "X", "of Brownian forces (1e-3)"},
    {"preconditioner", 0, "none|jacobi", "of the iterative solvers (none)"},
    {"max-iterations", 0, "N", "of a solve, and order of a square root (5000)"},
    {"storage", 0, "bcrs|single|pair", "of the matrix (bcrs)"},
    {"backend", 0, "cpu|gpu", "where (cpu)"},
    {"threads", 0, "N", "OpenMP threads (all)"},
    {"deterministic", 0, NULL, "the same numbers for any number of threads (always so here)"},
    {"trajectory", 0, "FILE", "write frames of extended XYZ with radii"},
    {"trajectory-every", 0, "N", "steps from frame to frame (1)"},
    {"format", 0, "table|csv|json", "how results are printed (table)"},
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  int format, backend;
  int64_t threads, every;
  bool automatic, quiet;
  stokes_run_spec spec;
  stokes_packing packing;
  md_ctx *ctx;
  stokes_run *run;
  stokes_step *rows; /* [spec.steps], the first `done` filled in */
  int64_t done;
  md_output trajectory;
} request;

static md_status read_words(request *r)
{
  stokes_run_spec *spec = &r->spec;
  int algorithm = spec->algorithm, method = spec->method, root = spec->root;
  int preconditioner = spec->preconditioner, storage = spec->storage;
  MD_TRY(options_word(r->opts, FORMAT, options_format_words, OPTIONS_FORMAT_COUNT, &r->format));
  MD_TRY(options_word(r->opts, BACKEND, md_backend_words, MD_BACKEND_COUNT, &r->backend));
  MD_TRY(
      options_word(r->opts, ALGORITHM, stokes_algorithm_words, STOKES_ALGORITHM_COUNT, &algorithm));
  MD_TRY(options_word(r->opts, METHOD, stokes_method_words, STOKES_METHOD_COUNT, &method));
  MD_TRY(options_word(r->opts, ROOT, stokes_root_words, STOKES_ROOT_COUNT, &root));
  MD_TRY(options_word(r->opts, PRECONDITIONER, stokes_preconditioner_words,
                      STOKES_PRECONDITIONER_COUNT, &preconditioner));
  MD_TRY(options_word(r->opts, STORAGE, stokes_storage_words, STOKES_STORAGE_COUNT, &storage));
  spec->algorithm = (stokes_algorithm)algorithm;
  spec->method = (stokes_method)method;
  spec->root = (stokes_root)root;
  spec->preconditioner = (stokes_preconditioner)preconditioner;
  spec->storage = (stokes_storage)storage;
  return MD_OK;
}

static md_status read_numbers(request *r)
{
  const options *opts = r->opts;
  stokes_run_spec *spec = &r->spec;
  const char *rhs = options_value(opts, RHS), *seed = options_value(opts, SEED);
  int64_t vectors = spec->vectors, most = spec->most;
  r->automatic = rhs && strcmp(rhs, "auto") == 0;
  if (!r->automatic) MD_TRY(options_integer(opts, RHS, 1, STOKES_VECTORS, &vectors));
  spec->steps = 16;
  MD_TRY(options_integer(opts, STEPS, 1, INT32_MAX, &spec->steps));
  MD_TRY(options_integer(opts, MOST, 1, 1000000, &most));
  MD_TRY(options_integer(opts, THREADS, 1, 4096, &r->threads));
  MD_TRY(options_integer(opts, EVERY, 1, INT32_MAX, &r->every));
  if (seed) MD_TRY(options_blame(opts, SEED, md_parse_uint64(seed, &spec->seed)));
  MD_TRY(options_number(opts, DT, 1e-12, 1e12, &spec->dt));
  MD_TRY(options_number(opts, GAP_CUT, 1e-6, 100, &spec->law.gap_cut));
  MD_TRY(options_number(opts, GAP_MIN, 1e-12, 1, &spec->law.gap_min));
  MD_TRY(options_number(opts, FAR_FIELD, 1e-6, 1e6, &spec->law.far_field));
  MD_TRY(options_number(opts, VISCOSITY, 1e-12, 1e12, &spec->viscosity));
  MD_TRY(options_number(opts, TOLERANCE, 1e-14, 0.5, &spec->tolerance));
  MD_TRY(options_number(opts, ROOT_TOLERANCE, 1e-13, 0.5, &spec->root_tolerance));
  spec->vectors = (int)vectors;
  spec->most = (int)most;
  return MD_OK;
}

static md_status read_request(request *r)
{
  const char *input = options_value(r->opts, INPUT), *picture = options_value(r->opts, PLOT);
  r->spec = stokes_run_defaults();
  r->quiet = options_value(r->opts, QUIET);
  MD_TRY(read_words(r));
  MD_TRY(read_numbers(r));
  MD_REQUIRE(input, MD_EINVAL,
             "expected -i FILE with spheres, as `minimd pack` writes; see --help");
  if (picture) MD_TRY(plot_check(picture));
  MD_TRY(stokes_packing_read(input, &r->packing));
  r->rows = calloc((size_t)r->spec.steps, sizeof *r->rows);
  MD_REQUIRE(r->rows, MD_ENOMEM, "out of memory for %" PRId64 " steps", r->spec.steps);
  return MD_OK;
}

/* Choose m from the model, with this machine's B and F and the counts of a first step. */
static md_status choose_vectors(request *r)
{
  stokes_machine machine;
  stokes_counts counts;
  stokes_shape shape;
  MD_TRY(stokes_machine_measure(r->ctx, r->spec.storage, &machine));
  MD_TRY(stokes_run_probe(r->run, &counts, &shape));
  const int most = r->spec.steps < STOKES_VECTORS ? (int)r->spec.steps : STOKES_VECTORS;
  r->spec.vectors = stokes_model_best(&machine, &shape, &counts, most, 0);
  if (!r->quiet)
    fprintf(stderr,
            "auto: B = %.3g GB/s, F = %.3g Gflop/s, N = %g, N1 = %g, N2 = %g, C = %g, m_s = %d: "
            "m = %d, %.3g of the original's time\n",
            1e-9 * machine.bandwidth, 1e-9 * machine.flops, counts.unguessed, counts.first,
            counts.second, counts.order, stokes_model_switch(&machine, &shape, 0), r->spec.vectors,
            stokes_model_step(&machine, &shape, &counts, r->spec.vectors, 0) /
                stokes_model_step(&machine, &shape, &counts, 1, 0));
  return stokes_run_set_vectors(r->run, r->spec.vectors);
}

static md_status walk(request *r)
{
  progress bar;
  md_status status = MD_OK;
  progress_begin(&bar, r->spec.steps, r->quiet);
  run_stop_on_signals();
  for (int64_t k = 0; !status && k < r->spec.steps && !run_stopped_by(); k++) {
    status = stokes_run_step(r->run, &r->rows[k]);
    if (!status) r->done = k + 1;
    if (!status && r->trajectory.stream && (k + 1) % r->every == 0) {
      status = stokes_run_read(r->run, &r->packing);
      if (!status) stokes_packing_print(&r->packing, r->trajectory.stream);
    }
    progress_update(&bar, k + 1);
  }
  progress_end(&bar);
  return status;
}

static void print_rows(const request *r, FILE *stream)
{
  static const table_column columns[] = {
      {"step", 6, 0},         {"iterations_first", 6, 0}, {"iterations_second", 6, 0},
      {"guess_error", 11, 9}, {"time_chebyshev", 10, 6},  {"time_guess", 10, 6},
      {"time_first", 10, 6},  {"time_second", 10, 6}};
  table t;
  table_begin(&t, stream, (options_format)r->format, "stokes", r->opts, columns, 8);
  for (int64_t k = 0; k < r->done; k++) {
    const stokes_step *row = &r->rows[k];
    table_integer(&t, row->step);
    table_integer(&t, row->iterations_first);
    table_integer(&t, row->iterations_second);
    table_real(&t, row->guess_error);
    table_real(&t, row->time_chebyshev);
    table_real(&t, row->time_guess);
    table_real(&t, row->time_first);
    table_real(&t, row->time_second);
  }
  table_end(&t);
}

static md_status draw(const request *r, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 700, &picture));
  fputs("set multiplot layout 2,1\nset grid\nset xlabel 'step'\nset ylabel 'iterations'\n"
        "plot '-' with linespoints pt 7 ps 0.5 title 'first solve', "
        "'-' with linespoints pt 6 ps 0.5 title 'second solve'\n",
        picture.stream);
  for (int second = 0; second < 2; second++) {
    for (int64_t k = 0; k < r->done; k++)
      fprintf(picture.stream, "%" PRId64 " %d\n", k,
              second ? r->rows[k].iterations_second : r->rows[k].iterations_first);
    fputs("e\n", picture.stream);
  }
  fputs("set ylabel 'error of the guess'\nset yrange [0:]\n"
        "plot '-' with linespoints pt 7 ps 0.5 notitle\n",
        picture.stream);
  for (int64_t k = 0; k < r->done; k++)
    fprintf(picture.stream, "%" PRId64 " %.9g\n", k, r->rows[k].guess_error);
  fputs("e\nunset multiplot\n", picture.stream);
  return plot_close(&picture);
}

static void summarise(const request *r, double seconds)
{
  int64_t overlaps = 0;
  for (int64_t k = 0; k < r->done; k++)
    overlaps += r->rows[k].overlaps;
  fprintf(stderr, "%" PRId64 " steps of %g ps, %.4g s a step; %s", r->done, r->spec.dt,
          seconds / (double)r->done, stokes_algorithm_words[r->spec.algorithm]);
  if (r->spec.algorithm == STOKES_MRHS)
    fprintf(stderr, " with %d right-hand sides", r->spec.vectors);
  fprintf(stderr, "; %" PRId64 " overlapping pairs moved apart\n", overlaps);
}

/* All steps with both files open, so that one that cannot be written is known at once. */
static md_status walk_and_print(request *r, md_output *out)
{
  const char *trajectory = options_value(r->opts, TRAJECTORY);
  if (trajectory) MD_TRY(md_output_open(trajectory, &r->trajectory));
  const double began = md_wall_seconds();
  const md_status status = walk(r);
  const double seconds = md_wall_seconds() - began;
  if (trajectory && status) md_output_discard(&r->trajectory);
  if (status) return status;
  if (trajectory) MD_TRY(md_output_close(&r->trajectory));
  if (!r->quiet && r->done > 0) summarise(r, seconds);
  print_rows(r, out->stream);
  return MD_OK;
}

static md_status answer(request *r)
{
  const char *picture = options_value(r->opts, PLOT);
  md_output out;
  MD_TRY(read_request(r));
  const md_ctx_spec spec = {(md_backend)r->backend, MD_DOUBLE, (int)r->threads, true};
  const double occupancy = stokes_packing_occupancy(&r->packing);
  MD_TRY(memory_announce("the run", stokes_run_bytes(&r->spec, r->packing.n, occupancy), r->quiet));
  MD_TRY(md_ctx_create(&spec, &r->ctx));
  MD_TRY(stokes_run_create(r->ctx, &r->spec, &r->packing, &r->run));
  if (r->automatic && r->spec.algorithm == STOKES_MRHS) MD_TRY(choose_vectors(r));
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  const md_status status = walk_and_print(r, &out);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  MD_TRY(md_output_close(&out));
  return picture ? draw(r, picture) : MD_OK;
}

md_status cmd_stokes(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts, .backend = MD_CPU, .every = 1};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd stokes -i FILE [--algorithm original|mrhs] [--rhs M|auto] [options]",
                 "Brownian motion of spheres with lubrication: iterations and times of every step.",
                 option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  stokes_run_destroy(r.run);
  if (r.ctx) md_ctx_destroy(r.ctx);
  stokes_packing_free(&r.packing);
  free(r.rows);
  options_free(&opts);
  return status;
}
