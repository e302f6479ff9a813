/* spread/gpu_many/spread_columns_gpu.h - particles of a chunk in shared memory, and a warp's
 * planes; for spread_columns.single.cu. */
#ifndef FILL_GPU_H
#define FILL_GPU_H

#include "spread/gpu_many/column_chunks_gpu.h"

enum { WARPS = COLUMN_HEIGHT / 2, BLOCK = WARPS * MD_WARP };

/* Vectors in groups of 8. */
enum { GROUP = 8, GROUPS_MAX = 2, GROUP_QUADS = GROUP / QUAD };
#define GROUPS(p) (FILL_VECTORS(p) / GROUP)

/* Shared memory, for each particle and one that is none: quads of halves, X Z of each plane, high
 * and low, and charges, all groups' high and then low; an odd number, so that neighbours lie in
 * different banks.  And words of Y, four more for the same reason. */
enum { SLOTS = CHUNK + 1, ROOM_Y = COLUMN_HEIGHT + 4 };
#define CHARGES_AT(p) (2 * (p))
#define TERMS(p) ((CHARGES_AT(p) + 2 * GROUPS(p)) | 1)
/* Of two chunks on their way, a particle and its charges: an odd number of quads, too. */
#define CHARGE_QUADS(p) (GROUPS(p) * GROUP_QUADS)
#define FETCHED(p) (1 + CHARGE_QUADS(p))
#define SHARED_BYTES(p)                                                                            \
  (SLOTS * (TERMS(p) * sizeof(quad) + ROOM_Y * sizeof(__half2)) +                                  \
   2 * CHUNK * FETCHED(p) * sizeof(quad))

/* What a launch reads and writes. */
typedef struct {
  column_grid grid;
  const column_chunk *chunk;
  int64_t chunks, particles; /* how many in all */
  const pencil_particle *particle;
  const uint32_t *index; /* of each particle, once more */
  const real *charge;    /* [particle][row] */
  int32_t row;           /* quads of charges that a particle has, at least those of the launch */
  real *mesh;
  int64_t points;
  bool fresh;     /* the mesh holds nothing yet */
  bool even;      /* and points of a line begin pairs that may be stored as one */
  int32_t shares; /* of the chunks, one a block */
} filling;

/* Of a block, in shared memory. */
typedef struct {
  quad *terms;
  __half2 *y;  /* high and low */
  real *scale; /* of the warp, what charges of each vector are multiplied with */
} shelf;

/* [plane][tile][of the lane]: of mesh points 2 (lane % 4) and the next of a line, vectors lane / 4
 * and 8 further, a tile for each of the warp's two lines; of 8 vectors both lines in one tile. */
typedef real column_ring[SPREAD_ORDER_MAX][GROUPS_MAX][4];

/* What products of halves are scaled by: X and Z; Y; charges, besides their own scale. */
#define SIDE_SCALE (real)0x1p7
#define LINE_SCALE (real)0x1p3
#define CHARGE_SCALE (real)0x1p-3

/* The product of two numbers each, as halves: what the high one leaves out goes to the low. */
static __device__ __forceinline__ pair product(const pair &a, const pair &b)
{
  const __half2 high = __hmul2_rn(a.high, b.high);
  const __half2 left = __hfma2(a.high, b.high, __hneg2(high));
  return {high, __hfma2(a.low, b.high, __hfma2(a.high, b.low, left))};
}

/* A number's high and low half, as if they were one. */
static __device__ __forceinline__ real split(real of)
{
  const __half high = __float2half_rn(of);
  const __half2 both = __halves2half2(high, __float2half_rn(of - __half2float(high)));
  return __uint_as_float(word_of(both));
}

/* Of 8 numbers, the high halves and the low ones. */
static __device__ __forceinline__ void store_halves(const pair of[4], quad *high, quad *low)
{
  union {
    __half2 half[2][4];
    quad all[2];
  } both;
  SPREAD_UNROLL
  for (int k = 0; k < 4; k++) {
    both.half[0][k] = of[k].high;
    both.half[1][k] = of[k].low;
  }
  *high = both.all[0];
  *low = both.all[1];
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

/* Thread: X Z of the particle in a slot. */
static __device__ __forceinline__ void stage_sides(const int p, const filling &s,
                                                   const column_place &at,
                                                   const pencil_particle &particle, quad *to)
{
  const real inverse = bspline_inverse_factorial(p - 1) * SIDE_SCALE;
  real f[3], w[SPREAD_ORDER_MAX], x[COLUMN_WIDTH];
  uint32_t unused[2];
  pair xs[COLUMN_WIDTH / 2];
  pencil_unpack(&particle, f, &unused[0], &unused[1]);
  bspline_polynomials(p, f[2], w);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    w[k] *= inverse;
  store_side(p, w, cell_of(particle).column - (p - 1), at.points[1], s.grid.mesh[2], COLUMN_WIDTH,
             (real *)to); /* only to find them where they belong */
  load_reals(COLUMN_WIDTH, (const real *)to, x);
  bspline_polynomials(p, f[0], w);
  SPREAD_UNROLL
  for (int k = 0; k < COLUMN_WIDTH; k += 2)
    xs[k / 2] = pair_of(x[k], x[k + 1]);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    const pair z = pair_of(w[k] * inverse, w[k] * inverse);
    pair xz[COLUMN_WIDTH / 2];
    SPREAD_UNROLL
    for (int c = 0; c < COLUMN_WIDTH / 2; c++)
      xz[c] = product(xs[c], z);
    store_halves(xz, to + 2 * k, to + 2 * k + 1);
  }
}

