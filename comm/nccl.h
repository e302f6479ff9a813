/* comm/nccl.h - messages between GPUs by NVIDIA's library, also between hosts: one a neighbour and
 * exchange, queued on the stream, so that the host waits for none.
 *
 * libnccl is loaded when it is asked for (core/library.h).  It refuses two ranks on one GPU. */
#ifndef NCCL_H
#define NCCL_H

#include "comm/comm_impl.h"
#include "comm/world.h"

MD_BEGIN_C

/* On all ranks, each with a GPU of its own.  Errors: MD_EINVAL (a rank has no libnccl),
 * MD_ECUDA. */
typedef md_status nccl_open_fn(comm *cm);
/* Queue: what these messages carry lies on the device, and stays until the stream is past them.
 * Errors: MD_ECUDA. */
typedef md_status nccl_start_fn(comm *cm, const world_message *in, int n_in,
                                const world_message *out, int n_out);
typedef void nccl_close_fn(comm *cm);
nccl_open_fn nccl_gpu_open;
nccl_start_fn nccl_gpu_start;
nccl_close_fn nccl_gpu_close;

MD_END_C
#endif
