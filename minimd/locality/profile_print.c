/* minimd/locality/profile_print.c - see profile_print.h. */
#include "minimd/locality/profile_print.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int n_cases(const profile_job *job)
{
  return job->n_variants * job->n_steps;
}

void profile_report_free(profile_report *report, const profile_job *job)
{
  const int n = report->tool == PROFILE_NVPROF ? job->n_variants : 1;
  for (int c = 0; c < PROFILE_CACHES_COUNT; c++) {
    for (int k = 0; report->values[c] && k < n; k++)
      profile_values_free(&report->values[c][k]);
    free(report->values[c]);
  }
  profile_metrics_free(&report->metrics);
}

static profile_measured measure(const profile_report *report, const profile_job *job, int index,
                                profile_caches caches, const profile_quantity *q)
{
  const double atoms = (double)job->cases[index].atoms;
  const profile_values *values = report->values[caches];
  if (!report->measured || !values) return (profile_measured){NAN, NAN};
  if (report->tool == PROFILE_NVPROF)
    return profile_measure(q, report->tool, &report->metrics, &values[index], 0, 1, atoms);
  return profile_measure(q, report->tool, &report->metrics, values, index * job->launches,
                         job->launches, atoms);
}

static double predict(const profile_report *report, const profile_job *job, int index,
                      profile_caches caches, const profile_quantity *q)
{
  const profile_case *c = &job->cases[index];
  const profile_model model = {&job->m, c->kind, config_get(job->cfg)->precision,
                               &c->caches[caches]};
  return report->modelled ? profile_predict(q, &model) : NAN;
}

static const profile_quantity *find_quantity(const char *name)
{
  const profile_quantity *all;
  const int n = profile_quantities(&all);
  for (int q = 0; q < n; q++)
    if (strcmp(all[q].name, name) == 0) return &all[q];
  return NULL;
}

void profile_report_shared(const profile_report *report, profile_job *job)
{
  const profile_quantity *shared = find_quantity("shared_memory_bytes");
  for (int k = 0; k < n_cases(job); k++)
    for (int c = 0; c < PROFILE_CACHES_COUNT; c++) {
      const double bytes = measure(report, job, k, (profile_caches)c, shared).median;
      if (bytes >= 0) job->cases[k].shared = (int64_t)bytes;
    }
}

/* Cells that say what a row is of. */
static void put_case(table *t, const profile_job *job, const profile_case *c)
{
  const engine_spec *values = config_get(job->cfg);
  table_text(t, c->order);
  table_text(t, c->list);
  table_text(t, md_precision_words[values->precision]);
  table_integer(t, c->step);
  table_integer(t, c->atoms);
  table_integer(t, values->block_size);
}
#define CASE_COLUMNS                                                                               \
  {"order", -20, 0}, {"list", -4, 0}, {"precision", -9, 0}, {"step", 6, 0}, {"atoms", 9, 0},       \
  {                                                                                                \
    "block_size", 0, 0                                                                             \
  }

static table begin(const profile_report *report, const profile_job *job, FILE *stream,
                   const table_column *columns, int n)
{
  table t;
  const table_source source = {"profile", job->opts, job->cfg, MD_GPU, NULL};
  table_begin_from(&t, stream, report->format, &source, columns, n);
  return t;
}

void profile_print(const profile_report *report, const profile_job *job, FILE *stream)
{
  static const table_column first[] = {
      {"figure", -8, 0}, {"quantity", -33, 0}, CASE_COLUMNS, {"caches", -6, 0}};
  table_column columns[sizeof first / sizeof *first + 3];
  const profile_quantity *all;
  const int n = profile_quantities(&all);
  int n_columns = sizeof first / sizeof *first;
  memcpy(columns, first, sizeof first);
  if (report->measured) {
    columns[n_columns++] = (table_column){"measured", 14, 4};
    columns[n_columns++] = (table_column){"spread_percent", 0, 2};
  }
  if (report->modelled) columns[n_columns++] = (table_column){"modelled", 14, 4};
  table t = begin(report, job, stream, columns, n_columns);
  for (int q = 0; q < n; q++)
    for (int k = 0; k < n_cases(job); k++)
      for (int c = 0; c < PROFILE_CACHES_COUNT; c++) {
        if (!report->caches[c]) continue;
        const profile_measured found = measure(report, job, k, (profile_caches)c, &all[q]);
        const double expected = predict(report, job, k, (profile_caches)c, &all[q]);
        if (isnan(found.median) && isnan(expected)) continue;
        table_text(&t, all[q].figure);
        table_text(&t, all[q].name);
        put_case(&t, job, &job->cases[k]);
        table_text(&t, profile_caches_words[c]);
        if (report->measured) {
          table_real(&t, found.median);
          table_real(&t, found.spread);
        }
        if (report->modelled) table_real(&t, expected);
      }
  table_end(&t);
}

