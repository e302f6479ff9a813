/* spread/gpu_many/spread_columns.single.cu - tiled spreading of many vectors, single precision.
 *
 * A block fills columns of 8 x 16 mesh lines (column_chunks_gpu.h) plane after plane, for 8 or 16
 * vectors at once.  Every warp has two of the lines, 16 points, and keeps planes z .. z + p - 1 of
 * them for all vectors in registers.  What 16 particles of plane z add to a line are products of
 * their q Y, for all vectors, with their X Z in every plane, on tensor cores (pair_gpu.h).  X Z and
 * q are split into halves once for all warps, in shared memory, where the particles of a chunk lie
 * by row: those that reach a warp's lines are neighbours.  A product of two numbers that are split
 * already takes four instructions for two, and eight if it is split after.
 *
 * Sweeps by pencil (sweep_gpu.h) add each particle once, to a patch of 16 x 8 points of which
 * others reach three quarters too: nearly four REDs a mesh point and vector.  Here a point is
 * stored, or added where two blocks meet or an order's planes go around the box, so that a mesh is
 * neither cleared nor read; and a particle is looked at by each of the columns it reaches, 2.1 of
 * them at order 6, and by 2.7 of their warps.
 *
 * Floor: charges, positions and mesh once, 0.3 ms for 1e7 particles on 128^3 points of 16 vectors
 * at 2.9 TB/s.  The kernel takes 2.57 ms of an H100, whose tensor cores are busy a third of it and
 * shared memory half: of its samples a third add particles, a seventh stage them, a fifth wait for
 * the block's slowest warp.
 * Transposing charges takes 0.43 ms more, which plans by particle save.
 *
 * Charges are transposed first, so that those of a particle are a sector of memory or two, instead
 * of one a vector, and copied to shared memory two chunks ahead, where each chunk gets a scale for
 * each vector, as halves need it (column_fetch_gpu.h).  The largest of all charges as the scale
 * would do without, but small ones far from large ones lose digits. */
#include "spread/gpu_many/column_fetch_gpu.h"

/* Particles of one plane after which a warp's planes are emptied, as products round sums toward
 * zero. */
enum { MOST_TOGETHER = 256 };

/* Work before a chunk, which is as much as so many particles; the share that it belongs to. */
enum { CHUNK_WORK = 128 };
static __device__ __forceinline__ int64_t work_before(const filling &s, int64_t chunk)
{
  return s.chunk[chunk].first + CHUNK_WORK * chunk;
}
static __device__ __forceinline__ int64_t share_of(const filling &s, int64_t chunk)
{
  return work_before(s, chunk) * s.shares / (s.particles + CHUNK_WORK * s.chunks);
}

/* The first chunk of a share. */
static __device__ __forceinline__ int64_t find_share(const filling &s, int64_t share)
{
  int64_t low = 0, high = s.chunks;
  while (low < high) {
    const int64_t step = (high - low + MD_WARP - 1) / MD_WARP, probe = low + warp_lane() * step;
    const bool less = probe < high && share_of(s, probe) < share;
    const int passed = __popc(__ballot_sync(MD_ALL_LANES, less));
    if (passed == 0) return low;
    high = min(high, low + passed * step);
    low += (passed - 1) * step + 1;
  }
  return low;
}

/* The scale that follows `from`, as in sweep_gpu.h; a lower one too, as planes are emptied
 * before. */
static __device__ __forceinline__ int32_t next_scale(int32_t from, int32_t most)
{
  const int32_t to = max(most, (int32_t)LEAST_EXPONENT);
  return to <= from && to >= from - SCALE_SLACK ? from : to;
}

/* Block: stage a chunk, X Z of all particles and then the rest; scale: lane v's, the exponent that
 * vector v is scaled by. */
