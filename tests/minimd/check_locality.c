/* tests/minimd/check_locality.c - what is modelled is what runs: the lists of a run at its step,
 * and the hits that the recorded addresses of that step have. */
#include "minimd/locality/locality.h"
#include "minimd/shell/settings.h"
#include "tests/drive/engines.h"
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_caches.h"
#include "tests/test.h"
#include "tests/drive/traces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LISTED = 1u << SETTINGS_ORDER | 1u << SETTINGS_LIST, WORDS_MOST = 32 };

/* A run before its first step, as a command line of these words describes it. */
static locality_run begin(const char *words, const char *order, const char *list, machine_kind kind)
{
  char copy[256], *argv[WORDS_MOST] = {"test", "--backend", "cpu"}, *rest = copy;
  int argc = 3;
  option table[SETTINGS_COUNT];
  options opts;
  locality_run run;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word; (word = strsep(&rest, " "));)
    argv[argc++] = word;
  settings_table(table);
  ck_ok(options_parse(table, SETTINGS_COUNT, argc, argv, &opts));
  ck_ok(locality_begin(&opts, LISTED, order, list, kind, false, &run));
  options_free(&opts);
  return run;
}

/* --- The lists. */

static void check_same(const engine *a, const engine *b, const char *name)
{
  const int64_t n = a->atoms->n;
  ck_assert_int_eq(n, b->atoms->n);
  ck_assert_int_eq(a->step, b->step);
  int64_t *id[2];
  double *x[2];
  for (int k = 0; k < 2; k++) {
    id[k] = ref_alloc(n, sizeof **id);
    x[k] = ref_alloc(3 * n, sizeof **x);
    ck_ok(md_atoms_get((k ? b : a)->atoms, x[k], NULL, NULL, id[k], NULL));
  }
  ck_assert_msg(memcmp(id[0], id[1], (size_t)n * sizeof **id) == 0, "%s: another order", name);
  ck_assert_msg(memcmp(x[0], x[1], (size_t)n * 3 * sizeof **x) == 0, "%s: elsewhere", name);
  run_list one = run_list_read(a->ctx, a->list), two = run_list_read(b->ctx, b->list);
  ck_assert_msg(run_list_equal(&one, &two), "%s: %lld and %lld entries", name,
                (long long)one.view.n_entries, (long long)two.view.n_entries);
  run_list_free(&one);
  run_list_free(&two);
  for (int k = 0; k < 2; k++) {
    free(id[k]);
    free(x[k]);
  }
}

/* Between rebuilds, at one, after one, however rebuilds and sorts fall. */
START_TEST(lists_are_those_of_the_run)
{
  static const int64_t steps[] = {0, 5, 20, 33};
  static const struct {
    const char *words, *settings;
  } cases[] = {{"--cells 5", "system.cells=5"},
               {"--cells 5 --rebuild check", "system.cells=5 neighbor.every=check"},
               {"--cells 5 --sort-every 0 --rebuild 7",
                "system.cells=5 order.sort_every=0 neighbor.every=7"},
               {"--cells 5 --newton off --precision mixed",
                "system.cells=5 neighbor.newton=false device.precision=mixed"}};
  static const char *const lists[] = {"full", "half"};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char settings[256];
    snprintf(settings, sizeof settings, "%s device.backend=cpu neighbor.list=%s order.curve=row",
             cases[c].settings, lists[_i]);
    config *cfg = engines_config(settings);
    engine *sim;
    ck_ok(engine_create(config_get(cfg), &sim));
    locality_run run = begin(cases[c].words, "row", lists[_i], MACHINE_CPU);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      ck_ok(engine_steps(sim, steps[s] - sim->step));
      ck_ok(locality_advance(&run, steps[s]));
      check_same(sim, run.sim, settings);
    }
    ck_assert_int_gt(sim->rebuilds, 1);
    ck_assert_int_lt(sim->rebuilt_at, sim->step);
    locality_close(&run);
    engine_destroy(sim);
    config_destroy(cfg);
  }
}
END_TEST

static const machine small_gpu = {
    .name = "small",
    .kind = MACHINE_GPU,
    .n_levels = 2,
    .level = {{64 * 128, 16, 128, 32, 1, 0, 0}, {96 * 1024, 16, 128, 32, 1, 0, 0}},
    .multiprocessors = 3,
    .warps = 16,
    .blocks = 4,
    .registers = 65536};

static hierarchy_result model(const locality_run *run, const machine *m)
{
  hierarchy_options o = hierarchy_default();
  hierarchy_result cold;
  o.block_size = 64;
  ck_ok(locality_model(run, m, &o, &cold, NULL));
  return cold;
}

/* A list that is held makes the same accesses while atoms move, also one that is translated to a
 * GPU's, whose rows are in the order of the bins of its build. */
