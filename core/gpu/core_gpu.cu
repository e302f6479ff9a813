/* core/gpu/core_gpu.cu - device, memory, copies, events and NVTX ranges. */
#include "core/context_impl.h"
#include "core/gpu/cuda.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MD_CUDA_ARCH
#define MD_CUDA_ARCH "architectures that the Makefile did not name"
#endif

/* The device that contexts are made on. */
static int chosen = 0;

/* CUDA's own words where it finds none: a driver that is too old, say. */
static md_status need_device(int *count)
{
  *count = 0;
  const cudaError_t error = cudaGetDeviceCount(count);
  if (error == cudaSuccess && *count > 0) return MD_OK;
  cudaGetLastError();
  return MD_FAIL(MD_ENOGPU, "no CUDA device found (%s): use --backend cpu",
                 error ? cudaGetErrorString(error) : "none is visible");
}

md_status md_gpu_select(int index)
{
  int count;
  MD_TRY(need_device(&count));
  MD_REQUIRE(index >= 0 && index < count, MD_ENOGPU,
             "no CUDA device %d: expected 0..%d (device.index, --device), as CUDA_VISIBLE_DEVICES "
             "leaves them",
             index, count - 1);
  chosen = index;
  return MD_OK;
}

static __global__ void probe_kernel(void) {}

/* A kernel is the surest question: a device may be older than what was compiled, or newer than the
 * driver or the PTX allow. */
md_status md_gpu_probe(void)
{
  static int works = -1; /* the device that did */
  if (works == chosen) return MD_OK;
  int count;
  MD_TRY(need_device(&count));
  cudaDeviceProp prop;
  MD_CUDA(cudaGetDeviceProperties(&prop, chosen));
  cudaError_t error = cudaSetDevice(chosen);
  if (!error) {
    probe_kernel<<<1, 1>>>();
    error = cudaGetLastError();
  }
  if (!error) error = cudaDeviceSynchronize();
  if (error) {
    cudaGetLastError();
    return MD_FAIL(MD_ENOGPU,
                   "device %d (%s, sm_%d%d) does not run this build, which carries " MD_CUDA_ARCH
                   " (kernels need sm_90 or newer): %s; use --backend cpu",
                   chosen, prop.name, prop.major, prop.minor, cudaGetErrorString(error));
  }
  works = chosen;
  return MD_OK;
}

md_status md_gpu_open(md_ctx *ctx)
{
  MD_CUDA(cudaSetDevice(chosen));
  return md_gpu_stream_create(false, &ctx->stream);
}

void md_gpu_close(md_ctx *ctx)
{
  md_gpu_stream_destroy(ctx->stream);
}

md_status md_gpu_stream_create(bool urgent, void **stream)
{
  int least, greatest;
  MD_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  MD_CUDA(cudaStreamCreateWithPriority((cudaStream_t *)stream, cudaStreamNonBlocking,
                                       urgent ? greatest : least));
  return MD_OK;
}

void md_gpu_stream_destroy(void *stream)
{
  if (stream) cudaStreamDestroy((cudaStream_t)stream);
}

md_status md_gpu_event_create(void **event)
{
  MD_CUDA(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming));
  return MD_OK;
}

md_status md_gpu_record_begin(md_ctx *ctx)
{
  MD_CUDA(cudaStreamBeginCapture((cudaStream_t)ctx->stream, cudaStreamCaptureModeThreadLocal));
  return MD_OK;
}

md_status md_gpu_record_end(md_ctx *ctx, void **graph)
{
  cudaGraph_t recorded = NULL;
  cudaGraphExec_t exec = NULL;
  *graph = NULL;
  MD_CUDA(cudaStreamEndCapture((cudaStream_t)ctx->stream, &recorded));
  const cudaError_t error = cudaGraphInstantiate(&exec, recorded, 0);
  cudaGraphDestroy(recorded);
  MD_CUDA(error);
  *graph = exec;
  return MD_OK;
}

md_status md_gpu_graph_launch(md_ctx *ctx, void *graph)
{
  MD_CUDA(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)ctx->stream));
  return MD_OK;
}

