/* tests/engine/check_engine.c - whole runs against LAMMPS and miniMD, and against themselves.
 *
 * The thermo values were computed by LAMMPS and by miniMD in double precision; from one starting
 * state the two agree to twelve digits after 100 steps, so a run here must too, whatever its list,
 * ordering or bins. */
#include "engine/engine.h"
#include "tests/drive/engines.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *settings; /* key=value, separated by spaces */
  int64_t step;
  double temperature, e_pair, pressure;
} thermo_case;

#define LAMMPS_20 100, .757453103239936, -5.75850548601596, .207261053624723
#define LAMMPS_32 100, .759358936307177, -5.76139084336033, .187854493848407
#define MINIMD_16 100, .76641220662596, -5.77227824934866, .0979907871451
#define MINIMD_32 100, .8200911123183, -5.852702375835, -.1873920511665

static const thermo_case cases[] = {
    {"system.cells=20 order.curve=none neighbor.list=full", LAMMPS_20},
    {"system.cells=20 order.curve=row neighbor.list=half", LAMMPS_20},
    {"system.cells=20 order.curve=column neighbor.list=half neighbor.newton=off", LAMMPS_20},
    {"system.cells=20 order.curve=morton neighbor.list=full neighbor.stencil=block", LAMMPS_20},
    {"system.cells=20 order.curve=hilbert neighbor.list=full neighbor.bin_size=3.1", LAMMPS_20},
    {"system.cells=20 order.curve=hilbert neighbor.list=half neighbor.bin_size=0.7", LAMMPS_20},
    {"system.cells=20 order.sort_every=0 run.thermo=7", LAMMPS_20},
    {"system.cells=20 order.sort_every=60 neighbor.list=half", LAMMPS_20},
    {"system.cells=20 device.deterministic=true neighbor.list=half", LAMMPS_20},
    {"system.cells=32 neighbor.list=full", LAMMPS_32},
    {"system.cells=32 neighbor.list=half", LAMMPS_32},
    {"system.cells=16 system.velocity=minimd neighbor.list=half", MINIMD_16},
    {"system.cells=16 system.velocity=minimd neighbor.list=full order.curve=row", MINIMD_16},
    {"system.cells=32 system.velocity=minimd neighbor.list=full", MINIMD_32},
    {"system.cells=20 neighbor.list=tile", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.curve=none run.thermo=9", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.curve=random", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.curve=row neighbor.bin_size=0.9", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.curve=morton order.sort_every=60", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.curve=hybrid:hilbert/row:4", LAMMPS_20},
    {"system.cells=20 neighbor.list=tile order.sort_every=0", LAMMPS_20},
    {"system.cells=32 neighbor.list=tile order.curve=gilbert", LAMMPS_32},
    {"system.cells=16 neighbor.list=tile system.velocity=minimd", MINIMD_16},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* A steady step copies nothing, but with check the result of a reduction, to a GPU's host. */
static void steady_bytes_are_few(const engine *sim)
{
  const bool reads = sim->spec->every == 0 && sim->ctx->backend == MD_GPU;
  ck_assert_int_le(sim->steady_bytes, reads ? 16 * sim->steady_steps : 0);
}

/* Run to the configuration's last step, with thermo lines where it asks for them. */
static engine_thermo run(const char *settings, int32_t *bits, int64_t room)
{
  config *cfg = engines_config(settings);
  const int32_t every = config_output(cfg)->thermo;
  const engine_spec *values = config_get(cfg);
  engine *sim = NULL;
  engine_thermo thermo;
  ck_ok(engine_create(config_get(cfg), &sim));
  ck_ok(engine_measure(sim, &thermo));
  while (sim->step < values->steps) {
    const int64_t next = sim->step + 1;
    const bool tally = next == values->steps || (every > 0 && next % every == 0);
    ck_ok(engine_step(sim, tally));
    if (tally) ck_ok(engine_measure(sim, &thermo));
  }
  if (bits) {
    ck_assert_int_le(sim->atoms->n * 3 * 8, room * 4);
    ck_ok(md_atoms_get(sim->atoms, (double *)bits, NULL, NULL, NULL, NULL));
  }
  steady_bytes_are_few(sim);
  engine_destroy(sim);
  config_destroy(cfg);
  return thermo;
}

static void near(const char *settings, const char *what, double value, double expected)
{
  ck_assert_msg(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %s is %.15g, not %.15g",
                settings, what, value, expected);
}

START_TEST(thermo_agrees_with_lammps_and_minimd)
{
  const thermo_case *c = &cases[_i];
  const engine_thermo thermo = run(c->settings, NULL, 0);
  ck_assert_int_eq(thermo.step, c->step);
  near(c->settings, "temperature", thermo.temperature, c->temperature);
  near(c->settings, "e_pair", thermo.e_pair, c->e_pair);
  near(c->settings, "pressure", thermo.pressure, c->pressure);
}
END_TEST

/* Of the perfect lattice, whatever the number of atoms: E_pair, and P = rho/3 (W/N + T (3 - 3/N)).
 */
START_TEST(lattice_has_its_exact_sums)
{
  static const char *const settings[] = {
      "system.cells=32 run.steps=0", "system.cells=20 run.steps=0 neighbor.list=half",
      "system.cells=7,5,9 run.steps=0 system.velocity=minimd",
      "system.cells=9,4,6 run.steps=0 neighbor.list=half neighbor.newton=off",
      "system.cells=7,5,9 run.steps=0 neighbor.list=tile"};
  static const double atoms[] = {131072, 32000, 1260, 864, 1260};
  const double density = .8442, temperature = 1.44;
  const double virial = 3 * -5.01967854474379 / density - temperature * (3 - 3 / atoms[0]);
  const engine_thermo thermo = run(settings[_i], NULL, 0);
  near(settings[_i], "temperature", thermo.temperature, temperature);
  near(settings[_i], "e_pair", thermo.e_pair, -6.77336805325296);
  near(settings[_i], "pressure", thermo.pressure,
       density / 3 * (virial + temperature * (3 - 3 / atoms[_i])));
}
END_TEST

/* Lists that miss nothing give one trajectory, however often and by whatever rule they are made. */
START_TEST(complete_lists_agree)
{
  static const char *const settings[] = {
      "system.cells=10 neighbor.skin=0.6",
      "system.cells=10 neighbor.every=check",
      "system.cells=10 neighbor.every=check neighbor.list=half order.sort_every=0",
      "system.cells=10 neighbor.every=5 order.sort_every=15 neighbor.list=half",
      "system.cells=10 neighbor.every=check neighbor.list=tile",
      "system.cells=10 neighbor.every=5 order.sort_every=15 neighbor.list=tile run.thermo=3"};
  const engine_thermo expected = run(settings[0], NULL, 0);
  for (int k = 1; k < 6; k++) {
    const engine_thermo thermo = run(settings[k], NULL, 0);
    near(settings[k], "temperature", thermo.temperature, expected.temperature);
    near(settings[k], "e_pair", thermo.e_pair, expected.e_pair);
    near(settings[k], "pressure", thermo.pressure, expected.pressure);
  }
}
END_TEST

/* Chaos doubles a float's rounding about every 0.1 time units: after 100 steps the totals still
 * agree. */
START_TEST(precisions_agree)
{
  static const char *const words[] = {"single", "mixed"};
  static const double tolerance[] = {2e-4, 2e-5};
  for (int list = 0; list < NEIGHBOR_LIST_COUNT; list++) {
    char settings[128];
    snprintf(settings, sizeof settings, "system.cells=20 device.precision=%s neighbor.list=%s",
             words[_i], neighbor_list_words[list]);
    const engine_thermo thermo = run(settings, NULL, 0);
    ck_assert_double_eq_tol(thermo.temperature, .757453103239936, tolerance[_i]);
    ck_assert_double_eq_tol(thermo.e_pair, -5.75850548601596, tolerance[_i]);
    ck_assert_double_eq_tol(thermo.pressure, .207261053624723, 10 * tolerance[_i]);
  }
}
END_TEST

/* Positions, bit for bit: a second run, and on the CPU another number of threads. */
START_TEST(deterministic_runs_repeat)
{
  static const char *const lists[] = {"full", "half", "tile"};
  enum { CELLS = 8, ROOM = 4 * CELLS * CELLS * CELLS * 3 * 2 };
  for (int precision = 0; precision < MD_PRECISION_COUNT; precision++) {
    int32_t *first = malloc(2 * ROOM * sizeof *first), *again = first + ROOM;
    for (int threads = 1; threads <= 3; threads++) {
      char settings[256];
      snprintf(settings, sizeof settings,
               "system.cells=%d run.steps=60 device.deterministic=true device.threads=%d "
               "device.precision=%s neighbor.list=%s",
               CELLS, threads, md_precision_words[precision], lists[_i]);
      run(settings, threads == 1 ? first : again, ROOM);
      if (threads > 1)
        ck_assert_msg(memcmp(first, again, ROOM * sizeof *first) == 0, "%s differs", settings);
    }
    free(first);
  }
}
END_TEST

START_TEST(thermo_lines_do_not_change_the_run)
{
  enum { ROOM = 4 * 6 * 6 * 6 * 3 * 2 };
  int32_t *first = malloc(2 * ROOM * sizeof *first), *again = first + ROOM;
  for (int k = 0; k < NEIGHBOR_LIST_COUNT * MD_PRECISION_COUNT; k++) {
    char settings[2][192];
    for (int line = 0; line < 2; line++)
      snprintf(settings[line], sizeof settings[line],
               "system.cells=6 run.steps=50 device.deterministic=true run.thermo=%d "
               "neighbor.list=%s device.precision=%s",
               3 * line, neighbor_list_words[k / MD_PRECISION_COUNT],
               md_precision_words[k % MD_PRECISION_COUNT]);
    run(settings[0], first, ROOM);
    run(settings[1], again, ROOM);
    ck_assert_msg(memcmp(first, again, ROOM * sizeof *first) == 0, "%s differs", settings[1]);
  }
  free(first);
}
END_TEST

/* A box far smaller than the cutoff holds the same crystal as a large one. */
START_TEST(small_boxes_see_their_images)
{
  static const char *const settings[] = {
      "system.cells=1 run.steps=0",
      "system.cells=2,1,1 run.steps=0 neighbor.list=half",
      "system.cells=1,3,2 run.steps=0 neighbor.list=half neighbor.newton=off",
      "system.cells=1 run.steps=0 neighbor.bin_size=0.4",
      "system.cells=1 run.steps=0 neighbor.list=tile",
      "system.cells=2,3,1 run.steps=0 neighbor.list=tile"};
  const engine_thermo thermo = run(settings[_i], NULL, 0);
  near(settings[_i], "e_pair", thermo.e_pair, -6.77336805325296);
}
END_TEST

START_TEST(too_much_memory_is_refused_with_what_fits)
{
  config *cfg = engines_config("system.cells=5000");
  engine *sim = NULL;
  ck_assert_int_eq(engine_create(config_get(cfg), &sim), MD_ENOMEM);
  ck_assert_ptr_null(sim);
  ck_assert_ptr_nonnull(strstr(md_message(), "at most"));
  config_destroy(cfg);
}
END_TEST

/* A period of sorts that says the default aloud chooses what the default does, and another list
 * comes with the setting that asks for it.  Few charges have full lists. */
START_TEST(list_depends_on_sorts_and_charges)
{
  static const struct {
    const char *settings;
    neighbor_kind list;
    const char *reason;
    int64_t n;
  } rows[] = {
      {"neighbor.every=20", NEIGHBOR_TILE, "fastest", 0},
      {"neighbor.every=20 order.sort_every=20", NEIGHBOR_TILE, "fastest", 0},
      {"neighbor.every=7 order.sort_every=7", NEIGHBOR_TILE, "fastest", 0},
      {"neighbor.every=check order.sort_every=1", NEIGHBOR_TILE, "fastest", 0},
      {"neighbor.every=20 order.sort_every=40", NEIGHBOR_FULL, "order.sort_every", 0},
      {"neighbor.every=20 order.sort_every=0", NEIGHBOR_FULL, "order.sort_every", 0},
      {"neighbor.every=check order.sort_every=20", NEIGHBOR_FULL, "order.sort_every", 0},
      {"order.curve=row order.sort_every=20", NEIGHBOR_FULL, "compact curve", 0},
#define SALT "system.lattice=nacl system.charges=1 coulomb.method=pme neighbor.every=check"
#define FAR SALT " coulomb.cutoff=5 neighbor.skin=0.3 device.precision="
      {SALT, NEIGHBOR_FULL, "few charges", 32767},
      {SALT, NEIGHBOR_TILE, "measured fastest", 32768},
      {SALT " order.curve=row", NEIGHBOR_FULL, "compact curve", 32768},
      {SALT " device.deterministic=true", NEIGHBOR_FULL, "same bits", 32768},
      {FAR "double", NEIGHBOR_FULL, "reaches so many", 32768},
      {FAR "mixed", NEIGHBOR_TILE, "measured fastest", 32768},
#undef FAR
#undef SALT
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    config *cfg = engines_config(rows[k].settings);
    ck_ok(config_set(cfg, "device.backend", "gpu", "test"));
    engine_choice choice;
    const double edge = cbrt((double)rows[k].n / 0.6);
    const md_box box = {.hi = {edge, edge, edge}};
    ck_ok(engine_choose(config_get(cfg), rows[k].n, rows[k].n > 0 ? &box : NULL, &choice));
    ck_assert_msg(choice.list == rows[k].list && strstr(choice.list_reason, rows[k].reason),
                  "%s: %s (%s)", rows[k].settings, neighbor_list_words[choice.list],
                  choice.list_reason);
    config_destroy(cfg);
  }
}
END_TEST

START_TEST(a_broken_run_is_reported)
{
  config *cfg = engines_config("system.cells=6 run.dt=0.2 run.steps=200");
  engine *sim = NULL;
  ck_ok(engine_create(config_get(cfg), &sim));
  md_status status = MD_OK;
  engine_thermo thermo;
  for (int k = 0; k < 200 && !status; k++) {
    status = engine_step(sim, true);
    if (!status) status = engine_measure(sim, &thermo);
  }
  ck_assert_int_eq(status, MD_ENUMERIC);
  engine_destroy(sim);
  config_destroy(cfg);
}
END_TEST

/* Lists that move atoms and lists that do not, built at fixed times and when they have to be; in
 * pieces that meet rebuilds and pieces that do not. */
static const char *const together[] = {"system.cells=6",
                                       "system.cells=13 neighbor.every=7",
                                       "system.cells=9 neighbor.every=7 lj.shift=force",
                                       "system.cells=6 neighbor.every=check",
                                       "system.cells=6 neighbor.list=full",
                                       "system.cells=6 order.curve=row neighbor.list=tile",
                                       "system.cells=3 neighbor.list=tile neighbor.every=3",
                                       "system.cells=17 neighbor.every=4"};
enum { N_TOGETHER = sizeof together / sizeof *together };

START_TEST(steps_together_are_steps_one_by_one)
{
  static const int pieces[] = {1, 5, 2, 20, 3};
  char settings[256];
  snprintf(settings, sizeof settings, "device.precision=%s %s", md_precision_words[_i / N_TOGETHER],
           together[_i % N_TOGETHER]);
  config *cfg = engines_config(settings);
  engine *one, *many;
  ck_ok(engine_create(config_get(cfg), &one));
  ck_ok(engine_create(config_get(cfg), &many));
  for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
    ck_ok(engine_steps(many, pieces[k]));
    for (int s = 0; s < pieces[k]; s++)
      ck_ok(engine_step(one, false));
  }
  ck_ok(engine_step(one, true));
  ck_ok(engine_step(many, true));
  const size_t n = (size_t)one->atoms->n;
  double *state[2];
  engine *const sims[2] = {one, many};
  for (int e = 0; e < 2; e++) {
    state[e] = malloc(n * 6 * sizeof(double));
    ck_assert(state[e]);
    ck_ok(md_atoms_get(sims[e]->atoms, state[e], state[e] + 3 * n, NULL, NULL, NULL));
  }
  ck_assert_msg(memcmp(state[0], state[1], n * 6 * sizeof(double)) == 0, "%s: not the same bits",
                settings);
  ck_assert(one->tally.energy == many->tally.energy && one->tally.virial == many->tally.virial);
  ck_assert_int_eq(one->steady_steps, many->steady_steps);
  ck_assert_int_eq(one->rebuilds, many->rebuilds);
  steady_bytes_are_few(many);
  for (int e = 0; e < 2; e++)
    free(state[e]);
  engine_destroy(one);
  engine_destroy(many);
  config_destroy(cfg);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("engine");
  TCase *tc = tcase_create("engine");
  tcase_set_timeout(tc, 300);
  tcase_add_loop_test(tc, lattice_has_its_exact_sums, 0, 5);
  tcase_add_loop_test(tc, deterministic_runs_repeat, 0, 3);
  tcase_add_test(tc, thermo_lines_do_not_change_the_run);
  /* The CPU takes them one by one: one precision is enough to see that. */
  tcase_add_loop_test(tc, steps_together_are_steps_one_by_one, 0,
                      N_TOGETHER * (test_backend() == MD_GPU ? MD_PRECISION_COUNT : 1));
  tcase_add_loop_test(tc, small_boxes_see_their_images, 0, 6);
  tcase_add_test(tc, too_much_memory_is_refused_with_what_fits);
  tcase_add_test(tc, a_broken_run_is_reported);
  tcase_add_test(tc, list_depends_on_sorts_and_charges);
  suite_add_tcase(suite, tc);
  TCase *melts = test_long_case("melts");
  tcase_add_loop_test(melts, thermo_agrees_with_lammps_and_minimd, 0, N_CASES);
  tcase_add_test(melts, complete_lists_agree);
  tcase_add_loop_test(melts, precisions_agree, 0, 2);
  suite_add_tcase(suite, melts);
  return test_main(suite);
}
