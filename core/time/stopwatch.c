/* core/time/stopwatch.c - see stopwatch.h. */
#include "core/time/stopwatch.h"
#include "core/context_impl.h"
#include "core/time/timer.h"

md_status md_stopwatch_create(md_ctx *ctx, md_stopwatch *out)
{
  *out = (md_stopwatch){.ctx = ctx};
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return md_gpu_events_create(2, &out->events);
#endif
  return MD_OK;
}

void md_stopwatch_destroy(md_stopwatch *watch)
{
#ifdef MD_HAVE_CUDA
  if (watch->events) md_gpu_events_destroy(2, watch->events);
#endif
  if (watch->ctx) md_buffer_free(watch->ctx, &watch->ballast);
  *watch = (md_stopwatch){0};
}

#ifdef MD_HAVE_CUDA
/* Reading more than the cache holds leaves nothing in it that would have to be written back. */
static md_status empty_cache(md_stopwatch *watch)
{
  md_gpu_info info;
  MD_TRY(md_gpu_describe(&info));
  const size_t bytes = 4 * (size_t)info.l2_bytes;
  if (bytes > watch->ballast.bytes) {
    MD_TRY(md_buffer_reserve(watch->ctx, &watch->ballast, bytes, 0));
    MD_TRY(md_fill(watch->ctx, watch->ballast.data, 0, bytes));
  }
  return md_gpu_read_all(watch->ctx, watch->ballast.data, bytes);
}
#endif

md_status md_stopwatch_start(md_stopwatch *watch, bool cold)
{
#ifdef MD_HAVE_CUDA
  if (watch->ctx->backend == MD_GPU) {
    if (cold) MD_TRY(empty_cache(watch));
    md_gpu_event_record(watch->ctx, watch->events[0]);
    return MD_OK;
  }
#endif
  (void)cold;
  watch->began = md_wall_seconds();
  return MD_OK;
}

md_status md_stopwatch_stop(md_stopwatch *watch, double *seconds)
{
#ifdef MD_HAVE_CUDA
  if (watch->ctx->backend == MD_GPU) {
    md_gpu_event_record(watch->ctx, watch->events[1]);
    MD_TRY(md_ctx_sync(watch->ctx));
    *seconds = md_gpu_event_seconds(watch->events[0], watch->events[1]);
    return MD_OK;
  }
#endif
  *seconds = md_wall_seconds() - watch->began;
  return MD_OK;
}
