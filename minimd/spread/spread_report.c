/* minimd/spread/spread_report.c - see spread_report.h. */
#include "minimd/spread/spread_report.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <math.h>

static const table_column columns[] = {{"method", -9, 0},
                                       {"backend", -7, 0},
                                       {"precision", -9, 0},
                                       {"particles", 10, 0},
                                       {"mesh", -11, 0},
                                       {"order", 5, 0},
                                       {"vectors", 7, 0},
                                       {"asm", 9, -5},
                                       {"build_s", 11, -5},
                                       {"spread_s", 11, -5},
                                       {"particles_per_s", 15, -5},
                                       {"fraction_of_limit", 17, -4},
                                       {"error", 9, -3}};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void print_row(table *t, const spread_table *all, const spread_timing *timing)
{
  const int32_t *k = all->spec->mesh;
  const spread_report *report = &timing->report;
  char mesh[48];
  if (k[0] == k[1] && k[1] == k[2])
    snprintf(mesh, sizeof mesh, "%d", k[0]);
  else
    snprintf(mesh, sizeof mesh, "%dx%dx%d", k[0], k[1], k[2]);
  table_text(t, spread_method_words[report->method]);
  table_text(t, md_backend_words[all->ctx->backend]);
  table_text(t, md_precision_words[all->ctx->precision]);
  table_integer(t, all->particles);
  table_text(t, mesh);
  table_integer(t, all->spec->order);
  table_integer(t, all->spec->vectors);
  table_real(t, report->per_point);
  table_real(t, timing->build_s);
  table_real(t, timing->spread_s);
  table_real(t, (double)all->particles / timing->spread_s);
  table_real(t, (double)report->floor_bytes / all->bandwidth / timing->spread_s);
  table_real(t, timing->error);
}

/* The method that costs least for `repeats` spreadings. */
static int cheapest(const spread_table *all, double repeats)
{
  int best = 0;
  for (int k = 1; k < all->n; k++)
    if (all->timing[k].build_s + repeats * all->timing[k].spread_s <
        all->timing[best].build_s + repeats * all->timing[best].spread_s)
      best = k;
  return best;
}

/* The number of spreadings from which another method costs less than `best`, or infinity. */
static double overtaken(const spread_table *all, int best)
{
  double first = INFINITY;
  for (int k = 0; k < all->n; k++) {
    const double gain = all->timing[best].spread_s - all->timing[k].spread_s;
    const double price = all->timing[k].build_s - all->timing[best].build_s;
    if (gain > 0 && floor(price / gain) + 1 < first) first = floor(price / gain) + 1;
  }
  return first;
}

static void print_json_notes(const void *report, md_json *json)
{
  const spread_table *all = report;
  if (all->chosen) {
    md_json_open(json, "choice", '{');
    md_json_string(json, "method", spread_method_words[all->timing[0].report.method]);
    md_json_string(json, "reason", all->timing[0].report.reason);
    md_json_close(json, '}');
  }
  if (all->peered) {
    md_json_open(json, "peer", '{');
    md_json_string(json, "name", "cusparse");
    if (*all->missing) {
      md_json_string(json, "missing", all->missing);
    } else {
      md_json_number(json, "spread_s", all->peer.spread_s);
      md_json_number(json, "error", all->peer.error);
    }
    md_json_close(json, '}');
  }
  md_json_number(json, "bandwidth", all->bandwidth);
  md_json_open(json, "cheapest", '[');
  for (double from = 1; from < INFINITY;) {
    const int best = cheapest(all, from);
    md_json_open(json, NULL, '{');
    md_json_number(json, "from_repeats", from);
    md_json_string(json, "method", spread_method_words[all->timing[best].report.method]);
    md_json_close(json, '}');
    from = fmax(overtaken(all, best), from + 1);
  }
  md_json_close(json, ']');
}

static void print_notes(const void *report, FILE *stream)
{
  const spread_table *all = report;
  if (all->chosen)
    fprintf(stream, "auto chose %s: %s\n", spread_method_words[all->timing[0].report.method],
            all->timing[0].report.reason);
  if (*all->missing) fprintf(stream, "cuSPARSE left out: %s\n", all->missing);
  if (all->peered && !*all->missing)
    fprintf(stream,
            "cuSPARSE, compressed rows of the same matrix: %.5g s a spreading, error %.3g\n",
            all->peer.spread_s, all->peer.error);
  if (all->n < 2) return;
  fputs("cheapest for R spreadings, building included:", stream);
  for (double from = 1; from < INFINITY;) {
    const int best = cheapest(all, from);
    fprintf(stream, "%s %s from R = %.0f", from > 1 ? "," : "",
            spread_method_words[all->timing[best].report.method], from);
    from = fmax(overtaken(all, best), from + 1);
  }
  fputc('\n', stream);
}

void spread_table_print(const spread_table *all, options_format format, FILE *stream)
{
  table t;
  table_begin(&t, stream, format, "spread", all->opts, columns, N_COLUMNS);
  for (int k = 0; k < all->n; k++)
    print_row(&t, all, &all->timing[k]);
  static const table_notes notes = {print_notes, print_json_notes};
  table_end_with(&t, &notes, all, false);
}

md_status spread_table_plot(const spread_table *all, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  char machine_name[128];
  provenance_machine(all->ctx->backend, machine_name, sizeof machine_name);
  fputs("set", picture.stream);
  plot_title(&picture, "%lld particles, mesh %d x %d x %d, order %d, %s precision, %s",
             (long long)all->particles, all->spec->mesh[0], all->spec->mesh[1], all->spec->mesh[2],
             all->spec->order, md_precision_words[all->ctx->precision], machine_name);
  fputs("set style data histograms\nset boxwidth 0.9\nset logscale y\n"
        "set ylabel 'time / s'\nset format y '%.0e'\n"
        "plot '-' using 2:xtic(1) title 'build', '' using 2 title 'one spreading'\n",
        picture.stream);
  for (int column = 0; column < 2; column++) {
    for (int k = 0; k < all->n; k++)
      fprintf(picture.stream, "%s %.9g\n", spread_method_words[all->timing[k].report.method],
              column ? all->timing[k].spread_s : all->timing[k].build_s);
    fputs("e\n", picture.stream);
  }
  return plot_close(&picture);
}
