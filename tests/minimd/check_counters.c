/* tests/minimd/check_counters.c - the CPU's part of `profile`: counts that were recorded, what is
 * made of them, and what is said where there are none. */
#include "minimd/counters/profile_cpu.h"
#include "tests/drive/files.h"
#include "tests/test.h"

#include <errno.h>

/* As read(2) gave them on a processor with four counters for seven events. */
static const perf_reading recorded[PERF_EVENT_COUNT] = {
    [PERF_CYCLES] = {4000000, 2000000, 2000000},
    [PERF_INSTRUCTIONS] = {9000000, 2000000, 2000000},
    [PERF_L1_LOADS] = {1500000, 2000000, 1000000},
    [PERF_L1_LOAD_MISSES] = {30000, 2000000, 1500000},
    [PERF_LLC_LOADS] = {9000, 2000000, 500000},
    [PERF_LLC_LOAD_MISSES] = {0, 2000000, 500000},
    [PERF_DTLB_LOAD_MISSES] = {77, 2000000, 0},
};

START_TEST(multiplexed_counts_are_scaled)
{
  profile_cpu_figures got;
  profile_cpu_of_perf(recorded, 1000, got);
  ck_assert_double_eq_tol(got[PROFILE_CPU_CYCLES], 4000, 1e-9);
  ck_assert_double_eq_tol(got[PROFILE_CPU_INSTRUCTIONS], 9000, 1e-9);
  ck_assert_double_eq_tol(got[PROFILE_CPU_LOADS], 3000, 1e-9);
  ck_assert_double_eq_tol(got[PROFILE_CPU_L1_LOAD_MISSES], 40, 1e-9);
  ck_assert_double_eq_tol(got[PROFILE_CPU_LLC_LOAD_MISSES], 0, 1e-9);
  ck_assert(isnan(got[PROFILE_CPU_DTLB_LOAD_MISSES])); /* never ran: not 77, not 0 */
  ck_assert(isnan(got[PROFILE_CPU_L1_MISSES]));
}
END_TEST

START_TEST(absence_is_explained)
{
  static const struct {
    int error, paranoid;
    const char *says;
  } cases[] = {{ENOENT, 2, "virtual machines"},
               {EOPNOTSUPP, 1, "virtual machines"},
               {ENOSYS, 99, "no perf_event_open"},
               {EACCES, 3, "perf_event_paranoid is 3"},
               {EPERM, 4, "perf_event_paranoid is 4"},
               {EPERM, 2, "seccomp"},
               {EACCES, 99, "seccomp"},
               {EMFILE, 2, "open files"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char *text = perf_explain(cases[k].error, cases[k].paranoid);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strstr(text, cases[k].says) != NULL, "%d: %s", cases[k].error, text);
    free(text);
  }
}
END_TEST

/* Whatever this machine has: counters that count, or a reason. */
START_TEST(counters_open_or_say_why)
{
  perf_counters counters;
  perf_reading readings[PERF_EVENT_COUNT];
  char *missing;
  ck_ok(perf_open(&counters, &missing));
  if (missing) {
    ck_assert_uint_gt(strlen(missing), 20);
    free(missing);
    return;
  }
  perf_start(&counters);
  volatile double sum = 0;
  for (int k = 0; k < 100000; k++)
    sum += k;
  ck_ok(perf_stop(&counters, readings));
  ck_assert_double_gt(sum, 0);
  if (counters.fd[PERF_INSTRUCTIONS] >= 0)
    ck_assert_double_gt(perf_count(&readings[PERF_INSTRUCTIONS]), 1e5);
  perf_close(&counters);
}
END_TEST

static const char ground[] =
    "desc: D1 cache: 32768 B\ncmd: ./minimd\n"
    "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\n"
    "fl=force/force_cpu.prec.c\nfn=force_cpu_full_double_portable._omp_fn.0\n"
    "10 100 1 1 40 5 2 8 3 1\n12 50 0 0 20\n"
    "fn=force_compute\n9 7 0 0 7 7 7 7 7 7\n"
    "fl=???\nfn=force_cpu_full_double_portable\n3 1 0 0 0 0 0 2 1 1\nsummary: 1 2 3\n";

START_TEST(cachegrind_is_read)
{
  int64_t counts[CACHEGRIND_EVENT_COUNT];
  ck_ok(cachegrind_read(files_text("out", ground), "force_cpu_full_", counts));
  static const int64_t expected[CACHEGRIND_EVENT_COUNT] = {151, 60, 5, 2, 10, 4, 2};
  for (int e = 0; e < CACHEGRIND_EVENT_COUNT; e++)
    ck_assert_int_eq(counts[e], expected[e]);
  profile_cpu_figures got;
  profile_cpu_of_cachegrind(counts, 2, 5, got);
  ck_assert_double_eq_tol(got[PROFILE_CPU_LOADS], 6, 1e-12);
  ck_assert_double_eq_tol(got[PROFILE_CPU_L1_MISSES], 0.9, 1e-12);
  ck_assert_double_eq_tol(got[PROFILE_CPU_L1_LOAD_MISSES], 0.5, 1e-12);
  ck_assert_double_eq_tol(got[PROFILE_CPU_LLC_MISSES], 0.4, 1e-12);
  static const char *const bad[][2] = {
      {"events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw", "event: Ir"},
      {" Dw D1mw DLmw\nfl", " Dw D1mw\nfl"},
      {"12 50 0 0 20", "12 50 x"},
      {"12 50 0 0 20", "12 -50"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    const char *path = files_text("out", files_edit(ground, bad[k][0], bad[k][1]));
    ck_assert_int_eq(cachegrind_read(path, "force_cpu_full_", counts), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), path) != NULL, "%s", md_message());
  }
  ck_assert_int_eq(cachegrind_read(files_path("absent"), "f", counts), MD_EIO);
}
END_TEST

START_TEST(cachegrind_has_two_caches)
{
  const machine m = {.name = "three",
                     .n_levels = 3,
                     .level = {{.bytes = 49152, .ways = 12, .line = 64},
                               {.bytes = 1 << 20, .ways = 16, .line = 64},
                               {.bytes = 11 * 64 * 3000, .ways = 11, .line = 64}}};
  machine got;
  cachegrind_machine(&m, &got);
  ck_assert_int_eq(got.n_levels, 2);
  ck_assert_int_eq(got.level[0].bytes, 49152);                   /* 64 sets */
  ck_assert_int_eq(got.level[1].bytes, (int64_t)11 * 64 * 2048); /* not 3000 */
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("counters");
  TCase *tcase = tcase_create("counters");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_test(tcase, multiplexed_counts_are_scaled);
  tcase_add_test(tcase, absence_is_explained);
  tcase_add_test(tcase, counters_open_or_say_why);
  tcase_add_test(tcase, cachegrind_is_read);
  tcase_add_test(tcase, cachegrind_has_two_caches);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
