/* tests/force/check_force.c - forces against direct sums, the pair formula against its
 * definition. */
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

#include <stdio.h>

static const ordering_kind orders[] = {ORDERING_NONE, ORDERING_ROW, ORDERING_COLUMN,
                                       ORDERING_MORTON, ORDERING_HILBERT};
enum { ORDERS = 5 };

static const force_spec variants[] = {{1, 1, 2.5, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                      {1, 1, 2.5, FORCE_SHIFT_ENERGY, 0, 0, 0, NULL},
                                      {1, 1, 2.5, FORCE_SHIFT_FORCE, 0, 0, 0, NULL},
                                      {2.25, 0.9, 2.1, FORCE_SHIFT_NONE, 0, 0, 0, NULL},
                                      {0.4, 1.05, 3.2, FORCE_SHIFT_ENERGY, 0, 0, 0, NULL},
                                      {1.7, 0.97, 2.75, FORCE_SHIFT_FORCE, 0, 0, 0, NULL}};
enum { VARIANTS = 6 };

/* Positions of owned atoms in the order of ids. */
static double *positions(const md_atoms *atoms)
{
  run_snapshot s = run_snapshot_take(atoms);
  double *x = ref_alloc(3 * s.n, sizeof *x);
  memcpy(x, s.x, (size_t)(3 * s.n) * sizeof *x);
  run_by_id(s.n, s.id, x);
  run_snapshot_free(&s);
  return x;
}

static double reach_of(const run_md *md)
{
  double reach = 0;
  for (int d = 0; d < 3; d++)
    reach = fmax(reach, fmax(fabs(md->atoms->box.lo[d]), fabs(md->atoms->box.hi[d])));
  return reach + md->spec.force.r_cut + md->spec.skin;
}

/* Ghosts are rounded to the state, as are coordinates within a tile, fixed-point ones to their
 * step. */
static ref_exactness exactness_of(const run_md *md)
{
  const double reach = reach_of(md);
  const bool tile = neighbor_list_view(md->list)->kind == NEIGHBOR_TILE;
  switch (md->spec.precision) {
  case MD_SINGLE:
    return (ref_exactness){reach * (tile ? 0x1p-22 : 0x1p-23), 0x1p-24};
  case MD_MIXED:
    return (ref_exactness){md->atoms->coord_scale, 0x1p-24};
  default:
    return (ref_exactness){reach * 0x1p-52, 0x1p-53};
  }
}

static int double_compare(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* Every force within what rounding explains; as a whole within the goals of each precision. */
static void check_forces(run_md *md, const ref_forces *want, const char *name)
{
  const int64_t n = md->atoms->n;
  double *f = ref_alloc(3 * n, sizeof *f), *error = ref_alloc(n, sizeof *error), sum[3] = {0};
  double slack = 0;
  run_md_state(md, NULL, NULL, f);
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++) {
      error[i] = hypot(error[i], f[3 * i + d] - want->f[3 * i + d]);
      sum[d] += f[3 * i + d];
    }
    slack += want->slack[i];
    ck_assert_msg(error[i] <= want->slack[i], "%s, %s: force on %lld off by %g, at most %g", name,
                  run_spec_text(&md->spec), (long long)i, error[i], want->slack[i]);
  }
  for (int d = 0; d < 3; d++)
    ck_assert_msg(fabs(sum[d]) <= slack, "%s, %s: forces sum up to %g", name,
                  run_spec_text(&md->spec), sum[d]);
  if (n > 0) qsort(error, (size_t)n, sizeof *error, double_compare);
  const double far = fmax(1, reach_of(md) / 16); /* ghosts there have larger roundings */
  if (md->spec.precision == MD_DOUBLE && n > 0)
    ck_assert_msg(error[n - 1] <= 5e-14 * far * fmax(want->f_max, 1),
                  "%s, %s: force off by %g of %g", name, run_spec_text(&md->spec), error[n - 1],
                  want->f_max);
  if (md->spec.precision != MD_DOUBLE && n >= 20 && want->f_max > 1)
    ck_assert_msg(error[n / 2] <= 1e-6 * far * want->f_max, "%s, %s: median force off by %g of %g",
                  name, run_spec_text(&md->spec), error[n / 2], want->f_max);
  free(f), free(error);
}

