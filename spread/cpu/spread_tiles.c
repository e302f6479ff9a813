/* spread/cpu/spread_tiles.c - the tiles of cells that CPU threads work on, in blocks of one tile or
 * more, and the colours of blocks.
 *
 * Along an axis of K cells, n tiles share them as evenly as they can: tile t begins at cell
 * floor(t K / n).  Particles reach p - 1 cells further, that is r = ceil((p - 1) / smallest)
 * blocks.  Blocks t and t + r + 1 have no point in common, so the axis needs r + 1 colours, and one
 * more for each block left over where the ring of blocks closes.
 *
 * A tile of 8 x 8 x 11 cells adds to 13 x 13 x 16 points (p = 6), 3.8 times as many as its cells.
 * Those of a large mesh come from memory unless a neighbour has just been there. */
#include "spread/spread_impl.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 8 }; /* cells of a tile along the two slow axes */
/* Meshes of so many points have blocks of more than one tile, of which so many can be worked on at
 * once. */
enum { BLOCKS_FROM = 1 << 19, AT_ONCE = 32 };

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

/* Blocks of tiles along an axis. */
typedef struct {
  int32_t edge, n; /* tiles of a block, the last of fewer; blocks */
  int32_t period;  /* blocks after which a colour may come again */
  int32_t colours;
} axis_blocks;

static axis_blocks cut_blocks(const spread_grid *grid, const spread_tiles *tiles, int axis,
                              int32_t edge)
{
  const int32_t n = tiles->n[axis], last = n % edge ? n % edge : edge;
  const int32_t smallest = grid->mesh[axis] / n * last;
  axis_blocks b = {.edge = edge, .n = (n + edge - 1) / edge};
  b.period = (grid->order - 1 + smallest - 1) / smallest + 1;
  b.colours = b.n < b.period ? b.n : b.period + b.n % b.period;
  return b;
}

static int32_t colour_along(const axis_blocks *b, int32_t at)
{
  const int32_t whole = b->n - b->n % b->period;
  return at < whole ? at % b->period : (whole ? b->period : 0) + at - whole;
}

/* Blocks of a colour, at least. */
static int32_t at_once(const axis_blocks b[3])
{
  return b[0].n / b[0].colours * (b[1].n / b[1].colours) * (b[2].n / b[2].colours);
}

/* Rows of tiles, and as many rows as leave work for many threads. */
static void choose_blocks(const spread_grid *grid, const spread_tiles *tiles, axis_blocks b[3])
{
  for (int a = 0; a < 3; a++)
    b[a] = cut_blocks(grid, tiles, a, 1);
  axis_blocks more[3] = {b[0], b[1], cut_blocks(grid, tiles, 2, tiles->n[2])};
  if (grid->points < BLOCKS_FROM) return;
  while (at_once(more) >= AT_ONCE) {
    memcpy(b, more, sizeof more);
    const int a = more[1].edge > more[0].edge ? 0 : 1;
    more[a] = cut_blocks(grid, tiles, a, 2 * more[a].edge);
  }
}

static int32_t colour_of(const axis_blocks b[3], const int32_t at[3])
{
  int32_t colour = 0;
  for (int a = 0; a < 3; a++)
    colour = colour * b[a].colours + colour_along(&b[a], at[a]);
  return colour;
}

/* The tiles of a block, row by row; returns how many. */
static int32_t list_tiles(const spread_tiles *tiles, const axis_blocks b[3], const int32_t at[3],
                          int32_t *list)
{
  const int32_t *n = tiles->n;
  int32_t count = 0, begin[3], end[3];
  for (int a = 0; a < 3; a++) {
    begin[a] = at[a] * b[a].edge;
    end[a] = begin[a] + b[a].edge < n[a] ? begin[a] + b[a].edge : n[a];
  }
  for (int32_t i = begin[0]; i < end[0]; i++)
    for (int32_t j = begin[1]; j < end[1]; j++)
      for (int32_t k = begin[2]; k < end[2]; k++)
        list[count++] = (i * n[1] + j) * n[2] + k;
  return count;
}

md_status spread_tiles_create(const spread_grid *grid, spread_tiles *tiles)
{
  memset(tiles, 0, sizeof *tiles);
  axis_blocks b[3];
  for (int a = 0; a < 3; a++) {
    tiles->n[a] = tile_count(grid, a);
    MD_TRY(cut_axis(grid, a, tiles));
  }
  choose_blocks(grid, tiles, b);
  const int64_t count = (int64_t)tiles->n[0] * tiles->n[1] * tiles->n[2];
  const int32_t n_blocks = b[0].n * b[1].n * b[2].n;
  tiles->n_colours = b[0].colours * b[1].colours * b[2].colours;
  tiles->colour_start = calloc((size_t)tiles->n_colours + 1, sizeof *tiles->colour_start);
  tiles->block_start = calloc((size_t)n_blocks + 1, sizeof *tiles->block_start);
  tiles->by_block = malloc((size_t)count * sizeof *tiles->by_block);
  MD_REQUIRE(tiles->colour_start && tiles->block_start && tiles->by_block, MD_ENOMEM,
             "out of memory for %lld tiles", (long long)count);
  int32_t blocks = 0, listed = 0;
  for (int32_t c = 0; c < tiles->n_colours; c++) {
    for (int32_t k = 0; k < n_blocks; k++) {
      const int32_t at[3] = {k / b[2].n / b[1].n, k / b[2].n % b[1].n, k % b[2].n};
      if (colour_of(b, at) != c) continue;
      listed += list_tiles(tiles, b, at, tiles->by_block + listed);
      tiles->block_start[++blocks] = listed;
    }
    tiles->colour_start[c + 1] = blocks;
  }
  return MD_OK;
}

void spread_tiles_destroy(spread_tiles *tiles)
{
  for (int a = 0; a < 3; a++) {
    free(tiles->first[a]);
    free(tiles->of_cell[a]);
  }
  free(tiles->colour_start);
  free(tiles->block_start);
  free(tiles->by_block);
}
