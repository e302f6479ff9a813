/* stokes/mobility/direct.c - velocities of some spheres by Ewald's sum as it stands.
 *
 * Any splitting parameter gives the same sum; the one with the least work is taken, which is not
 * that of the operator it is compared with.  Structure factors are made mode by mode, then each
 * sphere sums them: one order for any number of threads. */
#include "stokes/mobility/rpy_impl.h"
#include "stokes/mobility/rpy_pair.h"
#include "stokes/pairs/search.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const stokes_view *spheres;
  double viscosity, xi, gap, wave; /* near within a gap, modes below a wave number */
  int m, threads;
  const double *f;
  int most[3]; /* modes along each axis */
  int64_t n_modes;
  double *k;      /* [n_modes][4]: wave vector and 2 D(k); one of each k and -k */
  double *factor; /* [n_modes][3 m][2]: cosines and sines, projected and weighed */
} job;

/* Images and modes that a splitting parameter needs, in multiples of evaluations of a pair. */
static double work(const job *s, double xi, double digits, int64_t count)
{
  const double *box = s->spheres->box, volume = rpy_volume(box);
  double most = 0, near = (double)count * (double)s->spheres->n, modes = 4 * M_PI / 3 * volume;
  for (int64_t i = 0; i < s->spheres->n; i++)
    most = fmax(most, s->spheres->x[4 * i + 3]);
  for (int d = 0; d < 3; d++)
    near *= 2 * ceil((sqrt(digits * M_LN10) / xi + 2 * most) / box[d] + 0.5) + 1;
  modes *= pow(2 * xi * sqrt((digits + 1) * M_LN10) / (2 * M_PI), 3) / 2;
  return 0.05 * near + 0.3 * modes * (double)(s->spheres->n + count) * (1 + 0.3 * s->m);
}

static void choose(job *s, double digits, int64_t count)
{
  const double unit = 1 / cbrt(rpy_volume(s->spheres->box));
  double least = INFINITY;
  for (int k = 0; k < 60; k++) {
    const double xi = unit * pow(1.1, k), now = work(s, xi, digits, count);
    if (now < least) least = now, s->xi = xi;
  }
  s->gap = sqrt(digits * M_LN10) / s->xi;
  s->wave = 2 * s->xi * sqrt((digits + 1) * M_LN10);
  for (int d = 0; d < 3; d++)
    s->most[d] = (int)ceil(s->wave * s->spheres->box[d] / (2 * M_PI));
}

/* Wave vectors of one half of space; counted, and stored where there is room. */
static int64_t list_modes(const job *s, double *out)
{
  const double *box = s->spheres->box, scale = 2 / (s->viscosity * rpy_volume(box));
  int64_t n = 0;
  for (int p = 0; p <= s->most[0]; p++)
    for (int q = p ? -s->most[1] : 0; q <= s->most[1]; q++)
      for (int r = p || q ? -s->most[2] : 1; r <= s->most[2]; r++) {
        const double k[3] = {2 * M_PI * p / box[0], 2 * M_PI * q / box[1], 2 * M_PI * r / box[2]};
        const double k_sq = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        const double z = k_sq / (4 * s->xi * s->xi);
        if (k_sq > s->wave * s->wave) continue;
        if (out) {
          memcpy(out + 4 * n, k, sizeof k);
          out[4 * n + 3] = scale * (1 + z) * exp(-z) / k_sq;
        }
        n++;
      }
  return n;
}

/* s(k a) e^{ikx} of a sphere. */
static void phase(const double *k, const double *x, double out[2])
{
  const double wave = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), z = wave * x[3];
  const double angle = k[0] * x[0] + k[1] * x[1] + k[2] * x[2];
  const double shape = z < 1e-4 ? 1 - z * z / 6 : sin(z) / z;
  out[0] = shape * cos(angle);
  out[1] = shape * sin(angle);
}

