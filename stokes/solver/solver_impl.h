/* stokes/solver/solver_impl.h - the inside of a solver. */
#ifndef STOKES_SOLVER_IMPL_H
#define STOKES_SOLVER_IMPL_H

#include "stokes/ranks/rows.h"
#include "stokes/solver/solver.h"
#include "stokes/solver/vectors_impl.h"

MD_BEGIN_C

enum { SOLVER_VECTORS = 5, SOLVER_SMALL = 6 };

/* The Chebyshev series of a power on [low, high]. */
typedef struct {
  double low, high, tolerance;
  int order;
  double *coefficient; /* [order + 1] */
} root_series;

struct stokes_solver {
  md_ctx *ctx;
  stokes_preconditioner kind;
  const stokes_matrix *matrix;
  stokes_rows *rows; /* of that matrix, which several ranks share; NULL: nobody does */
  const vector_backend *ops;
  vector_space space;
  md_buffer inverse;                /* of the preconditioner, where it is kept */
  md_buffer vector[SOLVER_VECTORS]; /* work, [3 n_rows][m] */
  md_buffer basis;                  /* of Lanczos, [steps][3 n_rows][m] */
  md_buffer state;                  /* cg_state */
  double *small;                    /* SOLVER_SMALL matrices of STOKES_VECTORS^2, host */
  double largest;                   /* eigenvalue of a diagonal block */
  bool bounded;                     /* by Lanczos */
  double low, high;
  root_series series, inverse_series; /* the last ones, of the square root and of its inverse */
};

/* Y = A X for m columns; X has room for ghosts, which are filled. */
md_status solver_multiply(stokes_solver *solver, int m, double *x, double *y);

/* Work vector k, m columns wide, with room for ghosts; contents are lost when it grows. */
md_status solver_vector(stokes_solver *solver, int k, int m, double **out);
md_status solver_floats(stokes_solver *solver, int k, int m, float **out);

static inline size_t solver_bytes(const stokes_solver *solver, int m)
{
  return (size_t)solver->space.n_rows * 3 * (size_t)m * sizeof(double);
}

static inline bool solver_preconditioned(const stokes_solver *solver)
{
  return solver->space.jacobi != NULL;
}

/* The m x m matrix k of the solver's own. */
static inline double *solver_small(const stokes_solver *solver, int k)
{
  return solver->small + (size_t)k * STOKES_VECTORS * STOKES_VECTORS;
}

/* *r = b - A x, in work vector 0; *relative: the largest |r| / |b| of a column. */
md_status solver_residual(stokes_solver *solver, int m, const double *b, double *x, double **r,
                          double *relative);

/* Largest of sqrt(square[c] / norm[c]); 0 / 0 counts as 0, NaN stays. */
double solver_largest(int m, const double *square, const double *norm);

/* y = M^-1 x where there is a preconditioner, else y is x. */
md_status solver_precondition(stokes_solver *solver, int m, double *x, double *work, double **y);

/* A square root being taken. */
typedef struct {
  stokes_solver *solver;
  const vector_backend *ops;
  vector_space *space;
  int m;
  double *w, *u; /* A u; M^-1 of the present vector, or that vector itself */
} root_run;
root_run root_run_of(stokes_solver *solver, int m);
/* The same, with room for w. */
md_status root_begin(root_run *run, stokes_solver *solver, int m);
/* A vector for M^-1 of another, or NULL without a preconditioner. */
md_status root_work(root_run *run, double **work);
/* u = M^-1 v, w = A u;  v = L z. */
md_status root_apply(root_run *run, double *v);
md_status root_lower(root_run *run, const double *z, double *v);
md_status root_lanczos(root_run *run, const double *z, double *f, double tolerance, int most,
                       stokes_outcome *out);

MD_END_C
#endif
