/* stokes/pairs/pairs_impl.h - what a backend provides to pairs.c. */
#ifndef STOKES_PAIRS_IMPL_H
#define STOKES_PAIRS_IMPL_H

#include "ordering/ordering.h"
#include "stokes/pairs/pairs.h"
#include "stokes/pairs/search.h"

MD_BEGIN_C

struct stokes_pairs {
  md_ctx *ctx;
  search_grid grid;
  double reach; /* largest |x| of the last build */
  int64_t n, n_entries, builds;
  md_buffer built;           /* double [n][4]: the spheres of the last build */
  md_buffer start, neighbor; /* the list */
  md_buffer scratch;
  md_buffer scan_status; /* GPU only: the scan's (core/gpu/scan_gpu.h) */
  uint32_t round;
  double jumps;   /* GPU only: spheres far from the one before them */
  bool along;     /* few are: spheres follow a curve (curve_gpu.h) */
  int64_t chunks; /* of 32 spheres that were tested against 32 rows the last time, there */
  /* While a list is built, in *space, which is `own` or was lent: [n], [n], [n_cells + 1], and more
   * on a GPU; the CPU's. */
  md_buffer own, *space;
  uint32_t *key;
  int32_t *order, *cell_start;
  ordering_sorter *sorter;
  int64_t *share; /* CPU: [2][ranks + 1], rows and entries of ranks; NULL: one has all */
};

/* Smallest and largest radius and the largest |x|; not finite if a value is not.  jumps: on a GPU,
 * how many spheres are far from the one before them. */
typedef struct {
  double radius_min, radius_max, reach, jumps;
} pairs_extent;
typedef md_status pairs_extent_fn(stokes_pairs *pairs, const stokes_view *spheres,
                                  pairs_extent *out);
/* Largest squared distance that a sphere moved since the last build. */
typedef md_status pairs_moved_fn(stokes_pairs *pairs, const stokes_view *spheres, double *out);
/* Spheres by cell, in any order within one: order and cell_start, and key[i], the cell of sphere
 * i. */
typedef md_status pairs_sort_fn(stokes_pairs *pairs, const stokes_view *spheres);
/* Count, scan and fill the rows. */
typedef md_status pairs_rows_fn(stokes_pairs *pairs, const stokes_view *spheres);

typedef struct {
  pairs_extent_fn *extent;
  pairs_moved_fn *moved;
  pairs_sort_fn *sort;
  pairs_rows_fn *rows;
  int fine; /* so many cells along the last axis for one along the others */
} pairs_backend;
extern const pairs_backend pairs_cpu, pairs_gpu;

/* All ranks have the same spheres on the CPU and make the list together from now on, each an equal
 * share of its rows; all get all of it.  Updates are called by all of them.  With one rank this
 * changes nothing.  Errors: MD_ENOMEM. */
md_status pairs_share(stokes_pairs *pairs);

/* On a GPU, of spheres that follow a curve: whether they do, and rows without cells. */
bool pairs_curve_may(const stokes_pairs *pairs, int64_t n);
pairs_rows_fn pairs_curve_rows;
/* Room for the entries that there are. */
md_status pairs_gpu_make_room(stokes_pairs *pairs);

/* Room for key, order and cell_start, with `more` numbers behind them. */
static inline md_status pairs_reserve(stokes_pairs *pairs, int64_t n, int64_t more)
{
  const int64_t numbers = 2 * n + pairs->grid.n_cells + 1 + more;
  MD_TRY(md_buffer_reserve(pairs->ctx, pairs->space, (size_t)numbers * sizeof *pairs->order, 0));
  pairs->key = (uint32_t *)pairs->space->data;
  pairs->order = (int32_t *)pairs->key + n;
  pairs->cell_start = pairs->order + n;
  return MD_OK;
}

MD_END_C
#endif
