/* core/beside.c - a second stream of a context, or nothing on the CPU. */
#include "core/beside.h"
#include "core/context_impl.h"

#include <stdlib.h>

struct md_beside {
  md_ctx *ctx;
  void *first, *second; /* streams; first while the context has the second */
  void *begun, *ended;  /* events */
  bool marked;          /* begun, for the next begin */
};

#ifdef MD_HAVE_CUDA
static bool is_on_gpu(const md_beside *beside)
{
  return beside->ctx->backend == MD_GPU;
}
#endif

md_status md_beside_create(md_ctx *ctx, bool urgent, md_beside **out)
{
  *out = NULL;
  md_beside *beside = calloc(1, sizeof *beside);
  MD_REQUIRE(beside, MD_ENOMEM, "out of memory for a second stream");
  beside->ctx = ctx;
#ifdef MD_HAVE_CUDA
  md_status status = MD_OK;
  if (is_on_gpu(beside)) status = md_gpu_stream_create(urgent, &beside->second);
  if (!status && is_on_gpu(beside)) status = md_gpu_event_create(&beside->begun);
  if (!status && is_on_gpu(beside)) status = md_gpu_event_create(&beside->ended);
  if (status) {
    md_beside_destroy(beside);
    return status;
  }
#else
  (void)urgent;
#endif
  *out = beside;
  return MD_OK;
}

void md_beside_destroy(md_beside *beside)
{
  if (!beside) return;
#ifdef MD_HAVE_CUDA
  md_gpu_event_destroy(beside->begun);
  md_gpu_event_destroy(beside->ended);
  md_gpu_stream_destroy(beside->second);
#endif
  free(beside);
}

md_status md_beside_mark(md_beside *beside)
{
#ifdef MD_HAVE_CUDA
  if (is_on_gpu(beside)) MD_TRY(md_gpu_mark(beside->begun, beside->ctx->stream));
#endif
  beside->marked = true;
  return MD_OK;
}

void md_beside_enter(md_beside *beside)
{
#ifdef MD_HAVE_CUDA
  if (!is_on_gpu(beside)) return;
  beside->first = beside->ctx->stream;
  beside->ctx->stream = beside->second;
#else
  (void)beside;
#endif
}

void md_beside_leave(md_beside *beside)
{
#ifdef MD_HAVE_CUDA
  if (is_on_gpu(beside)) beside->ctx->stream = beside->first;
#else
  (void)beside;
#endif
}

md_status md_beside_begin(md_beside *beside)
{
  if (!beside->marked) MD_TRY(md_beside_mark(beside));
  beside->marked = false;
#ifdef MD_HAVE_CUDA
  if (is_on_gpu(beside)) MD_TRY(md_gpu_wait(beside->second, beside->begun));
#endif
  md_beside_enter(beside);
  return MD_OK;
}

md_status md_beside_end(md_beside *beside)
{
  md_beside_leave(beside);
#ifdef MD_HAVE_CUDA
  if (is_on_gpu(beside)) return md_gpu_mark(beside->ended, beside->second);
#endif
  return MD_OK;
}

md_status md_beside_join(md_beside *beside)
{
#ifdef MD_HAVE_CUDA
  if (is_on_gpu(beside)) return md_gpu_wait(beside->ctx->stream, beside->ended);
#else
  (void)beside;
#endif
  return MD_OK;
}
