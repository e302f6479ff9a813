/* tests/neighbor/check_all.c - lists by testing all pairs hold what full lists hold, in every case
 * and precision. */
#include "tests/drive/run_lists.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

/* What a list of this kind makes forces do; *n gets the number. */
static run_action *actions_of(const run_case *c, md_precision precision, neighbor_kind kind,
                              int threads, int64_t *n)
{
  neighbor_spec spec = run_near_spec(2.8, 0.5);
  spec.kind = kind;
  run_near near = run_near_open(precision, threads, &spec, c);
  run_near_rebuild(&near);
  ck_assert_int_eq(neighbor_list_view(near.list)->kind, NEIGHBOR_FULL);
  run_snapshot atoms = run_snapshot_take(near.atoms);
  run_list list = run_list_read(near.ctx, near.list);
  run_action *actions = run_list_actions(&list, &atoms, n, c->name);
  run_list_free(&list);
  run_snapshot_free(&atoms);
  run_near_close(&near);
  return actions;
}

START_TEST(all_pairs_are_those_of_a_full_list)
{
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = run_case_make(_i / MD_PRECISION_COUNT, precision);
  int64_t n_full = 0, n_all = 0;
  run_action *full = actions_of(&c, precision, NEIGHBOR_FULL, 1, &n_full);
  run_action *all = actions_of(&c, precision, NEIGHBOR_ALL, 1 + _i % 3, &n_all);
  ck_assert_msg(n_full == n_all, "%s: %lld entries, not %lld", c.name, (long long)n_all,
                (long long)n_full);
  ck_assert(n_full == 0 || memcmp(full, all, (size_t)n_full * sizeof *full) == 0);
  free(full), free(all);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("all");
  TCase *tc = tcase_create("all");
  tcase_set_timeout(tc, 60);
  tcase_add_loop_test(tc, all_pairs_are_those_of_a_full_list, 0,
                      run_case_count() * MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
