/* stokes/mobility/rpy_impl.h - the inside of a mobility. */
#ifndef RPY_IMPL_H
#define RPY_IMPL_H

#include "core/simd.h"
#include "spread/spread.h"
#include "stokes/matrix/matrix.h"
#include "stokes/mobility/rpy.h"

MD_BEGIN_C

/* The radii of all spheres: each different one, or RPY_NODES between which functions of the radius
 * are interpolated, where there are more than RPY_RADII. */
enum { RPY_RADII = 32, RPY_NODES = 48 };
typedef struct {
  int n;
  bool nodes;
  double least, most, mean, mean_cube;
  double radius[RPY_NODES]; /* ascending */
  double share[RPY_NODES];  /* of the spheres; the nearest node's */
} rpy_radii;

/* Errors: MD_EINVAL (a radius that is not finite and > 0: names the sphere), MD_ENOMEM. */
md_status rpy_radii_of(const stokes_view *spheres, rpy_radii *out);
/* Weights with which a function's values at the nodes give that at radius a. */
void rpy_radii_weights(const rpy_radii *radii, double a, double *weight);
/* Whether nodes are close enough for all modes that matter with this xi. */
bool rpy_radii_resolve(const rpy_radii *radii, double xi);

/* s(k a) = sum over t of coefficient_t(a) phi_t(k), phi_t(k) = sum over q of mix_t[q] s(k A_q), for
 * the radii A_q: the best such sum for the modes that matter.  Exact with as many terms as radii.
 * error[t]: of velocities under unit forces with t + 1 terms (root mean square of a component). */
typedef struct {
  int n;                                                               /* radii, terms */
  double mix[RPY_NODES][RPY_NODES], coefficient[RPY_NODES][RPY_NODES]; /* [term][radius] */
  double error[RPY_NODES];
} rpy_terms;
/* density: spheres per volume.  Errors: MD_ENOMEM. */
md_status rpy_terms_of(const rpy_radii *radii, double density, double viscosity, double xi,
                       rpy_terms *out);

/* Root mean square errors of a component of the velocity under random unit forces. */
typedef struct {
  const rpy_radii *radii;
  double density, viscosity, xi;
} rpy_fluid;
/* Of leaving out pairs beyond a gap of gamma / xi: error[k] for gamma = k RPY_GAMMA_STEP. */
enum { RPY_GAMMAS = 141 };
#define RPY_GAMMA_STEP 0.05
void rpy_near_errors(const rpy_fluid *fluid, double error[RPY_GAMMAS]);
/* The same of these spheres and their nearest images: for few. */
void rpy_near_errors_of(const rpy_fluid *fluid, const stokes_view *spheres,
                        double error[RPY_GAMMAS]);
/* Of a mesh with this spacing and so many points (fewer are enough to know: 32). */
double rpy_mesh_error(const rpy_fluid *fluid, const double spacing[3], const int32_t mesh[3],
                      int order);
/* Blocks a sphere has within a gap, its own included. */
double rpy_blocks(const rpy_fluid *fluid, double gap);

/* What the work costs on this machine [s]. */
enum { RPY_ORDER_MIN = 4, RPY_ORDER_MAX = 10 };
typedef struct {
  double block;                       /* a near block times all vectors */
  double particle[RPY_ORDER_MAX + 1]; /* spread and interpolate one number with order p */
  double point[RPY_ORDER_MAX + 1];    /* clear and read one mesh point */
  double transform;                   /* there and back: a point, a factor of 2 of their number */
  double assemble;                    /* list and make a block */
} rpy_costs;
/* Measured with small cases, but for a deterministic context.  Errors: MD_ENOMEM. */
md_status rpy_costs_of(md_ctx *ctx, int vectors, rpy_costs *out);

