/* minimd/run/compare_print.c - the ranking as a table, CSV, JSON and a picture (compare.h).
 *
 * No line of the tables is longer than MAX_COLUMNS, whatever the names. */
#include "comm/world.h"
#include "minimd/run/compare.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 100, NAME_SIZE = 64 };

#define WORD(name, word) word,
static const char *const time_words[COMPARE_TIME_COUNT] = {COMPARE_TIMES(WORD)};
#undef WORD

static double million_atom_steps(const comparison *all, const compare_variant *v)
{
  return (double)v->atoms * (double)config_get(all->cfg)->steps / v->time[COMPARE_TOTAL].median /
         1e6;
}

/* CSV and JSON: one row a variant. */
static void print_rows(const comparison *all, options_format format, const options *opts,
                       const char *verdict, FILE *stream)
{
#define TIMES(name, word) {word "_s", 0, 7}, {word "_low_s", 0, 7}, {word "_high_s", 0, 7},
#define FIGURES(name, word) {word, 0, 4},
  static const table_column columns[] = {{"order", 0, 0},
                                         {"list", 0, 0},
                                         {"atoms", 0, 0},
                                         {"steps", 0, 0},
                                         {"repeats", 0, 0},
                                         {"confidence", 0, 4},
                                         {"rank_best", 0, 0},
                                         {"rank_worst", 0, 0},
                                         {"m_atom_steps_per_s", 0, 3},
                                         COMPARE_TIMES(TIMES)
                                             LOCALITY_FIGURES(FIGURES){"ratio", 0, 5},
                                         {"ratio_low", 0, 5},
                                         {"ratio_high", 0, 5},
                                         {"runs_per_repeat", 0, 0},
                                         {"ranks", 0, 0},
                                         {"cut", 0, 0}};
#undef FIGURES
#undef TIMES
  const table_source source = {"compare", opts, all->cfg, all->backend, verdict};
  table t;
  table_begin_from(&t, stream, format, &source, columns, sizeof columns / sizeof *columns);
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    table_text(&t, v->order);
    table_text(&t, v->list);
    table_integer(&t, v->atoms);
    table_integer(&t, config_get(all->cfg)->steps);
    table_integer(&t, all->repeats);
    table_real(&t, compare_confidence(all->repeats));
    table_integer(&t, v->best_rank);
    table_integer(&t, v->worst_rank);
    table_real(&t, million_atom_steps(all, v));
    for (int p = 0; p < COMPARE_TIME_COUNT; p++) {
      table_real(&t, v->time[p].median);
      table_real(&t, v->time[p].low);
      table_real(&t, v->time[p].high);
    }
    for (int f = 0; f < LOCALITY_FIGURE_COUNT; f++)
      table_real(&t, v->figure[f]);
    table_real(&t, v->ratio.median);
    table_real(&t, v->ratio.low);
    table_real(&t, v->ratio.high);
    table_integer(&t, all->runs);
    table_integer(&t, world_count());
    table_text(&t, world_count() > 1 ? v->cut : "none");
  }
  table_end(&t);
}

/* The order as it is written shortest: without the zeros that a number may begin with; of several
 * ranks also how the box is cut. */
static const char *name_of(const compare_variant *v, char text[NAME_SIZE])
{
  ordering order;
  char shortest[NAME_SIZE];
  snprintf(shortest, sizeof shortest, "%s", v->order);
  if (!ordering_parse(v->order, &order)) ordering_format(&order, shortest, sizeof shortest);
  if (world_count() > 1)
    snprintf(text, NAME_SIZE, "%.40s by %s", shortest, v->cut);
  else
    snprintf(text, NAME_SIZE, "%s", shortest);
  return text;
}

static int name_width(const comparison *all)
{
  size_t width = 0;
  char text[NAME_SIZE];
  for (int k = 0; k < all->n; k++) {
    const size_t length = strlen(name_of(&all->variants[k], text));
    if (length > width) width = length;
  }
  return (int)width;
}

static void print_ranking(const comparison *all, const options *opts, FILE *stream)
{
  const table_column columns[] = {{"rank", -5, 0},         {"order", -name_width(all), 0},
                                  {"list", -4, 0},         {"total", 10, -5},
                                  {"ratio (95 %)", 21, 0}, {"rate", 9, 3}};
  table t;
  table_begin(&t, stream, OPTIONS_FORMAT_TABLE, "compare", opts, columns,
              sizeof columns / sizeof *columns);
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    char text[64], name[NAME_SIZE];
    snprintf(text, sizeof text, v->best_rank < v->worst_rank ? "%d-%d" : "%d", v->best_rank,
             v->worst_rank);
    table_text(&t, text);
    table_text(&t, name_of(v, name));
    table_text(&t, v->list);
    table_real(&t, v->time[COMPARE_TOTAL].median);
    snprintf(text, sizeof text, k > 0 && v->ratio.low > 0 ? "%#.4g (%#.4g-%#.4g)" : "%#.4g",
             v->ratio.median, v->ratio.low, v->ratio.high);
    table_text(&t, text);
    table_real(&t, million_atom_steps(all, v));
  }
  table_end(&t);
}

