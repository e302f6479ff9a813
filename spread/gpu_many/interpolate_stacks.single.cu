/* spread/gpu_many/interpolate_stacks.single.cu - interpolation of many vectors on the GPU, in
 * single precision, for particles sorted by pencil: the transpose of spread_columns.single.cu.
 *
 * A block walks through stacks of pencils (pencil_stack_gpu.h) plane after plane, for 8 or 16
 * vectors at once. A few of its warps load planes into a ring in shared memory, split into halves
 * (pencil_stack_load_gpu.h); the others read them, 16 particles at a time.  Products of X Z of 16
 * particles with a mesh line of 8 vectors, summed over the planes, leave a number for each
 * particle, line and vector; it is multiplied with Y and added up.  So the 16 columns of 8 vectors
 * are fetched by one load of shared memory, and what particles have is split into halves but once
 * for all vectors.
 *
 * Values leave as [particle][vector], whole sectors in any order, and are transposed afterwards. */
#include "core/gpu/launch_gpu.h"
#include "spread/gpu_many/pencil_stack_load_gpu.h"

#define SHARED_BYTES(p) (RING(p) * PLANE_BYTES(p) + BATCHES_BYTES(p))

enum { LINES_TOGETHER = 2 };

/* Particles of one stop: of lane l, number l % 16, or the last one. */
typedef struct {
  pencil_particle particle;
  int32_t count, base; /* base: of the window */
} batch;

/* Warp: batch `turn` of the slice, not before those asked for so far; false: there is none. */
static __device__ __forceinline__ bool find_batch(const int p, const reading &s, stack_walk *at,
                                                  int32_t turn, batch *to)
{
  while (turn >= all_batches(*at))
    if (!look_ahead(p, s, at)) return false;
  const int lane = __popc(__ballot_sync(MD_ALL_LANES, at->batches <= turn));
  const int32_t begin = __shfl_sync(MD_ALL_LANES, at->begin, lane);
  const int32_t end = __shfl_sync(MD_ALL_LANES, at->end, lane);
  const int32_t beyond = __shfl_sync(MD_ALL_LANES, at->batches, lane) - turn;
  const int32_t first = begin + ((end - begin + BATCH - 1) / BATCH - beyond) * BATCH;
  const int32_t index = min(first + warp_lane() % BATCH, end - 1);
  to->base = __shfl_sync(MD_ALL_LANES, at->base, lane);
  to->count = min((int32_t)BATCH, end - first);
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" /* not when it is needed, but now */
               : "=r"(to->particle.packed[0]), "=r"(to->particle.packed[1]),
                 "=r"(to->particle.packed[2]), "=r"(to->particle.index)
               : "l"(s.particle + index));
  return true;
}

/* X, Y and Z of a batch, in shared memory. */
typedef struct {
  real *x, *y, *z;
} sides;

static __device__ __forceinline__ sides find_sides(const int p, real *batch)
{
  real *y = batch + BATCH * ROOM_X;
  return {batch, y, y + BATCH * ROOM_Y(p)};
}

/* Warp: X of particles at their columns, Y at lines from *line on, the first that one of them
 * reaches; how many they reach. */
static __device__ __forceinline__ int32_t stage_batch(const int p, const batch &it, const sides &to,
                                                      int32_t *line)
{
  const real inverse = bspline_inverse_factorial(p - 1);
  const int lane = warp_lane(), slot = lane % BATCH;
  const bool is_x = lane < BATCH;
  real f[3], w[SPREAD_ORDER_MAX], z[SPREAD_ORDER_MAX];
  uint32_t row_in_stack, fast;
  pencil_unpack(&it.particle, f, &row_in_stack, &fast);
  const int32_t row = (int32_t)row_in_stack;
  *line = __reduce_min_sync(MD_ALL_LANES, row);
  const int32_t lines = __reduce_max_sync(MD_ALL_LANES, row) - *line + p;
  __syncwarp();
  for (int k = lane; k < BATCH * (ROOM_X + ROOM_Y(p)) / QUAD; k += MD_WARP)
    ((quad *)to.x)[k] = quad();
  bspline_polynomials(p, is_x ? f[2] : f[1], w);
  bspline_polynomials(p, f[0], z);
  __syncwarp();
  real *side = is_x ? to.x + slot * ROOM_X + fast : to.y + slot * ROOM_Y(p) + (row - *line);
  SPREAD_UNROLL
  for (int k = 0; k < p; k++) {
    side[k] = w[k] * (is_x ? inverse * WEIGHT_SCALE : inverse);
    z[k] *= inverse;
  }
  if (is_x) store_reals(p, z, to.z + slot * ROOM_Z);
  __syncwarp();
  return lines;
}

