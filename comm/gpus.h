/* comm/gpus.h - the GPUs of several ranks: which one a rank takes, who shares one, messages between
 * their memories. */
#ifndef GPUS_H
#define GPUS_H

#include "comm/world.h"
#include "core/buffer.h"
#include "core/mail.h"

MD_BEGIN_C

/* This rank's GPU, before its context is made: the one of this number; where that is negative and
 * there are several ranks, those of a host take the GPUs that they see in turn.
 * Errors: MD_ENOGPU, MD_ECUDA. */
md_status gpus_choose(int index);
/* How many ranks have this rank's GPU, itself included.  All ranks together.
 * Errors, of all: MD_ENOMEM, MD_ENOGPU, MD_ECUDA. */
md_status gpus_sharers(int *sharers);

/* A mailbox on this rank's GPU, and those of the others of its host, which each has mapped (CUDA
 * IPC): a flag of every rank, and MD_SLOTS slots of `room` bytes. */
typedef struct {
  char *own;
  size_t room;
  char **theirs;  /* [ranks] mapped, or NULL */
  size_t *rooms;  /* [ranks] */
  md_buffer late; /* one md_late */
  md_round round;
  uint32_t told; /* rows of words that ranks have told each other (comm/carry/peer.h) */
} gpus_mail;

/* Bytes of the flags, before two rows of words of each rank; of both, before the first slot: a
 * multiple of 256. */
static inline size_t gpus_mail_told(void)
{
  return ((size_t)world_count() * sizeof(md_round) + 15) / 16 * 16;
}
static inline size_t gpus_mail_flags(void)
{
  enum { WORD = 16, FURTHER = 3 /* words than one for each rank */ };
  const size_t ranks = (size_t)world_count();
  return (gpus_mail_told() + 2 * ranks * (ranks + FURTHER) * WORD + 255) / 256 * 256;
}

/* What comes in a round. */
static inline char *gpus_mail_slot(const gpus_mail *mail, md_round round)
{
  return mail->own + gpus_mail_flags() + round % MD_SLOTS * mail->room;
}

/* Of all ranks together: mailboxes with slots of so many bytes at least in place of those there
 * were, all flags down; *failed where a rank cannot, told in md_message of that rank.  close: an
 * empty one is allowed.  Errors: MD_ENOMEM, MD_ECUDA. */
typedef md_status mail_open_fn(md_ctx *ctx, gpus_mail *mail, size_t bytes, bool *failed);
typedef void mail_close_fn(md_ctx *ctx, gpus_mail *mail);
mail_open_fn mail_gpu_open;
mail_close_fn mail_gpu_close;
/* Rank r as a neighbour, whose items `count` from `first` on go to place `at` of its slots. */
md_way gpus_mail_way(const gpus_mail *mail, int r, int64_t at, int64_t first, int64_t count);
/* So many rounds begin.  Errors: MD_ECUDA (names a rank that did not come in an earlier one). */
md_status gpus_mail_begin(gpus_mail *mail, int rounds);

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
