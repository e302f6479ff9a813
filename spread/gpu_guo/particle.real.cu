/* spread/gpu_guo/particle.real.cu - particles that add to the mesh themselves, on the GPU: particle
 * and gather ([Guo] section 2), and interpolation for particles that are not sorted by pencil.
 *
 * particle  One thread a particle does p^3 REDs; or p threads a particle do p^2 each, side by side
 *           along the fastest axis, so that a row costs one or two sector operations instead of p.
 *           The limit is the device's rate of REDs.
 * gather    Each mesh point holds at most one of the particles of its cell; every other goes to a
 *           list.  A thread a mesh point looks into p^3 cells and works out the weights of whom it
 *           finds there, each particle's weights p^3 times; then the list by particle.  The point
 *           below a particle stands for its cell, not the nearest, so that p^3 cells suffice.
 *
 * Interpolation takes p threads a particle as well, each a column of its points. */
#include "spread/gpu_guo/particle_gpu.h"

enum { BLOCK = 128 };

/* The slot that reaches mesh point `at` with the weights i, j, k. */
static __device__ __forceinline__ uint32_t slot_before(const particles &s, const int32_t at[3],
                                                       int i, int j, int k)
{
  return join_point(s.mesh, ring_before(at[0], i, s.mesh.n[0]), ring_before(at[1], j, s.mesh.n[1]),
                    ring_before(at[2], k, s.mesh.n[2]));
}

/* Thread: one mesh point.  Up to 64 slots are looked at before any is worked on, so that the
 * threads of a warp work on their first particles together, wherever each found it. */
static __device__ __forceinline__ void gather_point(const int p, const particles &s,
                                                    const int32_t *__restrict__ slot)
{
  const int64_t point = md_thread();
  if (point >= s.mesh.points) return;
  const int rows = 64 / p;
  int32_t at[3];
  real sum = 0;
  split_point(s.mesh, (uint32_t)point, at);
  for (int i = 0; i < p; i++)
    for (int first = 0; first < p; first += rows) {
      unsigned long long taken = 0;
      for (int j = first; j < min(first + rows, p); j++)
        SPREAD_UNROLL
      for (int k = 0; k < p; k++)
        if (slot[slot_before(s, at, i, j, k)] >= 0) taken |= 1ull << ((j - first) * p + k);
      for (; taken; taken &= taken - 1) {
        const int bit = __ffsll((long long)taken) - 1, j = first + bit / p, k = bit % p;
        const int32_t item = slot[slot_before(s, at, i, j, k)];
        const spread_particle particle = s.particle[item];
        sum += s.q[item] * bspline_weight(p, particle.f[0], i) *
               bspline_weight(p, particle.f[1], j) * bspline_weight(p, particle.f[2], k);
      }
    }
  s.to[point] += sum;
}

/* Results; NULL: not wanted. */
typedef struct {
  const spread_particle *particle;
  const int32_t *order;
  int32_t n;
  mesh_size mesh;
  const real *from;
  real *value, *gradient;
  real scale[3];
} mesh_reader;

/* A weight and its derivative. */
typedef struct {
  real w, d;
} __align__(2 * sizeof(real)) weighed;

/* Of all particles of a warp, the last one perhaps with fewer threads than points. */
static __host__ __device__ constexpr int weights_of_warp(int p)
{
  return (MD_WARP + p - 1) / p * weights_of(p);
}

/* Warp: the weights of each particle, whose `column`th thread works out an axis. */
static __device__ __forceinline__ void share_weights(const int p, const spread_particle &particle,
                                                     int column, weighed *weight)
{
  for (int a = column; a < 3; a += p) {
    real w[SPREAD_ORDER_MAX], d[SPREAD_ORDER_MAX];
    bspline_derivatives(p, a == 0 ? particle.f[0] : a == 1 ? particle.f[1] : particle.f[2], w, d);
    SPREAD_UNROLL
    for (int j = 0; j < p; j++)
      weight[a * p + j] = (weighed){w[j], d[j]};
  }
  __syncwarp();
}

