/* spread/spread_fill_gpu.cu - tiled spreading of many vectors on the GPU, in single precision.
 *
 * A block fills columns of 8 x 16 mesh lines (columns_gpu.h) plane after plane, for 8 or 16 vectors at
 * once.  Every warp has two of the rows, 16 points, and keeps planes z .. z + p - 1 of them for all
 * vectors in registers.  What 16 particles of plane z add are products of their X Y at the points with
 * their Z q in every plane and vector, on tensor cores (pair_gpu.h).  Z q is computed, and split into
 * halves, once for all warps, in shared memory, where the particles of a chunk lie by row: those that
 * reach a warp's points are neighbours.
 *
 * Sweeps by pencil (sweep_gpu.h) add each particle once, to a patch of 16 x 8 points of which others
 * reach three quarters too: nearly four REDs a mesh point and vector.  Here a point is added once, and
 * a particle is looked at by each of the columns it reaches, 2.1 of them at order 6, and by 2.7 of
 * their warps.
 *
 * Charges are transposed first, so that those of a particle are a sector of memory or two, instead of
 * one a vector; their exponents are noted, and each chunk gets a scale for each vector, as halves need it.
 * The largest of all charges as the scale takes a tenth less time, but small charges far from large ones
 * lose digits; the largest of a chunk found where it is staged takes a quarter more. */
#include "spread/fill_gpu.h"

enum { WARPS = COLUMN_HEIGHT / 2, BLOCK = WARPS * MD_WARP };
/* Particles of one plane after which a warp's planes are emptied, as products round sums toward zero. */
enum { MOST_TOGETHER = 256 };

/* The first chunk before which work up to `goal` is done; a chunk is as much as so many particles. */
enum { CHUNK_WORK = 128 };
static __device__ __forceinline__ int64_t find_chunk(const filling &s, int64_t goal)
{
  int64_t low = 0, high = s.chunks;
  while (low < high) {
    const int64_t step = (high - low + MD_WARP - 1) / MD_WARP, probe = low + warp_lane() * step;
    const bool less = probe < high && s.chunk[probe].first + CHUNK_WORK * probe < goal;
    const int passed = __popc(__ballot_sync(MD_ALL_LANES, less));
    if (passed == 0) return low;
    high = min(high, low + passed * step);
    low += (passed - 1) * step + 1;
  }
  return low;
}

static __device__ __forceinline__ int64_t find_share(const filling &s, unsigned block)
{
  return find_chunk(s, (s.particles + CHUNK_WORK * s.chunks) * block / gridDim.x);
}

/* Threads take all particles of a chunk for the first group, then for the second: that of task k. */
static __device__ __forceinline__ int find_group(int k, int count)
{
  return k >= count;
}

/* Volatile, as else it is put off until it is waited for. */
static __device__ __forceinline__ pencil_particle fetch_particle(const filling &s, int64_t first,
                                                                 int32_t count, int32_t k)
{
  pencil_particle to;
  const pencil_particle *from =
      s.particle + first + min(k - find_group(k, count) * count, count - 1);
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.packed[0]), "=r"(to.packed[1]), "=r"(to.packed[2]), "=r"(to.index)
               : "l"(from));
  return to;
}

static __device__ __forceinline__ void fetch_charges(const int p, const filling &s, int group,
                                                     staging *to)
{
  const int64_t row = (int64_t)to->particle.index * GROUPS(p) + min(group, GROUPS(p) - 1);
  for (int k = 0; k < GROUP; k += QUAD)
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to->charge[k]), "=f"(to->charge[k + 1]), "=f"(to->charge[k + 2]),
                   "=f"(to->charge[k + 3])
                 : "l"(s.charge + row * GROUP + k));
}

/* The scale that follows `from`, as in sweep_gpu.h; a lower one too, as planes are emptied before. */
static __device__ __forceinline__ int32_t next_scale(int32_t from, int32_t most)
{
  const int32_t to = max(most, (int32_t)LEAST_EXPONENT);
  return to <= from && to >= from - SCALE_SLACK ? from : to;
}

/* Block: stage a chunk; scale: lane v's, the exponent that vector v is scaled by. */
static __device__ __forceinline__ void stage_chunk(const int p, const filling &s,
                                                   const column_chunk *chunk, int32_t count,
                                                   const column_place &at, const staging &ahead,
                                                   int32_t scale, const shelf &shared)
{
  if (warp_lane() < GROUP * GROUPS_MAX) shared.scale[warp_lane()] = scale_down(scale);
  __syncwarp();
#pragma unroll 1
  for (int32_t t = threadIdx.x; t < count * GROUPS(p); t += BLOCK) {
    const int group = find_group(t, count);
    staging now = ahead;
    if (t >= BLOCK) {
      now.particle = fetch_particle(s, chunk->first, count, t);
      fetch_charges(p, s, group, &now);
    }
    stage_particle(p, s, at, now, group, t - group * count, shared);
  }
}

