/* stokes/step/run_state.c - runs begin from a packing or from a state that was saved. */
#include "comm/world.h"
#include "stokes/pairs/pairs_impl.h"
#include "stokes/step/run_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the pair list [A].  The fastest of many spheres moves about 1 A in a step; making a list takes
 * a GPU as long as a third of a step. */
static const double skin = 8;

md_status stokes_run_check(const stokes_run_spec *spec)
{
  MD_REQUIRE(spec->vectors >= 1 && spec->vectors <= STOKES_VECTORS, MD_EINVAL,
             "expected 1 to %d right-hand sides, not %d", STOKES_VECTORS, spec->vectors);
  MD_REQUIRE(spec->dt > 0 && isfinite(spec->dt), MD_EINVAL, "the time step must be > 0, not %g",
             spec->dt);
  MD_REQUIRE(spec->viscosity > 0 && isfinite(spec->viscosity), MD_EINVAL,
             "the viscosity must be > 0, not %g", spec->viscosity);
  MD_REQUIRE(spec->tolerance > 0 && spec->tolerance < 1 && spec->guess_tolerance > 0 &&
                 spec->guess_tolerance < 1 && spec->root_tolerance > 0 && spec->root_tolerance < 1,
             MD_EINVAL, "tolerances lie between 0 and 1, not %g, %g and %g", spec->tolerance,
             spec->guess_tolerance, spec->root_tolerance);
  MD_REQUIRE(spec->lambda >= 1 && spec->lambda <= STOKES_VECTORS, MD_EINVAL,
             "a mobility serves 1 to %d steps, not %d", STOKES_VECTORS, spec->lambda);
  MD_REQUIRE(spec->replicas >= 1 && spec->replicas <= STOKES_VECTORS, MD_EINVAL,
             "expected 1 to %d replicas, not %d", STOKES_VECTORS, spec->replicas);
  MD_REQUIRE(spec->replicas == 1 ||
                 (spec->hydrodynamics == STOKES_HYDRODYNAMICS_LUBRICATION &&
                  spec->algorithm == STOKES_ORIGINAL && spec->method == STOKES_ITERATIVE &&
                  spec->force == STOKES_FORCE_PAIRS),
             MD_EINVAL,
             "several replicas go with lubrication, the algorithm `original`, iterative solves and "
             "forces by pairs only");
  const bool far = spec->hydrodynamics != STOKES_HYDRODYNAMICS_LUBRICATION;
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(isfinite(spec->drive[d]) && (far || spec->drive[d] == 0), MD_EINVAL,
               "a force on spheres goes with the hydrodynamics `rpy` and `full` and is finite, not "
               "%g",
               spec->drive[d]);
  MD_REQUIRE(spec->method != STOKES_CHOLESKY || spec->algorithm == STOKES_ORIGINAL, MD_EINVAL,
             "Cholesky factors go with the algorithm `original` only");
  MD_REQUIRE(spec->guess != STOKES_GUESS_SERIES || spec->force == STOKES_FORCE_CHEBYSHEV, MD_EINVAL,
             "guesses from a series (--guess series) need forces by the root `chebyshev`, not `%s`",
             stokes_force_words[spec->force]);
  return MD_OK;
}

static md_status load_many(stokes_run *run, const stokes_run_state *from)
{
  const size_t bytes = run_bytes(run, from->group_size);
  run->step = from->step;
  run->group = from->group;
  run->group_size = from->group_size;
  run->split = from->split;
  if (bytes == 0) return MD_OK;
  MD_TRY(md_buffer_reserve(run->ctx, &run->many, bytes, 0));
  return md_write(run->ctx, run->many.data, from->many + 3 * run->first * from->group_size, bytes);
}

