/* tests/stokes/check_stokes_root.c - square roots by Chebyshev, Lanczos and Cholesky; bounds of
 * eigenvalues.
 *
 * A root is a linear map F; taken column by column, F F^T is compared with a dense matrix that is
 * summed pair by pair (ref_stokes.h): that is the covariance of Brownian forces. */
#include "stokes/solver/jacobi.h"
#include "stokes/solver/solver.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const stokes_resistance usual = {1, 0.5, 1e-3};

static ref_bed make_bed(int64_t spheres, double occupancy, int threads)
{
  return ref_bed_make(ref_packing(spheres, occupancy, spheres < 200, 31), threads, &usual);
}

static stokes_solver *solver_of(const ref_bed *b, stokes_preconditioner kind)
{
  stokes_solver *solver;
  ck_ok(stokes_solver_create(b->ctx, kind, &solver));
  ck_ok(stokes_solver_attach(solver, b->matrix));
  return solver;
}

/* f = S z on the backend; z and f on the host. */
static md_status root(const ref_bed *b, stokes_solver *solver, stokes_root kind, int m,
                      const double *z, double *f, double tolerance, int most, stokes_outcome *out)
{
  const size_t bytes = (size_t)(b->n * m) * sizeof *z;
  md_buffer in = {0}, to = {0};
  ck_ok(md_buffer_reserve(b->ctx, &in, bytes, 0));
  ck_ok(md_buffer_reserve(b->ctx, &to, bytes, 0));
  ck_ok(md_write(b->ctx, in.data, z, bytes));
  ck_ok(md_fill(b->ctx, to.data, 0xff, bytes));
  const md_status status =
      stokes_solver_root(solver, kind, m, in.data, to.data, tolerance, most, out);
  ck_ok(md_read(b->ctx, f, to.data, bytes));
  md_buffer_free(b->ctx, &in);
  md_buffer_free(b->ctx, &to);
  return status;
}

START_TEST(errors_of_polynomials)
{
  static const double known[][2] = {
      {10, 2e-11}, {30, 2.5e-7}, {100, 1e-4}, {300, 2.8e-3}, {665, 1.5e-2}};
  for (int k = 0; k < 5; k++) {
    const double error = stokes_chebyshev_error(0.5, 1, known[k][0], 30);
    ck_assert_msg(error >= 0.8 * known[k][1] && error <= 1.25 * known[k][1], "kappa %g: %g",
                  known[k][0], error);
    ck_assert_double_eq_tol(stokes_chebyshev_error(0.5, 7, 7 * known[k][0], 30), error,
                            1e-3 * error);
    const int order = stokes_chebyshev_order(0.5, 1, known[k][0], 1e-6, 1000);
    ck_assert_double_le(stokes_chebyshev_error(0.5, 1, known[k][0], order), 1e-6);
    ck_assert_double_gt(stokes_chebyshev_error(0.5, 1, known[k][0], order - 1), 1e-6);
    ck_assert_int_eq(stokes_chebyshev_order(0.5, 1, known[k][0], 1e-6, order - 1), -1);
  }
}
END_TEST

