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

held *store_bring(store *s, uint64_t line, held *gone)
{
  held *set = s->line + line % (uint64_t)s->sets * (uint64_t)s->ways, *victim = set;
  const bool by_age = s->policy == MACHINE_LRU;
  for (int64_t w = 0; by_age && w < s->ways && victim->used; w++) {
    const bool sooner =
        set[w].passes != victim->passes ? set[w].passes : set[w].time < victim->time;
    if (!set[w].used || sooner) victim = &set[w];
  }
  for (int64_t w = 0; !by_age && w < s->ways && !forgotten(s, victim); w++)
    victim = &set[w];
  *gone = *victim;
  *victim = (held){.used = true, .line = line};
  return victim;
}
