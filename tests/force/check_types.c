/* tests/force/check_types.c - atoms of several types: mixing rules by hand, forces against a direct
 * sum with a table written out here, slopes of the energy, steps of atoms of different masses,
 * steps that a kernel takes along with the forces, charges beside types. */
#include "tests/drive/run_md.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

#include <stdio.h>

enum { TYPES = 3, MANY = MD_TYPES };
static const double epsilon[TYPES][TYPES] = {{1, 1.5, 0.3}, {1.5, 0.5, 2}, {0.3, 2, 0.7}};
static const double sigma[TYPES][TYPES] = {{1, 0.8, 0.95}, {0.8, 0.88, 1.02}, {0.95, 1.02, 0.7}};
static const double cutoff[TYPES][TYPES] = {{2.5, 2, 2.7}, {2, 2.2, 1.7}, {2.7, 1.7, 2.35}};
static const double mass[TYPES] = {1, 3, 0.25};

/* Types and pairs that a specification points at. */
typedef struct {
  int n;
  force_lj pairs[MANY * MANY];
  force_spec table[MANY * MANY];
  uint8_t *type;
} mixture;

/* The tables above; beyond them each two types differ from their neighbours in one rule's way. */
static force_lj pair_of(int i, int j)
{
  if (i < TYPES && j < TYPES) return (force_lj){epsilon[i][j], sigma[i][j], cutoff[i][j]};
  return (force_lj){0.5 + 0.25 * ((i + j) % 7), 0.8 + 0.03 * (i * j % 8),
                    1.7 + 0.2 * ((i ^ j) % 6)};
}

static mixture make_mixture(const run_case *c, force_shift shift, int n)
{
  mixture m = {.n = n, .type = ref_alloc(c->n, 1)};
  uint64_t seed = 5;
  for (int64_t i = 0; i < c->n; i++)
    m.type[i] = (uint8_t)(n * ref_uniform(&seed));
  for (int k = 0; k < n * n; k++) {
    const force_lj lj = m.pairs[k] = pair_of(k / n, k % n);
    m.table[k] =
        (force_spec){.epsilon = lj.epsilon, .sigma = lj.sigma, .r_cut = lj.r_cut, .shift = shift};
  }
  return m;
}

static void mix_into(run_spec *spec, const mixture *m)
{
  spec->force.n_types = m->n;
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
  const ref_types types = {m->n, m->table, m->type};
  ref_forces want = ref_forces_of_types(&types, &exact, &c->box, c->n, x);
  for (int64_t k = 0; k < 3 * c->n; k++) {
    sum[k % 3] += f[k];
    ck_assert_msg(fabs(f[k] - want.f[k]) <= 2 * want.slack[k / 3] + 64 * unit * want.f_max,
                  "%s, atom %lld: force %.15g, not %.15g", run_spec_text(spec), (long long)(k / 3),
                  f[k], want.f[k]);
  }
  for (int d = 0; d < 3; d++)
    ck_assert_msg(fabs(sum[d]) <= 8 * unit * want.f_max * (double)c->n, "%s: forces add up to %g",
                  run_spec_text(spec), sum[d]);
  const double near = spec->precision == MD_DOUBLE ? 1e-12 : 2e-5;
  ck_assert_msg(fabs(tally.energy - want.energy) <= near * want.u_scale + want.u_jump,
                "%s: energy %.15g, not %.15g", run_spec_text(spec), tally.energy, want.energy);
  ck_assert_msg(fabs(tally.virial - want.virial) <= near * want.w_scale + want.w_jump,
                "%s: virial %.15g, not %.15g", run_spec_text(spec), tally.virial, want.virial);
  ref_forces_free(&want);
  run_md_close(&md);
  free(x), free(f);
}

/* Every list, precision and shift, 2, 3 and 64 types; boxes smaller than a cutoff too; rows that do
 * not fill a vector. */
