/* spread/pme/pme_cpu.prec.c - smooth PME on the CPU: FFTW3 in pieces (transform_cpu.h) and the
 * product with the influence function.
 *
 * Sums over modes are taken block by block of columns, then over the blocks: one result for any
 * threads.  Compiled once per precision and instruction set. */
#include "spread/pme/pme_impl.h"
#include "spread/pme/transform_cpu.h"

#include <math.h>
#include <string.h>

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

/* What processes transform, [count + 1] each: planes; blocks of columns; and for messages what goes
 * to each, what comes, and reals of planes. */
typedef struct {
  int count, me;
  int64_t *plane, *block, *to, *from, *reals;
} parts;

static void cut_evenly(int64_t n, int count, int64_t *cut)
{
  for (int p = 0; p <= count; p++)
    cut[p] = n * p / count;
}

/* alone: room for the cuts of one process. */
static parts parts_of(const pme *solver, int64_t alone[2 * PME_CUTS])
{
  const transform *t = solver->transforms;
  const int count = solver->with.count > 0 ? solver->with.count : 1;
  int64_t *cut = solver->with.count > 0 ? solver->cut : alone;
  const int64_t each = count + 1;
  const parts of = {count,          solver->with.me, cut,           cut + each,
                    cut + 2 * each, cut + 3 * each,  cut + 4 * each};
  cut_evenly(t->n, count, of.plane);
  cut_evenly(t->row / WIDE, count, of.block);
  return of;
}

/* Modes of planes `planes` .. and blocks of columns `blocks` .., to or from a message. */
static void copy_modes(const pme *solver, const int64_t planes[2], const int64_t blocks[2],
                       transform_mode *message, bool out)
{
  const transform *t = solver->transforms;
  const int64_t width = (blocks[1] - blocks[0]) * WIDE;
  transform_mode *spectrum = solver->spectrum.data;
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int64_t i = planes[0]; i < planes[1]; i++) {
    transform_mode *here = spectrum + i * t->row + blocks[0] * WIDE;
    transform_mode *there = message + (i - planes[0]) * width;
    memcpy(out ? there : here, out ? here : there, (size_t)width * sizeof *here);
  }
}

/* Own planes of all columns become own columns of all planes; or back. */
static md_status transpose(const pme *solver, const parts *of, bool back)
{
  const int64_t *const mine_p = of->plane + of->me, *const mine_b = of->block + of->me;
  of->to[0] = of->from[0] = 0;
  for (int p = 0; p < of->count; p++) {
    const bool other = p != of->me;
    const int64_t columns = (of->block[p + 1] - of->block[p]) * (mine_p[1] - mine_p[0]) * WIDE;
    const int64_t planes = (of->plane[p + 1] - of->plane[p]) * (mine_b[1] - mine_b[0]) * WIDE;
    of->to[p + 1] = of->to[p] + (other ? (back ? planes : columns) : 0);
    of->from[p + 1] = of->from[p] + (other ? (back ? columns : planes) : 0);
  }
  const size_t size = sizeof(transform_mode);
  transform_mode *out = solver->out.data, *in = solver->in.data;
  for (int p = 0; p < of->count; p++)
    if (p != of->me)
      copy_modes(solver, back ? of->plane + p : mine_p, back ? mine_b : of->block + p,
                 out + of->to[p], true);
  MD_TRY(solver->with.swap(solver->with.of, out, of->to, in, of->from, size));
  for (int p = 0; p < of->count; p++)
    if (p != of->me)
      copy_modes(solver, back ? mine_p : of->plane + p, back ? of->block + p : mine_b,
                 in + of->from[p], false);
  return MD_OK;
}

/* Own planes, or rows of the spectrum, one way. */
static void transform_planes(const pme *solver, const parts *of, bool back)
{
  const transform *t = solver->transforms;
  real *mesh = solver->mesh.data;
  transform_mode *spectrum = solver->spectrum.data;
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int64_t i = of->plane[of->me]; i < of->plane[of->me + 1]; i++)
    if (back)
      transform_row_back(t, i, spectrum, mesh);
    else
      transform_plane(t, i, mesh, spectrum);
}

/* Own blocks of columns there, with the product, and back. */
static void transform_blocks(const pme *solver, const parts *of, double (*part)[2])
{
  const transform *t = solver->transforms;
  const pme_tables tables = pme_tables_of(solver);
  transform_mode *spectrum = solver->spectrum.data;
#pragma omp parallel for schedule(static) num_threads(solver->ctx->threads)
  for (int64_t b = of->block[of->me]; b < of->block[of->me + 1]; b++) {
    transform_mode *scratch = transform_scratch(t);
    transform_columns(t, 0, b, spectrum, scratch);
    multiply_block(&tables, b * WIDE, (real *)scratch, part ? part[b] : NULL);
    transform_columns_back(t, 0, b, scratch, spectrum);
  }
}

/* Where there are several processes, which begin to wait for each other here: all memory is there
 * before. */
static md_status begin_parts(pme *solver, const parts *of)
{
  const transform *t = solver->transforms;
  const pme_processes *with = &solver->with;
  if (with->count == 0) return MD_OK;
  const int64_t planes = of->plane[of->me + 1] - of->plane[of->me];
  const int64_t columns = (of->block[of->me + 1] - of->block[of->me]) * WIDE;
  const int64_t most = planes * t->row > columns * t->n ? planes * t->row : columns * t->n;
  const size_t bytes = (size_t)most * sizeof(transform_mode);
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->out, bytes, 0));
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->in, bytes, 0));
  for (int p = 0; p <= of->count; p++)
    of->reals[p] = of->plane[p] * t->points;
  return with->parts(with->of, solver->mesh.data, of->reals);
}

static md_status end_parts(const pme *solver, const parts *of, double sums[2])
{
  const pme_processes *with = &solver->with;
  if (with->count == 0) return MD_OK;
  MD_TRY(with->complete(with->of, solver->mesh.data, of->reals, sizeof(real)));
  return sums ? with->few(with->of, sums, 2) : MD_OK;
}

md_status KERNEL(pme_cpu_solve)(pme *solver, double sums[2])
{
  int64_t alone[2 * PME_CUTS];
  const parts of = parts_of(solver, alone);
  const size_t blocks = (size_t)(transform_row(solver->spec.mesh) / WIDE);
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->partial, blocks * sizeof(double[2]), 0));
  double(*part)[2] = solver->partial.data;
  MD_TRY(begin_parts(solver, &of));
  transform_planes(solver, &of, false);
  if (of.count > 1) MD_TRY(transpose(solver, &of, false));
  transform_blocks(solver, &of, sums ? part : NULL);
  if (of.count > 1) MD_TRY(transpose(solver, &of, true));
  transform_planes(solver, &of, true);
  for (int64_t b = of.block[of.me]; b < of.block[of.me + 1] && sums; b++)
    sums[0] += 0.5 * part[b][0], sums[1] += 0.5 * part[b][1];
  return end_parts(solver, &of, sums);
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
