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
  int64_t nan, above, below;   /* how many NaN, +infinity and -infinity */
  int64_t terms;               /* since the last carry */
} exact_sum;
enum { EXACT_WORDS = sizeof(exact_sum) / sizeof(int64_t) };

/* Bring pieces to 0 .. 2^32 - 1, but the last, which has the sign. */
void exact_carry(exact_sum *sum);
/* The sum, rounded; NaN or infinite where a term was. */
double exact_value(const exact_sum *sum);
/* Add b, which is carried. */
void exact_join(exact_sum *a, exact_sum *b);

static inline void exact_add(exact_sum *sum, double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff);
  const int64_t sign = -(int64_t)(bits >> 63); /* -1 or 0 */
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 0x7ff) {
    *(mantissa ? &sum->nan : sign ? &sum->below : &sum->above) += 1;
    return;
  }
  mantissa |= (uint64_t)(exponent > 0) << 52;
  const int place = exponent > 0 ? exponent - 1 : 0;
  const unsigned __int128 wide = (unsigned __int128)mantissa << place % 32;
  int64_t *piece = &sum->piece[place / 32];
  piece[0] += ((int64_t)((uint64_t)wide & UINT32_MAX) ^ sign) - sign;
  piece[1] += ((int64_t)((uint64_t)wide >> 32) ^ sign) - sign;
  piece[2] += ((int64_t)(wide >> 64) ^ sign) - sign;
  if (++sum->terms == INT32_MAX / 2) exact_carry(sum);
}

MD_END_C
#endif
