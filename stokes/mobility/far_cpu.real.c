/* stokes/mobility/far_cpu.real.c - the far part on the CPU: FFTW3, and what lies between spreading
 * and interpolating.
 *
 * All meshes of a vector are transformed together, in pieces (spread/pme/transform_cpu.h); vectors
 * go one by one.  Compiled for single and double precision and each instruction set. */
#include "spread/pme/transform_cpu.h"
#include "stokes/mobility/rpy_impl.h"
#include "stokes/normal.h"

enum { WIDE = TRANSFORM_WIDE };

md_status KERNEL(rpy_far_plan)(rpy_far *far)
{
  return transform_create(far->ctx, far->mesh, 3 * far->rank, far->space.data, &far->spectrum,
                          &far->transforms);
}

void KERNEL(rpy_far_drop)(rpy_far *far)
{
  transform_destroy(far->ctx, far->transforms);
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

/* Wave numbers of a block of columns. */
typedef struct {
  real y[WIDE], z[WIDE];
} block_waves;

/* Modes i of the first `width` columns of a block that begins with column c, in scratch: their part
 * across k, times the table; before that the table's sum of what was spread, or `noise` times the
 * first three spectra. */
MD_INLINE void project(const rpy_far *far, int32_t i, int64_t c, int width, const block_waves *wave,
                       real *scratch, const bool noisy, const real noise)
{
  const int64_t modes = far->modes, mesh = 2 * (int64_t)far->mesh[0] * WIDE;
  const real *table = (const real *)far->table.data + i * (modes / far->mesh[0]) + c;
  const real kx = (real)far->wave[0][i];
  real *spectrum = scratch + (int64_t)i * 2 * WIDE;
  for (int l = 0; l < width; l++) {
    const real ky = wave->y[l], kz = wave->z[l], k_sq = kx * kx + ky * ky + kz * kz;
    const real inv_sq = k_sq > 0 ? 1 / k_sq : 0;
    real sum[3][2] = {{0}};
    for (int t = 0; t < (noisy ? 1 : far->rank); t++)
      for (int d = 0; d < 3; d++)
        for (int part = 0; part < 2; part++)
          sum[d][part] +=
              (noisy ? noise : table[t * modes + l]) * spectrum[(3 * t + d) * mesh + 2 * l + part];
    for (int part = 0; part < 2; part++) {
      const real along = (kx * sum[0][part] + ky * sum[1][part] + kz * sum[2][part]) * inv_sq;
      sum[0][part] -= kx * along, sum[1][part] -= ky * along, sum[2][part] -= kz * along;
    }
    for (int t = 0; t < far->rank; t++)
      for (int d = 0; d < 3; d++)
        for (int part = 0; part < 2; part++)
          spectrum[(3 * t + d) * mesh + 2 * l + part] = table[t * modes + l] * sum[d][part];
  }
}

/* Columns c, c + 1, ... of all meshes, in scratch. */
static void project_block(const rpy_far *far, int64_t c, real *scratch, const real *noise)
{
  const int64_t length = far->mesh[2] / 2 + 1, left = far->modes / far->mesh[0] - c;
  const int width = left < WIDE ? (int)left : WIDE;
  block_waves wave;
  for (int l = 0; l < width; l++) {
    wave.y[l] = (real)far->wave[1][(c + l) / length];
    wave.z[l] = (real)far->wave[2][(c + l) % length];
  }
  for (int32_t i = 0; i < far->mesh[0]; i++)
    if (noise)
      project(far, i, c, width, &wave, scratch, true, *noise);
    else
      project(far, i, c, width, &wave, scratch, false, 0);
}

/* In a thread of several: all meshes, or the first three with noise, become velocities on all. */
static void solve(const rpy_far *far, const real *noise)
{
  const transform *t = far->transforms;
  const int from = noise ? 3 : t->meshes;
  transform_mode *spectrum = far->spectrum.data, *scratch = transform_scratch(t);
#pragma omp for schedule(static)
  for (int64_t p = 0; p < (int64_t)from * t->n; p++)
    transform_plane(t, p, far->space.data, spectrum);
#pragma omp for schedule(static)
  for (int64_t b = 0; b < t->row / WIDE; b++) {
    for (int f = 0; f < from; f++)
      transform_columns(t, f, b, spectrum, scratch);
    project_block(far, b * WIDE, (real *)scratch, noise);
    for (int f = 0; f < t->meshes; f++)
      transform_columns_back(t, f, b, scratch, spectrum);
  }
#pragma omp for schedule(static)
  for (int64_t p = 0; p < (int64_t)t->meshes * t->n; p++)
    transform_row_back(t, p, spectrum, far->space.data);
}

md_status KERNEL(rpy_far_apply)(const rpy_far *far, int count)
{
  (void)count;
#pragma omp parallel num_threads(far->ctx->threads)
  solve(far, NULL);
  return MD_OK;
}

md_status KERNEL(rpy_far_noise)(const rpy_far *far, int count, uint64_t seed, uint64_t step)
{
  (void)count;
  const int64_t points = far->points;
  const real noise = (real)(1 / sqrt((double)points));
  real *space = far->space.data;
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t p = 0; p < points; p++) {
    double z[3];
    normal_three(seed, NORMAL_MESH, (uint64_t)p, step, z);
    for (int d = 0; d < 3; d++)
      space[d * points + p] = (real)z[d];
  }
#pragma omp parallel num_threads(far->ctx->threads)
  solve(far, &noise);
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
