/* cachemodel/stack/front.isa.c - the most recent lines of an LRU stack in vector registers.
 *
 * Move to front: find the line, shift the lines before it by one place, put it first; where it was
 * is its stack distance.  AVX-512 holds the 64 lines in four registers, AVX2 in eight; the portable
 * twin searches an array.  Accesses that repeat the one before change nothing and are taken out
 * first. */
#include "cachemodel/stack/cachemodel_impl.h"

#include <string.h>
#if MD_ISA > 0
#include <immintrin.h>
#endif

int ISA(cachemodel_unique)(uint32_t previous, int n, const uint32_t *line, uint32_t *unique)
{
  int kept = 0, t = 0;
#if MD_ISA == 2
  __m512i last = _mm512_set1_epi32((int)previous);
  for (; t + 16 <= n; t += 16) {
    const __m512i now = _mm512_loadu_si512(line + t);
    const __m512i before = _mm512_alignr_epi32(now, last, 15);
    const __mmask16 fresh = _mm512_cmpneq_epi32_mask(now, before);
    _mm512_storeu_si512(unique + kept, _mm512_maskz_compress_epi32(fresh, now));
    kept += __builtin_popcount(fresh);
    last = now;
  }
  if (t > 0) previous = line[t - 1];
#endif
  for (; t < n; t++) {
    unique[kept] = line[t];
    kept += line[t] != previous;
    previous = line[t];
  }
  return kept;
}

#if MD_ISA == 2

typedef __m512i lanes; /* 16 lines */

MD_INLINE lanes load_lanes(const uint32_t *line)
{
  return _mm512_load_si512(line);
}
MD_INLINE void store_lanes(uint32_t *line, lanes v)
{
  _mm512_store_si512(line, v);
}
MD_INLINE lanes all_lanes(uint32_t line)
{
  return _mm512_set1_epi32((int)line);
}
/* A bit for each equal lane. */
MD_INLINE unsigned equal_lanes(lanes a, lanes b)
{
  return _mm512_cmpeq_epi32_mask(a, b);
}
/* Each lane from its left neighbour, the first from the last of `before`. */
MD_INLINE lanes shift_lanes(lanes before, lanes v)
{
  return _mm512_alignr_epi32(v, before, 15);
}
/* The lanes up to the lowest bit of `equal` from b, the others from a. */
MD_INLINE lanes blend_upto(lanes a, lanes b, unsigned equal)
{
  return _mm512_mask_mov_epi32(a, (__mmask16)(equal ^ (equal - 1)), b);
}
MD_INLINE uint32_t last_lane(lanes v)
{
  return (uint32_t)_mm_extract_epi32(_mm512_extracti32x4_epi32(v, 3), 3);
}

#elif MD_ISA == 1

typedef struct {
  __m256i lo, hi;
} lanes;

MD_INLINE lanes load_lanes(const uint32_t *line)
{
  return (lanes){_mm256_load_si256((const __m256i *)line),
                 _mm256_load_si256((const __m256i *)line + 1)};
}
MD_INLINE void store_lanes(uint32_t *line, lanes v)
{
  _mm256_store_si256((__m256i *)line, v.lo);
  _mm256_store_si256((__m256i *)line + 1, v.hi);
}
MD_INLINE lanes all_lanes(uint32_t line)
{
  return (lanes){_mm256_set1_epi32((int)line), _mm256_set1_epi32((int)line)};
}
MD_INLINE unsigned equal_half(__m256i a, __m256i b)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}
MD_INLINE unsigned equal_lanes(lanes a, lanes b)
{
  return equal_half(a.lo, b.lo) | equal_half(a.hi, b.hi) << 8;
}
MD_INLINE __m256i rotate_half(__m256i v)
{
  return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
}
MD_INLINE lanes shift_lanes(lanes before, lanes v)
{
  const __m256i lo = rotate_half(v.lo);
  return (lanes){_mm256_blend_epi32(lo, rotate_half(before.hi), 1),
                 _mm256_blend_epi32(rotate_half(v.hi), lo, 1)};
}
MD_INLINE lanes blend_upto(lanes a, lanes b, unsigned equal)
{
  const __m256i place = _mm256_set1_epi32(__builtin_ctz(equal));
  const __m256i lo = _mm256_cmpgt_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), place);
  const __m256i hi = _mm256_cmpgt_epi32(_mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15), place);
  return (lanes){_mm256_blendv_epi8(b.lo, a.lo, lo), _mm256_blendv_epi8(b.hi, a.hi, hi)};
}
MD_INLINE uint32_t last_lane(lanes v)
{
  return (uint32_t)_mm256_extract_epi32(v.hi, 7);
}

#endif

#if MD_ISA > 0

/* Unrolled by hand: a loop over an array of registers is kept in memory by compilers, which costs
 * a factor of two. */
int ISA(cachemodel_front_feed)(cachemodel_front *front, int n, const uint32_t *line,
                               cachemodel_event *events)
{
  lanes v0 = load_lanes(front->line), v1 = load_lanes(front->line + 16);
  lanes v2 = load_lanes(front->line + 32), v3 = load_lanes(front->line + 48);
  int64_t *hits = front->hits;
  int missed = 0;
  for (int t = 0; t < n; t++) {
    const lanes x = all_lanes(line[t]);
    const lanes s0 = shift_lanes(x, v0);
    unsigned equal = equal_lanes(v0, x);
    if (equal) {
      hits[__builtin_ctz(equal)]++;
      v0 = blend_upto(v0, s0, equal);
      continue;
    }
    const lanes s1 = shift_lanes(v0, v1);
    v0 = s0;
    equal = equal_lanes(v1, x);
    if (equal) {
      hits[16 + __builtin_ctz(equal)]++;
      v1 = blend_upto(v1, s1, equal);
      continue;
    }
    const lanes s2 = shift_lanes(v1, v2);
    v1 = s1;
    equal = equal_lanes(v2, x);
    if (equal) {
      hits[32 + __builtin_ctz(equal)]++;
      v2 = blend_upto(v2, s2, equal);
      continue;
    }
    const lanes s3 = shift_lanes(v2, v3);
    v2 = s2;
    equal = equal_lanes(v3, x);
    if (equal) {
      hits[48 + __builtin_ctz(equal)]++;
      v3 = blend_upto(v3, s3, equal);
      continue;
    }
    events[missed++] = (cachemodel_event){line[t], last_lane(v3)};
    v3 = s3;
  }
  store_lanes(front->line, v0);
  store_lanes(front->line + 16, v1);
  store_lanes(front->line + 32, v2);
  store_lanes(front->line + 48, v3);
  return missed;
}

#else

int ISA(cachemodel_front_feed)(cachemodel_front *front, int n, const uint32_t *line,
                               cachemodel_event *events)
{
  uint32_t *held = front->line;
  int missed = 0;
  for (int t = 0; t < n; t++) {
    int p = 0;
    while (p < FRONT_LINES && held[p] != line[t])
      p++;
    if (p < FRONT_LINES)
      front->hits[p]++;
    else
      events[missed++] = (cachemodel_event){line[t], held[--p]};
    memmove(held + 1, held, (size_t)p * sizeof *held);
    held[0] = line[t];
  }
  return missed;
}

#endif
