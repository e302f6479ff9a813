/* stokes/mobility/far.c - the far part: plan, tables, and the product, some columns at a time.
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
#include <string.h>

#ifdef MD_HAVE_FFTW
#define CPU_TABLE(name)                                                                            \
  {                                                                                                \
    SIMD_ROW(name##_single), SIMD_ROW(name##_single), SIMD_ROW(name##_double)                      \
  }
#define DECLARE_CPU(type, name)                                                                    \
  SIMD_DECLARE_(type, name##_single);                                                              \
  SIMD_DECLARE_(type, name##_double);
#else
#define CPU_TABLE(name)                                                                            \
  {                                                                                                \
    {                                                                                              \
      NULL                                                                                         \
    }                                                                                              \
  }
#define DECLARE_CPU(type, name)
#endif
/* Numbers are float or double: mixed precision uses what single does. */
#define KERNELS(type, cpu, gpu)                                                                    \
  DECLARE_CPU(type, cpu)                                                                           \
  static type *const cpu##_table[MD_PRECISION_COUNT][MD_ISA_COUNT] = CPU_TABLE(cpu);               \
  static type *const gpu##_table[MD_PRECISION_COUNT] = {                                           \
      MD_GPU(gpu##_single), MD_GPU(gpu##_single), MD_GPU(gpu##_double)};
KERNELS(rpy_far_plan_fn, rpy_far_plan, rpy_far_gpu_plan)
KERNELS(rpy_far_drop_fn, rpy_far_drop, rpy_far_gpu_drop)
KERNELS(rpy_far_load_fn, rpy_far_load, rpy_far_gpu_load)
KERNELS(rpy_far_apply_fn, rpy_far_apply, rpy_far_gpu_apply)
KERNELS(rpy_far_noise_fn, rpy_far_noise, rpy_far_gpu_noise)
KERNELS(rpy_far_push_fn, rpy_far_push, rpy_far_gpu_push)
#define PICK(far, name) SIMD_PICK((far)->ctx, rpy_far_##name##_table, rpy_far_gpu_##name##_table)

bool rpy_far_available(md_backend backend)
{
  return backend == MD_GPU || rpy_far_plan_table[0][0] != NULL;
}

static size_t number_size(const rpy_far *far)
{
  return far->ctx->precision == MD_DOUBLE ? sizeof(double) : sizeof(float);
}

/* As many columns as are asked for and half of the memory holds, with room for the transforms. */
static md_status count_columns(rpy_far *far, int vectors)
{
  md_gpu_info info;
  far->columns = 1;
  if (far->ctx->backend == MD_CPU) return MD_OK;
  MD_TRY(md_gpu_describe(&info));
  const double bytes =
      3.0 * far->rank * (double)(far->points + 4 * far->modes) * (double)number_size(far);
  const double most = fmin(RPY_COLUMNS, (double)info.memory_free / 2 / bytes);
  far->columns = (int)fmax(1, fmin(most, vectors));
  return MD_OK;
}

static md_status reserve(rpy_far *far)
{
  const size_t size = number_size(far), rank = (size_t)far->rank;
  const size_t meshes = 3 * rank * (size_t)far->columns;
  MD_TRY(md_buffer_reserve(far->ctx, &far->space, meshes * (size_t)far->points * size, 0));
  if (far->ctx->backend == MD_GPU) /* a CPU's plan fills planes up */
    MD_TRY(md_buffer_reserve(far->ctx, &far->spectrum, 2 * meshes * (size_t)far->modes * size, 0));
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
                         int vectors, rpy_far *out)
{
  *out = (rpy_far){.ctx = ctx,
                   .viscosity = viscosity,
                   .xi = split->xi,
                   .order = split->order,
                   .rank = split->rank,
                   .points = 1};
  spread_spec spec = {.order = split->order,
                      .method = ctx->backend == MD_CPU ? SPREAD_TILED : SPREAD_AUTO};
  for (int d = 0; d < 3; d++) {
    out->box[d] = spec.hi[d] = box[d];
    out->mesh[d] = spec.mesh[d] = split->mesh[d];
    out->points *= split->mesh[d];
  }
  out->modes = out->points / out->mesh[2] * (out->mesh[2] / 2 + 1);
  MD_TRY(count_columns(out, vectors));
  spec.vectors = (int32_t)(3 * split->rank * out->columns);
  MD_TRY(spread_create(ctx, &spec, &out->plan));
  MD_TRY(reserve(out));
  return PICK(out, plan)(out);
}

void rpy_far_destroy(rpy_far *far)
{
  if (!far->ctx) return;
  PICK(far, drop)(far);
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

/* Doubles to numbers of the far part's. */
static void put(const rpy_far *far, const double *from, int64_t n, void *to, int64_t at)
{
  if (far->ctx->precision == MD_DOUBLE)
    memcpy((double *)to + at, from, (size_t)n * sizeof *from);
  else
    for (int64_t k = 0; k < n; k++)
      ((float *)to)[at + k] = (float)from[k];
}

/* The table on the host; work: three windows and a line for each thread. */
static void fill_table(const rpy_far *far, const rpy_radii *radii, const rpy_terms *terms,
                       double *work, void *table)
{
  const int32_t *n = far->mesh;
  const int64_t rows = far->points / n[2], length = n[2] / 2 + 1;
  const int threads = far->ctx->threads;
  double *const windows[3] = {work, work + n[0], work + n[0] + n[1]};
  for (int d = 0; d < 3; d++)
    for (int32_t m = 0; m < n[d]; m++)
      windows[d][m] = window(m, n[d], far->order);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int thread = 0; thread < threads; thread++) {
    double *line = windows[2] + n[2] + thread * length;
    for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++)
      for (int t = 0; t < far->rank; t++) {
        fill_row(far, radii, terms->mix[t], windows, r, line);
        put(far, line, length, table, t * far->modes + r * length);
      }
  }
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

static void fill_coefficients(const rpy_far *far, const stokes_view *host, const rpy_radii *radii,
                              const rpy_terms *terms, void *out)
{
#pragma omp parallel for schedule(static) num_threads(far->ctx->threads)
  for (int64_t i = 0; i < host->n; i++) {
    double value[RPY_NODES];
    coefficients(radii, terms, far->rank, host->x[4 * i + 3], value);
    for (int t = 0; t < far->rank; t++)
      put(far, &value[t], 1, out, t * host->n + i);
  }
}

md_status rpy_far_terms(rpy_far *far, const stokes_view *host, const rpy_radii *radii,
                        const rpy_terms *terms)
{
  const int32_t *n = far->mesh;
  const size_t size = number_size(far), rank = (size_t)far->rank, spheres = (size_t)host->n;
  const size_t numbers = rank * ((size_t)far->modes > spheres ? (size_t)far->modes : spheres);
  const size_t lines = (size_t)far->ctx->threads * ((size_t)n[2] / 2 + 1);
  double *work = calloc((size_t)n[0] + (size_t)n[1] + (size_t)n[2] + lines, sizeof *work);
  void *out = malloc(numbers * size);
  md_status status =
      work && out ? MD_OK : MD_FAIL(MD_ENOMEM, "out of memory for the influence function");
  if (!status) status = md_buffer_reserve(far->ctx, &far->coefficient, rank * spheres * size, 0);
  if (!status) {
    fill_table(far, radii, terms, work, out);
    status = md_write(far->ctx, far->table.data, out, rank * (size_t)far->modes * size);
  }
  if (!status) {
    fill_coefficients(far, host, radii, terms, out);
    status = md_write(far->ctx, far->coefficient.data, out, rank * spheres * size);
  }
  if (!status) status = md_ctx_sync(far->ctx);
  free(work);
  free(out);
  return status;
}

md_status rpy_far_set(rpy_far *far, const stokes_view *spheres)
{
  const size_t meshes = 3 * (size_t)far->rank * (size_t)far->columns;
  MD_TRY(
      md_buffer_reserve(far->ctx, &far->charge, meshes * (size_t)spheres->n * number_size(far), 0));
  far->n = spheres->n;
  return spread_set_positions(far->plan, spheres->n, spheres->x, 4);
}

md_status rpy_far_spread(rpy_far *far, int count)
{
  MD_TRY(spread_use(far->plan, 3 * far->rank * count));
  return spread_charges(far->plan, far->charge.data, far->space.data);
}

md_status rpy_far_solve(rpy_far *far, int count)
{
  return PICK(far, apply)(far, count);
}

md_status rpy_far_interpolate(rpy_far *far, int count)
{
  MD_TRY(spread_use(far->plan, 3 * far->rank * count));
  return spread_interpolate(far->plan, far->space.data, far->charge.data, NULL);
}

/* How many of m columns are taken together from column c on. */
static int together(const rpy_far *far, int m, int c)
{
  return m - c < far->columns ? m - c : far->columns;
}

md_status rpy_far_add(rpy_far *far, int m, const double *f, double *u)
{
  for (int c = 0; c < m; c += far->columns) {
    const int count = together(far, m, c);
    MD_TRY(PICK(far, load)(far, m, count, f + c));
    MD_TRY(rpy_far_spread(far, count));
    MD_TRY(rpy_far_solve(far, count));
    MD_TRY(rpy_far_interpolate(far, count));
    MD_TRY(PICK(far, push)(far, m, count, u + c));
  }
  return MD_OK;
}

md_status rpy_far_sample(rpy_far *far, int m, uint64_t seed, uint64_t step, double *u)
{
  for (int c = 0; c < m; c += far->columns) {
    const int count = together(far, m, c);
    MD_TRY(PICK(far, noise)(far, count, seed, step + (uint64_t)c));
    MD_TRY(rpy_far_interpolate(far, count));
    MD_TRY(PICK(far, push)(far, m, count, u + c));
  }
  return MD_OK;
}
