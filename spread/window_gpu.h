/* spread/window_gpu.h - the window of planes that a warp interpolates in; for spread_back_gpu.cu.
 *
 * A window holds p planes of one pencil's patch, for one or more meshes, as left operands of products
 * with what eight particles have along the fastest axis (tile_gpu.h).  A product takes two lines of 16
 * points from each of 8 groups of lanes: of two planes at orders up to 6, where a patch has 8 lines,
 * and of one above. */
#ifndef WINDOW_GPU_H
#define WINDOW_GPU_H

#include "spread/tile_gpu.h"

enum { MOST_VECTORS = 4 };

/* Lines of a plane that a lane holds, of each the points PATCH_COLUMN(j), j < PATCH_COLUMNS. */
#define PATCH_LINES(p) PENCIL_TILES(p)
#define PATCH_LINE(i) (warp_lane() / 4 + 8 * (i))
#define PATCH_COLUMN(j) (warp_lane() % 4 + 4 * (j))
enum { PATCH_LINES_MAX = PENCIL_TILES_MAX, PATCH_COLUMNS = PENCIL_WIDTH / 4 };
typedef real plane_points[PATCH_LINES_MAX][PATCH_COLUMNS];

/* [line][column]: the lines of all planes, and one of zeros if they are odd; loops over constants
 * keep it in registers. */
#define WINDOW_LINES(p) (((p)*PATCH_LINES(p) + 1) / 2 * 2)
typedef operand window[SPREAD_ORDER_MAX * PATCH_LINES_MAX][PATCH_COLUMNS];

/* A number in the window, and in a product. */
#if MD_PREC == 2
static __device__ __forceinline__ operand hold(bool late, real value)
{
  return value;
}
static __device__ __forceinline__ operand use(bool late, operand held)
{
  return held;
}
static __device__ __forceinline__ void forget_split(operand *held) {}

/* sum += a b, as add_product, in one step instead of two. */
static __device__ __forceinline__ void add_lines_product(const operand a[4], const operand b[2],
                                                         real sum[4])
{
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#else
#define add_lines_product add_product
static __device__ __forceinline__ operand hold(bool late, real value)
{
  const operand whole = {__float_as_uint(value), 0};
  return late ? whole : operand_of(value);
}
static __device__ __forceinline__ operand use(bool late, operand held)
{
  return late ? operand_of(__uint_as_float(held.high)) : held;
}
/* Keeps the compiler from splitting a number once for all batches. */
static __device__ __forceinline__ void forget_split(operand *held)
{
  asm volatile("" : "+r"(held->high));
}
#endif

/* Offsets in a plane of the mesh of the lane's points, and bits of those that particles can reach.
 */
typedef struct {
  uint32_t at[PATCH_LINES_MAX][PATCH_COLUMNS];
  unsigned reached;
} patch;

static __device__ __forceinline__ patch find_patch(const int p, const pencil_view &view,
                                                   const walk &at)
{
  const int32_t y = at.pencil / view.pencils.n[1] * view.pencils.cells[0];
  const int32_t x = at.pencil % view.pencils.n[1] * view.pencils.cells[1];
  const int32_t height = min(view.pencils.cells[0], view.mesh[1] - y) + p - 1;
  const int32_t width = min(view.pencils.cells[1], view.mesh[2] - x) + p - 1;
  patch here = {};
  SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++) {
    const int line = PATCH_LINE(i), column = PATCH_COLUMN(j);
    here.at[i][j] = (uint32_t)((y + line) % view.mesh[1]) * (uint32_t)view.mesh[2] +
                    (uint32_t)((x + column) % view.mesh[2]);
    if (line < height && column < width) here.reached |= 1u << (PATCH_COLUMNS * i + j);
  }
  return here;
}

/* Meshes `points` apart of which planes are loaded, one after the other, the first one after the
 * last. */
typedef struct {
  const real *mesh;
  int64_t points;
  const int32_t *n;
  const real *from;
  int32_t plane;
} plane_cursor;

static __device__ __forceinline__ void load_plane(const int p, const int vectors, const patch &here,
                                                  plane_cursor *at, plane_points *to)
{
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++)
    to[v][i][j] = here.reached >> (PATCH_COLUMNS * i + j) & 1
                      ? at->from[v * at->points + here.at[i][j]]
                      : (real)0;
  at->from += (int64_t)at->n[1] * at->n[2];
  if (++at->plane == at->n[0]) at->from = at->mesh, at->plane = 0;
}

/* Plane k of the window. */
static __device__ __forceinline__ void place_plane(const int p, const int vectors, const bool late,
                                                   const int k, const plane_points *from,
                                                   window *lines)
{
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    SPREAD_UNROLL
  for (int i = 0; i < PATCH_LINES(p); i++)
    SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++)
    lines[v][k * PATCH_LINES(p) + i][j] = hold(late, from[v][i][j]);
}

/* On to the next plane, the last one still to be placed; or, by no plane, only forget. */
static __device__ __forceinline__ void move_window(const int p, const int vectors, const bool late,
                                                   const int planes, window *lines)
{
  const int by = planes * PATCH_LINES(p);
  SPREAD_UNROLL
  for (int v = 0; v < vectors; v++)
    SPREAD_UNROLL
  for (int k = by; k < p * PATCH_LINES(p); k++)
    SPREAD_UNROLL
  for (int j = 0; j < PATCH_COLUMNS; j++)
    if (by > 0)
      lines[v][k - by][j] = lines[v][k][j];
    else if (late)
      forget_split(&lines[v][k][j]);
}

#endif
