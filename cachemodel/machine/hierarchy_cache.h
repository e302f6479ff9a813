/* cachemodel/machine/hierarchy_cache.h - a set-associative cache of lines in sectors, for the
 * models of one instruction set.  The victim is the oldest line of a set, but lines that pass
 * (CACHE_PASS) have at most half of a set: where they have that much, a new one takes the place of
 * any of them, at random.  Or it is the first that was not used since all others were.
 *
 * A set is `room` ways, a multiple of 16 so that tags are compared a vector at a time; those beyond
 * `ways` hold nothing and are never chosen.  age is the time of the last access, renumbered before
 * the clock overflows; of victims that were not used it is 1 where a line was. */
#ifndef HIERARCHY_CACHE_H
#define HIERARCHY_CACHE_H

#include "cachemodel/machine/hierarchy_impl.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_UNIT = 16 };
#define CACHE_EMPTY UINT32_MAX
#define CACHE_CLOCK_END (UINT32_MAX - 1)

/* PASS: a read of a line that is not to stay. */
typedef enum { CACHE_READ, CACHE_WRITE, CACHE_PASS } cache_op;

typedef struct {
  uint32_t sets, room;
  bool hashed;
  uint32_t ways;
  machine_policy policy;
  uint32_t clock;         /* below CACHE_CLOCK_END */
  uint64_t random;        /* state */
  uint32_t *tag, *age;    /* [sets][room] */
  uint8_t *valid, *dirty; /* sectors */
  uint8_t *owner;         /* stream that wrote last */
  uint8_t *passes;        /* 1: by its last access it does */
} cache;

typedef struct {
  uint8_t hits;  /* sectors that were there */
  uint8_t dirty; /* sectors of the line that had to go */
  uint8_t owner;
  uint32_t line; /* that had to go */
  size_t at;     /* where the line is */
} cache_answer;

static void cache_destroy(cache *c)
{
  free(c->tag);
  free(c->age);
  free(c->valid);
  free(c->dirty);
  free(c->owner);
  free(c->passes);
  *c = (cache){0};
}

static void cache_clear(cache *c, uint32_t ways)
{
  c->clock = 1;
  c->random = 0;
  for (size_t k = 0; k < (size_t)c->sets * c->room; k++) {
    c->tag[k] = CACHE_EMPTY;
    c->age[k] = k % c->room < ways ? 0 : UINT32_MAX;
    c->valid[k] = c->dirty[k] = c->owner[k] = c->passes[k] = 0;
  }
}

/* One of the parts of a level. */
static md_status cache_create(const machine_level *level, bool hashed, cache *c)
{
  const int64_t lines = level->bytes / level->parts / level->line;
  *c = (cache){.hashed = hashed,
               .sets = (uint32_t)(lines / level->ways),
               .ways = (uint32_t)level->ways,
               .policy = level->policy};
  c->room = (uint32_t)(level->ways + CACHE_UNIT - 1) / CACHE_UNIT * CACHE_UNIT;
  const size_t n = (size_t)c->sets * c->room;
  c->tag = aligned_alloc(64, n * sizeof *c->tag);
  c->age = aligned_alloc(64, n * sizeof *c->age);
  c->valid = malloc(n);
  c->dirty = malloc(n);
  c->owner = malloc(n);
  c->passes = malloc(n);
  if (!c->tag || !c->age || !c->valid || !c->dirty || !c->owner || !c->passes) {
    cache_destroy(c);
    return MD_FAIL(MD_ENOMEM, "out of memory for a model of a cache of %.1f MB",
                   (double)level->bytes / 1e6);
  }
  cache_clear(c, (uint32_t)level->ways);
  return MD_OK;
}

/* The first k with from[k] == value, or n, a multiple of CACHE_UNIT. */
MD_INLINE uint32_t cache_find(const uint32_t *from, uint32_t n, uint32_t value)
{
  for (uint32_t k = 0; k < n; k += CACHE_UNIT) {
#if MD_ISA == 2
    const __m512i there = _mm512_load_si512(from + k);
    const uint32_t found = _mm512_cmpeq_epi32_mask(there, _mm512_set1_epi32((int)value));
#else
    uint32_t found = 0;
    for (uint32_t w = 0; w < CACHE_UNIT; w++)
      found |= (uint32_t)(from[k + w] == value) << w;
#endif
    if (found) return k + (uint32_t)__builtin_ctz(found);
  }
  return n;
}

MD_INLINE uint32_t cache_oldest(const uint32_t *age, uint32_t n)
{
  uint32_t least = UINT32_MAX;
  for (uint32_t k = 0; k < n; k++)
    least = age[k] < least ? age[k] : least;
  return cache_find(age, n, least);
}

