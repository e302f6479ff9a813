/* core/gpu/verlet_gpu.h - kick and drift of one atom, and where its images are, for every kernel
 * that moves atoms. */
#ifndef VERLET_GPU_H
#define VERLET_GPU_H

#include "core/atoms.h"
#include "core/gpu/cuda.h"

/* v += kick f, each time rounded, as that many passes would.  By name one instruction each: where a
 * kernel loops over kicks, compilers round the product apart, and others would not be its twins. */
static __device__ __forceinline__ void verlet_kick(state4 *v, real4 f, state kick, int kicks)
{
  for (int k = 0; k < kicks; k++)
    v->x = fma(kick, (state)f.x, v->x), v->y = fma(kick, (state)f.y, v->y),
    v->z = fma(kick, (state)f.z, v->z);
}

static __device__ __forceinline__ void verlet_drift(state4 *x, state4 v, state drift)
{
  x->x += drift * v.x, x->y += drift * v.y, x->z += drift * v.z;
}

static __device__ __forceinline__ coord4 verlet_coord(state4 x, double inv_scale)
{
  coord4 c = {};
  c.x = coord_from(x.x, inv_scale), c.y = coord_from(x.y, inv_scale);
  c.z = coord_from(x.z, inv_scale);
  return c;
}

/* A coordinate shifted by so many edges, in double whatever the state, rounded once. */
static __device__ __forceinline__ state image_at(state x, int shift, double edge)
{
  return (state)(x + shift * edge);
}

/* A place shifted by whole edges (md_shift_pack). */
static __device__ __forceinline__ state4 shifted_by(state4 x, int32_t shift, const double edge[3])
{
  int s[3];
  md_shift_unpack(shift, s);
  x.x = image_at(x.x, s[0], edge[0]);
  x.y = image_at(x.y, s[1], edge[1]);
  x.z = image_at(x.z, s[2], edge[2]);
  return x;
}

#endif
