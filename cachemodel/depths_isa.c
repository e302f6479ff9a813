/* cachemodel/depths_isa.c - stack distances of the lines below the front; the instruction set
 * matters for counting bits. */
#include "cachemodel/cachemodel_impl.h"

/* Occupied slots after this one. */
MD_INLINE uint32_t count_after(const cachemodel_depths *d, uint32_t slot)
{
  const uint32_t word = slot / WORD_SLOTS, block = slot / BLOCK_SLOTS;
  const uint32_t region = slot / REGION_SLOTS, last_region = (uint32_t)(d->used / REGION_SLOTS);
  const uint32_t blocks = region < last_region ? (region + 1) * (REGION_SLOTS / BLOCK_SLOTS)
                                               : (uint32_t)(d->used / BLOCK_SLOTS) + 1;
  const uint64_t *first = d->occupied + block * (BLOCK_SLOTS / WORD_SLOTS);
  const uint32_t here = word % (BLOCK_SLOTS / WORD_SLOTS);
  const uint64_t after = ~(uint64_t)1 << slot % WORD_SLOTS;
  uint32_t count = 0;
  /* All words of the block, masked: cheaper than a loop whose length cannot be predicted. */
  for (uint32_t w = 0; w < BLOCK_SLOTS / WORD_SLOTS; w++) {
    const uint64_t mask = w < here ? 0 : w == here ? after : ~(uint64_t)0;
    count += (uint32_t)__builtin_popcountll(first[w] & mask);
  }
  for (uint32_t b = block + 1; b < blocks; b++)
    count += d->in_block[b];
  for (uint32_t r = region + 1; r <= last_region; r++)
    count += d->in_region[r];
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
