/* stokes/step/pair_force_impl.h - the force of one pair, and what a backend provides. */
#ifndef STOKES_PAIR_FORCE_IMPL_H
#define STOKES_PAIR_FORCE_IMPL_H

#include "stokes/matrix/assemble.h"
#include "stokes/normal.h"
#include "stokes/step/pair_force.h"

MD_BEGIN_C

typedef struct {
  stokes_view spheres;
  stokes_pair_view pairs;
  lubrication_range range;
  double inv_far;
  stokes_noise noise;
  int m;
  double *f; /* of spheres first ... end - 1 */
  int64_t first, end;
} pair_force_job;

typedef md_status pair_force_fn(md_ctx *ctx, const pair_force_job *job);
pair_force_fn pair_force_cpu, pair_force_gpu;

/* normal_three of PAIR_BATCH items, to the last bits, for each instruction set. */
enum { PAIR_BATCH = 64 };
typedef void pair_normals_fn(uint64_t seed, normal_use use, const uint64_t index[PAIR_BATCH],
                             const uint64_t step[PAIR_BATCH], double z[3][PAIR_BATCH]);
SIMD_DECLARE_(pair_normals_fn, pair_normals);

MD_END_C

/* T'^1/2 = across I + (along - across) e e^T, and the factor of the sphere whose list it is. */
typedef struct {
  double e[3], along, across, weight;
  uint64_t index; /* of the pair's numbers */
} pair_force_root;

/* The root of a pair that resists.  weight is (a_j / a_i)^1/4, negative for the sphere with the
 * larger number; that of the other sphere is -1 / weight. */
MD_INLINE pair_force_root pair_force_root_of(const pair_force_job *job, const assemble_place *p,
                                             int64_t i, int64_t j)
{
  const assemble_terms t = assemble_pair(p, &job->range, job->inv_far);
  const uint64_t own = (uint64_t)job->noise.id[i], other = (uint64_t)job->noise.id[j];
  const double along = t.squeeze + t.slide, weight = sqrt(sqrt(p->a_j * inverse_of(p->a_i)));
  return (pair_force_root){{t.e[0], t.e[1], t.e[2]},
                           sqrt(along > 0 ? along : 0),
                           sqrt(t.slide),
                           own < other ? weight : -weight,
                           own < other ? own << 32 | other : other << 32 | own};
}

/* T'^1/2 z. */
MD_INLINE void pair_force_times(const pair_force_root *root, const double *z, double *part)
{
  const double *e = root->e, along = e[0] * z[0] + e[1] * z[1] + e[2] * z[2];
  for (int d = 0; d < 3; d++)
    part[d] = root->across * z[d] + (root->along - root->across) * along * e[d];
}

#endif
