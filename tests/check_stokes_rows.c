/* tests/check_stokes_rows.c - matrices with rows of very different lengths, and pairs
 * that are hardly near enough. */
#include "tests/ref.h"
#include "tests/ref_stokes.h"
#include "tests/test.h"

enum { ROWS = 1800 };

/* Blocks of row i: runs of rows that fill most of what a GPU takes at once, rows about as long and
 * several times as long as that, more empty rows one after the other than it takes, short ones. */
static int length_of(int i)
{
  static const int long_rows[] = {511, 512, 513, 1023, 1024, 1025, 1537, ROWS, 1, 0};
  if (i < 50) return 270 + 7 * (i % 5);
  if (i < 60) return long_rows[i - 50];
  if (i < 700) return 0;
  return i < 702 ? 600 : i % 9 == 0 ? 40 : i % 4;
}

static stokes_blocks any_lengths(int rows, int (*length)(int))
{
  stokes_blocks b = {rows, 0, ref_alloc(rows + 1, 8), NULL, NULL};
  for (int i = 0; i < rows; i++) {
    b.start[i] = b.n_blocks;
    b.n_blocks += length(i);
  }
  b.start[rows] = b.n_blocks;
  b.column = ref_alloc(b.n_blocks, sizeof *b.column);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < length(i); k++) /* ascending, over the whole range */
      b.column[b.start[i] + k] = (int32_t)((int64_t)k * rows / length(i));
  b.block = ref_vector(9 * b.n_blocks, 10);
  for (int64_t k = 0; k < 9 * b.n_blocks; k++)
    b.block[k] = (float)b.block[k]; /* so that `single` is exact, too */
  return b;
}

static double element(const stokes_blocks *b, int64_t row, int m, int c, const double *x)
{
  double sum = 0;
  for (int64_t p = b->start[row / 3]; p < b->start[row / 3 + 1]; p++)
    for (int d = 0; d < 3; d++)
      sum += b->block[9 * p + 3 * (row % 3) + d] * x[(3 * b->column[p] + d) * m + c];
  return sum;
}

/* Products with m vectors of a matrix that is laid out for `hint` of them. */
static void compare(md_ctx *ctx, const stokes_blocks *b, stokes_storage storage, int hint, int m)
{
  const int64_t n = 3 * b->n_rows;
  double *x = ref_vector(n * m, 11), *y = ref_alloc(n * m, sizeof *y);
  int64_t wrong = 0;
  stokes_matrix *matrix;
  ck_ok(stokes_matrix_create(ctx, storage, &matrix));
  ck_ok(stokes_matrix_set(matrix, b, hint));
  ref_product(matrix, ctx, n, m, x, y);
  for (int64_t r = 0; r < n; r++)
    for (int c = 0; c < m; c++)
      wrong += !(fabs(y[r * m + c] - element(b, r, m, c, x)) <= 1e-11);
  ck_assert_msg(wrong == 0, "%d vectors, laid out for %d: %lld wrong", m, hint, (long long)wrong);
  stokes_matrix_destroy(matrix);
  free(x);
  free(y);
}

START_TEST(rows_of_any_length)
{
  static const int widths[] = {1, 2, 3, 8, 16};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_blocks b = any_lengths(ROWS, length_of);
  for (int k = 0; k < 4 * 5; k++) { /* laid out for one vector or for as many as there are */
    const int m = widths[k / 4], hint = k / 2 % 2 ? m : 1;
    compare(ctx, &b, k % 2 ? STOKES_SINGLE : STOKES_BCRS, hint, m);
  }
  stokes_blocks_free(&b);
  md_ctx_destroy(ctx);
}
END_TEST

/* Long rows at one end only. */
static int length_of_many(int i)
{
  return i < 3000 ? 30 + i % 50 : i % 4;
}

/* More rows than the multiprocessors of a GPU take at once. */
START_TEST(many_rows)
{
  static const int widths[] = {2, 8, 17};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_blocks b = any_lengths(130001, length_of_many);
  for (int k = 0; k < 3; k++)
    compare(ctx, &b, STOKES_BCRS, widths[k], widths[k]);
  stokes_blocks_free(&b);
  md_ctx_destroy(ctx);
}
END_TEST

