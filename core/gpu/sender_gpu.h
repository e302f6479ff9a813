/* core/gpu/sender_gpu.h - a few bytes to the host beside a context's stream, which does not wait
 * for them. */
#ifndef SENDER_GPU_H
#define SENDER_GPU_H

#include "core/context.h"
#include "core/gpu/cuda.h"

#include <stdlib.h>

/* What it takes. */
typedef struct {
  cudaStream_t stream;
  cudaEvent_t made, come;
  void *host;
} md_sender;

static inline void md_sender_close(void *sender)
{
  md_sender *s = (md_sender *)sender;
  if (!s) return;
  if (s->host) cudaFreeHost(s->host);
  if (s->stream) cudaStreamDestroy(s->stream);
  if (s->made) cudaEventDestroy(s->made);
  if (s->come) cudaEventDestroy(s->come);
  free(s);
}

static inline md_status md_sender_make(md_sender *s, size_t bytes)
{
  MD_CUDA(cudaMallocHost(&s->host, bytes));
  MD_CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
  MD_CUDA(cudaEventCreateWithFlags(&s->made, cudaEventDisableTiming));
  MD_CUDA(cudaEventCreateWithFlags(&s->come, cudaEventDisableTiming));
  return MD_OK;
}

/* *sender: NULL, or what an earlier call made; for letters of so many bytes. */
static inline md_status md_sender_open(void **sender, size_t bytes)
{
  if (*sender) return MD_OK;
  md_sender *s = (md_sender *)calloc(1, sizeof *s);
  MD_REQUIRE(s, MD_ENOMEM, "out of memory for what a GPU sends");
  const md_status status = md_sender_make(s, bytes);
  if (status)
    md_sender_close(s);
  else
    *sender = s;
  return status;
}

/* Send what is there when the context's stream has come so far, which must stay until
 * md_receive. */
static inline md_status md_send(md_ctx *ctx, void *sender, const void *from, size_t bytes)
{
  const md_sender *s = (const md_sender *)sender;
  MD_CUDA(cudaEventRecord(s->made, (cudaStream_t)ctx->stream));
  MD_CUDA(cudaStreamWaitEvent(s->stream, s->made, 0));
  MD_CUDA(cudaMemcpyAsync(s->host, from, bytes, cudaMemcpyDeviceToHost, s->stream));
  MD_CUDA(cudaEventRecord(s->come, s->stream));
  ctx->bytes_copied += (int64_t)bytes;
  return MD_OK;
}

/* What was sent last, when it has come. */
static inline md_status md_receive(const void *sender, const void **letter)
{
  const md_sender *s = (const md_sender *)sender;
  MD_CUDA(cudaEventSynchronize(s->come));
  *letter = s->host;
  return MD_OK;
}

#endif