/* Warp: particles low .. high - 1 of the chunk; how many they are. */
static __device__ __forceinline__ int32_t add_chunk(const int p, const shelf &shared, int32_t low,
                                                    int32_t high, int row, column_ring planes)
{
#pragma unroll 1
  for (int32_t k = low; k < high; k += BATCH)
    add_batch(p, shared, k, high, row, planes);
  return high - low;
}

/* The exponent of a vector's largest charge in a chunk. */
static __device__ __forceinline__ int32_t find_largest(const filling &s, int32_t chunk, int vector)
{
  return ((const uint8_t *)(s.largest + chunk))[vector];
}

/* Block: its share of the chunks. */
static __device__ __forceinline__ void fill(const int p, const filling &s, const shelf &shared)
{
  const int row = threadIdx.x / MD_WARP * 2, vector = warp_lane() % (GROUP * GROUPS_MAX);
  int32_t i = (int32_t)find_share(s, blockIdx.x);
  const int32_t last = (int32_t)find_share(s, blockIdx.x + 1);
  cudaGridDependencySynchronize(); /* charges are turned, the mesh is zero */
  if (i == last) return;
  column_ring planes = {};
  int32_t together = 0, scale = LEAST_EXPONENT, count = s.chunk[i].count;
  int32_t most = find_largest(s, i, vector);
  staging ahead;
  ahead.particle = fetch_particle(s, s.chunk[i].first, count, threadIdx.x);
  fetch_charges(p, s, find_group(threadIdx.x, count), &ahead);
  for (; i < last; i++) {
    const int32_t after = min(i + 1, last - 1);
    const column_chunk *chunk = s.chunk + i, *next = s.chunk + after;
    const int32_t next_count = next->count;
    const int64_t next_first = next->first;
    const column_place at = find_column(s.grid, chunk->origin);
    const bool around = at.points[0] + p - 1 > s.grid.mesh[1];
    const int32_t low = row == 0 || around ? 0 : chunk->upto[row - 1];
    const int32_t high = around ? count : chunk->upto[min(row + p, CHUNK_ROWS - 1)];
    const int32_t was = scale;
    scale = next_scale(was, most);
    most = find_largest(s, after, vector);
    const bool changes = __any_sync(MD_ALL_LANES, scale != was);
    stage_chunk(p, s, chunk, count, at, ahead, scale, shared);
    ahead.particle = fetch_particle(s, next_first, next_count, threadIdx.x);
    __syncthreads();
    if (row < at.points[0]) {
      if (changes) flush(p, s, at, chunk->plane, p, row, was, planes);
      together += add_chunk(p, shared, low, high, row, planes);
      const bool stays =
          after > i && next->origin[0] == at.origin[0] && next->origin[1] == at.origin[1];
      const int32_t beyond = stays ? next->plane - chunk->plane : p;
      if (beyond > 0 || together > MOST_TOGETHER) {
        flush(p, s, at, chunk->plane, beyond > 0 ? min(beyond, p) : p, row, scale, planes);
        together = 0;
      }
    }
    fetch_charges(p, s, find_group(threadIdx.x, next_count), &ahead);
    count = next_count;
    __syncthreads();
  }
}

/* Block: its shared memory, then its chunks. */
static __device__ __forceinline__ void fill_block(const int p, const filling &s, quad *terms,
                                                  real *scale)
{
  real *x = (real *)(terms + SLOTS * TERMS(p));
  const shelf shared = {terms, x, x + SLOTS * COLUMN_WIDTH, scale};
  const int thread = threadIdx.x;
  for (int k = thread; k < TERMS(p); k += BLOCK)
    terms[CHUNK * TERMS(p) + k] = quad();
  if (thread < COLUMN_WIDTH) shared.x[CHUNK * COLUMN_WIDTH + thread] = 0;
  if (thread < ROOM_Y) shared.y[CHUNK * ROOM_Y + thread] = 0;
  __syncthreads();
  fill(p, s, shared);
}

typedef void fill_kernel(filling s);

#define FILL_KERNEL(p)                                                                             \
  static __global__ void __launch_bounds__(BLOCK, 2) fill_kernel_##p(filling s)                    \
  {                                                                                                \
    __shared__ quad scale[WARPS][GROUP * GROUPS_MAX / QUAD];                                       \
    extern __shared__ quad terms[];                                                                \
    fill_block(p, s, terms, (real *)scale[threadIdx.x / MD_WARP]);                                 \
  }
SPREAD_ORDERS(FILL_KERNEL)