/* Column `column` along the fastest axis of what a particle reads: its part of value and slopes. */
static __device__ __forceinline__ void read_column(const int p, const mesh_reader &s,
                                                   uint32_t point, int column,
                                                   const weighed *weight, real out[4])
{
  int32_t cell[3];
  uint32_t row[SPREAD_ORDER_MAX];
  weighed w[SPREAD_ORDER_MAX];
  real sum = 0, slope[2] = {0};
  split_point(s.mesh, point, cell);
  const int32_t last = ring_after(cell[2], column, s.mesh.n[2]);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++) {
    row[j] = join_point(s.mesh, 0, ring_after(cell[1], j, s.mesh.n[1]), last);
    w[j] = weight[p + j];
  }
  SPREAD_UNROLL
  for (int i = 0; i < p; i++) {
    const uint32_t slab = join_point(s.mesh, ring_after(cell[0], i, s.mesh.n[0]), 0, 0);
    const weighed outer = weight[i];
    real line = 0, line_slope = 0;
    SPREAD_UNROLL
    for (int j = 0; j < p; j++) {
      const real m = s.from[slab + row[j]];
      line += w[j].w * m;
      line_slope += w[j].d * m;
    }
    sum += outer.w * line;
    slope[0] += outer.d * line;
    slope[1] += outer.w * line_slope;
  }
  const weighed fast = weight[2 * p + column];
  out[0] = fast.w * sum, out[1] = fast.w * slope[0], out[2] = fast.w * slope[1];
  out[3] = fast.d * sum;
}

/* Thread: a column of one particle; a warp reads for 32 / p of them, rows of p side by side. */
static __device__ __forceinline__ void read_particle(const int p, const mesh_reader &s)
{
  extern __shared__ __align__(16) unsigned char shared[];
  const int together = MD_WARP / p, lane = threadIdx.x % MD_WARP, column = lane % p;
  const int64_t t = md_thread() / MD_WARP * together + lane / p;
  const bool present = lane < together * p && t < s.n;
  const spread_particle particle = s.particle[present ? t : s.n - 1];
  weighed *const weight =
      (weighed *)shared + threadIdx.x / MD_WARP * weights_of_warp(p) + lane / p * weights_of(p);
  real out[4] = {0};
  share_weights(p, particle, column, weight);
  if (present) read_column(p, s, particle.word, column, weight, out);
  for (int step = 1; step < p; step *= 2)
    for (int a = 0; a < 4; a++) {
      const real other = __shfl_down_sync(MD_ALL_LANES, out[a], step);
      if (column + step < p) out[a] += other;
    }
  if (!present || column > 0) return;
  const int64_t index = s.order ? s.order[t] : t;
  if (s.value) s.value[index] = out[0];
  for (int a = 0; a < 3 && s.gradient; a++)
    s.gradient[3 * index + a] = s.scale[a] * out[1 + a];
}

#define KERNELS(p)                                                                                 \
  static __global__ void __launch_bounds__(BLOCK) thread_kernel_##p(particles s)                   \
  {                                                                                                \
    add_particle(p, 1, s, md_thread());                                                            \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK) lanes_kernel_##p(particles s)                    \
  {                                                                                                \
    add_particle(p, p, s, md_thread());                                                            \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK)                                                  \
      gather_kernel_##p(particles s, const int32_t *slot)                                          \
  {                                                                                                \
    gather_point(p, s, slot);                                                                      \
  }                                                                                                \
  static __global__ void __launch_bounds__(BLOCK) read_kernel_##p(mesh_reader s)                   \
  {                                                                                                \
    read_particle(p, s);                                                                           \
  }
SPREAD_ORDERS(KERNELS)

static md_status add_all(const spread_plan *plan, const particles &s)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  const bool lanes = plan->spec.tuning.lanes != 1;
  if (s.n == 0) return MD_OK;
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (lanes)                                                                                     \
      lanes_kernel_##p<<<md_blocks((int64_t)s.n *p, BLOCK), BLOCK, 0, stream>>>(s);                \
    else                                                                                           \
      thread_kernel_##p<<<md_blocks(s.n, BLOCK), BLOCK, 0, stream>>>(s);                           \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(spread_gpu_particle)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  if (spread_box_room(plan, part->n)) return spread_gpu_boxes(plan, part, job);
  for (int32_t v = 0; v < job->vectors; v++)
    MD_TRY(add_all(plan, particles_of(plan, part, job, v)));
  return MD_OK;
}

