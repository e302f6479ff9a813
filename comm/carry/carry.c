/* comm/carry/carry.c - how positions come to other ranks: what was asked for, or what there is. */
#include "comm/carry/peer.h"
#include "comm/ranks_impl.h"

#include <stdio.h>
#include <string.h>

#define WORD(name, word) word,
const char *const comm_carrier_words[COMM_CARRIER_COUNT] = {COMM_CARRIERS(WORD)};
#undef WORD

static mail_open_fn *const open_mail = MD_GPU(mail_gpu_open);
static nccl_open_fn *const open_nccl = MD_GPU(nccl_gpu_open);

static void because(comm_ranks *ranks, comm_carrier carrier, const char *reason)
{
  ranks->carrier = carrier;
  snprintf(ranks->carrier_reason, sizeof ranks->carrier_reason, "%s", reason);
}

/* Whether all ranks are on one host, and whether some of them have one GPU. */
static bool on_one_host(const peer_name *name, bool *shared)
{
  bool one = true;
  *shared = false;
  for (int r = 0; r < world_count(); r++) {
    one = one && strcmp(name[r].host, name[0].host) == 0;
    for (int q = 0; q < r; q++)
      *shared = *shared || memcmp(name[q].uuid, name[r].uuid, sizeof name[r].uuid) == 0;
  }
  return one;
}

/* Between GPUs that do not see each other's memory, for such a reason: NCCL where all ranks have
 * it. */
static md_status carry_messages(comm *cm, comm_carrier asked, const char *reason)
{
  char both[96];
  const md_status status = open_nccl(&cm->ranks->nccl);
  because(cm->ranks, COMM_NCCL, reason);
  if (!status || asked == COMM_NCCL) return status;
  snprintf(both, sizeof both, "%s, and NCCL cannot be used", reason);
  because(cm->ranks, COMM_MPI, both);
  return world_agree(MD_OK); /* that failure is none any more */
}

/* The carrier between GPUs. */
static md_status choose(comm *cm, comm_carrier asked)
{
  comm_ranks *ranks = cm->ranks;
  bool shared, failed;
  MD_TRY(peer_meet(cm));
  const bool one_host = on_one_host(ranks->peer.name, &shared);
  MD_REQUIRE(asked != COMM_PEER || one_host, MD_EINVAL,
             "ranks are on several hosts: expected the carrier nccl, mpi or auto");
  MD_REQUIRE(asked != COMM_NCCL || !shared, MD_EINVAL,
             "ranks share a GPU, which NCCL refuses: expected the carrier mpi, or auto");
  because(ranks, COMM_MPI, "ranks share a GPU, which would take turns to wait for each other");
  if (asked == COMM_AUTO && shared) return MD_OK;
  if (asked == COMM_NCCL) return carry_messages(cm, asked, "as asked");
  if (!one_host) return carry_messages(cm, asked, "ranks are on several hosts");
  MD_REQUIRE(asked != COMM_PEER || world_count() <= PEER_RANKS, MD_EINVAL,
             "%d ranks: expected at most %d with the carrier peer", world_count(), PEER_RANKS);
  if (world_count() > PEER_RANKS)
    return carry_messages(cm, asked, "more ranks than have mailboxes");
  MD_TRY(world_agree(open_mail(cm->ctx, &ranks->peer.mail, 0, &failed)));
  if (!failed) {
    because(ranks, COMM_PEER,
            asked == COMM_PEER ? "as asked" : "GPUs of one host see each other's memory");
    return MD_OK;
  }
  MD_REQUIRE(asked != COMM_PEER, MD_EINVAL,
             "GPUs do not see each other's memory: expected the carrier nccl, mpi or auto");
  return carry_messages(cm, asked, "GPUs do not see each other's memory");
}

md_status comm_carry(comm *cm, comm_carrier asked)
{
  if (!cm->ranks) return MD_OK;
  const bool gpu = cm->ctx->backend == MD_GPU;
  MD_REQUIRE(asked == COMM_AUTO || asked == COMM_MPI || gpu, MD_EINVAL,
             "atoms are on CPUs: expected the carrier mpi, or auto");
  if (gpu && asked != COMM_MPI) return choose(cm, asked);
  because(cm->ranks, COMM_MPI, asked == COMM_MPI ? "as asked" : "atoms are on CPUs");
  return MD_OK;
}

comm_carrier comm_carried(const comm *cm, const char **reason)
{
  *reason = cm->ranks ? cm->ranks->carrier_reason : "one rank";
  return cm->ranks ? cm->ranks->carrier : COMM_MPI;
}
