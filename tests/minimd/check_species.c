/* tests/minimd/check_species.c - species and lj.pairs: what they mean, what is refused, and the
 * lattices that they fill. */
#include "engine/engine.h"
#include "engine/system/system.h"
#include "tests/drive/configs.h"
#include "tests/drive/engines.h"
#include "tests/test.h"

#define AB "species=({name=\"A\";mass=2;},{name=\"B\";mass=3;charge=-1;})"

START_TEST(pairs_are_given_or_mixed)
{
  config *c = engines_config(AB " coulomb.method=none lj.epsilon=4 lj.sigma=2 lj.cutoff=9 "
                                "lj.mix=arithmetic "
                                "lj.pairs=({types=[\"B\",\"B\"];epsilon=1;sigma=1;cutoff=3;})");
  const engine_types *types = config_get(c)->types;
  ck_assert_ptr_nonnull(types);
  ck_assert_int_eq(types->n, 2);
  ck_assert_str_eq(types->species[1].name, "B");
  ck_assert(types->species[0].mass == 2 && types->species[1].charge == -1);
  const force_lj *p = types->pairs;
  ck_assert(p[0].epsilon == 4 && p[0].sigma == 2 && p[0].r_cut == 9);
  ck_assert(p[1].epsilon == 2 && p[1].sigma == 1.5 && p[1].r_cut == 6);
  ck_assert(p[3].epsilon == 1 && p[3].sigma == 1 && p[3].r_cut == 3);
  ck_assert_mem_eq(&p[1], &p[2], sizeof *p);
  ck_assert(engine_reach(config_get(c)) == 9);
  config_destroy(c);
  c = engines_config(AB " coulomb.method=none lj.cutoff=3 "
                        "lj.pairs=({types=[\"B\",\"A\"];sigma=0.5;epsilon=7;})");
  p = config_get(c)->types->pairs;
  ck_assert(p[1].epsilon == 7 && p[2].sigma == 0.5 && p[2].r_cut == 3 && p[3].epsilon == 1);
  config_destroy(c);
}
END_TEST

/* What convert writes is what was read. */
START_TEST(settings_come_back)
{
  config *c = engines_config(AB " coulomb.method=none "
                                "lj.pairs=({types=[\"A\",\"B\"];epsilon=1e-3;sigma=1;})");
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  config_write(c, stream);
  ck_assert_int_eq(fclose(stream), 0);
  ck_ok(config_read_text(cfg, "again", text));
  ck_ok(config_check(cfg));
  const engine_types *was = config_get(c)->types, *is = config_get(cfg)->types;
  ck_assert_int_eq(was->n, is->n);
  ck_assert_mem_eq(was->species, is->species, 2 * sizeof *was->species);
  ck_assert_mem_eq(was->pairs, is->pairs, 4 * sizeof *was->pairs);
  free(text);
  config_destroy(c);
}
END_TEST

static const struct {
  const char *settings[4], *says;
} bad[] = {
    {{"species=({name=\"A\";mass=0;})"}, "mass: expected a number > 0"},
    {{"species=({name=\"A\";mass=\"1\";})"}, "mass: expected a number"},
    {{"species=({name=\"A\";mas=1;})"}, "unknown key 'mas'"},
    {{"species=({name=\"A\";mass=1;mass=1;})"}, "appears twice"},
    {{"species=({mass=1;})"}, "expected name in each group"},
    {{"species=({name=\"A\";"}, "expected"},
    {{"species=({name=\"A\";})x"}, "expected the end of the list"},
    {{"species=[1,2]"}, "expected"},
    {{"species=({name=\"A\";},{name=\"A\";})"}, "two have the name 'A'"},
    {{"species=({name=\"A\";fraction=0.5;},{name=\"B\";})"}, "fractions for all or for none"},
    {{"species=({name=\"A\";fraction=0.5;},{name=\"B\";fraction=0.4;})"}, "not 0.9"},
    {{AB}, "expected a coulomb.method"},
    {{"species=({name=\"A\";})", "system.mass=2"}, "system.mass has no meaning beside species"},
    {{"species=({name=\"A\";})", "system.lattice=nacl", "system.charges=1"},
     "system.charges has no meaning beside species"},
    {{"species=({name=\"A\";},{name=\"B\";},{name=\"C\";})", "system.lattice=zns"},
     "expected two on this lattice"},
    {{"species=({name=\"A\";fraction=0.2;},{name=\"B\";fraction=0.8;})", "system.lattice=zns"},
     "expected 0.5"},
    {{"species=({name=\"A\";})", "lj.pairs=({types=[\"A\",\"X\"];epsilon=1;sigma=1;})"},
     "no species has the name 'X'"},
    {{"species=({name=\"A\";})", "lj.pairs=({types=[\"A\",\"A\"];epsilon=1;})"},
     "expected epsilon and sigma"},
    {{"species=({name=\"A\";})", "lj.pairs=({types=[\"A\",\"A\"];epsilon=1;sigma=1;},{types=[\"A\","
                                 "\"A\"];epsilon=1;sigma=1;})"},
     "appears twice"},
    {{"lj.pairs=({types=[\"A\",\"A\"];epsilon=1;sigma=1;})"}, "expected species beside them"},
    {{"species=({name=\"A\";})", "potential.style=eam"}, "expected potential.style"},
};

