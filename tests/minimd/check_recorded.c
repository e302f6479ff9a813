/* tests/minimd/check_recorded.c - recorded traces in caches, by region and by line, against caches
 * that are lists with times. */
#include "minimd/locality/recorded.h"
#include "tests/drive/files.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_caches.h"
#include "tests/test.h"

#include <stdio.h>

enum { N = 6000, LINE = 32, REGIONS = 2, PARTS = REGIONS + 2 };

typedef struct {
  uint64_t address;
  int bytes;
  bool write;
} access_;

static access_ made[N];
static recorded_region regions[REGIONS] = {{"low", 112, 2000}, {"high", 5008, 0x4000}};

/* Accesses that walk, jump and come back, as text. */
static const char *write_trace(void)
{
  uint64_t seed = 4, at = 0;
  char *text = ref_alloc(N, 40);
  size_t used = 0;
  for (int k = 0; k < N; k++) {
    const double u = ref_uniform(&seed);
    at = u < 0.2 ? (uint64_t)(u * 1e5) : (at + 16) % 40000;
    made[k] = (access_){at, u < 0.1 ? 70 : 8, ref_uniform(&seed) < 0.3};
    used += (size_t)sprintf(text + used, "%llu,%d,%c\n", (unsigned long long)at, made[k].bytes,
                            made[k].write ? 'w' : 'r');
  }
  const char *path = files_write("trace", text, used);
  free(text);
  return path;
}

static int part_of(uint64_t address)
{
  for (int k = 0; k < REGIONS; k++)
    if (address >= regions[k].start && address < regions[k].end) return k;
  return REGIONS;
}

/* A cache: lines and the time that decides who goes; each line on its own. */
enum { MOST = 4000 };
static struct {
  uint64_t line;
  int64_t time;
} held[MOST];
static int n_held;

static bool slow_access(const cachemodel_level *c, uint64_t line, int64_t now)
{
  const uint64_t sets = c->ways ? (uint64_t)(c->capacity / c->ways) : 1;
  const int64_t ways = c->ways ? c->ways : c->capacity;
  int oldest = -1;
  int64_t in_set = 0;
  for (int k = 0; k < n_held; k++) {
    if (held[k].line % sets != line % sets) continue;
    if (held[k].line == line) {
      if (c->policy == CACHEMODEL_LRU) held[k].time = now;
      return true;
    }
    in_set++;
    if (oldest < 0 || held[k].time < held[oldest].time) oldest = k;
  }
  const int at = in_set == ways ? oldest : n_held++;
  ck_assert_int_lt(n_held, MOST);
  held[at].line = line;
  held[at].time = now;
  return false;
}

/* counts[part], and misses of each line of 32 bytes below 41000. */
static void slow_study(const cachemodel_level *c, miss_count counts[PARTS], int64_t *by_line)
{
  int64_t now = 0;
  n_held = 0;
  memset(counts, 0, PARTS * sizeof *counts);
  for (int k = 0; k < N; k++) {
    const uint64_t last = (made[k].address + (uint64_t)made[k].bytes - 1) / LINE;
    for (uint64_t line = made[k].address / LINE; line <= last; line++) {
      const bool missed = !slow_access(c, line, ++now);
      const int part = part_of(made[k].address);
      counts[part].accesses++;
      counts[part].misses += missed;
      counts[PARTS - 1].accesses++;
      counts[PARTS - 1].misses += missed;
      if (by_line) by_line[line] += missed;
    }
  }
}

static const cachemodel_level caches[] = {{1, 0, CACHEMODEL_LRU},   {8, 0, CACHEMODEL_LRU},
                                          {100, 0, CACHEMODEL_LRU}, {64, 4, CACHEMODEL_LRU},
                                          {36, 3, CACHEMODEL_FIFO}, {50, 0, CACHEMODEL_FIFO}};
enum { CACHES = sizeof caches / sizeof *caches };

START_TEST(regions_and_caches_are_the_slow_ones)
{
  const char *path = write_trace();
  /* From the first three on in one pass of stack distances, then each on its own. */
  for (int n = 3; n <= CACHES; n += CACHES - 3) {
    const recorded_spec spec = {.path = path,
                                .line_bytes = LINE,
                                .caches = caches,
                                .n_caches = n,
                                .regions = regions,
                                .n_regions = REGIONS};
    recorded_result got;
    ck_ok(recorded_study(&spec, &got));
    ck_assert_int_eq(got.n_parts, PARTS);
    ck_assert_int_eq(got.n_caches, n);
    for (int k = 0; k < n; k++) {
      miss_count expected[PARTS];
      slow_study(&caches[k], expected, NULL);
      for (int part = 0; part < PARTS; part++) {
        const miss_count *c = &got.counts[part * n + k];
        ck_assert_int_eq(c->capacity, caches[k].capacity);
        ck_assert_int_eq(c->accesses, expected[part].accesses);
        ck_assert_int_eq(c->misses, expected[part].misses);
      }
    }
    recorded_free(&got);
  }
}
END_TEST

START_TEST(all_capacities_by_region)
{
  recorded_spec spec = {.path = write_trace(),
                        .line_bytes = LINE,
                        .every = true,
                        .regions = regions,
                        .n_regions = REGIONS};
  recorded_result got, sum;
  ck_ok(recorded_study(&spec, &got));
  spec.n_regions = 0;
  ck_ok(recorded_study(&spec, &sum));
  ck_assert_int_eq(sum.n_parts, 1);
  ck_assert_int_eq(sum.n_caches, got.n_caches);
  for (int64_t k = 0; k < got.n_caches; k++) {
    const miss_count *all = &got.counts[(PARTS - 1) * got.n_caches + k];
    ck_assert_int_eq(all->capacity, k + 1);
    ck_assert_int_eq(all->misses, sum.counts[k].misses);
    ck_assert_int_eq(all->accesses, sum.counts[k].accesses);
    if (k % 97 != 0) continue;
    const cachemodel_level c = {k + 1, 0, CACHEMODEL_LRU};
    miss_count expected[PARTS];
    slow_study(&c, expected, NULL);
    for (int part = 0; part < PARTS; part++)
      ck_assert_int_eq(got.counts[part * got.n_caches + k].misses, expected[part].misses);
  }
  recorded_free(&got);
  recorded_free(&sum);
}
END_TEST

