/* neighbor/neighbor_grid.c - grids of bins and their stencils. */
#include "neighbor/neighbor_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair within r_list lies within the stencil although its bins were found with rounding. */
static const double WIDEN = 1 + 1e-6;

/* How many bins an axis gets: as many as fit, or, since tiles in several pieces have larger halos,
 * a number for which a curve that jumps where it leaves the box makes few of them. */
typedef enum { BINS_THAT_FIT, BINS_IN_FOURS, BINS_OF_POWERS } bins_rule;

/* Atoms of this rank if the box is evenly dense: no atom that moves house changes that. */
static double atoms_expected(const md_atoms *atoms)
{
  const md_box part = md_atoms_part(atoms, NULL), box = md_atoms_span(atoms, NULL);
  double n = (double)atoms->n_total;
  for (int d = 0; d < 3; d++)
    n *= (part.hi[d] - part.lo[d]) / (box.hi[d] - box.lo[d]);
  return n;
}

/* Where few tiles are at work all wait for one in two pieces.  With more of them the next power of
 * two is too far away from the best size of bins. */
static bins_rule rule_for(const neighbor_spec *spec, const md_atoms *atoms)
{
  enum { FEW_ATOMS = 1 << 18 }; /* measured on an H200: 220,000 gain 6 %, 340,000 lose 2 % */
  if (spec->kind != NEIGHBOR_TILE || !ordering_has(&spec->order, ORDERING_COMPACT | ORDERING_JUMPS))
    return BINS_THAT_FIT;
  const double rounded = 1 + 1e-6; /* so that ranks of as many agree */
  return atoms_expected(atoms) <= FEW_ATOMS * rounded ? BINS_OF_POWERS : BINS_IN_FOURS;
}

/* Bins along one axis, at least one.  In fours: not one more than a multiple of four, since the
 * curve would go in and out of the last bins, a slab of one, most often. */
static double bins_along(double edge, double size, bins_rule rule)
{
  const double bins = fmax(1, floor(edge / size));
  if (rule == BINS_OF_POWERS) return exp2(round(log2(bins)));
  return rule == BINS_IN_FOURS && bins > 4 && fmod(bins, 4) == 1 ? bins - 1 : bins;
}

/* Bins of a frame along each axis, the same in all, and between two frames: whole ones, so that all
 * frames begin where a bin does, and so many that no list reaches from the ghosts of one to those
 * of the next.  In fours: a curve's pieces of 4^3 bins then lie alike in all frames. */
typedef struct {
  double frame[3], between[3], side[3];
} frame_bins;

static frame_bins divide_frames(const neighbor_list *list, const md_atoms *atoms)
{
  const neighbor_spec *spec = &list->spec;
  const bins_rule rule = rule_for(spec, atoms);
  const double gap = 2 * (fmax(atoms->r_ghost, spec->r_list) + spec->r_list);
  frame_bins to = {{0}, {0}, {0}};
  for (int d = 0; d < 3; d++) {
    const double edge = atoms->frame.hi[d] - atoms->frame.lo[d];
    to.frame[d] = bins_along(edge, spec->bin_size, rule);
    to.side[d] = edge / to.frame[d];
    if (atoms->frames[d] == 1) continue;
    to.between[d] = ceil(gap / to.side[d]);
    while (rule != BINS_THAT_FIT && fmod(to.frame[d] + to.between[d], 4) != 0)
      to.between[d]++;
  }
  return to;
}

/* Of `bins` bins along axis d of a box, those that one of several ranks needs: where its atoms are,
 * and one more on either side, since rounding may put an atom there. */
static void keep_part(const md_box *part, const md_box *span, int d, double side, double bins,
                      neighbor_grid *grid)
{
  const double near = 1e-6; /* bins: what begins so little before a bin begins there */
  const bool is_all = part->lo[d] <= span->lo[d] && part->hi[d] >= span->hi[d];
  const double first = floor((part->lo[d] - span->lo[d]) / side + near);
  const double end = ceil((part->hi[d] - span->lo[d]) / side - near);
  const double lo = is_all ? 0 : fmax(0, first - 1), hi = is_all ? bins : fmin(bins, end + 1);
  grid->first[d] = (int32_t)fmin(lo, bins - 1);
  grid->whole[d] = (int32_t)bins;
  grid->n[d] = (int32_t)fmax(1, hi - grid->first[d]) + 2 * grid->margin[d];
}

