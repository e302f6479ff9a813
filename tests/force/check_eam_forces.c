/* tests/force/check_eam_forces.c - forces of embedded atoms against direct sums and the oracle. */
#include "engine/integrate/integrate.h"
#include "minimd/shell/commands.h"
#include "tests/drive/files.h"
#include "tests/drive/run_md.h"
#include "tests/ref/ref_eam.h"
#include "tests/test.h"

static eam_potential eam;
static ref_eam table;

/* The potential that `minimd potential` writes, read by the program and by the reference. */
static void read_copper(const char *knots)
{
  char *path = (char *)files_path("cu");
  char *argv[] = {"potential", "--knots", (char *)knots, "-o", path};
  ck_ok(cmd_potential(5, argv));
  ck_ok(eam_read(path, &eam));
  table = ref_eam_read(path);
}

static void end(void)
{
  eam_free(&eam);
  ref_eam_free(&table);
  files_end();
}

enum { CASES = 5, CLOSE = 4, LARGE = CASES, ORDERS = 3 };

static run_case oracle_case(void)
{
  ref_eam_oracle oracle = ref_eam_oracle_read();
  run_case c = {.name = "oracle", .box = oracle.box, .n = oracle.n, .x = oracle.x};
  free(oracle.f), free(oracle.own), free(oracle.density);
  return c;
}

/* Copper, displaced: the oracle's; images of atoms in small boxes; off the origin and dense; pairs
 * at 1.6 A and more; many atoms. */
static run_case copper_case(int k, md_precision precision)
{
  static const int cells[][3] = {{0}, {2, 2, 2}, {1, 1, 3}, {5, 4, 3}, {4, 6, 5}, {24, 24, 24}};
  static const double lo[][3] = {{0}, {0}, {0}, {-3, 1, 0.5}, {0}, {0}};
  static const double edge[] = {0, 3.615, 3.615, 3.3, 3.9, 3.615};
  run_case c = k == 0 ? oracle_case() : run_case_fcc("copper", cells[k], lo[k], 0.08);
  const double scale = k == 0 ? 1 : edge[k] / cbrt(4 / 0.8442);
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] *= scale;
  for (int64_t i = 0; k >= CLOSE && i < 3 * c.n; i += 3 * 16) { /* the next atom comes nearer */
    c.x[i + 3] = c.x[i] + 1.6 + fmod(0.001 * (double)i, 1.4);
    c.x[i + 4] = c.x[i + 1], c.x[i + 5] = c.x[i + 2];
  }
  for (int64_t i = 0; i < 3 * c.n; i++)
    c.x[i] = run_round(precision, c.x[i]);
  for (int d = 0; d < 3; d++)
    c.box.lo[d] *= scale, c.box.hi[d] *= scale;
  return c;
}

/* Half lists of embedded atoms are for the CPU. */
static bool has_list(int list)
{
  return test_backend() == MD_CPU || list == 0 || list == RUN_TRACED;
}

static run_spec copper_spec(void)
{
  run_spec spec = run_spec_default();
  spec.eam = &eam;
  spec.force.r_cut = eam.cutoff;
  return spec;
}

/* The same, of a potential of so many knots. */
static run_spec spec_of(const char *knots, md_precision precision)
{
  read_copper(knots);
  run_spec spec = copper_spec();
  spec.precision = precision;
  return spec;
}

/* One computation of forces f [n][3], or NULL, and sums, or NULL. */
static void compute(const run_spec *spec, const run_case *c, force_tally *tally, double *f)
{
  run_md md = run_md_open(spec, c, NULL);
  run_md_force(&md, tally);
  run_md_state(&md, NULL, NULL, f);
  run_md_close(&md);
}

/* Forces, energy and virial within these parts of the largest force and of all terms. */
static const double force_goal[MD_PRECISION_COUNT] = {2e-5, 4e-6, 1e-13};
static const double sum_goal[MD_PRECISION_COUNT] = {2e-6, 1e-6, 1e-14};

static void check_sums(run_md *md, const force_tally *tally, const ref_eam_sums *want)
{
  const md_precision precision = md->spec.precision;
  double *f = ref_alloc(3 * md->atoms->n, sizeof *f), most = 0;
  run_md_state(md, NULL, NULL, f);
  for (int64_t k = 0; k < 3 * md->atoms->n; k++)
    most = fmax(most, fabs(f[k] - want->f[k]));
  ck_assert_msg(most <= force_goal[precision] * fmax(want->f_max, 1), "%s: force off by %g of %g",
                run_spec_text(&md->spec), most, want->f_max);
  const double scale = sum_goal[precision] * want->u_scale;
  ck_assert_msg(fabs(tally->energy - want->energy) <= scale, "%s: energy off by %g of %g",
                run_spec_text(&md->spec), tally->energy - want->energy, want->u_scale);
  ck_assert_msg(fabs(tally->virial - want->virial) <= 10 * scale, "%s: virial off by %g of %g",
                run_spec_text(&md->spec), tally->virial - want->virial, want->u_scale);
  free(f);
}

