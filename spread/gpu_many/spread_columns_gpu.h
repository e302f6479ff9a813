/* spread/gpu_many/spread_columns_gpu.h - particles of a chunk in shared memory, and a warp's
 * planes; for spread_columns.single.cu. */
#ifndef FILL_GPU_H
#define FILL_GPU_H

#include "spread/gpu_many/column_chunks_gpu.h"

/* Vectors in groups of 8. */
enum { GROUP = 8, GROUPS_MAX = 2, TERM_QUADS = GROUP / QUAD };
#define GROUPS(p) (FILL_VECTORS(p) / GROUP)

/* Shared memory: for each particle, and one that is none, quads of Z q, an odd number, so that
 * neighbours lie in different banks; reals of X and of Y, the latter with four more for the same
 * reason. */
enum { SLOTS = CHUNK + 1, ROOM_Y = COLUMN_HEIGHT + 4 };
#define TERMS(p) ((p)*GROUPS(p) * TERM_QUADS | 1)
#define SHARED_BYTES(p) (SLOTS * (TERMS(p) * sizeof(quad) + (COLUMN_WIDTH + ROOM_Y) * sizeof(real)))

/* What a launch reads and writes. */
typedef struct {
  column_grid grid;
  const column_chunk *chunk;
  int64_t chunks, particles; /* how many in all */
  const pencil_particle *particle;
  const real *charge;   /* [particle][vector] */
  const uint4 *largest; /* of each chunk's charges, as in find_exponents */
  real *mesh;
  int64_t points;
  bool fresh;     /* the mesh holds nothing yet */
  int32_t shares; /* of the chunks, one a block */
} filling;

/* A chunk and what is known of its charges: the present one, the next, and the one on its way. */
typedef struct {
  column_chunk chunk;
  uint4 largest;
} chunk_head;
enum { HEADS = 3 };

/* Of a block, in shared memory. */
typedef struct {
  quad *terms;
  real *x, *y, *scale; /* scale: of the warp, what charges of each vector are multiplied with */
  chunk_head *head;
} shelf;

/* [plane][group][of the lane]: of points lane / 4 of its two rows, vectors 2 (lane % 4) and the
 * next. */
typedef real column_ring[SPREAD_ORDER_MAX][GROUPS_MAX][4];

/* Z q of 8 vectors in a plane, as products take it. */
static __device__ __forceinline__ void store_terms(real z, const real q[GROUP], quad *to)
{
  union {
    __half2 half[2][GROUP / 2];
    quad all[2];
  } both;
  SPREAD_UNROLL
  for (int v = 0; v < GROUP; v += 2) {
    const pair two = pair_of(z * q[v], z * q[v + 1]);
    both.half[0][v / 2] = two.high;
    both.half[1][v / 2] = two.low;
  }
  to[0] = both.all[0];
  to[1] = both.all[1];
}

/* Weights w of a particle, whose first point is number `first` of the column, or before it, to
 * where they belong of its `points`. */
static __device__ __forceinline__ void store_side(const int p, const real *w, int32_t first,
                                                  int32_t points, int32_t mesh, const int room,
                                                  real *to)
{
  SPREAD_UNROLL
  for (int k = 0; k < room; k += QUAD)
    *(quad *)(to + k) = quad();
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    const int32_t at = first + k < 0 ? first + k + mesh : first + k;
    if (at < points) to[at] = w[k];
  }
}

/* What a thread stages: a particle, and charges of a group. */
typedef struct {
  pencil_particle particle;
  real charge[GROUP];
} staging;

/* Thread: a group's Z q of the particle in a slot; and X, or Y. */
static __device__ __forceinline__ void stage_particle(const int p, const filling &s,
                                                      const column_place &at, const staging &it,
                                                      int group, int slot, const shelf &shared)
{
  const real inverse = bspline_inverse_factorial(p - 1);
  const column_cell cell = cell_of(it.particle);
  real f[3], w[SPREAD_ORDER_MAX], q[GROUP], scale[GROUP];
  uint32_t unused[2];
  pencil_unpack(&it.particle, f, &unused[0], &unused[1]);
  SPREAD_UNROLL
  for (int a = 1; a < 3; a++) {
    if (group != (a == 1 ? GROUPS(p) - 1 : 0)) continue;
    bspline_polynomials(p, f[a], w);
    SPREAD_UNROLL
    for (int k = 0; k < p; k++)
      w[k] *= a == 1 ? inverse * WEIGHT_SCALE : inverse;
    const int room = a == 1 ? COLUMN_HEIGHT : COLUMN_WIDTH;
    store_side(p, w, (a == 1 ? cell.row : cell.column) - (p - 1), at.points[a - 1], s.grid.mesh[a],
               room, a == 1 ? shared.y + slot * ROOM_Y : shared.x + slot * COLUMN_WIDTH);
  }
  bspline_polynomials(p, f[0], w);
  load_reals(GROUP, shared.scale + group * GROUP, scale);
  SPREAD_UNROLL
  for (int v = 0; v < GROUP; v++)
    q[v] = it.charge[v] * scale[v];
  quad *to = shared.terms + slot * TERMS(p) + group * TERM_QUADS;
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    store_terms(w[k] * inverse, q, to + k * GROUPS(p) * TERM_QUADS);
}

