/* tests/stokes/check_stokes_products.c - products of matrices with vectors, against dense ones. */
#include "core/most.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const stokes_resistance usual = {1, 0.5, 1e-3};

/* A suspension with rows of every kind: none, short, and one far longer than any other. */
static stokes_packing uneven(void)
{
  stokes_packing p;
  enum { N = 401 };
  ck_ok(stokes_packing_create(N, &p));
  p.box[0] = p.box[1] = p.box[2] = 400;
  uint64_t seed = 77;
  p.x[3] = 30; /* the giant, at the origin; most others on a shell around it */
  for (int i = 1; i < N; i++) {
    double e[3], norm = 0;
    for (int d = 0; d < 3; d++) {
      e[d] = 2 * ref_uniform(&seed) - 1;
      norm += e[d] * e[d];
    }
    const double r = i % 5 ? 32 + ref_uniform(&seed) : 60 + 130 * ref_uniform(&seed);
    for (int d = 0; d < 3; d++)
      p.x[4 * i + d] = r * e[d] / sqrt(norm);
    p.x[4 * i + 3] = 1.5;
  }
  return p;
}

static void check_products(md_ctx *ctx, const stokes_packing *packing)
{
  const int64_t n = 3 * packing->n;
  double *dense = ref_resistance(packing, &usual);
  double *x = ref_vector(n * STOKES_VECTORS, 5), *part = ref_alloc(n * STOKES_VECTORS, sizeof *x);
  double *expect = ref_alloc(n * STOKES_VECTORS, sizeof *x), *y = ref_alloc(n * STOKES_VECTORS, 8);
  ref_multiply(dense, n, STOKES_VECTORS, x, expect);
  ref_suspension s = ref_suspend(ctx, packing, usual.gap_cut);
  const double floats = ctx->backend == MD_GPU ? 0x1p-20 : 1e-7; /* a GPU's terms are floats */
  double scale = 0;
  for (int64_t k = 0; k < n * STOKES_VECTORS; k++)
    scale = fmax(scale, fabs(expect[k]));
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_matrix *matrix = NULL;
    for (int m = 1; m <= STOKES_VECTORS; m++) {
      if (m <= 8 || m == 16 || m == 33) { /* layouts may depend on the number of vectors */
        stokes_matrix_destroy(matrix);
        matrix = ref_assemble(&s, (stokes_storage)storage, &usual, m);
      }
      for (int64_t k = 0; k < n * m; k++)
        part[k] = x[k / m * STOKES_VECTORS + k % m];
      ref_product(matrix, ctx, n, m, part, y);
      double most = 0;
      for (int64_t k = 0; k < n * m; k++) {
        const double error = fabs(y[k] - expect[k / m * STOKES_VECTORS + k % m]);
        most = md_most(most, error);
      }
      ck_assert_msg(most <= scale * (storage == STOKES_BCRS ? 5e-13 : floats), "%s, m = %d: %g",
                    stokes_storage_words[storage], m, most / scale);
    }
    stokes_matrix_destroy(matrix);
  }
  free(dense);
  free(x);
  free(part);
  free(expect);
  free(y);
  ref_suspension_free(&s);
}

START_TEST(products_for_every_width)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  if (ctx->backend == MD_GPU && _i > 0) {
    md_ctx_destroy(ctx);
    return;
  }
  if ((md_isa)_i < ctx->isa) ctx->isa = (md_isa)_i;
  stokes_packing packing = ref_packing(230, 0.4, false, 14);
  check_products(ctx, &packing);
  stokes_packing_free(&packing);
  packing = uneven();
  check_products(ctx, &packing);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(products_do_not_depend_on_threads)
{
  stokes_packing packing = ref_packing(3000, 0.3, false, 15);
  const int64_t n = 3 * packing.n;
  double *x = ref_vector(n * 5, 6), *first = ref_alloc(n * 6, sizeof *x);
  double *y = ref_alloc(n * 6, sizeof *x);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    for (int threads = 1; threads <= 3; threads++) {
      md_ctx *ctx = test_ctx(MD_DOUBLE, threads, false);
      ref_suspension s = ref_suspend(ctx, &packing, usual.gap_cut);
      stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &usual, 1);
      ref_product(matrix, ctx, n, 1, x, y);
      ref_product(matrix, ctx, n, 5, x, y + n);
      if (threads == 1) memcpy(first, y, (size_t)(n * 6) * sizeof *x);
      ck_assert_mem_eq(y, first, (size_t)(n * 6) * sizeof *x);
      stokes_matrix_destroy(matrix);
      ref_suspension_free(&s);
      md_ctx_destroy(ctx);
    }
  free(x);
  free(first);
  free(y);
  stokes_packing_free(&packing);
}
END_TEST

