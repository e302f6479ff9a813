/* tests/core/check_core.c - messages, buffers, atoms, shifts, marks of files, output files,
 * JSON. */
#include "core/atoms.h"
#include "core/crc.h"
#include "core/output/files.h"
#include "core/output/output.h"
#include "core/parse/parse.h"
#include "core/output/quote.h"
#include "core/timer.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

START_TEST(message_keeps_the_cause)
{
  ck_assert_int_eq(MD_FAIL(MD_EINVAL, "inner %d", 7), MD_EINVAL);
  MD_FAIL(MD_EIO, "outer: %s", md_message());
  ck_assert_str_eq(md_message(), "outer: inner 7");
  MD_FAIL(MD_EINVAL, "no such file 'a\nb'");
  ck_assert_str_eq(md_message(), "no such file 'a?b'");
  ck_assert_int_eq(md_exit_code(MD_OK), 0);
  ck_assert_int_eq(md_exit_code(MD_EINVAL), 2);
  ck_assert_int_eq(md_exit_code(MD_EIO), 3);
  ck_assert_int_eq(md_exit_code(MD_ECAPACITY), 2);
  ck_assert_int_eq(md_exit_code(MD_ENOMEM), 4);
  ck_assert_int_eq(md_exit_code(MD_ENOGPU), 4);
  ck_assert_int_eq(md_exit_code(MD_ENUMERIC), 5);
}
END_TEST

START_TEST(context_rejects_what_it_cannot_run)
{
  md_ctx *ctx = NULL;
  const md_ctx_spec negative = {MD_CPU, MD_DOUBLE, -1, false};
  ck_assert_int_eq(md_ctx_create(&negative, &ctx), MD_EINVAL);
  ck_assert_ptr_null(ctx);
  if (md_gpu_available()) return;
  const md_ctx_spec gpu = {MD_GPU, MD_DOUBLE, 0, false};
  ck_assert_int_eq(md_ctx_create(&gpu, &ctx), MD_ENOGPU);
  ck_assert_ptr_null(ctx);
}
END_TEST

START_TEST(context_is_what_was_asked_for)
{
  for (int threads = 1; threads < 4; threads++) {
    md_ctx *ctx = test_ctx(MD_MIXED, threads, threads == 2);
    ck_assert(ctx->backend == test_backend() && ctx->precision == MD_MIXED);
    ck_assert(ctx->threads == threads && ctx->deterministic == (threads == 2));
    md_ctx_destroy(ctx);
  }
  md_ctx *ctx = test_ctx(MD_MIXED, 0, false);
  ck_assert_int_ge(ctx->threads, 1);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(processor_has_its_name)
{
  char name[200], line[300];
  bool found = false, any = false;
  md_cpu_name(name, sizeof name);
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "model name\t: ", 13) != 0) continue;
    any = true;
    found = found || strcmp(line + 13, name) == 0;
  }
  if (file) fclose(file);
  ck_assert_msg(found || !any, "'%s' is not in /proc/cpuinfo", name);
}
END_TEST

