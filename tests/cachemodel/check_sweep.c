/* tests/cachemodel/check_sweep.c - stencil sweeps: traces against plain loops, misses and memory
 * offsets against the oracle. */
#include "cachemodel/cachemodel.h"
#include "ordering/curve.h"
#include "tests/ref/ref_ordering.h"

enum { BATCH = 1000 };

static cachemodel_sweep sweep_of(const char *order, int32_t m, const char *stencil, int64_t line)
{
  cachemodel_sweep sweep = {.n = {m, m, m}, .line = line};
  ck_ok(ordering_parse(order, &sweep.order));
  ck_ok(ordering_stencil_parse(stencil, &sweep.stencil));
  return sweep;
}

/* Rows of the oracle that belong to one trace: 13 capacities, 1, 2, 4, ..., 4096. */
enum { POWERS = 13 };
typedef struct {
  char order[16], shape[16];
  int m, g;
  long long line, accesses, lru[POWERS], fifo[POWERS];
} oracle_block;

static bool read_block(FILE *file, oracle_block *b)
{
  for (int p = 0; p < POWERS; p++) {
    long long c;
    const int got =
        fscanf(file, " %15[^,],%15[^,],0,xyz,%d,%d,%lld,%*d,%lld,%lld,%lld,%*f,%lld", b->order,
               b->shape, &b->m, &b->g, &b->line, &b->accesses, &c, &b->lru[p], &b->fifo[p]);
    if (got != 9) return false;
    ck_assert_int_eq(c, 1 << p);
  }
  return true;
}

static void check_block(const oracle_block *b)
{
  char stencil[32];
  snprintf(stencil, sizeof stencil, "%s:%d", strcmp(b->shape, "block") ? "sphere" : "block", b->g);
  const char *order = strcmp(b->order, "morton_kji") == 0   ? "morton:kji"
                      : strcmp(b->order, "morton_ijk") == 0 ? "morton"
                                                            : b->order;
  const cachemodel_sweep sweep = sweep_of(order, b->m, stencil, b->line);
  ck_assert_int_eq(cachemodel_sweep_accesses(&sweep), b->accesses);
  cachemodel_trace *trace;
  cachemodel_stack *stack;
  cachemodel_cache *fifo[POWERS], *lru;
  ck_ok(cachemodel_trace_create(&sweep, &trace));
  ck_ok(cachemodel_stack_create(md_isa_detect(), &stack));
  const cachemodel_level lru_level = {512, 0, CACHEMODEL_LRU};
  ck_ok(cachemodel_cache_create(md_isa_detect(), 1, &lru_level, CACHEMODEL_INCLUSIVE, &lru));
  for (int p = 0; p < POWERS; p++) {
    const cachemodel_level level = {1 << p, 0, CACHEMODEL_FIFO};
    ck_ok(cachemodel_cache_create(md_isa_detect(), 1, &level, CACHEMODEL_INCLUSIVE, &fifo[p]));
  }
  uint32_t line[BATCH];
  for (int64_t n; (n = cachemodel_trace_next(trace, BATCH, line)) > 0;) {
    ck_ok(cachemodel_stack_feed(stack, n, line));
    ck_ok(cachemodel_cache_feed(lru, n, line));
    for (int p = 0; p < POWERS; p++)
      ck_ok(cachemodel_cache_feed(fifo[p], n, line));
  }
  int64_t misses[1 << (POWERS - 1)], accesses, missed;
  cachemodel_stack_misses(stack, 1 << (POWERS - 1), misses);
  ck_assert_int_eq(cachemodel_stack_accesses(stack), b->accesses);
  cachemodel_cache_counts(lru, 0, &accesses, &missed);
  ck_assert_int_eq(missed, misses[511]);
  for (int p = 0; p < POWERS; p++) {
    cachemodel_cache_counts(fifo[p], 0, &accesses, &missed);
    ck_assert_msg(misses[(1 << p) - 1] == b->lru[p] && missed == b->fifo[p],
                  "%s M %d %s line %lld capacity %d: lru %ld fifo %ld", b->order, b->m, stencil,
                  b->line, 1 << p, (long)misses[(1 << p) - 1], (long)missed);
    cachemodel_cache_destroy(fifo[p]);
  }
  cachemodel_cache_destroy(lru);
  cachemodel_stack_destroy(stack);
  cachemodel_trace_destroy(trace);
}

