/* tests/stokes/check_stokes_solve.c - conjugate gradients, block conjugate gradients, dense
 * Cholesky.
 *
 * Solutions are judged by b - A x with a dense matrix that is summed pair by pair in long double
 * (ref_stokes.h). */
#include "core/most.h"
#include "stokes/solver/solver.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const stokes_resistance usual = {1, 0.5, 1e-3}, wide = {1, 2, 1e-3};

/* A bed and a solver that is attached to its matrix. */
typedef struct {
  ref_bed on;
  stokes_solver *solver;
} testbed;

static testbed bed_of(stokes_packing packing, stokes_preconditioner kind, int threads,
                      const stokes_resistance *law)
{
  testbed b = {.on = ref_bed_make(packing, threads, law)};
  ck_ok(stokes_solver_create(b.on.ctx, kind, &b.solver));
  ck_ok(stokes_solver_attach(b.solver, b.on.matrix));
  return b;
}

static testbed make_bed(int64_t spheres, double occupancy, stokes_preconditioner kind)
{
  return bed_of(ref_packing(spheres, occupancy, spheres < 100, 21), kind, 2, &usual);
}

static void bed_free(testbed *b)
{
  stokes_solver_destroy(b->solver);
  ref_bed_free(&b->on);
}

/* Largest |b - A x| / |b| of a column; |x| where b = 0. */
static double error_of(const testbed *bed, int m, const double *b, const double *x)
{
  double *ax = ref_alloc(bed->on.n * m, sizeof *ax), most = 0;
  ref_multiply(bed->on.dense, bed->on.n, m, x, ax);
  for (int c = 0; c < m; c++) {
    double rest = 0, norm = 0;
    for (int64_t r = 0; r < bed->on.n; r++) {
      rest += pow(b[r * m + c] - ax[r * m + c], 2);
      norm += pow(b[r * m + c], 2);
    }
    const double relative = sqrt(norm > 0 ? rest / norm : rest);
    most = md_most(most, relative);
  }
  free(ax);
  return most;
}

typedef md_status solve_fn(testbed *bed, int m, const double *b, double *x, double tolerance,
                           int most, stokes_outcome *out);

static md_status by_cg(testbed *bed, int m, const double *b, double *x, double tolerance, int most,
                       stokes_outcome *out)
{
  (void)m;
  return stokes_solver_cg(bed->solver, b, x, tolerance, most, out);
}

static md_status by_block_cg(testbed *bed, int m, const double *b, double *x, double tolerance,
                             int most, stokes_outcome *out)
{
  return stokes_solver_block_cg(bed->solver, m, b, x, tolerance, most, out);
}

static stokes_dense *factors; /* of the two below */

static md_status by_cholesky(testbed *bed, int m, const double *b, double *x, double tolerance,
                             int most, stokes_outcome *out)
{
  (void)m;
  return stokes_dense_solve(factors, bed->solver, b, x, tolerance, most, out);
}

static md_status by_factor(testbed *bed, int m, const double *b, double *x, double tolerance,
                           int most, stokes_outcome *out)
{
  (void)bed, (void)m, (void)tolerance, (void)most, (void)out;
  return stokes_dense_root(factors, 1, b, x);
}

/* Solve on the backend; b and x on the host. */
static md_status solve(testbed *bed, solve_fn *how, int m, const double *b, double *x,
                       double tolerance, int most, stokes_outcome *out)
{
  const size_t bytes = (size_t)(bed->on.n * m) * sizeof *b;
  md_buffer right = {0}, left = {0};
  ck_ok(md_buffer_reserve(bed->on.ctx, &right, bytes, 0));
  ck_ok(md_buffer_reserve(bed->on.ctx, &left, bytes, 0));
  ck_ok(md_write(bed->on.ctx, right.data, b, bytes));
  ck_ok(md_write(bed->on.ctx, left.data, x, bytes));
  const md_status status = how(bed, m, right.data, left.data, tolerance, most, out);
  ck_ok(md_read(bed->on.ctx, x, left.data, bytes));
  md_buffer_free(bed->on.ctx, &right);
  md_buffer_free(bed->on.ctx, &left);
  return status;
}

