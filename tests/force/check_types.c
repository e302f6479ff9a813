/* tests/force/check_types.c - atoms of several types: mixing rules by hand, forces against a direct
 * sum with a table written out here, slopes of the energy, steps of atoms of different masses. */
#include "tests/drive/run_md.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

enum { TYPES = 3 };
static const double epsilon[TYPES][TYPES] = {{1, 1.5, 0.3}, {1.5, 0.5, 2}, {0.3, 2, 0.7}};
static const double sigma[TYPES][TYPES] = {{1, 0.8, 0.95}, {0.8, 0.88, 1.02}, {0.95, 1.02, 0.7}};
static const double cutoff[TYPES][TYPES] = {{2.5, 2, 2.7}, {2, 2.2, 1.7}, {2.7, 1.7, 2.35}};
static const double mass[TYPES] = {1, 3, 0.25};

/* Types and pairs that a specification points at. */
typedef struct {
  force_lj pairs[TYPES * TYPES];
  force_spec table[TYPES * TYPES];
  uint8_t *type;
} mixture;

static mixture make_mixture(const run_case *c, force_shift shift)
{
  mixture m = {.type = ref_alloc(c->n, 1)};
  uint64_t seed = 5;
  for (int64_t i = 0; i < c->n; i++)
    m.type[i] = (uint8_t)(TYPES * ref_uniform(&seed));
  for (int k = 0; k < TYPES * TYPES; k++) {
    const int i = k / TYPES, j = k % TYPES;
    m.pairs[k] = (force_lj){epsilon[i][j], sigma[i][j], cutoff[i][j]};
    m.table[k] = (force_spec){
        .epsilon = epsilon[i][j], .sigma = sigma[i][j], .r_cut = cutoff[i][j], .shift = shift};
  }
  return m;
}

static void mix_into(run_spec *spec, const mixture *m)
{
  spec->force.n_types = TYPES;
  spec->force.pairs = m->pairs;
  spec->force.r_cut = 2.7; /* the longest */
  spec->types = m->type;
  spec->mass = mass;
}

START_TEST(mixing_rules_are_those_of_their_names)
{
  const force_lj i = {4, 1, 2}, j = {9, 4, 8};
  const force_lj geometric = force_lj_mix(FORCE_MIX_GEOMETRIC, &i, &j);
  const force_lj arithmetic = force_lj_mix(FORCE_MIX_ARITHMETIC, &i, &j);
  ck_assert(geometric.epsilon == 6 && geometric.sigma == 2 && geometric.r_cut == 4);
  ck_assert(arithmetic.epsilon == 6 && arithmetic.sigma == 2.5 && arithmetic.r_cut == 5);
}
END_TEST

static void same_forces(const run_spec *spec, const run_case *c, const mixture *m)
{
  const double unit = spec->precision == MD_DOUBLE ? 0x1p-53 : 0x1p-24;
  force_tally tally = {0};
  run_md md = run_md_open(spec, c, NULL);
  double *x = ref_alloc(3 * c->n, 8), *f = ref_alloc(3 * c->n, 8), sum[3] = {0};
  run_md_force(&md, &tally);
  run_md_state(&md, x, NULL, f);
  const ref_exactness exact = {spec->precision == MD_DOUBLE ? 0x1p-48 : 0x1p-20, unit};
  const ref_types types = {TYPES, m->table, m->type};
  ref_forces want = ref_forces_of_types(&types, &exact, &c->box, c->n, x);
  for (int64_t k = 0; k < 3 * c->n; k++) {
    sum[k % 3] += f[k];
    ck_must(fabs(f[k] - want.f[k]) <= 2 * want.slack[k / 3] + 64 * unit * want.f_max,
            "%s, atom %lld: force %.15g, not %.15g", run_spec_text(spec), (long long)(k / 3), f[k],
            want.f[k]);
  }
  for (int d = 0; d < 3; d++)
    ck_must(fabs(sum[d]) <= 8 * unit * want.f_max * (double)c->n, "%s: forces add up to %g",
            run_spec_text(spec), sum[d]);
  const double near = spec->precision == MD_DOUBLE ? 1e-12 : 2e-5;
  ck_must(fabs(tally.energy - want.energy) <= near * want.u_scale + want.u_jump,
          "%s: energy %.15g, not %.15g", run_spec_text(spec), tally.energy, want.energy);
  ck_must(fabs(tally.virial - want.virial) <= near * want.w_scale + want.w_jump,
          "%s: virial %.15g, not %.15g", run_spec_text(spec), tally.virial, want.virial);
  ref_forces_free(&want);
  run_md_close(&md);
  free(x), free(f);
}

/* Every list, precision and shift; boxes smaller than a cutoff too; rows that do not fill a vector.
 * */
START_TEST(forces_equal_direct_sums)
{
  static const int sizes[][3] = {{4, 3, 4}, {1, 2, 1}, {3, 3, 3}};
  for (int k = 0; k < 3; k++) {
    run_case c = run_case_fcc("mixture", sizes[k], (double[]){-1, 0, 3}, 0.08);
    for (int s = 0; s < FORCE_SHIFT_COUNT; s++)
      for (int deterministic = 0; deterministic < 2; deterministic++) {
        mixture m = make_mixture(&c, (force_shift)s);
        run_spec spec = run_spec_default();
        mix_into(&spec, &m);
        spec.precision = (md_precision)(_i % MD_PRECISION_COUNT);
        spec.force.shift = (force_shift)s;
        spec.deterministic = deterministic;
        spec.threads = 1 + deterministic;
        run_set_list(&spec.list, _i / MD_PRECISION_COUNT);
        same_forces(&spec, &c, &m);
        free(m.type);
      }
    run_case_free(&c);
  }
}
END_TEST

