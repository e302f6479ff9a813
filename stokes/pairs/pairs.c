/* stokes/pairs/pairs.c - size classes, when to build, and the steps of a build. */
#include "comm/world.h"
#include "stokes/packing/packing.h"
#include "stokes/pairs/pairs_impl.h"

#include <inttypes.h>
#include <stdlib.h>

static const pairs_backend *backend_of(const stokes_pairs *pairs)
{
  static const pairs_backend *const table[MD_BACKEND_COUNT] = {&pairs_cpu, MD_GPU(&pairs_gpu)};
  return table[pairs->ctx->backend];
}

md_status stokes_pairs_create(md_ctx *ctx, double scale, double skin, stokes_pairs **out)
{
  *out = NULL;
  MD_REQUIRE(scale > 0 && skin >= 0, MD_EINVAL,
             "a pair list needs a scale > 0 and a skin >= 0, not %g and %g", scale, skin);
  stokes_pairs *pairs = calloc(1, sizeof *pairs);
  MD_REQUIRE(pairs, MD_ENOMEM, "out of memory for a pair list");
  pairs->ctx = ctx;
  pairs->grid.scale = scale;
  pairs->grid.skin = skin;
  pairs->space = &pairs->own;
  const md_status status = ordering_sorter_create(ctx, &pairs->sorter);
  if (status) {
    stokes_pairs_destroy(pairs);
    return status;
  }
  *out = pairs;
  return MD_OK;
}

void stokes_pairs_destroy(stokes_pairs *pairs)
{
  if (!pairs) return;
  ordering_sorter_destroy(pairs->sorter);
  md_buffer_free(pairs->ctx, &pairs->built);
  md_buffer_free(pairs->ctx, &pairs->own);
  md_buffer_free(pairs->ctx, &pairs->start);
  md_buffer_free(pairs->ctx, &pairs->neighbor);
  md_buffer_free(pairs->ctx, &pairs->scratch);
  md_buffer_free(pairs->ctx, &pairs->scan_status);
  free(pairs->share);
  free(pairs);
}

void stokes_pairs_lend(stokes_pairs *pairs, md_buffer *space)
{
  md_buffer_free(pairs->ctx, &pairs->own);
  pairs->space = space;
}

md_status pairs_share(stokes_pairs *pairs)
{
  const size_t ends = (size_t)world_count() + 1;
  if (world_count() == 1) return MD_OK;
  pairs->share = calloc(2 * ends, sizeof *pairs->share);
  MD_REQUIRE(pairs->share, MD_ENOMEM, "out of memory for a list of %d ranks", world_count());
  return MD_OK;
}

/* With more spheres cells are not made finer, lest their number is none of 32 bits. */
enum { MOST_FINE = 1 << 28 };

/* Classes by radius, and a grid for each: cells as wide as the class reaches, but not many more of
 * them than there are spheres; along the last axis `fine` times as many. */
static void plan(stokes_pairs *pairs, const stokes_view *spheres, const pairs_extent *extent)
{
  const int fine = backend_of(pairs)->fine;
  search_grid *g = &pairs->grid;
  const double span = log(extent->radius_max / extent->radius_min) / SEARCH_CLASSES;
  const double log_ratio = fmax(span * (1 + 1e-12), log(1.5));
  g->radius_min = extent->radius_min;
  g->inv_log_ratio = 1 / log_ratio;
  g->n_classes = SEARCH_CLASSES;
  g->n_classes = search_class_of(g, extent->radius_max) + 1;
  g->n_cells = 0;
  const double *box = spheres->box;
  const double volume = box[0] * box[1] * box[2];
  const double finest = cbrt(volume * g->n_classes / (double)spheres->n);
  for (int k = 0; k < g->n_classes; k++) {
    search_class *c = &g->classes[k];
    c->radius =
        fmin(extent->radius_min * exp((k + 1) * log_ratio) * (1 + 1e-12), extent->radius_max);
    const double width = fmax(g->scale * c->radius + g->skin / 2, finest);
    const double want[3] = {box[0] / width, box[1] / width, box[2] / width};
    search_cells(want, fmax((double)spheres->n / g->n_classes, 64), c->cells);
    c->cells[2] *= spheres->n < MOST_FINE ? fine : 1;
    c->first = g->n_cells;
    g->n_cells += c->cells[0] * c->cells[1] * c->cells[2];
  }
}

