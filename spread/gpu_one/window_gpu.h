/* spread/gpu_one/window_gpu.h - the window of planes that a warp interpolates in; for
 * interpolate_sweep.real.cu.
 *
 * A window holds p planes of one pencil's patch, for one or more meshes, as left operands of
 * products with what eight particles have along the fastest axis (pair_gpu.h).  A product takes two
 * lines of 16 points from each of 8 groups of lanes: of two planes at orders up to 6, where a patch
 * has 8 lines, and of one above.
 *
 * In single precision a number is two halves, so those of a window are scaled by a power of two:
 * the largest when it was filled to 2^11 or more.  A plane that moves in may be four times as
 * large; if it is larger, or if in all p planes nothing is left of a 2^8th of the scale, the window
 * is filled anew.  So the error of any result is at most 2^-30 of the largest number near by, and
 * usually 2^-36.  Double precision needs none of this. */
#ifndef WINDOW_GPU_H
#define WINDOW_GPU_H

#include "spread/gpu/pair_gpu.h"

enum { MOST_VECTORS = 4, SCALE_ROOM = 2 };

/* Lines of a plane that a lane holds, of each the points PATCH_COLUMN(j), j < PATCH_COLUMNS. */
#define PATCH_LINES(p) PENCIL_PATCHES(p)
#define PATCH_LINE(i) (warp_lane() / 4 + 8 * (i))
#define PATCH_COLUMN(j) (warp_lane() % 4 + 4 * (j))
enum { PATCH_LINES_MAX = PENCIL_TILES_MAX, PATCH_COLUMNS = PENCIL_WIDTH / 4 };
typedef real plane_points[PATCH_LINES_MAX][PATCH_COLUMNS];

/* The lines of all planes, and one of zeros if they are odd; loops over constants keep it in
 * registers. */
#define WINDOW_LINES(p) (((p)*PATCH_LINES(p) + 1) / 2 * 2)
enum { LINE_PAIRS = PATCH_COLUMNS / 2 };
typedef pair line_pairs[LINE_PAIRS];
typedef struct {
  line_pairs line[SPREAD_ORDER_MAX * PATCH_LINES_MAX];
  int32_t scale; /* exponent of what may move in, at most */
  int32_t small; /* of the planes, so many last ones are small beside it */
} window;

/* Offsets in a plane of the mesh of the lane's points, and bits of those that particles can reach.
 */
typedef struct {
  uint32_t at[PATCH_LINES_MAX][PATCH_COLUMNS];
  unsigned reached;
} patch;

static __device__ __forceinline__ patch find_patch(const int p, const pencil_view &view,
                                                   const walk &at)
{
  const footprint foot = find_footprint(p, view, at);
  patch here = {};
  SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++) {
    const int line = PATCH_LINE(i), column = PATCH_COLUMN(j);
    here.at[i][j] = point_at(view, foot, line, column);
    if (has_point(foot, line, column)) here.reached |= 1u << (PATCH_COLUMNS * i + j);
  }
  return here;
}

/* Meshes `points` apart, of n planes of so many points. */
typedef struct {
  const real *mesh;
  int64_t points;
  uint32_t plane_points;
  int32_t n;
} mesh_planes;

/* Plane z of each mesh, z < 2 n. */
static __device__ __forceinline__ void load_plane(const int p, const int vectors, const patch &here,
                                                  const mesh_planes &from, int32_t z,
                                                  plane_points *to)
{
  const real *plane = from.mesh + (int64_t)(z < from.n ? z : z - from.n) * from.plane_points;
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++, plane += from.points) {
    asm("" : "+l"(plane)); /* else every address is made anew, from the first mesh's */
    __builtin_assume(__isGlobal(plane));
    SPREAD_UNROLL
    for (int i = 0; i < PATCH_LINES(p); i++)
      SPREAD_UNROLL
    for (int j = 0; j < PATCH_COLUMNS; j++)
      to[v][i][j] = here.reached >> (PATCH_COLUMNS * i + j) & 1 ? plane[here.at[i][j]] : (real)0;
  }
}

/* Two numbers as they are in the place of a pair. */
#if MD_PREC == 2
static __device__ __forceinline__ pair keep_raw(real first, real second)
{
  return pair_of(first, second);
}
static __device__ __forceinline__ real raw_first(pair raw)
{
  return raw.first;
}
static __device__ __forceinline__ real raw_second(pair raw)
{
  return raw.second;
}
#else
static __device__ __forceinline__ pair keep_raw(real first, real second)
{
  pair raw;
  *(real *)&raw.high = first;
  *(real *)&raw.low = second;
  return raw;
}
static __device__ __forceinline__ real raw_first(pair raw)
{
  return *(const real *)&raw.high;
}
static __device__ __forceinline__ real raw_second(pair raw)
{
  return *(const real *)&raw.low;
}
#endif

