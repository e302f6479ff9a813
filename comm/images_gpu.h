/* comm/images_gpu.h - edges of a frame, and images of an atom by whole edges, on the GPU. */
#ifndef IMAGES_GPU_H
#define IMAGES_GPU_H

#include "core/atoms.h"
#include "core/gpu/verlet_gpu.h"

#include <math.h>

/* One axis of a frame.  Arithmetic is in double whatever the state, rounded once. */
typedef struct {
  double lo, hi, edge;
  state first, end; /* smallest positions >= lo, >= hi */
} axis;
typedef struct {
  axis d[3];
} axes;

/* Smallest position that is at least `at`. */
static inline state position_from(double at)
{
  const state near = (state)at;
  return near >= at ? near : (state)nextafterf((float)at, INFINITY);
}

static inline axes axes_of(const md_box *box)
{
  axes a;
  for (int d = 0; d < 3; d++) {
    const double lo = box->lo[d], hi = box->hi[d];
    a.d[d] = (axis){lo, hi, hi - lo, position_from(lo), position_from(hi)};
  }
  return a;
}

static __device__ __forceinline__ state4 shifted(const axes *box, state4 x, const int s[3])
{
  x.x = image_at(x.x, s[0], box->d[0].edge);
  x.y = image_at(x.y, s[1], box->d[1].edge);
  x.z = image_at(x.z, s[2], box->d[2].edge);
  return x;
}

#endif
