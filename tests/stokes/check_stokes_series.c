/* tests/stokes/check_stokes_series.c - steps of Chebyshev series inside products, on backends that
 * have them, with vectors of doubles and of floats. */
#include "core/most.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

#include <float.h>

static const stokes_resistance usual = {1, 0.5, 1e-3};

/* n numbers to the backend and back, as floats or doubles. */
static void write_real(md_ctx *ctx, bool single, int64_t n, const double *host, md_buffer *on)
{
  float *narrow = ref_alloc(n, sizeof *narrow);
  for (int64_t k = 0; k < n; k++)
    narrow[k] = (float)host[k];
  const size_t bytes = (size_t)n * (single ? sizeof *narrow : sizeof *host);
  ck_ok(md_buffer_reserve(ctx, on, bytes, 0));
  ck_ok(md_write(ctx, on->data, single ? (const void *)narrow : host, bytes));
  ck_ok(md_ctx_sync(ctx));
  free(narrow);
}

static double *read_real(md_ctx *ctx, bool single, int64_t n, const md_buffer *on)
{
  float *narrow = ref_alloc(n, sizeof *narrow);
  double *host = ref_alloc(n, sizeof *host);
  ck_ok(md_read(ctx, single ? (void *)narrow : host, on->data,
                (size_t)n * (single ? sizeof *narrow : sizeof *host)));
  for (int64_t k = 0; single && k < n; k++)
    host[k] = narrow[k];
  free(narrow);
  return host;
}

/* A step of a series with these factors on this matrix against its product and sums. */
static void check_series(const stokes_matrix *matrix, md_ctx *ctx, bool single, int64_t rows, int m,
                         bool summed)
{
  static const double f[5] = {0.3, -1.7, 0.9, 2.1, -0.6};
  const int64_t n = rows * m;
  const double limit = single ? 1e-12 / DBL_EPSILON * FLT_EPSILON : 1e-12;
  double *host[3], *product = ref_alloc(n, sizeof *product);
  md_buffer on[3] = {{0}};
  for (int v = 0; v < 3; v++) { /* now, next, total */
    host[v] = ref_vector(n, 20 + (uint64_t)v);
    for (int64_t q = 0; q < n; q++)
      host[v][q] = (float)host[v][q];
    write_real(ctx, single, n, host[v], &on[v]);
  }
  void *now = on[0].data, *other = on[1].data, *sum = summed ? on[2].data : NULL;
  const bool has =
      single ? stokes_matrix_has_series_single(matrix) : stokes_matrix_has_series(matrix);
  const md_status status = single ? stokes_matrix_series_single(matrix, m, f, now, other, sum)
                                  : stokes_matrix_series(matrix, m, f, now, other, sum);
  ck_assert_int_eq(status, has ? MD_OK : MD_EINVAL);
  if (has) {
    double *next = read_real(ctx, single, n, &on[1]), *total = read_real(ctx, single, n, &on[2]);
    double most = 0;
    ref_product(matrix, ctx, rows, m, host[0], product);
    for (int64_t q = 0; q < n; q++) {
      const double expect = f[0] * product[q] + f[1] * host[0][q] + f[2] * host[1][q];
      const double added = summed ? f[3] * expect + f[4] * host[0][q] : 0;
      const double error = fabs(next[q] - expect) + fabs(total[q] - host[2][q] - added);
      most = md_most(most, error / (1 + fabs(expect)));
    }
    ck_assert_msg(most <= limit, "%s, m = %d: %g", single ? "single" : "double", m, most);
    free(next);
    free(total);
  }
  for (int v = 0; v < 3; v++) {
    md_buffer_free(ctx, &on[v]);
    free(host[v]);
  }
  free(product);
}

/* A step of a series is a product and sums of vectors; where there is none it is refused. */
START_TEST(series_step_by_step)
{
  static const int widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 32, 33};
  enum { WIDTHS = sizeof widths / sizeof *widths };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(230, 0.4, false, 17);
  ref_suspension s = ref_suspend(ctx, &packing, usual.gap_cut);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    for (int hint = 1; hint <= 16; hint *= 4)
      for (int k = 0; k < WIDTHS * 4; k++) {
        stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &usual, hint);
        check_series(matrix, ctx, k / WIDTHS / 2, 3 * packing.n, widths[k % WIDTHS],
                     k / WIDTHS % 2);
        stokes_matrix_destroy(matrix);
      }
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_series");
  TCase *all = tcase_create("series");
  tcase_add_test(all, series_step_by_step);
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  return test_main(suite);
}
