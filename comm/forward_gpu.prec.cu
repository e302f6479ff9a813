/* comm/forward_gpu.prec.cu - positions of ghosts by way of messages, and a real of each atom,
 * packed and read on the GPU (ranks_gpu.h).
 *
 * Bytes of a step: an image that is sent takes 4 of index, a gathered position and 3 states across
 * the bus; one that is received the same and a position written. */
#include "comm/images_gpu.h"
#include "comm/ranks_gpu.h"

enum { BLOCK = 256 };

/* Thread: one coordinate of a position that is sent. */
static __global__ void send_kernel(int64_t words, const int32_t *__restrict__ index,
                                   const state *__restrict__ x, state *__restrict__ out)
{
  const int64_t w = md_thread();
  if (w < words) out[w] = x[4 * (int64_t)index[w / 3] + w % 3];
}

md_status PREC(ranks_gpu_pack)(comm *cm, const md_atoms *atoms)
{
  const comm_ranks *ranks = cm->ranks;
  const int64_t words = 3 * ranks->n_out;
  if (words == 0) return MD_OK;
  send_kernel<<<md_blocks(words, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      words, sent_of(ranks), (const state *)atoms->x.data, (state *)ranks->out.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(ranks_gpu_images)(comm *cm, md_atoms *atoms)
{
  return PREC(comm_gpu_images)(atoms, cm->ranks->n_own);
}

/* Thread: one coordinate of a ghost, shifted; x and fixed are those of the ghosts. */
static __global__ void receive_kernel(int64_t words, const axes box, double inv_scale,
                                      const int32_t *__restrict__ shift,
                                      const state *__restrict__ in, state *__restrict__ x,
                                      coord *__restrict__ fixed)
{
  const int64_t w = md_thread();
  if (w >= words) return;
  const int64_t g = w / 3;
  const int d = (int)(w % 3);
  int s[3];
  md_shift_unpack(shift[g], s);
  const state at = image_at(in[w],
                            d == 0   ? s[0]
                            : d == 1 ? s[1]
                                     : s[2],
                            d == 0   ? box.d[0].edge
                            : d == 1 ? box.d[1].edge
                                     : box.d[2].edge);
  x[4 * g + d] = at;
  if (fixed) fixed[4 * g + d] = coord_from(at, inv_scale);
}

md_status PREC(ranks_gpu_unpack)(comm *cm, md_atoms *atoms, const void *from)
{
  const comm_ranks *ranks = cm->ranks;
  const int64_t words = 3 * ranks->n_in, first = 4 * (atoms->n + ranks->n_own);
  if (words == 0) return MD_OK;
  receive_kernel<<<md_blocks(words, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      words, axes_of(&atoms->frame), 1 / atoms->coord_scale,
      (const int32_t *)atoms->shift.data + ranks->n_own, (const state *)from,
      (state *)atoms->x.data + first, MD_PREC == 1 ? (coord *)atoms->fixed.data + first : NULL);
  MD_LAUNCHED();
  return MD_OK;
}

/* Thread: one real; index NULL: in their order. */
static __global__ void reals_kernel(int64_t n, const int32_t *__restrict__ index,
                                    const real *__restrict__ from, real *__restrict__ to)
{
  const int64_t k = md_thread();
  if (k < n) to[k] = from[index ? index[k] : k];
}

md_status PREC(ranks_gpu_pack_reals)(comm *cm, const void *values)
{
  const comm_ranks *ranks = cm->ranks;
  if (ranks->n_out == 0) return MD_OK;
  reals_kernel<<<md_blocks(ranks->n_out, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      ranks->n_out, sent_of(ranks), (const real *)values, (real *)ranks->out.data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status PREC(ranks_gpu_unpack_reals)(comm *cm, const md_atoms *atoms, void *values)
{
  const comm_ranks *ranks = cm->ranks;
  if (ranks->n_in == 0) return MD_OK;
  reals_kernel<<<md_blocks(ranks->n_in, BLOCK), BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(
      ranks->n_in, NULL, (const real *)ranks->in.data, (real *)values + atoms->n + ranks->n_own);
  MD_LAUNCHED();
  return MD_OK;
}
