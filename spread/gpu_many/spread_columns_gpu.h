/* spread/gpu_many/spread_columns_gpu.h - particles of a chunk in shared memory, and a warp's
 * planes; for spread_columns.single.cu. */
#ifndef FILL_GPU_H
#define FILL_GPU_H

#include "spread/gpu_many/column_chunks_gpu.h"

enum { WARPS = COLUMN_HEIGHT / 2, BLOCK = WARPS * MD_WARP };

/* Vectors in groups of 8. */
enum { GROUP = 8, GROUPS_MAX = 2, GROUP_QUADS = GROUP / QUAD };
#define GROUPS(p) (FILL_VECTORS(p) / GROUP)

/* Shared memory: quads of halves, X Z of each plane and charges of each group, high and then low,
 * of every particle and of as many that are none as a batch takes; and words of Y for each line of
 * the column.  Neighbours lie side by side, so that no two of them meet in a bank. */
enum { SLOTS = CHUNK + BATCH, LINE_WORDS = COLUMN_HEIGHT * CHUNK + BATCH };
#define SIDES(p) (2 * (p))
#define TERMS(p) ((SIDES(p) + 2 * GROUPS(p)) * SLOTS)
/* Of two chunks on their way, a particle and its charges: an odd number of quads, so that
 * neighbours lie in different banks. */
#define CHARGE_QUADS(p) (GROUPS(p) * GROUP_QUADS)
#define FETCHED(p) (1 + CHARGE_QUADS(p))
#define SHARED_BYTES(p)                                                                            \
  ((TERMS(p) + 2 * CHUNK * FETCHED(p)) * sizeof(quad) + LINE_WORDS * sizeof(real))

/* What a launch reads and writes. */
typedef struct {
  column_grid grid;
  const column_chunk *chunk;
  int64_t chunks, particles; /* how many in all */
  const pencil_particle *particle;
  const uint32_t *index; /* of each particle, once more */
  const real *charge;    /* [particle][row] */
  uint32_t row;          /* quads of charges that a particle has, at least those of the launch */
  real *mesh;
  int64_t points;
  bool fresh;     /* the mesh holds nothing yet */
  bool even;      /* and points of a line begin pairs that may be stored as one */
  int32_t shares; /* of the chunks, one a block */
} filling;

/* Of a block, in shared memory. */
typedef struct {
  quad *sides;   /* [high, low][plane][slot]: X Z at the column's 8 points */
  quad *charges; /* [high, low][group][slot] */
  real *y;       /* [line][slot]: high and low */
  real *scale;   /* of the warp, what charges of each vector are multiplied with */
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

/* Add p halves, two a word, to where they belong among the column's 8 points: the first is number
 * `first` of them, or before it.  Words move by powers of two, as the bits of `shift` say: that
 * takes no shared memory. */
static __device__ __forceinline__ void move_halves(const int p, const uint32_t *from, int32_t first,
                                                   uint32_t to[COLUMN_WIDTH / 2])
{
  const int before = p / 2, words = before + COLUMN_WIDTH / 2, shift = first + 2 * before;
  uint32_t w[SPREAD_ORDER_MAX / 2 + COLUMN_WIDTH / 2];
  SPREAD_UNROLL
  for (int k = words - 1; k >= 0; k--) {
    const uint32_t mine = 2 * k < p ? from[k] : 0, last = k > 0 && 2 * k - 2 < p ? from[k - 1] : 0;
    w[k] = __byte_perm(last, mine, shift % 2 ? 0x5432 : 0x7654);
  }
  SPREAD_UNROLL
  for (int step = 1; step < words; step *= 2)
    SPREAD_UNROLL
  for (int k = words - 1; k >= 0; k--)
    if (shift / 2 & step) w[k] = k >= step ? w[k - step] : 0;
  SPREAD_UNROLL
  for (int k = 0; k < COLUMN_WIDTH / 2; k++)
    to[k] |= w[before + k];
}

/* Of a particle X at the column's points. */
static __device__ __forceinline__ void find_side(const int p, const real *w, int32_t first,
                                                 int32_t mesh, pair to[COLUMN_WIDTH / 2])
{
  uint32_t from[2][SPREAD_ORDER_MAX / 2], at[2][COLUMN_WIDTH / 2] = {};
  SPREAD_UNROLL
  for (int k = 0; k < p; k += 2) {
    const pair both = pair_of(w[k], k + 1 < p ? w[k + 1] : 0);
    from[0][k / 2] = word_of(both.high);
    from[1][k / 2] = word_of(both.low);
  }
  SPREAD_UNROLL
  for (int part = 0; part < 2; part++) {
    move_halves(p, from[part], first, at[part]);
    if (first < 0 && first + mesh < COLUMN_WIDTH) /* around the box */
      move_halves(p, from[part], first + mesh, at[part]);
  }
  SPREAD_UNROLL
  for (int c = 0; c < COLUMN_WIDTH / 2; c++)
    to[c] = {*(const __half2 *)&at[0][c], *(const __half2 *)&at[1][c]};
}

/* Weights w of a particle, whose first line is number `first` of the column, or before it, to where
 * they belong of its `lines`. */
static __device__ __forceinline__ void store_lines(const int p, const real *w, int32_t first,
                                                   int32_t lines, int32_t mesh, real *to)
{
  SPREAD_UNROLL
  for (int k = 0; k < COLUMN_HEIGHT; k++)
    to[k * CHUNK] = 0;
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    const int32_t at = first + k < 0 ? first + k + mesh : first + k;
    if (at < lines) to[at * CHUNK] = w[k];
  }
}

