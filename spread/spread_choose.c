/* spread/spread_choose.c - the rules: which method, how many lanes a matrix row. */
#include "spread/pencil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Points of a box at most: more leave a multiprocessor room for one or two. */
static const double MOST_BOX = 25000;

/* Room for the boxes of most groups along a curve that fills space; none where there are fewer
 * groups than multiprocessors, or where a group reaches too many points even so. */
int32_t spread_box_room(const spread_plan *plan, int64_t n)
{
  const md_ctx *ctx = plan->ctx;
  const spread_tuning *t = &plan->spec.tuning;
  const bool boxes =
      ctx->backend == MD_GPU && ctx->precision != MD_DOUBLE && !t->lanes && !t->stores;
  if (!boxes || n < (int64_t)SPREAD_BOX_GROUP * plan->multiprocessors) return 0;
  const double cells = SPREAD_BOX_GROUP * (double)plan->grid.points / (double)n;
  const double room = 1.75 * pow(cbrt(cells) + plan->grid.order, 3);
  return room <= MOST_BOX ? (int32_t)room : 0;
}

/* Seconds on a GPU, fitted to a sweep on an H200, which has 132 multiprocessors: spreadings of all
 * vectors, and each one's part of what building takes longer by tiled. */
typedef struct {
  double particle, tiled;
} costs;

/* The part of so many bytes that the cache holds, beside the rest. */
static double part_cached(const spread_plan *plan, double bytes)
{
  return fmin(1, 0.4 * (double)plan->l2_bytes / bytes);
}

/* Sectors of a row of order reals, wherever it begins. */
static double row_sectors(const spread_plan *plan)
{
  return 1 + (plan->grid.order - 1) * (double)spread_real_size(plan) / 32;
}

/* Particles in boxes, a vector: what they add there, and the boxes' points.  Fitted to groups along
 * a Hilbert curve (decision 67). */
static double box_seconds(const spread_plan *plan, const spread_survey *seen)
{
  const double p = plan->grid.order;
  if (seen->boxed <= 0) return 0;
  return 3e-6 + seen->boxed * (36e-12 + 0.36e-12 * p * p * p) + 1.75e-12 * seen->points;
}

/* particle one by one, a vector: sector operations, or additions where particles share sectors; and
 * sectors of the mesh that are fetched, each once, as the meshes of all vectors were zeroed before,
 * and again where the next particle lies elsewhere, unless the cache holds all that particles
 * reach. */
static double particle_seconds(const spread_plan *plan, const spread_pencils *pencils,
                               const spread_survey *seen)
{
  const double p = plan->grid.order, n = (double)seen->n, size = (double)spread_real_size(plan);
  const double mesh = (double)plan->grid.points * size;
  const double cells = (double)pencils->cells[0] * pencils->cells[1];
  const double reached = fmin(mesh, seen->planes * cells * size);
  const double sectors = p * p * seen->sectors, once = fmin(sectors, reached / 32);
  const double apart = fmax(0, 2 * seen->sectors / (n * row_sectors(plan)) - 1);
  const double again = (sectors - once) * fmin(1, apart);
  const double fetched = once * (1 - part_cached(plan, plan->spec.vectors * mesh)) +
                         again * (1 - part_cached(plan, reached));
  const double addition = size == sizeof(double) ? 4.2e-12 : 2.4e-12;
  return fmax(12.3e-12 * sectors, addition * n * p * p * p) + 36e-12 * fetched;
}

/* tiled, a vector: tiles of planes of pencils, which are also fetched, and products of
 * particles. */
static double tiled_seconds(const spread_plan *plan, const spread_survey *seen)
{
  const int32_t order = plan->grid.order;
  const double tiles = PENCIL_PATCHES(order), size = (double)spread_real_size(plan);
  const double mesh = (double)plan->grid.points * size;
  const double touched = fmin(mesh, seen->planes * tiles * SPREAD_ROW * 8 * size);
  const double slower = size == sizeof(double) ? 1.16 : 1;
  return slower * tiles * (0.347e-9 * seen->planes + 4.4e-12 * order * (double)seen->n) +
         0.8e-12 * touched * (1 - part_cached(plan, mesh));
}

/* Kernels, one after the other, that sweep all vectors by tiled. */
static double sweeps(const spread_plan *plan)
{
  const int32_t vectors = plan->spec.vectors;
  const int32_t together = SWEEP_VECTORS(plan->grid.order, (int32_t)spread_real_size(plan));
  const int32_t kernels = vectors / together + vectors % together;
  return kernels;
}

/* What tiled takes longer beside pair forces than alone: 5 to 34 us in steps of 64,000 to 512,000
 * ions. */
static const double TILED_BESIDE = 20e-6;

/* Gradients of a vector, by the method that spread it.  Fitted to interpolation on an H200: by
 * particle along a Hilbert curve and in no order, by tiled of particles spread evenly. */
static costs interpolation(const spread_plan *plan, const spread_survey *seen)
{
  const double p = plan->grid.order, n = (double)seen->n, tiles = PENCIL_PATCHES((int)p);
  const double single = (double)spread_real_size(plan) / sizeof(float);
  const double slower = single > 1 ? 1.5 : 1, scale = 132.0 / plan->multiprocessors;
  const double particle = seen->boxed * (98e-12 + 0.355e-12 * p * p * p) +
                          (n - seen->boxed) * single * 1.25e-12 * p * p * p;
  const double tiled = slower * p * (75e-12 * tiles * seen->planes + 4.2e-12 * n);
  const costs c = {3e-6 + scale * particle, 3e-6 + TILED_BESIDE + scale * tiled};
  return c;
}

