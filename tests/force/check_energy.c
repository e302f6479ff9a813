/* tests/force/check_energy.c - published energies, exact lattice sums, and which sums repeat bit
 * for bit.
 *
 * The reference configurations and their energies are those of the National Institute of Standards
 * and Technology (Lennard-Jones fluid reference calculations), without long-range correction. */
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

#include <stdio.h>

typedef struct {
  int file;
  double r_cut;
  force_shift shift;
  double u, w;
} nist_row;

static const nist_row nist[] = {{1, 3, FORCE_SHIFT_NONE, -4351.54019454387, -568.665465318175},
                                {1, 4, FORCE_SHIFT_NONE, -4467.49572494797, -1263.88337187214},
                                {1, 3, FORCE_SHIFT_FORCE, -3870.92488578402, 317.538346012446},
                                {1, 2.5, FORCE_SHIFT_NONE, -4214.08529743958, 253.952457170274},
                                {2, 3, FORCE_SHIFT_NONE, -690.004045172867, -568.4573407379},
                                {2, 4, FORCE_SHIFT_NONE, -704.603319726964, -655.987560706642},
                                {2, 3, FORCE_SHIFT_FORCE, -620.119860998321, -445.331049619799},
                                {3, 3, FORCE_SHIFT_NONE, -1146.66742083367, -1164.9496507132},
                                {3, 4, FORCE_SHIFT_NONE, -1175.38056722541, -1337.10261730099},
                                {4, 3, FORCE_SHIFT_NONE, -16.7903213046259, -46.2491967463089},
                                {4, 4, FORCE_SHIFT_NONE, -17.0604532202709, -47.8688281910724}};
enum { NIST_ROWS = sizeof nist / sizeof *nist };

static run_case nist_case(int file)
{
  char path[80];
  snprintf(path, sizeof path, "tests/oracle/nist/lj_sample_config_periodic%d.txt", file);
  FILE *stream = fopen(path, "r");
  ck_assert_msg(stream, "cannot read %s", path);
  run_case c = {.name = "nist", .spaced = true};
  double edge[3];
  long n = 0;
  ck_assert_int_eq(fscanf(stream, "%lf %lf %lf %ld", &edge[0], &edge[1], &edge[2], &n), 4);
  c.n = n;
  c.x = ref_alloc(3 * c.n, sizeof *c.x);
  for (long i = 0; i < n; i++)
    ck_assert_int_eq(
        fscanf(stream, "%*d %lf %lf %lf", &c.x[3 * i], &c.x[3 * i + 1], &c.x[3 * i + 2]), 3);
  for (int d = 0; d < 3; d++)
    c.box.lo[d] = -edge[d] / 2, c.box.hi[d] = edge[d] / 2;
  fclose(stream);
  return c;
}

static const double goal[MD_PRECISION_COUNT] = {1e-5, 1e-6, 1e-12};

START_TEST(published_energies_are_met)
{
  const nist_row *row = &nist[_i];
  run_case c = nist_case(row->file);
  run_spec spec = run_spec_default();
  spec.force.r_cut = row->r_cut;
  spec.force.shift = row->shift;
  const ref_exactness exact = {0, 0};
  ref_forces direct = ref_forces_find(&spec.force, &exact, &c.box, c.n, c.x);
  ck_assert_double_eq_tol(direct.energy, row->u, 1e-12 * fabs(row->u));
  ck_assert_double_eq_tol(direct.virial, row->w, 1e-12 * fabs(row->w));
  ref_forces_free(&direct);
  for (int k = 0; k < MD_PRECISION_COUNT * RUN_LISTS * 4; k++) {
    force_tally tally = {0};
    spec.precision = (md_precision)(k % MD_PRECISION_COUNT);
    spec.list.order.kind = k / MD_PRECISION_COUNT % 2 ? ORDERING_NONE : ORDERING_HILBERT;
    spec.deterministic = k / MD_PRECISION_COUNT / 2 % 2;
    spec.threads = spec.deterministic ? 2 : 1;
    run_set_list(&spec.list, k / MD_PRECISION_COUNT / 4);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    const double u_off = fabs(tally.energy / row->u - 1), w_off = fabs(tally.virial / row->w - 1);
    ck_assert_msg(u_off <= goal[spec.precision], "configuration %d, %s: U %.15g, not %.15g",
                  row->file, run_spec_text(&spec), tally.energy, row->u);
    ck_assert_msg(w_off <= goal[spec.precision], "configuration %d, %s: W %.15g, not %.15g",
                  row->file, run_spec_text(&spec), tally.virial, row->w);
    run_md_close(&md);
  }
  run_case_free(&c);
}
END_TEST

