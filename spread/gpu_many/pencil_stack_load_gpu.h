/* spread/gpu_many/pencil_stack_load_gpu.h - the ring of planes of a stack's patch, and the warps
 * that load it; for interpolate_stacks.single.cu.
 *
 * A plane of the ring is lines of 16 points for each of 8 or 16 vectors, as halves that products
 * take (pair_gpu.h): points c and c + 8 are a pair.  Every vector has a power of two as the scale
 * of its window, as in window_gpu.h; the window is filled anew when a plane comes that does not
 * fit. */
#ifndef STACK_LOAD_GPU_H
#define STACK_LOAD_GPU_H

#include "spread/gpu_many/pencil_stack_gpu.h"

enum { GROUP = 8, GROUPS_MAX = 2, SCALE_ROOM = 2 };
#define GROUPS(p) (FILL_VECTORS(p) / GROUP)

/* Warps of a block: those that load, four vectors each, and those that read. */
enum { WARPS = 16, BLOCK = WARPS * MD_WARP, LOADED_VECTORS = 4 };
#define LOADERS(p) (FILL_VECTORS(p) / LOADED_VECTORS)
#define READERS(p) (WARPS - LOADERS(p))

/* Of a line, bytes of 8 vectors: [high, low][half of the pairs][vector][4 pairs]. */
enum { PAIR_BYTES = 4, VECTOR_BYTES = 16, HALF_BYTES = 128, LOW_BYTES = 256, GROUP_BYTES = 512 };
#define LINE_BYTES(p) (GROUPS(p) * GROUP_BYTES)
#define PLANE_BYTES(p) (STACK_LINES(p) * LINE_BYTES(p))
/* Which of the 8 vectors' places a vector takes: lanes that store pairs of a line meet all
 * banks. */
static __device__ __forceinline__ int place_of(int vector, int half)
{
  return vector ^ half * 4;
}

/* Reals of a reader's batch: X, Y and Z of 16 particles, in rows that lie in different banks. */
enum { ROOM_X = PENCIL_WIDTH + 4, ROOM_Z = 12 };
#define ROOM_Y(p) ((STACK_LINES(p) + 7) / 8 * 8 + 4)
#define BATCH_REALS(p) (BATCH * (ROOM_X + ROOM_Y(p) + ROOM_Z))
#define BATCHES_BYTES(p) (READERS(p) * BATCH_REALS(p) * (int)sizeof(real))

/* Planes of the ring: number k is in slot k % RING in round k / RING.  As many as fit beside the
 * batches into so many KB of shared memory: the rest is the L1, which holds what loads wait for.
 * Measured best. */
enum { RING_MAX = 16 };
#define SHARED_KB(p) ((p) >= 8 ? 225 : (p) == 3 || (p) == 5 ? 163 : 195)
#define RING_FIT(p) (((SHARED_KB(p) << 10) - BATCHES_BYTES(p)) / PLANE_BYTES(p))
#define RING(p) (RING_FIT(p) < RING_MAX ? RING_FIT(p) : RING_MAX)

/* Of a block, in shared memory.  Of each slot: barriers, it has been loaded, and it is not needed
 * any more; and what sums of each vector in the window that ends with it are multiplied with. */
typedef struct {
  char *ring;
  real *batch; /* of the warp */
  uint64_t *loaded, *unneeded;
  real *unscale; /* [slot][vector] */
} shelf;

static __device__ __forceinline__ void wait_for(const int p, uint64_t *barriers, int32_t number)
{
  barrier_wait(barriers + number % RING(p), number / RING(p));
}

/* Where a loader finds its patch: the lane's vector, at two columns; lane k: line k.  straight:
 * lines and columns follow each other all through the patch. */
typedef struct {
  const real *from;
  uint32_t line, column[2]; /* offsets in a plane and in a line */
  bool straight;
} patch;

/* Of a plane, the lane's numbers. */
typedef real plane_numbers[STACK_LINES_MAX][2];

