/* tests/spread/check_spread_refused.c - what plans refuse, by name and leaving all as it was: bad
 * shapes and settings, positions that are no numbers, sums in a fixed order where there is none. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

#include <stdio.h>

START_TEST(bad_positions_change_nothing)
{
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e30};
  for (int run_of = 0; run_of < 4 * MD_PRECISION_COUNT; run_of++) {
    static const struct {
      spread_method method;
      bool ordered;
      int vectors, mesh;
    } plans[] = {{SPREAD_PARTICLE, false, 1, 16},
                 {SPREAD_TILED, false, 1, 16},
                 {SPREAD_TILED, true, 1, 16},
                 {SPREAD_TILED, false, 16, 10}};
    const int kind = run_of / MD_PRECISION_COUNT, mesh = plans[kind].mesh;
    md_ctx *ctx = test_ctx((md_precision)(run_of % MD_PRECISION_COUNT), 2, plans[kind].ordered);
    spread_spec spec = ref_spec(plans[kind].method, mesh, mesh, mesh, 4);
    spec.vectors = plans[kind].vectors;
    ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, 500);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    for (int b = 0; b < 4; b++)
      for (int at = 3; at < 1500; at += 700) {
        double x[1500];
        float narrow[1500];
        memcpy(x, particles.x, sizeof x);
        x[at] = bad[b];
        x[1499] = NAN;
        for (int k = 0; k < 1500; k++)
          narrow[k] = (float)x[k];
        const bool single = ctx->precision == MD_SINGLE;
        ck_ok(md_write(ctx, run.x.data, single ? (void *)narrow : x,
                       single ? sizeof narrow : sizeof x));
        ck_assert_int_eq(spread_set_positions(run.plan, 500, run.x.data, 3), MD_EINVAL);
        char name[32];
        snprintf(name, sizeof name, "particle %d ", at / 3);
        ck_assert_msg(strstr(md_message(), name) != NULL, "%s", md_message());
        ck_assert_double_le(ref_run_error(&run, &particles), 3e-6);
      }
    ref_run_positions(&run, &particles); /* and none of it is remembered */
    ck_assert_double_le(ref_run_error(&run, &particles), 3e-6);
    ref_run_close(&run);
    ref_particles_free(&particles);
    md_ctx_destroy(ctx);
  }
}
END_TEST

START_TEST(bad_plans_are_refused)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  const spread_spec good = ref_spec(SPREAD_AUTO, 16, 16, 16, 4);
  spread_plan *plan = NULL;
  spread_spec spec;
#define REFUSED(code, text, ...)                                                                   \
  do {                                                                                             \
    spec = good;                                                                                   \
    __VA_ARGS__;                                                                                   \
    ck_assert_int_eq(spread_create(ctx, &spec, &plan), code);                                      \
    ck_assert_ptr_null(plan);                                                                      \
    ck_assert_msg(strstr(md_message(), text) != NULL, "%s", md_message());                         \
  } while (0)
  REFUSED(MD_EINVAL, "order", spec.order = 1);
  REFUSED(MD_EINVAL, "order", spec.order = 11);
  REFUSED(MD_EINVAL, "axis 2 of the mesh has 3 points", spec.mesh[1] = 3);
  REFUSED(MD_EINVAL, "axis 3 of the mesh", spec.mesh[2] = -16);
  REFUSED(MD_ECAPACITY, "2^32", spec.mesh[0] = spec.mesh[1] = spec.mesh[2] = 1626);
  REFUSED(MD_ECAPACITY, "2^32", spec.mesh[0] = spec.mesh[1] = spec.mesh[2] = INT32_MAX);
  REFUSED(MD_ECAPACITY, "2^32", spec.mesh[0] = spec.mesh[1] = 2048, spec.mesh[2] = 1024);
  REFUSED(MD_EINVAL, "vectors", spec.vectors = 0);
  REFUSED(MD_EINVAL, "vectors", spec.vectors = -3);
  REFUSED(MD_EINVAL, "repeats", spec.repeats = -1);
  REFUSED(MD_EINVAL, "axis 1 of the box", spec.hi[0] = spec.lo[0]);
  REFUSED(MD_EINVAL, "axis 3 of the box", spec.hi[2] = INFINITY);
  REFUSED(MD_EINVAL, "axis 2 of the box", spec.lo[1] = NAN);
  REFUSED(MD_EINVAL, "method", spec.method = SPREAD_METHOD_COUNT);
  REFUSED(MD_EINVAL, "lanes", spec.tuning.lanes = 3);
  REFUSED(MD_EINVAL, "compute unit", spec.tuning.compute_unit = 3);
  REFUSED(MD_EINVAL, "compute unit", spec.tuning.compute_unit = 32);
  REFUSED(MD_EINVAL, "group", spec.tuning.group = 12);
  REFUSED(MD_EINVAL, "part", spec.tuning.part = -1);
  REFUSED(MD_EINVAL, "tiled",
          spec.method = test_backend() == MD_GPU ? SPREAD_COLOURED : SPREAD_GATHER);
#undef REFUSED
  ck_ok(spread_create(ctx, &good, &plan));
  const double x[3] = {0};
  ck_assert_int_eq(spread_set_positions(plan, -1, x, 3), MD_EINVAL);
  ck_assert_int_eq(spread_set_positions(plan, 1, x, 2), MD_EINVAL);
  ck_assert_int_eq(spread_set_positions(plan, (int64_t)1 << 45, x, 3), MD_ENOMEM);
  ck_assert_msg(strstr(md_message(), "GB") != NULL, "%s", md_message());
  spread_destroy(plan);
  spread_destroy(NULL);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(unordered_methods_refuse_determinism)
{
  if (test_backend() == MD_CPU) return;
  md_ctx *ctx = test_ctx(MD_SINGLE, 1, true);
  spread_plan *plan;
  for (int m = SPREAD_PARTICLE; m <= SPREAD_GATHER; m++) {
    const spread_spec spec = ref_spec((spread_method)m, 16, 16, 16, 4);
    ck_assert_int_eq(spread_create(ctx, &spec, &plan), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), "order") != NULL, "%s", md_message());
  }
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_refused");
  TCase *tc = tcase_create("spread_refused");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, bad_positions_change_nothing);
  tcase_add_test(tc, bad_plans_are_refused);
  tcase_add_test(tc, unordered_methods_refuse_determinism);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
