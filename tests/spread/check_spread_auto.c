/* tests/spread/check_spread_auto.c - the method that auto takes, and what it says of it. */
#include "tests/ref/ref_spread.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

/* What auto chooses for n particles. */
static spread_report chosen(md_ctx *ctx, int mesh, int64_t n, int32_t repeats, char *reason)
{
  spread_spec spec = ref_spec(SPREAD_AUTO, mesh, mesh, mesh, 6);
  spec.repeats = repeats;
  ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, n);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  spread_report report;
  spread_describe(run.plan, &report);
  snprintf(reason, 256, "%s", report.reason);
  ref_run_close(&run);
  ref_particles_free(&particles);
  return report;
}

START_TEST(auto_weighs_density)
{
  char reason[256];
  md_ctx *ctx = test_ctx(MD_SINGLE, 1, false);
  ck_assert_int_eq(chosen(ctx, 64, 10, 1, reason).method, SPREAD_PARTICLE);
  ck_assert_msg(strstr(reason, "particles a mesh point") != NULL, "%s", reason);
  ck_assert_int_eq(chosen(ctx, 24, 200000, 100, reason).method, SPREAD_TILED);
  ck_assert_msg(strstr(reason, "14.5 particles a mesh point") != NULL, "%s", reason);
  md_ctx_destroy(ctx);
  ctx = test_ctx(MD_SINGLE, 1, true);
  ck_assert_int_eq(chosen(ctx, 64, 10, 1, reason).method,
                   test_backend() == MD_GPU ? SPREAD_TILED : SPREAD_PARTICLE);
  md_ctx_destroy(ctx);
}
END_TEST

/* What auto says of positions that it looks at, by definition: a pencil of order p has 9 - p (17 -
 * p above order 6) by 17 - p cells and p - 1 planes more than the mesh. */
static void say_seen(const spread_spec *spec, const ref_particles *particles, int real_size,
                     char *text, size_t size)
{
  const int p = spec->order, per = 32 / real_size;
  const int high = (p <= 6 ? 9 : 17) - p, wide = 17 - p, deep = spec->mesh[0] + p - 1;
  const int across = (spec->mesh[2] + wide - 1) / wide, down = (spec->mesh[1] + high - 1) / high;
  bool *reached = calloc((size_t)across * (size_t)down * (size_t)deep, 1);
  int64_t planes = 0, sectors = 0;
  int cell[3], before[3] = {-1};
  for (int64_t i = 0; i < particles->n; i++, memcpy(before, cell, sizeof cell)) {
    for (int a = 0; a < 3; a++) {
      const double t = (particles->x[3 * i + a] - spec->lo[a]) / (spec->hi[a] - spec->lo[a]);
      cell[a] = (int)floor((t - floor(t)) * spec->mesh[a]);
    }
    for (int k = 0; k < p; k++) {
      bool *at = &reached[(cell[1] / high * across + cell[2] / wide) * deep + cell[0] + k];
      planes += !*at;
      *at = true;
    }
    const int64_t line = ((int64_t)cell[0] * spec->mesh[1] + cell[1]) * spec->mesh[2];
    const bool beside =
        (i - 1) * p / 32 == i * p / 32 && before[0] == cell[0] && before[1] == cell[1];
    for (int64_t s = (line + cell[2]) / per; s <= (line + cell[2] + p - 1) / per; s++)
      sectors +=
          !(beside && s >= (line + before[2]) / per && s <= (line + before[2] + p - 1) / per);
  }
  snprintf(text, size, "reach %lld planes and %.2f sectors a row", (long long)planes,
           (double)sectors / (double)particles->n);
  free(reached);
}

/* What auto makes of n particles: what it saw, and what it takes. */
static void expect_choice(md_ctx *ctx, int order, ref_place place, int64_t n, spread_method method)
{
  char text[128];
  spread_report report;
  spread_spec spec = ref_spec(SPREAD_AUTO, 97, 95, 99, order);
  spec.repeats = 1000;
  ref_particles particles = ref_particles_make(&spec, ctx->precision, place, n);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  spread_describe(run.plan, &report);
  say_seen(&spec, &particles, ctx->precision == MD_DOUBLE ? 8 : 4, text, sizeof text);
  ck_assert_msg(strstr(report.reason, text) != NULL, "%s: %s", text, report.reason);
  ck_assert_msg(report.method == method, "order %d, place %d: %s, because %s", order, place,
                spread_method_words[report.method], report.reason);
  ref_run_close(&run);
  ref_particles_free(&particles);
}

