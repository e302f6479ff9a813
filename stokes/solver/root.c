/* stokes/solver/root.c - square roots of a matrix times vectors, by Chebyshev polynomials.
 *
 *     f = L S(L^-1 A L^-T) z = S(A M^-1) L z,   M = L L^T,   S(a) near sqrt(a)
 *     u = G(A) z,   G(a) near 1 / sqrt(a)
 *
 * S and G are expansions on [low, high], sums of T_k that follow from their recurrence.  The order
 * is the least that has the error asked for.  [Liu] section II.C; Fixman 1986.
 *
 * The bounds that are known of a resistance matrix without work are equally far apart with and
 * without M, and so the order is the same: then f = S(A) z is taken, which needs no M and changes
 * less from step to step than L S z does, so that guesses made from it hold longer.
 *
 * G serves guesses, which need few digits: it is summed in single precision where that will do. */
#include "core/most.h"
#include "stokes/solver/solver_impl.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coefficients of T_0 ... T_order of a^power on [low, high]. */
static void expand(double power, double low, double high, int order, double *coefficient)
{
  const double pi = 3.141592653589793;
  const int points = 4 * (order + 1) + 64;
  memset(coefficient, 0, ((size_t)order + 1) * sizeof *coefficient);
  for (int p = 0; p < points; p++) {
    const double x = cos(pi * (p + 0.5) / points);
    const double value = pow(0.5 * ((high - low) * x + high + low), power) / points;
    double now = 1, next = x; /* T_k and T_(k+1) at x */
    for (int k = 0; k <= order; k++) {
      coefficient[k] += (k ? 2 : 1) * value * now;
      const double after = 2 * x * next - now;
      now = next;
      next = after;
    }
  }
}