START_TEST(buffer_grows_keeps_and_counts)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  md_buffer buffer = {0};
  char in[300], back[300];
  for (int k = 0; k < 300; k++)
    in[k] = (char)(k * 7);
  ck_ok(md_buffer_reserve(ctx, &buffer, 300, 0));
  ck_ok(md_write(ctx, buffer.data, in, 300));
  ck_ok(md_buffer_reserve(ctx, &buffer, 5000000, 300));
  ck_assert_uint_ge(buffer.bytes, 5000000);
  ck_assert_int_eq(ctx->bytes_allocated, (int64_t)buffer.bytes);
  ck_ok(md_read(ctx, back, buffer.data, 300));
  ck_assert_mem_eq(in, back, 300);
  ck_assert_int_eq(ctx->bytes_copied, ctx->backend == MD_GPU ? 600 : 0);
  ck_assert_int_eq(md_buffer_reserve(ctx, &buffer, (size_t)1 << 60, 300), MD_ENOMEM);
  ck_ok(md_read(ctx, back, buffer.data, 300)); /* unchanged by the failure */
  ck_assert_mem_eq(in, back, 300);
  md_buffer other = {0};
  ck_ok(md_buffer_reserve(ctx, &other, 100, 0));
  ck_ok(md_buffer_match(ctx, &other, &buffer));
  ck_assert_uint_eq(other.bytes, buffer.bytes);
  const void *same = other.data;
  ck_ok(md_buffer_match(ctx, &other, &(md_buffer){NULL, 100})); /* large enough: it stays */
  ck_assert(other.data == same && other.bytes == buffer.bytes);
  ck_assert_int_eq(ctx->bytes_allocated, (int64_t)(buffer.bytes + other.bytes));
  md_buffer_free(ctx, &other);
  md_buffer_free(ctx, &buffer);
  ck_assert_int_eq(ctx->bytes_allocated, 0);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(atoms_round_trip)
{
  md_ctx *ctx = test_ctx((md_precision)_i, 1, false);
  const md_box box = {{0, 0, 0}, {4, 5, 6}};
  md_atoms *atoms = NULL;
  ck_assert_int_eq(md_atoms_create(ctx, &(md_box){{0, 2, 0}, {4, 2, 6}}, &atoms), MD_EINVAL);
  ck_assert(!atoms && strstr(md_message(), "no extent along y: 2 to 2"));
  ck_ok(md_atoms_create(ctx, &box, &atoms));
  enum { N = 37 };
  double x[3 * N], v[3 * N], x2[3 * N], v2[3 * N], f2[3 * N];
  int64_t id[N], id2[N];
  int32_t image[3 * N], image2[3 * N];
  for (int k = 0; k < 3 * N; k++)
    x[k] = (float)(0.01 * k), v[k] = (float)(-0.3 * k), image[k] = k % 5 - 2;
  for (int i = 0; i < N; i++)
    id[i] = 1000 - i;
  ck_ok(md_atoms_set(atoms, N, x, v, id, image));
  ck_assert_int_eq(atoms->n, N);
  ck_ok(md_atoms_get(atoms, x2, v2, f2, id2, image2));
  ck_assert_mem_eq(x, x2, sizeof x);
  ck_assert_mem_eq(v, v2, sizeof v);
  ck_assert_mem_eq(id, id2, sizeof id);
  ck_assert_mem_eq(image, image2, sizeof image);
  for (int k = 0; k < 3 * N; k++)
    ck_assert_double_eq(f2[k], 0);
  ck_assert_int_eq(md_atoms_reserve(atoms, (int64_t)1 << 31, 0), MD_ECAPACITY);
  ck_ok(md_fill(ctx, atoms->f.data, 0x3f, N * 4 * md_real_size(ctx->precision)));
  ck_ok(md_atoms_set(atoms, 2, x, NULL, NULL, NULL));
  ck_ok(md_atoms_get(atoms, NULL, v2, f2, id2, image2));
  for (int k = 0; k < 6; k++)
    ck_assert_double_eq(f2[k], 0); /* nothing of those before */
  ck_assert_int_eq(id2[0], 1);
  ck_assert_int_eq(id2[1], 2);
  ck_assert_double_eq(v2[3], 0);
  ck_assert_int_eq(image2[5], 0);
  md_atoms_destroy(atoms);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(shift_packs_every_sign)
{
  const int values[] = {-MD_SHIFT_MAX, -2, -1, 0, 1, 3, MD_SHIFT_MAX};
  for (int a = 0; a < 7; a++)
    for (int b = 0; b < 7; b++)
      for (int c = 0; c < 7; c++) {
        const int sx = values[a], sy = values[b], sz = values[c];
        const int32_t packed = md_shift_pack(sx, sy, sz);
        int back[3];
        md_shift_unpack(packed, back);
        ck_assert_int_eq(back[0], sx);
        ck_assert_int_eq(back[1], sy);
        ck_assert_int_eq(back[2], sz);
        const bool upper = sz > 0 || (sz == 0 && (sy > 0 || (sy == 0 && sx > 0)));
        ck_assert_int_eq(packed > 0, upper);
        ck_assert_int_eq(md_shift_pack(-sx, -sy, -sz), -packed);
      }
}
END_TEST

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

START_TEST(counts_may_have_an_exponent)
{
  static const struct {
    const char *text;
    int64_t value; /* -1: refused */
  } rows[] = {{"1e6", 1000000},
              {"1E+6", 1000000},
              {"2.5e3", 2500},
              {"1.50e1", 15},
              {"7", 7},
              {"0e99999999999", 0},
              {"9.223372036854775807e18", INT64_MAX},
              {"1e18", 1000000000000000000},
              {"0.001e3", 1},
              {"1.5e0", -1},
              {"1e-3", -1},
              {"1e400", -1},
              {"1e19", -1},
              {"9.3e18", -1},
              {"9223372036854775808e0", -1},
              {"1.5", -1},
              {"10.", -1},
              {"1.e3", -1},
              {".1e3", -1},
              {"e3", -1},
              {"1e", -1},
              {"1e+", -1},
              {"1e++3", -1},
              {"1e3x", -1},
              {" 1e3", -1},
              {"1e99999999999999999999", -1},
              {"1.0000000000000000000000e2", 100},
              {"-1e3", -1},
              {"", -1}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    int64_t value = -1;
    const md_status status = md_parse_count(rows[k].text, 0, INT64_MAX, &value);
    ck_assert_msg(value == rows[k].value, "'%s' is %lld", rows[k].text, (long long)value);
    ck_assert_int_eq(status, value < 0 ? MD_EINVAL : MD_OK);
  }
  for (int64_t m = 0; m < 2000; m += 7) {
    int64_t power = 1;
    for (int e = 0; e < 15; e++, power *= 10) {
      char text[40];
      int64_t value;
      snprintf(text, sizeof text, "%de%d", (int)m, e);
      ck_ok(md_parse_count(text, 0, INT64_MAX, &value));
      ck_assert_int_eq(value, m * power);
    }
  }
  int64_t value = 3;
  ck_assert_int_eq(md_parse_count("1e3", 0, 999, &value), MD_EINVAL);
  ck_assert_int_eq(value, 3);
}
END_TEST

START_TEST(timer_adds_up)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (int k = 0; k < 3000; k++) { /* more than one batch of events */
    md_phase_begin(ctx, MD_PHASE_FORCE);
    md_phase_end(ctx, MD_PHASE_FORCE);
  }
  ck_assert_double_ge(md_phase_seconds(ctx, MD_PHASE_FORCE), 0);
  double within = 0; /* what lies within the phases counts; a GPU has its own clock */
  md_timer_reset(ctx);
  for (int k = 0; k < 100; k++) {
    md_phase_begin(ctx, MD_PHASE_FORCE);
    const double began = md_wall_seconds();
    within += md_wall_seconds() - began;
    md_phase_end(ctx, MD_PHASE_FORCE);
  }
  if (ctx->backend == MD_CPU)
    ck_assert_double_ge(md_phase_seconds(ctx, MD_PHASE_FORCE), within * (1 - 1e-9));
  ck_assert_double_eq(md_phase_seconds(ctx, MD_PHASE_SORT), 0);
  md_timer_reset(ctx);
  ck_assert_double_eq(md_phase_seconds(ctx, MD_PHASE_FORCE), 0);
  md_ctx_destroy(ctx);
}
END_TEST

