/* stokes/pack.c - random packings: places, sizes, and the order of the work. */
#include "core/timer.h"
#include "stokes/normal.h"
#include "stokes/pack_impl.h"
#include "stokes/search.h"

#include <inttypes.h>
#include <stdlib.h>

stokes_pack_spec stokes_pack_defaults(int64_t n, double occupancy)
{
  return (stokes_pack_spec){
      .n = n, .occupancy = occupancy, .seed = 1, .gap = 1e-3, .sweeps = 20, .iterations = 5000};
}

static md_status check(const stokes_radii *radii, const stokes_pack_spec *spec)
{
  MD_REQUIRE(spec->n >= 1 && spec->n <= INT32_MAX, MD_EINVAL,
             "a packing holds 1 to %d spheres, not %" PRId64, INT32_MAX, spec->n);
  MD_REQUIRE(spec->occupancy > 0 && spec->occupancy < 1, MD_EINVAL,
             "the occupancy must be between 0 and 1, not %g", spec->occupancy);
  MD_REQUIRE(spec->gap > 0 && spec->gap <= 1, MD_EINVAL,
             "the smallest gap must be between 0 and 1, not %g", spec->gap);
  MD_REQUIRE(spec->sweeps >= 0 && spec->iterations >= 1, MD_EINVAL,
             "sweeps must be >= 0 and iterations >= 1, not %d and %d", spec->sweeps,
             spec->iterations);
  MD_REQUIRE(radii->n > 0, MD_EINVAL, "a packing needs at least one radius");
  return MD_OK;
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

/* Blow the box up until the spheres come apart: the occupancy that could be packed. */
static md_status give_up(md_ctx *ctx, const stokes_pack_spec *spec, stokes_packing *packing)
{
  bool done = false;
  double occupancy = spec->occupancy;
  while (!done && occupancy > 0.01) {
    occupancy *= 0.98;
    const double grow = cbrt(1 / 0.98);
    for (int d = 0; d < 3; d++)
      packing->box[d] *= grow;
    for (int64_t k = 0; k < 4 * packing->n; k++)
      if (k % 4 != 3) packing->x[k] *= grow;
    int used;
    MD_TRY(pack_relax(ctx, spec, packing, 1 + spec->iterations / 10, &used, &done));
  }
  return MD_FAIL(MD_EINVAL,
                 "%" PRId64 " spheres of these radii cannot be packed at an occupancy of %g with "
                 "gaps of %g in %d iterations: %.3f was reached",
                 packing->n, spec->occupancy, spec->gap, spec->iterations, done ? occupancy : 0);
}

static md_status pack(md_ctx *ctx, const stokes_radii *radii, const stokes_pack_spec *spec,
                      stokes_packing *packing, stokes_pack_report *report)
{
  const ordering hilbert = {.kind = ORDERING_HILBERT};
  const double begun = md_wall_seconds();
  MD_TRY(assign(radii, packing));
  place(spec, packing);
  MD_TRY(stokes_packing_sort(ctx, packing, &hilbert, NULL));
  bool done;
  MD_TRY(pack_relax(ctx, spec, packing, spec->iterations, &report->iterations, &done));
  if (!done) return give_up(ctx, spec, packing);
  MD_TRY(pack_walk(ctx, spec, packing, &report->accepted));
  for (int64_t i = 0; i < packing->n; i++)
    for (int d = 0; d < 3; d++)
      packing->x[4 * i + d] = search_wrap(packing->x[4 * i + d], packing->box[d]);
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
