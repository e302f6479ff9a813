/* stokes/mobility/costs_gpu.c - what a product costs on a GPU, measured at the size that it is to
 * have.
 *
 * What kernels do there depends on particles a mesh point, on the number of vectors and on what the
 * caches hold: so there are about as many particles as spheres, at random along a Morton curve, and
 * meshes around them of which the coarsest has one particle a point and the finest one for ten.
 * The near part is made and multiplied with the same particles. */
#include "core/time/stopwatch.h"
#include "stokes/mobility/rpy_impl.h"

#include <math.h>
#include <stdlib.h>

enum { TRIES = 3, LEAST = 4096, MOST = 1000000, VECTORS = 16, BLOCKS = 60 };
static const double DENSITY[RPY_MESHES] = {1.2, 0.6, 0.35, 0.2, 0.08}; /* particles a point */

/* Spheres in a box with edges of 1. */
typedef struct {
  md_ctx *ctx;
  int m; /* vectors */
  rpy_radii radii;
  rpy_terms *terms;
  stokes_view host, view;
  md_buffer spheres, vectors; /* [n][4]; [2][3 n][m] */
  md_stopwatch watch;
} trial;

static double next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) * 0x1p-24;
}

/* In cells of a Morton curve, each in its own. */
static void place(int64_t n, double radius, double *x)
{
  uint32_t state = 1;
  int bits = 1;
  while ((int64_t)1 << 3 * bits < n)
    bits++;
  for (int64_t i = 0; i < n; i++) {
    const int64_t key = (int64_t)((double)i / (double)n * ldexp(1, 3 * bits));
    for (int d = 0; d < 3; d++) {
      int64_t cell = 0;
      for (int b = 0; b < bits; b++)
        cell |= (key >> (3 * b + d) & 1) << b;
      x[4 * i + d] = ldexp((double)cell + next_random(&state), -bits);
    }
    x[4 * i + 3] = radius;
  }
}

static md_status open_trial(md_ctx *ctx, int vectors, int64_t n, trial *t)
{
  const int64_t count = n < LEAST ? LEAST : n < MOST ? n : MOST;
  const double radius = 0.05 / cbrt((double)count);
  const size_t bytes = (size_t)count * 4 * sizeof(double);
  t->ctx = ctx;
  t->m = vectors < VECTORS ? vectors : VECTORS;
  t->radii = (rpy_radii){.n = 1, .least = radius, .most = radius, .radius = {radius}, .share = {1}};
  t->terms = calloc(1, sizeof *t->terms);
  double *x = malloc(bytes);
  t->host = (stokes_view){count, {1, 1, 1}, x};
  MD_REQUIRE(t->terms && x, MD_ENOMEM, "out of memory for a trial product");
  t->terms->n = 1, t->terms->mix[0][0] = t->terms->coefficient[0][0] = 1;
  place(count, radius, x);
  MD_TRY(md_buffer_reserve(ctx, &t->spheres, bytes, 0));
  MD_TRY(md_buffer_reserve(ctx, &t->vectors, 2 * 3 * (size_t)count * (size_t)t->m * sizeof(double),
                           0));
  MD_TRY(md_write(ctx, t->spheres.data, x, bytes));
  MD_TRY(md_fill(ctx, t->vectors.data, 0, t->vectors.bytes));
  t->view = (stokes_view){count, {1, 1, 1}, t->spheres.data};
  return md_stopwatch_create(ctx, &t->watch);
}

static void close_trial(trial *t)
{
  md_stopwatch_destroy(&t->watch);
  md_buffer_free(t->ctx, &t->spheres);
  md_buffer_free(t->ctx, &t->vectors);
  free((void *)(uintptr_t)t->host.x);
  free(t->terms);
}

/* The shorter of *least and what passed since the start. */
static md_status stop(trial *t, double *least)
{
  double now;
  MD_TRY(md_stopwatch_stop(&t->watch, &now));
  *least = fmin(*least, now);
  return MD_OK;
}

