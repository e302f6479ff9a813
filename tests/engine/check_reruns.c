/* tests/engine/check_reruns.c - a deterministic run is the same run every time, bit for bit:
 * positions, velocities, thermo; on the CPU for any number of threads.
 *
 * MINIMD_TEST_RERUNS says how often each run is repeated (3); CK_RUN_CASE picks a precision. */
#include "engine/engine.h"
#include "tests/drive/engines.h"
#include "tests/test.h"

#include <stdio.h>

static const char *const systems[] = {
    "neighbor.list=full",
    "neighbor.list=half",
    "neighbor.list=tile",
    "neighbor.list=tile neighbor.every=check order.curve=row lj.shift=energy",
    "neighbor.list=half neighbor.newton=false order.curve=none",
    "neighbor.list=half neighbor.every=check order.curve=gilbert",
    "neighbor.list=full neighbor.every=check lj.shift=force system.temperature=3",
    "system.cells=4 system.lattice=nacl system.density=0.4 system.charges=1 coulomb.method=pme",
    ("system.cells=4 system.lattice=nacl system.density=0.4 system.charges=1 coulomb.method=pme "
     "neighbor.list=half")};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };

typedef struct {
  int64_t n;
  double *x, *v; /* [n][3] */
  engine_thermo thermo;
} outcome;

static outcome run_one(const char *settings)
{
  config *cfg = engines_config(settings);
  engine *sim = NULL;
  outcome out = {0};
  ck_ok(engine_create(config_get(cfg), &sim));
  while (sim->step < config_get(cfg)->steps)
    ck_ok(engine_step(sim, sim->step + 1 == config_get(cfg)->steps));
  ck_ok(engine_measure(sim, &out.thermo));
  out.n = sim->atoms->n;
  out.x = malloc((size_t)out.n * 6 * sizeof *out.x);
  out.v = out.x + 3 * out.n;
  ck_ok(md_atoms_get(sim->atoms, out.x, out.v, NULL, NULL, NULL));
  engine_destroy(sim);
  config_destroy(cfg);
  return out;
}

START_TEST(reruns_are_the_same)
{
  static const int numbers[] = {1, 2, 3, 5, 8};
  const char *word = getenv("MINIMD_TEST_RERUNS");
  const int most = word ? atoi(word) : 3;
  const md_precision precision = (md_precision)(_i / N_SYSTEMS);
  outcome first = {0};
  ck_assert_int_gt(most, 0);
  for (int k = 0; k <= most; k++) {
    char settings[512];
    snprintf(settings, sizeof settings,
             "system.cells=6 run.steps=45 device.deterministic=true device.precision=%s "
             "device.threads=%d %s",
             md_precision_words[precision], numbers[k % 5], systems[_i % N_SYSTEMS]);
    const outcome again = run_one(settings);
    if (k == 0) {
      first = again;
      continue;
    }
    ck_assert_int_eq(again.n, first.n);
    const bool same = memcmp(again.x, first.x, (size_t)first.n * 6 * sizeof *first.x) == 0 &&
                      memcmp(&again.thermo, &first.thermo, sizeof first.thermo) == 0;
    ck_assert_msg(same, "run %d differs: %s", k, settings);
    free(again.x);
  }
  free(first.x);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("reruns");
  for (int p = 0; p < MD_PRECISION_COUNT; p++) {
    TCase *tc = tcase_create(md_precision_words[p]);
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, reruns_are_the_same, p * N_SYSTEMS, (p + 1) * N_SYSTEMS);
    suite_add_tcase(suite, tc);
  }
  return test_main(suite);
}
