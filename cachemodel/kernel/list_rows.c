/* cachemodel/kernel/list_rows.c - rows as the GPU's builder writes them, from a full list of the
 * CPU.
 *
 * The CPU's rows hold the same neighbours, in slices of vectors and in the order of tiles.  Here
 * each atom's row is looked up and put in the order of bins: the rank of atoms and ghosts when
 * sorted by bin (stable), which is the order in which the GPU's builder meets them.  Memory: 12
 * bytes an atom or ghost. */
#include "cachemodel/kernel/list_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list_rows {
  const neighbor_view *view;
  neighbor_kind kind;
  bool newton;
  int32_t n;
  const int32_t *shift; /* of ghosts */
  int32_t *row_of;      /* [n] row of an atom */
  int32_t *rank;        /* [n + n_ghost] */
  int32_t *place;       /* [n + n_ghost] its inverse */
  int32_t *entry;       /* [room] of the row asked for last */
  int32_t room;
};

/* Bin of a coordinate along an axis in the arithmetic of the GPU's builder, so that what lies on a
 * face of two bins falls into the same one (neighbor/gpu/bins_gpu.h). */
#define BIN_ALONG(name, state, floor)                                                              \
  static int64_t name(const neighbor_grid *grid, int d, state x)                                   \
  {                                                                                                \
    const state origin = (state)(grid->lo[d] - grid->margin[d] * grid->side[d]);                   \
    const state at = floor((x - origin) * (state)(1 / grid->side[d]));                             \
    if (!(at >= 0)) return 0;                                                                      \
    return at < (state)grid->n[d] ? (int64_t)at : grid->n[d] - 1;                                  \
  }
BIN_ALONG(bin_along_single, float, floorf)
BIN_ALONG(bin_along_double, double, floor)
#undef BIN_ALONG

/* Bins of atoms and ghosts when the list was built. */
static void find_bins(const list_input *in, int64_t all, uint32_t *key)
{
  const neighbor_grid *grid = neighbor_list_grid(in->list);
  const bool single = in->atoms->ctx->precision == MD_SINGLE;
  const void *x = in->built ? in->built : neighbor_list_positions(in->list, in->atoms);
  for (int64_t i = 0; i < all; i++) {
    int64_t bin = 0;
    for (int d = 0; d < 3; d++)
      bin = bin * grid->n[d] + (single ? bin_along_single(grid, d, ((const float *)x)[4 * i + d])
                                       : bin_along_double(grid, d, ((const double *)x)[4 * i + d]));
    key[i] = (uint32_t)bin;
  }
}

static md_status sort_by_bin(const list_input *in, list_rows *r)
{
  const neighbor_grid *grid = neighbor_list_grid(in->list);
  const int64_t all = in->atoms->n + in->atoms->n_ghost;
  const int64_t bins = (int64_t)grid->n[0] * grid->n[1] * grid->n[2];
  ordering_sorter *sorter;
  MD_TRY(ordering_sorter_create(in->atoms->ctx, &sorter));
  uint32_t *key = (uint32_t *)r->rank; /* read before rank is written */
  find_bins(in, all, key);
  const md_status status = ordering_sort(sorter, all, key, (uint32_t)bins, r->place, NULL);
  ordering_sorter_destroy(sorter);
  MD_TRY(status);
  for (int64_t k = 0; k < all; k++)
    r->rank[r->place[k]] = (int32_t)k;
  return MD_OK;
}

md_status list_rows_open(const list_input *in, const list_kernel *kernel, list_rows **out)
{
  *out = NULL;
  const neighbor_view *view = neighbor_list_view(in->list);
  MD_REQUIRE(view->kind == NEIGHBOR_FULL && in->atoms->ctx->backend == MD_CPU, MD_EINVAL,
             "the GPU's lists are modelled from a full list of the CPU");
  list_rows *r = calloc(1, sizeof *r);
  MD_REQUIRE(r, MD_ENOMEM, "out of memory for a list trace");
  const size_t all = (size_t)(in->atoms->n + in->atoms->n_ghost);
  *r = (list_rows){
      view, kernel->kind, kernel->newton, (int32_t)in->atoms->n, NULL, NULL, NULL, NULL, NULL, 0};
  r->shift = in->atoms->shift.data;
  r->row_of = malloc((size_t)r->n * sizeof *r->row_of);
  r->rank = malloc(all * sizeof *r->rank);
  r->place = malloc(all * sizeof *r->place);
  md_status status = r->row_of && r->rank && r->place
                         ? sort_by_bin(in, r)
                         : MD_FAIL(MD_ENOMEM, "out of memory for a list trace");
  if (status) {
    list_rows_close(r);
    return status;
  }
  for (int32_t row = 0; row < r->n; row++)
    r->row_of[view->atom ? view->atom[row] : row] = row;
  *out = r;
  return MD_OK;
}

void list_rows_close(list_rows *r)
{
  if (!r) return;
  free(r->row_of);
  free(r->rank);
  free(r->place);
  free(r->entry);
  free(r);
}

/* Whether the GPU's builder keeps j in the row of i. */
static bool is_kept(const list_rows *r, int32_t i, int32_t j)
{
  if (r->kind == NEIGHBOR_FULL) return true;
  if (j >= r->n) return !r->newton || r->shift[j - r->n] > 0;
  return (j > i) != ((j ^ i) & 1);
}

md_status list_rows_of(list_rows *r, int32_t i, const int32_t **entry, int32_t *n)
{
  const neighbor_view *view = r->view;
  const int64_t row = r->row_of[i], width = view->width;
  const int32_t *from = view->nbr + view->start[row / width] + row % width;
  const int32_t count = view->count[row];
  if (count > r->room) {
    int32_t *more = realloc(r->entry, (size_t)count * 2 * sizeof *more);
    MD_REQUIRE(more, MD_ENOMEM, "out of memory for a row of %d neighbours", count);
    r->entry = more;
    r->room = 2 * count;
  }
  int32_t found = 0;
  for (int32_t k = 0; k < count; k++) {
    const int32_t j = from[k * width];
    if (!is_kept(r, i, j)) continue;
    /* Rows come nearly in order: insertion is fast. */
    const int32_t rank = r->rank[j];
    int32_t at = found++;
    for (; at > 0 && r->entry[at - 1] > rank; at--)
      r->entry[at] = r->entry[at - 1];
    r->entry[at] = rank;
  }
  for (int32_t k = 0; k < found; k++)
    r->entry[k] = r->place[r->entry[k]];
  *entry = r->entry;
  *n = found;
  return MD_OK;
}
