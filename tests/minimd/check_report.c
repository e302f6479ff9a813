/* tests/minimd/check_report.c - what a run prints: rates, shares and counts of a run whose times
 * are given. */
#include "minimd/run/report.h"
#include "tests/drive/engines.h"
#include "tests/test.h"

#include <stdio.h>

enum { ATOMS = 256, STEPS = 7 };
static const double WALL_S = 0.25;

/* Seven steps of 256 atoms that took a quarter of a second; the k-th phase (k + 1)/256 of one. */
static report make_run(const config *cfg, engine_thermo thermo[2])
{
  report run = {.cfg = cfg, .thermo = thermo, .n_thermo = 2, .setup_s = 1.5};
  ck_ok(engine_create(config_get(cfg), &run.sim));
  ck_ok(engine_measure(run.sim, &thermo[0]));
  for (int step = STEPS; step > 0; step--)
    ck_ok(engine_step(run.sim, step == 1));
  ck_ok(engine_measure(run.sim, &thermo[1]));
  run.steps = STEPS, run.wall_s = WALL_S;
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    run.phase_s[k] = (k + 1) / 256.0;
  return run;
}

/* All that is printed; until the next call. */
static const char *printed(const report *run, options_format format)
{
  static char text[1 << 16];
  FILE *stream = fmemopen(text, sizeof text, "w");
  report_begin(run, format, stream);
  for (int64_t k = 0; k < run->n_thermo; k++)
    report_thermo(&run->thermo[k], format, stream);
  report_end(run, format, stream);
  ck_assert(!ferror(stream) && fclose(stream) == 0);
  return text;
}

static double mean_neighbors(const report *run)
{
  const neighbor_view *view = neighbor_list_view(run->sim->list);
  return (double)view->n_entries / ATOMS;
}

/* The number behind a word that text must have. */
static double behind(const char *text, const char *word)
{
  const char *at = strstr(text, word);
  ck_assert_msg(at != NULL, "no '%s' in:\n%s", word, text);
  return strtod(at + strlen(word), NULL);
}

static void check_thermo(const engine_thermo *line, const double read[5], double most)
{
  const double there[] = {(double)line->step, line->temperature, line->e_pair, line->e_total,
                          line->pressure};
  for (int k = 0; k < 5; k++)
    ck_assert_msg(fabs(read[k] - there[k]) <= most, "%.17g, expected %.17g", read[k], there[k]);
}

START_TEST(table)
{
  config *cfg = engines_config("system.cells=4 run.steps=7 neighbor.every=3 order.sort_every=6");
  engine_thermo thermo[2];
  const report run = make_run(cfg, thermo);
  const char *text = printed(&run, OPTIONS_FORMAT_TABLE), *at;
  const double rate = ATOMS * STEPS / WALL_S;
  ck_assert_double_eq_tol(behind(text, "performance: "), rate / 1e6, 6e-4);
  ck_assert_double_eq_tol(behind(text, "M atom-steps/s, "), 1e9 / rate, 6e-4);
  ck_assert_double_eq(behind(text, "system     "), ATOMS);
  ck_assert_double_eq(behind(text, " atoms in 6.71838 x 6.71838 x 6.71838, "),
                      (double)run.sim->atoms->n_ghost);
  ck_assert_double_eq(behind(text, "phase             seconds    share\nintegrate    "), .0039);
  ck_assert_double_eq(behind(text, "set-up "), 1.5);
  ck_assert_double_eq_tol(behind(strstr(text, "list "), "), "), mean_neighbors(&run), 0.051);
  ck_assert_int_ne(run.sim->rebuilds, run.sim->sorts);
  double known = 0;
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    char word[20], unit;
    double seconds, share;
    snprintf(word, sizeof word, "\n%-12s ", md_phase_words[k]);
    if (k == MD_PHASE_COULOMB || k == MD_PHASE_EXCHANGE) {
      ck_assert_ptr_null(strstr(text, word));
      continue;
    }
    at = strstr(text, word);
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at + strlen(word), "%lf %lf%c", &seconds, &share, &unit), 3);
    ck_assert_double_eq_tol(seconds, (k + 1) / 256.0, 5.1e-5);
    ck_assert_double_eq_tol(share, 100 * (k + 1) / 256.0 / WALL_S, 0.051);
    known += (k + 1) / 256.0;
  }
  ck_assert_double_eq_tol(behind(text, "\nother "), WALL_S - known, 5.1e-5);
  ck_assert_double_eq_tol(behind(text, "\ntotal "), WALL_S, 5.1e-5);
  ck_assert_double_eq(behind(text, "\n\n7 steps, "), (double)run.sim->rebuilds);
  ck_assert_double_eq(behind(text, " rebuilds, "), (double)run.sim->sorts);
  ck_assert_double_eq_tol(behind(text, " sorts, memory "),
                          (double)run.sim->ctx->bytes_allocated / 1e6, 0.051);
  at = strstr(text, "e_total         pressure\n") + strlen("e_total         pressure\n");
  for (int k = 0; k < 2; k++) {
    double read[5];
    int length;
    ck_assert_int_eq(sscanf(at, "%lf %lf %lf %lf %lf%n", &read[0], &read[1], &read[2], &read[3],
                            &read[4], &length),
                     5);
    at += length;
    check_thermo(&thermo[k], read, 5.1e-11);
  }
  engine_destroy(run.sim);
  config_destroy(cfg);
}
END_TEST

