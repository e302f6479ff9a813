/* minimd/locality/miss_plot.c - see miss_plot.h. */
#include "minimd/locality/miss_plot.h"
#include "minimd/shell/plot.h"

#include <inttypes.h>

/* Both axes are logarithmic: where orders cross, rates are small.  A rate of 0 has no place. */

/* Long curves are drawn through points that lie this factor apart: less than a pixel. */
static const double spacing = 1.003;
enum { FEW = 100 };

static void print_curve(const miss_curve *curve, FILE *gnuplot)
{
  double next = 0;
  for (int64_t k = 0; k < curve->n; k++) {
    const miss_count *c = &curve->counts[k];
    const bool drawn = curve->n <= FEW || k == curve->n - 1 || (double)c->capacity >= next;
    if (!drawn || c->misses == 0) continue;
    fprintf(gnuplot, "%" PRId64 " %.9f\n", c->capacity, (double)c->misses / (double)c->accesses);
    next = spacing * (double)c->capacity;
  }
}

md_status miss_plot(const char *path, const char *title, int n, const miss_curve *curves)
{
  plot picture;
  MD_TRY(plot_open(path, 900, 600, &picture));
  FILE *gnuplot = picture.stream;
  fputs("set", gnuplot);
  plot_title(&picture, "%s", title);
  fputs("set logscale x 2\nset logscale y 10\nset xlabel 'capacity / lines'\n"
        "set ylabel 'misses / accesses'\nset yrange [*:*]\n",
        gnuplot);
  for (int c = 0; c < n; c++) {
    fprintf(gnuplot, "$curve%d << END\n", c);
    print_curve(&curves[c], gnuplot);
    fputs("END\n", gnuplot);
  }
  for (int c = 0; c < n; c++) {
    fprintf(gnuplot, "%s $curve%d with %s lw 2 title ", c ? "," : "plot", c,
            curves[c].n <= FEW ? "linespoints" : "lines");
    plot_quoted(&picture, curves[c].name);
  }
  return plot_close(&picture);
}
