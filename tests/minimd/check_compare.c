/* tests/minimd/check_compare.c - medians, their intervals and ranks of `minimd compare`. */
#include "core/random.h"
#include "minimd/run/compare.h"
#include "tests/test.h"

/* n values, scrambled: 0 .. n - 1. */
static double *scrambled(int64_t n)
{
  int *order = malloc((size_t)n * sizeof *order);
  double *values = malloc((size_t)n * sizeof *values);
  int32_t seed = (int32_t)n;
  compare_shuffle((int)n, &seed, order);
  for (int64_t k = 0; k < n; k++)
    values[k] = order[k];
  free(order);
  return values;
}

/* Tables of the sign test: the interval from the k-th smallest to the k-th largest, and with which
 * probability it misses the median. */
START_TEST(intervals_are_those_of_the_sign_test)
{
  static const struct {
    int64_t n, k;
    double outside;
  } known[] = {{1, 1, 1},           {2, 1, 0.5},           {5, 1, 0.0625},
               {6, 1, 0.03125},     {8, 1, 0.0078125},     {9, 2, 0.0390625},
               {12, 3, 0.03857422}, {20, 6, 0.0413894653}, {100, 40, 0.0352002}};
  for (size_t c = 0; c < sizeof known / sizeof *known; c++) {
    const int64_t n = known[c].n;
    double *values = scrambled(n);
    const compare_estimate e = compare_summarise(values, n);
    ck_assert_double_eq(e.median, 0.5 * (double)(n - 1));
    ck_assert_double_eq(e.low, (double)(known[c].k - 1));
    ck_assert_double_eq(e.high, (double)(n - known[c].k));
    ck_assert_double_eq_tol(compare_confidence(n), 1 - known[c].outside, 1e-6);
    free(values);
  }
}
END_TEST

/* Far more repeats than 2^-n can express: near the normal distribution's 1.96 sqrt(n) / 2. */
START_TEST(many_repeats_have_narrow_intervals)
{
  const int64_t n = 10000;
  double *values = scrambled(n);
  const compare_estimate e = compare_summarise(values, n);
  ck_assert_double_eq_tol(e.high - e.low, 1.96 * sqrt((double)n), 3);
  ck_assert_double_eq_tol(compare_confidence(n), 0.95, 0.002);
  free(values);
}
END_TEST

/* How many of all 2^n outcomes of n fair coins have at most k heads. */
static int64_t outcomes(int n, int k)
{
  int64_t count = 0;
  for (uint32_t coins = 0; coins < 1u << n; coins++)
    count += __builtin_popcount(coins) <= k;
  return count;
}

/* Both tails of every pair together are at most 5 %; one repeat less, and they are not. */
START_TEST(least_repeats_follow_from_all_outcomes)
{
  for (int variants = 2; variants <= 8; variants++)
    for (int against = 0; against <= 1; against++) {
      const int n = (int)compare_repeats(variants, against), pairs = variants * (variants - 1) / 2;
      ck_assert(2 * 20 * pairs * outcomes(n, against) <= 1 << n);
      ck_assert(2 * 20 * pairs * outcomes(n - 1, against) > 1 << (n - 1));
    }
  ck_assert_int_eq(compare_repeats(2, 0), 6);
  ck_assert_int_eq(compare_repeats(4, 1), 12);
}
END_TEST

/* The interval of a ratio lies at the order statistics that all outcomes allow. */
START_TEST(intervals_of_ratios_follow_from_all_outcomes)
{
  double fast[16], slow[16], work[16];
  for (int variants = 2; variants <= 8; variants++)
    for (int n = 1; n <= 16; n++) {
      const int64_t levels = (1 << n) / (variants * (variants - 1) / 2);
      int k = 0; /* as many pairs may lie outside on one side, less one */
      while (k < n / 2 && 40 * outcomes(n, k) <= levels)
        k++;
      for (int r = 0; r < n; r++) {
        fast[r] = 1 + r * 5 % 7;
        slow[r] = fast[r] * (1 + r * 37 % 17); /* distinct */
      }
      const compare_estimate e = compare_ratio(slow, fast, n, variants, work);
      ck_assert_int_eq(isnan(e.low), k == 0);
      ck_assert_int_eq(isnan(e.high), k == 0);
      int below = 0, above = 0;
      for (int r = 0; r < n; r++) {
        below += slow[r] / fast[r] < e.low;
        above += slow[r] / fast[r] > e.high;
      }
      if (k > 0) ck_assert_int_eq(below, k - 1);
      if (k > 0) ck_assert_int_eq(above, k - 1);
    }
}
END_TEST

