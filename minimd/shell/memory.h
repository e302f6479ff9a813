/* minimd/shell/memory.h - memory is stated before it is taken. */
#ifndef MEMORY_H
#define MEMORY_H

#include "core/md.h"

MD_BEGIN_C

/* Say on standard error what `what` needs of each rank, unless quiet.  Errors: MD_ENOMEM (more
 * than is free: states both). */
md_status memory_announce(const char *what, double bytes, bool quiet);

MD_END_C
#endif