START_TEST(forces_equal_direct_sums)
{
  static const int sizes[][3] = {{4, 3, 4}, {1, 2, 1}, {3, 3, 3}}, kinds[] = {TYPES, 2, MANY};
  for (int k = 0; k < 3; k++) {
    run_case c = run_case_fcc("mixture", sizes[k], (double[]){-1, 0, 3}, 0.08);
    for (int s = 0; s < FORCE_SHIFT_COUNT; s++)
      for (int deterministic = 0; deterministic < 2; deterministic++) {
        mixture m = make_mixture(&c, (force_shift)s, kinds[k]);
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
  mixture m = make_mixture(&c, FORCE_SHIFT_FORCE, TYPES);
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
    ck_assert_msg(fabs(slope - f[k]) <= 1e-6 * (1 + fabs(f[k])), "%s: force %.12g, slope %.12g",
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
  mixture m = make_mixture(&c, FORCE_SHIFT_FORCE, TYPES);
  double *v = run_velocities(c.n, 1, 3), *x = ref_alloc(3 * c.n, 8), *got = ref_alloc(3 * c.n, 8);
  run_spec spec = run_spec_default();
  mix_into(&spec, &m);
  run_set_list(&spec.list, _i);
  run_md md = run_md_open(&spec, &c, v);
  run_md_steps(&md, steps);
  run_md_state(&md, got, NULL, NULL);
  const ref_types types = {m.n, m.table, m.type};
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
    ck_assert_msg(fabs(got[k] - x[k]) < 1e-9, "%s: atom %lld at %.12g, not %.12g",
                  run_spec_text(&spec), (long long)(k / 3), got[k], x[k]);
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

/* Lists by tiles: steps along with the forces, images included, are the bits of forces, kicks and
 * drift one after the other; so are forces beside which sums are asked for. */
START_TEST(steps_at_once_are_single_steps)
{
  enum { STEPS = 5 };
  static const int kinds[] = {2, TYPES, MANY};
  const double kick = 1e-3, drift = 1e-2;
  double kicks[MANY];
  for (int t = 0; t < MANY; t++)
    kicks[t] = kick;
  run_case c = run_case_fcc("mixture", (int[]){5, 6, 5}, (double[]){0, 0, 0}, 0.08);
  mixture m = make_mixture(&c, (force_shift)(_i / 9), kinds[_i / 3 % 3]);
  double *v = run_velocities(c.n, 1, 5);
  run_spec spec = run_spec_default();
  mix_into(&spec, &m);
  spec.mass = NULL;
  spec.force.shift = (force_shift)(_i / 9);
  spec.precision = (md_precision)(_i % 3);
  spec.list.kind = NEIGHBOR_TILE;
  run_snapshot state[3];
  for (int way = 0; way < 3; way++) {
    force_tally tally;
    run_md md = run_md_open(&spec, &c, v);
    if (way == 2 && force_advances(md.fc, md.list)) {
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, 1, NULL));
      ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, STEPS - 1, NULL));
    } else {
      for (int k = 0; k < STEPS; k++) {
        run_md_force(&md, way == 1 ? &tally : NULL);
        ck_ok(integrate_advance(md.atoms, kicks, 2, drift));
        ck_ok(comm_forward(md.cm, md.atoms));
      }
    }
    state[way] = run_snapshot_take(md.atoms);
    run_md_close(&md);
  }
  const size_t bytes = (size_t)c.n * 3 * sizeof(double);
  for (int way = 1; way < 3; way++) {
    ck_assert_msg(memcmp(state[0].x, state[way].x, bytes) == 0 &&
                      memcmp(state[0].v, state[way].v, bytes) == 0,
                  "%s, %d types: %s", run_spec_text(&spec), m.n,
                  way == 1 ? "forces beside sums are others" : "steps at once are others");
    run_snapshot_free(&state[way]);
  }
  run_snapshot_free(&state[0]);
  free(v), free(m.type);
  run_case_free(&c);
}
END_TEST

