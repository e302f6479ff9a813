/* core/random.h - the Park-Miller generator that miniMD and LAMMPS share.
 *
 *     s <- 16807 s mod (2^31 - 1),   u = s / (2^31 - 1)
 *
 * It is weak; it is here because the benchmark's initial velocities are defined by it. */
#ifndef RANDOM_H
#define RANDOM_H

#include "core/md.h"

MD_INLINE double random_park_miller(int32_t *seed)
{
  *seed = (int32_t)((int64_t)16807 * *seed % 2147483647);
  return *seed / 2147483647.0;
}

#endif
