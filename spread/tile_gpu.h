/* spread/tile_gpu.h - products on tensor cores with the points of a pencil's patch.
 *
 * A product adds up 8 terms for 16 x 8 numbers at once: sum[r][c] += a[r][k] b[k][c].  Operands and
 * sums are spread over the lanes of a warp; of lane l, row = l / 4 and member = l % 4,
 *
 *   a[2 j + c]   row `row + 8 c`, term `member + 4 j`        j, c = 0, 1
 *   b[j]         column `row`, term `member + 4 j`
 *   sum[2 c + i] row `row + 8 c`, column `2 member + i`      i = 0, 1
 *
 * Double precision has such products.  Single has those of numbers of 11 bits: a number becomes two
 * of them, high and low, and three products the one wanted; what they leave out is 2^-22 of it.
 * They also round sums toward zero, so long sums must be cut.
 *
 * A particle is staged in shared memory as a record of reals: Z[p], two offsets, then Y[p] and X[p]
 * between zeros, so that a lane finds Y of its line and X of its column at
 *
 *   record + yo + line        record + xo + column
 *
 * wherever in the pencil the particle lies, and zero where it does not reach.  A record of zeros
 * stands in for no particle.  The zeros between are written once, as records keep their places. */
#ifndef TILE_GPU_H
#define TILE_GPU_H

#include "spread/pencil_gpu.h"

/* Of the patch the lane holds lines TILE_LINE(j), j < 2 PENCIL_TILES(p), at columns TILE_COLUMN(c),
 * c < 2. */
#define TILE_LINE(j) (warp_lane() % 4 + 4 * (j))
#define TILE_COLUMN(c) (warp_lane() / 4 + 8 * (c))
enum { TILE_LINES_MAX = 2 * PENCIL_TILES_MAX };

/* Offsets in a plane of the mesh of the lane's points, and bits of those that particles can reach.
 */
typedef struct {
  uint32_t at[TILE_LINES_MAX][2];
  unsigned reached;
} tile_points;

static __device__ __forceinline__ tile_points find_points(const int p, const pencil_view &view,
                                                          const walk &at)
{
  const int32_t y = at.pencil / view.pencils.n[1] * view.pencils.cells[0];
  const int32_t x = at.pencil % view.pencils.n[1] * view.pencils.cells[1];
  const int32_t height = min(view.pencils.cells[0], view.mesh[1] - y) + p - 1;
  const int32_t width = min(view.pencils.cells[1], view.mesh[2] - x) + p - 1;
  tile_points points = {};
  SPREAD_UNROLL
  for (int j = 0; j < 2 * PENCIL_TILES(p); j++)
    SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int line = TILE_LINE(j), column = TILE_COLUMN(c);
    points.at[j][c] = (uint32_t)((y + line) % view.mesh[1]) * (uint32_t)view.mesh[2] +
                      (uint32_t)((x + column) % view.mesh[2]);
    if (line < height && column < width) points.reached |= 1u << (2 * j + c);
  }
  return points;
}

static __device__ __forceinline__ bool reaches(const tile_points &points, int j, int c)
{
  return points.reached >> (2 * j + c) & 1;
}

#if MD_PREC == 2
typedef double operand;
static __device__ __forceinline__ operand operand_of(real value)
{
  return value;
}
static __device__ __forceinline__ void add_product(const operand a[4], const operand b[2],
                                                   real sum[4])
{
  SPREAD_UNROLL
  for (int j = 0; j < 2; j++)
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, "
        "%1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[2 * j]), "d"(a[2 * j + 1]), "d"(b[j]));
}
#else
/* The product ignores the last 13 bits of both. */
typedef struct {
  uint32_t high, low;
} operand;
static __device__ __forceinline__ operand operand_of(real value)
{
  const uint32_t high = __float_as_uint(value) & 0xffffe000u;
  const operand both = {high, __float_as_uint(value - __uint_as_float(high))};
  return both;
}
#define ADD_PARTS(a_part, b_part)                                                                  \
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
      "{%8, %9}, {%0, %1, %2, %3};"                                                                \
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                     \
      : "r"(a[0].a_part), "r"(a[1].a_part), "r"(a[2].a_part), "r"(a[3].a_part), "r"(b[0].b_part),  \
        "r"(b[1].b_part))
static __device__ __forceinline__ void add_product(const operand a[4], const operand b[2],
                                                   real sum[4])
{
  ADD_PARTS(low, high);
  ADD_PARTS(high, low);
  ADD_PARTS(high, high);
}
#endif

/* Where the parts of a record begin [reals]; `more` reals follow them.  Its length is an odd number
 * of quads, so that lanes writing one each meet different banks. */
#define RECORD_INT2 (8 / (int)sizeof(real))
#define RECORD_AT(p) (((p) + RECORD_INT2 - 1) / RECORD_INT2 * RECORD_INT2)
#define RECORD_Y(p) (QUADS(RECORD_AT(p) + RECORD_INT2 + PENCIL_HEIGHT(p) - (p)) * QUAD)
#define RECORD_X(p) (QUADS(RECORD_Y(p) + PENCIL_WIDTH) * QUAD)
#define RECORD_MORE(p) (RECORD_X(p) + PENCIL_WIDTH)
#define RECORD_LENGTH(p, more) ((QUADS(RECORD_MORE(p) + (more)) | 1) * QUAD)
/* Records of a warp's particles, and of none. */
enum { RECORDS = MD_WARP + 1 };

/* Warp: records of zeros. */
static __device__ __forceinline__ void clear_records(real *records, int count)
{
  for (int k = warp_lane(); k < count; k += MD_WARP)
    records[k] = 0;
  __syncwarp();
}

/* count reals to an address that begins a quad. */
static __device__ __forceinline__ void store_reals(const int count, const real *from, real *to)
{
  SPREAD_UNROLL
  for (int k = 0; k + QUAD <= count; k += QUAD) {
#if QUAD == 4
    *(quad *)(to + k) = make_float4(from[k], from[k + 1], from[k + 2], from[k + 3]);
#else
    *(quad *)(to + k) = make_double2(from[k], from[k + 1]);
#endif
  }
#if QUAD == 4
  const int done = count / QUAD * QUAD;
  if (count - done >= 2) *(float2 *)(to + done) = make_float2(from[done], from[done + 1]);
#endif
  if (count % 2) to[count - 1] = from[count - 1];
}

/* Weights along the slowest, middle and fastest axis. */
static __device__ __forceinline__ void store_weights(const int p, const real w[3][SPREAD_ORDER_MAX],
                                                     real *record)
{
  store_reals(p, w[0], record);
  store_reals(p, w[1], record + RECORD_Y(p));
  store_reals(p, w[2], record + RECORD_X(p));
}

/* yo and xo of a particle at cell (middle, fast) of its pencil. */
static __device__ __forceinline__ void store_offsets(const int p, uint32_t middle, uint32_t fast,
                                                     real *record)
{
  *(int2 *)(record + RECORD_AT(p)) = make_int2(RECORD_Y(p) - (int)middle, RECORD_X(p) - (int)fast);
}

static __device__ __forceinline__ int2 load_offsets(const int p, const real *record)
{
  return *(const int2 *)(record + RECORD_AT(p));
}

#endif
