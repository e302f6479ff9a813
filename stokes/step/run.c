/* stokes/step/run.c - one step of Stokesian dynamics with either algorithm.
 *
 * In the scaled matrix R' = D^-1/2 R D^-1/2 / mu_F, with D = diag(a_i) and mu_F = 6 pi eta c, a
 * step is R' v = S(R') z and dr = -sqrt(2 kT dt / mu_F) D^-1/2 v.  [Liu] Algorithms 1 and 2. */
#include "stokes/step/pair_force.h"
#include "stokes/step/run_impl.h"
#include "core/time/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const stokes_hydrodynamics_words[STOKES_HYDRODYNAMICS_COUNT] = {
    STOKES_HYDRODYNAMICS(WORD)};
const char *const stokes_algorithm_words[STOKES_ALGORITHM_COUNT] = {STOKES_ALGORITHMS(WORD)};
const char *const stokes_method_words[STOKES_METHOD_COUNT] = {STOKES_METHODS(WORD)};
const char *const stokes_force_words[STOKES_FORCE_COUNT] = {STOKES_FORCES(WORD)};
const char *const stokes_guess_words[STOKES_GUESS_COUNT] = {STOKES_GUESSES(WORD)};
#undef WORD

stokes_run_spec stokes_run_defaults(void)
{
  return (stokes_run_spec){.lambda = 16,
                           .algorithm = STOKES_MRHS,
                           .vectors = 16,
                           .replicas = 1,
                           .dt = 2,
                           .viscosity = 0.2162,
                           .law = {1, 0.5, 1e-3},
                           .tolerance = 1e-6,
                           .guess_tolerance = 1e-4,
                           .root_tolerance = 1e-3,
                           .force = STOKES_FORCE_PAIRS,
                           .preconditioner = STOKES_PRECONDITION_NONE,
                           .storage = STOKES_BCRS,
                           .most = 5000,
                           .seed = 1};
}

static bool needs_factor(const stokes_run_spec *spec)
{
  return spec->method == STOKES_CHOLESKY || spec->force == STOKES_FORCE_CHOLESKY;
}

double stokes_run_bytes(const stokes_run_spec *spec, int64_t n, double occupancy)
{
  /* Pairs nearer than the cutoff, with the share of E. coli's sizes: measured. */
  const double cut = spec->law.gap_cut, pairs = 3.9 * occupancy * cut * (4 + cut);
  const int full = 20; /* two vectors for each of about as many iterations */
  const int m = spec->hydrodynamics == STOKES_HYDRODYNAMICS_RPY    ? spec->lambda
                : spec->hydrodynamics == STOKES_HYDRODYNAMICS_FULL ? full
                : spec->algorithm == STOKES_MRHS                   ? spec->vectors
                                                                   : spec->replicas;
  const double dense = needs_factor(spec) ? 72.0 * (double)n : 0;
  return (double)n * ((pairs + 1) * 84 + 400 + 24.0 * 7 * m + dense);
}

md_status stokes_run_set_vectors(stokes_run *run, int vectors)
{
  stokes_run_spec spec = run->spec;
  spec.vectors = vectors;
  MD_TRY(stokes_run_check(&spec));
  run->spec = spec;
  return MD_OK;
}

static stokes_view view_of(const stokes_run *run, const md_buffer *x)
{
  return (stokes_view){run->n, {run->box[0], run->box[1], run->box[2]}, x->data};
}

/* The matrix of the spheres at x, for products with m vectors mostly. */
static md_status attach(stokes_run *run, const md_buffer *x, int m)
{
  const stokes_view view = view_of(run, x);
  MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
  const stokes_pair_view list = stokes_pairs_view(run->pairs);
  if (run->rows) return run_ranks_attach(run, &view, &list, m);
  MD_TRY(stokes_matrix_assemble(run->matrix, &view, &list, &run->spec.law, m));
  return stokes_solver_attach(run->solver, run->matrix);
}

static md_status reserve(stokes_run *run, md_buffer *buffer, int m)
{
  return md_buffer_reserve(run->ctx, buffer, run_bytes(run, m) + run_ghosts(run, m), 0);
}

static md_status zero(stokes_run *run, const md_buffer *buffer, int m)
{
  return md_fill(run->ctx, buffer->data, 0, run_bytes(run, m));
}

static md_status factor(stokes_run *run)
{
  if (!needs_factor(&run->spec)) return MD_OK;
  stokes_dense_destroy(run->dense);
  run->dense = NULL;
  return stokes_dense_factor(run->ctx, run->matrix, &run->dense);
}

