/* core/replay.h - work that is queued again and again with the same arguments.
 *
 * On a GPU what queues it runs as usual the first time, is recorded the second time, and replayed
 * from then on: one launch in place of many, whose kernels follow each other more closely.  On the
 * CPU it runs each time. */
#ifndef REPLAY_H
#define REPLAY_H

#include "core/context.h"

MD_BEGIN_C

typedef struct md_replay md_replay;

/* Queues kernels, fills and copies within the device in the context's stream; may neither wait nor
 * allocate the second time.  Other streams are not to be used. */
typedef md_status md_replay_queue_fn(void *arg);

/* *out is NULL on failure; free with md_replay_destroy (NULL is allowed).  key_bytes: of all that
 * the arguments depend on; padding must be zero.  Errors: MD_ENOMEM. */
md_status md_replay_create(md_ctx *ctx, size_t key_bytes, md_replay **out);
void md_replay_destroy(md_replay *replay);

/* queue(arg), or what it did for this key.  Errors: those of queue; MD_ECUDA. */
md_status md_replay_run(md_replay *replay, const void *key, md_replay_queue_fn *queue, void *arg);

MD_END_C
#endif
