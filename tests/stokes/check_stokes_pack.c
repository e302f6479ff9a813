/* tests/stokes/check_stokes_pack.c - random numbers, packings. */
#include "stokes/normal.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* Known answers of the generator's authors. */
START_TEST(philox_known_answers)
{
  const normal_bits zero = normal_philox(0, 0, 0);
  const uint32_t expect_zero[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  ck_assert_mem_eq(zero.word, expect_zero, sizeof expect_zero);
  const normal_bits ones = normal_philox(UINT64_MAX, UINT64_MAX, UINT64_MAX);
  const uint32_t expect_ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  ck_assert_mem_eq(ones.word, expect_ones, sizeof expect_ones);
  const normal_bits pi =
      normal_philox(0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x0370734413198a2eu);
  const uint32_t expect_pi[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  ck_assert_mem_eq(pi.word, expect_pi, sizeof expect_pi);
}
END_TEST

START_TEST(normal_moments)
{
  enum { N = 200000 };
  double mean = 0, square = 0, fourth = 0, cross = 0;
  for (int i = 0; i < N; i++) {
    double z[3];
    normal_three(7, NORMAL_BROWNIAN, (uint64_t)i, 3, z);
    for (int d = 0; d < 3; d++) {
      mean += z[d] / (3 * N);
      square += z[d] * z[d] / (3 * N);
      fourth += pow(z[d], 4) / (3 * N);
    }
    cross += (z[0] * z[1] + z[1] * z[2] + z[2] * z[0]) / (3 * N);
  }
  /* five standard deviations of each estimate */
  const double unit = 5 / sqrt(3.0 * N);
  ck_assert_double_le(fabs(mean), unit);
  ck_assert_double_le(fabs(square - 1), sqrt(2) * unit);
  ck_assert_double_le(fabs(fourth - 3), sqrt(96) * unit);
  ck_assert_double_le(fabs(cross), unit);
}
END_TEST

/* Smallest gap of all pairs. */
static double smallest_gap(const stokes_packing *p)
{
  double least = INFINITY;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < i; j++) {
      long double sum = 0;
      for (int d = 0; d < 3; d++) {
        long double step = (long double)p->x[4 * i + d] - p->x[4 * j + d];
        step -= p->box[d] * roundl(step / p->box[d]);
        sum += step * step;
      }
      least = fmin(least, (double)(2 * sqrtl(sum) / (p->x[4 * i + 3] + p->x[4 * j + 3]) - 2));
    }
  return least;
}

START_TEST(packings_do_not_overlap)
{
  static const double occupancy[] = {0.1, 0.3, 0.5, 0.55};
  stokes_radii radii;
  ck_ok(stokes_radii_read("ecoli", &radii));
  for (int k = 0; k < 4; k++) {
    const int64_t n = 700 + k;
    stokes_packing p = ref_packing(n, occupancy[k], false, 1);
    ck_assert_int_eq(p.n, n);
    ck_assert_double_eq_tol(stokes_packing_occupancy(&p), occupancy[k], 1e-12);
    ck_assert_double_ge(smallest_gap(&p), 0);
    int64_t given = 0, inside = 0;
    for (int c = 0; c < radii.n; c++) {
      int64_t count = 0;
      for (int64_t i = 0; i < n; i++)
        count += p.x[4 * i + 3] == radii.radius[c];
      ck_assert_double_le(fabs((double)count - radii.fraction[c] * (double)n), 1);
      given += count;
    }
    ck_assert_int_eq(given, n);
    for (int64_t k3 = 0; k3 < 3 * n; k3++)
      inside += p.x[4 * (k3 / 3) + k3 % 3] >= 0 && p.x[4 * (k3 / 3) + k3 % 3] < p.box[k3 % 3];
    ck_assert_int_eq(inside, 3 * n);
    stokes_packing_free(&p);
  }
  stokes_radii_free(&radii);
}
END_TEST

static stokes_packing pack_with(int threads, const stokes_pack_spec *spec)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, threads, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  double radius[2] = {40, 10}, fraction[2] = {0.1, 0.9};
  const stokes_radii radii = {2, radius, fraction};
  stokes_packing packing;
  ck_ok(stokes_pack(ctx, &radii, spec, &packing, NULL));
  md_ctx_destroy(ctx);
  return packing;
}

START_TEST(packings_depend_on_the_seed_only)
{
  stokes_pack_spec spec = stokes_pack_defaults(3000, 0.45);
  stokes_packing a = pack_with(1, &spec), b = pack_with(3, &spec);
  ck_assert_mem_eq(a.x, b.x, 3000 * 4 * sizeof(double));
  spec.seed = 2;
  stokes_packing c = pack_with(1, &spec);
  ck_assert_int_ne(memcmp(a.x, c.x, 3000 * 4 * sizeof(double)), 0);
  stokes_packing_free(&a);
  stokes_packing_free(&b);
  stokes_packing_free(&c);
}
END_TEST

