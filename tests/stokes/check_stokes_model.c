/* tests/stokes/check_stokes_model.c - the performance model of products with many vectors. */
#include "stokes/matrix/matrix_impl.h"
#include "stokes/model/model.h"
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers worked out by hand. */
START_TEST(model)
{
  const stokes_machine machine = {20e9, 40e9};
  const stokes_shape shape = {.n_rows = 1000, .n_blocks = 25000, .product_bytes = 1908000};
  ck_assert_double_eq_tol(stokes_model_bytes(&shape, 4, 0), 4 * 72000 + 1908000, 1e-6);
  ck_assert_double_eq_tol(stokes_model_bytes(&shape, 4, 2), 4 * 120000 + 1908000, 1e-6);
  ck_assert_double_eq_tol(stokes_model_time(&machine, &shape, 1, 0), 99e-6, 1e-12);
  ck_assert_double_eq_tol(stokes_model_time(&machine, &shape, 32, 0), 360e-6, 1e-12);
  ck_assert_double_eq_tol(stokes_model_relative(&machine, &shape, 32, 0), 360.0 / 99, 1e-12);
  /* 11.25 us m against 95.4 + 3.6 m us: from 12.5 on */
  ck_assert_int_eq(stokes_model_switch(&machine, &shape, 0), 13);
  /* 4.592 us m against 95.4 + 3.6 m us: from 96.2 on; 3 us m: never */
  ck_assert_int_eq(stokes_model_switch(&(stokes_machine){20e9, 98e9}, &shape, 0), 97);
  ck_assert_int_eq(stokes_model_switch(&(stokes_machine){20e9, 150e9}, &shape, 0), 0);
  ck_assert_int_eq(stokes_model_switch(&(stokes_machine){20e9, 1e9}, &shape, 0), 1);
  const stokes_counts counts = {162, 80, 63, 30};
  ck_assert_double_eq_tol(stokes_model_step(&machine, &shape, &counts, 1, 0), 255 * 99e-6, 1e-9);
  const double two = (192 * 102.6 + (110 + 126) * 99) / 2 * 1e-6;
  ck_assert_double_eq_tol(stokes_model_step(&machine, &shape, &counts, 2, 0), two, 1e-9);
  int best = 1;
  for (int m = 1; m <= 64; m++)
    if (stokes_model_step(&machine, &shape, &counts, m, 0) <
        stokes_model_step(&machine, &shape, &counts, best, 0))
      best = m;
  int widths[64];
  for (int m = 1; m <= 64; m++)
    widths[m - 1] = m;
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, widths, 64, 0), best);
  ck_assert_int_ge(best, 10); /* near m_s, as the paper says */
  ck_assert_int_le(best, 16);
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, widths, 4, 0), 4);
  const int some[] = {1, 4, best + 1, 64}; /* falls up to the best one and rises from there */
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, some, 4, 0), best + 1);
  ck_assert_int_eq(stokes_model_best(&machine, &shape, &counts, some, 2, 0), 4);
  /* [Liu] Table VII, 300,000 spheres at 50 %: 7.70 s without and 5.46 s with 16 right-hand sides */
  const stokes_machine xeon = {19.4e9, 40e9};
  const stokes_shape large = {
      .n_rows = 300000, .n_blocks = 7470000, .product_bytes = 300000 * 4.0 + 7470000 * 76.0};
  ck_assert_double_eq_tol(stokes_model_step(&xeon, &large, &counts, 1, 0), 7.76, 0.01);
  ck_assert_double_eq_tol(stokes_model_step(&xeon, &large, &counts, 16, 0), 5.66, 0.1);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_machine here;
  ck_ok(stokes_machine_measure(ctx, STOKES_BCRS, &here));
  ck_assert(here.bandwidth > 1e7 && here.flops > 1e6 && isfinite(here.flops));
  md_ctx_destroy(ctx);
}
END_TEST

enum { ROWS = 200 };

/* Rows of 0 to 16 blocks, near the diagonal and far away. */
static stokes_blocks uneven(void)
{
  stokes_blocks blocks = {ROWS, 0, calloc(ROWS + 1, sizeof(int64_t)),
                          calloc(ROWS * 16, sizeof(int32_t)), NULL};
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t k = 0; k < i * 7 % 17; k++)
      blocks.column[blocks.n_blocks++] = (int32_t)((i + (k % 3 == 0 ? 53 * k : k)) % ROWS);
    blocks.start[i + 1] = blocks.n_blocks;
  }
  return blocks;
}

/* Rows that the rows from first on, up to last, need and do not have; whose they are by the
 * cuts. */
static void count_slowly(const stokes_blocks *blocks, const int64_t *cut, int nodes, int node,
                         int64_t *remote, int *messages)
{
  bool asked[ROWS] = {false};
  *remote = 0, *messages = 0;
  for (int other = 0; other < nodes; other++) {
    bool any = false;
    for (int64_t row = cut[other]; other != node && row < cut[other + 1]; row++)
      for (int64_t p = blocks->start[cut[node]]; p < blocks->start[cut[node + 1]]; p++)
        if (blocks->column[p] == row && !asked[row]) asked[row] = any = true, ++*remote;
    *messages += any;
  }
}

