/* stokes/solver/solver.c - solvers: memory, preconditioner, conjugate gradients for one vector. */
#include "comm/world.h"
#include "core/most.h"
#include "core/time/timer.h"
#include "stokes/solver/solver_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define WORD(name, word) word,
const char *const stokes_preconditioner_words[STOKES_PRECONDITIONER_COUNT] = {
    STOKES_PRECONDITIONERS(WORD)};
const char *const stokes_root_words[STOKES_ROOT_COUNT] = {STOKES_ROOTS(WORD)};
#undef WORD

const vector_backend *vectors_of(const md_ctx *ctx)
{
  static const vector_backend *const cpu[MD_ISA_COUNT] = {&vectors_cpu_portable, &vectors_cpu_avx2,
                                                          &vectors_cpu_avx512};
  static const vector_backend *const gpu = MD_GPU(&vectors_gpu);
  return ctx->backend == MD_GPU ? gpu : cpu[ctx->isa];
}

md_status stokes_solver_create(md_ctx *ctx, stokes_preconditioner kind, stokes_solver **out)
{
  *out = NULL;
  stokes_solver *solver = calloc(1, sizeof *solver);
  MD_REQUIRE(solver, MD_ENOMEM, "out of memory for a solver");
  solver->ctx = ctx;
  solver->kind = kind;
  solver->ops = vectors_of(ctx);
  solver->space.ctx = ctx;
  solver->small =
      malloc((size_t)SOLVER_SMALL * STOKES_VECTORS * STOKES_VECTORS * sizeof *solver->small);
  if (!solver->small) {
    stokes_solver_destroy(solver);
    return MD_FAIL(MD_ENOMEM, "out of memory for a solver");
  }
  *out = solver;
  return MD_OK;
}

void stokes_solver_destroy(stokes_solver *solver)
{
  if (!solver) return;
  md_buffer_free(solver->ctx, &solver->inverse);
  for (int k = 0; k < SOLVER_VECTORS; k++)
    md_buffer_free(solver->ctx, &solver->vector[k]);
  md_buffer_free(solver->ctx, &solver->basis);
  md_buffer_free(solver->ctx, &solver->state);
  md_buffer_free(solver->ctx, &solver->space.partial);
  md_buffer_free(solver->ctx, &solver->space.small);
  free(solver->series.coefficient);
  free(solver->inverse_series.coefficient);
  free(solver->small);
  free(solver);
}

/* The matrix's diagonal blocks, and M^-1 where it is kept. */
static md_status take_diagonal(stokes_solver *solver, int64_t *bad)
{
  solver->bounded = false;
  solver->space.n_rows = stokes_matrix_shape(solver->matrix).n_rows;
  solver->space.diagonal = stokes_matrix_diagonal(solver->matrix);
  solver->space.jacobi = NULL;
  const bool none = solver->kind == STOKES_PRECONDITION_NONE, keep = !none && solver->ops->keeps;
  const size_t bytes = keep ? (size_t)solver->space.n_rows * 6 * sizeof(double) : 0;
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->inverse, bytes, 0));
  MD_TRY(solver->ops->factor(&solver->space, keep ? solver->inverse.data : NULL, bad,
                             &solver->largest));
  if (!none) solver->space.jacobi = keep ? solver->inverse.data : solver->space.diagonal;
  return MD_OK;
}

static md_status check_diagonal(int64_t bad)
{
  MD_REQUIRE(bad == 0, MD_ENUMERIC,
             "%" PRId64 " diagonal blocks of the matrix are not positive definite", bad);
  return MD_OK;
}

md_status stokes_solver_attach(stokes_solver *solver, const stokes_matrix *matrix)
{
  int64_t bad;
  solver->matrix = matrix;
  solver->rows = NULL;
  solver->space.shared = (vector_sharing){0};
  MD_TRY(take_diagonal(solver, &bad));
  MD_TRY(check_diagonal(bad));
  /* In steps, so that a polynomial serves for several matrices. */
  solver->largest = pow(1.05, ceil(log(solver->largest) / log(1.05)));
  return MD_OK;
}

md_status stokes_solver_attach_rows(stokes_solver *solver, stokes_rows *rows)
{
  const stokes_rows_view v = stokes_rows_get(rows);
  int64_t bad;
  solver->matrix = stokes_rows_matrix(rows);
  solver->rows = rows;
  solver->space.shared.n_all = v.n_all;
  solver->space.shared.n_most = v.n_most;
  solver->space.shared.n_ghosts = v.n_ghosts;
  MD_TRY(take_diagonal(solver, &bad));
  world_sum(&bad, 1);
  return check_diagonal(bad);
}

stokes_solver_messages stokes_solver_messages_of(const stokes_solver *solver)
{
  const vector_sharing *shared = &solver->space.shared;
  const double products = md_phase_seconds(solver->ctx, MD_PHASE_EXCHANGE);
  return (stokes_solver_messages){products, shared->seconds, shared->sums};
}

md_status solver_multiply(stokes_solver *solver, int m, double *x, double *y)
{
  return solver->rows ? stokes_rows_multiply(solver->rows, m, x, y)
                      : stokes_matrix_multiply(solver->matrix, m, x, y);
}

