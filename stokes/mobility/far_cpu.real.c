/* stokes/mobility/far_cpu.real.c - the far part on the CPU: FFTW3, and what lies between spreading
 * and interpolating.
 *
 * Transforms are planned without measuring, so that the same run has the same plan every time; all
 * meshes of a vector are one batch, and vectors go one by one.  Compiled for single and double
 * precision and each instruction set. */
#include "stokes/mobility/rpy_impl.h"
#include "stokes/normal.h"

#include <fftw3.h>

#if MD_PREC == 2
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

/* Points for each thread of the transforms, which wait for one another otherwise. */
enum { SHARE = 1 << 17 };

md_status KERNEL(rpy_far_plan)(rpy_far *far)
{
  const md_ctx *ctx = far->ctx;
  const int n[3] = {far->mesh[0], far->mesh[1], far->mesh[2]}, batch = 3 * far->rank;
  MD_REQUIRE(FFTW(init_threads)(), MD_ENOMEM, "FFTW3 cannot start its threads");
  const int64_t most = 1 + batch * far->points / SHARE;
  const int threads = (int)(most < ctx->threads ? most : ctx->threads);
  FFTW(plan_with_nthreads)(ctx->deterministic ? 1 : threads);
  far->forward =
      FFTW(plan_many_dft_r2c)(3, n, batch, far->space.data, NULL, 1, (int)far->points,
                              far->spectrum.data, NULL, 1, (int)far->modes, FFTW_ESTIMATE);
  far->backward =
      FFTW(plan_many_dft_c2r)(3, n, batch, far->spectrum.data, NULL, 1, (int)far->modes,
                              far->space.data, NULL, 1, (int)far->points, FFTW_ESTIMATE);
  far->forward_noise =
      FFTW(plan_many_dft_r2c)(3, n, 3, far->space.data, NULL, 1, (int)far->points,
                              far->spectrum.data, NULL, 1, (int)far->modes, FFTW_ESTIMATE);
  MD_REQUIRE(far->forward && far->backward && far->forward_noise, MD_ENOMEM,
             "FFTW3 cannot plan %d transforms of %d x %d x %d points", batch, n[0], n[1], n[2]);
  return MD_OK;
}

void KERNEL(rpy_far_drop)(rpy_far *far)
{
  FFTW(destroy_plan)(far->forward);
  FFTW(destroy_plan)(far->backward);
  FFTW(destroy_plan)(far->forward_noise);
}

/* charge[3 t + d][i] = coefficient[t][i] f[3 i + d] of one column. */
md_status KERNEL(rpy_far_load)(const rpy_far *far, int m, int count, const double *f)
{
  (void)count; /* one column */
  const real *coefficient = far->coefficient.data;
  const int64_t n = far->n;
  real *charge = far->charge.data;
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t i = 0; i < n; i++)
    for (int t = 0; t < far->rank; t++)
      for (int d = 0; d < 3; d++)
        charge[(3 * t + d) * n + i] = coefficient[t * n + i] * (real)f[(3 * i + d) * m];
  return MD_OK;
}

/* One row of modes: its part across k, times the table; before that the table's sum of what was
 * spread, or `noise` times the first three spectra. */
MD_INLINE void project_row(const rpy_far *far, int64_t row, const bool noisy, const real noise)
{
  const int32_t length = far->mesh[2] / 2 + 1;
  const int64_t first = row * length, modes = far->modes;
  const real *table = (const real *)far->table.data + first;
  real *spectrum = (real *)far->spectrum.data + 2 * first;
  const real kx = (real)far->wave[0][row / far->mesh[1]];
  const real ky = (real)far->wave[1][row % far->mesh[1]];
  for (int32_t l = 0; l < length; l++) {
    const real kz = (real)far->wave[2][l], k_sq = kx * kx + ky * ky + kz * kz;
    const real inv_sq = k_sq > 0 ? 1 / k_sq : 0;
    real sum[3][2] = {{0}};
    for (int t = 0; t < (noisy ? 1 : far->rank); t++)
      for (int d = 0; d < 3; d++)
        for (int part = 0; part < 2; part++)
          sum[d][part] += (noisy ? noise : table[t * modes + l]) *
                          spectrum[2 * ((3 * t + d) * modes + l) + part];
    for (int part = 0; part < 2; part++) {
      const real along = (kx * sum[0][part] + ky * sum[1][part] + kz * sum[2][part]) * inv_sq;
      sum[0][part] -= kx * along, sum[1][part] -= ky * along, sum[2][part] -= kz * along;
    }
    for (int t = 0; t < far->rank; t++)
      for (int d = 0; d < 3; d++)
        for (int part = 0; part < 2; part++)
          spectrum[2 * ((3 * t + d) * modes + l) + part] = table[t * modes + l] * sum[d][part];
  }
}

md_status KERNEL(rpy_far_apply)(const rpy_far *far, int count)
{
  (void)count;
  const int64_t rows = far->points / far->mesh[2];
  FFTW(execute)(far->forward);
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t row = 0; row < rows; row++)
    project_row(far, row, false, 0);
  FFTW(execute)(far->backward);
  return MD_OK;
}

md_status KERNEL(rpy_far_noise)(const rpy_far *far, int count, uint64_t seed, uint64_t step)
{
  (void)count;
  const int64_t rows = far->points / far->mesh[2], points = far->points;
  const real noise = (real)(1 / sqrt((double)points));
  real *space = far->space.data;
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t p = 0; p < points; p++) {
    double z[3];
    normal_three(seed, NORMAL_MESH, (uint64_t)p, step, z);
    for (int d = 0; d < 3; d++)
      space[d * points + p] = (real)z[d];
  }
  FFTW(execute)(far->forward_noise);
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t row = 0; row < rows; row++)
    project_row(far, row, true, noise);
  FFTW(execute)(far->backward);
  return MD_OK;
}

/* u[3 i + d] of one column += the sum over t of coefficient[t][i] charge[3 t + d][i]. */
md_status KERNEL(rpy_far_push)(const rpy_far *far, int m, int count, double *u)
{
  (void)count;
  const real *coefficient = far->coefficient.data, *value = far->charge.data;
  const int64_t n = far->n;
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 3; d++) {
      double sum = 0;
      for (int t = 0; t < far->rank; t++)
        sum += (double)(coefficient[t * n + i] * value[(3 * t + d) * n + i]);
      u[(3 * i + d) * m] += sum;
    }
  return MD_OK;
}
