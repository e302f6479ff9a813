/* tests/check_trace.c - trace files: what is written comes back, what is damaged is refused. */
#include "cachemodel/trace_file.h"
#include "core/crc.h"
#include "tests/ref.h"
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

static char path[64];

static void make_path(void)
{
  snprintf(path, sizeof path, "/tmp/minimd-trace-%ld", (long)getpid());
}

static void remove_path(void)
{
  unlink(path);
}

/* CRC-32C as its definition has it: one bit at a time. */
static uint32_t slow_crc(const unsigned char *data, size_t bytes)
{
  uint32_t crc = 0xffffffff;
  for (size_t k = 0; k < 8 * bytes; k++) {
    const uint32_t bit = (data[k / 8] >> k % 8 ^ crc) & 1;
    crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
  }
  return ~crc;
}

START_TEST(crc_is_castagnoli)
{
  ck_assert_uint_eq(md_crc32c(0, "123456789", 9), 0xe3069283);
  unsigned char data[200];
  uint64_t seed = 5;
  for (int k = 0; k < 200; k++)
    data[k] = (unsigned char)(256 * ref_uniform(&seed));
  for (size_t from = 0; from < 9; from++)
    for (size_t bytes = 0; from + bytes <= 100; bytes++) {
      const uint32_t expected = slow_crc(data + from, bytes);
      ck_assert_uint_eq(md_crc32c(0, data + from, bytes), expected);
      ck_assert_uint_eq(md_crc32c_table(0, data + from, bytes), expected);
      ck_assert_uint_eq(md_crc32c(md_crc32c(0, data + from, bytes), data + from + bytes, 100),
                        slow_crc(data + from, bytes + 100));
    }
}
END_TEST

/* All accesses of a file one by one. */
typedef struct {
  trace_run *access; /* count 1, stride 0 */
  int64_t n;
} accesses;

static accesses spread(const trace_run *runs, int64_t n_runs)
{
  accesses all = {NULL, 0};
  for (int64_t r = 0; r < n_runs; r++)
    all.n += runs[r].count;
  all.access = ref_alloc(all.n, sizeof *all.access);
  int64_t at = 0;
  for (int64_t r = 0; r < n_runs; r++)
    for (int64_t k = 0; k < runs[r].count; k++) {
      all.access[at] = runs[r];
      all.access[at].address += (uint64_t)(runs[r].stride * k);
      all.access[at].count = 1;
      all.access[at++].stride = 0;
    }
  return all;
}

/* Read the file with room for `room` runs at a time; *runs gets them all. */
static md_status read_all(int64_t room, trace_run **runs, int64_t *n_runs)
{
  trace_reader *r;
  *runs = NULL;
  *n_runs = 0;
  md_status status = trace_reader_open(path, &r);
  if (status) return status;
  for (int64_t n = 1, had = 0; !status && n > 0;) {
    if (*n_runs + room > had) {
      had = 2 * (*n_runs + room);
      *runs = realloc(*runs, (size_t)had * sizeof **runs);
      ck_assert_ptr_nonnull(*runs);
    }
    status = trace_read(r, room, *runs + *n_runs, &n);
    if (!status) *n_runs += n;
  }
  trace_reader_close(r);
  return status;
}

static bool same_access(const trace_run *a, const trace_run *b)
{
  return a->stream == b->stream && a->op == b->op && a->bytes == b->bytes &&
         a->address == b->address;
}

static void check_back(const accesses *expected, int64_t room)
{
  trace_run *runs;
  int64_t n_runs;
  ck_ok(read_all(room, &runs, &n_runs));
  accesses back = spread(runs, n_runs);
  ck_assert_int_eq(back.n, expected->n);
  for (int64_t k = 0; k < back.n; k++)
    ck_assert_msg(same_access(&back.access[k], &expected->access[k]), "access %lld of %lld",
                  (long long)k, (long long)back.n);
  free(back.access);
  free(runs);
}

static trace_run any_run(uint64_t *seed)
{
  static const uint64_t tops[] = {1000, (uint64_t)1 << 33, (uint64_t)1 << 62};
  trace_run run = {.stream = (trace_stream)(TRACE_STREAM_COUNT * ref_uniform(seed)),
                   .op = (trace_op)(TRACE_OP_COUNT * ref_uniform(seed)),
                   .bytes = (int32_t)(1 + 300 * ref_uniform(seed)),
                   .count = (int64_t)(1 + 20 * ref_uniform(seed))};
  const double top = (double)tops[(int)(3 * ref_uniform(seed))];
  run.address = (uint64_t)(1e5 + top * ref_uniform(seed));
  run.stride = (int64_t)(4000 * (ref_uniform(seed) - 0.5));
  return run;
}

