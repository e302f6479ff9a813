/* tests/cachemodel/check_hierarchy.c - the models of caches against slow ones, and what must hold
 * of any. */
#include "cachemodel/machine/hierarchy.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_caches.h"
#include "tests/test.h"

static const machine small_gpu = {
    .name = "small",
    .kind = MACHINE_GPU,
    .n_levels = 2,
    .level = {{64 * 128, 64, 128, 32, 1, 0, 0}, {96 * 128, 96, 128, 32, 1, 0, 64}},
    .multiprocessors = 3,
    .warps = 8,
    .blocks = 4,
    .registers = 65536};
static const machine small_cpu = {.name = "small",
                                  .kind = MACHINE_CPU,
                                  .n_levels = 3,
                                  .level = {{4 * 3 * 64, 3, 64, 64, 1, 0, 0},
                                            {6 * 4 * 64, 4, 64, 64, 1, 0, 0},
                                            {64 * 64, 64, 64, 64, 1, 0, 0}}};

static run_near open_near(md_precision precision, int list, md_isa isa)
{
  const int cells[3] = {4, 5, 4};
  const double lo[3] = {0, 1, -3};
  run_case c = run_case_fcc("liquid", cells, lo, 0.2);
  neighbor_spec spec = run_near_spec(1.9, 0.5);
  run_set_list(&spec, list);
  run_near near = ref_near_cpu(precision, &spec, &c);
  if (isa < near.ctx->isa) {
    near.ctx->isa = isa;
    run_near_rebuild(&near);
  }
  run_case_free(&c);
  return near;
}

static void compare_counts(const hierarchy_result *got, const hierarchy_result *expected,
                           int levels)
{
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    const hierarchy_counts *a = &got->stream[s], *b = &expected->stream[s];
    ck_assert_int_eq(a->requests, b->requests);
    ck_assert_int_eq(a->lanes, b->lanes);
    ck_assert_int_eq(a->lines, b->lines);
    ck_assert_int_eq(a->sectors, b->sectors);
    for (int k = 0; k < levels; k++) {
      ck_assert_msg(a->level[k].sectors == b->level[k].sectors &&
                        a->level[k].hits == b->level[k].hits,
                    "%s, level %d: %lld of %lld instead of %lld of %lld", trace_stream_words[s],
                    k + 1, (long long)a->level[k].hits, (long long)a->level[k].sectors,
                    (long long)b->level[k].hits, (long long)b->level[k].sectors);
    }
    ck_assert_int_eq(a->memory_read, b->memory_read);
    ck_assert_int_eq(a->memory_written, b->memory_written);
  }
}

START_TEST(gpu_is_the_slow_one)
{
  static const struct {
    hierarchy_schedule schedule;
    hierarchy_refill refill;
    int32_t block_size, parts; /* of the L2 */
    machine_policy policy;     /* of the L1 */
  } cases[] = {{HIERARCHY_LOCKSTEP, HIERARCHY_DYNAMIC, 64, 1, MACHINE_LRU},
               {HIERARCHY_LOCKSTEP, HIERARCHY_WAVES, 32, 2, MACHINE_PLRU},
               {HIERARCHY_OLDEST, HIERARCHY_DYNAMIC, 64, 1, MACHINE_PLRU},
               {HIERARCHY_OLDEST, HIERARCHY_DYNAMIC, 32, 2, MACHINE_LRU}};
  const md_precision precision = (md_precision)_i;
  static const double cutoff[4] = {1.7, 1.2, 1.2, 1.5};
  run_near near = open_near(precision, 0, MD_AVX512);
  run_near_types(&near, 2);
  for (int variant = 0; variant < 4; variant++) { /* full and half lists, atoms alike and not */
    const list_input in = {near.atoms, near.list, 1.7, NULL, variant < 2 ? LIST_ALIKE : LIST_TYPED,
                           cutoff,     1};
    list_kernel kernel;
    ck_ok(list_kernel_gpu(&in, variant % 2 ? NEIGHBOR_HALF : NEIGHBOR_FULL, true, &kernel));
    ref_events all = ref_threads(&near, &kernel, in.r_cut, cutoff);
    for (int k = 0; k < 4; k++) {
      hierarchy_options o = hierarchy_default();
      o.schedule = cases[k].schedule;
      o.refill = cases[k].refill;
      o.block_size = cases[k].block_size;
      machine m = small_gpu;
      m.level[0].policy = cases[k].policy;
      m.level[1].parts = cases[k].parts;
      m.level[1].bytes *= cases[k].parts;
      hierarchy_result got[2], expected[2];
      ck_ok(hierarchy_run(&in, &kernel, &m, &o, &got[0], &got[1]));
      ck_assert_int_eq(got[0].resident_warps, o.block_size == 64 ? 8 : 4);
      ck_assert_int_eq(got[0].rows, kernel.n);
      ref_gpu(&all, &kernel, &m, &o, got[0].resident_warps, 2, expected);
      compare_counts(&got[0], &expected[0], 2);
      compare_counts(&got[1], &expected[1], 2);
    }
    free(all.event);
  }
  run_near_close(&near);
}
END_TEST