static __device__ __forceinline__ void stage_chunk(const int p, const filling &s,
                                                   const column_chunk &chunk,
                                                   const column_place &at, const quad *fetched,
                                                   int32_t scale, const shelf &shared)
{
  if (warp_lane() < GROUP * GROUPS_MAX)
    shared.scale[warp_lane()] = scale_down(scale) * CHARGE_SCALE;
  __syncwarp();
#pragma unroll 1
  for (int32_t t = threadIdx.x, count = chunk.count; t < 2 * count; t += BLOCK) {
    const int slot = t < count ? t : t - count;
    const quad *from = fetched + slot * FETCHED(p);
    if (t < count)
      stage_sides(p, s, *(const pencil_particle *)from, shared.sides + slot);
    else
      stage_charges(p, s, at, from, slot, shared);
  }
}

/* Warp: particles low .. high - 1 of the chunk; how many they are.  Batches begin with an even one,
 * as Y is loaded in pairs: one before `low` does not reach the warp's lines. */
static __device__ __forceinline__ int32_t add_chunk(const int p, const shelf &shared, int32_t low,
                                                    int32_t high, int row, column_ring planes)
{
  int32_t k = low / 2 * 2;
#pragma unroll 1
  for (; k + BATCH / 2 < high; k += BATCH)
    add_batch(p, PAIRS, shared, k, high, row, planes);
  if (k < high) add_batch(p, 1, shared, k, high, row, planes);
  return high - low;
}

static __device__ __forceinline__ bool same_column(const column_chunk &a, const column_chunk &b)
{
  return a.origin[0] == b.origin[0] && a.origin[1] == b.origin[1];
}

/* Block: of the column of chunk i, where it or its share begins.  Others add to the first planes,
 * the share before or, around the box, the last planes of the column, and to those from the next
 * share's first. */
static __device__ __forceinline__ untouched find_untouched(const int p, const filling &s, int32_t i,
                                                           int32_t last)
{
  const column_chunk *chunk = s.chunk + i, *next = s.chunk + last;
  const bool shared = last < s.chunks && same_column(*chunk, *next);
  return {s.fresh ? chunk->plane + p : INT32_MAX, shared ? next->plane : s.grid.mesh[0]};
}

/* Block: its share of the chunks. */
static __device__ __forceinline__ void fill(const int p, const filling &s, const shelf &shared,
                                            const coming &ahead)
{
  const int row = threadIdx.x / MD_WARP * 2;
  int32_t i = (int32_t)find_share(s, blockIdx.x);
  const int32_t last = (int32_t)find_share(s, blockIdx.x + 1);
  cudaGridDependencySynchronize(); /* charges are turned, planes to be added to are zero */
  if (i == last) return;
  untouched alone = find_untouched(p, s, i, last);
  column_ring planes = {};
  begin_fetch(p, s, i, last, ahead);
  int32_t together = 0, scale = next_scale(LEAST_EXPONENT, find_largest(ahead, 0));
  for (int turn = 0; i < last; i++, turn++) {
    const column_chunk &chunk = *head_of(ahead, turn);
    const column_place at = find_column(s.grid, chunk.origin);
    const bool around = at.points[0] + p - 1 > s.grid.mesh[1];
    const copy_index index = fetch_on(p, s, i, last, turn, ahead);
    stage_chunk(p, s, chunk, at, fetched_of(p, ahead, turn), scale, shared);
    note_next(p, ahead, turn + 1);
    __syncthreads();
    fetch_chunk(p, s, ahead, turn + 2, index);
    const int32_t to = next_scale(scale, find_largest(ahead, turn + 1));
    if (row < at.points[0]) {
      const int32_t low = row == 0 || around ? 0 : chunk.inclusive[row - 1];
      const int32_t high = around ? chunk.count : chunk.inclusive[min(row + p, CHUNK_ROWS - 1)];
      together += add_chunk(p, shared, low, high, row, planes);
      const bool all = __any_sync(MD_ALL_LANES, to != scale) || i + 1 == last ||
                       (chunk.done == 0 && together > MOST_TOGETHER);
      const int32_t done = all ? max(p, chunk.done) : chunk.done;
      if (done > 0) {
        flush(p, s, at, chunk.plane, done, row, scale, &alone, planes);
        together = 0;
      }
    }
    if (chunk.plane + chunk.done >= s.grid.mesh[0])
      alone = find_untouched(p, s, min(i + 1, last - 1), last);
    scale = to;
    end_turn(ahead, turn);
    __syncthreads();
  }
  __pipeline_wait_prior(0);
}

