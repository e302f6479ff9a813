/* tests/ref/ref_store.h - a slow, obvious cache: lines with the times of their last accesses. */
#ifndef REF_STORE_H
#define REF_STORE_H

#include "cachemodel/machine/hierarchy.h"

typedef struct {
  bool used, passes;
  uint64_t line;
  uint32_t valid, dirty; /* bits of sectors */
  trace_stream owner;
  int64_t time;
} held;

typedef struct {
  int64_t sets, ways, now;
  machine_policy policy;
  uint64_t random; /* state */
  int64_t since;   /* one set: accesses before this one are forgotten (MACHINE_PLRU) */
  held *line;      /* [sets][ways] */
} store;

/* Of a level, or of one of its parts. */
store store_make(const machine_level *l);
/* NULL: not there. */
held *store_find(store *s, uint64_t line);
/* Bring in a line that is not there, for the oldest or for the first that is forgotten; one that
 * passes for any that does where these are half of the set.  *gone is what it displaced. */
held *store_bring(store *s, uint64_t line, bool passes, held *gone);
/* An access to a line that is there.  Once all of a set (there is one) have been used, those before
 * are forgotten. */
void store_use(store *s, held *h);

#endif
