/* tests/core/check_parse.c - numbers, words and lists from text. */
#include "core/parse/parse.h"
#include "tests/test.h"

#include <inttypes.h>

START_TEST(doubles)
{
  static const struct {
    const char *text;
    double value;
  } good[] = {{"0", 0},       {"-0.25", -0.25}, {"+3", 3},
              {".5", 0.5},    {"1e-3", 1e-3},   {"7.", 7},
              {"1E+5", 1e5},  {"1e308", 1e308}, {"2.2250738585072014e-308", 0x1p-1022},
              {"-1e0", -1.0}, {"0e999999", 0}};
  static const char *const bad[] = {"",       " 1",     "1 ",  "nan",      "inf", "-inf",  "0x10",
                                    "1d3",    "1,5",    "--1", "1e",       "e5",  "1.2.3", "1e400",
                                    "-1e400", "1e-400", "1_0", "infinity", "."};
  double value;
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    ck_ok(md_parse_double(good[k].text, &value));
    ck_assert_msg(value == good[k].value, "%s: %.17g", good[k].text, value);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    value = 7;
    ck_assert_msg(md_parse_double(bad[k], &value) == MD_EINVAL, "'%s' is %g", bad[k], value);
    ck_assert(value == 7 && strstr(md_message(), bad[k]) && strstr(md_message(), "expected"));
  }
}
END_TEST

START_TEST(integers)
{
  static const char *const bad[] = {"",
                                    "-",
                                    "+",
                                    "1.0",
                                    "1e3",
                                    " 1",
                                    "1 ",
                                    "0x1",
                                    "9x",
                                    "9223372036854775808",
                                    "-9223372036854775809"};
  int64_t value;
  ck_ok(md_parse_int64("-7", -7, 900, &value));
  ck_assert_int_eq(value, -7);
  ck_ok(md_parse_int64("+900", -7, 900, &value));
  ck_assert_int_eq(value, 900);
  ck_ok(md_parse_int64("9223372036854775807", INT64_MIN, INT64_MAX, &value));
  ck_assert(value == INT64_MAX);
  ck_ok(md_parse_int64("-9223372036854775808", INT64_MIN, INT64_MAX, &value));
  ck_assert(value == INT64_MIN);
  value = 5;
  ck_assert_int_eq(md_parse_int64("-8", -7, 900, &value), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "an integer in -7..900, not '-8'"));
  ck_assert_int_eq(md_parse_int64("901", -7, 900, &value), MD_EINVAL);
  ck_assert_int_eq(md_parse_int64("0", 1, INT64_MAX, &value), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "an integer >= 1"));
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_int_eq(md_parse_int64(bad[k], INT64_MIN, INT64_MAX, &value), MD_EINVAL);
  ck_assert_int_eq(value, 5);
}
END_TEST

START_TEST(seeds)
{
  static const char *const bad[] = {"-1", "-0", "", "18446744073709551616", "1.0", "x"};
  uint64_t value = 3;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_int_eq(md_parse_uint64(bad[k], &value), MD_EINVAL);
  ck_assert(value == 3);
  ck_ok(md_parse_uint64("18446744073709551615", &value));
  ck_assert(value == UINT64_MAX);
}
END_TEST

/* The nearest word within a third of its letters, rounded up; the first of equals. */
START_TEST(nearest_words)
{
  static const char *const words[] = {"hilbert", "morton", "row", "column", "rows"};
  static const struct {
    const char *text, *nearest;
  } table[] = {{"hilbrt", "hilbert"},
               {"hilbxxt", "hilbert"},
               {"hxlbxrx", "hilbert"},
               {"hxxbxrx", NULL},
               {"hxxbxxt", NULL},
               {"mortno", "morton"},
               {"ro", "row"},
               {"rox", "row"},
               {"rxx", NULL},
               {"rowx", "row"},
               {"rws", "rows"},
               {"col", "column"},
               {"c", NULL},
               {"zzzzzz", NULL},
               {"orton", "morton"},
               {"morrton", "morton"},
               {"hi", "hilbert"},
               {"xhilbertx", "hilbert"},
               {"", NULL}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    const char *near = md_nearest(table[k].text, words, 5);
    ck_assert_msg(near == table[k].nearest ||
                      (near && table[k].nearest && strcmp(near, table[k].nearest) == 0),
                  "'%s': %s", table[k].text, near ? near : "none");
  }
  int word = 9;
  ck_ok(md_parse_word("row", words, 5, &word));
  ck_assert_int_eq(word, 2);
  ck_assert_int_eq(md_parse_word("Row", words, 5, &word), MD_EINVAL);
  ck_assert_str_eq(md_message(), "expected one of hilbert, morton, row, column, rows, not 'Row'; "
                                 "did you mean 'row'?");
  ck_assert_int_eq(word, 2);
}
END_TEST

START_TEST(lists)
{
  static const char *const bad[] = {"", ",", "a,", ",a", "a,,b"};
  char **items;
  int n;
  ck_ok(md_parse_list("one", "words", &items, &n));
  ck_assert(n == 1 && strcmp(items[0], "one") == 0);
  free(items);
  ck_ok(md_parse_list("a,bc, d", "words", &items, &n));
  ck_assert(n == 3 && strcmp(items[0], "a") == 0 && strcmp(items[1], "bc") == 0 &&
            strcmp(items[2], " d") == 0);
  free(items);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    ck_assert_int_eq(md_parse_list(bad[k], "words", &items, &n), MD_EINVAL);
    ck_assert_ptr_nonnull(strstr(md_message(), "expected words separated by commas"));
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("parse");
  TCase *tc = tcase_create("parse");
  tcase_add_test(tc, doubles);
  tcase_add_test(tc, integers);
  tcase_add_test(tc, seeds);
  tcase_add_test(tc, nearest_words);
  tcase_add_test(tc, lists);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
