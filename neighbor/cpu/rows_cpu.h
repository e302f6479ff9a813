/* neighbor/cpu/rows_cpu.h - the search for neighbours on the CPU, a block of rows at a time.
 *
 * Positions are copied once in the order of bins, as integers, so that any part of a column of bins
 * is contiguous and differences are exact (halo.prec.c).  A thread gathers the candidates near the
 * rows of a tile (bin_tiles.h) from there into its halo, as floats relative to the tile, and tests
 * them against each row's atom, a vector at a time; the lanes within reach are packed onto the row
 * (rows.prec.c).  Floats decide all but the few pairs so close to r_list that only the positions
 * themselves can.
 *
 * Half lists: a candidate belongs to the chunk of its own (or its home's) row. Of two atoms of a
 * chunk the one that lies before the other along axis 0 lists the pair: so that rows are about
 * equally long, and look at half of the halo where there is one chunk. The order is that of slabs
 * of bins, then of steps of 4 integers along axis 0, which are those of its home for a ghost that
 * is not shifted along it. Of two atoms in one step the one with the smaller number lists the pair
 * when the numbers' difference is odd, else the other; of an atom and a ghost there, the row that
 * sees a positive shift. Ghosts that are shifted along axis 0 lie before or after all atoms. */
#ifndef ROWS_CPU_H
#define ROWS_CPU_H

#include "neighbor/cpu/bin_tiles.h"

enum { ROWS_BLOCK = 256 }; /* rows that a thread takes at a time */

/* Part of a column of bins, begin..end - 1 in the order of place, and what of it is the tile's. */
typedef struct {
  int32_t begin, end, own_begin, own_end;
} rows_run;

/* Where a row's atom is in the halo: its slot and its slab. */
typedef struct {
  int32_t slot, slab;
} rows_own;

/* The norm of what is in nobody's reach. */
#define ROWS_FAR 1e30f

/* What all threads share. */
typedef struct {
  neighbor_list *list;
  tiling tiles;
  bool half, split; /* split: half, and rows look at all of the halo: some pairs are in both */
  int64_t n;
  const state *x;
  const int32_t *home, *shift; /* of ghosts */
  const int32_t *rows;         /* [n] atoms by tiles */
  const int32_t *row_of;       /* half: [n] its inverse */
  double reach_sq;
  float sure_sq, maybe_sq;    /* floats decide below the one and beyond the other [step^2] */
  double corner[3], inv_step; /* a corner below all atoms and ghosts */
  /* Those in the order of place; half: whose row each belongs to, -1 for no one's, and its place in
   * the order of pairs: four times its step, plus 1 (an atom), 2 (a ghost of positive shift) or 0
   * (of negative shift). */
  int32_t *at[3], *row, *after;
} rows_job;

/* Entries begin..begin + count of a search's `entry`, the shared ones first; begin is a multiple of
 * 4. */
typedef struct {
  int64_t begin;
  int32_t count, shared;
} rows_found;

/* One thread's search.  Zero except job and tile = -1 to begin with. */
typedef struct {
  const rows_job *job;
  int64_t tile; /* whose halo this is; -1: none */
  /* The halo: n candidates, then far ones up to a whole vector, in slabs of bins along axis 0. */
  int64_t n, room;
  float *at[3], *norm;  /* in steps from the tile's middle; the square of that distance */
  int32_t *index;       /* atom or ghost */
  int32_t *row, *after; /* half, as those of the job */
  int32_t *single;      /* entries of the row at hand that are not shared */
  int64_t *slab;        /* [bins along axis 0 + 1] where a slab begins */
  int32_t n_slabs;
  rows_run *run; /* what the halo is taken from */
  int64_t run_room;
  rows_own *own; /* the tile's rows */
  int64_t own_room;
  /* The rows of a block. */
  int64_t n_entry, entry_room;
  int32_t *entry;
  rows_found found[ROWS_BLOCK];
} rows_search;

/* Copy positions and owners to the order of bins, and set what depends on the length of a step. */
md_status KERNEL(rows_prepare)(rows_job *job, const md_atoms *atoms);
/* The halo of a tile.  False when memory runs out. */
bool KERNEL(rows_enter)(rows_search *search, int64_t tile);
/* Find rows first .. first + count, count <= ROWS_BLOCK.  False when memory runs out. */
bool KERNEL(rows_find)(rows_search *search, int64_t first, int count);
void KERNEL(rows_free)(rows_search *search);
/* Room for at least n entries; those there are kept.  False when memory runs out. */
bool KERNEL(rows_grow)(rows_search *search, int64_t n);

#endif
