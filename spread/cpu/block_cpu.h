/* spread/cpu/block_cpu.h - a tile's mesh points in the first cache, and the weights of its
 * particles; for tiled.real.c and interpolate.real.c.
 *
 * The points that a tile touches, its cells and p - 1 more along each axis, lie in rows of 16 along
 * the fastest axis whatever the mesh.  A particle works on p x p whole rows: its p weights along
 * the fastest axis are shifted to their place by an unaligned load from a row of zeros that holds
 * them. So every load and store of the block is aligned and of full width, and a row just stored is
 * forwarded to the next particle.  Weights are computed for as many particles at once as a vector
 * has lanes. */
#ifndef BLOCK_CPU_H
#define BLOCK_CPU_H

#include "core/simd.h"

#define BSPLINE_VECTOR simd_real
#include "spread/bspline.h"
#include "spread/spread_impl.h"

#include <string.h>

enum {
  PARTS = SPREAD_ROW / SIMD_LANES,   /* vectors a row */
  EDGE = 2 * (SPREAD_ORDER_MAX - 1), /* rows of a tile along a slow axis, at most */
  GROUP = 16 / sizeof(real),         /* vectors that share a particle's weights */
};

/* A vector anywhere in an array of reals. */
typedef struct {
  simd_real v;
} __attribute__((packed, aligned(sizeof(real)), may_alias)) loose;

/* Weights of SIMD_LANES particles: coefficients [j][lane] along the slow axes, a row padded with
 * zeros along the fastest. */
typedef struct {
  simd_real slow[2][SPREAD_ORDER_MAX];
  _Alignas(64) real row[SIMD_LANES][2 * SPREAD_ROW];
  uint32_t word[SIMD_LANES];
} weights;

/* A tile at work. */
typedef struct {
  int32_t begin, end;           /* its particles */
  int32_t origin[3], points[3]; /* of the mesh that it touches */
  _Alignas(64) real at[GROUP][EDGE * EDGE * SPREAD_ROW];
} block;

static void open_block(const spread_plan *plan, const spread_part *part, int32_t tile, block *b)
{
  const spread_tiles *tiles = &plan->tiles;
  const int32_t *start = part->buffer[SPREAD_START].data;
  b->begin = start[tile];
  b->end = start[tile + 1];
  spread_tile_origin(tiles, tile, b->origin);
  for (int a = 0; a < 3; a++) {
    const int32_t t = tiles->of_cell[a][b->origin[a]];
    b->points[a] = tiles->first[a][t + 1] - b->origin[a] + plan->grid.order - 1;
  }
}

/* Add the points of one vector to its mesh, or fill them from there. */
MD_INLINE void exchange(const spread_grid *grid, block *b, int32_t vector, real *mesh,
                        const bool fill)
{
  const int32_t *n = grid->mesh, length = b->points[2];
  real *row = b->at[vector];
  for (int32_t i = 0; i < b->points[0]; i++)
    for (int32_t j = 0; j < b->points[1]; j++, row += SPREAD_ROW) {
      const int64_t slab = spread_wrap(b->origin[0] + i, n[0]);
      real *line = mesh + (slab * n[1] + spread_wrap(b->origin[1] + j, n[1])) * n[2];
      if (fill) memset(row, 0, SPREAD_ROW * sizeof *row);
      for (int32_t k = 0, piece; k < length; k += piece) {
        const int32_t at = spread_wrap(b->origin[2] + k, n[2]);
        piece = length - k < n[2] - at ? length - k : n[2] - at;
        for (int32_t c = 0; c < piece; c++)
          if (fill)
            row[k + c] = line[at + c];
          else
            line[at + c] += row[k + c];
      }
    }
}

/* Fractions and words of up to SIMD_LANES particles; the lanes beyond repeat the last one. */
MD_INLINE void load_batch(const spread_particle *record, int32_t count, simd_real f[3],
                          uint32_t *word)
{
  real lanes[3][SIMD_LANES];
  for (int32_t l = 0; l < SIMD_LANES; l++) {
    const spread_particle *particle = &record[l < count ? l : count - 1];
    for (int a = 0; a < 3; a++)
      lanes[a][l] = particle->f[a];
    word[l] = particle->word;
  }
  for (int a = 0; a < 3; a++)
    f[a] = ((const loose *)lanes[a])->v;
}

MD_INLINE void store_rows(const int p, const simd_real *w, real (*row)[2 * SPREAD_ROW])
{
  for (int32_t l = 0; l < SIMD_LANES; l++)
    SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    row[l][SPREAD_ROW + j] = w[j][l];
}

/* Row l of w, shifted to its place in the tile. */
MD_INLINE void place_row(const weights *w, int32_t l, simd_real *row)
{
  const real *from = w->row[l] + SPREAD_ROW - (w->word[l] & 0xff);
  SPREAD_UNROLL
  for (int v = 0; v < PARTS; v++)
    row[v] = ((const loose *)(from + v * SIMD_LANES))->v;
}

/* The row that holds a particle's first mesh point, counted from that of the block. */
MD_INLINE int32_t first_row(const block *b, uint32_t word)
{
  return (int32_t)(word >> 16) * b->points[1] + (int32_t)(word >> 8 & 0xff);
}

#endif
