/* tests/engine/check_engine_steps.c - what a run measures, when it rebuilds and sorts, when it
 * gives up. */
#include "engine/engine.h"
#include "engine/integrate/integrate.h"
#include "tests/drive/engines.h"
#include "tests/drive/run_cases.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static engine *made(const char *settings, config **cfg)
{
  engine *sim;
  *cfg = engines_config(settings);
  ck_ok(engine_create(config_get(*cfg), &sim));
  return sim;
}

static void finished(engine *sim, config *cfg)
{
  engine_destroy(sim);
  config_destroy(cfg);
}

/* Temperature, energies and pressure by their definition, from velocities, pairs and virial. */
START_TEST(thermo_is_what_it_says)
{
  config *cfg;
  engine *sim = made("system.cells=4 system.mass=2.5", &cfg);
  engine_thermo thermo;
  for (int step = 0; step < 3; step++) {
    const int64_t n = sim->atoms->n;
    double *v = malloc((size_t)n * sizeof(double[3])), kinetic = 0, volume = 1;
    ck_ok(engine_measure(sim, &thermo));
    ck_ok(md_atoms_get(sim->atoms, NULL, v, NULL, NULL, NULL));
    for (int64_t k = 0; k < 3 * n; k++)
      kinetic += 0.5 * 2.5 * v[k] * v[k];
    for (int d = 0; d < 3; d++)
      volume *= sim->atoms->box.hi[d] - sim->atoms->box.lo[d];
    const double pair = sim->tally.energy, virial = sim->tally.virial, atoms = (double)n;
    ck_assert_int_eq(thermo.step, step);
    ck_assert_double_eq_tol(thermo.temperature, 2 * kinetic / (3 * (atoms - 1)), 1e-12);
    ck_assert_double_eq_tol(thermo.e_pair, pair / atoms, 1e-12);
    ck_assert_double_eq_tol(thermo.e_total, (pair + kinetic) / atoms, 1e-12);
    ck_assert_double_eq_tol(thermo.pressure, (2 * kinetic + virial) / (3 * volume), 1e-11);
    free(v);
    ck_ok(engine_step(sim, true));
  }
  finished(sim, cfg);
}
END_TEST

/* Atoms four times as heavy move half as fast at one temperature: in steps twice as long to the
 * same places. */
START_TEST(mass_is_inertia)
{
  static const char *const settings[] = {"system.cells=4 system.mass=1 run.dt=0.002",
                                         "system.cells=4 system.mass=4 run.dt=0.004"};
  engine_thermo thermo[2];
  for (int k = 0; k < 2; k++) {
    config *cfg;
    engine *sim = made(settings[k], &cfg);
    for (int step = 1; step <= 50; step++)
      ck_ok(engine_step(sim, step == 50));
    ck_ok(engine_measure(sim, &thermo[k]));
    finished(sim, cfg);
  }
  ck_assert_double_eq_tol(thermo[0].e_pair, thermo[1].e_pair, 1e-9);
  ck_assert_double_eq_tol(thermo[0].temperature, thermo[1].temperature, 1e-9);
}
END_TEST

/* Every so many steps; sorting with the first rebuild at or after the end of its period. */
START_TEST(rebuilds_and_sorts_keep_their_periods)
{
  static const struct {
    const char *settings;
    int every, sort_every; /* 0: when atoms have moved; below 0: each time, 0: never */
  } table[] = {{"neighbor.every=7", 7, -1},
               {"neighbor.every=3 order.sort_every=6", 3, 6},
               {"neighbor.every=5 order.sort_every=0", 5, 0},
               {"neighbor.every=check order.sort_every=10 neighbor.skin=0.2", 0, 10},
               {"neighbor.every=check neighbor.skin=0.2", 0, -1}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    char settings[256];
    snprintf(settings, sizeof settings, "system.cells=5 system.temperature=3 %s",
             table[k].settings);
    config *cfg;
    engine *sim = made(settings, &cfg);
    const int sort = table[k].sort_every;
    int64_t rebuilds = 1, sorts = sort != 0, late = 0;
    ck_assert(sim->rebuilds == 1 && sim->sorts == sorts && sim->rebuilt_at == 0);
    for (int step = 1; step <= 60; step++) {
      const int64_t before = sim->rebuilt_at;
      ck_ok(engine_step(sim, step % 4 == 0));
      const bool due =
          table[k].every > 0 ? step - before == table[k].every : sim->rebuilt_at != before;
      const bool sorted = due && (sort < 0 || (sort > 0 && step / sort > before / sort));
      rebuilds += due, sorts += sorted, late += sorted && sort > 0 && step % sort != 0;
      ck_assert_msg(sim->rebuilds == rebuilds && sim->sorts == sorts,
                    "%s: %lld rebuilds and %lld sorts after step %d, expected %lld and %lld",
                    settings, (long long)sim->rebuilds, (long long)sim->sorts, step,
                    (long long)rebuilds, (long long)sorts);
      ck_assert_int_eq(sim->rebuilt_at, due ? step : before);
    }
    ck_assert(rebuilds > 4 && (table[k].every > 0 || sort < 0 || late > 0));
    finished(sim, cfg);
  }
}
END_TEST

