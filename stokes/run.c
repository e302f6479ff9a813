/* stokes/run.c - one step of Stokesian dynamics with either algorithm.
 *
 * In the scaled matrix R' = D^-1/2 R D^-1/2 / mu_F, with D = diag(a_i) and mu_F = 6 pi eta c, a
 * step is R' v = S(R') z and dr = -sqrt(2 kT dt / mu_F) D^-1/2 v.  [Liu] Algorithms 1 and 2. */
#include "stokes/run.h"
#include "core/timer.h"
#include "stokes/vectors_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const stokes_algorithm_words[STOKES_ALGORITHM_COUNT] = {STOKES_ALGORITHMS(WORD)};
const char *const stokes_method_words[STOKES_METHOD_COUNT] = {STOKES_METHODS(WORD)};
#undef WORD

static const double skin = 4; /* of the pair list [A]; spheres move about 1 A in a step */

struct stokes_run {
  md_ctx *ctx;
  stokes_run_spec spec;
  int64_t n, step, group; /* group: the step at which the present group began */
  int group_size;
  double box[3];
  md_buffer x, middle;                  /* [n][4]: now, and at the midpoint */
  md_buffer id;                         /* int32 [n]: where a sphere stood in the packing */
  md_buffer random, force, many, guess; /* z, S z, solutions of a group, one of them */
  md_buffer v;
  int32_t *place; /* id, on the host */
  stokes_pairs *pairs;
  stokes_matrix *matrix;
  stokes_solver *solver;
  stokes_dense *dense;
  const vector_backend *ops;
  vector_space space;
};

stokes_run_spec stokes_run_defaults(void)
{
  return (stokes_run_spec){.algorithm = STOKES_MRHS,
                           .vectors = 16,
                           .steps = 1,
                           .dt = 2,
                           .viscosity = 0.2162,
                           .law = {1, 0.5, 1e-3},
                           .tolerance = 1e-6,
                           .root_tolerance = 1e-3,
                           .root = STOKES_ROOT_CHEBYSHEV,
                           .preconditioner = STOKES_PRECONDITION_NONE,
                           .storage = STOKES_BCRS,
                           .most = 5000,
                           .seed = 1};
}

double stokes_run_bytes(const stokes_run_spec *spec, int64_t n, double occupancy)
{
  /* Pairs nearer than the cutoff, with the share of E. coli's sizes: measured. */
  const double cut = spec->law.gap_cut, pairs = 3.9 * occupancy * cut * (4 + cut);
  const int m = spec->algorithm == STOKES_MRHS ? spec->vectors : 1;
  const double dense = spec->method == STOKES_CHOLESKY ? 72.0 * (double)n : 0;
  return (double)n * ((pairs + 1) * 84 + 400 + 24.0 * 7 * m + dense);
}

static md_status check(const stokes_run_spec *spec)
{
  MD_REQUIRE(spec->vectors >= 1 && spec->vectors <= STOKES_VECTORS, MD_EINVAL,
             "expected 1 to %d right-hand sides, not %d", STOKES_VECTORS, spec->vectors);
  MD_REQUIRE(spec->dt > 0 && isfinite(spec->dt), MD_EINVAL, "the time step must be > 0, not %g",
             spec->dt);
  MD_REQUIRE(spec->viscosity > 0 && isfinite(spec->viscosity), MD_EINVAL,
             "the viscosity must be > 0, not %g", spec->viscosity);
  MD_REQUIRE(spec->tolerance > 0 && spec->tolerance < 1 && spec->root_tolerance > 0 &&
                 spec->root_tolerance < 1,
             MD_EINVAL, "tolerances lie between 0 and 1, not %g and %g", spec->tolerance,
             spec->root_tolerance);
  MD_REQUIRE(spec->method != STOKES_CHOLESKY || spec->algorithm == STOKES_ORIGINAL, MD_EINVAL,
             "Cholesky factors go with the algorithm `original` only");
  return MD_OK;
}

/* Spheres along a Hilbert curve, on the backend. */
static md_status load(stokes_run *run, const stokes_packing *packing)
{
  const size_t n = (size_t)packing->n, bytes = n * 4 * sizeof(double);
  stokes_packing sorted;
  md_ctx host = *run->ctx;
  host.backend = MD_CPU;
  MD_TRY(stokes_packing_check(&host, packing, NULL));
  run->n = packing->n;
  memcpy(run->box, packing->box, sizeof run->box);
  run->place = malloc(n * sizeof *run->place);
  MD_REQUIRE(run->place, MD_ENOMEM, "out of memory for %" PRId64 " spheres", packing->n);
  MD_TRY(md_buffer_reserve(run->ctx, &run->x, bytes, 0));
  MD_TRY(md_buffer_reserve(run->ctx, &run->middle, bytes, 0));
  MD_TRY(md_buffer_reserve(run->ctx, &run->id, n * sizeof(int32_t), 0));
  MD_TRY(stokes_packing_create(packing->n, &sorted));
  memcpy(sorted.box, packing->box, sizeof sorted.box);
  memcpy(sorted.x, packing->x, bytes);
  md_status status =
      stokes_packing_sort(&host, &sorted, &(ordering){.kind = ORDERING_HILBERT}, run->place);
  if (!status) status = md_write(run->ctx, run->x.data, sorted.x, bytes);
  stokes_packing_free(&sorted);
  if (status) return status;
  return md_write(run->ctx, run->id.data, run->place, n * sizeof(int32_t));
}

