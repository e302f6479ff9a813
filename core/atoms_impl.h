/* core/atoms_impl.h - between atoms.c and frames.c. */
#ifndef ATOMS_IMPL_H
#define ATOMS_IMPL_H

#include "core/atoms.h"

/* An array [n][4] of the backend, of numbers of `size` bytes, as host doubles [n][3].  Errors:
 * MD_ENOMEM, MD_ECUDA. */
md_status atoms_get_fours(const md_atoms *atoms, double *to, const void *from, size_t size);

#endif