START_TEST(csv)
{
  config *cfg = engines_config("system.cells=4 run.steps=7");
  engine_thermo thermo[2];
  const report run = make_run(cfg, thermo);
  char *at = strdup(printed(&run, OPTIONS_FORMAT_CSV)), *text = at;
  static const char head[] = "step,temp,e_pair,e_total,pressure\n";
  ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
  at += strlen(head);
  for (int k = 0; k < 2; k++) {
    double read[5];
    for (int c = 0; c < 5; c++) {
      read[c] = strtod(at, &at);
      ck_assert_int_eq(*at++, c < 4 ? ',' : '\n');
    }
    check_thermo(&thermo[k], read, 0);
  }
  ck_assert_int_eq(*at, 0);
  free(text);
  engine_destroy(run.sim);
  config_destroy(cfg);
}
END_TEST

START_TEST(json)
{
  config *cfg = engines_config("system.cells=4 run.steps=7 neighbor.every=3 order.sort_every=6");
  engine_thermo thermo[2];
  const report run = make_run(cfg, thermo);
  const char *text = printed(&run, OPTIONS_FORMAT_JSON);
  const double rate = ATOMS * STEPS / WALL_S;
  const char *counts = strstr(text, "\"counts\"");
  ck_assert_double_eq_tol(behind(text, "\"atom_steps_per_s\": "), rate, 1e-15 * rate);
  ck_assert_double_eq_tol(behind(text, "\"ns_per_atom_step\": "), 1e9 / rate, 1e-9);
  ck_assert_double_eq(behind(text, "\"setup\": "), 1.5);
  ck_assert_double_eq(behind(text, "\"total\": "), WALL_S);
  for (int k = 0; k < MD_PHASE_COUNT; k++) {
    char word[20];
    snprintf(word, sizeof word, "\"%s\": ", md_phase_words[k]);
    ck_assert_double_eq(behind(strstr(text, "\"timing\""), word), (k + 1) / 256.0);
  }
  ck_assert_double_eq(behind(counts, "\"atoms\": "), ATOMS);
  ck_assert_double_eq(behind(counts, "\"ghosts\": "), (double)run.sim->atoms->n_ghost);
  ck_assert_double_eq(behind(counts, "\"steps\": "), STEPS);
  ck_assert(run.sim->rebuilds == 3 &&
            run.sim->sorts == 2); /* the first, 3 and 6; the first and 6 */
  ck_assert_double_eq(behind(counts, "\"rebuilds\": "), (double)run.sim->rebuilds);
  ck_assert_double_eq(behind(counts, "\"sorts\": "), (double)run.sim->sorts);
  ck_assert_double_eq(behind(counts, "\"bytes_allocated\": "),
                      (double)run.sim->ctx->bytes_allocated);
  ck_assert_double_eq(behind(counts, "\"neighbors_per_atom\": "), mean_neighbors(&run));
  const char *at = strstr(text, "\"thermo\"");
  for (int k = 0; k < 2; k++) {
    static const char *const words[] = {
        "\"step\": ", "\"temp\": ", "\"e_pair\": ", "\"e_total\": ", "\"pressure\": "};
    double read[5];
    at = strchr(at, '{') + 1;
    for (int c = 0; c < 5; c++)
      read[c] = behind(at, words[c]);
    check_thermo(&thermo[k], read, 0);
  }
  engine_destroy(run.sim);
  config_destroy(cfg);
}
END_TEST

START_TEST(a_run_without_steps_has_no_rate)
{
  config *cfg = engines_config("system.cells=4 run.steps=0");
  engine_thermo thermo[2];
  report run = make_run(cfg, thermo);
  run.steps = 0, run.wall_s = 0;
  for (int format = 0; format < OPTIONS_FORMAT_COUNT; format++) {
    const char *text = printed(&run, (options_format)format);
    ck_assert(!strstr(text, "performance") && !strstr(text, " nan") && !strstr(text, " inf%"));
  }
  engine_destroy(run.sim);
  config_destroy(cfg);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("report");
  TCase *tc = tcase_create("report");
  tcase_add_test(tc, table);
  tcase_add_test(tc, csv);
  tcase_add_test(tc, json);
  tcase_add_test(tc, a_run_without_steps_has_no_rate);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
