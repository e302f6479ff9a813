/* core/gpu/readback_gpu.h - a few bytes to the host beside a context's stream, which does not wait
 * for them. */
#ifndef READBACK_GPU_H
#define READBACK_GPU_H

#include "core/context.h"
#include "core/gpu/cuda.h"

#include <stdlib.h>

/* What it takes. */
typedef struct {
  cudaStream_t stream;
  cudaEvent_t ready, arrived;
  void *host;
} md_readback;

static inline void md_readback_close(void *readback)
{
  md_readback *s = (md_readback *)readback;
  if (!s) return;
  if (s->host) cudaFreeHost(s->host);
  if (s->stream) cudaStreamDestroy(s->stream);
  if (s->ready) cudaEventDestroy(s->ready);
  if (s->arrived) cudaEventDestroy(s->arrived);
  free(s);
}

static inline md_status md_readback_make(md_readback *s, size_t bytes)
{
  MD_CUDA(cudaMallocHost(&s->host, bytes));
  MD_CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
  MD_CUDA(cudaEventCreateWithFlags(&s->ready, cudaEventDisableTiming));
  MD_CUDA(cudaEventCreateWithFlags(&s->arrived, cudaEventDisableTiming));
  return MD_OK;
}

/* *readback: NULL, or what an earlier call made; for so many bytes. */
static inline md_status md_readback_open(void **readback, size_t bytes)
{
  if (*readback) return MD_OK;
  md_readback *s = (md_readback *)calloc(1, sizeof *s);
  MD_REQUIRE(s, MD_ENOMEM, "out of memory for what a GPU sends");
  const md_status status = md_readback_make(s, bytes);
  if (status)
    md_readback_close(s);
  else
    *readback = s;
  return status;
}

/* Queue the copy of what is there when the context's stream has come so far, which must stay until
 * md_readback_wait. */
static inline md_status md_readback_queue(md_ctx *ctx, void *readback, const void *from,
                                          size_t bytes)
{
  const md_readback *s = (const md_readback *)readback;
  MD_CUDA(cudaEventRecord(s->ready, (cudaStream_t)ctx->stream));
  MD_CUDA(cudaStreamWaitEvent(s->stream, s->ready, 0));
  MD_CUDA(cudaMemcpyAsync(s->host, from, bytes, cudaMemcpyDeviceToHost, s->stream));
  MD_CUDA(cudaEventRecord(s->arrived, s->stream));
  ctx->bytes_copied += (int64_t)bytes;
  return MD_OK;
}

/* What was sent last, when it has arrived. */
static inline md_status md_readback_wait(const void *readback, const void **bytes)
{
  const md_readback *s = (const md_readback *)readback;
  MD_CUDA(cudaEventSynchronize(s->arrived));
  *bytes = s->host;
  return MD_OK;
}

#endif
