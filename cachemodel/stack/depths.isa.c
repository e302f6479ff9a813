/* cachemodel/stack/depths.isa.c - stack distances of the lines below the front; the instruction set
 * matters for counting bits and adding counters.
 *
 * A line's depth is the number of occupied slots after its own: the lines in all less those up to
 * its slot, which are two counters and the bits of one block.  Taking a line lowers the counters of
 * later blocks and regions, whole vectors at a time, so that no counter is read in another width
 * than it was written.  What a line needs is prefetched events ahead: in random order each one lies
 * in another block. */
#include "cachemodel/stack/cachemodel_impl.h"

enum { LINES_AHEAD = 24, SLOTS_AHEAD = 12 }; /* events */

/* Masks as windows of arrays: the n elements from n - at on, or from n - 1 - at on. */
static const uint64_t words_before[2 * BLOCK_WORDS] = {[0 ... BLOCK_WORDS - 1] = UINT64_MAX};
static const uint16_t blocks_after[2 * REGION_BLOCKS] = {[REGION_BLOCKS... 2 * REGION_BLOCKS - 1] =
                                                             UINT16_MAX};
static const uint32_t regions_after[2 * REGION_GROUP] = {[REGION_GROUP... 2 * REGION_GROUP - 1] =
                                                             UINT32_MAX};

/* Occupied slots of the block up to this one, itself included.  All words are read: no branch
 * depends on the slot. */
MD_INLINE uint32_t count_in_block(const cachemodel_depths *d, uint32_t slot)
{
  const uint64_t *word = d->occupied + slot / BLOCK_SLOTS * BLOCK_WORDS;
  const uint32_t at = slot / WORD_SLOTS % BLOCK_WORDS;
  const uint64_t *before = words_before + BLOCK_WORDS - at;
  const uint64_t upto = UINT64_MAX >> (WORD_SLOTS - 1 - slot % WORD_SLOTS);
  uint32_t count = (uint32_t)__builtin_popcountll(word[at] & upto);
  for (int w = 0; w < BLOCK_WORDS; w++)
    count += (uint32_t)__builtin_popcountll(word[w] & before[w]);
  return count;
}

/* The slot is empty from now on. */
MD_INLINE void take(cachemodel_depths *d, uint32_t slot)
{
  const uint32_t region = slot / REGION_SLOTS, block = slot / BLOCK_SLOTS % REGION_BLOCKS;
  uint16_t *in_region = d->before_block + (size_t)region * REGION_BLOCKS;
  for (int k = 0; k < REGION_BLOCKS; k++)
    in_region[k] = (uint16_t)(in_region[k] + blocks_after[REGION_BLOCKS - 1 - block + k]);
  uint32_t *group = d->before_region + region / REGION_GROUP * REGION_GROUP;
  for (int k = 0; k < REGION_GROUP; k++)
    group[k] += regions_after[REGION_GROUP - 1 - region % REGION_GROUP + k];
  const uint32_t *end = d->before_region + d->used / REGION_SLOTS;
  for (group += REGION_GROUP; group <= end; group += REGION_GROUP)
    for (int k = 0; k < REGION_GROUP; k++)
      group[k]--;
  d->occupied[slot / WORD_SLOTS] &= ~((uint64_t)1 << slot % WORD_SLOTS);
  d->lines--;
}

MD_INLINE void prefetch(const cachemodel_depths *d, int left, const cachemodel_event *event)
{
  if (left <= LINES_AHEAD) return;
  __builtin_prefetch(&d->slot_of[event[LINES_AHEAD].line], 1);
  if (event[LINES_AHEAD].demoted != NO_LINE)
    __builtin_prefetch(&d->slot_of[event[LINES_AHEAD].demoted], 1);
  const uint32_t slot = d->slot_of[event[SLOTS_AHEAD].line];
  if (slot == DEPTHS_NO_SLOT) return;
  __builtin_prefetch(d->occupied + slot / BLOCK_SLOTS * BLOCK_WORDS, 1);
  __builtin_prefetch(d->before_block + slot / REGION_SLOTS * REGION_BLOCKS, 1);
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
      const uint32_t upto = d->before_region[slot / REGION_SLOTS] +
                            d->before_block[slot / BLOCK_SLOTS] + count_in_block(d, slot);
      d->count[d->lines - upto]++;
      take(d, slot);
      d->slot_of[line] = DEPTHS_NO_SLOT;
    }
    if (events[e].demoted != NO_LINE) depths_push(d, events[e].demoted);
  }
  *depths = local;
}
