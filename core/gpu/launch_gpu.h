/* core/gpu/launch_gpu.h - kernels that begin while the one before them ends.
 *
 * Such a kernel waits by cudaGridDependencySynchronize() before it uses what others made, to which
 * no pointer may be __restrict__ lest it is read before.  One that lets the next begin at once says
 * so by cudaTriggerProgrammaticLaunchCompletion().  Every kernel of a chain waits, so that the end
 * of one is the end of all before it. */
#ifndef LAUNCH_GPU_H
#define LAUNCH_GPU_H

#include "core/context.h"
#include "core/gpu/cuda.h"

/* A launch in the context's stream; early: while the kernel before it ends. */
static inline cudaLaunchConfig_t md_launch_config(const md_ctx *ctx, dim3 blocks, int block,
                                                  bool early, cudaLaunchAttribute *overlap)
{
  cudaLaunchConfig_t config = {};
  overlap->id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap->val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = dim3((unsigned)block);
  config.stream = (cudaStream_t)ctx->stream;
  config.attrs = overlap;
  config.numAttrs = early;
  return config;
}

#endif