/* Q diag(values) Q^T for a rotation Q: the largest eigenvalue, L L^T and the inverse. */
START_TEST(blocks_of_three)
{
  static const double values[][3] = {{1, 2, 5}, {5, 2, 1},      {3, 3, 3},        {1, 1, 4},
                                     {4, 4, 1}, {1e-6, 1, 1e6}, {1, 1 + 1e-12, 1}};
  static const int at[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  const double c = cos(0.7), s = sin(0.7);
  const double q[3][3] = {{c, -s * 0.6, s * 0.8}, {s, c * 0.6, -c * 0.8}, {0, 0.8, 0.6}};
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    double d[6] = {0}, inverse_of[6] = {0}, l[6], inverse[6], unit[3] = {1, 2, 3}, x[3], y[3];
    const double largest = fmax(fmax(values[k][0], values[k][1]), values[k][2]);
    const double least = fmin(fmin(values[k][0], values[k][1]), values[k][2]);
    for (int e = 0; e < 6; e++)
      for (int v = 0; v < 3; v++) {
        d[e] += q[at[e][0]][v] * q[at[e][1]][v] * values[k][v];
        inverse_of[e] += q[at[e][0]][v] * q[at[e][1]][v] / values[k][v];
      }
    ck_assert_double_eq_tol(jacobi_largest(d) / largest, 1, 1e-7);
    ck_assert(jacobi_factor(d, l, inverse));
    const double full[3][3] = {{l[0], 0, 0}, {l[1], l[2], 0}, {l[3], l[4], l[5]}};
    for (int e = 0; e < 6; e++) {
      double sum = 0;
      for (int v = 0; v < 3; v++)
        sum += full[at[e][0]][v] * full[at[e][1]][v];
      ck_assert_double_eq_tol(sum, d[e], 1e-14 * largest);
      ck_assert_double_eq_tol(inverse[e], inverse_of[e], 1e-3 * fabs(inverse_of[0]));
    }
    jacobi_lower(l, 1, unit, x);
    jacobi_solve(inverse, 1, unit, y);
    for (int r = 0; r < 3; r++)
      ck_assert_double_eq_tol(x[r], full[r][0] + 2 * full[r][1] + 3 * full[r][2], 1e-12 * largest);
    ck_assert_double_eq_tol(y[0], inverse[0] + 2 * inverse[1] + 3 * inverse[2],
                            1e-12 * fabs(inverse[0] + inverse[3] + inverse[5]));
    double apart[6] = {1, 0, 2, 0, 3, 0};
    jacobi_solve_block(d, 2, apart, apart);
    for (int r = 0; r < 3; r++) {
      double sum = 0;
      for (int e = 0; e < 6; e++)
        for (int side = 0; side < (at[e][0] == at[e][1] ? 1 : 2); side++)
          if (at[e][side] == r) sum += inverse_of[e] * unit[at[e][1 - side]];
      ck_assert_double_eq_tol(apart[2 * r], sum, 1e-14 * largest / (least * least));
      ck_assert(apart[2 * r + 1] == 0);
    }
    d[3] = -d[3];
    ck_assert(!jacobi_factor(d, l, inverse));
  }
}
END_TEST

START_TEST(bounds_hold)
{
  ref_bed b = make_bed(240, 0.45, 2);
  double *value = ref_alloc(b.n, sizeof *value), *copy = ref_alloc(b.n * b.n, sizeof *copy);
  for (int kind = 0; kind < STOKES_PRECONDITIONER_COUNT; kind++) {
    memcpy(copy, b.dense, (size_t)(b.n * b.n) * sizeof *copy);
    if (kind) { /* D^-1/2 A D^-1/2 has the eigenvalues of D^-1 A; here by L^-1 A L^-T */
      for (int side = 0; side < 2; side++)
        for (int64_t r = 0; r < b.n; r++)
          for (int64_t i = 0; i < b.n; i += 3) {
            double l[3][3] = {{0}}, *row = side ? copy + r * b.n + i : copy + i * b.n + r, x[3];
            const int64_t step = side ? 1 : b.n;
            for (int p = 0; p < 3; p++)
              for (int q = 0; q <= p; q++) {
                double rest = b.dense[(i + p) * b.n + i + q];
                for (int k = 0; k < q; k++)
                  rest -= l[p][k] * l[q][k];
                l[p][q] = p == q ? sqrt(rest) : rest / l[q][q];
              }
            for (int p = 0; p < 3; p++) {
              x[p] = row[p * step];
              for (int q = 0; q < p; q++)
                x[p] -= l[p][q] * x[q];
              x[p] /= l[p][p];
            }
            for (int p = 0; p < 3; p++)
              row[p * step] = x[p];
          }
    }
    ref_eigenvalues(copy, b.n, value);
    stokes_solver *solver = solver_of(&b, (stokes_preconditioner)kind);
    double low, high;
    ck_ok(stokes_solver_bounds(solver, false, &low, &high));
    ck_assert_double_le(low, value[0] * (1 + 1e-9));
    ck_assert_double_ge(high, value[b.n - 1]);
    if (!kind) ck_assert_double_eq(low, 1);
    ck_assert_double_le(high, 2.2 * value[b.n - 1]);
    ck_ok(stokes_solver_bounds(solver, true, &low, &high));
    ck_assert_double_le(low, value[0] * (1 + 1e-9));
    ck_assert_double_ge(low, 0.95 * value[0]);
    ck_assert_double_ge(high, value[b.n - 1] * (1 - 1e-9));
    ck_assert_double_le(high, 1.05 * value[b.n - 1]);
    stokes_solver_destroy(solver);
  }
  free(value);
  free(copy);
  ref_bed_free(&b);
}
END_TEST

