/* spread/spread_check.c - what a plan can be made of. */
#include "spread/spread_impl.h"

#include <stdio.h>
#include <string.h>

static md_status check_mesh(const spread_spec *spec)
{
  MD_REQUIRE(spec->order >= SPREAD_ORDER_MIN && spec->order <= SPREAD_ORDER_MAX, MD_EINVAL,
             "the order of the B-splines must lie in %d..%d, not %d", SPREAD_ORDER_MIN,
             SPREAD_ORDER_MAX, spec->order);
  uint64_t points = 1;
  for (int a = 0; a < 3; a++) {
    const double edge = spec->hi[a] - spec->lo[a];
    MD_REQUIRE(edge > 0 && edge < 1e300 && 1 / edge < 1e300, MD_EINVAL,
               "axis %d of the box runs from %g to %g: expected a finite edge > 0", a + 1,
               spec->lo[a], spec->hi[a]);
    MD_REQUIRE(spec->mesh[a] >= spec->order, MD_EINVAL,
               "axis %d of the mesh has %d points: order %d needs at least %d", a + 1,
               spec->mesh[a], spec->order, spec->order);
    MD_REQUIRE(points * (uint64_t)spec->mesh[a] <= UINT32_MAX, MD_ECAPACITY,
               "a mesh of %d x %d x %d has 2^32 points or more", spec->mesh[0], spec->mesh[1],
               spec->mesh[2]);
    points *= (uint64_t)spec->mesh[a];
  }
  return MD_OK;
}

static md_status check_tuning(const spread_spec *spec)
{
  const spread_tuning *t = &spec->tuning;
  MD_REQUIRE(t->lanes == 0 || t->lanes == 1 || t->lanes == spec->order, MD_EINVAL,
             "lanes must be 1 or the order, %d, not %d", spec->order, t->lanes);
  MD_REQUIRE(t->compute_unit >= 0 && t->compute_unit <= 16 &&
                 (t->compute_unit & (t->compute_unit - 1)) == 0,
             MD_EINVAL, "a compute unit has 1, 2, 4, 8 or 16 lanes, not %d", t->compute_unit);
  MD_REQUIRE(t->group == 0 || (t->group >= 8 && t->group <= 512 && t->group % 8 == 0), MD_EINVAL,
             "a group has a multiple of 8 rows in 8..512, not %d", t->group);
  MD_REQUIRE(t->part >= 0 && t->part <= SPREAD_PART_MAX, MD_EINVAL,
             "a part has at most %d particles, not %lld", SPREAD_PART_MAX, (long long)t->part);
  return MD_OK;
}

static md_status check_method(const spread_spec *spec, md_backend backend, bool deterministic)
{
  MD_REQUIRE((unsigned)spec->method < SPREAD_METHOD_COUNT, MD_EINVAL, "no such method: %d",
             (int)spec->method);
  MD_REQUIRE(spec->vectors >= 1, MD_EINVAL, "vectors must be >= 1, not %d", spec->vectors);
  MD_REQUIRE(spec->repeats >= 0, MD_EINVAL, "repeats must be >= 0, not %d", spec->repeats);
  if (!spread_method_on(spec->method, backend)) {
    char words[128] = "";
    for (int m = 0; m < SPREAD_METHOD_COUNT; m++)
      if (spread_method_on((spread_method)m, backend))
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", *words ? ", " : "",
                 spread_method_words[m]);
    return MD_FAIL(MD_EINVAL, "the %s has no method %s: expected one of %s",
                   md_backend_words[backend], spread_method_words[spec->method], words);
  }
  MD_REQUIRE(!deterministic || spread_method_ordered(spec->method, backend), MD_EINVAL,
             "method %s adds in no fixed order: deterministic plans on the GPU are single, group, "
             "hybrid or tiled",
             spread_method_words[spec->method]);
  return MD_OK;
}

md_status spread_check(const spread_spec *spec, md_backend backend, bool deterministic)
{
  MD_TRY(check_mesh(spec));
  MD_TRY(check_tuning(spec));
  return check_method(spec, backend, deterministic);
}