static md_status create(stokes_run *run, const stokes_packing *packing)
{
  MD_TRY(check(&run->spec));
  MD_TRY(stokes_solver_create(run->ctx, run->spec.preconditioner, &run->solver));
  run->ops = vectors_of(run->ctx);
  MD_TRY(load(run, packing));
  run->space = (vector_space){.ctx = run->ctx, .n_rows = run->n};
  MD_TRY(stokes_matrix_create(run->ctx, run->spec.storage, &run->matrix));
  MD_TRY(stokes_pairs_create(run->ctx, 1 + run->spec.law.gap_cut / 2, skin, &run->pairs));
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, run->x.data};
  return stokes_pairs_update(run->pairs, &view, 0);
}

md_status stokes_run_create(md_ctx *ctx, const stokes_run_spec *spec, const stokes_packing *packing,
                            stokes_run **out)
{
  *out = NULL;
  stokes_run *run = calloc(1, sizeof *run);
  MD_REQUIRE(run, MD_ENOMEM, "out of memory for a run");
  run->ctx = ctx;
  run->spec = *spec;
  const md_status status = create(run, packing);
  if (status) {
    stokes_run_destroy(run);
    return status;
  }
  *out = run;
  return MD_OK;
}

void stokes_run_destroy(stokes_run *run)
{
  if (!run) return;
  md_buffer *buffers[] = {&run->x,    &run->middle, &run->id, &run->random,       &run->force,
                          &run->many, &run->guess,  &run->v,  &run->space.partial};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(run->ctx, buffers[k]);
  free(run->place);
  stokes_pairs_destroy(run->pairs);
  stokes_matrix_destroy(run->matrix);
  stokes_solver_destroy(run->solver);
  stokes_dense_destroy(run->dense);
  free(run);
}

md_status stokes_run_set_vectors(stokes_run *run, int vectors)
{
  stokes_run_spec spec = run->spec;
  spec.vectors = vectors;
  MD_TRY(check(&spec));
  run->spec = spec;
  return MD_OK;
}

/* The matrix of the spheres at x, for products with m vectors mostly. */
static md_status attach(stokes_run *run, const md_buffer *x, int m)
{
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, x->data};
  MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
  const stokes_pair_view list = stokes_pairs_view(run->pairs);
  MD_TRY(stokes_matrix_assemble(run->matrix, &view, &list, &run->spec.law, m));
  return stokes_solver_attach(run->solver, run->matrix);
}

static md_status reserve(stokes_run *run, md_buffer *buffer, int m)
{
  return md_buffer_reserve(run->ctx, buffer, (size_t)run->n * 3 * (size_t)m * sizeof(double), 0);
}

static md_status zero(stokes_run *run, const md_buffer *buffer, int m)
{
  return md_fill(run->ctx, buffer->data, 0, (size_t)run->n * 3 * (size_t)m * sizeof(double));
}

