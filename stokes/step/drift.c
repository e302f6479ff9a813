/* stokes/step/drift.c - a step with the flow that all spheres make for all.
 *
 * The mobility of the places where a group of steps begins serves all of them.  It is made anew for
 * each group, choice included, so that a run that goes on from a checkpoint takes the same numbers;
 * within a group it is not needed, for the moves of all its steps are kept. */
#include "core/timer.h"
#include "stokes/mobility/rpy.h"
#include "stokes/step/run_impl.h"

#include <math.h>

static md_status reserve(stokes_run *run, md_buffer *buffer, int m)
{
  return md_buffer_reserve(run->ctx, buffer, (size_t)run->n * 3 * (size_t)m * sizeof(double), 0);
}

/* v = M F, zero without a force. */
static md_status drive(stokes_run *run, rpy *mobility, stokes_step *out)
{
  const double *force = run->spec.drive;
  double *f, *v = run->v.data;
  MD_TRY(md_fill(run->ctx, v, 0, (size_t)run->n * 3 * sizeof *v));
  if (force[0] == 0 && force[1] == 0 && force[2] == 0) return MD_OK;
  MD_TRY(reserve(run, &run->force, 1));
  f = run->force.data;
  for (int64_t k = 0; k < 3 * run->n; k++)
    f[k] = force[k % 3];
  const double began = md_wall_seconds();
  MD_TRY(rpy_multiply_near(mobility, 1, f, v));
  const double between = md_wall_seconds();
  MD_TRY(rpy_add_far(mobility, 1, f, v));
  out->time_near += between - began;
  out->time_far = md_wall_seconds() - between;
  return MD_OK;
}

/* many [3 n][lambda]: dt M F + sqrt(2 dt) times a sample of M, for each step. */
static md_status fill_moves(stokes_run *run, rpy *mobility, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int m = spec->lambda;
  const double root = sqrt(2 * spec->dt);
  stokes_outcome outcome;
  double *many = run->many.data;
  const double *v = run->v.data;
  MD_TRY(drive(run, mobility, out));
  const double began = md_wall_seconds();
  MD_TRY(rpy_sample(mobility, m, spec->seed, (uint64_t)run->step, many, &outcome));
  for (int64_t k = 0; k < 3 * run->n; k++)
    for (int c = 0; c < m; c++)
      many[k * m + c] = spec->dt * v[k] + root * many[k * m + c];
  out->time_force = md_wall_seconds() - began;
  out->order = outcome.iterations;
  out->residual = outcome.residual;
  return MD_OK;
}

static md_status begin_group(stokes_run *run, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, run->x.data};
  const rpy_spec what = {.box = {run->box[0], run->box[1], run->box[2]},
                         .viscosity = spec->viscosity,
                         .tolerance = spec->root_tolerance,
                         .vectors = spec->lambda,
                         .moves = true};
  rpy *mobility;
  MD_TRY(reserve(run, &run->many, spec->lambda));
  MD_TRY(reserve(run, &run->v, 1));
  MD_TRY(rpy_create(run->ctx, &what, &mobility));
  const double began = md_wall_seconds();
  md_status status = rpy_set(mobility, &view);
  out->time_near = md_wall_seconds() - began;
  if (!status) status = fill_moves(run, mobility, out);
  rpy_destroy(mobility);
  if (status) return status;
  run->group = run->step;
  run->group_size = spec->lambda;
  return MD_OK;
}

md_status stokes_drift(stokes_run *run, stokes_step *out)
{
  if (run->step - run->group >= run->group_size) MD_TRY(begin_group(run, out));
  const int64_t place = run->step - run->group;
  const double *many = run->many.data;
  double *x = run->x.data;
  for (int64_t i = 0; i < run->n; i++)
    for (int d = 0; d < 3; d++)
      x[4 * i + d] += many[(3 * i + d) * run->group_size + place];
  return MD_OK;
}