/* Ages become their ranks within each set, so that the clock can start again. */
static void cache_renumber(cache *c)
{
  uint32_t most = 0;
  for (uint32_t s = 0; s < c->sets; s++) {
    uint32_t *age = c->age + (size_t)s * c->room;
    uint32_t last = 0; /* what is older has its rank, which is no greater than its age was */
    for (uint32_t rank = 1;; rank++) {
      uint32_t next = UINT32_MAX;
      for (uint32_t k = 0; k < c->room; k++)
        if (age[k] > last && age[k] < next) next = age[k];
      if (next == UINT32_MAX) break;
      age[cache_find(age, c->room, next)] = rank;
      most = rank > most ? rank : most;
      last = next;
    }
  }
  c->clock = most + 1;
}

MD_INLINE uint32_t cache_hash(uint32_t h)
{
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  return h ^ h >> 16;
}

/* Hashed: as many lines in a row as there are sets fall into all of them, so that a contiguous
 * array of the cache's size fits; what differs from row to row is with which set they begin. */
MD_INLINE uint32_t cache_set(const cache *c, uint32_t line)
{
  const uint32_t row = line / c->sets, at = line - row * c->sets;
  if (!c->hashed) return at;
  const uint32_t set = at + (uint32_t)((uint64_t)cache_hash(row) * c->sets >> 32);
  return set < c->sets ? set : set - c->sets;
}

/* Soon this line will be looked up. */
MD_INLINE void cache_prefetch(const cache *c, uint32_t line)
{
  const size_t set = (size_t)cache_set(c, line) * c->room;
  __builtin_prefetch(c->tag + set);
  __builtin_prefetch(c->age + set);
  __builtin_prefetch(c->valid + set);
}

/* Below n, of a linear congruential generator. */
MD_INLINE uint32_t cache_random(uint64_t *state, uint32_t n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*state >> 32) * n >> 32);
}

MD_INLINE uint32_t cache_victim(cache *c, size_t set, cache_op op)
{
  const uint32_t *age = c->age + set;
  const uint8_t *passes = c->passes + set;
  if (c->policy == MACHINE_PLRU) return cache_find(age, c->room, 0);
  uint32_t passing = 0, way = 0;
  for (uint32_t k = 0; op == CACHE_PASS && k < c->ways; k++)
    passing += passes[k];
  if (passing == 0 || passing < c->ways / 2) return cache_oldest(age, c->room);
  for (uint32_t before = cache_random(&c->random, passing); before > 0 || !passes[way]; way++)
    before -= passes[way];
  return way;
}

/* Note an access.  When all lines of the set have been used, only this one counts as such, and of a
 * single line none, so that there is always a victim. */
MD_INLINE void cache_use(cache *c, size_t set, uint32_t way)
{
  uint32_t *age = c->age + set;
  if (c->policy == MACHINE_LRU) {
    age[way] = c->clock++;
    return;
  }
  if (age[way]) return;
  age[way] = 1;
  if (cache_find(age, c->room, 0) < c->room) return;
  memset(age, 0, c->ways * sizeof *age);
  age[way] = c->ways > 1;
}

/* Look up sectors of a line; those that are not there are then, for which another line may have to
 * go; those written become dirty, of this stream. */
MD_INLINE cache_answer cache_access(cache *c, uint32_t line, uint8_t sectors, cache_op op,
                                    uint8_t stream)
{
  cache_answer answer = {0};
  const size_t set = (size_t)cache_set(c, line) * c->room;
  uint32_t way = cache_find(c->tag + set, c->room, line);
  if (c->clock == CACHE_CLOCK_END) cache_renumber(c);
  if (way < c->room) {
    answer.hits = c->valid[set + way] & sectors;
    c->valid[set + way] |= sectors;
  } else {
    way = cache_victim(c, set, op);
    answer.line = c->tag[set + way];
    answer.dirty = c->dirty[set + way];
    answer.owner = c->owner[set + way];
    c->tag[set + way] = line;
    c->valid[set + way] = sectors;
    c->dirty[set + way] = 0;
  }
  answer.at = set + way;
  c->passes[answer.at] = op == CACHE_PASS;
  cache_use(c, set, way);
  if (op == CACHE_WRITE) {
    c->dirty[set + way] |= sectors;
    c->owner[set + way] = stream;
  }
  return answer;
}

/* This line, just accessed, is found no more, and keeps its place until it is the victim. */
MD_INLINE void cache_forget(cache *c, size_t at)
{
  c->tag[at] = CACHE_EMPTY;
}

/* More sectors of a line that is there; returns how many were not. */
MD_INLINE int32_t cache_fill(cache *c, size_t at, uint8_t sectors)
{
  const uint8_t more = sectors & (uint8_t)~c->valid[at];
  c->valid[at] |= more;
  return __builtin_popcount(more);
}

#endif