/* The perfect lattice of the benchmark: the energy and pressure of an atom do not depend on the
 * size, also where the box is smaller than the cut-off. */
START_TEST(lattice_sums_are_exact)
{
  static const int sizes[][3] = {{1, 1, 1}, {2, 1, 3}, {4, 7, 3}, {12, 13, 11}};
  const double temperature = 1.44;
  for (int k = 0; k < 4 * MD_PRECISION_COUNT * RUN_LISTS; k++) {
    run_case c = run_case_fcc("lattice", sizes[k % 4], (double[]){0, 0, 0}, 0);
    run_spec spec = run_spec_default();
    force_tally tally = {0};
    spec.precision = (md_precision)(k / 4 % MD_PRECISION_COUNT);
    spec.force.shift = FORCE_SHIFT_NONE;
    spec.threads = 1 + k % 3;
    spec.deterministic = k % 2;
    run_set_list(&spec.list, k / 4 / MD_PRECISION_COUNT);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    /* P of 32^3 cells contains the kinetic part of 3 N - 3 degrees of freedom. */
    const double n = 131072, density = 0.8442;
    const double kinetic = (3 * n - 3) / (3 * n) * density * temperature;
    const double pressure = tally.virial / (double)c.n * density / 3 + kinetic;
    const double within = fmax(goal[spec.precision] * 20, 1e-11);
    ck_assert_msg(fabs(tally.energy / (double)c.n + 6.77336805325296) < within / 3, "%s: U/N %.15g",
                  run_spec_text(&spec), tally.energy / (double)c.n);
    ck_assert_msg(fabs(pressure + 5.01967854474379) < within, "%s: P %.15g", run_spec_text(&spec),
                  pressure);
    run_md_close(&md);
    run_case_free(&c);
  }
}
END_TEST

/* Forces in the order of atoms, and the tally, of one configuration. */
static double *forces_and_sums(const run_spec *spec, const run_case *c)
{
  run_md md = run_md_open(spec, c, NULL);
  force_tally tally = {0};
  run_md_force(&md, &tally);
  double *f = ref_alloc(3 * c->n + 2, sizeof *f);
  run_md_state(&md, NULL, NULL, f);
  f[3 * c->n] = tally.energy, f[3 * c->n + 1] = tally.virial;
  run_md_close(&md);
  return f;
}

/* Full lists and tiles: always and for any number of threads.  Half lists: on the CPU for one
 * number of threads, in a deterministic context everywhere and for any number. */
START_TEST(sums_repeat_bit_for_bit)
{
  run_case c = run_case_fcc("liquid", (int[]){14, 13, 12}, (double[]){-3, 0, 8}, 0.12);
  run_spec spec = run_spec_default();
  spec.precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_set_list(&spec.list, _i / MD_PRECISION_COUNT);
  const bool full = spec.list.kind != NEIGHBOR_HALF;
  for (int deterministic = 0; deterministic < 2; deterministic++) {
    spec.deterministic = deterministic;
    if (!full && !deterministic && test_backend() == MD_GPU) continue;
    spec.threads = 1;
    double *first = forces_and_sums(&spec, &c);
    for (int threads = 1; threads <= 4; threads++) {
      spec.threads = threads;
      double *again = forces_and_sums(&spec, &c);
      if (full || deterministic || threads == 1)
        ck_assert_msg(memcmp(first, again, (size_t)(3 * c.n + 2) * 8) == 0, "%s: differs",
                      run_spec_text(&spec));
      double *third = forces_and_sums(&spec, &c);
      ck_assert_msg(memcmp(again, third, (size_t)(3 * c.n + 2) * 8) == 0, "%s: does not repeat",
                    run_spec_text(&spec));
      free(again), free(third);
    }
    free(first);
  }
  run_case_free(&c);
}
END_TEST

/* Sums in fixed point hold the largest forces, too, and the small ones beside them; what is no
 * number is none. */
