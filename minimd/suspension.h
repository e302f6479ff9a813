/* minimd/suspension.h - large suspensions made on the spot, and their matrices. */
#ifndef SUSPENSION_H
#define SUSPENSION_H

#include "stokes/matrix.h"
#include "stokes/packing.h"

MD_BEGIN_C

typedef struct {
  int64_t n;
  double occupancy;
  uint64_t seed;
  bool quiet;
} suspension_spec;

/* A packing of E. coli's proteins.  Large ones are 8, 27 or 64 copies of a smaller box side by
 * side, so that n is rounded down to a multiple of that.  Errors: those of stokes_pack. */
md_status suspension_make(md_ctx *ctx, const suspension_spec *spec, stokes_packing *out);

/* The resistance matrix of such a packing, sorted along a Hilbert curve.  States the memory needed.
 * Errors: MD_EINVAL, MD_ENOMEM, MD_ECUDA. */
md_status suspension_matrix(md_ctx *ctx, const suspension_spec *spec, const stokes_resistance *law,
                            int vectors, stokes_matrix *matrix);

MD_END_C
#endif
