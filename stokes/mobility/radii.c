/* stokes/mobility/radii.c - spheres of unequal radii on one mesh.
 *
 * The far part needs s(k a) of every sphere, sums of few products of a function of a and one of k.
 * With radii A_q and shares p_q, the singular value decomposition of sqrt(p_q H(k)) s(k A_q) over k
 * is the best such sum for any number of terms: coefficient_t(A_q) = u_qt / sqrt(p_q),
 * mix_t[q] = u_qt sqrt(p_q).  One-sided Jacobi rotations make it: they keep small singular values
 * exact, where eigenvalues of the Gram matrix would lose them. */
#include "stokes/mobility/rpy_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* H(k) is below 1e-13 beyond so many xi. */
static const double K_MOST = 11.5;

/* Chebyshev points of the range, ends included. */
static void set_nodes(rpy_radii *radii)
{
  radii->n = RPY_NODES;
  radii->nodes = true;
  for (int q = 0; q < RPY_NODES; q++)
    radii->radius[q] =
        radii->least + (radii->most - radii->least) * pow(sin(M_PI / 2 * q / (RPY_NODES - 1)), 2);
}

static int nearest(const rpy_radii *radii, double a)
{
  int best = 0;
  for (int q = 1; q < radii->n; q++)
    if (fabs(radii->radius[q] - a) < fabs(radii->radius[best] - a)) best = q;
  return best;
}

/* One more radius in its place, if there is room; false when there are too many. */
static bool insert(rpy_radii *radii, double a)
{
  int at = radii->n;
  while (at > 0 && radii->radius[at - 1] > a)
    at--;
  if (at > 0 && radii->radius[at - 1] == a) return true;
  if (radii->n == RPY_RADII) return false;
  for (int q = radii->n++; q > at; q--)
    radii->radius[q] = radii->radius[q - 1];
  radii->radius[at] = a;
  return true;
}

md_status rpy_radii_of(const stokes_view *spheres, rpy_radii *out)
{
  const int64_t n = spheres->n;
  bool all = true;
  *out = (rpy_radii){.least = spheres->x[3], .most = spheres->x[3]};
  for (int64_t i = 0; i < n; i++) {
    const double a = spheres->x[4 * i + 3];
    MD_REQUIRE(a > 0 && isfinite(a), MD_EINVAL,
               "sphere %" PRId64 ": its radius must be > 0 and finite, not %g", i + 1, a);
    out->least = fmin(out->least, a);
    out->most = fmax(out->most, a);
    all = all && insert(out, a);
  }
  if (!all) set_nodes(out);
  for (int64_t i = 0; i < n; i++)
    out->share[nearest(out, spheres->x[4 * i + 3])] += 1 / (double)n;
  return MD_OK;
}

/* A sphere whose radius is not a number has another one always. */
static md_status store(md_ctx *ctx, const stokes_view *spheres, double *kept, bool *same)
{
  (void)ctx;
  *same = true;
  for (int64_t i = 0; i < spheres->n; i++) {
    *same = *same && spheres->x[4 * i + 3] == kept[i];
    kept[i] = spheres->x[4 * i + 3];
  }
  return MD_OK;
}

md_status rpy_radii_keep(md_ctx *ctx, const stokes_view *spheres, int64_t before, md_buffer *kept,
                         bool *same)
{
  static rpy_radii_store_fn *const table[MD_BACKEND_COUNT] = {store, MD_GPU(rpy_radii_store_gpu)};
  const bool more = spheres->n != before;
  MD_TRY(md_buffer_reserve(ctx, kept, ((size_t)spheres->n + 1) * sizeof(double), 0));
  if (more) MD_TRY(md_fill(ctx, kept->data, 0, kept->bytes));
  return table[ctx->backend](ctx, spheres, kept->data, same);
}

bool rpy_radii_resolve(const rpy_radii *radii, double xi)
{
  const double turns = K_MOST * xi * (radii->most - radii->least) / 2;
  return !radii->nodes || turns + 14 <= RPY_NODES;
}

/* Barycentric interpolation on Chebyshev points (Berrut and Trefethen, SIAM Review 46, 501). */
void rpy_radii_weights(const rpy_radii *radii, double a, double *weight)
{
  double sum = 0;
  for (int q = 0; q < radii->n; q++)
    weight[q] = 0;
  for (int q = 0; q < radii->n; q++) {
    const double apart = a - radii->radius[q];
    if (apart == 0) {
      memset(weight, 0, (size_t)radii->n * sizeof *weight);
      weight[q] = 1;
      return;
    }
    weight[q] = (q % 2 ? -1 : 1) * (q == 0 || q == radii->n - 1 ? 0.5 : 1) / apart;
    sum += weight[q];
  }
  for (int q = 0; q < radii->n; q++)
    weight[q] /= sum;
}

