/* spread/pme/pme.c - smooth PME: checks, the solver, the terms that need no mesh. */
#include "core/atoms.h"
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

bool pme_has_fftw(void)
{
  return cpu_plans[0][0] != NULL;
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

/* What kernels depend on between locating charges and their forces. */
typedef struct {
  int64_t n;
  const void *record, *order, *q, *gradient;
} pme_same;

static md_status make(pme *solver)
{
  md_ctx *ctx = solver->ctx;
  const pme_spec *spec = &solver->spec;
  const spread_spec mesh = {.lo = {spec->lo[0], spec->lo[1], spec->lo[2]},
                            .hi = {spec->hi[0], spec->hi[1], spec->hi[2]},
                            .mesh = {spec->mesh[0], spec->mesh[1], spec->mesh[2]},
                            .order = spec->order,
                            .method = spec->method,
                            .vectors = 1,
                            .interpolates = true};
  MD_TRY(spread_create(ctx, &mesh, &solver->plan));
  solver->volume = 1;
  for (int a = 0; a < 3; a++)
    solver->volume *= spec->hi[a] - spec->lo[a];
  const int64_t rows = (int64_t)spec->mesh[0] * spec->mesh[1];
  const size_t size = md_real_size(ctx->precision);
  solver->points = rows * spec->mesh[2];
  solver->modes = rows * (spec->mesh[2] / 2 + 1);
  MD_TRY(md_buffer_reserve(ctx, &solver->mesh, (size_t)solver->points * size, 0));
  if (ctx->backend == MD_GPU) /* a CPU's plan fills planes up */
    MD_TRY(md_buffer_reserve(ctx, &solver->spectrum, (size_t)solver->modes * 2 * size, 0));
  MD_TRY(pme_tables_fill(solver));
  MD_TRY(md_replay_create(ctx, sizeof(pme_same), &solver->replay));
  MD_TRY(md_beside_create(ctx, true, &solver->beside));
  MD_TRY(md_beside_begin(solver->beside)); /* transforms belong to a stream */
  const md_status status = SIMD_PICK(ctx, cpu_plans, gpu_plans)(solver);
  MD_TRY(md_beside_end(solver->beside));
  return status;
}

md_status pme_create(md_ctx *ctx, const pme_spec *spec, pme **out)
{
  *out = NULL;
  MD_TRY(check(ctx, spec));
  pme *solver = calloc(1, sizeof *solver);
  MD_REQUIRE(solver, MD_ENOMEM, "out of memory for PME");
  solver->ctx = ctx;
  solver->spec = *spec;
  solver->held = -1;
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
  md_replay_destroy(solver->replay);
  md_beside_destroy(solver->beside);
  md_buffer *buffers[] = {&solver->mesh,  &solver->spectrum, &solver->q,   &solver->gradient,
                          &solver->table, &solver->partial,  &solver->out, &solver->in};
  const int n = sizeof buffers / sizeof buffers[0];
  for (int k = 0; k < n; k++)
    md_buffer_free(ctx, buffers[k]);
  free(solver->cut);
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

md_status pme_share(pme *solver, const pme_processes *with)
{
  solver->cut = calloc(PME_CUTS * ((size_t)with->count + 1), sizeof *solver->cut);
  MD_REQUIRE(solver->cut, MD_ENOMEM, "out of memory for %d processes", with->count);
  solver->with = *with;
  return MD_OK;
}

/* What all processes spread, where each transforms it all, and the sums over their charges, unless
 * nobody asks for them. */
static md_status share(pme *solver, double *charge)
{
  const pme_processes *with = &solver->with;
  if (with->count == 0) return MD_OK;
  if (solver->ctx->backend == MD_GPU)
    MD_TRY(with->mesh(with->of, solver->mesh.data, solver->points));
  return charge ? with->few(with->of, charge, 2) : MD_OK;
}

/* solver->q, unless it holds them from the call before. */
static md_status take_charges(pme *solver, const pme_charges *charges, double sums[2])
{
  md_ctx *ctx = solver->ctx;
  const int64_t n = charges->n;
  if (!charges->q) return MD_OK;
  solver->held = -1;
  MD_TRY(md_buffer_reserve(ctx, &solver->q, (size_t)n * md_real_size(ctx->precision), 0));
  MD_TRY(SIMD_PICK(ctx, cpu_loads, gpu_loads)(solver, charges, sums));
  solver->held = n;
  return MD_OK;
}

/* From charges that were located, and a mesh of zeros, to gradients where they are; sums: NULL, or
 * they get those of charges, and of modes. */
typedef struct {
  pme *solver;
  double *charge, *modes;
} crossing;

/* A md_replay_queue_fn. */
static md_status cross_mesh(void *of)
{
  const crossing *c = of;
  pme *solver = c->solver;
  MD_TRY(spread_add_charges(solver->plan, solver->q.data, solver->mesh.data));
  MD_TRY(share(solver, c->charge));
  MD_TRY(SIMD_PICK(solver->ctx, cpu_solves, gpu_solves)(solver, c->modes));
  if (solver->n == 0) return MD_OK;
  return spread_interpolate(solver->plan, solver->mesh.data, NULL, solver->gradient.data);
}

/* The same as one launch where nothing waits.  Methods that sort charges launch what depends on how
 * they lie; few charges, of which launches take the time, are not sorted. */
static md_status cross_again(crossing *c)
{
  pme *solver = c->solver;
  const spread_plan *plan = solver->plan;
  if (!solver->is_clear) MD_TRY(spread_clear(solver->plan, solver->mesh.data));
  solver->is_clear = false;
  if (plan->method != SPREAD_PARTICLE || plan->n_parts != 1 || solver->with.count > 0 || c->modes)
    return cross_mesh(c);
  const md_buffer *buffer = plan->part->buffer;
  const pme_same same = {solver->n, buffer[SPREAD_RECORD].data, buffer[SPREAD_ORDER].data,
                         solver->q.data, solver->gradient.data};
  return md_replay_run(solver->replay, &same, cross_mesh, c);
}

/* Everything but the last kernel: gradients of the potential where charges are. */
static md_status find_gradients(pme *solver, const pme_charges *charges, pme_tally *tally)
{
  md_ctx *ctx = solver->ctx;
  const int64_t n = charges->n;
  double charge[2] = {0, 0}, modes[2] = {0, 0};
  crossing c = {solver, tally ? charge : NULL, tally ? modes : NULL};
  MD_TRY(spread_queue_positions(solver->plan, n, charges->x, charges->x_stride));
  if (n == 0 && solver->with.count == 0) return MD_OK;
  MD_TRY(
      md_buffer_reserve(ctx, &solver->gradient, (size_t)n * 3 * md_real_size(ctx->precision), 0));
  MD_TRY(take_charges(solver, charges, c.charge));
  MD_TRY(cross_again(&c));
  if (!tally) return MD_OK;
  *tally = tally_of(solver, charge, modes);
  return spread_check_deferred(solver->plan); /* the sums have been waited for */
}

/* A mesh that `particle` is to add to is zeroed when its last values have been read, while other
 * forces are added and atoms move. */
static md_status clear_behind(pme *solver)
{
  if (solver->ctx->backend == MD_CPU || solver->plan->method != SPREAD_PARTICLE) return MD_OK;
  md_beside_enter(solver->beside);
  const md_status status = spread_clear(solver->plan, solver->mesh.data);
  md_beside_leave(solver->beside);
  solver->is_clear = !status;
  return status;
}

md_status pme_begin(pme *solver, const pme_charges *charges, pme_tally *tally)
{
  if (tally) *tally = (pme_tally){0};
  MD_REQUIRE(charges->q_stride >= 1, MD_EINVAL, "the stride of charges must be >= 1, not %lld",
             (long long)charges->q_stride);
  MD_REQUIRE(charges->q || (charges->n == solver->held && !tally), MD_EINVAL,
             "no charges: those of %lld particles are held, without sums, for calls of as many",
             (long long)(solver->held > 0 ? solver->held : 0));
  solver->n = charges->n;
  MD_TRY(md_beside_begin(solver->beside));
  const md_status status = find_gradients(solver, charges, tally);
  MD_TRY(md_beside_end(solver->beside));
  return status ? status : clear_behind(solver);
}

md_status pme_mark(pme *solver)
{
  return md_beside_mark(solver->beside);
}

md_status pme_end(pme *solver, void *f)
{
  MD_TRY(md_beside_join(solver->beside));
  if (solver->n == 0 || !f) return MD_OK;
  return SIMD_PICK(solver->ctx, cpu_pushes, gpu_pushes)(solver, solver->n, f);
}

md_status pme_compute(pme *solver, const pme_charges *charges, void *f, pme_tally *tally)
{
  MD_TRY(pme_begin(solver, charges, tally));
  return pme_end(solver, f);
}

void pme_describe(const pme *solver, pme_report *out)
{
  const md_buffer *buffers[] = {&solver->mesh,  &solver->spectrum, &solver->q,   &solver->gradient,
                                &solver->table, &solver->partial,  &solver->out, &solver->in};
  spread_describe(solver->plan, &out->spread);
  out->bytes = out->spread.bytes;
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    out->bytes += (int64_t)buffers[k]->bytes;
}
