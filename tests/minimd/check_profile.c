/* tests/minimd/check_profile.c - what profilers print: tables of every form, cut off or changed,
 * and the quantities that follow from metrics and from counts of the model.  The fixtures below
 * tests/profile are of an NVIDIA H200; expected values were read off them by hand. */
#include "minimd/locality/profile_figures.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <stdio.h>

/* A fixture; free it. */
static char *fixture(const char *name)
{
  char path[256];
  snprintf(path, sizeof path, "tests/profile/%s", name);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file, "cannot open %s", path);
  char *text = calloc(1, 1 << 16);
  ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
  fclose(file);
  return text;
}

static void same(double got, double expected)
{
  ck_assert_msg(fabs(got - expected) <= 1e-12 * fabs(expected), "%.17g is not %.17g", got,
                expected);
}

START_TEST(a_launch_a_line)
{
  static const char *const names[] = {"gpu__time_duration.sum",
                                      "no__such_metric.sum",
                                      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                      "dram__bytes_write.sum",
                                      "launch__shared_mem_config_size",
                                      "device__attribute_display_name"};
  static const double expected[3][6] = {{31936, NAN, 17805060, 4096, 32768, NAN},
                                        {31776, NAN, 17805060, 3840, 32768, NAN},
                                        {31872, NAN, 17805060, 8448, 32768, NAN}};
  char *text = fixture("ncu-full-warm.csv");
  profile_values got;
  ck_ok(profile_csv_read(text, names, 6, &got));
  ck_assert_int_eq(got.launches, 3);
  for (int k = 0; k < 3; k++)
    for (int m = 0; m < 6; m++)
      if (isnan(expected[k][m]))
        ck_assert(isnan(got.value[6 * k + m]));
      else
        same(got.value[6 * k + m], expected[k][m]);
  profile_values_free(&got);
  free(text);
}
END_TEST

START_TEST(a_metric_a_line)
{
  static const char *const names[] = {"smsp__warps_eligible.sum", "dram__bytes_read.sum"};
  char *text = fixture("ncu-by-metric.csv");
  profile_values got;
  ck_ok(profile_csv_read(text, names, 2, &got));
  ck_assert_int_eq(got.launches, 1);
  same(got.value[0], 17733593);
  same(got.value[1], 45754112);
  profile_values_free(&got);
  free(text);
}
END_TEST

/* Scaled units, separators, values that are no numbers, names with commas, quotes and line ends,
 * and talk in between; with line ends of either kind. */
START_TEST(units_and_talk)
{
  static const char *const names[] = {"dram__bytes_read.sum",       "dram__bytes_write.sum",
                                      "gpu__time_duration.sum",     "sm__cycles_active.sum",
                                      "lts__t_sector_hit_rate.pct", "smsp__warps_active.sum"};
  static const double expected[2][6] = {{45.51e6, 4.10e3, 31940, 6789543, 29.55, NAN},
                                        {1.5e9, NAN, 1031.25e6, NAN, NAN, NAN}};
  char *text = fixture("ncu-scaled.csv"), *dos = calloc(2, strlen(text) + 1), *to = dos;
  for (const char *c = text; *c; c++) {
    if (*c == '\n') *to++ = '\r';
    *to++ = *c;
  }
  const char *const forms[] = {text, dos};
  for (int f = 0; f < 2; f++) {
    profile_values got;
    ck_ok(profile_csv_read(forms[f], names, 6, &got));
    ck_assert_int_eq(got.launches, 2);
    for (int k = 0; k < 12; k++)
      if (isnan(expected[k / 6][k % 6]))
        ck_assert(isnan(got.value[k]));
      else
        same(got.value[k], expected[k / 6][k % 6]);
    profile_values_free(&got);
  }
  free(text);
  free(dos);
}
END_TEST

START_TEST(a_summary)
{
  static const char *const names[] = {"tex_cache_hit_rate", "dram_read_bytes",
                                      "achieved_occupancy"};
  char *text = fixture("nvprof.csv");
  profile_values got;
  ck_ok(profile_csv_read(text, names, 3, &got));
  ck_assert_int_eq(got.launches, 1);
  same(got.value[0], 57.15);
  same(got.value[1], 45514880);
  same(got.value[2], 0.582417);
  profile_values_free(&got);
  free(text);
}
END_TEST

