/* stokes/mobility/far.c - the far part: plan, tables, and the product column by column.
 *
 *     M^far = P S^T F* D (I - kk^T/k^2) F S P^T,   D = H w^2 / (eta V k^2 (sum_m w^2(k + mK))^2)
 *
 * S spreads with B-splines of transform w, P weighs by the terms of unequal radii, whose phi_t the
 * table holds times sqrt(D).  D >= 0, so that this is symmetric and positive for any mesh.  k = 0
 * and the modes at half the mesh, which have no conjugate partner, are left out.
 *
 * M^far = A A^T with A = P S^T F* sqrt(D) (I - kk^T/k^2) F / sqrt(points): A times white noise on
 * the mesh is a sample, exact for any mesh. */
#include "stokes/mobility/rpy_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#ifdef MD_HAVE_FFTW
#define FFTW_TABLE(name)                                                                           \
  {                                                                                                \
    SIMD_ROW(name##_single), SIMD_ROW(name##_single), SIMD_ROW(name##_double)                      \
  }
#define DECLARE(type, name)                                                                        \
  SIMD_DECLARE_(type, name##_single);                                                              \
  SIMD_DECLARE_(type, name##_double);
#else
#define FFTW_TABLE(name)                                                                           \
  {                                                                                                \
    {                                                                                              \
      NULL                                                                                         \
    }                                                                                              \
  }
#define DECLARE(type, name)
#endif
DECLARE(rpy_far_plan_fn, rpy_far_plan)
DECLARE(rpy_far_drop_fn, rpy_far_drop)
DECLARE(rpy_far_store_fn, rpy_far_store)
DECLARE(rpy_far_load_fn, rpy_far_load)
DECLARE(rpy_far_apply_fn, rpy_far_apply)
DECLARE(rpy_far_noise_fn, rpy_far_noise)
DECLARE(rpy_far_push_fn, rpy_far_push)
static rpy_far_plan_fn *const plans[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_plan);
static rpy_far_drop_fn *const drops[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_drop);
static rpy_far_store_fn *const stores[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_store);
static rpy_far_load_fn *const loads[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_load);
static rpy_far_apply_fn *const applies[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    FFTW_TABLE(rpy_far_apply);
static rpy_far_noise_fn *const noises[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_noise);
static rpy_far_push_fn *const pushes[MD_PRECISION_COUNT][MD_ISA_COUNT] = FFTW_TABLE(rpy_far_push);
#define PICK(far, table) (table)[(far)->ctx->precision][(far)->ctx->isa]

bool rpy_far_available(void)
{
  return plans[0][0] != NULL;
}

static size_t number_size(const rpy_far *far)
{
  return far->ctx->precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
}

static md_status reserve(rpy_far *far)
{
  const size_t size = number_size(far), rank = (size_t)far->rank;
  MD_TRY(md_buffer_reserve(far->ctx, &far->space, 3 * rank * (size_t)far->points * size, 0));
  MD_TRY(md_buffer_reserve(far->ctx, &far->spectrum, 6 * rank * (size_t)far->modes * size, 0));
  MD_TRY(md_buffer_reserve(far->ctx, &far->table, rank * (size_t)far->modes * size, 0));
  for (int d = 0; d < 3; d++) {
    const int32_t n = far->mesh[d];
    far->wave[d] = malloc((size_t)n * sizeof(double));
    MD_REQUIRE(far->wave[d], MD_ENOMEM, "out of memory for %d wave numbers", n);
    for (int32_t m = 0; m < n; m++)
      far->wave[d][m] = 2 * M_PI / far->box[d] * (2 * m > n ? m - n : m);
  }
  return MD_OK;
}

md_status rpy_far_create(md_ctx *ctx, const double box[3], double viscosity, const rpy_split *split,
                         rpy_far *out)
{
  *out = (rpy_far){.ctx = ctx,
                   .viscosity = viscosity,
                   .xi = split->xi,
                   .order = split->order,
                   .rank = split->rank,
                   .points = 1};
  spread_spec spec = {
      .order = split->order, .method = SPREAD_TILED, .vectors = (int32_t)(3 * split->rank)};
  for (int d = 0; d < 3; d++) {
    out->box[d] = spec.hi[d] = box[d];
    out->mesh[d] = spec.mesh[d] = split->mesh[d];
    out->points *= split->mesh[d];
  }
  out->modes = out->points / out->mesh[2] * (out->mesh[2] / 2 + 1);
  MD_TRY(spread_create(ctx, &spec, &out->plan));
  MD_TRY(reserve(out));
  return PICK(out, plans)(out);
}

void rpy_far_destroy(rpy_far *far)
{
  if (!far->ctx) return;
  PICK(far, drops)(far);
  spread_destroy(far->plan);
  for (int d = 0; d < 3; d++)
    free(far->wave[d]);
  md_buffer *buffers[] = {&far->space, &far->spectrum, &far->table, &far->coefficient,
                          &far->charge};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(far->ctx, buffers[k]);
}

int64_t rpy_far_bytes(const rpy_far *far)
{
  spread_report report;
  spread_describe(far->plan, &report);
  return report.bytes + (int64_t)(far->space.bytes + far->spectrum.bytes + far->table.bytes +
                                  far->coefficient.bytes + far->charge.bytes);
}

/* sqrt(w^2) / sum of w^2 of one axis; 0 where the mesh has no such mode. */
static double window(int32_t m, int32_t mesh, int order)
{
  const double at = 2 * m > mesh ? m - mesh : m;
  double sum = 0;
  if (2 * m == mesh) return 0;
  if (m == 0) return 1;
  for (int q = -3; q <= 3; q++) {
    const double x = M_PI * (at / mesh + q);
    sum += pow(sin(x) / x, 2 * order);
  }
  const double x = M_PI * at / mesh;
  return pow(fabs(sin(x) / x), order) / sum;
}

/* One row of the table along the last axis, in doubles: phi_t(k) sqrt(D(k)) for term t. */
static void fill_row(const rpy_far *far, const rpy_radii *radii, const double *mix,
                     double *const windows[3], int64_t row, double *to)
{
  const int32_t i = (int32_t)(row / far->mesh[1]), j = (int32_t)(row % far->mesh[1]);
  const double slow = windows[0][i] * windows[1][j];
  const double slow_sq = far->wave[0][i] * far->wave[0][i] + far->wave[1][j] * far->wave[1][j];
  const double scale = 1 / (far->viscosity * rpy_volume(far->box));
  for (int32_t l = 0; l < far->mesh[2] / 2 + 1; l++) {
    const double k_sq = slow_sq + far->wave[2][l] * far->wave[2][l], k = sqrt(k_sq);
    const double z = k_sq / (4 * far->xi * far->xi), all = slow * windows[2][l];
    double shape = 0;
    to[l] = 0;
    if (k_sq == 0 || all == 0) continue;
    for (int q = 0; q < radii->n; q++)
      shape += mix[q] * sin(k * radii->radius[q]) / (k * radii->radius[q]);
    to[l] = shape * all * sqrt(scale * (1 + z) * exp(-z) / k_sq);
  }
}

md_status rpy_far_terms(rpy_far *far, const rpy_radii *radii, const rpy_terms *terms)
{
  const int64_t rows = far->points / far->mesh[2], length = far->mesh[2] / 2 + 1;
  const int32_t *n = far->mesh;
  double *windows[3], *all;
  all = malloc(
      ((size_t)n[0] + (size_t)n[1] + (size_t)n[2] + (size_t)far->ctx->threads * (size_t)length) *
      sizeof *all);
  MD_REQUIRE(all, MD_ENOMEM, "out of memory for the influence function");
  windows[0] = all, windows[1] = all + n[0], windows[2] = windows[1] + n[1];
  for (int d = 0; d < 3; d++)
    for (int32_t m = 0; m < n[d]; m++)
      windows[d][m] = window(m, n[d], far->order);
  const size_t size = number_size(far);
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int thread = 0; thread < far->ctx->threads; thread++) {
    double *line = windows[2] + n[2] + thread * length;
    for (int64_t r = rows * thread / far->ctx->threads; r < rows * (thread + 1) / far->ctx->threads;
         r++)
      for (int t = 0; t < far->rank; t++) {
        fill_row(far, radii, terms->mix[t], windows, r, line);
        PICK(far, stores)
        (line, length, (char *)far->table.data + (size_t)(t * far->modes + r * length) * size);
      }
  }
  free(all);
  return MD_OK;
}

static void coefficients(const rpy_radii *radii, const rpy_terms *terms, int rank, double a,
                         double *out)
{
  double weight[RPY_NODES];
  rpy_radii_weights(radii, a, weight);
  for (int t = 0; t < rank; t++) {
    out[t] = 0;
    for (int q = 0; q < radii->n; q++)
      out[t] += weight[q] * terms->coefficient[t][q];
  }
}

md_status rpy_far_set(rpy_far *far, const stokes_view *spheres, const rpy_radii *radii,
                      const rpy_terms *terms)
{
  const size_t size = number_size(far), n = (size_t)spheres->n, rank = (size_t)far->rank;
  MD_TRY(md_buffer_reserve(far->ctx, &far->coefficient, rank * n * size, 0));
  MD_TRY(md_buffer_reserve(far->ctx, &far->charge, 3 * rank * n * size, 0));
  MD_TRY(spread_set_positions(far->plan, spheres->n, spheres->x, 4));
  far->n = spheres->n;
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t i = 0; i < spheres->n; i++) {
    double value[RPY_NODES];
    coefficients(radii, terms, far->rank, spheres->x[4 * i + 3], value);
    for (int t = 0; t < far->rank; t++)
      PICK(far, stores)
    (&value[t], 1, (char *)far->coefficient.data + (size_t)(t * spheres->n + i) * size);
  }
  return MD_OK;
}

void rpy_far_solve(rpy_far *far)
{
  PICK(far, applies)(far);
}

md_status rpy_far_add(rpy_far *far, int m, const double *f, double *u)
{
  for (int c = 0; c < m; c++) {
    PICK(far, loads)(far, m, f + c);
    MD_TRY(spread_charges(far->plan, far->charge.data, far->space.data));
    rpy_far_solve(far);
    MD_TRY(spread_interpolate(far->plan, far->space.data, far->charge.data, NULL));
    PICK(far, pushes)(far, m, u + c);
  }
  return MD_OK;
}

md_status rpy_far_sample(rpy_far *far, int m, uint64_t seed, uint64_t step, double *u)
{
  for (int c = 0; c < m; c++) {
    PICK(far, noises)(far, seed, step + (uint64_t)c);
    MD_TRY(spread_interpolate(far->plan, far->space.data, far->charge.data, NULL));
    PICK(far, pushes)(far, m, u + c);
  }
  return MD_OK;
}
