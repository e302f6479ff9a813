/* stokes/mobility/costs.c - what a product costs on this machine, measured with small cases.
 *
 * Near: a band of blocks, larger than the caches of a core.  Far: few and many particles on one
 * mesh, for a particle and a mesh point cost time each; the transforms of that mesh. */
#include "stokes/mobility/rpy_impl.h"
#include "core/time/stopwatch.h"
#include "stokes/mobility/rpy_pair.h"

#include <math.h>
#include <stdlib.h>

enum { TRIES = 3, MESH = 48, FEW = 4096, MANY = 20480, ROWS = 6000, BAND = 40 };

static uint32_t next_random(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A matrix of a band, [3 n][m] vectors behind one pointer. */
static md_status make_band(md_ctx *ctx, int m, stokes_matrix **out, double **x)
{
  stokes_blocks blocks = {.n_rows = ROWS, .n_blocks = (int64_t)ROWS * BAND};
  *out = NULL;
  *x = calloc((size_t)6 * ROWS * (size_t)m, sizeof **x);
  blocks.start = malloc((ROWS + 1) * sizeof *blocks.start);
  blocks.column = malloc((size_t)blocks.n_blocks * sizeof *blocks.column);
  blocks.block = malloc((size_t)blocks.n_blocks * 9 * sizeof *blocks.block);
  md_status status = *x && blocks.start && blocks.column && blocks.block
                         ? MD_OK
                         : MD_FAIL(MD_ENOMEM, "out of memory for a trial product");
  for (int64_t i = 0; !status && i <= ROWS; i++)
    blocks.start[i] = i * BAND;
  for (int64_t p = 0; !status && p < blocks.n_blocks; p++) {
    const int64_t row = p / BAND, first = row - BAND * 4 < 0 ? 0 : row - BAND * 4;
    const int64_t low = first + 8 * BAND > ROWS ? ROWS - 8 * BAND : first;
    blocks.column[p] = (int32_t)(low + 8 * (p % BAND));
    for (int k = 0; k < 9; k++)
      blocks.block[9 * p + k] = 1.0 / (1 + k);
  }
  const stokes_storage storage = ctx->precision == MD_DOUBLE ? STOKES_BCRS : STOKES_SINGLE;
  if (!status) status = stokes_matrix_create(ctx, storage, out);
  if (!status) status = stokes_matrix_set(*out, &blocks, m);
  stokes_blocks_free(&blocks);
  return status;
}

static md_status measure_near(md_ctx *ctx, int vectors, rpy_costs *out)
{
  const int m = vectors < STOKES_VECTORS ? vectors : STOKES_VECTORS;
  stokes_matrix *matrix;
  double *x, seconds = INFINITY;
  md_stopwatch watch;
  md_status status = make_band(ctx, m, &matrix, &x);
  if (!status) status = md_stopwatch_create(ctx, &watch);
  for (int k = 0; k <= TRIES && !status; k++) {
    double now = INFINITY;
    status = md_stopwatch_start(&watch, true);
    if (!status) status = stokes_matrix_multiply(matrix, m, x, x + (size_t)3 * ROWS * (size_t)m);
    if (!status) status = md_stopwatch_stop(&watch, &now);
    seconds = fmin(seconds, now);
  }
  out->block = seconds / ((double)ROWS * BAND) * vectors / m;
  stokes_matrix_destroy(matrix);
  free(x);
  return status;
}

/* Seconds of spreading and interpolating, of transforms, and of multiplying modes, for one sphere
 * size and n particles. */
typedef struct {
  rpy_far far;
  double spread, transform;
} trial;

static md_status time_far(trial *t)
{
  md_stopwatch watch;
  MD_TRY(md_stopwatch_create(t->far.ctx, &watch));
  t->spread = t->transform = INFINITY;
  for (int k = 0; k <= TRIES; k++) {
    double spread, transform;
    MD_TRY(md_stopwatch_start(&watch, true));
    MD_TRY(rpy_far_spread(&t->far, 1));
    MD_TRY(rpy_far_interpolate(&t->far, 1));
    MD_TRY(md_stopwatch_stop(&watch, &spread));
    MD_TRY(md_stopwatch_start(&watch, true));
    MD_TRY(rpy_far_solve(&t->far, 1));
    MD_TRY(md_stopwatch_stop(&watch, &transform));
    t->spread = fmin(t->spread, spread);
    t->transform = fmin(t->transform, transform);
  }
  md_stopwatch_destroy(&watch);
  return MD_OK;
}

static md_status try_far(md_ctx *ctx, int order, int64_t n, trial *out)
{
  const double box[3] = {MESH, MESH, MESH};
  const rpy_split split = {1, 1, {MESH, MESH, MESH}, order, 1};
  rpy_radii radii = {.n = 1, .least = 1, .most = 1, .radius = {1}, .share = {1}};
  rpy_terms *terms = calloc(1, sizeof *terms);
  double *x = calloc((size_t)n * 4, sizeof *x);
  md_status status = terms && x ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for a trial product");
  uint32_t state = 1;
  for (int64_t i = 0; !status && i < n; i++) { /* along a curve of sorts, as packings are */
    for (int d = 0; d < 3; d++)
      x[4 * i + d] = MESH * (next_random(&state) / 0x1p24);
    x[4 * i] = MESH * ((double)i / (double)n);
    x[4 * i + 3] = 1;
  }
  if (!status) {
    terms->n = 1, terms->mix[0][0] = terms->coefficient[0][0] = 1;
    const stokes_view view = {n, {MESH, MESH, MESH}, x};
    status = rpy_far_create(ctx, box, 1, &split, 1, &out->far);
    if (!status) status = rpy_far_terms(&out->far, &view, &radii, terms);
    if (!status) status = rpy_far_set(&out->far, &view);
    if (!status) status = time_far(out);
    rpy_far_destroy(&out->far);
  }
  free(terms);
  free(x);
  return status;
}

static md_status measure_far(md_ctx *ctx, rpy_costs *out)
{
  const double points = (double)MESH * MESH * MESH;
  for (int p = RPY_ORDER_MIN; p <= RPY_ORDER_MAX; p += 2) {
    trial few = {.spread = 0}, many = {.spread = 0};
    MD_TRY(try_far(ctx, p, FEW, &few));
    MD_TRY(try_far(ctx, p, MANY, &many));
    out->particle[p] = fmax(many.spread - few.spread, 0) / (3.0 * (MANY - FEW));
    out->point[p] = fmax(few.spread - 3.0 * FEW * out->particle[p], 0) / (3 * points);
    if (p == RPY_ORDER_MIN) out->transform = few.transform / (3 * points * log2(points));
  }
  return MD_OK;
}

static md_status measure_pairs(md_ctx *ctx, rpy_costs *out)
{
  enum { PAIRS = 20000 };
  md_stopwatch watch;
  double seconds, sum = 0;
  MD_TRY(md_stopwatch_create(ctx, &watch));
  MD_TRY(md_stopwatch_start(&watch, false));
  for (int k = 0; k < PAIRS; k++)
    sum += rpy_near_pair(2 + 1e-4 * k, 1, 1, 0.5, 1).f;
  MD_TRY(md_stopwatch_stop(&watch, &seconds));
  MD_REQUIRE(isfinite(sum), MD_ENUMERIC, "the near mobility of two spheres is not finite");
  out->assemble = 1.5 * seconds / PAIRS / ctx->threads;
  return MD_OK;
}

/* One core of 2024 at 3 GHz, or an H200, for contexts that must not depend on measured times. */
static rpy_costs usual_costs(md_backend backend, int vectors)
{
  const bool gpu = backend == MD_GPU;
  rpy_costs out = {.block = gpu ? 8e-12 + 5e-13 * vectors : 3e-9 * vectors,
                   .transform = gpu ? 1e-12 : 2e-10,
                   .assemble = gpu ? 1e-10 : 3e-7};
  for (int p = RPY_ORDER_MIN; p <= RPY_ORDER_MAX; p++) {
    out.particle[p] = (gpu ? 2e-12 : 1.5e-9) * p * p;
    out.point[p] = gpu ? 1e-11 : 2e-9;
  }
  return out;
}

/* A busy machine measures anything: within a factor of 8 of what is usual. */
static double believable(double measured, double common)
{
  return fmin(fmax(measured, common / 8), common * 8);
}

static md_status measure_cpu(md_ctx *ctx, int vectors, const rpy_costs *common, rpy_costs *out)
{
  MD_TRY(measure_near(ctx, vectors, out));
  MD_TRY(measure_pairs(ctx, out));
  MD_TRY(measure_far(ctx, out));
  out->block = believable(out->block, common->block);
  out->transform = believable(out->transform, common->transform);
  out->assemble = believable(out->assemble, common->assemble);
  for (int p = RPY_ORDER_MIN; p <= RPY_ORDER_MAX; p += 2) {
    out->particle[p] = believable(out->particle[p], common->particle[p]);
    out->point[p] = believable(out->point[p], common->point[p]);
  }
  return MD_OK;
}

md_status rpy_costs_of(md_ctx *ctx, int vectors, int64_t n, rpy_costs *out)
{
  const rpy_costs common = usual_costs(ctx->backend, vectors);
  *out = common;
  if (ctx->deterministic) return MD_OK;
  return ctx->backend == MD_GPU ? rpy_costs_gpu(ctx, vectors, n, out)
                                : measure_cpu(ctx, vectors, &common, out);
}

/* Between meshes that were measured, or as from the last two of them. */
static double between(const rpy_costs *costs, double points, int order)
{
  int k = 1;
  while (k < costs->meshes - 1 && costs->mesh[k].points < points)
    k++;
  const rpy_mesh_cost *low = &costs->mesh[k - 1], *high = &costs->mesh[k];
  const double at = (points - low->points) / (high->points - low->points);
  const double first = low->spread[order] + low->solve, last = high->spread[order] + high->solve;
  return fmax(first + at * (last - first), fmin(first, last) / 2);
}

double rpy_far_cost(const rpy_costs *costs, const rpy_split *split, int vectors, int64_t n)
{
  const double points = (double)split->mesh[0] * split->mesh[1] * split->mesh[2];
  const double particles = (double)n, more = particles / costs->particles;
  const int p = split->order;
  if (costs->meshes > 0) return split->rank * more * between(costs, points / more, p);
  return 3.0 * split->rank * vectors *
         (particles * costs->particle[p] +
          points * (costs->point[p] + costs->transform * log2(points)));
}