START_TEST(forces_are_slopes_of_the_energy)
{
  run_case c = run_case_fcc("mixture", (int[]){3, 3, 3}, (double[]){0, 0, 0}, 0.08);
  mixture m = make_mixture(&c, FORCE_SHIFT_FORCE);
  run_spec spec = run_spec_default();
  mix_into(&spec, &m);
  run_set_list(&spec.list, _i);
  run_md md = run_md_open(&spec, &c, NULL);
  double *f = ref_alloc(3 * c.n, 8);
  run_md_force(&md, NULL);
  run_md_state(&md, NULL, NULL, f);
  run_md_close(&md);
  const double h = 1e-5;
  for (int64_t k = 0; k < 3 * c.n; k += 7) {
    double energy[2];
    for (int side = 0; side < 2; side++) {
      const double was = c.x[k];
      force_tally tally = {0};
      c.x[k] += side ? h : -h;
      md = run_md_open(&spec, &c, NULL);
      run_md_force(&md, &tally);
      run_md_close(&md);
      c.x[k] = was;
      energy[side] = tally.energy;
    }
    const double slope = -(energy[1] - energy[0]) / (2 * h);
    ck_must(fabs(slope - f[k]) <= 1e-6 * (1 + fabs(f[k])), "%s: force %.12g, slope %.12g",
            run_spec_text(&spec), f[k], slope);
  }
  free(f), free(m.type);
  run_case_free(&c);
}
END_TEST

/* Velocity Verlet by hand, with each atom's own mass; sorting and rebuilds on the way. */
START_TEST(steps_move_each_atom_by_its_mass)
{
  const int steps = 25;
  run_case c = run_case_fcc("mixture", (int[]){3, 2, 3}, (double[]){0, 0, 0}, 0.05);
  mixture m = make_mixture(&c, FORCE_SHIFT_FORCE);
  double *v = run_velocities(c.n, 1, 3), *x = ref_alloc(3 * c.n, 8), *got = ref_alloc(3 * c.n, 8);
  run_spec spec = run_spec_default();
  mix_into(&spec, &m);
  run_set_list(&spec.list, _i);
  run_md md = run_md_open(&spec, &c, v);
  run_md_steps(&md, steps);
  run_md_state(&md, got, NULL, NULL);
  const ref_types types = {TYPES, m.table, m.type};
  const ref_exactness exact = {0x1p-48, 0x1p-53};
  memcpy(x, c.x, (size_t)(3 * c.n) * 8);
  ref_forces f = ref_forces_of_types(&types, &exact, &c.box, c.n, x);
  for (int s = 0; s < steps; s++) {
    for (int64_t k = 0; k < 3 * c.n; k++)
      v[k] += spec.dt / 2 * f.f[k] / mass[m.type[k / 3]], x[k] += spec.dt * v[k];
    ref_forces_free(&f);
    f = ref_forces_of_types(&types, &exact, &c.box, c.n, x);
    for (int64_t k = 0; k < 3 * c.n; k++)
      v[k] += spec.dt / 2 * f.f[k] / mass[m.type[k / 3]];
  }
  double kinetic = 0;
  for (int64_t k = 0; k < 3 * c.n; k++) {
    kinetic += mass[m.type[k / 3]] * v[k] * v[k] / 2;
    ck_must(fabs(got[k] - x[k]) < 1e-9, "%s: atom %lld at %.12g, not %.12g", run_spec_text(&spec),
            (long long)(k / 3), got[k], x[k]);
  }
  const run_energy end = run_md_energy(&md);
  ck_assert_double_eq_tol(end.kinetic, kinetic, 1e-9 * kinetic);
  ck_assert_double_eq_tol(end.potential, f.energy, 1e-9 * fabs(f.energy));
  ref_forces_free(&f);
  run_md_close(&md);
  free(v), free(x), free(got), free(m.type);
  run_case_free(&c);
}
END_TEST

START_TEST(too_many_types_are_refused)
{
  force_lj pairs[4] = {{1, 1, 2.5}, {1, 1, 2.5}, {1, 1, 2.5}, {1, 0, 2.5}};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  force *fc;
  force_spec spec = {.n_types = MD_TYPES + 1, .pairs = pairs};
  ck_assert_int_eq(force_create(ctx, &spec, &fc), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "at most 64"));
  spec.n_types = 2;
  ck_assert_int_eq(force_create(ctx, &spec, &fc), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "sigma must be > 0"));
  ck_assert_ptr_null(fc);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return 0;
  Suite *suite = suite_create("types");
  TCase *tc = tcase_create("types");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, mixing_rules_are_those_of_their_names);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, RUN_LISTS * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, forces_are_slopes_of_the_energy, 0, RUN_LISTS);
  tcase_add_loop_test(tc, steps_move_each_atom_by_its_mass, 0, RUN_LISTS);
  tcase_add_test(tc, too_many_types_are_refused);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
