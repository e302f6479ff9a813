/* spread/cpu/spread_tiles.c - the blocks of cells that CPU threads work on, and their colours.
 *
 * Along an axis of K cells, n tiles share them as evenly as they can: tile t begins at cell
 * floor(t K / n).  Its particles reach p - 1 cells further, that is r = ceil((p - 1) / smallest)
 * tiles.  Tiles t and t + r + 1 have no point in common, so the axis needs r + 1 colours, and one
 * more for each tile left over where the ring of tiles closes. */
#include "spread/spread_impl.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 8 }; /* cells of a tile along the two slow axes */

static int32_t tile_count(const spread_grid *grid, int axis)
{
  const int32_t reach = grid->order - 1;
  const int32_t cells = axis == 2 ? SPREAD_ROW - reach : reach > EDGE ? reach : EDGE;
  return (grid->mesh[axis] + cells - 1) / cells;
}

static md_status cut_axis(const spread_grid *grid, int axis, spread_tiles *tiles)
{
  const int64_t cells = grid->mesh[axis], n = tiles->n[axis];
  int32_t *first = malloc((size_t)(n + 1) * sizeof *first);
  int32_t *of_cell = malloc((size_t)cells * sizeof *of_cell);
  tiles->first[axis] = first;
  tiles->of_cell[axis] = of_cell;
  MD_REQUIRE(first && of_cell, MD_ENOMEM, "out of memory for %lld tiles", (long long)n);
  for (int64_t t = 0; t <= n; t++)
    first[t] = (int32_t)(t * cells / n);
  for (int32_t t = 0; t < (int32_t)n; t++)
    for (int32_t c = first[t]; c < first[t + 1]; c++)
      of_cell[c] = t;
  return MD_OK;
}

/* Tiles of an axis that one colour may repeat after. */
static int32_t period(const spread_grid *grid, const spread_tiles *tiles, int axis)
{
  const int32_t smallest = grid->mesh[axis] / tiles->n[axis];
  return (grid->order - 1 + smallest - 1) / smallest + 1;
}

static int32_t axis_colours(int32_t n, int32_t after)
{
  return n < after ? n : after + n % after;
}

static int32_t axis_colour(int32_t t, int32_t n, int32_t after)
{
  const int32_t whole = n - n % after;
  return t < whole ? t % after : (whole ? after : 0) + t - whole;
}

md_status spread_tiles_create(const spread_grid *grid, spread_tiles *tiles)
{
  memset(tiles, 0, sizeof *tiles);
  int32_t after[3], colours[3];
  for (int a = 0; a < 3; a++) {
    tiles->n[a] = tile_count(grid, a);
    MD_TRY(cut_axis(grid, a, tiles));
    after[a] = period(grid, tiles, a);
    colours[a] = axis_colours(tiles->n[a], after[a]);
  }
  const int32_t *n = tiles->n;
  const int64_t count = (int64_t)n[0] * n[1] * n[2];
  tiles->n_colours = colours[0] * colours[1] * colours[2];
  int32_t *start = calloc((size_t)tiles->n_colours + 2, sizeof *start);
  int32_t *by_colour = malloc((size_t)count * sizeof *by_colour);
  int32_t *colour = malloc((size_t)count * sizeof *colour);
  tiles->colour_start = start;
  tiles->by_colour = by_colour;
  if (!start || !by_colour || !colour) {
    free(colour);
    return MD_FAIL(MD_ENOMEM, "out of memory for %lld tiles", (long long)count);
  }
  for (int32_t t = 0; t < (int32_t)count; t++) {
    const int32_t at[3] = {t / (n[1] * n[2]), t / n[2] % n[1], t % n[2]};
    colour[t] = 0;
    for (int a = 0; a < 3; a++)
      colour[t] = colour[t] * colours[a] + axis_colour(at[a], n[a], after[a]);
    start[colour[t] + 2]++;
  }
  for (int32_t c = 0; c < tiles->n_colours; c++)
    start[c + 2] += start[c + 1];
  for (int32_t t = 0; t < (int32_t)count; t++)
    by_colour[start[colour[t] + 1]++] = t;
  free(colour);
  return MD_OK;
}

void spread_tiles_destroy(spread_tiles *tiles)
{
  for (int a = 0; a < 3; a++) {
    free(tiles->first[a]);
    free(tiles->of_cell[a]);
  }
  free(tiles->colour_start);
  free(tiles->by_colour);
}
