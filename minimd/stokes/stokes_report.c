/* minimd/stokes/stokes_report.c - see stokes_report.h. */
#include "minimd/stokes/stokes_report.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <math.h>

static void add_ranks(const void *report, md_json *json)
{
  const stokes_report *r = report;
  if (r->parts) stokes_ranks_json(r->parts, json);
}

/* A row for each replica of each step.  What replicas do together counts for each in equal parts;
 * the second solve is the first one's. */
static void print_rows(const stokes_report *r, FILE *stream)
{
  static const table_column columns[] = {
      {"replica", 7, 0},           {"step", 6, 0},         {"iterations_first", 6, 0},
      {"iterations_second", 6, 0}, {"guess_error", 11, 9}, {"time_chebyshev", 10, 6},
      {"time_guess", 10, 6},       {"time_first", 10, 6},  {"time_second", 10, 6}};
  const int replicas = r->settings->spec.replicas, skip = replicas == 1;
  table t;
  table_begin(&t, stream, (options_format)r->format, "stokes", r->opts, columns + skip, 9 - skip);
  for (int64_t k = 0; k < r->done * replicas; k++) {
    const stokes_step *row = &r->rows[k / replicas];
    const int replica = (int)(k % replicas);
    if (!skip) table_integer(&t, replica);
    table_integer(&t, row->step);
    table_integer(&t, row->iterations_first);
    table_integer(&t, replica ? 0 : row->iterations_second);
    table_real(&t, row->guess_error);
    table_real(&t, row->time_force / replicas);
    table_real(&t, row->time_guess);
    table_real(&t, row->time_first / replicas);
    table_real(&t, replica ? 0 : row->time_second);
  }
  static const table_notes notes = {NULL, add_ranks};
  table_end_with(&t, &notes, r, true);
}

/* Steps with the mobility of all spheres; without lubrication there is nothing to solve. */
static void print_far(const stokes_report *r, FILE *stream)
{
  static const table_column columns[] = {
      {"step", 6, 0},        {"iterations", 6, 0}, {"residual", 10, -4}, {"time_root", 10, 6},
      {"time_solve", 10, 6}, {"time_far", 10, 6},  {"time_near", 10, 6}};
  const bool full = r->settings->spec.hydrodynamics == STOKES_HYDRODYNAMICS_FULL;
  table t;
  table_begin(&t, stream, (options_format)r->format, "stokes", r->opts, columns, 7);
  for (int64_t k = 0; k < r->done; k++) {
    const stokes_step *row = &r->rows[k];
    table_integer(&t, row->step);
    table_integer(&t, full ? row->iterations_first + row->iterations_second : row->order);
    table_real(&t, row->residual);
    table_real(&t, row->time_force);
    table_real(&t, row->time_first);
    table_real(&t, row->time_far);
    table_real(&t, row->time_near);
  }
  table_end(&t);
}

void stokes_report_print(const stokes_report *r, FILE *stream)
{
  const bool near = r->settings->spec.hydrodynamics == STOKES_HYDRODYNAMICS_LUBRICATION;
  (near ? print_rows : print_far)(r, stream);
}

md_status stokes_report_draw(const stokes_report *r, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 700, &picture));
  fputs("set multiplot layout 2,1", picture.stream);
  plot_title(&picture, "%s, %" PRId64 " steps", options_value(r->opts, STOKES_OPTION_INPUT),
             r->done);
  fputs("set xlabel 'step'\nset ylabel 'iterations'\n"
        "plot '-' with linespoints pt 7 ps 0.5 title 'first solve', "
        "'-' with linespoints pt 6 ps 0.5 title 'second solve'\n",
        picture.stream);
  for (int second = 0; second < 2; second++) {
    for (int64_t k = 0; k < r->done; k++)
      fprintf(picture.stream, "%" PRId64 " %d\n", r->rows[k].step,
              second ? r->rows[k].iterations_second : r->rows[k].iterations_first);
    fputs("e\n", picture.stream);
  }
  fputs("set ylabel 'error of the guess'\nset yrange [0:]\n"
        "plot '-' with linespoints pt 7 ps 0.5 notitle\n",
        picture.stream);
  for (int64_t k = 0; k < r->done; k++)
    fprintf(picture.stream, "%" PRId64 " %.9g\n", r->rows[k].step, r->rows[k].guess_error);
  fputs("e\nunset multiplot\n", picture.stream);
  return plot_close(&picture);
}

/* Mean of D_s / D_0 over steps and replicas, and its standard error. */
static void print_diffusion(const stokes_report *r)
{
  const double samples = (double)r->done * r->settings->spec.replicas;
  double mean = 0, spread = 0;
  for (int64_t k = 0; k < r->done; k++) {
    mean += r->rows[k].diffusion / (double)r->done;
    spread += r->rows[k].spread;
  }
  fprintf(stderr, "short-time diffusion of %d replicas: D_s/D_0 = %.5f +- %.5f\n",
          r->settings->spec.replicas, mean, sqrt(spread / (samples - (double)r->done) / samples));
}

void stokes_report_summary(const stokes_report *r, const stokes_seconds *seconds,
                           const md_waiting *waiting)
{
  static const char *const names[STOKES_HYDRODYNAMICS_COUNT] = {
      NULL, "mobility of all spheres", "mobility of all spheres and lubrication"};
  const stokes_run_spec *spec = &r->settings->spec;
  int64_t overlaps = 0;
  for (int64_t k = 0; k < r->done; k++)
    overlaps += r->rows[k].overlaps;
  fprintf(stderr, "%" PRId64 " steps of %g ps, %.4g s a step", r->done, spec->dt,
          seconds->all / (double)r->done);
  if (seconds->late > 0)
    fprintf(stderr, " (%.4g in the second half)", seconds->late / (double)seconds->n_late);
  fprintf(stderr, "; %s",
          names[spec->hydrodynamics] ? names[spec->hydrodynamics]
                                     : stokes_algorithm_words[spec->algorithm]);
  if (!names[spec->hydrodynamics] && spec->algorithm == STOKES_MRHS)
    fprintf(stderr, " with %d right-hand sides", spec->vectors);
  fprintf(stderr, "; %" PRId64 " overlapping pairs moved apart\n", overlaps);
  if (spec->replicas > 1) print_diffusion(r);
  waiting_note(waiting, stderr);
}