static md_status load(stokes_run *run, const stokes_run_state *from)
{
  md_ctx *ctx = run->ctx;
  const size_t n = (size_t)from->spheres.n, bytes = n * 4 * sizeof(double);
  run->n = from->spheres.n;
  memcpy(run->box, from->spheres.box, sizeof run->box);
  run->least_radius = from->spheres.x[3];
  for (size_t i = 1; i < n; i++)
    run->least_radius = fmin(run->least_radius, from->spheres.x[4 * i + 3]);
  run->place = malloc(n * sizeof *run->place);
  MD_REQUIRE(run->place, MD_ENOMEM, "out of memory for %zu spheres", n);
  memcpy(run->place, from->place, n * sizeof *run->place);
  MD_TRY(md_buffer_reserve(ctx, &run->x, bytes, 0));
  MD_TRY(
      md_buffer_reserve(ctx, stokes_solver_space(run->solver, 0), bytes, 0)); /* for the midpoint */
  MD_TRY(md_buffer_reserve(ctx, &run->id, n * sizeof(int32_t), 0));
  MD_TRY(md_write(ctx, run->x.data, from->built, bytes));
  return md_write(ctx, run->id.data, run->place, n * sizeof(int32_t));
}

static md_status prepare(stokes_run *run, const stokes_run_state *from)
{
  MD_TRY(stokes_solver_create(run->ctx, run->spec.preconditioner, &run->solver));
  run->ops = vectors_of(run->ctx);
  MD_TRY(load(run, from));
  MD_TRY(stokes_matrix_create(run->ctx, run->spec.storage, &run->matrix));
  MD_TRY(stokes_pairs_create(run->ctx, 1 + run->spec.law.gap_cut / 2, skin, &run->pairs));
  stokes_pairs_lend(run->pairs, stokes_solver_space(run->solver, 1));
  MD_TRY(pairs_share(run->pairs));
  /* The list that the run had: on a GPU sums follow it. */
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, run->x.data};
  MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
  run->n_own = run->n;
  if (world_count() > 1) MD_TRY(run_ranks_cut(run));
  run->space = (vector_space){.ctx = run->ctx, .n_rows = run->n_own};
  MD_TRY(load_many(run, from));
  return md_write(run->ctx, run->x.data, from->spheres.x, (size_t)run->n * 4 * sizeof(double));
}

static md_status make(md_ctx *ctx, const stokes_run_spec *spec, const stokes_run_state *from,
                      stokes_run **out)
{
  MD_TRY(stokes_run_check_ranks(spec));
  stokes_run *run = calloc(1, sizeof *run);
  MD_REQUIRE(run, MD_ENOMEM, "out of memory for a run");
  run->ctx = ctx;
  run->spec = *spec;
  const md_status status = prepare(run, from);
  if (status) {
    stokes_run_destroy(run);
    return status;
  }
  *out = run;
  return MD_OK;
}

static md_ctx host_of(const md_ctx *ctx)
{
  md_ctx host = *ctx;
  host.backend = MD_CPU;
  return host;
}

static md_status state_create(int64_t n, stokes_run_state *out)
{
  *out = (stokes_run_state){0};
  MD_TRY(stokes_packing_create(n, &out->spheres));
  out->place = malloc((size_t)n * sizeof *out->place);
  out->built = malloc((size_t)n * 4 * sizeof *out->built);
  if (out->place && out->built) return MD_OK;
  stokes_run_state_free(out);
  return MD_FAIL(MD_ENOMEM, "out of memory for %" PRId64 " spheres", n);
}

md_status stokes_run_create(md_ctx *ctx, const stokes_run_spec *spec, const stokes_packing *packing,
                            stokes_run **out)
{
  *out = NULL;
  md_ctx host = host_of(ctx);
  stokes_run_state first;
  MD_TRY(stokes_run_check(spec));
  MD_TRY(stokes_packing_check(&host, packing, NULL));
  MD_TRY(state_create(packing->n, &first));
  memcpy(first.spheres.box, packing->box, sizeof packing->box);
  memcpy(first.spheres.x, packing->x, (size_t)packing->n * 4 * sizeof(double));
  md_status status = stokes_packing_sort(&host, &first.spheres,
                                         &(ordering){.kind = ORDERING_HILBERT}, first.place);
  memcpy(first.built, first.spheres.x, (size_t)packing->n * 4 * sizeof(double));
  if (!status) status = make(ctx, spec, &first, out);
  stokes_run_state_free(&first);
  return status;
}