static void print_phases(const comparison *all, const options *opts, FILE *stream)
{
  static const int shown[] = {COMPARE_FORCE, COMPARE_NEIGHBOR, COMPARE_SORT, COMPARE_PROCESSOR};
  enum { N_SHOWN = sizeof shown / sizeof *shown };
  table_column columns[2 + N_SHOWN] = {{"order", -name_width(all), 0}, {"list", -4, 0}};
  for (int p = 0; p < N_SHOWN; p++)
    columns[2 + p] = (table_column){time_words[shown[p]], 10, -5};
  table t;
  char name[NAME_SIZE];
  table_begin(&t, stream, OPTIONS_FORMAT_TABLE, "compare", opts, columns, 2 + N_SHOWN);
  for (int k = 0; k < all->n; k++) {
    table_text(&t, name_of(&all->variants[k], name));
    table_text(&t, all->variants[k].list);
    for (int p = 0; p < N_SHOWN; p++)
      table_real(&t, all->variants[k].time[shown[p]].median);
  }
  table_end(&t);
}

static void print_locality(const comparison *all, const options *opts, FILE *stream)
{
  const table_column columns[] = {{"order", -name_width(all), 0},
                                  {"list", -4, 0},
                                  {"sectors", 7, 2},
                                  {"lines", 7, 2},
                                  {"L1 hits", 7, 4},
                                  {"L2 hits", 7, 4},
                                  {"bytes/atom", 10, 1}};
  table t;
  char name[NAME_SIZE];
  table_begin(&t, stream, OPTIONS_FORMAT_TABLE, "compare", opts, columns,
              2 + LOCALITY_FIGURE_COUNT);
  for (int k = 0; k < all->n; k++) {
    table_text(&t, name_of(&all->variants[k], name));
    table_text(&t, all->variants[k].list);
    for (int f = 0; f < LOCALITY_FIGURE_COUNT; f++)
      table_real(&t, all->variants[k].figure[f]);
  }
  table_end(&t);
}

static void print_tables(const comparison *all, const options *opts, FILE *stream)
{
  fprintf(stream, "%" PRId64 " atoms, %" PRId64 " repeats of %" PRId64 " steps",
          all->variants[0].atoms, all->repeats, config_get(all->cfg)->steps);
  if (all->runs > 1) fprintf(stream, ", each the mean of %" PRId64 " runs", all->runs);
  fputs("\ntotal: median seconds of a run; rate: million atom-steps/s; ratio: median over repeats\n"
        "of total / that of the first line, 95 % interval for all pairs of lines together\n\n",
        stream);
  print_ranking(all, opts, stream);
  fputs("\nmedian seconds of a run in each phase, and of all processors\n\n", stream);
  print_phases(all, opts, stream);
  fputs("\ndistinct sectors of 32 neighbours' coordinates, distinct lines of a row's; modelled on\n"
        "this machine: hit rates of those coordinates, bytes read from memory\n\n",
        stream);
  print_locality(all, opts, stream);
}

md_status compare_print(const comparison *all, options_format format, const options *opts,
                        FILE *stream)
{
  char *verdict;
  MD_TRY(compare_verdict(all, format == OPTIONS_FORMAT_TABLE ? MAX_COLUMNS : SIZE_MAX, &verdict));
  if (format == OPTIONS_FORMAT_TABLE) {
    print_tables(all, opts, stream);
    fprintf(stream, "\n%s\n", verdict);
  } else {
    print_rows(all, format, opts, verdict, stream);
  }
  free(verdict);
  return MD_OK;
}

static void draw_times(FILE *stream, const int *times, int n)
{
  for (int k = 0; k < n; k++)
    fprintf(stream, "%s $runs using %d:%d:%d:xtic(1) title '%s'", k ? "," : "plot",
            2 + 3 * times[k], 3 + 3 * times[k], 4 + 3 * times[k], time_words[times[k]]);
  fputc('\n', stream);
}

md_status compare_plot(const comparison *all, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 1000, 420, &picture));
  fputs("$runs << END\n", picture.stream);
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    fprintf(picture.stream, "\"%s %s\"", v->order, v->list);
    for (int p = 0; p < COMPARE_TIME_COUNT; p++)
      fprintf(picture.stream, " %.6g %.6g %.6g", v->time[p].median, v->time[p].low,
              v->time[p].high);
    fputc('\n', picture.stream);
  }
  char machine_name[128];
  provenance_machine(all->backend, machine_name, sizeof machine_name);
  const engine_spec *spec = config_get(all->cfg);
  fputs("END\nset multiplot layout 1,2", picture.stream);
  plot_title(&picture,
             "%" PRId64 " atoms, %" PRId64 " steps, %s precision, %s: medians of %" PRId64
             " repeats, 95 %% intervals",
             all->n ? all->variants[0].atoms : 0, spec->steps, md_precision_words[spec->precision],
             machine_name, all->repeats);
  fputs("set style data histograms\nset style histogram errorbars gap 1 lw 1\n"
        "set errorbars lc rgb '#222222' dt 1\n"
        "set style fill solid 0.6 noborder\nset ylabel 'seconds'\nset yrange [0:*]\n"
        "set xtics rotate by -25 noenhanced\n",
        picture.stream);
  /* Sorts take a hundredth of a run: an axis of their own shows them. */
  draw_times(picture.stream, (const int[]){COMPARE_TOTAL, COMPARE_FORCE}, 2);
  draw_times(picture.stream, (const int[]){COMPARE_NEIGHBOR, COMPARE_SORT}, 2);
  fputs("unset multiplot\n", picture.stream);
  return plot_close(&picture);
}
