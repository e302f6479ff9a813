/* spread/spread_choose.c - the rules: which method, how many lanes a matrix row. */
#include "spread/pencil.h"

#include <math.h>
#include <stdio.h>

/* [Guo] section 3.2: the largest power of two within the mean row length, clamped to 1..16. */
int32_t spread_compute_unit(const spread_plan *plan)
{
  if (plan->spec.tuning.compute_unit) return plan->spec.tuning.compute_unit;
  const int64_t mean = spread_entries(plan, plan->n) / plan->grid.points;
  int32_t lanes = 1;
  while (lanes < 16 && 2 * lanes <= mean)
    lanes *= 2;
  return lanes;
}

/* Sector operations of a row of n neighbouring reals anywhere. */
static double row_sectors(double n, double real_size)
{
  return 1 + (n - 1) * real_size / 32;
}

/* Seconds of one spreading of one vector on a GPU of that many multiprocessors, fitted to choices on
 * an H200, which has 132.  particle: 68e9 sector operations a second, and 50e9 of those for which the
 * mesh has to be fetched, as half the cache holds it.  It cannot know that particles which come row by
 * row, or lie in clusters, take less. */
static double particle_seconds(const spread_plan *plan, double n)
{
  const double p = plan->grid.order, real_size = (double)spread_real_size(plan);
  const double sectors = n * p * p * row_sectors(p, real_size) * 132 / plan->multiprocessors;
  const double held = 0.5 * (double)plan->l2_bytes / ((double)plan->grid.points * real_size);
  return 8.7e-6 + sectors / 68e9 + (held < 1 ? sectors * (1 - held) / 50e9 : 0);
}

/* tiled: what a tile of a pencil's plane costs, and a product of a particle. */
static double tiled_seconds(const spread_plan *plan, int64_t count)
{
  const int32_t order = plan->grid.order;
  const double p = order, n = (double)count, tiles = PENCIL_TILES(order);
  const double slower = spread_real_size(plan) == sizeof(double) ? 1.4 : 1;
  spread_pencils pencils;
  pencils_cut(&plan->grid, &pencils);
  /* planes of pencils that a particle reaches, were they spread evenly */
  const double keys = (double)pencils_keys(&plan->grid, &pencils);
  const double planes = keys * (1 - exp(-p * n / keys));
  const double work = planes * tiles * 0.45e-9 + n * (5.4 + 3.5 * p * tiles) * 1e-12;
  return 13e-6 + slower * work * 132 / plan->multiprocessors;
}

/* Particles a mesh point from which on a CPU gains by tiled. */
static const double CPU_DENSE = 0.012;

/* CPU: by density, as measured.  GPU: by the estimates above, with the time of building shared by
 * the spreadings to come.  The matrix of single, group and hybrid has more bytes than tiled moves at
 * any density, so they are left to those who ask for them. */
spread_method spread_choose(const spread_plan *plan, int64_t n, char *reason, size_t size)
{
  const md_ctx *ctx = plan->ctx;
  const double density = (double)n / (double)plan->grid.points;
  const int32_t repeats = plan->spec.repeats ? plan->spec.repeats : 1;
  if (ctx->backend == MD_CPU) {
    snprintf(reason, size, "%.3g particles a mesh point: tiled is fastest on the CPU from %g on",
             density, CPU_DENSE);
    return density < CPU_DENSE ? SPREAD_PARTICLE : SPREAD_TILED;
  }
  if (ctx->deterministic) {
    snprintf(reason, size, "its sums are ordered, %.3g particles a mesh point", density);
    return SPREAD_TILED;
  }
  const double vectors = plan->spec.vectors, sorting = (6.4e-6 + 3.4e-11 * (double)n) / repeats;
  const double tiled = vectors * tiled_seconds(plan, n) + sorting;
  const double particle = vectors * particle_seconds(plan, (double)n);
  snprintf(reason, size,
           "%.3g particles a mesh point, %d vector%s, building shared by %d: about %.0f us tiled, "
           "%.0f us by particle",
           density, plan->spec.vectors, vectors > 1 ? "s" : "", repeats, 1e6 * tiled,
           1e6 * particle);
  return tiled <= particle ? SPREAD_TILED : SPREAD_PARTICLE;
}