md_buffer *stokes_solver_space(stokes_solver *solver, int which)
{
  return &solver->vector[which];
}

md_status solver_vector(stokes_solver *solver, int k, int m, double **out)
{
  const size_t ghosts = (size_t)solver->space.shared.n_ghosts * 3 * (size_t)m * sizeof(double);
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->vector[k], solver_bytes(solver, m) + ghosts, 0));
  *out = solver->vector[k].data;
  return MD_OK;
}

md_status solver_floats(stokes_solver *solver, int k, int m, float **out)
{
  const size_t bytes = solver_bytes(solver, m) / sizeof(double) * sizeof(float);
  MD_TRY(md_buffer_reserve(solver->ctx, &solver->vector[k], bytes, 0));
  *out = solver->vector[k].data;
  return MD_OK;
}

md_status solver_precondition(stokes_solver *solver, int m, double *x, double *work, double **y)
{
  *y = x;
  if (!solver_preconditioned(solver)) return MD_OK;
  *y = work;
  return solver->ops->solve(&solver->space, m, x, work);
}

double solver_largest(int m, const double *square, const double *norm)
{
  double most = 0;
  for (int c = 0; c < m; c++) {
    const double ratio = square[c] == 0 ? 0 : sqrt(square[c] / norm[c]);
    most = md_most(most, ratio);
  }
  return most;
}

md_status solver_residual(stokes_solver *solver, int m, const double *b, double *x, double **r,
                          double *relative)
{
  double one[STOKES_VECTORS], minus[STOKES_VECTORS], square[STOKES_VECTORS], norm[STOKES_VECTORS];
  for (int c = 0; c < m; c++)
    one[c] = 1, minus[c] = -1;
  MD_TRY(solver_vector(solver, 0, m, r));
  MD_TRY(solver_multiply(solver, m, x, *r));
  MD_TRY(solver->ops->columns(&solver->space, m, one, b, minus, *r));
  MD_TRY(solver->ops->dots(&solver->space, m, *r, *r, square));
  MD_TRY(solver->ops->dots(&solver->space, m, b, b, norm));
  *relative = solver_largest(m, square, norm);
  return MD_OK;
}

static md_status cg_outcome(const cg_state *state, double tolerance, int most, stokes_outcome *out)
{
  out->iterations = (int)state->steps;
  out->residual = solver_largest(1, &state->rr, &state->bb);
  MD_REQUIRE(state->done != 2 && !isnan(out->residual), MD_ENUMERIC,
             "conjugate gradients broke down after %d iterations with a residual of %.3g: the "
             "matrix is not positive definite, or a number is not finite",
             out->iterations, out->residual);
  MD_REQUIRE(state->done == 1, MD_ENUMERIC,
             "conjugate gradients reached a residual of %.3g in %d iterations, not %.3g",
             out->residual, most, tolerance);
  return MD_OK;
}

/* The host looks at the residual of the GPU every few iterations only, as that waits for it. */
enum { LOOK_CPU = 1, LOOK_GPU = 4 };

md_status stokes_solver_cg(stokes_solver *solver, const double *b, double *x, double tolerance,
                           int most, stokes_outcome *out)
{
  md_ctx *ctx = solver->ctx;
  if (solver->rows) solver->space.shared.device = stokes_rows_sums_of(solver->rows);
  /* Scalars stay on a GPU, and sums over ranks as well where they can. */
  if (solver->rows && ctx->backend == MD_GPU && !solver->space.shared.device.mail)
    return stokes_solver_block_cg(solver, 1, b, x, tolerance, most, out);
  double *q, *r, *z, *p, *u = NULL;
  cg_state state;
  MD_TRY(solver_vector(solver, 0, 1, &q));
  MD_TRY(solver_vector(solver, 1, 1, &r));
  MD_TRY(solver_vector(solver, 2, 1, &p));
  z = r;
  if (solver_preconditioned(solver) && solver->ops->keeps) {
    MD_TRY(solver_vector(solver, 3, 1, &z));
    MD_TRY(solver_vector(solver, 4, 1, &u));
  }
  MD_TRY(md_buffer_reserve(ctx, &solver->state, sizeof state, 0));
  const cg_vectors v = {b, q, x, r, z, p, u, solver->state.data};
  const int look = ctx->backend == MD_GPU ? LOOK_GPU : LOOK_CPU;
  MD_TRY(solver_multiply(solver, 1, x, q));
  MD_TRY(solver->ops->cg_begin(&solver->space, &v, tolerance));
  for (int k = 0;; k++) {
    if (k % look == 0 || k == most) {
      MD_TRY(md_read(ctx, &state, v.state, sizeof state));
      if (state.done || k == most || state.bb == 0) break;
    }
    MD_TRY(solver_multiply(solver, 1, p, q));
    MD_TRY(solver->ops->cg_step(&solver->space, &v));
  }
  *out = (stokes_outcome){0};
  if (state.bb == 0) return md_fill(ctx, x, 0, solver_bytes(solver, 1));
  return cg_outcome(&state, tolerance, most, out);
}