static md_status note_access(void *to, const list_request *r)
{
  for (int32_t l = 0; l < r->lanes; l++)
    ref_event_note(to, (ref_event){.stream = r->stream,
                                   .op = r->op,
                                   .address = list_address(r, l),
                                   .bytes = r->bytes});
  return MD_OK;
}

START_TEST(cpu_is_the_slow_one)
{
  run_near near = open_near(MD_DOUBLE, _i, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
  const hierarchy_options o = hierarchy_default();
  list_kernel kernel, compact;
  ck_ok(list_kernel_of(&in, &kernel));
  compact = kernel;
  list_kernel_compact(&compact);
  ref_events all = {0};
  ck_ok(list_run(&in, &compact, compact.n, note_access, &all));
  hierarchy_result got[2], expected[2];
  ck_ok(hierarchy_run(&in, &kernel, &small_cpu, &o, &got[0], &got[1]));
  ref_cpu(&all, &small_cpu, 2, expected);
  compare_counts(&got[0], &expected[0], 3);
  compare_counts(&got[1], &expected[1], 3);
  free(all.event);
  run_near_close(&near);
}
END_TEST

/* Whatever the schedule: the kernel's requests are the same; with caches for everything each sector
 * is read once; with two parts of the L2 nothing is read from memory that one would not. */
START_TEST(schedules_share_what_they_must)
{
  run_near near = open_near(MD_DOUBLE, 0, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
  machine huge = small_gpu, parts;
  huge.level[0] = (machine_level){1 << 20, 64, 128, 32, 1, 0, 0};
  huge.level[1] = (machine_level){1 << 23, 64, 128, 32, 1, 0, 0};
  parts = huge;
  parts.level[1] = (machine_level){1 << 24, 64, 128, 32, 2, 0, 0};
  for (int half = 0; half < 2; half++) {
    list_kernel kernel;
    hierarchy_result first, got, again;
    ck_ok(list_kernel_gpu(&in, half ? NEIGHBOR_HALF : NEIGHBOR_FULL, true, &kernel));
    hierarchy_options o = hierarchy_default();
    o.block_size = 64;
    ck_ok(hierarchy_run(&in, &kernel, &huge, &o, &first, NULL));
    const hierarchy_counts one = hierarchy_total(&first);
    for (int s = 0; s < HIERARCHY_SCHEDULE_COUNT; s++) {
      o.schedule = (hierarchy_schedule)s;
      ck_ok(hierarchy_run(&in, &kernel, &huge, &o, &got, NULL));
      ck_ok(hierarchy_run(&in, &kernel, &huge, &o, &again, NULL));
      compare_counts(&got, &again, 2); /* deterministic */
      const hierarchy_counts c = hierarchy_total(&got);
      ck_assert(c.requests == one.requests && c.lanes == one.lanes && c.sectors == one.sectors);
      ck_assert_int_eq(c.memory_read, one.memory_read);
      ck_assert_int_eq(c.memory_written, 0);
      ck_ok(hierarchy_run(&in, &kernel, &parts, &o, &got, NULL));
      const hierarchy_counts two = hierarchy_total(&got);
      ck_assert_int_eq(two.memory_read, one.memory_read);
      /* What both halves of the multiprocessors read misses in each part once. */
      ck_assert_int_lt(two.level[1].hits, c.level[1].hits);
    }
    o.schedule = HIERARCHY_ROUND;
    o.skip = o.stay = 0;
    ck_ok(hierarchy_run(&in, &kernel, &small_gpu, &o, &got, NULL));
    o.schedule = HIERARCHY_LOCKSTEP;
    ck_ok(hierarchy_run(&in, &kernel, &small_gpu, &o, &again, NULL));
    compare_counts(&got, &again, 2);
    o.rows = 100; /* less work, in whole blocks */
    ck_ok(hierarchy_run(&in, &kernel, &small_gpu, &o, &got, NULL));
    ck_assert_int_eq(got.rows, 100);
    ck_assert_int_eq(got.stream[TRACE_AC].lanes, 2 * 128);
  }
  run_near_close(&near);
}
END_TEST

/* Multiprocessors 0 and 1 share a part of the L2, 2 and 3 the other: what one has read, the second
 * finds as with one part, the third does not. */
START_TEST(pairs_share_a_part)
{
  run_near near = open_near(MD_DOUBLE, 0, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
  list_kernel kernel;
  ck_ok(list_kernel_gpu(&in, NEIGHBOR_FULL, true, &kernel));
  hierarchy_options o = hierarchy_default();
  o.block_size = 32;
  for (int n = 2; n <= 4; n += 2) {
    machine m = small_gpu;
    hierarchy_result one, two;
    m.multiprocessors = n;
    m.level[1] = (machine_level){1 << 23, 64, 128, 32, 1, 0, 0};
    ck_ok(hierarchy_run(&in, &kernel, &m, &o, &one, NULL));
    m.level[1].parts = 2;
    ck_ok(hierarchy_run(&in, &kernel, &m, &o, &two, NULL));
    const int64_t a = one.stream[TRACE_NC].level[1].hits, b = two.stream[TRACE_NC].level[1].hits;
    ck_assert_msg(n == 2 ? a == b : b < a, "%d multiprocessors: %lld and %lld hits", n,
                  (long long)a, (long long)b);
  }
  run_near_close(&near);
}
END_TEST

/* Embedded atoms: the second pass requests what the first does and F', finds the L1s empty and the
 * L2 as the first left it. */
START_TEST(passes_share_the_second_level)
{
  run_near near = open_near(MD_MIXED, 0, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_EMBEDDED, NULL, 0};
  machine huge = small_gpu;
  huge.level[0] = (machine_level){1 << 20, 64, 128, 32, 1, 0, 0};
  huge.level[1] = (machine_level){1 << 23, 64, 128, 32, 1, 0, 0};
  list_kernel kernel;
  hierarchy_result got;
  ck_ok(list_kernel_gpu(&in, NEIGHBOR_FULL, true, &kernel));
  hierarchy_options o = hierarchy_default();
  o.block_size = 64;
  ck_ok(hierarchy_run(&in, &kernel, &huge, &o, &got, NULL));
  const hierarchy_counts *all = &got.stream[TRACE_NC], *first = &got.density[TRACE_NC];
  ck_assert_int_gt(first->requests, 0);
  ck_assert_int_eq(all->requests, 2 * first->requests);
  ck_assert_int_eq(all->level[0].hits, 2 * first->level[0].hits);
  ck_assert_int_eq(all->memory_read, first->memory_read);
  ck_assert_int_eq(got.density[TRACE_NF].requests, 0);
  const int64_t own = (kernel.n + LIST_WARP - 1) / LIST_WARP;
  ck_assert_int_eq(got.stream[TRACE_NF].requests, first->requests + own);
  ck_assert_int_eq(got.density[TRACE_FUO].requests, own);
  run_near_close(&near);
}
END_TEST

/* Atoms of several types, counted from the list by hand: a byte of the row's own atom, one of each
 * atom whose position is read, and for each pair its constants, of which there are few. */
START_TEST(types_are_counted)
{
  enum { TYPES = 3 };
  const md_precision precision = (md_precision)_i;
  const int64_t batch = precision == MD_DOUBLE ? 4 : 8, loads = precision == MD_DOUBLE ? 2 : 1;
  run_near near = open_near(precision, 0, MD_AVX512);
  run_near_types(&near, TYPES);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_TYPED, NULL, 0};
  const neighbor_view *view = neighbor_list_view(near.list);
  int64_t pairs = 0;
  for (int64_t row = 0; row < view->n_rows; row++)
    pairs += view->count[row] / batch * batch + batch - 1;
  machine huge = small_gpu;
  huge.multiprocessors = 1;
  huge.level[0] = (machine_level){1 << 20, 64, 128, 32, 1, 0, 0};
  huge.level[1] = (machine_level){1 << 23, 64, 128, 32, 1, 0, 0};
  hierarchy_options o = hierarchy_default();
  o.block_size = 32;
  list_kernel kernel;
  hierarchy_result got, alike;
  ck_ok(list_kernel_gpu(&in, NEIGHBOR_FULL, true, &kernel));
  ck_assert_int_eq(kernel.registers, 64);
  ck_ok(hierarchy_run(&in, &kernel, &huge, &o, &got, NULL));
  const hierarchy_counts *type = &got.stream[TRACE_NT], *constant = &got.stream[TRACE_OTHER];
  ck_assert_int_eq(type->lanes, kernel.n + pairs);
  ck_assert_int_eq(constant->lanes, loads * pairs);
  ck_assert_int_eq(got.stream[TRACE_NC].lanes, loads * pairs);
  /* All that is read of them, once. */
  ck_assert_int_eq(type->memory_read, (kernel.n + kernel.n_ghost + 31) / 32);
  const int64_t bytes = TYPES * TYPES * 4 * (precision == MD_DOUBLE ? 8 : 4);
  ck_assert_int_eq(constant->level[0].sectors - constant->level[0].hits, (bytes + 31) / 32);
  /* The rest is what atoms alike have. */
  list_input plain = in;
  plain.reads = LIST_ALIKE;
  ck_ok(list_kernel_gpu(&plain, NEIGHBOR_FULL, true, &kernel));
  o.registers = got.registers;
  ck_ok(hierarchy_run(&plain, &kernel, &huge, &o, &alike, NULL));
  got.stream[TRACE_NT] = got.stream[TRACE_OTHER] = (hierarchy_counts){0};
  const hierarchy_counts a = hierarchy_total(&got), b = hierarchy_total(&alike);
  ck_assert(a.requests == b.requests && a.lanes == b.lanes && a.sectors == b.sectors);
  run_near_close(&near);
}
END_TEST

/* Every instruction set counts alike. */
START_TEST(instruction_sets_agree)
{
  hierarchy_result gpu[MD_ISA_COUNT];
  for (int isa = 0; isa < MD_ISA_COUNT; isa++) {
    run_near near = open_near(MD_MIXED, 0, (md_isa)isa);
    const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
    list_kernel kernel;
    ck_ok(list_kernel_gpu(&in, NEIGHBOR_HALF, false, &kernel));
    hierarchy_options o = hierarchy_default();
    o.block_size = 32;
    ck_ok(hierarchy_run(&in, &kernel, &small_gpu, &o, &gpu[isa], NULL));
    if (isa > 0) compare_counts(&gpu[isa], &gpu[0], 2);
    run_near_close(&near);
  }
}
END_TEST

/* Of every count, over the streams. */
START_TEST(totals_are_sums)
{
  enum { COUNTS = sizeof(hierarchy_counts) / sizeof(int64_t) };
  hierarchy_result result = {0};
  int64_t sum[COUNTS] = {0};
  for (int s = 0; s < TRACE_STREAM_COUNT; s++) {
    int64_t count[COUNTS];
    for (int k = 0; k < COUNTS; k++)
      sum[k] += count[k] = 1 + (s + 1) * (k + 7);
    memcpy(&result.stream[s], count, sizeof count);
  }
  const hierarchy_counts total = hierarchy_total(&result);
  ck_assert_mem_eq(&total, sum, sizeof total);
}
END_TEST

/* Rows of half lists hold half the neighbours: the builder leaves half the room for them. */
START_TEST(rooms_for_rows_are_guessed)
{
  run_near near = open_near(MD_MIXED, 0, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
  const neighbor_view *view = neighbor_list_view(near.list);
  const double mean = (double)view->n_entries / (double)view->n_rows;
  for (int half = 0; half < 2; half++) {
    list_kernel kernel;
    ck_ok(list_kernel_gpu(&in, half ? NEIGHBOR_HALF : NEIGHBOR_FULL, true, &kernel));
    const int64_t slices = (view->n_rows + LIST_WARP - 1) / LIST_WARP;
    const double room = (double)kernel.array[LIST_NBR].count / (double)(slices * LIST_WARP);
    const double guess = 1.25 * (half ? mean / 2 : mean) + 8;
    ck_assert_msg(room > guess && room <= guess + 4 && fmod(room, 4) == 0, "%g for %g", room, mean);
  }
  run_near_close(&near);
}
END_TEST

START_TEST(bad_input_is_refused)
{
  run_near near = open_near(MD_DOUBLE, 0, MD_AVX512);
  const list_input in = {near.atoms, near.list, 1.7, NULL, LIST_ALIKE, NULL, 0};
  list_kernel own, gpu;
  hierarchy_result got;
  ck_ok(list_kernel_of(&in, &own));
  ck_ok(list_kernel_gpu(&in, NEIGHBOR_FULL, true, &gpu));
  hierarchy_options o = hierarchy_default();
  ck_assert_int_eq(hierarchy_run(&in, &own, &small_gpu, &o, &got, NULL), MD_EINVAL);
  list_input other = in;
  other.reads = LIST_EMBEDDED;
  ck_assert_int_eq(list_kernel_gpu(&other, NEIGHBOR_HALF, true, &own), MD_EINVAL);
  ck_assert_int_eq(hierarchy_run(&in, &gpu, &small_cpu, &o, &got, NULL), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "small"));
  o.block_size = 100;
  ck_assert_int_eq(hierarchy_run(&in, &gpu, &small_gpu, &o, &got, NULL), MD_EINVAL);
  o.block_size = 512; /* 16 warps of 8 */
  ck_assert_int_eq(hierarchy_run(&in, &gpu, &small_gpu, &o, &got, NULL), MD_EINVAL);
  o.block_size = 64;
  list_kernel wide = gpu;
  wide.array[LIST_NBR].count = (int64_t)1 << 40;
  ck_assert_int_eq(hierarchy_run(&in, &wide, &small_gpu, &o, &got, NULL), MD_ECAPACITY);
  wide.array[LIST_NBR].count = (int64_t)1 << 36; /* 2^31 lines of 128 bytes */
  ck_ok(hierarchy_run(&in, &wide, &small_gpu, &o, &got, NULL));
  run_near_close(&near);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("hierarchy");
  TCase *tcase = tcase_create("models");
  tcase_add_loop_test(tcase, gpu_is_the_slow_one, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tcase, cpu_is_the_slow_one, 0, RUN_TRACED);
  tcase_add_test(tcase, schedules_share_what_they_must);
  tcase_add_test(tcase, pairs_share_a_part);
  tcase_add_test(tcase, passes_share_the_second_level);
  tcase_add_loop_test(tcase, types_are_counted, 0, MD_PRECISION_COUNT);
  tcase_add_test(tcase, instruction_sets_agree);
  tcase_add_test(tcase, totals_are_sums);
  tcase_add_test(tcase, rooms_for_rows_are_guessed);
  tcase_add_test(tcase, bad_input_is_refused);
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
