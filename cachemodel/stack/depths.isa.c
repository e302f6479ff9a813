/* cachemodel/stack/depths.isa.c - stack distances of the lines below the front; the instruction set
 * matters for counting bits and adding counters. */
#include "cachemodel/stack/cachemodel_impl.h"

enum { FEW_BLOCKS = 16 };

/* Sum of those counters that come after counter `at`; n is a constant where this is inlined. */
MD_INLINE uint32_t sum_after(const uint32_t *counter, int n, int at)
{
  uint32_t sum = 0;
  for (int k = 0; k < n; k++)
    sum += k > at ? counter[k] : 0;
  return sum;
}

/* Occupied slots after this one.  Whole words are read and masked, and so are blocks and regions
 * unless few blocks follow: the length of the loop could not be predicted. */
MD_INLINE uint32_t count_after(const cachemodel_depths *d, uint32_t slot)
{
  const uint32_t block = slot / BLOCK_SLOTS, region = slot / REGION_SLOTS;
  const uint64_t *word = d->occupied + block * BLOCK_WORDS;
  const uint32_t at = slot / WORD_SLOTS % BLOCK_WORDS;
  const uint64_t after = ~(uint64_t)1 << slot % WORD_SLOTS;
  uint32_t count = 0;
  for (uint32_t w = 0; w < BLOCK_WORDS; w++) {
    const uint64_t mask = w < at ? 0 : w == at ? after : ~(uint64_t)0;
    count += (uint32_t)__builtin_popcountll(word[w] & mask);
  }
  const uint32_t last_block = (uint32_t)(d->used / BLOCK_SLOTS);
  if (last_block - block < FEW_BLOCKS) {
    for (uint32_t b = block + 1; b <= last_block; b++)
      count += d->in_block[b];
    return count;
  }
  count +=
      sum_after(d->in_block + region * REGION_BLOCKS, REGION_BLOCKS, (int)(block % REGION_BLOCKS));
  for (int64_t r = region - region % REGION_GROUP; r <= d->used / REGION_SLOTS; r += REGION_GROUP)
    count += sum_after(d->in_region + r, REGION_GROUP, (int)(region - r));
  return count;
}

void ISA(cachemodel_depths_pass)(cachemodel_depths *d, int n, const cachemodel_event *events)
{
  for (int e = 0; e < n; e++) {
    const uint32_t line = events[e].line, slot = d->slot_of[line];
    if (slot == DEPTHS_NO_SLOT) {
      d->distinct++;
    } else {
      d->count[count_after(d, slot)]++;
      d->occupied[slot / WORD_SLOTS] &= ~((uint64_t)1 << slot % WORD_SLOTS);
      d->in_block[slot / BLOCK_SLOTS]--;
      d->in_region[slot / REGION_SLOTS]--;
      d->slot_of[line] = DEPTHS_NO_SLOT;
      d->lines--;
    }
    if (events[e].demoted != NO_LINE) depths_push(d, events[e].demoted);
  }
}
