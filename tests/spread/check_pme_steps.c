/* tests/spread/check_pme_steps.c - PME step after step: what it does not wait for, and what it
 * tells then. */
#include "tests/drive/run_pme.h"
#include "tests/test.h"

/* Loop index: method.  A GPU is not waited for, so that a position that is no number may be told of
 * later; nothing crosses between host and device for it. */
START_TEST(bad_positions_are_told)
{
  const spread_method method = (spread_method)_i;
  if (!spread_method_on(method, test_backend())) return;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  sample s = sample_make(500, 4, 4, 4, true);
  pme_spec spec = sample_spec(&s, 16, 16, 16, 4, 1);
  spec.method = method;
  pme *solver;
  ck_ok(pme_create(ctx, &spec, &solver));
  sample_compute(solver, ctx, &s);
  memcpy(s.exact_f, s.f, 1500 * sizeof *s.f);
  md_buffer x4 = {0}, f4 = {0};
  ck_ok(md_buffer_reserve(ctx, &f4, 2000 * sizeof(double), 0));
  ck_ok(md_fill(ctx, f4.data, 0, 2000 * sizeof(double)));
  for (int bad = 0; bad < 3; bad++) {
    const double good = s.x[3 * 321 + bad], last = s.x[1499];
    s.x[3 * 321 + bad] = bad == 1 ? INFINITY : NAN;
    s.x[1499] += bad == 0 ? NAN : 0;
    sample_upload(ctx, &s, &x4);
    const pme_charges charges = {500, x4.data, 4, (double *)x4.data + 3, 4};
    const int64_t copied = ctx->bytes_copied;
    pme_tally tally;
    md_status status = pme_compute(solver, &charges, f4.data, NULL);
    const bool waits = method >= SPREAD_GATHER && method <= SPREAD_HYBRID;
    if (test_backend() == MD_CPU || waits) {
      ck_assert_int_eq(status, MD_EINVAL);
    } else {
      ck_ok(status);
      ck_assert_int_eq(ctx->bytes_copied, copied);
      status = pme_compute(solver, &charges, f4.data, &tally);
      ck_assert_int_eq(status, MD_EINVAL);
    }
    ck_assert_msg(strstr(md_message(), "particle 321 ") != NULL, "%s", md_message());
    s.x[3 * 321 + bad] = good;
    s.x[1499] = last;
    sample_compute(solver, ctx, &s);
    for (int k = 0; k < 1500; k++)
      ck_assert_double_eq_tol(s.f[k], s.exact_f[k], 1e-11);
  }
  md_buffer_free(ctx, &x4);
  md_buffer_free(ctx, &f4);
  pme_destroy(solver);
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

/* Charges are held from call to call, and what a GPU replays follows positions; first and with sums
 * charges are needed, and of another number of particles refused. */
START_TEST(charges_are_held)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  sample s = sample_make(300, 4, 4, 4, true);
  pme_spec spec = sample_spec(&s, 16, 16, 16, 4, 1);
  pme *solver;
  ck_ok(pme_create(ctx, &spec, &solver));
  md_buffer x4 = {0}, f4 = {0};
  ck_ok(md_buffer_reserve(ctx, &f4, 1200 * sizeof(double), 0));
  sample_upload(ctx, &s, &x4);
  pme_charges charges = {300, x4.data, 4, NULL, 4};
  ck_assert_int_eq(pme_compute(solver, &charges, f4.data, NULL), MD_EINVAL);
  double f[2][1200];
  for (int held = 0; held < 2; held++) {
    charges.q = held ? NULL : (double *)x4.data + 3;
    if (held) ck_ok(pme_mark(solver));
    ck_ok(md_fill(ctx, f4.data, 0, sizeof f[0]));
    ck_ok(pme_begin(solver, &charges, NULL));
    ck_ok(pme_end(solver, NULL)); /* forgotten */
    ck_ok(pme_begin(solver, &charges, NULL));
    ck_ok(pme_end(solver, f4.data));
    ck_ok(md_read(ctx, f[held], f4.data, sizeof f[0]));
  }
  for (int k = 0; k < 1200; k++)
    ck_assert_double_eq_tol(f[0][k], f[1][k], 1e-12);
  for (int k = 0; k < 900; k++)
    s.x[k] += 0.3;
  sample_upload(ctx, &s, &x4);
  charges.x = x4.data;
  ck_ok(md_fill(ctx, f4.data, 0, sizeof f[0]));
  ck_ok(pme_compute(solver, &charges, f4.data, NULL));
  ck_ok(md_read(ctx, f[0], f4.data, sizeof f[0]));
  pme_tally tally;
  ck_assert_int_eq(pme_compute(solver, &charges, f4.data, &tally), MD_EINVAL);
  sample_compute(solver, ctx, &s);
  for (int k = 0; k < 900; k++)
    ck_assert_double_eq_tol(f[0][k / 3 * 4 + k % 3], s.f[k], 1e-11);
  charges.n = 299;
  ck_assert_int_eq(pme_compute(solver, &charges, f4.data, NULL), MD_EINVAL);
  md_buffer_free(ctx, &x4);
  md_buffer_free(ctx, &f4);
  pme_destroy(solver);
  md_ctx_destroy(ctx);
  sample_free(&s);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pme_steps");
  TCase *tc = tcase_create("pme_steps");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, bad_positions_are_told, 0, SPREAD_METHOD_COUNT);
  tcase_add_test(tc, charges_are_held);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
