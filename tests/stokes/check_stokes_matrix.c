/* tests/stokes/check_stokes_matrix.c - the resistance matrix against its definition, its spectrum,
 * what it refuses. */
#include "core/most.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const stokes_resistance usual = {1, 0.5, 1e-3};

/* Largest difference of the stored blocks from a dense matrix, relative to its largest element;
 * blocks that are not stored count as zero. */
static double difference(const stokes_blocks *b, const double *dense)
{
  const int64_t n = 3 * b->n_rows;
  double most = 0, scale = 0;
  double *left = ref_alloc(n * n, sizeof *left);
  memcpy(left, dense, (size_t)(n * n) * sizeof *left);
  for (int64_t k = 0; k < n * n; k++)
    scale = fmax(scale, fabs(dense[k]));
  for (int64_t i = 0; i < b->n_rows; i++)
    for (int64_t p = b->start[i]; p < b->start[i + 1]; p++)
      for (int k = 0; k < 9; k++)
        left[(3 * i + k / 3) * n + 3 * b->column[p] + k % 3] -= b->block[9 * p + k];
  for (int64_t k = 0; k < n * n; k++)
    most = fmax(most, fabs(left[k]));
  free(left);
  return most / scale;
}

static double asymmetry(const stokes_blocks *b)
{
  const int64_t n = 3 * b->n_rows;
  double most = 0;
  double *full = ref_alloc(n * n, sizeof *full);
  for (int64_t i = 0; i < b->n_rows; i++)
    for (int64_t p = b->start[i]; p < b->start[i + 1]; p++)
      for (int k = 0; k < 9; k++)
        full[(3 * i + k / 3) * n + 3 * b->column[p] + k % 3] += b->block[9 * p + k];
  for (int64_t r = 0; r < n; r++)
    for (int64_t c = 0; c < r; c++)
      most = fmax(most, fabs(full[r * n + c] - full[c * n + r]));
  free(full);
  return most;
}

/* The gap is what is left of 2 r / (a_i + a_j) - 2, so that rounding of the distance counts 1 / gap
 * times: 1e-14 where no gap is taken for smaller than 0.05.  A block of floats is rounded by 2^-24
 * of its elements; a GPU works its terms out in floats, by 2^-20 of F(xi) at worst, which are half
 * of that of the largest element, on the diagonal, at most. */
START_TEST(matrix_is_the_sum_over_pairs)
{
  const double smallest = _i ? 1e-3 : 0.05;
  const stokes_resistance law = {1.3, 0.5, smallest};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  const double floats = ctx->backend == MD_GPU ? 5e-7 : 1e-7;
  const double tolerance[STOKES_STORAGE_COUNT] = {5e-16 / smallest, floats, floats};
  stokes_packing packing = ref_packing(250, 0.35, false, 11);
  packing.box[0] *= 1.4; /* no cube */
  double *dense = ref_resistance(&packing, &law);
  ref_suspension s = ref_suspend(ctx, &packing, law.gap_cut);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    for (int vectors = 1; vectors <= 16; vectors += 15) {
      stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &law, vectors);
      stokes_blocks blocks;
      ck_ok(stokes_matrix_get(matrix, &blocks));
      const stokes_shape shape = stokes_matrix_shape(matrix);
      ck_assert_int_eq(shape.n_rows, packing.n);
      ck_assert_int_eq(shape.n_blocks, blocks.n_blocks);
      ck_assert_double_le(difference(&blocks, dense), tolerance[storage]);
      ck_assert_double_eq(asymmetry(&blocks), 0);
      stokes_blocks_free(&blocks);
      stokes_matrix_destroy(matrix);
    }
  free(dense);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Blocks of two matrices, down to the last bit, but for diagonal ones, of which a few bits may
 * differ: so much of the largest element of each. */
static void compare_blocks(const stokes_matrix *matrix, const stokes_matrix *other, double unit)
{
  stokes_blocks got, expect;
  ck_ok(stokes_matrix_get(matrix, &got));
  ck_ok(stokes_matrix_get(other, &expect));
  ck_assert_int_eq(got.n_blocks, expect.n_blocks);
  ck_assert_mem_eq(got.column, expect.column, (size_t)got.n_blocks * sizeof *got.column);
  for (int64_t i = 0; i < got.n_rows; i++)
    for (int64_t p = got.start[i]; p < got.start[i + 1]; p++) {
      double scale = 0;
      for (int q = 0; q < 9; q++)
        scale = fmax(scale, fabs(expect.block[9 * p + q]));
      const double most = got.column[p] == i ? unit * scale : 0;
      for (int q = 0; q < 9; q++)
        ck_assert_double_le(fabs(got.block[9 * p + q] - expect.block[9 * p + q]), most);
    }
  stokes_blocks_free(&got);
  stokes_blocks_free(&expect);
}

