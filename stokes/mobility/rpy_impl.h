/* stokes/mobility/rpy_impl.h - the inside of a mobility. */
#ifndef RPY_IMPL_H
#define RPY_IMPL_H

#include "core/simd.h"
#include "spread/spread.h"
#include "stokes/matrix/matrix.h"
#include "stokes/mobility/rpy.h"
#include "stokes/solver/vectors_impl.h"

MD_BEGIN_C

/* The radii of all spheres: each different one, or RPY_NODES between which functions of the radius
 * are interpolated, where there are more than RPY_RADII. */
enum { RPY_RADII = 32, RPY_NODES = 48 };
typedef struct {
  int n;
  bool nodes;
  double least, most;
  double radius[RPY_NODES]; /* ascending */
  double share[RPY_NODES];  /* of the spheres; the nearest node's */
} rpy_radii;

/* Of spheres on the host.  Errors: MD_EINVAL (a radius that is not finite and > 0: names the
 * sphere). */
md_status rpy_radii_of(const stokes_view *spheres, rpy_radii *out);
/* Weights with which a function's values at the nodes give that at radius a. */
void rpy_radii_weights(const rpy_radii *radii, double a, double *weight);
/* The spheres on the host, where they may be already; close what was opened.  Errors: MD_ENOMEM,
 * MD_ECUDA. */
md_status rpy_view_open(md_ctx *ctx, const stokes_view *spheres, stokes_view *host);
void rpy_view_close(const stokes_view *spheres, stokes_view *host);

/* Keep the radii of spheres, which lie on the context's backend, and say whether they are what was
 * kept of `before` spheres.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status rpy_radii_keep(md_ctx *ctx, const stokes_view *spheres, int64_t before, md_buffer *kept,
                         bool *same);
typedef md_status rpy_radii_store_fn(md_ctx *ctx, const stokes_view *spheres, double *kept,
                                     bool *same);
rpy_radii_store_fn rpy_radii_store_gpu;
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

/* What the work costs on this machine [s].  On a GPU the far part is measured with meshes of
 * several sizes and about as many particles as there are spheres, for what kernels do depends on
 * both. */
enum { RPY_ORDER_MIN = 4, RPY_ORDER_MAX = 10, RPY_MESHES = 5 };
typedef struct {
  double points;
  double spread[RPY_ORDER_MAX + 1]; /* spread and interpolate three numbers of all vectors */
  double solve;                     /* transform them, there and back, and project */
} rpy_mesh_cost;
typedef struct {
  double block;                       /* a near block times all vectors */
  double particle[RPY_ORDER_MAX + 1]; /* spread and interpolate one number with order p */
  double point[RPY_ORDER_MAX + 1];    /* clear and read one mesh point */
  double transform;                   /* there and back: a point, a factor of 2 of their number */
  double assemble;                    /* list and make a block */
  int meshes;                         /* measured, by rising points; 0: by the numbers above */
  double particles;                   /* on those meshes */
  rpy_mesh_cost mesh[RPY_MESHES];
} rpy_costs;
/* For n spheres; measured, but for a deterministic context.  Errors: MD_ENOMEM, MD_ECUDA. */
md_status rpy_costs_of(md_ctx *ctx, int vectors, int64_t n, rpy_costs *out);
/* What costs_of measures on a GPU. */
md_status rpy_costs_gpu(md_ctx *ctx, int vectors, int64_t n, rpy_costs *out);
/* The far part of a product. */
double rpy_far_cost(const rpy_costs *costs, const rpy_split *split, int vectors, int64_t n);

/* The far part.  Vectors are worked on several columns at once on a GPU, one by one on a CPU, where
 * three meshes stay nearer to the caches than forty-eight. */
enum { RPY_COLUMNS = 32 };
typedef struct {
  md_ctx *ctx;
  double box[3], viscosity, xi;
  int32_t mesh[3], order;
  int rank, columns; /* columns: at once, at most */
  int64_t points, modes, n;
  spread_plan *plan;
  md_buffer space;       /* real [columns][3 rank][points] */
  md_buffer spectrum;    /* complex [columns][3 rank][modes]; a CPU fills planes up */
  md_buffer table;       /* real [rank][modes]: phi_t(k) sqrt(D(k)), 0 where a mode has no place */
  md_buffer coefficient; /* real [rank][n] */
  md_buffer charge;      /* real [columns][3 rank][n]: to spread, and what was interpolated */
  void *transforms;      /* the backend's */
  double *wave[3];       /* wave numbers along each axis [mesh] */
} rpy_far;
/* This build has what the far part needs there: FFTW3 on a CPU. */
bool rpy_far_available(md_backend backend);
/* vectors: of products, mostly. */
md_status rpy_far_create(md_ctx *ctx, const double box[3], double viscosity, const rpy_split *split,
                         int vectors, rpy_far *out);
void rpy_far_destroy(rpy_far *far);
/* For these radii, whose spheres lie on the host: the table, and the coefficients. */
md_status rpy_far_terms(rpy_far *far, const stokes_view *host, const rpy_radii *radii,
                        const rpy_terms *terms);
