/* stokes/packing.h - spheres of several sizes in a periodic box: made, read, written, checked.
 *
 * A packing lies on the host and knows no backend.  Lengths are in Angstrom by convention; nothing
 * here depends on it. */
#ifndef PACKING_H
#define PACKING_H

#include "ordering/ordering.h"

#include <stdio.h>

MD_BEGIN_C

typedef struct {
  int64_t n;
  double box[3]; /* edges of the periodic box */
  double *x;     /* [n][4]: centre (anywhere, also outside the box) and radius */
} stokes_packing;

/* Room for n spheres, all zero.  Errors: MD_EINVAL (n not in 1..2^31 - 1), MD_ENOMEM. */
md_status stokes_packing_create(int64_t n, stokes_packing *out);
void stokes_packing_free(stokes_packing *packing); /* an empty one is allowed */

/* Volume of the spheres as a fraction of the box. */
double stokes_packing_occupancy(const stokes_packing *packing);

/* The functions below that take a context work with its threads and need a CPU context. */

/* Spheres may touch, not overlap.  gap_min: NULL, or the smallest gap 2 r / (a_i + a_j) - 2 of a
 * pair, at most STOKES_GAP_SEEN.  Errors: MD_EINVAL (an edge or radius that is not > 0 and finite,
 * a coordinate that is not finite, an overlap: names the spheres, 1-based, and the gap; a box too
 * small for its largest sphere), MD_ENOMEM. */
#define STOKES_GAP_SEEN 0.02
md_status stokes_packing_check(md_ctx *ctx, const stokes_packing *packing, double *gap_min);

/* Sort the spheres along a curve through the box.  place: NULL, or [n], place[new] = old.
 * Errors: those of ordering_index. */
md_status stokes_packing_sort(md_ctx *ctx, stokes_packing *packing, const ordering *order,
                              int32_t *place);

/* Extended XYZ: Lattice="..." (a box with right angles), Properties with pos:R:3 and radius:R:1.
 * Numbers have 17 digits, so that a packing reads back exactly.  Errors: MD_EIO, MD_EINVAL (file,
 * line, what was expected), MD_ENOMEM. */
md_status stokes_packing_read(const char *path, stokes_packing *out);
md_status stokes_packing_write(const stokes_packing *packing, const char *path);
/* One frame of a trajectory, which is several such files one after the other. */
void stokes_packing_print(const stokes_packing *packing, FILE *stream);

/* Radii and how common they are. */
typedef struct {
  int n;
  double *radius, *fraction; /* [n] each; fractions sum to 1 */
} stokes_radii;

/* `ecoli`, the proteins of Table IV of [Liu], or a file with a line `radius,fraction` for each
 * size; `#` starts a comment.  Fractions of a file are scaled to sum to 1.
 * Errors: MD_EIO, MD_EINVAL (file, line, what was expected), MD_ENOMEM. */
md_status stokes_radii_read(const char *name, stokes_radii *out);
void stokes_radii_free(stokes_radii *radii);

typedef struct {
  int64_t n;        /* spheres, >= 1 */
  double occupancy; /* 0 < occupancy < 1 */
  uint64_t seed;
  double gap;     /* smallest gap of the result before the random walk, > 0 */
  int sweeps;     /* of the hard-sphere Monte Carlo walk that follows */
  int iterations; /* at most, to push overlapping spheres apart */
} stokes_pack_spec;

/* A spec with everything but n and occupancy at its usual value. */
stokes_pack_spec stokes_pack_defaults(int64_t n, double occupancy);

typedef struct {
  int iterations;  /* used */
  double seconds;  /* of wall time */
  double gap_min;  /* of the result */
  double accepted; /* share of the walk's moves */
} stokes_pack_report;

/* Pack spheres at random into a cube: random places at the final size, pairs that overlap are
 * pushed apart (the smaller sphere moves more) until none is left, then a hard-sphere Monte Carlo
 * walk.  The result depends on the spec only, not on the number of threads.  report may be NULL.
 * Errors: MD_EINVAL (a value out of range; an occupancy that cannot be packed: names the one that
 * was reached), MD_ENOMEM. */
md_status stokes_pack(md_ctx *ctx, const stokes_radii *radii, const stokes_pack_spec *spec,
                      stokes_packing *out, stokes_pack_report *report);

MD_END_C
#endif
