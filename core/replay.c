/* core/replay.c - work that is queued again and again with the same arguments. */
#include "core/replay.h"
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>

struct md_replay {
  md_ctx *ctx;
  size_t key_bytes;
  bool seen;   /* the key, once or more */
  void *graph; /* what was recorded for it, or NULL */
  char key[];
};

md_status md_replay_create(md_ctx *ctx, size_t key_bytes, md_replay **out)
{
  *out = calloc(1, sizeof **out + key_bytes);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a record of work");
  (*out)->ctx = ctx;
  (*out)->key_bytes = key_bytes;
  return MD_OK;
}

void md_replay_destroy(md_replay *replay)
{
#ifdef MD_HAVE_CUDA
  if (replay) md_gpu_graph_destroy(replay->graph);
#endif
  free(replay);
}

#ifdef MD_HAVE_CUDA
static md_status record(md_replay *replay, md_replay_queue_fn *queue, void *arg)
{
  MD_TRY(md_gpu_record_begin(replay->ctx));
  const md_status status = queue(arg);
  const md_status ended = md_gpu_record_end(replay->ctx, &replay->graph);
  return status ? status : ended;
}

static md_status run_on_gpu(md_replay *replay, const void *key, md_replay_queue_fn *queue,
                            void *arg)
{
  const bool known = replay->seen && memcmp(replay->key, key, replay->key_bytes) == 0;
  if (!known) {
    md_gpu_graph_destroy(replay->graph);
    replay->graph = NULL;
    replay->seen = false;
    MD_TRY(queue(arg));
    memcpy(replay->key, key, replay->key_bytes);
    replay->seen = true;
    return MD_OK;
  }
  if (!replay->graph) MD_TRY(record(replay, queue, arg));
  return md_gpu_graph_launch(replay->ctx, replay->graph);
}
#endif

md_status md_replay_run(md_replay *replay, const void *key, md_replay_queue_fn *queue, void *arg)
{
#ifdef MD_HAVE_CUDA
  if (replay->ctx->backend == MD_GPU) return run_on_gpu(replay, key, queue, arg);
#else
  (void)replay, (void)key;
#endif
  return queue(arg);
}
