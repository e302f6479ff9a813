/* comm/carry/sum_gpu.h - what sum.c does on the device. */
#ifndef SUM_GPU_H
#define SUM_GPU_H

#include "comm/carry/peer.h"

MD_BEGIN_C

/* Own part of other ranks, [ranks][part] of which this one's is missing, added to `mine`, in double
 * and in the order of ranks.  size: of a float or a double. */
typedef md_status sum_parts_fn(md_ctx *ctx, const void *all, int64_t part, size_t size, void *mine);
sum_parts_fn sum_gpu_parts;

/* A sum by mailboxes, in two rounds.  In the first each slot gets the owner's part of every other
 * rank, `stride` reals apart; in the second what others have added up, in its place. */
typedef struct {
  int ranks, me;
  int64_t stride;
  int64_t begin[PEER_RANKS + 1]; /* of parts */
  md_round round;                /* the first */
  const char *slot[2];           /* of the own mailbox */
  const md_way *ways;            /* of all other ranks */
  uint32_t *come;                /* 0 between kernels */
  md_late *late;
} sum_mail;
typedef md_status sum_mailed_fn(md_ctx *ctx, const sum_mail *job, size_t size, void *reals);
sum_mailed_fn sum_gpu_mailed;

MD_END_C
#endif
