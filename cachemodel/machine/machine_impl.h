/* cachemodel/machine/machine_impl.h - reading and checking machine descriptions. */
#ifndef MACHINE_IMPL_H
#define MACHINE_IMPL_H

#include "cachemodel/machine/machine.h"

MD_BEGIN_C

/* A description in libconfig.  Errors: MD_EINVAL, MD_EIO. */
md_status machine_read(const char *path, machine *out);

/* Whether the model can represent level k, those before it being good: one line and sector size,
 * sets that hold something.  Errors: MD_EINVAL. */
md_status machine_check_level(const machine *m, int k);

MD_END_C
#endif
