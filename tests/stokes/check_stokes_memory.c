/* tests/stokes/check_stokes_memory.c - runs of suspensions hold little more than their matrix and
 * the vectors that their method names. */
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* With eight vectors; on the CPU M^-1 is kept, too, and series are in double precision.  On the GPU
 * cells of the pair search are fine along z, which shows beside the smallest matrix. */
static const struct {
  stokes_algorithm algorithm;
  stokes_guess guess;
  stokes_force force;
  stokes_storage storage;
  double columns[MD_BACKEND_COUNT]; /* of the method, each three doubles a sphere */
  double most[MD_BACKEND_COUNT];    /* times matrix and columns */
} ways[] = {
    {STOKES_ORIGINAL,
     STOKES_GUESS_SOLVE,
     STOKES_FORCE_CHEBYSHEV,
     STOKES_PAIR,
     {7, 7},
     {1.35, 1.25}},
    {STOKES_ORIGINAL, STOKES_GUESS_SOLVE, STOKES_FORCE_PAIRS, STOKES_PAIR, {7, 7}, {1.35, 1.25}},
    {STOKES_ORIGINAL, STOKES_GUESS_SOLVE, STOKES_FORCE_PAIRS, STOKES_BCRS, {7, 7}, {1.2, 1.2}},
    {STOKES_MRHS, STOKES_GUESS_SOLVE, STOKES_FORCE_CHEBYSHEV, STOKES_PAIR, {50, 50}, {1.2, 1.2}},
    {STOKES_MRHS, STOKES_GUESS_SOLVE, STOKES_FORCE_PAIRS, STOKES_PAIR, {50, 50}, {1.2, 1.2}},
    {STOKES_MRHS, STOKES_GUESS_SERIES, STOKES_FORCE_CHEBYSHEV, STOKES_PAIR, {35, 23}, {1.2, 1.25}},
};
enum { WAYS = sizeof ways / sizeof *ways, VECTORS = 8 };

START_TEST(little_besides_matrix_and_vectors)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_packing packing = ref_packing(2000, 0.3, false, 3);
  stokes_run_spec spec = stokes_run_defaults();
  stokes_run *run;
  stokes_counts counts;
  stokes_shape shape;
  double most = 0;
  spec.vectors = VECTORS;
  spec.law.gap_cut = 2;
  spec.algorithm = ways[_i].algorithm;
  spec.guess = ways[_i].guess;
  spec.force = ways[_i].force;
  spec.storage = ways[_i].storage;
  spec.preconditioner = STOKES_PRECONDITION_JACOBI;
  ck_ok(stokes_run_create(ctx, &spec, &packing, &run));
  for (int k = 0; k < 2; k++) {
    stokes_step step;
    ck_ok(stokes_run_step(run, &step));
    most = fmax(most, (double)ctx->bytes_allocated);
  }
  ck_ok(stokes_run_probe(run, &counts, &shape));
  const double named =
      shape.product_bytes + 24 * ways[_i].columns[ctx->backend] * (double)packing.n;
  /* sums of parts, on their way to the host */
  const double parts = 60e3 + (spec.algorithm == STOKES_MRHS ? 2048 * VECTORS * VECTORS : 0);
  ck_assert_msg(most <= ways[_i].most[ctx->backend] * named + parts, "%g bytes, %.3f times %g",
                most, most / named, named);
  stokes_run_destroy(run);
  ck_assert_int_eq(ctx->bytes_allocated, 0);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Pairs nearer than the cutoff. */
static int64_t count_pairs(const stokes_packing *p, double gap_cut)
{
  int64_t count = 0;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < i; j++) {
      double sum = 0;
      for (int d = 0; d < 3; d++)
        sum += pow(remainder(p->x[4 * i + d] - p->x[4 * j + d], p->box[d]), 2);
      count += 2 * sqrt(sum) / (p->x[4 * i + 3] + p->x[4 * j + 3]) - 2 < gap_cut;
    }
  return count;
}

/* The columns of a row ascend. */
static void check_columns(const stokes_matrix *matrix)
{
  stokes_blocks blocks;
  ck_ok(stokes_matrix_get(matrix, &blocks));
  for (int64_t i = 0; i < blocks.n_rows; i++)
    for (int64_t p = blocks.start[i] + 1; p < blocks.start[i + 1]; p++)
      ck_assert_int_lt(blocks.column[p - 1], blocks.column[p]);
  stokes_blocks_free(&blocks);
}

/* What a product reads: blocks or pairs with their columns, where rows start, diagonals of
 * pairs. */
START_TEST(bytes_of_a_product)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing packing = ref_packing(300, 0.4, false, 3);
  const stokes_resistance law = {1, 0.5, 1e-3};
  ref_suspension s = ref_suspend(ctx, &packing, 0.5);
  for (int k = 0; k < STOKES_STORAGE_COUNT; k++) {
    stokes_matrix *matrix = ref_assemble(&s, (stokes_storage)k, &law, 1);
    const stokes_shape shape = stokes_matrix_shape(matrix);
    const double rows = 300, blocks = (double)shape.n_blocks;
    const double bytes = k == STOKES_BCRS     ? blocks * (9 * 8 + 4) + rows * 8
                         : k == STOKES_SINGLE ? blocks * (9 * 4 + 4) + rows * 8
                                              : (blocks - rows) * (5 * 4 + 4) + rows * (8 + 6 * 8);
    ck_assert_int_eq(shape.n_rows, 300);
    ck_assert_int_eq(shape.n_blocks, 300 + 2 * count_pairs(&packing, law.gap_cut));
    check_columns(matrix);
    ck_assert_double_eq(shape.product_bytes, bytes);
    stokes_matrix_destroy(matrix);
  }
  ref_suspension_free(&s);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_memory");
  TCase *all = tcase_create("memory");
  tcase_add_loop_test(all, little_besides_matrix_and_vectors, 0, WAYS);
  tcase_add_test(all, bytes_of_a_product);
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  return test_main(suite);
}
