/* stokes/step/run_impl.h - a run, between its steps (run.c) and its state (run_state.c). */
#ifndef STOKES_RUN_IMPL_H
#define STOKES_RUN_IMPL_H

#include "stokes/step/flow.h"
#include "stokes/step/run.h"
#include "stokes/solver/vectors_impl.h"

MD_BEGIN_C

struct stokes_run {
  md_ctx *ctx;
  stokes_run_spec spec;
  int64_t n, step, group; /* group: the step at which the present group began */
  int group_size;
  double box[3], least_radius;
  md_buffer x;           /* [n][4] */
  md_buffer id;          /* int32 [n]: where a sphere stood in the packing */
  md_buffer force, many; /* S z, solutions of a group */
  md_buffer v;
  int32_t *place; /* id, on the host */
  stokes_pairs *pairs;
  stokes_matrix *matrix;
  stokes_solver *solver;
  stokes_dense *dense;
  const vector_backend *ops;
  vector_space space;
  md_ctx where;      /* of the mobility: the run's, perhaps with another precision */
  rpy *mobility;     /* rpy: made in the first group */
  stokes_flow *flow; /* full: made in the first step */
  rpy_split split;   /* of either; zero: not chosen yet */
};

/* Move spheres apart until no pair overlaps.  Errors: MD_ENUMERIC. */
md_status stokes_run_separate(stokes_run *run, int64_t *overlaps);
/* A step with the mobility of all spheres, but for what keeps them apart (stokes/step/drift.c). */
md_status stokes_drift(stokes_run *run, stokes_step *out);

/* Likewise with lubrication (stokes/step/flow_step.c). */
md_status stokes_flow_step(stokes_run *run, stokes_step *out);

md_status stokes_run_check(const stokes_run_spec *spec);

MD_END_C
#endif
