/* stokes/solver/gmres.h - linear systems that are not symmetric, known by what they do to vectors.
 *
 * Flexible GMRES (Saad, SIAM J. Sci. Comput. 14, 461 (1993)): the preconditioner may be another
 * one in each iteration, such as a solve of a near system to few digits. */
#ifndef STOKES_GMRES_H
#define STOKES_GMRES_H

#include "stokes/solver/solver.h"
#include "stokes/solver/vectors_impl.h"

MD_BEGIN_C

/* y from x, [3 n][m] on the backend, not the same memory. */
typedef md_status gmres_apply(void *what, int m, const double *x, double *y);

typedef struct {
  gmres_apply *multiply;     /* y = A x */
  gmres_apply *precondition; /* y near A^-1 x */
  void *what;                /* passed on */
  const vector_backend *ops;
  vector_space *space;
  md_buffer *basis; /* [2 iterations + 2][3 n][m], kept for the next solve */
} gmres_system;

/* A x = b for m columns, each with a space of its own; products are made for all at once.  x: in
 * the guess, out the solution with |b - A x| <= tolerance |b| for every column.  *out: iterations,
 * and the largest true residual of a column.  Errors: MD_ENUMERIC (not reached within `most`
 * iterations, or not at all), MD_ENOMEM, and those of the system. */
md_status gmres_solve(const gmres_system *system, int m, const double *b, double *x,
                      double tolerance, int most, stokes_outcome *out);

MD_END_C
#endif
