/* comm/carry/peer_gpu.cu - turns of the flags of mailboxes and outboxes. */
#include "core/gpu/flags_gpu.h"
#include "comm/ranks_impl.h"

/* Thread: some neighbours. */
static __global__ void turn_kernel(int n, const md_way *ways, md_round round,
                                   volatile md_late *late)
{
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x)
    raise_flag(ways[w].flag, round);
  wait_flags(n, ways, round_before(round, MD_READ_LATER), late);
}

md_status peer_gpu_turn(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  if (peer->n_ways == 0) return MD_OK;
  turn_kernel<<<1, MD_WARP, 0, (cudaStream_t)cm->ctx->stream>>>(
      peer->n_ways, (const md_way *)peer->ways.data, peer->mail.round,
      (volatile md_late *)peer->mail.late.data);
  MD_LAUNCHED();
  return MD_OK;
}

static __global__ void await_kernel(const md_way *way, md_round round, volatile md_late *late)
{
  wait_flags(1, way, round, late);
}

md_status relay_gpu_await(comm *cm, md_round round)
{
  const ranks_relay *relay = &cm->ranks->relay;
  await_kernel<<<1, 1, 0, (cudaStream_t)cm->ctx->stream>>>((const md_way *)relay->way.data, round,
                                                           (volatile md_late *)relay->late.data);
  MD_LAUNCHED();
  return MD_OK;
}
