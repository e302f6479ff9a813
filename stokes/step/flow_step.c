/* stokes/step/flow_step.c - a step with far flow and lubrication.
 *
 *     dr = dt [N (F + sqrt(2 / dt) noise) + (N(r + delta e) e - N(r) e) / delta],  N = (M^-1 +
 * R_lub)^-1
 *
 * with normal numbers e: on average the difference is the divergence of N, which lubrication makes
 * and M alone does not have (kT = 1; Fiore and Swan 2019).  The probe e shares all products of the
 * first solve, and its solution is the guess of the second.  The split of the mobility is
 * chosen in the first step and part of the run's state, so that a run that goes on from a
 * checkpoint takes the same numbers. */
#include "core/time/timer.h"
#include "stokes/step/flow.h"
#include "stokes/step/flow_impl.h"
#include "stokes/step/run_impl.h"

#include <math.h>

/* delta over the smallest radius: small beside the gaps that count, large beside what solutions to
 * 1e-6 are off. */
static const double STEP = 1e-4;
static const double zero[3] = {0, 0, 0};

static stokes_view view_of(const stokes_run *run, const double *x)
{
  return (stokes_view){run->n, {run->box[0], run->box[1], run->box[2]}, x};
}

/* The spheres at x in the flow. */
static md_status set(stokes_run *run, stokes_flow *flow, const double *x, stokes_pair_view *list)
{
  const stokes_view view = view_of(run, x);
  MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
  *list = stokes_pairs_view(run->pairs);
  return stokes_flow_set(flow, &view, list);
}

/* Work vectors of a step [3 n]: forces and velocities of two columns, e, and one more. */
typedef struct {
  double *force, *extra, *velocity; /* [3 n][2] */
  double *probe, *one, *other;      /* [3 n] */
} step_vectors;

static md_status vectors(stokes_run *run, step_vectors *out)
{
  const size_t length = (size_t)run->n * 3;
  MD_TRY(md_buffer_reserve(run->ctx, &run->many, 9 * length * sizeof(double), 0));
  double *all = run->many.data;
  *out = (step_vectors){all,
                        all + 2 * length,
                        all + 4 * length,
                        all + 6 * length,
                        all + 7 * length,
                        all + 8 * length};
  return md_fill(run->ctx, all, 0, 9 * length * sizeof(double));
}

/* Right-hand sides: noise and the force in the first column, the probe in the second. */
static md_status prepare(stokes_run *run, stokes_flow *flow, const stokes_pair_view *list,
                         const step_vectors *v, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const stokes_view view = view_of(run, run->x.data);
  const stokes_noise noise = {spec->seed, (uint64_t)run->step, run->id.data};
  const double root = sqrt(2 / spec->dt);
  stokes_outcome outcome;
  const double began = md_wall_seconds();
  MD_TRY(stokes_flow_noise(flow, &view, list, &noise, 1, v->one, v->other, &outcome));
  MD_TRY(md_ctx_sync(run->ctx));
  out->time_force = md_wall_seconds() - began;
  MD_TRY(
      run->ops->normals(&run->space, 1, spec->seed, NORMAL_PROBE, noise.step, noise.id, v->probe));
  const flow_backend *ops = flow_backend_of(run->ctx);
  MD_TRY(ops->put(run->ctx, run->n, 2, 0, spec->drive, root, v->one, v->force));
  MD_TRY(ops->put(run->ctx, run->n, 2, 1, zero, 1, v->probe, v->force));
  return ops->put(run->ctx, run->n, 2, 0, zero, root, v->other, v->extra);
}

/* velocity, column 0: += (one - other) / delta, where `other` becomes column 1. */
static md_status add_difference(stokes_run *run, const step_vectors *v, double delta)
{
  const vector_backend *ops = run->ops;
  const double up = 1 / delta, down = -up, same = 1;
  MD_TRY(ops->take(&run->space, 2, 1, v->velocity, v->other));
  MD_TRY(ops->columns(&run->space, 1, &up, v->one, &down, v->other));
  MD_TRY(ops->take(&run->space, 2, 0, v->velocity, v->one));
  MD_TRY(ops->columns(&run->space, 1, &same, v->other, &same, v->one));
  return flow_backend_of(run->ctx)->put(run->ctx, run->n, 2, 0, zero, 1, v->one, v->velocity);
}

/* velocity, column 0: with (N(r + delta e) e - N(r) e) / delta. */
static md_status add_divergence(stokes_run *run, stokes_flow *flow, const step_vectors *v,
                                stokes_step *out)
{
  const double delta = STEP * run->least_radius;
  md_buffer *space = stokes_solver_space(run->solver, 0);
  stokes_pair_view list;
  stokes_outcome outcome;
  MD_TRY(md_buffer_reserve(run->ctx, space, (size_t)run->n * 4 * sizeof(double), 0));
  double *moved = space->data;
  MD_TRY(
      flow_backend_of(run->ctx)->move(run->ctx, run->n, 1, 0, delta, v->probe, run->x.data, moved));
  MD_TRY(set(run, flow, moved, &list));
  MD_TRY(run->ops->take(&run->space, 2, 1, v->velocity, v->one));
  MD_TRY(stokes_flow_solve(flow, 1, v->probe, NULL, v->one, &outcome));
  out->iterations_second = outcome.iterations;
  out->residual = fmax(out->residual, outcome.residual);
  return add_difference(run, v, delta);
}

static md_status step(stokes_run *run, stokes_flow *flow, stokes_step *out)
{
  step_vectors v;
  stokes_pair_view list;
  stokes_outcome outcome;
  double *x = run->x.data;
  MD_TRY(vectors(run, &v));
  MD_TRY(set(run, flow, x, &list));
  MD_TRY(prepare(run, flow, &list, &v, out));
  MD_TRY(stokes_flow_solve(flow, 2, v.force, v.extra, v.velocity, &outcome));
  out->iterations_first = outcome.iterations;
  out->residual = outcome.residual;
  MD_TRY(add_divergence(run, flow, &v, out));
  return flow_backend_of(run->ctx)->move(run->ctx, run->n, 2, 0, run->spec.dt, v.velocity, x, x);
}

static md_status make_flow(stokes_run *run)
{
  const stokes_run_spec *spec = &run->spec;
  const stokes_flow_spec what = {.mobility = {.box = {run->box[0], run->box[1], run->box[2]},
                                              .viscosity = spec->viscosity,
                                              .tolerance = spec->root_tolerance,
                                              .vectors = 2,
                                              .split = run->split},
                                 .law = spec->law,
                                 .tolerance = spec->tolerance,
                                 .most = spec->most};
  return run->flow ? MD_OK : stokes_flow_create(run->ctx, &what, &run->flow);
}

md_status stokes_flow_step(stokes_run *run, stokes_step *out)
{
  MD_TRY(make_flow(run));
  const stokes_flow_costs before = stokes_flow_spent(run->flow);
  MD_TRY(step(run, run->flow, out));
  const stokes_flow_costs spent = stokes_flow_spent(run->flow);
  out->time_near = spent.near - before.near;
  out->time_far = spent.far - before.far;
  out->time_first = spent.solve - before.solve;
  run->split = stokes_flow_split(run->flow);
  run->group = run->step;
  return MD_OK;
}
