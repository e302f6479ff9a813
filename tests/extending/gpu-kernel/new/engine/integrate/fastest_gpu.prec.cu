/* engine/integrate/fastest_gpu.prec.cu - the greatest v^2 on the GPU, one thread per atom.
 *
 * An atom takes 16 bytes in single precision, 32 in double; a warp finds its greatest by shuffles,
 * so that there is one atomic for 32 atoms.  v^2 has no sign: doubles that are not negative are
 * ordered as the integers of the same bits, and a NaN, its sign cleared, is above all of them. */
#include "core/gpu/cuda.h"
#include "engine/integrate/integrate_impl.h"

enum { FASTEST_BLOCK = 256 };

/* The result of integrate_fastest, which waits for it: one call at a time uses it. */
static __device__ unsigned long long fastest;

static __global__ void __launch_bounds__(FASTEST_BLOCK)
    fastest_kernel(int64_t n, const state4 *__restrict__ v)
{
  const int64_t i = md_thread();
  double v_sq = 0;
  if (i < n) {
    const state4 vi = v[i];
    const double x = vi.x, y = vi.y, z = vi.z;
    v_sq = x * x + y * y + z * z;
  }
  unsigned long long most = (unsigned long long)__double_as_longlong(v_sq) & ~(1ull << 63);
  for (int step = MD_WARP / 2; step > 0; step /= 2)
    most = max(most, __shfl_xor_sync(MD_ALL_LANES, most, step));
  if (threadIdx.x % MD_WARP == 0) atomicMax(&fastest, most);
}

md_status PREC(integrate_gpu_fastest)(md_atoms *atoms, double *v_sq)
{
  void *result;
  MD_CUDA(cudaGetSymbolAddress(&result, fastest));
  MD_TRY(md_fill(atoms->ctx, result, 0, sizeof *v_sq));
  fastest_kernel<<<md_blocks(atoms->n, FASTEST_BLOCK), FASTEST_BLOCK, 0,
                   (cudaStream_t)atoms->ctx->stream>>>(atoms->n, (const state4 *)atoms->v.data);
  MD_LAUNCHED();
  return md_read(atoms->ctx, v_sq, result, sizeof *v_sq);
}