/* Left operands: X Z of the batch in planes first .. end - 1.  Those of all planes would take
 * registers that products which need not wait for each other take. */
#define PLANES_TOGETHER(p) (((p) + ((p) + 3) / 4 - 1) / (((p) + 3) / 4))
typedef pair weights[4][PAIRS][2];
static __device__ __forceinline__ void make_weights(const int p, const int first, const int end,
                                                    const sides &from, weights to)
{
  const int member = warp_lane() % 4;
  SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int slot = warp_lane() / 4 + 8 * c;
    const real *column = from.x + slot * ROOM_X + member;
    real z[SPREAD_ROW];
    load_reals(p, from.z + slot * ROOM_Z, z);
    SPREAD_UNROLL
    for (int j = 0; j < PAIRS; j++) {
      const real x[2] = {column[4 * j], column[4 * j + 8]};
      SPREAD_UNROLL
      for (int k = first; k < end; k++)
        to[k - first][j][c] = pair_of(x[0] * z[k], x[1] * z[k]);
    }
  }
}

/* Of 8 vectors in a line, what the lane has of right operands. */
static __device__ __forceinline__ void load_line(uint32_t from, pair b[PAIRS])
{
  uint32_t word[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(from)
               : "memory");
  SPREAD_UNROLL
  for (int j = 0; j < PAIRS; j++) {
    b[j].high = *(const __half2 *)&word[j];
    b[j].low = *(const __half2 *)&word[2 + j];
  }
}

/* Where the lane's row of four matrices lies in a line: of lane 8 i + r, vector r of matrix i. */
static __device__ __forceinline__ int find_row(void)
{
  const int matrix = warp_lane() / 8, half = matrix % 2;
  return matrix / 2 * LOW_BYTES + half * HALF_BYTES +
         place_of(warp_lane() % 8, half) * VECTOR_BYTES;
}

/* Of particles lane / 4 and 8 further, vectors 2 (lane % 4) and the next of each group. */
typedef real batch_sums[GROUPS_MAX][4];

/* Where a lane reads the next line of some planes, and its particles' Y. */
typedef struct {
  uint32_t line[4];
  const real *y;
} cursor;

/* Warp: add some lines, whose products need not wait for each other. */
static __device__ __forceinline__ void add_lines(const int p, const int planes, const int lines,
                                                 const weights a, cursor *at, batch_sums total)
{
  batch_sums sum[LINES_TOGETHER] = {};
  real y[LINES_TOGETHER][2];
  SPREAD_UNROLL
  for (int i = 0; i < 2 * lines; i++)
    y[i / 2][i % 2] = at->y[i % 2 * 8 * ROOM_Y(p) + i / 2];
  SPREAD_UNROLL
  for (int k = 0; k < planes; k++) {
    SPREAD_UNROLL
    for (int i = 0; i < lines * GROUPS(p); i++) {
      pair b[PAIRS];
      load_line(at->line[k] + i * GROUP_BYTES, b);
      add_pairs(PAIRS, a[k], b, sum[i / GROUPS(p)][i % GROUPS(p)]);
    }
    at->line[k] += lines * LINE_BYTES(p);
  }
  at->y += lines;
  SPREAD_UNROLL
  for (int i = 0; i < lines * GROUPS(p); i++)
    SPREAD_UNROLL
  for (int k = 0; k < 4; k++)
    total[i % GROUPS(p)][k] += y[i / GROUPS(p)][k / 2] * sum[i / GROUPS(p)][i % GROUPS(p)][k];
}