/* Lists that are built when they have to be miss no pair: the same run with a list for each
 * step. */
START_TEST(checked_lists_are_complete)
{
  static const char *const every[] = {"check", "1"};
  engine_thermo thermo[2];
  for (int k = 0; k < 2; k++) {
    char settings[256];
    snprintf(settings, sizeof settings,
             "system.cells=5 system.temperature=6 neighbor.skin=0.4 neighbor.every=%s", every[k]);
    config *cfg;
    engine *sim = made(settings, &cfg);
    for (int step = 1; step <= 60; step++)
      ck_ok(engine_step(sim, step == 60));
    ck_ok(engine_measure(sim, &thermo[k]));
    ck_assert(k == 1 || (sim->rebuilds > 3 && sim->rebuilds < 30));
    finished(sim, cfg);
  }
  ck_assert_double_eq_tol(thermo[0].e_pair, thermo[1].e_pair, 1e-9);
  ck_assert_double_eq_tol(thermo[0].pressure, thermo[1].pressure, 1e-8);
}
END_TEST

/* A thousand times as hot as at first, although every number is finite. */
START_TEST(a_run_that_heats_up_is_stopped)
{
  config *cfg;
  engine *sim = made("system.cells=4", &cfg);
  engine_thermo thermo;
  ck_ok(engine_measure(sim, &thermo));
  run_scale_velocities(sim->atoms, sqrt(0.98 * ENGINE_RUNAWAY));
  ck_ok(engine_measure(sim, &thermo));
  ck_assert_double_eq_tol(thermo.temperature, 1.44 * 0.98 * ENGINE_RUNAWAY, 1e-6);
  run_scale_velocities(sim->atoms, sqrt(1.05));
  ck_assert_int_eq(engine_measure(sim, &thermo), MD_ENUMERIC);
  ck_assert_msg(strstr(md_message(), "ran away at step 0, from 1.44 to 1481.76"), "%s",
                md_message());
  finished(sim, cfg);
}
END_TEST

/* The largest system that fits is as dense as the one that does not: memory goes with the atoms. */
START_TEST(what_fits_is_as_dense)
{
  config *cfg = engines_config("system.cells=5000");
  engine *sim;
  double atoms, needed, available, fits;
  ck_assert_int_eq(engine_create(config_get(cfg), &sim), MD_ENOMEM);
  ck_assert_int_eq(
      sscanf(md_message(),
             "%lf atoms need %lf GB of %*s memory and %lf GB are free; at most %lf atoms", &atoms,
             &needed, &available, &fits),
      4);
  ck_assert_double_eq(atoms, 5e11);
  ck_assert_msg(fabs(fits * needed / (atoms * available) - 1) < 0.2, "%s", md_message());
  config_destroy(cfg);
}
END_TEST

/* What is said a run takes of memory is what it takes: each list and precision, a cube and a box of
 * which most atoms have images. */
