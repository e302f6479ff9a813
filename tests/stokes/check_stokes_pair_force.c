/* tests/stokes/check_stokes_pair_force.c - Brownian forces by pairs: their root times its transpose
 * is the dense matrix; their statistics, continuity, and what they must not depend on. */
#include "stokes/normal.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* The CPU's code once more, fed with unit vectors: the three numbers of one sphere or pair are
 * those of the unit vector `step`, all others 0. */
static normal_use unit_use;
static uint64_t unit_index;
static void unit_normals(uint64_t seed, normal_use use, const uint64_t *index, const uint64_t *step,
                         double (*z)[64])
{
  (void)seed;
  for (int k = 0; k < 64; k++)
    for (uint64_t d = 0; d < 3; d++)
      z[d][k] = use == unit_use && index[k] == unit_index && d == step[k];
}
#include "stokes/step/pair_force_impl.h"
#define pair_normals_portable unit_normals
#define pair_normals_avx2 unit_normals
#define pair_normals_avx512 unit_normals
#define pair_force_cpu unit_force_cpu
#define stokes_pair_force unit_force
#define stokes_pair_force_rows unit_force_rows
#include "stokes/step/pair_force.c"
#undef stokes_pair_force
#undef stokes_pair_force_rows
#undef pair_force_cpu
#undef pair_normals_portable
#undef pair_normals_avx2
#undef pair_normals_avx512

/* Numbers of batches are those of one item at a time, with any instruction set. */
START_TEST(batches_are_normal_numbers)
{
  static pair_normals_fn *const of_isa[] = SIMD_ROW(pair_normals);
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  double z[3][PAIR_BATCH], expect[3], most = 0;
  uint64_t index[PAIR_BATCH], step[PAIR_BATCH];
  for (int isa = 0; isa <= (int)ctx->isa; isa++)
    for (uint64_t group = 0; group < 500; group++) {
      for (uint64_t k = 0; k < PAIR_BATCH; k++)
        index[k] = group << 32 | k * 77, step[k] = group * k;
      of_isa[isa](group, NORMAL_PAIR, index, step, z);
      for (int k = 0; k < PAIR_BATCH; k++) {
        normal_three(group, NORMAL_PAIR, index[k], step[k], expect);
        for (int d = 0; d < 3; d++)
          most = fmax(most, fabs(z[d][k] - expect[d]));
      }
    }
  ck_assert_double_le(most, 1e-14);
  md_ctx_destroy(ctx);
}
END_TEST

/* A suspension on a context's backend, its spheres numbered as they lie or by `id`. */
typedef struct {
  md_ctx *ctx;
  ref_suspension s;
  stokes_resistance law;
  md_buffer id;
} bed;

static bed make_bed(md_ctx *ctx, const stokes_packing *packing, double cut, const int32_t *id)
{
  bed b = {.ctx = ctx, .law = {1.3, cut, 1e-3}};
  int32_t *number = ref_alloc(packing->n, sizeof *number);
  for (int64_t i = 0; i < packing->n; i++)
    number[i] = id ? id[i] : (int32_t)i;
  b.s = ref_suspend(ctx, packing, cut);
  ck_ok(md_buffer_reserve(ctx, &b.id, (size_t)packing->n * sizeof *number, 0));
  ck_ok(md_write(ctx, b.id.data, number, (size_t)packing->n * sizeof *number));
  ck_ok(md_ctx_sync(ctx));
  free(number);
  return b;
}

/* packing: its spheres, NULL where others still need them. */
static void free_bed(bed *b, stokes_packing *packing)
{
  if (packing) stokes_packing_free(packing);
  ref_suspension_free(&b->s);
  md_buffer_free(b->ctx, &b->id);
}

/* [3 n][m] on the host. */
static double *forces(const bed *b, uint64_t seed, uint64_t step, int m)
{
  const int64_t count = 3 * b->s.view.n * m;
  const stokes_pair_view list = stokes_pairs_view(b->s.pairs);
  const stokes_noise noise = {seed, step, b->id.data};
  double *f = ref_alloc(count, sizeof *f);
  md_buffer out = {0};
  ck_ok(md_buffer_reserve(b->ctx, &out, (size_t)count * sizeof *f, 0));
  ck_ok(md_fill(b->ctx, out.data, 0xff, (size_t)count * sizeof *f));
  ck_ok(stokes_pair_force(b->ctx, &b->s.view, &list, &b->law, &noise, m, out.data));
  ck_ok(md_read(b->ctx, f, out.data, (size_t)count * sizeof *f));
  md_buffer_free(b->ctx, &out);
  return f;
}

