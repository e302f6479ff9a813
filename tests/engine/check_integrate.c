/* tests/engine/check_integrate.c - kicks, drifts, sums and rescaling, each atom against the
 * formula. */
#include "comm/comm.h"
#include "engine/integrate/integrate.h"
#include "tests/ref/ref.h"
#include "tests/drive/run_cases.h"
#include "tests/test.h"

typedef struct {
  md_ctx *ctx;
  md_atoms *atoms;
} fixture;

/* n atoms with velocities and forces; the box is large. */
static fixture fixture_open(md_precision precision, int threads, int64_t n)
{
  run_case c = {.box = {{-5, 0, 3}, {95, 70, 63}}, .n = n, .x = ref_alloc(3 * n, 8)};
  uint64_t seed = 17;
  for (int64_t k = 0; k < 3 * n; k++)
    c.x[k] = c.box.lo[k % 3] + 60 * ref_uniform(&seed);
  double *v = run_velocities(n, 1.3, 23);
  for (int64_t k = 0; k < 3 * n; k++)
    v[k] += 0.01 * (double)(k % 3 + 1);
  fixture fx = {.ctx = test_ctx(precision, threads, false)};
  fx.atoms = run_case_atoms(fx.ctx, &c, v);
  const size_t size = md_real_size(precision);
  char *f = ref_alloc(4 * n, size);
  for (int64_t k = 0; k < 4 * n; k++) {
    const double value = k % 4 == 3 ? 0 : 20 * (ref_uniform(&seed) - 0.5);
    if (size == 4)
      ((float *)f)[k] = (float)value;
    else
      ((double *)f)[k] = value;
  }
  if (n > 0) ck_ok(md_write(fx.ctx, fx.atoms->f.data, f, (size_t)(4 * n) * size));
  ck_ok(md_ctx_sync(fx.ctx));
  free(f), free(v);
  run_case_free(&c);
  return fx;
}

static void fixture_close(fixture *fx)
{
  md_atoms_destroy(fx->atoms);
  md_ctx_destroy(fx->ctx);
}

static const int64_t sizes[] = {0, 1, 2, 15, 33, 1000, 4099};
enum { SIZES = 7 };

START_TEST(advance_kicks_then_drifts)
{
  static const double drifts[] = {0.005, 0, -0.01};
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  const double kick = 0.0025, unit = run_unit(precision);
  for (int k = 0; k < SIZES * 9; k++) {
    const int kicks = k % 3;
    const double drift = drifts[k / 3 % 3];
    fixture fx = fixture_open(precision, 1 + k % 3, sizes[k / 9]);
    run_snapshot a = run_snapshot_take(fx.atoms);
    ck_ok(integrate_advance(fx.atoms, &kick, kicks, drift));
    run_snapshot b = run_snapshot_take(fx.atoms);
    for (int64_t m = 0; m < 3 * a.n; m++) {
      const long double v = a.v[m] + (long double)kick * kicks * a.f[m];
      const long double x = a.x[m] + drift * v;
      const double v_scale = fabs(a.v[m]) + kick * kicks * fabs(a.f[m]);
      ck_assert_msg(fabsl(b.v[m] - v) <= 4 * unit * v_scale, "%d kicks: v %.17g, not %.17Lg", kicks,
                    b.v[m], v);
      ck_assert_msg(fabsl(b.x[m] - x) <= 4 * unit * (fabs(a.x[m]) + fabs(drift) * v_scale),
                    "drift %g: x %.17g, not %.17Lg", drift, b.x[m], x);
      ck_assert_msg((kicks > 0 || b.v[m] == a.v[m]) && (drift != 0 || b.x[m] == a.x[m]),
                    "%d kicks, drift %g: changed", kicks, drift);
      ck_assert_msg(b.f[m] == a.f[m] && b.image[m] == a.image[m] && b.id[m / 3] == a.id[m / 3],
                    "f, image or id changed");
    }
    run_snapshot_free(&a);
    run_snapshot_free(&b);
    fixture_close(&fx);
  }
}
END_TEST