/* The sum of the series at x in -1..1 (Clenshaw). */
static double sum_at(const double *coefficient, int order, double x)
{
  double b1 = 0, b2 = 0;
  for (int k = order; k > 0; k--) {
    const double b = coefficient[k] + 2 * x * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return coefficient[0] + x * b1 - b2;
}

static double error_of(double power, double low, double high, const double *coefficient, int order)
{
  const double pi = 3.141592653589793;
  const int points = 10 * (order + 1) + 1;
  double most = 0;
  for (int p = 0; p <= points; p++) {
    const double x = cos(pi * p / points), a = 0.5 * ((high - low) * x + high + low);
    most = fmax(most, fabs(sum_at(coefficient, order, x) * pow(a, -power) - 1));
  }
  return most;
}

double stokes_chebyshev_error(double power, double low, double high, int order)
{
  double *coefficient = malloc(((size_t)order + 1) * sizeof *coefficient);
  if (!coefficient) return INFINITY;
  expand(power, low, high, order, coefficient);
  const double error = error_of(power, low, high, coefficient, order);
  free(coefficient);
  return error;
}

/* The least order up to `enough` whose error is small; it falls steadily with the order. */
static int least(double power, double low, double high, const double *coefficient, double tolerance,
                 int enough)
{
  int less = 0;
  while (enough - less > 1) {
    const int middle = less + (enough - less) / 2;
    if (error_of(power, low, high, coefficient, middle) <= tolerance)
      enough = middle;
    else
      less = middle;
  }
  return enough;
}

int stokes_chebyshev_order(double power, double low, double high, double tolerance, int most)
{
  for (int64_t order = 16; most > 0; order *= 2) {
    const int trial = order < most ? (int)order : most;
    double *coefficient = malloc(((size_t)trial + 1) * sizeof *coefficient);
    if (!coefficient) return 0;
    expand(power, low, high, trial, coefficient);
    const bool found = error_of(power, low, high, coefficient, trial) <= tolerance;
    const int result = found ? least(power, low, high, coefficient, tolerance, trial) : -1;
    free(coefficient);
    if (found || trial == most) return result;
  }
  return -1;
}

/* How far |M^-1/2 f|^2 is from z^T A' z, which f = S z should have; the largest of m columns. */
static md_status norm_error(root_run *run, const double *exact, double *f, double *out)
{
  double square[STOKES_VECTORS], *z;
  MD_TRY(root_work(run, &z));
  MD_TRY(solver_precondition(run->solver, run->m, f, z, &z));
  MD_TRY(run->ops->dots(run->space, run->m, f, z, square));
  *out = 0;
  for (int c = 0; c < run->m; c++) {
    const double error = exact[c] == 0 ? 0 : fabs(sqrt(square[c] / exact[c]) - 1);
    *out = md_most(*out, error);
  }
  return MD_OK;
}

/* f = sum of coefficient[k] T_k v, where v is in the solver's vector 2; exact: v^T M^-1 A M^-1
 * v. */
static md_status chebyshev_sum(root_run *run, const root_series *series, double *f, double *exact)
{
  const double low = series->low, high = series->high, *coefficient = series->coefficient;
  const double middle = (high + low) / (high - low), slope = 2 / (high - low);
  const int order = series->order;
  const bool fused =
      stokes_matrix_has_series(run->solver->matrix) && !solver_preconditioned(run->solver);
  double zero[STOKES_VECTORS] = {0}, first[STOKES_VECTORS], *v[2], *work;
  MD_TRY(solver_vector(run->solver, 2, run->m, &v[0]));
  MD_TRY(root_work(run, &work));
  MD_TRY(solver_vector(run->solver, work ? 3 : 1, run->m, &v[1]));
  for (int c = 0; c < run->m; c++)
    first[c] = coefficient[0];
  MD_TRY(root_apply(run, v[0]));
  MD_TRY(run->ops->dots(run->space, run->m, run->u, run->w, exact));
  MD_TRY(md_copy(run->solver->ctx, f, v[0], solver_bytes(run->solver, run->m)));
  MD_TRY(run->ops->columns(run->space, run->m, zero, v[0], first, f));
  MD_TRY(md_copy(run->solver->ctx, v[1], v[0], solver_bytes(run->solver, run->m)));
  for (int k = 1; k <= order; k++) {
    const double twice = k == 1 ? 1 : 2;
    /* A fused step adds this term and the one before, so that f is used in every other step only;
     * the first term is added below. */
    const double before = k > 2 ? coefficient[k - 1] : 0;
    const double factor[5] = {twice * slope, -twice * middle, k == 1 ? 0 : -1, coefficient[k],
                              before};
    double *now = v[(k + 1) % 2], *next = v[k % 2];
    if (fused && k > 1) {
      double *sum = (order - k) % 2 == 0 ? f : NULL;
      MD_TRY(stokes_matrix_series(run->solver->matrix, run->m, factor, now, next, sum));
      continue;
    }
    MD_TRY(run->ops->chebyshev(run->space, run->m, factor, run->w, now, next, f, work));
    run->u = solver_preconditioned(run->solver) ? work : next;
    if (k < order && !fused)
      MD_TRY(stokes_matrix_multiply(run->solver->matrix, run->m, run->u, run->w));
  }
  return MD_OK;
}

/* The polynomial for these bounds and tolerance; the last one is kept. */
static md_status prepare(root_series *series, double power, double low, double high,
                         double tolerance, int most)
{
  if (series->low == low && series->high == high && series->tolerance == tolerance &&
      series->order <= most)
    return MD_OK;
  const int order = stokes_chebyshev_order(power, low, high, tolerance, most);
  MD_REQUIRE(order != 0, MD_ENOMEM, "out of memory for a polynomial");
  MD_REQUIRE(order > 0, MD_ENUMERIC,
             "a Chebyshev polynomial of order %d has an error of %.3g for eigenvalues in %.3g .. "
             "%.3g, not %.3g",
             most, stokes_chebyshev_error(power, low, high, most), low, high, tolerance);
  free(series->coefficient);
  *series = (root_series){.coefficient = malloc(((size_t)order + 1) * sizeof(double))};
  MD_REQUIRE(series->coefficient, MD_ENOMEM, "out of memory for a polynomial");
  series->low = low, series->high = high, series->tolerance = tolerance, series->order = order;
  expand(power, low, high, order, series->coefficient);
  return MD_OK;
}

/* The series of a^power that serves for the present matrix. */
static md_status series_for(root_run *run, double power, double tolerance, int most,
                            root_series *series)
{
  double low, high;
  MD_TRY(stokes_solver_bounds(run->solver, false, &low, &high));
  if (high <= low) high = low * (1 + 1e-12);
  return prepare(series, power, low, high, tolerance, most);
}

static md_status series_root(root_run *run, const double *z, double *f, double tolerance, int most,
                             stokes_outcome *out)
{
  root_series *series = &run->solver->series;
  double exact[STOKES_VECTORS], *v;
  MD_TRY(series_for(run, 0.5, tolerance, most, series));
  MD_TRY(solver_vector(run->solver, 2, run->m, &v));
  MD_TRY(root_lower(run, z, v));
  MD_TRY(chebyshev_sum(run, series, f, exact));
  MD_TRY(norm_error(run, exact, f, &out->residual));
  out->iterations = series->order;
  MD_REQUIRE(out->residual <= tolerance, MD_ENUMERIC,
             "a square root by Chebyshev has an error of %.3g, not %.3g: eigenvalues lie beyond "
             "their bounds",
             out->residual, tolerance);
  return MD_OK;
}

/* Rounding errors in single precision, which may grow as the square of the order, are small beside
 * the series' own. */
static bool single_will_do(const root_run *run, const root_series *series)
{
  const double order = series->order;
  return stokes_matrix_has_series_single(run->solver->matrix) &&
         order * order * FLT_EPSILON <= series->tolerance;
}

/* u = sum of coefficient[k] T_k z in single precision. */
static md_status sum_in_single(root_run *run, const root_series *series, const double *z, double *u)
{
  const double low = series->low, high = series->high, *coefficient = series->coefficient;
  const double middle = (high + low) / (high - low), slope = 2 / (high - low);
  const int order = series->order, m = run->m;
  float *v[2], *sum;
  for (int k = 0; k < 2; k++) {
    MD_TRY(solver_floats(run->solver, k + 1, m, &v[k]));
    MD_TRY(run->ops->narrow(run->space, m, 1, z, v[k]));
  }
  MD_TRY(solver_floats(run->solver, 0, m, &sum));
  MD_TRY(run->ops->narrow(run->space, m, order % 2 == 0 ? coefficient[0] : 0, z, sum));
  for (int k = 1; k <= order; k++) { /* every other step adds its term and the one before */
    const double twice = k == 1 ? 1 : 2;
    const double factor[5] = {twice * slope, -twice * middle, k == 1 ? 0 : -1, coefficient[k],
                              coefficient[k - 1]};
    MD_TRY(stokes_matrix_series_single(run->solver->matrix, m, factor, v[(k + 1) % 2], v[k % 2],
                                       (order - k) % 2 == 0 ? sum : NULL));
  }
  return run->ops->widen(run->space, m, sum, u);
}

static md_status series_inverse(root_run *run, const double *z, double *u, double tolerance,
                                int most, stokes_outcome *out)
{
  root_series *series = &run->solver->inverse_series;
  double unused[STOKES_VECTORS], *v;
  MD_TRY(series_for(run, -0.5, tolerance, most, series));
  *out = (stokes_outcome){series->order, tolerance};
  if (single_will_do(run, series)) return sum_in_single(run, series, z, u);
  MD_TRY(root_begin(run, run->solver, run->m));
  MD_TRY(solver_vector(run->solver, 2, run->m, &v));
  MD_TRY(root_lower(run, z, v));
  return chebyshev_sum(run, series, u, unused);
}

typedef md_status root_fn(root_run *run, const double *z, double *f, double tolerance, int most,
                          stokes_outcome *out);

static md_status without_preconditioner(root_fn *root, root_run *run, const double *z, double *f,
                                        double tolerance, int most, stokes_outcome *out)
{
  vector_space *space = run->space;
  const double *jacobi = space->jacobi;
  space->jacobi = NULL;
  const md_status status = root(run, z, f, tolerance, most, out);
  space->jacobi = jacobi;
  return status;
}

static md_status chebyshev(root_run *run, const double *z, double *f, double tolerance, int most,
                           stokes_outcome *out)
{
  if (!run->solver->bounded && stokes_matrix_is_resistance(run->solver->matrix))
    return without_preconditioner(series_root, run, z, f, tolerance, most, out);
  return series_root(run, z, f, tolerance, most, out);
}

md_status stokes_solver_root(stokes_solver *solver, stokes_root kind, int m, const double *z,
                             double *f, double tolerance, int most, stokes_outcome *out)
{
  MD_REQUIRE(m >= 1 && m <= STOKES_VECTORS, MD_EINVAL,
             "a square root takes 1 to %d vectors, not %d", STOKES_VECTORS, m);
  root_run run;
  MD_TRY(root_begin(&run, solver, m));
  *out = (stokes_outcome){0};
  return (kind == STOKES_ROOT_CHEBYSHEV ? chebyshev : root_lanczos)(&run, z, f, tolerance, most,
                                                                    out);
}

md_status stokes_solver_inverse_root(stokes_solver *solver, int m, const double *z, double *u,
                                     double tolerance, int most, stokes_outcome *out)
{
  MD_REQUIRE(m >= 1 && m <= STOKES_VECTORS, MD_EINVAL,
             "a square root takes 1 to %d vectors, not %d", STOKES_VECTORS, m);
  MD_REQUIRE(stokes_matrix_is_resistance(solver->matrix) && !solver->bounded, MD_EINVAL,
             "an inverse square root is taken of a resistance matrix with its known bounds");
  root_run run = root_run_of(solver, m);
  return without_preconditioner(series_inverse, &run, z, u, tolerance, most, out);
}