static const double sum_goal[MD_PRECISION_COUNT] = {1e-5, 1e-6, 1e-12};

static void check_tally(const run_md *md, const force_tally *got, const ref_forces *want,
                        const char *name)
{
  const double goal = sum_goal[md->spec.precision];
  ck_assert_msg(fabs(got->energy - want->energy) <= goal * want->u_scale + want->u_jump,
                "%s, %s: energy %.15g, not %.15g", name, run_spec_text(&md->spec), got->energy,
                want->energy);
  ck_assert_msg(fabs(got->virial - want->virial) <= goal * want->w_scale + want->w_jump,
                "%s, %s: virial %.15g, not %.15g", name, run_spec_text(&md->spec), got->virial,
                want->virial);
}

/* One case, one precision, one pair formula: every list and ordering. */
static void check_variant(const run_case *c, md_precision precision, int variant)
{
  ref_forces want = {0};
  for (int k = 0; k < RUN_LISTS * ORDERS; k++) {
    run_spec spec = run_spec_default();
    force_tally tally = {.energy = -1, .virial = -1};
    spec.precision = precision;
    spec.force = variants[variant], spec.force.block_size = (k + variant) % 3 ? 0 : 96;
    spec.list.order.kind = orders[k % ORDERS];
    spec.threads = 1 + (k + variant) % 3;
    spec.deterministic = (k + variant) % 4 == 0;
    spec.skin = k % 2 ? 0 : 0.3;
    run_set_list(&spec.list, k / ORDERS);
    run_md md = run_md_open(&spec, c, NULL);
    if (k % ORDERS == 0) {
      ref_forces_free(&want);
      const ref_exactness exact = exactness_of(&md);
      double *x = positions(md.atoms);
      want = ref_forces_find(&spec.force, &exact, &c->box, c->n, x);
      free(x);
    }
    if (c->n > 0) ck_ok(md_fill(md.ctx, md.atoms->f.data, 0x41, md.atoms->f.bytes));
    run_md_force(&md, k % 3 == 0 ? NULL : &tally);
    check_forces(&md, &want, c->name);
    run_md_force(&md, &tally); /* forces are overwritten, not added to */
    check_forces(&md, &want, c->name);
    check_tally(&md, &tally, &want, c->name);
    run_md_close(&md);
  }
  ref_forces_free(&want);
}

START_TEST(forces_equal_direct_sums)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = run_case_make(_i / MD_PRECISION_COUNT, precision);
  for (int variant = 0; variant < VARIANTS && c.spaced; variant++)
    check_variant(&c, precision, variant);
  run_case_free(&c);
}
END_TEST

/* Atoms exactly r_cut apart do not interact; an ulp nearer they do. */
START_TEST(the_cutoff_itself_is_outside)
{
  static const double second[][3] = {{3.5, 1, 1}, {7, 1, 1}, {1, 7, 1}, {1, 1, 3.5}, {2.5, 3, 1}};
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  for (int k = 0; k < 5 * RUN_LISTS * 2; k++) {
    const bool inside = k / 5 / RUN_LISTS;
    run_case c = {.box = {{0, 0, 0}, {8.5, 8.5, 8.5}}, .n = 2, .x = ref_alloc(6, 8)};
    for (int d = 0; d < 3; d++) {
      const double x = second[k % 5][d];
      const double nearer = precision == MD_MIXED ? x + (x > 4 ? 1e-6 : -1e-6)
                                                  : run_next(precision, x, x > 4 ? 9 : 0);
      const double farther = precision == MD_MIXED ? x - (x > 4 ? 1e-6 : -1e-6) : x;
      c.x[d] = 1, c.x[3 + d] = x == 1 ? x : inside ? nearer : farther;
    }
    run_spec spec = run_spec_default();
    spec.precision = precision;
    spec.force.shift = FORCE_SHIFT_NONE;
    spec.skin = _i / MD_PRECISION_COUNT ? 0.3 : 0;
    run_set_list(&spec.list, k / 5 % RUN_LISTS);
    run_md md = run_md_open(&spec, &c, NULL);
    force_tally tally = {.energy = -1, .virial = -1};
    run_md_force(&md, &tally);
    const double u = inside ? 4 * (pow(2.5, -12) - pow(2.5, -6)) : 0;
    ck_assert_msg(fabs(tally.energy - u) <= 1e-5 * fabs(u), "%s, second atom %d: energy %g, not %g",
                  run_spec_text(&spec), k % 5, tally.energy, u);
    ck_assert_msg((tally.virial != 0) == inside, "virial %g", tally.virial);
    run_md_close(&md);
    run_case_free(&c);
  }
}
END_TEST