/* Every list, in some orders, with and without sums. */
START_TEST(forces_equal_direct_sums)
{
  static const ordering_kind orders[ORDERS] = {ORDERING_NONE, ORDERING_ROW, ORDERING_HILBERT};
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  read_copper(_i / MD_PRECISION_COUNT % 2 ? "180" : "500"); /* 180 are too rough to be packed */
  run_case c = copper_case(_i / MD_PRECISION_COUNT, precision);
  ref_eam_sums want = ref_eam_find(&table, &c.box, c.n, c.x);
  for (int k = 0; k < RUN_LISTS * ORDERS; k++) {
    if (!has_list(k / ORDERS)) continue;
    run_spec spec = copper_spec();
    force_tally tally = {.energy = -1, .virial = -1};
    spec.precision = precision;
    spec.list.order.kind = orders[k % ORDERS];
    spec.threads = 1 + k % 3;
    spec.deterministic = k % 4 == 0;
    spec.skin = k % 2 ? 0 : 0.7;
    run_set_list(&spec.list, k / ORDERS);
    run_md md = run_md_open(&spec, &c, NULL);
    ck_ok(md_fill(md.ctx, md.atoms->f.data, 0x41, md.atoms->f.bytes));
    run_md_force(&md, NULL);
    tally = (force_tally){.energy = want.energy, .virial = want.virial};
    check_sums(&md, &tally, &want);
    run_md_force(&md, &tally); /* overwritten, not added to */
    check_sums(&md, &tally, &want);
    ck_assert_int_eq(force_beyond(md.fc), 0);
    run_md_close(&md);
  }
  ref_eam_sums_free(&want);
  run_case_free(&c);
}
END_TEST

/* 10,000 knots are the exact functions to 2.4e-10 eV/A, 1e-10 of the largest force, as they are by
 * the reference; energy and pressure to their digits.  They do not all fit a tile's memory. */
START_TEST(many_knots_are_the_oracle)
{
  ref_eam_oracle oracle = ref_eam_oracle_read();
  run_spec spec = spec_of("10000", MD_DOUBLE);
  force_tally tally;
  run_case c = copper_case(0, MD_DOUBLE);
  run_set_list(&spec.list, _i ? RUN_TRACED : 0);
  double *f = ref_alloc(3 * c.n, sizeof *f), most = 0;
  compute(&spec, &c, &tally, f);
  for (int64_t k = 0; k < 3 * c.n; k++)
    most = fmax(most, fabs(f[k] - oracle.f[k]));
  ck_assert_msg(most <= 3e-10, "a force is off by %g eV/A", most);
  ck_assert_double_eq_tol(tally.energy, oracle.energy, 1e-9);
  const double volume = pow(oracle.box.hi[0], 3);
  ck_assert_double_eq_tol(tally.virial / (3 * volume) * 1.602176634e6, oracle.pressure, 1e-4);
  free(f);
  run_case_free(&c);
  ref_eam_oracle_free(&oracle);
}
END_TEST

/* Many tiles, of which some have pairs nearer than the tables in shared memory: as full lists have
 * it. */
START_TEST(many_tiles_are_full_lists)
{
  run_spec spec = spec_of("2000", (md_precision)_i);
  run_case c = copper_case(LARGE, spec.precision);
  double *full = ref_alloc(3 * c.n, sizeof *full), *f = ref_alloc(3 * c.n, sizeof *f);
  double size = 0, most = 0;
  for (int tiles = 0; tiles < 2; tiles++) {
    run_set_list(&spec.list, tiles ? RUN_TRACED : 0);
    compute(&spec, &c, NULL, tiles ? f : full);
  }
  for (int64_t k = 0; k < 3 * c.n; k++)
    size = fmax(size, fabs(full[k])), most = fmax(most, fabs(full[k] - f[k]));
  ck_assert_msg(most <= 2 * force_goal[_i] * size, "%s: off by %g of %g", run_spec_text(&spec),
                most, size);
  free(full), free(f);
  run_case_free(&c);
}
END_TEST

