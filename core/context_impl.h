/* core/context_impl.h - the CUDA half of the core, called through the CPU half only. */
#ifndef CONTEXT_IMPL_H
#define CONTEXT_IMPL_H

#include "core/context.h"

MD_BEGIN_C

md_status md_gpu_open(md_ctx *ctx); /* picks the device, makes the stream */
void md_gpu_close(md_ctx *ctx);
md_status md_gpu_sync(md_ctx *ctx);
md_status md_gpu_select(int index);
md_status md_gpu_probe(void);
md_status md_gpu_query(md_gpu_info *out);

md_status md_gpu_alloc(void **data, size_t bytes);
void md_gpu_free(void *data);
md_status md_gpu_alloc_shared(void **data, size_t bytes); /* pinned host memory */
void md_gpu_free_shared(void *data);
typedef enum { MD_TO_DEVICE, MD_TO_HOST, MD_WITHIN } md_direction;
md_status md_gpu_copy(md_ctx *ctx, void *to, const void *from, size_t bytes, md_direction way);
md_status md_gpu_fill(md_ctx *ctx, void *data, int byte, size_t bytes);

md_status md_gpu_read_all(md_ctx *ctx, const void *data, size_t bytes); /* and do nothing with it */

/* A second stream (core/beside.h): of its own; events without time; what is queued waits. */
md_status md_gpu_stream_create(bool urgent, void **stream);
void md_gpu_stream_destroy(void *stream); /* NULL is allowed, here and below */
md_status md_gpu_event_create(void **event);
void md_gpu_event_destroy(void *event);
md_status md_gpu_mark(void *event, void *stream);
md_status md_gpu_wait(void *stream, void *event);

/* Recorded work (core/replay.h).  What is queued between begin and end is not done; *graph is NULL
 * on failure. */
md_status md_gpu_record_begin(md_ctx *ctx);
md_status md_gpu_record_end(md_ctx *ctx, void **graph);
md_status md_gpu_graph_launch(md_ctx *ctx, void *graph);
void md_gpu_graph_destroy(void *graph); /* NULL is allowed */

/* Events of the phase timer: index is 2 * slot (begin) or 2 * slot + 1 (end). */
md_status md_gpu_events_create(int count, void ***events);
void md_gpu_events_destroy(int count, void **events);
void md_gpu_event_record(md_ctx *ctx, void *event);
double md_gpu_event_seconds(void *begin, void *end); /* waits for end */
void md_gpu_range_push(const char *name);            /* NVTX */
void md_gpu_range_pop(void);
void md_gpu_profiler(bool on);

MD_END_C
#endif