/* Moved by whole boxes the wrapped positions are the same numbers, and so are the forces; moved by
 * anything they are the same but for rounding. */
START_TEST(translation_changes_nothing)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = run_case_fcc("liquid", (int[]){4, 4, 4}, (double[]){0, 0, 0}, 0.12);
  double *f[3], *x = ref_alloc(3 * c.n, sizeof *x);
  for (int d = 0; d < 3; d++)
    c.box.hi[d] = 8;
  for (int64_t k = 0; k < 3 * c.n; k++)
    c.x[k] = x[k] = nearbyint(c.x[k] * 8 / 6.7182 * 0x1p13) * 0x1p-13;
  for (int move = 0; move < 3; move++) {
    for (int64_t k = 0; k < 3 * c.n; k++)
      c.x[k] = x[k] + (move == 0 ? 0 : move == 1 ? 8.0 * (double)(k * k % 7 - 3) : 1.3717);
    run_spec spec = run_spec_default();
    spec.precision = precision;
    run_set_list(&spec.list, _i / MD_PRECISION_COUNT);
    spec.deterministic = true;
    run_md md = run_md_open(&spec, &c, NULL);
    run_md_force(&md, NULL);
    f[move] = ref_alloc(3 * c.n, sizeof(double));
    run_md_state(&md, NULL, NULL, f[move]);
    run_md_close(&md);
  }
  const double goal = precision == MD_DOUBLE ? 1e-11 : precision == MD_MIXED ? 1e-4 : 1e-3;
  ck_assert_mem_eq(f[0], f[1], (size_t)(3 * c.n) * 8);
  for (int64_t k = 0; k < 3 * c.n; k++)
    ck_assert_msg(fabs(f[0][k] - f[2][k]) <= goal, "force %.15g became %.15g", f[0][k], f[2][k]);
  for (int move = 0; move < 3; move++)
    free(f[move]);
  free(x);
  run_case_free(&c);
}
END_TEST

/* Five-point central difference of the pair energy. */
static double slope_of_pair(const force_spec *spec, double r)
{
  const double h = 1e-3 * r;
  double u[4], unused;
  for (int k = 0; k < 4; k++)
    force_pair(spec, r + (double[]){-2, -1, 1, 2}[k] * h, &u[k], &unused);
  return (u[0] - 8 * u[1] + 8 * u[2] - u[3]) / (12 * h);
}

START_TEST(pair_force_is_the_slope_of_its_energy)
{
  for (int k = 0; k < VARIANTS; k++) {
    const force_spec *spec = &variants[k];
    double u, f_over_r;
    for (double r = 0.75 * spec->sigma; r < 0.99 * spec->r_cut; r += 0.01) {
      const ref_lj want = ref_lj_pair(spec, r);
      force_pair(spec, r, &u, &f_over_r);
      const double terms = (double)want.f_terms, f = f_over_r * r;
      ck_assert_msg(fabs(u - (double)want.u) <= 1e-14 * (double)want.u_terms, "U(%g) %.15g", r, u);
      ck_assert_msg(fabs(f - (double)want.f) <= 1e-14 * terms, "F(%g) %.15g", r, f);
      ck_assert_msg(fabs(f + slope_of_pair(spec, r)) <= 1e-8 * terms, "F(%g) %.15g", r, f);
    }
    force_pair(spec, spec->r_cut * (1 - 1e-9), &u, &f_over_r);
    ck_assert(spec->shift == FORCE_SHIFT_NONE ? fabs(u) > 1e-3 * spec->epsilon : fabs(u) < 1e-8);
    ck_assert(spec->shift == FORCE_SHIFT_FORCE ? fabs(f_over_r) < 1e-8 : fabs(f_over_r) > 1e-4);
    for (int m = 0; m < 3; m++) {
      force_pair(spec, spec->r_cut * (double[]){1, 1.001, 7}[m], &u, &f_over_r);
      ck_assert(u == 0 && f_over_r == 0);
    }
  }
}
END_TEST

