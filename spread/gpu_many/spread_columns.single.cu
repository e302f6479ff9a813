/* spread/gpu_many/spread_columns.single.cu - tiled spreading of many vectors, single precision.
 *
 * A block fills columns of 8 x 16 mesh lines (column_chunks_gpu.h) plane after plane, for 8 or 16
 * vectors at once.  Every warp has two of the rows, 16 points, and keeps planes z .. z + p - 1 of
 * them for all vectors in registers.  What 16 particles of plane z add are products of their X Y at
 * the points with their Z q in every plane and vector, on tensor cores (pair_gpu.h).  Z q is
 * computed, and split into halves, once for all warps, in shared memory, where the particles of a
 * chunk lie by row: those that reach a warp's points are neighbours.
 *
 * Sweeps by pencil (sweep_gpu.h) add each particle once, to a patch of 16 x 8 points of which
 * others reach three quarters too: nearly four REDs a mesh point and vector.  Here a point is
 * stored, or added where two blocks meet or an order's planes go around the box, so that a mesh is
 * neither cleared nor read; and a particle is looked at by each of the columns it reaches, 2.1 of
 * them at order 6, and by 2.7 of their warps.
 *
 * Charges are transposed first, so that those of a particle are a sector of memory or two, instead
 * of one a vector; their exponents are noted, and each chunk gets a scale for each vector, as
 * halves need it.  The largest of all charges as the scale takes a tenth less time, but small ones
 * far from large ones lose digits; a chunk's, found where it is staged, takes a quarter more. */
#include <cuda_pipeline.h>

#include "spread/gpu_many/spread_columns_gpu.h"

enum { WARPS = COLUMN_HEIGHT / 2, BLOCK = WARPS * MD_WARP };
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

/* Threads take all particles of a chunk for the first group, then for the second: that of task
 * k. */
static __device__ __forceinline__ int find_group(int k, int count)
{
  return k >= count;
}

