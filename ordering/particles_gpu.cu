/* ordering/particles_gpu.cu - keys of particles on the GPU: one thread a particle, 12 or 24 bytes
 * read and 4 written; an atomic minimum only where a particle has no cell. */
#include "core/buffer.h"
#include "core/gpu/cuda.h"
#include "ordering/particle.h"

enum { BLOCK = 256 };

static __global__ void particle_kernel(const __grid_constant__ particle_grid g, uint32_t *key,
                                       unsigned long long *first)
{
  const int64_t i = md_thread();
  if (i < g.n && !particle_key(&g, i, &key[i])) atomicMin(first, (unsigned long long)i);
}

md_status particle_gpu_keys(md_ctx *ctx, const particle_grid *g, uint32_t *key, uint64_t *first)
{
  const uint64_t none = (uint64_t)g->n;
  MD_TRY(md_write(ctx, first, &none, sizeof none));
  particle_kernel<<<md_blocks(g->n, BLOCK), BLOCK, 0, (cudaStream_t)ctx->stream>>>(
      *g, key, (unsigned long long *)first);
  MD_LAUNCHED();
  return MD_OK;
}
