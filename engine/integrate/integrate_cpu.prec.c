/* engine/integrate/integrate_cpu.prec.c - velocity Verlet on the CPU.
 *
 * Positions, velocities and forces are structures of four, so that every update of atoms that are
 * alike is a flat loop over numbers; the fourth of a velocity, 0 then, is else the type.  A block
 * of them stays in the first cache from one update to the next: memory sees x, v and f once.
 * Compiled once per precision and instruction set. */
#include "engine/integrate/integrate_impl.h"

enum { BLOCK = 1024 };

/* Sums are taken over SUM_PARTS equal parts, then over the parts: one result for any threads. */
enum { SUM_PARTS = 256 };

static void kick_block(int n, state *restrict v, const real *restrict f, state h)
{
  for (int k = 0; k < n; k++)
    v[k] += h * (state)f[k];
}

static void drift_block(int n, state *restrict x, const state *restrict v, state dt)
{
  for (int k = 0; k < n; k++)
    x[k] += dt * v[k];
}

static void fix_block(int n, coord *restrict fixed, const state *restrict x, double inv_scale)
{
  for (int k = 0; k < n; k++)
    fixed[k] = coord_from(x[k], inv_scale);
}

/* The same of atoms of several types, n of them numbers. */
static void kick_types(int n, state *restrict v, const real *restrict f, const double *kick)
{
  for (int k = 0; k < n; k += 4) {
    const state h = (state)kick[(int)v[k + 3]];
    for (int d = 0; d < 3; d++)
      v[k + d] += h * (state)f[k + d];
  }
}

static void drift_types(int n, state *restrict x, const state *restrict v, state dt)
{
  for (int k = 0; k < n; k += 4)
    for (int d = 0; d < 3; d++)
      x[k + d] += dt * v[k + d];
}

md_status KERNEL(integrate_cpu_advance)(md_atoms *atoms, const double *kick, int kicks,
                                        double drift)
{
  const bool typed = atoms->n_types > 1;
  const int64_t n = 4 * atoms->n;
  state *x = atoms->x.data, *v = atoms->v.data;
  const real *f = atoms->f.data;
  const bool follow = atoms->r_ghost > 0 && (drift != 0 || kicks == 0);
  coord *fixed = follow ? atoms->fixed.data : NULL;
  const double inv_scale = 1 / atoms->coord_scale;
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int64_t k = 0; k < n; k += BLOCK) {
    const int size = (int)(n - k < BLOCK ? n - k : BLOCK);
    for (int again = 0; again < kicks; again++)
      if (typed)
        kick_types(size, v + k, f + k, kick);
      else
        kick_block(size, v + k, f + k, (state)*kick);
    if (drift != 0) (typed ? drift_types : drift_block)(size, x + k, v + k, (state)drift);
    if (fixed) fix_block(size, fixed + k, x + k, inv_scale);
  }
  return MD_OK;
}

static double weight_of(const double *weight, state type)
{
  return weight ? weight[(int)type] : 1;
}

static void sum_exactly(const md_atoms *atoms, const double *weight, exact_sum *out)
{
  const state *v = atoms->v.data;
#pragma omp parallel num_threads(atoms->ctx->threads)
  {
    exact_sum sum = {{0}, 0, 0, 0, 0};
#pragma omp for schedule(static)
    for (int64_t i = 0; i < atoms->n; i++)
      for (int d = 0; d < 3; d++)
        exact_add(&sum, weight_of(weight, v[4 * i + 3]) * v[4 * i + d] * v[4 * i + d]);
#pragma omp critical
    exact_join(out, &sum);
  }
}

typedef struct {
  double v[3], v_sq;
} v_sums;

MD_INLINE v_sums sum_part(const state *v, int64_t begin, int64_t end, const double *weight)
{
  v_sums sum = {{0, 0, 0}, 0};
  for (int64_t i = begin; i < end; i++) {
    const double w = weight_of(weight, v[4 * i + 3]);
    for (int d = 0; d < 3; d++) {
      const double v_d = v[4 * i + d];
      sum.v[d] += w * v_d;
      sum.v_sq += w * v_d * v_d;
    }
  }
  return sum;
}

md_status KERNEL(integrate_cpu_sum)(md_atoms *atoms, const double *weight, integrate_sums *out)
{
  const int64_t n = atoms->n;
  const state *v = atoms->v.data;
  v_sums part[SUM_PARTS];
#pragma omp parallel for schedule(static) num_threads(atoms->ctx->threads)
  for (int p = 0; p < SUM_PARTS; p++) {
    const int64_t begin = n * p / SUM_PARTS, end = n * (p + 1) / SUM_PARTS;
    part[p] = weight ? sum_part(v, begin, end, weight) : sum_part(v, begin, end, NULL);
  }
  for (int p = 0; p < SUM_PARTS; p++) {
    for (int d = 0; d < 3; d++)
      out->v[d] += part[p].v[d];
    out->v_sq += part[p].v_sq;
  }
  if (!atoms->ctx->deterministic) return MD_OK;
  sum_exactly(atoms, weight, &out->exact);
  out->v_sq = exact_value(&out->exact);
  return MD_OK;
}