static md_ctx *host(int threads)
{
  md_ctx *ctx;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, threads, true}, &ctx));
  return ctx;
}

/* Subtract B B^T, where B has the three columns of one sphere or pair, from r; spheres i and j. */
static void subtract_columns(const bed *b, normal_use use, int64_t i, int64_t j, double *f,
                             double *r)
{
  const int64_t n = 3 * b->s.view.n, sphere[2] = {i, j};
  const stokes_pair_view list = stokes_pairs_view(b->s.pairs);
  const stokes_noise noise = {0, 0, b->id.data};
  unit_use = use;
  unit_index = use == NORMAL_PAIR ? (uint64_t)i << 32 | (uint64_t)j : (uint64_t)i;
  ck_ok(unit_force(b->ctx, &b->s.view, &list, &b->law, &noise, 3, f));
  const int sides = use == NORMAL_PAIR ? 2 : 1;
  for (int p = 0; p < 3 * sides; p++)
    for (int q = 0; q < 3 * sides; q++)
      for (int c = 0; c < 3; c++) {
        const int64_t row = 3 * sphere[p / 3] + p % 3, col = 3 * sphere[q / 3] + q % 3;
        r[row * n + col] -= f[3 * row + c] * f[3 * col + c];
      }
  for (int p = 0; p < 3 * sides; p++) /* nothing elsewhere */
    for (int c = 0; c < 3; c++)
      f[3 * (3 * sphere[p / 3] + p % 3) + c] = 0;
  int64_t elsewhere = 0;
  for (int64_t k = 0; k < 3 * n; k++)
    elsewhere += f[k] != 0;
  ck_assert_int_eq(elsewhere, 0);
}

static double norm_of(const double *r, int64_t count)
{
  double sum = 0;
  for (int64_t k = 0; k < count; k++)
    sum += r[k] * r[k];
  return sqrt(sum);
}

/* The assembled matrix, which check_stokes_matrix compares with published formulas. */
static double *assembled(const bed *b)
{
  const int64_t n = 3 * b->s.view.n;
  stokes_matrix *matrix = ref_assemble(&b->s, STOKES_BCRS, &b->law, 1);
  stokes_blocks blocks;
  double *r = ref_alloc(n * n, sizeof *r);
  ck_ok(stokes_matrix_get(matrix, &blocks));
  for (int64_t i = 0; i < blocks.n_rows; i++)
    for (int64_t p = blocks.start[i]; p < blocks.start[i + 1]; p++)
      for (int k = 0; k < 9; k++)
        r[(3 * i + k / 3) * n + 3 * (int64_t)blocks.column[p] + k % 3] = blocks.block[9 * p + k];
  stokes_blocks_free(&blocks);
  stokes_matrix_destroy(matrix);
  return r;
}