/* F F^T = A, column by column, in groups of m. */
static double covariance_error(const ref_bed *b, stokes_solver *solver, stokes_root kind, int m,
                               double tolerance)
{
  double *f = ref_alloc(b->n * b->n, sizeof *f), *z = ref_alloc(b->n * m, sizeof *z);
  double *part = ref_alloc(b->n * m, sizeof *part), rest = 0, norm = 0;
  for (int64_t first = 0; first < b->n; first += m) {
    const int64_t count = first + m < b->n ? m : b->n - first;
    stokes_outcome out;
    memset(z, 0, (size_t)(b->n * m) * sizeof *z);
    for (int64_t c = 0; c < count; c++)
      z[(first + c) * m + c] = 1;
    ck_ok(root(b, solver, kind, m, z, part, tolerance, 500, &out));
    ck_assert_double_le(out.residual, tolerance);
    for (int64_t r = 0; r < b->n; r++)
      for (int64_t c = 0; c < m; c++) {
        if (c < count)
          f[r * b->n + first + c] = part[r * m + c];
        else
          ck_assert_double_eq(part[r * m + c], 0); /* S 0 = 0 */
      }
  }
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t j = 0; j < b->n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < b->n; k++)
        sum += f[i * b->n + k] * f[j * b->n + k];
      rest += pow(sum - b->dense[i * b->n + j], 2);
      norm += pow(b->dense[i * b->n + j], 2);
    }
  free(f);
  free(z);
  free(part);
  return sqrt(rest / norm);
}

START_TEST(covariance_is_the_matrix)
{
  ref_bed b = make_bed(90, 0.45, 2);
  for (int kind = 0; kind < STOKES_ROOT_COUNT; kind++) {
    stokes_solver *solver = solver_of(&b, (stokes_preconditioner)_i);
    const double error = covariance_error(&b, solver, (stokes_root)kind, 64, 1e-5);
    ck_assert_msg(error <= 4e-5, "%s: %g", stokes_root_words[kind], error);
    ck_assert_double_le(covariance_error(&b, solver, (stokes_root)kind, 7, 1e-9), 4e-9);
    stokes_solver_destroy(solver);
  }
  ref_bed_free(&b);
}
END_TEST

/* S S z = A z, and both roots agree with each other. */
START_TEST(twice_is_the_matrix)
{
  ref_bed b = make_bed(240, 0.5, 2);
  const int m = 5;
  stokes_solver *solver = solver_of(&b, STOKES_PRECONDITION_NONE);
  double *z = ref_vector(b.n * m, 1), *az = ref_alloc(b.n * m, sizeof *z);
  double *f[2], *g = ref_alloc(b.n * m, sizeof *g);
  int products[STOKES_ROOT_COUNT];
  ref_multiply(b.dense, b.n, m, z, az);
  for (int kind = 0; kind < STOKES_ROOT_COUNT; kind++) {
    stokes_outcome out;
    f[kind] = ref_alloc(b.n * m, sizeof *g);
    ck_ok(root(&b, solver, (stokes_root)kind, m, z, f[kind], 1e-7, 500, &out));
    products[kind] = out.iterations;
    ck_ok(root(&b, solver, (stokes_root)kind, m, f[kind], g, 1e-7, 500, &out));
    for (int c = 0; c < m; c++) {
      double rest = 0, norm = 0;
      for (int64_t r = 0; r < b.n; r++) {
        rest += pow(g[r * m + c] - az[r * m + c], 2);
        norm += pow(az[r * m + c], 2);
      }
      ck_assert_msg(rest <= norm * 1e-12, "%s: %g", stokes_root_words[kind], sqrt(rest / norm));
    }
  }
  for (int64_t r = 0; r < b.n * m; r++)
    ck_assert_double_eq_tol(f[0][r], f[1][r], 1e-5);
  ck_assert_int_lt(products[STOKES_ROOT_LANCZOS], products[STOKES_ROOT_CHEBYSHEV]);
  free(z);
  free(az);
  free(g);
  free(f[0]);
  free(f[1]);
  stokes_solver_destroy(solver);
  ref_bed_free(&b);
}
END_TEST

