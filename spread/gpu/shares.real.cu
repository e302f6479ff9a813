/* spread/gpu/shares.real.cu - slices of the particles sorted by pencil that cost a warp the same.
 *
 * A warp pays for its particles and for the planes of pencils that they reach, which go to the mesh
 * whatever they hold.  Narrow pencils and thin regions have more planes a particle, so that of
 * slices with as many particles each a few keep the device waiting.  Work is counted in particles,
 * and slice s begins where s / slices of it are done.
 *
 * Kernels hold different numbers of warps, so there are several cuts of a part, one after the other
 * in SPREAD_SHARES.  New positions are cut in all ways that were asked for before, at once.
 *
 * Bytes: the first particle of every plane, once and for every cut; the work of every pencil once a
 * block. */
#include "spread/gpu/pencil_gpu.h"

enum { BLOCK = 256, BLOCK_WARPS = BLOCK / MD_WARP };
/* A plane that is reached costs as much as so many particles; planes of a slice, about, where a
 * mesh is beyond the cache. */
enum { PLANE_WORK = 10, NEAR_PLANES = 32 };

/* The pencils of a part. */
typedef struct {
  const int32_t *start; /* first particle of each plane */
  int32_t pencils, planes, order;
} columns;

/* Do particles of the pencil reach plane z, counted from its first cell and possibly beyond the
 * mesh? */
static __device__ __forceinline__ bool reached(const columns &c, int32_t pencil, int32_t z)
{
  const int32_t *start = c.start + (int64_t)pencil * c.planes;
  return z < c.planes + c.order - 1 &&
         start[min(z, c.planes - 1) + 1] > start[max(0, z - c.order + 1)];
}

/* Warp: one pencil's work. */
static __global__ void __launch_bounds__(BLOCK) work_kernel(columns c, int64_t *work)
{
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const int64_t pencil = md_thread() / MD_WARP;
  if (pencil >= c.pencils) return;
  const int32_t *start = c.start + pencil * c.planes;
  int64_t sum = 0;
  for (int32_t z = 0; z < c.planes + c.order - 1; z += MD_WARP)
    sum += __popc(__ballot_sync(MD_ALL_LANES, reached(c, (int32_t)pencil, z + warp_lane())));
  if (warp_lane() == 0) work[pencil] = sum * PLANE_WORK + start[c.planes] - start[0];
}

/* Block: before[t] is the work before pencil t * each, thread t's first; returns all of it. */
static __device__ __forceinline__ int64_t sum_work(const int64_t *work, int32_t pencils,
                                                   int32_t each, int64_t before[BLOCK])
{
  __shared__ int64_t warp_sum[BLOCK_WARPS];
  const int64_t first = (int64_t)threadIdx.x * each;
  int64_t mine = 0, below = 0, all = 0;
  for (int64_t k = first; k < min(first + each, (int64_t)pencils); k++)
    mine += work[k];
  const int64_t sum = inclusive_sum(mine);
  if (warp_lane() == MD_WARP - 1) warp_sum[threadIdx.x / MD_WARP] = sum;
  __syncthreads();
  for (int w = 0; w < BLOCK_WARPS; w++) {
    if (w < (int)threadIdx.x / MD_WARP) below += warp_sum[w];
    all += warp_sum[w];
  }
  before[threadIdx.x] = below + sum - mine;
  __syncthreads();
  return all;
}

/* The last pencil before which not more than `goal` is done, and what is; all lanes look. */
static __device__ __forceinline__ int32_t find_pencil(const int64_t *work, int32_t pencils,
                                                      int32_t each, const int64_t before[BLOCK],
                                                      int64_t goal, int64_t *done)
{
  int32_t thread = -1;
  for (int k = 0; k < BLOCK; k += MD_WARP)
    thread += __popc(__ballot_sync(MD_ALL_LANES, before[k + warp_lane()] <= goal));
  const int32_t begin = thread * each, end = min(begin + each, pencils);
  int32_t pencil = begin, passed = MD_WARP;
  int64_t sum = before[thread];
  for (int32_t k = begin; k < end && passed == MD_WARP; k += MD_WARP) {
    const int64_t mine = k + warp_lane() < end ? work[k + warp_lane()] : 0;
    const int64_t here = sum + inclusive_sum(mine) - mine;
    passed = __popc(__ballot_sync(MD_ALL_LANES, k + warp_lane() < end && here <= goal));
    if (passed > 0) {
      pencil = k + passed - 1;
      *done = __shfl_sync(MD_ALL_LANES, here, passed - 1);
    }
    sum = __shfl_sync(MD_ALL_LANES, here + mine, MD_WARP - 1);
  }
  return pencil;
}

/* Warp: the particle of a pencil before which `goal` is done, of which `done` before the pencil. */
static __device__ __forceinline__ int32_t find_particle(const columns &c, int32_t pencil,
                                                        int64_t done, int64_t goal)
{
  const int32_t *start = c.start + (int64_t)pencil * c.planes;
  int32_t at = start[0], passed = MD_WARP;
  done -= start[0];
  for (int32_t first = 0; first < c.planes && passed == MD_WARP; first += MD_WARP) {
    const int32_t z = first + warp_lane();
    const bool here = reached(c, pencil, z);
    const unsigned all = __ballot_sync(MD_ALL_LANES, here);
    const unsigned below = all & ((1u << warp_lane()) - 1);
    const int32_t from = start[min(z, c.planes)], to = start[min(z + 1, c.planes)];
    const int64_t before = done + (int64_t)PLANE_WORK * __popc(below) + from;
    passed = __popc(__ballot_sync(MD_ALL_LANES, z < c.planes && before <= goal));
    const int64_t left = goal - before - (here ? PLANE_WORK : 0);
    const int32_t mine = (int32_t)min((int64_t)to, max((int64_t)from, from + left));
    if (passed > 0) at = __shfl_sync(MD_ALL_LANES, mine, passed - 1);
    done += (int64_t)PLANE_WORK * __popc(all);
  }
  return at;
}

