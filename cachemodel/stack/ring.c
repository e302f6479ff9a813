/* cachemodel/stack/ring.c - memory of one cache; its operations are inline in cachemodel_impl.h. */
#include "cachemodel/stack/cachemodel_impl.h"

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
  cachemodel_ring ring = {.policy = spec->policy, .sets = spec->capacity / ways, .ways = ways};
  MD_TRY(cachemodel_room((double)(sizeof *ring.node + sizeof *ring.held) * (double)ring.sets,
                         "a cache of this many sets"));
  MD_REQUIRE(ring.sets <= INT32_MAX, MD_ECAPACITY,
             "a cache of %" PRId64 " sets: at most 2147483647 are possible", ring.sets);
  const size_t sets = (size_t)ring.sets;
  ring.node = malloc(sets * sizeof *ring.node);
  ring.held = calloc(sets, sizeof *ring.held);
  if (!ring.node || !ring.held) {
    cachemodel_ring_destroy(&ring);
    return MD_FAIL(MD_ENOMEM, "out of memory for a cache of %zu sets", sets);
  }
  for (uint32_t s = 0; s < sets; s++)
    ring.node[s] = (cachemodel_node){s, s};
  *out = ring;
  return MD_OK;
}

void cachemodel_ring_destroy(cachemodel_ring *ring)
{
  free(ring->node);
  free(ring->held);
  *ring = (cachemodel_ring){0};
}

md_status cachemodel_ring_grow(cachemodel_ring *ring, int64_t lines)
{
  if (lines <= ring->lines) return MD_OK;
  int64_t wanted = ring->lines + ring->lines / 2;
  if (wanted < lines) wanted = lines;
  MD_REQUIRE(ring->sets + wanted < RING_OUT, MD_ECAPACITY,
             "%" PRId64 " lines and %" PRId64 " sets: at most 4294967294 together are possible",
             lines, ring->sets);
  const size_t nodes = (size_t)(ring->sets + wanted);
  cachemodel_node *node = realloc(ring->node, nodes * sizeof *node);
  MD_REQUIRE(node, MD_ENOMEM, "out of memory: %" PRId64 " lines take %.3f GB", lines,
             1e-9 * (double)(nodes * sizeof *node));
  for (size_t n = (size_t)(ring->sets + ring->lines); n < nodes; n++)
    node[n].prev = RING_OUT;
  ring->node = node;
  ring->lines = wanted;
  return MD_OK;
}
