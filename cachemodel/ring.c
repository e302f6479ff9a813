/* cachemodel/ring.c - memory of one cache; its operations are inline in cachemodel_impl.h. */
#include "cachemodel/cachemodel_impl.h"

#include <inttypes.h>
#include <stdlib.h>

md_status cachemodel_ring_create(const cachemodel_level *spec, cachemodel_ring *out)
{
  *out = (cachemodel_ring){0};
  MD_REQUIRE(spec->capacity >= 1, MD_EINVAL, "capacity %" PRId64 ": expected at least one line",
             spec->capacity);
  const int64_t ways = spec->ways ? spec->ways : spec->capacity;
  MD_REQUIRE(ways >= 1 && spec->capacity % ways == 0, MD_EINVAL,
             "%" PRId64 " ways do not divide a capacity of %" PRId64 " lines", ways,
             spec->capacity);
  cachemodel_ring ring = {spec->policy, spec->capacity / ways, ways, 0, NULL, NULL, NULL};
  MD_TRY(cachemodel_room(16.0 * (double)ring.sets, "a cache of this many sets"));
  MD_REQUIRE(ring.sets <= INT32_MAX, MD_EINVAL,
             "a cache of %" PRId64 " sets: at most 2147483647 are possible", ring.sets);
  const size_t sets = (size_t)ring.sets;
  ring.next = malloc(sets * sizeof *ring.next);
  ring.prev = malloc(sets * sizeof *ring.prev);
  ring.held = calloc(sets, sizeof *ring.held);
  *out = ring;
  if (!ring.next || !ring.prev || !ring.held) {
    cachemodel_ring_destroy(out);
    return MD_FAIL(MD_ENOMEM, "out of memory for a cache of %zu sets", sets);
  }
  for (uint32_t s = 0; s < sets; s++)
    ring.next[s] = ring.prev[s] = s;
  return MD_OK;
}

void cachemodel_ring_destroy(cachemodel_ring *ring)
{
  free(ring->next);
  free(ring->prev);
  free(ring->held);
  *ring = (cachemodel_ring){0};
}

md_status cachemodel_ring_grow(cachemodel_ring *ring, int64_t lines)
{
  if (lines <= ring->lines) return MD_OK;
  int64_t wanted = ring->lines + ring->lines / 2;
  if (wanted < lines) wanted = lines;
  MD_REQUIRE(ring->sets + wanted < RING_OUT, MD_ENOMEM, "%" PRId64 " distinct lines are too many",
             lines);
  const size_t nodes = (size_t)(ring->sets + wanted);
  uint32_t *next = realloc(ring->next, nodes * sizeof *next);
  if (next) ring->next = next;
  uint32_t *prev = next ? realloc(ring->prev, nodes * sizeof *prev) : NULL;
  MD_REQUIRE(prev, MD_ENOMEM, "out of memory: %" PRId64 " lines take %.3f GB", lines,
             8e-9 * (double)nodes);
  ring->prev = prev;
  for (size_t node = (size_t)(ring->sets + ring->lines); node < nodes; node++)
    prev[node] = RING_OUT;
  ring->lines = wanted;
  return MD_OK;
}
