/* comm/peer_gpu.cu - mailboxes of other ranks mapped by CUDA IPC, and a turn of their flags. */
#include "core/gpu/flags_gpu.h"
#include "comm/ranks_impl.h"

#include <string.h>

/* What the driver hands out for small allocations lies beside others: these bytes are alone. */
static const size_t ALONE = 2 << 20;

/* How another rank maps a mailbox. */
typedef struct {
  cudaIpcMemHandle_t handle;
  unsigned long long room;
} address;

static void unmap(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  for (int r = 0; r < world_count(); r++) {
    if (peer->theirs[r]) cudaIpcCloseMemHandle(peer->theirs[r]);
    peer->theirs[r] = NULL;
  }
}

void peer_gpu_close(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  unmap(cm);
  if (peer->mail) cudaFree(peer->mail);
  cm->ctx->bytes_allocated -= (int64_t)(peer->mail ? peer_flags() + MD_SLOTS * peer->room : 0);
  peer->mail = NULL;
  peer->room = 0;
}

/* A mailbox with slots of so many bytes, its flags down. */
static md_status make_mail(comm *cm, size_t bytes, address *own)
{
  ranks_peer *peer = &cm->ranks->peer;
  size_t room = (bytes + 255) / 256 * 256;
  if (peer_flags() + MD_SLOTS * room < ALONE)
    room = (ALONE - peer_flags()) / (MD_SLOTS * 256) * 256;
  if (room > peer->room) {
    peer_gpu_close(cm);
    MD_CUDA(cudaMalloc(&peer->mail, peer_flags() + MD_SLOTS * room));
    peer->room = room;
    cm->ctx->bytes_allocated += (int64_t)(peer_flags() + MD_SLOTS * room);
  }
  MD_CUDA(cudaMemset(peer->mail, 0, peer_flags()));
  MD_CUDA(cudaDeviceSynchronize());
  own->room = peer->room;
  MD_CUDA(cudaIpcGetMemHandle(&own->handle, peer->mail));
  return MD_OK;
}

static md_status map_all(comm *cm, const address *all)
{
  ranks_peer *peer = &cm->ranks->peer;
  for (int r = 0; r < world_count(); r++) {
    void *theirs;
    peer->rooms[r] = all[r].room;
    if (r == world_rank()) continue;
    MD_CUDA(cudaIpcOpenMemHandle(&theirs, all[r].handle, cudaIpcMemLazyEnablePeerAccess));
    peer->theirs[r] = (char *)theirs;
  }
  return MD_OK;
}

/* Whether it is so on any rank; what CUDA says of it is no error of later calls. */
static bool any_rank(bool here)
{
  double most = here;
  cudaGetLastError();
  world_most(&most, 1);
  return most > 0;
}

md_status peer_gpu_open(comm *cm, size_t bytes, bool *failed)
{
  ranks_peer *peer = &cm->ranks->peer;
  address own, *all = (address *)malloc((size_t)world_count() * sizeof *all);
  memset(&own, 0, sizeof own);
  md_status status = all ? md_shared_reserve(cm->ctx, &peer->late, sizeof(md_late))
                         : MD_FAIL(MD_ENOMEM, "out of memory for %d ranks", world_count());
  if (!status) status = md_ctx_sync(cm->ctx);
  unmap(cm);
  *failed = any_rank(status != MD_OK); /* no rank has another one's memory mapped any more */
  if (!*failed) {
    md_late *late = (md_late *)peer->late.data;
    *late = (md_late){-1};
    peer->round = 0;
    *failed = any_rank(make_mail(cm, bytes, &own) != MD_OK);
  }
  if (!*failed) {
    world_gather(&own, sizeof own, all);
    *failed = any_rank(map_all(cm, all) != MD_OK);
  }
  free(all);
  return status;
}

/* Thread: some neighbours. */
static __global__ void turn_kernel(int n, const md_way *ways, md_round round,
                                   volatile md_late *late)
{
  for (int w = (int)threadIdx.x; w < n; w += (int)blockDim.x)
    raise_flag(ways[w].flag, round);
  wait_flags(n, ways, round, late);
}

md_status peer_gpu_turn(comm *cm)
{
  ranks_peer *peer = &cm->ranks->peer;
  if (peer->n_ways == 0) return MD_OK;
  turn_kernel<<<1, MD_WARP, 0, (cudaStream_t)cm->ctx->stream>>>(
      peer->n_ways, (const md_way *)peer->ways.data, peer->round,
      (volatile md_late *)peer->late.data);
  MD_LAUNCHED();
  return MD_OK;
}
