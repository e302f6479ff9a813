/* spread/pme/pme.c - smooth PME: checks, tables of the influence function, the terms that need no
 * mesh.
 *
 * Factors |b|^2 of the B-splines ([Guo] section 1): b(m) is the inverse of the spline's own
 * transform, sum_{k=0}^{p-2} M_p(k+1) e^{2 pi i m k / K}.  For odd p that vanishes at m = K/2,
 * where the mean of its neighbours stands in. */
#include "core/atoms.h"
#include "spread/bspline.h"
#include "spread/pme/pme_impl.h"
#include "spread/spread_impl.h"

#include <math.h>
#include <stdlib.h>

#ifdef MD_HAVE_FFTW
#define FFTW_TABLE(name) SIMD_TABLE(name)
#else
#define FFTW_TABLE(name)                                                                           \
  {                                                                                                \
    {                                                                                              \
      NULL                                                                                         \
    }                                                                                              \
  }
#endif
typedef pme_plan_fn *const cpu_plan[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef pme_drop_fn *const cpu_drop[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef pme_load_fn *const cpu_load[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef pme_solve_fn *const cpu_solve[MD_PRECISION_COUNT][MD_ISA_COUNT];
typedef pme_push_fn *const cpu_push[MD_PRECISION_COUNT][MD_ISA_COUNT];

static cpu_plan cpu_plans = FFTW_TABLE(pme_cpu_plan);
static cpu_drop cpu_drops = FFTW_TABLE(pme_cpu_drop);
static cpu_load cpu_loads = FFTW_TABLE(pme_cpu_load);
static cpu_solve cpu_solves = FFTW_TABLE(pme_cpu_solve);
static cpu_push cpu_pushes = FFTW_TABLE(pme_cpu_push);
static pme_plan_fn *const gpu_plans[] = PREC_TABLE(pme_gpu_plan);
static pme_drop_fn *const gpu_drops[] = PREC_TABLE(pme_gpu_drop);
static pme_load_fn *const gpu_loads[] = PREC_TABLE(pme_gpu_load);
static pme_solve_fn *const gpu_solves[] = PREC_TABLE(pme_gpu_solve);
static pme_push_fn *const gpu_pushes[] = PREC_TABLE(pme_gpu_push);

/* |b(m)|^-2; knot[k] = M_p(k + 1). */
static double inverse_factor(int p, const double *knot, int64_t m, int64_t mesh)
{
  double re = 0, im = 0;
  for (int k = 0; k <= p - 2; k++) {
    const double angle = 2 * M_PI * (double)(m * k % mesh) / (double)mesh;
    re += knot[k] * cos(angle);
    im += knot[k] * sin(angle);
  }
  return re * re + im * im;
}

/* The two tables of an axis, [mesh] each. */
static void fill_axis(const pme_spec *spec, int axis, double *m_sq, double *factor)
{
  const int p = spec->order, mesh = spec->mesh[axis];
  const double edge = spec->hi[axis] - spec->lo[axis], decay = M_PI / spec->alpha;
  double knot[SPREAD_ORDER_MAX];
  bspline_weights(p, 0, knot); /* M_p(p - 1), ..., M_p(1): the same backwards */
  for (int m = 0; m < mesh; m++) {
    const double wave = (2 * m <= mesh ? m : m - mesh) / edge;
    const bool zero = p % 2 == 1 && 2 * m == mesh;
    const double b_sq = zero ? 0.5 / inverse_factor(p, knot, m - 1, mesh) +
                                   0.5 / inverse_factor(p, knot, m + 1, mesh)
                             : 1 / inverse_factor(p, knot, m, mesh);
    m_sq[m] = wave * wave;
    factor[m] = exp(-decay * decay * m_sq[m]) * b_sq;
  }
}

static md_status fill_tables(pme *solver)
{
  const int32_t *mesh = solver->spec.mesh;
  const size_t each = (size_t)mesh[0] + (size_t)mesh[1] + (size_t)mesh[2];
  const size_t bytes = 2 * each * sizeof(double);
  double *host = malloc(bytes), *at = host;
  MD_REQUIRE(host, MD_ENOMEM, "out of memory for the tables of a mesh");
  for (int a = 0; a < 3; at += mesh[a++])
    fill_axis(&solver->spec, a, at, at + each);
  md_status status = md_buffer_reserve(solver->ctx, &solver->table, bytes, 0);
  if (!status) status = md_write(solver->ctx, solver->table.data, host, bytes);
  if (!status) status = md_ctx_sync(solver->ctx);
  free(host);
  return status;
}

pme_tables pme_tables_of(const pme *solver)
{
  const int32_t *mesh = solver->spec.mesh;
  const int64_t each = (int64_t)mesh[0] + mesh[1] + mesh[2];
  const double *at = solver->table.data, decay = M_PI / solver->spec.alpha;
  pme_tables t = {
      .mesh_last = mesh[2], .scale = 1 / (M_PI * solver->volume), .slope = 2 * decay * decay};
  for (int a = 0; a < 3; at += mesh[a++]) {
    t.m_sq[a] = at;
    t.factor[a] = at + each;
    t.n[a] = a < 2 ? mesh[a] : mesh[a] / 2 + 1;
  }
  return t;
}

static md_status check(const md_ctx *ctx, const pme_spec *spec)
{
  MD_REQUIRE(spec->alpha > 0 && isfinite(spec->alpha), MD_EINVAL,
             "alpha must be > 0 and finite, not %g", spec->alpha);
  MD_REQUIRE(spec->order >= 3, MD_EINVAL,
             "PME needs B-splines of order 3..%d, not %d: forces of order 2 jump", SPREAD_ORDER_MAX,
             spec->order);
  MD_REQUIRE(ctx->backend == MD_GPU || cpu_plans[0][0], MD_EINVAL,
             "this build has no FFTW3, which PME on the CPU needs (Debian package libfftw3-dev)");
  return MD_OK;
}

static md_status make(pme *solver)
{
  md_ctx *ctx = solver->ctx;
  const pme_spec *spec = &solver->spec;
  const spread_spec mesh = {.lo = {spec->lo[0], spec->lo[1], spec->lo[2]},
                            .hi = {spec->hi[0], spec->hi[1], spec->hi[2]},
                            .mesh = {spec->mesh[0], spec->mesh[1], spec->mesh[2]},
                            .order = spec->order,
                            .method = spec->method,
                            .vectors = 1};
  MD_TRY(spread_create(ctx, &mesh, &solver->plan));
  solver->volume = 1;
  for (int a = 0; a < 3; a++)
    solver->volume *= spec->hi[a] - spec->lo[a];
  const int64_t rows = (int64_t)spec->mesh[0] * spec->mesh[1];
  const size_t size = md_real_size(ctx->precision);
  solver->points = rows * spec->mesh[2];
  solver->modes = rows * (spec->mesh[2] / 2 + 1);
  MD_TRY(md_buffer_reserve(ctx, &solver->mesh, (size_t)solver->points * size, 0));
  MD_TRY(md_buffer_reserve(ctx, &solver->spectrum, (size_t)solver->modes * 2 * size, 0));
  MD_TRY(fill_tables(solver));
  return SIMD_PICK(ctx, cpu_plans, gpu_plans)(solver);
}

md_status pme_create(md_ctx *ctx, const pme_spec *spec, pme **out)
{
  *out = NULL;
  MD_TRY(check(ctx, spec));
  pme *solver = calloc(1, sizeof *solver);
  MD_REQUIRE(solver, MD_ENOMEM, "out of memory for PME");
  solver->ctx = ctx;
  solver->spec = *spec;
  const md_status status = make(solver);
  if (status) {
    pme_destroy(solver);
    return status;
  }
  *out = solver;
  return MD_OK;
}

void pme_destroy(pme *solver)
{
  if (!solver) return;
  md_ctx *ctx = solver->ctx;
  SIMD_PICK(ctx, cpu_drops, gpu_drops)(solver);
  spread_destroy(solver->plan);
  md_buffer *buffers[] = {&solver->mesh,     &solver->spectrum, &solver->q,
                          &solver->gradient, &solver->table,    &solver->partial};
  const int n = sizeof buffers / sizeof buffers[0];
  for (int k = 0; k < n; k++)
    md_buffer_free(ctx, buffers[k]);
  free(solver);
}

/* The terms that depend on the charges alone, and the sums over modes. */
static pme_tally tally_of(const pme *solver, const double charge[2], const double modes[2])
{
  const double alpha = solver->spec.alpha;
  pme_tally tally = {
      .reciprocal = modes[0],
      .self = -alpha / sqrt(M_PI) * charge[1],
      .background = -M_PI / (2 * solver->volume * alpha * alpha) * charge[0] * charge[0],
  };
  tally.virial = modes[1] + 3 * tally.background;
  return tally;
}

md_status pme_compute(pme *solver, const pme_charges *charges, void *f, pme_tally *tally)
{
  md_ctx *ctx = solver->ctx;
  const int64_t n = charges->n;
  const size_t size = md_real_size(ctx->precision);
  double charge[2] = {0, 0}, modes[2] = {0, 0};
  if (tally) *tally = (pme_tally){0};
  MD_REQUIRE(charges->q_stride >= 1, MD_EINVAL, "the stride of charges must be >= 1, not %lld",
             (long long)charges->q_stride);
  MD_TRY(spread_queue_positions(solver->plan, n, charges->x, charges->x_stride));
  if (n == 0) return MD_OK;
  MD_TRY(md_buffer_reserve(ctx, &solver->q, (size_t)n * size, 0));
  MD_TRY(md_buffer_reserve(ctx, &solver->gradient, (size_t)n * 3 * size, 0));
  MD_TRY(SIMD_PICK(ctx, cpu_loads, gpu_loads)(solver, charges, tally ? charge : NULL));
  MD_TRY(spread_charges(solver->plan, solver->q.data, solver->mesh.data));
  MD_TRY(SIMD_PICK(ctx, cpu_solves, gpu_solves)(solver, tally ? modes : NULL));
  MD_TRY(spread_interpolate(solver->plan, solver->mesh.data, NULL, solver->gradient.data));
  MD_TRY(SIMD_PICK(ctx, cpu_pushes, gpu_pushes)(solver, n, f));
  if (!tally) return MD_OK;
  *tally = tally_of(solver, charge, modes);
  return spread_check_deferred(solver->plan); /* the sums have been waited for */
}

void pme_describe(const pme *solver, pme_report *out)
{
  const md_buffer *buffers[] = {&solver->mesh,     &solver->spectrum, &solver->q,
                                &solver->gradient, &solver->table,    &solver->partial};
  spread_describe(solver->plan, &out->spread);
  out->bytes = out->spread.bytes;
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    out->bytes += (int64_t)buffers[k]->bytes;
}