md_status rpy_far_set(rpy_far *far, const stokes_view *spheres);
/* u += M^far f, column by column. */
md_status rpy_far_add(rpy_far *far, int m, const double *f, double *u);
/* u += velocities with covariance M^far, column c from the normal numbers of step + c. */
md_status rpy_far_sample(rpy_far *far, int m, uint64_t seed, uint64_t step, double *u);
/* What far_add does between loading and adding to u: spread, transform, multiply, transform back,
 * interpolate `count` columns. */
md_status rpy_far_spread(rpy_far *far, int count);
md_status rpy_far_solve(rpy_far *far, int count);
md_status rpy_far_interpolate(rpy_far *far, int count);
int64_t rpy_far_bytes(const rpy_far *far);

/* What a backend does with `count` of m columns, which begin at f and u. */
typedef md_status rpy_far_plan_fn(rpy_far *far);
typedef void rpy_far_drop_fn(rpy_far *far);
typedef md_status rpy_far_load_fn(const rpy_far *far, int m, int count, const double *f);
typedef md_status rpy_far_apply_fn(const rpy_far *far, int count);
/* Normal numbers on three meshes a column, transformed and shaped in place of what was spread. */
typedef md_status rpy_far_noise_fn(const rpy_far *far, int count, uint64_t seed, uint64_t step);
typedef md_status rpy_far_push_fn(const rpy_far *far, int m, int count, double *u);
rpy_far_plan_fn rpy_far_gpu_plan_single, rpy_far_gpu_plan_double;
rpy_far_drop_fn rpy_far_gpu_drop_single, rpy_far_gpu_drop_double;
rpy_far_load_fn rpy_far_gpu_load_single, rpy_far_gpu_load_double;
rpy_far_apply_fn rpy_far_gpu_apply_single, rpy_far_gpu_apply_double;
rpy_far_noise_fn rpy_far_gpu_noise_single, rpy_far_gpu_noise_double;
rpy_far_push_fn rpy_far_gpu_push_single, rpy_far_gpu_push_double;

/* The near part: blocks of pairs within split.cut, from a list or, where spheres reach across half
 * the box, summed over images. */
typedef struct {
  md_ctx *ctx;
  double xi, cut, viscosity;
  stokes_pairs *pairs;
  stokes_storage storage;
  stokes_matrix *matrix; /* NULL: no spheres yet */
  stokes_solver *solver; /* for samples; NULL: none was asked for */
  bool attached;         /* the solver knows the matrix */
  md_buffer narrow;      /* GPU, single: vectors of floats */
  md_buffer table, kind; /* GPU, single: f and g by gap for every two radii (rpy_table.h), and
                          * uint8 [n], which radius a sphere has; empty where radii are nodes */
} rpy_near;
md_status rpy_near_create(md_ctx *ctx, const rpy_split *split, double viscosity, rpy_near *out);
void rpy_near_destroy(rpy_near *near);
/* The radii of the spheres to come. */
md_status rpy_near_radii(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii);
md_status rpy_near_set(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii,
                       int vectors);
md_status rpy_near_multiply(rpy_near *near, int m, const double *f, double *u);
/* u = velocities with covariance M^near. */
md_status rpy_near_sample(rpy_near *near, int64_t n, int m, uint64_t seed, uint64_t step,
                          double tolerance, double *u, stokes_outcome *out);
/* Blocks from a list on the GPU; what they are made with. */
md_status rpy_near_gpu_fill(rpy_near *near, const stokes_view *spheres,
                            const stokes_pair_view *list, int vectors);
/* A product whose vectors are floats on the way, where the layout allows it. */
md_status rpy_near_gpu_multiply(rpy_near *near, int m, const double *f, double *u);
md_status rpy_near_gpu_tables(rpy_near *near, const stokes_view *spheres, const rpy_radii *radii);
/* Most spheres whose images are summed; the longest gap that a list can hold (<= 0: none). */
enum { RPY_IMAGES = 1000 };
double rpy_near_reach(const double box[3], const rpy_radii *radii);

struct rpy {
  md_ctx *ctx;
  rpy_spec spec;
  bool ready; /* spheres were set */
  rpy_radii radii;
  md_buffer kept; /* double: the radius of each sphere */
  rpy_terms *terms;
  rpy_near near;
  rpy_far far;
  rpy_report report;
};

/* The smallest even 2^a 3^b 5^c that is >= least: transforms are quick with these. */
int32_t rpy_good_size(double least);
/* Fill the zeros of a split, and say why; the spheres, and those on the host.  Errors: MD_EINVAL
 * (no split reaches the tolerance), MD_ENOMEM. */
md_status rpy_choose(rpy *mobility, const stokes_view *spheres, const stokes_view *host);

static inline double rpy_volume(const double box[3])
{
  return box[0] * box[1] * box[2];
}

MD_END_C
#endif
