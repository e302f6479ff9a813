/* core/exact.c - see exact.h. */
#include "core/exact.h"

#include <math.h>

void exact_carry(exact_sum *sum)
{
  for (int k = 0; k + 1 < EXACT_PIECES; k++) {
    const int64_t rest = sum->piece[k] & UINT32_MAX;
    sum->piece[k + 1] += (sum->piece[k] - rest) / (INT64_C(1) << 32);
    sum->piece[k] = rest;
  }
  sum->terms = 0;
}

void exact_join(exact_sum *a, exact_sum *b)
{
  exact_carry(b);
  exact_carry(a);
  for (int k = 0; k < EXACT_PIECES; k++)
    a->piece[k] += b->piece[k];
  a->nan += b->nan;
  a->above += b->above;
  a->below += b->below;
}

double exact_value(const exact_sum *sum)
{
  exact_sum s = *sum;
  if (s.nan > 0 || (s.above > 0 && s.below > 0)) return NAN;
  if (s.above > 0) return INFINITY;
  if (s.below > 0) return -INFINITY;
  exact_carry(&s);
  const bool negative = s.piece[EXACT_PIECES - 1] < 0;
  if (negative) {
    for (int k = 0; k < EXACT_PIECES; k++)
      s.piece[k] = -s.piece[k];
    exact_carry(&s);
  }
  double value = 0; /* from the least: the last two additions alone round what counts */
  for (int k = 0; k < EXACT_PIECES; k++)
    value += ldexp((double)s.piece[k], 32 * k - 1074);
  return negative ? -value : value;
}
