/* stokes/packing/packing.h - spheres of several sizes in a periodic box: made, read, written,
 * checked.
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

/* Lengths and ratios of radii that grids and third powers can hold; centres lie at most so many
 * boxes away. */
#define STOKES_LENGTH_MIN 1e-12
#define STOKES_LENGTH_MAX 1e12
#define STOKES_RATIO_MAX 1e6
#define STOKES_BOXES_MAX 1e9

/* Radii seen so far; begin with {0}. */
typedef struct {
  double least, most;
} stokes_radius_range;
/* One more radius.  Errors: MD_EINVAL (out of STOKES_LENGTH_MIN .. STOKES_LENGTH_MAX; more than
 * STOKES_RATIO_MAX times another one). */
md_status stokes_radius_admit(stokes_radius_range *seen, double radius);

/* Room for n spheres, all zero.  Errors: MD_EINVAL (n not in 1..2^31 - 1), MD_ENOMEM. */
md_status stokes_packing_create(int64_t n, stokes_packing *out);
void stokes_packing_free(stokes_packing *packing); /* an empty one is allowed */

/* Volume of the spheres as a fraction of the box. */
double stokes_packing_occupancy(const stokes_packing *packing);

/* Whether edges, centres and radii are within the limits above, wherever spheres overlap.
 * Errors: MD_EINVAL (names the sphere, 1-based). */
md_status stokes_packing_values(const stokes_packing *packing);

/* The functions below that take a context work with its threads and need a CPU context. */

/* Spheres may touch, not overlap.  gap_min: NULL, or the smallest gap 2 r / (a_i + a_j) - 2 of a
 * pair, at most STOKES_GAP_SEEN.  Errors: those of stokes_packing_values, MD_EINVAL (an overlap:
 * names the spheres, 1-based, and the gap; a box too small for its largest sphere), MD_ENOMEM. */
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

/* Called now and then with what was passed to it: `done` of `most` sweeps of the part of the work
 * that is under way. */
typedef void stokes_pack_progress(void *watcher, int64_t done, int64_t most);

typedef struct {
  int64_t n;        /* spheres, >= 1 */
  double occupancy; /* 0 < occupancy < 1 */
  uint64_t seed;
  int64_t sweeps; /* of the walk, at most; < 0: until Z is stationary, see stokes_pack */
  int iterations; /* at most, to push overlapping spheres apart */
  /* NULL, or called with watcher after each sweep: `done`, of `most` in this part of the work */
  void (*progress)(void *watcher, int64_t done, int64_t most);
  void *watcher;
} stokes_pack_spec;

/* A spec with everything but n and occupancy at its usual value. */
stokes_pack_spec stokes_pack_defaults(int64_t n, double occupancy);

typedef struct {
  int iterations;              /* used to push spheres apart */
  int64_t sweeps;              /* of the walk */
  int64_t sweeps_usual;        /* after which Z is looked at first */
  bool stationary;             /* the walk ended because Z no longer changed */
  double z, z_error, z_theory; /* P V / (N k T) and its standard error; BMCSL */
  double g, g_theory; /* contact value: (Z - 1) / (2 pi/3 rho <(a_i + a_j)^3>); the same of BMCSL */
  double gap_min;     /* of the result, at most STOKES_GAP_SEEN */
  double gap_expected; /* mean of the smallest gap: 2 / (3 n (Z - 1)) */
  double seconds;      /* of wall time */
} stokes_pack_report;

/* Pack spheres at random into a cube, as a fluid of hard spheres in equilibrium has them: random
 * places at the final size; pairs that overlap or nearly touch are pushed apart (the smaller sphere
 * moves more); then a walk by event chains until Z is stationary.
 *
 * A sweep is a path of n mean free paths, about n events.  Z is stationary when its mean over the
 * second half of the walk differs from that of the quarter before by less than three standard
 * errors.  This is looked at after 100 (Z/4)^1.4 sweeps (Z: BMCSL; 100 where Z < 4) and whenever
 * the walk has grown by an eighth; a walk that is not stationary after 20 times as many ends.  Z
 * and its error are those of the second half (NaN below 16 sweeps).
 *
 * Spheres of one size (whose radii deviate by less than 6 %) freeze above 0.54.  Several sizes with
 * a relative standard deviation d and a skewness S jam at random at 0.634 + 0.0658 d + 0.0857 S d^2
 * (Desmond and Weeks, Phys. Rev. E 90, 022204).
 *
 * The result depends on the spec only, not on the number of threads.  report may be NULL.
 * Errors: MD_EINVAL (a value out of range; an occupancy above these limits), MD_ENUMERIC (spheres
 * were not pushed apart), MD_ENOMEM. */
md_status stokes_pack(md_ctx *ctx, const stokes_radii *radii, const stokes_pack_spec *spec,
                      stokes_packing *out, stokes_pack_report *report);

/* Contact values of the pair distribution for each two sizes, from the event chains of so many
 * sweeps that begin at a packing, which stays as it is.  g: [radii->n][radii->n], NaN where there
 * is no such pair; g_theory: [radii->n][radii->n], BMCSL.  Errors: MD_EINVAL (no cube; a radius
 * that is not listed), MD_ENOMEM. */
md_status stokes_contacts(const stokes_radii *radii, const stokes_packing *packing, uint64_t seed,
                          int64_t sweeps, double *g, double *g_theory);

MD_END_C
#endif
