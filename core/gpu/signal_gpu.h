/* core/gpu/signal_gpu.h - one number from a kernel to the host, which looks for it in its own
 * memory: sooner than a copy comes, and than a stream says that it has ended. */
#ifndef SIGNAL_GPU_H
#define SIGNAL_GPU_H

#include "core/context.h"
#include "core/gpu/cuda.h"

#include <string.h>

/* In pinned memory of the host; the round is written last. */
typedef struct {
  unsigned long long bits, round;
} md_signal;

/* *signal: NULL, or what an earlier call made; free with md_signal_close. */
static inline md_status md_signal_open(void **signal)
{
  if (*signal) return MD_OK;
  MD_CUDA(cudaMallocHost(signal, sizeof(md_signal)));
  memset(*signal, 0, sizeof(md_signal));
  return MD_OK;
}

static inline void md_signal_close(void *signal)
{
  if (signal) cudaFreeHost(signal);
}

/* By one thread; rounds count from 1. */
static __device__ __forceinline__ void md_signal_send(md_signal *to, unsigned long long bits,
                                                      unsigned long long round)
{
  ((volatile md_signal *)to)->bits = bits;
  __threadfence_system();
  ((volatile md_signal *)to)->round = round;
}

static inline bool md_signal_has_come(const md_signal *from, unsigned long long round)
{
  return __atomic_load_n(&from->round, __ATOMIC_ACQUIRE) == round;
}

/* What the kernel of that round, queued in the context's stream, sends. */
static inline md_status md_signal_wait(md_ctx *ctx, const void *signal, unsigned long long round,
                                       unsigned long long *bits)
{
  const md_signal *from = (const md_signal *)signal;
  enum { LOOKS = 1000 }; /* before asking whether all is well */
  for (int look = 0; !md_signal_has_come(from, round); look++) {
    if (look < LOOKS) continue;
    const cudaError_t error = cudaStreamQuery((cudaStream_t)ctx->stream);
    if (error == cudaErrorNotReady)
      look = 0;
    else if (error || !md_signal_has_come(from, round))
      return MD_FAIL(MD_ECUDA, "a kernel sent nothing: %s", cudaGetErrorString(error));
  }
  *bits = from->bits;
  ctx->bytes_copied += (int64_t)sizeof *bits;
  return MD_OK;
}

#endif
