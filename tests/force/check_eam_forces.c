/* tests/force/check_eam_forces.c - forces of embedded atoms against direct sums and the oracle. */
#include "tests/force/eam_copper.h"

/* Forces, energy and virial within these parts of the largest force and of all terms; by packed
 * words in double, which are off by some 1e-12 of the largest value. */
static const double force_goals[MD_PRECISION_COUNT] = {2e-5, 4e-6, 1e-13};
static const double sum_goals[MD_PRECISION_COUNT] = {2e-6, 1e-6, 1e-14};
static const double packed_force_goal = 1e-11, packed_sum_goal = 1e-12;

static bool reads_words(const run_spec *spec)
{
  return test_backend() == MD_GPU && spec->list.kind == NEIGHBOR_TILE &&
         spec->precision == MD_DOUBLE;
}

static double force_goal(const run_spec *spec)
{
  return reads_words(spec) ? packed_force_goal : force_goals[spec->precision];
}

static double sum_goal(const run_spec *spec)
{
  return reads_words(spec) ? packed_sum_goal : sum_goals[spec->precision];
}

static void check_sums(run_md *md, const force_tally *tally, const ref_eam_sums *want)
{
  double *f = ref_alloc(3 * md->atoms->n, sizeof *f), most = 0;
  run_md_state(md, NULL, NULL, f);
  for (int64_t k = 0; k < 3 * md->atoms->n; k++)
    most = fmax(most, fabs(f[k] - want->f[k]));
  ck_assert_msg(most <= force_goal(&md->spec) * fmax(want->f_max, 1), "%s: force off by %g of %g",
                run_spec_text(&md->spec), most, want->f_max);
  const double scale = sum_goal(&md->spec) * want->u_scale;
  ck_assert_msg(fabs(tally->energy - want->energy) <= scale, "%s: energy off by %g of %g",
                run_spec_text(&md->spec), tally->energy - want->energy, want->u_scale);
  ck_assert_msg(fabs(tally->virial - want->virial) <= 10 * scale, "%s: virial off by %g of %g",
                run_spec_text(&md->spec), tally->virial - want->virial, want->u_scale);
  if (tally->is_exact) ck_assert(exact_value(&tally->exact[0]) == tally->energy);
  if (tally->is_exact) ck_assert(exact_value(&tally->exact[1]) == tally->virial);
  free(f);
}

/* Every list, in some orders, with and without sums. */
START_TEST(forces_equal_direct_sums)
{
  static const ordering_kind orders[ORDERS] = {ORDERING_NONE, ORDERING_ROW, ORDERING_HILBERT};
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  read_copper(knots_of(_i / MD_PRECISION_COUNT % 2 == 0, precision));
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
 * it, and with sums the same bits.  The last case has so many that positions are squeezed. */
START_TEST(many_tiles_are_full_lists)
{
  const bool squeezed = _i == MD_PRECISION_COUNT;
  run_spec spec = spec_of("2000", squeezed ? MD_DOUBLE : (md_precision)_i);
  run_case c = copper_case(squeezed ? HUGE_CASE : LARGE, spec.precision);
  double *full = ref_alloc(3 * c.n, sizeof *full), *f = ref_alloc(3 * c.n, sizeof *f);
  double size = 0, most = 0;
  force_tally tally;
  for (int tiles = 0; tiles < 2; tiles++) {
    run_set_list(&spec.list, tiles ? RUN_TRACED : 0);
    compute(&spec, &c, NULL, tiles ? f : full);
  }
  for (int64_t k = 0; k < 3 * c.n; k++)
    size = fmax(size, fabs(full[k])), most = fmax(most, fabs(full[k] - f[k]));
  ck_assert_msg(most <= 2 * force_goal(&spec) * size, "%s: off by %g of %g", run_spec_text(&spec),
                most, size);
  compute(&spec, &c, &tally, full);
  ck_assert(memcmp(f, full, (size_t)(3 * c.n) * sizeof *f) == 0);
  free(full), free(f);
  run_case_free(&c);
}
END_TEST

/* Central differences of the energy, of fourth order. */
START_TEST(forces_are_slopes_of_the_energy)
{
  run_spec spec = spec_of("2000", MD_DOUBLE);
  run_case c = copper_case(0, MD_DOUBLE);
  run_set_list(&spec.list, _i ? RUN_TRACED : 0);
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

int main(void)
{
  Suite *suite = suite_create("eam_forces");
  TCase *tc = tcase_create("forces");
  tcase_add_checked_fixture(tc, files_begin, end);
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, CASES * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, many_knots_are_the_oracle, 0, 2);
  if (test_backend() == MD_GPU)
    tcase_add_loop_test(tc, many_tiles_are_full_lists, 0, MD_PRECISION_COUNT + 1);
  const int kinds = test_backend() == MD_GPU ? 2 : 1; /* full lists, and tiles */
  tcase_add_loop_test(tc, forces_are_slopes_of_the_energy, 0, kinds);
  tcase_add_test(tc, densities_beyond_the_table_are_counted);
  if (test_backend() == MD_GPU) tcase_add_test(tc, half_lists_are_for_the_cpu);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
