/* spread/cpu/block_cpu.h - a tile's mesh points in the first cache, and the weights of its
 * particles; for tiled.real.c and interpolate.real.c.
 *
 * The points that a tile touches, its cells and p - 1 more along each axis, lie in rows of 16 along
 * the fastest axis whatever the mesh.  Particles are sorted by window of the rows (window_cpu.h)
 * and column of cells.  A run of particles that share both works on p slabs of p pieces of rows,
 * cut into strips, a vector each, which stay in registers while the run passes.  Where a vector is
 * as wide as two windows a strip is two pieces, of rows 2 m and 2 m + 1.
 *
 * A block is moved from or to the mesh as a whole, which costs as much as a few dozen particles.  A
 * tile that holds fewer does without: its particles work on the mesh itself (choose_points).
 *
 * Weights are computed for a chunk of particles at once, as many in a vector as it has lanes. */
#ifndef BLOCK_CPU_H
#define BLOCK_CPU_H

#include "core/simd.h"

#define BSPLINE_VECTOR simd_real
#include "spread/bspline.h"
#include "spread/cpu/window_cpu.h"

#include <string.h>

enum {
  EDGE = 2 * (SPREAD_ORDER_MAX - 1),       /* rows of a tile along a slow axis, at most */
  GROUP = 16 / sizeof(real),               /* vectors that share a particle's weights */
  PIECE = SIMD_LANES < 8 ? SIMD_LANES : 8, /* points of a row moved or read at a time */
  CHUNK = SPREAD_AHEAD,                    /* particles whose weights are held */
};

/* Strips: pieces in one or vectors a piece, and how many a slab of p lines has. */
#define PAIRED(p) (SIMD_LANES > WINDOW_WIDTH(p))
#define PIECE_VECTORS(p) (PAIRED(p) ? 1 : WINDOW_WIDTH(p) / SIMD_LANES)
#define STRIPS(p) (PAIRED(p) ? ((p) + 1) / 2 : (p)*PIECE_VECTORS(p))
/* Strips of each of p slabs that registers hold: sweeps over a run, of equally many. */
#define REGISTERS (MD_ISA == 2 ? 28 : 13)
#define HELD_(p) ((p) < REGISTERS ? REGISTERS / (p) : 1)
#define SWEEPS(p) ((STRIPS(p) + HELD_(p) - 1) / HELD_(p))
#define HELD(p) ((STRIPS(p) + SWEEPS(p) - 1) / SWEEPS(p))

/* Vectors anywhere in an array of reals. */
typedef struct {
  simd_real v;
} __attribute__((packed, aligned(sizeof(real)), may_alias)) loose;
typedef struct {
  simd_four v;
} __attribute__((packed, aligned(sizeof(real)), may_alias)) loose_four;

/* Of points of a row, anywhere in it: half a vector where that is wider than a window. */
typedef real piece
    __attribute__((vector_size(PIECE * sizeof(real)), aligned(sizeof(real)), may_alias));

/* A tile at work. */
typedef struct {
  int32_t begin, end;           /* its particles */
  int32_t origin[3], points[3]; /* of the mesh that it touches */
  bool straight;                /* particles work on the mesh itself */
  int32_t row, slab;            /* from a point to the next ones along the slow axes */
  _Alignas(64) real at[GROUP][EDGE * EDGE * SPREAD_ROW];
} block;

/* Weights of a chunk: along the slow axes [j][particle]; along the fastest a row of a window's
 * width for each particle, its p weights in place between zeros. */
typedef struct {
  _Alignas(64) real slow[2][SPREAD_ORDER_MAX][CHUNK];
  _Alignas(64) real row[(CHUNK + 1) * SPREAD_ROW];
  int32_t first[CHUNK]; /* point, from the tile's first one on */
} weights;

/* Of a larger mesh rows come from memory, and are asked for ahead where a block is moved. */
enum { FETCH_FROM = 4 << 20 /* bytes */ };

/* Whether the tile's particles work on the mesh: where their pieces of rows are fewer than so many
 * for each row of the tile, if its points lie side by side there.  Measured for orders up to 8. */
enum { STRAIGHT = 13, STRAIGHT_ORDER = 8 };
static void choose_points(const spread_plan *plan, block *b)
{
  const int32_t *mesh = plan->grid.mesh, p = plan->grid.order;
  const int64_t pieces = (int64_t)(b->end - b->begin) * p * p;
  b->straight = pieces < (int64_t)STRAIGHT * b->points[0] * b->points[1] && p <= STRAIGHT_ORDER &&
                plan->grid.points * (int64_t)sizeof(real) < FETCH_FROM &&
                b->points[2] >= WINDOW_WIDTH(p);
  for (int a = 0; a < 3; a++)
    b->straight = b->straight && b->origin[a] + b->points[a] <= mesh[a];
  b->row = b->straight ? mesh[2] : SPREAD_ROW;
  b->slab = b->row * (b->straight ? mesh[1] : b->points[1]);
}

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
  choose_points(plan, b);
}