/* Lines and columns beyond those that particles reach may be any. */
static __device__ __forceinline__ void place_patch(const int p, const reading &s, int32_t stack,
                                                   patch *here)
{
  const spread_pencils &cut = s.grid.pencils;
  const int32_t x = stack % cut.n[1] * cut.cells[1];
  const int32_t y = first_pencil(s.grid, stack / cut.n[1]) * cut.cells[0];
  here->straight = y + STACK_LINES(p) <= s.mesh[1] && x + PENCIL_WIDTH <= s.mesh[2];
  here->line = (uint32_t)((y + warp_lane()) % s.mesh[1]) * (uint32_t)s.mesh[2];
  SPREAD_UNROLL
  for (int i = 0; i < 2; i++)
    here->column[i] = (uint32_t)((x + warp_lane() % 8 + 8 * i) % s.mesh[2]);
}

/* Volatile, as else they are asked for when they are needed. */
static __device__ __forceinline__ real ask_for_number(const real *from)
{
  real to;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(to) : "l"(from));
  return to;
}

/* Plane z, less than twice the planes of the mesh. */
static __device__ __forceinline__ void ask_for_plane(const int p, const reading &s,
                                                     const patch &here, int32_t z, plane_numbers to)
{
  const int32_t *mesh = s.mesh;
  const real *plane = here.from + (int64_t)(z < mesh[0] ? z : z - mesh[0]) * mesh[1] * mesh[2];
  asm("" : "+l"(plane)); /* else every address is made anew, from the first plane's */
  if (here.straight) {
    const real *line = plane + (__shfl_sync(MD_ALL_LANES, here.line, 0) + here.column[0]);
    SPREAD_UNROLL
    for (int k = 0; k < STACK_LINES(p); k++, line += mesh[2]) {
      asm("" : "+l"(line));
      to[k][0] = ask_for_number(line);
      to[k][1] = ask_for_number(line + 8);
    }
    return;
  }
  SPREAD_UNROLL
  for (int k = 0; k < STACK_LINES(p); k++) {
    const uint32_t line = __shfl_sync(MD_ALL_LANES, here.line, k);
    SPREAD_UNROLL
    for (int i = 0; i < 2; i++)
      to[k][i] = ask_for_number(plane + (line + here.column[i]));
  }
}

/* Of the largest number of the lane's vector. */
static __device__ __forceinline__ int32_t find_exponent(const int p, const plane_numbers of)
{
  real most = 0;
  SPREAD_UNROLL
  for (int k = 0; k < 2 * STACK_LINES(p); k++)
    most = max(most, abs(of[k / 2][k % 2]));
  SPREAD_UNROLL
  for (int step = 1; step < 8; step *= 2)
    most = max(most, __shfl_xor_sync(MD_ALL_LANES, most, step));
  return (int32_t)(__float_as_uint(most) >> 23);
}

/* Of the lane's vector, as in a window (window_gpu.h). */
typedef struct {
  int32_t scale, small;
} patch_scale;

/* Count a plane that comes last. */
static __device__ __forceinline__ void count_plane(int32_t exponent, patch_scale *by)
{
  const bool is_small = exponent + SCALE_SLACK < by->scale && by->scale > LEAST_EXPONENT;
  by->small = is_small ? by->small + 1 : 0;
}

static __device__ __forceinline__ void store_plane(const int p, const shelf &shared, int warp,
                                                   int32_t scale, int32_t number,
                                                   const plane_numbers of)
{
  const int vector = warp * LOADED_VECTORS + warp_lane() / 8, column = warp_lane() % 8;
  const int half = column / 4, slot = number % RING(p);
  const real factor = scale_down(scale);
  char *to = shared.ring + slot * PLANE_BYTES(p) + vector / GROUP * GROUP_BYTES +
             half * HALF_BYTES + place_of(vector % GROUP, half) * VECTOR_BYTES +
             column % 4 * PAIR_BYTES;
  SPREAD_UNROLL
  for (int line = 0; line < STACK_LINES(p); line++) {
    const pair two = pair_of(of[line][0] * factor, of[line][1] * factor);
    *(__half2 *)(to + line * LINE_BYTES(p)) = two.high;
    *(__half2 *)(to + line * LINE_BYTES(p) + LOW_BYTES) = two.low;
  }
  if (column == 0) shared.unscale[slot * GROUPS_MAX * GROUP + vector] = scale_up(scale);
}

