/* stokes/ranks/rows_impl.h - what making and multiplying rows of a rank share. */
#ifndef STOKES_ROWS_IMPL_H
#define STOKES_ROWS_IMPL_H

#include "comm/world.h"
#include "stokes/matrix/matrix_impl.h"
#include "stokes/ranks/rows.h"

/* Rows that go to a rank or come from it: places first ... first + n - 1 of what is sent, or of the
 * ghosts. */
typedef struct {
  int rank;
  int64_t first, n;
} rows_peer;

/* Rows that are multiplied together. */
typedef struct {
  matrix_run *run;
  int64_t n;
} rows_runs;

struct stokes_rows {
  md_ctx *ctx;
  stokes_matrix *matrix; /* own rows; columns are those of X */
  int64_t *cut;          /* [ranks + 1] */
  stokes_rows_view view;
  int32_t *number; /* [n_all]: place of a ghost in X, or a mark */
  char *inner;     /* [n_own]: the row, then its group, needs no ghosts */
  int64_t *row;    /* [n_own + n_ghosts] */
  rows_runs within, edge;
  int32_t *sent; /* [n_sent]: own rows, rank by rank */
  rows_peer *from, *to;
  int n_from, n_to;
  world_message *in, *out; /* [n_from], [n_to] */
  int columns;             /* room for so many */
  double *packed;          /* [3 n_sent][columns] */
};

/* All but the matrix, the cut and marks. */
void rows_clear(stokes_rows *rows);

#endif