/* Thread: charges of the particle in a slot, and its Y. */
static __device__ __forceinline__ void stage_charges(const int p, const filling &s,
                                                     const column_place &at, const quad *fetched,
                                                     int slot, const shelf &shared)
{
  const pencil_particle particle = *(const pencil_particle *)fetched;
  const real inverse = bspline_inverse_factorial(p - 1) * LINE_SCALE;
  real f[3], w[SPREAD_ORDER_MAX], q[GROUP], scale[GROUP];
  uint32_t unused[2];
  quad *to = shared.terms + slot * TERMS(p) + CHARGES_AT(p);
  pencil_unpack(&particle, f, &unused[0], &unused[1]);
  bspline_polynomials(p, f[1], w);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    w[k] = split(w[k] * inverse);
  store_side(p, w, cell_of(particle).row - (p - 1), at.points[0], s.grid.mesh[1], COLUMN_HEIGHT,
             (real *)(shared.y + slot * ROOM_Y));
  SPREAD_UNROLL
  for (int g = 0; g < GROUPS(p); g++) {
    pair of[GROUP / 2];
    load_reals(GROUP, shared.scale + g * GROUP, scale);
    load_reals(GROUP, (const real *)(fetched + 1 + g * GROUP_QUADS), q);
    SPREAD_UNROLL
    for (int v = 0; v < GROUP; v += 2)
      of[v / 2] = pair_of(q[v] * scale[v], q[v + 1] * scale[v + 1]);
    store_halves(of, to + g, to + GROUPS(p) + g);
  }
}

/* The slot of particle k, or that of none from `end` on. */
static __device__ __forceinline__ int find_slot(int k, int end)
{
  return k < end ? k : CHUNK;
}

/* Of row r of four matrices, which lane 8 i + r asks for, of matrix i: a particle of the batch's
 * first or second half, four apart in a pair. */
static __device__ __forceinline__ const quad *find_terms(const int p, const shelf &shared,
                                                         int first, int end, int half)
{
  const int r = warp_lane() % 8;
  return shared.terms + find_slot(first + r / 2 + r % 2 * 4 + half * 8, end) * TERMS(p);
}

static __device__ __forceinline__ void load_matrices(const quad *from, __half2 to[4])
{
  uint32_t word[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"((uint32_t)__cvta_generic_to_shared(from))
               : "memory");
  SPREAD_UNROLL
  for (int k = 0; k < 4; k++)
    to[k] = *(const __half2 *)&word[k];
}

/* Left operands without Y: charges of 8 or 16 vectors. */
static __device__ __forceinline__ void load_charges(const int p, const shelf &shared, int first,
                                                    int end, pair q[PAIRS][GROUPS_MAX])
{
  const int matrix = warp_lane() / 8;
  const int half = GROUPS(p) == 2 ? matrix / 2 : matrix % 2;
  const int part = GROUPS(p) == 2 ? matrix % 2 : matrix / 2;
  const quad *from = find_terms(p, shared, first, end, half) + CHARGES_AT(p) + part;
  __half2 high[4], low[4];
  load_matrices(from, high);
  if (GROUPS(p) == 2) load_matrices(from + GROUPS(p), low);
  SPREAD_UNROLL
  for (int j = 0; j < PAIRS; j++)
    SPREAD_UNROLL
  for (int g = 0; g < GROUPS(p); g++) {
    q[j][g].high = high[GROUPS(p) * j + g];
    q[j][g].low = GROUPS(p) == 2 ? low[2 * j + g] : high[2 + j];
  }
}

/* Y of the lane's particles at two lines. */
static __device__ __forceinline__ void load_lines(const shelf &shared, int first, int end, int row,
                                                  pair y[PAIRS][2])
{
  SPREAD_UNROLL
  for (int j = 0; j < PAIRS; j++) {
    uint2 of[2];
    SPREAD_UNROLL
    for (int i = 0; i < 2; i++) {
      const int slot = find_slot(first + warp_lane() % 4 + 4 * i + 8 * j, end);
      of[i] = *(const uint2 *)(shared.y + slot * ROOM_Y + row);
    }
    const uint32_t word[4] = {
        __byte_perm(of[0].x, of[1].x, 0x5410), __byte_perm(of[0].x, of[1].x, 0x7632),
        __byte_perm(of[0].y, of[1].y, 0x5410), __byte_perm(of[0].y, of[1].y, 0x7632)};
    SPREAD_UNROLL
    for (int c = 0; c < 2; c++) {
      y[j][c].high = *(const __half2 *)&word[2 * c];
      y[j][c].low = *(const __half2 *)&word[2 * c + 1];
    }
  }
}

