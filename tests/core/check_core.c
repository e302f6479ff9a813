/* tests/core/check_core.c - messages, buffers, atoms, shifts, marks of files, output files,
 * JSON. */
#include "core/atoms.h"
#include "core/parse/parse.h"
#include "core/time/timer.h"
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

/* Of laps that are not followed the time is known in all, and shared as in those that are. */
START_TEST(laps_share_their_time)
{
  enum { LAPS = 100, SORTS = 4, FILLS = 4, BYTES = 1 << 22 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  md_buffer bytes = {0};
  ck_ok(md_buffer_reserve(ctx, &bytes, BYTES, 0));
  ck_ok(md_fill(ctx, bytes.data, 0, BYTES));
  ck_ok(md_ctx_sync(ctx));
  md_timer_reset(ctx);
  const double began = md_wall_seconds();
  for (int lap = 0; lap < LAPS; lap++) {
    md_timer_lap(ctx);
    for (int k = 0; k < 2 * SORTS; k++) { /* forces and sorts take turns, as often as each other */
      const md_phase phase = k % 2 == 0 ? MD_PHASE_FORCE : MD_PHASE_SORT;
      md_phase_begin(ctx, phase);
      for (int f = 0; f < (phase == MD_PHASE_FORCE ? FILLS : 1); f++)
        ck_ok(md_fill(ctx, bytes.data, 0, BYTES));
      md_phase_end(ctx, phase);
    }
    if (lap % 25 > 0) continue;
    md_phase_begin(ctx, MD_PHASE_OUTPUT);
    ck_ok(md_fill(ctx, bytes.data, 0, BYTES));
    md_phase_end(ctx, MD_PHASE_OUTPUT);
  }
  const double force = md_phase_seconds(ctx, MD_PHASE_FORCE);
  const double wall = md_wall_seconds() - began, sort = md_phase_seconds(ctx, MD_PHASE_SORT);
  const double output = md_phase_seconds(ctx, MD_PHASE_OUTPUT);
  ck_assert_double_gt(force, sort);
  ck_assert_double_gt(sort, 0);
  ck_assert_double_gt(output, 0);
  ck_assert_double_lt(output, force / 20); /* 4 fills, and 1600 */
  ck_assert_double_eq(md_phase_seconds(ctx, MD_PHASE_GHOSTS), 0);
  ck_assert_double_le(force + sort + output, wall * (1 + 1e-3));
  ck_assert_double_ge(force + sort + output, wall / 2);
  md_buffer_free(ctx, &bytes);
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
  tcase_add_test(tc, timer_adds_up);
  tcase_add_test(tc, laps_share_their_time);
  tcase_add_test(tc, clocks_count_seconds);
  tcase_add_test(tc, counts_may_have_an_exponent);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