/* Slices of each cut; of the cuts that there are not, 0. */
typedef struct {
  int32_t slices[SPREAD_CUTS];
} cuts;

/* Warp: where a slice of a cut begins; one slice more for the end of the last. */
static __global__ void __launch_bounds__(BLOCK)
    cut_kernel(columns c, const int64_t *work, cuts asked, int64_t n, int32_t *begin)
{
  __shared__ int64_t before[BLOCK];
  const int64_t warp = md_thread() / MD_WARP;
  const int32_t each = (c.pencils + BLOCK - 1) / BLOCK;
  cudaGridDependencySynchronize();
  const int64_t all = sum_work(work, c.pencils, each, before);
  if (warp >= n) return;
  int cut = 0;
  int64_t slice = warp;
  for (; slice > asked.slices[cut]; cut++)
    slice -= asked.slices[cut] + 1;
  const int64_t goal = all * slice / asked.slices[cut];
  int64_t done = 0;
  const int32_t pencil = find_pencil(work, c.pencils, each, before, goal, &done);
  const int32_t at = slice < asked.slices[cut] ? find_particle(c, pencil, done, goal)
                                               : c.start[(int64_t)c.pencils * c.planes];
  if (warp_lane() == 0) begin[warp] = at;
}

/* Entries of SPREAD_SHARES before those of a cut. */
static int64_t entries_before(const spread_part *part, int cut)
{
  int64_t entries = 0;
  for (int k = 0; k < cut; k++)
    entries += part->slices[k] ? part->slices[k] + 1 : 0;
  return entries;
}

/* SPREAD_SHARES of a part whose planes begin as in `start`. */
static md_status cut_part(spread_plan *plan, spread_part *part, const md_buffer *start)
{
  md_ctx *ctx = plan->ctx;
  const int32_t pencils = plan->pencils.n[0] * plan->pencils.n[1];
  const columns c = {(const int32_t *)start->data, pencils, plan->grid.mesh[0], plan->grid.order};
  const int64_t n = entries_before(part, SPREAD_CUTS);
  md_buffer *begin = &part->buffer[SPREAD_SHARES];
  cuts asked;
  memcpy(asked.slices, part->slices, sizeof asked.slices);
  MD_TRY(md_buffer_reserve(ctx, begin, (size_t)n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[3], (size_t)pencils * sizeof(int64_t), 0));
  int64_t *work = (int64_t *)plan->scratch[3].data;
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = md_launch_config(
      ctx, dim3(md_blocks((int64_t)pencils * MD_WARP, BLOCK)), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(&config, work_kernel, c, work));
  config.gridDim = dim3(md_blocks(n * MD_WARP, BLOCK));
  MD_CUDA(cudaLaunchKernelEx(&config, cut_kernel, c, (const int64_t *)work, asked, n,
                             (int32_t *)begin->data));
  part->cut = true;
  part->found = false;
  return MD_OK;
}

/* The number of a part's cut into so many slices; a new one takes the place of all if there is none
 * left. */
static int find_cut(spread_part *part, int32_t slices)
{
  int cut = 0;
  while (cut < SPREAD_CUTS && part->slices[cut] && part->slices[cut] != slices)
    cut++;
  if (cut == SPREAD_CUTS) {
    memset(part->slices, 0, sizeof part->slices);
    cut = 0;
  }
  if (part->slices[cut] != slices) part->cut = false;
  part->slices[cut] = slices;
  return cut;
}

md_status PREC(spread_gpu_view)(spread_plan *plan, spread_part *part, const md_buffer *start,
                                int64_t warps, int meshes, pencil_view *view)
{
  const spread_grid *grid = &plan->grid;
  const int64_t keys = pencils_keys(grid, &plan->pencils);
  const int64_t bytes = grid->points * meshes * (int64_t)sizeof(real);
  const int64_t near = 2 * bytes > plan->l2_bytes ? keys / NEAR_PLANES : 0;
  const int64_t turns = max((int64_t)1, (near + warps - 1) / warps); /* of the warps */
  const int64_t slices = max((int64_t)1, min((int64_t)part->n, turns * warps));
  const int cut = find_cut(part, (int32_t)slices);
  if (!part->cut) MD_TRY(cut_part(plan, part, start));
  *view = {(const pencil_particle *)part->buffer[SPREAD_RECORD].data,
           (const int32_t *)start->data,
           (const uint32_t *)part->buffer[SPREAD_EXTRA].data,
           keys,
           part->n,
           (int32_t)slices,
           (const int32_t *)part->buffer[SPREAD_SHARES].data + entries_before(part, cut),
           plan->pencils,
           {grid->mesh[0], grid->mesh[1], grid->mesh[2]}};
  return MD_OK;
}
