/* stokes/matrix/compose.c - products put together from ranges of columns, as is fastest on this
 * machine.
 *
 * Kernels are made for some numbers of columns: a product with one column more than such a number
 * may take twice as long.  The backend names its ways to make a range of columns (matrix_ways_fn);
 * each is timed on the matrix in use, and the composition whose times add up to the least is taken:
 *
 *     best(c) = min over ways w of  seconds(w) + best(c - columns of w),   best(c <= 0) = 0
 *
 * The last range may have fewer columns than its way could make, but a way that could make them all
 * is taken alone: with others before it it would take longer.  Plans stay with the matrix while
 * that is assembled anew with about as many blocks. */
#include "core/time/stopwatch.h"
#include "core/time/timer.h"
#include "stokes/matrix/matrix_impl.h"
#include "stokes/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3 }; /* products that are timed, after one that is not */

/* Whether a plan was made with a matrix like this one. */
static bool serves(const gspmv_plan *plan, const stokes_matrix *matrix, int m)
{
  return plan->m == m && plan->width == matrix->slices.width && plan->n_rows == matrix->n_rows &&
         llabs(plan->n_stored - matrix->n_stored) <= plan->n_stored / 4;
}

static gspmv_plan *known(const stokes_matrix *matrix, int m)
{
  for (int k = 0; k < matrix->plans->n; k++)
    if (serves(&matrix->plans->plan[k], matrix, m)) return &matrix->plans->plan[k];
  return NULL;
}

/* Seconds of one range of columns; cold: see core/time/stopwatch.h.  On the CPU it is processor
 * time by the threads at work: what other programs do meanwhile does not count. */
static md_status time_range(md_stopwatch *watch, bool cold, const stokes_matrix *matrix,
                            const gspmv_range *range, const double *x, double *y, double *seconds)
{
  MD_TRY(md_stopwatch_start(watch, cold));
  const double began = md_cpu_seconds();
  MD_TRY(matrix_backend_of(matrix)->multiply(matrix, range, x, y, NULL));
  const double used = md_cpu_seconds() - began;
  MD_TRY(md_stopwatch_stop(watch, seconds));
  if (matrix->ctx->backend == MD_CPU) *seconds = used / team_size(matrix->ctx, matrix->n_rows);
  return MD_OK;
}

/* Seconds of each way to make the first columns of a product; ways take turns.  The least of a few
 * is taken: what else a machine does adds to a time and takes nothing away. */
static md_status time_ways(const stokes_matrix *matrix, int m, const double *x, double *y,
                           const gspmv_part *way, int n, double *seconds)
{
  md_stopwatch watch;
  md_status status = md_stopwatch_create(matrix->ctx, &watch);
  for (int k = 0; k < (RUNS + 1) * n && !status; k++) {
    const gspmv_part *now = &way[k % n];
    const gspmv_range range = {m, 0, now->columns < m ? now->columns : m, *now};
    double passed = INFINITY;
    status = time_range(&watch, false, matrix, &range, x, y, &passed);
    seconds[k % n] = k < 2 * n ? passed : fmin(seconds[k % n], passed);
  }
  md_stopwatch_destroy(&watch);
  return status;
}

md_status gspmv_compose(int m, const gspmv_part *way, const double *seconds, int n,
                        gspmv_plan *plan)
{
  struct {
    double seconds;
    int way;
  } *best = calloc((size_t)m + 1, sizeof *best);
  gspmv_part *part = calloc((size_t)m, sizeof *part);
  if (!best || !part) {
    free(best);
    free(part);
    return MD_FAIL(MD_ENOMEM, "out of memory for a product with %d vectors", m);
  }
  for (int c = 1; c <= m; c++) {
    best[c].seconds = INFINITY;
    for (int k = 0; k < n; k++) {
      const int left = c < way[k].columns ? 0 : c - way[k].columns;
      const double total = seconds[k] + best[left].seconds;
      if (!(total < best[c].seconds)) continue;
      best[c].seconds = total;
      best[c].way = k;
    }
  }
  plan->n = 0;
  for (int c = m; c > 0; c -= way[best[c].way].columns)
    part[plan->n++] = way[best[c].way];
  plan->part = part;
  free(best);
  return MD_OK;
}

static md_status make_plan(const stokes_matrix *matrix, int m, const double *x, double *y,
                           const gspmv_part *way, int n, gspmv_plan *plan)
{
  double seconds[GSPMV_WAYS] = {0};
  *plan = (gspmv_plan){m, matrix->slices.width, matrix->n_rows, matrix->n_stored, 0, 0, NULL};
  if (n > 1) MD_TRY(time_ways(matrix, m, x, y, way, n, seconds));
  return gspmv_compose(m, way, seconds, n, plan);
}