/* Thread: one particle takes its mesh point or joins the list. */
static __global__ void slot_kernel(int32_t n, const spread_particle *__restrict__ particle,
                                   int32_t *slot, int32_t *list, int32_t *listed)
{
  const int64_t i = md_thread();
  if (i >= n) return;
  const uint32_t point = particle[i].word;
  if (atomicCAS(slot + point, -1, (int32_t)i) != -1) list[atomicAdd(listed, 1)] = (int32_t)i;
}

md_status PREC(spread_gpu_slots)(spread_plan *plan, spread_part *part)
{
  md_ctx *ctx = plan->ctx;
  const size_t slots = (size_t)plan->grid.points * sizeof(int32_t);
  int32_t overflow = 0;
  md_buffer *buffer = part->buffer;
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_EXTRA], slots, 0));
  MD_TRY(md_buffer_reserve(ctx, &buffer[SPREAD_LIST], (size_t)part->n * sizeof(int32_t), 0));
  MD_TRY(md_buffer_reserve(ctx, &plan->scratch[0], sizeof(int32_t), 0));
  MD_TRY(md_fill(ctx, buffer[SPREAD_EXTRA].data, 0xff, slots));
  MD_TRY(md_fill(ctx, plan->scratch[0].data, 0, sizeof(int32_t)));
  slot_kernel<<<md_blocks(part->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      part->n, (const spread_particle *)buffer[SPREAD_RECORD].data,
      (int32_t *)buffer[SPREAD_EXTRA].data, (int32_t *)buffer[SPREAD_LIST].data,
      (int32_t *)plan->scratch[0].data);
  MD_LAUNCHED();
  MD_TRY(md_read(ctx, &overflow, plan->scratch[0].data, sizeof overflow));
  part->overflow = overflow;
  return MD_OK;
}

md_status PREC(spread_gpu_gather)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  const int32_t *slot = (const int32_t *)part->buffer[SPREAD_EXTRA].data;
  for (int32_t v = 0; v < job->vectors; v++) {
    particles s = particles_of(plan, part, job, v);
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    gather_kernel_##p<<<md_blocks(s.mesh.points, BLOCK), BLOCK, 0, stream>>>(s, slot);             \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
    s.list = (const int32_t *)part->buffer[SPREAD_LIST].data;
    s.n = (int32_t)part->overflow;
    MD_TRY(add_all(plan, s));
  }
  return MD_OK;
}

md_status PREC(spread_gpu_particle_interpolate)(spread_plan *plan, spread_part *part,
                                                const spread_job *job)
{
  const cudaStream_t stream = (cudaStream_t)plan->ctx->stream;
  mesh_reader s = {(const spread_particle *)part->buffer[SPREAD_RECORD].data,
                   plan->layout == SPREAD_GIVEN ? NULL
                                                : (const int32_t *)part->buffer[SPREAD_ORDER].data,
                   part->n,
                   mesh_of(plan),
                   (const real *)job->mesh,
                   (real *)job->value,
                   (real *)job->gradient,
                   {0, 0, 0}};
  for (int a = 0; a < 3; a++)
    s.scale[a] = (real)spread_slope_scale(&plan->grid, a);
  for (int32_t v = 0; v < job->vectors; v++) {
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    read_kernel_##p<<<md_blocks(s.n, BLOCK / MD_WARP * (MD_WARP / p)), BLOCK,                      \
                      BLOCK / MD_WARP * weights_of_warp(p) * sizeof(weighed), stream>>>(s);        \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
    MD_LAUNCHED();
    s.from += s.mesh.points;
    if (s.value) s.value += job->q_stride;
    if (s.gradient) s.gradient += 3 * job->q_stride;
  }
  return MD_OK;
}