/* Every order of 4 is as frequent as any other: 24 counts of 1000, within 5 standard deviations. */
START_TEST(any_order_is_as_likely)
{
  int count[256] = {0}, order[4], orders = 0;
  int32_t seed = 1;
  for (int k = 0; k < 24000; k++) {
    compare_shuffle(4, &seed, order);
    count[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
  }
  for (int k = 0; k < 256; k++) {
    if (count[k]) ck_assert_int_le(abs(count[k] - 1000), 155);
    orders += count[k] > 0;
  }
  ck_assert_int_eq(orders, 24);
}
END_TEST

enum { MOST = 8, MOST_REPEATS = 64 };

typedef struct {
  comparison all;
  compare_variant variants[MOST];
  double seconds[MOST][MOST_REPEATS];
} synthetic;

static const char *const names[MOST] = {"none",    "row",        "column",  "morton",
                                        "hilbert", "morton:kji", "gilbert", "hybrid:hilbert/row:4"};

/* Times that all are zero; the total is seconds. */
static void prepare(synthetic *s, int n, int64_t repeats)
{
  static double zero[MOST_REPEATS];
  memset(s, 0, sizeof *s);
  s->all = (comparison){.variants = s->variants, .n = n, .repeats = repeats, .runs = 1};
  for (int v = 0; v < n; v++) {
    s->variants[v] = (compare_variant){.order = names[v], .list = "full"};
    for (int t = 0; t < COMPARE_TIME_COUNT; t++)
      s->variants[v].seconds[t] = zero;
    s->variants[v].seconds[COMPARE_TOTAL] = s->seconds[v];
  }
}

static double normal(int32_t *seed)
{
  const double u = random_park_miller(seed), v = random_park_miller(seed);
  return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

typedef enum { QUIET, DRIFT, HEAVY, NOISES } noise;

/* What the machine makes of the k-th run: 2 % of noise; a speed that wanders and falls; every
 * fourth run disturbed by some factor, and long disturbances. */
static double disturbance(noise kind, int k, double *state, int32_t *seed)
{
  double log_time = 0.02 * normal(seed);
  if (kind == DRIFT) log_time += 0.02 * k + (*state = 0.95 * *state + 0.02 * normal(seed));
  if (kind == HEAVY) {
    if (random_park_miller(seed) < 0.1) *state = *state > 0 ? 0 : 1;
    log_time += *state + (random_park_miller(seed) < 0.25 ? -log(random_park_miller(seed)) : 0);
  }
  return exp(log_time);
}

/* One comparison whose last variant is `factor` times as slow as the others. */
static void run(synthetic *s, int n, int64_t repeats, noise kind, double factor, int32_t *seed)
{
  int order[MOST];
  double state = 0;
  prepare(s, n, repeats);
  for (int k = 0; k < n * repeats; k++) {
    if (k % n == 0) compare_shuffle(n, seed, order);
    s->seconds[order[k % n]][k / n] =
        disturbance(kind, k, &state, seed) * (order[k % n] == n - 1 ? factor : 1);
  }
  ck_ok(compare_rank(&s->all));
}

/* Whatever the noise, ranks and printed times do not contradict each other. */
static void check_order(const synthetic *s)
{
  const compare_variant *v = s->variants;
  for (int k = 0; k < s->all.n; k++) {
    ck_assert(1 <= v[k].best_rank && v[k].best_rank <= k + 1);
    ck_assert(k + 1 <= v[k].worst_rank && v[k].worst_rank <= s->all.n);
    if (k == 0) continue;
    ck_assert_double_le(v[k - 1].time[COMPARE_TOTAL].median, v[k].time[COMPARE_TOTAL].median);
    ck_assert_int_le(v[k - 1].best_rank, v[k].best_rank);
    ck_assert_int_le(v[k - 1].worst_rank, v[k].worst_rank);
  }
}

/* Of 1000 comparisons of equal variants at most 5 % rank any apart, and 3 standard deviations. */
START_TEST(equal_variants_are_ranked_apart_in_one_comparison_of_twenty)
{
  enum { COMPARISONS = 1000, ALLOWED = 50 + 21 };
  synthetic s;
  int32_t seed = 7 + _i;
  for (int against = 0; against <= 1; against++)
    for (noise kind = 0; kind < NOISES; kind++) {
      int apart = 0;
      for (int c = 0; c < COMPARISONS; c++) {
        run(&s, _i, compare_repeats(_i, against), kind, 1, &seed);
        check_order(&s);
        bool any = false;
        for (int v = 0; v < _i; v++)
          any |= s.variants[v].best_rank > 1 || s.variants[v].worst_rank < _i;
        apart += any;
      }
      ck_assert_msg(apart <= ALLOWED, "%d variants, noise %d: %d", _i, (int)kind, apart);
    }
}
END_TEST

/* 10 % with 2 % of noise, by default: the slow one is found in 99 of 100 comparisons. */
START_TEST(a_slower_variant_is_found)
{
  synthetic s;
  int32_t seed = 1 + _i;
  int found = 0;
  for (int c = 0; c < 200; c++) {
    run(&s, _i, compare_repeats(_i, 1), QUIET, 1.1, &seed);
    check_order(&s);
    const compare_variant *last = &s.variants[_i - 1];
    found += strcmp(last->order, names[_i - 1]) == 0 && last->best_rank == _i;
  }
  ck_assert_int_ge(found, 198);
}
END_TEST

/* With fewer repeats than the level needs, not even a factor of 2 is ranked. */
START_TEST(too_few_repeats_rank_nothing)
{
  synthetic s;
  int32_t seed = 3;
  for (int64_t repeats = 1; repeats < compare_repeats(_i, 0); repeats++) {
    run(&s, _i, repeats, QUIET, 2, &seed);
    for (int v = 0; v < _i; v++) {
      ck_assert_int_eq(s.variants[v].best_rank, 1);
      ck_assert_int_eq(s.variants[v].worst_rank, _i);
      ck_assert(isnan(s.variants[v].ratio.low));
    }
  }
}
END_TEST

/* Variants as different in speed and noise as may be: ranks follow the printed times. */
START_TEST(ranks_do_not_contradict_medians)
{
  synthetic s;
  int32_t seed = 5 + _i;
  int ranked = 0;
  for (int c = 0; c < 500; c++) {
    prepare(&s, _i, compare_repeats(_i, 1));
    for (int v = 0; v < _i; v++) {
      const double speed = 1 + random_park_miller(&seed), scale = random_park_miller(&seed);
      for (int r = 0; r < s.all.repeats; r++)
        s.seconds[v][r] = speed * exp(scale * normal(&seed));
    }
    ck_ok(compare_rank(&s.all));
    check_order(&s);
    ranked += s.variants[0].worst_rank < _i;
  }
  ck_assert_int_gt(ranked, 20);
}
END_TEST

/* The pairs prefer the variant whose median is larger: no rank says either. */
START_TEST(pairs_against_the_medians_rank_nothing)
{
  synthetic s;
  prepare(&s, 2, 9);
  for (int r = 0; r < 9; r++) {
    s.seconds[0][r] = 10 + r;
    s.seconds[1][r] = r == 4 ? 13.5 : r < 4 ? 10.5 + r : 10.1 + r;
  }
  ck_ok(compare_rank(&s.all));
  ck_assert_str_eq(s.variants[0].order, "row");
  ck_assert_double_lt(s.variants[1].ratio.high, 1);
  ck_assert_int_eq(s.variants[0].worst_rank, 2);
  ck_assert_int_eq(s.variants[1].best_rank, 1);
}
END_TEST

/* Variant v takes base[v] seconds in each repeat, or alternates about them. */
static void verdict_is(int n, const double *base, const double *swing, int64_t repeats,
                       size_t columns, const char *expected)
{
  synthetic s;
  char *text;
  prepare(&s, n, repeats);
  for (int v = 0; v < n; v++)
    for (int r = 0; r < repeats; r++)
      s.seconds[v][r] = base[v] * (1 + (r % 2 ? swing[v] : -swing[v]));
  ck_ok(compare_rank(&s.all));
  ck_ok(compare_verdict(&s.all, columns, &text));
  ck_assert_str_eq(text, expected);
  free(text);
}

START_TEST(verdicts)
{
  static const double none[4] = {0}, equal[4] = {1, 1, 1, 1}, two[4] = {1.1, 1};
  static const double slow[4] = {2, 1, 1.001, 1.002}, fast[4] = {2, 1, 2.001, 2.002};
  static const double steps[4] = {1.3, 1, 1.1, 1.2}, close[4] = {1.001, 1};
  static const double three[4] = {1, 1.5, 1.001, 1.501};
  static const double swings[4] = {0.1, 0, 0.2, 0.3};
  static const double loose[4] = {0, 0, 0.01, 0.02}, pairs[4] = {0, 0, 0.01, 0.01};
  verdict_is(1, equal, none, 9, 100, "one variant: nothing to compare");
  verdict_is(2, two, none, 5, 100, "no ranks: 95 % needs 6 repeats of 2 variants, there are 5");
  verdict_is(4, equal, none, 12, 100, "the 4 variants cannot be told apart at 95 %");
  verdict_is(2, two, none, 9, 100, "speed: row is 1.10x none, 95 %: 1.10-1.10");
  verdict_is(2, two, none, 9, 20, "speed: the fastest is 1.10x line 2, 95 %: 1.10-1.10");
  verdict_is(2, close, none, 9, 100, "speed: row is 1.001x none, 95 %: 1.001-1.001");
  verdict_is(4, slow, loose, 12, 100,
             "speed: row is 2.00x none, 95 %: 2.00-2.00; the others cannot be told apart");
  verdict_is(4, fast, swings, 13, 100,
             "speed: row is 1.40x morton, 95 %: 1.40-2.60; the others cannot be told apart");
  verdict_is(4, three, pairs, 12, 100,
             "speed: none is 1.50x row, 95 %: 1.50-1.50; those between cannot be told apart");
  verdict_is(3, slow, loose, 12, 100,
             "speed: row is 2.00x none, 95 %: 2.00-2.00; the other cannot be told apart");
  verdict_is(4, steps, none, 12, 100,
             "speed: row is 1.10x column, 95 %: 1.10-1.10; the ranks tell others apart, too");
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("compare");
  TCase *tcase = tcase_create("ranking");
  tcase_add_test(tcase, intervals_are_those_of_the_sign_test);
  tcase_add_test(tcase, many_repeats_have_narrow_intervals);
  tcase_add_test(tcase, least_repeats_follow_from_all_outcomes);
  tcase_add_test(tcase, intervals_of_ratios_follow_from_all_outcomes);
  tcase_add_test(tcase, any_order_is_as_likely);
  tcase_add_loop_test(tcase, a_slower_variant_is_found, 2, MOST + 1);
  tcase_add_loop_test(tcase, too_few_repeats_rank_nothing, 2, MOST + 1);
  tcase_add_loop_test(tcase, ranks_do_not_contradict_medians, 2, MOST + 1);
  tcase_add_test(tcase, pairs_against_the_medians_rank_nothing);
  tcase_add_test(tcase, verdicts);
  suite_add_tcase(suite, tcase);
  TCase *many = test_long_case("many comparisons");
  tcase_add_loop_test(many, equal_variants_are_ranked_apart_in_one_comparison_of_twenty, 2,
                      MOST + 1);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