/* Warp: sums over lines from `line` on, of planes first .. end - 1 of the window. */
static __device__ __forceinline__ void add_planes(const int p, const int first, const int end,
                                                  const shelf &shared, const sides &from,
                                                  int32_t base, int32_t line, int32_t lines,
                                                  batch_sums total)
{
  weights a;
  cursor at;
  make_weights(p, first, end, from, a);
  at.y = from.y + warp_lane() / 4 * ROOM_Y(p);
  SPREAD_UNROLL
  for (int k = first; k < end; k++)
    at.line[k - first] = shared_at(shared.ring) + (base + k) % RING(p) * PLANE_BYTES(p) +
                         line * LINE_BYTES(p) + find_row();
#pragma unroll 1
  for (; lines >= LINES_TOGETHER; lines -= LINES_TOGETHER)
    add_lines(p, end - first, LINES_TOGETHER, a, &at, total);
  if (lines > 0) add_lines(p, end - first, 1, a, &at, total);
}

/* Warp: values of a batch, whose window has come. */
static __device__ __forceinline__ void read_batch(const int p, const reading &s,
                                                  const shelf &shared, const batch &it)
{
  const sides staged = find_sides(p, shared.batch);
  const int row = warp_lane() / 4, vector = 2 * (warp_lane() % 4);
  const real *unscale = shared.unscale + (it.base + p - 1) % RING(p) * GROUPS_MAX * GROUP + vector;
  int32_t line;
  const int32_t lines = stage_batch(p, it, staged, &line);
  batch_sums total = {};
  SPREAD_UNROLL
  for (int k = 0; k < p; k += PLANES_TOGETHER(p))
    add_planes(p, k, min(p, k + PLANES_TOGETHER(p)), shared, staged, it.base, line, lines, total);
  SPREAD_UNROLL
  for (int c = 0; c < 2; c++) {
    const int64_t index = __shfl_sync(MD_ALL_LANES, it.particle.index, row + 8 * c);
    if (row + 8 * c >= it.count) continue;
    SPREAD_UNROLL
    for (int g = 0; g < GROUPS(p); g++)
      *(float2 *)(s.value + index * s.row + g * GROUP + vector) = make_float2(
          total[g][2 * c] * unscale[g * GROUP], total[g][2 * c + 1] * unscale[g * GROUP + 1]);
  }
}

/* Warp: planes before number `end` are not needed any more. */
static __device__ __forceinline__ void leave_planes(const int p, const shelf &shared, int32_t end,
                                                    int32_t *left)
{
  for (; *left < end; ++*left) {
    wait_for(p, shared.loaded, *left); /* else the barrier counts for the plane before it */
    barrier_come(shared.unneeded + *left % RING(p));
  }
}

/* Reader: its batches of the slice. */
static __device__ __forceinline__ void read_slice(const int p, const reading &s, const slice &mine,
                                                  const shelf &shared, int warp)
{
  stack_walk at = begin_walk(p, mine);
  int32_t turn = warp, left = 0;
  batch next;
  bool more = find_batch(p, s, &at, turn, &next);
  while (more) {
    const batch now = next;
    turn += READERS(p);
    more = find_batch(p, s, &at, turn, &next);
    leave_planes(p, shared, now.base, &left);
    wait_for(p, shared.loaded, now.base + p - 1);
    read_batch(p, s, shared, now);
  }
  leave_planes(p, shared, last_base(at), &left);
}

static __device__ __forceinline__ void read_block(const int p, const reading &s, char *ring)
{
  __shared__ uint64_t barriers[2][RING_MAX];
  __shared__ real unscale[RING_MAX][GROUPS_MAX * GROUP];
  __shared__ slice mine;
  const int warp = threadIdx.x / MD_WARP, reader = warp - LOADERS(p);
  /* One thread, as racecheck also reads the address of threads that are masked out. */
  for (int k = 0; k < RING(p) && threadIdx.x == 0; k++) {
    barrier_make(barriers[0] + k, LOADERS(p) * MD_WARP);
    barrier_make(barriers[1] + k, READERS(p) * MD_WARP);
  }
  if (warp < 2) {
    const int64_t work = s.n + (int64_t)UNIT_WORK * s.grid.units;
    find_end(s, work * (blockIdx.x + warp) / gridDim.x, &mine.unit[warp], &mine.particle[warp]);
  }
  __syncthreads();
  real *batches = (real *)(ring + RING(p) * PLANE_BYTES(p));
  const shelf shared = {ring, batches + max(reader, 0) * BATCH_REALS(p), barriers[0], barriers[1],
                        unscale[0]};
  if (reader < 0)
    load_slice(p, s, mine, shared, warp);
  else
    read_slice(p, s, mine, shared, reader);
}

