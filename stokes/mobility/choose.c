/* stokes/mobility/choose.c - the split that costs least for a tolerance.
 *
 * For each xi of a geometric series: the fewest terms for the radii, for each order the coarsest
 * mesh whose error is 7/10 of the tolerance, and the shortest cut that leaves the sum of squares at
 * the tolerance.  Errors are those of estimate.c, relative to the velocities of random forces,
 * which a coarse mobility of the same spheres measures; costs are those of costs.c. */
#include "stokes/mobility/rpy_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A choice at work. */
typedef struct {
  const rpy *mobility;
  const stokes_view *spheres, *host;
  int64_t n;
  rpy_costs costs;
  double density, scale; /* scale: velocity of a component under unit forces */
  rpy_terms *terms;
  double near[RPY_GAMMAS]; /* of the present xi */
} search;

typedef struct {
  rpy_split split;
  double near, mesh, rank; /* relative errors */
  rpy_times times;
  double cost;
} candidate;

static rpy_fluid fluid_of(const search *s, double xi)
{
  const rpy *mobility = s->mobility;
  return (rpy_fluid){&mobility->radii, s->density, mobility->spec.viscosity, xi};
}

int32_t rpy_good_size(double least)
{
  for (int32_t size = 2 * (int32_t)ceil(least / 2);; size += 2) {
    int32_t rest = size;
    for (int f = 2; f <= 5; f++)
      while (rest % f == 0)
        rest /= f;
    if (rest == 1) return size;
  }
}

/* A mesh with about this spacing, or false beyond 2^31 points. */
static bool set_mesh(const double box[3], double spacing, int order, int32_t mesh[3])
{
  double points = 1;
  for (int d = 0; d < 3; d++) {
    const double least = fmax(box[d] / spacing, order);
    if (!(least < 1 << 20)) return false;
    mesh[d] = rpy_good_size(least);
    points *= mesh[d];
  }
  return points < INT32_MAX;
}

static double mesh_error(const search *s, const rpy_split *split)
{
  const rpy_fluid fluid = fluid_of(s, split->xi);
  double spacing[3];
  for (int d = 0; d < 3; d++)
    spacing[d] = s->mobility->spec.box[d] / split->mesh[d];
  return rpy_mesh_error(&fluid, spacing, split->mesh, split->order) / s->scale;
}

/* The coarsest mesh whose error is within `most`; false when there is none. */
static bool find_mesh(const search *s, double most, candidate *c)
{
  enum { STEPS = 100 };
  const double *box = s->mobility->spec.box, coarsest = 2 / c->split.xi, ratio = 0.96;
  int low = -1, high = STEPS;
  if (!set_mesh(box, coarsest * pow(ratio, high), c->split.order, c->split.mesh)) high = STEPS / 2;
  if (!set_mesh(box, coarsest * pow(ratio, high), c->split.order, c->split.mesh)) return false;
  if (mesh_error(s, &c->split) > most) return false;
  while (high - low > 1) {
    const int middle = (high + low) / 2;
    set_mesh(box, coarsest * pow(ratio, middle), c->split.order, c->split.mesh);
    *(mesh_error(s, &c->split) <= most ? &high : &low) = middle;
  }
  set_mesh(box, coarsest * pow(ratio, high), c->split.order, c->split.mesh);
  return true;
}

/* So few spheres lie at no random places: their own pairs are summed. */
enum { FEW = 24 };

/* Relative error of leaving out pairs beyond a gap of gamma / xi, between the tabulated ones; that
 * of few spheres falls in steps. */
static double near_error(const search *s, double gamma)
{
  const double at = fmin(gamma / RPY_GAMMA_STEP, RPY_GAMMAS - 2);
  const int k = (int)at;
  if (s->n <= FEW) return s->near[k] / s->scale;
  const double below = log(s->near[k] + 1e-300), above = log(s->near[k + 1] + 1e-300);
  return exp(below + (at - k) * (above - below)) / s->scale;
}

static bool find_cut(const search *s, double most, candidate *c)
{
  double low = 0, high = (RPY_GAMMAS - 2) * RPY_GAMMA_STEP;
  if (near_error(s, high) > most) return false;
  for (int k = 0; k < 40; k++) {
    const double middle = (low + high) / 2;
    *(near_error(s, middle) <= most ? &high : &low) = middle;
  }
  c->split.cut = fmax(high, RPY_GAMMA_STEP) / c->split.xi;
  return true;
}

/* A list serves up to the reach.  Images are summed for few spheres only, and within a distance at
 * which they still count as lying at random. */
static bool within_reach(const search *s, double cut, bool *images)
{
  const double *box = s->mobility->spec.box;
  const double reach = rpy_near_reach(box, &s->mobility->radii);
  *images = cut > reach;
  return !*images || (s->n <= RPY_IMAGES && cut <= 0.4 * fmin(box[0], fmin(box[1], box[2])));
}