static double energy_with(const run_spec *spec, const run_case *c, int64_t k, double x, double *f)
{
  const double was = c->x[k];
  c->x[k] = x;
  run_md md = run_md_open(spec, c, NULL);
  force_tally tally = {0};
  run_md_force(&md, &tally);
  if (f) run_md_state(&md, NULL, NULL, f);
  run_md_close(&md);
  c->x[k] = was;
  return tally.energy;
}

START_TEST(force_is_the_slope_of_the_total_energy)
{
  run_case c = run_case_make(1, MD_DOUBLE);
  double *f = ref_alloc(3 * c.n, sizeof *f);
  const double h = 1e-5;
  for (int variant = 0; variant < VARIANTS; variant++) {
    run_spec spec = run_spec_default();
    spec.force = variants[variant];
    run_set_list(&spec.list, variant % RUN_LISTS);
    const double none = spec.force.shift == FORCE_SHIFT_NONE;
    ref_pairs near = ref_pairs_find(&c.box, c.n, c.x, spec.force.r_cut + 2 * h);
    for (int64_t k = variant; k < 3 * c.n; k += 97) {
      bool crosses = false; /* a pair at the cut-off makes the unshifted energy jump */
      for (int64_t p = 0; p < near.n && none; p++)
        crosses = crosses || (near.pair[p].i == k / 3 && near.pair[p].r > spec.force.r_cut - 2 * h);
      if (crosses) continue;
      energy_with(&spec, &c, k, c.x[k], f);
      const double slope = (energy_with(&spec, &c, k, c.x[k] + h, NULL) -
                            energy_with(&spec, &c, k, c.x[k] - h, NULL)) /
                           (2 * h);
      ck_assert_msg(fabs(slope + f[k]) <= 1e-6 * (1 + fabs(f[k])), "%s: force %g, slope %g",
                    run_spec_text(&spec), f[k], slope);
    }
    ref_pairs_free(&near);
  }
  free(f);
  run_case_free(&c);
}
END_TEST

/* Two atoms in one place have no force: that must show, not vanish. */
START_TEST(coincident_atoms_show)
{
  for (int k = 0; k < MD_PRECISION_COUNT * RUN_LISTS * 2; k++) {
    run_case c = run_case_make(0, MD_SINGLE);
    run_spec spec = run_spec_default();
    spec.precision = (md_precision)(k % MD_PRECISION_COUNT);
    spec.deterministic = k % 2;
    run_set_list(&spec.list, k / MD_PRECISION_COUNT % RUN_LISTS);
    spec.force.shift = k < MD_PRECISION_COUNT * RUN_LISTS ? FORCE_SHIFT_NONE : FORCE_SHIFT_FORCE;
    memcpy(c.x + 3 * 100, c.x + 3 * 17, 3 * sizeof *c.x);
    run_md md = run_md_open(&spec, &c, NULL);
    force_tally tally = {0};
    const md_status status = force_compute(md.fc, md.atoms, md.list, &tally);
    ck_assert_msg(status == MD_OK || status == MD_ENUMERIC, "%s: status %d", run_spec_text(&spec),
                  status);
    double *f = ref_alloc(3 * c.n, sizeof *f);
    run_md_state(&md, NULL, NULL, f);
    ck_assert_msg(status ||
                      (!isfinite(f[3 * 17]) && !isfinite(f[3 * 100]) && !isfinite(tally.energy)),
                  "%s: forces %g and %g, energy %g", run_spec_text(&spec), f[3 * 17], f[3 * 100],
                  tally.energy);
    free(f);
    run_md_close(&md);
    run_case_free(&c);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("force");
  TCase *tc = tcase_create("force");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, run_case_count() * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, the_cutoff_itself_is_outside, 0, 2 * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, translation_changes_nothing, 0, RUN_LISTS * MD_PRECISION_COUNT);
  tcase_add_test(tc, pair_force_is_the_slope_of_its_energy);
  tcase_add_test(tc, force_is_the_slope_of_the_total_energy);
  tcase_add_test(tc, coincident_atoms_show);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
