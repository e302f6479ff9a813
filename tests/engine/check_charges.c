/* tests/engine/check_charges.c - charges in the engine: the pair formula, forces on every atom
 * against plain sums, conservation, charges that follow their atoms, readers, what is refused. */
#define MD_PREC 2
#include "force/coulomb_near.h"
#include "engine/engine.h"
#include "engine/system/system.h"
#include "tests/drive/files.h"
#include "tests/ref/ref_ewald.h"
#include "tests/drive/engines.h"
#include "tests/drive/run_coulomb.h"
#include "tests/test.h"

#include <stdio.h>

/* erfc(r) / r and its force, as parts of those of a bare charge. */
static void check_pair(double r, double u, double pull, double most)
{
  const long double sq = (long double)r * r, rest = erfcl(r);
  const long double slope = rest + 2 / sqrtl(acosl(-1)) * r * expl(-sq);
  ck_assert_msg(fabsl(u * r - rest) < most, "energy at %g: %Lg", r, u * r - rest);
  ck_assert_msg(fabsl(pull * r * sq - slope) < most, "force at %g: %Lg", r, pull * r * sq - slope);
}

START_TEST(pair_formula)
{
  const coulomb_constants constants = {64, 1};
  const coulomb_reals c = coulomb_round(&constants);
  for (double r = 1e-3; r * r < c.r_cut_sq; r += 1e-3) {
    double u;
    const double pull = coulomb_f_over_r_inv(r * r, 1 / (r * r), &c, &u);
    check_pair(r, u, pull, 5e-15);
  }
  for (float r = 1e-3f; r < 4.2f; r += 1e-3f) {
    float u;
    const float pull = run_coulomb_single(r, &u);
    check_pair(r, u, pull, 5e-7);
  }
}
END_TEST

START_TEST(formula_of_near_cutoffs)
{
  const coulomb_constants constants = {10, 1}, beyond = {2.5, 2.1};
  const coulomb_reals c = coulomb_round(&constants);
  ck_assert(coulomb_is_near(&constants) && !coulomb_is_near(&beyond));
  for (double r = 1e-3; r * r <= 10; r += 1e-3) {
    const double pull = coulomb_near_f_over_r(r * r, 1 / r, 1 / (r * r), &c);
    check_pair(r, coulomb_near_energy(r * r, pull, &c), pull, 1.5e-15);
  }
  for (float r = 1e-3f; r * r <= 10; r += 1e-3f) {
    float u;
    const float pull = run_coulomb_near_single(r, &u);
    check_pair(r, u, pull, 5e-7);
  }
}
END_TEST

/* Pairs beyond where the formula holds have no force that counts; a nearer cutoff stays. */
START_TEST(reach_of_the_formula)
{
  const coulomb_constants far = {64, 2}, near = {9, 2};
  const coulomb_reals c = coulomb_round(&far);
  const double r = sqrt(c.r_cut_sq), z = 2 * r;
  ck_assert(c.r_cut_sq < 64 && coulomb_round(&near).r_cut_sq == 9);
  ck_assert(erfc(z) + 2 / sqrt(M_PI) * z * exp(-z * z) < 5e-17);
}
END_TEST

/* Ions on a shaken lattice, as extended XYZ; charges do not sum to zero when net. */
enum { EDGE = 5, IONS = EDGE * EDGE * EDGE };
static const char *write_ions(bool net)
{
  static char text[IONS * 100];
  char *at = text;
  srand(3);
  at += sprintf(at, "%d\nLattice=\"6 0 0 0 6.5 0 0 0 7\" Properties=id:I:1:pos:R:3:charge:R:1\n",
                IONS);
  for (int i = 0; i < IONS; i++) {
    double x[3];
    for (int d = 0, rest = i; d < 3; d++, rest /= EDGE)
      x[d] = (rest % EDGE + 0.2 * rand() / RAND_MAX) * (6 + 0.5 * d) / EDGE;
    const double q = net || i + 1 < IONS ? (i % 2 ? -0.75 : 0.75) : 0;
    at += sprintf(at, "%d %.9g %.9g %.9g %g\n", i + 1, x[0], x[1], x[2], q);
  }
  return files_text("ions.xyz", text);
}

/* What an engine has: positions, forces and charges by id. */
typedef struct {
  double x[3 * IONS], f[3 * IONS], q[IONS];
} ions;

