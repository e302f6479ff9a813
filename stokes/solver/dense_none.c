/* stokes/solver/dense_none.c - in place of dense.c where LAPACK was not found: says so. */
#include "stokes/solver/dense.h"
#include "stokes/solver/solver.h"

static md_status missing(void)
{
  return MD_FAIL(MD_EINVAL, "this build has no LAPACK, which block solvers, Lanczos and dense "
                            "solvers need (Debian packages liblapacke-dev libopenblas-dev)");
}

bool stokes_dense_available(void)
{
  return false;
}

md_status dense_factor(int m, const double *g, double drop, double *s, double *t, int *rank,
                       double *worst)
{
  (void)m, (void)g, (void)drop, (void)s, (void)t;
  *rank = 0;
  *worst = 0;
  return missing();
}

md_status dense_multiply(int m, const double *a, const double *b, bool transposed, double *c)
{
  (void)m, (void)a, (void)b, (void)transposed, (void)c;
  return missing();
}

md_status dense_tridiagonal(int n, double *d, double *e, double *v)
{
  (void)n, (void)d, (void)e, (void)v;
  return missing();
}

void stokes_dense_destroy(stokes_dense *dense)
{
  (void)dense;
}

md_status stokes_dense_factor(md_ctx *ctx, const stokes_matrix *matrix, stokes_dense **out)
{
  (void)ctx, (void)matrix;
  *out = NULL;
  return missing();
}

md_status stokes_dense_root(const stokes_dense *dense, int m, const double *z, double *f)
{
  (void)dense, (void)m, (void)z, (void)f;
  return missing();
}

md_status stokes_dense_solve(const stokes_dense *dense, stokes_solver *solver, const double *b,
                             double *x, double tolerance, int most, stokes_outcome *out)
{
  (void)dense, (void)solver, (void)b, (void)x, (void)tolerance, (void)most;
  *out = (stokes_outcome){0};
  return missing();
}
