/* neighbor/gpu/neighbor_gpu.prec.cu - bins of atoms, frames unfolded, one thread an atom: a
 * position is read, and four bytes of key written, and where keys are counted, as many of
 * arrival. */
#include "core/gpu/launch_gpu.h"
#include "neighbor/gpu/bins_gpu.h"

enum { BLOCK = 256 };

static __global__ void key_kernel(int64_t count, const bins b, const state4 *x,
                                  const uint32_t *curve, uint32_t *key,
                                  const ordering_counter counter)
{
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = md_thread();
  if (i >= count) return;
  const state4 xi = x[i];
  const uint32_t column = (uint32_t)bin_along(&b, 0, xi.x) * b.n[1] + bin_along(&b, 1, xi.y);
  const uint32_t cell = column * b.n[2] + bin_along(&b, 2, xi.z);
  const uint32_t k = curve ? curve[cell] : cell;
  key[i] = k;
  if (counter.count) counter.arrival[i] = atomicAdd(&counter.count[k], 1);
}

md_status PREC(neighbor_gpu_keys)(neighbor_list *list, const md_atoms *atoms, int64_t count,
                                  const uint32_t *curve)
{
  if (count == 0) return MD_OK;
  cudaLaunchAttribute overlap;
  const cudaLaunchConfig_t config =
      md_launch_config(list->ctx, dim3(md_blocks(count, BLOCK)), BLOCK, true, &overlap);
  MD_CUDA(cudaLaunchKernelEx(
      &config, key_kernel, count, bins_of(curve ? &list->grid : &list->near, !curve),
      (const state4 *)list->x, curve, (uint32_t *)list->key.data, list->counter));
  return MD_OK;
}

static __global__ void unfold_kernel(int64_t n, int64_t all, const md_frames_offset offset,
                                     const int32_t *__restrict__ image,
                                     const int32_t *__restrict__ home,
                                     const int32_t *__restrict__ shift,
                                     const state4 *__restrict__ x, state4 *__restrict__ to)
{
  const int64_t i = md_thread();
  if (i >= all) return;
  int32_t of[3];
  for (int d = 0; d < 3 && i < n; d++)
    of[d] = image[3 * i + d];
  if (i >= n) md_ghost_frame(offset.frames, image, home[i - n], shift[i - n], of);
  state4 xi = x[i];
  xi.x = (state)(xi.x + md_frames_add(&offset, 0, of[0]));
  xi.y = (state)(xi.y + md_frames_add(&offset, 1, of[1]));
  xi.z = (state)(xi.z + md_frames_add(&offset, 2, of[2]));
  to[i] = xi;
}

md_status PREC(neighbor_gpu_unfold)(const md_atoms *atoms, const md_frames_offset *offset, void *to)
{
  const int64_t all = atoms->n + atoms->n_ghost;
  unfold_kernel<<<md_blocks(all, BLOCK), BLOCK, 0, (cudaStream_t)atoms->ctx->stream>>>(
      atoms->n, all, *offset, (const int32_t *)atoms->image.data, (const int32_t *)atoms->home.data,
      (const int32_t *)atoms->shift.data, (const state4 *)atoms->x.data, (state4 *)to);
  MD_LAUNCHED();
  return MD_OK;
}
