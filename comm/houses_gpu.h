/* comm/houses_gpu.h - atoms that move house between ranks, on the GPU. */
#ifndef HOUSES_GPU_H
#define HOUSES_GPU_H

#include "core/atoms.h"
#include "core/gpu/cuda.h"

/* An atom on its way. */
typedef struct {
  state4 x, v;
  int64_t id;
  int32_t image[3], zero;
} traveller;

/* The arrays of atoms. */
typedef struct {
  state4 *x, *v;
  int64_t *id;
  int32_t *image;
} houses;

static houses houses_of(const md_atoms *atoms)
{
  return (houses){(state4 *)atoms->x.data, (state4 *)atoms->v.data, (int64_t *)atoms->id.data,
                  (int32_t *)atoms->image.data};
}

static __device__ __forceinline__ traveller leave_house(const houses *a, int64_t i)
{
  const int32_t *image = a->image + 3 * i;
  return (traveller){a->x[i], a->v[i], a->id[i], {image[0], image[1], image[2]}, 0};
}

static __device__ __forceinline__ void enter_house(const houses *a, int64_t i, const traveller *t)
{
  a->x[i] = t->x, a->v[i] = t->v, a->id[i] = t->id;
  for (int d = 0; d < 3; d++)
    a->image[3 * i + d] = t->image[d];
}

/* How many of the atoms that leave, item [leavers] by rising place, are before place i. */
static __device__ __forceinline__ int32_t leavers_before(const int32_t *item, int32_t leavers,
                                                         int64_t i)
{
  int32_t lo = 0, hi = leavers;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;
    if (item[mid] < i)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Place i of the last ones, from `kept` on: an atom that stays moves from there to the place of one
 * that left; `gaps` are before `kept`, as many as atoms that stay lie behind. */
static __device__ __forceinline__ void close_up(const houses *a, int64_t i, int64_t kept,
                                                int32_t gaps, const int32_t *item, int32_t leavers)
{
  const int32_t k = leavers_before(item, leavers, i);
  if (k < leavers && item[k] == i) return;
  const traveller t = leave_house(a, i);
  enter_house(a, item[i - kept - (k - gaps)], &t);
}

#endif
