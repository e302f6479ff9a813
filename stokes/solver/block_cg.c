/* stokes/solver/block_cg.c - conjugate gradients for many right-hand sides at once.
 *
 * O'Leary's block conjugate gradients in the form of Dubrulle: the residuals are R = Q C with
 * Q^T M^-1 Q = I, so that the small systems stay well conditioned however far the columns are
 * apart.
 *
 *     alpha = (P^T A P)^-1,   X += P alpha C,   Q S = Q - A P alpha (orthonormal Q),   C = S C,
 *     P = M^-1 Q + P S^T
 *
 * S comes from a Cholesky factorisation with pivots of the Gram matrix, done twice where once would
 * lose too much.  Columns that become dependent are dropped: Q and P have zero columns at the end
 * from then on. */
#include "stokes/solver/dense.h"
#include "stokes/solver/solver_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A column whose square remainder is this small has nothing of its own; a factorisation with a
 * remainder this small is repeated. */
static const double drop = 1e-13, repeat = 1e-6;

typedef struct {
  stokes_solver *solver;
  const vector_backend *ops;
  vector_space *space;
  int m;
  const double *b;
  block_vectors v;
  double *w;                        /* v.w, writable */
  double *c, *g, *s, *t, *u, *turn; /* small matrices: C, Gram, factor, its inverse, work */
  double norm_m[STOKES_VECTORS];    /* b^T M^-1 b of each column */
  int iterations;
} block_run;

static void copy(int m, double *to, const double *from)
{
  memcpy(to, from, (size_t)(m * m) * sizeof *to);
}

/* From the Gram matrix of Q to orthonormal Q and Z = M^-1 Q and the next P; C = S C, where C is the
 * identity if `first`.  *left: columns that are not dropped. */
static md_status orthonormalise(block_run *run, bool first, int *left)
{
  const int m = run->m;
  double worst;
  MD_TRY(dense_factor(m, run->g, drop, run->s, run->t, left, &worst));
  if (*left > 0 && worst < repeat) {
    const block_vectors only = {NULL, NULL, run->v.q, run->v.z, NULL};
    MD_TRY(run->ops->block_turn(run->space, m, &only, run->t, NULL));
    MD_TRY(run->ops->gram(run->space, m, run->v.q, run->v.z, run->g));
    copy(m, run->turn, run->s);
    MD_TRY(dense_factor(m, run->g, drop, run->u, run->t, left, &worst));
    MD_TRY(dense_multiply(m, run->u, run->turn, false, run->s));
  }
  if (first) {
    copy(m, run->c, run->s);
    memset(run->turn, 0, (size_t)(m * m) * sizeof *run->turn);
  } else {
    MD_TRY(dense_multiply(m, run->s, run->c, false, run->u));
    copy(m, run->c, run->u);
    for (int k = 0; k < m * m; k++)
      run->turn[k] = run->s[k % m * m + k / m];
  }
  return run->ops->block_turn(run->space, m, &run->v, run->t, run->turn);
}

/* The residual that the recurrence knows, in the norm of M^-1. */
static double recurrence(const block_run *run)
{
  double square[STOKES_VECTORS] = {0};
  for (int r = 0; r < run->m; r++)
    for (int c = 0; c < run->m; c++)
      square[c] += run->c[r * run->m + c] * run->c[r * run->m + c];
  return solver_largest(run->m, square, run->norm_m);
}

/* Begin from the residual of x, which lies in W. */
static md_status start(block_run *run, int *left)
{
  const size_t bytes = solver_bytes(run->solver, run->m);
  double *z;
  MD_TRY(md_copy(run->solver->ctx, run->v.q, run->v.w, bytes));
  MD_TRY(solver_precondition(run->solver, run->m, run->v.q, run->v.z, &z));
  MD_TRY(run->ops->gram(run->space, run->m, run->v.q, z, run->g));
  MD_TRY(md_fill(run->solver->ctx, run->v.p, 0, bytes));
  return orthonormalise(run, true, left);
}