/* Of so many bins with these sides, and as many around them as the list reaches. */
static md_status make_grid(const neighbor_list *list, const double inner[3], const double side[3],
                           neighbor_grid *grid)
{
  const neighbor_spec *spec = &list->spec;
  const md_box *span = &list->span;
  double bins = 1;
  for (int d = 0; d < 3; d++) {
    const double margin = ceil(spec->r_list * WIDEN / side[d]);
    bins *= inner[d] + 2 * margin;
    MD_REQUIRE(bins < INT32_MAX, MD_ECAPACITY,
               "bins of %g in a box of %g x %g x %g make %.3g bins or more: at most %d are "
               "possible; use a larger bin size",
               spec->bin_size, span->hi[0] - span->lo[0], span->hi[1] - span->lo[1],
               span->hi[2] - span->lo[2], bins, INT32_MAX - 1);
    grid->margin[d] = (int32_t)margin;
    keep_part(&list->part, span, d, side[d], inner[d], grid);
    grid->lo[d] = span->lo[d];
    grid->side[d] = side[d];
  }
  return MD_OK;
}

/* Bins of the order, and those that neighbours are looked for in.  Tiles look in wide and flat
 * ones, whole bins of the order beside each other: what lies in one is together in memory too, and
 * a column of them comes to a halo as it lies, which spreads a row's entries evenly over the
 * banks. */
static md_status make_grids(const neighbor_list *list, const int32_t frames[3],
                            const frame_bins *bins_of, neighbor_grid *grid, neighbor_grid *near)
{
  const neighbor_spec *spec = &list->spec;
  double inner[3], side[3];
  for (int d = 0; d < 3; d++) {
    inner[d] = frames[d] * bins_of->frame[d] + (frames[d] - 1) * bins_of->between[d];
    side[d] = bins_of->side[d];
  }
  MD_TRY(make_grid(list, inner, side, grid));
  *near = *grid;
  if (spec->kind != NEIGHBOR_TILE) return MD_OK;
  for (int d = 0; d < 3; d++) {
    const double bins = d < 2 ? fmax(1, floor(2 * spec->bin_size / side[d] + 0.3)) : 0.5;
    inner[d] = ceil(inner[d] / bins);
    side[d] *= bins;
  }
  return make_grid(list, inner, side, near);
}

/* Whether a bin at this offset can hold a neighbour of an atom in the bin at its centre. */
static bool in_stencil(const neighbor_list *list, const int32_t offset[3])
{
  if (list->spec.stencil == NEIGHBOR_BLOCK) return true;
  double nearest_sq = 0;
  for (int d = 0; d < 3; d++) {
    const double gap = fmax(0, abs(offset[d]) - 1) * list->grid.side[d];
    nearest_sq += gap * gap;
  }
  const double reach = list->spec.r_list * WIDEN;
  return nearest_sq < reach * reach;
}

static md_status make_stencil(neighbor_list *list)
{
  const int32_t *m = list->grid.margin;
  const int64_t most = (2 * (int64_t)m[0] + 1) * (2 * m[1] + 1) * (2 * m[2] + 1);
  int32_t(*offset)[3] = malloc((size_t)most * sizeof *offset);
  MD_REQUIRE(offset, MD_ENOMEM, "out of memory for a stencil of %lld bins", (long long)most);
  memset(offset[0], 0, sizeof *offset);
  int32_t n = 1;
  for (int32_t i = -m[0]; i <= m[0]; i++)
    for (int32_t j = -m[1]; j <= m[1]; j++)
      for (int32_t k = -m[2]; k <= m[2]; k++) {
        const int32_t at[3] = {i, j, k};
        if ((i || j || k) && in_stencil(list, at)) memcpy(offset[n++], at, sizeof at);
      }
  const size_t bytes = (size_t)n * sizeof *offset;
  md_status status = md_buffer_reserve(list->ctx, &list->stencil, bytes, 0);
  if (!status) status = md_write(list->ctx, list->stencil.data, offset, bytes);
  if (!status) status = md_ctx_sync(list->ctx);
  free(offset);
  list->n_stencil = status ? 0 : n;
  return status;
}

md_status neighbor_set_grids(neighbor_list *list, const md_atoms *atoms)
{
  neighbor_grid grid;
  const frame_bins bins = divide_frames(list, atoms);
  double gap[3];
  for (int d = 0; d < 3; d++)
    gap[d] = bins.between[d] * bins.side[d];
  MD_TRY(neighbor_set_positions(list, atoms, gap));
  MD_TRY(make_grids(list, atoms->frames, &bins, &grid, &list->near));
  const bool same = list->n_stencil > 0 && memcmp(grid.n, list->grid.n, sizeof grid.n) == 0 &&
                    memcmp(grid.margin, list->grid.margin, sizeof grid.margin) == 0 &&
                    memcmp(grid.side, list->grid.side, sizeof grid.side) == 0;
  list->grid = grid;
  return same ? MD_OK : make_stencil(list);
}