/* |G G A z - z| / |z| for m columns; *order: of G. */
static double inverse_error(const ref_bed *b, stokes_solver *solver, int m, double tolerance,
                            int *order)
{
  const int64_t n = b->n * m;
  const size_t bytes = (size_t)n * sizeof(double);
  double *z = ref_vector(n, 8), *u = ref_alloc(n, sizeof *u), rest = 0, norm = 0;
  md_buffer on = {0};
  stokes_outcome out;
  ref_multiply(b->dense, b->n, m, z, u);
  ck_ok(md_buffer_reserve(b->ctx, &on, bytes, 0));
  ck_ok(md_write(b->ctx, on.data, u, bytes));
  for (int k = 0; k < 2; k++)
    ck_ok(stokes_solver_inverse_root(solver, m, on.data, on.data, tolerance, 500, &out));
  ck_ok(md_read(b->ctx, u, on.data, bytes));
  for (int64_t r = 0; r < n; r++) {
    rest += pow(u[r] - z[r], 2);
    norm += z[r] * z[r];
  }
  *order = out.iterations;
  md_buffer_free(b->ctx, &on);
  free(z);
  free(u);
  return sqrt(rest / norm);
}

/* Twice the inverse root undoes the matrix, with vectors of either precision: a GPU takes floats
 * where several vectors and a loose tolerance let it.  Orders are odd and even. */
START_TEST(twice_inverse_is_the_inverse)
{
  static const double tolerance[] = {3e-2, 2e-2, 1e-2, 5e-3, 1e-6};
  static const int widths[] = {1, 3, 8, 16, 20, 33};
  ref_bed b = make_bed(150, 0.5, 2);
  stokes_solver *solver = solver_of(&b, (stokes_preconditioner)_i);
  int seen = 0;
  for (int k = 0; k < 6 * STOKES_STORAGE_COUNT; k++) {
    const int m = widths[k % 6];
    stokes_matrix *matrix = ref_assemble(&b.suspension, (stokes_storage)(k / 6), &usual, m);
    ck_ok(stokes_solver_attach(solver, matrix));
    for (int t = 0; t < 5; t++) {
      int order;
      const double error = inverse_error(&b, solver, m, tolerance[t], &order);
      ck_assert_msg(error <= 2.1 * tolerance[t], "m = %d, %g: %g", m, tolerance[t], error);
      if (tolerance[t] >= 5e-3) seen |= 1 << order % 2;
    }
    stokes_matrix_destroy(matrix);
  }
  ck_assert_int_eq(seen, 3);
  stokes_solver_destroy(solver);
  ref_bed_free(&b);
}
END_TEST

