/* force/types_gpu.h - atoms of several types in GPU kernels: a byte an atom and ghost, and tables
 * of constants for each two types.
 *
 * Kernels for full and half lists read tables through the L1. */
#ifndef TYPES_GPU_H
#define TYPES_GPU_H

#include "core/gpu/cuda.h"
#include "force/force_impl.h"

/* What a kernel reads of types; nothing where atoms are alike. */
typedef struct {
  int32_t n;
  const uint8_t *type;         /* [atoms and ghosts] */
  const real4 *force, *energy; /* [n][n], as in force_types */
} type_tables;

static type_tables open_types(const force_job *job)
{
  const force_types *types = job->types;
  if (!types) return (type_tables){};
  return (type_tables){types->n, (const uint8_t *)types->type.data,
                       (const real4 *)types->force.data, (const real4 *)types->energy.data};
}

/* Constants of pair `at` of the tables; those of the energy where it is wanted. */
static __device__ __forceinline__ lj_reals load_pair(const type_tables *types, int32_t at,
                                                     bool energy)
{
  lj_reals c = {};
  const real4 pull = types->force[at];
  c.r_cut_sq = pull.x, c.lj1 = pull.y, c.lj2 = pull.z, c.f_shift = pull.w;
  if (!energy) return c;
  const real4 rest = types->energy[at];
  c.lj3 = rest.x, c.lj4 = rest.y, c.u_shift = rest.z;
  return c;
}

#endif