void profile_print_times(const profile_report *report, const profile_job *job, FILE *stream)
{
  static const table_column columns[] = {
      CASE_COLUMNS,         {"bin_size", 8, 4}, {"carveout", 0, 0},
      {"sort_every", 0, 0}, {"launches", 0, 0}, {"force_us", 10, 2},
      {"least_us", 10, 2},  {"sort_us", 10, 2}, {"build_us", 10, 2}};
  const engine_spec *v = config_get(job->cfg);
  const double r_list = engine_reach(v) + v->skin;
  table t = begin(report, job, stream, columns, sizeof columns / sizeof *columns);
  for (int k = 0; k < n_cases(job); k++) {
    const profile_case *c = &job->cases[k];
    put_case(&t, job, c);
    table_real(&t, v->bin_size > 0 ? v->bin_size : r_list / -v->bin_size);
    table_integer(&t, v->carveout);
    table_integer(&t, v->sort_every < 0 ? v->every : v->sort_every);
    table_integer(&t, job->launches);
    table_real(&t, 1e6 * c->force_s);
    table_real(&t, 1e6 * c->least_s);
    table_real(&t, 1e6 * c->sort_s);
    table_real(&t, 1e6 * c->build_s);
  }
  table_end(&t);
}

/* One panel: a quantity of every case, as bars side by side. */
static void draw_panel(const profile_report *report, const profile_job *job, profile_caches caches,
                       const char *name, const char *title, FILE *stream)
{
  const profile_quantity *q = find_quantity(name);
  fprintf(stream, "set title '%s' noenhanced\n$data << EOD\n", title);
  for (int k = 0; k < n_cases(job); k++) {
    const profile_case *c = &job->cases[k];
    fprintf(stream, "\"%s %s %lld\" %.6g %.6g\n", c->order, c->list, (long long)c->step,
            measure(report, job, k, caches, q).median, predict(report, job, k, caches, q));
  }
  fputs("EOD\nplot ", stream);
  if (report->measured)
    fprintf(stream, "$data using 2:xtic(1) title 'measured'%s", report->modelled ? ", " : "\n");
  if (report->modelled) fputs("$data using 3:xtic(1) title 'modelled'\n", stream);
}

md_status profile_plot(const profile_report *report, const profile_job *job, const char *path)
{
  static const char *const panels[][2] = {
      {"l1_hit_percent", "hits in L1 / %"},
      {"l2_read_hit_percent", "reads that hit in L2 / %"},
      {"load_sectors_per_request", "sectors of 32 bytes a load"},
      {"memory_read_bytes_per_atom", "bytes read from memory, an atom"}};
  const profile_caches caches = report->caches[PROFILE_WARM] ? PROFILE_WARM : PROFILE_COLD;
  plot picture;
  MD_TRY(plot_open(path, 1200, 900, &picture));
  char machine_name[128];
  provenance_machine(report->measured ? MD_GPU : MD_CPU, machine_name, sizeof machine_name);
  fputs("set multiplot layout 2,2", picture.stream);
  plot_title(&picture, "force kernel, %lld atoms, %s precision, %s caches, %s %s",
             (long long)job->cases[0].atoms, md_precision_words[config_get(job->cfg)->precision],
             profile_caches_words[caches], report->measured ? "counted on" : "modelled for",
             report->measured ? machine_name : job->m.name);
  fputs("set style data histograms\n"
        "set yrange [0:*]\nset xtics rotate by -30 noenhanced\nset datafile missing 'nan'\n",
        picture.stream);
  for (size_t p = 0; p < sizeof panels / sizeof *panels; p++)
    draw_panel(report, job, caches, panels[p][0], panels[p][1], picture.stream);
  fputs("unset multiplot\n", picture.stream);
  return plot_close(&picture);
}