/* |R' - B B^T| / |R'| for one size and E. coli's. */
START_TEST(root_of_the_matrix)
{
  static const double cuts[] = {0.5, 2, 3}, occupancies[] = {0.4, 0.1, 0.1};
  const double cut = cuts[_i / 2];
  md_ctx *ctx = host(1);
  stokes_packing packing = ref_packing(400, occupancies[_i / 2], _i % 2 == 0, 51);
  bed b = make_bed(ctx, &packing, cut, NULL);
  const int64_t n = 3 * packing.n;
  const stokes_pair_view list = stokes_pairs_view(b.s.pairs);
  double *r = assembled(&b), *f = ref_alloc(3 * n, sizeof *f);
  const double norm = norm_of(r, n * n);
  for (int64_t i = 0; i < packing.n; i++) {
    subtract_columns(&b, NORMAL_BROWNIAN, i, i, f, r);
    for (int64_t k = list.start[i]; k < list.start[i + 1]; k++)
      if (list.neighbor[k] > i) subtract_columns(&b, NORMAL_PAIR, i, list.neighbor[k], f, r);
  }
  const double error = norm_of(r, n * n) / norm;
  ck_assert_msg(error <= 1e-14, "cutoff %g: %g", cut, error);
  free(r);
  free(f);
  free_bed(&b, &packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Forces on the backend under test are those of the CPU; many are many of one; a step later the
 * first column is the second. */
START_TEST(columns_and_backends_agree)
{
  enum { M = 5 };
  stokes_packing packing = ref_packing(1300, 0.4, false, 52);
  md_ctx *cpu = host(1), *ctx = test_ctx(MD_DOUBLE, 2, true);
  bed a = make_bed(cpu, &packing, 0.5, NULL), b = make_bed(ctx, &packing, 0.5, NULL);
  const int64_t n = 3 * packing.n;
  double *expect = forces(&a, 7, 3, M), *found = forces(&b, 7, 3, M);
  double most = 0;
  for (int64_t k = 0; k < n * M; k++)
    most = fmax(most, fabs(found[k] - expect[k]));
  ck_assert_double_le(most, 1e-10);
  for (int c = 0; c < M; c++) {
    double *one = forces(&b, 7, 3 + (uint64_t)c, 1);
    int64_t differ = 0;
    for (int64_t k = 0; k < n; k++)
      differ += !(one[k] == found[k * M + c]);
    ck_assert_int_eq(differ, 0);
    free(one);
  }
  double *other = forces(&b, 8, 3, 1);
  ck_assert_double_gt(fabs(other[0] - found[0]), 1e-6);
  free(other);
  free(expect);
  free(found);
  free_bed(&a, NULL);
  free_bed(&b, &packing);
  md_ctx_destroy(cpu);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(threads_do_not_matter)
{
  stokes_packing packing = ref_packing(2500, 0.4, false, 53);
  double *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, true);
    bed b = make_bed(ctx, &packing, 0.5, NULL);
    double *f = forces(&b, 9, 0, 2);
    if (!first)
      first = f;
    else
      ck_assert_mem_eq(first, f, (size_t)(6 * packing.n) * sizeof *f);
    if (f != first) free(f);
    free_bed(&b, NULL);
    md_ctx_destroy(ctx);
  }
  free(first);
  stokes_packing_free(&packing);
}
END_TEST

/* The same spheres backwards in memory, and shifted through the periodic box. */
START_TEST(order_does_not_matter)
{
  const int64_t n = 600;
  stokes_packing packing = ref_packing(n, 0.4, false, 54), turned = ref_copy(&packing);
  int32_t *id = ref_alloc(n, sizeof *id);
  for (int64_t i = 0; i < n; i++) {
    id[i] = (int32_t)(n - 1 - i);
    memcpy(turned.x + 4 * i, packing.x + 4 * id[i], 4 * sizeof(double));
    turned.x[4 * i] += 0.37 * packing.box[0];
  }
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  bed a = make_bed(ctx, &packing, 0.5, NULL), b = make_bed(ctx, &turned, 0.5, id);
  double *f = forces(&a, 10, 4, 1), *g = forces(&b, 10, 4, 1);
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < 3; d++)
      ck_assert_double_eq_tol(g[3 * i + d], f[3 * id[i] + d], 1e-8);
  free(f);
  free(g);
  free(id);
  free_bed(&a, &packing);
  free_bed(&b, &turned);
  md_ctx_destroy(ctx);
}
END_TEST

/* Ranges of spheres, each from its own rows of the list, have the bits of all at once: cut within
 * chunks, at their ends, and empty. */
START_TEST(rows_are_those_of_all)
{
  static const int64_t cut[] = {0, 0, 300, 1024, 1025, 2048, 2600};
  enum { M = 3, N = 2600, RANGES = sizeof cut / sizeof *cut - 1 };
  stokes_packing packing = ref_packing(N, 0.4, false, 56);
  md_ctx *ctx = host(2);
  bed b = make_bed(ctx, &packing, 0.5, NULL);
  double *all = forces(&b, 13, 6, M), *f = ref_alloc(3 * N * M, sizeof *f);
  const stokes_pair_view list = stokes_pairs_view(b.s.pairs);
  const stokes_noise noise = {13, 6, b.id.data};
  for (int r = 0; r < RANGES; r++) {
    int64_t *start = ref_alloc(N + 1, sizeof *start);
    for (int64_t i = 0; i <= N; i++)
      start[i] = list.start[i < cut[r] ? cut[r] : i > cut[r + 1] ? cut[r + 1] : i];
    const stokes_pair_view own = {
        .n = N, .n_entries = list.n_entries, .start = start, .neighbor = list.neighbor};
    memset(f, 0xff, 3 * N * M * sizeof *f);
    ck_ok(stokes_pair_force_rows(ctx, &b.s.view, &own, &b.law, &noise, cut[r], cut[r + 1], M, f));
    const int64_t count = 3 * M * (cut[r + 1] - cut[r]);
    for (int64_t k = 0; k < count; k++)
      ck_assert_msg(f[k] == all[3 * M * cut[r] + k], "range %d, number %lld", r, (long long)k);
    ck_assert(count == 3 * M * N || isnan(f[count]));
    free(start);
  }
  free(all);
  free(f);
  free_bed(&b, &packing);
  md_ctx_destroy(ctx);
}
END_TEST