START_TEST(rows_stay_while_the_list_does)
{
  static const machine cpu = {.name = "small",
                              .kind = MACHINE_CPU,
                              .n_levels = 1,
                              .level = {{8 * 4096, 8, 64, 64, 1, 0, 0}}};
  const machine *m = _i < 2 ? &small_gpu : &cpu;
  const bool half = _i % 2;
  locality_run run = begin("--cells 5", "hilbert", half ? "half" : "full", m->kind);
  for (int64_t step = 0; step <= 20; step += 20) {
    ck_ok(locality_advance(&run, step));
    const hierarchy_result built = model(&run, m);
    ck_ok(locality_advance(&run, step + 19));
    ck_assert_int_eq(run.sim->rebuilt_at, step);
    const hierarchy_result later = model(&run, m);
    for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
      const hierarchy_counts *a = &built.stream[s], *b = &later.stream[s];
      if (half && m->kind == MACHINE_GPU) { /* which pairs act depends on where atoms are */
        if (s == TRACE_NC) ck_assert(a->sectors == b->sectors && a->lines == b->lines);
      } else {
        ck_assert_msg(memcmp(a, b, sizeof *a) == 0, "stream %s after step %lld",
                      trace_stream_words[s], (long long)step);
      }
    }
  }
  locality_close(&run);
}
END_TEST

/* --- The hits. */

/* The accesses of the run's step, recorded at the addresses that they have in memory. */
static ref_events recorded(const locality_run *run)
{
  const list_input in = locality_input(run->sim);
  trace_writer *writer;
  trace_run *runs;
  int64_t n_runs;
  ref_events all = {0};
  ck_ok(trace_writer_open(traces_path(), &writer));
  ck_ok(list_record(&in, writer));
  ck_ok(trace_writer_close(writer));
  ck_ok(traces_read(1000, &runs, &n_runs));
  for (int64_t r = 0; r < n_runs; r++)
    for (int64_t k = 0; k < runs[r].count; k++)
      ref_event_note(&all, (ref_event){.stream = runs[r].stream,
                                       .op = runs[r].op,
                                       .address = runs[r].address + (uint64_t)(k * runs[r].stride),
                                       .bytes = runs[r].bytes});
  free(runs);
  return all;
}

/* A first level of which a way is a page finds exactly what recorded addresses find. */
static void check_hits(const char *words, const char *order, const char *list)
{
  static const machine_level levels[] = {{32 << 10, 8, 64, 64, 1, 0, 0},
                                         {48 << 10, 12, 64, 64, 1, 0, 0},
                                         {4 << 10, 2, 64, 64, 1, 0, 0}};
  locality_run run = begin(words, order, list, MACHINE_CPU);
  ck_ok(locality_advance(&run, 5));
  ref_events all = recorded(&run);
  for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
    const machine m = {.name = "one", .kind = MACHINE_CPU, .n_levels = 1, .level = {levels[k]}};
    hierarchy_result expected;
    ref_cpu(&all, &m, 1, &expected);
    const hierarchy_result got = model(&run, &m);
    for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
      const hierarchy_counts *a = &got.stream[s], *b = &expected.stream[s];
      ck_assert_msg(a->level[0].sectors == b->level[0].sectors &&
                        a->level[0].hits == b->level[0].hits,
                    "%s, %s, %s, level %zu, stream %s: %lld of %lld hits instead of %lld of %lld",
                    words, order, list, k, trace_stream_words[s], (long long)a->level[0].hits,
                    (long long)a->level[0].sectors, (long long)b->level[0].hits,
                    (long long)b->level[0].sectors);
    }
  }
  free(all.event);
  locality_close(&run);
}

START_TEST(hits_are_those_of_recorded_addresses)
{
  static const char *const orders[] = {"row", "hilbert", "random"};
  for (int o = 0; o < 3; o++)
    for (int half = 0; half < 2; half++) {
      char words[64];
      snprintf(words, sizeof words, "--cells 6 --precision %s", md_precision_words[_i]);
      check_hits(words, orders[o], half ? "half" : "full");
    }
}
END_TEST

/* Arrays of a run start at the same places within pages whatever else the process holds. */
START_TEST(places_follow_from_the_run)
{
  locality_run first = begin("--cells 6", "row", "half", MACHINE_CPU);
  void *other[] = {malloc(100), malloc(10000), malloc(200000)};
  locality_run second = begin("--cells 6", "row", "half", MACHINE_CPU);
  const list_input a = locality_input(first.sim), b = locality_input(second.sim);
  list_kernel one, two;
  ck_ok(list_kernel_of(&a, &one));
  ck_ok(list_kernel_of(&b, &two));
  for (int k = 0; k < LIST_PACKED; k++) {
    ck_assert_uint_ne(one.array[k].base, two.array[k].base);
    ck_assert_uint_eq(one.array[k].base % 4096, two.array[k].base % 4096);
  }
  for (int k = 0; k < 3; k++)
    free(other[k]);
  locality_close(&first);
  locality_close(&second);
}
END_TEST

