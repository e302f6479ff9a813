/* ordering/shuffle.h - a seeded random permutation that needs no table.
 *
 * A Feistel network of four rounds permutes 0..4^b-1, the smallest such range that holds n; numbers
 * that leave 0..n-1 are sent through it again until they come back (at most four times as long on
 * average), which makes it a bijection of 0..n-1 for any n.
 *
 * Units that the box cuts cannot be mixed with whole ones in closed form: the whole units come
 * first, then those cut along each set of axes, each group shuffled. */
#ifndef ORDERING_SHUFFLE_H
#define ORDERING_SHUFFLE_H

#include "ordering/grid.h"

enum { SHUFFLE_ROUNDS = 4 };

MD_INLINE uint32_t shuffle_hash(uint32_t half, uint64_t seed, int round)
{
  uint64_t h = seed + (uint64_t)(round + 1) * 0x9e3779b97f4a7c15 + half;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
  h = (h ^ h >> 27) * 0x94d049bb133111eb;
  return (uint32_t)(h ^ h >> 31);
}

MD_INLINE int shuffle_bits(uint64_t n)
{
  int bits = 1;
  while ((uint64_t)1 << (2 * bits) < n)
    bits++;
  return bits;
}

/* The place of number i among 0..n-1, and its inverse; n <= 2^62. */
MD_INLINE uint64_t shuffle_place(uint64_t n, uint64_t seed, uint64_t i)
{
  const int bits = shuffle_bits(n);
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  do {
    uint64_t left = i >> bits, right = i & mask;
    for (int r = 0; r < SHUFFLE_ROUNDS; r++) {
      const uint64_t next = left ^ (shuffle_hash((uint32_t)right, seed, r) & mask);
      left = right, right = next;
    }
    i = left << bits | right;
  } while (i >= n);
  return i;
}

MD_INLINE uint64_t shuffle_number(uint64_t n, uint64_t seed, uint64_t place)
{
  const int bits = shuffle_bits(n);
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  do {
    uint64_t left = place >> bits, right = place & mask;
    for (int r = SHUFFLE_ROUNDS - 1; r >= 0; r--) {
      const uint64_t before = right ^ (shuffle_hash((uint32_t)left, seed, r) & mask);
      right = left, left = before;
    }
    place = left << bits | right;
  } while (place >= n);
  return place;
}

/* The units cut along exactly the axes in `cut` (bits 1, 2, 4): how many along each axis, the first
 * one's coordinates, and the cells of each.  Returns their number. */
MD_INLINE int64_t shuffle_group(const ordering_grid *g, int cut, int32_t count[3], int32_t first[3],
                                int64_t *cells)
{
  int64_t units = 1;
  *cells = 1;
  for (int a = 0; a < 3; a++) {
    const int32_t whole = (int32_t)(g->clip[a] / g->unit);
    const int64_t rest = g->clip[a] % g->unit;
    const bool edge = cut >> a & 1;
    count[a] = edge ? rest > 0 : whole;
    first[a] = edge ? whole : 0;
    *cells *= edge ? rest : g->unit;
    units *= count[a];
  }
  return units;
}

/* Cells before unit u. */
MD_INLINE int64_t shuffle_rank(const ordering_grid *g, uint64_t seed, const int32_t u[3])
{
  int64_t rank = 0;
  for (int cut = 0; cut < 8; cut++) {
    int32_t n[3], first[3];
    int64_t cells;
    const int64_t units = shuffle_group(g, cut, n, first, &cells);
    const int64_t i = u[0] - first[0], j = u[1] - first[1], k = u[2] - first[2];
    const bool ours = i >= 0 && i < n[0] && j >= 0 && j < n[1] && k >= 0 && k < n[2];
    if (ours) {
      const uint64_t number = (uint64_t)((i * n[1] + j) * n[2] + k);
      return rank + (int64_t)shuffle_place((uint64_t)units, seed, number) * cells;
    }
    rank += units * cells;
  }
  return rank;
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t shuffle_locate(const ordering_grid *g, uint64_t seed, int64_t rank, int32_t u[3])
{
  u[0] = u[1] = u[2] = 0;
  for (int cut = 0; cut < 8; cut++) {
    int32_t n[3], first[3];
    int64_t cells;
    const int64_t units = shuffle_group(g, cut, n, first, &cells);
    if (rank < units * cells) {
      const int64_t number =
          (int64_t)shuffle_number((uint64_t)units, seed, (uint64_t)(rank / cells));
      u[0] = first[0] + (int32_t)(number / n[2] / n[1]);
      u[1] = first[1] + (int32_t)(number / n[2] % n[1]);
      u[2] = first[2] + (int32_t)(number % n[2]);
      return rank % cells;
    }
    rank -= units * cells;
  }
  return rank;
}

#endif
