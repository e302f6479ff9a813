/* core/hardware/devices.c - see devices.h. */
#include "core/hardware/devices.h"
#include "core/context_impl.h"
#include "core/hardware/devices_impl.h"

#include <string.h>

int md_devices(void)
{
#ifdef MD_HAVE_CUDA
  return md_gpu_devices();
#else
  return 0;
#endif
}

md_status md_device_of(md_device *out)
{
  memset(out, 0, sizeof *out);
  MD_TRY(md_gpu_check()); /* and makes it the device in use */
#ifdef MD_HAVE_CUDA
  return md_gpu_identify(out);
#else
  return MD_OK;
#endif
}
