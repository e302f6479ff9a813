/* minimd/locality/cmd_ordering.c - `minimd ordering`: index tables, stencil counts ([AK] Table 2)
 * and memory offsets of stencils (Figs. 6-9). */
#include "cachemodel/cachemodel.h"
#include "core/parse/parse.h"
#include "minimd/shell/commands.h"
#include "minimd/locality/grids.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/table.h"
#include "ordering/curve.h"

#include <stdlib.h>

enum { ORDER, SIZE, STENCIL, OFFSETS, FORMAT, OUTPUT, PLOT, QUIET, N_OPTIONS };

static const option option_table[N_OPTIONS] = {
    {"order", 0, "LIST", "orderings, separated by commas: " ORDERINGS_HELP},
    {"size", 0, "M[,N,P]", "cells along each axis"},
    {"stencil", 0, "S", "block:G or sphere:G, several separated by commas"},
    {"offsets", 0, NULL, "count the memory offsets of the stencil's cells"},
    OPTION_FORMAT_OR("csv"),
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_QUIET,
};

typedef struct {
  const options *opts;
  options_format format;
  FILE *stream;
  grid_orders orders;
  int32_t n[3];
  ordering_stencil *stencils; /* [n_stencils] */
  int n_stencils;
} request;

/* Needs no memory: every index is computed when it is printed. */
static void print_indices(const request *r)
{
  static const table_column columns[] = {
      {"order", -24, 0}, {"i", 8, 0}, {"j", 8, 0}, {"k", 8, 0}, {"index", 10, 0}};
  table t;
  table_begin(&t, r->stream, r->format, "ordering", r->opts, columns, 5);
  for (int o = 0; o < r->orders.n; o++)
    for (int32_t i = 0; i < r->n[0]; i++)
      for (int32_t j = 0; j < r->n[1]; j++)
        for (int32_t k = 0; k < r->n[2]; k++) {
          const int32_t cell[3] = {i, j, k};
          table_text(&t, r->orders.words[o]);
          for (int a = 0; a < 3; a++)
            table_integer(&t, cell[a]);
          table_integer(&t, curve_index(&r->orders.orders[o], r->n, cell));
        }
  table_end(&t);
}

static void print_stencils(const request *r)
{
  static const table_column columns[] = {{"stencil", -12, 0},
                                         {"bins", 12, 0},
                                         {"half_bins", 12, 0},
                                         {"sphericity_deviation_percent", 0, 4}};
  table t;
  table_begin(&t, r->stream, r->format, "ordering", r->opts, columns, 4);
  for (int s = 0; s < r->n_stencils; s++) {
    char text[32];
    ordering_stencil_format(&r->stencils[s], text);
    const int64_t bins = ordering_stencil_bins(&r->stencils[s]);
    table_text(&t, text);
    table_integer(&t, bins);
    table_integer(&t, (bins + 1) / 2);
    table_real(&t, ordering_stencil_deviation(&r->stencils[s]));
  }
  table_end(&t);
}

/* The sweep of ordering o and stencil s. */
static cachemodel_sweep sweep_of(const request *r, int o, int s)
{
  return (cachemodel_sweep){.order = r->orders.orders[o],
                            .n = {r->n[0], r->n[1], r->n[2]},
                            .stencil = r->stencils[s],
                            .line = 1};
}

static md_status print_offsets(const request *r)
{
  static const table_column columns[] = {
      {"order", -24, 0}, {"stencil", -12, 0}, {"offset", 10, 0}, {"count", 12, 0}};
  table t;
  table_begin(&t, r->stream, r->format, "ordering", r->opts, columns, 4);
  for (int o = 0; o < r->orders.n; o++)
    for (int s = 0; s < r->n_stencils; s++) {
      const cachemodel_sweep sweep = sweep_of(r, o, s);
      char text[32];
      int64_t *count, span;
      ordering_stencil_format(&r->stencils[s], text);
      MD_TRY(cachemodel_offsets(&sweep, &count, &span));
      for (int64_t d = -span; d <= span; d++) {
        if (count[span + d] == 0) continue;
        table_text(&t, r->orders.words[o]);
        table_text(&t, text);
        table_integer(&t, d);
        table_integer(&t, count[span + d]);
      }
      free(count);
    }
  table_end(&t);
  return MD_OK;
}

