/* stokes/solver/dense.h - dense linear algebra on the host, by LAPACK and BLAS.
 *
 * dense.c is compiled where LAPACK is found, dense_none.c elsewhere: there every function fails
 * with MD_EINVAL and names the packages.  m x m matrices are row-major. */
#ifndef STOKES_DENSE_H
#define STOKES_DENSE_H

#include "core/md.h"

MD_BEGIN_C

/* Factor a symmetric positive semi-definite matrix, G = S^T S, by Cholesky with pivots, after its
 * diagonal was scaled to one.  What is left of a column must be more than `drop`, else it counts as
 * dependent.
 *   s     out: S; its first `rank` rows are used, the others zero
 *   t     out: T with S T = I on those; its first `rank` columns are used, the others zero
 *   rank  out: how many columns are independent; 0 where a number is not finite
 *   worst out: the smallest remainder that was kept; negative if a diagonal element of G is */
md_status dense_factor(int m, const double *g, double drop, double *s, double *t, int *rank,
                       double *worst);

/* c = a b, or a b^T (transposed); m x m, c is not a or b. */
md_status dense_multiply(int m, const double *a, const double *b, bool transposed, double *c);

/* Eigenvalues d, ascending, of the symmetric tridiagonal matrix with diagonal d [n] and
 * off-diagonal e [n - 1], which is destroyed; v [n][n], out: row k is the eigenvector of d[k]. */
md_status dense_tridiagonal(int n, double *d, double *e, double *v);

MD_END_C
#endif
