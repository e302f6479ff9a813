/* tests/cachemodel/check_trace_formats.c - traces of other programs: what each line says, how a
 * kind is recognised, what is refused; files compressed by gzip. */
#include "tests/drive/files.h"
#include "tests/test.h"

#include "cachemodel/trace/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All accesses of a file as text, "r 10 8;w ff 1;" with hexadecimal addresses; or the message. */
static md_status read_all(const char *path, const trace_how *how, trace_format *found, char *text,
                          size_t size)
{
  trace_reader *r;
  trace_run runs[3];
  int64_t n = 1;
  size_t used = 0;
  text[0] = '\0';
  md_status status = trace_reader_open(path, how, &r);
  while (!status && n > 0) {
    status = trace_read(r, 3, runs, &n);
    for (int64_t k = 0; !status && k < n; k++) {
      ck_assert_int_eq(runs[k].count, 1);
      ck_assert_int_eq(runs[k].stream, TRACE_OTHER);
      used += (size_t)snprintf(text + used, size - used, "%c %llx %d;",
                               runs[k].op == TRACE_READ ? 'r' : 'w',
                               (unsigned long long)runs[k].address, runs[k].bytes);
    }
  }
  if (r) *found = trace_reader_format(r);
  trace_reader_close(r);
  return status;
}

static const struct {
  const char *text;
  trace_format format; /* that is found */
  const char *accesses, *with_instructions;
} good[] = {
    {"0x10,8,r\n16,4,w\n", TRACE_FORMAT_TEXT, "r 10 8;w 10 4;", NULL},
    {"R 0x7fff10 8\nw 256\n0x20 W 4\n32 r\n", TRACE_FORMAT_TEXT,
     "r 7fff10 8;w 100 1;w 20 4;r 20 1;", NULL},
    {"0x401000: R 0x7f00\n0x401004: W 0x7f08 8\n#eof\n", TRACE_FORMAT_TEXT, "r 7f00 1;w 7f08 8;",
     NULL},
    {"Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>\n"
     "0x00007ffc10:  8, w\n0x00007f1200:  3, mov\n0x00007ffc18:  4, r\n",
     TRACE_FORMAT_TEXT, "w 7ffc10 8;r 7ffc18 4;", "w 7ffc10 8;r 7f1200 3;r 7ffc18 4;"},
    {"Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n"
     "---------------------------------\n"
     "   1   0:   12 <marker: version 3>\n"
     "   2   1:   12 ifetch       3 byte(s) @ 0x00007f10 48 89 e7   mov    %rsp -> %rdi\n"
     "   3   1:   12 write        8 byte(s) @ 0x00007fc8 by PC 0x00007f13\n"
     "   4   1:   12 read         4 byte(s) @ 0x00007fd0 by PC 0x00007f13\n"
     "   5   1:   12 prefetcht0   0 byte(s) @ 0x00007fd0 by PC 0x00007f13\n"
     "View tool results:\n              5 : total instructions\n",
     TRACE_FORMAT_TEXT, "w 7fc8 8;r 7fd0 4;", "r 7f10 3;w 7fc8 8;r 7fd0 4;"},
    {"==12== Lackey, an example\n==12== \nI  04016d10,3\n L 1ffefff000,8\n S 0421c7cc,4\n"
     " M 10,2\n--12-- note\n==12== bye\n",
     TRACE_FORMAT_LACKEY, "r 1ffefff000 8;w 421c7cc 4;r 10 2;w 10 2;",
     "r 4016d10 3;r 1ffefff000 8;w 421c7cc 4;r 10 2;w 10 2;"},
    {"2 4000\n0 1fc0\n1 0x20 whatever\n", TRACE_FORMAT_DINERO, "r 1fc0 4;w 20 4;",
     "r 4000 4;r 1fc0 4;w 20 4;"},
    {"address,size,op\n0x10,8,r\n32,4,store\n", TRACE_FORMAT_CSV, "r 10 8;w 20 4;", NULL},
    {"# by hand\ntime; Type; addr\n1; \"LOAD\"; 0x10\n2; S; 17\n3; M; 18\n", TRACE_FORMAT_CSV,
     "r 10 1;w 11 1;r 12 1;w 12 1;", NULL},
    {"pc\tea\tbytes\n0x1\t0x10\t8\n", TRACE_FORMAT_CSV, "r 10 8;", NULL},
    {"kind,address\ni,16\nr,16\n", TRACE_FORMAT_CSV, "r 10 1;", "r 10 1;r 10 1;"},
};