START_TEST(one_right_hand_side)
{
  testbed bed = make_bed(240, 0.45, (stokes_preconditioner)_i);
  double *b = ref_vector(bed.on.n, 1), *x = ref_alloc(bed.on.n, sizeof *x);
  for (double tolerance = 1e-3; tolerance > 1e-13; tolerance *= 1e-3) {
    stokes_outcome out;
    memset(x, 0, (size_t)bed.on.n * sizeof *x);
    ck_ok(solve(&bed, by_cg, 1, b, x, tolerance, 2000, &out));
    ck_assert_double_le(out.residual, tolerance);
    ck_assert_double_le(error_of(&bed, 1, b, x), 1.1 * tolerance + 1e-12);
    ck_ok(solve(&bed, by_cg, 1, b, x, 1.1 * tolerance + 1e-12, 2000, &out));
    ck_assert_int_eq(out.iterations, 0); /* a good guess costs nothing */
  }
  free(b);
  free(x);
  bed_free(&bed);
}
END_TEST

START_TEST(many_right_hand_sides)
{
  static const int widths[] = {1, 2, 3, 4, 5, 8, 12, 13, 16, 33, 64};
  for (int kind = 0; kind < STOKES_PRECONDITIONER_COUNT; kind++) {
    testbed bed = make_bed(240, 0.45, (stokes_preconditioner)kind);
    int before = 100000;
    if ((md_isa)_i < bed.on.ctx->isa) bed.on.ctx->isa = (md_isa)_i;
    stokes_solver_destroy(bed.solver);
    ck_ok(stokes_solver_create(bed.on.ctx, (stokes_preconditioner)kind, &bed.solver));
    ck_ok(stokes_solver_attach(bed.solver, bed.on.matrix));
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
      const int m = widths[k];
      double *b = ref_vector(bed.on.n * m, 2), *x = ref_vector(bed.on.n * m, 3);
      for (int64_t r = 0; r < bed.on.n * m; r++)
        b[r] *= pow(10, (double)(r % m % 7) - 3); /* of very different lengths */
      stokes_outcome out;
      ck_ok(solve(&bed, by_block_cg, m, b, x, 1e-9, 2000, &out));
      ck_assert_double_le(out.residual, 1e-9);
      ck_assert_double_le(error_of(&bed, m, b, x), 1.1e-9);
      if (m > 1) ck_assert_int_le(out.iterations, before); /* more directions, fewer iterations */
      if (m > 1) before = out.iterations;
      free(b);
      free(x);
    }
    ck_assert_int_le(before, 40);
    bed_free(&bed);
  }
}
END_TEST

/* Columns that are the same, zero, sums of each other, already solved; more than there are rows. */
START_TEST(dependent_right_hand_sides)
{
  testbed bed = make_bed(_i & 1 ? 15 : 150, 0.3, _i & 2 ? STOKES_PRECONDITION_JACOBI : 0);
  const int m = 64;
  double *b = ref_vector(bed.on.n * m, 4), *x = ref_vector(bed.on.n * m, 5);
  for (int64_t r = 0; r < bed.on.n; r++) {
    double *row = b + r * m;
    row[1] = row[0];
    row[2] = 0;
    row[4] = row[3] + 1e-9 * row[5];
    row[7] = row[3] - 2 * row[6];
    row[8] = r == 5;
    for (int c = 40; c < m; c++)
      row[c] = row[c - 40];
  }
  stokes_outcome out;
  ck_ok(solve(&bed, by_block_cg, m, b, x, 1e-8, 2000, &out));
  ck_assert_double_le(error_of(&bed, m, b, x), 1.1e-8);
  for (int64_t r = 0; r < bed.on.n; r++)
    ck_assert_double_eq(x[r * m + 2], 0);
  ck_ok(solve(&bed, by_block_cg, m, b, x, 1.1e-8, 2000, &out));
  ck_assert_int_eq(out.iterations, 0);
  memset(b, 0, (size_t)(bed.on.n * m) * sizeof *b);
  ck_ok(solve(&bed, by_block_cg, m, b, x, 1e-8, 2000, &out));
  ck_assert_double_eq(error_of(&bed, m, b, x), 0);
  ck_ok(solve(&bed, by_cg, 1, b, x, 1e-8, 2000, &out));
  ck_assert_double_eq(error_of(&bed, 1, b, x), 0);
  free(b);
  free(x);
  bed_free(&bed);
}
END_TEST