static void read_ions(const engine *sim, ions *out)
{
  double x[3 * IONS], f[3 * IONS], q[IONS];
  int64_t id[IONS];
  ck_ok(md_atoms_get(sim->atoms, x, NULL, f, id, NULL));
  ck_ok(md_atoms_get_charges(sim->atoms, q));
  for (int i = 0; i < IONS; i++) {
    const int64_t to = id[i] - 1;
    memcpy(out->x + 3 * to, x + 3 * (size_t)i, sizeof(double[3]));
    memcpy(out->f + 3 * to, f + 3 * (size_t)i, sizeof(double[3]));
    out->q[to] = q[i];
  }
}

/* Lennard-Jones with every image within the cutoff. */
static void add_lj(const ref_charges *c, double r_cut, ref_coulomb *to)
{
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->n; j++)
      for (int s = 0; s < 27; s++) {
        const int image[] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1};
        double d[3], sq = 0;
        for (int a = 0; a < 3; a++) {
          d[a] = c->x[3 * i + a] - c->x[3 * j + a] + image[a] * c->edge[a];
          sq += d[a] * d[a];
        }
        if (sq == 0 || sq >= r_cut * r_cut) continue;
        const double s6 = 1 / (sq * sq * sq), pull = 24 * s6 * (2 * s6 - 1);
        to->energy += 2 * s6 * (s6 - 1);
        to->virial += 0.5 * pull;
        for (int a = 0; a < 3; a++)
          to->f[3 * i + a] += pull / sq * d[a];
      }
}

/* All of the Coulomb sum, and Lennard-Jones for r_cut > 0; f gets the forces. */
static ref_coulomb plain_sums(const ions *now, double r_cut, double f[3 * IONS])
{
  const ref_charges c = {IONS, {6, 6.5, 7}, now->x, now->q};
  ref_coulomb exact = {0, 0, f};
  memset(f, 0, 3 * IONS * sizeof *f);
  ref_ewald_real(&c, 1.3, 0, &exact);
  ref_ewald_reciprocal(&c, 1.3, &exact);
  ref_ewald_constant(&c, 1.3, &exact);
  if (r_cut > 0) add_lj(&c, r_cut, &exact);
  return exact;
}

/* |f - exact| / |exact| over all ions. */
static double part_off(const double *f, const double *exact)
{
  double above = 0, below = 0;
  for (int m = 0; m < 3 * IONS; m++)
    above += (f[m] - exact[m]) * (f[m] - exact[m]), below += exact[m] * exact[m];
  return sqrt(above / below);
}

static const char *const lists[] = {"neighbor.list=full",
                                    "neighbor.list=half",
                                    "neighbor.list=half neighbor.newton=off",
                                    "neighbor.list=half device.deterministic=true",
                                    "neighbor.list=full lj.shift=force",
                                    "neighbor.list=full device.block_size=96",
                                    "neighbor.list=tile"};
enum { ON_GPU = 5, N_LISTS = sizeof lists / sizeof *lists }; /* from ON_GPU on not for the CPU */

/* Twice: real space shorter and longer than Lennard-Jones. */
START_TEST(forces_against_plain_sums)
{
  static const double most[] = {2e-5, 2e-5, 1e-9};
  static const double cutoffs[][2] = {{2.5, 2.2}, {2.0, 2.9}};
  if (_i >= ON_GPU && test_backend() == MD_CPU) return;
  const char *path = write_ions(_i % 2);
  for (int precision = 0; precision < MD_PRECISION_COUNT; precision++)
    for (int k = 0; k < 2; k++) {
      char settings[512];
      snprintf(settings, sizeof settings,
               "system.read=%s coulomb.method=pme coulomb.mesh=%s coulomb.order=10 %s "
               "coulomb.alpha=%g coulomb.cutoff=%g lj.cutoff=%g device.precision=%s",
               path, precision == MD_DOUBLE ? "96,100,108" : "48", lists[_i], k ? 1.8 : 2.3,
               cutoffs[k][1], cutoffs[k][0], md_precision_words[precision]);
      config *cfg = engines_config(settings);
      engine *sim;
      ck_ok(engine_create(config_get(cfg), &sim));
      ions now;
      read_ions(sim, &now);
      ck_assert_double_eq_tol(sim->net_charge, _i % 2 ? 0.75 : 0, 1e-12);
      double f[3 * IONS];
      const bool shifted = strstr(lists[_i], "shift");
      ref_coulomb exact = plain_sums(&now, shifted ? 0 : cutoffs[k][0], f);
      if (shifted) { /* Lennard-Jones alone, by the engine */
        ck_ok(config_set(cfg, "coulomb.method", "none", "test"));
        ck_ok(config_set(cfg, "neighbor.skin", k ? "1.2" : "0.3", "test"));
        engine *plain;
        ions without;
        ck_ok(engine_create(config_get(cfg), &plain));
        read_ions(plain, &without);
        for (int m = 0; m < 3 * IONS; m++)
          f[m] += without.f[m];
        exact.energy += plain->tally.energy, exact.virial += plain->tally.virial;
        engine_destroy(plain);
      }
      ck_assert_msg(part_off(now.f, f) < most[precision], "%s: force error %g", settings,
                    part_off(now.f, f));
      ck_assert_double_eq_tol(sim->tally.energy, exact.energy,
                              most[precision] * (50 + fabs(exact.energy)));
      ck_assert_double_eq_tol(sim->tally.virial, exact.virial,
                              most[precision] * (50 + fabs(exact.virial)));
      engine_destroy(sim);
      config_destroy(cfg);
    }
}
END_TEST

