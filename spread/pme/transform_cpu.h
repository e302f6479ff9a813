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

#include "core/buffer.h"
#include "core/real.h"

#include <fftw3.h>
#include <omp.h>
#include <stdlib.h>

#if MD_PREC == 2
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

enum { TRANSFORM_WIDE = 16 };

typedef FFTW(complex) transform_mode;
typedef struct {
  int32_t n, meshes;                /* planes of a mesh; how many meshes */
  int64_t points, row;              /* of a plane; modes of a plane, filled up to whole blocks */
  FFTW(plan) planes[2], columns[2]; /* to the spectrum, back */
  md_buffer scratch;                /* mode [threads][meshes][n][WIDE] */
} transform;

/* Modes of a plane, filled up to whole blocks. */
static inline int64_t transform_row(const int32_t mesh[3])
{
  const int64_t modes = (int64_t)mesh[1] * (mesh[2] / 2 + 1);
  return (modes + TRANSFORM_WIDE - 1) / TRANSFORM_WIDE * TRANSFORM_WIDE;
}

static void transform_destroy(md_ctx *ctx, transform *t) /* NULL is allowed */
{
  if (!t) return;
  for (int way = 0; way < 2; way++) {
    FFTW(destroy_plan)(t->planes[way]);
    FFTW(destroy_plan)(t->columns[way]);
  }
  md_buffer_free(ctx, &t->scratch);
  free(t);
}

static md_status transform_plan(transform *t, const int32_t mesh[3], real *space,
                                transform_mode *spectrum)
{
  const int n[3] = {mesh[0], mesh[1], mesh[2]}, row = (int)t->row;
  const bool alike = FFTW(alignment_of)(space) == FFTW(alignment_of)(space + t->points);
  const unsigned how = FFTW_ESTIMATE | (alike ? 0 : FFTW_UNALIGNED);
  transform_mode *scratch = t->scratch.data;
  t->planes[0] = FFTW(plan_dft_r2c_2d)(n[1], n[2], space, spectrum, how);
  t->planes[1] = FFTW(plan_dft_c2r_2d)(n[1], n[2], spectrum, space, how);
  t->columns[0] = FFTW(plan_many_dft)(1, n, TRANSFORM_WIDE, spectrum, NULL, row, 1, scratch, NULL,
                                      TRANSFORM_WIDE, 1, FFTW_FORWARD, FFTW_ESTIMATE);
  t->columns[1] = FFTW(plan_many_dft)(1, n, TRANSFORM_WIDE, scratch, NULL, TRANSFORM_WIDE, 1,
                                      spectrum, NULL, row, 1, FFTW_BACKWARD, FFTW_ESTIMATE);
  MD_REQUIRE(t->planes[0] && t->planes[1] && t->columns[0] && t->columns[1], MD_ENOMEM,
             "FFTW3 cannot plan a transform of %d x %d x %d points", n[0], n[1], n[2]);
  return MD_OK;
}

/* Transforms of so many meshes, real [meshes][mesh[0]][mesh[1]][mesh[2]], whose spectra, mode
 * [meshes][mesh[0]][row], get room, and 0 in what fills them up.  *out is NULL on failure.
 * Errors: MD_ENOMEM. */
static md_status transform_create(md_ctx *ctx, const int32_t mesh[3], int meshes, real *space,
                                  md_buffer *spectrum, void **out)
{
  transform *t = calloc(1, sizeof *t);
  *out = NULL;
  MD_REQUIRE(t, MD_ENOMEM, "out of memory for transforms");
  t->n = mesh[0], t->meshes = meshes;
  t->points = (int64_t)mesh[1] * mesh[2], t->row = transform_row(mesh);
  const size_t planes = (size_t)meshes * (size_t)t->n, size = sizeof(transform_mode);
  const size_t bytes = planes * (size_t)t->row * size;
  md_status status = md_buffer_reserve(ctx, spectrum, bytes, 0);
  if (!status) status = md_fill(ctx, spectrum->data, 0, bytes);
  if (!status)
    status = md_buffer_reserve(ctx, &t->scratch,
                               (size_t)ctx->threads * planes * TRANSFORM_WIDE * size, 0);
  if (!status) status = transform_plan(t, mesh, space, spectrum->data);
  if (status)
    transform_destroy(ctx, t);
  else
    *out = t;
  return status;
}

/* Of the thread that asks: mode [meshes][n][WIDE]. */
static inline transform_mode *transform_scratch(const transform *t)
{
  return (transform_mode *)t->scratch.data +
         (int64_t)omp_get_thread_num() * t->meshes * t->n * TRANSFORM_WIDE;
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

/* Block b of the columns of mesh f to its part of scratch; and back. */
static inline void transform_columns(const transform *t, int f, int64_t b, transform_mode *spectrum,
                                     transform_mode *scratch)
{
  FFTW(execute_dft)
  (t->columns[0], spectrum + f * t->n * t->row + b * TRANSFORM_WIDE,
   scratch + (int64_t)f * t->n * TRANSFORM_WIDE);
}
static inline void transform_columns_back(const transform *t, int f, int64_t b,
                                          transform_mode *scratch, transform_mode *spectrum)
{
  FFTW(execute_dft)
  (t->columns[1], scratch + (int64_t)f * t->n * TRANSFORM_WIDE,
   spectrum + f * t->n * t->row + b * TRANSFORM_WIDE);
}

#endif
