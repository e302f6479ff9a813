/* minimd/stokes/mobility_case.h - spheres, forces on them, perhaps the velocities they cause. */
#ifndef MOBILITY_CASE_H
#define MOBILITY_CASE_H

#include "stokes/packing/packing.h"

MD_BEGIN_C

typedef struct {
  stokes_packing spheres;
  double viscosity;
  int m;         /* vectors; 0: forces are still to be made */
  double *f, *u; /* [3 n][m]; u NULL: not known */
} mobility_case;

/* Comma-separated: a line `# box LX LY LZ viscosity ETA`, one of names, then for each sphere x, y,
 * z, radius, three components for each of m forces and as many of velocities.
 * Errors: MD_EIO, MD_EINVAL (file, line, what was expected), MD_ENOMEM. */
md_status mobility_case_read(const char *path, mobility_case *out);
/* Spheres of extended XYZ, sorted along a Hilbert curve.  Errors: those of stokes_packing_read. */
md_status mobility_case_open(const char *path, double viscosity, int threads, mobility_case *out);
/* m random forces in place of what was there.  Errors: MD_ENOMEM. */
md_status mobility_case_force(mobility_case *c, int m, uint64_t seed);
void mobility_case_free(mobility_case *c); /* an empty one is allowed */

MD_END_C
#endif
