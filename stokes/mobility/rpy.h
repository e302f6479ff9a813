/* stokes/mobility/rpy.h - velocities of spheres from forces on them, through the fluid.
 *
 *     u = M F,   M_ij = M^near_ij + M^far_ij
 *     M^far_ij = 1/(eta V) sum_{k != 0} e^{ik(x_i - x_j)} s(k a_i) s(k a_j) H(k)/k^2 (I - kk^T/k^2)
 *     s(z) = sin z / z,   H(k) = (1 + k^2 / 4 xi^2) exp(-k^2 / 4 xi^2)
 *
 * M is the periodic mobility of Rotne, Prager and Yamakawa: the double average of Oseen's tensor
 * over two surfaces, so that radii may differ and spheres may overlap.  The mean velocity is zero.
 * Both parts are positive for every xi > 0, and the far one for any mesh as well (Fiore et al., J.
 * Chem. Phys. 146, 124116 (2017)).  The near part is a matrix of 3 x 3 blocks of the pairs whose
 * surfaces are nearer than `cut`; the far part is spread with B-splines onto a mesh, transformed,
 * multiplied and interpolated.
 *
 * The tolerance is the root mean square error of the velocities under random forces, relative to
 * that of the velocities.  Vectors are row-major: element (i, c) of 3 n rows and m columns is
 * v[i m + c], as in stokes/matrix/matrix.h. */
#ifndef RPY_H
#define RPY_H

#include "stokes/solver/solver.h"

MD_BEGIN_C

/* How the sum is split between near and far.  Zero: chosen, so that the cost is least. */
typedef struct {
  double xi;       /* splitting parameter [1/length] */
  double cut;      /* pairs with r - a_i - a_j below this are near [length] */
  int32_t mesh[3]; /* points along each edge */
  int32_t order;   /* of the B-splines, 4..10 */
  int32_t rank;    /* terms for unequal radii */
} rpy_split;

/* Tolerances that can be asked for; in single precision rounding allows no less than RPY_SINGLE. */
#define RPY_TOLERANCE_MIN 1e-12
#define RPY_TOLERANCE_MAX 0.1
#define RPY_SINGLE 1e-5
/* What serves where forces are alike: their errors add up, and velocities are small, as the fluid
 * flows back (docs/hydrodynamics.md). */
#define RPY_TOLERANCE_ALIKE 1e-5

typedef struct {
  double box[3];    /* edges of the periodic box [length] */
  double viscosity; /* eta > 0 */
  double tolerance;
  int vectors; /* how many most products will have */
  bool moves;  /* each product has spheres of its own: what setting them costs is weighed, too */
  rpy_split split;
} rpy_spec;

/* Seconds that parts of the work take: modelled from what was measured on this machine. */
typedef struct {
  double near, far, set; /* of a product with spec.vectors; of setting spheres */
} rpy_times;

typedef struct {
  int64_t n;
  rpy_split split; /* in use */
  bool single;     /* blocks and mesh are floats */
  int radii;       /* different ones, or nodes that stand for more of them */
  double blocks;   /* near blocks a sphere, its own included */
  double error;    /* expected; near_error, mesh_error and rank_error are its parts */
  double near_error, mesh_error, rank_error;
  rpy_times expected; /* zero where nothing was chosen */
  int64_t bytes;      /* held */
  char reason[200];   /* why this split */
} rpy_report;

typedef struct rpy rpy;

/* The context in the precision that a mobility of this tolerance is best made in: mixed on a GPU
 * where that will do, for it is twice as fast. */
md_ctx rpy_where(const md_ctx *ctx, double tolerance);

/* Whether rpy_create would refuse the spec on that backend.  Errors: MD_EINVAL. */
md_status rpy_check(const md_ctx *ctx, const rpy_spec *spec);

/* A mobility without spheres.  *out is NULL on failure; free with rpy_destroy (NULL is allowed).
 * In mixed precision blocks and mesh are floats; vectors are doubles on the context's backend.
 * A split is chosen when spheres are set first, and kept.  In a deterministic context costs are not
 * measured, and the same spheres give the same bits for any number of threads.
 * Errors: MD_EINVAL (a value out of range; a CPU in a build without FFTW3), MD_ENOMEM. */
md_status rpy_create(md_ctx *ctx, const rpy_spec *spec, rpy **out);
void rpy_destroy(rpy *mobility);

/* These spheres from now on, anywhere in space; they are not kept, and their number may change.
 * Radii that change cost more than places: they are looked at on the host.
 * Errors: MD_EINVAL (another box; a number that is not finite, a radius that is not > 0; spheres
 * that reach across half the box where they are too many to sum over images: names the edge),
 * MD_ENOMEM (states the size). */
md_status rpy_set(rpy *mobility, const stokes_view *spheres);

/* U = M F for m columns, [3 n][m], not the same memory.  A column is the same whatever the others
 * are, up to rounding.  Errors: MD_EINVAL (no spheres yet; m < 1), MD_ENOMEM. */
md_status rpy_multiply(rpy *mobility, int m, const double *f, double *u);

/* The two parts alone: U = M^near F; U += M^far F.  Errors: as above. */
md_status rpy_multiply_near(rpy *mobility, int m, const double *f, double *u);
md_status rpy_add_far(rpy *mobility, int m, const double *f, double *u);

/* Velocities [3 n][m] with covariance M, column c those of step + c: of the far part exactly, on
 * the mesh, and of the near part by Lanczos' method, until its steps change them by less than
 * spec.tolerance.  Numbers depend on seed, step, and the place of a sphere in memory.
 * *out: Lanczos' steps and their last change (NULL: not wanted).  1 <= m <= STOKES_VECTORS.
 * Errors: MD_EINVAL (no spheres yet; m; a build without LAPACK), MD_ENUMERIC (the near part is not
 * positive or does not converge: the cut is too short), MD_ENOMEM. */
md_status rpy_sample(rpy *mobility, int m, uint64_t seed, uint64_t step, double *u,
                     stokes_outcome *out);

void rpy_describe(const rpy *mobility, rpy_report *out);

/* The velocities of `count` spheres by the sum itself, without a mesh: u [3 count][m], all on the
 * host, as precise as `digits` asks for (at most 15).  Cost: count n near pairs and 2 n modes, with
 * a split of its own.  Errors: MD_EINVAL, MD_ENOMEM. */
md_status rpy_direct(md_ctx *ctx, const stokes_view *spheres, double viscosity, double digits,
                     int m, const double *f, int64_t count, const int64_t *which, double *u);

MD_END_C
#endif