static costs weigh(const spread_plan *plan, const spread_survey *seen)
{
  spread_pencils pencils;
  pencils_cut(&plan->grid, &pencils);
  const double vectors = plan->spec.vectors, scale = 132.0 / plan->multiprocessors;
  const double repeats = plan->spec.repeats ? plan->spec.repeats : 1;
  const double zeroes = 0.19e-12 * (double)plan->grid.points * (double)spread_real_size(plan);
  const double alone = 1 - seen->boxed / (double)seen->n;
  const double particle =
      zeroes + scale * (alone * particle_seconds(plan, &pencils, seen) + box_seconds(plan, seen));
  const double tiled = zeroes + scale * tiled_seconds(plan, seen);
  const double sort =
      10.5e-6 + 42e-12 * (double)pencils_keys(&plan->grid, &pencils) + 29e-12 * (double)seen->n;
  costs c = {4.6e-6 + vectors * (3.2e-6 + particle),
             6.5e-6 + 4.1e-6 * sweeps(plan) + vectors * tiled + sort / repeats};
  if (plan->spec.interpolates) {
    const costs back = interpolation(plan, seen);
    c.particle += vectors * back.particle;
    c.tiled += vectors * back.tiled;
  }
  return c;
}

/* How n particles would lie: all in one cell, spread evenly, or as far apart as they can. */
typedef enum { TOGETHER, EVENLY, APART } lie;
static spread_survey suppose(const spread_plan *plan, int64_t n, lie how)
{
  spread_pencils pencils;
  pencils_cut(&plan->grid, &pencils);
  const double p = plan->grid.order, keys = (double)pencils_keys(&plan->grid, &pencils);
  const double most = keys / plan->grid.mesh[0] * (plan->grid.mesh[0] + p - 1);
  const double row = row_sectors(plan), boxed = spread_box_room(plan, n) ? (double)n : 0;
  const spread_survey at[] = {
      [TOGETHER] = {n, fmin(p, p * (double)n), 0, boxed, boxed / SPREAD_BOX_GROUP * p * p * p},
      [EVENLY] = {n, keys * (1 - exp(-p * (double)n / keys)), (double)n * row, 0, 0},
      [APART] = {n, fmin(most, p * (double)n), (double)n * (row + 1), 0, 0}};
  return at[how];
}

static spread_survey_fn *const looks[] = PREC_TABLE(spread_gpu_survey);

/* By how particles lie, where that decides; looked at again once there are a tenth more or fewer.
 * The matrix of single, group and hybrid has more bytes than tiled moves at any density, so they
 * are left to those who ask for them. */
static md_status choose_on_gpu(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                               spread_choice *choice)
{
  const spread_survey together = suppose(plan, n, TOGETHER), apart = suppose(plan, n, APART);
  const costs low = weigh(plan, &together), high = weigh(plan, &apart);
  spread_survey *seen = &choice->seen, used = suppose(plan, n, EVENLY);
  char why[96] = "were they spread evenly";
  if (low.tiled <= high.particle && low.particle < high.tiled) {
    if (10 * llabs(n - seen->n) > seen->n)
      MD_TRY(looks[plan->ctx->precision](plan, n, x, stride, seen));
    const double grown = (double)n / (double)seen->n;
    used = (spread_survey){n, grown * seen->planes, grown * seen->sectors, grown * seen->boxed,
                           grown * seen->points};
    const int end = snprintf(why, sizeof why, "as they reach %.0f planes and %.2f sectors a row",
                             seen->planes, seen->sectors / (double)seen->n);
    if (seen->boxed > 0)
      snprintf(why + end, sizeof why - (size_t)end, ", and boxes have %.0f points each",
               seen->points * SPREAD_BOX_GROUP / seen->boxed);
  }
  const costs c = weigh(plan, &used);
  snprintf(choice->reason, sizeof choice->reason,
           "%.3g particles a mesh point, %d vector%s, building shared by %d: about %.0f us tiled, "
           "%.0f us by particle%s, %s",
           (double)n / (double)plan->grid.points, plan->spec.vectors,
           plan->spec.vectors > 1 ? "s" : "", plan->spec.repeats ? plan->spec.repeats : 1,
           1e6 * c.tiled, 1e6 * c.particle, plan->spec.interpolates ? " with interpolation" : "",
           why);
  choice->method = c.tiled <= c.particle ? SPREAD_TILED : SPREAD_PARTICLE;
  return MD_OK;
}

/* Particles a mesh point from which on a CPU gains by tiled. */
static const double CPU_DENSE = 0.012;

md_status spread_choose(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                        spread_choice *choice)
{
  const md_ctx *ctx = plan->ctx;
  const double density = (double)n / (double)plan->grid.points;
  if (plan->method != SPREAD_AUTO && n == plan->n) {
    choice->method = plan->method;
    memcpy(choice->reason, plan->reason, sizeof choice->reason);
    return MD_OK;
  }
  if (ctx->backend == MD_GPU && !ctx->deterministic)
    return choose_on_gpu(plan, n, x, stride, choice);
  if (ctx->backend == MD_GPU)
    snprintf(choice->reason, sizeof choice->reason,
             "its sums are ordered, %.3g particles a mesh point", density);
  else
    snprintf(choice->reason, sizeof choice->reason,
             "%.3g particles a mesh point: tiled is fastest on the CPU from %g on", density,
             CPU_DENSE);
  choice->method = ctx->backend == MD_CPU && density < CPU_DENSE ? SPREAD_PARTICLE : SPREAD_TILED;
  return MD_OK;
}