START_TEST(each_kind_is_read)
{
  char text[400];
  for (size_t k = 0; k < sizeof good / sizeof *good; k++)
    for (int forced = 0; forced < 2; forced++)
      for (int instructions = 0; instructions < 2; instructions++) {
        const char *path = files_text("trace", good[k].text);
        const trace_how how = {forced ? good[k].format : TRACE_FORMAT_AUTO, instructions};
        trace_format found;
        const char *fetches = good[k].with_instructions;
        ck_ok(read_all(path, &how, &found, text, sizeof text));
        ck_assert_str_eq(text, instructions && fetches ? fetches : good[k].accesses);
        ck_assert_int_eq(found, good[k].format);
      }
}
END_TEST

START_TEST(extended_dinero_is_asked_for)
{
  char text[400];
  trace_format found;
  const trace_how how = {TRACE_FORMAT_DINERO, false};
  const char *path = files_text("trace", "r 10 8\nw 0x1f 4 and more\ni 30 4\nm 11 1\n");
  ck_ok(read_all(path, &how, &found, text, sizeof text));
  ck_assert_str_eq(text, "r 10 8;w 1f 4;r 11 1;w 11 1;");
  /* Letters without 0x are decimal elsewhere. */
  ck_ok(read_all(files_text("trace", "r 10 8\n"), NULL, &found, text, sizeof text));
  ck_assert_str_eq(text, "r a 8;");
}
END_TEST

START_TEST(bad_lines_are_named)
{
  static const struct {
    trace_format format;
    const char *text, *says;
  } bad[] = {
      {TRACE_FORMAT_AUTO, "R 7fff10 8\n", "line 1: expected `address,size"},
      {TRACE_FORMAT_AUTO, "R 0x10 8\nR 0x10 0\n", "line 2"},
      {TRACE_FORMAT_AUTO, "R 0x10 8\nX 0x10 8\n", "line 2"},
      {TRACE_FORMAT_AUTO, "R 0x10 8\nR 0x10 8 9\n", "line 2"},
      {TRACE_FORMAT_AUTO, "R 0x10 8\nR 0x10 0x8\n", "line 2"},
      {TRACE_FORMAT_AUTO, "R 0x10 8\nR 0xffffffffffffffff 2\n", "line 2"},
      {TRACE_FORMAT_AUTO, "R 0x10000000000000000 8\n", "line 1"},
      {TRACE_FORMAT_AUTO, "0x10: R\n", "line 1"},
      {TRACE_FORMAT_AUTO, ": R 0x10\n", "line 1"},
      {TRACE_FORMAT_AUTO, "  ,  ,\n", "line 1"},
      {TRACE_FORMAT_AUTO, " L 1ffe,8\n L 1ffg,8\n", "line 2: expected `I  address,size`"},
      {TRACE_FORMAT_AUTO, " L 1ffe,8\n L 1ffe,8,\n", "line 2"},
      {TRACE_FORMAT_AUTO, " L 1ffe,8\nL 1ffe,8\n", "line 2"},
      {TRACE_FORMAT_AUTO, " L 1ffe,8\nhello\n", "line 2"},
      {TRACE_FORMAT_AUTO, "0 10\n3 10\n", "line 2: expected `0|1|2 address`"},
      {TRACE_FORMAT_AUTO, "0 10\n4 0\n", "line 2"},
      {TRACE_FORMAT_AUTO, "0 10\n0\n", "line 2"},
      {TRACE_FORMAT_DINERO, "r 10\n", "line 1"},
      {TRACE_FORMAT_DINERO, "v 10 4\n", "line 1"},
      {TRACE_FORMAT_CSV, "size,op\n", "line 1: expected a header"},
      {TRACE_FORMAT_CSV, "address,addr\n1,2\n", "line 1: expected a header"},
      {TRACE_FORMAT_AUTO, "address,size,op\n16,8\n", "line 2: expected an address"},
      {TRACE_FORMAT_AUTO, "address,size,op\n16,8,x\n", "line 2"},
      {TRACE_FORMAT_AUTO, "address,size,op\n1f,8,r\n", "line 2"},
      {TRACE_FORMAT_AUTO, "address,size,op\n", "holds no accesses"},
      {TRACE_FORMAT_AUTO, "==1== Lackey\n", "holds no accesses"},
      {TRACE_FORMAT_AUTO, "I  10,4\n", "holds no accesses"},
      {TRACE_FORMAT_MINIMD, "0 10\n", "is truncated"},
      {TRACE_FORMAT_MINIMD, "0x0010,8,r\n0x0010,8,r\n", "is no trace"},
      {TRACE_FORMAT_TEXT, "", "is empty"},
  };
  char text[400];
  trace_format found;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    const char *path = files_text("trace", bad[k].text);
    const trace_how how = {bad[k].format, false};
    const md_status status = read_all(path, &how, &found, text, sizeof text);
    ck_assert_msg(status == MD_EINVAL, "case %zu is read: %s", k, text);
    ck_assert_msg(strstr(md_message(), bad[k].says) && strstr(md_message(), path),
                  "case %zu says: %s", k, md_message());
  }
}
END_TEST