/* The tile's first point of a mesh. */
MD_INLINE int64_t first_point(const spread_grid *grid, const block *b)
{
  return ((int64_t)b->origin[0] * grid->mesh[1] + b->origin[1]) * grid->mesh[2] + b->origin[2];
}

/* to[0 .. n) += or = from[0 .. n).  The last vector overlaps the one before it: both are summed
 * before either is stored, so that the points of both get the same number twice. */
MD_INLINE void move_piece(real *to, const real *from, int32_t n, const bool add)
{
  if (n < PIECE) {
    for (int32_t k = 0; k < n; k++)
      to[k] = add ? to[k] + from[k] : from[k];
    return;
  }
  piece last = *(const piece *)(from + n - PIECE);
  if (add) last += *(piece *)(to + n - PIECE);
  for (int32_t k = 0; k + PIECE < n; k += PIECE) {
    piece v = *(const piece *)(from + k);
    if (add) v += *(piece *)(to + k);
    *(piece *)(to + k) = v;
  }
  *(piece *)(to + n - PIECE) = last;
}

/* Fetch `length` points for a row of the next slab.  Of a mesh that the second cache may hold that
 * costs more than it saves. */
MD_INLINE void fetch_points(const real *points, int32_t length)
{
  for (int32_t k = 0; k < length - 1; k += 64 / (int32_t)sizeof(real))
    __builtin_prefetch(points + k, 1);
  __builtin_prefetch(points + length - 1, 1);
}

/* A row of the block and the points of its line of the mesh from `at` on, which may close once or
 * more within the row. */
MD_INLINE void exchange_ring(real *row, int32_t length, real *line, int32_t at, int32_t n,
                             const bool fill)
{
  for (int32_t k = 0, count; k < length; k += count, at = 0) {
    count = length - k < n - at ? length - k : n - at;
    if (fill)
      move_piece(row + k, line + at, count, false);
    else
      move_piece(line + at, row + k, count, true);
  }
}

/* Add the points of one vector to its mesh, or fill them from there.  What rows share is held in
 * variables: to a compiler a stored point may change whatever a pointer leads to. */
MD_INLINE void exchange(const spread_grid *grid, block *b, int32_t vector, real *mesh,
                        const bool fill)
{
  const int32_t n0 = grid->mesh[0], n1 = grid->mesh[1], n2 = grid->mesh[2];
  const int32_t slabs = b->points[0], rows = b->points[1], length = b->points[2];
  const int32_t at = b->origin[2], first = b->origin[1];
  const bool whole = at + (fill ? SPREAD_ROW : length) <= n2;
  const bool fetch = grid->points * (int64_t)sizeof(real) >= FETCH_FROM;
  real *row = b->at[vector];
  for (int32_t i = 0, x = b->origin[0], next; i < slabs; i++, x = next) {
    next = x + 1 < n0 ? x + 1 : 0;
    real *slab = mesh + (int64_t)x * n1 * n2;
    const real *after = mesh + (int64_t)next * n1 * n2;
    for (int32_t j = 0, y = first; j < rows; j++, y = y + 1 < n1 ? y + 1 : 0, row += SPREAD_ROW) {
      real *line = slab + (int64_t)y * n2;
      if (fetch) fetch_points(after + (int64_t)y * n2 + at, length);
      if (fill && whole) { /* what is beyond weighs nothing */
        memcpy(row, line + at, SPREAD_ROW * sizeof *row);
      } else if (whole) {
        move_piece(line + at, row, length, true);
      } else {
        if (fill) memset(row, 0, SPREAD_ROW * sizeof *row);
        exchange_ring(row, length, line, at, n2, fill);
      }
    }
  }
}

/* Fractions and words of up to SIMD_LANES particles; the lanes beyond repeat the last one. */
MD_INLINE void load_batch(const spread_particle *record, int32_t count, simd_real f[3],
                          uint32_t *word)
{
  int32_t index[SIMD_LANES];
  for (int32_t l = 0; l < SIMD_LANES; l++) {
    index[l] = l < count ? l : count - 1;
    word[l] = record[index[l]].word;
  }
#if MD_PREC == 2
  simd_load_f64(record, index, f);
#else
  simd_load_f32(record, index, f);
#endif
}

/* Weights along the fastest axis, lane by lane into rows, from shift[lane] on.  A row is written
 * before the next: what sticks out of it is zeros. */
MD_INLINE void place_rows(const int p, const simd_real *w, const int32_t *shift, real *row)
{
  enum { FOURS = (SPREAD_ORDER_MAX + 2) / 3 };
  simd_four part[FOURS][SIMD_LANES];
  SPREAD_UNROLL
  for (int c = 0; c < (p + 2) / 3; c++) {
    simd_real three[3] = {{0}, {0}, {0}};
    SPREAD_UNROLL
    for (int j = 0; j < 3; j++)
      if (3 * c + j < p) three[j] = w[3 * c + j];
    simd_fours(three, part[c]);
  }
  for (int32_t l = 0; l < SIMD_LANES; l++, row += WINDOW_WIDTH(p)) {
    memset(row, 0, WINDOW_WIDTH(p) * sizeof *row);
    SPREAD_UNROLL
    for (int c = 0; c < (p + 2) / 3; c++)
      ((loose_four *)(row + shift[l] + 3 * c))->v = part[c][l];
  }
}

