/* spread/gpu/survey.prec.cu - how particles lie, where that decides between particle and tiled
 * (spread_choose.c).
 *
 * A plane of a pencil that particles reach has a bit, and whoever sets it counts it.  Sectors are
 * those that a particle touches of one mesh line, but for those that the particle before it touches
 * as well and that an instruction of the kernel of particle (p lanes each) adds to for both.  A
 * group's box has room or not, as in gpu_one/boxes.single.cu.
 *
 * Bytes: positions once; the bits stay in the cache. */
#include "spread/gpu/box_gpu.h"
#include "spread/pencil.h"

enum {
  BLOCK = 256,
  SECTOR = 32 / sizeof(real),
  GROUP = SPREAD_BOX_GROUP,
  GROUPS = BLOCK / GROUP,
  SUMS = 4
};

typedef struct {
  spread_grid grid;
  spread_pencils pencils;
  int32_t room;      /* for points of a box; 0: there are no boxes */
  uint32_t *reached; /* a bit for each of mesh[0] + order - 1 planes of a pencil */
  double *sums;      /* planes, sectors, particles in boxes and points of these */
} look;

static int64_t bits_of(const look &s)
{
  return (int64_t)s.pencils.n[0] * s.pencils.n[1] * (s.grid.mesh[0] + s.grid.order - 1);
}

/* Planes that a particle is the first to reach. */
static __device__ __forceinline__ int count_planes(const look &s, const int32_t cell[3])
{
  const int32_t reach = s.grid.order - 1;
  const int64_t pencil =
      (int64_t)(cell[1] / s.pencils.cells[0]) * s.pencils.n[1] + cell[2] / s.pencils.cells[1];
  const int64_t first = pencil * (s.grid.mesh[0] + reach) + cell[0];
  const uint64_t mine = ((2ull << reach) - 1) << first % 32;
  int planes = 0;
  for (int half = 0; half < 2; half++) {
    const uint32_t bits = (uint32_t)(mine >> 32 * half);
    if (bits) planes += __popc(bits & ~atomicOr(s.reached + first / 32 + half, bits));
  }
  return planes;
}

/* Warp: sectors of particle i, in the lane after that of particle i - 1. */
static __device__ __forceinline__ int count_sectors(const look &s, const int32_t cell[3], int64_t i)
{
  const int32_t p = s.grid.order;
  const uint32_t line = (uint32_t)cell[0] * (uint32_t)s.grid.mesh[1] + (uint32_t)cell[1];
  const uint32_t point = line * (uint32_t)s.grid.mesh[2] + (uint32_t)cell[2];
  const int32_t first = (int32_t)(point / SECTOR);
  const int32_t last = first + (int32_t)(point % SECTOR + p - 1) / SECTOR;
  const uint32_t line_before = __shfl_up_sync(MD_ALL_LANES, line, 1);
  const int32_t first_before = __shfl_up_sync(MD_ALL_LANES, first, 1);
  const int32_t last_before = __shfl_up_sync(MD_ALL_LANES, last, 1);
  const bool together = i * p % MD_WARP >= p && line_before == line;
  const int32_t shared = min(last, last_before) - max(first, first_before) + 1;
  return last - first + 1 - (together ? max(0, shared) : 0);
}

/* Block: points of the box of the thread's group, or 0 where it has no room. */
static __device__ __forceinline__ int32_t count_points(const look &s, const int32_t cell[3])
{
  __shared__ box_range range[GROUPS];
  __shared__ int32_t first[GROUPS][3];
  const int group = threadIdx.x / GROUP;
  if (threadIdx.x % GROUP == 0) {
    open_range(&range[group]);
    for (int a = 0; a < 3; a++)
      first[group][a] = cell[a];
  }
  __syncthreads();
  int32_t way[3], size[3];
  for (int a = 0; a < 3; a++)
    way[a] = ring_way(first[group][a], cell[a], s.grid.mesh[a]);
  widen_range(&range[group], way);
  __syncthreads();
  const int32_t points = size_range(s.grid.order, &range[group], size);
  return points <= s.room ? points : 0;
}

/* Thread: one particle. */
static __global__ void __launch_bounds__(BLOCK)
    look_kernel(int64_t n, const state *__restrict__ x, int64_t stride, look s)
{
  const int64_t i = min(md_thread(), n - 1);
  const bool mine = md_thread() < n;
  int32_t cell[3];
  double fraction;
  for (int a = 0; a < 3; a++)
    cell[a] = spread_locate(&s.grid, a, (double)x[i * stride + a], &fraction);
  const int touched = count_sectors(s, cell, i);
  const int32_t points = s.room > 0 ? count_points(s, cell) : 0;
  const double counts[SUMS] = {mine ? (double)count_planes(s, cell) : 0, mine ? touched : 0.0,
                               mine && points ? 1.0 : 0,
                               mine && threadIdx.x % GROUP == 0 ? (double)points : 0};
  for (int k = 0; k < SUMS; k++) {
    const double sum = md_block_sum(counts[k]);
    if (threadIdx.x == 0) atomicAdd(s.sums + k, sum);
  }
}

md_status PREC(spread_gpu_survey)(spread_plan *plan, int64_t n, const void *x, int64_t stride,
                                  spread_survey *seen)
{
  md_ctx *ctx = plan->ctx;
  double sums[SUMS];
  look s;
  s.grid = plan->grid;
  s.room = spread_box_room(plan, n);
  pencils_cut(&s.grid, &s.pencils);
  const size_t words = (size_t)bits_of(s) / 32 + 2;
  const size_t bytes = sizeof sums + words * sizeof(uint32_t);
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], bytes, 0));
  MD_TRY(md_fill(ctx, plan->scratch[0].data, 0, bytes));
  s.sums = (double *)plan->scratch[0].data;
  s.reached = (uint32_t *)(s.sums + SUMS);
  look_kernel<<<md_blocks(n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(n, (const state *)x,
                                                                            stride, s);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, sums, s.sums, sizeof sums));
  *seen = {n, sums[0], sums[1], sums[2], sums[3]};
  return MD_OK;
}