/* Volatile, as else it is put off until it is waited for. */
static __device__ __forceinline__ pencil_particle fetch_particle(const filling &s,
                                                                 const column_chunk &chunk,
                                                                 int32_t k)
{
  pencil_particle to;
  const int32_t number = k - find_group(k, chunk.count) * chunk.count;
  const pencil_particle *from = s.particle + chunk.first + max(min(number, chunk.count - 1), 0);
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

/* The scale that follows `from`, as in sweep_gpu.h; a lower one too, as planes are emptied
 * before. */
static __device__ __forceinline__ int32_t next_scale(int32_t from, int32_t most)
{
  const int32_t to = max(most, (int32_t)LEAST_EXPONENT);
  return to <= from && to >= from - SCALE_SLACK ? from : to;
}

/* Block: stage a chunk; scale: lane v's, the exponent that vector v is scaled by. */
static __device__ __forceinline__ void stage_chunk(const int p, const filling &s,
                                                   const column_chunk &chunk,
                                                   const column_place &at, const staging &ahead,
                                                   int32_t scale, const shelf &shared)
{
  if (warp_lane() < GROUP * GROUPS_MAX) shared.scale[warp_lane()] = scale_down(scale);
  __syncwarp();
#pragma unroll 1
  for (int32_t t = threadIdx.x, count = chunk.count; t < count * GROUPS(p); t += BLOCK) {
    const int group = find_group(t, count);
    staging now = ahead;
    if (t >= BLOCK) {
      now.particle = fetch_particle(s, chunk, t);
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

/* Block: ask for chunk i to be copied. */
static __device__ __forceinline__ void fetch_head(const filling &s, int32_t i, chunk_head *to)
{
  const int k = threadIdx.x, quads = sizeof to->chunk / sizeof(uint4);
  if (k < quads)
    __pipeline_memcpy_async((uint4 *)&to->chunk + k, (const uint4 *)(s.chunk + i) + k,
                            sizeof(uint4));
  if (k == quads) __pipeline_memcpy_async(&to->largest, s.largest + i, sizeof(uint4));
  __pipeline_commit();
}

/* The exponent of a vector's largest charge in a chunk. */
static __device__ __forceinline__ int32_t find_largest(const chunk_head *head, int vector)
{
  return ((const uint8_t *)&head->largest)[vector];
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
static __device__ __forceinline__ void fill(const int p, const filling &s, const shelf &shared)
{
  const int row = threadIdx.x / MD_WARP * 2, vector = warp_lane() % (GROUP * GROUPS_MAX);
  int32_t i = (int32_t)find_share(s, blockIdx.x);
  const int32_t last = (int32_t)find_share(s, blockIdx.x + 1);
  cudaGridDependencySynchronize(); /* charges are turned, planes to be added to are zero */
  if (i == last) return;
  untouched alone = find_untouched(p, s, i, last);
  column_ring planes = {};
  const chunk_head *now = shared.head, *next = shared.head + 1;
  fetch_head(s, i, shared.head);
  fetch_head(s, min(i + 1, last - 1), shared.head + 1);
  __pipeline_wait_prior(0);
  __syncthreads();
  int32_t together = 0, scale = next_scale(LEAST_EXPONENT, find_largest(now, vector));
  staging ahead;
  ahead.particle = fetch_particle(s, now->chunk, threadIdx.x);
  fetch_charges(p, s, find_group(threadIdx.x, now->chunk.count), &ahead);
  for (int later = 2; i < last; i++, later = (later + 1) % HEADS) {
    const column_chunk &chunk = now->chunk;
    const column_place at = find_column(s.grid, chunk.origin);
    const bool around = at.points[0] + p - 1 > s.grid.mesh[1];
    fetch_head(s, min(i + 2, last - 1), shared.head + later);
    stage_chunk(p, s, chunk, at, ahead, scale, shared);
    ahead.particle = fetch_particle(s, next->chunk, threadIdx.x);
    __syncthreads();
    const int32_t to = next_scale(scale, find_largest(next, vector));
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
    fetch_charges(p, s, find_group(threadIdx.x, next->chunk.count), &ahead);
    now = next;
    next = shared.head + later;
    __pipeline_wait_prior(0);
    __syncthreads();
  }
}

/* Block: its shared memory, then its chunks. */
static __device__ __forceinline__ void fill_block(const int p, const filling &s, quad *terms,
                                                  real *scale, chunk_head *head)
{
  real *x = (real *)(terms + SLOTS * TERMS(p));
  const shelf shared = {terms, x, x + SLOTS * COLUMN_WIDTH, scale, head};
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
    __shared__ chunk_head head[HEADS];                                                             \
    extern __shared__ quad terms[];                                                                \
    fill_block(p, s, terms, (real *)scale[threadIdx.x / MD_WARP], head);                           \
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

/* Charges q[vector][particle] to charge[particle][vector], and their exponents.  Thread: a
 * particle, then quads of what the block read. */
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

/* Warp: the largest exponents of a chunk. */
static __device__ __forceinline__ uint4 find_most(const filling &s, const uint32_t *index,
                                                  const uint4 *exponent, int64_t chunk)
{
  const int64_t first = s.chunk[chunk].first;
  const int32_t count = s.chunk[chunk].count;
  uint32_t of[(CHUNK + MD_WARP - 1) / MD_WARP];
  uint4 most = {};
  SPREAD_UNROLL
  for (int k = 0; k < CHUNK; k += MD_WARP)
    of[k / MD_WARP] = index[first + max(min(k + warp_lane(), count - 1), 0)];
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
  return most;
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

/* Warp: a chunk, for fill_kernel; those beyond see to the mesh. */
static __global__ void __launch_bounds__(TURN_BLOCK)
    prepare_kernel(filling s, int order, int vectors, const uint32_t *index, const uint4 *exponent,
                   uint4 *largest)
{
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t mine = md_thread() / MD_WARP, beyond = mine - s.chunks;
  if (mine < s.chunks) {
    const uint4 most = find_most(s, index, exponent, mine);
    if (warp_lane() == 0) largest[mine] = most;
  } else if (s.fresh && beyond / vectors < count_begins(s)) {
    zero_planes(s, order, beyond / vectors, (int)(beyond % vectors));
  }
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

md_status spread_gpu_many_spread(spread_plan *plan, spread_part *part, const spread_job *job,
                                 int32_t *done)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int width = FILL_VECTORS(plan->grid.order);
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
               plan->grid.points,
               part->first == 0,
               blocks * plan->multiprocessors};
  const int64_t tasks = s.chunks + (s.fresh ? count_begins(s) * width : 0);
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config;
  for (*done = 0; job->vectors - *done >= width; *done += width) {
    const real *q = (const real *)job->q + *done * job->q_stride;
    turn_kernel<<<md_blocks(part->n, TURN_BLOCK), TURN_BLOCK, 0, stream>>>(
        part->n, width, q, job->q_stride, charge, exponent);
    config = md_launch_config(ctx, dim3(md_blocks(tasks * MD_WARP, TURN_BLOCK)), TURN_BLOCK, true,
                              &overlap);
    MD_CUDA(cudaLaunchKernelEx(&config, prepare_kernel, s, plan->grid.order, width,
                               (const uint32_t *)chunk_index(part), (const uint4 *)exponent,
                               largest));
    config = md_launch_config(ctx, dim3((unsigned)s.shares), BLOCK, true, &overlap);
    config.dynamicSmemBytes = bytes;
    MD_CUDA(cudaLaunchKernelEx(&config, kernel, s));
    s.mesh += width * s.points;
  }
  MD_LAUNCHED();
  return MD_OK;
}