/* S z for normal numbers of the spheres. */
static md_status by_root(stokes_run *run, int m, double *force, stokes_outcome *out)
{
  const stokes_run_spec *spec = &run->spec;
  MD_TRY(run->ops->normals(&run->space, m, spec->seed, NORMAL_BROWNIAN, (uint64_t)run->step,
                           run->id.data, force));
  if (spec->force == STOKES_FORCE_CHOLESKY) return stokes_dense_root(run->dense, m, force, force);
  const stokes_root kind =
      spec->force == STOKES_FORCE_LANCZOS ? STOKES_ROOT_LANCZOS : STOKES_ROOT_CHEBYSHEV;
  return stokes_solver_root(run->solver, kind, m, force, force, spec->root_tolerance, spec->most,
                            out);
}

static md_status by_pairs(stokes_run *run, int m, double *force)
{
  const stokes_view view = view_of(run, &run->x);
  const stokes_pair_view list = stokes_pairs_view(run->pairs);
  const uint64_t first = (uint64_t)run->step * (uint64_t)run->spec.replicas;
  const stokes_noise noise = {run->spec.seed, first, run->id.data};
  return stokes_pair_force_rows(run->ctx, &view, &list, &run->spec.law, &noise, run->first,
                                run->first + run->n_own, m, force);
}

/* Forces of the next m steps at the spheres' places, to which the matrix belongs; *seconds: what
 * they took. */
static md_status brownian(stokes_run *run, int m, int *order, double *seconds)
{
  stokes_outcome outcome = {0};
  const double began = md_wall_seconds();
  MD_TRY(reserve(run, &run->force, m));
  MD_TRY(factor(run));
  if (run->spec.force == STOKES_FORCE_PAIRS)
    MD_TRY(by_pairs(run, m, run->force.data));
  else
    MD_TRY(by_root(run, m, run->force.data, &outcome));
  MD_TRY(md_ctx_sync(run->ctx));
  *order = outcome.iterations;
  *seconds = md_wall_seconds() - began;
  return MD_OK;
}

/* Solve for one force; v is the guess. */
static md_status solve(stokes_run *run, int *iterations, double *seconds)
{
  const stokes_run_spec *spec = &run->spec;
  stokes_outcome outcome;
  const double began = md_wall_seconds();
  if (spec->method == STOKES_CHOLESKY)
    MD_TRY(stokes_dense_solve(run->dense, run->solver, run->force.data, run->v.data,
                              spec->tolerance, spec->most, &outcome));
  else
    MD_TRY(stokes_solver_cg(run->solver, run->force.data, run->v.data, spec->tolerance, spec->most,
                            &outcome));
  MD_TRY(md_ctx_sync(run->ctx));
  *iterations = outcome.iterations;
  *seconds = md_wall_seconds() - began;
  return MD_OK;
}

/* The first of m forces and solutions goes where one is. */
static md_status keep_first(stokes_run *run, int m)
{
  md_buffer *space = stokes_solver_space(run->solver, 0);
  MD_TRY(run->ops->take(&run->space, m, 0, run->many.data, run->v.data));
  MD_TRY(reserve(run, space, 1));
  double *between = space->data;
  MD_TRY(run->ops->take(&run->space, m, 0, run->force.data, between));
  MD_TRY(md_copy(run->ctx, run->force.data, between, run_bytes(run, 1)));
  return md_ctx_sync(run->ctx);
}

/* R' v = S z for one noise of each replica.  v has covariance R'^-1: |v|^2 / 3 n, with c = 1, is a
 * sample of the mean of D_s / D_0. */
static md_status solve_replicas(stokes_run *run, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int m = spec->replicas;
  double square[STOKES_VECTORS];
  stokes_outcome outcome;
  MD_TRY(brownian(run, m, &out->order, &out->time_force));
  const double began = md_wall_seconds();
  MD_TRY(reserve(run, &run->many, m));
  MD_TRY(zero(run, &run->many, m));
  MD_TRY(stokes_solver_block_cg(run->solver, m, run->force.data, run->many.data, spec->tolerance,
                                spec->most, &outcome));
  MD_TRY(run->ops->dots(&run->space, m, run->many.data, run->many.data, square));
  MD_TRY(keep_first(run, m));
  out->time_first = md_wall_seconds() - began;
  out->iterations_first = outcome.iterations;
  for (int c = 0; c < m; c++) {
    square[c] /= 3 * (double)run->n * spec->law.far_field;
    out->diffusion += square[c] / m;
  }
  for (int c = 0; c < m; c++)
    out->spread += (square[c] - out->diffusion) * (square[c] - out->diffusion);
  return MD_OK;
}

