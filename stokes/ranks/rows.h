/* stokes/ranks/rows.h - the rows of a matrix that this rank has, and products in which all ranks
 * take part.
 *
 *     Y = R X,   rank k makes rows cut[k] ... cut[k + 1] - 1 of Y
 *
 * Rows are dealt out in their order, along the curve, so that each rank has about as many blocks
 * (stokes_model_cut); a rank may have none.  Within a rank those come first that need rows of X of
 * this rank alone, the inner ones, then those at the edge.  Vectors have their rows in that order,
 * and behind them ghosts, the rows of X that other ranks have and a product fetches:
 *
 *     X:  inner | edge | ghosts of rank 0 | ghosts of rank 1 | ...      Y:  inner | edge
 *
 * A product begins to receive ghosts in their places, sends what others need, multiplies inner rows
 * while messages travel, waits, and multiplies those at the edge.  A row is the same sum in the
 * same order as in the whole matrix: the same bits for any number of ranks.  [Liu] section IV.D. */
#ifndef STOKES_RANKS_ROWS_H
#define STOKES_RANKS_ROWS_H

#include "stokes/model/model.h"

MD_BEGIN_C

typedef struct stokes_rows stokes_rows;

/* What a rank knows of the whole matrix: its own rows, and others, of which only numbers matter. */
typedef struct {
  const stokes_matrix *matrix;
  const int32_t
      *name; /* [its rows]: their numbers in the whole matrix, ascending; NULL: it is that */
  const int64_t *cut; /* [ranks + 1], the same on all ranks */
} stokes_known;

/* This rank's rows.  What is known is not needed any more afterwards, but for the matrix's context.
 * All ranks together.  *out is NULL on failure; free with stokes_rows_destroy.
 * Errors, of all ranks: MD_EINVAL (a matrix on a GPU), MD_ENOMEM. */
md_status stokes_rows_create(const stokes_known *known, stokes_rows **out);
void stokes_rows_destroy(stokes_rows *rows); /* NULL is allowed */

typedef struct {
  int64_t n_own, n_inner, n_ghosts;
  int64_t n_sent;     /* rows of X that go to others, once for each of them */
  const int64_t *row; /* [n_own + n_ghosts]: numbers in the whole matrix, as X has them */
  stokes_share share; /* its blocks, and what it fetches from how many ranks */
} stokes_rows_view;
stokes_rows_view stokes_rows_get(const stokes_rows *rows);
/* Its blocks on the host: own rows in their places, columns as X has them, not ascending.
 * Errors: MD_ENOMEM. */
md_status stokes_rows_blocks(const stokes_rows *rows, stokes_blocks *out);

/* Room for products with up to m columns.  All ranks together.  Errors, of all: MD_EINVAL (m),
 * MD_ENOMEM. */
md_status stokes_rows_reserve(stokes_rows *rows, int m);

/* Y = R X for m columns, x [3 (n_own + n_ghosts)][m] with ghosts to be filled, y [3 n_own][m].
 * All ranks together.  Adds to *exchange the seconds that went into messages: packing, starting
 * and waiting; NULL: not asked.  Deterministic.  Errors, of all: MD_EINVAL (m: no room for it). */
md_status stokes_rows_multiply(stokes_rows *rows, int m, double *x, double *y, double *exchange);

MD_END_C
#endif
