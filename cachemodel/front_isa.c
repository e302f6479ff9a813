/* cachemodel/front_isa.c - the most recent lines of an LRU stack in vector registers.
 *
 * Move to front: find the line, shift the lines before it by one place, put it first; where it was
 * is its stack distance.  AVX-512 holds the 64 lines in four registers, AVX2 in eight; the portable
 * twin searches an array.  Repeated accesses, which change nothing, are taken out first. */
#include "cachemodel/cachemodel_impl.h"

#include <string.h>
#if MD_ISA > 0
#include <immintrin.h>
#endif

/* Copy line[n] without immediate repetitions of `previous`; returns how many are left.  unique has
 * room for n + 16. */
static int drop_repeats(uint32_t previous, int n, const uint32_t *line, uint32_t *unique)
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

enum { LANES = 16 };
typedef __m512i lanes;
#define LOAD(p) _mm512_load_si512(p)
#define STORE(p, v) _mm512_store_si512(p, v)
#define SPREAD(x) _mm512_set1_epi32((int)(x))

MD_INLINE unsigned equal_lanes(lanes a, lanes b)
{
  return _mm512_cmpeq_epi32_mask(a, b);
}
/* Lane 0 from the last lane of before, the others from their left neighbour. */
MD_INLINE lanes shift_lane(lanes before, lanes v)
{
  return _mm512_alignr_epi32(v, before, 15);
}
/* Lanes 0..p from b, the rest from a. */
MD_INLINE lanes blend_upto(lanes a, lanes b, int p)
{
  return _mm512_mask_mov_epi32(a, (__mmask16)((2u << p) - 1), b);
}
MD_INLINE uint32_t last_lane(lanes v)
{
  return (uint32_t)_mm_extract_epi32(_mm512_extracti32x4_epi32(v, 3), 3);
}

#elif MD_ISA == 1

enum { LANES = 8 };
typedef __m256i lanes;
#define LOAD(p) _mm256_load_si256((const __m256i *)(p))
#define STORE(p, v) _mm256_store_si256((__m256i *)(p), v)
#define SPREAD(x) _mm256_set1_epi32((int)(x))

MD_INLINE unsigned equal_lanes(lanes a, lanes b)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}
MD_INLINE lanes shift_lane(lanes before, lanes v)
{
  const __m256i left = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
  return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(v, left),
                            _mm256_permutevar8x32_epi32(before, left), 1);
}
MD_INLINE lanes blend_upto(lanes a, lanes b, int p)
{
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi32(lane, _mm256_set1_epi32(p)));
}
MD_INLINE uint32_t last_lane(lanes v)
{
  return (uint32_t)_mm256_extract_epi32(v, 7);
}

#endif

#if MD_ISA > 0

enum { REGISTERS = FRONT_LINES / LANES };

static int move_to_front(cachemodel_front *front, int n, const uint32_t *line,
                         cachemodel_event *events)
{
  lanes held[REGISTERS];
  for (int r = 0; r < REGISTERS; r++)
    held[r] = LOAD(front->line + r * LANES);
  int missed = 0;
  for (int t = 0; t < n; t++) {
    const lanes x = SPREAD(line[t]);
    lanes before = x;
    bool found = false;
#pragma GCC unroll 8
    for (int r = 0; r < REGISTERS; r++) {
      const lanes here = held[r], shifted = shift_lane(before, here);
      const unsigned equal = equal_lanes(here, x);
      if (equal) {
        const int p = __builtin_ctz(equal);
        front->hits[r * LANES + p]++;
        held[r] = blend_upto(here, shifted, p);
        found = true;
        break;
      }
      held[r] = shifted;
      before = here;
    }
    if (!found) events[missed++] = (cachemodel_event){line[t], last_lane(before)};
  }
  for (int r = 0; r < REGISTERS; r++)
    STORE(front->line + r * LANES, held[r]);
  return missed;
}

#else

static int move_to_front(cachemodel_front *front, int n, const uint32_t *line,
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

int ISA(cachemodel_front_feed)(cachemodel_front *front, int n, const uint32_t *line,
                               cachemodel_event *events)
{
  uint32_t unique[FRONT_BATCH + 16];
  const int left = drop_repeats(front->line[0], n, line, unique);
  front->hits[0] += n - left;
  return move_to_front(front, left, unique, events);
}
