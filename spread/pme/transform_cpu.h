/* spread/pme/transform_cpu.h - real transforms in three dimensions by FFTW3, in pieces that threads
 * share; compiled once for each type of `real`.
 *
 * A plane of the mesh (i is fixed) becomes a row of modes; then columns of modes across the rows,
 * WIDE of them side by side, whole cache lines, are transformed into scratch, where the caller
 * multiplies them, and back.  Memory sees mesh and spectrum twice each.  Pieces are planned without
 * measuring, so that the same run has the same plans every time, for any number of threads; plans
 * of three dimensions made in this way take up to nine times as long (60^3 points, one Xeon core).
 *
 * Several meshes lie behind one another: planes are numbered through, and so are rows. */
#ifndef SPREAD_PME_TRANSFORM_CPU_H
#define SPREAD_PME_TRANSFORM_CPU_H

#include "core/real.h"

#include <fftw3.h>

#if MD_PREC == 2
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

enum { TRANSFORM_WIDE = 16 };

typedef FFTW(complex) transform_mode;
typedef struct {
  int32_t n;                        /* planes of a mesh */
  int64_t points, row;              /* of a plane; modes of a plane, filled up to whole blocks */
  FFTW(plan) planes[2], columns[2]; /* to the spectrum, back */
} transform;

/* Modes of a plane, filled up to whole blocks. */
static inline int64_t transform_row(const int32_t mesh[3])
{
  const int64_t modes = (int64_t)mesh[1] * (mesh[2] / 2 + 1);
  return (modes + TRANSFORM_WIDE - 1) / TRANSFORM_WIDE * TRANSFORM_WIDE;
}

/* Plans for meshes real [mesh[0]][mesh[1]][mesh[2]], spectra [mesh[0]][row] and scratch
 * [mesh[0]][WIDE], of which these are the first.  Destroy `out` on failure, too.
 * Errors: MD_ENOMEM. */
static md_status transform_create(const int32_t mesh[3], real *space, transform_mode *spectrum,
                                  transform_mode *scratch, transform *out)
{
  const int n[3] = {mesh[0], mesh[1], mesh[2]}, row = (int)transform_row(mesh);
  *out = (transform){.n = n[0], .points = (int64_t)n[1] * n[2], .row = row};
  const bool alike = FFTW(alignment_of)(space) == FFTW(alignment_of)(space + out->points);
  const unsigned how = FFTW_ESTIMATE | (alike ? 0 : FFTW_UNALIGNED);
  out->planes[0] = FFTW(plan_dft_r2c_2d)(n[1], n[2], space, spectrum, how);
  out->planes[1] = FFTW(plan_dft_c2r_2d)(n[1], n[2], spectrum, space, how);
  out->columns[0] = FFTW(plan_many_dft)(1, n, TRANSFORM_WIDE, spectrum, NULL, row, 1, scratch, NULL,
                                        TRANSFORM_WIDE, 1, FFTW_FORWARD, FFTW_ESTIMATE);
  out->columns[1] = FFTW(plan_many_dft)(1, n, TRANSFORM_WIDE, scratch, NULL, TRANSFORM_WIDE, 1,
                                        spectrum, NULL, row, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
  MD_REQUIRE(out->planes[0] && out->planes[1] && out->columns[0] && out->columns[1], MD_ENOMEM,
             "FFTW3 cannot plan a transform of %d x %d x %d points", n[0], n[1], n[2]);
  return MD_OK;
}

static void transform_destroy(transform *t)
{
  for (int way = 0; way < 2; way++) {
    FFTW(destroy_plan)(t->planes[way]);
    FFTW(destroy_plan)(t->columns[way]);
  }
}

/* Plane p of the meshes to row p of the spectra; and back, which destroys the row. */
static inline void transform_plane(const transform *t, int64_t p, real *space,
                                   transform_mode *spectrum)
{
  FFTW(execute_dft_r2c)(t->planes[0], space + p * t->points, spectrum + p * t->row);
}
static inline void transform_row_back(const transform *t, int64_t p, transform_mode *spectrum,
                                      real *space)
{
  FFTW(execute_dft_c2r)(t->planes[1], spectrum + p * t->row, space + p * t->points);
}

/* Block b of the columns of mesh f to scratch; and back. */
static inline void transform_columns(const transform *t, int f, int64_t b, transform_mode *spectrum,
                                     transform_mode *scratch)
{
  FFTW(execute_dft)(t->columns[0], spectrum + f * t->n * t->row + b * TRANSFORM_WIDE, scratch);
}
static inline void transform_columns_back(const transform *t, int f, int64_t b,
                                          transform_mode *scratch, transform_mode *spectrum)
{
  FFTW(execute_dft)(t->columns[1], scratch, spectrum + f * t->n * t->row + b * TRANSFORM_WIDE);
}

#endif
