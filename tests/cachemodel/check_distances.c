/* tests/cachemodel/check_distances.c - stack distances of many lines against a tree over time. */
#include "cachemodel/cachemodel.h"
#include "tests/test.h"

static uint64_t random_next(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

/* Stack distances by a Fenwick tree over time: a line counts at its last access.  -1: the first. */
static int32_t *ref_distances(int64_t n, const uint32_t *trace, uint32_t lines)
{
  int64_t *last = calloc(lines, sizeof *last);
  int32_t *tree = calloc((size_t)n + 1, sizeof *tree);
  int32_t *distance = malloc((size_t)n * sizeof *distance);
  for (int64_t t = 1; t <= n; t++) {
    const uint32_t x = trace[t - 1];
    distance[t - 1] = -1;
    if (last[x]) {
      distance[t - 1] = 0;
      for (int64_t s = t - 1; s; s &= s - 1)
        distance[t - 1] += tree[s];
      for (int64_t s = last[x]; s; s &= s - 1)
        distance[t - 1] -= tree[s];
      for (int64_t s = last[x]; s <= n; s += s & -s)
        tree[s]--;
    }
    for (int64_t s = t; s <= n; s += s & -s)
      tree[s]++;
    last[x] = t;
  }
  free(last);
  free(tree);
  return distance;
}

/* The stack's misses of every capacity are those of the distances, of each run of `run` accesses
 * whose number is `part` modulo `parts`. */
static void check_misses(const cachemodel_stack *stack, int64_t n, const int32_t *distance,
                         uint32_t lines, int64_t run, int part, int parts)
{
  int64_t *count = calloc(lines, sizeof *count), *misses = malloc(lines * sizeof *misses);
  int64_t expected = 0;
  for (int64_t t = 0; t < n; t++) {
    if (t / run % parts != part) continue;
    expected++;
    if (distance[t] >= 0) count[distance[t]]++;
  }
  ck_assert_int_eq(cachemodel_stack_accesses(stack), expected);
  cachemodel_stack_misses(stack, lines, misses);
  for (uint32_t c = 0; c < lines; c++) {
    expected -= count[c];
    if (misses[c] != expected)
      ck_abort_msg("%u lines: %ld misses, not %ld", c + 1, (long)misses[c], (long)expected);
  }
  free(count);
  free(misses);
}

/* Feed a trace, step accesses at a time or in uneven batches, on every instruction set. */
static void check_trace(int64_t n, const uint32_t *trace, uint32_t lines, int64_t step)
{
  int32_t *distance = ref_distances(n, trace, lines);
  for (int isa = 0; isa <= (int)md_isa_detect(); isa++) {
    cachemodel_stack *stack;
    ck_ok(cachemodel_stack_create((md_isa)isa, &stack));
    for (int64_t t = 0, next = step ? step : 1; t < n;) {
      ck_ok(cachemodel_stack_feed(stack, t + next < n ? next : n - t, trace + t));
      t += next;
      next = step ? step : next * 3 % 9973 + 1;
    }
    check_misses(stack, n, distance, lines, n, 0, 1);
    cachemodel_stack_destroy(stack);
  }
  free(distance);
}

/* Random lines; from time to time lines near those before, so that the front of the stack is left
 * and entered again. */
static uint32_t *phases(int64_t n, uint32_t lines)
{
  uint32_t *trace = malloc((size_t)n * sizeof *trace);
  uint64_t seed = 3;
  for (int64_t t = 0; t < n; t++)
    if (t / 50000 % 3 == 2)
      trace[t] = (uint32_t)((random_next(&seed) % 40 + (uint64_t)t / 50) % lines);
    else
      trace[t] = (uint32_t)(t % 3 ? random_next(&seed) % lines : (uint64_t)t / 7 % lines);
  return trace;
}

START_TEST(many_lines)
{
  /* Far more lines than slots at first, so that slots are moved together and grow. */
  enum { N = 1200000, LINES = 90000 };
  uint32_t *trace = phases(N, LINES);
  check_trace(N, trace, LINES, 0);
  check_trace(N, trace, LINES, N);
  free(trace);
}
END_TEST

START_TEST(sweeps_there_and_back)
{
  /* Of a batch all pairs of accesses keep their order, or none does. */
  enum { LINES = 5000, N = 40 * LINES };
  uint32_t *trace = malloc(N * sizeof *trace);
  for (int t = 0; t < N; t++)
    trace[t] = (uint32_t)(t / LINES % 3 == 2 ? LINES - 1 - t % LINES : t % LINES);
  check_trace(N, trace, LINES, 4096);
  check_trace(N, trace, LINES, 2 * 4096);
  free(trace);
}
END_TEST

START_TEST(batches_of_all_sizes)
{
  /* Batches grow with the lines, to the largest there are, and all are full of lines never seen,
   * of repetitions a few accesses and some thousands before, and of old lines.  At last sweeps. */
  enum { LINES = 1150000, SWEEP = 150000, MIXED = 2 * LINES, N = MIXED + 2 * SWEEP };
  uint32_t *trace = malloc(N * sizeof *trace), seen = 0;
  uint64_t seed = 11;
  for (int64_t t = 0; t < MIXED; t++) {
    const uint64_t kind = random_next(&seed) % 8, far = random_next(&seed);
    if (seen < LINES && (t < 8 || kind < 4))
      trace[t] = seen++;
    else if (kind < 6)
      trace[t] = trace[t - 1 - (int64_t)(far % (kind < 5 ? 7 : 5000) % (uint64_t)t)];
    else
      trace[t] = (uint32_t)(far % seen);
  }
  for (uint32_t k = 0; k < SWEEP; k++) {
    trace[MIXED + k] = k;
    trace[N - 1 - k] = k;
  }
  check_trace(N, trace, LINES, N);
  free(trace);
}
END_TEST

START_TEST(classes_share_a_stack)
{
  /* Runs of two batches and a rest, each counted in one of three classes. */
  enum { N = 600000, LINES = 30000, RUN = 10000, CLASSES = 3 };
  uint32_t *trace = phases(N, LINES);
  int32_t *distance = ref_distances(N, trace, LINES);
  for (int isa = 0; isa <= (int)md_isa_detect(); isa++) {
    cachemodel_stack *stack;
    ck_ok(cachemodel_stack_create((md_isa)isa, &stack));
    for (int64_t t = 0; t < N; t += RUN) {
      ck_ok(cachemodel_stack_count_in(stack, (int)(t / RUN % CLASSES)));
      ck_ok(cachemodel_stack_feed(stack, RUN, trace + t));
    }
    for (int k = 0; k < CLASSES; k++) {
      ck_ok(cachemodel_stack_count_in(stack, k));
      check_misses(stack, N, distance, LINES, RUN, k, CLASSES);
    }
    cachemodel_stack_destroy(stack);
  }
  free(trace);
  free(distance);
}
END_TEST

START_TEST(many_accesses)
{
  /* So many that distances are added up more than once; all are 99. */
  enum { LINES = 100, BATCHES = 1000, BATCH = 1 << 16 };
  uint32_t *trace = malloc((BATCH + LINES) * sizeof *trace);
  for (int t = 0; t < BATCH + LINES; t++)
    trace[t] = (uint32_t)(t % LINES);
  for (int isa = 0; isa <= (int)md_isa_detect(); isa++) {
    cachemodel_stack *stack;
    int64_t misses[LINES];
    ck_ok(cachemodel_stack_create((md_isa)isa, &stack));
    for (int64_t b = 0; b < BATCHES; b++)
      ck_ok(cachemodel_stack_feed(stack, BATCH, trace + b * BATCH % LINES));
    cachemodel_stack_misses(stack, LINES, misses);
    ck_assert_int_eq(misses[LINES - 2], (int64_t)BATCHES * BATCH);
    ck_assert_int_eq(misses[LINES - 1], LINES);
    cachemodel_stack_destroy(stack);
  }
  free(trace);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("distances");
  TCase *distances = tcase_create("distances"), *many = test_long_case("many");
  tcase_set_timeout(distances, 300);
  tcase_add_test(distances, many_lines);
  tcase_add_test(distances, sweeps_there_and_back);
  tcase_add_test(distances, classes_share_a_stack);
  suite_add_tcase(suite, distances);
  tcase_add_test(many, batches_of_all_sizes);
  tcase_add_test(many, many_accesses);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