START_TEST(memory_is_foreseen)
{
  static const char *const boxes[] = {"26", "60,50,4"};
  const bool gpu = test_backend() == MD_GPU;
  for (int l = 0; l < NEIGHBOR_LIST_COUNT - !gpu; l++)
    for (int b = 0; b < 2; b++) {
      char settings[160];
      snprintf(settings, sizeof settings,
               "system.cells=%s neighbor.list=%s device.precision=%s device.threads=2", boxes[b],
               neighbor_list_words[l], md_precision_words[_i]);
      config *cfg;
      engine *sim = made(settings, &cfg);
      ck_ok(engine_steps(sim, 45));
      double edge[3];
      for (int d = 0; d < 3; d++)
        edge[d] = sim->atoms->box.hi[d] - sim->atoms->box.lo[d];
      const double used = (double)sim->ctx->bytes_allocated;
      const double said = (double)engine_memory(sim->ctx, config_get(cfg), (neighbor_kind)l,
                                                (double)sim->atoms->n, edge);
      const double off = l == NEIGHBOR_HALF ? 0.08 : 0.03; /* whose rows differ more in length */
      ck_assert_msg(fabs(said / used - 1) <= off, "%s: %g bytes foreseen, %g used", settings, said,
                    used);
      finished(sim, cfg);
    }
}
END_TEST

/* Positions after some rebuilds, by id; *n gets how many atoms, edge of which box. */
static double *ends_of(const char *settings, bool one_by_one, int64_t *n, double edge[3])
{
  enum { STEPS = 75 };
  config *cfg;
  engine *sim = made(settings, &cfg);
  *n = sim->atoms->n;
  double *x = malloc((size_t)*n * sizeof(double[3])), *by_id = malloc((size_t)*n * sizeof *x * 3);
  int64_t *id = malloc((size_t)*n * sizeof *id);
  for (int step = 0; one_by_one && step < STEPS; step++)
    ck_ok(engine_step(sim, false));
  if (!one_by_one) ck_ok(engine_steps(sim, STEPS));
  ck_ok(md_atoms_get(sim->atoms, x, NULL, NULL, id, NULL));
  for (int64_t i = 0; i < *n; i++)
    memcpy(by_id + 3 * (id[i] - 1), x + 3 * i, sizeof(double[3]));
  for (int d = 0; d < 3; d++)
    edge[d] = sim->atoms->box.hi[d] - sim->atoms->box.lo[d];
  finished(sim, cfg);
  free(x);
  free(id);
  return by_id;
}

/* Of many tiles each waits for those near it, not for all of the step before: atoms end where steps
 * put them that begin one after the other, but for roundings, as lists may have other passes.  A
 * tile that does not wait reads positions of an earlier step, .007 away. */
START_TEST(tiles_wait_for_those_near)
{
#define TWO "species=({name=\"A\";mass=2;},{name=\"B\";}) "
  static const char *const systems[] = {
      "system.cells=48", "system.cells=56,40,52 order.curve=row neighbor.every=70 neighbor.skin=1",
      "system.cells=48 lj.shift=force",
      "system.cells=48 " TWO "lj.pairs=({types=[\"A\",\"B\"];epsilon=1.5;sigma=0.9;cutoff=2.2;})"};
  static const double away[] = {[MD_SINGLE] = 1e-3, [MD_MIXED] = 1e-5, [MD_DOUBLE] = 1e-9};
  if (test_backend() != MD_GPU) return; /* lists by tiles are a GPU's */
  for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
    char settings[300];
    int64_t n;
    double edge[3];
    snprintf(settings, sizeof settings, "%s neighbor.list=tile device.precision=%s", systems[k],
             md_precision_words[_i]);
    double *together = ends_of(settings, false, &n, edge);
    double *alone = ends_of(settings, true, &n, edge);
    for (int64_t c = 0; c < 3 * n; c++) {
      const double by = remainder(together[c] - alone[c], edge[c % 3]);
      ck_assert_msg(fabs(by) < away[_i], "%s: atom %lld is %g away", settings,
                    (long long)(c / 3 + 1), by);
    }
    free(together);
    free(alone);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("engine_steps");
  TCase *tc = tcase_create("steps");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, thermo_is_what_it_says);
  tcase_add_test(tc, mass_is_inertia);
  tcase_add_test(tc, rebuilds_and_sorts_keep_their_periods);
  tcase_add_test(tc, checked_lists_are_complete);
  tcase_add_test(tc, a_run_that_heats_up_is_stopped);
  tcase_add_test(tc, what_fits_is_as_dense);
  suite_add_tcase(suite, tc);
  TCase *memory = test_long_case("memory"); /* its paths are those of the cases before */
  tcase_add_loop_test(memory, memory_is_foreseen, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, memory);
  TCase *many = test_long_case("many tiles");
  tcase_add_loop_test(many, tiles_wait_for_those_near, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
