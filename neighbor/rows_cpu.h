/* neighbor/rows_cpu.h - the search for neighbours on the CPU, a block of rows at a time.
 *
 * A thread copies the candidates of a tile (tiles.h), as floats relative to the tile's centre, into
 * its halo, and tests them against each row's atom, a vector at a time; the lanes within reach are
 * packed onto the row.  Floats decide all but the few pairs so close to r_list that only the
 * positions themselves can.
 *
 * Half lists: a candidate belongs to the chunk of its own (or its home's) row.  Of two atoms of a
 * chunk, rows r and s, the one with the smaller number lists the pair when r - s is odd, else the
 * other: so that all rows are about equally long. */
#ifndef ROWS_CPU_H
#define ROWS_CPU_H

#include "neighbor/tiles.h"

enum { ROWS_BLOCK = 256 }; /* rows that a thread takes at a time */

/* What all threads share. */
typedef struct {
  neighbor_list *list;
  tiling tiles;
  bool half, split; /* split: half, and some pairs are in both rows */
  int64_t n;
  const state *x;
  const int32_t *home, *shift; /* of ghosts */
  const int32_t *rows;         /* [n] atoms by tiles */
  const int32_t *row_of;       /* half: [n] its inverse */
  double reach_sq;
  float sure_sq, maybe_sq; /* floats decide below the one and beyond the other */
} rows_job;

/* Entries begin..begin + count of a search's `entry`, the shared ones first. */
typedef struct {
  int64_t begin;
  int32_t count, shared;
} rows_found;

/* One thread's search.  Zero except job and tile = -1 to begin with. */
typedef struct {
  const rows_job *job;
  int64_t tile; /* whose halo this is; -1: none */
  state origin[3];
  /* The halo: n candidates, then far ones up to a whole vector, in slabs of bins along axis 0. */
  int64_t n, room, index_room;
  int32_t *index; /* atom or ghost */
  float *x, *y, *z;
  int32_t *row, *after; /* half: row of the atom or home; place in the order of pairs */
  int32_t *single;      /* entries of the row at hand that are not shared */
  int64_t *slab;        /* [bins along axis 0 + 1] where a slab begins */
  int32_t first_slab, n_slabs;
  /* The rows of a block. */
  int64_t n_entry, entry_room;
  int32_t *entry;
  rows_found found[ROWS_BLOCK];
} rows_search;

/* Find rows first .. first + count, count <= ROWS_BLOCK.  False when memory runs out. */
typedef bool rows_find_fn(rows_search *search, int64_t first, int count);
rows_find_fn KERNEL(rows_find);
void KERNEL(rows_free)(rows_search *search);

#endif
