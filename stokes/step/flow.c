/* stokes/step/flow.c - see flow.h.
 *
 * With S = diag(sqrt(mu_F a_i)), w = S U and M' = S M S the system is
 *
 *     (I + M' (R' - I)) w = M' S^-1 F + S u
 *
 * where R' is the matrix of stokes/matrix/matrix.h.  Were M' = I, it would be R' w: so R'^-1, by
 * conjugate gradients to few digits, preconditions flexible GMRES
 * (docs/decisions/45-far-flow-and-lubrication.md). */
#include "stokes/step/flow.h"
#include "core/time/timer.h"
#include "stokes/solver/gmres.h"
#include "stokes/step/flow_impl.h"

#include <math.h>
#include <stdlib.h>

/* Of solves with R' that precondition. */
static const double LOOSE = 0.1;
enum { LOOSE_MOST = 5000 };

enum { RIGHT, WORK, VECTORS };

struct stokes_flow {
  md_ctx *ctx, where; /* where: of the mobility, perhaps in another precision */
  stokes_flow_spec spec;
  int64_t n;
  rpy *mobility;
  stokes_matrix *matrix;
  stokes_solver *solver;
  vector_space space;
  md_buffer scale; /* [n]: sqrt(mu_F a_i) */
  md_buffer vector[VECTORS], basis;
  stokes_flow_costs spent;
};

const flow_backend *flow_backend_of(const md_ctx *ctx)
{
  static const flow_backend *const table[MD_BACKEND_COUNT] = {&flow_cpu, MD_GPU(&flow_gpu)};
  return table[ctx->backend];
}

/* Factors for all columns. */
static const double *all_of(double value, double *factor)
{
  for (int c = 0; c < STOKES_VECTORS; c++)
    factor[c] = value;
  return factor;
}

/* y += a x. */
static md_status add(stokes_flow *flow, int m, double a, const double *x, double *y)
{
  double by[STOKES_VECTORS], one[STOKES_VECTORS];
  return vectors_of(flow->ctx)->columns(&flow->space, m, all_of(a, by), x, all_of(1, one), y);
}

/* Of what was queued so far. */
static md_status now(const stokes_flow *flow, double *seconds)
{
  MD_TRY(md_ctx_sync(flow->ctx));
  *seconds = md_wall_seconds();
  return MD_OK;
}

/* Copies of the mobility's context are the flow's. */
static void settle(stokes_flow *flow)
{
  flow->ctx->bytes_copied += flow->where.bytes_copied;
  flow->where.bytes_copied = 0;
}

md_status stokes_flow_create(md_ctx *ctx, const stokes_flow_spec *spec, stokes_flow **out)
{
  *out = NULL;
  stokes_flow *flow = calloc(1, sizeof *flow);
  MD_REQUIRE(flow, MD_ENOMEM, "out of memory for a flow");
  flow->ctx = flow->space.ctx = ctx;
  flow->spec = *spec;
  flow->where = rpy_where(ctx, fmin(spec->mobility.tolerance, spec->tolerance));
  flow->where.bytes_copied = 0;
  md_status status = rpy_create(&flow->where, &spec->mobility, &flow->mobility);
  if (!status) status = stokes_matrix_create(ctx, STOKES_BCRS, &flow->matrix);
  if (!status) status = stokes_solver_create(ctx, STOKES_PRECONDITION_JACOBI, &flow->solver);
  if (status)
    stokes_flow_destroy(flow);
  else
    *out = flow;
  return status;
}

void stokes_flow_destroy(stokes_flow *flow)
{
  if (!flow) return;
  for (int k = 0; k < VECTORS; k++)
    md_buffer_free(flow->ctx, &flow->vector[k]);
  md_buffer *buffers[] = {&flow->scale, &flow->basis, &flow->space.partial, &flow->space.small};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(flow->ctx, buffers[k]);
  rpy_destroy(flow->mobility);
  stokes_matrix_destroy(flow->matrix);
  stokes_solver_destroy(flow->solver);
  free(flow);
}

md_status stokes_flow_set(stokes_flow *flow, const stokes_view *spheres,
                          const stokes_pair_view *pairs)
{
  const double drag = 6 * M_PI * flow->spec.mobility.viscosity * flow->spec.law.far_field;
  double began, ended;
  MD_TRY(now(flow, &began));
  flow->n = flow->space.n_rows = spheres->n;
  MD_TRY(md_buffer_reserve(flow->ctx, &flow->scale, (size_t)spheres->n * sizeof(double), 0));
  MD_TRY(flow_backend_of(flow->ctx)->scales(flow->ctx, spheres->n, drag, spheres->x,
                                            flow->scale.data));
  MD_TRY(rpy_set(flow->mobility, spheres));
  MD_TRY(stokes_matrix_assemble(flow->matrix, spheres, pairs, &flow->spec.law,
                                flow->spec.mobility.vectors));
  settle(flow);
  MD_TRY(now(flow, &ended));
  flow->spent.near += ended - began;
  return stokes_solver_attach(flow->solver, flow->matrix);
}

