/* comm/carry/mailbox_gpu.prec.cu - positions of a step to mailboxes of neighbouring GPUs and from
 * the own one (comm/carry/peer.h): one kernel.
 *
 * Its first blocks store what neighbours need, the next ones move images of own atoms, the last
 * ones wait for the neighbours' flags and read what came.  Blocks begin in their order, and those
 * that store wait for nobody: so every flag is raised, however many blocks wait.
 *
 * Bytes of a step, single: an image that is sent takes 4 of index, 16 gathered and 16 through the
 * link; one that is received 16 of the mailbox, 4 of its shift, and 16 written. */
#include "core/gpu/flags_gpu.h"
#include "comm/images_gpu.h"
#include "comm/ranks_gpu.h"

enum { BLOCK = 256 };

typedef struct {
  int64_t n, n_own, n_in;
  unsigned put, images; /* blocks for each way; for images */
  axes box;
  double inv_scale;
  const int32_t *index, *home, *shift;
  state4 *x;
  coord4 *fixed; /* or NULL */
  int n_ways;
  const md_way *ways;
  md_round round;
  uint32_t *come; /* blocks that have stored, of each way */
  const state4 *mail;
  volatile md_late *late;
} exchange;

/* Positions that a neighbour needs; the last block to have stored raises the flag. */
static __device__ __forceinline__ void put(const exchange *e, unsigned w, unsigned block)
{
  const md_way way = e->ways[w];
  state4 *to = (state4 *)way.slot[e->round % MD_SLOTS] + way.at;
  for (int64_t k = (int64_t)block * BLOCK + threadIdx.x; k < way.count; k += e->put * BLOCK)
    to[k] = e->x[e->index[way.first + k]];
  __syncthreads();
  if (threadIdx.x == 0) close_way(&e->come[w], e->put, way.flag, e->round);
}

/* Ghost g at a place of its home. */
static __device__ __forceinline__ void move_ghost(const exchange *e, int64_t g, state4 home)
{
  int s[3];
  md_shift_unpack(e->shift[g], s);
  const state4 x = shifted(&e->box, home, s);
  e->x[e->n + g] = x;
  if (e->fixed) e->fixed[e->n + g] = verlet_coord(x, e->inv_scale);
}

static __global__ void __launch_bounds__(BLOCK) exchange_kernel(const exchange e)
{
  unsigned block = blockIdx.x;
  const unsigned puts = e.put * (unsigned)e.n_ways;
  if (block < puts) {
    put(&e, block / e.put, block % e.put);
    return;
  }
  block -= puts;
  if (block < e.images) {
    const int64_t g = (int64_t)block * BLOCK + threadIdx.x;
    if (g < e.n_own) move_ghost(&e, g, e.x[e.home[g]]);
    return;
  }
  const int64_t k = (int64_t)(block - e.images) * BLOCK + threadIdx.x;
  wait_flags(e.n_ways, e.ways, e.round, e.late);
  __syncthreads();
  if (k < e.n_in) move_ghost(&e, e.n_own + k, e.mail[k]);
}

md_status PREC(ranks_gpu_exchange)(comm *cm, md_atoms *atoms)
{
  const comm_ranks *ranks = cm->ranks;
  const ranks_peer *peer = &ranks->peer;
  const exchange e = {atoms->n,
                      ranks->n_own,
                      ranks->n_in,
                      md_blocks(peer->most + 1, BLOCK),
                      md_blocks(ranks->n_own, BLOCK),
                      axes_of(&atoms->frame),
                      1 / atoms->coord_scale,
                      sent_of(ranks),
                      (const int32_t *)atoms->home.data,
                      (const int32_t *)atoms->shift.data,
                      (state4 *)atoms->x.data,
                      MD_PREC == 1 ? (coord4 *)atoms->fixed.data : NULL,
                      peer->n_ways,
                      (const md_way *)peer->ways.data,
                      peer->mail.round,
                      (uint32_t *)peer->come.data,
                      (const state4 *)peer_mail(cm),
                      (volatile md_late *)peer->mail.late.data};
  /* One block waits at least: the neighbours' next round must not come before this one. */
  const unsigned blocks = e.put * (unsigned)e.n_ways + e.images + md_blocks(ranks->n_in + 1, BLOCK);
  exchange_kernel<<<blocks, BLOCK, 0, (cudaStream_t)cm->ctx->stream>>>(e);
  MD_LAUNCHED();
  return MD_OK;
}
