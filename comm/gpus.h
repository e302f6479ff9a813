/* comm/gpus.h - the GPUs of several ranks: which one a rank takes, who shares one, messages between
 * their memories. */
#ifndef GPUS_H
#define GPUS_H

#include "comm/world.h"
#include "core/context.h"

MD_BEGIN_C

/* This rank's GPU, before its context is made: the one of this number; where that is negative and
 * there are several ranks, those of a host take the GPUs that they see in turn.
 * Errors: MD_ENOGPU, MD_ECUDA. */
md_status gpus_choose(int index);
/* How many ranks have this rank's GPU, itself included.  All ranks together.
 * Errors, of all: MD_ENOMEM, MD_ENOGPU, MD_ECUDA. */
md_status gpus_sharers(int *sharers);

/* Messages by NCCL (comm/world/nccl_gpu.cu).  open: on all ranks, each with a GPU of its own;
 * *communicator, ncclComm_t, is NULL where there is none.  start: queue what these messages carry,
 * which lies on the device and stays until the context's stream is past them.  close: NULL is
 * allowed.  Errors: MD_EINVAL (a rank has no libnccl), MD_ECUDA. */
typedef md_status nccl_open_fn(void **communicator);
typedef md_status nccl_start_fn(md_ctx *ctx, void *communicator, const world_message *in, int n_in,
                                const world_message *out, int n_out);
typedef void nccl_close_fn(void *communicator);
nccl_open_fn nccl_gpu_open;
nccl_start_fn nccl_gpu_start;
nccl_close_fn nccl_gpu_close;

MD_END_C
#endif