/* Steps and rebuilds later forces are still those of the positions: what a GPU began to compute
 * before a rebuild is not used after it. */
START_TEST(forces_of_moving_ions)
{
  char settings[512];
  snprintf(settings, sizeof settings,
           "system.read=%s system.temperature=3 coulomb.method=pme coulomb.mesh=48 "
           "coulomb.order=10 coulomb.alpha=2.3 coulomb.cutoff=2.2 neighbor.every=%s "
           "device.precision=double run.dt=0.002",
           write_ions(false), _i ? "7" : "check");
  config *cfg = engines_config(settings);
  engine *sim;
  ions now;
  double f[3 * IONS];
  ck_ok(engine_create(config_get(cfg), &sim));
  for (int k = 0; k < 60; k++) {
    ck_ok(engine_steps(sim, 1));
    if (k % 4) continue;
    read_ions(sim, &now);
    plain_sums(&now, 2.5, f);
    ck_assert_msg(part_off(now.f, f) < 1e-5, "step %d: force error %g", k, part_off(now.f, f));
  }
  ck_assert_int_gt(sim->rebuilds, 3);
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

/* Rock salt by its Madelung constant. */
START_TEST(lattices_alternate)
{
  static const struct {
    const char *lattice;
    int basis;
    double madelung, distance; /* of unlike neighbours, in edges of the cell */
  } table[] = {{"nacl", 8, 1.7475645946331822, 0.5},
               {"cscl", 2, 1.7626747730709883, 0.86602540378443865},
               {"zns", 8, 1.6380550533888982, 0.43301270189221932}};
  for (int k = 0; k < 3; k++) {
    char settings[256];
    snprintf(settings, sizeof settings,
             "system.lattice=%s system.cells=4 system.charges=2 system.density=0.5 "
             "coulomb.method=pme coulomb.tolerance=1e-9 coulomb.order=10 lj.epsilon=1e-9",
             table[k].lattice);
    config *cfg = engines_config(settings);
    engine *sim;
    engine_thermo thermo;
    ck_ok(engine_create(config_get(cfg), &sim));
    ck_ok(engine_measure(sim, &thermo));
    ck_assert(sim->net_charge == 0);
    const double r = cbrt(table[k].basis / 0.5) * table[k].distance;
    ck_assert_double_eq_tol(thermo.e_pair, -0.5 * 4 * table[k].madelung / r, 1e-7);
    engine_destroy(sim);
    config_destroy(cfg);
  }
}
END_TEST

/* A melt: energy is conserved, more so with a shorter step; charges stay with their atoms. */
START_TEST(melts_keep_energy_and_charges)
{
  double deviation[2];
  for (int half = 0; half < 2; half++) {
    char settings[512];
    snprintf(settings, sizeof settings,
             "system.lattice=nacl system.cells=4 system.density=0.6 system.temperature=12 "
             "system.charges=3 coulomb.method=pme coulomb.cutoff=3 coulomb.tolerance=1e-4 "
             "lj.shift=force neighbor.every=check %s run.dt=%g device.precision=%s",
             lists[_i], half ? 0.0005 : 0.001, md_precision_words[_i % 2 ? MD_DOUBLE : MD_MIXED]);
    config *cfg = engines_config(settings);
    engine *sim;
    engine_thermo first, now;
    ck_ok(engine_create(config_get(cfg), &sim));
    ck_ok(engine_measure(sim, &first));
    deviation[half] = 0;
    for (int line = 0; line < 10; line++) {
      for (int step = half ? 20 : 10; step > 0; step--)
        ck_ok(engine_step(sim, step == 1));
      ck_ok(engine_measure(sim, &now));
      deviation[half] = fmax(deviation[half], fabs(now.e_total - first.e_total));
    }
    ck_assert(now.temperature < 11 && sim->sorts > 1);
    /* of a steady step the host sees how far atoms moved, and nothing else */
    ck_assert_int_eq(sim->steady_bytes, test_backend() == MD_GPU ? 8 * sim->steady_steps : 0);
    const int64_t n = sim->atoms->n;
    double *q = malloc((size_t)n * sizeof *q);
    int64_t *id = malloc((size_t)n * sizeof *id);
    ck_ok(md_atoms_get(sim->atoms, NULL, NULL, NULL, id, NULL));
    ck_ok(md_atoms_get_charges(sim->atoms, q));
    for (int64_t i = 0; i < n; i++)
      ck_assert(q[i] == ((id[i] - 1) % 8 < 4 ? 3 : -3));
    free(q), free(id);
    engine_destroy(sim);
    config_destroy(cfg);
  }
  ck_assert_msg(deviation[0] < 3e-3 && deviation[1] < 0.4 * deviation[0] + 1e-4, "%g %g",
                deviation[0], deviation[1]);
}
END_TEST

START_TEST(readers_know_charges)
{
  system_state found;
  const char *data =
      files_text("salt.data", "salt\n\n2 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n"
                              "0 4 zlo zhi\n\nAtoms # charge\n\n"
                              "2 1 -1.5 1 1 1\n1 1 0.25 3 2 1\n");
  ck_ok(system_read(data, false, NULL, &found));
  ck_assert(found.q && found.q[0] == -1.5 && found.q[1] == 0.25);
  system_state_free(&found);
  ck_ok(system_read(write_ions(false), false, NULL, &found));
  ck_assert(found.n == IONS && found.q && found.q[1] == -0.75 && found.q[IONS - 1] == 0);
  system_state_free(&found);
  const char *none = files_text("plain.xyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nX 1 2 3\n");
  ck_ok(system_read(none, false, NULL, &found));
  ck_assert_ptr_null(found.q);
  system_state_free(&found);
  static const char *const bad[] = {"nan", "1e7", "-inf", "x"};
  for (int k = 0; k < 4; k++) {
    char text[200];
    snprintf(text, sizeof text,
             "1\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=pos:R:3:q:R:1\n1 2 3 %s\n", bad[k]);
    ck_assert_int_eq(system_read(files_text("bad.xyz", text), false, NULL, &found), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), "bad.xyz:3: charge") != NULL, "%s", md_message());
  }
}
END_TEST