static md_status check(const stokes_pairs *pairs, const stokes_view *spheres,
                       const pairs_extent *extent)
{
  MD_REQUIRE(isfinite(extent->reach) && isfinite(extent->radius_max), MD_EINVAL,
             "the coordinates or radii of the spheres are not all finite");
  stokes_radius_range seen = {0};
  MD_TRY(stokes_radius_admit(&seen, extent->radius_min));
  MD_TRY(stokes_radius_admit(&seen, extent->radius_max));
  const double least = 2 * (2 * pairs->grid.scale * extent->radius_max + pairs->grid.skin);
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(spheres->box[d] >= least, MD_EINVAL,
               "the box edge %g is too short: spheres of radius %g interact over %g, so that it "
               "must be at least %g (take more spheres or a shorter cutoff)",
               spheres->box[d], extent->radius_max, least / 2, least);
  return MD_OK;
}

static md_status build(stokes_pairs *pairs, const stokes_view *spheres)
{
  const pairs_backend *backend = backend_of(pairs);
  md_ctx *ctx = pairs->ctx;
  pairs_extent extent;
  MD_TRY(backend->extent(pairs, spheres, &extent));
  MD_TRY(check(pairs, spheres, &extent));
  plan(pairs, spheres, &extent);
  pairs->reach = extent.reach;
  pairs->jumps = extent.jumps;
  const size_t n = (size_t)spheres->n;
  for (int d = 0; d < 3; d++)
    pairs->grid.box[d] = spheres->box[d];
  MD_TRY(md_buffer_reserve(ctx, &pairs->start, (n + 1) * sizeof(int64_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &pairs->built, n * 4 * sizeof(double), 0));
  MD_TRY(backend->sort(pairs, spheres));
  pairs->n = spheres->n;
  MD_TRY(backend->rows(pairs, spheres));
  MD_TRY(md_copy(ctx, pairs->built.data, spheres->x, n * 4 * sizeof(double)));
  pairs->builds++;
  return MD_OK;
}

static bool same_box(const stokes_pairs *pairs, const stokes_view *spheres)
{
  for (int d = 0; d < 3; d++)
    if (pairs->grid.box[d] != spheres->box[d]) return false;
  return true;
}

md_status stokes_pairs_update(stokes_pairs *pairs, const stokes_view *spheres, double ahead)
{
  const bool may_last = 2 * ahead <= pairs->grid.skin;
  if (may_last && pairs->builds > 0 && pairs->n == spheres->n && same_box(pairs, spheres)) {
    double moved_sq;
    MD_TRY(backend_of(pairs)->moved(pairs, spheres, &moved_sq));
    if (2 * (sqrt(moved_sq) + ahead) <= pairs->grid.skin) return MD_OK;
  }
  const md_status status = build(pairs, spheres);
  if (status) pairs->builds = 0;
  return status;
}

stokes_pair_view stokes_pairs_view(const stokes_pairs *pairs)
{
  const search_grid *grid = &pairs->grid;
  return (stokes_pair_view){pairs->n,
                            pairs->n_entries,
                            pairs->start.data,
                            pairs->neighbor.data,
                            grid->scale,
                            grid->skin,
                            {grid->box[0], grid->box[1], grid->box[2]},
                            pairs->built.data};
}

md_status stokes_pairs_built(const stokes_pairs *pairs, double *x)
{
  return md_read(pairs->ctx, x, pairs->built.data, (size_t)pairs->n * 4 * sizeof *x);
}

int64_t stokes_pairs_builds(const stokes_pairs *pairs)
{
  return pairs->builds;
}
