/* tests/cachemodel/check_trace_text.c - traces as text; numbers of the lines that accesses
 * touch. */
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/test.h"
#include "tests/drive/traces.h"

#include <stdio.h>

START_TEST(text_is_read)
{
  static const char good[] =
      "# address,size,op\n\n4096,8,r\n0x1fC0,4,w\r\n18446744073709551615,1,r\n"
      "0,2147483647,w \t";
  traces_write((const unsigned char *)good, sizeof good - 1);
  const trace_run runs[] = {{TRACE_OTHER, TRACE_READ, 8, 1, 4096, 0},
                            {TRACE_OTHER, TRACE_WRITE, 4, 1, 0x1fc0, 0},
                            {TRACE_OTHER, TRACE_READ, 1, 1, UINT64_MAX, 0},
                            {TRACE_OTHER, TRACE_WRITE, INT32_MAX, 1, 0, 0}};
  traces_accesses expected = traces_spread(runs, 4);
  traces_check(&expected, 1);
  traces_check(&expected, 100);
  free(expected.access);
  static const char *const bad[] = {"8,8",
                                    "8,8,x",
                                    "8,8,r,1",
                                    "-8,8,r",
                                    "8,-8,r",
                                    "8,0,r",
                                    "8,8, r",
                                    " 8,8,r",
                                    "8.5,8,r",
                                    "0x,8,r",
                                    ",8,r",
                                    "8,,r",
                                    "8,0x8,r",
                                    "8,8,rw",
                                    "8,2147483648,r",
                                    "18446744073709551616,1,r",
                                    "18446744073709551615,2,r",
                                    "eight,8,r"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char text[100];
    snprintf(text, sizeof text, "4096,8,r\n%s\n4096,8,r\n", bad[k]);
    traces_write((const unsigned char *)text, strlen(text));
    traces_refused("line 2");
  }
  traces_write((const unsigned char *)"8,8,r\0\n", 7);
  traces_refused("line 1");
  trace_reader *r;
  ck_assert_int_eq(trace_reader_open("/nonexistent/trace", NULL, &r), MD_EIO);
}
END_TEST

START_TEST(lines_are_numbered_by_first_touch)
{
  enum { N = 60000, ROOM = 7 };
  uint64_t seed = 3, *known = ref_alloc(3 * N, sizeof *known);
  int64_t n_known = 0;
  trace_lines *lines;
  ck_ok(trace_lines_create(48, 1, &lines));
  for (int k = 0; k < N / 100; k++) {
    trace_run run = traces_any(&seed);
    run.address %= 40000;
    run.bytes = 1 + run.bytes % (48 * (ROOM - 1));
    run.stride = run.stride < 0 ? -run.stride : run.stride;
    uint32_t got[ROOM];
    int64_t from = 0, n = 1, at = 0, part = 0;
    /* The slow way: lines of each access, looked up in a list. */
    while (n > 0) {
      ck_ok(trace_lines_of(lines, &run, &from, ROOM, got, &n));
      for (int64_t g = 0; g < n; g++) {
        const uint64_t address = run.address + (uint64_t)(run.stride * at);
        const uint64_t line = address / 48 + (uint64_t)part;
        int64_t number = 0;
        while (number < n_known && known[number] != line)
          number++;
        if (number == n_known) known[n_known++] = line;
        ck_assert_uint_eq(got[g], (uint64_t)number);
        part++;
        if (address / 48 + (uint64_t)part > (address + (uint64_t)run.bytes - 1) / 48)
          at++, part = 0;
      }
      ck_assert_int_eq(part, 0);
    }
    ck_assert_int_eq(at, run.count);
  }
  const trace_run wide = {TRACE_AC, TRACE_READ, 48 * ROOM + 1, 1, 0, 0};
  uint32_t got[ROOM];
  int64_t from = 0, n;
  ck_assert_int_eq(trace_lines_of(lines, &wide, &from, ROOM, got, &n), MD_ECAPACITY);
  trace_lines_destroy(lines);
  ck_assert_int_eq(trace_lines_create(0, 1, &lines), MD_EINVAL);
  free(known);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("trace_text");
  TCase *tcase = tcase_create("files");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_test(tcase, text_is_read);
  tcase_add_test(tcase, lines_are_numbered_by_first_touch);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
