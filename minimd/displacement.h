/* minimd/displacement.h - how far did atoms go since a list was built?
 *
 *     max over owned atoms of |x - back v - held|^2
 *
 * held are positions at the build; back is 0, or a time by which atoms are taken back along their
 * velocities, to where they were before the last drift. */
#ifndef DISPLACEMENT_H
#define DISPLACEMENT_H

#include "core/atoms.h"

MD_BEGIN_C

typedef struct displacement displacement;

/* *out is NULL on failure; free with displacement_destroy (NULL is allowed). */
md_status displacement_create(md_ctx *ctx, displacement **out);
void displacement_destroy(displacement *d);

/* Hold the present positions of the owned atoms: a copy within the backend.  They are compared with
 * the same atoms in the same order.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status displacement_hold(displacement *d, const md_atoms *atoms);
/* Held positions as host doubles [n][3].
 * Errors: MD_EINVAL (not held for these atoms), MD_ECUDA. */
md_status displacement_held(const displacement *d, const md_atoms *atoms, double *x);

/* Begin to measure: a GPU is not waited for, and 8 bytes go to the host beside its stream.
 * Errors: MD_EINVAL (as above), MD_ENOMEM, MD_ECUDA. */
md_status displacement_measure(displacement *d, const md_atoms *atoms, double back);
/* What was measured last [length^2], when it has come; infinite where a position is NaN. */
md_status displacement_read(displacement *d, double *moved_sq);

MD_END_C
#endif