/* Fill times; false where the pairs can neither be listed nor summed over images. */
static bool price(const search *s, candidate *c)
{
  const rpy *mobility = s->mobility;
  const rpy_costs *costs = &s->costs;
  const rpy_split *split = &c->split;
  const rpy_fluid fluid = fluid_of(s, split->xi);
  const double n = (double)s->n;
  bool images;
  if (!within_reach(s, split->cut, &images)) return false;
  const double blocks = images ? n : fmin(rpy_blocks(&fluid, split->cut), n);
  c->times.near = n * blocks * costs->block;
  c->times.far = rpy_far_cost(costs, split, mobility->spec.vectors, s->n);
  c->times.set = n * blocks * costs->assemble;
  c->cost = c->times.near + c->times.far + (mobility->spec.moves ? c->times.set : 0);
  return true;
}

/* Give a split with xi, order and perhaps more the rest of its numbers. */
static bool complete(search *s, candidate *c)
{
  const rpy_split *given = &s->mobility->spec.split;
  const double tolerance = s->mobility->spec.tolerance;
  if (!given->rank) {
    c->split.rank = 1;
    while (s->terms->error[c->split.rank - 1] > 0.5 * tolerance * s->scale)
      c->split.rank++;
  }
  if (c->split.rank > s->terms->n) return false;
  c->rank = s->terms->error[c->split.rank - 1] / s->scale;
  const double rest = fmax(tolerance * tolerance - c->rank * c->rank, 0);
  if (!given->mesh[0] && !find_mesh(s, sqrt(rest / 2), c)) return false;
  c->mesh = mesh_error(s, &c->split);
  const double most = sqrt(fmax(rest - c->mesh * c->mesh, rest / 4));
  if (given->cut == 0 && !find_cut(s, most, c)) return false;
  c->near = near_error(s, c->split.cut * c->split.xi);
  return price(s, c);
}

static md_status try_xi(search *s, double xi, candidate *best, int *tried)
{
  const rpy_split *given = &s->mobility->spec.split;
  const rpy_fluid fluid = fluid_of(s, xi);
  if (!rpy_radii_resolve(fluid.radii, xi)) return MD_OK;
  MD_TRY(rpy_terms_of(fluid.radii, s->density, fluid.viscosity, xi, s->terms));
  if (s->n <= FEW)
    rpy_near_errors_of(&fluid, s->host, s->near);
  else
    rpy_near_errors(&fluid, s->near);
  for (int p = RPY_ORDER_MIN; p <= RPY_ORDER_MAX; p += 2) {
    candidate c = {.split = *given};
    c.split.xi = xi;
    c.split.order = given->order ? given->order : p;
    if (complete(s, &c)) {
      ++*tried;
      if (c.cost < best->cost) *best = c;
    }
    if (given->order) break;
  }
  return MD_OK;
}

/* A split that is cheap and good to some per cent, to measure the scale with. */
static rpy_split coarse_split(const search *s)
{
  const rpy *mobility = s->mobility;
  const double reach = rpy_near_reach(mobility->spec.box, &mobility->radii), gamma = 1.2;
  rpy_split split = {.xi = 3 * cbrt(s->density), .order = 4};
  for (;;) {
    const rpy_fluid fluid = fluid_of(s, split.xi / 1.1);
    if (gamma / fluid.xi > reach || rpy_blocks(&fluid, gamma / fluid.xi) > 20) break;
    split.xi = fluid.xi;
  }
  while (gamma / split.xi > reach && s->n > RPY_IMAGES && reach > 0)
    split.xi *= 1.1;
  while (!rpy_radii_resolve(&mobility->radii, split.xi))
    split.xi /= 1.1;
  split.cut = gamma / split.xi;
  split.rank = mobility->radii.n < 3 ? mobility->radii.n : 3;
  set_mesh(mobility->spec.box, 0.8 / split.xi, 8, split.mesh);
  return split;
}

enum { PROBES = 16 }; /* vectors, at most */

/* |u|^2 / |f|^2 of all columns. */
static md_status compare(vector_space *space, int m, const double *f, const double *u, double *out)
{
  const vector_backend *ops = vectors_of(space->ctx);
  double of_f[PROBES], of_u[PROBES], sums[2] = {0};
  MD_TRY(ops->dots(space, m, f, f, of_f));
  MD_TRY(ops->dots(space, m, u, u, of_u));
  for (int c = 0; c < m; c++)
    sums[0] += of_f[c], sums[1] += of_u[c];
  *out = sums[1] / sums[0];
  return MD_OK;
}

static md_status try_forces(rpy *coarse, vector_space *space, int m, md_buffer *both, double *out)
{
  enum { SEED = 1 };
  const size_t numbers = 3 * (size_t)space->n_rows * (size_t)m;
  MD_TRY(md_buffer_reserve(space->ctx, both, 2 * numbers * sizeof(double), 0));
  double *f = both->data, *u = f + numbers;
  MD_TRY(vectors_of(space->ctx)->normals(space, m, SEED, NORMAL_PROBE, 0, NULL, f));
  MD_TRY(rpy_multiply(coarse, m, f, u));
  return compare(space, m, f, u, out);
}