/* Begin a group: forces and guesses of all its steps; those of the first go where one is, and the
 * guess becomes its solution. */
static md_status begin_group(stokes_run *run, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int m = spec->vectors;
  stokes_outcome outcome;
  run->group = run->step;
  run->group_size = m;
  MD_TRY(brownian(run, m, &out->order, &out->time_force));
  const double began = md_wall_seconds();
  MD_TRY(reserve(run, &run->many, m));
  MD_TRY(zero(run, &run->many, m));
  MD_TRY(stokes_solver_block_cg(run->solver, m, run->force.data, run->many.data,
                                fmax(spec->guess_tolerance, spec->tolerance), spec->most,
                                &outcome));
  MD_TRY(keep_first(run, m));
  out->time_guess = md_wall_seconds() - began;
  int more = 0;
  if (spec->guess_tolerance > spec->tolerance) MD_TRY(solve(run, &more, &out->time_first));
  out->iterations_first = outcome.iterations + more;
  return MD_OK;
}

/* Guesses from a series need not be as exact as forces: after a step or two they are off by
 * more. */
enum { SERIES_LOOSER = 10 };

/* Begin a group with guesses for all its steps, from the random numbers alone: R'^-1 S(R') z is
 * near R'^-1/2 z. */
static md_status guess_group(stokes_run *run, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int m = spec->vectors;
  stokes_outcome outcome;
  const double began = md_wall_seconds();
  run->group = run->step;
  run->group_size = m;
  MD_TRY(attach(run, &run->x, m));
  MD_TRY(reserve(run, &run->many, m));
  double *many = run->many.data;
  MD_TRY(run->ops->normals(&run->space, m, spec->seed, NORMAL_BROWNIAN, (uint64_t)run->step,
                           run->id.data, many));
  const double tolerance = fmin(SERIES_LOOSER * spec->root_tolerance, 0.1);
  MD_TRY(stokes_solver_inverse_root(run->solver, m, many, many, tolerance, spec->most, &outcome));
  MD_TRY(md_ctx_sync(run->ctx));
  out->time_guess = md_wall_seconds() - began;
  return MD_OK;
}

/* |v - guess| / |v| for the guess at this place of the group. */
static md_status guess_error(stokes_run *run, int place, double *out)
{
  double square[2];
  MD_TRY(run->ops->apart(&run->space, run->group_size, place, run->many.data, run->v.data, square));
  *out = square[1] > 0 ? sqrt(square[0] / square[1]) : 0;
  return MD_OK;
}

/* The first solve: R(r_k) v = S z_k. */
static md_status first(stokes_run *run, stokes_algorithm algorithm, stokes_step *out)
{
  const bool mrhs = algorithm == STOKES_MRHS;
  const bool due = run->group_size == 0 || run->step - run->group >= run->group_size;
  const bool begins = mrhs && due && run->spec.guess == STOKES_GUESS_SOLVE;
  if (mrhs && due && !begins) MD_TRY(guess_group(run, out));
  const int place = (int)(run->step - run->group);
  MD_TRY(attach(run, &run->x, begins ? run->spec.vectors : run->spec.replicas));
  MD_TRY(reserve(run, &run->v, 1));
  if (run->spec.replicas > 1) return solve_replicas(run, out);
  if (begins) return begin_group(run, out);
  MD_TRY(brownian(run, 1, &out->order, &out->time_force));
  if (mrhs)
    MD_TRY(run->ops->take(&run->space, run->group_size, place, run->many.data, run->v.data));
  else
    MD_TRY(zero(run, &run->v, 1));
  MD_TRY(solve(run, &out->iterations_first, &out->time_first));
  return mrhs ? guess_error(run, place, &out->guess_error) : MD_OK;
}

/* Where spheres are after this part of a step along v: own ones, then all ranks'. */
static md_status move(stokes_run *run, double scale, md_buffer *to)
{
  const int64_t at = 4 * run->first;
  MD_TRY(run->ops->move(&run->space, scale, (const double *)run->x.data + at, run->v.data,
                        (double *)to->data + at));
  return run->rows ? stokes_rows_complete(run->rows, to->data, 4) : MD_OK;
}