/* The exponents of numbers, a byte each. */
static __device__ __forceinline__ uint4 find_exponents(const real of[GROUP * GROUPS_MAX])
{
  uint32_t word[4] = {};
  SPREAD_UNROLL
  for (int v = 0; v < GROUP * GROUPS_MAX; v++)
    word[v / 4] |= (__float_as_uint(of[v]) >> 23 & 0xff) << 8 * (v % 4);
  return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Charges q[vector][particle] to charge[particle][vector], and their exponents.  Thread: a particle, then
 * quads of what the block read. */
enum { TURN_BLOCK = 256, TURN_ROOM = GROUP * GROUPS_MAX + QUAD };
static __global__ void __launch_bounds__(TURN_BLOCK)
    turn_kernel(int64_t n, int width, const real *__restrict__ q, int64_t stride, real *charge,
                uint4 *exponent)
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
  if (first + thread < n) exponent[first + thread] = find_exponents(of);
  __syncthreads();
  for (int k = thread; k < TURN_BLOCK * quads; k += TURN_BLOCK)
    if (first + k / quads < n)
      ((quad *)charge)[first * quads + k] =
          *(const quad *)(turned + k / quads * TURN_ROOM + k % quads * QUAD);
}

static __device__ __forceinline__ uint4 largest_of(const uint4 &a, const uint4 &b)
{
  return make_uint4(__vmaxu4(a.x, b.x), __vmaxu4(a.y, b.y), __vmaxu4(a.z, b.z), __vmaxu4(a.w, b.w));
}

/* Warp: the largest exponents of a chunk; and the block's part of the mesh becomes zero. */
static __global__ void __launch_bounds__(TURN_BLOCK)
    largest_kernel(const column_chunk *chunk, int64_t chunks, const uint32_t *index,
                   const uint4 *exponent, uint4 *largest, real *mesh, int64_t n)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t mine = min(md_thread() / MD_WARP, chunks - 1), first = chunk[mine].first;
  const int32_t count = chunk[mine].count;
  uint32_t of[(CHUNK + MD_WARP - 1) / MD_WARP];
  uint4 most = {};
  SPREAD_UNROLL
  for (int k = 0; k < CHUNK; k += MD_WARP)
    of[k / MD_WARP] = index[first + min(k + warp_lane(), count - 1)];
  cudaGridDependencySynchronize();
  SPREAD_UNROLL
  for (int k = 0; k < CHUNK; k += MD_WARP)
    most = largest_of(most, exponent[of[k / MD_WARP]]);
  SPREAD_UNROLL
  for (int step = MD_WARP / 2; step > 0; step /= 2) {
    const uint4 other = make_uint4(
        __shfl_xor_sync(MD_ALL_LANES, most.x, step), __shfl_xor_sync(MD_ALL_LANES, most.y, step),
        __shfl_xor_sync(MD_ALL_LANES, most.z, step), __shfl_xor_sync(MD_ALL_LANES, most.w, step));
    most = largest_of(most, other);
  }
  if (warp_lane() == 0) largest[mine] = most;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * TURN_BLOCK)
    mesh[i] = 0;
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

md_status spread_gpu_fill(spread_plan *plan, spread_part *part, const spread_job *job,
                          int32_t *done)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int width = FILL_VECTORS(plan->grid.order);
  const bool fresh = part->first == 0;
  int blocks;
  size_t bytes = 0;
  fill_kernel *kernel = pick_kernel(plan->grid.order, &bytes);
  if (!part->listed) MD_TRY(spread_gpu_list_columns(plan, part, &part->buffer[SPREAD_START]));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  MD_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, bytes));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[3], (size_t)part->chunks * sizeof(uint4), 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[4], (size_t)part->n * sizeof(uint4), 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[5], (size_t)part->n * width * sizeof(real), 0));
  uint4 *largest = (uint4 *)plan->scratch[3].data, *exponent = (uint4 *)plan->scratch[4].data;
  real *charge = (real *)plan->scratch[5].data;
  filling s = {columns_of(&plan->grid),
               (const column_chunk *)part->buffer[SPREAD_CHUNKS].data,
               part->chunks,
               part->chunked,
               (const pencil_particle *)part->buffer[SPREAD_CHUNKED].data,
               charge,
               largest,
               (real *)job->mesh,
               plan->grid.points};
  const unsigned zeroing =
      max(md_blocks(part->chunks * MD_WARP, TURN_BLOCK), 8u * (unsigned)plan->multiprocessors);
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config;
  for (*done = 0; job->vectors - *done >= width; *done += width) {
    const real *q = (const real *)job->q + *done * job->q_stride;
    turn_kernel<<<md_blocks(part->n, TURN_BLOCK), TURN_BLOCK, 0, stream>>>(
        part->n, width, q, job->q_stride, charge, exponent);
    config = md_launch_config(ctx, dim3(zeroing), TURN_BLOCK, true, &overlap);
    MD_CUDA(cudaLaunchKernelEx(&config, largest_kernel, s.chunk, s.chunks,
                               (const uint32_t *)chunk_index(part), (const uint4 *)exponent,
                               largest, s.mesh, fresh ? width * s.points : 0));
    config = md_launch_config(ctx, dim3((unsigned)(blocks * plan->multiprocessors)), BLOCK, true,
                              &overlap);
    config.dynamicSmemBytes = bytes;
    MD_CUDA(cudaLaunchKernelEx(&config, kernel, s));
    s.mesh += width * s.points;
  }
  MD_LAUNCHED();
  return MD_OK;
}
