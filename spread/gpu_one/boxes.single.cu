/* spread/gpu_one/boxes.single.cu - particle, where particles that follow each other are near
 * each other: a block sums a group of them in a box of mesh points in shared memory, and adds that
 * to the mesh.
 *
 * What particle waits for are sectors of the mesh in the L2, be it additions or stores.  A box has
 * several times fewer than its particles reach one by one (decision 67).
 *
 * Sums in the box are integers, which shared memory adds at once: numbers times a scale of the
 * block, rounded, by less than 2^-24 of the smallest charge where charges differ by SPAN at most.
 * Groups whose box does not fit, or whose charges differ by more or are not finite, add to the mesh
 * one by one. */
#include "spread/gpu/box_gpu.h"
#include "spread/gpu_guo/particle_gpu.h"

enum { BLOCK = 256, GROUP = SPREAD_BOX_GROUP, SPAN = 4 };

/* Of a thread with a particle: the first one's cell, and the way from there. */
typedef struct {
  int32_t first[3], way[3];
} box_member;

/* First mesh point, points along the axes and in all. */
typedef struct {
  int32_t from[3], size[3], points;
} box;

/* A spreading of one vector. */
typedef struct {
  particles all;
  int32_t room; /* points of a box */
  float most;   /* what a group of charges of 1 adds to a point at most */
} boxed;

/* What a block agrees on, in shared memory before the box. */
typedef struct {
  box_range range;
  int32_t smallest, largest; /* bits of |q|, of charges that are not 0 */
  int32_t base[GROUP];       /* where a particle's points begin in the box */
  float q[GROUP];            /* times the scale */
} box_store;

/* Place k >= 0 of a ring of n that it may go around. */
static __device__ __forceinline__ int32_t ring_wrap(int32_t k, int32_t n)
{
  while (k >= n)
    k -= n;
  return k;
}

/* Widen the range, which is open, by the group's particles, `count` from `particle` on.  Threads
 * from GROUP on have none. */
static __device__ __forceinline__ box_member join_group(const mesh_size &mesh,
                                                        const spread_particle *particle,
                                                        int32_t count, box_store *store)
{
  box_member m;
  int32_t cell[3];
  split_point(mesh, particle->word, m.first);
  if (threadIdx.x >= GROUP) return m;
  split_point(mesh, particle[min((int32_t)threadIdx.x, count - 1)].word, cell);
  for (int a = 0; a < 3; a++)
    m.way[a] = ring_way(m.first[a], cell[a], mesh.n[a]);
  widen_range(&store->range, m.way);
  return m;
}

/* The box, once all have joined. */
static __device__ __forceinline__ box find_box(const int p, const mesh_size &mesh,
                                               const box_member &m, const box_store *store)
{
  box to;
  to.points = size_range(p, &store->range, to.size);
  for (int a = 0; a < 3; a++) {
    const int32_t from = m.first[a] + store->range.lo[a];
    to.from[a] = from < 0 ? from + mesh.n[a] : from;
  }
  return to;
}

/* Where the member's points begin, and the box's lines in the mesh.  Quotients of so few points are
 * right in floats. */
static __device__ __forceinline__ void lay_out(const mesh_size &mesh, const box_member &m,
                                               const box &in, box_store *store, uint32_t *line)
{
  if (threadIdx.x < GROUP) {
    int32_t at[3];
    for (int a = 0; a < 3; a++)
      at[a] = m.way[a] - store->range.lo[a];
    store->base[threadIdx.x] = (at[0] * in.size[1] + at[1]) * in.size[2] + at[2];
  }
  const float per_slab = 1 / (float)in.size[1];
  for (int32_t k = threadIdx.x; k < in.size[0] * in.size[1]; k += BLOCK) {
    const int32_t slab = (int32_t)(((float)k + 0.5f) * per_slab);
    line[k] = join_point(mesh, ring_wrap(in.from[0] + slab, mesh.n[0]),
                         ring_wrap(in.from[1] + k - slab * in.size[1], mesh.n[1]), 0);
  }
}

/* The mesh point of point k of the box; per_line: 1 / size[2]. */
static __device__ __forceinline__ uint32_t point_of(const mesh_size &mesh, const box &in,
                                                    float per_line, const uint32_t *line, int32_t k)
{
  const int32_t l = (int32_t)(((float)k + 0.5f) * per_line);
  return line[l] + (uint32_t)ring_wrap(in.from[2] + k - l * in.size[2], mesh.n[2]);
}

/* Whole warps of the group: a particle's charge, and the smallest and largest of all. */
static __device__ __forceinline__ float join_charges(const particles &s, int32_t item,
                                                     box_store *store)
{
  const float q = s.q[s.order ? s.order[item] : item];
  const int32_t bits = __float_as_int(fabsf(q));
  const int32_t largest = __reduce_max_sync(MD_ALL_LANES, bits);
  const int32_t smallest = __reduce_min_sync(MD_ALL_LANES, bits ? bits : INT32_MAX);
  if (threadIdx.x % MD_WARP == 0)
    atomicMin(&store->smallest, smallest), atomicMax(&store->largest, largest);
  return q;
}

/* Of the box's integers; 0: it does not fit, or its charges have none in common, or none whose
 * inverse is a number of full precision. */
