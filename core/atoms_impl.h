/* core/atoms_impl.h - between atoms.c and frames.c. */
#ifndef ATOMS_IMPL_H
#define ATOMS_IMPL_H

#include "core/atoms.h"

/* md_atoms_get of positions and images. */
md_status frames_get(const md_atoms *atoms, double *x, int32_t *image);

#endif