/* Block: its shared memory, then its chunks. */
static __device__ __forceinline__ void fill_block(const int p, const filling &s, quad *terms,
                                                  real *scale, column_chunk *head,
                                                  uint32_t *largest)
{
  quad *fetched = terms + TERMS(p);
  const shelf shared = {terms, terms + SIDES(p) * SLOTS, (real *)(fetched + 2 * CHUNK * FETCHED(p)),
                        scale};
  const int thread = threadIdx.x;
  for (int k = thread; k < TERMS(p); k += BLOCK)
    terms[k] = quad();
  for (int k = thread; k < LINE_WORDS; k += BLOCK)
    shared.y[k] = 0;
  if (thread < 2 * LARGEST) largest[thread] = 0;
  __syncthreads();
  fill(p, s, shared, {head, fetched, largest});
}

typedef void fill_kernel(filling s);

#define FILL_KERNEL(p)                                                                             \
  static __global__ void __launch_bounds__(BLOCK, 2) fill_kernel_##p(filling s)                    \
  {                                                                                                \
    __shared__ quad scale[WARPS][GROUP * GROUPS_MAX / QUAD];                                       \
    __shared__ column_chunk head[HEADS];                                                           \
    __shared__ uint32_t largest[2 * LARGEST];                                                      \
    extern __shared__ quad terms[];                                                                \
    fill_block(p, s, terms, (real *)scale[threadIdx.x / MD_WARP], head, largest);                  \
  }
SPREAD_ORDERS(FILL_KERNEL)

/* Charges q[vector][particle] to charge[particle][vector].  Thread: a particle, then quads of what
 * the block read. */
enum { TURN_BLOCK = 256, TURN_ROOM = GROUP * GROUPS_MAX + QUAD };
static __global__ void __launch_bounds__(TURN_BLOCK)
    turn_kernel(int64_t n, int width, const real *__restrict__ q, int64_t stride, real *charge)
{
  __shared__ real turned[TURN_BLOCK * TURN_ROOM];
  cudaTriggerProgrammaticLaunchCompletion();
  const int thread = threadIdx.x, quads = width / QUAD;
  const int64_t first = (int64_t)blockIdx.x * TURN_BLOCK;
  real of[GROUP * GROUPS_MAX];
  SPREAD_UNROLL
  for (int v = 0; v < GROUP * GROUPS_MAX; v++)
    of[v] = v < width && first + thread < n ? q[first + thread + v * stride] : (real)0;
  store_reals(GROUP * GROUPS_MAX, of, turned + thread * TURN_ROOM);
  __syncthreads();
  for (int k = thread; k < TURN_BLOCK * quads; k += TURN_BLOCK)
    if (first + k / quads < n)
      ((quad *)charge)[first * quads + k] =
          *(const quad *)(turned + k / quads * TURN_ROOM + k % quads * QUAD);
}

/* Of shares and of columns. */
static __host__ __device__ __forceinline__ int64_t count_begins(const filling &s)
{
  return s.shares + (int64_t)s.grid.n[0] * s.grid.n[1];
}

/* Warp: in a vector's mesh, planes that are added to as a share begins there, or a column, become
 * zero. */
static __device__ __forceinline__ void zero_planes(const filling &s, int order, int64_t begin,
                                                   int vector)
{
  const int64_t chunk = begin < s.shares ? find_share(s, begin) : 0, column = begin - s.shares;
  if (chunk == s.chunks) return;
  const int32_t *mesh = s.grid.mesh, plane = column < 0 ? s.chunk[chunk].plane : 0;
  const column_place at =
      column < 0 ? find_column(s.grid, s.chunk[chunk].origin) : number_column(s.grid, column);
  const int row = warp_lane() / COLUMN_WIDTH, point = warp_lane() % COLUMN_WIDTH;
  real *to = s.mesh + vector * s.points + ((int64_t)plane * mesh[1] + at.origin[0]) * mesh[2] +
             at.origin[1] + point;
  if (point >= at.points[1]) return;
  for (int k = 0; k < min(order, mesh[0] - plane); k++)
    for (int y = row; y < at.points[0]; y += MD_WARP / COLUMN_WIDTH)
      to[((int64_t)k * mesh[1] + y) * mesh[2]] = 0;
}