static __device__ __forceinline__ void weigh(const int p, real f, real scale, real *w)
{
  bspline_polynomials(p, f, w);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    w[k] *= scale;
}

/* Thread: X Z of the particle in a slot. */
static __device__ __forceinline__ void stage_sides(const int p, const filling &s,
                                                   const pencil_particle &particle, quad *to)
{
  const real inverse = bspline_inverse_factorial(p - 1) * SIDE_SCALE;
  real f[3], w[SPREAD_ORDER_MAX];
  uint32_t unused[2];
  pair x[COLUMN_WIDTH / 2];
  pencil_unpack(&particle, f, &unused[0], &unused[1]);
  weigh(p, f[2], inverse, w);
  find_side(p, w, cell_of(particle).column - (p - 1), s.grid.mesh[2], x);
  weigh(p, f[0], inverse, w);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    const pair two = pair_of(w[k / 2 * 2], w[min(k / 2 * 2 + 1, p - 1)]);
    const pair z = {k % 2 ? __high2half2(two.high) : __low2half2(two.high),
                    k % 2 ? __high2half2(two.low) : __low2half2(two.low)};
    pair xz[COLUMN_WIDTH / 2];
    SPREAD_UNROLL
    for (int c = 0; c < COLUMN_WIDTH / 2; c++)
      xz[c] = product(x[c], z);
    store_halves(xz, to + k * SLOTS, to + (p + k) * SLOTS);
  }
}