/* Warp: particles of slots first .. end - 1, at most as many as a batch takes. */
static __device__ __forceinline__ void add_batch(const int p, const shelf &shared, int first,
                                                 int end, int row, column_ring planes)
{
  pair q[PAIRS][GROUPS_MAX], y[PAIRS][2], a[GROUPS_MAX][PAIRS][2];
  load_charges(p, shared, first, end, q);
  load_lines(shared, first, end, row, y);
  SPREAD_UNROLL
  for (int k = 0; k < GROUPS(p) * PAIRS * 2; k++) {
    const int tile = k / 4, j = k / 2 % 2, c = k % 2;
    a[tile][j][c] = GROUPS(p) == 2 ? product(q[j][c], y[j][tile]) : product(q[j][0], y[j][c]);
  }
  const quad *from = find_terms(p, shared, first, end, warp_lane() / 8 % 2) + warp_lane() / 16;
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    __half2 of[4];
    load_matrices(from + 2 * k, of);
    const pair b[PAIRS] = {{of[0], of[2]}, {of[1], of[3]}};
    SPREAD_UNROLL
    for (int tile = 0; tile < GROUPS(p); tile++)
      add_pairs(PAIRS, a[tile], b, planes[k][tile]);
  }
}

/* Where a lane's points are in a plane: whether a line's, its second, and the second line's are
 * within the column. */
typedef struct {
  bool first, second, two;
} within;

/* Lane: two numbers to neighbouring points.  fresh: they hold nothing yet, so that nothing has to
 * be read. */
static __device__ __forceinline__ void give_two(const filling &s, bool fresh, const within &in,
                                                real one, real other, real *to)
{
  if (s.even && fresh) {
    *(float2 *)to = make_float2(one, other);
  } else if (s.even) {
    atomicAdd((float2 *)to, make_float2(one, other));
  } else if (fresh) {
    to[0] = one;
    if (in.second) to[1] = other;
  } else {
    atomicAdd(to, one);
    if (in.second) atomicAdd(to + 1, other);
  }
}

/* Of a lane, a plane's sums to the mesh. */
static __device__ __forceinline__ void give(const int p, const filling &s, const bool fresh,
                                            const real sum[GROUPS_MAX][4], const within &in,
                                            real *to)
{
  SPREAD_UNROLL
  for (int tile = 0; tile < GROUPS(p); tile++)
    SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int line = GROUPS(p) == 2 ? tile : c, group = GROUPS(p) == 2 ? c : 0;
    if (line && !in.two) continue;
    give_two(s, fresh, in, sum[tile][2 * c], sum[tile][2 * c + 1],
             to + group * GROUP * s.points + line * s.grid.mesh[2]);
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
  const int point = 2 * (warp_lane() % 4), vector = warp_lane() / 4;
  const int32_t *mesh = s.grid.mesh;
  const within in = {point < at.points[1], point + 1 < at.points[1], row + 1 < at.points[0]};
  real *line =
      s.mesh + vector * s.points + (int64_t)(at.origin[0] + row) * mesh[2] + at.origin[1] + point;
  real unscale[GROUPS_MAX];
  SPREAD_UNROLL
  for (int g = 0; g < GROUPS(p); g++)
    unscale[g] = scale_up(__shfl_sync(MD_ALL_LANES, scale, g * GROUP + vector));
#pragma unroll 1
  for (int32_t n = 0; n < count; n++) {
    const int32_t z = plane + n < mesh[0] ? plane + n : plane + n - mesh[0];
    const bool fresh = plane + n >= alone->begin && plane + n < alone->end;
    real *to = line + (int64_t)z * mesh[1] * mesh[2];
    real sum[GROUPS_MAX][4];
    SPREAD_UNROLL
    for (int g = 0; g < GROUPS(p); g++)
      SPREAD_UNROLL
    for (int i = 0; i < 4; i++) {
      sum[g][i] = planes[0][g][i] * unscale[GROUPS(p) == 2 ? i / 2 : 0];
      SPREAD_UNROLL
      for (int k = 1; k < p; k++)
        planes[k - 1][g][i] = planes[k][g][i];
      planes[p - 1][g][i] = 0;
    }
    if (!in.first) continue;
    if (fresh)
      give(p, s, true, sum, in, to);
    else
      give(p, s, false, sum, in, to);
  }
  alone->begin = max(alone->begin, plane + count);
}

#endif