START_TEST(misses_agree_with_the_oracle)
{
  FILE *file = oracle("lru_seed.csv");
  oracle_block block;
  int blocks = 0;
  for (; read_block(file, &block); blocks++)
    if (blocks % 4 == _i) check_block(&block);
  fclose(file);
  ck_assert_int_eq(blocks, 16);
}
END_TEST

/* Line k of the slow trace: loops over centres in order, then over the offsets of sphere:3. */
static int64_t ref_trace(const int32_t n[3], bool half, int64_t line, uint32_t *out)
{
  const ordering order = parsed("hilbert");
  const int64_t cells = (int64_t)n[0] * n[1] * n[2];
  int64_t made = 0;
  for (int64_t b = 0; b < cells; b++) {
    int32_t c[3];
    curve_cell(&order, n, (uint32_t)b, c);
    bool border = false;
    for (int a = 0; a < 3; a++)
      border = border || c[a] < 3 || c[a] + 3 >= n[a];
    if (border) continue;
    for (int di = -3; di <= 3; di++)
      for (int dj = -3; dj <= 3; dj++)
        for (int dk = -3; dk <= 3; dk++) {
          const int d[3] = {di, dj, dk};
          int gap_sq = 0;
          for (int a = 0; a < 3; a++)
            gap_sq += abs(d[a]) > 1 ? (abs(d[a]) - 1) * (abs(d[a]) - 1) : 0;
          const bool upper = dk > 0 || (dk == 0 && (dj > 0 || (dj == 0 && di >= 0)));
          if (gap_sq >= 9 || (half && !upper)) continue;
          const int32_t at[3] = {c[0] + di, c[1] + dj, c[2] + dk};
          out[made++] = (uint32_t)(curve_index(&order, n, at) / line);
        }
  }
  return made;
}

START_TEST(trace_is_algorithm_1)
{
  static const int32_t n[3] = {9, 8, 11};
  static uint32_t expected[3 * 2 * 5 * 311], got[3 * 2 * 5 * 311 + 1];
  for (int half = 0; half < 2; half++) {
    cachemodel_sweep sweep = sweep_of("hilbert", 1, "sphere:3", 3);
    memcpy(sweep.n, n, sizeof n);
    sweep.half = half;
    const int64_t length = ref_trace(n, half, 3, expected);
    ck_assert_int_eq(cachemodel_sweep_accesses(&sweep), length);
    cachemodel_trace *trace;
    ck_ok(cachemodel_trace_create(&sweep, &trace));
    for (int pass = 0; pass < 2; pass++) {
      int64_t have = 0;
      for (int64_t more; (more = cachemodel_trace_next(trace, 7, got + have)) > 0;) {
        ck_assert(more == 7 || have + more == length);
        have += more;
        ck_assert_int_le(have, length);
        if (length - have < 7) break;
      }
      have += cachemodel_trace_next(trace, length - have + 1, got + have);
      ck_assert_int_eq(have, length);
      ck_assert_int_eq(memcmp(got, expected, (size_t)length * sizeof *got), 0);
      ck_assert_int_eq(cachemodel_trace_next(trace, 1, got), 0);
      cachemodel_trace_rewind(trace);
    }
    cachemodel_trace_destroy(trace);
  }
}
END_TEST

START_TEST(offsets_agree_with_the_oracle)
{
  static const char *const orders[] = {"row", "hilbert", "morton:kji"};
  int64_t *count[3], span, sum[3] = {0};
  for (int o = 0; o < 3; o++) {
    const cachemodel_sweep sweep = sweep_of(orders[o], 16, "block:1", 1);
    ck_ok(cachemodel_offsets(&sweep, &count[o], &span));
  }
  FILE *file = oracle("offset_hist_M16_g1.csv");
  int offset, rows = 0;
  long long expected[3];
  while (fscanf(file, "%d,%lld,%lld,%lld", &offset, &expected[0], &expected[1], &expected[2]) ==
         4) {
    for (int o = 0; o < 3; o++) {
      ck_assert_int_eq(count[o][span + offset], expected[o]);
      sum[o] += expected[o];
    }
    rows++;
  }
  fclose(file);
  ck_assert_int_eq(rows, 2793);
  for (int o = 0; o < 3; o++) {
    ck_assert_int_eq(sum[o], 14 * 14 * 14 * 27); /* nothing lies between the oracle's rows */
    free(count[o]);
  }
}
END_TEST

