/* tests/stokes/check_stokes_fluid.c - are packings those of hard spheres in equilibrium? */
#include "stokes/normal.h"
#include "stokes/packing/pack_impl.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

static const double pi = 3.141592653589793;

static void radii_of(bool one_size, stokes_radii *out)
{
  ck_ok(stokes_radii_read("ecoli", out));
  if (one_size) out->n = 1, out->radius[0] = 30, out->fraction[0] = 1;
}

static md_status pack(const stokes_radii *radii, const stokes_pack_spec *spec, stokes_packing *out,
                      stokes_pack_report *report)
{
  md_ctx *ctx;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 1, false}, &ctx));
  const md_status status = stokes_pack(ctx, radii, spec, out, report);
  md_ctx_destroy(ctx);
  return status;
}

/* Pairs a sphere with a gap below 0.04, from all pairs. */
static double near_pairs(const stokes_packing *p)
{
  int64_t found = 0;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < i; j++) {
      double sum = 0;
      for (int d = 0; d < 3; d++) {
        const double step = fabs(p->x[4 * i + d] - p->x[4 * j + d]); /* both are in the box */
        const double nearest = fmin(step, p->box[d] - step);
        sum += nearest * nearest;
      }
      found += sqrt(sum) < 1.02 * (p->x[4 * i + 3] + p->x[4 * j + 3]);
    }
  return (double)found / (double)p->n;
}

/* Means over long walks of an independent program, with their errors and the standard deviation of
 * one packing of 3000 spheres. */
START_TEST(packings_are_equilibrated)
{
  enum { N = 3000, PACKINGS = 3 };
  static const struct {
    bool one_size;
    double occupancy, pairs, error, deviation, z;
  } cases[] = {
      {true, 0.1, 0.03139, 0.00019, 0.0031, 1.5217}, {true, 0.3, 0.17772, 0.00045, 0.0073, 3.984},
      {true, 0.5, 0.66967, 0.00083, 0.0137, 13.004}, {false, 0.1, 0.02145, 0.00016, 0.0027, 1.3506},
      {false, 0.3, 0.11105, 0.00033, 0.0053, 2.854}, {false, 0.5, 0.38379, 0.00058, 0.0095, 7.887}};
  stokes_radii radii;
  radii_of(cases[_i].one_size, &radii);
  double pairs = 0, z = 0, variance = 0, least = 0;
  for (int k = 0; k < PACKINGS; k++) {
    stokes_pack_spec spec = stokes_pack_defaults(N, cases[_i].occupancy);
    stokes_packing p;
    stokes_pack_report report;
    spec.seed = (uint64_t)k + 100;
    ck_ok(pack(&radii, &spec, &p, &report));
    ck_assert(report.stationary);
    pairs += near_pairs(&p) / PACKINGS;
    z += report.z / PACKINGS;
    variance += report.z_error * report.z_error / (PACKINGS * PACKINGS);
    least += report.gap_min / report.gap_expected / PACKINGS; /* mean of exponential numbers */
    stokes_packing_free(&p);
  }
  stokes_radii_free(&radii);
  const double near = 4 * sqrt(pow(cases[_i].deviation, 2) / PACKINGS + pow(cases[_i].error, 2));
  ck_assert_double_eq_tol(pairs, cases[_i].pairs, near);
  ck_assert_double_eq_tol(z, cases[_i].z, 4 * sqrt(variance) + 5e-4 * cases[_i].z);
  ck_assert_double_le(z, 1.02 * cases[_i].z);
  ck_assert_double_ge(z, 0.98 * cases[_i].z);
  ck_assert_msg(least > 1e-4 && least < 5, "smallest gap %g of what is expected", least);
}
END_TEST

