/* core/hardware/devices.h - the GPUs that this process sees, for ranks that share them out. */
#ifndef DEVICES_H
#define DEVICES_H

#include "core/md.h"

MD_BEGIN_C

/* How many there are; 0 also in a build without CUDA. */
int md_devices(void);

/* What tells the chosen device (md_gpu_choose) from all others, on this host and any other.
 * Errors: MD_ENOGPU, MD_ECUDA. */
typedef struct {
  int index; /* as CUDA counts them in this process */
  unsigned char uuid[16];
} md_device;
md_status md_device_of(md_device *out);

MD_END_C
#endif
