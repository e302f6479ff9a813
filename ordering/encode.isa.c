/* ordering/encode.isa.c - keys of many cells on the octree curves, once per instruction set.
 *
 * The bits of i, j, k are interleaved to a string of octants (BMI2: one pdep an axis, 21 levels; a
 * portable twin spreads bits by shifts), which is the Morton key.  For Hilbert the string is then
 * translated two octants at a time through a table of states x 64: digits and next state.
 *  [AK] section 2. */
#include "ordering/octree.h"
#include "ordering/ordering_impl.h"

#include <pthread.h>
#if MD_ISA > 0
#include <immintrin.h>
#endif

#define EVERY_THIRD 0x1249249249249249u

/* Bits of a, each followed by two zeros. */
MD_INLINE uint64_t spread_bits(uint32_t a)
{
#if MD_ISA > 0
  return _pdep_u64(a, EVERY_THIRD);
#else
  uint64_t b = a & 0x1fffff;
  b = (b | b << 32) & 0x001f00000000ffff;
  b = (b | b << 16) & 0x001f0000ff0000ff;
  b = (b | b << 8) & 0x100f00f00f00f00f;
  b = (b | b << 4) & 0x10c30c30c30c30c3;
  return (b | b << 2) & EVERY_THIRD;
#endif
}

MD_INLINE uint64_t interleave(int32_t high, int32_t mid, int32_t low)
{
  return spread_bits((uint32_t)high) << 2 | spread_bits((uint32_t)mid) << 1 |
         spread_bits((uint32_t)low);
}

enum { HILBERT_STATES = OCTREE_MORTON, BLOCK = 64 };

/* steps[state << 6 | two octants] = two digits | next state << 6; made once. */
static uint32_t steps[HILBERT_STATES << 6];
static pthread_once_t steps_made = PTHREAD_ONCE_INIT;

static void make_steps(void)
{
  for (int entry = 0; entry < HILBERT_STATES << 6; entry++) {
    int state = entry >> 6;
    const int high = octree_digit(entry >> 3 & 7, &state);
    const int low = octree_digit(entry & 7, &state);
    steps[entry] = (uint32_t)(state << 6 | high << 3 | low);
  }
}

/* Turn strings of octants into keys.  A step of all keys comes before the next step of any, so that
 * the look-ups of different keys overlap. */
static void translate(int state, int levels, int n, const uint64_t *octants, uint64_t *key)
{
  uint32_t from[BLOCK];
  const int odd = levels & 1, first = 3 * (levels - odd);
  for (int c = 0; c < n; c++) {
    int next = state;
    key[c] = odd ? (uint64_t)octree_digit((int)(octants[c] >> first) & 7, &next) : 0;
    from[c] = (uint32_t)next << 6;
  }
  for (int shift = first - 6; shift >= 0; shift -= 6)
    for (int c = 0; c < n; c++) {
      const uint32_t entry = steps[from[c] | (uint32_t)(octants[c] >> shift & 63)];
      key[c] = key[c] << 6 | (entry & 63);
      from[c] = entry & ~63u;
    }
}

void ISA(ordering_encode)(int state, int levels, int64_t n, const int32_t *i, const int32_t *j,
                          const int32_t *k, uint64_t *key)
{
  if (state == OCTREE_MORTON) {
    for (int64_t c = 0; c < n; c++)
      key[c] = interleave(i[c], j[c], k[c]);
    return;
  }
  if (state == OCTREE_MORTON_KJI) {
    for (int64_t c = 0; c < n; c++)
      key[c] = interleave(k[c], j[c], i[c]);
    return;
  }
  pthread_once(&steps_made, make_steps);
  for (int64_t b = 0; b < n; b += BLOCK) {
    const int count = (int)(n - b < BLOCK ? n - b : BLOCK);
    uint64_t octants[BLOCK];
    for (int c = 0; c < count; c++)
      octants[c] = interleave(i[b + c], j[b + c], k[b + c]);
    translate(state, levels, count, octants, key + b);
  }
}
