/* minimd/locality/cachemodel_engine.h - the forms of `minimd cachemodel` that study real
 * accesses. */
#ifndef CACHEMODEL_ENGINE_H
#define CACHEMODEL_ENGINE_H

#include "core/md.h"

MD_BEGIN_C

/* `cachemodel -i FILE --machine M`: the force kernel's accesses through a machine's caches. */
md_status cachemodel_engine(int argc, char **argv);
/* `cachemodel --trace FILE`: a recorded trace through caches of given capacities. */
md_status cachemodel_recorded(int argc, char **argv);

MD_END_C
#endif
