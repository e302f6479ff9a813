/* stokes/step/flow.h - velocities of spheres through the fluid, far and near: the mobility of all
 * and the lubrication between those that nearly touch.
 *
 *     U = (M^-1 + R_lub)^-1 F,   (I + M R_lub) U = M F
 *
 * M is that of stokes/mobility/rpy.h, R_lub what the resistance matrix of stokes/matrix/matrix.h
 * has beside the drag of single spheres.  With f of covariance R_lub and u of covariance M, forces
 * f and velocities u in place of M F give U of covariance (M^-1 + R_lub)^-1 (Fiore and Swan, J.
 * Fluid Mech. 878, 544 (2019), without stresslets). */
#ifndef STOKES_FLOW_H
#define STOKES_FLOW_H

#include "stokes/mobility/rpy.h"
#include "stokes/step/pair_force.h"

MD_BEGIN_C

typedef struct {
  rpy_spec mobility;
  stokes_resistance law; /* far_field: 1 */
  double tolerance;      /* of solutions, relative */
  int most;              /* iterations of a solve */
} stokes_flow_spec;

typedef struct stokes_flow stokes_flow;

/* Without spheres.  *out is NULL on failure; free with stokes_flow_destroy (NULL is allowed).
 * Errors: those of rpy_create. */
md_status stokes_flow_create(md_ctx *ctx, const stokes_flow_spec *spec, stokes_flow **out);
void stokes_flow_destroy(stokes_flow *flow);

/* These spheres, and their pairs with r < (1 + gap_cut / 2) (a_i + a_j) among others, from now on;
 * neither is kept.  Errors: those of rpy_set and stokes_matrix_assemble. */
md_status stokes_flow_set(stokes_flow *flow, const stokes_view *spheres,
                          const stokes_pair_view *pairs);

/* f [3 n][m] of covariance R_lub and u [3 n][m] of covariance M, column c of step + c, for the
 * spheres and pairs that were set.  *out: of rpy_sample.  Errors: those of rpy_sample. */
md_status stokes_flow_noise(stokes_flow *flow, const stokes_view *spheres,
                            const stokes_pair_view *pairs, const stokes_noise *noise, int m,
                            double *f, double *u, stokes_outcome *out);

/* (I + M R_lub) U = M F + u for m columns [3 n][m], 1 <= m <= STOKES_VECTORS; u NULL: 0.  velocity:
 * in the guess, out U.  *out: iterations, and the largest true residual of a column, where spheres
 * count by their radii.  The same for any number of threads in a deterministic context.
 * Errors: MD_ENUMERIC (not reached), MD_ENOMEM. */
md_status stokes_flow_solve(stokes_flow *flow, int m, const double *f, const double *u,
                            double *velocity, stokes_outcome *out);

/* The split of M in use, once spheres were set. */
rpy_split stokes_flow_split(const stokes_flow *flow);

/* Seconds spent so far, and products with M and with R_lub. */
typedef struct {
  double near, far;             /* products with M's parts; near: with setting spheres */
  double solve;                 /* what else solves took */
  int64_t mobility, resistance; /* products */
} stokes_flow_costs;
stokes_flow_costs stokes_flow_spent(const stokes_flow *flow);

MD_END_C
#endif