START_TEST(shares_of_nodes)
{
  stokes_blocks blocks = uneven();
  for (int nodes = 1; nodes <= ROWS; nodes += nodes < 9 ? 1 : 37) {
    stokes_share shares[ROWS];
    int64_t cut[ROWS + 1] = {0}, remote, total = 0;
    double bytes = 0;
    int messages;
    ck_ok(stokes_model_shares(&blocks, 1e6, nodes, shares));
    for (int k = 0; k < nodes; k++) {
      cut[k + 1] = cut[k] + shares[k].shape.n_rows;
      ck_assert_int_eq(shares[k].shape.n_blocks, blocks.start[cut[k + 1]] - blocks.start[cut[k]]);
      ck_assert_int_le(llabs(shares[k].shape.n_blocks - blocks.n_blocks / nodes), 17);
      total += shares[k].shape.n_blocks, bytes += shares[k].shape.product_bytes;
    }
    ck_assert(cut[nodes] == ROWS && total == blocks.n_blocks);
    ck_assert_double_eq_tol(bytes, 1e6, 1e-3);
    for (int k = 0; k < nodes; k++) {
      count_slowly(&blocks, cut, nodes, k, &remote, &messages);
      ck_assert(shares[k].remote == remote && shares[k].messages == messages);
    }
  }
  stokes_share one;
  ck_assert_int_eq(stokes_model_shares(&blocks, 1e6, ROWS + 1, &one), MD_EINVAL);
  ck_assert_int_eq(stokes_model_shares(&blocks, 1e6, 0, &one), MD_EINVAL);
  blocks.n_blocks = 0; /* no blocks: the vectors are left */
  memset(blocks.start, 0, (ROWS + 1) * sizeof *blocks.start);
  ck_ok(stokes_model_shares(&blocks, 800, 1, &one));
  ck_assert(one.shape.n_rows == ROWS && one.shape.product_bytes == 0 && one.remote == 0);
  free(blocks.start), free(blocks.column);
}
END_TEST

/* Numbers worked out by hand: the second node takes longer with one vector, the first with many. */
START_TEST(times_of_nodes)
{
  const stokes_machine machine = {20e9, 40e9};
  const stokes_network network = {2e-6, 3e9};
  const stokes_share shares[] = {
      {{.n_rows = 1000, .n_blocks = 25000, .product_bytes = 1908000}, 500, 3},
      {{.n_rows = 500, .n_blocks = 25000, .product_bytes = 1904000}, 100, 7}};
  double part = -1;
  /* 99 + 6 + 4 us; 97 + 14 + .8 us */
  ck_assert_double_eq_tol(stokes_model_nodes(&machine, &network, shares, 2, 1, &part), 111.8e-6,
                          1e-12);
  ck_assert_double_eq_tol(part, 14.8 / 111.8, 1e-9);
  /* 360 + 6 + 128 us; 360 + 14 + 25.6 us */
  ck_assert_double_eq_tol(stokes_model_nodes(&machine, &network, shares, 2, 32, &part), 494e-6,
                          1e-12);
  ck_assert_double_eq_tol(part, 134.0 / 494, 1e-9);
}
END_TEST

/* Least time to make so many columns, tried out. */
static double least_seconds(int left, const gspmv_part *way, const double *seconds, int n)
{
  double least = left > 0 ? INFINITY : 0;
  for (int k = 0; left > 0 && k < n; k++)
    least = fmin(least, seconds[k] + least_seconds(left - way[k].columns, way, seconds, n));
  return least;
}

/* Compositions of the least time there is, which make all columns. */
START_TEST(compositions)
{
  uint64_t seed = 3;
  for (int turn = 0; turn < 300; turn++) {
    const int m = 1 + turn % 41, n = 1 + turn % 4;
    gspmv_part way[4];
    double seconds[4], total = 0;
    gspmv_plan plan;
    for (int k = 0; k < n; k++) {
      const int columns =
          k ? 6 + (int)(40 * ref_uniform(&seed)) : m + (int)(ref_uniform(&seed) * 8);
      way[k] = (gspmv_part){k, 1, columns};
      seconds[k] = 0.1 + ref_uniform(&seed) * columns;
    }
    ck_ok(gspmv_compose(m, way, seconds, n, &plan));
    int made = 0;
    for (int k = 0; k < plan.n; k++) {
      ck_assert_int_lt(made, m);
      ck_assert(plan.n == 1 || plan.part[k].columns < m);
      made += plan.part[k].columns;
      total += seconds[plan.part[k].kernel];
    }
    ck_assert_int_ge(made, m);
    ck_assert_double_eq_tol(total, least_seconds(m, way, seconds, n), 1e-12 * total);
    free(plan.part);
  }
  /* 36 columns: 32 and 4 rather than two panels of 32, as on an H200 */
  const gspmv_part way[] = {{0, 2, 64}, {0, 1, 32}, {1, 1, 4}, {2, 1, 8}};
  gspmv_plan plan;
  ck_ok(gspmv_compose(36, way, (const double[]){1490, 645, 246, 272}, 4, &plan));
  ck_assert(plan.n == 2 && plan.part[0].columns + plan.part[1].columns == 36);
  free(plan.part);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_model");
  TCase *numbers = tcase_create("numbers");
  tcase_add_test(numbers, model);
  tcase_add_test(numbers, shares_of_nodes);
  tcase_add_test(numbers, times_of_nodes);
  tcase_add_test(numbers, compositions);
  tcase_set_timeout(numbers, 120);
  suite_add_tcase(suite, numbers);
  return test_main(suite);
}
