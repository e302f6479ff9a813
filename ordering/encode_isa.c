/* ordering/encode_isa.c - keys of many cells on the octree curves, once per instruction set.
 *
 * The bits of i, j, k are interleaved to a string of octants (BMI2: one pdep an axis, 21 levels; a
 * portable twin spreads bits by shifts), which is the Morton key.  For Hilbert the string is then
 * translated two octants at a time through a table of states x 64: digits and next state.
 *  [AK] section 2. */
#include "ordering/octree.h"
#include "ordering/ordering_impl.h"

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

/* step[state << 6 | two octants] = two digits | next state << 6 */
static void make_steps(uint16_t step[12 << 6])
{
  for (int entry = 0; entry < 12 << 6; entry++) {
    int state = entry >> 6;
    const int high = octree_digit(entry >> 3 & 7, &state);
    const int low = octree_digit(entry & 7, &state);
    step[entry] = (uint16_t)(state << 6 | high << 3 | low);
  }
}

MD_INLINE uint64_t translate(const uint16_t *step, int state, int levels, uint64_t octants)
{
  uint64_t key = 0;
  if (levels & 1) {
    levels--;
    key = (uint64_t)octree_digit((int)(octants >> (3 * levels)) & 7, &state);
  }
  uint32_t from = (uint32_t)state << 6;
  for (int shift = 3 * levels - 6; shift >= 0; shift -= 6) {
    const uint32_t entry = step[from | (octants >> shift & 63)];
    key = key << 6 | (entry & 63);
    from = entry & ~63u;
  }
  return key;
}

void ISA(ordering_encode)(int state, int levels, int64_t n, const int32_t *i, const int32_t *j,
                          const int32_t *k, uint64_t *key)
{
  if (state == OCTREE_MORTON) {
    for (int64_t c = 0; c < n; c++)
      key[c] = interleave(i[c], j[c], k[c]);
  } else if (state == OCTREE_MORTON_KJI) {
    for (int64_t c = 0; c < n; c++)
      key[c] = interleave(k[c], j[c], i[c]);
  } else {
    uint16_t step[12 << 6];
    make_steps(step);
    for (int64_t c = 0; c < n; c++)
      key[c] = translate(step, state, levels, interleave(i[c], j[c], k[c]));
  }
}
