/* cachemodel/stack/slots.c - memory of the lines below the front, and of their distances.
 *
 * When the slots run out, the lines move together into the first ones, and there are again
 * SLOTS_PER_LINE for each. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_PER_LINE = 4 };
/* After so many accesses, recent distances are added to the totals. */
enum { RECENT_MOST = 1 << 24 };

void cachemodel_distances_free(cachemodel_distances *distances)
{
  free(distances->recent);
  free(distances->total);
}

static void free_words(cachemodel_depths *d)
{
  if (d->word) free(d->word - BATCH_WORDS);
  free(d->before_word);
  free(d->before_block);
  free(d->before_region);
}

void cachemodel_depths_free(cachemodel_depths *d)
{
  free_words(d);
  free(d->owner);
  free(d->slot_of);
  cachemodel_distances_free(&d->distances);
}

/* Room for lines below `lines`. */
static md_status grow_lines(cachemodel_depths *d, int64_t lines)
{
  int64_t wanted = d->seen + d->seen / 2;
  if (wanted < lines) wanted = lines;
  uint32_t *slot_of = realloc(d->slot_of, (size_t)wanted * sizeof *slot_of);
  MD_REQUIRE(slot_of, MD_ENOMEM, "out of memory: an LRU stack of %" PRId64 " lines", lines);
  memset(slot_of + d->seen, 0xff, (size_t)(wanted - d->seen) * sizeof *slot_of);
  d->slot_of = slot_of;
  d->seen = wanted;
  return MD_OK;
}

static md_status add_recent(cachemodel_distances *s)
{
  if (!s->total) s->total = calloc((size_t)s->room, sizeof *s->total);
  MD_REQUIRE(s->total, MD_ENOMEM, "out of memory for %" PRId64 " stack distances", s->room);
  for (int64_t k = 0; k < s->room; k++)
    s->total[k] += s->recent[k];
  memset(s->recent, 0, (size_t)s->room * sizeof *s->recent);
  s->n_recent = 0;
  return MD_OK;
}

static md_status grow_distances(cachemodel_distances *s, int64_t wanted)
{
  const int64_t old = s->room, more = old + old / 2, room = wanted > more ? wanted : more;
  uint32_t *recent = realloc(s->recent, (size_t)room * sizeof *recent);
  if (recent) s->recent = recent;
  int64_t *total = s->total ? realloc(s->total, (size_t)room * sizeof *total) : NULL;
  if (total) s->total = total;
  MD_REQUIRE(recent && (total || !s->total), MD_ENOMEM,
             "out of memory for %" PRId64 " stack distances", room);
  memset(recent + old, 0, (size_t)(room - old) * sizeof *recent);
  if (total) memset(total + old, 0, (size_t)(room - old) * sizeof *total);
  s->room = room;
  return MD_OK;
}

/* Zeros for whole vectors. */
static void *counters(int64_t n, size_t size)
{
  const size_t bytes = ((size_t)n * size + 63) / 64 * 64;
  void *out = aligned_alloc(64, bytes);
  return out ? memset(out, 0, bytes) : NULL;
}

static md_status grow_slots(cachemodel_depths *d, int64_t slots)
{
  MD_REQUIRE(slots < DEPTHS_NO_SLOT - BATCH_MOST, MD_ENOMEM,
             "%" PRId64 " distinct lines are too many", d->lines);
  uint32_t *owner = realloc(d->owner, (size_t)slots * sizeof *owner);
  if (owner) d->owner = owner;
  free_words(d);
  cachemodel_word *word = counters(BATCH_WORDS + slots / WORD_SLOTS, sizeof *d->word);
  d->word = word ? word + BATCH_WORDS : NULL;
  d->before_word = counters(slots / WORD_SLOTS, sizeof *d->before_word);
  d->before_block = counters(slots / BLOCK_SLOTS, sizeof *d->before_block);
  d->before_region = counters(slots / REGION_SLOTS, sizeof *d->before_region);
  MD_REQUIRE(owner && d->word && d->before_word && d->before_block && d->before_region, MD_ENOMEM,
             "out of memory: an LRU stack of %" PRId64 " lines", d->lines);
  d->slots = slots;
  return MD_OK;
}

/* The lines move to the first slots, whose bits are still to be set. */
static void gather(cachemodel_depths *d)
{
  uint32_t to = 0;
  for (int64_t w = 0; w * WORD_SLOTS < d->used; w++) {
    for (uint64_t bits = d->word[w].occupied; bits; bits &= bits - 1) {
      const uint32_t line = d->owner[w * WORD_SLOTS + __builtin_ctzll(bits)];
      d->owner[to] = line;
      d->slot_of[line] = to++;
    }
    d->word[w].occupied = 0;
  }
}

void cachemodel_depths_recount(cachemodel_depths *d)
{
  d->lines = 0;
  for (int64_t w = 0; w * WORD_SLOTS < d->used; w++) {
    depths_open_word(d, (uint32_t)(w * WORD_SLOTS));
    d->lines += __builtin_popcountll(d->word[w].occupied);
  }
}

static md_status compact(cachemodel_depths *d, int n)
{
  const int64_t wanted = SLOTS_PER_LINE * (d->lines + n);
  const int64_t slots = (wanted + REGION_SLOTS - 1) / REGION_SLOTS * REGION_SLOTS;
  gather(d);
  if (slots > d->slots) MD_TRY(grow_slots(d, slots));
  for (int64_t w = 0; w < d->lines / WORD_SLOTS; w++)
    d->word[w].occupied = UINT64_MAX;
  if (d->lines % WORD_SLOTS > 0)
    d->word[d->lines / WORD_SLOTS].occupied = depths_upto(UINT64_MAX, (uint32_t)d->lines - 1);
  d->used = (d->lines + WORD_SLOTS - 1) / WORD_SLOTS * WORD_SLOTS;
  cachemodel_depths_recount(d);
  return MD_OK;
}

md_status cachemodel_depths_reserve(cachemodel_depths *d, int64_t bound, int n)
{
  cachemodel_distances *distances = &d->distances;
  if (bound > d->seen) MD_TRY(grow_lines(d, bound));
  if (d->used + n > d->slots) MD_TRY(compact(d, n < TRACE_BATCH ? TRACE_BATCH : n));
  const int64_t most = FRONT_LINES + d->lines + n;
  if (most > distances->room) MD_TRY(grow_distances(distances, most));
  if (distances->n_recent + n > RECENT_MOST) MD_TRY(add_recent(distances));
  distances->n_recent += n;
  return MD_OK;
}