/* Theory by moments against sums over pairs of sizes, and Carnahan and Starling. */
START_TEST(theory_is_that_of_bmcsl)
{
  static const double occupancy[] = {0.2, 0.4, 0.5}, starling[] = {1.76, 3.70, 6.00};
  const double a[4] = {10, 25, 30, 70}, box = 300;
  stokes_packing p = {.n = 4, .box = {box, box, box}, .x = ref_alloc(16, sizeof(double))};
  double zeta[4] = {0}, sum = 0, path = 0;
  for (int i = 0; i < 4; i++) {
    p.x[4 * i + 3] = a[i];
    for (int k = 0; k < 4; k++)
      zeta[k] += pi / 6 * pow(2 * a[i], k) / pow(box, 3);
  }
  const pack_fluid fluid = pack_fluid_of(&p);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      const double v = 1 - zeta[3], q = 2 * a[i] * a[j] / (a[i] + a[j]);
      const double g = 1 / v + 3 * zeta[2] * q / (v * v) + 2 * pow(zeta[2] * q, 2) / pow(v, 3);
      ck_assert_double_eq_tol(pack_fluid_contact(&fluid, a[i], a[j]), g, 1e-12 * g);
      sum += 2 * pi / 3 * fluid.rho * pow(a[i] + a[j], 3) * g / 16;
      path += pi * fluid.rho * pow(a[i] + a[j], 2) * g / 16;
    }
  ck_assert_double_eq_tol(fluid.z, 1 + sum, 1e-12 * sum);
  ck_assert_double_eq_tol(fluid.free_path, 1 / path, 1e-12 / path);
  p.n = 1;
  for (int k = 0; k < 3; k++) {
    p.x[3] = box * cbrt(occupancy[k] * 3 / (4 * pi));
    const pack_fluid one = pack_fluid_of(&p);
    ck_assert_double_eq_tol(pack_fluid_contact(&one, p.x[3], p.x[3]), starling[k], 0.005);
    ck_assert_double_eq_tol(pack_fluid_value(&one, one.z), starling[k], 0.005);
  }
  free(p.x);
}
END_TEST

/* One chain among all images of all spheres. */
static double ref_chain(double *x, int64_t n, double edge, uint64_t number, double left)
{
  const normal_bits bits = normal_draw(5, NORMAL_MOVE, number, 0, 0);
  const int axis = (int)(3 * normal_uniform(bits, 0));
  int64_t i = (int64_t)((double)n * normal_uniform(bits, 1));
  double steps = 0;
  while (left > 0) {
    double path = left, step = 0;
    int64_t next = i;
    for (int64_t j = 0; j < n; j++)
      for (int image = 0; j != i && image < 125; image++) {
        const int shift[3] = {image / 25 - 2, image / 5 % 5 - 2, image % 5 - 2};
        double d[3], r_sq = 0;
        for (int k = 0; k < 3; k++) {
          d[k] = x[4 * j + k] + shift[k] * edge - x[4 * i + k];
          r_sq += k == axis ? 0 : d[k] * d[k];
        }
        const double sigma = x[4 * i + 3] + x[4 * j + 3];
        if (d[axis] <= 0 || r_sq >= sigma * sigma) continue;
        const double free_path = fmax(d[axis] - sqrt(sigma * sigma - r_sq), 0);
        if (free_path < path) path = free_path, next = j, step = d[axis] - free_path;
      }
    x[4 * i + axis] += path;
    x[4 * i + axis] -= edge * floor(x[4 * i + axis] / edge);
    left -= path, i = next, steps += step;
  }
  return steps;
}

/* Chain by chain, in boxes of few cells; a sphere may fly through more than a box. */
START_TEST(chains_agree_with_all_images)
{
  static const struct {
    int64_t n;
    double occupancy, length;
  } cases[] = {{40, 0.4, 300}, {400, 0.45, 300}, {30, 0.01, 150}};
  const int64_t n = cases[_i].n;
  stokes_packing p = ref_packing(n, cases[_i].occupancy, n < 100, 6);
  double *x = ref_alloc(4 * n, sizeof *x);
  pack_chains *chains;
  ck_ok(pack_chains_create(&p, NULL, 0, &chains));
  for (uint64_t k = 0; k < 300; k++) {
    double steps = 0;
    memcpy(x, p.x, (size_t)n * 4 * sizeof *x);
    const double expected = ref_chain(x, n, p.box[0], k, cases[_i].length);
    ck_ok(pack_chains_run(chains, 5, k, cases[_i].length, &steps));
    pack_chains_read(chains, p.x);
    ck_assert_double_eq_tol(steps, expected, 1e-7);
    for (int64_t i = 0; i < 4 * n; i++) {
      const double off = fabs(p.x[i] - x[i]);
      ck_assert_double_le(fmin(off, fabs(p.box[0] - off)), 1e-7);
    }
  }
  pack_chains_destroy(chains);
  free(x);
  stokes_packing_free(&p);
}
END_TEST

