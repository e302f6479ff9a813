/* tests/stokes/check_stokes_diffusion.c - how fast spheres of one size diffuse at short times,
 * against the literature: from positions before and after steps, so through forces, solves and
 * moves alike. */
#include "stokes/step/run.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

static const double pi = 3.141592653589793, radius = 30;

static stokes_packing make_fluid(double occupancy)
{
  md_ctx *ctx;
  double sizes[] = {radius}, fractions[] = {1};
  const stokes_radii radii = {1, sizes, fractions};
  const stokes_pack_spec spec = stokes_pack_defaults(1000, occupancy);
  stokes_packing packing;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 1, true}, &ctx));
  ck_ok(stokes_pack(ctx, &radii, &spec, &packing, NULL));
  md_ctx_destroy(ctx);
  return packing;
}

/* D / D0 from the squared displacements in steps so short that nothing else changes. */
static double diffusion(md_ctx *ctx, stokes_packing *packing)
{
  enum { STEPS = 12 };
  stokes_run_spec spec = stokes_run_defaults();
  stokes_run *run;
  stokes_step row;
  spec.dt = 1e-4;
  spec.vectors = STEPS;
  spec.preconditioner = STOKES_PRECONDITION_JACOBI;
  stokes_packing before = {.n = packing->n, .x = ref_alloc(4 * packing->n, sizeof *packing->x)};
  double sum = 0;
  ck_ok(stokes_run_create(ctx, &spec, packing, &run));
  for (int k = 0; k < STEPS; k++) {
    ck_ok(stokes_run_read(run, &before));
    ck_ok(stokes_run_step(run, &row));
    ck_ok(stokes_run_read(run, packing));
    ck_assert_int_eq(row.overlaps, 0);
    for (int64_t q = 0; q < 4 * packing->n; q++)
      sum += (packing->x[q] - before.x[q]) * (packing->x[q] - before.x[q]);
  }
  stokes_run_destroy(run);
  stokes_packing_free(&before);
  const double free_sphere = 1 / (6 * pi * spec.viscosity * radius);
  return sum / (6 * free_sphere * spec.dt * STEPS * (double)packing->n);
}

/* .82, .49 and .26 in the literature; lubrication alone gives .87, .50 and .24.  The sum has an
 * error of about one percent. */
START_TEST(short_time_self_diffusion)
{
  static const struct {
    double occupancy, least, most;
  } cases[] = {{0.1, 0.81, 0.89}, {0.3, 0.47, 0.53}, {0.45, 0.22, 0.28}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, true);
  stokes_packing packing = make_fluid(cases[_i].occupancy);
  const double ratio = diffusion(ctx, &packing);
  ck_assert_msg(ratio > cases[_i].least && ratio < cases[_i].most, "D / D0 = %g at %g", ratio,
                cases[_i].occupancy);
  stokes_packing_free(&packing);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_diffusion");
  TCase *tc = test_long_case("diffusion");
  tcase_add_loop_test(tc, short_time_self_diffusion, 0, 3);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