static md_status time_near(trial *t, rpy_near *near, double cut, rpy_costs *out)
{
  double product = INFINITY, set = INFINITY, *f = t->vectors.data;
  const rpy_split split = {.xi = 2 / cut, .cut = cut};
  MD_TRY(rpy_near_create(t->ctx, &split, 1, near));
  MD_TRY(rpy_near_radii(near, &t->view, &t->radii));
  for (int k = 0; k <= TRIES; k++) {
    MD_TRY(md_stopwatch_start(&t->watch, true));
    MD_TRY(rpy_near_set(near, &t->view, &t->radii, t->m));
    MD_TRY(stop(t, &set));
    MD_TRY(md_stopwatch_start(&t->watch, true));
    MD_TRY(rpy_near_multiply(near, t->m, f, f + 3 * t->host.n * t->m));
    MD_TRY(stop(t, &product));
  }
  const double blocks = (double)stokes_matrix_shape(near->matrix).n_blocks;
  out->block = product / blocks;
  out->assemble = set / blocks;
  return MD_OK;
}

static md_status time_far(trial *t, rpy_far *far, double *spread, double *solve)
{
  const int count = far->columns;
  *spread = *solve = INFINITY;
  MD_TRY(rpy_far_terms(far, &t->host, &t->radii, t->terms));
  MD_TRY(rpy_far_set(far, &t->view));
  MD_TRY(md_fill(t->ctx, far->charge.data, 0, far->charge.bytes));
  for (int k = 0; k <= TRIES; k++) {
    MD_TRY(md_stopwatch_start(&t->watch, true));
    MD_TRY(rpy_far_spread(far, count));
    MD_TRY(rpy_far_interpolate(far, count));
    MD_TRY(stop(t, spread));
    MD_TRY(md_stopwatch_start(&t->watch, true));
    MD_TRY(rpy_far_solve(far, count));
    MD_TRY(stop(t, solve));
  }
  *spread *= (double)t->m / count;
  *solve *= (double)t->m / count;
  return MD_OK;
}

static md_status try_mesh(trial *t, int32_t edge, rpy_mesh_cost *out)
{
  out->points = (double)edge * edge * edge;
  for (int p = RPY_ORDER_MIN; p <= RPY_ORDER_MAX; p += 2) {
    const rpy_split split = {1, 1, {edge, edge, edge}, p, 1};
    double solve;
    rpy_far far;
    md_status status = rpy_far_create(t->ctx, t->host.box, 1, &split, t->m, &far);
    if (!status) status = time_far(t, &far, &out->spread[p], &solve);
    rpy_far_destroy(&far);
    MD_TRY(status);
    if (p == RPY_ORDER_MIN) out->solve = solve;
  }
  return MD_OK;
}

static md_status measure(trial *t, rpy_costs *out)
{
  const double n = (double)t->host.n, pi = 3.141592653589793;
  rpy_near near;
  const md_status status = time_near(t, &near, cbrt(BLOCKS * 3 / (4 * pi * n)), out);
  rpy_near_destroy(&near);
  MD_TRY(status);
  out->particles = n;
  for (int k = 0, last = 0; k < RPY_MESHES; k++) {
    const int32_t edge = rpy_good_size(fmax(cbrt(n / DENSITY[k]), RPY_ORDER_MAX));
    if (edge == last) continue;
    MD_TRY(try_mesh(t, edge, &out->mesh[out->meshes++]));
    last = edge;
  }
  return MD_OK;
}

/* All is in proportion to the number of vectors beyond those that were tried. */
static void extend(double more, rpy_costs *out)
{
  out->block *= more;
  for (int k = 0; k < out->meshes; k++) {
    out->mesh[k].solve *= more;
    for (int p = 0; p <= RPY_ORDER_MAX; p++)
      out->mesh[k].spread[p] *= more;
  }
}

md_status rpy_costs_gpu(md_ctx *ctx, int vectors, int64_t n, rpy_costs *out)
{
  trial t = {.ctx = ctx};
  md_status status = open_trial(ctx, vectors, n, &t);
  if (!status) status = measure(&t, out);
  if (!status) extend((double)vectors / t.m, out);
  close_trial(&t);
  return status;
}
