/* stokes/step/flow_cpu.c - see flow_impl.h. */
#include "stokes/step/flow_impl.h"
#include "stokes/team.h"

#include <math.h>

static md_status scales(md_ctx *ctx, int64_t n, double drag, const double *x, double *scale)
{
  (void)ctx;
  for (int64_t i = 0; i < n; i++)
    scale[i] = sqrt(drag * x[4 * i + 3]);
  return MD_OK;
}

static md_status scale_rows(md_ctx *ctx, int64_t n, int m, bool inverse, const double *scale,
                            const double *from, double *to)
{
  const int64_t row = 3 * (int64_t)m;
#pragma omp parallel for schedule(static) num_threads(team_size(ctx, n))
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = row * i; k < row * (i + 1); k++)
      to[k] = inverse ? from[k] / scale[i] : from[k] * scale[i];
  return MD_OK;
}

static md_status put(md_ctx *ctx, int64_t n, int m, int column, const double shift[3],
                     double factor, const double *from, double *to)
{
  (void)ctx;
  for (int64_t k = 0; k < 3 * n; k++)
    to[k * m + column] = shift[k % 3] + factor * from[k];
  return MD_OK;
}

static md_status move(md_ctx *ctx, int64_t n, int m, int column, double factor, const double *v,
                      const double *from, double *to)
{
  (void)ctx;
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++)
      to[4 * i + d] = from[4 * i + d] + factor * v[(3 * i + d) * m + column];
    to[4 * i + 3] = from[4 * i + 3];
  }
  return MD_OK;
}

const flow_backend flow_cpu = {scales, scale_rows, put, move};