START_TEST(bad_settings_are_refused)
{
  static const struct {
    const char *settings, *word;
  } table[] = {
      {"system.lattice=nacl system.charges=1", "coulomb.method"},
      {"system.charges=1 coulomb.method=pme", "\"zns\""},
      {"coulomb.method=pme", "system.charges > 0"},
      {"system.lattice=nacl system.charges=1 coulomb.method=pme coulomb.mesh=16,0,16", "all three"},
  };
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    config *cfg;
    ck_ok(config_create(&cfg));
    char *copy = strdup(table[k].settings), *rest = copy;
    for (char *pair; (pair = strsep(&rest, " "));)
      ck_ok(config_set_pair(cfg, pair));
    free(copy);
    ck_assert_int_eq(config_check(cfg), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), table[k].word) != NULL, "%s", md_message());
    config_destroy(cfg);
  }
  const char *none = files_text("plain.xyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nX 1 2 3\n");
  char settings[300];
  snprintf(settings, sizeof settings, "coulomb.method=pme system.read=%s", none);
  config *cfg = engines_config(settings);
  engine *sim;
  ck_assert_int_eq(engine_create(config_get(cfg), &sim), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "plain.xyz") != NULL, "%s", md_message());
  config_destroy(cfg);
  cfg = engines_config("system.lattice=nacl system.charges=1 coulomb.method=pme coulomb.mesh=4 "
                       "coulomb.order=6");
  ck_assert_int_eq(engine_create(config_get(cfg), &sim), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "mesh") != NULL, "%s", md_message());
  config_destroy(cfg);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("charges");
  TCase *tc = tcase_create("charges");
  tcase_add_checked_fixture(tc, files_begin, files_end);
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, pair_formula);
  tcase_add_test(tc, formula_of_near_cutoffs);
  tcase_add_test(tc, reach_of_the_formula);
  tcase_add_loop_test(tc, forces_against_plain_sums, 0, N_LISTS);
  tcase_add_test(tc, lattices_alternate);
  tcase_add_loop_test(tc, melts_keep_energy_and_charges, 0, 2);
  tcase_add_test(tc, readers_know_charges);
  tcase_add_test(tc, bad_settings_are_refused);
  suite_add_tcase(suite, tc);
  TCase *moving = test_long_case("moving ions");
  tcase_add_checked_fixture(moving, files_begin, files_end);
  tcase_add_loop_test(moving, forces_of_moving_ions, 0, 2);
  suite_add_tcase(suite, moving);
  return test_main(suite);
}