/* Wherever the table is cut off inside a line, that is an error; between lines, launches are
 * missing. */
START_TEST(cut_off_tables_are_refused)
{
  static const char *const names[] = {"gpu__time_duration.sum"};
  static const char *const nothing[] = {"", "\n", "==PROF== Connected\n",
                                        "\"a\",\"b\"\n\"1\",\"2\"\n",
                                        "==WARNING== No kernels were profiled.\n"};
  profile_values got;
  for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++)
    ck_assert_int_eq(profile_csv_read(nothing[k], names, 1, &got), MD_EIO);
  char *text = fixture("ncu-half-cold.csv");
  const size_t header = (size_t)(strstr(text, "\"ID\"") - text);
  for (size_t end = strlen(text) - 1; end > header; end--) {
    text[end] = '\0';
    const md_status status = profile_csv_read(text, names, 1, &got);
    const bool whole = text[end - 1] == '\n';
    ck_assert_msg(status == (whole ? MD_OK : MD_EIO), "cut off at %zu: status %d", end,
                  (int)status);
    if (!status) ck_assert_int_lt(got.launches, 3);
    if (!status) profile_values_free(&got);
  }
  free(text);
}
END_TEST

START_TEST(changed_tables_are_survived)
{
  static const char *const fixtures[] = {"ncu-half-warm.csv", "ncu-scaled.csv", "nvprof.csv"};
  static const char *const names[] = {"gpu__time_duration.sum", "dram__bytes_read.sum"};
  for (size_t f = 0; f < sizeof fixtures / sizeof *fixtures; f++) {
    char *text = fixture(fixtures[f]);
    for (unsigned seed = 0; seed < 2000; seed++) {
      char *changed = files_mutate(text, seed);
      profile_values got;
      if (!profile_csv_read(changed, names, 2, &got)) profile_values_free(&got);
      free(changed);
    }
    free(text);
  }
}
END_TEST

/* Every counter that the study is about is asked for. */
START_TEST(all_metrics_are_asked_for)
{
  FILE *file = fopen("tests/oracle/ncu_metrics_sm90.txt", "r");
  profile_metrics metrics;
  char name[256];
  int n = 0;
  ck_assert(file);
  ck_ok(profile_metrics_of(PROFILE_NCU, &metrics));
  for (; fscanf(file, "%255s", name) == 1; n++)
    ck_assert_msg(md_word_index(name, (const char *const *)metrics.name, metrics.n) >= 0,
                  "%s is not used", name);
  ck_assert_int_eq(n, 32);
  ck_assert_int_lt(metrics.n, 40);
  fclose(file);
  profile_metrics_free(&metrics);
}
END_TEST

static const profile_quantity *find(const char *name)
{
  const profile_quantity *all;
  const int n = profile_quantities(&all);
  for (int q = 0; q < n; q++)
    if (strcmp(all[q].name, name) == 0) return &all[q];
  ck_abort_msg("no quantity %s", name);
  return NULL;
}

typedef struct {
  const char *name;
  double value;
} expectation;

static void measures(const char *file, profile_tool tool, int64_t launches, const expectation *list,
                     size_t n)
{
  char *text = fixture(file);
  profile_metrics metrics;
  profile_values values;
  ck_ok(profile_metrics_of(tool, &metrics));
  ck_ok(profile_csv_read(text, (const char *const *)metrics.name, metrics.n, &values));
  for (size_t k = 0; k < n; k++) {
    const profile_measured got =
        profile_measure(find(list[k].name), tool, &metrics, &values, 0, launches, 131072);
    if (isnan(list[k].value))
      ck_assert_msg(isnan(got.median), "%s is %g", list[k].name, got.median);
    else
      ck_assert_msg(fabs(got.median - list[k].value) < 1e-9 * list[k].value,
                    "%s: %s is %.12g, not %.12g", file, list[k].name, got.median, list[k].value);
  }
  profile_values_free(&values);
  profile_metrics_free(&metrics);
  free(text);
}

