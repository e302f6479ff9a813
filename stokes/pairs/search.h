/* stokes/pairs/search.h - the spheres near one sphere, in cells by size class.
 *
 * Spheres of similar size form a class; each class has its own grid over the periodic box, with
 * cells about as wide as its spheres reach.  A sphere looks into the grid of every class as far as
 * the largest sphere there can touch it, so that small spheres never pay for the reach of large
 * ones.  All grids are numbered one after the other: cell c holds the spheres
 * order[start[c] .. start[c + 1]).  Host and device code. */
#ifndef STOKES_SEARCH_H
#define STOKES_SEARCH_H

#include <math.h>

#include "core/md.h"

/* Classes span a factor of 1.5 in radius, or more where that would make more of them. */
enum { SEARCH_CLASSES = 16 };

typedef struct {
  double radius; /* of the largest sphere; 0: the class is empty */
  int32_t cells[3];
  int32_t first; /* number of its first cell */
} search_class;

typedef struct {
  search_class classes[SEARCH_CLASSES];
  int n_classes;
  int32_t n_cells;
  double radius_min, inv_log_ratio; /* class = log(a / radius_min) * inv_log_ratio */
  double box[3];
  double scale, skin; /* reach: scale (a_i + a_j) + skin */
} search_grid;

/* So many cells along each edge as are wanted, but at most `most` in all: a box may be a needle. */
static inline void search_cells(const double *want, double most, int32_t *cells)
{
  for (int d = 0; d < 3; d++) {
    cells[d] = (int32_t)fmax(fmin(want[d], most), 1);
    most /= cells[d];
  }
}

MD_INLINE int search_class_of(const search_grid *g, double radius)
{
  const int c = (int)(log(radius / g->radius_min) * g->inv_log_ratio);
  return c < g->n_classes ? c : g->n_classes - 1;
}

/* Coordinate within 0 <= x < edge, also where rounding of a far one leaves that range. */
MD_INLINE double search_wrap(double x, double edge)
{
  const double wrapped = x - edge * floor(x / edge);
  return wrapped >= 0 && wrapped < edge ? wrapped : 0;
}

MD_INLINE int32_t search_cell(const search_grid *g, const double *x)
{
  const search_class *c = &g->classes[search_class_of(g, x[3])];
  int32_t cell = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t k = (int32_t)(search_wrap(x[d], g->box[d]) / g->box[d] * c->cells[d]);
    cell = cell * c->cells[d] + (k < c->cells[d] ? k : c->cells[d] - 1);
  }
  return c->first + cell;
}

/* Vector from b to the nearest image of a; exactly opposite when a and b change places. */
MD_INLINE double search_difference(double a, double b, double edge)
{
  const double d = a - b;
  return d - edge * rint(d * (1 / edge)); /* the inverse is the same for many */
}

MD_INLINE double search_distance_sq(const double *box, const double *a, const double *b)
{
  const double dx = search_difference(a[0], b[0], box[0]);
  const double dy = search_difference(a[1], b[1], box[1]);
  const double dz = search_difference(a[2], b[2], box[2]);
  return dx * dx + dy * dy + dz * dz;
}

/* Cells lo..hi of one axis that a reach around x touches; each cell once, hi may exceed the grid.
 */
MD_INLINE void search_range(double x, double reach, double edge, int32_t cells, int32_t *lo,
                            int32_t *hi)
{
  const double width = edge / cells, at = search_wrap(x, edge);
  *lo = (int32_t)floor((at - reach) / width);
  *hi = (int32_t)floor((at + reach) / width);
  if (*hi - *lo + 1 > cells) {
    *lo = 0;
    *hi = cells - 1;
  } else if (*lo < 0) {
    *lo += cells;
    *hi += cells;
  }
}

/* Where neighbours go, one after the other: on a GPU those of all lanes that share a list. */
typedef struct {
  int32_t *out, *count; /* count: how many are there */
} search_list;

MD_INLINE void search_put(const search_list *list, int32_t j)
{
#ifdef __CUDA_ARCH__
  list->out[atomicAdd(list->count, 1)] = j;
#else
  list->out[(*list->count)++] = j;
#endif
}

/* Neighbours of sphere i in one cell; put into the list unless that is NULL.  Returns how many. */
MD_INLINE int32_t search_in_cell(const search_grid *g, const double *x, const int32_t *start,
                                 const int32_t *order, int64_t i, int32_t cell,
                                 const search_list *list)
{
  int32_t found = 0;
  for (int32_t k = start[cell]; k < start[cell + 1]; k++) {
    const int64_t j = order[k];
    const double reach = g->scale * (x[4 * i + 3] + x[4 * j + 3]) + g->skin;
    if (j == i || search_distance_sq(g->box, x + 4 * i, x + 4 * j) >= reach * reach) continue;
    if (list) search_put(list, (int32_t)j);
    found++;
  }
  return found;
}

/* Cells lo..hi of a class, along each axis, that a sphere at x touches. */
MD_INLINE void search_window(const search_grid *g, const search_class *c, const double *x,
                             int32_t *lo, int32_t *hi)
{
  const double reach = g->scale * (x[3] + c->radius) + g->skin;
  for (int d = 0; d < 3; d++)
    search_range(x[d], reach, g->box[d], c->cells[d], &lo[d], &hi[d]);
}

/* Neighbours of sphere i in the cells lo..hi of a class along the last axis, at (a, b). */
MD_INLINE int32_t search_run(const search_grid *g, const search_class *c, const double *x,
                             const int32_t *start, const int32_t *order, int64_t i, int32_t a,
                             int32_t b, int32_t lo, int32_t hi, const search_list *list)
{
  const int32_t first = c->first + (a % c->cells[0] * c->cells[1] + b % c->cells[1]) * c->cells[2];
  int32_t found = 0;
  for (int32_t e = lo; e <= hi; e++)
    found += search_in_cell(g, x, start, order, i, first + e % c->cells[2], list);
  return found;
}

/* All neighbours of sphere i: r < scale (a_i + a_j) + skin, in runs `from`, from + step, ... of all
 * its runs of cells; 0 and 1 for all of them.  x [n][4]: centres and radii. */
MD_INLINE int32_t search_row(const search_grid *g, const double *x, const int32_t *start,
                             const int32_t *order, int64_t i, int32_t from, int32_t step,
                             const search_list *list)
{
  int32_t found = 0, run = from;
  for (int k = 0; k < g->n_classes; k++) {
    const search_class *c = &g->classes[k];
    if (!(c->radius > 0)) continue;
    int32_t lo[3], hi[3];
    search_window(g, c, x + 4 * i, lo, hi);
    const int32_t tall = hi[1] - lo[1] + 1, runs = (hi[0] - lo[0] + 1) * tall;
    for (; run < runs; run += step)
      found += search_run(g, c, x, start, order, i, lo[0] + run / tall, lo[1] + run % tall, lo[2],
                          hi[2], list);
    run -= runs;
  }
  return found;
}

/* Ascending, in place; rows are short and almost sorted when the spheres lie along a curve. */
MD_INLINE void search_sort(int32_t *row, int32_t n)
{
  for (int32_t k = 1; k < n; k++) {
    const int32_t item = row[k];
    int32_t at = k;
    for (; at > 0 && row[at - 1] > item; at--)
      row[at] = row[at - 1];
    row[at] = item;
  }
}

#endif
