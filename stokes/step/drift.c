/* stokes/step/drift.c - a step with the flow that all spheres make for all.
 *
 * The mobility of the places where a group of steps begins serves all of them; within a group it is
 * not needed, for the moves of all its steps are kept.  Its split is chosen in the first group and
 * part of the run's state, so that a run that goes on from a checkpoint takes the same numbers. */
#include "core/time/timer.h"
#include "stokes/step/drift_impl.h"
#include "stokes/step/run_impl.h"

#include <math.h>

static const drift_backend *backend_of(const stokes_run *run)
{
  static const drift_backend *const table[MD_BACKEND_COUNT] = {&drift_cpu, MD_GPU(&drift_gpu)};
  return table[run->ctx->backend];
}

/* Of what was queued so far. */
static md_status now(const stokes_run *run, double *seconds)
{
  MD_TRY(md_ctx_sync(run->ctx));
  *seconds = md_wall_seconds();
  return MD_OK;
}

static md_status reserve(stokes_run *run, md_buffer *buffer, int m)
{
  return md_buffer_reserve(run->ctx, buffer, (size_t)run->n * 3 * (size_t)m * sizeof(double), 0);
}

/* v = M F, zero without a force. */
static md_status drive(stokes_run *run, rpy *mobility, stokes_step *out)
{
  const double *force = run->spec.drive;
  double began, between, ended, *v = run->v.data;
  MD_TRY(md_fill(run->ctx, v, 0, (size_t)run->n * 3 * sizeof *v));
  if (force[0] == 0 && force[1] == 0 && force[2] == 0) return MD_OK;
  MD_TRY(reserve(run, &run->force, 1));
  MD_TRY(backend_of(run)->drive(run->ctx, run->n, force, run->force.data));
  MD_TRY(now(run, &began));
  MD_TRY(rpy_multiply_near(mobility, 1, run->force.data, v));
  MD_TRY(now(run, &between));
  MD_TRY(rpy_add_far(mobility, 1, run->force.data, v));
  MD_TRY(now(run, &ended));
  out->time_near += between - began;
  out->time_far = ended - between;
  return MD_OK;
}

/* many [3 n][lambda]: dt M F + sqrt(2 dt) times a sample of M, for each step. */
static md_status fill_moves(stokes_run *run, rpy *mobility, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int m = spec->lambda;
  const double root = sqrt(2 * spec->dt);
  stokes_outcome outcome;
  double began, ended, *many = run->many.data;
  MD_TRY(drive(run, mobility, out));
  MD_TRY(now(run, &began));
  MD_TRY(rpy_sample(mobility, m, spec->seed, (uint64_t)run->step, many, &outcome));
  MD_TRY(backend_of(run)->combine(run->ctx, run->n, m, spec->dt, run->v.data, root, many));
  MD_TRY(now(run, &ended));
  out->time_force = ended - began;
  out->order = outcome.iterations;
  out->residual = outcome.residual;
  return MD_OK;
}

/* The run's mobility, for the spheres where they are now. */
static md_status set_mobility(stokes_run *run)
{
  const stokes_run_spec *spec = &run->spec;
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, run->x.data};
  const rpy_spec what = {.box = {run->box[0], run->box[1], run->box[2]},
                         .viscosity = spec->viscosity,
                         .tolerance = spec->root_tolerance,
                         .vectors = spec->lambda,
                         .moves = true,
                         .split = run->split};
  rpy_report report;
  if (!run->mobility) {
    run->where = rpy_where(run->ctx, spec->root_tolerance);
    run->where.bytes_copied = 0;
    MD_TRY(rpy_create(&run->where, &what, &run->mobility));
  }
  MD_TRY(rpy_set(run->mobility, &view));
  rpy_describe(run->mobility, &report);
  run->split = report.split;
  return md_ctx_sync(run->ctx);
}

static md_status begin_group(stokes_run *run, stokes_step *out)
{
  const int64_t copied = run->where.bytes_copied;
  double began;
  MD_TRY(reserve(run, &run->many, run->spec.lambda));
  MD_TRY(reserve(run, &run->v, 1));
  MD_TRY(now(run, &began));
  MD_TRY(set_mobility(run));
  out->time_near = md_wall_seconds() - began;
  MD_TRY(fill_moves(run, run->mobility, out));
  run->ctx->bytes_copied += run->where.bytes_copied - copied;
  run->group = run->step;
  run->group_size = run->spec.lambda;
  return MD_OK;
}

md_status stokes_drift(stokes_run *run, stokes_step *out)
{
  if (run->step - run->group >= run->group_size) MD_TRY(begin_group(run, out));
  return backend_of(run)->advance(run->ctx, run->n, run->group_size, (int)(run->step - run->group),
                                  run->many.data, run->x.data);
}