/* The far part. */
typedef struct {
  md_ctx *ctx;
  double box[3], viscosity, xi;
  int32_t mesh[3], order;
  int rank;
  int64_t points, modes, n;
  spread_plan *plan;
  md_buffer space;       /* real [3 rank][points] */
  md_buffer spectrum;    /* complex [3 rank][modes] */
  md_buffer table;       /* real [rank][modes]: phi_t(k) sqrt(D(k)), 0 where a mode has no place */
  md_buffer coefficient; /* real [rank][n] */
  md_buffer charge;      /* real [3 rank][n]: to spread, and what was interpolated */
  void *forward, *backward, *forward_noise; /* noise: of three meshes */
  double *wave[3];                          /* wave numbers along each axis [mesh] */
} rpy_far;
/* This build has FFTW3. */
bool rpy_far_available(void);
md_status rpy_far_create(md_ctx *ctx, const double box[3], double viscosity, const rpy_split *split,
                         rpy_far *out);
void rpy_far_destroy(rpy_far *far);
md_status rpy_far_terms(rpy_far *far, const rpy_radii *radii, const rpy_terms *terms);
md_status rpy_far_set(rpy_far *far, const stokes_view *spheres, const rpy_radii *radii,
                      const rpy_terms *terms);
/* u += M^far f, column by column. */
md_status rpy_far_add(rpy_far *far, int m, const double *f, double *u);
/* u += velocities with covariance M^far, column c from the normal numbers of step + c. */
md_status rpy_far_sample(rpy_far *far, int m, uint64_t seed, uint64_t step, double *u);
/* Transform, multiply, transform back. */
void rpy_far_solve(rpy_far *far);
int64_t rpy_far_bytes(const rpy_far *far);

typedef md_status rpy_far_plan_fn(rpy_far *far);
typedef void rpy_far_drop_fn(rpy_far *far);
/* phi: [rank][modes] in doubles, to the table. */
typedef void rpy_far_store_fn(const double *from, int64_t n, void *to);
typedef void rpy_far_load_fn(const rpy_far *far, int m, const double *f);
typedef void rpy_far_apply_fn(const rpy_far *far);
/* Normal numbers on three meshes, transformed and shaped in place of what was spread. */
typedef void rpy_far_noise_fn(const rpy_far *far, uint64_t seed, uint64_t step);
typedef void rpy_far_push_fn(const rpy_far *far, int m, double *u);

/* The near part: blocks of pairs within split.cut, from a list or, where spheres reach across half
 * the box, summed over images. */
typedef struct {
  md_ctx *ctx;
  double xi, cut, viscosity;
  stokes_pairs *pairs;
  stokes_matrix *matrix;
  stokes_solver *solver; /* for samples; NULL: none was asked for */
  bool attached;         /* the solver knows the matrix */
} rpy_near;
md_status rpy_near_create(md_ctx *ctx, const rpy_split *split, double viscosity, rpy_near *out);
void rpy_near_destroy(rpy_near *near);
md_status rpy_near_set(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii,
                       int vectors);
/* u = velocities with covariance M^near. */
md_status rpy_near_sample(rpy_near *near, int64_t n, int m, uint64_t seed, uint64_t step,
                          double tolerance, double *u, stokes_outcome *out);
/* Most spheres whose images are summed; the longest gap that a list can hold (<= 0: none). */
enum { RPY_IMAGES = 1000 };
double rpy_near_reach(const double box[3], const rpy_radii *radii);

struct rpy {
  md_ctx *ctx;
  rpy_spec spec;
  bool ready; /* spheres were set */
  rpy_radii radii;
  rpy_terms *terms;
  rpy_near near;
  rpy_far far;
  rpy_report report;
};

/* Fill the zeros of a split, and say why.  Errors: MD_EINVAL (no split reaches the tolerance),
 * MD_ENOMEM. */
md_status rpy_choose(rpy *mobility, const stokes_view *spheres);

static inline double rpy_volume(const double box[3])
{
  return box[0] * box[1] * box[2];
}

MD_END_C
#endif
