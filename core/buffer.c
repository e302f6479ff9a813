/* core/buffer.c - buffers and counted copies. */
#include "core/buffer.h"
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* Where a buffer of the CPU starts within a page: at a line that follows from its size alone, so
 * that a run has its arrays in the same sets of a first-level cache whatever its process did
 * before, and arrays of different sizes do not begin in the same sets. */
static size_t place_of(size_t bytes)
{
  if (bytes >= HUGE_PAGE) return 0;
  return (size_t)((uint64_t)bytes * 0x9e3779b97f4a7c15u >> 58) * LINE;
}

static md_status allocate(md_ctx *ctx, void **data, size_t bytes)
{
  *data = NULL;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return md_gpu_alloc(data, bytes);
#endif
  (void)ctx;
  const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE, place = place_of(bytes);
  MD_REQUIRE(bytes <= SIZE_MAX - 2 * HUGE_PAGE, MD_ENOMEM, "%zu bytes cannot be addressed", bytes);
  const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE; /* vectors may read its last line */
  void *base;
  MD_REQUIRE(posix_memalign(&base, align, place + (bytes + unit - 1) / unit * unit) == 0, MD_ENOMEM,
             "out of memory: %.1f MB asked for", (double)bytes / 1e6);
#if defined(__linux__)
  if (align == HUGE_PAGE) (void)madvise(base, bytes, MADV_HUGEPAGE);
#endif
  *data = (char *)base + place;
  return MD_OK;
}

static void release(md_ctx *ctx, void *data)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    md_gpu_free(data);
    return;
  }
#endif
  (void)ctx;
  free((char *)data - (uintptr_t)data % PAGE);
}

/* What an empty buffer begins with. */
static size_t with_room(const md_ctx *ctx, size_t bytes)
{
  return ctx->leaves_room ? bytes + bytes / 64 : bytes;
}

md_status md_buffer_reserve(md_ctx *ctx, md_buffer *buffer, size_t bytes, size_t keep)
{
  if (bytes <= buffer->bytes) return MD_OK;
  size_t wanted = buffer->bytes ? buffer->bytes + buffer->bytes / 8 : with_room(ctx, bytes);
  if (wanted < bytes) wanted = bytes;
  void *data = NULL;
  if (keep == 0) md_buffer_free(ctx, buffer); /* a big buffer need not exist twice */
  if (wanted > bytes && allocate(ctx, &data, wanted)) wanted = bytes;
  if (!data) MD_TRY(allocate(ctx, &data, wanted));
  if (keep > 0) {
    const md_status copied = md_copy(ctx, data, buffer->data, keep);
    if (copied) {
      release(ctx, data);
      return copied;
    }
    md_buffer_free(ctx, buffer);
  }
  buffer->data = data;
  buffer->bytes = wanted;
  ctx->bytes_allocated += (int64_t)wanted;
  return MD_OK;
}

md_status md_buffer_match(md_ctx *ctx, md_buffer *spare, const md_buffer *other)
{
  if (spare->bytes >= other->bytes) return MD_OK;
  md_buffer_free(ctx, spare);
  MD_TRY(allocate(ctx, &spare->data, other->bytes));
  spare->bytes = other->bytes;
  ctx->bytes_allocated += (int64_t)spare->bytes;
  return MD_OK;
}

void md_buffer_free(md_ctx *ctx, md_buffer *buffer)
{
  if (!buffer->data) return;
  release(ctx, buffer->data);
  ctx->bytes_allocated -= (int64_t)buffer->bytes;
  *buffer = (md_buffer){NULL, 0};
}

md_status md_shared_reserve(md_ctx *ctx, md_buffer *buffer, size_t bytes)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU && bytes > buffer->bytes) {
    size_t wanted = buffer->bytes ? buffer->bytes + buffer->bytes / 2 : with_room(ctx, bytes);
    if (wanted < bytes) wanted = bytes;
    md_shared_free(ctx, buffer);
    MD_TRY(md_gpu_alloc_shared(&buffer->data, wanted));
    buffer->bytes = wanted;
    return MD_OK;
  }
#endif
  return md_buffer_reserve(ctx, buffer, bytes, 0);
}

void md_shared_free(md_ctx *ctx, md_buffer *buffer)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    if (buffer->data) md_gpu_free_shared(buffer->data);
    *buffer = (md_buffer){NULL, 0};
    return;
  }
#endif
  md_buffer_free(ctx, buffer);
}

void md_buffer_swap(md_buffer *a, md_buffer *b)
{
  const md_buffer t = *a;
  *a = *b;
  *b = t;
}

static md_status copy(md_ctx *ctx, void *to, const void *from, size_t bytes, md_direction way)
{
  if (bytes == 0) return MD_OK;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    if (way != MD_WITHIN) ctx->bytes_copied += (int64_t)bytes;
    return md_gpu_copy(ctx, to, from, bytes, way);
  }
#endif
  (void)ctx;
  (void)way;
  memcpy(to, from, bytes);
  return MD_OK;
}

md_status md_write(md_ctx *ctx, void *to, const void *from_host, size_t bytes)
{
  return copy(ctx, to, from_host, bytes, MD_TO_DEVICE);
}

md_status md_read(md_ctx *ctx, void *to_host, const void *from, size_t bytes)
{
  return copy(ctx, to_host, from, bytes, MD_TO_HOST);
}

md_status md_copy(md_ctx *ctx, void *to, const void *from, size_t bytes)
{
  return copy(ctx, to, from, bytes, MD_WITHIN);
}

md_status md_fill(md_ctx *ctx, void *data, int byte, size_t bytes)
{
  if (bytes == 0) return MD_OK;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return md_gpu_fill(ctx, data, byte, bytes);
#endif
  (void)ctx;
  memset(data, byte, bytes);
  return MD_OK;
}