/* Over launches: the median, and how far apart they are in percent of it. */
START_TEST(launches_have_a_median_and_a_spread)
{
  char *names[] = {"gpu__time_duration.sum"};
  double ns[] = {9, 3000, 1000, 2000, 2500, 9}; /* those at the ends do not belong to it */
  const profile_metrics metrics = {names, 1};
  const profile_values values = {.value = ns, .n = 1};
  const profile_measured got =
      profile_measure(find("time_us"), PROFILE_NCU, &metrics, &values, 1, 4, 1);
  ck_assert_double_eq_tol(got.median, 2.25, 1e-12);
  ck_assert_double_eq_tol(got.spread, 100 * 2 / 2.25, 1e-12);
}
END_TEST

START_TEST(quantities_follow_from_metrics)
{
  static const expectation full[] = {
      {"cycles", 6789543},
      {"time_us", 31.872},
      {"eligible_percent", 100.0 * 17540328 / 190760145},
      {"occupancy_percent", 100.0 / 64 * 190760145 / 6789543},
      {"shared_memory_bytes", 32768},
      {"memory_dependency_percent", 100 * 71.82 / (71.82 + 2.89 + 10.11 + .58 + .53 + 3.83)},
      {"execution_dependency_percent",
       100 * (10.38 + .59) / (73.91 + 2.93 + 10.38 + .59 + .55 + 3.92)},
      {"warp_execution_efficiency_percent", 100},
      {"branch_efficiency_percent", 100},
      {"requests_per_atom", (983040 + 8192) / 131072.0},
      {"sectors_per_atom", (17805060 + 262144) / 131072.0},
      {"load_sectors_per_request", 17805060 / 983040.0},
      {"store_sectors_per_request", 32},
      {"reduction_sectors_per_request", NAN},
      {"load_lines_per_request", NAN}, /* not counted then */
      {"AC_sectors_per_request", NAN},
      {"l1_hit_percent", 100 * 15802975 / 17805060.0},
      {"l2_hit_percent", 29.53},
      {"memory_read_bytes_per_atom", 45507328 / 131072.0},
  };
  static const expectation half[] = {
      {"reduction_requests_per_atom", 703502 / 131072.0},
      {"l2_read_hit_percent", 100 * 461302 / 1313299.0},
      {"store_sectors_per_request", NAN},
  };
  static const expectation old[] = {
      {"occupancy_percent", 58.2417},
      {"l1_hit_percent", 57.15},
      {"load_sectors_per_request", 18.021},
      {"memory_read_bytes_per_atom", 45514880 / 131072.0},
      {"time_us", NAN},
      {"cycles", NAN},
  };
  measures("ncu-full-warm.csv", PROFILE_NCU, 3, full, sizeof full / sizeof *full);
  measures("ncu-half-cold.csv", PROFILE_NCU, 3, half, 1);
  measures("ncu-half-cold.csv", PROFILE_NCU, 1, half + 1, 2);
  measures("nvprof.csv", PROFILE_NVPROF, 1, old, sizeof old / sizeof *old);
}
END_TEST

/* 1000 atoms in 40 warps of which each stream made some requests. */
static hierarchy_result made_up(void)
{
  hierarchy_result r = {.rows = 1000, .resident_warps = 24};
  r.stream[TRACE_AC] = (hierarchy_counts){.requests = 100,
                                          .lanes = 3000,
                                          .lines = 300,
                                          .sectors = 1200,
                                          .level[0] = {1200, 200},
                                          .level[1] = {1000, 100},
                                          .memory_read = 800};
  r.stream[TRACE_NC] = (hierarchy_counts){.requests = 300,
                                          .lanes = 9000,
                                          .lines = 1500,
                                          .sectors = 6000,
                                          .level[0] = {6000, 5000},
                                          .level[1] = {1000, 500},
                                          .memory_read = 200};
  r.stream[TRACE_FUO] = (hierarchy_counts){.requests = 40,
                                           .lanes = 1000,
                                           .lines = 320,
                                           .sectors = 1280,
                                           .level[1] = {1280, 640},
                                           .memory_read = 320,
                                           .memory_written = 500};
  return r;
}

