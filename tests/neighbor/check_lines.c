/* tests/neighbor/check_lines.c - lines of coordinates that lists tell forces to prefetch. */
#include "tests/ref/ref.h"
#include "tests/drive/run_lists.h"
#include "tests/test.h"

/* What lists are made with: rows of a window, and rows in which a line that was listed or read is
 * taken to be in a cache still; tiles that a window cuts in two lie a little before. */
enum { WINDOW = 64, KEPT = 1024, LINE = 64 };

typedef struct {
  int64_t reads, stale; /* of lines by slices; of those not listed or read of late */
} line_count;

/* A slice reads `line`, which must have been listed since slice `first`. */
static void read_line(const neighbor_view *v, int64_t s, int64_t first, int64_t line,
                      const int64_t *listed, int64_t *seen, line_count *count)
{
  ck_assert_msg(listed[line] > first,
                "slice %lld reads line %lld, which is not listed from slice %lld on", (long long)s,
                (long long)line, (long long)first);
  const int64_t last = (listed[line] > seen[line] ? listed[line] : seen[line]) - 1;
  count->reads++;
  count->stale += (s - last) * v->width > KEPT;
  seen[line] = s + 1;
}

/* Walk along the slices of one thread's part. */
static void walk(const neighbor_view *v, int64_t first, int64_t end, int64_t lines, size_t size,
                 line_count *count)
{
  int64_t *listed = ref_alloc(lines, sizeof *listed), *seen = ref_alloc(lines, sizeof *seen);
  for (int64_t s = first; s < end; s++) {
    for (int64_t k = v->line_start[s]; k < v->line_start[s + 1]; k++) {
      ck_assert(v->line[k] >= 0 && v->line[k] < lines);
      listed[v->line[k]] = s + 1;
    }
    for (int64_t k = v->start[s]; k < v->start[s + 1]; k++)
      read_line(v, s, first, (int64_t)v->nbr[k] * (int64_t)size / LINE, listed, seen, count);
  }
  free(listed), free(seen);
}

/* Slices of every thread find what they read listed, nearly always of late, and little else is. */
static void check_lines(const run_near *near, const char *name)
{
  const neighbor_view *v = neighbor_list_view(near->list);
  const size_t size = 4 * md_coord_size(near->ctx->precision);
  const int64_t n = v->n_rows, all = n + near->atoms->n_ghost, threads = near->ctx->threads;
  if (n == 0) return;
  const int64_t windows = (n + WINDOW - 1) / WINDOW, slices = (n + v->width - 1) / v->width;
  const int64_t lines = (all * (int64_t)size + LINE - 1) / LINE;
  ck_assert_ptr_nonnull(v->line_start);
  ck_assert_int_eq(v->line_start[0], 0);
  line_count count = {0};
  for (int64_t p = 0; p < threads; p++) {
    const int64_t first = windows * p / threads * WINDOW / v->width;
    const int64_t end = windows * (p + 1) / threads * WINDOW / v->width;
    walk(v, first, end < slices ? end : slices, lines, size, &count);
  }
  const bool compact = ordering_has(&near->spec.order, ORDERING_COMPACT);
  const double listed = (double)v->line_start[slices] / (double)n;
  ck_assert_msg((double)count.stale <= 1e-3 * (double)count.reads,
                "%s: %lld of %lld lines were listed long ago", name, (long long)count.stale,
                (long long)count.reads);
  ck_assert_msg(n < 4000 || !compact || listed < 6, "%s: %.1f lines an atom", name, listed);
}

START_TEST(slices_read_lines_that_are_listed)
{
  const md_precision precision = (md_precision)_i;
  run_case c = run_case_fcc("liquid", (int[]){14, 14, 14}, (double[]){0, 0, 0}, 0.1);
  for (int k = 0; k < 24; k++) {
    neighbor_spec spec = run_near_spec(2.8, k % 4 == 0 ? 1 : 0.5);
    run_set_list(&spec, k % RUN_TRACED);
    spec.order = run_order(k);
    run_near near = run_near_open(precision, 1 + k % 3, &spec, &c);
    run_near_rebuild(&near);
    check_lines(&near, c.name);
    run_near_close(&near);
  }
  run_case_free(&c);
}
END_TEST

START_TEST(small_and_odd_lists_too)
{
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < run_case_count(); k++) {
    run_case c = run_case_make(k, precision);
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_set_list(&spec, k % RUN_TRACED);
    run_near near = run_near_open(precision, 1 + k % 3, &spec, &c);
    run_near_rebuild(&near);
    check_lines(&near, c.name);
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return EXIT_SUCCESS;
  Suite *suite = suite_create("lines");
  TCase *tc = tcase_create("lines");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, slices_read_lines_that_are_listed, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, small_and_odd_lists_too, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