/* Two spheres whose centres are r apart along a diagonal. */
static stokes_packing two_spheres(double r)
{
  stokes_packing packing;
  ck_ok(stokes_packing_create(2, &packing));
  for (int d = 0; d < 3; d++) {
    packing.box[d] = 1000;
    packing.x[d] = 990;
    packing.x[4 + d] = 990 + r / sqrt(3) - (d == 0 ? 1000 : 0);
  }
  packing.x[3] = 30, packing.x[7] = 60;
  return packing;
}

/* No jump at the cutoff, nothing beyond it, and no jump at the smallest gap. */
START_TEST(forces_are_continuous)
{
  const double cut = 1.25 * 90, least = (1 + 0.5e-3) * 90;
  const double at[] = {cut - 1e-9, cut + 1e-9, cut + 10, least - 1e-9, least + 1e-9};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  double *f[5];
  for (int k = 0; k < 5; k++) {
    stokes_packing packing = two_spheres(at[k]);
    bed b = make_bed(ctx, &packing, 0.5, NULL);
    f[k] = forces(&b, 11, 0, 1);
    free_bed(&b, &packing);
  }
  for (int k = 0; k < 6; k++) {
    ck_assert_double_eq_tol(f[0][k], f[1][k], 1e-4);
    ck_assert_double_eq(f[1][k], f[2][k]);
    ck_assert_double_eq_tol(f[3][k], f[4][k], 1e-6);
  }
  ck_assert_double_gt(fabs(f[3][0] - f[2][0]), 1e-2);
  for (int k = 0; k < 5; k++)
    free(f[k]);
  md_ctx_destroy(ctx);
}
END_TEST

/* L^-1 f are independent normal numbers: their products, over many steps, against chi^2 of as many
 * degrees of freedom, five standard deviations. */
START_TEST(covariance_by_chi_squared)
{
  enum { M = 64, GROUPS = 100 };
  const int64_t n = 3 * 12;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, true);
  stokes_packing packing = ref_packing(12, 0.3, true, 55);
  bed b = make_bed(ctx, &packing, 0.5, NULL);
  double *l = ref_resistance(&packing, &b.law), *sum = ref_alloc(n * n, sizeof *sum);
  ref_factor(l, n);
  for (int group = 0; group < GROUPS; group++) {
    double *f = forces(&b, 12, (uint64_t)(group * M), M);
    for (int c = 0; c < M; c++)
      for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
          f[i * M + c] -= l[i * n + k] * f[k * M + c];
        f[i * M + c] /= l[i * n + i];
        for (int64_t k = 0; k <= i; k++)
          sum[i * n + k] += f[i * M + c] * f[k * M + c];
      }
    free(f);
  }
  const double samples = (double)M * GROUPS, pairs = (double)(n * (n - 1) / 2);
  double squares = 0, products = 0;
  for (int64_t i = 0; i < n; i++) {
    squares += sum[i * n + i];
    for (int64_t k = 0; k < i; k++)
      products += sum[i * n + k] * sum[i * n + k] / samples;
  }
  const double freedom = samples * (double)n;
  ck_assert_double_lt(fabs(squares - freedom), 5 * sqrt(2 * freedom));
  ck_assert_double_lt(fabs(products - pairs), 5 * sqrt(2 * pairs));
  free(l);
  free(sum);
  free_bed(&b, &packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_pair_force");
  TCase *forces_of_pairs = tcase_create("pairs");
  tcase_add_loop_test(forces_of_pairs, root_of_the_matrix, 0, 6);
  tcase_add_test(forces_of_pairs, batches_are_normal_numbers);
  tcase_add_test(forces_of_pairs, columns_and_backends_agree);
  tcase_add_test(forces_of_pairs, threads_do_not_matter);
  tcase_add_test(forces_of_pairs, order_does_not_matter);
  tcase_add_test(forces_of_pairs, rows_are_those_of_all);
  tcase_add_test(forces_of_pairs, forces_are_continuous);
  tcase_add_test(forces_of_pairs, covariance_by_chi_squared);
  tcase_set_timeout(forces_of_pairs, 120);
  suite_add_tcase(suite, forces_of_pairs);
  return test_main(suite);
}