/* Where the plan for m columns goes: the place of one for another size of matrix, or a new one. */
static md_status place_for(const stokes_matrix *matrix, int m, gspmv_plan **out)
{
  gspmv_plans *plans = matrix->plans;
  for (int k = 0; k < plans->n; k++)
    if (plans->plan[k].m == m && plans->plan[k].width == matrix->slices.width) {
      *out = &plans->plan[k];
      return MD_OK;
    }
  if (plans->n == plans->room) {
    const int room = plans->room ? 2 * plans->room : 8;
    gspmv_plan *plan = realloc(plans->plan, (size_t)room * sizeof *plan);
    MD_REQUIRE(plan, MD_ENOMEM, "out of memory for plans of products");
    plans->plan = plan;
    plans->room = room;
  }
  *out = &plans->plan[plans->n++];
  **out = (gspmv_plan){0};
  return MD_OK;
}

/* The plan for products with m columns.  Where none is known it is measured with these vectors, x
 * and y [3 n_rows][m], and y changes; or, where y is NULL, it is the backend's first way alone,
 * *spare, to which the plan refers then, and is not kept. */
static md_status find_plan(const stokes_matrix *matrix, int m, const double *x, double *y,
                           gspmv_part *spare, gspmv_plan *out)
{
  gspmv_part way[GSPMV_WAYS];
  gspmv_plan *place = known(matrix, m);
  if (place) {
    *out = *place;
    return MD_OK;
  }
  const int n = matrix_backend_of(matrix)->ways(matrix, m, way);
  if (!y) {
    *spare = way[0];
    *out = (gspmv_plan){.m = m, .n = 1, .part = spare};
    return MD_OK;
  }
  MD_TRY(make_plan(matrix, m, x, y, way, n, out));
  const md_status status = place_for(matrix, m, &place);
  if (status) {
    free(out->part);
    return status;
  }
  free(place->part);
  *place = *out;
  return MD_OK;
}

/* Range k of a plan, which begins with column `first`; its count is 0 behind the last one. */
static gspmv_range next_range(const gspmv_plan *plan, int k, int first)
{
  gspmv_range range = {plan->m, first, 0, {0, 0, 0}};
  if (k == plan->n) return range;
  const int left = plan->m - first;
  range.part = plan->part[k];
  range.count = left < range.part.columns ? left : range.part.columns;
  return range;
}

md_status matrix_multiply_halo(const stokes_matrix *matrix, int m, const double *x, double *y,
                               const gspmv_halo *halo)
{
  gspmv_plan plan;
  gspmv_part spare;
  MD_TRY(matrix_check_vectors(m));
  MD_TRY(find_plan(matrix, m, x, y, &spare, &plan));
  gspmv_range range = next_range(&plan, 0, 0);
  for (int k = 1; range.count > 0; range = next_range(&plan, k++, range.first + range.count))
    MD_TRY(matrix_backend_of(matrix)->multiply(matrix, &range, x + range.first, y + range.first,
                                               halo));
  return MD_OK;
}

md_status stokes_matrix_multiply(const stokes_matrix *matrix, int m, const double *x, double *y)
{
  return matrix_multiply_halo(matrix, m, x, y, NULL);
}

bool matrix_takes_halo(const stokes_matrix *matrix, int m)
{
  return matrix->inner && (matrix->slices.width > 0 || m == 1);
}

md_status matrix_multiply_runs(const stokes_matrix *matrix, const matrix_run *run, int64_t n_runs,
                               int m, const double *x, double *y)
{
  gspmv_part way[GSPMV_WAYS];
  const matrix_backend *backend = matrix_backend_of(matrix);
  MD_TRY(matrix_check_vectors(m));
  MD_REQUIRE(backend->multiply_runs, MD_EINVAL, "some rows are multiplied on the backend cpu only");
  backend->ways(matrix, m, way); /* the first one makes all columns */
  return backend->multiply_runs(matrix, run, n_runs, &(gspmv_range){m, 0, m, way[0]}, x, y);
}

bool stokes_matrix_has_series(const stokes_matrix *matrix)
{
  return matrix_backend_of(matrix)->series != NULL;
}

md_status stokes_matrix_series(const stokes_matrix *matrix, int m, const double factor[5],
                               const double *now, double *next, double *total)
{
  MD_TRY(matrix_check_vectors(m));
  MD_REQUIRE(stokes_matrix_has_series(matrix), MD_EINVAL,
             "steps of a series are products and sums of vectors on this backend");
  gspmv_plan plan;
  gspmv_part spare;
  MD_TRY(find_plan(matrix, m, NULL, NULL, &spare, &plan)); /* next cannot be made twice */
  gspmv_range range = next_range(&plan, 0, 0);
  for (int k = 1; range.count > 0; range = next_range(&plan, k++, range.first + range.count)) {
    const int at = range.first;
    MD_TRY(matrix_backend_of(matrix)->series(matrix, &range, factor, now + at, next + at,
                                             total ? total + at : NULL));
  }
  return MD_OK;
}