/* The solve at the midpoint, with the same force and the first solution as its guess. */
static md_status second(stokes_run *run, double scale, stokes_step *out)
{
  md_buffer *middle = stokes_solver_space(run->solver, 0); /* until its matrix is made */
  MD_TRY(md_buffer_reserve(run->ctx, middle, (size_t)run->n * 4 * sizeof(double), 0));
  MD_TRY(move(run, 0.5 * scale, middle));
  MD_TRY(attach(run, middle, 1));
  MD_TRY(md_buffer_reserve(run->ctx, &run->v, run_bytes(run, 1) + run_ghosts(run, 1),
                           run_bytes(run, 1))); /* there may be more ghosts than at first */
  return solve(run, &out->iterations_second, &out->time_second);
}

static double scale_of(const stokes_run *run)
{
  const double pi = 3.141592653589793;
  return -sqrt(2 * run->spec.dt / (6 * pi * run->spec.viscosity * run->spec.law.far_field));
}

/* Until no pair overlaps, also of those that come near each other by being moved. */
md_status stokes_run_separate(stokes_run *run, int64_t *overlaps)
{
  enum { ROUNDS = 20 };
  const stokes_view view = view_of(run, &run->x);
  int64_t found = 1;
  *overlaps = 0;
  for (int k = 0; found > 0 && k < ROUNDS; k++) {
    MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
    const stokes_pair_view list = stokes_pairs_view(run->pairs);
    MD_TRY(stokes_separate(run->ctx, run->box, &list, run->spec.law.gap_min, run->cut, run->x.data,
                           stokes_solver_space(run->solver, 0), &found));
    *overlaps += found;
  }
  MD_REQUIRE(found == 0, MD_ENUMERIC,
             "spheres overlap again after they were moved apart %d times: take a shorter time step",
             ROUNDS);
  return MD_OK;
}

md_status stokes_run_step(stokes_run *run, stokes_step *out)
{
  *out = (stokes_step){.step = run->step};
  if (run->spec.hydrodynamics == STOKES_HYDRODYNAMICS_RPY) {
    MD_TRY(stokes_drift(run, out));
  } else if (run->spec.hydrodynamics == STOKES_HYDRODYNAMICS_FULL) {
    MD_TRY(stokes_flow_step(run, out));
  } else {
    MD_TRY(first(run, run->spec.algorithm, out));
    MD_TRY(second(run, scale_of(run), out));
    MD_TRY(move(run, scale_of(run), &run->x));
  }
  MD_TRY(stokes_run_separate(run, &out->overlaps));
  run->step++;
  return MD_OK;
}

md_status stokes_run_probe(stokes_run *run, stokes_counts *counts, stokes_shape *shape)
{
  stokes_step step = {0};
  MD_TRY(first(run, STOKES_ORIGINAL, &step));
  *shape = stokes_matrix_shape(run->matrix);
  MD_TRY(second(run, scale_of(run), &step));
  *counts = (stokes_counts){step.iterations_first, 0.5 * step.iterations_first,
                            step.iterations_second, step.order};
  return MD_OK;
}

/* Numbers that kernels may like: the others are hardly ever better than the next of these. */
static bool worth_trying(int m)
{
  return m <= 2 || m % 8 == 0 || (m <= 16 && m % 4 == 0);
}

md_status stokes_run_widths(stokes_run *run, int most, int width[STOKES_VECTORS], int *n)
{
  double seconds[STOKES_VECTORS];
  *n = 0;
  for (int m = 1; m <= most; m++) {
    if (m < most && !worth_trying(m)) continue;
    double time;
    MD_TRY(attach(run, &run->x, m));
    MD_TRY(stokes_matrix_time(run->matrix, m, &time, NULL, 0));
    while (*n > 0 && time <= seconds[*n - 1])
      --*n; /* more vectors in less time */
    width[*n] = m;
    seconds[(*n)++] = time;
  }
  return MD_OK;
}

md_status stokes_run_read(const stokes_run *run, stokes_packing *out)
{
  const size_t bytes = (size_t)run->n * 4 * sizeof(double);
  double *x = malloc(bytes);
  MD_REQUIRE(x, MD_ENOMEM, "out of memory for %lld spheres", (long long)run->n);
  const md_status status = md_read(run->ctx, x, run->x.data, bytes);
  for (int64_t i = 0; !status && i < run->n; i++)
    memcpy(out->x + 4 * (int64_t)run->place[i], x + 4 * i, 4 * sizeof *x);
  memcpy(out->box, run->box, sizeof run->box);
  free(x);
  return status;
}
