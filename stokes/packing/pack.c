/* stokes/packing/pack.c - random packings: places, sizes, and the order of the work. */
#include "core/time/timer.h"
#include "stokes/normal.h"
#include "stokes/packing/pack_impl.h"

#include <inttypes.h>
#include <stdlib.h>

stokes_pack_spec stokes_pack_defaults(int64_t n, double occupancy)
{
  return (stokes_pack_spec){
      .n = n, .occupancy = occupancy, .seed = 1, .sweeps = -1, .iterations = 5000};
}

static md_status check(const stokes_radii *radii, const stokes_pack_spec *spec)
{
  MD_REQUIRE(spec->n >= 1 && spec->n <= INT32_MAX, MD_EINVAL,
             "a packing holds 1 to %d spheres, not %" PRId64, INT32_MAX, spec->n);
  MD_REQUIRE(spec->occupancy > 0 && spec->occupancy < 1, MD_EINVAL,
             "the occupancy must be between 0 and 1, not %g", spec->occupancy);
  MD_REQUIRE(spec->iterations >= 1, MD_EINVAL, "iterations must be >= 1, not %d", spec->iterations);
  MD_REQUIRE(radii->n > 0, MD_EINVAL, "a packing needs at least one radius");
  stokes_radius_range seen = {0};
  for (int k = 0; k < radii->n; k++)
    MD_TRY(stokes_radius_admit(&seen, radii->radius[k]));
  const pack_spread spread = pack_spread_of(radii);
  MD_REQUIRE(spread.deviation >= PACK_ONE_SIZE || spec->occupancy <= PACK_FREEZES, MD_EINVAL,
             "the occupancy must be at most %g, not %g: spheres of one size freeze above it",
             PACK_FREEZES, spec->occupancy);
  MD_REQUIRE(spec->occupancy < spread.limit, MD_EINVAL,
             "the occupancy must be below %.3f, not %g: spheres of these sizes jam there",
             spread.limit, spec->occupancy);
  return MD_OK;
}

/* Gaps to begin a walk with: small ones take long to push to, wide ones do not exist where spheres
 * are crowded, so that they take a quarter of the room to grow until all jam. */
static double first_gap(const stokes_radii *radii, double occupancy)
{
  const double grow = cbrt(pack_spread_of(radii).limit / occupancy);
  return fmin(0.03, 0.55 * (grow - 1));
}

/* Give out the radii: fraction * n of each, and one more to those that lost most by rounding. */
static md_status assign(const stokes_radii *radii, stokes_packing *packing)
{
  int64_t *count = malloc((size_t)radii->n * sizeof *count), left = packing->n, at = 0;
  MD_REQUIRE(count, MD_ENOMEM, "out of memory for %d radii", radii->n);
  for (int k = 0; k < radii->n; k++)
    left -= count[k] = (int64_t)floor(radii->fraction[k] * (double)packing->n);
  for (; left > 0; left--) {
    int worst = 0;
    double most = -INFINITY;
    for (int k = 0; k < radii->n; k++) {
      const double lost = radii->fraction[k] * (double)packing->n - (double)count[k];
      if (lost > most) most = lost, worst = k;
    }
    count[worst]++;
  }
  for (int k = 0; k < radii->n; k++)
    for (int64_t i = 0; i < count[k] && at < packing->n; i++)
      packing->x[4 * at++ + 3] = radii->radius[k];
  free(count);
  return MD_OK;
}

/* A random place for each sphere, in a cube of the volume that the occupancy asks for. */
static void place(const stokes_pack_spec *spec, stokes_packing *packing)
{
  double *x = packing->x;
  for (int d = 0; d < 3; d++)
    packing->box[d] = 1;
  const double edge = cbrt(stokes_packing_occupancy(packing) / spec->occupancy);
  for (int d = 0; d < 3; d++)
    packing->box[d] = edge;
  for (int64_t i = 0; i < packing->n; i++) {
    const normal_bits a = normal_draw(spec->seed, NORMAL_PLACE, (uint64_t)i, 0, 0);
    const normal_bits b = normal_draw(spec->seed, NORMAL_PLACE, (uint64_t)i, 0, 1);
    x[4 * i] = edge * normal_uniform(a, 0);
    x[4 * i + 1] = edge * normal_uniform(a, 1);
    x[4 * i + 2] = edge * normal_uniform(b, 0);
  }
}

static md_status pack(md_ctx *ctx, const stokes_radii *radii, const stokes_pack_spec *spec,
                      stokes_packing *packing, stokes_pack_report *report)
{
  const ordering hilbert = {.kind = ORDERING_HILBERT};
  const double begun = md_wall_seconds(), gap = first_gap(radii, spec->occupancy);
  MD_TRY(assign(radii, packing));
  place(spec, packing);
  MD_TRY(stokes_packing_sort(ctx, packing, &hilbert, NULL));
  MD_TRY(pack_relax(ctx, spec, gap, packing, &report->iterations));
  MD_TRY(pack_walk(spec, packing, report));
  MD_TRY(stokes_packing_sort(ctx, packing, &hilbert, NULL));
  MD_TRY(stokes_packing_check(ctx, packing, &report->gap_min));
  report->seconds = md_wall_seconds() - begun;
  return MD_OK;
}

md_status stokes_pack(md_ctx *ctx, const stokes_radii *radii, const stokes_pack_spec *spec,
                      stokes_packing *out, stokes_pack_report *report)
{
  stokes_pack_report unused;
  if (!report) report = &unused;
  *report = (stokes_pack_report){0};
  *out = (stokes_packing){0};
  MD_TRY(check(radii, spec));
  MD_TRY(stokes_packing_create(spec->n, out));
  const md_status status = pack(ctx, radii, spec, out, report);
  if (status) stokes_packing_free(out);
  return status;
}