/* L L^T = A, column by column. */
static void check_factor(testbed *bed)
{
  const int64_t n = bed->on.n;
  double *unit = ref_alloc(n, sizeof *unit), *lower = ref_alloc(n * n, sizeof *lower);
  stokes_outcome out;
  for (int64_t k = 0; k < n; k++) {
    memset(unit, 0, (size_t)n * sizeof *unit);
    unit[k] = 1;
    ck_ok(solve(bed, by_factor, 1, unit, lower + k * n, 0, 0, &out)); /* row k: column k of L */
  }
  for (int64_t i = 0; i < n; i += 7)
    for (int64_t j = 0; j < n; j += 5) {
      double sum = 0;
      for (int64_t k = 0; k < n; k++)
        sum += lower[k * n + i] * lower[k * n + j];
      ck_assert_double_eq_tol(sum, bed->on.dense[i * n + j], 1e-9);
    }
  free(unit);
  free(lower);
}

/* Attach to a matrix near the one of the bed. */
static stokes_matrix *attach_near(testbed *bed, const double *shift)
{
  const size_t bytes = (size_t)bed->on.packing.n * 4 * sizeof(double);
  for (int64_t i = 0; i < bed->on.packing.n; i++)
    bed->on.packing.x[4 * i] += 1e-3 * shift[i];
  ck_ok(md_write(bed->on.ctx, bed->on.suspension.x.data, bed->on.packing.x, bytes));
  stokes_matrix *near = ref_assemble(&bed->on.suspension, STOKES_BCRS, &usual, 1);
  ck_ok(stokes_solver_attach(bed->solver, near));
  return near;
}

START_TEST(cholesky_agrees)
{
  testbed bed = make_bed(240, 0.45, STOKES_PRECONDITION_NONE);
  ck_ok(stokes_dense_factor(bed.on.ctx, bed.on.matrix, &factors));
  double *b = ref_vector(bed.on.n, 6), *x = ref_alloc(bed.on.n, sizeof *x);
  double *y = ref_alloc(bed.on.n, sizeof *y);
  stokes_outcome out;
  ck_ok(solve(&bed, by_cholesky, 1, b, x, 1e-12, 3, &out));
  ck_assert_int_le(out.iterations, 2);
  ck_assert_double_le(error_of(&bed, 1, b, x), 1e-11);
  ck_ok(solve(&bed, by_cg, 1, b, y, 1e-12, 2000, &out));
  for (int64_t r = 0; r < bed.on.n; r++)
    ck_assert_double_eq_tol(x[r], y[r], 1e-9);
  check_factor(&bed);
  stokes_matrix *near = attach_near(&bed, b); /* a few refinements */
  ck_ok(solve(&bed, by_cholesky, 1, b, x, 1e-9, 50, &out));
  ck_assert_int_ge(out.iterations, 1);
  ck_assert_int_le(out.iterations, 20);
  memset(y, 0, (size_t)bed.on.n * sizeof *y);
  ck_assert_int_eq(solve(&bed, by_cholesky, 1, b, y, 1e-9, 0, &out), MD_ENUMERIC);
  stokes_matrix_destroy(near);
  stokes_dense_destroy(factors);
  free(b);
  free(x);
  free(y);
  bed_free(&bed);
}
END_TEST