/* Every sphere has one place; a group is one that a run can be in. */
static md_status check_state(md_ctx *ctx, const stokes_run_state *from)
{
  const int64_t n = from->spheres.n;
  md_ctx host = host_of(ctx);
  MD_TRY(stokes_packing_check(&host, &from->spheres, NULL));
  stokes_packing built = from->spheres;
  built.x = from->built;
  MD_TRY(stokes_packing_values(&built));
  bool good = from->step >= 0 && from->group >= 0 && from->group <= from->step &&
              from->group_size >= 0 && from->group_size <= STOKES_VECTORS;
  char *seen = calloc((size_t)n, 1);
  MD_REQUIRE(seen, MD_ENOMEM, "out of memory for %" PRId64 " spheres", n);
  for (int64_t i = 0; i < n; i++) {
    const int32_t place = from->place[i];
    good = good && place >= 0 && place < n && !seen[place];
    if (good) seen[place] = 1;
  }
  free(seen);
  MD_REQUIRE(good, MD_EINVAL, "the saved state is not that of a run");
  return MD_OK;
}

md_status stokes_run_restore(md_ctx *ctx, const stokes_run_spec *spec, const stokes_run_state *from,
                             stokes_run **out)
{
  *out = NULL;
  MD_TRY(stokes_run_check(spec));
  MD_TRY(check_state(ctx, from));
  return make(ctx, spec, from, out);
}

/* Rows of `row` bytes of all ranks, on rank 0. */
static md_status collect(const stokes_run *run, size_t row, const void *own, void *all)
{
  const size_t bytes = (size_t)run->n_own * row;
  if (run->ctx->backend == MD_CPU) return world_collect(own, run->cut, row, all);
  void *host = malloc(bytes + 1);
  md_status status = host ? md_read(run->ctx, host, own, bytes)
                          : MD_FAIL(MD_ENOMEM, "out of memory for %zu bytes of rows", bytes);
  status = world_agree(status);
  if (!status) status = world_collect(host, run->cut, row, all);
  free(host);
  return status;
}

/* Solutions for steps that are still to come: of all ranks, on rank 0. */
static md_status save_many(const stokes_run *run, stokes_run_state *out)
{
  const bool open = run->step - run->group < run->group_size;
  out->group = open ? run->group : run->step;
  out->group_size = open ? run->group_size : 0;
  if (!open) return MD_OK;
  const size_t row = 3 * (size_t)run->group_size * sizeof(double);
  md_status status = MD_OK;
  if (world_rank() == 0) out->many = malloc((size_t)run->n * row);
  if (world_rank() == 0 && !out->many)
    status = MD_FAIL(MD_ENOMEM, "out of memory for guesses of %d steps", run->group_size);
  MD_TRY(world_agree(status));
  return run->rows ? collect(run, row, run->many.data, out->many)
                   : md_read(run->ctx, out->many, run->many.data, (size_t)run->n * row);
}

md_status stokes_run_save(const stokes_run *run, stokes_run_state *out)
{
  MD_TRY(state_create(run->n, out));
  out->step = run->step;
  out->split = run->split;
  memcpy(out->spheres.box, run->box, sizeof run->box);
  memcpy(out->place, run->place, (size_t)run->n * sizeof *run->place);
  md_status status =
      md_read(run->ctx, out->spheres.x, run->x.data, (size_t)run->n * 4 * sizeof(double));
  if (!status) status = stokes_pairs_built(run->pairs, out->built);
  if (!status) status = save_many(run, out);
  if (status) stokes_run_state_free(out);
  return status;
}

void stokes_run_state_free(stokes_run_state *state)
{
  stokes_packing_free(&state->spheres);
  free(state->built);
  free(state->place);
  free(state->many);
  *state = (stokes_run_state){0};
}

void stokes_run_destroy(stokes_run *run)
{
  if (!run) return;
  md_buffer *buffers[] = {
      &run->x, &run->id, &run->force, &run->many, &run->v, &run->space.partial, &run->space.small};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(run->ctx, buffers[k]);
  free(run->place);
  free(run->cut);
  stokes_rows_destroy(run->rows);
  stokes_pairs_destroy(run->pairs);
  stokes_matrix_destroy(run->matrix);
  stokes_solver_destroy(run->solver);
  stokes_dense_destroy(run->dense);
  rpy_destroy(run->mobility);
  stokes_flow_destroy(run->flow);
  free(run);
}
