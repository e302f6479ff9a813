/* spread/gpu_guo/particle_gpu.h - particles that add to the mesh themselves ([Guo] section 2). */
#ifndef PARTICLE_GPU_H
#define PARTICLE_GPU_H

#include "spread/gpu_guo/cells_gpu.h"

/* Charges of one vector onto its mesh.  Particle t is item list[t] if there is a list, and its
 * charge q[order[item]] if there is an order. */
typedef struct {
  const spread_particle *particle;
  const int32_t *list, *order;
  int32_t n;
  mesh_size mesh;
  const real *q;
  real *to;
  bool stores; /* wrong sums, for timing */
} particles;

/* The particles of a part and one vector of a job. */
MD_INLINE particles particles_of(const spread_plan *plan, const spread_part *part,
                                 const spread_job *job, int32_t vector)
{
  const bool sorted = plan->layout != SPREAD_GIVEN;
  const particles s = {(const spread_particle *)part->buffer[SPREAD_RECORD].data,
                       NULL,
                       sorted ? (const int32_t *)part->buffer[SPREAD_ORDER].data : NULL,
                       part->n,
                       mesh_of(plan),
                       (const real *)job->q + vector * job->q_stride,
                       (real *)job->mesh + vector * plan->grid.points,
                       plan->spec.tuning.stores};
  return s;
}

/* Room for a particle's weights along three axes, in shared memory; one more keeps the particles of
 * a warp in different banks. */
static __host__ __device__ constexpr int weights_of(int p)
{
  return 3 * p + 1;
}

/* w[j] for a j known at run time only, without leaving registers. */
static __device__ __forceinline__ real pick(const int p, const real *w, int j)
{
  real picked = w[0];
  SPREAD_UNROLL
  for (int k = 1; k < p; k++)
    picked = k == j ? w[k] : picked;
  return picked;
}

static __device__ __forceinline__ void add_point(const particles &s, uint32_t point, real value)
{
  if (s.stores)
    s.to[point] = value;
  else
    atomicAdd(s.to + point, value);
}

/* Particle k / lanes: all of it, or its column k % lanes along the fastest axis where lanes = p. */
static __device__ __forceinline__ void add_particle(const int p, const int lanes,
                                                    const particles &s, int64_t k)
{
  const int64_t t = k / lanes;
  const int lane = (int)(k % lanes);
  if (t >= s.n) return;
  const int32_t item = s.list ? s.list[t] : (int32_t)t;
  const spread_particle particle = s.particle[item];
  const real q = s.q[s.order ? s.order[item] : item];
  int32_t cell[3];
  real w[3][SPREAD_ORDER_MAX];
  split_point(s.mesh, particle.word, cell);
  SPREAD_UNROLL
  for (int a = 0; a < 3; a++)
    bspline_weights(p, particle.f[a], w[a]);
  const real fast = pick(p, w[2], lane);
  const int32_t column = ring_after(cell[2], lane, s.mesh.n[2]);
  for (int i = 0; i < p; i++) {
    const int32_t slab = ring_after(cell[0], i, s.mesh.n[0]);
    const real outer = q * pick(p, w[0], i);
    SPREAD_UNROLL
    for (int j = 0; j < p; j++) {
      const int32_t line = ring_after(cell[1], j, s.mesh.n[1]);
      const real c = outer * w[1][j];
      if (lanes > 1) {
        add_point(s, join_point(s.mesh, slab, line, column), c * fast);
        continue;
      }
      const uint32_t row = join_point(s.mesh, slab, line, 0);
      SPREAD_UNROLL
      for (int k = 0; k < p; k++)
        add_point(s, row + (uint32_t)ring_after(cell[2], k, s.mesh.n[2]), c * w[2][k]);
    }
  }
}

#endif
