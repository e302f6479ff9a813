/* comm/wrap_gpu.h - the periodic wrap of an atom on the GPU, and how far it went before. */
#ifndef WRAP_GPU_H
#define WRAP_GPU_H

#include "comm/images_gpu.h"

#include <string.h>

/* What a wrap of all atoms finds; zero before. */
typedef struct {
  unsigned long long lost;   /* atoms without a place */
  unsigned long long not_id; /* ~ the smallest id of theirs; 0: there is none */
  unsigned long long moved;  /* largest square of a displacement, see move_bits */
} wrap_result;

/* What displacements are measured from; built NULL: they are not. */
typedef struct {
  const state4 *built, *v;
  double back;
} origin;

/* back < 0: from nothing. */
static inline origin origin_of(const md_atoms *atoms, double back)
{
  return (origin){back >= 0 ? (const state4 *)atoms->x_at_build.data : NULL,
                  (const state4 *)atoms->v.data, back};
}

/* Wrap one coordinate.  False: it is no number, or too many boxes away to be counted. */
static __device__ __forceinline__ bool wrap(const axis *a, state *x, int32_t *image)
{
  if (*x >= a->first && *x < a->end) return true;
  const double at = *x;
  double boxes = floor((at - a->lo) / a->edge);
  if (!(fabs(boxes) < 1 << 30)) return false;
  state home = (state)(at - boxes * a->edge);
  if (home >= a->hi) home = a->first, boxes += 1;
  *x = home >= a->lo ? home : a->first;
  *image += (int32_t)boxes;
  return true;
}

/* A position, and the frames it crossed on its way there. */
static __device__ __forceinline__ bool wrap_all(const axes *box, state4 *x, int32_t crossed[3])
{
  return wrap(&box->d[0], &x->x, &crossed[0]) & wrap(&box->d[1], &x->y, &crossed[1]) &
         wrap(&box->d[2], &x->z, &crossed[2]);
}

/* |x - back v - built|^2 as the integer that its bits are: these are in the order of the numbers,
 * NaN last, so that a NaN is never lost. */
static __device__ __forceinline__ unsigned long long move_bits(const origin *from, int64_t i,
                                                               state4 x)
{
  const state4 built = from->built[i];
  double dx = (double)x.x - built.x, dy = (double)x.y - built.y, dz = (double)x.z - built.z;
  if (from->back > 0) {
    const state4 v = from->v[i];
    dx -= from->back * v.x, dy -= from->back * v.y, dz -= from->back * v.z;
  }
  return (unsigned long long)__double_as_longlong(fabs(dx * dx + dy * dy + dz * dz));
}

/* A warp's largest to the total, where it may be larger than that. */
static __device__ __forceinline__ void add_move(unsigned long long bits, unsigned long long *total)
{
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    bits = max(bits, __shfl_xor_sync(MD_ALL_LANES, bits, step));
  if (threadIdx.x % MD_WARP == 0 && bits > __ldcg(total)) atomicMax(total, bits);
}

/* Wrap atom i, which is at *x; false: it has no place. */
static __device__ __forceinline__ bool wrap_atom(const axes *box, int64_t i, state4 *x, state4 *to,
                                                 int32_t *image, const int64_t *id,
                                                 wrap_result *result)
{
  const state4 was = *x;
  int32_t crossed[3] = {0, 0, 0};
  if (!wrap_all(box, x, crossed)) {
    *x = was;
    atomicAdd(&result->lost, 1ull);
    atomicMax(&result->not_id, ~(unsigned long long)id[i]);
    return false;
  }
  if (x->x == was.x && x->y == was.y && x->z == was.z) return true;
  to[i] = *x;
  for (int d = 0; d < 3; d++)
    image[3 * i + d] += crossed[d];
  return true;
}

/* On the host, of what has come there. */
static inline md_status check_wrap(const wrap_result *found, double *moved_sq)
{
  memcpy(moved_sq, &found->moved, sizeof *moved_sq);
  MD_REQUIRE(found->lost == 0, MD_ENUMERIC,
             "%llu atom%s a position that is not finite, or too many boxes away to be counted: "
             "atom %lld for one",
             found->lost, found->lost == 1 ? " has" : "s have", (long long)~found->not_id);
  return MD_OK;
}

#endif
