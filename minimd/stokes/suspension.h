/* minimd/stokes/suspension.h - large suspensions made on the spot, and their matrices. */
#ifndef SUSPENSION_H
#define SUSPENSION_H

#include "stokes/matrix/matrix.h"
#include "stokes/packing/packing.h"

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

/* [Liu] Table I: spheres, occupancy and gap cutoff that give as many blocks to a row. */
enum { SUSPENSION_MATRICES = 3 };
typedef struct {
  const char *name; /* "mat1", "mat2", "mat3" */
  int64_t rows;
  double occupancy, gap_cut;
} suspension_matrix;
extern const suspension_matrix suspension_matrices[SUSPENSION_MATRICES];

/* Such a packing with its pairs on a context's backend, sorted along a Hilbert curve, from which
 * its resistance matrix is assembled. */
typedef struct {
  md_ctx *ctx;
  md_buffer x;
  stokes_view view;
  stokes_pairs *pairs;
  stokes_resistance law;
} suspension;

/* States the memory needed for a matrix and `vectors` columns.  Free with suspension_close, also
 * after a failure.  Errors: MD_EINVAL, MD_ENOMEM, MD_ECUDA. */
md_status suspension_open(md_ctx *ctx, const suspension_spec *spec, const stokes_resistance *law,
                          int vectors, suspension *out);
void suspension_close(suspension *s);
/* The matrix, laid out for products with so many vectors.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status suspension_assemble(const suspension *s, int vectors, stokes_matrix *matrix);

MD_END_C
#endif
