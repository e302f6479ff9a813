/* cachemodel/stack/cache.c - caches of given size: one level or several, LRU or FIFO, any number of
 * ways.
 *
 * Rings of lines (cachemodel_impl.h): O(1) an access at any capacity and number of ways. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <stdlib.h>

#define WORD(name, word) word,
const char *const cachemodel_policy_words[CACHEMODEL_POLICY_COUNT] = {CACHEMODEL_POLICIES(WORD)};
const char *const cachemodel_inclusion_words[CACHEMODEL_INCLUSION_COUNT] = {
    CACHEMODEL_INCLUSIONS(WORD)};
#undef WORD

static cachemodel_unique_fn *const uniques[MD_ISA_COUNT] = SIMD_ROW(cachemodel_unique);

typedef struct {
  cachemodel_ring ring;
  int64_t accesses, misses;
} level;

struct cachemodel_cache {
  cachemodel_unique_fn *unique;
  cachemodel_inclusion inclusion;
  uint32_t last; /* line of the access before */
  int n;
  level levels[]; /* [n], nearest first */
};

md_status cachemodel_cache_create(md_isa isa, int n, const cachemodel_level *levels,
                                  cachemodel_inclusion inclusion, cachemodel_cache **out)
{
  *out = NULL;
  MD_REQUIRE(n >= 1, MD_EINVAL, "%d levels: expected at least one", n);
  cachemodel_cache *cache = calloc(1, sizeof *cache + (size_t)n * sizeof(level));
  MD_REQUIRE(cache, MD_ENOMEM, "out of memory for %d levels of cache", n);
  cache->unique = uniques[isa];
  cache->inclusion = inclusion;
  cache->last = NO_LINE;
  for (; cache->n < n; cache->n++) {
    const md_status status =
        cachemodel_ring_create(&levels[cache->n], &cache->levels[cache->n].ring);
    if (status) {
      cachemodel_cache_destroy(cache);
      return status;
    }
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

static void feed_single(cachemodel_cache *cache, int n, const uint32_t *line)
{
  cachemodel_ring *ring = &cache->levels[0].ring;
  int64_t misses = 0;
  for (int t = 0; t < n; t++) {
    if (ring_hit(ring, line[t])) continue;
    misses++;
    (void)ring_insert(ring, line[t]);
  }
  cache->levels[0].accesses += n;
  cache->levels[0].misses += misses;
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
    for (int near = 0; victim != NO_LINE && near < l; near++)
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
  for (int l = 0; l < cache->n && moving != NO_LINE; l++)
    moving = ring_insert(&cache->levels[l].ring, moving);
}

static md_status feed_unique(cachemodel_cache *cache, int n, const uint32_t *line)
{
  uint32_t most = 0;
  for (int t = 0; t < n; t++)
    most = line[t] > most ? line[t] : most;
  for (int l = 0; l < cache->n; l++)
    MD_TRY(cachemodel_ring_grow(&cache->levels[l].ring, (int64_t)most + 1));
  if (cache->n == 1)
    feed_single(cache, n, line);
  else if (cache->inclusion == CACHEMODEL_INCLUSIVE)
    for (int t = 0; t < n; t++)
      access_inclusive(cache, line[t]);
  else
    for (int t = 0; t < n; t++)
      access_exclusive(cache, line[t]);
  return MD_OK;
}

md_status cachemodel_cache_feed(cachemodel_cache *cache, int64_t n, const uint32_t *line)
{
  uint32_t unique[TRACE_BATCH + 16];
  for (int64_t t = 0; t < n; t += TRACE_BATCH) {
    const int batch = (int)(n - t < TRACE_BATCH ? n - t : TRACE_BATCH);
    const int left = cache->unique(cache->last, batch, line + t, unique);
    MD_TRY(feed_unique(cache, left, unique));
    cache->levels[0].accesses += batch - left;
    cache->last = line[t + batch - 1];
  }
  return MD_OK;
}

void cachemodel_cache_counts(const cachemodel_cache *cache, int l, int64_t *accesses,
                             int64_t *misses)
{
  *accesses = cache->levels[l].accesses;
  *misses = cache->levels[l].misses;
}