START_TEST(binary_round_trip)
{
  enum { RECORDS = 20000, LONGEST = 9000 };
  uint64_t seed = 11, *address = ref_alloc(LONGEST, sizeof *address);
  trace_run *runs = ref_alloc(RECORDS * 40 + 3 * LONGEST, sizeof *runs);
  trace_writer *w;
  int64_t n = 0, n_accesses = 0;
  ck_ok(trace_writer_open(path, &w));
  for (int k = 0; k < RECORDS; k++) {
    const trace_run run = any_run(&seed);
    const int kind = (int)(3 * ref_uniform(&seed));
    if (kind == 0) {
      ck_ok(trace_write_run(w, &run));
      runs[n++] = run;
      n_accesses += run.count;
      continue;
    }
    const int length = k % 8000 == 7 ? LONGEST : (int)run.count;
    const uint64_t unit = kind == 1 ? 32 : 1;
    for (int twice = 0; twice < 2; twice++) { /* the second time it is the first one, moved */
      for (int a = 0; a < length; a++) {
        if (!twice) address[a] = run.address + unit * (uint64_t)(5000 * ref_uniform(&seed));
        if (twice) address[a] += 16;
        runs[n] = run;
        runs[n].count = 1;
        runs[n++].address = address[a];
      }
      ck_ok(trace_write_list(w, &run, length, address));
      n_accesses += length;
    }
  }
  ck_assert_int_eq(trace_writer_count(w), n_accesses);
  ck_ok(trace_writer_close(w));
  accesses expected = spread(runs, n);
  ck_assert_int_eq(expected.n, n_accesses);
  check_back(&expected, 1);
  check_back(&expected, 977);
  free(expected.access);
  free(runs);
  free(address);
}
END_TEST

static void put(unsigned char *to, uint64_t value, int bytes)
{
  for (int k = 0; k < bytes; k++)
    to[k] = (unsigned char)(value >> 8 * k);
}

static void write_file(const unsigned char *data, size_t bytes)
{
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
  fclose(file);
}

/* A file made by hand from the description of the format: one run of 3 reads of 8 bytes at 1000,
 * 1016, 1032 by NC; a list of 4-byte updates at 64, 32, 96 by FUI; the list again at + 1. */
static const unsigned char by_hand[] = {
    0x02, 8, 3, 0xd0, 0x0f, 0x20,    /* stream 2, op 0; zigzag 1000 = 2000 = 0x50 | 0xf << 7 */
    0x34, 4, 3, 5,    4,    1,    4, /* stream 4, op 2, form 1; unit 2^5; +2, -1, +2 */
    0x54, 1, 2};
enum { HAND = 32 + sizeof by_hand + 16 };

static void make_by_hand(unsigned char *file)
{
  memcpy(file, "mdtrace\n", 8);
  put(file + 8, 1, 4);
  put(file + 12, slow_crc(file, 12), 4);
  unsigned char sum[12 + sizeof by_hand] = {0};
  put(sum + 8, sizeof by_hand, 4);
  memcpy(sum + 12, by_hand, sizeof by_hand);
  memcpy(file + 16, sum, 12);
  put(file + 28, slow_crc(sum, sizeof sum), 4);
  memcpy(file + 32, by_hand, sizeof by_hand);
  unsigned char *end = file + 32 + sizeof by_hand;
  put(end, 9, 8);
  put(end + 8, 0, 4);
  put(end + 12, slow_crc(end, 12), 4);
}

START_TEST(binary_format_is_the_one_described)
{
  unsigned char file[HAND];
  make_by_hand(file);
  write_file(file, sizeof file);
  const trace_run runs[] = {
      {TRACE_NC, TRACE_READ, 8, 3, 1000, 16}, {TRACE_FUI, TRACE_UPDATE, 4, 2, 64, -32},
      {TRACE_FUI, TRACE_UPDATE, 4, 1, 96, 0}, {TRACE_FUI, TRACE_UPDATE, 1, 2, 65, -32},
      {TRACE_FUI, TRACE_UPDATE, 1, 1, 97, 0},
  };
  accesses expected = spread(runs, 5);
  check_back(&expected, 100);
  /* The writer makes the same bytes. */
  unsigned char mine[HAND + 1];
  const uint64_t list[] = {64, 32, 96}, again[] = {65, 33, 97};
  trace_writer *w;
  ck_ok(trace_writer_open(path, &w));
  ck_ok(trace_write_run(w, &runs[0]));
  ck_ok(trace_write_list(w, &runs[1], 3, list));
  ck_ok(trace_write_list(w, &runs[3], 3, again));
  ck_ok(trace_writer_close(w));
  FILE *stream = fopen(path, "rb");
  ck_assert_uint_eq(fread(mine, 1, sizeof mine, stream), HAND);
  fclose(stream);
  ck_assert_mem_eq(mine, file, HAND);
  free(expected.access);
}
END_TEST

