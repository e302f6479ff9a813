/* stokes/step/separate_impl.h - one pair of overlapping spheres, and what a backend provides.
 *
 * Spheres are x, y, z, radius.  A pair that overlaps goes apart along the line of centres until its
 * gap is the smallest allowed; each sphere by the share of the other's radius, so that the smaller
 * one moves farther.  Host and device code. */
#ifndef STOKES_SEPARATE_IMPL_H
#define STOKES_SEPARATE_IMPL_H

#include "stokes/pairs/pairs.h"
#include "stokes/pairs/search.h"

MD_BEGIN_C

typedef struct {
  double box[3];
  stokes_pair_view pairs;
  double gap_min, *x;
  const int64_t *cut; /* CPU: where rows of ranks begin; NULL: one rank has all */
} separation;

/* Sweeps until nothing overlaps; more are given up. */
enum { SEPARATE_SWEEPS = 1000 };

/* *overlaps: pairs at first; *left: pairs, or spheres, that overlapped in the last sweep. */
typedef md_status separate_fn(md_ctx *ctx, const separation *s, md_buffer *scratch,
                              int64_t *overlaps, int64_t *left);
separate_fn separate_cpu, separate_gpu;

MD_END_C

MD_INLINE bool separate_overlap(const separation *s, int64_t i, int64_t j)
{
  const double sum = s->x[4 * i + 3] + s->x[4 * j + 3];
  return search_distance_sq(s->box, s->x + 4 * i, s->x + 4 * j) < sum * sum;
}

/* How far sphere i goes to leave sphere j. */
MD_INLINE void separate_step(const separation *s, int64_t i, int64_t j, double *step)
{
  const double *a = s->x + 4 * i, *b = s->x + 4 * j, sum = a[3] + b[3];
  double e[3];
  for (int d = 0; d < 3; d++)
    e[d] = search_difference(a[d], b[d], s->box[d]);
  double r = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  if (!(r > 0)) r = 1, e[0] = i < j ? -1 : 1, e[1] = e[2] = 0; /* any direction will do */
  const double share = (sum * (1 + s->gap_min / 2) - r) / r * b[3] / sum;
  for (int d = 0; d < 3; d++)
    step[d] = share * e[d];
}

#endif