/* Any matrix, here 1 x 1 in disguise: blocks d on the diagonal, whose roots are known. */
START_TEST(any_matrix_has_a_root)
{
  enum { ROWS = 30 };
  ref_bed b = {.ctx = test_ctx(MD_DOUBLE, 1, false), .n = 3 * ROWS};
  stokes_blocks blocks = {ROWS, ROWS, ref_alloc(ROWS + 1, 8), ref_alloc(ROWS, 4),
                          ref_alloc(9 * ROWS, 8)};
  double *z = ref_vector(b.n, 3), *f = ref_alloc(b.n, sizeof *f);
  for (int i = 0; i < ROWS; i++) {
    blocks.start[i + 1] = i + 1;
    blocks.column[i] = i;
    for (int d = 0; d < 3; d++)
      blocks.block[9 * i + 4 * d] = 0.01 * (1 + i) * (1 + d);
  }
  ck_ok(stokes_matrix_create(b.ctx, STOKES_BCRS, &b.matrix));
  ck_ok(stokes_matrix_set(b.matrix, &blocks, 1));
  for (int kind = 0; kind < STOKES_ROOT_COUNT; kind++)
    for (int first = 0; first < STOKES_PRECONDITIONER_COUNT; first++) {
      stokes_solver *solver = solver_of(&b, (stokes_preconditioner)first);
      stokes_outcome out;
      ck_ok(root(&b, solver, (stokes_root)kind, 1, z, f, 1e-8, 500, &out));
      for (int64_t r = 0; r < b.n; r++)
        ck_assert_double_eq_tol(f[r], z[r] * sqrt(blocks.block[9 * (r / 3) + 4 * (r % 3)]), 1e-7);
      stokes_solver_destroy(solver);
    }
  stokes_blocks_free(&blocks);
  stokes_matrix_destroy(b.matrix);
  free(z);
  free(f);
  md_ctx_destroy(b.ctx);
}
END_TEST

START_TEST(failures_are_reported)
{
  ref_bed b = make_bed(240, 0.45, 1);
  stokes_solver *solver = solver_of(&b, STOKES_PRECONDITION_NONE);
  double *z = ref_vector(b.n, 4), *f = ref_alloc(b.n, sizeof *f);
  stokes_outcome out;
  for (int kind = 0; kind < STOKES_ROOT_COUNT; kind++) {
    ck_assert_int_eq(root(&b, solver, (stokes_root)kind, 1, z, f, 1e-10, 6, &out), MD_ENUMERIC);
    ck_assert_ptr_nonnull(strstr(md_message(), "error of"));
    ck_assert_int_eq(stokes_solver_root(solver, (stokes_root)kind, 65, z, f, 1e-3, 99, &out),
                     MD_EINVAL);
    z[4] = INFINITY;
    ck_assert_int_eq(root(&b, solver, (stokes_root)kind, 1, z, f, 1e-3, 99, &out), MD_ENUMERIC);
    z[4] = 1;
  }
  free(z);
  free(f);
  stokes_solver_destroy(solver);
  ref_bed_free(&b);
}
END_TEST

START_TEST(threads_do_not_matter)
{
  enum { M = 3 };
  double *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    ref_bed b = make_bed(2500, 0.3, threads);
    double *z = ref_vector(b.n * M, 5), *f = ref_alloc(2 * b.n * M, sizeof *f);
    stokes_solver *solver = solver_of(&b, STOKES_PRECONDITION_JACOBI);
    stokes_outcome out;
    for (int kind = 0; kind < STOKES_ROOT_COUNT; kind++)
      ck_ok(root(&b, solver, (stokes_root)kind, M, z, f + kind * b.n * M, 1e-4, 300, &out));
    if (!first) first = ref_alloc(2 * b.n * M, 8), memcpy(first, f, (size_t)(2 * b.n * M) * 8);
    ck_assert_mem_eq(first, f, (size_t)(2 * b.n * M) * sizeof *f);
    free(z);
    free(f);
    stokes_solver_destroy(solver);
    ref_bed_free(&b);
  }
  free(first);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_root");
  TCase *all = tcase_create("roots");
  tcase_add_test(all, errors_of_polynomials);
  tcase_add_test(all, blocks_of_three);
  tcase_add_test(all, bounds_hold);
  tcase_add_test(all, twice_is_the_matrix);
  tcase_add_loop_test(all, twice_inverse_is_the_inverse, 0, STOKES_PRECONDITIONER_COUNT);
  tcase_add_test(all, any_matrix_has_a_root);
  tcase_add_test(all, failures_are_reported);
  tcase_add_test(all, threads_do_not_matter);
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  TCase *samples = test_long_case("samples");
  tcase_add_loop_test(samples, covariance_is_the_matrix, 0, STOKES_PRECONDITIONER_COUNT);
  suite_add_tcase(suite, samples);
  return test_main(suite);
}
