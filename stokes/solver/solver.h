/* stokes/solver/solver.h - linear systems and square roots with a resistance matrix.
 *
 *     solve A x = b,   f = S z with S S^T = A,   S z has covariance A for normal z
 *
 * A is symmetric positive definite, 3 x 3 blocks (stokes/matrix/matrix.h).  All work happens on the
 * context's backend; vectors b, x, z and f lie there, row-major.  With the block-Jacobi
 * preconditioner M = L L^T the square root is L S(L^-1 A L^-T) where that needs fewer products; it
 * has the same covariance.  [Liu] sections II.C and III. */
#ifndef STOKES_SOLVER_H
#define STOKES_SOLVER_H

#include "stokes/ranks/rows.h"

MD_BEGIN_C

#define STOKES_PRECONDITIONERS(X) X(NONE, "none") X(JACOBI, "jacobi")
#define MD_ENUM_(name, word) STOKES_PRECONDITION_##name,
typedef enum { STOKES_PRECONDITIONERS(MD_ENUM_) STOKES_PRECONDITIONER_COUNT } stokes_preconditioner;
#undef MD_ENUM_
extern const char *const stokes_preconditioner_words[STOKES_PRECONDITIONER_COUNT];

#define STOKES_ROOTS(X) X(CHEBYSHEV, "chebyshev") X(LANCZOS, "lanczos")
#define MD_ENUM_(name, word) STOKES_ROOT_##name,
typedef enum { STOKES_ROOTS(MD_ENUM_) STOKES_ROOT_COUNT } stokes_root;
#undef MD_ENUM_
extern const char *const stokes_root_words[STOKES_ROOT_COUNT];

typedef struct stokes_solver stokes_solver;

/* Solvers keep their vectors between calls.  *out is NULL on failure; free with
 * stokes_solver_destroy.  Errors: MD_ENOMEM. */
md_status stokes_solver_create(md_ctx *ctx, stokes_preconditioner kind, stokes_solver **out);
void stokes_solver_destroy(stokes_solver *solver); /* NULL is allowed */

/* Work with this matrix from now on; it must not change before the next call, and outlive its use.
 * Errors: MD_ENUMERIC (a diagonal block is not positive definite), MD_ENOMEM. */
md_status stokes_solver_attach(stokes_solver *solver, const stokes_matrix *matrix);

/* The same with this rank's rows, with room for the products to come, of a matrix that all ranks
 * share: vectors are those of stokes_rows_multiply, with room for ghosts where a guess comes in and
 * in all that is multiplied.  Rows are cut between parts of the vectors of one rank
 * (stokes/solver/vectors_impl.h), so that results have the bits of one rank's.  All ranks together
 * solve with one or many right-hand sides, nothing else.  Errors, of all: MD_ENUMERIC as above. */
md_status stokes_solver_attach_rows(stokes_solver *solver, stokes_rows *rows);

/* What messages took since the solver was made: seconds of products, how often all ranks added up,
 * seconds of that. */
typedef struct {
  double products, sums;
  int64_t n_sums;
} stokes_solver_messages;
stokes_solver_messages stokes_solver_messages_of(const stokes_solver *solver);

/* One of two buffers of the solver's, in which nothing is kept between the calls below: anyone may
 * use it, and let it grow, until the next of them. */
md_buffer *stokes_solver_space(stokes_solver *solver, int which);

typedef struct {
  int iterations;  /* products with the matrix but the one that starts from a guess */
  double residual; /* solve: largest |b - A x| / |b| of a column; square root: estimated error */
} stokes_outcome;

/* Conjugate gradients for one right-hand side.  x: in the guess, out the solution with
 * |b - A x| <= tolerance |b|.  Errors: MD_ENUMERIC (not reached within `most` iterations, A is not
 * positive definite; *out holds the residual reached). */
md_status stokes_solver_cg(stokes_solver *solver, const double *b, double *x, double tolerance,
                           int most, stokes_outcome *out);

/* Block conjugate gradients of O'Leary, with orthonormal residuals (Dubrulle), for m right-hand
 * sides at once: every column reaches the tolerance.  Directions that become dependent are dropped;
 * when none is left, it starts again from where it is.  x: in the guess.  Errors: as above. */
md_status stokes_solver_block_cg(stokes_solver *solver, int m, const double *b, double *x,
                                 double tolerance, int most, stokes_outcome *out);

/* Bounds of the eigenvalues of M^-1 A.  For a resistance matrix they are known: A >= 1, and twice
 * the diagonal blocks are no less than A.  For others, and where `tight`, by Lanczos steps with the
 * residual added.  Kept until the next attach.  Errors: MD_ENUMERIC (no convergence), MD_ENOMEM. */
md_status stokes_solver_bounds(stokes_solver *solver, bool tight, double *low, double *high);

/* f = S z for m columns.  Chebyshev: the order follows from the bounds and the tolerance, the error
 * is that of |M^-1/2 f|^2 against z^T S^2 z, which is known.  Lanczos: stops when the last steps
 * changed f by less than the tolerance; needs one vector of m columns for every step (MD_ENOMEM
 * states it).  f may be z.  Errors: MD_EINVAL (m), MD_ENUMERIC (an order beyond `most`; an error
 * that is larger than the tolerance). */
md_status stokes_solver_root(stokes_solver *solver, stokes_root kind, int m, const double *z,
                             double *f, double tolerance, int most, stokes_outcome *out);

/* u near A^-1/2 z for m columns of a resistance matrix whose bounds are the known ones, by a
 * Chebyshev polynomial with a relative error of at most `tolerance` for every eigenvalue: so that
 * A u is near S(A) z.  u may be z.  Errors: MD_EINVAL (m; another matrix), MD_ENUMERIC (an order
 * beyond `most`). */
md_status stokes_solver_inverse_root(stokes_solver *solver, int m, const double *z, double *u,
                                     double tolerance, int most, stokes_outcome *out);

/* Largest relative error of the Chebyshev polynomial of this order for a^power on [low, high], and
 * the smallest order with an error of at most `tolerance` (-1: none up to `most`; 0: out of
 * memory).  power: 1/2 or -1/2. */
double stokes_chebyshev_error(double power, double low, double high, int order);
int stokes_chebyshev_order(double power, double low, double high, double tolerance, int most);

/* This build has LAPACK.  Without it block conjugate gradients, Lanczos and dense factors fail with
 * MD_EINVAL and name the packages. */
bool stokes_dense_available(void);

/* Cholesky factor of a small matrix, on the host. */
typedef struct stokes_dense stokes_dense;
enum { STOKES_DENSE_ROWS = 2000 }; /* most block rows */

/* A = L L^T.  Errors: MD_EINVAL (too many rows; a build without LAPACK), MD_ENOMEM (states the
 * size), MD_ENUMERIC (not positive definite). */
md_status stokes_dense_factor(md_ctx *ctx, const stokes_matrix *matrix, stokes_dense **out);
void stokes_dense_destroy(stokes_dense *dense); /* NULL is allowed */
/* f = L z for m columns on the backend, each as if it were alone.  f may be z.  Errors: MD_ENOMEM,
 * MD_ECUDA. */
md_status stokes_dense_root(const stokes_dense *dense, int m, const double *z, double *f);
/* Solve A x = b by iterative refinement, where A is the matrix that the solver is attached to: the
 * one that was factored, or one near it.  x: in the guess.  Errors: MD_ENUMERIC (no convergence).
 */
md_status stokes_dense_solve(const stokes_dense *dense, stokes_solver *solver, const double *b,
                             double *x, double tolerance, int most, stokes_outcome *out);

MD_END_C
#endif
