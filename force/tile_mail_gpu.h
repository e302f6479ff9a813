/* force/tile_mail_gpu.h - steps by tiles on several GPUs: who exchanges ghosts while others compute
 * (core/mail.h).
 *
 * Tiles at a border, which read ghosts of other ranks or have atoms that are such, come first; each
 * waits for the items that it reads (tile_job_gpu.h), or in double precision for the neighbours'
 * flags of the step before, and stores images where they go; the last of them raises the flags, or
 * the next step does where items tell that they have come.
 * All other tiles run meanwhile.  Blocks begin in their order, and what one waits for is of an
 * earlier step: so it comes, however many blocks wait. */
#ifndef TILE_MAIL_GPU_H
#define TILE_MAIL_GPU_H

#include "core/gpu/verlet_gpu.h"
#include "force/tile_job_gpu.h"

/* Block, of a tile that exchanges: what came in the step before may be read. */
static __device__ __forceinline__ void await_mail(const tile_job *job)
{
  const tile_post *post = &job->post;
  if (TAGGED || !post->reads) return;
  wait_flags(post->mail.n_ways, post->mail.ways, post->round - 1, post->mail.late);
  __syncthreads();
}

/* One image of an atom that moved to x; slot: of the mailbox that it goes to. */
static __device__ __forceinline__ void send_image(const tile_job *job, const tile_places *at,
                                                  md_image image, char *slot, state4 x)
{
  const state4 there = shifted_by(x, image.shift, job->edge);
#if MD_PREC == 1
  const coord4 c = verlet_coord(there, 1 / job->scale);
#else
  const coord4 c = there;
#endif
  if (image.way < 0) {
    at->x_new[job->n + image.to] = there;
    if (MD_PREC == 1) at->coord_new[job->n + image.to] = c;
    return;
  }
  coord4 *to = (coord4 *)slot + image.to;
#if MD_PREC == 2
  *to = c;
#else
  uint4 item;
  memcpy(&item, &c, sizeof item);
  item.w = tag_of(job->post.round);
  put_item(to, item);
#endif
}

/* Images of an atom that moved to x, its items from begin to before end.  All is loaded for several
 * of them before the first is stored: a store to a mailbox lets no load pass. */
static __device__ __forceinline__ void send_images(const tile_job *job, const tile_places *at,
                                                   int32_t begin, int32_t end, state4 x)
{
  enum { AT_ONCE = 4 };
  const md_mail *mail = &job->post.mail;
  for (int32_t first = begin; first < end; first += AT_ONCE) {
    md_image image[AT_ONCE];
    char *slot[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (first + u < end) image[u] = mail->image[first + u];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (first + u < end && image[u].way >= 0)
        slot[u] = mail->ways[image[u].way].slot[job->post.slot];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (first + u < end) send_image(job, at, image[u], slot[u], x);
  }
}

/* Whether neighbours look for mail item by item: flags then tell only that it was read. */
static __device__ __forceinline__ bool is_looked_for(const tile_job *job)
{
  return TAGGED && !job->post.mail.carry;
}

/* When a block of a step goes on, the step two before has ended, and so read its mail: the first
 * block tells all neighbours. */
static __device__ __forceinline__ void tell_read(const tile_job *job)
{
  const md_mail *mail = &job->post.mail;
  if (blockIdx.x > 0 || !job->post.reads || !is_looked_for(job)) return;
  for (int w = (int)threadIdx.x; w < mail->n_ways; w += ROWS)
    put_flag(mail->ways[w].flag, job->post.read);
}

/* Block, of a tile that exchanges: its images are stored. */
static __device__ __forceinline__ void close_mail(const tile_job *job)
{
  const tile_post *post = &job->post;
  const md_mail *mail = &post->mail;
  if (post->sends && !is_looked_for(job))
    close_round(mail->come + post->round % 2, takers(job), mail->n_ways, mail->ways, post->round);
}

/* Whether a halo has a ghost of another rank's atom: the last entry of a pass is one. */
static __device__ __forceinline__ bool reads_mail(const tile_job *job, int64_t tile)
{
  const neighbor_tiles *tiles = &job->tiles;
  bool reads = false;
  for (int32_t p = (int32_t)threadIdx.x; p < tiles->passes; p += ROWS)
    reads |= by_mail(job, tiles->halos[tile * tiles->passes + p].last);
  return reads;
}

/* Whether the atom of a row is a ghost of another rank: of its images the last one is. */
static __device__ __forceinline__ bool is_sent(const tile_job *job, int64_t row)
{
  const md_mail *mail = &job->post.mail;
  const int32_t i = job->rows ? job->rows[row] : (int32_t)row, end = mail->first[i + 1];
  return mail->first[i] < end && mail->image[end - 1].way >= 0;
}

#endif