/* Failure is a status with the residual that was reached. */
START_TEST(failures_are_reported)
{
  testbed bed = make_bed(240, 0.45, STOKES_PRECONDITION_NONE);
  double *b = ref_vector(bed.on.n * 4, 7), *x = ref_alloc(bed.on.n * 4, sizeof *x);
  stokes_outcome out;
  for (int block = 0; block < 2; block++) {
    solve_fn *how = block ? by_block_cg : by_cg;
    const int m = block ? 4 : 1;
    memset(x, 0, (size_t)(bed.on.n * 4) * sizeof *x);
    ck_assert_int_eq(solve(&bed, how, m, b, x, 1e-8, 3, &out), MD_ENUMERIC);
    ck_assert_int_eq(out.iterations, 3);
    ck_assert_double_eq_tol(out.residual, error_of(&bed, m, b, x), 1e-9);
    ck_assert_ptr_nonnull(strstr(md_message(), "residual"));
  }
  ck_assert_int_eq(stokes_solver_block_cg(bed.solver, 0, b, x, 1e-6, 9, &out), MD_EINVAL);
  ck_assert_int_eq(stokes_solver_block_cg(bed.solver, 65, b, x, 1e-6, 9, &out), MD_EINVAL);
  b[5] = NAN;
  ck_assert_int_eq(solve(&bed, by_cg, 1, b, x, 1e-8, 99, &out), MD_ENUMERIC);
  ck_assert_int_eq(solve(&bed, by_block_cg, 4, b, x, 1e-8, 99, &out), MD_ENUMERIC);
  free(b);
  free(x);
  bed_free(&bed);
}
END_TEST

