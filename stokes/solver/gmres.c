/* stokes/solver/gmres.c - flexible GMRES for m columns that share products.
 *
 *     Z_k = P_k v_k,   A Z = V H,   x += Z y,   |g - H y| least
 *
 * v_0, z_0, v_1, z_1, ... lie one after the other.  H becomes the triangle T by rotations, column
 * by column; g is the right-hand side turned likewise, and its last element the residual.  All
 * small numbers are [.][m].  A column whose space is exhausted has v = 0 from then on. */
#include "stokes/solver/gmres.h"
#include "core/most.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
  const gmres_system *system;
  int m, steps, room;
  size_t length;               /* of a vector */
  double *triangle;            /* column k of T has k + 1 elements: [k (k + 1) / 2 + j][m] */
  double *cosine, *sine, *g;   /* [room][m], g [room + 1][m] */
  double norm[STOKES_VECTORS]; /* |b| */
  double zero[STOKES_VECTORS], one[STOKES_VECTORS];
} gmres_run;

static void gmres_free(gmres_run *run)
{
  free(run->triangle);
  free(run->cosine);
  free(run->sine);
  free(run->g);
}

static double *vector(const gmres_run *run, int k)
{
  return (double *)run->system->basis->data + (size_t)k * run->length;
}

static md_status more(double **numbers, size_t n)
{
  double *grown = realloc(*numbers, n * sizeof *grown);
  MD_REQUIRE(grown, MD_ENOMEM, "out of memory for %zu numbers of GMRES", n);
  *numbers = grown;
  return MD_OK;
}

/* Room for one more step. */
static md_status reserve(gmres_run *run)
{
  const size_t bytes = run->length * sizeof(double), k = (size_t)run->steps, m = (size_t)run->m;
  const size_t kept = k ? (2 * k + 1) * bytes : 0; /* at first there is room for v_0 after this */
  MD_TRY(md_buffer_reserve(run->system->space->ctx, run->system->basis, (2 * k + 3) * bytes, kept));
  if (run->steps < run->room) return MD_OK;
  const size_t room = 2 * k + 16;
  MD_TRY(more(&run->triangle, room * (room + 1) / 2 * m));
  MD_TRY(more(&run->cosine, room * m));
  MD_TRY(more(&run->sine, room * m));
  MD_TRY(more(&run->g, (room + 1) * m));
  run->room = (int)room;
  return MD_OK;
}

/* v = v / |v|; *norm: what |v| was. */
static md_status normalise(gmres_run *run, double *v, double *norm)
{
  double scale[STOKES_VECTORS];
  const gmres_system *s = run->system;
  MD_TRY(s->ops->dots(s->space, run->m, v, v, norm));
  for (int c = 0; c < run->m; c++) {
    MD_REQUIRE(isfinite(norm[c]), MD_ENUMERIC,
               "GMRES met a number that is not finite after %d "
               "iterations",
               run->steps);
    norm[c] = sqrt(norm[c]);
    scale[c] = norm[c] > 0 ? 1 / norm[c] : 0;
  }
  return s->ops->columns(s->space, run->m, run->zero, v, scale, v);
}

/* Turn the column h [k + 2][m] of H by the rotations so far and by a new one. */
static void turn(gmres_run *run, double *h)
{
  const int m = run->m, k = run->steps;
  double *column = run->triangle + (size_t)k * ((size_t)k + 1) / 2 * (size_t)m;
  for (int c = 0; c < m; c++) {
    for (int j = 0; j < k; j++) {
      const double a = h[j * m + c], b = h[(j + 1) * m + c];
      column[j * m + c] = run->cosine[j * m + c] * a + run->sine[j * m + c] * b;
      h[(j + 1) * m + c] = run->cosine[j * m + c] * b - run->sine[j * m + c] * a;
    }
    const double a = h[k * m + c], b = h[(k + 1) * m + c], r = hypot(a, b);
    const double cosine = r > 0 ? a / r : 1, sine = r > 0 ? b / r : 0;
    column[k * m + c] = r;
    run->cosine[k * m + c] = cosine, run->sine[k * m + c] = sine;
    run->g[(k + 1) * m + c] = -sine * run->g[k * m + c];
    run->g[k * m + c] *= cosine;
  }
}

/* v_(k+1) from A P v_k, orthogonal to all before. */
static md_status step(gmres_run *run, double *h)
{
  const gmres_system *s = run->system;
  const int m = run->m, k = run->steps;
  double minus[STOKES_VECTORS], *next = vector(run, 2 * k + 2);
  MD_TRY(s->precondition(s->what, m, vector(run, 2 * k), vector(run, 2 * k + 1)));
  MD_TRY(s->multiply(s->what, m, vector(run, 2 * k + 1), next));
  for (int j = 0; j <= k; j++) {
    MD_TRY(s->ops->dots(s->space, m, vector(run, 2 * j), next, h + j * m));
    for (int c = 0; c < m; c++)
      minus[c] = -h[j * m + c];
    MD_TRY(s->ops->columns(s->space, m, minus, vector(run, 2 * j), run->one, next));
  }
  MD_TRY(normalise(run, next, h + (k + 1) * m));
  turn(run, h);
  run->steps++;
  return MD_OK;
}

