/* tests/stokes/check_stokes_rows.c - matrices with rows of very different lengths, and pairs
 * that are hardly near enough. */
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "stokes/matrix/matrix_impl.h"
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

enum { WIDEST = 130 };

/* m columns of vectors, taken from the first of WIDEST. */
static double *first_columns(const double *all, int64_t n, int m)
{
  double *some = ref_alloc(n * m, sizeof *some);
  for (int64_t k = 0; k < n * m; k++)
    some[k] = all[k / m * WIDEST + k % m];
  return some;
}

/* Every way to make a range of columns, from the first one on and behind as many as it makes; the
 * rest of y stays as it was. */
static void check_ways(const stokes_matrix *matrix, md_ctx *ctx, int64_t n, int m, const double *x,
                       const double *expect)
{
  const matrix_backend *backend = matrix_backend_of(matrix);
  const size_t bytes = (size_t)(n * m) * sizeof *x;
  double *y = ref_alloc(n * m, sizeof *y);
  md_buffer in = {0}, out = {0};
  gspmv_part way[GSPMV_WAYS];
  const int n_ways = backend->ways(matrix, m, way);
  ck_ok(md_buffer_reserve(ctx, &in, bytes, 0));
  ck_ok(md_buffer_reserve(ctx, &out, bytes, 0));
  ck_ok(md_write(ctx, in.data, x, bytes));
  ck_assert_int_ge(way[0].columns, m);
  for (int k = 0; k < n_ways; k++)
    for (int first = 0; first < m; first += way[k].columns) {
      const int left = m - first, count = left < way[k].columns ? left : way[k].columns;
      const gspmv_range range = {m, first, count, way[k]};
      int64_t wrong = 0;
      ck_ok(md_fill(ctx, out.data, 0xff, bytes));
      ck_ok(backend->multiply(matrix, &range, (double *)in.data + first, (double *)out.data + first,
                              NULL));
      ck_ok(md_read(ctx, y, out.data, bytes));
      for (int64_t q = 0; q < n * m; q++) {
        const bool inside = q % m >= first && q % m < first + count;
        wrong += inside ? y[q] != expect[q] : !isnan(y[q]);
      }
      ck_assert_msg(wrong == 0, "%d vectors, way %d of %d panels, columns from %d: %lld wrong", m,
                    way[k].kernel, way[k].panels, first, (long long)wrong);
    }
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  free(y);
}

/* Column k has the same digits in a product with any number of columns, in any way: what is
 * measured cannot change a result.  `make` lays a matrix out for so many vectors. */
static void check_columns(md_ctx *ctx, int64_t n, stokes_matrix *(*make)(md_ctx *, int, int),
                          int storage)
{
  static const int widths[] = {2, 3, 4, 7, 9, 10, 16, 17, 20, 31, 33, 36, 40, 64, 65, WIDEST};
  stokes_matrix *matrix = make(ctx, storage, WIDEST);
  double *x = ref_vector(n * WIDEST, 12), *y = ref_alloc(n * WIDEST, sizeof *y);
  ref_product(matrix, ctx, n, WIDEST, x, y);
  stokes_matrix_destroy(matrix);
  for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
    const int m = widths[k];
    double *some = first_columns(x, n, m), *expect = first_columns(y, n, m);
    double *got = ref_alloc(n * m, sizeof *got);
    matrix = make(ctx, storage, m);
    for (int turn = 0; turn < 2; turn++) { /* measured, known */
      ref_product(matrix, ctx, n, m, some, got);
      ck_assert_mem_eq(got, expect, (size_t)(n * m) * sizeof *got);
    }
    check_ways(matrix, ctx, n, m, some, expect);
    stokes_matrix_destroy(matrix);
    free(some);
    free(expect);
    free(got);
  }
  free(x);
  free(y);
}

static int length_of_some(int i)
{
  return i < 5 ? 60 + 7 * i : i % 7;
}

static stokes_matrix *make_blocks(md_ctx *ctx, int storage, int hint)
{
  stokes_matrix *matrix;
  stokes_blocks b = any_lengths(150, length_of_some);
  ck_ok(stokes_matrix_create(ctx, (stokes_storage)storage, &matrix));
  ck_ok(stokes_matrix_set(matrix, &b, hint));
  stokes_blocks_free(&b);
  return matrix;
}

static stokes_matrix *make_pairs(md_ctx *ctx, int storage, int hint)
{
  static const stokes_resistance law = {1, 0.5, 1e-3};
  stokes_packing packing = ref_packing(200, 0.4, false, 14);
  ref_suspension s = ref_suspend(ctx, &packing, law.gap_cut);
  stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)storage, &law, hint);
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  return matrix;
}

START_TEST(columns_do_not_depend_on_their_number)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  const bool again = ctx->backend == MD_GPU && _i > 0;
  if ((md_isa)_i < ctx->isa) ctx->isa = (md_isa)_i;
  if (!again) {
    check_columns(ctx, 3 * 150, make_blocks, STOKES_BCRS);
    check_columns(ctx, 3 * 150, make_blocks, STOKES_SINGLE);
    check_columns(ctx, 3 * 200, make_pairs, STOKES_PAIR);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* What is kept is the fastest: times and numbers of columns that fit each other. */
START_TEST(columns_and_times)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_matrix *matrix = make_blocks(ctx, STOKES_BCRS, 20);
  for (int m = 1; m <= 70; m += m < 20 ? 1 : 10) {
    double seconds, stored, again;
    char words[64];
    int columns;
    ck_ok(stokes_matrix_time(matrix, m, &seconds, words, sizeof words));
    ck_assert(seconds > 0 && words[0] >= '1' && words[0] <= '9');
    ck_ok(stokes_matrix_columns(matrix, m, &columns));
    ck_assert(columns >= m && columns < m + 16 && (m > 1 || columns == 1));
    ck_ok(stokes_matrix_time(matrix, columns, &stored, NULL, 0));
    ck_ok(stokes_matrix_time(matrix, m, &again, NULL, 0));
    ck_assert(stored <= again && again <= seconds); /* the least times so far */
  }
  double seconds;
  int columns;
  ck_assert_int_eq(stokes_matrix_columns(matrix, 0, &columns), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_columns(matrix, STOKES_COLUMNS + 1, &columns), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_time(matrix, 0, &seconds, NULL, 0), MD_EINVAL);
  ck_assert_int_eq(stokes_matrix_time(matrix, STOKES_COLUMNS + 1, &seconds, NULL, 0), MD_EINVAL);
  stokes_matrix_destroy(matrix);
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
  /* a GPU works out terms in floats, alike for all of these pairs */
  const double floats = ctx->backend == MD_GPU ? 3 * 0x1p-20 : 1e-7;
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
      ck_assert_double_eq_tol(y[r], expect[r], scale * (k / 2 == STOKES_BCRS ? 5e-13 : floats));
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
  TCase *columns = tcase_create("columns");
  tcase_set_timeout(columns, 120);
  tcase_add_loop_test(columns, columns_do_not_depend_on_their_number, 0, MD_ISA_COUNT);
  tcase_add_test(columns, columns_and_times);
  suite_add_tcase(suite, columns);
  TCase *many = tcase_create("many");
  tcase_set_timeout(many, 120);
  tcase_add_test(many, many_rows);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
