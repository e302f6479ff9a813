/* cachemodel/machine_impl.h - reading and checking machine descriptions. */
#ifndef MACHINE_IMPL_H
#define MACHINE_IMPL_H

#include "cachemodel/machine.h"

MD_BEGIN_C

/* A description in libconfig.  Errors: MD_EINVAL, MD_EIO. */
md_status machine_read(const char *path, machine *out);

/* What the model can represent: one line and sector size, sets that hold something. */
md_status machine_check(const machine *m);

MD_END_C
#endif