/* That clocks count seconds: between two looks at the system's own. */
START_TEST(clocks_count_seconds)
{
  struct timespec first, last;
  for (int k = 0; k < 5; k++) {
    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &first), 0);
    const double now = md_wall_seconds();
    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &last), 0);
    ck_assert_double_ge(now, (double)first.tv_sec + 1e-9 * (double)first.tv_nsec);
    ck_assert_double_le(now, (double)last.tv_sec + 1e-9 * (double)last.tv_nsec);
  }
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
  Suite *suite = suite_create("core");
  TCase *tc = tcase_create("core");
  tcase_add_test(tc, message_keeps_the_cause);
  tcase_add_test(tc, context_rejects_what_it_cannot_run);
  tcase_add_test(tc, context_is_what_was_asked_for);
  tcase_add_test(tc, processor_has_its_name);
  tcase_add_test(tc, buffer_grows_keeps_and_counts);
  tcase_add_loop_test(tc, atoms_round_trip, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, shift_packs_every_sign);
  tcase_add_test(tc, output_is_complete_or_absent);
  tcase_add_loop_test(tc, a_mark_knows_its_file, 0, 2);
  tcase_add_test(tc, json_is_valid);
  tcase_add_test(tc, json_strings_are_utf8);
  tcase_add_test(tc, lines_are_text_and_bounded);
  tcase_add_test(tc, timer_adds_up);
  tcase_add_test(tc, clocks_count_seconds);
  tcase_add_test(tc, counts_may_have_an_exponent);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