/* Whatever vectors a matrix is laid out for, but that a GPU sums diagonal blocks of plain rows, for
 * one vector, in another order; rows of one part and of several, and entries of the list that do
 * not resist. */
START_TEST(layouts_have_the_same_blocks)
{
  static const int hints[] = {2, 8, 9, 32};
  const stokes_resistance law = {1, 0.4, 1e-3};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_packing packing = ref_packing(900, 0.45, false, 19);
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_matrix *plain = ref_assemble(&s, (stokes_storage)storage, &law, 1);
    stokes_matrix *sliced = ref_assemble(&s, (stokes_storage)storage, &law, hints[0]);
    compare_blocks(sliced, plain, storage == STOKES_SINGLE ? 0x1p-23 : 0x1p-49);
    for (size_t k = 1; k < sizeof hints / sizeof *hints; k++) {
      stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &law, hints[k]);
      compare_blocks(matrix, sliced, 0);
      stokes_matrix_destroy(matrix);
    }
    stokes_matrix_destroy(sliced);
    stokes_matrix_destroy(plain);
  }
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

static void assemble_again(stokes_matrix *matrix, const ref_suspension *s, double gap_cut, int hint)
{
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  const stokes_resistance law = {1, gap_cut, 1e-3};
  ck_ok(stokes_matrix_assemble(matrix, &s->view, &list, &law, hint));
}

/* The same memory for fewer and more blocks, in either layout: what comes out is that of new
 * memory. */
START_TEST(matrices_grow_and_shrink)
{
  static const struct {
    double gap_cut;
    int hint;
  } turns[] = {{0.02, 1}, {0.5, 1}, {0.1, 1}, {0.02, 8}, {0.5, 1}, {0.4, 16}, {0.5, 1}, {0.5, 8}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(700, 0.45, false, 18);
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_matrix *matrix;
    ck_ok(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
      const stokes_resistance law = {1, turns[k].gap_cut, 1e-3};
      stokes_matrix *fresh = ref_assemble(&s, (stokes_storage)storage, &law, turns[k].hint);
      assemble_again(matrix, &s, turns[k].gap_cut, turns[k].hint);
      compare_blocks(matrix, fresh, 0);
      stokes_matrix_destroy(fresh);
    }
    stokes_matrix_destroy(matrix);
  }
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Compare matrices from a list with those from the list of a suspension; spheres are the same. */
static void compare_lists(const stokes_pair_view *list, const ref_suspension *s, double gap_cut)
{
  const stokes_resistance law = {1, gap_cut, 1e-3};
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++)
    for (int hint = 1; hint <= 8; hint += 7) {
      stokes_matrix *matrix, *expect = ref_assemble(s, (stokes_storage)storage, &law, hint);
      ck_ok(stokes_matrix_create(s->ctx, (stokes_storage)storage, &matrix));
      for (int again = 0; again < 2; again++) {
        ck_ok(stokes_matrix_assemble(matrix, &s->view, list, &law, hint));
        compare_blocks(matrix, expect, storage == STOKES_SINGLE ? 0x1p-23 : 0x1p-49);
      }
      stokes_matrix_destroy(expect);
      stokes_matrix_destroy(matrix);
    }
}

/* A list that reaches just as far as pairs resist, whose entries a GPU takes as they are: where it
 * was made; for a shorter reach; with one sphere, or all, smaller than they were; with all so small
 * that no pair resists. */
START_TEST(lists_hold_no_others)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(700, 0.45, false, 20);
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  const size_t bytes = (size_t)packing.n * 4 * sizeof(double);
  stokes_pairs *pairs;
  ck_ok(stokes_pairs_create(ctx, 1 + 0.5 / 2, 0, &pairs));
  ck_ok(stokes_pairs_update(pairs, &s.view, 1));
  const stokes_pair_view list = stokes_pairs_view(pairs);
  compare_lists(&list, &s, 0.5);
  compare_lists(&list, &s, 0.4);
  for (int turn = 0; turn < 3; turn++) {
    for (int64_t k = turn > 0 ? 0 : packing.n - 1; k < packing.n; k++)
      packing.x[4 * k + 3] *= turn == 1 ? 0.9 : 0.8;
    ck_ok(md_write(ctx, s.x.data, packing.x, bytes));
    compare_lists(&list, &s, 0.5);
  }
  stokes_pairs_destroy(pairs);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Moving all spheres alike meets no lubrication: R' sqrt(a) = sqrt(a). */