bool stokes_matrix_has_series_single(const stokes_matrix *matrix)
{
  return matrix_backend_of(matrix)->series_single != NULL && matrix->slices.width > 0;
}

md_status stokes_matrix_series_single(const stokes_matrix *matrix, int m, const double factor[5],
                                      const float *now, float *next, float *total)
{
  MD_TRY(matrix_check_vectors(m));
  MD_REQUIRE(stokes_matrix_has_series_single(matrix), MD_EINVAL,
             "this matrix has no steps of a series in single precision");
  return matrix_backend_of(matrix)->series_single(matrix, m, factor, now, next, total);
}

/* Seconds of a product as it is planned, the least of `runs` and of those before, from a cold cache
 * on the GPU.  Emptying that takes memory that a run may not have: plans are made without. */
static md_status time_product(gspmv_plan *plan, int runs, const stokes_matrix *matrix,
                              const double *x, double *y)
{
  double total = plan->seconds > 0 ? plan->seconds : INFINITY;
  md_stopwatch watch;
  md_status status = md_stopwatch_create(matrix->ctx, &watch);
  for (int run = 0; run < runs && !status; run++) {
    double sum = 0, passed = 0;
    gspmv_range range = next_range(plan, 0, 0);
    for (int k = 1; range.count > 0 && !status; sum += passed) {
      status =
          time_range(&watch, k == 1, matrix, &range, x + range.first, y + range.first, &passed);
      range = next_range(plan, k++, range.first + range.count);
    }
    total = fmin(total, sum);
  }
  md_stopwatch_destroy(&watch);
  if (!status) plan->seconds = total;
  return status;
}

/* As time_product, of the plan for m columns, which is made where there is none. */
static md_status time_plan(const stokes_matrix *matrix, int m, int runs)
{
  const size_t bytes = (size_t)matrix->n_rows * 3 * (size_t)m * sizeof(double);
  md_ctx *ctx = matrix->ctx;
  md_buffer x = {0}, y = {0};
  md_status status = md_buffer_reserve(ctx, &x, bytes, 0);
  if (!status) status = md_buffer_reserve(ctx, &y, bytes, 0);
  if (!status) status = md_fill(ctx, x.data, 0, bytes);
  if (!status) status = stokes_matrix_multiply(matrix, m, x.data, y.data); /* makes the plan */
  if (!status) status = time_product(known(matrix, m), runs, matrix, x.data, y.data);
  md_buffer_free(ctx, &x);
  md_buffer_free(ctx, &y);
  return status;
}

/* "32 + 2 x 8" */
static void describe(const gspmv_plan *plan, char *words, size_t size)
{
  int left = plan->m;
  size_t used = 0;
  for (int k = 0; k < plan->n && used < size; k++) {
    const gspmv_part *part = &plan->part[k];
    const int count = left < part->columns ? left : part->columns;
    const char *between = k ? " + " : "";
    used += (size_t)(part->panels > 1
                         ? snprintf(words + used, size - used, "%s%d x %d", between, part->panels,
                                    (count + part->panels - 1) / part->panels)
                         : snprintf(words + used, size - used, "%s%d", between, count));
    left -= count;
  }
}

md_status stokes_matrix_time(const stokes_matrix *matrix, int m, double *seconds, char *words,
                             size_t size)
{
  MD_TRY(matrix_check_vectors(m));
  const gspmv_plan *plan = known(matrix, m);
  if (!plan || plan->seconds == 0) MD_TRY(time_plan(matrix, m, RUNS));
  plan = known(matrix, m);
  *seconds = plan->seconds;
  if (words) describe(plan, words, size);
  return MD_OK;
}

md_status stokes_matrix_columns(const stokes_matrix *matrix, int m, int *columns)
{
  static const int multiples[] = {1, 2, 4, 8, 16};
  enum { CHOICES = sizeof multiples / sizeof *multiples };
  const double worth = 0.99; /* less gain than that is left to chance, and costs memory */
  int wide[CHOICES], n = 0;
  MD_TRY(matrix_check_vectors(m));
  *columns = m;
  if (m == 1) return MD_OK; /* kernels of its own */
  for (int k = 0; k < CHOICES; k++) {
    const int next = (m + multiples[k] - 1) / multiples[k] * multiples[k];
    if (n == 0 || next > wide[n - 1]) wide[n++] = next;
  }
  for (int k = 0; k < RUNS * n; k++) /* in turn: clocks drift */
    MD_TRY(time_plan(matrix, wide[k % n], 1));
  double least = INFINITY;
  for (int k = 0; k < n; k++) {
    const double seconds = known(matrix, wide[k])->seconds;
    if (!(seconds < worth * least)) continue;
    least = seconds;
    *columns = wide[k];
  }
  return MD_OK;
}
