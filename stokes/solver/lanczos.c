/* stokes/solver/lanczos.c - square roots of a matrix times vectors, and bounds of its eigenvalues.
 *
 * The space of v, A M^-1 v, (A M^-1)^2 v, ... gets a basis V that is orthonormal in the product
 * x^T M^-1 y; there the matrix is a tridiagonal T, and
 *
 *     S(A M^-1) v = |v| V sqrt(T) e_1
 *
 * Each of m columns has its own space.  The ends of the spectrum of T, with the residuals of their
 * eigenvectors, bound that of M^-1 A.  Chow and Saad, SIAM J. Sci. Comput. 36, A588 (2014). */
#include "stokes/solver/dense.h"
#include "stokes/solver/solver_impl.h"

#include <math.h>
#include <stdlib.h>

/* What Lanczos knows: the tridiagonal matrices, a column of each step for each of m vectors. */
typedef struct {
  int m, steps, room;
  double *alpha, *beta;   /* [room][m] */
  double *d, *e, *vector; /* of one eigenproblem: [room], [room], [room][room] */
  double *weight;         /* [m][room]: coefficients of f, and those of an earlier step */
} lanczos;

static void lanczos_free(lanczos *l)
{
  free(l->alpha);
}

static md_status lanczos_create(lanczos *l, int m, int room)
{
  const size_t n = (size_t)room, columns = (size_t)m * n;
  *l = (lanczos){.m = m, .room = room};
  l->alpha = calloc(3 * columns + 2 * n + n * n, sizeof *l->alpha);
  MD_REQUIRE(l->alpha, MD_ENOMEM, "out of memory for %d Lanczos steps of %d vectors", room, m);
  l->beta = l->alpha + columns;
  l->weight = l->beta + columns;
  l->d = l->weight + columns;
  l->e = l->d + n;
  l->vector = l->e + n;
  return MD_OK;
}

/* Eigenvalues and vectors of column c after all steps so far. */
static md_status lanczos_solve(lanczos *l, int c)
{
  for (int k = 0; k < l->steps; k++) {
    l->d[k] = l->alpha[k * l->m + c];
    l->e[k] = l->beta[k * l->m + c];
  }
  return dense_tridiagonal(l->steps, l->d, l->e, l->vector);
}

/* From v_k and v_(k-1) to v_(k+1), in `next`; columns whose space is exhausted become zero. */
static md_status lanczos_step(root_run *run, lanczos *l, double *before, double *v, double *next)
{
  const int m = run->m, k = l->steps;
  double minus[STOKES_VECTORS], one[STOKES_VECTORS], scale[STOKES_VECTORS], zero[STOKES_VECTORS];
  double *alpha = l->alpha + k * m, *beta = l->beta + k * m, *z;
  MD_TRY(root_apply(run, v));
  MD_TRY(run->ops->dots(run->space, m, run->u, run->w, alpha));
  MD_TRY(md_copy(run->solver->ctx, next, run->w, solver_bytes(run->solver, m)));
  for (int c = 0; c < m; c++)
    minus[c] = -alpha[c], one[c] = 1, zero[c] = 0;
  MD_TRY(run->ops->columns(run->space, m, minus, v, one, next));
  for (int c = 0; c < m; c++)
    minus[c] = k ? -beta[c - m] : 0;
  if (k) MD_TRY(run->ops->columns(run->space, m, minus, before, one, next));
  MD_TRY(solver_vector(run->solver, 1, m, &z));
  MD_TRY(solver_precondition(run->solver, m, next, z, &z));
  MD_TRY(run->ops->dots(run->space, m, next, z, beta));
  for (int c = 0; c < m; c++) {
    MD_REQUIRE(isfinite(alpha[c]) && isfinite(beta[c]), MD_ENUMERIC,
               "Lanczos met a number that is not finite after %d steps", k + 1);
    beta[c] = beta[c] > 0 ? sqrt(beta[c]) : 0;
    if (beta[c] <= 1e-12 * fabs(alpha[c])) beta[c] = 0;
    scale[c] = beta[c] > 0 ? 1 / beta[c] : 0;
  }
  l->steps++;
  return run->ops->columns(run->space, m, zero, v, scale, next);
}

/* v = v / |v| in the product of M^-1; *norm: what |v| was. */
static md_status normalise(root_run *run, double *v, double *norm)
{
  double zero[STOKES_VECTORS] = {0}, scale[STOKES_VECTORS], *z;
  MD_TRY(solver_vector(run->solver, 1, run->m, &z));
  MD_TRY(solver_precondition(run->solver, run->m, v, z, &z));
  MD_TRY(run->ops->dots(run->space, run->m, v, z, norm));
  for (int c = 0; c < run->m; c++) {
    norm[c] = sqrt(norm[c]);
    scale[c] = norm[c] > 0 ? 1 / norm[c] : 0;
  }
  return run->ops->columns(run->space, run->m, zero, z, scale, v);
}