static void refused(const char *expected)
{
  trace_run *runs;
  int64_t n;
  const md_status status = read_all(10, &runs, &n);
  ck_assert_msg(status == MD_EINVAL, "status %d: %s", (int)status, md_message());
  ck_assert_msg(strstr(md_message(), expected), "no '%s' in: %s", expected, md_message());
  ck_assert_msg(strstr(md_message(), path), "no file name in: %s", md_message());
  free(runs);
}

START_TEST(damaged_files_are_refused)
{
  unsigned char file[HAND + 1];
  make_by_hand(file);
  file[HAND] = 0;
  write_file(file, 0);
  refused("empty");
  for (size_t bytes = 1; bytes < HAND; bytes++) {
    write_file(file, bytes);
    refused("truncated");
  }
  write_file(file, HAND + 1);
  refused("something follows");
  for (int at = 1; at < HAND; at++) { /* without its first byte it is taken for text */
    file[at] ^= 0x10;
    write_file(file, HAND);
    const bool size = (at >= 24 && at < 28) || (at >= HAND - 8 && at < HAND - 4);
    refused(at < 8 ? "no trace" : size ? "" : "check sum");
    file[at] ^= 0x10;
  }
  put(file + 8, 2, 4);
  put(file + 12, slow_crc(file, 12), 4);
  write_file(file, HAND);
  refused("version 2");
  make_by_hand(file);
  memmove(file + 16, file + 32 + sizeof by_hand, 16); /* the block was lost */
  write_file(file, 32);
  refused("missing");
}
END_TEST

/* Check sums are right here, but no writer makes such records. */
START_TEST(impossible_records_are_refused)
{
  static const struct {
    int n;
    unsigned char record[16];
  } cases[] = {
      {6, {0x07, 8, 3, 0xd0, 0x0f, 0x20}}, /* stream 7 */
      {6, {0x1a, 8, 3, 0xd0, 0x0f, 0x20}}, /* op 3 */
      {6, {0x62, 8, 3, 0xd0, 0x0f, 0x20}}, /* form 3 */
      {6, {0x02, 0, 3, 0xd0, 0x0f, 0x20}}, /* no bytes */
      {6, {0x02, 8, 0, 0xd0, 0x0f, 0x20}}, /* no accesses */
      {5, {0x02, 8, 3, 0xd0, 0x0f}},       /* cut off */
      {4, {0x02, 8, 3, 0x80}},             /* in a number */
      {5, {0x02, 8, 3, 4, 3}},             /* 2, 0, -2: below zero */
      {3, {0x52, 8, 2}},                   /* again, but nothing came before */
      {5, {0x22, 8, 9, 0, 2}},             /* a list longer than its record */
      {6, {0x22, 8, 2, 64, 2, 2}},         /* unit 2^64 */
      {16, {0x02, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2, 0}}, /* 2^63 */
      {16, {0x02, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 2, 0}}, /* 2^64 */
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    unsigned char file[32 + 16 + 16] = {0}, sum[12 + 16] = {0};
    const int n = cases[c].n;
    memcpy(file, "mdtrace\n", 8);
    put(file + 8, 1, 4);
    put(file + 12, slow_crc(file, 12), 4);
    put(sum + 8, (uint64_t)n, 4);
    memcpy(sum + 12, cases[c].record, (size_t)n);
    memcpy(file + 16, sum, 12);
    put(file + 28, slow_crc(sum, 12 + (size_t)n), 4);
    memcpy(file + 32, cases[c].record, (size_t)n);
    write_file(file, 32 + (size_t)n);
    refused("a record that cannot be");
  }
}
END_TEST