/* On a GPU the choice follows from how particles lie: anywhere, row by row, in a few blobs. */
START_TEST(auto_looks_where_that_decides)
{
  if (test_backend() == MD_CPU) return;
  md_ctx *ctx = test_ctx((md_precision)_i, 1, false);
  expect_choice(ctx, 6, REF_UNIFORM, 10000, SPREAD_PARTICLE);
  expect_choice(ctx, 6, REF_LATTICE, 10000, SPREAD_PARTICLE);
  expect_choice(ctx, 6, REF_CLUSTERED, 10000, SPREAD_TILED);
  const bool wide = ctx->precision == MD_DOUBLE; /* others sum rows of a lattice in boxes */
  const int64_t n = wide ? 31000 : 45000, on_lattice = wide ? n : 28000;
  expect_choice(ctx, 4, REF_UNIFORM, n, SPREAD_TILED);
  expect_choice(ctx, 4, REF_LATTICE, on_lattice, SPREAD_PARTICLE);
  expect_choice(ctx, 4, REF_CLUSTERED, n, SPREAD_TILED);
  md_ctx_destroy(ctx);
}
END_TEST

/* What follows tiled takes longer, where particles are few. */
START_TEST(auto_weighs_interpolation)
{
  if (test_backend() == MD_CPU) return;
  md_ctx *ctx = test_ctx((md_precision)_i, 1, false);
  spread_spec spec = ref_spec(SPREAD_AUTO, 97, 95, 99, 4);
  spec.repeats = 1000;
  for (int with = 0; with < 2; with++) {
    spread_report report;
    spec.interpolates = with;
    ref_particles particles = ref_particles_make(&spec, ctx->precision, REF_UNIFORM, 45000);
    ref_run run = ref_run_open(ctx, &spec, &particles);
    spread_describe(run.plan, &report);
    ck_assert_int_eq(report.method, with ? SPREAD_PARTICLE : SPREAD_TILED);
    ck_assert(with == (strstr(report.reason, "by particle with interpolation, ") != NULL));
    ref_run_close(&run);
    ref_particles_free(&particles);
  }
  md_ctx_destroy(ctx);
}
END_TEST

static void refuse_nan(ref_run *run, int64_t n)
{
  const float nowhere[3] = {NAN, NAN, NAN};
  ck_ok(md_write(run->ctx, run->x.data, nowhere, sizeof nowhere));
  ck_assert_int_eq(spread_set_positions(run->plan, n, run->x.data, 3), MD_EINVAL);
}

/* Positions of as many particles, or nearly, are not looked at again, and refused ones are
 * forgotten. */
START_TEST(auto_looks_when_the_number_changes)
{
  static const struct {
    ref_place place;
    int64_t n;
    bool looks, refused_before;
  } steps[] = {{REF_UNIFORM, 10000, true, false},    {REF_CLUSTERED, 10000, false, false},
               {REF_CLUSTERED, 10900, false, false}, {REF_CLUSTERED, 11100, true, false},
               {REF_UNIFORM, 11100, false, false},   {REF_UNIFORM, 9900, true, false},
               {REF_CLUSTERED, 9950, false, true}};
  if (test_backend() == MD_CPU) return;
  md_ctx *ctx = test_ctx(MD_SINGLE, 1, false);
  spread_spec spec = ref_spec(SPREAD_AUTO, 97, 95, 99, 6);
  spec.repeats = 1000;
  ref_particles particles = ref_particles_make(&spec, MD_SINGLE, REF_UNIFORM, 0);
  ref_run run = ref_run_open(ctx, &spec, &particles);
  ref_particles_free(&particles);
  char seen[128] = "";
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    spread_report report;
    if (steps[k].refused_before) refuse_nan(&run, 8000);
    particles = ref_particles_make(&spec, MD_SINGLE, steps[k].place, steps[k].n);
    ref_run_positions(&run, &particles);
    ck_assert_double_le(ref_run_error(&run, &particles), 3e-6);
    spread_describe(run.plan, &report);
    if (steps[k].looks) say_seen(&spec, &particles, 4, seen, sizeof seen);
    ck_assert_msg(strstr(report.reason, seen) != NULL, "step %d, %s: %s", (int)k, seen,
                  report.reason);
    ref_particles_free(&particles);
  }
  ref_run_close(&run);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_auto");
  TCase *tc = tcase_create("spread_auto");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, auto_weighs_density);
  tcase_add_loop_test(tc, auto_looks_where_that_decides, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, auto_weighs_interpolation, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, auto_looks_when_the_number_changes);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
