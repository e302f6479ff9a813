/* force/eam/eam.c - the functions of an embedded-atom potential, by their tables (eam.h). */
#include "force/eam/eam_at.h"
#include "core/crc.h"

#include <stdlib.h>
#include <string.h>

/* The slope at knot m, times the step. */
static double slope_at(const double *f, int64_t n, int64_t m)
{
  if (m == 0) return f[1] - f[0];
  if (m == n - 1) return f[n - 1] - f[n - 2];
  if (m == 1 || m == n - 2) return (f[m + 1] - f[m - 1]) / 2;
  return (f[m - 2] - f[m + 2] + 8 * (f[m + 1] - f[m - 1])) / 12;
}

md_status eam_curve_make(const double *values, int64_t n, double step, eam_curve *out)
{
  *out = (eam_curve){n, step, malloc((size_t)n * sizeof *out->knot)};
  MD_REQUIRE(out->knot, MD_ENOMEM, "out of memory for a table of %lld knots", (long long)n);
  for (int64_t m = 0; m < n; m++) {
    double *c = out->knot[m];
    c[0] = values[m], c[1] = slope_at(values, n, m), c[2] = c[3] = 0;
    if (m == n - 1) break;
    const double rise = values[m + 1] - values[m], end = slope_at(values, n, m + 1);
    c[2] = 3 * rise - 2 * c[1] - end;
    c[3] = c[1] + end - 2 * rise;
  }
  return MD_OK;
}

double eam_curve_at(const eam_curve *curve, double at, double *slope)
{
  return eam_at(curve, at, slope);
}

bool eam_embed_beyond(const eam_potential *eam, double rho)
{
  return rho > eam_end(&eam->embed);
}

double eam_embed(const eam_potential *eam, double rho, double *slope)
{
  return eam_on(&eam->embed, rho, slope);
}

double eam_density(const eam_potential *eam, double r, double *slope)
{
  *slope = 0;
  return r < eam->cutoff ? eam_curve_at(&eam->density, r, slope) : 0;
}

double eam_pair(const eam_potential *eam, double r, double *slope)
{
  *slope = 0;
  if (!(r < eam->cutoff)) return 0;
  const double phi = eam_curve_at(&eam->pair, r, slope) / r;
  *slope = (*slope - phi) / r;
  return phi;
}

uint32_t eam_check_sum(const eam_potential *eam)
{
  const eam_curve *const curves[] = {&eam->embed, &eam->density, &eam->pair};
  uint32_t crc = md_crc32c(0, &eam->cutoff, sizeof eam->cutoff);
  for (int k = 0; k < 3; k++) {
    const size_t bytes = (size_t)curves[k]->n * sizeof *curves[k]->knot;
    crc = md_crc32c(crc, &curves[k]->step, sizeof curves[k]->step);
    crc = md_crc32c(crc, curves[k]->knot, bytes);
  }
  return crc;
}

void eam_free(eam_potential *eam)
{
  free(eam->embed.knot);
  free(eam->density.knot);
  free(eam->pair.knot);
  memset(eam, 0, sizeof *eam);
}