START_TEST(text_is_read)
{
  static const char good[] =
      "# address,size,op\n\n4096,8,r\n0x1fC0,4,w\r\n18446744073709551615,1,r\n"
      "0,2147483647,w";
  write_file((const unsigned char *)good, sizeof good - 1);
  const trace_run runs[] = {{TRACE_OTHER, TRACE_READ, 8, 1, 4096, 0},
                            {TRACE_OTHER, TRACE_WRITE, 4, 1, 0x1fc0, 0},
                            {TRACE_OTHER, TRACE_READ, 1, 1, UINT64_MAX, 0},
                            {TRACE_OTHER, TRACE_WRITE, INT32_MAX, 1, 0, 0}};
  accesses expected = spread(runs, 4);
  check_back(&expected, 1);
  check_back(&expected, 100);
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
    write_file((const unsigned char *)text, strlen(text));
    refused("line 2");
  }
  write_file((const unsigned char *)"8,8,r\0\n", 7);
  refused("line 1");
  trace_reader *r;
  ck_assert_int_eq(trace_reader_open("/nonexistent/trace", &r), MD_EIO);
}
END_TEST

static void same_run(const trace_run *a, const trace_run *b)
{
  ck_assert_int_eq(a->stream, b->stream);
  ck_assert_int_eq(a->op, b->op);
  ck_assert_int_eq(a->bytes, b->bytes);
  ck_assert_int_eq(a->count, b->count);
  ck_assert_uint_eq(a->address, b->address);
  ck_assert_int_eq(a->stride, b->stride);
}

/* More accesses than 2^32: counters, positions and the numbers of lines hold. */
START_TEST(long_traces_stream)
{
  const int64_t half = (int64_t)1 << 32;
  const trace_run up = {TRACE_NI, TRACE_READ, 4, half, 1 << 20, 4};
  const trace_run down = {TRACE_NI, TRACE_READ, 4, half, ((uint64_t)1 << 34) + (1 << 20), -4};
  trace_writer *w;
  ck_ok(trace_writer_open(path, &w));
  ck_ok(trace_write_run(w, &up));
  ck_ok(trace_write_run(w, &down));
  ck_assert_int_eq(trace_writer_count(w), 2 * half);
  ck_ok(trace_writer_close(w));
  trace_run *runs;
  int64_t n;
  ck_ok(read_all(10, &runs, &n));
  ck_assert_int_eq(n, 2);
  same_run(&runs[0], &up);
  same_run(&runs[1], &down);
  trace_lines *lines;
  ck_ok(trace_lines_create(64, &lines));
  uint32_t line[8];
  int64_t from = half - 3, found;
  ck_ok(trace_lines_of(lines, &runs[1], &from, 8, line, &found));
  ck_assert_int_eq(found, 3);
  ck_assert_int_eq(from, half);
  trace_lines_destroy(lines);
  free(runs);
}
END_TEST

START_TEST(lines_are_numbered_by_first_touch)
{
  enum { N = 60000, ROOM = 7 };
  uint64_t seed = 3, *known = ref_alloc(3 * N, sizeof *known);
  int64_t n_known = 0;
  trace_lines *lines;
  ck_ok(trace_lines_create(48, &lines));
  for (int k = 0; k < N / 100; k++) {
    trace_run run = any_run(&seed);
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
  ck_assert_int_eq(trace_lines_create(0, &lines), MD_EINVAL);
  free(known);
}
END_TEST

START_TEST(writer_refuses_and_leaves_nothing)
{
  trace_writer *w;
  ck_assert_int_eq(trace_writer_open("/nonexistent/trace", &w), MD_EIO);
  ck_assert_ptr_null(w);
  ck_ok(trace_writer_open(path, &w));
  const trace_run none = {TRACE_AC, TRACE_READ, 8, 0, 0, 0};
  const trace_run beyond = {TRACE_AC, TRACE_READ, 8, 2, UINT64_MAX - 8, 8};
  const trace_run below = {TRACE_AC, TRACE_READ, 8, 3, 8, -8};
  ck_assert_int_eq(trace_write_run(w, &none), MD_EINVAL);
  ck_assert_int_eq(trace_write_run(w, &beyond), MD_EINVAL);
  ck_assert_int_eq(trace_write_run(w, &below), MD_EINVAL);
  trace_writer_discard(w);
  ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("trace");
  TCase *tcase = tcase_create("files");
  tcase_add_checked_fixture(tcase, make_path, remove_path);
  tcase_add_test(tcase, crc_is_castagnoli);
  tcase_add_test(tcase, binary_round_trip);
  tcase_add_test(tcase, binary_format_is_the_one_described);
  tcase_add_test(tcase, damaged_files_are_refused);
  tcase_add_test(tcase, impossible_records_are_refused);
  tcase_add_test(tcase, text_is_read);
  tcase_add_test(tcase, long_traces_stream);
  tcase_add_test(tcase, lines_are_numbered_by_first_touch);
  tcase_add_test(tcase, writer_refuses_and_leaves_nothing);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
