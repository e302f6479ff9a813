/* tests/cachemodel/check_cachemodel.c - cache models against caches written down as plain lists
 * that are searched from the front. */
#include "cachemodel/cachemodel.h"
#include "tests/test.h"

static uint64_t random_next(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

/* A trace that goes back to recent lines often and to old ones now and then. */
static uint32_t *random_trace(int64_t n, uint32_t lines, uint64_t seed)
{
  uint32_t *trace = malloc((size_t)n * sizeof *trace);
  for (int64_t t = 0; t < n; t++) {
    const uint64_t kind = random_next(&seed) % 8;
    const int64_t back = 1 + (int64_t)(random_next(&seed) % (kind < 4 ? 12 : 300));
    trace[t] = kind < 7 && back <= t ? trace[t - back] : (uint32_t)(random_next(&seed) % lines);
  }
  return trace;
}

/* One cache as lists, a list a set, the line to be evicted last. */
typedef struct {
  cachemodel_level spec;
  int64_t sets, ways;
  uint32_t *line; /* [sets][ways] */
  int64_t *held;  /* [sets] */
} ref_cache;

static ref_cache ref_create(cachemodel_level spec)
{
  ref_cache c = {.spec = spec, .ways = spec.ways ? spec.ways : spec.capacity};
  c.sets = spec.capacity / c.ways;
  c.line = calloc((size_t)spec.capacity, sizeof *c.line);
  c.held = calloc((size_t)c.sets, sizeof *c.held);
  return c;
}

static void ref_free(ref_cache *c)
{
  free(c->line);
  free(c->held);
}

static int64_t ref_find(const ref_cache *c, uint32_t x)
{
  const int64_t set = x % c->sets;
  for (int64_t w = 0; w < c->held[set]; w++)
    if (c->line[set * c->ways + w] == x) return w;
  return -1;
}

static void ref_remove(ref_cache *c, uint32_t x)
{
  const int64_t set = x % c->sets, at = ref_find(c, x);
  if (at < 0) return;
  uint32_t *list = c->line + set * c->ways;
  c->held[set]--;
  memmove(list + at, list + at + 1, (size_t)(c->held[set] - at) * sizeof *list);
}

/* Put x first; returns the line that fell out, or -1. */
static int64_t ref_insert(ref_cache *c, uint32_t x)
{
  const int64_t set = x % c->sets;
  uint32_t *list = c->line + set * c->ways;
  const int64_t out = c->held[set] == c->ways ? (int64_t)list[c->ways - 1] : -1;
  if (out >= 0) c->held[set]--;
  memmove(list + 1, list, (size_t)c->held[set] * sizeof *list);
  list[0] = x;
  c->held[set]++;
  return out;
}

/* Misses of each level, by the rules in cachemodel.h. */
static void ref_run(int n, const cachemodel_level *specs, cachemodel_inclusion inclusion,
                    int64_t length, const uint32_t *trace, int64_t *accesses, int64_t *misses)
{
  ref_cache c[4];
  for (int l = 0; l < n; l++) {
    c[l] = ref_create(specs[l]);
    accesses[l] = misses[l] = 0;
  }
  for (int64_t t = 0; t < length; t++) {
    const uint32_t x = trace[t];
    int hit = 0;
    while (hit < n && ref_find(&c[hit], x) < 0) {
      accesses[hit]++;
      misses[hit++]++;
    }
    if (hit < n) accesses[hit]++;
    if (hit < n && specs[hit].policy == CACHEMODEL_LRU) {
      ref_remove(&c[hit], x);
      ref_insert(&c[hit], x);
    }
    if (inclusion == CACHEMODEL_INCLUSIVE) {
      for (int l = hit - 1; l >= 0; l--) {
        const int64_t out = ref_insert(&c[l], x);
        for (int near = 0; out >= 0 && near < l; near++)
          ref_remove(&c[near], (uint32_t)out);
      }
    } else if (hit > 0) {
      if (hit < n) ref_remove(&c[hit], x);
      int64_t moving = x;
      for (int l = 0; l < n && moving >= 0; l++)
        moving = ref_insert(&c[l], (uint32_t)moving);
    }
  }
  for (int l = 0; l < n; l++)
    ref_free(&c[l]);
}

/* Feed a trace in uneven batches. */
static void feed_stack(cachemodel_stack *stack, int64_t n, const uint32_t *trace)
{
  for (int64_t t = 0, step = 1; t < n; t += step, step = step * 3 % 9973 + 1)
    ck_ok(cachemodel_stack_feed(stack, t + step < n ? step : n - t, trace + t));
}

static void feed_cache(cachemodel_cache *cache, int64_t n, const uint32_t *trace)
{
  for (int64_t t = 0, step = 1; t < n; t += step, step = step * 3 % 9973 + 1)
    ck_ok(cachemodel_cache_feed(cache, t + step < n ? step : n - t, trace + t));
}

START_TEST(stack_and_caches_are_lru)
{
  enum { N = 30000, LINES = 400 };
  uint32_t *trace = random_trace(N, LINES, 5);
  for (int isa = 0; isa <= (int)md_isa_detect(); isa++) {
    cachemodel_stack *stack;
    int64_t all[LINES + 10];
    ck_ok(cachemodel_stack_create((md_isa)isa, &stack));
    feed_stack(stack, N, trace);
    cachemodel_stack_misses(stack, LINES + 10, all);
    ck_assert_int_eq(cachemodel_stack_accesses(stack), N);
    ck_assert_int_eq(cachemodel_stack_distinct(stack), all[LINES + 9]);
    cachemodel_stack_destroy(stack);
    static const int64_t capacities[] = {1,  2,  3,  15,  16,  17,  31, 63,
                                         64, 65, 66, 100, 399, 400, 405};
    for (size_t k = 0; k < sizeof capacities / sizeof *capacities; k++) {
      const cachemodel_level spec = {capacities[k], k % 2 ? capacities[k] : 0, CACHEMODEL_LRU};
      int64_t accesses, expected, misses;
      ref_run(1, &spec, CACHEMODEL_INCLUSIVE, N, trace, &accesses, &expected);
      ck_assert_int_eq(all[capacities[k] - 1], expected);
      cachemodel_cache *cache;
      ck_ok(cachemodel_cache_create((md_isa)isa, 1, &spec, CACHEMODEL_INCLUSIVE, &cache));
      feed_cache(cache, N, trace);
      cachemodel_cache_counts(cache, 0, &accesses, &misses);
      ck_assert_int_eq(accesses, N);
      ck_assert_int_eq(misses, expected);
      cachemodel_cache_destroy(cache);
    }
  }
  free(trace);
}
END_TEST

static const cachemodel_level shapes[][3] = {
    {{12, 0, CACHEMODEL_FIFO}},
    {{300, 0, CACHEMODEL_FIFO}},
    {{96, 1, CACHEMODEL_LRU}},
    {{96, 3, CACHEMODEL_LRU}},
    {{130, 10, CACHEMODEL_FIFO}},
    {{8, 2, CACHEMODEL_LRU}, {64, 0, CACHEMODEL_LRU}},
    {{64, 0, CACHEMODEL_LRU}, {16, 4, CACHEMODEL_LRU}},
    {{12, 0, CACHEMODEL_FIFO}, {90, 9, CACHEMODEL_LRU}},
    {{10, 5, CACHEMODEL_LRU}, {60, 6, CACHEMODEL_FIFO}, {200, 0, CACHEMODEL_LRU}},
    {{7, 7, CACHEMODEL_LRU}, {33, 11, CACHEMODEL_LRU}, {88, 8, CACHEMODEL_LRU}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };
START_TEST(levels_follow_their_rules)
{
  enum { N = 40000 };
  const cachemodel_level *levels = shapes[_i];
  uint32_t *trace = random_trace(N, 350, (uint64_t)_i);
  int n = 0;
  while (n < 3 && levels[n].capacity)
    n++;
  for (int inclusion = 0; inclusion < CACHEMODEL_INCLUSION_COUNT; inclusion++) {
    int64_t accesses[3], misses[3];
    ref_run(n, levels, (cachemodel_inclusion)inclusion, N, trace, accesses, misses);
    cachemodel_cache *cache;
    ck_ok(cachemodel_cache_create(MD_PORTABLE, n, levels, (cachemodel_inclusion)inclusion, &cache));
    feed_cache(cache, N, trace);
    for (int l = 0; l < n; l++) {
      int64_t reached, missed;
      cachemodel_cache_counts(cache, l, &reached, &missed);
      ck_assert_int_eq(reached, accesses[l]);
      ck_assert_int_eq(missed, misses[l]);
    }
    cachemodel_cache_destroy(cache);
  }
  free(trace);
}
END_TEST

START_TEST(exclusive_levels_are_one_stack)
{
  /* Two exclusive, fully associative LRU levels hold what one of their sum holds. */
  enum { N = 50000 };
  uint32_t *trace = random_trace(N, 500, 77);
  const cachemodel_level levels[2] = {{20, 0, CACHEMODEL_LRU}, {130, 0, CACHEMODEL_LRU}};
  cachemodel_cache *cache;
  cachemodel_stack *stack;
  int64_t all[150], reached, missed;
  ck_ok(cachemodel_cache_create(md_isa_detect(), 2, levels, CACHEMODEL_EXCLUSIVE, &cache));
  ck_ok(cachemodel_stack_create(md_isa_detect(), &stack));
  feed_cache(cache, N, trace);
  feed_stack(stack, N, trace);
  cachemodel_stack_misses(stack, 150, all);
  cachemodel_cache_counts(cache, 1, &reached, &missed);
  ck_assert_int_eq(reached, all[19]);
  ck_assert_int_eq(missed, all[149]);
  cachemodel_cache_destroy(cache);
  cachemodel_stack_destroy(stack);
  free(trace);
}
END_TEST

START_TEST(levels_are_read)
{
  const cachemodel_level usual = {0, 4, CACHEMODEL_FIFO};
  cachemodel_level *levels;
  cachemodel_inclusion inclusion;
  int n;
  ck_ok(cachemodel_levels_parse("exclusive:64/8,1024/16/lru,4096,10/5/fifo,12/lru", &usual, &levels,
                                &n, &inclusion));
  ck_assert_int_eq(n, 5);
  ck_assert_int_eq(inclusion, CACHEMODEL_EXCLUSIVE);
  static const cachemodel_level expected[] = {{64, 8, CACHEMODEL_FIFO},
                                              {1024, 16, CACHEMODEL_LRU},
                                              {4096, 4, CACHEMODEL_FIFO},
                                              {10, 5, CACHEMODEL_FIFO},
                                              {12, 4, CACHEMODEL_LRU}};
  for (int l = 0; l < n; l++) {
    ck_assert_int_eq(levels[l].capacity, expected[l].capacity);
    ck_assert_int_eq(levels[l].ways, expected[l].ways);
    ck_assert_int_eq(levels[l].policy, expected[l].policy);
  }
  free(levels);
  static const char *const bad[] = {"",           "0",        "8,", "8/3", "8/x", "8/4/lru/2",
                                    "8/4/random", "shared:8", "8x", "-8",  "8/0", "8//lru"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    ck_assert_msg(cachemodel_levels_parse(bad[k], &usual, &levels, &n, &inclusion) == MD_EINVAL,
                  "'%s' was accepted", bad[k]);
  const cachemodel_level wrong[] = {{0, 0, CACHEMODEL_LRU}, {9, 2, CACHEMODEL_LRU}};
  cachemodel_cache *cache;
  for (int k = 0; k < 2; k++)
    ck_assert_int_eq(
        cachemodel_cache_create(MD_PORTABLE, 1, &wrong[k], CACHEMODEL_INCLUSIVE, &cache),
        MD_EINVAL);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("cachemodel");
  TCase *models = tcase_create("models");
  tcase_set_timeout(models, 300);
  tcase_add_test(models, stack_and_caches_are_lru);
  tcase_add_loop_test(models, levels_follow_their_rules, 0, N_SHAPES);
  tcase_add_test(models, exclusive_levels_are_one_stack);
  tcase_add_test(models, levels_are_read);
  suite_add_tcase(suite, models);
  return test_main(suite);
}
