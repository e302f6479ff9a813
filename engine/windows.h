/* engine/windows.h - atoms of all ranks on rank 0, by rising id, a window of them at a time.
 *
 * Rank 0 writes all atoms of a file, or looks through them for two with one id, and never holds
 * more than ENGINE_WINDOW of them besides its own.  65,536 atoms of 101 bytes are 6.6 MB: a message
 * of each array is long enough for its latency not to count, and the memory does not show beside
 * that of a run. */
#ifndef ENGINE_WINDOWS_H
#define ENGINE_WINDOWS_H

#include "comm/world.h"
#include "engine/spec.h"

MD_BEGIN_C

enum { ENGINE_WINDOW = 65536, ENGINE_COLUMNS = 7 };
/* Atoms of a window: spec->window, or ENGINE_WINDOW. */
int64_t engine_window(const engine_spec *spec);

/* An array of this rank's atoms. */
typedef struct {
  const void *rows;
  size_t bytes; /* a row */
} engine_column;

typedef struct {
  int n_columns;
  engine_column column[ENGINE_COLUMNS]; /* the first is int64 [n]: ids */
  const int64_t *order;                 /* of this rank's atoms, or NULL */
  int64_t n;                            /* atoms of the present window, where they come to */
  void *rows[ENGINE_COLUMNS];           /* and their columns */
  /* private */
  int64_t count, *begin;      /* windows; this rank's atoms of window k: begin[k] .. begin[k + 1] */
  int64_t largest;            /* atoms of all ranks in a window, at most */
  int64_t *sizes;             /* [ranks]: atoms that each has in the present window */
  void *came[ENGINE_COLUMNS]; /* the window's atoms in the order of ranks */
  int64_t *by_id;             /* of these */
  world_message *message;     /* [ranks columns] */
} engine_windows;

/* On all ranks: windows of `most` atoms over these columns of each rank's n atoms, which must stay
 * until the windows are closed.  order [n] (NULL: as they lie): which come one after the other;
 * with several ranks their ids rise.  Close also after a failure.  Errors, of all: MD_ENOMEM. */
md_status engine_windows_open(int64_t most, int64_t n, const int64_t *order, int n_columns,
                              const engine_column *columns, engine_windows *out);
/* On all ranks, for each k < count in turn: the atoms of window k to rank 0. */
void engine_windows_get(engine_windows *w, int64_t k);
/* The same to all ranks.  Errors, of all: MD_ENOMEM. */
md_status engine_windows_share(engine_windows *w, int64_t k);
void engine_windows_close(engine_windows *w);

MD_END_C
#endif
