/* tests/ref/ref_store.c - see ref_store.h. */
#include "tests/ref/ref_store.h"
#include "tests/ref/ref.h"

store store_make(const machine_level *l)
{
  const int64_t lines = l->bytes / l->parts / l->line;
  store s = {.sets = lines / l->ways, .ways = l->ways, .policy = l->policy};
  s.line = ref_alloc(s.sets * s.ways, sizeof *s.line);
  memset(s.line, 0, (size_t)(s.sets * s.ways) * sizeof *s.line);
  return s;
}

held *store_find(store *s, uint64_t line)
{
  held *set = s->line + line % (uint64_t)s->sets * (uint64_t)s->ways;
  for (int64_t w = 0; w < s->ways; w++)
    if (set[w].used && set[w].line == line) return &set[w];
  return NULL;
}

static bool forgotten(const store *s, const held *h)
{
  return !h->used || h->time < s->since;
}

void store_use(store *s, held *h)
{
  h->time = ++s->now;
  for (int64_t w = 0; w < s->ways; w++)
    if (forgotten(s, &s->line[w])) return;
  s->since = s->now;
}

/* Any line that passes: as many come before it as the highest bits of a random number say. */
static held *any_passing(store *s, held *set, int64_t passing)
{
  s->random = s->random * 6364136223846793005u + 1442695040888963407u;
  int64_t before = (int64_t)(s->random >> 32) * passing >> 32;
  for (held *h = set;; h++)
    if (h->passes && before-- == 0) return h;
}

held *store_bring(store *s, uint64_t line, bool passes, held *gone)
{
  held *set = s->line + line % (uint64_t)s->sets * (uint64_t)s->ways, *victim = set;
  const bool by_age = s->policy == MACHINE_LRU;
  int64_t passing = 0;
  for (int64_t w = 0; by_age && w < s->ways; w++) {
    passing += set[w].passes;
    if (set[w].time < victim->time) victim = &set[w];
  }
  if (passes && passing > 0 && passing >= s->ways / 2) victim = any_passing(s, set, passing);
  for (int64_t w = 0; !by_age && w < s->ways && !forgotten(s, victim); w++)
    victim = &set[w];
  *gone = *victim;
  *victim = (held){.used = true, .line = line};
  return victim;
}