/* Central differences of the energy, of fourth order. */
START_TEST(forces_are_slopes_of_the_energy)
{
  const run_spec spec = spec_of("2000", MD_DOUBLE);
  run_case c = copper_case(0, MD_DOUBLE);
  double *f = ref_alloc(3 * c.n, sizeof *f);
  compute(&spec, &c, NULL, f);
  for (int64_t k = 0; k < 3 * c.n; k += 37) {
    const double h = 1e-4, x = c.x[k];
    double u[4];
    for (int s = 0; s < 4; s++) {
      c.x[k] = x + h * (s < 2 ? s - 2 : s - 1);
      force_tally tally;
      compute(&spec, &c, &tally, NULL);
      u[s] = tally.energy;
    }
    c.x[k] = x;
    const double slope = (8 * (u[2] - u[1]) - (u[3] - u[0])) / (12 * h);
    ck_assert_msg(fabs(f[k] + slope) <= 2e-7, "force %d is %.12g, the slope %.12g", (int)k, f[k],
                  -slope);
  }
  free(f);
  run_case_free(&c);
}
END_TEST

/* Densities four times those of copper are beyond the table; forces and energies go on. */
START_TEST(densities_beyond_the_table_are_counted)
{
  run_spec spec = spec_of("500", MD_DOUBLE);
  run_case c = copper_case(1, MD_DOUBLE);
  for (int64_t k = 0; k < 3 * c.n; k++)
    c.x[k] *= 0.6;
  for (int d = 0; d < 3; d++)
    c.box.lo[d] *= 0.6, c.box.hi[d] *= 0.6;
  ref_eam_sums want = ref_eam_find(&table, &c.box, c.n, c.x);
  int64_t beyond = 0;
  for (int64_t i = 0; i < c.n; i++)
    beyond += want.density[i] > 60;
  ck_assert_int_gt(beyond, 0);
  for (int list = 0; list < RUN_LISTS; list++) {
    if (!has_list(list)) continue;
    force_tally tally;
    run_set_list(&spec.list, list);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    check_sums(&md, &tally, &want);
    ck_assert_int_eq(force_beyond(md.fc), beyond);
    run_md_force(&md, NULL);
    run_md_force(&md, &tally);
    ck_assert_int_eq(force_beyond(md.fc), 3 * beyond);
    run_md_close(&md);
  }
  ref_eam_sums_free(&want);
  run_case_free(&c);
}
END_TEST

/* Forces with and without sums, for which a kernel has an instance each: the same bits, or a
 * restart would go another way than the run that it goes on with. */
START_TEST(sums_change_no_bit)
{
  run_spec spec = spec_of("500", (md_precision)_i);
  run_case c = copper_case(3, spec.precision);
  double *with = ref_alloc(3 * c.n, sizeof *with), *f = ref_alloc(3 * c.n, sizeof *f);
  for (int list = 0; list < RUN_LISTS; list++) {
    if (!has_list(list)) continue;
    force_tally tally;
    run_set_list(&spec.list, list);
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, &tally);
    run_md_state(&md, NULL, NULL, with);
    run_md_force(&md, NULL);
    run_md_state(&md, NULL, NULL, f);
    ck_assert_msg(memcmp(f, with, (size_t)(3 * c.n) * sizeof *f) == 0, "%s",
                  run_spec_text(&md.spec));
    run_md_close(&md);
  }
  free(with), free(f);
  run_case_free(&c);
}
END_TEST

/* Full lists, and half lists in a deterministic context: the same bits for any threads. */
START_TEST(threads_change_no_bit)
{
  run_spec spec = spec_of("500", (md_precision)_i);
  spec.deterministic = true;
  run_case c = copper_case(3, spec.precision);
  double *first = ref_alloc(3 * c.n, sizeof *first), *f = ref_alloc(3 * c.n, sizeof *f);
  force_tally tally, one = {0};
  for (int k = 0; k < 3 * RUN_LISTS; k++) {
    if (!has_list(k / 3)) continue;
    run_set_list(&spec.list, k / 3);
    spec.threads = k % 3 + 1;
    compute(&spec, &c, &tally, k % 3 ? f : first);
    if (k % 3 == 0) one = tally;
    if (k % 3) ck_assert(memcmp(f, first, (size_t)(3 * c.n) * sizeof *f) == 0);
    ck_assert(memcmp(&tally, &one, sizeof one) == 0);
  }
  free(first), free(f);
  run_case_free(&c);
}
END_TEST

