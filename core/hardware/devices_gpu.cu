/* core/hardware/devices_gpu.cu - how many GPUs there are, and which one is in use. */
#include "core/hardware/devices_impl.h"
#include "core/gpu/cuda.h"

#include <string.h>

int md_gpu_devices(void)
{
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

md_status md_gpu_identify(md_device *out)
{
  cudaDeviceProp prop;
  MD_CUDA(cudaGetDevice(&out->index));
  MD_CUDA(cudaGetDeviceProperties(&prop, out->index));
  memcpy(out->uuid, &prop.uuid, sizeof out->uuid);
  return MD_OK;
}