START_TEST(bad_species_are_refused)
{
  md_status status = MD_OK;
  for (int k = 0; k < 4 && bad[_i].settings[k] && !status; k++)
    status = config_set_pair(cfg, bad[_i].settings[k]);
  if (!status) status = config_check(cfg);
  ck_assert_int_eq(status, MD_EINVAL);
  ck_assert_msg(strstr(md_message(), bad[_i].says), "'%s' does not say '%s'", md_message(),
                bad[_i].says);
}
END_TEST

/* Each type as often as its fraction says, whoever makes which sites; mixed, not in a block. */
START_TEST(fractions_are_met)
{
  enum { N = 4000 };
  static uint8_t all[N], parts[N];
  engine_types types;
  ck_ok(engine_types_create(3, &types));
  types.species[0].fraction = 0.7, types.species[1].fraction = 0.2, types.species[2].fraction = 0.1;
  engine_types_place(&types, false, 4, N, 11, 0, N, all);
  for (int64_t first = 0; first < N; first += 1000)
    engine_types_place(&types, false, 4, N, 11, first, 1000, parts + first);
  ck_assert_mem_eq(all, parts, N);
  int count[3] = {0}, early = 0;
  for (int s = 0; s < N; s++)
    count[all[s]]++, early += s < N / 2 && all[s] == 0;
  ck_assert(count[0] == 2800 && count[1] == 800 && count[2] == 400);
  ck_assert(early > 1250 && early < 1550); /* of 2800 half, within three standard deviations */
  engine_types_place(&types, true, 8, N, 11, 4, N - 4, all);
  ck_assert(all[0] == 1 && all[3] == 1 && all[4] == 0 && all[8] == 1);
  engine_types_free(&types);
}
END_TEST

/* Momentum and temperature are those of the masses. */
START_TEST(velocities_have_no_momentum)
{
  config *c = engines_config("species=({name=\"A\";mass=2;fraction=0.5;},{name=\"B\";mass=30;"
                             "fraction=0.5;}) system.cells=6 system.temperature=1.25");
  system_state state;
  ck_ok(system_create(config_get(c), &state));
  double momentum[3] = {0}, kinetic = 0, heat[2] = {0};
  for (int64_t i = 0; i < state.n; i++)
    for (int d = 0; d < 3; d++) {
      const double m = state.type[i] ? 30 : 2, v = state.v[3 * i + d];
      momentum[d] += m * v, kinetic += m * v * v, heat[state.type[i]] += m * v * v;
    }
  for (int d = 0; d < 3; d++)
    ck_assert_double_eq_tol(momentum[d], 0, 1e-9);
  ck_assert_double_eq_tol(kinetic / (3.0 * (double)state.n - 3), 1.25, 1e-12);
  ck_assert_double_eq_tol(heat[0] / heat[1], 1, 0.2); /* drawn in proportion to 1 / sqrt(m) */
  system_state_free(&state);
  engine *sim;
  engine_thermo now;
  ck_ok(engine_create(config_get(c), &sim));
  ck_ok(engine_measure(sim, &now));
  ck_assert_double_eq_tol(now.temperature, 1.25, 1e-12);
  engine_destroy(sim);
  config_destroy(c);
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return 0;
  Suite *suite = suite_create("species");
  TCase *tc = tcase_create("species");
  tcase_add_checked_fixture(tc, configs_begin, configs_end);
  tcase_add_test(tc, pairs_are_given_or_mixed);
  tcase_add_test(tc, settings_come_back);
  tcase_add_loop_test(tc, bad_species_are_refused, 0, sizeof bad / sizeof *bad);
  tcase_add_test(tc, fractions_are_met);
  tcase_add_test(tc, velocities_have_no_momentum);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