static const char *gzip(const char *name)
{
  char command[600];
  snprintf(command, sizeof command, "gzip -c '%s' >'%s.gz'", files_path(name), files_path(name));
  ck_assert_int_eq(system(command), 0);
  snprintf(command, sizeof command, "%s.gz", name);
  return files_path(command);
}

START_TEST(compressed_traces_are_read)
{
  char expected[400], text[400];
  trace_format found;
  if (!trace_reads_gzip()) return;
  ck_ok(read_all(files_text("trace", good[5].text), NULL, &found, expected, sizeof expected));
  ck_ok(read_all(gzip("trace"), NULL, &found, text, sizeof text));
  ck_assert_str_eq(text, expected);
  ck_assert_int_eq(found, TRACE_FORMAT_LACKEY);
  /* Every shorter file is refused; one bit that is wrong, too. */
  unsigned char data[1000];
  FILE *in = fopen(files_path("trace.gz"), "rb");
  const size_t size = fread(data, 1, sizeof data, in);
  fclose(in);
  ck_assert(size > 40 && size < sizeof data);
  for (size_t n = 3; n < size; n++) {
    const char *path = files_write("short", data, n);
    ck_assert_int_eq(read_all(path, NULL, &found, text, sizeof text), MD_EINVAL);
    ck_assert_msg(strstr(md_message(), path) != NULL, "%zu bytes: %s", n, md_message());
  }
  data[size - 6] ^= 1; /* the check sum */
  ck_assert_int_eq(read_all(files_write("wrong", data, size), NULL, &found, text, sizeof text),
                   MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "gzip: incorrect data check") != NULL, "%s", md_message());
}
END_TEST

START_TEST(groups_keep_sets)
{
  enum { N = 2000, SETS = 12, BYTES = 32 };
  trace_lines *lines;
  uint64_t seed = 9;
  ck_ok(trace_lines_create(BYTES, SETS, &lines));
  uint32_t number[N];
  uint64_t line[N];
  for (int k = 0; k < N; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const trace_run run = {TRACE_OTHER, TRACE_READ, 1, 1, (seed >> 45) * 7, 0};
    int64_t from = 0, n;
    ck_ok(trace_lines_of(lines, &run, &from, 1, &number[k], &n));
    ck_assert_int_eq(n, 1);
    line[k] = run.address / BYTES;
    ck_assert_uint_eq(number[k] % SETS, line[k] % SETS);
    for (int j = 0; j < k; j++)
      ck_assert((number[j] == number[k]) == (line[j] == line[k]));
  }
  trace_lines_destroy(lines);
  ck_assert_int_eq(trace_lines_create(BYTES, 0, &lines), MD_EINVAL);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("trace_formats");
  TCase *tcase = tcase_create("files");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_test(tcase, each_kind_is_read);
  tcase_add_test(tcase, extended_dinero_is_asked_for);
  tcase_add_test(tcase, bad_lines_are_named);
  tcase_add_test(tcase, compressed_traces_are_read);
  tcase_add_test(tcase, groups_keep_sets);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