/* Warp: where a share or a column begins in a vector's mesh. */
static __global__ void __launch_bounds__(TURN_BLOCK) zero_kernel(filling s, int order, int vectors)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t mine = md_thread() / MD_WARP;
  if (s.fresh && mine / vectors < count_begins(s))
    zero_planes(s, order, mine / vectors, (int)(mine % vectors));
  cudaGridDependencySynchronize(); /* so that who waits for this has the charges, too */
}

static fill_kernel *pick_kernel(int32_t order, size_t *bytes)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    *bytes = SHARED_BYTES(p);                                                                      \
    return fill_kernel_##p;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return NULL;
}

/* Queue a job's charges from vector `from` on, as many as are taken together, to *turned, by
 * particle. */
static md_status turn_charges(spread_plan *plan, const spread_part *part, const spread_job *job,
                              int32_t from, const real **turned)
{
  const int width = FILL_VECTORS(plan->grid.order);
  md_buffer *to = &plan->scratch[5];
  MD_TRY(md_buffer_reserve(plan->ctx, to, (size_t)part->n * width * sizeof(real), 0));
  turn_kernel<<<md_blocks(part->n, TURN_BLOCK), TURN_BLOCK, 0, (cudaStream_t)plan->ctx->stream>>>(
      part->n, width, (const real *)job->q + from * job->q_stride, job->q_stride, (real *)to->data);
  *turned = (const real *)to->data;
  return MD_OK;
}

md_status spread_gpu_many_spread(spread_plan *plan, spread_part *part, const spread_job *job,
                                 int32_t *done)
{
  md_ctx *ctx = plan->ctx;
  const int width = FILL_VECTORS(plan->grid.order);
  int blocks;
  size_t bytes = 0;
  fill_kernel *kernel = pick_kernel(plan->grid.order, &bytes);
  if (!part->listed) MD_TRY(spread_gpu_list_columns(plan, part, &part->buffer[SPREAD_START]));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, bytes));
  const bool even = plan->grid.mesh[2] % 2 == 0 && (uintptr_t)job->mesh % sizeof(float2) == 0;
  filling s = {columns_of(&plan->grid),
               (const column_chunk *)part->buffer[SPREAD_CHUNKS].data,
               part->chunks,
               part->chunked,
               (const pencil_particle *)part->buffer[SPREAD_CHUNKED].data,
               chunk_index(part),
               (const real *)job->q,
               (uint32_t)(job->by_particle ? job->vectors : width) / QUAD,
               (real *)job->mesh,
               plan->grid.points,
               part->first == 0,
               even,
               blocks * plan->multiprocessors};
  const int64_t tasks = s.fresh ? count_begins(s) * width : 1;
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config;
  for (*done = 0; job->vectors - *done >= width; *done += width) {
    if (!job->by_particle) MD_TRY(turn_charges(plan, part, job, *done, &s.charge));
    config = md_launch_config(ctx, dim3(md_blocks(tasks * MD_WARP, TURN_BLOCK)), TURN_BLOCK,
                              !job->by_particle, &overlap);
    MD_CUDA(cudaLaunchKernelEx(&config, zero_kernel, s, plan->grid.order, width));
    config = md_launch_config(ctx, dim3((unsigned)s.shares), BLOCK, true, &overlap);
    config.dynamicSmemBytes = bytes;
    MD_CUDA(cudaLaunchKernelEx(&config, kernel, s));
    s.mesh += width * s.points;
    s.charge += width;
  }
  MD_LAUNCHED();
  return MD_OK;
}