START_TEST(two_kicks_are_two_calls)
{
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < SIZES; k++) {
    fixture one = fixture_open(precision, 1, sizes[k]), two = fixture_open(precision, 2, sizes[k]);
    for (int step = 0; step < 3; step++) {
      ck_ok(integrate_advance(one.atoms, (double[]){0.003}, 2, 0.007));
      ck_ok(integrate_advance(two.atoms, (double[]){0.003}, 1, 0));
      ck_ok(integrate_advance(two.atoms, (double[]){0.003}, 1, 0.007));
    }
    run_snapshot a = run_snapshot_take(one.atoms), b = run_snapshot_take(two.atoms);
    ck_assert_mem_eq(a.x, b.x, (size_t)a.n * 24);
    ck_assert_mem_eq(a.v, b.v, (size_t)a.n * 24);
    run_snapshot_free(&a);
    run_snapshot_free(&b);
    fixture_close(&one);
    fixture_close(&two);
  }
}
END_TEST

/* After comm_borders there are fixed-point coordinates to keep, also where no atom has a ghost;
 * only differences have a meaning. */
START_TEST(fixed_point_follows_the_drift)
{
  comm *cm = NULL;
  fixture fx = fixture_open(MD_MIXED, 2, _i ? 4 : 333);
  ck_ok(comm_create(fx.ctx, &cm));
  ck_ok(comm_migrate(cm, fx.atoms));
  ck_ok(comm_borders(cm, fx.atoms, _i ? 0.001 : 2.8));
  run_snapshot a = run_snapshot_take(fx.atoms);
  ck_assert_int_eq(a.n_ghost == 0, _i);
  for (int step = 0; step < 10; step++)
    ck_ok(integrate_advance(fx.atoms, (double[]){0.05}, step % 3, step == 4 ? 0 : 0.01));
  run_snapshot b = run_snapshot_take(fx.atoms);
  const double step = fx.atoms->coord_scale;
  ck_assert(b.x[0] != a.x[0]);
  for (int64_t i = 0; i < b.n; i++)
    for (int d = 0; d < 3; d++) {
      const uint32_t steps = (uint32_t)b.fixed[4 * i + d] - (uint32_t)a.fixed[4 * i + d];
      const double moved = b.x[3 * i + d] - a.x[3 * i + d];
      const double off = remainder(steps * step - moved, step * 0x1p32);
      ck_assert_msg(fabs(off) <= 1.01 * step, "atom %lld is %g steps off", (long long)i,
                    off / step);
    }
  run_snapshot_free(&a);
  run_snapshot_free(&b);
  comm_destroy(cm);
  fixture_close(&fx);
}
END_TEST

START_TEST(sums_are_exact_and_repeat)
{
  const md_precision precision = (md_precision)_i;
  const int64_t counts[] = {0, 1, 2, 63, 1000, 100003};
  for (int k = 0; k < 6; k++) {
    integrate_sums first = {.v_sq = 0};
    for (int threads = 1; threads <= 4; threads++) {
      fixture fx = fixture_open(precision, threads, counts[k]);
      integrate_sums got = {.v = {7, 7, 7}, .v_sq = 7};
      ck_ok(integrate_sum(fx.atoms, NULL, &got));
      if (threads == 1) {
        run_snapshot s = run_snapshot_take(fx.atoms);
        long double v[3] = {0}, sq = 0;
        for (int64_t m = 0; m < 3 * s.n; m++)
          v[m % 3] += s.v[m], sq += (long double)s.v[m] * s.v[m];
        for (int d = 0; d < 3; d++)
          ck_assert_double_eq_tol(got.v[d], (double)v[d], 1e-15 * (1 + (double)counts[k]));
        ck_assert(fabs(got.v_sq - (double)sq) <= 1e-13 * (double)sq);
        run_snapshot_free(&s);
        first = got;
      }
      ck_assert_msg(memcmp(&first, &got, sizeof got) == 0, "%lld atoms, %d threads: other bits",
                    (long long)counts[k], threads);
      fixture_close(&fx);
    }
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("integrate");
  TCase *tc = tcase_create("integrate");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, advance_kicks_then_drifts, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, two_kicks_are_two_calls, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, fixed_point_follows_the_drift, 0, 2);
  tcase_add_loop_test(tc, sums_are_exact_and_repeat, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