/* The slot of particle k, or that of none from `end` on. */
static __device__ __forceinline__ int find_slot(int k, int end)
{
  return k < end ? k : CHUNK;
}

/* Of the terms of a batch in the first plane and group, those that the lane asks for: lane 8 i + r,
 * row r of matrix i, which holds the high or the low halves of 8 particles. */
static __device__ __forceinline__ const quad *find_terms(const int p, const shelf &shared,
                                                         int first, int end)
{
  const int r = warp_lane() % 8, matrix = warp_lane() / 8;
  const int k = first + r / 2 + r % 2 * 4 + matrix % 2 * 8;
  return shared.terms + find_slot(k, end) * TERMS(p) + matrix / 2;
}

static __device__ __forceinline__ void load_terms(const quad *from, pair b[PAIRS])
{
  uint32_t word[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"((uint32_t)__cvta_generic_to_shared(from))
               : "memory");
  SPREAD_UNROLL
  for (int j = 0; j < PAIRS; j++) {
    b[j].high = *(const __half2 *)&word[j];
    b[j].low = *(const __half2 *)&word[2 + j];
  }
}

/* Warp: particles of slots first .. end - 1, at most as many as a batch takes. */
static __device__ __forceinline__ void add_batch(const int p, const shelf &shared, int first,
                                                 int end, int row, column_ring planes)
{
  const int member = warp_lane() % 4, column = warp_lane() / 4;
  pair a[PAIRS][2];
  SPREAD_UNROLL
  for (int j = 0; j < PAIRS; j++) {
    real x[2], y[2][2];
    SPREAD_UNROLL
    for (int i = 0; i < 2; i++) {
      const int slot = find_slot(first + member + 4 * i + 8 * j, end);
      x[i] = shared.x[slot * COLUMN_WIDTH + column];
      load_reals(2, shared.y + slot * ROOM_Y + row, y[i]);
    }
    SPREAD_UNROLL
    for (int c = 0; c < 2; c++)
      a[j][c] = pair_of(x[0] * y[0][c], x[1] * y[1][c]);
  }
  const quad *from = find_terms(p, shared, first, end);
  SPREAD_UNROLL
  for (int k = 0; k < p * GROUPS(p); k++) {
    pair b[PAIRS];
    load_terms(from + k * TERM_QUADS, b);
    add_pairs(PAIRS, a, b, planes[k / GROUPS(p)][k % GROUPS(p)]);
  }
}

/* Of a lane, a plane's sums, of two rows or the first of them, to the mesh.  first: it holds
 * nothing yet, so that nothing has to be read. */
static __device__ __forceinline__ void give(const int p, const filling &s, const bool first,
                                            const real sum[GROUPS_MAX][4], bool two, real *to)
{
  SPREAD_UNROLL
  for (int i = 0; i < 4 * GROUPS(p); i++) {
    real *point = to + (i / 4 * GROUP + i % 2) * s.points + i / 2 % 2 * s.grid.mesh[2];
    if (i / 2 % 2 && !two) continue;
    if (first)
      *point = sum[i / 4][i % 4];
    else
      atomicAdd(point, sum[i / 4][i % 4]);
  }
}

/* Planes of a column that nobody else adds to, and nothing has been added to: from `begin` up to
 * `end`. */
typedef struct {
  int32_t begin, end;
} untouched;

/* Warp: give so many planes, from `plane` on, to the mesh; the others move up.  scale: lane v's,
 * the exponent that vector v is scaled by. */
static __device__ __forceinline__ void flush(const int p, const filling &s, const column_place &at,
                                             int32_t plane, int32_t count, int row, int32_t scale,
                                             untouched *alone, column_ring planes)
{
  const int member = warp_lane() % 4, column = warp_lane() / 4;
  const int32_t *mesh = s.grid.mesh;
  const bool inside = column < at.points[1], two = row + 1 < at.points[0];
  real *line = s.mesh + 2 * member * s.points + (int64_t)(at.origin[0] + row) * mesh[2] +
               at.origin[1] + column;
  real unscale[GROUPS_MAX][2];
  SPREAD_UNROLL
  for (int v = 0; v < GROUPS(p) * 2; v++)
    unscale[v / 2][v % 2] =
        scale_up(__shfl_sync(MD_ALL_LANES, scale, v / 2 * GROUP + 2 * member + v % 2));
#pragma unroll 1
  for (int32_t n = 0; n < count; n++) {
    const int32_t z = plane + n < mesh[0] ? plane + n : plane + n - mesh[0];
    const bool first = plane + n >= alone->begin && plane + n < alone->end;
    real *to = line + (int64_t)z * mesh[1] * mesh[2];
    real sum[GROUPS_MAX][4];
    SPREAD_UNROLL
    for (int g = 0; g < GROUPS(p); g++)
      SPREAD_UNROLL
    for (int i = 0; i < 4; i++) {
      sum[g][i] = planes[0][g][i] * unscale[g][i % 2];
      SPREAD_UNROLL
      for (int k = 1; k < p; k++)
        planes[k - 1][g][i] = planes[k][g][i];
      planes[p - 1][g][i] = 0;
    }
    if (!inside) continue;
    if (first)
      give(p, s, true, sum, two, to);
    else
      give(p, s, false, sum, two, to);
  }
  alone->begin = max(alone->begin, plane + count);
}

#endif
