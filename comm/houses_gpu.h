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

/* Places that atoms leave, by rising number, among those of n atoms.  Atoms that arrive take them
 * in turn, then those behind all; where fewer arrive, the last atoms close the gaps. */
typedef struct {
  int64_t n;
  int32_t count;
  const int32_t *item; /* [count] */
} gaps;

/* Of the k-th that arrives. */
static __device__ __forceinline__ int64_t place_of(const gaps *g, int64_t k)
{
  return k < g->count ? g->item[k] : g->n + k - g->count;
}

/* How many gaps are before place i. */
static __device__ __forceinline__ int32_t gaps_before(const gaps *g, int64_t i)
{
  int32_t lo = 0, hi = g->count;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;
    if (g->item[mid] < i)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Behind so many arrivals: the k-th of the last places, as many as gaps are left; an atom that
 * stays moves from there to such a gap.  None of these places is one that an arrival takes. */
static __device__ __forceinline__ void close_gap(const houses *a, const gaps *g, int32_t arrivals,
                                                 int64_t k)
{
  const gaps left = {g->n, g->count - arrivals, g->item + arrivals};
  if (k >= left.count) return;
  const int64_t kept = g->n - left.count, i = kept + k;
  const int32_t before = gaps_before(&left, i);
  if (before < left.count && left.item[before] == i) return;
  const traveller t = leave_house(a, i);
  enter_house(a, left.item[k - before + gaps_before(&left, kept)], &t);
}

#endif
