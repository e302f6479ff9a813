/* tests/minimd/check_locality_figures.c - what an engine's list says about the caches of this
 * machine, from the models. */
#include "minimd/locality/locality.h"
#include "tests/drive/engines.h"
#include "tests/test.h"

#include <stdio.h>

/* Shares of hits, and bytes from memory, of the counts that the model gives for the same list. */
START_TEST(figures_are_those_of_the_model)
{
  static const char *const lists[] = {"full", "half"};
  for (int l = 0; l < 2; l++) {
    char settings[128];
    snprintf(settings, sizeof settings, "system.cells=8 neighbor.list=%s", lists[l]);
    config *cfg = engines_config(settings);
    engine *sim;
    machine m;
    double figure[LOCALITY_FIGURE_COUNT];
    ck_ok(engine_create(config_get(cfg), &sim));
    ck_ok(locality_of(sim, figure));
    if (sim->ctx->backend == MD_CPU && machine_find("host", &m) == MD_OK) {
      const list_input in = locality_input(sim);
      hierarchy_options opts = hierarchy_default();
      hierarchy_result result;
      list_kernel kernel;
      list_figures own;
      opts.block_size = sim->spec->block_size;
      ck_ok(list_kernel_of(&in, &kernel));
      ck_ok(hierarchy_run(&in, &kernel, &m, &opts, &result, NULL));
      ck_ok(list_measure(&in, kernel.n, &own));
      ck_assert_double_eq(figure[LOCALITY_SECTORS], own.sectors_per_request);
      ck_assert_double_eq(figure[LOCALITY_LINES], own.lines_per_row);
      const hierarchy_counts *nc = &result.stream[TRACE_NC];
      const double asked = (double)nc->level[0].sectors, hits = (double)nc->level[0].hits;
      ck_assert(asked > 0 && hits > 0.5 * asked); /* a list in Hilbert order */
      ck_assert_double_eq_tol(figure[LOCALITY_L1_HIT], hits / asked, 1e-15);
      int64_t sectors = 0;
      for (int s = 0; s < TRACE_STREAM_COUNT; s++)
        sectors += result.stream[s].memory_read;
      const double bytes = (double)sectors * m.level[0].sector / (double)kernel.n;
      ck_assert(bytes > 4 * 50); /* cold caches: every entry of the list at least */
      ck_assert_double_eq_tol(figure[LOCALITY_MEMORY], bytes, 1e-12 * bytes);
    }
    engine_destroy(sim);
    config_destroy(cfg);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("locality_figures");
  TCase *tc = tcase_create("figures");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, figures_are_those_of_the_model);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
