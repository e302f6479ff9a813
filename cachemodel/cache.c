/* cachemodel/cache.c - caches of given size: one level or several, LRU or FIFO, any number of ways.
 *
 * A single fully associative LRU level is the front of front_isa.c with a ring below it that takes
 * what the front drops; everything else is rings.  Costs O(1) an access at any capacity. */
#include "cachemodel/cachemodel_impl.h"

#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const cachemodel_policy_words[CACHEMODEL_POLICY_COUNT] = {CACHEMODEL_POLICIES(WORD)};
const char *const cachemodel_inclusion_words[CACHEMODEL_INCLUSION_COUNT] = {
    CACHEMODEL_INCLUSIONS(WORD)};
#undef WORD

typedef struct {
  cachemodel_ring ring;
  int64_t accesses, misses;
} level;

struct cachemodel_cache {
  cachemodel_front front;
  cachemodel_front_fn *feed; /* NULL: rings only */
  int64_t front_capacity;    /* lines of the front that count as cache */
  bool deeper;               /* the cache goes on below the front */
  cachemodel_event events[FRONT_BATCH];
  cachemodel_inclusion inclusion;
  int n;
  level levels[]; /* [n], nearest first */
};

/* The ring below a front: a cache as large as the front alone needs none. */
static cachemodel_level below_front(const cachemodel_level *whole)
{
  const int64_t rest = whole->capacity - FRONT_LINES;
  return (cachemodel_level){rest > 0 ? rest : 1, 0, CACHEMODEL_LRU};
}

md_status cachemodel_cache_create(md_isa isa, int n, const cachemodel_level *levels,
                                  cachemodel_inclusion inclusion, cachemodel_cache **out)
{
  *out = NULL;
  MD_REQUIRE(n >= 1, MD_EINVAL, "%d levels: expected at least one", n);
  const size_t bytes = sizeof(cachemodel_cache) + (size_t)n * sizeof(level);
  cachemodel_cache *cache = aligned_alloc(64, (bytes + 63) / 64 * 64);
  MD_REQUIRE(cache, MD_ENOMEM, "out of memory for %d levels of cache", n);
  memset(cache, 0, bytes);
  cachemodel_front_init(&cache->front);
  cache->inclusion = inclusion;
  const bool fully = levels[0].ways == 0 || levels[0].ways == levels[0].capacity;
  if (n == 1 && fully && levels[0].policy == CACHEMODEL_LRU && levels[0].capacity >= 1) {
    cache->feed = cachemodel_fronts[isa];
    cache->deeper = levels[0].capacity > FRONT_LINES;
    cache->front_capacity = cache->deeper ? FRONT_LINES : levels[0].capacity;
  }
  md_status status = MD_OK;
  for (; !status && cache->n < n; cache->n++) {
    const cachemodel_level spec = cache->feed ? below_front(&levels[0]) : levels[cache->n];
    status = cachemodel_ring_create(&spec, &cache->levels[cache->n].ring);
  }
  if (status) {
    cachemodel_cache_destroy(cache);
    return status;
  }
  *out = cache;
  return MD_OK;
}

void cachemodel_cache_destroy(cachemodel_cache *cache)
{
  if (!cache) return;
  for (int l = 0; l < cache->n; l++)
    cachemodel_ring_destroy(&cache->levels[l].ring);
  free(cache);
}

/* Lines that left the front live on in the ring, from which a hit takes them back. */
static md_status feed_front(cachemodel_cache *cache, int n, const uint32_t *line)
{
  level *below = &cache->levels[0];
  const int events = cache->feed(&cache->front, n, line, cache->events);
  below->accesses += n;
  if (!cache->deeper) return MD_OK; /* counted from the front's hits */
  int64_t bound = 0;
  for (int e = 0; e < events; e++)
    if (cache->events[e].line >= bound) bound = (int64_t)cache->events[e].line + 1;
  MD_TRY(cachemodel_ring_grow(&below->ring, bound));
  for (int e = 0; e < events; e++) {
    const cachemodel_event *event = &cache->events[e];
    if (ring_holds(&below->ring, event->line))
      ring_remove(&below->ring, event->line);
    else
      below->misses++;
    if (event->demoted != FRONT_EMPTY) (void)ring_insert(&below->ring, event->demoted);
  }
  return MD_OK;
}

/* The level that has the line, refreshed; n if none. */
static int find_level(cachemodel_cache *cache, uint32_t line)
{
  for (int l = 0; l < cache->n; l++) {
    cache->levels[l].accesses++;
    if (ring_hit(&cache->levels[l].ring, line)) return l;
    cache->levels[l].misses++;
  }
  return cache->n;
}

static void access_inclusive(cachemodel_cache *cache, uint32_t line)
{
  for (int l = find_level(cache, line) - 1; l >= 0; l--) {
    const uint32_t victim = ring_insert(&cache->levels[l].ring, line);
    for (int near = 0; victim != FRONT_EMPTY && near < l; near++)
      if (ring_holds(&cache->levels[near].ring, victim))
        ring_remove(&cache->levels[near].ring, victim);
  }
}

static void access_exclusive(cachemodel_cache *cache, uint32_t line)
{
  const int found = find_level(cache, line);
  if (found == 0) return;
  if (found < cache->n) ring_remove(&cache->levels[found].ring, line);
  uint32_t moving = line;
  for (int l = 0; l < cache->n && moving != FRONT_EMPTY; l++)
    moving = ring_insert(&cache->levels[l].ring, moving);
}

static md_status feed_rings(cachemodel_cache *cache, int64_t n, const uint32_t *line)
{
  uint32_t most = 0;
  for (int64_t t = 0; t < n; t++)
    most = line[t] > most ? line[t] : most;
  for (int l = 0; l < cache->n; l++)
    MD_TRY(cachemodel_ring_grow(&cache->levels[l].ring, (int64_t)most + 1));
  if (cache->inclusion == CACHEMODEL_INCLUSIVE)
    for (int64_t t = 0; t < n; t++)
      access_inclusive(cache, line[t]);
  else
    for (int64_t t = 0; t < n; t++)
      access_exclusive(cache, line[t]);
  return MD_OK;
}

md_status cachemodel_cache_feed(cachemodel_cache *cache, int64_t n, const uint32_t *line)
{
  for (int64_t t = 0; t < n; t += FRONT_BATCH) {
    const int batch = (int)(n - t < FRONT_BATCH ? n - t : FRONT_BATCH);
    MD_TRY(cache->feed ? feed_front(cache, batch, line + t) : feed_rings(cache, batch, line + t));
  }
  return MD_OK;
}

void cachemodel_cache_counts(const cachemodel_cache *cache, int l, int64_t *accesses,
                             int64_t *misses)
{
  *accesses = cache->levels[l].accesses;
  *misses = cache->levels[l].misses;
  if (!cache->feed || cache->deeper) return;
  *misses = *accesses;
  for (int64_t p = 0; p < cache->front_capacity; p++)
    *misses -= cache->front.hits[p];
}
