/* engine/integrate/integrate.h - velocity Verlet on either backend.
 *
 *     v += (dt / 2m) f,   x += dt v,   forces,   v += (dt / 2m) f
 *
 * Two half kicks that meet between steps are one pass over memory, rounded as two. */
#ifndef INTEGRATE_H
#define INTEGRATE_H

#include "core/atoms.h"
#include "core/exact.h"

MD_BEGIN_C

/* v += kick f, `kicks` times (0, 1 or 2), then x += drift v.  kick: [n_types], an atom's is that of
 * its type; without kicks it may be NULL.  In mixed precision, where
 * comm_borders has made them, the fixed-point coordinates of owned atoms follow when drift != 0,
 * and with no kick at all: after positions were set from outside. */
md_status integrate_advance(md_atoms *atoms, const double *kick, int kicks, double drift);

/* Sums over owned atoms, in double: momentum sum w v (3) and sum w v^2 (1), where w is the weight
 * [n_types] of the atom's type; NULL: 1.  Waits for the GPU.  The
 * same atoms in the same order give the same bits, for any number of threads.  exact: in a
 * deterministic context, sum w v^2 without rounding, so that v_sq is the same for any
 * order. */
typedef struct {
  double v[3], v_sq;
  exact_sum exact;
} integrate_sums;
md_status integrate_sum(md_atoms *atoms, const double *weight, integrate_sums *out);

MD_END_C
#endif
