/* stokes/step/run_impl.h - a run, between its steps (run.c), its state (run_state.c) and what ranks
 * share of it (run_ranks.c). */
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
  int64_t first, n_own; /* rows of this rank: all of one rank */
  int64_t *cut;         /* several ranks: [ranks + 1], where their rows begin; else NULL */
  stokes_rows *rows;    /* likewise: in place of the matrix */
  double box[3], least_radius;
  md_buffer x;           /* [n][4], on all ranks */
  md_buffer id;          /* int32 [n]: where a sphere stood in the packing */
  md_buffer force, many; /* S z, solutions of a group: of own rows, like v */
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

/* Cut the rows of the list of pairs: as many pairs for each rank, between parts of vectors.
 * Errors, of all: MD_ENOMEM. */
md_status run_ranks_cut(stokes_run *run);
/* As stokes_solver_attach, with this rank's rows. */
md_status run_ranks_attach(stokes_run *run, const stokes_view *spheres,
                           const stokes_pair_view *pairs, int m);

/* Bytes of m columns of own rows; ghosts behind them. */
static inline size_t run_bytes(const stokes_run *run, int m)
{
  return (size_t)run->n_own * 3 * (size_t)m * sizeof(double);
}
static inline size_t run_ghosts(const stokes_run *run, int m)
{
  return (size_t)run->space.shared.n_ghosts * 3 * (size_t)m * sizeof(double);
}

MD_END_C
#endif