/* Lanczos from a random vector until both ends are known well enough; with the residuals. */
static md_status measure(root_run *run, lanczos *l, double *low, double *high)
{
  enum { SEED = 1, LEAST = 15 };
  stokes_solver *solver = run->solver;
  double *v[3], norm;
  for (int k = 0; k < 3; k++)
    MD_TRY(solver_vector(solver, k == 0 ? 2 : k == 1 ? 3 : 4, 1, &v[k]));
  MD_TRY(run->ops->normals(run->space, 1, SEED, NORMAL_PROBE, 0, NULL, v[0]));
  MD_TRY(normalise(run, v[0], &norm));
  while (l->steps < l->room) {
    const int k = l->steps;
    MD_TRY(lanczos_step(run, l, v[(k + 2) % 3], v[k % 3], v[(k + 1) % 3]));
    if (l->steps < LEAST && l->beta[k] > 0) continue;
    MD_TRY(lanczos_solve(l, 0));
    const int n = l->steps;
    const double rest_low = l->beta[k] * fabs(l->vector[n - 1]);
    const double rest_high = l->beta[k] * fabs(l->vector[n * n - 1]);
    *low = fmax(l->d[0] - rest_low, 0.1 * l->d[0]);
    *high = l->d[n - 1] + rest_high;
    if (l->beta[k] == 0 || (rest_low <= 0.05 * l->d[0] && rest_high <= 0.05 * l->d[n - 1])) break;
  }
  MD_REQUIRE(*low > 0, MD_ENUMERIC,
             "the matrix is not positive definite: it has an eigenvalue "
             "near %.3g",
             l->d[0]);
  return MD_OK;
}

md_status stokes_solver_bounds(stokes_solver *solver, bool tight, double *low, double *high)
{
  enum { MOST = 80 };
  const bool jacobi = solver_preconditioned(solver);
  const bool known = stokes_matrix_is_resistance(solver->matrix);
  const double least = jacobi ? 1 / solver->largest : 1, most = jacobi ? 2 : 2 * solver->largest;
  if (known && !tight && !solver->bounded) {
    *low = least, *high = most;
    return MD_OK;
  }
  if (!solver->bounded) {
    root_run run;
    lanczos l;
    MD_TRY(root_begin(&run, solver, 1));
    MD_TRY(lanczos_create(&l, 1, MOST));
    const md_status status = measure(&run, &l, &solver->low, &solver->high);
    lanczos_free(&l);
    MD_TRY(status);
    if (known) {
      solver->low = fmax(solver->low, least);
      solver->high = fmin(solver->high, most);
    }
    solver->bounded = true;
  }
  *low = solver->low, *high = solver->high;
  return MD_OK;
}

/* Coefficients of f = |v| V sqrt(T) e_1 after all steps so far; *change: the largest change of a
 * column since the last call, relative to |f|. */
static md_status lanczos_weights(lanczos *l, double *change)
{
  const int n = l->steps;
  *change = 0;
  for (int c = 0; c < l->m; c++) {
    double *weight = l->weight + (int64_t)c * l->room, moved = 0, norm = 0;
    MD_TRY(lanczos_solve(l, c));
    for (int j = 0; j < n; j++) {
      double total = 0;
      for (int k = 0; k < n; k++)
        total += l->vector[k * n] * l->vector[k * n + j] * sqrt(fmax(l->d[k], 0));
      moved += (total - weight[j]) * (total - weight[j]);
      norm += total * total;
      weight[j] = total;
    }
    if (norm > 0) *change = fmax(*change, sqrt(moved / norm));
  }
  return MD_OK;
}

/* Steps until the weights stay; vector k of the basis lies in solver->basis. */
static md_status lanczos_run(root_run *run, lanczos *l, double tolerance, stokes_outcome *out)
{
  enum { EVERY = 4 };
  stokes_solver *solver = run->solver;
  const size_t bytes = solver_bytes(solver, run->m), length = bytes / sizeof(double);
  for (;;) {
    const size_t k = (size_t)l->steps;
    MD_TRY(md_buffer_reserve(solver->ctx, &solver->basis, (k + 2) * bytes, (k + 1) * bytes));
    double *v = (double *)solver->basis.data + k * length;
    MD_TRY(lanczos_step(run, l, k ? v - length : v, v, v + length));
    out->iterations = l->steps;
    if (l->steps % EVERY && l->steps < l->room) continue;
    MD_TRY(lanczos_weights(l, &out->residual));
    if (out->residual <= tolerance) return MD_OK;
    MD_REQUIRE(l->steps < l->room, MD_ENUMERIC,
               "a square root by Lanczos reached an error of %.3g in %d steps, not %.3g",
               out->residual, l->steps, tolerance);
  }
}

/* f = |v| V weights. */
static md_status sum(root_run *run, lanczos *l, const double *z, double *f, double tolerance,
                     stokes_outcome *out)
{
  stokes_solver *solver = run->solver;
  double norm[STOKES_VECTORS], factor[STOKES_VECTORS], one[STOKES_VECTORS];
  const size_t bytes = solver_bytes(solver, run->m);
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->basis, 2 * bytes, 0));
  MD_TRY(root_lower(run, z, solver->basis.data));
  MD_TRY(normalise(run, solver->basis.data, norm));
  MD_TRY(lanczos_run(run, l, tolerance, out));
  MD_TRY(md_fill(solver->ctx, f, 0, bytes));
  for (int k = 0; k < l->steps; k++) {
    for (int c = 0; c < run->m; c++)
      factor[c] = norm[c] * l->weight[(int64_t)c * l->room + k], one[c] = 1;
    const double *v = (const double *)solver->basis.data + (size_t)k * (bytes / sizeof(double));
    MD_TRY(run->ops->columns(run->space, run->m, factor, v, one, f));
  }
  return MD_OK;
}

md_status root_lanczos(root_run *run, const double *z, double *f, double tolerance, int most,
                       stokes_outcome *out)
{
  lanczos l;
  MD_TRY(lanczos_create(&l, run->m, most));
  const md_status status = sum(run, &l, z, f, tolerance, out);
  lanczos_free(&l);
  return status;
}