START_TEST(bad_specs_are_refused)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, 1, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  double radius = 1, fraction = 1;
  const stokes_radii radii = {1, &radius, &fraction};
  stokes_pack_spec spec;
  stokes_packing packing;
  static const double occupancies[] = {0, 1, -0.5, NAN};
  for (int k = 0; k < 4; k++) {
    spec = stokes_pack_defaults(100, occupancies[k]);
    ck_assert_int_eq(stokes_pack(ctx, &radii, &spec, &packing, NULL), MD_EINVAL);
  }
  spec = stokes_pack_defaults(0, 0.1);
  ck_assert_int_eq(stokes_pack(ctx, &radii, &spec, &packing, NULL), MD_EINVAL);
  spec = stokes_pack_defaults(2, 0.1); /* a box narrower than two spheres */
  ck_assert_int_eq(stokes_pack(ctx, &radii, &spec, &packing, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "box edge"));
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(overlaps_and_nan_are_named)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, 1, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  stokes_packing p = ref_packing(300, 0.3, false, 5);
  double gap;
  ck_ok(stokes_packing_check(ctx, &p, &gap));
  ck_assert_double_eq_tol(gap, smallest_gap(&p), 1e-12);
  const double saved = p.x[4 * 17];
  p.x[4 * 17] = NAN;
  ck_assert_int_eq(stokes_packing_check(ctx, &p, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "sphere 18"));
  memcpy(p.x + 4 * 17, p.x + 4 * 200, 3 * sizeof(double));
  p.x[4 * 17] += p.box[0]; /* on top of an image */
  ck_assert_int_eq(stokes_packing_check(ctx, &p, NULL), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "18 ") && strstr(md_message(), "overlap"), "%s", md_message());
  p.x[4 * 17] = 1e20;
  ck_assert_int_eq(stokes_packing_check(ctx, &p, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "sphere 18 is at (1e+20"));
  p.x[4 * 17] = saved;
  p.x[3] = -1;
  ck_assert_int_eq(stokes_packing_check(ctx, &p, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "sphere 1: a radius must be > 0, not -1"));
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* A box a million times as long as it is wide: grids of cells stay as small as the packing. */
START_TEST(a_needle_is_checked_and_sorted)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, 1, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  double x[8] = {1e3, 1, 1, 1, 1e11, 2, 2, 1e-3};
  stokes_packing p = {2, {1e12, 10, 10}, x};
  ck_ok(stokes_packing_check(ctx, &p, NULL));
  int32_t place[2];
  ck_ok(stokes_packing_sort(ctx, &p, &(ordering){.kind = ORDERING_ROW}, place));
  ck_assert_int_eq(place[0] + place[1], 1);
  p.box[0] = 1e200;
  ck_assert_int_eq(stokes_packing_check(ctx, &p, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "not 1e+200"));
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(sorting_permutes)
{
  md_ctx *ctx;
  const md_ctx_spec cpu = {MD_CPU, MD_DOUBLE, 2, false};
  ck_ok(md_ctx_create(&cpu, &ctx));
  stokes_packing p = ref_packing(500, 0.2, false, 3), before;
  ck_ok(stokes_packing_create(500, &before));
  const ordering random = {.kind = ORDERING_RANDOM, .seed = 4};
  const ordering hilbert = {.kind = ORDERING_HILBERT};
  ck_ok(stokes_packing_sort(ctx, &p, &random, NULL));
  memcpy(before.x, p.x, 500 * 4 * sizeof(double));
  int32_t place[500];
  bool seen[500] = {false};
  ck_ok(stokes_packing_sort(ctx, &p, &hilbert, place));
  double path = 0, path_before = 0;
  for (int i = 0; i < 500; i++) {
    ck_assert(!seen[place[i]]);
    seen[place[i]] = true;
    ck_assert_mem_eq(p.x + 4 * i, before.x + 4 * place[i], 4 * sizeof(double));
    for (int d = 0; i > 0 && d < 3; d++) {
      path += fabs(p.x[4 * i + d] - p.x[4 * i - 4 + d]);
      path_before += fabs(before.x[4 * i + d] - before.x[4 * i - 4 + d]);
    }
  }
  ck_assert_double_le(path, 0.5 * path_before);
  stokes_packing_free(&p);
  stokes_packing_free(&before);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_pack");
  TCase *numbers = tcase_create("numbers"), *packings = tcase_create("packings");
  tcase_add_test(numbers, philox_known_answers);
  tcase_add_test(numbers, normal_moments);
  tcase_add_test(packings, packings_do_not_overlap);
  tcase_add_test(packings, packings_depend_on_the_seed_only);
  tcase_add_test(packings, bad_specs_are_refused);
  tcase_add_test(packings, overlaps_and_nan_are_named);
  tcase_add_test(packings, a_needle_is_checked_and_sorted);
  tcase_add_test(packings, sorting_permutes);
  tcase_set_timeout(packings, 120);
  suite_add_tcase(suite, numbers);
  suite_add_tcase(suite, packings);
  return test_main(suite);
}
