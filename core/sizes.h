/* core/sizes.h - counts and bytes that do not overflow, and the memory there is for them.
 *
 * Estimates are made before anything is taken, from settings of any size: what an int64_t cannot
 * hold stays the largest one, which no machine has. */
#ifndef SIZES_H
#define SIZES_H

#include "core/md.h"

MD_BEGIN_C

/* A number as an int64_t; beyond its range, or NaN, the end of the range, NaN the upper one. */
static inline int64_t md_size_of(double number)
{
  if (number <= -0x1p63) return INT64_MIN;
  return number < 0x1p63 ? (int64_t)number : INT64_MAX;
}

/* Sums and products of sizes >= 0. */
static inline int64_t md_size_add(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
static inline int64_t md_size_times(int64_t a, int64_t b)
{
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Bytes that this process may still take on the host: the least of what the machine has available,
 * of what the control groups (v1 and v2) around the process leave, and of what `ulimit -v` leaves.
 * INT64_MAX where none is known. */
int64_t md_memory_free(void);
/* The same without ulimit, from the files proc and sys below `root`, "" for the machine's: for
 * tests. */
int64_t md_memory_free_in(const char *root);

MD_END_C
#endif