/* Arrays of 2 MB and more start at a huge page; the others lie page after page. */
START_TEST(arrays_are_packed_in_pages)
{
  enum { HUGE_PAGE = 2 << 20, PAGE = 4096 };
  locality_run run = begin("--cells 13", "row", "full", MACHINE_CPU);
  const list_input in = locality_input(run.sim);
  list_kernel real, packed;
  int huge = 0;
  ck_ok(list_kernel_of(&in, &real));
  packed = real;
  list_kernel_compact(&packed);
  for (int k = 0; k < LIST_PACKED; k++) {
    const uint64_t base = packed.array[k].base;
    const uint64_t before = k ? list_array_end(&packed.array[k - 1]) : HUGE_PAGE;
    const bool starts_one = real.array[k].base % HUGE_PAGE == 0;
    ck_assert(base >= before && base - before < (starts_one ? HUGE_PAGE : 2 * PAGE));
    ck_assert_uint_eq(base % (starts_one ? HUGE_PAGE : PAGE), real.array[k].base % PAGE);
    huge += starts_one;
  }
  ck_assert(huge > 0 && huge < LIST_PACKED);
  locality_close(&run);
}
END_TEST

START_TEST(hits_are_the_same_in_huge_pages)
{
  check_hits("--cells 13", "row", "full");
  check_hits("--cells 13", "row", "half");
}
END_TEST

/* --- The figures of `compare`. */

START_TEST(figures_are_what_they_say)
{
  locality_run run = begin("--cells 5", "row", _i ? "half" : "full", MACHINE_CPU);
  const list_input in = locality_input(run.sim);
  double figure[LOCALITY_FIGURE_COUNT];
  list_figures list;
  machine m;
  ck_ok(locality_of(run.sim, figure));
  ck_ok(list_measure(&in, INT64_MAX, &list));
  ck_assert_double_eq(figure[LOCALITY_SECTORS], list.sectors_per_request);
  ck_assert_double_eq(figure[LOCALITY_LINES], list.lines_per_row);
  if (machine_find("host", &m)) {
    ck_assert(isnan(figure[LOCALITY_L1_HIT]) && isnan(figure[LOCALITY_MEMORY]));
  } else {
    const hierarchy_result r = model(&run, &m);
    const hierarchy_counts *nc = &r.stream[TRACE_NC];
    int64_t read = 0;
    for (int s = 0; s < TRACE_STREAM_COUNT; s++)
      read += r.stream[s].memory_read;
    for (int k = 0; k < 2 && k < m.n_levels; k++)
      ck_assert_double_eq(figure[LOCALITY_L1_HIT + k],
                          (double)nc->level[k].hits / (double)nc->level[k].sectors);
    ck_assert_double_eq_tol(figure[LOCALITY_MEMORY] * (double)run.sim->atoms->n,
                            (double)(read * m.level[0].line), 1e-6);
  }
  locality_close(&run);
}
END_TEST

/* --list tile has no trace; without --list, it is not chosen. */
START_TEST(kernels_that_cannot_be_traced_are_refused)
{
  config *cfg = engines_config("system.cells=4 device.backend=cpu");
  engine_choice choice;
  ck_ok(locality_choose(cfg, &choice));
  ck_assert_int_ne(choice.list, NEIGHBOR_TILE);
  ck_ok(config_set(cfg, "neighbor.list", "tile", "test"));
  ck_assert_int_eq(locality_choose(cfg, &choice), MD_EINVAL);
  config_destroy(cfg);
}
END_TEST

/* The configuration's block size is the kernel's where the model has none; newton is its own. */
START_TEST(the_kernel_is_configured)
{
  const hierarchy_options o = hierarchy_default();
  hierarchy_result with[2];
  for (int off = 0; off < 2; off++) {
    locality_run run = begin(off ? "--cells 4 --block-size 96 --newton off"
                                 : "--cells 4 --block-size 64 --newton on",
                             "row", "half", MACHINE_GPU);
    ck_ok(locality_model(&run, &small_gpu, &o, &with[off], NULL));
    ck_assert_int_eq(with[off].block_size, off ? 96 : 64);
    locality_close(&run);
  }
  /* Without newton a pair across a ghost is in both rows and acts on none. */
  ck_assert_int_lt(with[0].stream[TRACE_NC].lanes, with[1].stream[TRACE_NC].lanes);
  ck_assert_int_gt(with[0].stream[TRACE_FUI].lanes, with[1].stream[TRACE_FUI].lanes);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("locality");
  TCase *tcase = tcase_create("runs");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_loop_test(tcase, lists_are_those_of_the_run, 0, 2);
  tcase_add_loop_test(tcase, rows_stay_while_the_list_does, 0, 4);
  tcase_add_loop_test(tcase, hits_are_those_of_recorded_addresses, 0, MD_PRECISION_COUNT);
  tcase_add_test(tcase, places_follow_from_the_run);
  tcase_add_test(tcase, arrays_are_packed_in_pages);
  tcase_add_test(tcase, hits_are_the_same_in_huge_pages);
  tcase_add_loop_test(tcase, figures_are_what_they_say, 0, 2);
  tcase_add_test(tcase, kernels_that_cannot_be_traced_are_refused);
  tcase_add_test(tcase, the_kernel_is_configured);
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
