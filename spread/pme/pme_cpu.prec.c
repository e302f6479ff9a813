/* spread/pme/pme_cpu.prec.c - smooth PME on the CPU: FFTW3 and the product with the influence
 * function.
 *
 * Threads share the planes of the mesh, then columns of modes across them, then planes again: each
 * piece is transformed by one thread in its caches, columns are multiplied between their two
 * transforms, and memory sees mesh and spectrum twice each.  Pieces are planned without measuring
 * and do not depend on the number of threads, nor do sums over modes, block by block and then over
 * the blocks: one result for any threads.  Compiled once per precision and instruction set. */
#include "spread/pme/pme_impl.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#if MD_PREC == 2
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

/* Modes that differ in i alone are a column; WIDE columns side by side, whole cache lines, are
 * transformed and multiplied together.  Rows of the spectrum are filled up to whole blocks. */
enum { WIDE = 16 };

/* Sums over charges are taken over PARTS equal parts, then over the parts. */
enum { PARTS = 256 };

typedef FFTW(complex) mode;

/* Transforms of one solver: `forward` holds this, `backward` is not used. */
typedef struct {
  FFTW(plan) planes[2], columns[2]; /* to the spectrum, back */
  int64_t row;                      /* modes of a plane, filled up */
  md_buffer scratch;                /* mode [threads][K1][WIDE] */
} transforms;

/* Plane i of the mesh to row i of the spectrum, and back. */
static void plan_planes(const pme *solver, transforms *t)
{
  const int n[2] = {solver->spec.mesh[1], solver->spec.mesh[2]};
  real *mesh = solver->mesh.data;
  mode *spectrum = solver->spectrum.data;
  const bool alike = FFTW(alignment_of)(mesh) == FFTW(alignment_of)(mesh + (int64_t)n[0] * n[1]);
  const unsigned how = FFTW_ESTIMATE | (alike ? 0 : FFTW_UNALIGNED);
  t->planes[0] = FFTW(plan_dft_r2c_2d)(n[0], n[1], mesh, spectrum, how);
  t->planes[1] = FFTW(plan_dft_c2r_2d)(n[0], n[1], spectrum, mesh, how);
}

/* A block of columns to scratch, and back. */
static void plan_columns(const pme *solver, transforms *t)
{
  const int n = solver->spec.mesh[0], row = (int)t->row;
  mode *spectrum = solver->spectrum.data, *scratch = t->scratch.data;
  t->columns[0] = FFTW(plan_many_dft)(1, &n, WIDE, spectrum, NULL, row, 1, scratch, NULL, WIDE, 1,
                                      FFTW_FORWARD, FFTW_ESTIMATE);
  t->columns[1] = FFTW(plan_many_dft)(1, &n, WIDE, scratch, NULL, WIDE, 1, spectrum, NULL, row, 1,
                                      FFTW_BACKWARD, FFTW_ESTIMATE);
}

md_status KERNEL(pme_cpu_plan)(pme *solver)
{
  const int32_t *k = solver->spec.mesh;
  md_ctx *ctx = solver->ctx;
  transforms *t = calloc(1, sizeof *t);
  MD_REQUIRE(t, MD_ENOMEM, "out of memory for transforms");
  solver->forward = t;
  const int64_t modes = (int64_t)k[1] * (k[2] / 2 + 1);
  t->row = (modes + WIDE - 1) / WIDE * WIDE;
  const size_t bytes = (size_t)(k[0] * t->row) * sizeof(mode);
  MD_TRY(md_buffer_reserve(ctx, &solver->spectrum, bytes, 0));
  MD_TRY(md_fill(ctx, solver->spectrum.data, 0, bytes));
  const size_t block = (size_t)k[0] * WIDE * sizeof(mode);
  MD_TRY(md_buffer_reserve(ctx, &t->scratch, (size_t)ctx->threads * block, 0));
  MD_REQUIRE(FFTW(init_threads)(), MD_ENOMEM, "FFTW3 cannot start its threads");
  FFTW(plan_with_nthreads)(1); /* others may have asked for more */
  plan_planes(solver, t);
  plan_columns(solver, t);
  MD_REQUIRE(t->planes[0] && t->planes[1] && t->columns[0] && t->columns[1], MD_ENOMEM,
             "FFTW3 cannot plan a transform of %d x %d x %d points", k[0], k[1], k[2]);
  return MD_OK;
}

void KERNEL(pme_cpu_drop)(pme *solver)
{
  transforms *t = solver->forward;
  if (!t) return;
  for (int way = 0; way < 2; way++) {
    FFTW(destroy_plan)(t->planes[way]);
    FFTW(destroy_plan)(t->columns[way]);
  }
  md_buffer_free(solver->ctx, &t->scratch);
  free(t);
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
  const transforms *t = solver->forward;
  const int32_t n = tables->n[0];
  const int64_t plane = solver->points / n;
  real *mesh = solver->mesh.data;
  mode *spectrum = solver->spectrum.data;
  mode *scratch = (mode *)t->scratch.data + (int64_t)omp_get_thread_num() * n * WIDE;
#pragma omp for schedule(static)
  for (int32_t i = 0; i < n; i++)
    FFTW(execute_dft_r2c)(t->planes[0], mesh + i * plane, spectrum + i * t->row);
#pragma omp for schedule(static)
  for (int64_t b = 0; b < t->row / WIDE; b++) {
    FFTW(execute_dft)(t->columns[0], spectrum + b * WIDE, scratch);
    multiply_block(tables, b * WIDE, (real *)scratch, part ? part[b] : NULL);
    FFTW(execute_dft)(t->columns[1], scratch, spectrum + b * WIDE);
  }
#pragma omp for schedule(static)
  for (int32_t i = 0; i < n; i++)
    FFTW(execute_dft_c2r)(t->planes[1], spectrum + i * t->row, mesh + i * plane);
}

md_status KERNEL(pme_cpu_solve)(pme *solver, double sums[2])
{
  const transforms *t = solver->forward;
  const pme_tables tables = pme_tables_of(solver);
  const int64_t blocks = t->row / WIDE;
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