static double sinc(double x)
{
  return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* Columns of y [n][rows] made orthogonal by rotations, which are gathered in u [n][n]. */
static void rotate(int n, int rows, double *y, double *u)
{
  enum { SWEEPS = 40 };
  bool done = false;
  for (int sweep = 0; sweep < SWEEPS && !done; sweep++) {
    done = true;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        double *a = y + (int64_t)p * rows, *b = y + (int64_t)q * rows, aa = 0, bb = 0, ab = 0;
        for (int k = 0; k < rows; k++)
          aa += a[k] * a[k], bb += b[k] * b[k], ab += a[k] * b[k];
        if (fabs(ab) <= 1e-15 * sqrt(aa * bb) || aa == 0 || bb == 0) continue;
        done = false;
        const double zeta = (bb - aa) / (2 * ab);
        const double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        const double c = 1 / sqrt(1 + t * t), s = c * t;
        for (int k = 0; k < rows; k++) {
          const double old = a[k];
          a[k] = c * old - s * b[k];
          b[k] = s * old + c * b[k];
        }
        for (int k = 0; k < n; k++) {
          const double old = u[p * n + k];
          u[p * n + k] = c * old - s * u[q * n + k];
          u[q * n + k] = s * old + c * u[q * n + k];
        }
      }
  }
}

/* A decomposition at work: y [n][rows], u [n][n], k-th mode at (k + 1/2) step. */
typedef struct {
  const rpy_radii *radii;
  double xi, step;
  int rows;
  double *y, *u;
} shapes;

/* Terms by falling singular value. */
static void sort_terms(const shapes *s, rpy_terms *out)
{
  const int n = s->radii->n;
  double size[RPY_NODES];
  int order[RPY_NODES];
  for (int t = 0; t < n; t++) {
    size[t] = 0;
    for (int k = 0; k < s->rows; k++)
      size[t] += s->y[(int64_t)t * s->rows + k] * s->y[(int64_t)t * s->rows + k];
    int at = t;
    for (; at > 0 && size[order[at - 1]] < size[t]; at--)
      order[at] = order[at - 1];
    order[at] = t;
  }
  out->n = n;
  for (int t = 0; t < n; t++)
    for (int q = 0; q < n; q++) {
      const double root = sqrt(fmax(s->radii->share[q], 1e-6)), u = s->u[order[t] * n + q];
      out->mix[t][q] = u * root;
      out->coefficient[t][q] = u / root;
    }
}

/* What leaving out terms does: to pairs at random places, and to spheres alone. */
static void term_errors(const shapes *s, double density, double viscosity, rpy_terms *out)
{
  const int n = s->radii->n;
  double self[RPY_NODES][RPY_NODES] = {{0}}, pair[RPY_NODES] = {0};
  for (int k = 0; k < s->rows; k++) {
    const double wave = (k + 0.5) * s->step, z = wave * wave / (4 * s->xi * s->xi);
    const double h = (1 + z) * exp(-z), scale = s->step / (2 * M_PI * M_PI * viscosity);
    double part[RPY_NODES] = {0}, exact[RPY_NODES], all = 0;
    for (int q = 0; q < n; q++) {
      exact[q] = sinc(wave * s->radii->radius[q]);
      all += s->radii->share[q] * exact[q] * exact[q];
    }
    for (int t = 0; t < n; t++) {
      double phi = 0, rest = 0;
      for (int q = 0; q < n; q++)
        phi += out->mix[t][q] * exact[q];
      for (int q = 0; q < n; q++) {
        part[q] += out->coefficient[t][q] * phi;
        self[t][q] += 2.0 / 3 * scale * h * (exact[q] * exact[q] - part[q] * part[q]);
        rest += s->radii->share[q] * (exact[q] - part[q]) * (exact[q] - part[q]);
      }
      pair[t] += 4 * density * scale / viscosity * h * h / (wave * wave) * all * rest;
    }
  }
  for (int t = 0; t < n; t++) {
    double square = pair[t] / 3;
    for (int q = 0; q < n; q++)
      square += s->radii->share[q] * self[t][q] * self[t][q];
    out->error[t] = t == n - 1 ? 0 : sqrt(square);
  }
}

md_status rpy_terms_of(const rpy_radii *radii, double density, double viscosity, double xi,
                       rpy_terms *out)
{
  const int n = radii->n;
  shapes s = {.radii = radii, .xi = xi};
  s.rows = (int)fmin(fmax(128, 4 * K_MOST * xi * radii->most), 4096);
  s.step = K_MOST * xi / s.rows;
  s.y = malloc(((size_t)n * (size_t)s.rows + (size_t)(n * n)) * sizeof *s.y);
  MD_REQUIRE(s.y, MD_ENOMEM, "out of memory for the terms of %d radii", n);
  s.u = s.y + (size_t)n * (size_t)s.rows;
  for (int q = 0; q < n; q++) {
    const double root = sqrt(fmax(radii->share[q], 1e-6));
    for (int k = 0; k < s.rows; k++) {
      const double wave = (k + 0.5) * s.step, z = wave * wave / (4 * xi * xi);
      s.y[(int64_t)q * s.rows + k] = root * sqrt((1 + z) * exp(-z)) * sinc(wave * radii->radius[q]);
    }
    for (int p = 0; p < n; p++)
      s.u[q * n + p] = p == q;
  }
  rotate(n, s.rows, s.y, s.u);
  sort_terms(&s, out);
  term_errors(&s, density, viscosity, out);
  free(s.y);
  return MD_OK;
}