static __device__ __forceinline__ float scale_of(const boxed &b, const box &to,
                                                 const box_store *store)
{
  const float largest = __int_as_float(store->largest);
  const float scale = 0x1.ffcp30f / (b.most * largest); /* 0 of charges that are not finite */
  const bool alike = largest <= SPAN * __int_as_float(store->smallest) && scale <= 0x1p120f;
  return alike && to.points <= b.room ? scale : 0;
}

/* The group's weights, of one axis a thread. */
static __device__ __forceinline__ void fill_weights(const int p, const spread_particle *group,
                                                    int32_t count, real *weight)
{
  const int t = (int)threadIdx.x % GROUP, a = (int)threadIdx.x / GROUP;
  if (t >= count || a >= 3) return;
  real w[SPREAD_ORDER_MAX];
  bspline_weights(p, group[t].f[a], w);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    weight[t * weights_of(p) + a * p + j] = w[j];
}

/* The group's points to the box. */
static __device__ __forceinline__ void fill_box(const int p, int32_t count, const box &to,
                                                const box_store *store, const real *weight,
                                                int32_t *sum)
{
  for (int32_t item = threadIdx.x; item < count * p; item += BLOCK) {
    const int32_t t = item / p, lane = item % p;
    const real *const of = weight + t * weights_of(p);
    real w[SPREAD_ORDER_MAX];
    SPREAD_UNROLL
    for (int j = 0; j < p; j++)
      w[j] = of[p + j];
    const real fast = store->q[t] * of[2 * p + lane];
    int32_t *line = sum + store->base[t] + lane;
    SPREAD_UNROLL
    for (int i = 0; i < p; i++, line += (to.size[1] - p) * to.size[2]) {
      const real outer = fast * of[i];
      SPREAD_UNROLL
      for (int j = 0; j < p; j++, line += to.size[2])
        atomicAdd(line, __float2int_rn(outer * w[j]));
    }
  }
}

/* The box to the mesh. */
static __device__ __forceinline__ void flush_box(const particles &s, const box &from, float scale,
                                                 const int32_t *sum, const uint32_t *line)
{
  const float per_line = 1 / (float)from.size[2], unit = 1 / scale;
  for (int32_t k = threadIdx.x; k < from.points; k += BLOCK)
    if (sum[k] != 0)
      atomicAdd(s.to + point_of(s.mesh, from, per_line, line, k), unit * (float)sum[k]);
}

/* Block: a group of particles. */
static __device__ __forceinline__ void add_group(const int p, const boxed &b)
{
  extern __shared__ __align__(16) unsigned char shared[];
  box_store *store = (box_store *)shared;
  int32_t *sum = (int32_t *)(store + 1);
  uint32_t *line = (uint32_t *)(sum + b.room);
  real *weight = (real *)(line + b.room / p);
  const int32_t begin = (int32_t)blockIdx.x * GROUP, count = min((int32_t)GROUP, b.all.n - begin);
  const spread_particle *group = b.all.particle + begin;
  float q = 0;
  if (threadIdx.x == 0) open_range(&store->range), store->smallest = INT32_MAX, store->largest = 0;
  __syncthreads();
  const box_member m = join_group(b.all.mesh, group, count, store);
  if (threadIdx.x < GROUP)
    q = join_charges(b.all, begin + min((int32_t)threadIdx.x, count - 1), store);
  __syncthreads();
  if (store->largest == 0) return;
  const box to = find_box(p, b.all.mesh, m, store);
  const float scale = scale_of(b, to, store);
  if (scale == 0) {
    for (int32_t k = threadIdx.x; k < count * p; k += BLOCK)
      add_particle(p, p, b.all, (int64_t)begin * p + k);
    return;
  }
  lay_out(b.all.mesh, m, to, store, line);
  fill_weights(p, group, count, weight);
  if (threadIdx.x < GROUP) store->q[threadIdx.x] = q * scale;
  for (int32_t k = threadIdx.x; k < to.points; k += BLOCK)
    sum[k] = 0;
  __syncthreads();
  fill_box(p, count, to, store, weight, sum);
  __syncthreads();
  flush_box(b.all, to, scale, sum, line);
}

#define KERNELS(p)                                                                                 \
  static __global__ void __launch_bounds__(BLOCK) box_kernel_##p(boxed b)                          \
  {                                                                                                \
    add_group(p, b);                                                                               \
  }
SPREAD_ORDERS(KERNELS)

/* The largest weight of a B-spline. */
static float largest_weight(int order)
{
  return bspline_weight(order, order % 2 ? 0.5f : 0, (order - 1) / 2);
}

md_status spread_gpu_boxes(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  const int32_t room = spread_box_room(plan, part->n);
  const int32_t p = plan->grid.order;
  const size_t bytes = sizeof(box_store) + (size_t)(room + room / p + GROUP * weights_of(p)) * 4;
  const float largest = largest_weight(plan->grid.order);
  for (int32_t v = 0; v < job->vectors; v++) {
    const boxed b = {particles_of(plan, part, job, v), room, GROUP * largest * largest * largest};
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    MD_CUDA(cudaFuncSetAttribute(box_kernel_##p, cudaFuncAttributeMaxDynamicSharedMemorySize,      \
                                 (int)bytes));                                                     \
    box_kernel_##p<<<md_blocks(part->n, GROUP), BLOCK, bytes, stream>>>(b);                        \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
  }
  return MD_OK;
}
