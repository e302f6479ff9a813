/* core/buffer.h - memory where the work is done, and the only copies between host and device.
 *
 * A buffer lives on its context's backend: 64-byte aligned host memory, or device memory.  Every
 * copy that crosses between host and device is counted in md_ctx.bytes_copied and so shows in the
 * report. */
#ifndef BUFFER_H
#define BUFFER_H

#include "core/context.h"

MD_BEGIN_C

typedef struct {
  void *data;   /* NULL while empty */
  size_t bytes; /* capacity */
} md_buffer;

/* Make room for at least bytes.  Grows by an eighth at least, so that repeated growth is cheap;
 * never shrinks.  keep > 0 carries the first keep bytes over, else contents are lost.
 * Errors: MD_ENOMEM (the buffer is unchanged, the message states the size asked for). */
md_status md_buffer_reserve(md_ctx *ctx, md_buffer *buffer, size_t bytes, size_t keep);
/* Make a spare, which is to change places with another buffer, at least as large as that one:
 * exactly so if it must grow, for two that grew in turn would never end.  Its contents are
 * lost. Errors: MD_ENOMEM (the spare is then empty). */
md_status md_buffer_match(md_ctx *ctx, md_buffer *spare, const md_buffer *other);
void md_buffer_free(md_ctx *ctx, md_buffer *buffer); /* an empty buffer is allowed */
void md_buffer_swap(md_buffer *a, md_buffer *b);
/* What a buffer of `had` holds when `wanted`, not less, must fit. */
static inline double md_buffer_grown(double had, double wanted)
{
  return wanted > had * 9 / 8 || wanted <= had ? wanted : had * 9 / 8;
}

/* The same for host memory that the backend reads and writes too: pinned, and as far from a GPU as
 * the host.  Contents are lost when it grows. */
md_status md_shared_reserve(md_ctx *ctx, md_buffer *buffer, size_t bytes);
void md_shared_free(md_ctx *ctx, md_buffer *buffer);

/* Copies; to / from on the context's backend, the other side on the host.  md_read waits. */
md_status md_write(md_ctx *ctx, void *to, const void *from_host, size_t bytes);
md_status md_read(md_ctx *ctx, void *to_host, const void *from, size_t bytes);
/* Copy within the backend; md_fill sets every byte. */
md_status md_copy(md_ctx *ctx, void *to, const void *from, size_t bytes);
md_status md_fill(md_ctx *ctx, void *data, int byte, size_t bytes);

MD_END_C
#endif