/* x += Z y with T y = g. */
static md_status finish(gmres_run *run, double *x)
{
  const gmres_system *s = run->system;
  const int m = run->m;
  for (int k = run->steps - 1; k >= 0; k--) {
    const double *column = run->triangle + (size_t)k * ((size_t)k + 1) / 2 * (size_t)m;
    double *y = run->g + k * m;
    for (int c = 0; c < m; c++) {
      y[c] = column[k * m + c] > 0 ? y[c] / column[k * m + c] : 0;
      for (int j = 0; j < k; j++)
        run->g[j * m + c] -= column[j * m + c] * y[c];
    }
    MD_TRY(s->ops->columns(s->space, m, y, vector(run, 2 * k + 1), run->one, x));
  }
  return MD_OK;
}

/* The largest residual by the recurrence, as g tells. */
static double known(const gmres_run *run)
{
  double most = 0;
  for (int c = 0; c < run->m; c++) {
    const double rest = fabs(run->g[run->steps * run->m + c]);
    most = md_most(most, rest == 0 ? 0 : rest / run->norm[c]);
  }
  return most;
}

/* v_0 = b - A x, normalised; *residual: the largest of a column. */
static md_status begin(gmres_run *run, const double *b, const double *x, double *residual)
{
  const gmres_system *s = run->system;
  double minus[STOKES_VECTORS];
  run->steps = 0;
  MD_TRY(reserve(run));
  for (int c = 0; c < run->m; c++)
    minus[c] = -1;
  MD_TRY(s->multiply(s->what, run->m, x, vector(run, 0)));
  MD_TRY(s->ops->columns(s->space, run->m, run->one, b, minus, vector(run, 0)));
  MD_TRY(normalise(run, vector(run, 0), run->g));
  *residual = known(run);
  return MD_OK;
}

/* Iterations from one true residual until the next would be small enough. */
static md_status descend(gmres_run *run, double *x, double goal, int most)
{
  double *h = NULL;
  md_status status = MD_OK;
  while (!status && run->steps < most && known(run) > goal) {
    status = reserve(run);
    if (!status) status = more(&h, ((size_t)run->steps + 2) * (size_t)run->m);
    if (!status) status = step(run, h);
  }
  free(h);
  return status ? status : finish(run, x);
}

static md_status solve(gmres_run *run, const double *b, double *x, double tolerance, int most,
                       stokes_outcome *out)
{
  const double spare = 0.9; /* so that rounding does not make a second round */
  double before;
  MD_TRY(run->system->ops->dots(run->system->space, run->m, b, b, run->norm));
  for (int c = 0; c < run->m; c++) {
    run->norm[c] = sqrt(run->norm[c]);
    run->zero[c] = run->norm[c] > 0; /* x = 0 where b is: for this once */
  }
  MD_TRY(run->system->ops->columns(run->system->space, run->m, (double[STOKES_VECTORS]){0}, b,
                                   run->zero, x));
  for (int c = 0; c < run->m; c++)
    run->zero[c] = 0, run->one[c] = 1;
  MD_TRY(begin(run, b, x, &out->residual));
  do {
    before = out->residual;
    if (before <= tolerance) return MD_OK;
    MD_TRY(descend(run, x, spare * tolerance, most - out->iterations));
    out->iterations += run->steps;
    MD_TRY(begin(run, b, x, &out->residual));
  } while (out->iterations < most && out->residual < 0.5 * before);
  MD_REQUIRE(out->residual <= tolerance, MD_ENUMERIC,
             "GMRES reached a residual of %.3g in %d iterations, not %.3g", out->residual,
             out->iterations, tolerance);
  return MD_OK;
}

md_status gmres_solve(const gmres_system *system, int m, const double *b, double *x,
                      double tolerance, int most, stokes_outcome *out)
{
  MD_REQUIRE(m >= 1 && m <= STOKES_VECTORS, MD_EINVAL, "GMRES takes 1 to %d vectors, not %d",
             STOKES_VECTORS, m);
  gmres_run run = {
      .system = system, .m = m, .length = (size_t)system->space->n_rows * 3 * (size_t)m};
  *out = (stokes_outcome){0};
  const md_status status = solve(&run, b, x, tolerance, most, out);
  gmres_free(&run);
  return status;
}