/* The cells of each ordering as a path through space, one panel each. */
static void draw_indices(const request *r, const plot *picture)
{
  FILE *gnuplot = picture->stream;
  const int64_t cells = (int64_t)r->n[0] * r->n[1] * r->n[2];
  fprintf(gnuplot,
          "set multiplot layout 1,%d title 'cells in the order of their indices'\nset view "
          "65,25\nset view equal xyz\nunset key\n"
          "set xlabel 'i'\nset ylabel 'j'\nset zlabel 'k'\nset xyplane 0\n"
          "unset colorbox\n",
          r->orders.n);
  for (int o = 0; o < r->orders.n; o++) {
    fputs("set title ", gnuplot);
    plot_quoted(picture, r->orders.words[o]);
    fputs(" noenhanced\nsplot '-' with lines lw 2 lc palette\n", gnuplot);
    for (int64_t b = 0; b < cells; b++) {
      int32_t c[3];
      curve_cell(&r->orders.orders[o], r->n, (uint32_t)b, c);
      fprintf(gnuplot, "%d %d %d %lld\n", c[0], c[1], c[2], (long long)b);
    }
    fputs("e\n", gnuplot);
  }
  fputs("unset multiplot\n", gnuplot);
}

static void draw_stencils(const request *r, FILE *gnuplot)
{
  fputs("set style fill solid 0.7\nset boxwidth 0.6\nset ylabel 'deviation from a sphere / %'\n"
        "set yrange [0:100]\nset xtics rotate by -35\nunset key\n"
        "plot '-' using 0:2:xtic(1) with boxes\n",
        gnuplot);
  for (int s = 0; s < r->n_stencils; s++) {
    char text[32];
    ordering_stencil_format(&r->stencils[s], text);
    fprintf(gnuplot, "\"%s\" %.6f\n", text, ordering_stencil_deviation(&r->stencils[s]));
  }
  fputs("e\n", gnuplot);
}

/* Fraction of the stencil's cells within a memory offset, a line for each ordering and stencil. */
static md_status draw_offsets(const request *r, const plot *picture)
{
  FILE *gnuplot = picture->stream;
  fputs("set", gnuplot);
  plot_title(picture, "memory offsets from a cell to those of its stencil, %d x %d x %d cells",
             r->n[0], r->n[1], r->n[2]);
  fputs("set logscale x\nset xlabel 'memory offset / bins'\n"
        "set ylabel 'fraction of bins within'\nset yrange [0:1]\nplot",
        gnuplot);
  for (int p = 0; p < r->orders.n * r->n_stencils; p++) {
    char text[32];
    ordering_stencil_format(&r->stencils[p % r->n_stencils], text);
    fprintf(gnuplot, "%s '-' with steps lw 2 title ", p ? "," : "");
    plot_quoted(picture, r->orders.words[p / r->n_stencils]);
    fprintf(gnuplot, ".' %s'", text);
  }
  fputc('\n', gnuplot);
  for (int p = 0; p < r->orders.n * r->n_stencils; p++) {
    const cachemodel_sweep sweep = sweep_of(r, p / r->n_stencils, p % r->n_stencils);
    int64_t *count, span, all = 0, within;
    MD_TRY(cachemodel_offsets(&sweep, &count, &span));
    for (int64_t d = -span; d <= span; d++)
      all += count[span + d];
    within = count[span];
    for (int64_t d = 1; d <= span; d++) {
      const int64_t here = count[span + d] + count[span - d];
      within += here;
      if (here) fprintf(gnuplot, "%lld %.9f\n", (long long)d, (double)within / (double)all);
    }
    fputs("e\n", gnuplot);
    free(count);
  }
  return MD_OK;
}

static md_status draw(const request *r, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  md_status status = MD_OK;
  if (options_value(r->opts, OFFSETS))
    status = draw_offsets(r, &picture);
  else if (r->orders.n > 0)
    draw_indices(r, &picture);
  else
    draw_stencils(r, picture.stream);
  const md_status closed = plot_close(&picture);
  return status ? status : closed;
}