/* The exponent of the largest number that the warp has of a plane. */
static __device__ __forceinline__ int32_t plane_exponent(const int p, const plane_points from)
{
  real most = 0;
  SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p) * PATCH_COLUMNS; i++)
    most = max(most, abs(from[i / PATCH_COLUMNS][i % PATCH_COLUMNS]));
  return largest_exponent(most);
}

/* Count a plane that comes last. */
static __device__ __forceinline__ void count_small(int32_t exponent, window *planes)
{
  const bool small = exponent + SCALE_SLACK < planes->scale && planes->scale > LEAST_EXPONENT;
  planes->small = small ? planes->small + 1 : 0;
}

/* The next p planes become the window. */
static __device__ __forceinline__ void fill_window(const int p, const int vectors,
                                                   const patch &here, const mesh_planes &from,
                                                   int32_t z, window *planes)
{
  plane_points next[MOST_VECTORS];
  int32_t exponent[MOST_VECTORS][SPREAD_ORDER_MAX];
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    planes[v].scale = LEAST_EXPONENT, planes[v].small = 0;
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    load_plane(p, vectors, here, from, z + k, next);
    SPREAD_UNROLL
    for (int v = 0; v < vectors; v++) {
      exponent[v][k] = plane_exponent(p, next[v]);
      planes[v].scale = max(planes[v].scale, exponent[v][k] + SCALE_ROOM);
      SPREAD_UNROLL
      for (int i = 0; i < PATCH_LINES(p) * LINE_PAIRS; i++) {
        const real *two = next[v][i / LINE_PAIRS] + i % LINE_PAIRS * 2;
        planes[v].line[k * PATCH_LINES(p) + i / LINE_PAIRS][i % LINE_PAIRS] =
            keep_raw(two[0], two[1]);
      }
    }
  }
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const real factor = scale_down(planes[v].scale);
    SPREAD_UNROLL
    for (int k = 0; k < p; k++)
      count_small(exponent[v][k], &planes[v]);
    SPREAD_UNROLL
    for (int i = 0; i < p * PATCH_LINES(p) * LINE_PAIRS; i++) {
      pair *two = &planes[v].line[i / LINE_PAIRS][i % LINE_PAIRS];
      *two = pair_of(raw_first(*two) * factor, raw_second(*two) * factor);
    }
  }
}

/* Whether planes may move into the windows as they are scaled. */
#if MD_PREC == 2
static __device__ __forceinline__ bool fits(const int p, const int vectors,
                                            const plane_points *next, window *planes)
{
  return true;
}
#else
static __device__ __forceinline__ bool fits(const int p, const int vectors,
                                            const plane_points *next, window *planes)
{
  bool fit = true;
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const int32_t exponent = plane_exponent(p, next[v]);
    count_small(exponent, planes + v);
    fit = fit && exponent <= planes[v].scale && planes[v].small < p;
  }
  return fit;
}
#endif

/* On to the next plane. */
static __device__ __forceinline__ void move_window(const int p, const int vectors,
                                                   const plane_points *next, window *planes)
{
  const int by = PATCH_LINES(p), all = p * by;
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++) {
    const real factor = scale_down(planes[v].scale);
    SPREAD_UNROLL
    for (int k = by; k < all; k++)
      SPREAD_UNROLL
    for (int j = 0; j < LINE_PAIRS; j++)
      planes[v].line[k - by][j] = planes[v].line[k][j];
    SPREAD_UNROLL
    for (int i = 0; i < by * LINE_PAIRS; i++) {
      const real *two = next[v][i / LINE_PAIRS] + i % LINE_PAIRS * 2;
      planes[v].line[all - by + i / LINE_PAIRS][i % LINE_PAIRS] =
          pair_of(two[0] * factor, two[1] * factor);
    }
  }
}

/* What a particle has at the columns, from that of the lane on. */
static __device__ __forceinline__ void load_columns(const real *x, line_pairs to)
{
  SPREAD_UNROLL
  for (int j = 0; j < LINE_PAIRS; j++)
    to[j] = pair_of(x[8 * j], x[8 * j + 4]);
}

/* Of eight particles, for lines 2 t and 2 t + 1 of the window: the sums over columns of X mesh. */
static __device__ __forceinline__ void sum_columns(const int t, const line_pairs x,
                                                   const window &planes, real sum[4])
{
  pair two[LINE_PAIRS][2];
  SPREAD_UNROLL
  for (int i = 0; i < 4; i++) {
    sum[i] = 0;
    two[i / 2][i % 2] = planes.line[2 * t + i % 2][i / 2];
  }
  add_pairs(LINE_PAIRS, two, x, sum);
}

#endif