/* Root mean square velocity of a component under random unit forces. */
static md_status probe(rpy *coarse, int64_t n, double *scale)
{
  enum { ENOUGH = 1000 };
  const int m = n > ENOUGH ? 1 : (int)(n > ENOUGH / PROBES ? ENOUGH / n : PROBES);
  vector_space space = {.ctx = coarse->ctx, .n_rows = n};
  md_buffer both = {0};
  double square = NAN;
  const md_status status = try_forces(coarse, &space, m, &both, &square);
  md_buffer_free(space.ctx, &both);
  md_buffer_free(space.ctx, &space.partial);
  md_buffer_free(space.ctx, &space.small);
  *scale = sqrt(square);
  return status;
}

static md_status measure_scale(search *s)
{
  rpy_spec spec = s->mobility->spec;
  rpy *coarse;
  spec.split = coarse_split(s);
  spec.tolerance = RPY_TOLERANCE_MAX;
  spec.vectors = 1;
  MD_TRY(rpy_create(s->mobility->ctx, &spec, &coarse));
  md_status status = rpy_set(coarse, s->spheres);
  if (!status) status = probe(coarse, s->n, &s->scale);
  rpy_destroy(coarse);
  if (status) return status;
  MD_REQUIRE(s->scale > 0 && isfinite(s->scale), MD_ENUMERIC,
             "the velocities of random forces are %g: these spheres cannot move", s->scale);
  return MD_OK;
}

/* Walk up from a xi that is too small until the cost has risen for a while. */
static md_status search_all(search *s, candidate *best, int *tried)
{
  enum { MOST = 60, RISING = 6 };
  const double given = s->mobility->spec.split.xi, ratio = 1.15;
  if (given > 0) return try_xi(s, given, best, tried);
  double xi = 0.1 * cbrt(s->density);
  for (int k = 0, since = 0; k < MOST && since < RISING; k++, xi *= ratio) {
    const double before = best->cost;
    MD_TRY(try_xi(s, xi, best, tried));
    since = best->cost < before || isinf(best->cost) ? 0 : since + 1;
  }
  return MD_OK;
}

static void take(rpy *mobility, const candidate *best, bool chosen, int tried)
{
  rpy_report *report = &mobility->report;
  report->split = best->split;
  report->near_error = best->near;
  report->mesh_error = best->mesh;
  report->rank_error = best->rank;
  report->error = sqrt(best->near * best->near + best->mesh * best->mesh + best->rank * best->rank);
  report->expected = best->times;
  snprintf(report->reason, sizeof report->reason,
           chosen ? "least expected time of %d splits for m = %d%s, from times %s"
                  : "the fastest of %d splits with the given xi for m = %d%s, from times %s",
           tried, mobility->spec.vectors, mobility->spec.moves ? " and new spheres" : "",
           !mobility->ctx->deterministic ? "measured on this machine"
           : mobility->ctx->backend == MD_GPU
               ? "of a usual GPU, as results are to be the same again"
               : "of a usual processor, as results are to be the same again");
}

static bool all_given(const rpy_split *split)
{
  return split->cut > 0 && split->mesh[0] > 0 && split->order > 0 && split->rank > 0;
}

static md_status choose(search *s, rpy *mobility)
{
  candidate best = {.cost = INFINITY};
  int tried = 0;
  MD_TRY(measure_scale(s));
  MD_TRY(rpy_costs_of(mobility->ctx, mobility->spec.vectors, s->n, &s->costs));
  MD_TRY(search_all(s, &best, &tried));
  MD_REQUIRE(tried > 0, MD_EINVAL,
             "no split of near and far reaches a tolerance of %g for radii from %g to %g in a box "
             "with an edge of %g",
             mobility->spec.tolerance, mobility->radii.least, mobility->radii.most,
             fmin(s->spheres->box[0], fmin(s->spheres->box[1], s->spheres->box[2])));
  take(mobility, &best, mobility->spec.split.xi == 0, tried);
  return MD_OK;
}

md_status rpy_choose(rpy *mobility, const stokes_view *spheres, const stokes_view *host)
{
  const double volume = rpy_volume(mobility->spec.box);
  search s = {.mobility = mobility,
              .spheres = spheres,
              .host = host,
              .n = spheres->n,
              .density = (double)spheres->n / volume};
  if (all_given(&mobility->spec.split)) {
    snprintf(mobility->report.reason, sizeof mobility->report.reason, "given");
    return MD_OK;
  }
  s.terms = malloc(sizeof *s.terms);
  MD_REQUIRE(s.terms, MD_ENOMEM, "out of memory for terms");
  const md_status status = choose(&s, mobility);
  free(s.terms);
  return status;
}
