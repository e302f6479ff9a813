/* tests/spread/check_spread_windows.c - windows of a tile's rows on the CPU, with every instruction
 * set: particles on the edges of cells in one column, meshes narrower than a window and meshes that
 * wrap within one, runs of one window longer than a chunk, tiles of few particles. */
#include "spread/cpu/window_cpu.h"
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* Every cell of a tile has a window in which its particles' points lie, and so has the row. */
START_TEST(windows_hold_their_particles)
{
  for (int32_t p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++)
    for (int32_t cell = 0; cell + p <= SPREAD_ROW; cell++) {
      const int32_t window = window_of(p, cell), begin = window_begin(p, window);
      ck_assert(window >= 0 && window < WINDOWS_MAX);
      ck_assert(cell == 0 ? window == 0 : window - window_of(p, cell - 1) <= 1);
      ck_assert(begin >= 0 && begin <= cell && cell + p <= begin + WINDOW_WIDTH(p));
      ck_assert_int_le(begin + WINDOW_WIDTH(p), SPREAD_ROW);
    }
}
END_TEST

/* The largest difference as a part of the largest number. */
static double worst(int64_t n, const double *a, const double *b)
{
  double far = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    far = fmax(far, fabs(a[i] - b[i]));
    largest = fmax(largest, fabs(b[i]));
  }
  return largest > 0 ? far / largest : far;
}

/* Mesh, values and slopes of each vector against the definition. */
static void compare(md_ctx *ctx, const spread_spec *spec, ref_place place, int64_t n)
{
  const double bound = ctx->precision == MD_DOUBLE ? 1e-13 : 2e-5;
  ref_particles particles = ref_particles_make(spec, ctx->precision, place, n);
  ref_run run = ref_run_open(ctx, spec, &particles);
  const int64_t points = run.points, v = spec->vectors;
  double *mesh = calloc((size_t)(points * v), 8), *exact = calloc((size_t)points, 8);
  double *value = calloc((size_t)(n * v), 8), *gradient = calloc((size_t)(3 * n * v), 8);
  double *alone = calloc((size_t)(n * v), 8);
  double *exact_value = calloc((size_t)n, 8), *exact_gradient = calloc((size_t)(3 * n), 8);
  ref_run_spread(&run, mesh);
  for (int64_t k = 0; k < v; k++) {
    memset(exact, 0, (size_t)points * sizeof *exact);
    ref_spread(spec, n, particles.x, particles.q + k * n, exact);
    ck_assert_double_le(worst(points, mesh + k * points, exact), bound);
  }
  for (int64_t m = 0; m < points * v; m++)
    mesh[m] = (double)(m * 7919 % 2003 - 1001);
  ref_run_interpolate(&run, mesh, value, gradient);
  ref_run_interpolate(&run, mesh, alone, NULL);
  for (int64_t k = 0; k < v; k++) {
    ref_interpolate(spec, n, particles.x, mesh + k * points, exact_value, exact_gradient);
    ck_assert_double_le(worst(n, value + k * n, exact_value), bound);
    ck_assert_double_le(worst(n, alone + k * n, exact_value), bound);
    if (spec->order > 2) /* kinks */
      ck_assert_double_le(worst(3 * n, gradient + 3 * k * n, exact_gradient), 8 * bound);
  }
  free(mesh), free(exact), free(value), free(gradient), free(alone);
  free(exact_value), free(exact_gradient);
  ref_run_close(&run);
  ref_particles_free(&particles);
}

/* Loop index: precision and instruction set, or the best one that there is. */
static md_ctx *pick(int i)
{
  ck_assert_int_eq(setenv("MINIMD_ISA", md_isa_words[i / MD_PRECISION_COUNT], 1), 0);
  return test_ctx((md_precision)(i % MD_PRECISION_COUNT), 1, false);
}
enum { PICKS = MD_ISA_COUNT * MD_PRECISION_COUNT };

START_TEST(columns_agree)
{
  static const int32_t length[] = {0, 7, 8, 9, 15, 16, 17, 33}; /* the order, where it is more */
  md_ctx *ctx = pick(_i);
  for (int32_t p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++)
    for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
      const int32_t points = length[k] > p ? length[k] : p;
      spread_spec spec = ref_spec(SPREAD_TILED, p, p + 1, points, p);
      spec.vectors = k % 2 ? 5 : 1;
      compare(ctx, &spec, REF_COLUMN, 3 * points);
    }
  md_ctx_destroy(ctx);
}
END_TEST

/* Longer than a chunk, of one window and of some. */
START_TEST(long_runs_agree)
{
  md_ctx *ctx = pick(_i);
  for (int32_t p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++) {
    const spread_spec one = ref_spec(SPREAD_TILED, p + 3, p, p + 6, p);
    compare(ctx, &one, REF_ONE_CELL, 3 * SPREAD_AHEAD + 5);
    compare(ctx, &one, REF_COLUMN, 9 * SPREAD_AHEAD + 7);
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Tiles of few particles, at the mesh's borders and inside, with points that other tiles have as
 * well, and one cell shorter than others. */
START_TEST(lone_particles_agree)
{
  md_ctx *ctx = pick(_i);
  for (int32_t p = SPREAD_ORDER_MIN; p <= SPREAD_ORDER_MAX; p++)
    for (int32_t length = 3 * (SPREAD_ROW - p + 1) - 1; length > 0; length -= 2 * SPREAD_ROW) {
      const int32_t points = length > p ? length : p;
      spread_spec spec = ref_spec(SPREAD_TILED, 25, 30, points, p);
      spec.vectors = length % 2 ? 5 : 1;
      compare(ctx, &spec, REF_UNIFORM, 90);
    }
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return 0;
  Suite *suite = suite_create("spread_windows");
  TCase *tc = tcase_create("windows");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, windows_hold_their_particles);
  tcase_add_loop_test(tc, columns_agree, 0, PICKS);
  tcase_add_loop_test(tc, long_runs_agree, 0, PICKS);
  tcase_add_loop_test(tc, lone_particles_agree, 0, PICKS);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
