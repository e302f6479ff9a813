/* stokes/pairs/shrunk_gpu.h - spheres in 16 bytes, and which of them are near each other.
 *
 * Places are fractions of the box in units of 2^-32, whose differences wrap around as the box does;
 * the radius is a float, and no number where a sphere is too far out for that.  Where single
 * precision cannot tell whether two are within reach, it says so. */
#ifndef STOKES_SHRUNK_GPU_H
#define STOKES_SHRUNK_GPU_H

#include "core/gpu/cuda.h"

/* The box's edges in those units, what they are worth together, and the reach, scale (a_i + a_j) +
 * skin. */
typedef struct {
  float unit[3], slack, scale, skin;
} shrunk_law;

static inline shrunk_law shrunk_law_of(const double *box, double scale, double skin)
{
  shrunk_law law = {{0, 0, 0}, 0, (float)scale, (float)skin};
  for (int d = 0; d < 3; d++) {
    law.unit[d] = (float)(box[d] / 4294967296.0);
    law.slack = fmaxf(law.slack, 32 * law.unit[d]);
  }
  return law;
}

static __device__ __forceinline__ uint4 shrunk_sphere(const double *box, const double *s)
{
  uint32_t at[3];
  bool far = false;
  for (int d = 0; d < 3; d++) {
    const double part = s[d] / box[d];
    far = far || !(fabs(part) < 65536);
    at[d] = (uint32_t)(int64_t)floor((part - floor(part)) * 4294967296.0);
  }
  return make_uint4(at[0], at[1], at[2], __float_as_uint(far ? NAN : (float)s[3]));
}

/* 1: near, 0: not, -1: too close to the limit to tell in single precision.  Errors are below
 * 2e-6 of the square of the reach and 11 units times the reach. */
static __device__ __forceinline__ int shrunk_judge(const shrunk_law *law, uint4 a, uint4 b)
{
  const float dx = law->unit[0] * (float)(int32_t)(a.x - b.x);
  const float dy = law->unit[1] * (float)(int32_t)(a.y - b.y);
  const float dz = law->unit[2] * (float)(int32_t)(a.z - b.z);
  const float sum = __uint_as_float(a.w) + __uint_as_float(b.w);
  const float reach = law->scale * sum + law->skin;
  const float beyond = dx * dx + dy * dy + dz * dz - reach * reach;
  if (!(fabsf(beyond) > reach * (law->slack + 4e-6f * reach))) return -1;
  return beyond < 0;
}

#endif