static md_status read_stencils(request *r)
{
  char **words;
  const char *text = options_value(r->opts, STENCIL);
  MD_TRY(options_blame(r->opts, STENCIL, md_parse_list(text, "stencils", &words, &r->n_stencils)));
  r->stencils = calloc((size_t)r->n_stencils, sizeof *r->stencils);
  md_status status = r->stencils ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for stencils");
  for (int s = 0; !status && s < r->n_stencils; s++)
    status = options_blame(r->opts, STENCIL, ordering_stencil_parse(words[s], &r->stencils[s]));
  free(words);
  return status;
}

static md_status check_grid(const request *r)
{
  const double cells = (double)r->n[0] * r->n[1] * r->n[2];
  MD_REQUIRE(cells < 4294967296.0, MD_ECAPACITY,
             "--size: a grid of %d x %d x %d has %.0f cells, whose indices take %.3f GB; an index "
             "holds fewer than 4294967296",
             r->n[0], r->n[1], r->n[2], cells, 4e-9 * cells);
  for (int o = 0; o < r->orders.n; o++)
    MD_TRY(options_blame(r->opts, ORDER, ordering_whole_tiles(&r->orders.orders[o], r->n)));
  for (int s = 0; s < r->n_stencils; s++) {
    const cachemodel_sweep sweep = sweep_of(r, 0, s);
    MD_TRY(cachemodel_sweep_check(&sweep, 1));
  }
  return MD_OK;
}

/* Which of the three tables is asked for. */
static md_status read_request(request *r)
{
  const options *opts = r->opts;
  int format = OPTIONS_FORMAT_CSV;
  MD_TRY(options_read_format(opts, FORMAT, &format));
  r->format = (options_format)format;
  const char *picture = options_value(opts, PLOT);
  if (picture) MD_TRY(plot_check(picture));
  const bool grid = options_value(opts, ORDER) || options_value(opts, SIZE);
  const bool stencil = options_value(opts, STENCIL), offsets = options_value(opts, OFFSETS);
  MD_REQUIRE(grid || stencil || offsets, MD_EINVAL,
             "expected --order LIST --size M, or --stencil S; see --help");
  MD_REQUIRE(!(grid && stencil) || offsets, MD_EINVAL,
             "--stencil with --order and --size needs --offsets");
  if (stencil || offsets) {
    MD_TRY(grid_require(opts, STENCIL, "--offsets needs a stencil, as block:1"));
    MD_TRY(read_stencils(r));
  }
  if (!grid && !offsets) return MD_OK;
  MD_TRY(grid_orders_read(opts, ORDER, &r->orders));
  MD_TRY(grid_size_read(opts, SIZE, r->n));
  return check_grid(r);
}

static md_status answer(request *r)
{
  MD_TRY(read_request(r));
  md_output out;
  MD_TRY(md_output_open(options_value(r->opts, OUTPUT), &out));
  r->stream = out.stream;
  md_status status = MD_OK;
  if (options_value(r->opts, OFFSETS))
    status = print_offsets(r);
  else if (r->orders.n > 0)
    print_indices(r);
  else
    print_stencils(r);
  if (status) {
    md_output_discard(&out);
    return status;
  }
  MD_TRY(md_output_close(&out));
  const char *picture = options_value(r->opts, PLOT);
  return picture ? draw(r, picture) : MD_OK;
}

md_status cmd_ordering(int argc, char **argv)
{
  options opts;
  request r = {.opts = &opts};
  md_status status = options_parse(option_table, N_OPTIONS, argc, argv, &opts);
  if (!status && opts.help)
    options_help(stdout,
                 "minimd ordering --order LIST --size M[,N,P] [options]\n"
                 "       minimd ordering --order LIST --size M --stencil S --offsets [options]\n"
                 "       minimd ordering --stencil S [options]",
                 "Where the cells of a grid lie in memory; how many cells a stencil has; how far\n"
                 "apart in memory they lie.",
                 option_table, N_OPTIONS);
  else if (!status)
    status = answer(&r);
  grid_orders_free(&r.orders);
  free(r.stencils);
  options_free(&opts);
  return status;
}
