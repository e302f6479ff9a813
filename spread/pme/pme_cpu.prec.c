/* spread/pme/pme_cpu.prec.c - smooth PME on the CPU: FFTW3 in pieces (transform_cpu.h) and the
 * product with the influence function.
 *
 * Sums over modes are taken block by block of columns, then over the blocks: one result for any
 * threads.  Compiled once per precision and instruction set. */
#include "spread/pme/pme_impl.h"
#include "spread/pme/transform_cpu.h"

#include <math.h>

enum { WIDE = TRANSFORM_WIDE };

/* Sums over charges are taken over PARTS equal parts, then over the parts. */
enum { PARTS = 256 };

md_status KERNEL(pme_cpu_plan)(pme *solver)
{
  return transform_create(solver->ctx, solver->spec.mesh, 1, solver->mesh.data, &solver->spectrum,
                          &solver->transforms);
}

void KERNEL(pme_cpu_drop)(pme *solver)
{
  transform_destroy(solver->ctx, solver->transforms);
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

/* What psi is made of in a block of columns; 0 in those that fill up a row. */
typedef struct {
  double m_sq[WIDE], factor[WIDE], weight[WIDE];
} block_tables;

static void fill_block(const pme_tables *t, int64_t first, block_tables *out)
{
  const int64_t n = t->n[2], modes = t->n[1] * n;
  for (int w = 0; w < WIDE; w++) {
    const bool filled = first + w >= modes;
    const int64_t c = filled ? modes - 1 : first + w, j = c / n, k = c % n;
    out->m_sq[w] = t->m_sq[1][j] + t->m_sq[2][k];
    out->factor[w] = filled ? 0 : t->scale * t->factor[1][j] * t->factor[2][k];
    out->weight[w] = pme_weight(t, (int32_t)k);
  }
}

/* WIDE modes of one i times psi. */
static void multiply(const double *restrict psi, real *restrict at)
{
  for (int w = 0; w < WIDE; w++) {
    at[2 * w] *= (real)psi[w];
    at[2 * w + 1] *= (real)psi[w];
  }
}

/* Add their energy and virial, twice over; before they are multiplied. */
static void add_modes(const double *psi, const block_tables *block, double m_sq, double slope,
                      const real *at, double sums[2])
{
  for (int w = 0; w < WIDE; w++) {
    const double re = at[2 * w], im = at[2 * w + 1];
    const double both = block->weight[w] * psi[w] * (re * re + im * im);
    sums[0] += both;
    sums[1] += both * (1 - slope * (m_sq + block->m_sq[w]));
  }
}

/* The block of columns from `first` on, in scratch: mode [K1][WIDE]; sums: NULL, or they get energy
 * and virial, twice over. */
static void multiply_block(const pme_tables *t, int64_t first, real *scratch, double *sums)
{
  block_tables block;
  double psi[WIDE];
  fill_block(t, first, &block);
  if (sums) sums[0] = sums[1] = 0;
  for (int32_t i = 0; i < t->n[0]; i++) {
    real *at = scratch + (int64_t)i * 2 * WIDE;
    const double m_sq = t->m_sq[0][i], factor = t->factor[0][i];
    for (int w = 0; w < WIDE; w++)
      psi[w] = factor * block.factor[w] / (m_sq + block.m_sq[w]);
    if (i == 0 && first == 0) psi[0] = 0; /* the origin */
    if (sums) add_modes(psi, &block, m_sq, t->slope, at, sums);
    multiply(psi, at);
  }
}

/* In a thread of several: planes, columns with the product, planes. */
static void solve(const pme *solver, const pme_tables *tables, double (*part)[2])
{
  const transform *t = solver->transforms;
  real *mesh = solver->mesh.data;
  transform_mode *spectrum = solver->spectrum.data, *scratch = transform_scratch(t);
#pragma omp for schedule(static)
  for (int32_t i = 0; i < t->n; i++)
    transform_plane(t, i, mesh, spectrum);
#pragma omp for schedule(static)
  for (int64_t b = 0; b < t->row / WIDE; b++) {
    transform_columns(t, 0, b, spectrum, scratch);
    multiply_block(tables, b * WIDE, (real *)scratch, part ? part[b] : NULL);
    transform_columns_back(t, 0, b, scratch, spectrum);
  }
#pragma omp for schedule(static)
  for (int32_t i = 0; i < t->n; i++)
    transform_row_back(t, i, spectrum, mesh);
}

md_status KERNEL(pme_cpu_solve)(pme *solver, double sums[2])
{
  const pme_tables tables = pme_tables_of(solver);
  const int64_t blocks = transform_row(solver->spec.mesh) / WIDE;
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->partial, (size_t)blocks * sizeof(double[2]), 0));
  double(*part)[2] = solver->partial.data;
#pragma omp parallel num_threads(solver->ctx->threads)
  solve(solver, &tables, sums ? part : NULL);
  for (int64_t b = 0; b < blocks && sums; b++)
    sums[0] += 0.5 * part[b][0], sums[1] += 0.5 * part[b][1];
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
