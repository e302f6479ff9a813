/* stokes/step/drift_cpu.c - see drift_impl.h. */
#include "stokes/step/drift_impl.h"

static md_status drive(md_ctx *ctx, int64_t n, const double force[3], double *f)
{
  (void)ctx;
  for (int64_t k = 0; k < 3 * n; k++)
    f[k] = force[k % 3];
  return MD_OK;
}

static md_status combine(md_ctx *ctx, int64_t n, int m, double dt, const double *v, double scale,
                         double *many)
{
  (void)ctx;
  for (int64_t k = 0; k < 3 * n; k++)
    for (int c = 0; c < m; c++)
      many[k * m + c] = dt * v[k] + scale * many[k * m + c];
  return MD_OK;
}

static md_status advance(md_ctx *ctx, int64_t n, int m, int column, const double *many, double *x)
{
  (void)ctx;
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 3; d++)
      x[4 * i + d] += many[(3 * i + d) * m + column];
  return MD_OK;
}

const drift_backend drift_cpu = {drive, combine, advance};
