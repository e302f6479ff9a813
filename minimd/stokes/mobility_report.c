/* minimd/stokes/mobility_report.c - see mobility_report.h. */
#include "minimd/stokes/mobility_report.h"
#include "minimd/shell/plot.h"
#include "minimd/shell/provenance.h"
#include "minimd/shell/table.h"

#include <inttypes.h>

static double total(const mobility_row *row)
{
  return row->near + row->far;
}

static void print_rows(const mobility_table *all, table *t)
{
  for (int k = 0; k < all->n; k++) {
    const mobility_row *row = &all->row[k];
    const rpy_split *split = &row->report.split;
    const int32_t *mesh = split->mesh;
    char edges[48];
    if (mesh[0] == mesh[1] && mesh[1] == mesh[2])
      snprintf(edges, sizeof edges, "%d", mesh[0]);
    else
      snprintf(edges, sizeof edges, "%dx%dx%d", mesh[0], mesh[1], mesh[2]);
    table_integer(t, row->report.n);
    table_integer(t, row->vectors);
    table_real(t, row->tolerance);
    table_real(t, split->xi);
    table_real(t, split->cut);
    table_text(t, edges);
    table_integer(t, split->order);
    table_integer(t, split->rank);
    table_real(t, row->near);
    table_real(t, row->far);
    table_real(t, total(row));
    table_real(t, total(row) / row->vectors);
    table_real(t, row->error);
  }
}

/* The fastest row with so many vectors. */
static int best_of(const mobility_table *all, int vectors)
{
  int best = -1;
  for (int k = 0; k < all->n; k++)
    if (all->row[k].vectors == vectors &&
        (best < 0 || total(&all->row[k]) < total(&all->row[best])))
      best = k;
  return best;
}

static void print_notes(const void *report, FILE *stream)
{
  const mobility_table *all = report;
  for (int k = 0; k < all->n; k++) {
    const mobility_row *row = &all->row[k];
    const rpy_report *r = &row->report;
    const bool best = best_of(all, row->vectors) == k;
    if (all->map && !best) continue;
    fprintf(stream,
            "m = %d%s: xi %.4g, %.1f blocks a row; expected %.3g s near and %.3g s far, error "
            "%.2g (near %.2g, mesh %.2g, radii %.2g); spheres set in %.3g s\n",
            row->vectors, all->map ? ", fastest of its splits" : "", r->split.xi, r->blocks,
            r->expected.near, r->expected.far, r->error, r->near_error, r->mesh_error,
            r->rank_error, row->set);
    fprintf(stream, "  why: %s; %s precision\n", r->reason, r->single ? "single" : "double");
    if (row->direct_spheres)
      fprintf(stream, "  straight sum for %" PRId64 " spheres: %.3g s\n", row->direct_spheres,
              row->direct);
  }
}

static void print_json_notes(const void *report, md_json *json)
{
  const mobility_table *all = report;
  md_json_open(json, "choices", '[');
  for (int k = 0; k < all->n; k++) {
    const rpy_report *r = &all->row[k].report;
    md_json_open(json, NULL, '{');
    md_json_integer(json, "vectors", all->row[k].vectors);
    md_json_string(json, "reason", r->reason);
    md_json_string(json, "precision", r->single ? "single" : "double");
    md_json_bool(json, "fastest", best_of(all, all->row[k].vectors) == k);
    md_json_number(json, "blocks_per_row", r->blocks);
    md_json_number(json, "set_s", all->row[k].set);
    md_json_number(json, "expected_near_s", r->expected.near);
    md_json_number(json, "expected_far_s", r->expected.far);
    md_json_number(json, "expected_set_s", r->expected.set);
    md_json_number(json, "expected_error", r->error);
    md_json_integer(json, "bytes", r->bytes);
    md_json_number(json, "straight_sum_s", all->row[k].direct);
    md_json_integer(json, "straight_sum_spheres", all->row[k].direct_spheres);
    md_json_close(json, '}');
  }
  md_json_close(json, ']');
}

void mobility_table_print(const mobility_table *all, FILE *stream)
{
  static const table_column columns[] = {
      {"particles", 9, 0}, {"vectors", 7, 0}, {"tolerance", 9, -3}, {"xi", 9, -5},
      {"cut", 9, -5},      {"mesh", -11, 0},  {"order", 5, 0},      {"rank", 4, 0},
      {"near_s", 11, -5},  {"far_s", 11, -5}, {"total_s", 11, -5},  {"per_vector_s", 12, -5},
      {"error", 10, -4}};
  table t;
  table_begin(&t, stream, all->format, "mobility", all->opts, columns, 13);
  print_rows(all, &t);
  static const table_notes notes = {print_notes, print_json_notes};
  table_end_with(&t, &notes, all, all->quiet);
}

/* A curve for each number of vectors, along xi. */
static void draw_map(const mobility_table *all, FILE *gnuplot)
{
  fputs(
      "set logscale xy\nset xlabel 'splitting parameter xi'\nset ylabel 'seconds a vector'\nplot ",
      gnuplot);
  for (int k = 0; k < all->n; k++)
    if (k == 0 || all->row[k].vectors != all->row[k - 1].vectors)
      fprintf(gnuplot, "%s'-' with linespoints pt 7 title '%d vectors'", k ? ", " : "",
              all->row[k].vectors);
  fputc('\n', gnuplot);
  for (int k = 0; k < all->n; k++) {
    const mobility_row *row = &all->row[k];
    fprintf(gnuplot, "%.9g %.9g\n", row->report.split.xi, total(row) / row->vectors);
    if (k + 1 == all->n || row->vectors != all->row[k + 1].vectors) fputs("e\n", gnuplot);
  }
}

static void draw_vectors(const mobility_table *all, FILE *gnuplot)
{
  fputs("set xlabel 'vectors'\nset ylabel 'seconds a vector'\nset y2label 'xi'\nset ytics "
        "nomirror\nset y2tics\nset yrange [0:]\nplot '-' with linespoints pt 7 title "
        "'measured', '-' with lines dt 2 title 'expected', '-' axes x1y2 with linespoints pt 6 "
        "title 'xi (right)'\n",
        gnuplot);
  for (int what = 0; what < 3; what++) {
    for (int k = 0; k < all->n; k++) {
      const mobility_row *row = &all->row[k];
      const rpy_report *r = &row->report;
      const double times[] = {total(row), r->expected.near + r->expected.far};
      fprintf(gnuplot, "%d %.9g\n", row->vectors,
              what == 2 ? r->split.xi : times[what] / row->vectors);
    }
    fputs("e\n", gnuplot);
  }
}

md_status mobility_table_plot(const mobility_table *all, const char *path)
{
  plot picture;
  char machine[128];
  MD_TRY(plot_open(path, 900, 600, &picture));
  provenance_machine(all->backend, machine, sizeof machine);
  fputs("set", picture.stream);
  plot_title(&picture, "mobility of %" PRId64 " spheres, tolerance %g, on %s", all->row->report.n,
             all->row->tolerance, machine);
  (all->map ? draw_map : draw_vectors)(all, picture.stream);
  return plot_close(&picture);
}