/* S z for the steps first ... first + m - 1; *seconds: what it took. */
static md_status brownian(stokes_run *run, int m, int *order, double *seconds)
{
  const stokes_run_spec *spec = &run->spec;
  stokes_outcome outcome = {0};
  const double began = md_wall_seconds();
  MD_TRY(reserve(run, &run->random, m));
  MD_TRY(reserve(run, &run->force, m));
  MD_TRY(run->ops->normals(&run->space, m, spec->seed, NORMAL_BROWNIAN, (uint64_t)run->step,
                           run->id.data, run->random.data));
  if (spec->method == STOKES_CHOLESKY) {
    stokes_dense_destroy(run->dense);
    run->dense = NULL;
    MD_TRY(stokes_dense_factor(run->ctx, run->matrix, &run->dense));
    MD_TRY(stokes_dense_root(run->dense, run->random.data, run->force.data));
  } else {
    MD_TRY(stokes_solver_root(run->solver, spec->root, m, run->random.data, run->force.data,
                              spec->root_tolerance, spec->most, &outcome));
  }
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

/* Begin a group: forces and solutions of all its steps; those of the first go where one is. */
static md_status begin_group(stokes_run *run, stokes_step *out)
{
  const stokes_run_spec *spec = &run->spec;
  const int64_t left = spec->steps - run->step;
  const int m = left >= 1 && left < spec->vectors ? (int)left : spec->vectors;
  stokes_outcome outcome;
  run->group = run->step;
  run->group_size = m;
  MD_TRY(brownian(run, m, &out->order, &out->time_chebyshev));
  const double began = md_wall_seconds();
  MD_TRY(reserve(run, &run->many, m));
  MD_TRY(zero(run, &run->many, m));
  MD_TRY(stokes_solver_block_cg(run->solver, m, run->force.data, run->many.data, spec->tolerance,
                                spec->most, &outcome));
  MD_TRY(run->ops->take(&run->space, m, 0, run->many.data, run->v.data));
  MD_TRY(run->ops->take(&run->space, m, 0, run->force.data, run->guess.data));
  md_buffer_swap(&run->force, &run->guess);
  MD_TRY(md_ctx_sync(run->ctx));
  out->iterations_first = outcome.iterations;
  out->time_guess = md_wall_seconds() - began;
  return MD_OK;
}

/* |v - guess| / |v| */
static md_status guess_error(stokes_run *run, double *out)
{
  const double one = 1, minus = -1;
  double rest, norm;
  double *guess = run->guess.data;
  MD_TRY(run->ops->columns(&run->space, 1, &one, run->v.data, &minus, guess));
  MD_TRY(run->ops->dots(&run->space, 1, guess, guess, &rest));
  MD_TRY(run->ops->dots(&run->space, 1, run->v.data, run->v.data, &norm));
  *out = norm > 0 ? sqrt(rest / norm) : 0;
  return MD_OK;
}

/* The first solve: R(r_k) v = S z_k. */
static md_status first(stokes_run *run, stokes_algorithm algorithm, stokes_step *out)
{
  const bool mrhs = algorithm == STOKES_MRHS;
  const int place = (int)(run->step - run->group);
  const bool begins = mrhs && (run->group_size == 0 || place >= run->group_size);
  MD_TRY(attach(run, &run->x, begins ? run->spec.vectors : 1));
  MD_TRY(reserve(run, &run->v, 1));
  MD_TRY(reserve(run, &run->guess, 1));
  if (begins) return begin_group(run, out);
  MD_TRY(brownian(run, 1, &out->order, &out->time_chebyshev));
  MD_TRY(zero(run, &run->v, 1));
  if (mrhs) {
    MD_TRY(run->ops->take(&run->space, run->group_size, place, run->many.data, run->v.data));
    MD_TRY(run->ops->take(&run->space, run->group_size, place, run->many.data, run->guess.data));
  }
  MD_TRY(solve(run, &out->iterations_first, &out->time_first));
  return mrhs ? guess_error(run, &out->guess_error) : MD_OK;
}

/* The solve at the midpoint, with the same force and the first solution as its guess. */
static md_status second(stokes_run *run, double scale, stokes_step *out)
{
  MD_TRY(run->ops->move(&run->space, 0.5 * scale, run->x.data, run->v.data, run->middle.data));
  MD_TRY(attach(run, &run->middle, 1));
  return solve(run, &out->iterations_second, &out->time_second);
}

static double scale_of(const stokes_run *run)
{
  const double pi = 3.141592653589793;
  return -sqrt(2 * run->spec.dt / (6 * pi * run->spec.viscosity * run->spec.law.far_field));
}

/* Until no pair overlaps, also of those that come near each other by being moved. */
static md_status separate(stokes_run *run, int64_t *overlaps)
{
  enum { ROUNDS = 20 };
  const stokes_view view = {run->n, {run->box[0], run->box[1], run->box[2]}, run->x.data};
  int64_t found = 1;
  *overlaps = 0;
  for (int k = 0; found > 0 && k < ROUNDS; k++) {
    MD_TRY(stokes_pairs_update(run->pairs, &view, 0));
    const stokes_pair_view list = stokes_pairs_view(run->pairs);
    MD_TRY(stokes_separate(run->ctx, run->box, &list, run->spec.law.gap_min, run->x.data, &found));
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
  MD_TRY(first(run, run->spec.algorithm, out));
  MD_TRY(second(run, scale_of(run), out));
  MD_TRY(run->ops->move(&run->space, scale_of(run), run->x.data, run->v.data, run->middle.data));
  md_buffer_swap(&run->x, &run->middle);
  MD_TRY(separate(run, &out->overlaps));
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

md_status stokes_run_read(const stokes_run *run, stokes_packing *out)
{
  const size_t bytes = (size_t)run->n * 4 * sizeof(double);
  double *x = malloc(bytes);
  MD_REQUIRE(x, MD_ENOMEM, "out of memory for %" PRId64 " spheres", run->n);
  const md_status status = md_read(run->ctx, x, run->x.data, bytes);
  for (int64_t i = 0; !status && i < run->n; i++)
    memcpy(out->x + 4 * (int64_t)run->place[i], x + 4 * i, 4 * sizeof *x);
  memcpy(out->box, run->box, sizeof run->box);
  free(x);
  return status;
}
