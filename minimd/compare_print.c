/* minimd/compare_print.c - the ranking as a table, CSV, JSON and a picture (compare.h). */
#include "minimd/compare.h"
#include "minimd/plot.h"
#include "minimd/table.h"

#include <inttypes.h>

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
                       FILE *stream)
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
                                         COMPARE_TIMES(TIMES) LOCALITY_FIGURES(FIGURES)};
#undef FIGURES
#undef TIMES
  const table_source source = {"compare", opts, all->cfg, all->backend};
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
  }
  table_end(&t);
}

static void print_ranking(const comparison *all, const options *opts, FILE *stream)
{
#define TIMES(name, word) {word, 26, 0},
  static const table_column columns[] = {{"rank", -5, 0},
                                         {"order", -20, 0},
                                         {"list", -4, 0},
                                         {"M atom-steps/s", 0, 3},
                                         COMPARE_TIMES(TIMES)};
#undef TIMES
  table t;
  table_begin(&t, stream, OPTIONS_FORMAT_TABLE, "compare", opts, columns, 4 + COMPARE_TIME_COUNT);
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    char text[64];
    snprintf(text, sizeof text, v->best_rank < v->worst_rank ? "%d-%d" : "%d", v->best_rank,
             v->worst_rank);
    table_text(&t, text);
    table_text(&t, v->order);
    table_text(&t, v->list);
    table_real(&t, million_atom_steps(all, v));
    for (int p = 0; p < COMPARE_TIME_COUNT; p++) {
      const compare_estimate *s = &v->time[p];
      snprintf(text, sizeof text, "%.4f (%.4f..%.4f)", s->median, s->low, s->high);
      table_text(&t, text);
    }
  }
  table_end(&t);
}

static void print_locality(const comparison *all, const options *opts, FILE *stream)
{
#define FIGURES(name, word) {word, 0, 4},
  static const table_column columns[] = {
      {"", -5, 0}, {"order", -20, 0}, {"list", -4, 0}, LOCALITY_FIGURES(FIGURES)};
#undef FIGURES
  table t;
  table_begin(&t, stream, OPTIONS_FORMAT_TABLE, "compare", opts, columns,
              3 + LOCALITY_FIGURE_COUNT);
  for (int k = 0; k < all->n; k++) {
    table_text(&t, "");
    table_text(&t, all->variants[k].order);
    table_text(&t, all->variants[k].list);
    for (int f = 0; f < LOCALITY_FIGURE_COUNT; f++)
      table_real(&t, all->variants[k].figure[f]);
  }
  table_end(&t);
}

void compare_print(const comparison *all, options_format format, const options *opts, FILE *stream)
{
  if (format != OPTIONS_FORMAT_TABLE) {
    print_rows(all, format, opts, stream);
    return;
  }
  fprintf(stream,
          "%" PRId64 " atoms, %" PRId64 " repeats of %" PRId64 " steps; seconds: median (interval"
          " that holds the true one with %.1f %% confidence)\n\n",
          all->variants[0].atoms, all->repeats, config_get(all->cfg)->steps,
          100 * compare_confidence(all->repeats));
  print_ranking(all, opts, stream);
  fputs("\ndistinct sectors of 32 neighbours' coordinates, distinct lines of a row's; modelled on\n"
        "this machine: hit rates of those coordinates, bytes read from memory\n\n",
        stream);
  print_locality(all, opts, stream);
}

md_status compare_plot(const comparison *all, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 420, &picture));
  fputs("$runs << END\n", picture.stream);
  for (int k = 0; k < all->n; k++) {
    const compare_variant *v = &all->variants[k];
    fprintf(picture.stream, "\"%s %s\"", v->order, v->list);
    for (int p = 0; p < COMPARE_TIME_COUNT; p++)
      fprintf(picture.stream, " %.6g %.6g %.6g", v->time[p].median, v->time[p].low,
              v->time[p].high);
    fputc('\n', picture.stream);
  }
  fputs("END\nset style data histograms\nset style histogram errorbars gap 1 lw 1\n"
        "set style fill solid 0.7\nset ylabel 'seconds'\nset yrange [0:*]\nset grid y\n"
        "set xtics rotate by -25 noenhanced\nset key outside right\nplot",
        picture.stream);
  for (int p = 0; p < COMPARE_TIME_COUNT; p++)
    fprintf(picture.stream, "%s $runs using %d:%d:%d:xtic(1) title '%s'", p ? "," : "", 2 + 3 * p,
            3 + 3 * p, 4 + 3 * p, time_words[p]);
  return plot_close(&picture);
}