static md_status reserve(stokes_flow *flow, int k, int m, double **out)
{
  const size_t bytes = (size_t)flow->n * 3 * (size_t)m * sizeof **out;
  MD_TRY(md_buffer_reserve(flow->ctx, &flow->vector[k], bytes, 0));
  *out = flow->vector[k].data;
  return MD_OK;
}

/* to = S from, or S^-1 from; may be the same memory. */
static md_status scale_rows(const stokes_flow *flow, int m, bool inverse, const double *from,
                            double *to)
{
  return flow_backend_of(flow->ctx)->scale(flow->ctx, flow->n, m, inverse, flow->scale.data, from,
                                           to);
}

/* y = M x. */
static md_status multiply_far(stokes_flow *flow, int m, const double *x, double *y)
{
  double began, between, ended;
  MD_TRY(now(flow, &began));
  MD_TRY(rpy_multiply_near(flow->mobility, m, x, y));
  MD_TRY(now(flow, &between));
  MD_TRY(rpy_add_far(flow->mobility, m, x, y));
  MD_TRY(now(flow, &ended));
  flow->spent.near += between - began;
  flow->spent.far += ended - between;
  flow->spent.mobility++;
  return MD_OK;
}

/* y = x + M' (R' - I) x. */
static md_status multiply(void *what, int m, const double *x, double *y)
{
  stokes_flow *flow = what;
  double *work;
  MD_TRY(reserve(flow, WORK, m, &work));
  MD_TRY(stokes_matrix_multiply(flow->matrix, m, x, work));
  flow->spent.resistance++;
  MD_TRY(add(flow, m, -1, x, work));
  MD_TRY(scale_rows(flow, m, false, work, work));
  MD_TRY(multiply_far(flow, m, work, y));
  MD_TRY(scale_rows(flow, m, false, y, y));
  return add(flow, m, 1, x, y);
}

static md_status precondition(void *what, int m, const double *x, double *y)
{
  stokes_flow *flow = what;
  stokes_outcome outcome;
  MD_TRY(md_fill(flow->ctx, y, 0, (size_t)flow->n * 3 * (size_t)m * sizeof *y));
  MD_TRY(m == 1 ? stokes_solver_cg(flow->solver, x, y, LOOSE, LOOSE_MOST, &outcome)
                : stokes_solver_block_cg(flow->solver, m, x, y, LOOSE, LOOSE_MOST, &outcome));
  flow->spent.resistance += outcome.iterations + 1;
  return MD_OK;
}

static md_status solve(stokes_flow *flow, int m, const double *f, const double *u, double *velocity,
                       stokes_outcome *out)
{
  double *right;
  MD_TRY(reserve(flow, RIGHT, m, &right));
  MD_TRY(multiply_far(flow, m, f, right));
  if (u) MD_TRY(add(flow, m, 1, u, right));
  MD_TRY(scale_rows(flow, m, false, right, right));
  MD_TRY(scale_rows(flow, m, false, velocity, velocity));
  const gmres_system system = {multiply,     precondition, flow, vectors_of(flow->ctx),
                               &flow->space, &flow->basis};
  MD_TRY(gmres_solve(&system, m, right, velocity, flow->spec.tolerance, flow->spec.most, out));
  return scale_rows(flow, m, true, velocity, velocity);
}

md_status stokes_flow_solve(stokes_flow *flow, int m, const double *f, const double *u,
                            double *velocity, stokes_outcome *out)
{
  const stokes_flow_costs before = flow->spent;
  double began, ended;
  MD_TRY(now(flow, &began));
  MD_TRY(solve(flow, m, f, u, velocity, out));
  settle(flow);
  MD_TRY(now(flow, &ended));
  const stokes_flow_costs *spent = &flow->spent;
  flow->spent.solve += ended - began - (spent->near - before.near) - (spent->far - before.far);
  return MD_OK;
}

/* Forces of all pairs and of each sphere alone, less those of each sphere, which are normal numbers
 * of its own: to the last bits, and independent of what is left. */
md_status stokes_flow_noise(stokes_flow *flow, const stokes_view *spheres,
                            const stokes_pair_view *pairs, const stokes_noise *noise, int m,
                            double *f, double *u, stokes_outcome *out)
{
  double *own;
  MD_TRY(reserve(flow, WORK, m, &own));
  MD_TRY(vectors_of(flow->ctx)->normals(&flow->space, m, noise->seed, NORMAL_BROWNIAN, noise->step,
                                        noise->id, own));
  MD_TRY(stokes_pair_force(flow->ctx, spheres, pairs, &flow->spec.law, noise, m, f));
  MD_TRY(add(flow, m, -1, own, f));
  MD_TRY(scale_rows(flow, m, false, f, f));
  MD_TRY(rpy_sample(flow->mobility, m, noise->seed, noise->step, u, out));
  settle(flow);
  return MD_OK;
}

stokes_flow_costs stokes_flow_spent(const stokes_flow *flow)
{
  return flow->spent;
}

rpy_split stokes_flow_split(const stokes_flow *flow)
{
  rpy_report report;
  rpy_describe(flow->mobility, &report);
  return report.split;
}