/* A plane to load, z of a stack, which is `number` in the ring; and the stop for which it is: its
 * window, and the plane where that begins.  opens: none of the planes before are in the window. */
typedef struct {
  int32_t stack, z, number, base, plane;
  bool opens;
} plane_asked;

/* Warp: on to the next plane; false: there is none. */
static __device__ __forceinline__ bool ask_on(const int p, const reading &s, stack_walk *at,
                                              plane_asked *to)
{
  to->opens = false;
  to->number++;
  if (to->number == to->base + p) {
    int32_t unit;
    if (!walk_on(p, s, at, &unit, &to->base)) return false;
    to->opens = to->base == to->number;
    to->stack = unit / s.grid.planes;
    to->plane = unit % s.grid.planes;
  }
  to->z = to->plane + to->number - to->base;
  return true;
}

/* Warp: fill a stop's window anew, when all before it have been read; once through its planes to
 * find the scale, then again. */
static __device__ __forceinline__ void load_window(const int p, const reading &s,
                                                   const shelf &shared, int warp,
                                                   const plane_asked &now, patch here,
                                                   patch_scale *by)
{
  plane_numbers of;
  place_patch(p, s, now.stack, &here);
  by->scale = LEAST_EXPONENT;
  by->small = 0;
#pragma unroll 1
  for (int k = -p; k < p; k++) {
    ask_for_plane(p, s, here, now.plane + (k < 0 ? k + p : k), of);
    const int32_t exponent = find_exponent(p, of);
    if (k < 0) by->scale = max(by->scale, exponent + SCALE_ROOM);
    if (k == 0 && now.base > 0) wait_for(p, shared.unneeded, now.base - 1);
    if (k < 0) continue;
    count_plane(exponent, by);
    store_plane(p, shared, warp, by->scale, now.base + k, of);
  }
#pragma unroll 1
  for (int32_t k = now.number; k < now.base + p; k++)
    barrier_come(shared.loaded + k % RING(p));
}

/* Warp: put a plane that has come into the ring, if it fits. */
static __device__ __forceinline__ bool add_plane(const int p, const shelf &shared, int warp,
                                                 const plane_asked &now, const plane_numbers of,
                                                 patch_scale *by)
{
  const int32_t exponent = find_exponent(p, of);
  if (now.opens) {
    by->scale = max(exponent + SCALE_ROOM, (int32_t)LEAST_EXPONENT);
    by->small = 0;
  }
  count_plane(exponent, by);
  if (__any_sync(MD_ALL_LANES, exponent > by->scale || by->small >= p)) return false;
  if (now.number >= RING(p)) wait_for(p, shared.unneeded, now.number - RING(p));
  store_plane(p, shared, warp, by->scale, now.number, of);
  barrier_come(shared.loaded + now.number % RING(p));
  return true;
}

/* Loader: the windows of all stops. */
static __device__ __forceinline__ void load_slice(const int p, const reading &s, const slice &mine,
                                                  const shelf &shared, int warp)
{
  stack_walk at = begin_walk(p, mine);
  plane_numbers of;
  patch here;
  patch_scale by = {};
  plane_asked next = {};
  int32_t stack = -1;
  here.from = s.from + (warp * LOADED_VECTORS + warp_lane() / 8) * s.points;
  next.number = -1;
  next.base = -p;
  bool more = ask_on(p, s, &at, &next);
  while (more) {
    if (next.stack != stack) place_patch(p, s, next.stack, &here);
    stack = next.stack;
    ask_for_plane(p, s, here, next.z, of);
    const plane_asked now = next;
    more = ask_on(p, s, &at, &next);
    if (add_plane(p, shared, warp, now, of, &by)) continue;
    load_window(p, s, shared, warp, now, here, &by);
    while (more && next.base == now.base)
      more = ask_on(p, s, &at, &next);
  }
}

#endif
