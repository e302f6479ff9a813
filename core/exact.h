/* core/exact.h - sums of doubles without rounding, so that their order does not matter.
 *
 * A number is cut into pieces of 32 bits at fixed places, from the last bit of the least double to
 * the first of the largest, and each piece is added to an integer of its own. */
#ifndef EXACT_H
#define EXACT_H

#include "core/md.h"

#include <string.h>

MD_BEGIN_C

enum { EXACT_PIECES = 68 };
/* Zero to begin with.  A sum of sums is that of their pieces, after exact_carry of each. */
typedef struct {
  int64_t piece[EXACT_PIECES]; /* times 2^(32 k - 1074) */
  int64_t nan, above, below;   /* how many NaN, +infinity and -infinity: the words behind */
  int64_t terms;               /* since the last carry */
} exact_sum;
enum { EXACT_WORDS = sizeof(exact_sum) / sizeof(int64_t) };

/* Bring pieces to 0 .. 2^32 - 1, but the last, which has the sign. */
void exact_carry(exact_sum *sum);
/* The sum, rounded; NaN or infinite where a term was. */
double exact_value(const exact_sum *sum);
/* Add b, which is carried. */
void exact_join(exact_sum *a, exact_sum *b);

/* What a number adds to the words of a sum: terms[0 .. n) to those from `word` on. */
typedef struct {
  int word, n;
  int64_t terms[3];
} exact_cut;
MD_INLINE exact_cut exact_cut_up(double x)
{
  enum { NOT_FINITE = 0x7ff };
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52 & NOT_FINITE);
  const int64_t sign = -(int64_t)(bits >> 63); /* -1 or 0 */
  uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
  exact_cut cut = {EXACT_PIECES + (mantissa ? 0 : sign ? 2 : 1), 1, {1, 0, 0}};
  if (exponent == NOT_FINITE) return cut;
  mantissa |= (uint64_t)(exponent > 0) << 52;
  const int place = exponent > 0 ? exponent - 1 : 0;
  const uint64_t low = mantissa << place % 32, high = mantissa >> 32 >> (32 - place % 32);
  cut.word = place / 32, cut.n = 3;
  cut.terms[0] = ((int64_t)(low & 0xffffffffu) ^ sign) - sign;
  cut.terms[1] = ((int64_t)(low >> 32) ^ sign) - sign;
  cut.terms[2] = ((int64_t)high ^ sign) - sign;
  return cut;
}

static inline void exact_add(exact_sum *sum, double x)
{
  const exact_cut cut = exact_cut_up(x);
  int64_t *words = (int64_t *)sum + cut.word;
  for (int k = 0; k < cut.n; k++)
    words[k] += cut.terms[k];
  if (++sum->terms == INT32_MAX / 2) exact_carry(sum);
}

MD_END_C
#endif