START_TEST(collective_motion_is_free)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(400, 0.4, false, 12);
  ref_suspension s = ref_suspend(ctx, &packing, usual.gap_cut);
  const int64_t n = 3 * packing.n;
  double *x = ref_alloc(3 * n, sizeof *x), *y = ref_alloc(3 * n, sizeof *y);
  for (int64_t r = 0; r < n; r++)
    x[3 * r + r % 3] = sqrt(packing.x[4 * (r / 3) + 3]);
  for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
    stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &usual, 3);
    ref_product(matrix, ctx, n, 3, x, y);
    double most = 0;
    for (int64_t k = 0; k < 3 * n; k++)
      most = fmax(most, fabs(y[k] - x[k]));
    ck_assert_msg(most <= (storage == STOKES_SINGLE ? 1e-3 : 1e-10), "%s: %g",
                  stokes_storage_words[storage], most);
    stokes_matrix_destroy(matrix);
  }
  free(x);
  free(y);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* R_lub is positive semi-definite with exactly three modes of zero for every connected cluster. */
START_TEST(spectrum_starts_at_one)
{
  static const stokes_storage storages[] = {STOKES_BCRS, STOKES_PAIR};
  const stokes_resistance narrow = {1, 0.02, 1e-3};
  const stokes_resistance *laws[] = {&usual, &narrow};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(200, 0.3, false, 13);
  const int64_t n = 3 * packing.n;
  double *dense = ref_alloc(n * n, sizeof *dense), *value = ref_alloc(n, sizeof *value);
  for (int k = 0; k < 4; k++) {
    const stokes_resistance *used = laws[k / 2];
    ref_suspension s = ref_suspend(ctx, &packing, used->gap_cut);
    stokes_matrix *matrix = ref_assemble(&s, storages[k % 2], used, 1);
    stokes_blocks b;
    ck_ok(stokes_matrix_get(matrix, &b));
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int64_t i = 0; i < packing.n; i++)
      for (int64_t p = b.start[i]; p < b.start[i + 1]; p++)
        for (int q = 0; q < 9; q++)
          dense[(3 * i + q / 3) * n + 3 * b.column[p] + q % 3] = b.block[9 * p + q];
    ref_eigenvalues(dense, n, value);
    const double unit = 1e-13 * value[n - 1] * (double)n;
    const int64_t clusters = ref_clusters(&packing, used->gap_cut);
    ck_assert_double_ge(value[0], 1 - unit);
    ck_assert_double_le(value[3 * clusters - 1], 1 + unit);
    ck_assert_double_ge(value[3 * clusters], 1 + 1e2 * unit);
    ck_assert_double_ge(value[n - 1], 10);
    stokes_blocks_free(&b);
    stokes_matrix_destroy(matrix);
    ref_suspension_free(&s);
  }
  free(dense);
  free(value);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(200, 0.2, true, 16);
  ref_suspension s = ref_suspend(ctx, &packing, usual.gap_cut);
  stokes_matrix *matrix = ref_assemble(&s, STOKES_BCRS, &usual, 1);
  stokes_pair_view list = stokes_pairs_view(s.pairs);
  static const stokes_resistance bad[] = {
      {0, 0.5, 1e-3}, {NAN, 0.5, 1e-3}, {1, 0.5, 0}, {1, 1e-3, 1e-3}, {1, NAN, 1e-3}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_int_eq(stokes_matrix_assemble(matrix, &s.view, &list, &bad[k], 1), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_assemble(matrix, &s.view, &list, &usual, 0), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_assemble(matrix, &s.view, &list, &usual, STOKES_COLUMNS + 1),
                   MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_multiply(matrix, STOKES_COLUMNS + 1, NULL, NULL), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_multiply(matrix, 0, NULL, NULL), MD_EINVAL);
  list.n--;
  ck_assert_int_eq(stokes_matrix_assemble(matrix, &s.view, &list, &usual, 1), MD_EINVAL);
  stokes_matrix_destroy(matrix);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_matrix");
  TCase *matrix = tcase_create("matrix");
  tcase_add_loop_test(matrix, matrix_is_the_sum_over_pairs, 0, 2);
  tcase_add_test(matrix, layouts_have_the_same_blocks);
  tcase_add_test(matrix, matrices_grow_and_shrink);
  tcase_add_test(matrix, lists_hold_no_others);
  tcase_add_test(matrix, collective_motion_is_free);
  tcase_add_test(matrix, spectrum_starts_at_one);
  tcase_add_test(matrix, bad_arguments_are_refused);
  tcase_set_timeout(matrix, 120);
  suite_add_tcase(suite, matrix);
  return test_main(suite);
}