static void predicts(neighbor_kind kind, const expectation *list, size_t n)
{
  machine m;
  const hierarchy_result caches = made_up();
  const profile_model model = {&m, kind, MD_DOUBLE, &caches};
  ck_ok(machine_find("h200", &m));
  for (size_t k = 0; k < n; k++) {
    const double got = profile_predict(find(list[k].name), &model);
    if (isnan(list[k].value))
      ck_assert_msg(isnan(got), "%s is %g", list[k].name, got);
    else
      ck_assert_msg(fabs(got - list[k].value) < 1e-12 * list[k].value, "%s is %.17g, not %.17g",
                    list[k].name, got, list[k].value);
  }
}

START_TEST(quantities_follow_from_the_model)
{
  static const expectation full[] = {
      {"occupancy_percent", 37.5},
      {"warp_execution_efficiency_percent", 100 * 12000 / (400 * 32.0)},
      {"requests_per_atom", .44},
      {"sectors_per_atom", 8.48},
      {"load_requests_per_atom", .4},
      {"load_sectors_per_request", 18},
      {"load_lines_per_request", 4.5},
      {"store_requests_per_atom", .04},
      {"store_sectors_per_request", 32},
      {"reduction_requests_per_atom", NAN},
      {"AC_sectors_per_request", 12},
      {"NC_sectors_per_request", 20},
      {"FUO_sectors_per_request", 32},
      {"FUI_sectors_per_request", NAN},
      {"l1_hit_percent", 100 * 5200 / 7200.0},
      {"l2_read_hit_percent", 30},
      {"l2_write_hit_percent", 75},
      {"l1_l2_read_sectors_per_atom", 2},
      {"memory_read_bytes_per_atom", 32 * 1.32},
      {"memory_written_bytes_per_atom", 16},
      {"time_us", NAN},
      {"eligible_percent", NAN},
  };
  static const expectation half[] = {
      {"store_requests_per_atom", NAN},      {"reduction_requests_per_atom", .04},
      {"reduction_sectors_per_request", 32}, {"l2_write_hit_percent", NAN},
      {"load_sectors_per_request", 18},
  };
  predicts(NEIGHBOR_FULL, full, sizeof full / sizeof *full);
  predicts(NEIGHBOR_HALF, half, sizeof half / sizeof *half);
}
END_TEST

/* The slowest of L1, L2 and memory, by hand. */
START_TEST(cycles_follow_the_slowest)
{
  machine m;
  hierarchy_result r = made_up();
  profile_model model = {&m, NEIGHBOR_FULL, MD_DOUBLE, &r};
  ck_ok(machine_find("h200", &m));
  const double begun = 132 * 4300.;
  const profile_quantity *q = find("cycles");
  ck_assert_double_eq_tol(profile_predict(q, &model), 2.9 * 1320 + 6.5 * 500 + begun, 1e-6);
  r.stream[TRACE_FUO].memory_written = 0; /* loads bring 2000 sectors to the L1, 1280 are stored */
  ck_assert_double_eq_tol(profile_predict(q, &model), 1.4 * 3280 + begun, 1e-6);
  model.kind = NEIGHBOR_HALF; /* the same 1280 are reduced */
  ck_assert_double_eq_tol(profile_predict(q, &model), 1.4 * 2000 + .88 * 4 * 1280 + begun, 1e-6);
  model.precision = MD_MIXED;
  ck_assert_double_eq_tol(profile_predict(q, &model), 1.4 * 2000 + .88 * 3 * 1280 + begun, 1e-6);
  r.stream[TRACE_NC].sectors = 26000; /* 27200 looked up */
  ck_assert_double_eq_tol(profile_predict(q, &model), .33 * 27200 + .5 * 2000 + begun, 1e-6);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("profile");
  TCase *tcase = tcase_create("tables");
  tcase_add_test(tcase, a_launch_a_line);
  tcase_add_test(tcase, a_metric_a_line);
  tcase_add_test(tcase, units_and_talk);
  tcase_add_test(tcase, a_summary);
  tcase_add_test(tcase, cut_off_tables_are_refused);
  tcase_add_test(tcase, changed_tables_are_survived);
  tcase_add_test(tcase, all_metrics_are_asked_for);
  tcase_add_test(tcase, launches_have_a_median_and_a_spread);
  tcase_add_test(tcase, quantities_follow_from_metrics);
  tcase_add_test(tcase, quantities_follow_from_the_model);
  tcase_add_test(tcase, cycles_follow_the_slowest);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