/* Symmetric with positive diagonal blocks, but not definite. */
START_TEST(indefinite_matrices_are_refused)
{
  enum { ROWS = 40 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_blocks blocks = {ROWS, 2 * ROWS, ref_alloc(ROWS + 1, 8), ref_alloc(2 * ROWS, 4),
                          ref_alloc(18 * ROWS, 8)};
  for (int i = 0; i < ROWS; i++) {
    blocks.start[i + 1] = 2 * i + 2;
    for (int k = 0; k < 2; k++) {
      blocks.column[2 * i + k] = i - i % 2 + k;
      for (int d = 0; d < 3; d++)
        blocks.block[9 * (2 * i + k) + 4 * d] = i % 2 == k ? 1 : 3; /* eigenvalues 4 and -2 */
    }
  }
  testbed bed = {.on = {.ctx = ctx, .n = 3 * ROWS}};
  ck_ok(stokes_matrix_create(ctx, STOKES_BCRS, &bed.on.matrix));
  ck_ok(stokes_matrix_set(bed.on.matrix, &blocks, 4));
  double *b = ref_vector(bed.on.n * 4, 8), *x = ref_alloc(bed.on.n * 4, sizeof *x);
  for (int64_t r = 0; r < bed.on.n * 4; r += 24)
    for (int k = 0; k < 12; k++)
      b[r + 12 + k] = -b[r + k];
  stokes_dense *dense;
  stokes_outcome out;
  ck_assert_int_eq(stokes_dense_factor(ctx, bed.on.matrix, &dense), MD_ENUMERIC);
  ck_assert_ptr_null(dense);
  for (int kind = 0; kind < STOKES_PRECONDITIONER_COUNT; kind++) {
    ck_ok(stokes_solver_create(ctx, (stokes_preconditioner)kind, &bed.solver));
    ck_ok(stokes_solver_attach(bed.solver, bed.on.matrix));
    ck_assert_int_eq(solve(&bed, by_cg, 1, b, x, 1e-8, 99, &out), MD_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(md_message(), "not positive definite"));
    ck_assert_int_eq(solve(&bed, by_block_cg, 4, b, x, 1e-8, 99, &out), MD_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(md_message(), "not positive definite"));
    stokes_solver_destroy(bed.solver);
  }
  blocks.block[0] = -1;
  ck_ok(stokes_matrix_set(bed.on.matrix, &blocks, 4));
  ck_ok(stokes_solver_create(ctx, STOKES_PRECONDITION_JACOBI, &bed.solver));
  ck_assert_int_eq(stokes_solver_attach(bed.solver, bed.on.matrix), MD_ENUMERIC);
  stokes_solver_destroy(bed.solver);
  stokes_matrix_destroy(bed.on.matrix);
  stokes_blocks_free(&blocks);
  free(b);
  free(x);
  md_ctx_destroy(ctx);
}
END_TEST

/* Bitwise the same for any number of threads, and about as many iterations as an independent
 * program needs with packings of 3000 spheres in equilibrium, made in the same way: 75 +- 7 and 121
 * +- 2. */
START_TEST(threads_and_iterations)
{
  const double occupancy = _i ? 0.3 : 0.1;
  const int least = _i ? 110 : 45, most = _i ? 132 : 105;
  double *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    testbed bed =
        bed_of(ref_packing(3000, occupancy, false, 1), STOKES_PRECONDITION_NONE, threads, &wide);
    double *b = ref_vector(bed.on.n * 9, 9), *x = ref_alloc(bed.on.n * 9, sizeof *x);
    stokes_outcome out;
    ck_ok(solve(&bed, by_cg, 1, b, x, 1e-6, 500, &out));
    ck_assert_int_ge(out.iterations, least);
    ck_assert_int_le(out.iterations, most);
    ck_ok(solve(&bed, by_block_cg, 8, b + bed.on.n, x + bed.on.n, 1e-6, 500, &out));
    if (!first)
      first = ref_alloc(bed.on.n * 9, sizeof *first), memcpy(first, x, (size_t)bed.on.n * 72);
    ck_assert_mem_eq(first, x, (size_t)(bed.on.n * 9) * sizeof *x);
    free(b);
    free(x);
    bed_free(&bed);
  }
  free(first);
}
END_TEST

/* Block Jacobi halves the iterations where spheres nearly touch. */
START_TEST(preconditioner_pays)
{
  int iterations[STOKES_PRECONDITIONER_COUNT];
  for (int kind = 0; kind < STOKES_PRECONDITIONER_COUNT; kind++) {
    testbed bed = make_bed(300, 0.5, (stokes_preconditioner)kind);
    double *b = ref_vector(bed.on.n, 10), *x = ref_alloc(bed.on.n, sizeof *x);
    stokes_outcome out;
    ck_ok(solve(&bed, by_cg, 1, b, x, 1e-6, 2000, &out));
    iterations[kind] = out.iterations;
    free(b);
    free(x);
    bed_free(&bed);
  }
  ck_assert_int_le(10 * iterations[1], 7 * iterations[0]);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_solve");
  TCase *cg = tcase_create("cg"), *dense = tcase_create("dense");
  tcase_add_loop_test(cg, one_right_hand_side, 0, STOKES_PRECONDITIONER_COUNT);
  tcase_add_loop_test(cg, many_right_hand_sides, 0, MD_ISA_COUNT);
  tcase_add_loop_test(cg, dependent_right_hand_sides, 0, 4);
  tcase_add_test(cg, failures_are_reported);
  tcase_add_test(cg, indefinite_matrices_are_refused);
  tcase_add_loop_test(cg, threads_and_iterations, 0, 2);
  tcase_add_test(cg, preconditioner_pays);
  tcase_add_test(dense, cholesky_agrees);
  tcase_set_timeout(cg, 120);
  tcase_set_timeout(dense, 120);
  suite_add_tcase(suite, cg);
  suite_add_tcase(suite, dense);
  return test_main(suite);
}