/* Least-squares slope of the total energy of an atom over 4000 steps of 2.5 fs near 800 K, by mass
 * 1, once the first 1000 have shared out kinetic and potential energy, of which the energy that
 * the integrator keeps has other parts of order dt^2. */
START_TEST(steps_keep_the_energy)
{
  enum { SAMPLES = 400, EVERY = 10 };
  run_spec spec = spec_of("2000", MD_DOUBLE);
  spec.every = 0;
  spec.skin = 1;
  spec.dt = 0.0308;
  run_case c = copper_case(0, MD_DOUBLE);
  double *v = run_velocities(c.n, 0.12, 3), sum_xy = 0, sum_xx = 0;
  run_md md = run_md_open(&spec, &c, v);
  const run_energy before = run_md_energy(&md);
  run_md_steps(&md, 1000);
  const double start = run_md_energy(&md).total;
  for (int k = 0; k < SAMPLES; k++) {
    run_md_steps(&md, EVERY);
    const double x = EVERY * (k - (SAMPLES - 1) / 2.0);
    sum_xy += x * (run_md_energy(&md).total - start) / (double)c.n;
    sum_xx += x * x;
  }
  const run_energy after = run_md_energy(&md);
  const double temperature = 2 * after.kinetic / (3 * (double)c.n - 3) / 8.617e-5;
  ck_assert_msg(temperature > 300 && temperature < 1500, "%g K", temperature);
  ck_assert_msg(fabs(sum_xy / sum_xx) <= 1e-9, "drift of %g eV a step", sum_xy / sum_xx);
  for (int d = 0; d < 3; d++)
    ck_assert_double_eq_tol(after.momentum[d], before.momentum[d], 1e-9);
  free(v);
  run_md_close(&md);
  run_case_free(&c);
}
END_TEST

START_TEST(half_lists_are_for_the_cpu)
{
  run_spec spec = spec_of("500", MD_DOUBLE);
  spec.list.kind = NEIGHBOR_HALF;
  run_case c = copper_case(1, MD_DOUBLE);
  run_md md = run_md_open(&spec, &c, NULL);
  ck_assert_int_eq(force_compute(md.fc, md.atoms, md.list, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "half lists of embedded atoms"));
  run_md_close(&md);
  run_case_free(&c);
}
END_TEST

/* Steps whose second pass also moves atoms, and their images, are the bits of forces, kicks, drift
 * and new images one after the other; several at once as well. */
START_TEST(fused_steps_are_single_steps)
{
  enum { STEPS = 5 };
  const double kick = 1e-3, drift = 1e-2;
  run_spec spec = spec_of("500", (md_precision)_i);
  spec.list.kind = NEIGHBOR_TILE;
  run_case c = copper_case(3, spec.precision);
  double *v = run_velocities(c.n, 1, 5);
  run_snapshot state[2];
  for (int fused = 0; fused < 2; fused++) {
    run_md md = run_md_open(&spec, &c, v);
    ck_assert(force_advances(md.fc, md.list));
    if (fused) {
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, 1, NULL));
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, STEPS - 1, NULL));
    }
    for (int k = 0; k < STEPS && !fused; k++) {
      run_md_force(&md, NULL);
      ck_ok(integrate_advance(md.atoms, &kick, 2, drift));
      ck_ok(comm_forward(md.cm, md.atoms));
    }
    state[fused] = run_snapshot_take(md.atoms);
    run_md_close(&md);
  }
  const size_t bytes = (size_t)c.n * 3 * sizeof(double);
  ck_assert(memcmp(state[0].x, state[1].x, bytes) == 0);
  ck_assert(memcmp(state[0].v, state[1].v, bytes) == 0);
  for (int k = 0; k < 2; k++)
    run_snapshot_free(&state[k]);
  free(v);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("eam_forces");
  TCase *tc = tcase_create("forces");
  tcase_add_checked_fixture(tc, files_begin, end);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, CASES * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, many_knots_are_the_oracle, 0, 2);
  if (test_backend() == MD_GPU)
    tcase_add_loop_test(tc, many_tiles_are_full_lists, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, forces_are_slopes_of_the_energy);
  tcase_add_test(tc, densities_beyond_the_table_are_counted);
  tcase_add_loop_test(tc, sums_change_no_bit, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, threads_change_no_bit, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, steps_keep_the_energy);
  if (test_backend() == MD_GPU) {
    tcase_add_test(tc, half_lists_are_for_the_cpu);
    tcase_add_loop_test(tc, fused_steps_are_single_steps, 0, MD_PRECISION_COUNT);
  }
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
