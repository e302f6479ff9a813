/* cachemodel/stack/depths.isa.c - stack distances of the lines below the front; the instruction set
 * matters for adding counters.
 *
 * A line's depth is the number of occupied slots after its own: the lines in all less those up to
 * its slot, which are three counters and the bits of one word.  Taking a line lowers the counters
 * of later words, blocks and regions, a vector each, so that no counter is read in another width
 * than it was written.
 */
#include "cachemodel/stack/cachemodel_impl.h"

enum { LINES_AHEAD = 24, SLOTS_AHEAD = 12 }; /* events */

/* Counters of a block or region and of a group of regions, at their places and anywhere. */
typedef uint16_t shorts __attribute__((vector_size(64), may_alias));
typedef uint32_t words __attribute__((vector_size(64), may_alias));
typedef uint16_t any_shorts __attribute__((vector_size(64), aligned(2), may_alias));
typedef uint32_t any_words __attribute__((vector_size(64), aligned(4), may_alias));

/* Masks as windows of arrays: the n elements from n - 1 - at on are -1 after `at`. */
static const uint16_t after[2 * BLOCK_WORDS] = {[BLOCK_WORDS... 2 * BLOCK_WORDS - 1] = UINT16_MAX};
static const uint32_t regions_after[2 * REGION_GROUP] = {[REGION_GROUP... 2 * REGION_GROUP - 1] =
                                                             UINT32_MAX};

/* Occupied slots up to this one, itself included. */
MD_INLINE uint32_t count_upto(const cachemodel_depths *d, uint32_t slot)
{
  return d->before_region[slot / REGION_SLOTS] + d->before_block[slot / BLOCK_SLOTS] +
         d->before_word[slot / WORD_SLOTS] +
         (uint32_t)__builtin_popcountll(depths_upto(d->word[slot / WORD_SLOTS].occupied, slot));
}

MD_INLINE void lower_after(uint16_t *counter, uint32_t at)
{
  *(shorts *)counter += *(const any_shorts *)(after + BLOCK_WORDS - 1 - at);
}

/* The slot is empty from now on. */
MD_INLINE void take(cachemodel_depths *d, uint32_t slot)
{
  const uint32_t block = slot / BLOCK_SLOTS, region = slot / REGION_SLOTS;
  d->word[slot / WORD_SLOTS].occupied &= ~((uint64_t)1 << slot % WORD_SLOTS);
  lower_after(d->before_word + (size_t)block * BLOCK_WORDS, slot / WORD_SLOTS % BLOCK_WORDS);
  lower_after(d->before_block + (size_t)region * REGION_BLOCKS, block % REGION_BLOCKS);
  words *group = (words *)d->before_region + region / REGION_GROUP;
  const words *last = (words *)d->before_region + d->used / REGION_SLOTS / REGION_GROUP;
  *group += *(const any_words *)(regions_after + REGION_GROUP - 1 - region % REGION_GROUP);
  while (group++ < last)
    *group -= 1;
  d->lines--;
}

/* What a line needs is prefetched events ahead: where many lines are about, each lies elsewhere. */
MD_INLINE void prefetch(const cachemodel_depths *d, int left, const cachemodel_event *event)
{
  if (left <= LINES_AHEAD) return;
  __builtin_prefetch(&d->slot_of[event[LINES_AHEAD].line], 1);
  if (event[LINES_AHEAD].demoted != NO_LINE)
    __builtin_prefetch(&d->slot_of[event[LINES_AHEAD].demoted], 1);
  const uint32_t slot = d->slot_of[event[SLOTS_AHEAD].line];
  if (slot == DEPTHS_NO_SLOT) return;
  __builtin_prefetch(d->word + slot / WORD_SLOTS, 1);
  __builtin_prefetch(d->before_word + slot / BLOCK_SLOTS * BLOCK_WORDS, 1);
}

void ISA(cachemodel_depths_pass)(cachemodel_depths *depths, int n, const cachemodel_event *events)
{
  cachemodel_depths local = *depths, *d = &local; /* in registers: no store can change it */
  for (int e = 0; e < n; e++) {
    prefetch(d, n - e, events + e);
    const uint32_t line = events[e].line, slot = d->slot_of[line];
    if (slot == DEPTHS_NO_SLOT) {
      d->distinct++;
    } else {
      d->distances.recent[FRONT_LINES + d->lines - count_upto(d, slot)]++;
      take(d, slot);
    }
    if (events[e].demoted != NO_LINE) depths_push(d, events[e].demoted);
  }
  *depths = local;
}