static md_status iterate(block_run *run, int *left)
{
  const int m = run->m;
  double worst;
  MD_TRY(solver_multiply(run->solver, m, run->v.p, run->w));
  MD_TRY(run->ops->gram(run->space, m, run->v.p, run->v.w, run->g));
  run->iterations++;
  MD_TRY(dense_factor(m, run->g, drop, run->s, run->t, left, &worst));
  MD_REQUIRE(worst >= 0, MD_ENUMERIC,
             "block conjugate gradients broke down after %d iterations: the matrix is not "
             "positive definite",
             run->iterations);
  if (*left == 0) return MD_OK;
  MD_TRY(dense_multiply(m, run->t, run->t, true, run->u)); /* alpha */
  MD_TRY(dense_multiply(m, run->u, run->c, false, run->turn));
  MD_TRY(run->ops->block_update(run->space, m, &run->v, run->turn, run->u, run->g));
  return orthonormalise(run, false, left);
}

static md_status residual(block_run *run, double *out)
{
  return solver_residual(run->solver, run->m, run->b, run->v.x, &run->w, out);
}

/* Iterate until the true residual is small enough, nothing is left, or no more may be done. */
static md_status descend(block_run *run, double tolerance, int most, double *reached)
{
  double goal = tolerance;
  int left;
  MD_TRY(start(run, &left));
  while (left > 0 && run->iterations < most) {
    const double known = recurrence(run);
    if (known <= goal) {
      MD_TRY(residual(run, reached));
      if (*reached <= tolerance) return MD_OK;
      goal = known * fmin(0.5, 0.9 * tolerance / *reached);
    }
    MD_TRY(iterate(run, &left));
  }
  return residual(run, reached);
}

/* Work vectors, norms of the right-hand sides, and x = 0 where they vanish. */
static md_status prepare(block_run *run, stokes_solver *solver, int m, const double *b, double *x)
{
  double none[STOKES_VECTORS] = {0}, keep[STOKES_VECTORS], norm[STOKES_VECTORS], *z;
  *run = (block_run){.solver = solver, .ops = solver->ops, .space = &solver->space, .m = m, .b = b};
  run->v.x = x;
  MD_TRY(solver_vector(solver, 0, m, &run->w));
  MD_TRY(solver_vector(solver, 1, m, &run->v.p));
  MD_TRY(solver_vector(solver, 2, m, &run->v.q));
  run->v.w = run->w;
  run->v.z = run->v.q;
  if (solver_preconditioned(solver)) MD_TRY(solver_vector(solver, 3, m, &run->v.z));
  run->c = solver_small(solver, 0), run->g = solver_small(solver, 1);
  run->s = solver_small(solver, 2), run->t = solver_small(solver, 3);
  run->u = solver_small(solver, 4), run->turn = solver_small(solver, 5);
  MD_TRY(run->ops->dots(run->space, m, b, b, norm));
  for (int c = 0; c < m; c++)
    keep[c] = norm[c] != 0;
  MD_TRY(run->ops->columns(run->space, m, none, b, keep, x));
  /* w serves as a copy that may be written to */
  MD_TRY(md_copy(solver->ctx, run->w, b, solver_bytes(solver, m)));
  MD_TRY(solver_precondition(solver, m, run->w, run->v.z, &z));
  return run->ops->dots(run->space, m, b, z, run->norm_m);
}

md_status stokes_solver_block_cg(stokes_solver *solver, int m, const double *b, double *x,
                                 double tolerance, int most, stokes_outcome *out)
{
  enum { STARTS = 8 };
  MD_REQUIRE(m >= 1 && m <= STOKES_VECTORS, MD_EINVAL,
             "block conjugate gradients take 1 to %d vectors, not %d", STOKES_VECTORS, m);
  block_run run;
  MD_TRY(prepare(&run, solver, m, b, x));
  MD_TRY(residual(&run, &out->residual));
  for (int k = 0; k < STARTS && !(out->residual <= tolerance) && run.iterations < most; k++)
    MD_TRY(descend(&run, tolerance, most, &out->residual));
  out->iterations = run.iterations;
  MD_REQUIRE(out->residual <= tolerance, MD_ENUMERIC,
             "block conjugate gradients reached a residual of %.3g in %d iterations, not %.3g",
             out->residual, run.iterations, tolerance);
  return MD_OK;
}
