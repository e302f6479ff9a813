/* tests/spread/check_spread_far.c - interpolation where numbers of a mesh differ much in size
 * within a plane. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

/* Numbers of a mesh far along either axis of a plane have nothing to do with the accuracy of
 * others. */
START_TEST(numbers_far_away_do_not_matter)
{
  enum { N = 20000, PLANES = 12, WIDTH = 64, PLANE = WIDTH * WIDTH, POINTS = PLANES * PLANE };
  md_ctx *ctx = test_ctx((md_precision)(_i % MD_PRECISION_COUNT), 2, false);
  spread_spec spec = ref_spec(SPREAD_TILED, PLANES, WIDTH, WIDTH, 4 + _i / MD_PRECISION_COUNT);
  spec.vectors = 17;
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, N);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  double *mesh = calloc((size_t)spec.vectors * POINTS, 8), *value = calloc(N * 17, 8);
  double *x = calloc(N, 24), *exact = calloc(N, 8), *unused = calloc(N, 24);
  int which[N], count = 0;
  for (int i = 0; i < N; i++) {
    bool amid = true;
    for (int a = 1; a < 3; a++) {
      const double u = (particles.x[3 * i + a] - spec.lo[a]) / (spec.hi[a] - spec.lo[a]) * WIDTH;
      amid = amid && u > 28 && u < 36;
    }
    if (amid) memcpy(x + 3 * count, particles.x + 3 * i, 24), which[count++] = i;
  }
  ck_assert_int_ge(count, 20);
  for (int64_t i = 0; i < spec.vectors * POINTS; i++) {
    const bool far = i / WIDTH % WIDTH < 4 || i % WIDTH < 4;
    mesh[i] = ldexp((double)(i * 7919 % 2003 - 1001), far ? 60 : (int)(i / POINTS) * 2);
  }
  ref_run_interpolate(&run, mesh, value, NULL);
  for (int v = 0; v < spec.vectors; v++) {
    const double bound = ldexp(1001, 2 * v) * (ctx->precision == MD_DOUBLE ? 2e-14 : 4e-6);
    ref_interpolate(&spec, count, x, mesh + (int64_t)v * POINTS, exact, unused);
    for (int i = 0; i < count; i++)
      ck_assert_double_le(fabs(value[v * N + which[i]] - exact[i]), bound);
  }
  free(mesh), free(value), free(x), free(exact), free(unused);
  ref_run_close(&run);
  ref_particles_free(&particles);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_far");
  TCase *tc = tcase_create("spread_far");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, numbers_far_away_do_not_matter, 0, 7 * MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
