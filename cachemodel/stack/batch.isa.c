/* cachemodel/stack/batch.isa.c - stack distances of thousands of accesses that mostly miss in the
 * front.
 *
 * All lines have slots (cachemodel_impl.h); the accesses of a batch take the next ones, in their
 * order.  Where a line's slot was p, the lines that are above it when access t comes are those with
 * slots after p, less those that a later access of the batch has brought there from below p:
 *
 *   distance(t) = occupied after p, when the batch is over - 1 - #{s > t: p_s < p_t}
 *
 * So nothing changes while a batch is counted, and no access waits for the one before.  Lines never
 * seen come from places below all slots, each from its own.  The last term counts pairs of a
 * permutation: a place's rank is how many places of the batch lie below it, and
 *
 *   #{s > t: p_s < p_t} = rank(t) - #{s < t: rank(s) < rank(t)}
 *
 * In parts of 64 accesses all are compared with all; what earlier parts have met are bits by rank,
 * and how many bits lie before a word is counted again after each part.  All tables but slot_of
 * and the distances are short: 24 B for 64 slots, 8 B an access. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <string.h>

enum { PART = BATCH_PART, LANES = SIMD_BYTES / 2 };
_Static_assert((int)LANES <= (int)BATCH_PAD, "a vector of ranks needs as many before it");

typedef int16_t shorts __attribute__((vector_size(SIMD_BYTES), may_alias));
typedef int16_t any_shorts __attribute__((vector_size(SIMD_BYTES), aligned(2), may_alias));

#define UNROLLED _Pragma("GCC unroll 4")

/* Its instruction is not in every x86-64, where compilers call a function instead. */
MD_INLINE uint32_t ones(uint64_t bits)
{
#if MD_ISA == 0 && defined __x86_64__
  bits -= bits >> 1 & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  return (uint32_t)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
#else
  return (uint32_t)__builtin_popcountll(bits);
#endif
}

/* Lines get their new slots; place[] is n more than the old one, or t where there was none.
 * Returns how many had none. */
MD_INLINE uint32_t take_slots(cachemodel_depths *d, uint32_t *restrict place, uint32_t n,
                              const uint32_t *restrict line)
{
  const uint32_t first = (uint32_t)d->used;
  uint32_t *restrict slot_of = d->slot_of, fresh = 0;
  UNROLLED
  for (uint32_t t = 0; t < n; t++) {
    place[t] = slot_of[line[t]];
    slot_of[line[t]] = first + t;
  }
  for (uint32_t t = 0; t < n; t++) {
    const bool none = place[t] == DEPTHS_NO_SLOT;
    place[t] = none ? t : place[t] + n;
    fresh += none;
  }
  memcpy(d->owner + first, line, n * sizeof *line);
  return fresh;
}

/* The batch's slots are occupied, its places no longer; words say how many of both lie before. */
MD_INLINE void take_places(cachemodel_depths *d, cachemodel_word *restrict word, uint32_t n,
                           const uint32_t *restrict place)
{
  const int64_t words = (d->used + 2 * (int64_t)n) / WORD_SLOTS;
  uint32_t occupied = 0, taken = 0;
  UNROLLED
  for (uint32_t t = 0; t < n; t++)
    word[place[t] / WORD_SLOTS].taken |= (uint64_t)1 << place[t] % WORD_SLOTS;
  for (int64_t w = words - n / WORD_SLOTS; w < words; w++)
    word[w].occupied = UINT64_MAX;
  UNROLLED
  for (int64_t w = 0; w < words; w++) {
    const uint64_t left = word[w].occupied & ~word[w].taken;
    word[w].occupied = left;
    word[w].before = occupied;
    word[w].taken_before = taken;
    occupied += ones(left);
    taken += ones(word[w].taken);
  }
}

/* Ranks of the places; place[] becomes the distance, less the pairs of earlier and lower ones. */
MD_INLINE void rank_places(const cachemodel_depths *d, cachemodel_batch *b,
                           const cachemodel_word *restrict word, uint32_t n)
{
  const uint32_t lines = (uint32_t)d->lines;
  uint32_t *restrict place = b->place;
  for (uint32_t t = 0; t < n; t += PART) {
    int16_t *restrict rank = b->rank + t / PART * BATCH_ROW + BATCH_PAD;
    UNROLLED
    for (uint32_t e = 0; e < PART; e++) {
      const uint32_t p = place[t + e];
      const cachemodel_word *at = word + p / WORD_SLOTS;
      const uint32_t upto = at->taken_before + ones(depths_upto(at->taken, p));
      rank[e] = (int16_t)(upto - 1);
      place[t + e] = lines - upto - at->before - ones(depths_upto(at->occupied, p));
    }
  }
}

/* Of the ranks of a part, how many before each are smaller. */
MD_INLINE void count_smaller(const int16_t *rank, int16_t *smaller)
{
#pragma GCC unroll 8
  for (int v = 0; v < PART; v += LANES) {
    const shorts own = *(const shorts *)(rank + v);
    shorts sum = own ^ own;
#pragma GCC unroll 64
    for (int k = 1; k < v + LANES; k++)
      sum -= (shorts)(*(const any_shorts *)(rank + v - k) < own);
    *(shorts *)(smaller + v) = sum;
  }
}

/* place[] becomes the distance. */
MD_INLINE void count_pairs(cachemodel_batch *b, uint32_t n, const uint32_t *recent)
{
  _Alignas(64) int16_t smaller[PART];
  uint64_t *restrict met = b->met;
  uint16_t *restrict before = b->met_before;
  memset(met, 0, n / WORD_SLOTS * sizeof *met);
  memset(before, 0, n / WORD_SLOTS * sizeof *before);
  for (uint32_t t = 0; t < n; t += PART) {
    const int16_t *restrict rank = b->rank + t / PART * BATCH_ROW + BATCH_PAD;
    uint32_t *restrict distance = b->place + t, sum = 0;
    count_smaller(rank, smaller);
    UNROLLED
    for (uint32_t e = 0; e < PART; e++) {
      const uint32_t r = (uint16_t)rank[e], w = r / WORD_SLOTS;
      distance[e] += (uint16_t)smaller[e] + before[w] + ones(depths_upto(met[w], r));
      __builtin_prefetch(&recent[distance[e]], 1);
    }
    UNROLLED
    for (uint32_t e = 0; e < PART; e++)
      met[(uint16_t)rank[e] / WORD_SLOTS] |= (uint64_t)1 << rank[e] % WORD_SLOTS;
    UNROLLED
    for (uint32_t w = 0; w < n / WORD_SLOTS; w++) {
      before[w] = (uint16_t)sum;
      sum += ones(met[w]);
    }
  }
}

void ISA(cachemodel_batch_pass)(cachemodel_depths *d, cachemodel_batch *b, int n_lines,
                                const uint32_t *line)
{
  const uint32_t n = (uint32_t)n_lines, fresh = take_slots(d, b->place, n, line);
  cachemodel_word *word = d->word - n / WORD_SLOTS;
  uint32_t *restrict recent = d->distances.recent;
  take_places(d, word, n, b->place);
  d->used += n;
  d->lines += fresh;
  d->distinct += fresh;
  rank_places(d, b, word, n);
  count_pairs(b, n, recent);
  UNROLLED
  for (uint32_t t = 0; t < n; t++)
    recent[b->place[t]]++;
  recent[d->lines - 1] -= fresh; /* a line never seen has the same distance as any other such */
  for (int64_t w = 0; w < d->used / WORD_SLOTS + n / WORD_SLOTS; w++)
    word[w].taken = 0;
}