START_TEST(close_pairs_fit_fixed_point)
{
  static const double distance[] = {0.9, 0.3, 0.05, 0.004, 0};
  const double relative = _i == MD_DOUBLE ? 1e-13 : 1e-4;
  for (int k = 0; k < 5; k++)
    for (int newton = 0; newton < 2; newton++) {
      if (k == 3 && _i != MD_DOUBLE) continue; /* beyond a float's range on the way */
      run_case c = {.box = {{0, 0, 0}, {9, 9, 9}}, .n = 2, .x = ref_alloc(6, 8)};
      const double x[] = {4, 4, 4, 4 + distance[k], 4, 4};
      memcpy(c.x, x, sizeof x);
      run_spec spec = run_spec_default();
      spec.precision = (md_precision)_i;
      spec.deterministic = true;
      run_set_list(&spec.list, 1);
      spec.list.newton = newton;
      run_md md = run_md_open(&spec, &c, NULL);
      double f[6], u, f_over_r, placed[6];
      run_md_force(&md, NULL);
      run_md_state(&md, placed, NULL, f);
      if (distance[k] == 0) {
        ck_assert(!isfinite(f[0]) && !isfinite(f[3]));
      } else {
        const double r = placed[3] - placed[0];
        force_pair(&spec.force, r, &u, &f_over_r);
        /* r^-13: thirteen times the rounding of a distance, itself one of places. */
        const double slack =
            fabs(f_over_r * r) * (relative + 13 * 8 * run_unit(spec.precision) / r);
        ck_assert_msg(fabs(f[3] - f_over_r * r) <= slack, "distance %g: %.15g, not %.15g", r, f[3],
                      f_over_r * r);
        ck_assert_msg(fabs(f[0] + f[3]) <= relative * fabs(f[3]), "%.15g and %.15g", f[0], f[3]);
        ck_assert_double_eq(f[1], 0);
      }
      run_md_close(&md);
      run_case_free(&c);
    }
}
END_TEST

/* Forces of a liquid in another unit of length, a power of two, times it. */
static double *forces_in_unit(const run_spec *base, const run_case *liquid, double unit,
                              force_tally *tally)
{
  run_spec spec = *base;
  run_case c = *liquid;
  c.x = ref_alloc(3 * c.n, sizeof *c.x);
  for (int64_t k = 0; k < 3 * c.n; k++)
    c.x[k] = unit * liquid->x[k];
  for (int d = 0; d < 3; d++)
    c.box.lo[d] *= unit, c.box.hi[d] *= unit;
  spec.force.sigma *= unit, spec.force.r_cut *= unit, spec.skin *= unit;
  run_md md = run_md_open(&spec, &c, NULL);
  double *f = ref_alloc(3 * c.n, sizeof *f);
  run_md_force(&md, tally);
  run_md_state(&md, NULL, NULL, f);
  for (int64_t k = 0; k < 3 * c.n; k++)
    f[k] *= unit;
  run_md_close(&md);
  free(c.x);
  return f;
}

/* Up to where single and mixed precision are refused. */
START_TEST(any_unit_of_length_serves)
{
  static const double goals[MD_PRECISION_COUNT] = {1e-5, 1e-5, 1e-13};
  run_spec spec = run_spec_default();
  spec.precision = (md_precision)(_i % MD_PRECISION_COUNT);
  spec.force.shift = FORCE_SHIFT_NONE;
  run_set_list(&spec.list, _i / MD_PRECISION_COUNT);
  run_case c = run_case_fcc("liquid", (int[]){4, 4, 5}, (double[]){0, 0, 0}, 0.1);
  for (int64_t k = 0; k < 3 * c.n; k++)
    c.x[k] = run_round(spec.precision, c.x[k]);
  force_tally usual, tally;
  double *want = forces_in_unit(&spec, &c, 1, &usual), most = 0;
  for (int64_t k = 0; k < 3 * c.n; k++)
    most = fmax(most, fabs(want[k]));
  ck_assert_double_gt(most, 1);
  for (int k = 0; k < 2; k++) {
    const double unit = k ? 0x1p7 : 0x1p-7, near = goals[spec.precision];
    double *f = forces_in_unit(&spec, &c, unit, &tally);
    for (int64_t i = 0; i < 3 * c.n; i++)
      ck_assert_msg(fabs(f[i] - want[i]) <= near * most, "%s, unit %g: force %.15g, not %.15g",
                    run_spec_text(&spec), unit, f[i], want[i]);
    ck_assert_msg(fabs(tally.energy - usual.energy) <= near * fabs(usual.energy) &&
                      fabs(tally.virial - usual.virial) <= near * fabs(usual.energy),
                  "%s, unit %g: energy %.15g, virial %.15g, not %.15g and %.15g",
                  run_spec_text(&spec), unit, tally.energy, tally.virial, usual.energy,
                  usual.virial);
    free(f);
  }
  free(want);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("energy");
  TCase *tc = tcase_create("energy");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, published_energies_are_met, 0, NIST_ROWS);
  tcase_add_test(tc, lattice_sums_are_exact);
  tcase_add_loop_test(tc, sums_repeat_bit_for_bit, 0, RUN_LISTS * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, close_pairs_fit_fixed_point, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, any_unit_of_length_serves, 0, RUN_LISTS * MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
