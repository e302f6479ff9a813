/* minimd/stokes/gspmv_report.c - see gspmv_report.h. */
#include "minimd/stokes/gspmv_report.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"

static void print_rows(const gspmv_table *all, table *t)
{
  for (int k = 0; k < all->n; k++) {
    const gspmv_row *row = &all->row[k];
    table_text(t, all->matrix);
    table_text(t, md_backend_words[all->backend]);
    table_integer(t, all->shape.n_rows);
    table_integer(t, all->shape.n_blocks);
    table_integer(t, row->m);
    table_real(t, row->seconds);
    table_real(t, 1e-9 * row->bytes / row->seconds);
    table_real(t, 18e-9 * row->m * (double)all->shape.n_blocks / row->seconds);
    table_real(t, row->seconds / all->one);
    table_real(t, row->model);
    table_real(t, row->error);
  }
}

/* Then no memory limits its products. */
static bool fits_cache(const gspmv_table *all)
{
  return all->shape.product_bytes <= (double)all->cache;
}

static void print_notes(const void *report, FILE *stream)
{
  const gspmv_table *all = report;
  if (fits_cache(all))
    fprintf(stream,
            "the matrix (%.3g MB) fits the last-level cache (%.3g MB): rates are not those of "
            "memory\n",
            1e-6 * all->shape.product_bytes, 1e-6 * (double)all->cache);
  fputs("products by ranges of columns:", stream);
  for (int k = 0; k < all->n; k++) {
    const gspmv_row *row = &all->row[k];
    fprintf(stream, "%s %d", k ? "," : "", row->m);
    if (row->columns > row->m) fprintf(stream, " stored in %d", row->columns);
    fprintf(stream, " as %s", row->parts);
  }
  fputc('\n', stream);
}

static void print_json_notes(const void *report, md_json *json)
{
  const gspmv_table *all = report;
  md_json_open(json, "compositions", '[');
  for (int k = 0; k < all->n; k++) {
    md_json_open(json, NULL, '{');
    md_json_integer(json, "vectors", all->row[k].m);
    md_json_integer(json, "columns", all->row[k].columns);
    md_json_string(json, "parts", all->row[k].parts);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
  md_json_open(json, "cache", '{');
  md_json_integer(json, "bytes", all->cache);
  md_json_number(json, "matrix_bytes", all->shape.product_bytes);
  md_json_bool(json, "fits", fits_cache(all));
  md_json_close(json, '}');
}

void gspmv_table_print(const gspmv_table *all, FILE *stream)
{
  static const table_column columns[] = {{"matrix", -8, 0},       {"backend", -7, 0},
                                         {"block_rows", 10, 0},   {"blocks", 10, 0},
                                         {"vectors", 7, 0},       {"time_s", 12, 9},
                                         {"gb_per_s", 9, 3},      {"gflop_per_s", 9, 3},
                                         {"relative_time", 9, 4}, {"model_relative_time", 9, 4},
                                         {"error", 12, 18}};
  table t;
  table_begin(&t, stream, all->format, "gspmv", all->opts, columns, 11);
  print_rows(all, &t);
  static const table_notes notes = {print_notes, print_json_notes};
  table_end_with(&t, &notes, all, all->quiet);
}

md_status gspmv_table_plot(const gspmv_table *all, const char *path)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  char machine_name[128];
  provenance_machine(all->backend, machine_name, sizeof machine_name);
  fputs("set", picture.stream);
  plot_title(&picture, "%s, products with m vectors on %s", all->matrix, machine_name);
  fputs("set xlabel 'vectors m'\nset ylabel 'time of m vectors / time of one'\n"
        "plot '-' with linespoints pt 7 title 'measured', "
        "'-' with lines dt 2 title 'model'\n",
        picture.stream);
  for (int k = 0; k < all->n; k++)
    fprintf(picture.stream, "%d %.9g\n", all->row[k].m, all->row[k].seconds / all->one);
  fputs("e\n", picture.stream);
  for (int k = 0; k < all->n; k++)
    fprintf(picture.stream, "%d %.9g\n", all->row[k].m, all->row[k].model);
  fputs("e\n", picture.stream);
  return plot_close(&picture);
}
