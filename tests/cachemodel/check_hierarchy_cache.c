/* tests/cachemodel/check_hierarchy_cache.c - one cache of the models against a list with times. */
#include "cachemodel/machine/hierarchy_cache.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

typedef struct {
  uint32_t line;
  uint8_t valid, dirty, owner;
  bool passes;
  int64_t time; /* 0: empty */
} slow_line;

static bool goes_sooner(const slow_line *a, const slow_line *b)
{
  if (!a->time || !b->time) return a->time < b->time;
  return a->passes != b->passes ? a->passes : a->time < b->time;
}

/* The same access on the slow set, of a line that passes or not. */
static cache_answer slow_access(slow_line *set, int ways, int64_t now, uint32_t line,
                                uint8_t sectors, bool keep, bool write, uint8_t stream, bool passes)
{
  cache_answer answer = {0};
  slow_line *found = NULL, *oldest = set;
  for (int w = 0; w < ways; w++) {
    if (set[w].time && set[w].line == line) found = &set[w];
    if (goes_sooner(&set[w], oldest)) oldest = &set[w];
  }
  if (!found && !keep) return answer;
  if (found) {
    answer.hits = found->valid & sectors;
  } else {
    found = oldest;
    answer.dirty = found->dirty;
    answer.owner = found->owner;
    answer.line = found->time ? found->line : CACHE_EMPTY;
    *found = (slow_line){.line = line};
  }
  if (keep) found->valid |= sectors;
  if (write) {
    found->dirty |= sectors;
    found->owner = stream;
  }
  found->time = now;
  found->passes = passes;
  return answer;
}

START_TEST(cache_is_a_list_with_times)
{
  enum { ACCESSES = 200000, WAYS_MOST = 24, SETS_MOST = 16 };
  static const struct {
    int ways, sets;
    bool hashed;
    uint32_t clock; /* to begin with */
  } cases[] = {{1, 16, false, 1},
               {2, 7, true, 1},
               {12, 5, false, 1},
               {16, 4, true, 1},
               {24, 3, true, 1},
               {24, 1, false, 1},
               {12, 5, true, CACHE_STAYS - 1000}};
  const int k = _i;
  const int ways = cases[k].ways, sets = cases[k].sets;
  const machine_level level = {(int64_t)sets * ways * 128, ways, 128, 32, 1, 0, 0};
  cache fast;
  ck_ok(cache_create(&level, cases[k].hashed, &fast));
  ck_assert_uint_eq(fast.sets, (unsigned)sets);
  fast.clock = cases[k].clock;
  static slow_line slow[SETS_MOST][WAYS_MOST];
  memset(slow, 0, sizeof slow);
  uint64_t seed = 17;
  bool used[SETS_MOST] = {false};
  for (int64_t a = 1; a <= ACCESSES; a++) {
    const uint32_t line = (uint32_t)((sets * ways * 1.5 + 40) * ref_uniform(&seed));
    const uint8_t sectors = (uint8_t)(1 + 15 * ref_uniform(&seed));
    const bool keep = ref_uniform(&seed) < 0.9, write = keep && ref_uniform(&seed) < 0.3;
    const bool passes = keep && ref_uniform(&seed) < 0.4;
    const uint8_t stream = (uint8_t)(6 * ref_uniform(&seed));
    const uint32_t set = cache_set(&fast, line);
    ck_assert_uint_lt(set, (unsigned)sets);
    used[set] = true;
    const cache_answer got = cache_access(&fast, line, sectors, keep, write, stream);
    if (passes) cache_let_pass(&fast, got.at);
    const cache_answer expected =
        slow_access(slow[set], ways, a, line, sectors, keep, write, stream, passes);
    ck_assert_msg(got.hits == expected.hits && got.dirty == expected.dirty, "case %d, access %lld",
                  k, (long long)a);
    if (got.dirty) ck_assert(got.owner == expected.owner && got.line == expected.line);
  }
  for (int s = 0; s < sets; s++)
    ck_assert(used[s]);
  cache_destroy(&fast);
}
END_TEST
enum { CACHE_CASES = 7 };

/* A loop over one line more than a set holds: LRU never finds one, and a victim at random leaves
 * some: with all of them, a line is still there when 16 others came with 16 chances of 1 in 16
 * each to have gone, at the most. */
START_TEST(random_victims_soften_loops)
{
  int64_t hits[3];
  for (int k = 0; k < 3; k++) {
    const machine_level level = {16 * 128, 16, 128, 32, 1, 50 * k, 0};
    cache c;
    ck_ok(cache_create(&level, false, &c));
    hits[k] = 0;
    for (int round = 0; round < 1000; round++)
      for (uint32_t line = 0; line < 17; line++)
        hits[k] += cache_access(&c, line, 1, true, false, 0).hits;
    cache_destroy(&c);
  }
  ck_assert_int_eq(hits[0], 0);
  ck_assert_int_gt(hits[1], 1700);
  ck_assert_int_gt(hits[2], hits[1]);
  ck_assert_int_lt(hits[2], 16000);
}
END_TEST

/* As many lines in a row as the cache has fit, wherever they begin at a multiple of its sets. */
START_TEST(contiguous_lines_fit)
{
  const machine_level level = {7 * 16 * 128, 16, 128, 32, 1, 0, 0};
  cache c;
  ck_ok(cache_create(&level, true, &c));
  for (uint32_t first = 0; first < 7 * 1000; first += 7) {
    for (uint32_t line = first; line < first + 7 * 16; line++)
      cache_access(&c, line, 1, true, false, 0);
    for (uint32_t line = first; line < first + 7 * 16; line++)
      ck_assert_int_eq(cache_access(&c, line, 1, true, false, 0).hits, 1);
  }
  cache_destroy(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("hierarchy_cache");
  TCase *tcase = tcase_create("one cache");
  tcase_add_test(tcase, random_victims_soften_loops);
  tcase_add_test(tcase, contiguous_lines_fit);
  tcase_add_loop_test(tcase, cache_is_a_list_with_times, 0, CACHE_CASES);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