/* One sphere with hundreds of small ones around it, and some that touch nothing. */
static stokes_packing giant(void)
{
  enum { N = 900 };
  stokes_packing p;
  ck_ok(stokes_packing_create(N, &p));
  p.box[0] = p.box[1] = p.box[2] = 400;
  uint64_t seed = 78;
  p.x[3] = 30;
  for (int i = 1; i < N; i++) {
    double e[3], norm = 0;
    for (int d = 0; d < 3; d++) {
      e[d] = 2 * ref_uniform(&seed) - 1;
      norm += e[d] * e[d];
    }
    const double r = i % 5 ? 31.5 + ref_uniform(&seed) : 60 + 130 * ref_uniform(&seed);
    for (int d = 0; d < 3; d++)
      p.x[4 * i + d] = r * e[d] / sqrt(norm);
    p.x[4 * i + 3] = 1.5;
  }
  return p;
}

START_TEST(one_row_longer_than_all)
{
  static const stokes_resistance law = {1, 0.5, 1e-3};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = giant();
  const int64_t n = 3 * packing.n;
  double *dense = ref_resistance(&packing, &law), *x = ref_vector(n, 5);
  double *expect = ref_alloc(n, sizeof *x), *y = ref_alloc(n, sizeof *x), scale = 0;
  ref_multiply(dense, n, 1, x, expect);
  ref_suspension s = ref_suspend(ctx, &packing, law.gap_cut);
  for (int64_t k = 0; k < n; k++)
    scale = fmax(scale, fabs(expect[k]));
  for (int k = 0; k < 2 * STOKES_STORAGE_COUNT; k++) {
    stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)(k / 2), &law, k % 2 ? 8 : 1);
    stokes_blocks b;
    int64_t most = 0;
    ck_ok(stokes_matrix_get(matrix, &b));
    for (int64_t i = 0; i < b.n_rows; i++)
      most = b.start[i + 1] - b.start[i] > most ? b.start[i + 1] - b.start[i] : most;
    ck_assert_int_gt(most, 600);
    ref_product(matrix, ctx, n, 1, x, y);
    for (int64_t r = 0; r < n; r++)
      ck_assert_double_eq_tol(y[r], expect[r], scale * (k / 2 == STOKES_BCRS ? 5e-13 : 1e-7));
    stokes_blocks_free(&b);
    stokes_matrix_destroy(matrix);
  }
  free(dense);
  free(x);
  free(expect);
  free(y);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* A lattice whose neighbours are just within the cutoff or just beyond, where single precision
 * cannot tell; far: the same with spheres many boxes away. */
static int64_t blocks_of_lattice(md_ctx *ctx, double stretch, bool far, stokes_storage storage)
{
  enum { SIDE = 8, N = SIDE * SIDE * SIDE };
  static const stokes_resistance law = {1, 0.5, 1e-3};
  const double spacing = 25 * stretch; /* radius 10: the reach is 25 */
  stokes_packing p;
  ck_ok(stokes_packing_create(N, &p));
  for (int d = 0; d < 3; d++)
    p.box[d] = SIDE * spacing;
  for (int i = 0; i < N; i++) {
    const int at[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
    for (int d = 0; d < 3; d++) {
      const int boxes = far ? (i % 5 == 0 ? 70000 : i % 3 - 1) : 0;
      p.x[4 * i + d] = (at[d] + 0.3 + (double)boxes * SIDE) * spacing;
    }
    p.x[4 * i + 3] = 10;
  }
  ref_suspension s = ref_suspend(ctx, &p, law.gap_cut);
  stokes_matrix *matrix = ref_assemble(&s, storage, &law, 1);
  const int64_t blocks = stokes_matrix_shape(matrix).n_blocks;
  stokes_matrix_destroy(matrix);
  ref_suspension_free(&s);
  stokes_packing_free(&p);
  return blocks - N;
}

START_TEST(pairs_at_the_cutoff)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (int far = 0; far < 2; far++)
    for (int storage = 0; storage < STOKES_STORAGE_COUNT; storage++) {
      const double step = far ? 1e-6 : 1e-12;
      ck_assert_int_eq(blocks_of_lattice(ctx, 1 - step, far, (stokes_storage)storage), 6 * 512);
      ck_assert_int_eq(blocks_of_lattice(ctx, 1 + step, far, (stokes_storage)storage), 0);
    }
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_rows");
  TCase *rows = tcase_create("rows");
  tcase_set_timeout(rows, 120);
  tcase_add_test(rows, rows_of_any_length);
  tcase_add_test(rows, one_row_longer_than_all);
  tcase_add_test(rows, pairs_at_the_cutoff);
  suite_add_tcase(suite, rows);
  TCase *many = tcase_create("many");
  tcase_set_timeout(many, 120);
  tcase_add_test(many, many_rows);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
