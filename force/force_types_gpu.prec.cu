/* force/force_types_gpu.prec.cu - types of atoms and ghosts as pair kernels read them, from where
 * they travel: one thread an atom or ghost reads the fourth component of a velocity, of its home
 * where it is a ghost, and writes a byte.  Ghosts that are images of other processes' atoms have
 * theirs from an array of reals, which has been filled in between.  Once a list. */
#include "core/gpu/cuda.h"
#include "force/force_impl.h"

enum { BLOCK = 256 };

static __global__ void type_kernel(int64_t n, int64_t all, const state4 *__restrict__ v,
                                   const int32_t *__restrict__ home, uint8_t *__restrict__ type,
                                   real *__restrict__ values)
{
  const int64_t k = md_thread();
  if (k >= all) return;
  const int64_t at = k < n ? k : home[k - n];
  if (at < 0) return;
  type[k] = (uint8_t)v[at].w;
  if (values && k < n) values[k] = (real)v[k].w;
}

static __global__ void filled_kernel(int64_t n, int64_t n_ghost, const int32_t *__restrict__ home,
                                     const real *__restrict__ values, uint8_t *__restrict__ type)
{
  const int64_t g = md_thread();
  if (g < n_ghost && home[g] < 0) type[n + g] = (uint8_t)values[n + g];
}

md_status PREC(force_gpu_take_types)(const md_atoms *atoms, uint8_t *type, void *values)
{
  const int64_t n = atoms->n, all = n + atoms->n_ghost;
  if (all == 0) return MD_OK;
  type_kernel<<<md_blocks(all, BLOCK), BLOCK, 0, (cudaStream_t)atoms->ctx->stream>>>(
      n, all, (const state4 *)atoms->v.data, (const int32_t *)atoms->home.data, type,
      (real *)values);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(force_gpu_take_filled)(const md_atoms *atoms, uint8_t *type, void *values)
{
  if (atoms->n_ghost == 0) return MD_OK;
  filled_kernel<<<md_blocks(atoms->n_ghost, BLOCK), BLOCK, 0, (cudaStream_t)atoms->ctx->stream>>>(
      atoms->n, atoms->n_ghost, (const int32_t *)atoms->home.data, (const real *)values, type);
  MD_LAUNCHED();
  return MD_OK;
}