void md_gpu_graph_destroy(void *graph)
{
  if (graph) cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

void md_gpu_event_destroy(void *event)
{
  if (event) cudaEventDestroy((cudaEvent_t)event);
}

md_status md_gpu_mark(void *event, void *stream)
{
  MD_CUDA(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
  return MD_OK;
}

md_status md_gpu_wait(void *stream, void *event)
{
  MD_CUDA(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
  return MD_OK;
}

md_status md_gpu_sync(md_ctx *ctx)
{
  MD_CUDA(cudaStreamSynchronize((cudaStream_t)ctx->stream));
  return MD_OK;
}

md_status md_gpu_query(md_gpu_info *out)
{
  int count;
  MD_TRY(need_device(&count));
  cudaDeviceProp prop;
  MD_CUDA(cudaGetDeviceProperties(&prop, chosen));
  MD_CUDA(cudaSetDevice(chosen)); /* whose memory is asked for */
  int driver = 0;
  MD_CUDA(cudaDriverGetVersion(&driver));
  size_t memory_free = 0, memory_total = 0;
  MD_CUDA(cudaMemGetInfo(&memory_free, &memory_total));
  snprintf(out->name, sizeof out->name, "%s", prop.name);
  snprintf(out->driver, sizeof out->driver, "%d.%d", driver / 1000, driver % 1000 / 10);
  out->capability = prop.major * 10 + prop.minor;
  out->multiprocessors = prop.multiProcessorCount;
  out->memory_total = (int64_t)memory_total;
  out->memory_free = (int64_t)memory_free;
  out->l2_bytes = prop.l2CacheSize;
  return MD_OK;
}

md_status md_gpu_alloc(void **data, size_t bytes)
{
  const cudaError_t error = cudaMalloc(data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError(); /* a refused allocation leaves the device usable */
    return MD_FAIL(MD_ENOMEM, "out of device memory: %.1f MB asked for", (double)bytes / 1e6);
  }
  MD_CUDA(error);
  return MD_OK;
}

void md_gpu_free(void *data)
{
  cudaFree(data);
}

md_status md_gpu_alloc_shared(void **data, size_t bytes)
{
  const cudaError_t error = cudaMallocHost(data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return MD_FAIL(MD_ENOMEM, "out of pinned host memory: %.1f MB asked for", (double)bytes / 1e6);
  }
  MD_CUDA(error);
  return MD_OK;
}

void md_gpu_free_shared(void *data)
{
  cudaFreeHost(data);
}

md_status md_gpu_copy(md_ctx *ctx, void *to, const void *from, size_t bytes, md_direction way)
{
  static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                         cudaMemcpyDeviceToDevice};
  const cudaStream_t stream = (cudaStream_t)ctx->stream;
  MD_CUDA(cudaMemcpyAsync(to, from, bytes, kinds[way], stream));
  if (way == MD_TO_HOST) MD_CUDA(cudaStreamSynchronize(stream));
  return MD_OK;
}

md_status md_gpu_fill(md_ctx *ctx, void *data, int byte, size_t bytes)
{
  MD_CUDA(cudaMemsetAsync(data, byte, bytes, (cudaStream_t)ctx->stream));
  return MD_OK;
}

/* Every thread strides over the data; the sum is stored only if it is what no data gives. */
static __global__ void read_kernel(int64_t n, const uint4 *__restrict__ data, unsigned *out)
{
  unsigned sum = 0;
  for (int64_t i = md_thread(); i < n; i += (int64_t)gridDim.x * blockDim.x) {
    const uint4 four = data[i];
    sum |= four.x | four.y | four.z | four.w;
  }
  if (sum == 0x9e3779b9u) *out = sum;
}

md_status md_gpu_read_all(md_ctx *ctx, const void *data, size_t bytes)
{
  read_kernel<<<1024, 256, 0, (cudaStream_t)ctx->stream>>>((int64_t)(bytes / sizeof(uint4)),
                                                           (const uint4 *)data, (unsigned *)data);
  MD_LAUNCHED();
  return MD_OK;
}

md_status md_gpu_events_create(int count, void ***events)
{
  *events = (void **)calloc((size_t)count, sizeof **events);
  MD_REQUIRE(*events, MD_ENOMEM, "out of memory for %d events", count);
  for (int k = 0; k < count; k++) {
    cudaEvent_t event;
    MD_CUDA(cudaEventCreate(&event));
    (*events)[k] = event;
  }
  return MD_OK;
}

void md_gpu_events_destroy(int count, void **events)
{
  for (int k = 0; events && k < count; k++)
    if (events[k]) cudaEventDestroy((cudaEvent_t)events[k]);
  free(events);
}

void md_gpu_event_record(md_ctx *ctx, void *event)
{
  cudaEventRecord((cudaEvent_t)event, (cudaStream_t)ctx->stream);
}

double md_gpu_event_seconds(void *begin, void *end)
{
  float ms = 0;
  cudaEventSynchronize((cudaEvent_t)end);
  cudaEventElapsedTime(&ms, (cudaEvent_t)begin, (cudaEvent_t)end);
  return 1e-3 * ms;
}

void md_gpu_range_push(const char *name)
{
  nvtxRangePushA(name);
}

void md_gpu_range_pop(void)
{
  nvtxRangePop();
}

void md_gpu_profiler(bool on)
{
  if (on)
    cudaProfilerStart();
  else
    cudaProfilerStop();
}
