/* force/force_types_gpu.prec.cu - types of atoms and ghosts as pair kernels read them, from where
 * they travel: one thread an atom or ghost reads the fourth component of a velocity, of its home
 * where it is a ghost, and writes a byte.  Once a list. */
#include "core/gpu/cuda.h"
#include "force/force_impl.h"

enum { BLOCK = 256 };

static __global__ void type_kernel(int64_t n, int64_t all, const state4 *__restrict__ v,
                                   const int32_t *__restrict__ home, uint8_t *__restrict__ type)
{
  const int64_t k = md_thread();
  if (k < all) type[k] = (uint8_t)v[k < n ? k : home[k - n]].w;
}

md_status PREC(force_gpu_take_types)(const md_atoms *atoms, uint8_t *type)
{
  const int64_t n = atoms->n, all = n + atoms->n_ghost;
  if (all == 0) return MD_OK;
  type_kernel<<<md_blocks(all, BLOCK), BLOCK, 0, (cudaStream_t)atoms->ctx->stream>>>(
      n, all, (const state4 *)atoms->v.data, (const int32_t *)atoms->home.data, type);
  MD_LAUNCHED();
  return MD_OK;
}