static void sum_mode(const job *s, int64_t mode)
{
  const double *k = s->k + 4 * mode, k_sq = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const int m = s->m;
  double *sum = s->factor + mode * 6 * m;
  memset(sum, 0, (size_t)(6 * m) * sizeof *sum);
  for (int64_t i = 0; i < s->spheres->n; i++) {
    double e[2];
    phase(k, s->spheres->x + 4 * i, e);
    for (int j = 0; j < 3 * m; j++)
      for (int part = 0; part < 2; part++)
        sum[2 * j + part] += e[part] * s->f[3 * i * m + j];
  }
  for (int c = 0; c < m; c++)
    for (int part = 0; part < 2; part++) {
      double along = 0;
      for (int d = 0; d < 3; d++)
        along += k[d] * sum[2 * (d * m + c) + part] / k_sq;
      for (int d = 0; d < 3; d++) {
        double *at = &sum[2 * (d * m + c) + part];
        *at = k[3] * (*at - k[d] * along);
      }
    }
}

static void add_far(const job *s, const double *x, double *u)
{
  for (int64_t mode = 0; mode < s->n_modes; mode++) {
    const double *sum = s->factor + mode * 6 * s->m;
    double e[2];
    phase(s->k + 4 * mode, x, e);
    for (int j = 0; j < 3 * s->m; j++)
      u[j] += e[0] * sum[2 * j] + e[1] * sum[2 * j + 1];
  }
}

/* All images of sphere j near x. */
static void add_near(const job *s, const double *x, int64_t j, double *u)
{
  const double *y = s->spheres->x + 4 * j, *box = s->spheres->box, *f = s->f + 3 * j * s->m;
  const double reach = x[3] + y[3] + s->gap;
  int most[3], at[3];
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(reach / box[d] + 0.5);
  for (at[0] = -most[0]; at[0] <= most[0]; at[0]++)
    for (at[1] = -most[1]; at[1] <= most[1]; at[1]++)
      for (at[2] = -most[2]; at[2] <= most[2]; at[2]++) {
        double e[3], r_sq = 0;
        for (int d = 0; d < 3; d++) {
          e[d] = search_difference(x[d], y[d], box[d]) + at[d] * box[d];
          r_sq += e[d] * e[d];
        }
        if (r_sq > reach * reach) continue;
        const rpy_block pair = rpy_near_pair(sqrt(r_sq), x[3], y[3], s->xi, s->viscosity);
        const double both = r_sq > 0 ? (pair.g - pair.f) / r_sq : 0;
        for (int c = 0; c < s->m; c++) {
          double along = 0;
          for (int d = 0; d < 3; d++)
            along += e[d] * f[d * s->m + c];
          for (int d = 0; d < 3; d++)
            u[d * s->m + c] += pair.f * f[d * s->m + c] + both * along * e[d];
        }
      }
}

static void sum_all(const job *s, int64_t count, const int64_t *which, double *u)
{
#pragma omp parallel num_threads(s->threads)
  {
#pragma omp for schedule(static)
    for (int64_t mode = 0; mode < s->n_modes; mode++)
      sum_mode(s, mode);
#pragma omp for schedule(dynamic, 1)
    for (int64_t t = 0; t < count; t++) {
      const double *x = s->spheres->x + 4 * which[t];
      memset(u + 3 * t * s->m, 0, (size_t)(3 * s->m) * sizeof *u);
      for (int64_t j = 0; j < s->spheres->n; j++)
        add_near(s, x, j, u + 3 * t * s->m);
      add_far(s, x, u + 3 * t * s->m);
    }
  }
}

md_status rpy_direct(md_ctx *ctx, const stokes_view *spheres, double viscosity, double digits,
                     int m, const double *f, int64_t count, const int64_t *which, double *u)
{
  MD_REQUIRE(viscosity > 0 && digits > 0 && digits <= 15 && m >= 1, MD_EINVAL,
             "a direct sum needs a viscosity > 0, 1 to 15 digits and a vector, not %g, %g and %d",
             viscosity, digits, m);
  job s = {.spheres = spheres, .viscosity = viscosity, .m = m, .threads = ctx->threads, .f = f};
  choose(&s, digits, count);
  s.n_modes = list_modes(&s, NULL);
  s.k = malloc((size_t)s.n_modes * (4 + 6 * (size_t)m) * sizeof *s.k);
  MD_REQUIRE(s.k, MD_ENOMEM, "out of memory for the %" PRId64 " modes of a direct sum", s.n_modes);
  s.factor = s.k + 4 * s.n_modes;
  list_modes(&s, s.k);
  sum_all(&s, count, which, u);
  free(s.k);
  return MD_OK;
}
