/* tests/cachemodel/check_trace.c - trace files: what is written comes back, what is damaged is
 * refused. */
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/test.h"
#include "tests/drive/traces.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

START_TEST(binary_round_trip)
{
  enum { RECORDS = 20000, LONGEST = 9000 };
  uint64_t seed = 11, *address = ref_alloc(LONGEST, sizeof *address);
  trace_run *runs = ref_alloc(RECORDS * 40 + 3 * LONGEST, sizeof *runs);
  trace_writer *w;
  int64_t n = 0, n_accesses = 0;
  ck_ok(trace_writer_open(traces_path(), &w));
  for (int k = 0; k < RECORDS; k++) {
    const trace_run run = traces_any(&seed);
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
  ck_ok(trace_writer_close(w));
  traces_accesses expected = traces_spread(runs, n);
  ck_assert_int_eq(expected.n, n_accesses);
  traces_check(&expected, 1);
  traces_check(&expected, 977);
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
  put(file + 12, ref_crc32c(file, 12), 4);
  unsigned char sum[12 + sizeof by_hand] = {0};
  put(sum + 8, sizeof by_hand, 4);
  memcpy(sum + 12, by_hand, sizeof by_hand);
  memcpy(file + 16, sum, 12);
  put(file + 28, ref_crc32c(sum, sizeof sum), 4);
  memcpy(file + 32, by_hand, sizeof by_hand);
  unsigned char *end = file + 32 + sizeof by_hand;
  put(end, 9, 8);
  put(end + 8, 0, 4);
  put(end + 12, ref_crc32c(end, 12), 4);
}

START_TEST(binary_format_is_the_one_described)
{
  unsigned char file[HAND];
  make_by_hand(file);
  traces_write(file, sizeof file);
  const trace_run runs[] = {
      {TRACE_NC, TRACE_READ, 8, 3, 1000, 16}, {TRACE_FUI, TRACE_UPDATE, 4, 2, 64, -32},
      {TRACE_FUI, TRACE_UPDATE, 4, 1, 96, 0}, {TRACE_FUI, TRACE_UPDATE, 1, 2, 65, -32},
      {TRACE_FUI, TRACE_UPDATE, 1, 1, 97, 0},
  };
  traces_accesses expected = traces_spread(runs, 5);
  traces_check(&expected, 100);
  /* The writer makes the same bytes. */
  unsigned char mine[HAND + 1];
  const uint64_t list[] = {64, 32, 96}, again[] = {65, 33, 97};
  trace_writer *w;
  ck_ok(trace_writer_open(traces_path(), &w));
  ck_ok(trace_write_run(w, &runs[0]));
  ck_ok(trace_write_list(w, &runs[1], 3, list));
  ck_ok(trace_write_list(w, &runs[3], 3, again));
  ck_ok(trace_writer_close(w));
  FILE *stream = fopen(traces_path(), "rb");
  ck_assert_uint_eq(fread(mine, 1, sizeof mine, stream), HAND);
  fclose(stream);
  ck_assert_mem_eq(mine, file, HAND);
  free(expected.access);
}
END_TEST

/* Blocks are small, so that memory for the largest one, 9 MB, need not be taken. */
START_TEST(a_small_trace_takes_little_memory)
{
  unsigned char file[HAND];
  trace_reader *reader;
  trace_run run;
  int64_t n;
  make_by_hand(file);
  traces_write(file, sizeof file);
  const struct mallinfo2 before = mallinfo2();
  ck_ok(trace_reader_open(traces_path(), NULL, &reader));
  ck_ok(trace_read(reader, 1, &run, &n));
  ck_assert_int_eq(n, 1);
  const struct mallinfo2 after = mallinfo2();
  ck_assert_uint_lt(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 100000);
  trace_reader_close(reader);
}
END_TEST

START_TEST(damaged_files_are_refused)
{
  unsigned char file[HAND + 1];
  make_by_hand(file);
  file[HAND] = 0;
  traces_write(file, 0);
  traces_refused("empty");
  for (size_t bytes = 1; bytes < HAND; bytes++) {
    traces_write(file, bytes);
    traces_refused("truncated");
  }
  traces_write(file, HAND + 1);
  traces_refused("something follows");
  for (int at = 1; at < HAND; at++) { /* without its first byte it is taken for text */
    file[at] ^= 0x10;
    traces_write(file, HAND);
    const bool size = (at >= 24 && at < 28) || (at >= HAND - 8 && at < HAND - 4);
    traces_refused(at < 8 ? "no trace" : size ? "" : "check sum");
    file[at] ^= 0x10;
  }
  put(file + 8, 2, 4);
  put(file + 12, ref_crc32c(file, 12), 4);
  traces_write(file, HAND);
  traces_refused("version 2");
  make_by_hand(file);
  memmove(file + 16, file + 32 + sizeof by_hand, 16); /* the block was lost */
  traces_write(file, 32);
  traces_refused("missing");
}
END_TEST

/* Check sums are right here, but no writer makes such records. */
/* A block of one payload of so many bytes, in a file that ends after it. */
static void write_block(const unsigned char *payload, size_t bytes, uint64_t accesses)
{
  unsigned char *file = ref_alloc((int64_t)bytes + 48, 1), *block = file + 16;
  make_by_hand(file); /* its header */
  unsigned char *sum = ref_alloc((int64_t)bytes + 12, 1);
  memset(sum, 0, 12);
  put(sum + 8, bytes, 4);
  memcpy(sum + 12, payload, bytes);
  memcpy(block, sum, 12);
  put(block + 12, ref_crc32c(sum, bytes + 12), 4);
  memcpy(block + 16, payload, bytes);
  put(block + 16 + bytes, accesses, 8);
  put(block + 24 + bytes, 0, 4);
  put(block + 28 + bytes, ref_crc32c(block + 16 + bytes, 12), 4);
  traces_write(file, bytes + 48);
  free(sum);
  free(file);
}

/* 2^20 bytes of payload are read, one more is refused. */
START_TEST(the_largest_block_is_read)
{
  enum { MOST = 1 << 20, RECORD = 5, RECORDS = MOST / RECORD };
  static const unsigned char record[] = {0x02, 8, 1, 0, 0}; /* a read of 8 bytes at 0 */
  unsigned char *payload = ref_alloc(MOST + RECORD, 1);
  trace_run *runs;
  int64_t n;
  for (int k = 0; k <= RECORDS; k++)
    memcpy(payload + RECORD * k, record, RECORD);
  payload[MOST - 2] = 0x80; /* the last stride takes two bytes */
  payload[MOST - 1] = 0;
  write_block(payload, MOST, RECORDS);
  ck_ok(traces_read(1000, &runs, &n));
  ck_assert_int_eq(n, RECORDS);
  free(runs);
  write_block(payload, MOST + 1, RECORDS);
  traces_refused("larger than 2^20");
  free(payload);
}
END_TEST

/* Lists whose numbers take their ten bytes each fit their blocks. */
START_TEST(wide_lists_fit_their_blocks)
{
  enum { LISTS = 60, LONG = 4096 };
  uint64_t *address = ref_alloc(LONG, sizeof *address);
  trace_run *runs = ref_alloc(LISTS * LONG, sizeof *runs);
  const trace_run like = {TRACE_NC, TRACE_READ, 1, 1, 0, 0};
  trace_writer *w;
  ck_ok(trace_writer_open(traces_path(), &w));
  for (int k = 0; k < LISTS; k++) {
    for (int a = 0; a < LONG; a++) {
      address[a] = (a % 2 ? (uint64_t)3 << 61 : 1) + (uint64_t)(k * a);
      runs[k * LONG + a] = like;
      runs[k * LONG + a].address = address[a];
    }
    ck_ok(trace_write_list(w, &like, LONG, address));
  }
  ck_ok(trace_writer_close(w));
  const traces_accesses expected = {runs, LISTS * LONG};
  traces_check(&expected, 1000);
  free(runs);
  free(address);
}
END_TEST

/* Lines are numbered as they come, also when there are many more than the first table holds. */
START_TEST(many_lines_are_numbered)
{
  enum { LINES = 20000 };
  const trace_run run = {TRACE_NC, TRACE_READ, 8, LINES, 640, 3 * 64};
  trace_lines *lines;
  uint32_t number[LINES];
  ck_ok(trace_lines_create(64, 1, &lines));
  for (int round = 0; round < 2; round++) {
    int64_t from = 0, n;
    ck_ok(trace_lines_of(lines, &run, &from, LINES, number, &n));
    ck_assert_int_eq(n, LINES);
    for (uint32_t k = 0; k < LINES; k++)
      ck_assert_uint_eq(number[k], k);
  }
  trace_lines_destroy(lines);
}
END_TEST

START_TEST(impossible_records_are_refused)
{
  static const struct {
    int n;
    unsigned char record[16];
  } cases[] = {
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
      {14, {0x02, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2, 0}}, /* 2^63 */
      {14, {0x02, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 2, 0}}, /* 2^64 */
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    unsigned char file[32 + 16 + 16] = {0}, sum[12 + 16] = {0};
    const int n = cases[c].n;
    memcpy(file, "mdtrace\n", 8);
    put(file + 8, 1, 4);
    put(file + 12, ref_crc32c(file, 12), 4);
    put(sum + 8, (uint64_t)n, 4);
    memcpy(sum + 12, cases[c].record, (size_t)n);
    memcpy(file + 16, sum, 12);
    put(file + 28, ref_crc32c(sum, 12 + (size_t)n), 4);
    memcpy(file + 32, cases[c].record, (size_t)n);
    traces_write(file, 32 + (size_t)n);
    traces_refused("a record that cannot be");
  }
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
  ck_ok(trace_writer_open(traces_path(), &w));
  ck_ok(trace_write_run(w, &up));
  ck_ok(trace_write_run(w, &down));
  ck_ok(trace_writer_close(w));
  trace_run *runs;
  int64_t n;
  ck_ok(traces_read(10, &runs, &n));
  ck_assert_int_eq(n, 2);
  same_run(&runs[0], &up);
  same_run(&runs[1], &down);
  trace_lines *lines;
  ck_ok(trace_lines_create(64, 1, &lines));
  uint32_t line[8];
  int64_t from = half - 3, found;
  ck_ok(trace_lines_of(lines, &runs[1], &from, 8, line, &found));
  ck_assert_int_eq(found, 3);
  ck_assert_int_eq(from, half);
  trace_lines_destroy(lines);
  free(runs);
}
END_TEST

/* Lines have numbers in the order in which they are first touched, also while their table grows; an
 * access of a whole line touches no other. */
START_TEST(lines_are_numbered_in_their_order)
{
  enum { LINES = 20000 };
  const trace_run run = {TRACE_NC, TRACE_READ, 64, LINES, 1 << 20, 64};
  uint32_t *line = ref_alloc(LINES, sizeof *line);
  trace_lines *lines;
  ck_ok(trace_lines_create(64, 1, &lines));
  for (int again = 0; again < 2; again++) {
    int64_t from = 0, found;
    ck_ok(trace_lines_of(lines, &run, &from, LINES, line, &found));
    ck_assert(found == LINES && from == LINES);
    for (uint32_t k = 0; k < LINES; k++)
      ck_assert_uint_eq(line[k], k);
  }
  const trace_run across = {TRACE_NC, TRACE_READ, 2, 1, (1 << 20) + 63, 0};
  int64_t from = 0, found;
  ck_ok(trace_lines_of(lines, &across, &from, LINES, line, &found));
  ck_assert(found == 2 && line[0] == 0 && line[1] == 1);
  trace_lines_destroy(lines);
  free(line);
}
END_TEST

START_TEST(writer_refuses_and_leaves_nothing)
{
  trace_writer *w;
  ck_assert_int_eq(trace_writer_open("/nonexistent/trace", &w), MD_EIO);
  ck_assert_ptr_null(w);
  ck_ok(trace_writer_open(traces_path(), &w));
  const trace_run none = {TRACE_AC, TRACE_READ, 8, 0, 0, 0};
  const trace_run beyond = {TRACE_AC, TRACE_READ, 8, 2, UINT64_MAX - 8, 8};
  const trace_run below = {TRACE_AC, TRACE_READ, 8, 3, 8, -8};
  ck_assert_int_eq(trace_write_run(w, &none), MD_EINVAL);
  ck_assert_int_eq(trace_write_run(w, &beyond), MD_EINVAL);
  ck_assert_int_eq(trace_write_run(w, &below), MD_EINVAL);
  trace_writer_discard(w);
  ck_assert_int_ne(access(traces_path(), F_OK), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("trace");
  TCase *tcase = tcase_create("files");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_test(tcase, binary_round_trip);
  tcase_add_test(tcase, binary_format_is_the_one_described);
  tcase_add_test(tcase, a_small_trace_takes_little_memory);
  tcase_add_test(tcase, damaged_files_are_refused);
  tcase_add_test(tcase, the_largest_block_is_read);
  tcase_add_test(tcase, wide_lists_fit_their_blocks);
  tcase_add_test(tcase, many_lines_are_numbered);
  tcase_add_test(tcase, impossible_records_are_refused);
  tcase_add_test(tcase, long_traces_stream);
  tcase_add_test(tcase, lines_are_numbered_in_their_order);
  tcase_add_test(tcase, writer_refuses_and_leaves_nothing);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
