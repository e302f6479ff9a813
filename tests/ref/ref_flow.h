/* tests/ref/ref_flow.h - mobilities and lubrication of few spheres as dense matrices, [3 n][3 n],
 * written down from the formulas.  Free what is returned. */
#ifndef REF_FLOW_H
#define REF_FLOW_H

#include "stokes/matrix/matrix.h"
#include "stokes/packing/packing.h"

/* n spheres of radius 30, or 20 to 30, in a box with edges of 165: each near another, with a gap of
 * 0.002 to 0.4, so that most pairs resist. */
stokes_packing ref_cluster(int64_t n, bool one_size, uint64_t seed);

/* M of stokes/mobility/rpy.h. */
double *ref_mobility(const stokes_packing *p, double viscosity);

/* R_lub = S (R' - I) S, S = diag(sqrt(6 pi eta a_i)). */
double *ref_lubrication(const stokes_packing *p, double viscosity, const stokes_resistance *law);

/* (M^-1 + R_lub)^-1 from (I + M R_lub) N = M; *system: I + M R_lub, or NULL. */
double *ref_flow(const stokes_packing *p, double viscosity, const stokes_resistance *law,
                 double **system);

#endif