typedef void read_kernel(reading s);

#define READ_KERNEL(p)                                                                             \
  static_assert(STACK_ROWS(p) <= 16 && RING(p) > (p), "rows have 4 bits, a window fits the ring"); \
  static __global__ void __launch_bounds__(BLOCK, 1) read_kernel_##p(reading s)                    \
  {                                                                                                \
    extern __shared__ quad ring[];                                                                 \
    read_block(p, s, (char *)ring);                                                                \
  }
SPREAD_ORDERS(READ_KERNEL)

/* value[particle][vector] to values one vector after the other.  Thread: quads of what the block
 * writes, then a particle. */
enum { TURN_BLOCK = 256, TURN_ROOM = GROUP * GROUPS_MAX + QUAD };
static __global__ void __launch_bounds__(TURN_BLOCK)
    turn_kernel(int64_t n, int width, const real *value, real *to, int64_t stride)
{
  __shared__ real turned[TURN_BLOCK * TURN_ROOM];
  const int thread = threadIdx.x, quads = width / QUAD;
  const int64_t first = (int64_t)blockIdx.x * TURN_BLOCK;
  real of[GROUP * GROUPS_MAX];
  cudaGridDependencySynchronize();
  for (int k = thread; k < TURN_BLOCK * quads; k += TURN_BLOCK)
    if (first + k / quads < n)
      *(quad *)(turned + k / quads * TURN_ROOM + k % quads * QUAD) =
          ((const quad *)value)[first * quads + k];
  __syncthreads();
  if (first + thread >= n) return;
  load_reals(GROUP * GROUPS_MAX, turned + thread * TURN_ROOM, of);
  SPREAD_UNROLL
  for (int v = 0; v < GROUP * GROUPS_MAX; v++)
    if (v < width) to[first + thread + v * stride] = of[v];
}

static read_kernel *pick_kernel(int32_t order, size_t *bytes)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    *bytes = SHARED_BYTES(p);                                                                      \
    return read_kernel_##p;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  return NULL;
}

md_status spread_gpu_many_interpolate(spread_plan *plan, spread_part *part, const spread_job *job,
                                      int32_t *done)
{
  md_ctx *ctx = plan->ctx;
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  const int width = FILL_VECTORS(plan->grid.order);
  size_t bytes = 0;
  read_kernel *kernel = pick_kernel(plan->grid.order, &bytes);
  if (!part->stacked) MD_TRY(spread_gpu_sort_stacks(plan, part, &part->buffer[SPREAD_START]));
  MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  if (!job->by_particle)
    MD_TRY(md_buffer_reserve(ctx, &plan->scratch[5], (size_t)part->n * width * sizeof(real), 0));
  const int32_t *mesh = plan->grid.mesh;
  reading s = {(const pencil_particle *)part->buffer[SPREAD_STACKED].data,
               (const int32_t *)part->buffer[SPREAD_STACKS].data,
               stacks_of(plan),
               {mesh[0], mesh[1], mesh[2]},
               part->n,
               (const real *)job->mesh,
               plan->grid.points,
               (real *)(job->by_particle ? job->value : plan->scratch[5].data),
               job->by_particle ? job->vectors : width};
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(ctx, dim3(md_blocks(part->n, TURN_BLOCK)), TURN_BLOCK, true, &overlap);
  for (*done = 0; job->vectors - *done >= width; *done += width) {
    kernel<<<(unsigned)plan->multiprocessors, BLOCK, bytes, stream>>>(s);
    s.from += width * s.points;
    if (job->by_particle)
      s.value += width;
    else
      MD_CUDA(cudaLaunchKernelEx(&config, turn_kernel, (int64_t)part->n, width,
                                 (const real *)s.value, (real *)job->value + *done * job->q_stride,
                                 job->q_stride));
  }
  MD_LAUNCHED();
  return MD_OK;
}