START_TEST(offset_ranges_agree_with_the_oracle)
{
  static const int bounds[] = {99, 199, 299, 399, 499, 599, 699, 799, 899, 999, 1499, 1999};
  FILE *file = oracle("offset_summary.csv");
  int m, g, rows = 0;
  char order[16];
  long long samples, least, most;
  while (fscanf(file, "%d,%d,%15[^,],%lld,%lld,%lld", &m, &g, order, &samples, &least, &most) ==
         6) {
    char stencil[16];
    snprintf(stencil, sizeof stencil, "block:%d", g);
    const cachemodel_sweep sweep =
        sweep_of(strcmp(order, "morton_kji") ? order : "morton:kji", m, stencil, 1);
    int64_t *count, span;
    ck_ok(cachemodel_offsets(&sweep, &count, &span));
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
      long long expected, within = 0;
      ck_assert_int_eq(fscanf(file, ",%lld", &expected), 1);
      for (int64_t d = -bounds[b]; d <= bounds[b]; d++)
        within += llabs(d) <= span ? count[span + d] : 0;
      ck_assert_int_eq(within, expected);
    }
    long long all = 0;
    for (int64_t d = -span; d <= span; d++) {
      all += count[span + d];
      ck_assert(count[span + d] == 0 || (d >= least && d <= most));
    }
    ck_assert_int_eq(all, samples);
    ck_assert(count[span + least] > 0 && count[span + most] > 0);
    free(count);
    rows++;
  }
  fclose(file);
  ck_assert_int_eq(rows, 27);
}
END_TEST

START_TEST(bad_sweeps_are_refused)
{
  cachemodel_trace *trace;
  cachemodel_sweep sweep = sweep_of("row", 6, "block:3", 1);
  ck_assert_int_eq(cachemodel_trace_create(&sweep, &trace), MD_EINVAL);
  sweep = sweep_of("row", 0, "block:1", 1);
  ck_assert_int_eq(cachemodel_trace_create(&sweep, &trace), MD_EINVAL);
  sweep = sweep_of("row", 8, "block:1", 0);
  ck_assert_int_eq(cachemodel_trace_create(&sweep, &trace), MD_EINVAL);
  sweep = sweep_of("hybrid:row/row:3", 8, "block:1", 1);
  ck_assert_int_eq(cachemodel_trace_create(&sweep, &trace), MD_EINVAL);
  sweep = sweep_of("row", 100000, "block:1", 1);
  ck_assert_int_eq(cachemodel_trace_create(&sweep, &trace), MD_ECAPACITY);
  ck_assert_ptr_nonnull(strstr(md_message(), "GB"));
  sweep = sweep_of("row", 1624, "block:1", 1);
  ck_assert_int_eq(cachemodel_sweep_check(&sweep, 1000), MD_ENOMEM);
  ck_assert_ptr_nonnull(strstr(md_message(), "GB"));
  ck_assert_ptr_null(trace);
  /* A line longer than the grid. */
  sweep = sweep_of("row", 4, "block:1", INT64_MAX);
  uint32_t line[300];
  ck_ok(cachemodel_trace_create(&sweep, &trace));
  ck_assert_int_eq(cachemodel_trace_next(trace, 300, line), 8 * 27);
  ck_assert_uint_eq(line[215], 0);
  cachemodel_trace_destroy(trace);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("sweep");
  TCase *sweeps = tcase_create("sweeps");
  tcase_set_timeout(sweeps, 300);
  tcase_add_test(sweeps, trace_is_algorithm_1);
  tcase_add_loop_test(sweeps, misses_agree_with_the_oracle, 0, 4);
  tcase_add_test(sweeps, offsets_agree_with_the_oracle);
  tcase_add_test(sweeps, offset_ranges_agree_with_the_oracle);
  tcase_add_test(sweeps, bad_sweeps_are_refused);
  suite_add_tcase(suite, sweeps);
  return test_main(suite);
}