/* By pairs of sizes, near theory; the packing stays as it is. */
START_TEST(contacts_of_two_sizes)
{
  double radius[2] = {40, 20}, fraction[2] = {0.3, 0.7}, g[4], theory[4];
  const stokes_radii radii = {2, radius, fraction};
  const stokes_pack_spec spec = stokes_pack_defaults(2000, 0.3);
  stokes_packing p;
  ck_ok(pack(&radii, &spec, &p, NULL));
  stokes_packing before = ref_copy(&p);
  ck_ok(stokes_contacts(&radii, &p, 9, 100, g, theory));
  ck_assert_mem_eq(p.x, before.x, (size_t)p.n * 4 * sizeof(double));
  for (int k = 0; k < 4; k++)
    ck_assert_double_eq_tol(g[k], theory[k], 0.04 * theory[k]);
  ck_assert_double_gt(theory[0], 1.1 * theory[3]);
  ck_assert_double_eq(g[1], g[2]);
  p.box[1] *= 2;
  ck_assert_int_eq(stokes_contacts(&radii, &p, 9, 1, g, theory), MD_EINVAL);
  radius[0] = 41;
  p.box[1] = p.box[0];
  ck_assert_int_eq(stokes_contacts(&radii, &p, 9, 1, g, theory), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "not listed"));
  stokes_packing_free(&before);
  stokes_packing_free(&p);
}
END_TEST

/* A walk that is stopped early says so, and is far from theory. */
START_TEST(early_ends_are_told)
{
  static const int64_t sweeps[] = {0, 3, 40};
  stokes_radii radii;
  radii_of(true, &radii);
  for (int k = 0; k < 3; k++) {
    stokes_pack_spec spec = stokes_pack_defaults(1000, 0.5);
    stokes_packing p;
    stokes_pack_report report;
    spec.sweeps = sweeps[k];
    ck_ok(pack(&radii, &spec, &p, &report));
    ck_assert(!report.stationary);
    ck_assert_int_eq(report.sweeps, sweeps[k]);
    ck_assert_int_gt(report.sweeps_usual, 400);
    ck_assert_double_eq_tol(report.z_theory, 13, 0.01);
    if (k < 2) ck_assert(isnan(report.z));
    if (k == 2) ck_assert_double_gt(report.z, 15);
    stokes_packing_free(&p);
  }
  stokes_radii_free(&radii);
}
END_TEST

START_TEST(impossible_occupancies_are_refused)
{
  double radius[2] = {30, 31}, fraction[2] = {0.5, 0.5};
  const stokes_radii two = {2, radius, fraction};
  stokes_radii ecoli;
  stokes_packing p;
  stokes_pack_spec spec = stokes_pack_defaults(500, 0.541);
  radii_of(false, &ecoli);
  ck_assert_int_eq(pack(&two, &spec, &p, NULL), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "at most 0.54, not 0.541: spheres of one size freeze"), "%s",
                md_message());
  radius[1] = 50; /* deviates by a quarter */
  spec.occupancy = 0.66;
  ck_assert_int_eq(pack(&two, &spec, &p, NULL), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "below 0.650, not 0.66"), "%s", md_message());
  ck_assert_ptr_null(p.x);
  spec.occupancy = 0.9;
  ck_assert_int_eq(pack(&ecoli, &spec, &p, NULL), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "below 0.723, not 0.9"), "%s", md_message());
  spec.occupancy = 0.6;
  spec.iterations = 3;
  ck_assert_int_eq(pack(&ecoli, &spec, &p, NULL), MD_ENUMERIC);
  ck_assert_msg(strstr(md_message(), "not pushed apart"), "%s", md_message());
  ck_assert_ptr_null(p.x);
  spec.iterations = 5000;
  stokes_pack_report report;
  ck_ok(pack(&ecoli, &spec, &p, &report));
  ck_assert(report.stationary);
  ck_assert_double_eq_tol(report.z, report.z_theory, 0.05 * report.z_theory);
  stokes_packing_free(&p);
  stokes_radii_free(&ecoli);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_fluid");
  TCase *tc = tcase_create("fluid"), *equal = tcase_create("equilibrium");
  tcase_add_loop_test(equal, packings_are_equilibrated, 0, 6);
  tcase_add_test(tc, theory_is_that_of_bmcsl);
  tcase_add_loop_test(tc, chains_agree_with_all_images, 0, 3);
  tcase_add_test(tc, contacts_of_two_sizes);
  tcase_add_test(tc, early_ends_are_told);
  tcase_add_test(tc, impossible_occupancies_are_refused);
  tcase_set_timeout(equal, 120);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, equal);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