START_TEST(worst_lines_are_in_order)
{
  static int64_t by_line[41000 / LINE + 1];
  miss_count expected[PARTS];
  const recorded_spec spec = {.path = write_trace(),
                              .line_bytes = LINE,
                              .caches = &caches[3],
                              .n_caches = 1,
                              .regions = regions,
                              .n_regions = REGIONS,
                              .by_line = true};
  recorded_result got;
  ck_ok(recorded_study(&spec, &got));
  memset(by_line, 0, sizeof by_line);
  slow_study(&caches[3], expected, by_line);
  int64_t misses = 0, accesses = 0;
  for (int64_t k = 0; k < got.n_lines; k++) {
    const recorded_line *l = &got.lines[k];
    ck_assert_int_eq(l->address % LINE, 0);
    ck_assert_int_eq(l->misses, by_line[l->address / LINE]);
    ck_assert_int_eq(l->part, part_of(l->address));
    ck_assert(k == 0 || l->misses <= l[-1].misses);
    ck_assert_int_gt(l->accesses, 0);
    misses += l->misses;
    accesses += l->accesses;
  }
  ck_assert_int_eq(misses, expected[PARTS - 1].misses);
  ck_assert_int_eq(accesses, expected[PARTS - 1].accesses);
  ck_assert_int_eq(got.counts[PARTS - 1].misses, misses);
  recorded_free(&got);
}
END_TEST

START_TEST(machine_is_the_slow_one)
{
  const machine m = {
      .name = "toy",
      .kind = MACHINE_CPU,
      .n_levels = 2,
      .level = {{.bytes = 6 * 2 * LINE, .ways = 2, .line = LINE, .sector = LINE, .parts = 1},
                {.bytes = 20 * 4 * LINE, .ways = 4, .line = LINE, .sector = LINE, .parts = 1}}};
  const recorded_spec spec = {
      .path = write_trace(), .line_bytes = LINE, .m = &m, .regions = regions, .n_regions = REGIONS};
  recorded_result got;
  ck_ok(recorded_study(&spec, &got));
  /* The slow core tells streams apart: regions are streams here. */
  ref_events all = {0};
  for (int k = 0; k < N; k++)
    ref_event_note(&all, (ref_event){.stream = (trace_stream)part_of(made[k].address),
                                     .op = made[k].write ? TRACE_WRITE : TRACE_READ,
                                     .address = made[k].address,
                                     .bytes = made[k].bytes});
  hierarchy_result expected;
  ref_cpu(&all, &m, 1, &expected);
  for (int part = 0; part < PARTS - 1; part++)
    for (int l = 0; l < 2; l++) {
      const miss_count *c = &got.counts[part * 2 + l];
      ck_assert_int_eq(c->accesses, expected.stream[part].level[l].sectors);
      ck_assert_int_eq(c->misses, c->accesses - expected.stream[part].level[l].hits);
      ck_assert_int_gt(c->misses, 0);
    }
  free(all.event);
  recorded_free(&got);
}
END_TEST

START_TEST(words_are_read)
{
  recorded_region *list;
  int n;
  int64_t lines;
  ck_ok(recorded_regions_read("a=0-64,b=0x40-0x80", &list, &n));
  ck_assert_int_eq(n, 2);
  ck_assert_str_eq(list[1].name, "b");
  ck_assert_uint_eq(list[1].start, 64);
  ck_assert_uint_eq(list[1].end, 128);
  recorded_regions_free(list, n);
  static const char *const bad[] = {"",       "a",           "a=",          "a=1",     "a=1-",
                                    "=1-2",   "a=2-1",       "a=1-1",       "a=1-2,",  "a=1-2x",
                                    "a=-2",   "a=1-2,a=3-4", "a=1-3,b=2-4", "all=1-2", "other=1-2",
                                    "a=1-0x", "a=1f-2f"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_msg(recorded_regions_read(bad[k], &list, &n) == MD_EINVAL, "'%s'", bad[k]);
  static const struct {
    const char *text;
    int64_t lines;
  } capacities[] = {{"7", 7},       {"64B", 1},     {"32KB", 512},
                    {"32kib", 512}, {"1MB", 16384}, {"2GB", 33554432}};
  for (size_t k = 0; k < sizeof capacities / sizeof *capacities; k++) {
    ck_ok(recorded_capacity(capacities[k].text, 64, &lines));
    ck_assert_int_eq(lines, capacities[k].lines);
  }
  static const char *const wrong[] = {"0",     "0KB",  "63B",  "1.5KB", "KB",
                                      "32 KB", "32TB", "-1KB", "1e3",   "9007199254740992KB"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    ck_assert_msg(recorded_capacity(wrong[k], 64, &lines) == MD_EINVAL, "'%s'", wrong[k]);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("recorded");
  TCase *tcase = tcase_create("recorded");
  tcase_add_checked_fixture(tcase, files_begin, files_end);
  tcase_add_test(tcase, regions_and_caches_are_the_slow_ones);
  tcase_add_test(tcase, all_capacities_by_region);
  tcase_add_test(tcase, worst_lines_are_in_order);
  tcase_add_test(tcase, machine_is_the_slow_one);
  tcase_add_test(tcase, words_are_read);
  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