/* Forces of a case whose atoms have charges, [n][3], with or without their part. */
static double *charged_forces(const run_spec *spec, const run_case *c, const double *q,
                              bool charged, force_tally *tally)
{
  double *f = ref_alloc(3 * c->n, 8);
  run_md md = run_md_open(spec, c, NULL);
  ck_ok(md_atoms_set_charges(md.atoms, q));
  if (charged) ck_ok(force_set_coulomb(md.fc, 0.9, 2.6));
  run_md_rebuild(&md);
  run_md_force(&md, tally);
  run_md_state(&md, NULL, NULL, f);
  run_md_close(&md);
  return f;
}

/* What charges add to forces is the same whether atoms are of one type or of several; charges alone
 * change nothing. */
START_TEST(charges_add_to_types)
{
  static const int kinds[] = {2, TYPES, MANY};
  const int n_types = kinds[_i % 3];
  run_case c = run_case_fcc("mixture", (int[]){4, 5, 4}, (double[]){0, 0, 0}, 0.08);
  double *q = ref_alloc(c.n, 8);
  for (int64_t i = 0; i < c.n; i++)
    q[i] = i % 2 ? 1.25 : -0.75;
  for (int s = 0; s < FORCE_SHIFT_COUNT; s++) {
    mixture m = make_mixture(&c, (force_shift)s, n_types);
    run_spec one = run_spec_default();
    one.force.shift = (force_shift)s;
    one.force.r_cut = 2.7;
    one.precision = (md_precision)(_i / 3 % MD_PRECISION_COUNT);
    run_set_list(&one.list, _i / 3 / MD_PRECISION_COUNT);
    run_spec several = one;
    mix_into(&several, &m);
    several.mass = NULL;
    double *f[2][2], f_max = 0;
    force_tally tally[2][2] = {{{0}}};
    for (int k = 0; k < 4; k++)
      f[k / 2][k % 2] = charged_forces(k / 2 ? &several : &one, &c, q, k % 2, &tally[k / 2][k % 2]);
    for (int64_t k = 0; k < 3 * c.n; k++)
      f_max = fmax(f_max, fabs(f[0][0][k]) + fabs(f[1][1][k]));
    const double near = one.precision == MD_DOUBLE ? 1e-12 : 1e-5;
    for (int64_t k = 0; k < 3 * c.n; k++) {
      const double by_one = f[0][1][k] - f[0][0][k], by_several = f[1][1][k] - f[1][0][k];
      ck_assert_msg(fabs(by_one - by_several) <= near * f_max,
                    "%s, %d types: charges add %g, not %g", run_spec_text(&several), n_types,
                    by_several, by_one);
    }
    const double u_one = tally[0][1].energy - tally[0][0].energy;
    const double u_several = tally[1][1].energy - tally[1][0].energy;
    ck_assert_msg(fabs(u_one) > 1 && fabs(u_one - u_several) <= 10 * near * (double)c.n,
                  "%s, %d types: charges add an energy of %.12g, not %.12g",
                  run_spec_text(&several), n_types, u_several, u_one);
    for (int k = 0; k < 4; k++)
      free(f[k / 2][k % 2]);
    free(m.type);
  }
  free(q);
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
  Suite *suite = suite_create("types");
  TCase *tc = tcase_create("types");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, mixing_rules_are_those_of_their_names);
  tcase_add_loop_test(tc, forces_equal_direct_sums, 0, RUN_LISTS * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, forces_are_slopes_of_the_energy, 0, RUN_LISTS);
  tcase_add_loop_test(tc, steps_move_each_atom_by_its_mass, 0, RUN_LISTS);
  tcase_add_loop_test(tc, steps_at_once_are_single_steps, 0, FORCE_SHIFT_COUNT * 9);
  tcase_add_loop_test(tc, charges_add_to_types, 0, 3 * MD_PRECISION_COUNT * RUN_LISTS);
  tcase_add_test(tc, too_many_types_are_refused);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
