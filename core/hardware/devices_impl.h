/* core/hardware/devices_impl.h - the CUDA half of devices.c. */
#ifndef DEVICES_IMPL_H
#define DEVICES_IMPL_H

#include "core/hardware/devices.h"

MD_BEGIN_C

int md_gpu_devices(void);
md_status md_gpu_identify(md_device *out); /* of the device in use */

MD_END_C
#endif
