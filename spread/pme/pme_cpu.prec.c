/* spread/pme/pme_cpu.prec.c - smooth PME on the CPU: FFTW3 and the product with the influence
 * function.
 *
 * Transforms are planned without measuring, so that the same run has the same plan every time.
 * Sums over modes are taken row by row, then over the rows: one result for any threads.  Compiled
 * once per precision and instruction set. */
#include "spread/pme/pme_impl.h"

#include <fftw3.h>
#include <math.h>

#if MD_PREC == 2
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

/* Points of a mesh for each thread of a transform: threads that share less spend more time waiting
 * for one another. */
enum { SHARE = 1 << 18 };

/* Sums over charges are taken over PARTS equal parts, then over the parts. */
enum { PARTS = 256 };

md_status KERNEL(pme_cpu_plan)(pme *solver)
{
  const int32_t *k = solver->spec.mesh;
  const md_ctx *ctx = solver->ctx;
  MD_REQUIRE(FFTW(init_threads)(), MD_ENOMEM, "FFTW3 cannot start its threads");
  const int64_t most = 1 + solver->points / SHARE;
  const int threads = (int)(most < ctx->threads ? most : ctx->threads);
  FFTW(plan_with_nthreads)(ctx->deterministic ? 1 : threads);
  solver->forward = FFTW(plan_dft_r2c_3d)(k[0], k[1], k[2], solver->mesh.data,
                                          solver->spectrum.data, FFTW_ESTIMATE);
  solver->backward = FFTW(plan_dft_c2r_3d)(k[0], k[1], k[2], solver->spectrum.data,
                                           solver->mesh.data, FFTW_ESTIMATE);
  MD_REQUIRE(solver->forward && solver->backward, MD_ENOMEM,
             "FFTW3 cannot plan a transform of %d x %d x %d points", k[0], k[1], k[2]);
  return MD_OK;
}

void KERNEL(pme_cpu_drop)(pme *solver)
{
  FFTW(destroy_plan)(solver->forward);
  FFTW(destroy_plan)(solver->backward);
}

md_status KERNEL(pme_cpu_load)(pme *solver, const pme_charges *charges, double sums[2])
{
  const int64_t n = charges->n, stride = charges->q_stride;
  const state *from = charges->q;
  real *q = solver->q.data;
  double part[PARTS][2];
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int p = 0; p < PARTS; p++) {
    double sum = 0, sum_sq = 0;
    for (int64_t i = n * p / PARTS; i < n * (p + 1) / PARTS; i++) {
      const double charge = from[i * stride];
      q[i] = (real)charge;
      sum += charge;
      sum_sq += charge * charge;
    }
    part[p][0] = sum, part[p][1] = sum_sq;
  }
  for (int p = 0; p < PARTS && sums; p++)
    sums[0] += part[p][0], sums[1] += part[p][1];
  return MD_OK;
}

/* One row of modes along the last axis times psi; energy and virial of the row, twice over. */
static void multiply_row(const pme_tables *t, int64_t row, real *restrict at, double sums[2])
{
  const int32_t i = (int32_t)(row / t->n[1]), j = (int32_t)(row % t->n[1]);
  const double m_sq = t->m_sq[0][i] + t->m_sq[1][j];
  const double factor = t->scale * t->factor[0][i] * t->factor[1][j];
  double energy = 0, virial = 0;
  for (int32_t k = 0; k < t->n[2]; k++) {
    const double all_sq = m_sq + t->m_sq[2][k], re = at[2 * k], im = at[2 * k + 1];
    const double psi = pme_psi(factor * t->factor[2][k], all_sq);
    const double both = pme_weight(t, k) * psi * (re * re + im * im);
    energy += both;
    virial += both * (1 - t->slope * all_sq);
    at[2 * k] = (real)(psi * re);
    at[2 * k + 1] = (real)(psi * im);
  }
  sums[0] = energy, sums[1] = virial;
}

md_status KERNEL(pme_cpu_solve)(pme *solver, double sums[2])
{
  const pme_tables t = pme_tables_of(solver);
  const int64_t rows = (int64_t)t.n[0] * t.n[1];
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->partial, (size_t)rows * sizeof(double[2]), 0));
  double(*part)[2] = solver->partial.data;
  real *spectrum = solver->spectrum.data;
  FFTW(execute)(solver->forward);
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int64_t r = 0; r < rows; r++)
    multiply_row(&t, r, spectrum + 2 * r * t.n[2], part[r]);
  FFTW(execute)(solver->backward);
  for (int64_t r = 0; r < rows && sums; r++)
    sums[0] += 0.5 * part[r][0], sums[1] += 0.5 * part[r][1];
  return MD_OK;
}

md_status KERNEL(pme_cpu_push)(pme *solver, int64_t n, void *f)
{
  const real *q = solver->q.data, *gradient = solver->gradient.data;
  real *to = f;
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++)
      to[4 * i + a] -= q[i] * gradient[3 * i + a];
  return MD_OK;
}