/* Where lane l's strips begin in the block or on the mesh, and where its weights do in its window.
 * On the mesh that begins with the cell, but ends where the tile's points do: those beyond may be
 * another thread's. */
MD_INLINE void locate_lanes(const int p, const block *b, const uint32_t *word, int32_t *first,
                            int32_t *shift)
{
  for (int32_t l = 0; l < SIMD_LANES; l++) {
    const int32_t cell = (int32_t)(word[l] & 0xff), last = b->points[2] - WINDOW_WIDTH(p);
    const int32_t begin =
        b->straight ? (cell < last ? cell : last) : window_begin(p, window_of(p, cell));
    first[l] = (int32_t)(word[l] >> 16) * b->slab + (int32_t)(word[l] >> 8 & 0xff) * b->row + begin;
    shift[l] = cell - begin;
  }
}

/* Weights along one axis of the particles from k on. */
MD_INLINE void store_weights(const int p, int axis, const simd_real *along, const int32_t *shift,
                             int32_t k, weights *w)
{
  if (axis == 2) {
    place_rows(p, along, shift, w->row + (size_t)k * WINDOW_WIDTH(p));
    return;
  }
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    *(simd_real *)(w->slow[axis][j] + k) = along[j];
}

/* Weights of a chunk, and their derivatives unless NULL. */
MD_INLINE void chunk_weights(const int p, const block *b, const spread_particle *record,
                             int32_t count, weights *w, weights *slope)
{
  for (int32_t k = 0; k < count; k += SIMD_LANES) {
    simd_real f[3], along[SPREAD_ORDER_MAX], change[SPREAD_ORDER_MAX];
    uint32_t word[SIMD_LANES];
    int32_t shift[SIMD_LANES];
    load_batch(record + k, count - k, f, word);
    locate_lanes(p, b, word, w->first + k, shift);
    for (int a = 0; a < 3; a++) {
      if (slope) {
        bspline_derivatives(p, f[a], along, change);
        store_weights(p, a, change, shift, k, slope);
      } else {
        bspline_scaled(p, f[a], bspline_inverse_double(p - 1), along);
      }
      store_weights(p, a, along, shift, k, w);
    }
  }
}

/* End of the run that begins at particle k of a chunk. */
MD_INLINE int32_t run_end(const weights *w, int32_t k, int32_t count)
{
  const int32_t first = w->first[k];
  do
    k++;
  while (k < count && w->first[k] == first);
  return k;
}

#if MD_ISA == 2 && MD_PREC != 2
typedef real half_strip __attribute__((vector_size(SIMD_BYTES / 2)));
typedef struct {
  half_strip v;
} __attribute__((packed, aligned(sizeof(real)), may_alias)) loose_half;
#define LOW_HALF(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH_HALF(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

/* Strip m of what particle k weighs: its row times its weights along the middle axis. */
MD_INLINE simd_real strip_weight(const int p, const real *row, const real (*middle)[CHUNK],
                                 int32_t k, int m)
{
  row += (size_t)k * WINDOW_WIDTH(p);
#if MD_ISA == 2 && MD_PREC != 2
  if (PAIRED(p)) {
    const simd_real both = (simd_real)_mm512_broadcast_f32x8(_mm256_loadu_ps(row));
    const simd_real low = (simd_real)_mm512_set1_ps(middle[2 * m][k]);
    if (2 * m + 1 == p) return both * (simd_real)_mm512_maskz_mov_ps(0xff, (__m512)low);
    const __m512 high = _mm512_set1_ps(middle[2 * m + 1][k]);
    return both * (simd_real)_mm512_mask_blend_ps(0xff00, (__m512)low, high);
  }
#endif
  return *(const simd_real *)(row + m % PIECE_VECTORS(p) * SIMD_LANES) *
         middle[m / PIECE_VECTORS(p)][k];
}

/* Add to a strip of a slab, whose rows are so far apart. */
MD_INLINE void add_strip(const int p, real *slab, int m, simd_real sum, const int32_t row)
{
#if MD_ISA == 2 && MD_PREC != 2
  if (PAIRED(p)) {
    loose_half *to = (loose_half *)(slab + 2 * m * row);
    to->v += LOW_HALF(sum);
    if (2 * m + 1 < p) ((loose_half *)(slab + (2 * m + 1) * row))->v += HIGH_HALF(sum);
    return;
  }
#endif
  ((loose *)(slab + m / PIECE_VECTORS(p) * row + m % PIECE_VECTORS(p) * SIMD_LANES))->v += sum;
}

#endif
