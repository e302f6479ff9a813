/* tests/core/check_output.c - files that are written and read: complete or absent, marks, lines,
 * JSON. */
#include "core/crc.h"
#include "core/output/files.h"
#include "core/output/output.h"
#include "core/output/quote.h"
#include "core/parse/parse.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a killed process left is used again, not in use by two, and not followed elsewhere. */
static void check_temporary(const char *path)
{
  char left[64], line[16] = "";
  md_output out, other;
  snprintf(left, sizeof left, "%s.tmp", path);
  FILE *file = fopen(left, "w");
  fputs("left by a killed process\n", file);
  fclose(file);
  ck_ok(md_output_open(path, &out));
  ck_assert_int_eq(md_output_open(path, &other), MD_EIO);
  ck_assert_ptr_nonnull(strstr(md_message(), "another process"));
  fputs("short\n", out.stream);
  ck_ok(md_output_close(&out));
  ck_assert_int_ne(access(left, F_OK), 0);
  file = fopen(path, "r");
  ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
  ck_assert_str_eq(line, "short\n");
  ck_assert_ptr_null(fgets(line, sizeof line, file));
  fclose(file);
  ck_assert_int_eq(symlink("/dev/null", left), 0);
  ck_assert_int_eq(md_output_open(path, &out), MD_EIO);
  unlink(left);
}

/* A file that may not grow: what was there stays, and nothing beside it. */
static void check_full(const char *path)
{
  char left[64], line[16] = "";
  struct rlimit limit;
  md_output out;
  snprintf(left, sizeof left, "%s.tmp", path);
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit small = {4096, limit.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  ck_ok(md_output_open(path, &out));
  for (int k = 0; k < 5000; k++)
    fputs("too much\n", out.stream);
  const md_status status = md_output_close(&out);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  ck_assert_int_eq(status, MD_EIO);
  ck_assert_ptr_nonnull(strstr(md_message(), "File too large"));
  ck_assert_int_ne(access(left, F_OK), 0);
  FILE *file = fopen(path, "r");
  ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
  ck_assert_str_eq(line, "short\n");
  fclose(file);
}

START_TEST(output_is_complete_or_absent)
{
  char path[] = "/tmp/minimd-output-XXXXXX";
  close(mkstemp(path));
  FILE *old = fopen(path, "w");
  fputs("old\n", old);
  fclose(old);
  md_output out;
  ck_ok(md_output_open(path, &out));
  fputs("new\n", out.stream);
  char line[16] = "";
  FILE *now = fopen(path, "r");
  ck_assert_ptr_nonnull(fgets(line, sizeof line, now));
  fclose(now);
  ck_assert_str_eq(line, "old\n");
  md_output_discard(&out);
  ck_ok(md_output_open(path, &out));
  fputs("new\n", out.stream);
  ck_ok(md_output_close(&out));
  now = fopen(path, "r");
  ck_assert_ptr_nonnull(fgets(line, sizeof line, now));
  fclose(now);
  ck_assert_str_eq(line, "new\n");
  check_temporary(path);
  check_full(path);
  unlink(path);
  ck_assert_int_eq(md_output_open("/nonexistent/x", &out), MD_EIO);
  ck_assert_ptr_nonnull(strstr(md_message(), "/nonexistent/x"));
  ck_ok(md_output_open("/dev/full", &out));
  fputs("lost\n", out.stream);
  ck_assert_int_eq(md_output_close(&out), MD_EIO);
}
END_TEST

START_TEST(lines_are_text_and_bounded)
{
  static const char text[] = "one\r\n\ntwo words\nlast", binary[] = "good\nb\0d\n";
  static const char *const lines[] = {"one", "", "two words", "last"};
  char *line = NULL, *long_text = malloc(MD_LINE_MOST + 2);
  size_t room = 0;
  bool got;
  FILE *file = fmemopen((void *)text, sizeof text - 1, "r");
  for (int k = 0; k < 4; k++) {
    ck_ok(md_line_read(file, &line, &room, &got));
    ck_assert(got);
    ck_assert_str_eq(line, lines[k]);
  }
  ck_ok(md_line_read(file, &line, &room, &got));
  ck_assert(!got);
  fclose(file);
  file = fmemopen((void *)binary, sizeof binary - 1, "r");
  ck_ok(md_line_read(file, &line, &room, &got));
  ck_assert_int_eq(md_line_read(file, &line, &room, &got), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "binary"));
  fclose(file);
  memset(long_text, 'x', MD_LINE_MOST + 1);
  for (int extra = 0; extra < 2; extra++) {
    file = fmemopen(long_text, (size_t)MD_LINE_MOST + (size_t)extra, "r");
    ck_assert_int_eq(md_line_read(file, &line, &room, &got), extra ? MD_EINVAL : MD_OK);
    ck_assert(extra || (got && strlen(line) == MD_LINE_MOST));
    fclose(file);
  }
  free(long_text);
  free(line);
}
END_TEST

