/* tests/ref/ref_spread.h - spreading by the definition of the B-splines, test particles, and a
 * driver that runs a plan on the backend under test with arrays of doubles on the host. */
#ifndef REF_SPREAD_H
#define REF_SPREAD_H

#include "core/buffer.h"
#include "spread/spread.h"

/* M_p(u) = sum_k (-1)^k C(p, k) max(u - k, 0)^(p-1) / (p-1)!, the smaller half by its symmetry, and
 * its derivative (not at a kink of p = 2). */
double ref_bspline(int p, double u);
double ref_bspline_slope(int p, double u);

/* mesh [K1][K2][K3] += S q for particles x [n][3]. */
void ref_spread(const spread_spec *spec, int64_t n, const double *x, const double *q, double *mesh);
/* value [n], gradient [n][3] = S^T mesh. */
void ref_interpolate(const spread_spec *spec, int64_t n, const double *x, const double *mesh,
                     double *value, double *gradient);

/* Particles of a test, positions rounded to the state of a precision. */
typedef struct {
  int64_t n;
  double *x, *q; /* [n][3], [vectors][n] in -1..1, rounded to real */
} ref_particles;

/* How they lie: anywhere in the box; on a lattice of their own; in a few blobs; on mesh points; on
 * box edges and one rounding beside them; all in one cell; many boxes away; in one column of cells,
 * in each where it begins, within, and next to its end. */
#define REF_PLACES(X)                                                                              \
  X(UNIFORM) X(LATTICE) X(CLUSTERED) X(ON_POINTS) X(ON_EDGES) X(ONE_CELL) X(FAR) X(COLUMN)
#define MD_ENUM_(name) REF_##name,
typedef enum { REF_PLACES(MD_ENUM_) REF_PLACE_COUNT } ref_place;
#undef MD_ENUM_

ref_particles ref_particles_make(const spread_spec *spec, md_precision precision, ref_place place,
                                 int64_t n);
void ref_particles_free(ref_particles *particles);

/* A plan with its arrays on the backend. */
typedef struct {
  md_ctx *ctx;
  spread_plan *plan;
  spread_spec spec;
  int64_t n, points;
  md_buffer x, q, mesh, value, gradient;
} ref_run;

/* Make the plan and give it the particles; spread and read the mesh; write a mesh and read values
 * and gradients.  A failure fails the test. */
ref_run ref_run_open(md_ctx *ctx, const spread_spec *spec, const ref_particles *particles);
void ref_run_positions(ref_run *run, const ref_particles *particles);
void ref_run_spread(ref_run *run, double *mesh);
void ref_run_interpolate(ref_run *run, const double *mesh, double *value, double *gradient);
void ref_run_close(ref_run *run);
/* Distance of the mesh that the plan spreads from the reference, as ref_error. */
double ref_run_error(ref_run *run, const ref_particles *particles);

/* |a - b| / |b| in the Euclidean norm; 0 for two zeros. */
double ref_error(int64_t n, const double *a, const double *b);

/* A plan of the given method in a box whose edges are no powers of two. */
spread_spec ref_spec(spread_method method, int k1, int k2, int k3, int order);

#endif
