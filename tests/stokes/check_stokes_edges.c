/* tests/stokes/check_stokes_edges.c - right-hand sides that are zero, or no numbers; another
 * matrix; a solve that is over at once. */
#include "stokes/solver/solver.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

enum { SPHERES = 60, COLUMNS = 3, NUMBERS = 3 * SPHERES * COLUMNS };
static const stokes_resistance usual = {1, 0.5, 1e-3};

/* A matrix, its solver, right-hand sides and solutions on the backend. */
typedef struct {
  ref_bed bed;
  stokes_solver *solver;
  md_buffer b, x;
} fixture;

static fixture open_solver(int preconditioner)
{
  fixture f = {.bed = ref_bed_make(ref_packing(SPHERES, 0.4, true, 31), 2, &usual)};
  ck_ok(stokes_solver_create(f.bed.ctx, (stokes_preconditioner)preconditioner, &f.solver));
  ck_ok(stokes_solver_attach(f.solver, f.bed.matrix));
  ck_ok(md_buffer_reserve(f.bed.ctx, &f.b, NUMBERS * sizeof(double), 0));
  ck_ok(md_buffer_reserve(f.bed.ctx, &f.x, NUMBERS * sizeof(double), 0));
  return f;
}

static void set(fixture *f, const double *b, const double *x)
{
  ck_ok(md_write(f->bed.ctx, f->b.data, b, NUMBERS * sizeof *b));
  ck_ok(md_write(f->bed.ctx, f->x.data, x, NUMBERS * sizeof *x));
}

static void close_solver(fixture *f)
{
  md_buffer_free(f->bed.ctx, &f->b);
  md_buffer_free(f->bed.ctx, &f->x);
  stokes_solver_destroy(f->solver);
  ref_bed_free(&f->bed);
}

/* The solution for zero is zero, whatever the guess. */
START_TEST(nothing_gives_nothing)
{
  fixture f = open_solver(_i);
  double zero[NUMBERS] = {0}, x[NUMBERS], *guess = ref_vector(NUMBERS, 4);
  stokes_outcome out;
  for (int block = 0; block < 2; block++) {
    set(&f, zero, guess);
    if (block)
      ck_ok(stokes_solver_block_cg(f.solver, COLUMNS, f.b.data, f.x.data, 1e-8, 500, &out));
    else
      ck_ok(stokes_solver_cg(f.solver, f.b.data, f.x.data, 1e-8, 500, &out));
    ck_assert(out.iterations == 0 && out.residual == 0);
    ck_ok(md_read(f.bed.ctx, x, f.x.data, sizeof x));
    for (int k = 0; k < (block ? NUMBERS : NUMBERS / COLUMNS); k++)
      ck_assert(x[k] == 0);
  }
  free(guess);
  close_solver(&f);
}
END_TEST

/* A number that is none may be in any column: no solver calls that a solution. */
START_TEST(what_is_no_number_is_refused)
{
  static const double bad[] = {NAN, INFINITY};
  fixture f = open_solver(_i);
  double *b = ref_vector(NUMBERS, 5), zero[NUMBERS] = {0};
  stokes_outcome out;
  for (int k = 0; k < 2 * COLUMNS; k++) {
    const int at = COLUMNS * 50 + k / 2;
    const double good = b[at];
    b[at] = bad[k % 2];
    set(&f, b, zero);
    ck_assert_int_eq(stokes_solver_block_cg(f.solver, COLUMNS, f.b.data, f.x.data, 1e-8, 500, &out),
                     MD_ENUMERIC);
    set(&f, b, zero);
    ck_assert_int_eq(stokes_solver_cg(f.solver, f.b.data, f.x.data, 1e-8, 500, &out), MD_ENUMERIC);
    ck_assert_int_eq(stokes_solver_root(f.solver, STOKES_ROOT_CHEBYSHEV, COLUMNS, f.b.data,
                                        f.x.data, 1e-3, 500, &out),
                     MD_ENUMERIC);
    b[at] = good;
  }
  free(b);
  close_solver(&f);
}
END_TEST

/* Bounds of eigenvalues belong to a matrix, not to its solver. */
START_TEST(another_matrix_has_other_bounds)
{
  static const stokes_resistance wider = {1, 0.8, 1e-3};
  fixture f = open_solver(_i);
  stokes_matrix *matrix = ref_assemble(&f.bed.suspension, STOKES_BCRS, &wider, 1);
  stokes_solver *fresh;
  double was[2], now[2], expected[2];
  ck_ok(stokes_solver_bounds(f.solver, true, &was[0], &was[1]));
  ck_ok(stokes_solver_attach(f.solver, matrix));
  ck_ok(stokes_solver_bounds(f.solver, true, &now[0], &now[1]));
  ck_ok(stokes_solver_create(f.bed.ctx, (stokes_preconditioner)_i, &fresh));
  ck_ok(stokes_solver_attach(fresh, matrix));
  ck_ok(stokes_solver_bounds(fresh, true, &expected[0], &expected[1]));
  ck_assert(now[0] == expected[0] && now[1] == expected[1]);
  ck_assert(was[0] != now[0] || was[1] != now[1]);
  stokes_solver_destroy(fresh);
  stokes_matrix_destroy(matrix);
  close_solver(&f);
}
END_TEST

/* Two eigenvalues that differ by a little: one step leaves a residual whose square the sums taken
 * before the step do not know, which must not count as converged. */
START_TEST(long_steps)
{
  enum { N = 3 * SPHERES };
  fixture f = open_solver(STOKES_PRECONDITION_NONE);
  stokes_blocks blocks = {SPHERES, SPHERES, ref_alloc(SPHERES + 1, 8), ref_alloc(SPHERES, 4),
                          ref_alloc(3 * N, 8)};
  double x[NUMBERS] = {0};
  stokes_outcome out;
  for (int k = 0; k < 24; k++) {
    const double little = pow(10, -6 - k % 3);
    double *b = ref_vector(NUMBERS, (uint64_t)k), rest = 0, norm = 0, zero[NUMBERS] = {0};
    for (int i = 0; i < SPHERES; i++) {
      blocks.start[i + 1] = i + 1, blocks.column[i] = i;
      for (int d = 0; d < 3; d++)
        blocks.block[9 * i + 4 * d] = 1 + i % 2 * little;
    }
    ck_ok(stokes_matrix_set(f.bed.matrix, &blocks, 1));
    ck_ok(stokes_solver_attach(f.solver, f.bed.matrix));
    set(&f, b, zero);
    ck_ok(stokes_solver_cg(f.solver, f.b.data, f.x.data, 1e-12, 9, &out));
    ck_assert_int_le(out.iterations, 2);
    ck_ok(md_read(f.bed.ctx, x, f.x.data, sizeof x));
    for (int r = 0; r < N; r++) {
      rest += pow(b[r] - (1 + r / 3 % 2 * little) * x[r], 2);
      norm += b[r] * b[r];
    }
    ck_assert_double_le(rest, 1e-24 * norm);
    free(b);
  }
  stokes_blocks_free(&blocks);
  close_solver(&f);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_edges");
  TCase *tc = tcase_create("edges");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, nothing_gives_nothing, 0, STOKES_PRECONDITIONER_COUNT);
  tcase_add_loop_test(tc, another_matrix_has_other_bounds, 0, STOKES_PRECONDITIONER_COUNT);
  tcase_add_loop_test(tc, what_is_no_number_is_refused, 0, STOKES_PRECONDITIONER_COUNT);
  tcase_add_test(tc, long_steps);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