/* Thread: charges of the particle in a slot, and its Y. */
static __device__ __forceinline__ void stage_charges(const int p, const filling &s,
                                                     const column_place &at, const quad *fetched,
                                                     int slot, const shelf &shared)
{
  const pencil_particle particle = *(const pencil_particle *)fetched;
  real f[3], w[SPREAD_ORDER_MAX], q[GROUP], scale[GROUP];
  uint32_t unused[2];
  quad *to = shared.charges + slot;
  pencil_unpack(&particle, f, &unused[0], &unused[1]);
  weigh(p, f[1], bspline_inverse_factorial(p - 1) * LINE_SCALE, w);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    w[k] = split(w[k]);
  store_lines(p, w, cell_of(particle).row - (p - 1), at.points[0], s.grid.mesh[1], shared.y + slot);
  SPREAD_UNROLL
  for (int g = 0; g < GROUPS(p); g++) {
    pair of[GROUP / 2];
    load_reals(GROUP, shared.scale + g * GROUP, scale);
    load_reals(GROUP, (const real *)(fetched + 1 + g * GROUP_QUADS), q);
    SPREAD_UNROLL
    for (int v = 0; v < GROUP; v += 2)
      of[v / 2] = pair_of(q[v] * scale[v], q[v + 1] * scale[v + 1]);
    store_halves(of, to + g * SLOTS, to + (GROUPS(p) + g) * SLOTS);
  }
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

/* Left operands without Y, of `pairs` times 8 particles: charges of 8 or 16 vectors.  From `end` on
 * they are zero, so that Y and X Z may be anything there.  Lane 8 i + r asks for row r, a particle,
 * of matrix i. */
static __device__ __forceinline__ void load_charges(const int p, const int pairs,
                                                    const shelf &shared, int first, int end,
                                                    pair q[PAIRS][GROUPS_MAX])
{
  const int matrix = warp_lane() / 8, parts = 2 * GROUPS(p);
  SPREAD_UNROLL
  for (int j = 0; j < pairs; j++) {
    const int slot = first + warp_lane() % 8 + j * 8;
    __half2 of[4];
    load_matrices(shared.charges + matrix % parts * SLOTS + (slot < end ? slot : (int)CHUNK), of);
    SPREAD_UNROLL
    for (int g = 0; g < GROUPS(p); g++)
      q[j][g] = {of[g], of[GROUPS(p) + g]};
  }
}

/* Y of the lane's particles at two lines, from an even slot on. */
static __device__ __forceinline__ void load_lines(const int pairs, const shelf &shared, int first,
                                                  int row, pair y[PAIRS][2])
{
  const real *from = shared.y + row * CHUNK + first + 2 * (warp_lane() % 4);
  SPREAD_UNROLL
  for (int k = 0; k < pairs * 2; k++) {
    const uint2 of = *(const uint2 *)(from + k % 2 * CHUNK + k / 2 * 8);
    const uint32_t high = __byte_perm(of.x, of.y, 0x5410), low = __byte_perm(of.x, of.y, 0x7632);
    y[k / 2][k % 2] = {*(const __half2 *)&high, *(const __half2 *)&low};
  }
}

/* Warp: particles of slots first .. end - 1, at most `pairs` times 8. */
static __device__ __forceinline__ void add_batch(const int p, const int pairs, const shelf &shared,
                                                 int first, int end, int row, column_ring planes)
{
  pair q[PAIRS][GROUPS_MAX], y[PAIRS][2], a[GROUPS_MAX][PAIRS][2];
  load_charges(p, pairs, shared, first, end, q);
  load_lines(pairs, shared, first, row, y);
  SPREAD_UNROLL
  for (int j = 0; j < pairs; j++)
    SPREAD_UNROLL
  for (int k = 0; k < GROUPS(p) * 2; k++) {
    const int tile = k / 2, c = k % 2;
    a[tile][j][c] = GROUPS(p) == 2 ? product(q[j][c], y[j][tile]) : product(q[j][0], y[j][c]);
  }
  /* matrices: 8 particles and the next, or planes k and k + 1; of high and of low halves */
  const int next = warp_lane() / 8 % 2 * (pairs == 2 ? 8 : SLOTS);
  const quad *from = shared.sides + first + warp_lane() % 8 + next + warp_lane() / 16 * p * SLOTS;
  __half2 of[4];
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    if (pairs == 2 || k % 2 == 0) load_matrices(from + k * SLOTS, of);
    const int at = pairs == 2 ? 0 : k % 2;
    const pair b[PAIRS] = {{of[at], of[2 + at]}, {of[1], of[3]}};
    SPREAD_UNROLL
    for (int tile = 0; tile < GROUPS(p); tile++)
      add_pairs(pairs, a[tile], b, planes[k][tile]);
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

/* Warp: give so many planes, from `plane` on, to the mesh, of which the ring holds p; the others
 * move up.  scale: lane v's, the exponent that vector v is scaled by. */
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
