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

/* Where a line comes in, empty places being the oldest.  What passes takes the place of any line of
 * its kind, where these have half of the set or more. */
static slow_line *slow_victim(slow_line *set, int ways, bool passes, uint64_t *random)
{
  slow_line *oldest = set, *kind[64];
  uint32_t n = 0;
  for (int w = 0; w < ways; w++) {
    if (set[w].time < oldest->time) oldest = &set[w];
    if (set[w].time && set[w].passes) kind[n++] = &set[w];
  }
  return passes && n > 0 && n >= (uint32_t)ways / 2 ? kind[cache_random(random, n)] : oldest;
}

/* The same access on the slow set. */
static cache_answer slow_access(slow_line *set, int ways, int64_t now, uint32_t line,
                                uint8_t sectors, cache_op op, uint8_t stream, uint64_t *random)
{
  cache_answer answer = {0};
  slow_line *found = NULL;
  for (int w = 0; w < ways; w++)
    if (set[w].time && set[w].line == line) found = &set[w];
  if (found) {
    answer.hits = found->valid & sectors;
  } else {
    found = slow_victim(set, ways, op == CACHE_PASS, random);
    answer.dirty = found->dirty;
    answer.owner = found->owner;
    answer.line = found->time ? found->line : CACHE_EMPTY;
    *found = (slow_line){.line = line};
  }
  found->valid |= sectors;
  if (op == CACHE_WRITE) {
    found->dirty |= sectors;
    found->owner = stream;
  }
  found->time = now;
  found->passes = op == CACHE_PASS;
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
               {12, 5, true, CACHE_CLOCK_END - 1000}};
  const int k = _i;
  const int ways = cases[k].ways, sets = cases[k].sets;
  const machine_level level = {(int64_t)sets * ways * 128, ways, 128, 32, 1, 0, 0};
  cache fast;
  ck_ok(cache_create(&level, cases[k].hashed, &fast));
  ck_assert_uint_eq(fast.sets, (unsigned)sets);
  fast.clock = cases[k].clock;
  static slow_line slow[SETS_MOST][WAYS_MOST];
  memset(slow, 0, sizeof slow);
  uint64_t seed = 17, random = 0;
  bool used[SETS_MOST] = {false};
  for (int64_t a = 1; a <= ACCESSES; a++) {
    const uint32_t line = (uint32_t)((sets * ways * 1.5 + 40) * ref_uniform(&seed));
    const uint8_t sectors = (uint8_t)(1 + 15 * ref_uniform(&seed));
    const cache_op op = (cache_op)(3 * ref_uniform(&seed));
    const uint8_t stream = (uint8_t)(6 * ref_uniform(&seed));
    const uint32_t set = cache_set(&fast, line);
    ck_assert_uint_lt(set, (unsigned)sets);
    used[set] = true;
    const cache_answer got = cache_access(&fast, line, sectors, op, stream);
    const cache_answer expected =
        slow_access(slow[set], ways, a, line, sectors, op, stream, &random);
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

/* Victims that were not used, against the times of accesses: a line counts as used if its last
 * access is not before the set's `since`, the access with which all of its lines had been used. */
START_TEST(unused_lines_go_first)
{
  enum { ACCESSES = 100000, SETS = 3, WAYS_MOST = 24 };
  static const int cases[] = {1, 2, 12, 16, 24};
  const int ways = cases[_i];
  const machine_level level = {SETS * ways * 128, ways, 128, 32, 1, MACHINE_PLRU, 0};
  cache fast;
  ck_ok(cache_create(&level, true, &fast));
  struct {
    uint32_t line[WAYS_MOST];
    int64_t time[WAYS_MOST], since;
  } slow[SETS] = {0};
  for (int s = 0; s < SETS; s++)
    slow[s].since = 1;
  uint64_t seed = 5;
  int64_t hits = 0;
  for (int64_t now = 1; now <= ACCESSES; now++) {
    const uint32_t line = (uint32_t)((SETS * ways * 1.5 + 4) * ref_uniform(&seed));
    const uint32_t set = cache_set(&fast, line);
    int at = -1, used = 0;
    for (int w = 0; w < ways; w++)
      if (slow[set].time[w] && slow[set].line[w] == line) at = w;
    const bool found = at >= 0;
    for (int w = 0; w < ways && at < 0; w++)
      if (slow[set].time[w] < slow[set].since) at = w;
    at = at < 0 ? 0 : at; /* of a single line */
    slow[set].line[at] = line;
    slow[set].time[at] = now;
    for (int w = 0; w < ways; w++)
      used += slow[set].time[w] >= slow[set].since;
    if (used == ways) slow[set].since = now;
    hits += found;
    ck_assert_msg(cache_access(&fast, line, 1, CACHE_READ, 0).hits == found, "%d ways, access %lld",
                  ways, (long long)now);
  }
  ck_assert(hits > ACCESSES / 4 && hits < ACCESSES);
  cache_destroy(&fast);
}
END_TEST
enum { UNUSED_CASES = 5 };

/* A line that is forgotten is missed, and has its place as if it were there. */
START_TEST(forgotten_lines_take_room)
{
  for (int k = 0; k < MACHINE_POLICY_COUNT; k++) {
    const machine_level level = {16 * 128, 16, 128, 32, 1, (machine_policy)k, 0};
    cache c;
    ck_ok(cache_create(&level, false, &c));
    for (uint32_t line = 0; line < 15; line++)
      cache_access(&c, line, 1, CACHE_READ, 0);
    cache_forget(&c, cache_access(&c, 15, 1, CACHE_READ, 0).at);
    ck_assert_int_eq(cache_access(&c, 14, 1, CACHE_READ, 0).hits, 1);
    ck_assert_int_eq(cache_access(&c, 15, 1, CACHE_READ, 0).hits, 0); /* in the place of line 0 */
    ck_assert_int_eq(cache_access(&c, 1, 1, CACHE_READ, 0).hits, 1);
    ck_assert_int_eq(cache_access(&c, 0, 1, CACHE_READ, 0).hits, 0);
    cache_destroy(&c);
  }
}
END_TEST

/* A loop over lines that pass leaves half of a set to lines that do not, and finds some of its own
 * again, which with LRU it would not. */
START_TEST(passing_lines_have_half)
{
  const machine_level level = {16 * 128, 16, 128, 32, 1, MACHINE_LRU, 0};
  cache c;
  ck_ok(cache_create(&level, false, &c));
  for (uint32_t line = 100; line < 108; line++)
    cache_access(&c, line, 1, CACHE_READ, 0);
  int64_t hits = 0;
  for (int round = 0; round < 1000; round++)
    for (uint32_t line = 0; line < 16; line++)
      hits += cache_access(&c, line, 1, CACHE_PASS, 0).hits;
  ck_assert(hits > 2000 && hits < 8000);
  for (uint32_t line = 100; line < 108; line++)
    ck_assert_int_eq(cache_access(&c, line, 1, CACHE_READ, 0).hits, 1);
  cache_destroy(&c);
}
END_TEST

/* A loop over one line more than a set holds: LRU never finds one; where all that were used but the
 * last are forgotten at once, some are still there. */
START_TEST(unused_lines_soften_loops)
{
  int64_t hits[MACHINE_POLICY_COUNT] = {0};
  for (int k = 0; k < MACHINE_POLICY_COUNT; k++) {
    const machine_level level = {16 * 128, 16, 128, 32, 1, (machine_policy)k, 0};
    cache c;
    ck_ok(cache_create(&level, false, &c));
    for (int round = 0; round < 1000; round++)
      for (uint32_t line = 0; line < 17; line++)
        hits[k] += cache_access(&c, line, 1, CACHE_READ, 0).hits;
    cache_destroy(&c);
  }
  ck_assert_int_eq(hits[MACHINE_LRU], 0);
  ck_assert_int_gt(hits[MACHINE_PLRU], 1700);
  ck_assert_int_lt(hits[MACHINE_PLRU], 16000);
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
      cache_access(&c, line, 1, CACHE_READ, 0);
    for (uint32_t line = first; line < first + 7 * 16; line++)
      ck_assert_int_eq(cache_access(&c, line, 1, CACHE_READ, 0).hits, 1);
  }
  cache_destroy(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("hierarchy_cache");
  TCase *tcase = tcase_create("one cache");
  tcase_add_loop_test(tcase, unused_lines_go_first, 0, UNUSED_CASES);
  tcase_add_test(tcase, unused_lines_soften_loops);
  tcase_add_test(tcase, passing_lines_have_half);
  tcase_add_test(tcase, forgotten_lines_take_room);
  tcase_add_test(tcase, contiguous_lines_fit);
  tcase_add_loop_test(tcase, cache_is_a_list_with_times, 0, CACHE_CASES);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
