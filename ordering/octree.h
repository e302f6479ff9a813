/* ordering/octree.h - Morton and Hilbert order: one table-driven descent of the octree.
 *
 * The enclosing cube of 2^L units is halved L times.  In state s, the octant o = i<<2 | j<<1 | k of
 * the next bits of (i, j, k) is visited as number digit(s, o), and the descent goes on in state
 * next(s, o); the key is the string of digits.  Hilbert has the 12 states of [AK]'s L-system, from
 * (0,0,0) to (2^L-1,0,0) in unit steps, Morton one state per direction of its bits ([AK] Eq. 5 is
 * the one with i in the lowest bit).
 *
 * Rank within a box: at each level add the cells of the octants visited before ours. */
#ifndef ORDERING_OCTREE_H
#define ORDERING_OCTREE_H

#include "ordering/grid.h"

/* One word a state, byte o: digit | next << 4; then the inverse, byte digit: o | next << 4. */
#define OCTREE_FORWARD                                                                             \
  {                                                                                                \
    0x5556244732312310, 0x7584028376670130, 0x8704a6a590036162, 0x95129611a4a3b700,                \
        0x71a0065772930594, 0x6364b00782458146, 0x9116921520775354, 0xb340a2a1b4176566,            \
        0xa72650b1142513b2, 0x432244b5602137b6, 0x2770343386418542, 0x5152807336359774,            \
        0xc7c6c5c4c3c2c1c0, 0xd7d3d5d1d6d2d4d0                                                     \
  }
#define OCTREE_INVERSE                                                                             \
  {                                                                                                \
    0x4456572521333210, 0x6273778684050130, 0x87a5a40602606193, 0xb19597a3a2161400,                \
        0x54050190927377a6, 0x04404266678381b5, 0x7216145051959723, 0x126061b3b7a5a446,            \
        0xa726221311b0b455, 0x31b0b44547262263, 0x2783813534404276, 0x9133327074565785,            \
        0xc7c6c5c4c3c2c1c0, 0xd7d3d5d1d6d2d4d0                                                     \
  }
enum { OCTREE_HILBERT = 0, OCTREE_MORTON = 12, OCTREE_MORTON_KJI = 13, OCTREE_STATES = 14 };

static const uint64_t octree_forward_host[OCTREE_STATES] = OCTREE_FORWARD;
static const uint64_t octree_inverse_host[OCTREE_STATES] = OCTREE_INVERSE;
#ifdef __CUDACC__
static __constant__ uint64_t octree_forward_device[OCTREE_STATES] = OCTREE_FORWARD;
static __constant__ uint64_t octree_inverse_device[OCTREE_STATES] = OCTREE_INVERSE;
#endif
#ifdef __CUDA_ARCH__
#define OCTREE_TABLE(way) octree_##way##_device
#else
#define OCTREE_TABLE(way) octree_##way##_host
#endif

/* Digit and next state of an octant; octant and next state of a digit. */
MD_INLINE int octree_digit(int octant, int *state)
{
  const int entry = (int)(OCTREE_TABLE(forward)[*state] >> (8 * octant)) & 0xff;
  *state = entry >> 4;
  return entry & 7;
}

MD_INLINE int octree_octant(int digit, int *state)
{
  const int entry = (int)(OCTREE_TABLE(inverse)[*state] >> (8 * digit)) & 0xff;
  *state = entry >> 4;
  return entry & 7;
}

MD_INLINE int octree_bits(const int32_t u[3], int level)
{
  return (u[0] >> level & 1) << 2 | (u[1] >> level & 1) << 1 | (u[2] >> level & 1);
}

/* Smallest L with 2^L >= m along every axis. */
MD_INLINE int octree_levels(const int32_t m[3])
{
  int levels = 0;
  while (((int64_t)1 << levels) < m[0] || ((int64_t)1 << levels) < m[1] ||
         ((int64_t)1 << levels) < m[2])
    levels++;
  return levels;
}

/* Key of (i, j, k) within a cube of 2^levels cells; levels <= 21. */
MD_INLINE uint64_t octree_key(int state, int levels, const int32_t u[3])
{
  uint64_t key = 0;
  while (levels-- > 0)
    key = key << 3 | (uint64_t)octree_digit(octree_bits(u, levels), &state);
  return key;
}

/* A cube of 2^(level+1) units with its corner at lo: cells of its lower and upper halves. */
MD_INLINE void octree_halves(const ordering_grid *g, const int32_t lo[3], int level,
                             int64_t half[3][2])
{
  const int64_t side = (int64_t)1 << level;
  for (int a = 0; a < 3; a++) {
    half[a][0] = grid_cells(g, a, lo[a], lo[a] + side);
    half[a][1] = grid_cells(g, a, lo[a] + side, lo[a] + 2 * side);
  }
}

MD_INLINE int64_t octree_volume(int64_t half[3][2], int octant)
{
  return half[0][octant >> 2] * half[1][octant >> 1 & 1] * half[2][octant & 1];
}

/* True if the box cuts nothing off the cube that octree_halves measured. */
MD_INLINE bool octree_whole(const ordering_grid *g, int level, int64_t half[3][2])
{
  const int64_t side = g->unit << level;
  return half[0][1] == side && half[1][1] == side && half[2][1] == side;
}

/* Cells before unit u on the curve that starts in `state`. */
MD_INLINE int64_t octree_rank(const ordering_grid *g, int state, const int32_t u[3])
{
  int64_t rank = 0;
  for (int level = octree_levels(g->m) - 1; level >= 0; level--) {
    const int32_t keep = (int32_t)(~(uint32_t)0 << level << 1);
    const int32_t lo[3] = {u[0] & keep, u[1] & keep, u[2] & keep};
    int64_t half[3][2];
    octree_halves(g, lo, level, half);
    if (octree_whole(g, level, half)) {
      const int64_t cells = g->unit * g->unit * g->unit;
      return rank + (int64_t)octree_key(state, level + 1, u) * cells;
    }
    const int from = state, digit = octree_digit(octree_bits(u, level), &state);
    for (int d = 0; d < digit; d++) {
      int unused = from;
      rank += octree_volume(half, octree_octant(d, &unused));
    }
  }
  return rank;
}

/* The unit that holds the cell of this rank; returns the cell's rank within the unit. */
MD_INLINE int64_t octree_locate(const ordering_grid *g, int state, int64_t rank, int32_t u[3])
{
  u[0] = u[1] = u[2] = 0;
  for (int level = octree_levels(g->m) - 1; level >= 0; level--) {
    int64_t half[3][2];
    octree_halves(g, u, level, half);
    int octant = 0, next = state;
    for (int d = 0; d < 8; d++) {
      next = state;
      octant = octree_octant(d, &next);
      const int64_t cells = octree_volume(half, octant);
      if (rank < cells) break;
      rank -= cells;
    }
    state = next;
    for (int a = 0; a < 3; a++)
      u[a] |= (octant >> (2 - a) & 1) << level;
  }
  return rank;
}

#endif
