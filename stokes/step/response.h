/* stokes/step/response.h - how far a suspension gives way to patterns of forces.
 *
 *     power = F . N F,   alone = F . N_0 F
 *
 * N turns forces on spheres into their velocities; N_0 does so for spheres without neighbours,
 * 1 / 6 pi eta a.  power / alone is, of short times and forces
 *
 *     F_i = sqrt(a_i) (+-1, +-1, +-1) at random    self-diffusion D_s / D_0, on average
 *     F_i = e                                      sedimentation velocity K = U / U_0
 *     F_i = e cos(q . x_i), and with the sine      hydrodynamic function H(q), e along q
 *
 * where both patterns of H count together.  Signs are as good as any numbers of that covariance,
 * and what is diagonal in N they measure exactly.  The velocity of spheres and fluid together is
 * zero. */
#ifndef STOKES_RESPONSE_H
#define STOKES_RESPONSE_H

#include "stokes/step/run.h"

MD_BEGIN_C

typedef struct {
  stokes_hydrodynamics hydrodynamics;
  double viscosity;
  double tolerance;      /* rpy, full: of M (patterns alike on all: RPY_TOLERANCE_ALIKE);
                            lubrication, full: of solutions */
  stokes_resistance law; /* lubrication, full; far_field: 1 */
  int most;              /* iterations of a solve */
  int vectors;           /* patterns at once, 1..STOKES_VECTORS */
} stokes_response_spec;

typedef enum { STOKES_SIGNS, STOKES_COSINE, STOKES_SINE } stokes_wave_kind;

typedef struct {
  stokes_wave_kind kind;
  uint64_t seed, number; /* signs: which of them */
  int axis, periods;     /* waves: q = 2 pi periods / L along this axis, 0: the same on all */
} stokes_pattern;

typedef struct {
  double power, alone;
  double sum; /* waves: of the pattern over all spheres */
} stokes_answer;

typedef struct stokes_response stokes_response;

/* For these spheres, which are kept.  *out is NULL on failure; free with stokes_response_destroy
 * (NULL is allowed).  Errors: those of rpy_create, rpy_set, stokes_pairs_update and
 * stokes_flow_create; MD_EINVAL (a value out of range). */
md_status stokes_response_create(md_ctx *ctx, const stokes_response_spec *spec,
                                 const stokes_packing *packing, stokes_response **out);
void stokes_response_destroy(stokes_response *response);

/* Answers to n patterns, as many at once as the spec has vectors.  *outcome: iterations of all
 * solves, and their largest residual.  Errors: MD_ENUMERIC (no convergence), MD_ENOMEM. */
md_status stokes_response_ask(stokes_response *response, int n, const stokes_pattern *pattern,
                              stokes_answer *answer, stokes_outcome *outcome);

MD_END_C
#endif