/* Any blocks, with empty rows and without diagonals, through both storages. */
START_TEST(any_blocks_multiply)
{
  enum { ROWS = 97 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_blocks b = {ROWS, 0, ref_alloc(ROWS + 1, 8), ref_alloc(ROWS * ROWS, 4), NULL};
  uint64_t seed = 9;
  for (int i = 0; i < ROWS; i++) {
    b.start[i] = b.n_blocks;
    for (int j = 0; j < ROWS; j++)
      if (i % 10 != 4 && (i == 7 || ref_uniform(&seed) < 0.06)) b.column[b.n_blocks++] = j;
  }
  b.start[ROWS] = b.n_blocks;
  b.block = ref_vector(9 * b.n_blocks, 10);
  for (int k = 0; k < 9 * b.n_blocks; k++)
    b.block[k] = (float)b.block[k]; /* so that `single` is exact, too */
  double *dense = ref_alloc(9 * ROWS * ROWS, sizeof *dense), *x = ref_vector(3 * ROWS * 16, 11);
  double *expect = ref_alloc(3 * ROWS * 16, sizeof *x), *y = ref_alloc(3 * ROWS * 16, sizeof *x);
  for (int i = 0; i < ROWS; i++)
    for (int64_t p = b.start[i]; p < b.start[i + 1]; p++)
      for (int k = 0; k < 9; k++)
        dense[(3 * i + k / 3) * 3 * ROWS + 3 * b.column[p] + k % 3] = b.block[9 * p + k];
  for (int storage = STOKES_BCRS; storage <= STOKES_SINGLE; storage++)
    for (int m = 1; m <= 16; m += 3) {
      stokes_matrix *matrix;
      ck_ok(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
      ck_ok(stokes_matrix_set(matrix, &b, m));
      ref_product(matrix, ctx, 3 * ROWS, m, x, y);
      ref_multiply(dense, 3 * ROWS, m, x, expect);
      double most = 0;
      for (int k = 0; k < 3 * ROWS * m; k++) {
        const double error = fabs(y[k] - expect[k]);
        most = md_most(most, error);
      }
      ck_assert_msg(most <= 1e-13, "m = %d: %g", m, most);
      stokes_blocks back;
      ck_ok(stokes_matrix_get(matrix, &back));
      ck_assert_mem_eq(back.start, b.start, (ROWS + 1) * sizeof *b.start);
      ck_assert_mem_eq(back.column, b.column, (size_t)b.n_blocks * sizeof *b.column);
      ck_assert_mem_eq(back.block, b.block, (size_t)b.n_blocks * 9 * sizeof *b.block);
      stokes_blocks_free(&back);
      stokes_matrix_destroy(matrix);
    }
  stokes_matrix *pair;
  ck_ok(stokes_matrix_create(ctx, STOKES_PAIR, &pair));
  ck_assert_int_eq(stokes_matrix_set(pair, &b, 1), MD_EINVAL);
  stokes_matrix_destroy(pair);
  stokes_blocks_free(&b);
  free(dense);
  free(x);
  free(expect);
  free(y);
  md_ctx_destroy(ctx);
}
END_TEST

/* X too large for a core's own cache, which products fetch ahead of its use, up to the last
 * block. */
START_TEST(products_beyond_a_cache)
{
  enum { ROWS = 60000, M = 3, BAND = 5 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  if (ctx->backend == MD_CPU && (md_isa)_i < ctx->isa) ctx->isa = (md_isa)_i;
  stokes_blocks b = {ROWS, 0, ref_alloc(ROWS + 1, 8), ref_alloc(ROWS * BAND, 4), NULL};
  for (int i = 0; i < ROWS; i++) {
    b.start[i] = b.n_blocks;
    for (int j = i < 2 ? 0 : i - 2; j <= i + 2 && j < ROWS; j++)
      b.column[b.n_blocks++] = j;
  }
  b.start[ROWS] = b.n_blocks;
  b.block = ref_vector(9 * b.n_blocks, 12);
  for (int64_t k = 0; k < 9 * b.n_blocks; k++)
    b.block[k] = (float)b.block[k];
  double *x = ref_vector(3 * ROWS * M, 13), *y = ref_alloc(3 * ROWS * M, sizeof *y);
  for (int storage = STOKES_BCRS; storage <= STOKES_SINGLE; storage++)
    for (int m = 1; m <= M; m += M - 1) {
      stokes_matrix *matrix;
      ck_ok(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
      ck_ok(stokes_matrix_set(matrix, &b, m));
      ref_product(matrix, ctx, 3 * ROWS, m, x, y);
      double most = 0;
      for (int64_t k = 0; k < 3 * (int64_t)ROWS * m; k++) {
        const int64_t row = k / m, c = k % m;
        double sum = 0;
        for (int64_t p = b.start[row / 3]; p < b.start[row / 3 + 1]; p++)
          for (int d = 0; d < 3; d++)
            sum += b.block[9 * p + row % 3 * 3 + d] * x[(3 * b.column[p] + d) * m + c];
        most = md_most(most, fabs(y[k] - sum));
      }
      ck_assert_msg(most <= 1e-13, "m = %d: %g", m, most);
      stokes_matrix_destroy(matrix);
    }
  stokes_blocks_free(&b);
  free(x);
  free(y);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_products");
  TCase *products = tcase_create("products");
  tcase_add_loop_test(products, products_for_every_width, 0, MD_ISA_COUNT);
  tcase_add_test(products, products_do_not_depend_on_threads);
  tcase_add_test(products, any_blocks_multiply);
  tcase_add_loop_test(products, products_beyond_a_cache, 0, MD_ISA_COUNT);
  tcase_set_timeout(products, 120);
  suite_add_tcase(suite, products);
  return test_main(suite);
}