/* Sums of the tail around its length, beside the table's over the whole file in memory; a byte that
 * changes is seen in the tail and nowhere else, and nothing is cut then. */
START_TEST(a_mark_knows_its_file)
{
  static const int64_t sizes[] = {
      0, 1, 195, 196, 5000, MD_FILE_TAIL - 1, MD_FILE_TAIL, MD_FILE_TAIL + 1, 200000};
  const int64_t head = _i ? 196 : 0;
  char path[] = "/tmp/minimd-mark-XXXXXX";
  close(mkstemp(path));
  char *data = malloc(200000);
  for (int64_t k = 0; k < 200000; k++)
    data[k] = (char)(k * k % 251);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t n = sizes[s];
    int64_t from = n - MD_FILE_TAIL > head ? n - MD_FILE_TAIL : head;
    if (from > n) from = n;
    FILE *file, *again;
    md_file_mark mark;
    ck_ok(md_file_begin(path, &file));
    ck_assert_uint_eq(fwrite(data, 1, (size_t)n, file), n);
    ck_ok(md_file_take_mark(file, path, head, &mark));
    ck_assert_int_eq(mark.bytes, n);
    ck_assert_int_eq(mark.crc, md_crc32c_table(0, data + from, (size_t)(n - from)));
    fputs("behind", file);
    ck_assert_int_eq(fflush(file), 0);
    ck_assert_int_eq(md_file_continue(path, head, &mark, &again), MD_EIO); /* it is locked */
    for (int64_t at = 0; at < n; at += 1 + n / 7) {
      const char other = (char)(data[at] ^ 1);
      ck_assert_int_eq(pwrite(fileno(file), &other, 1, at), 1);
      fclose(file);
      const md_status status = md_file_continue(path, head, &mark, &again);
      ck_assert_int_eq(status, at >= from ? MD_EIO : MD_OK);
      file = again ? again : fopen(path, "r+");
      fseek(file, 0, SEEK_END);
      ck_assert_int_eq(ftell(file), at >= from ? n + 6 : n);
      ck_assert_int_eq(pwrite(fileno(file), &data[at], 1, at), 1);
      if (again) fputs("behind", file);
      fflush(file);
    }
    fclose(file);
    ck_ok(md_file_continue(path, head, &mark, &file));
    ck_assert_int_eq(ftello(file), n);
    fclose(file);
  }
  free(data);
  unlink(path);
}
END_TEST

START_TEST(json_is_valid)
{
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  md_json json;
  md_json_begin(&json, stream);
  md_json_integer(&json, "schema", 1);
  md_json_open(&json, "list", '[');
  md_json_number(&json, NULL, 0.1);
  md_json_number(&json, NULL, NAN);
  md_json_close(&json, ']');
  md_json_open(&json, "empty", '{');
  md_json_close(&json, '}');
  md_json_string(&json, "text", "a\"b\\c\n\x1f");
  md_json_bool(&json, "yes", true);
  md_json_end(&json);
  fclose(stream);
  ck_assert_str_eq(
      text, "{\n  \"schema\": 1,\n  \"list\": [\n    0.10000000000000001,\n    null\n  ],\n"
            "  \"empty\": {},\n  \"text\": \"a\\\"b\\\\c\\u000a\\u001f\",\n  \"yes\": true\n}\n");
  free(text);
}
END_TEST

/* The text as a JSON string. */
static void check_quoted(const char *text, const char *expected)
{
  char *got = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&got, &size);
  md_quote_json(stream, text);
  fclose(stream);
  ck_assert_str_eq(got, expected);
  free(got);
}

/* The first and the last character of each length, beside what UTF-8 forbids: longer forms of what
 * is shorter, surrogates, what is beyond U+10FFFF, characters cut short. */
START_TEST(json_strings_are_utf8)
{
  static const char *const good[] = {"\xc2\x80",         "\xdf\xbf",        "\xe0\xa0\x80",
                                     "\xed\x9f\xbf",     "\xee\x80\x80",    "\xef\xbf\xbf",
                                     "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  static const char *const bad[] = {"\x80",
                                    "\xc1\xbf",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xe2\x82",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xf0\x90\x80",
                                    "\xc2"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    char quoted[16];
    snprintf(quoted, sizeof quoted, "\"%s\"", good[k]);
    check_quoted(good[k], quoted);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char expected[64] = "\"";
    for (size_t c = 0; c < strlen(bad[k]); c++) /* a byte at a time */
      strcat(expected, "\\ufffd");
    strcat(expected, "\"");
    check_quoted(bad[k], expected);
  }
  check_quoted("a\xffz\x7f", "\"a\\ufffdz\\u007f\"");
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("output");
  TCase *tc = tcase_create("output");
  tcase_add_test(tc, output_is_complete_or_absent);
  tcase_add_loop_test(tc, a_mark_knows_its_file, 0, 2);
  tcase_add_test(tc, json_is_valid);
  tcase_add_test(tc, json_strings_are_utf8);
  tcase_add_test(tc, lines_are_text_and_bounded);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
