/* tests/ref/ref_ewald.c - see ref_ewald.h. */
#include "tests/ref/ref_ewald.h"

#include <math.h>
#include <stdlib.h>

/* erfc(z) and exp(-z^2) are below 1e-18 beyond. */
static const double FAR = 6.4;

void ref_ewald_real(const ref_charges *c, double alpha, double r_cut, ref_coulomb *to)
{
  const double reach = r_cut > 0 ? r_cut : FAR / alpha;
  int most[3], s[3];
  for (int d = 0; d < 3; d++)
    most[d] = (int)(reach / c->edge[d]) + 1;
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->n; j++)
      for (s[0] = -most[0]; s[0] <= most[0]; s[0]++)
        for (s[1] = -most[1]; s[1] <= most[1]; s[1]++)
          for (s[2] = -most[2]; s[2] <= most[2]; s[2]++) {
            if (i == j && s[0] == 0 && s[1] == 0 && s[2] == 0) continue;
            double d[3], r_sq = 0;
            for (int a = 0; a < 3; a++) {
              d[a] = c->x[3 * i + a] - c->x[3 * j + a] + s[a] * c->edge[a];
              r_sq += d[a] * d[a];
            }
            if (r_sq >= reach * reach) continue;
            const double r = sqrt(r_sq), qq = c->q[i] * c->q[j], u = qq * erfc(alpha * r) / r;
            const double pull =
                u + qq * 2 * alpha / sqrt(M_PI) * exp(-alpha * alpha * r_sq); /* r |f| */
            to->energy += 0.5 * u;
            to->virial += 0.5 * pull;
            for (int a = 0; a < 3; a++)
              to->f[3 * i + a] += pull / r_sq * d[a];
          }
}

/* One mode k: phases, structure factor, sums. */
static void add_mode(const ref_charges *c, const double k[3], double alpha, double *phase,
                     ref_coulomb *to)
{
  const double k_sq = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const double volume = c->edge[0] * c->edge[1] * c->edge[2];
  const double weight = exp(-k_sq / (4 * alpha * alpha)) * 4 * M_PI / (volume * k_sq);
  double re = 0, im = 0;
  for (int i = 0; i < c->n; i++) {
    phase[i] = k[0] * c->x[3 * i] + k[1] * c->x[3 * i + 1] + k[2] * c->x[3 * i + 2];
    re += c->q[i] * cos(phase[i]);
    im += c->q[i] * sin(phase[i]);
  }
  const double energy = 0.5 * weight * (re * re + im * im);
  to->energy += energy;
  to->virial += energy * (1 - k_sq / (2 * alpha * alpha));
  for (int i = 0; i < c->n; i++) {
    const double along = weight * c->q[i] * (sin(phase[i]) * re - cos(phase[i]) * im);
    for (int a = 0; a < 3; a++)
      to->f[3 * i + a] += along * k[a];
  }
}

void ref_ewald_reciprocal(const ref_charges *c, double alpha, ref_coulomb *to)
{
  int most[3], m[3];
  double *phase = malloc((size_t)c->n * sizeof *phase);
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(FAR * alpha * c->edge[d] / M_PI);
  for (m[0] = -most[0]; m[0] <= most[0]; m[0]++)
    for (m[1] = -most[1]; m[1] <= most[1]; m[1]++)
      for (m[2] = -most[2]; m[2] <= most[2]; m[2]++) {
        double k[3], size = 0;
        for (int d = 0; d < 3; d++) {
          k[d] = 2 * M_PI * m[d] / c->edge[d];
          size += k[d] * k[d];
        }
        if (size > 0 && size < 4 * FAR * FAR * alpha * alpha) add_mode(c, k, alpha, phase, to);
      }
  free(phase);
}

void ref_ewald_constant(const ref_charges *c, double alpha, ref_coulomb *to)
{
  const double volume = c->edge[0] * c->edge[1] * c->edge[2];
  double sum = 0, sum_sq = 0;
  for (int i = 0; i < c->n; i++)
    sum += c->q[i], sum_sq += c->q[i] * c->q[i];
  const double background = -M_PI * sum * sum / (2 * volume * alpha * alpha);
  to->energy += background - alpha * sum_sq / sqrt(M_PI);
  to->virial += 3 * background;
}
