/* tests/neighbor/check_neighbor.c - lists against direct search. */
#include "tests/ref/ref.h"
#include "tests/drive/run_lists.h"
#include "tests/test.h"

#include <stdio.h>

/* All pairs as the program sees the positions after its wrap, a little beyond r_list. */
static ref_pairs pairs_of_case(const run_case *c, md_precision precision, double r_list)
{
  const neighbor_spec spec = run_near_spec(r_list, 1);
  run_near near = run_near_open(precision, 1, &spec, c);
  ck_ok(comm_migrate(near.cm, near.atoms));
  run_snapshot s = run_snapshot_take(near.atoms);
  ref_pairs pairs = ref_pairs_find(&c->box, s.n, s.x, r_list * (1 + 1e-5) + 1e-6);
  run_snapshot_free(&s);
  run_near_close(&near);
  return pairs;
}

/* The list makes every pair within r_list act once in each direction, and no others but those
 * within a relative 1e-5 beyond. */
static void check_list(const run_near *near, const ref_pairs *want, const char *name)
{
  run_snapshot s = run_snapshot_take(near->atoms);
  run_list list = run_list_read(near->ctx, near->list);
  int64_t n = 0, k = 0;
  run_action *got = run_list_actions(&list, &s, &n, name);
  double extent = near->spec.r_list;
  for (int d = 0; d < 3; d++)
    extent += fmax(fabs(near->atoms->box.lo[d]), fabs(near->atoms->box.hi[d]));
  const double rounding = extent * (near->ctx->precision == MD_SINGLE ? 0x1p-22 : 0x1p-51);
  ck_assert(list.view.kind == near->spec.kind && list.view.newton == near->spec.newton);
  for (int64_t w = 0; w < want->n; w++) {
    const ref_pair *p = &want->pair[w];
    const bool here = k < n && got[k].i == p->i && got[k].j == p->j && got[k].shift == p->shift;
    ck_assert_msg(here || p->r >= near->spec.r_list - rounding,
                  "%s: %lld atoms: %d misses %d, shift %d, at %.17Lg", name, (long long)s.n, p->i,
                  p->j, p->shift, p->r);
    ck_assert_msg(!here || p->r <= near->spec.r_list * (1 + 1e-5) + rounding,
                  "%s: %d lists %d at %.17Lg, beyond %.17g", name, p->i, p->j, p->r,
                  near->spec.r_list);
    k += here;
  }
  ck_assert_msg(k == n, "%s: %d lists %d, shift %d: too far or twice", name, got[k].i, got[k].j,
                got[k].shift);
  free(got);
  run_list_free(&list);
  run_snapshot_free(&s);
}

static const double bin_sizes[] = {0.3, 0.5, 1, 2, 3, 40};
enum { BIN_SIZES = 6 };

START_TEST(lists_equal_direct_search)
{
  const int k = _i / MD_PRECISION_COUNT;
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = run_case_make(k, precision);
  int turn = k;
  for (int r = 0; r < 2; r++) {
    const double r_list = r == 0 ? 2.8 : 1.15;
    ref_pairs want = pairs_of_case(&c, precision, r_list);
    for (int i = 0; i < RUN_LISTS * BIN_SIZES * NEIGHBOR_STENCIL_COUNT; i++, turn++) {
      if (r == 1 && turn % 5 > 0) continue; /* a sample is enough */
      neighbor_spec spec = run_near_spec(r_list, bin_sizes[i / RUN_LISTS % BIN_SIZES]);
      run_set_list(&spec, i % RUN_LISTS);
      spec.stencil = (neighbor_stencil)(i / (RUN_LISTS * BIN_SIZES));
      spec.order = run_order(turn);
      run_near near = run_near_open(precision, 1 + turn % 3, &spec, &c);
      char name[200];
      snprintf(name, sizeof name, "%s, %s, %s%s, %s, r_list %g, bins %g, %s, %d threads", c.name,
               md_precision_words[precision], neighbor_list_words[spec.kind],
               spec.newton ? " newton" : "", neighbor_stencil_words[spec.stencil], r_list,
               spec.bin_size, ordering_words[spec.order.kind], near.ctx->threads);
      run_near_rebuild(&near);
      check_list(&near, &want, name);
      run_near_close(&near);
    }
    ref_pairs_free(&want);
  }
  run_case_free(&c);
}
END_TEST

/* One list object through sparse, dense, sparse and no atoms: memory must grow, nothing may stay
 * from before. */
START_TEST(lists_grow_and_shrink)
{
  static const char *const names[] = {"one atom", "gas",      "all in one bin",
                                      "clusters", "no atoms", "liquid"};
  const md_precision precision = (md_precision)_i;
  for (int l = 0; l < RUN_LISTS; l++) {
    run_case c = run_case_make(0, precision);
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_set_list(&spec, l);
    run_near near = run_near_open(precision, 2, &spec, &c);
    for (int m = 0; m < 6; m++)
      for (int k = 0; k < run_case_count(); k++) {
        run_case next = run_case_make(k, precision);
        if (strcmp(next.name, names[m]) == 0) {
          md_atoms_destroy(near.atoms);
          near.atoms = run_case_atoms(near.ctx, &next, NULL);
          ref_pairs want = pairs_of_case(&next, precision, 2.8);
          run_near_rebuild(&near);
          check_list(&near, &want, next.name);
          ref_pairs_free(&want);
        }
        run_case_free(&next);
      }
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

/* The same list from the same atoms: again, from another object, full lists for any threads. */
START_TEST(lists_are_reproducible)
{
  run_case c = run_case_make(14, MD_DOUBLE);
  for (int l = 0; l < RUN_LISTS; l++) {
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_set_list(&spec, l);
    run_near near = run_near_open((md_precision)_i, 2, &spec, &c);
    run_near_rebuild(&near);
    run_list first = run_list_read(near.ctx, near.list);
    ck_ok(neighbor_build(near.list, near.atoms));
    run_list again = run_list_read(near.ctx, near.list);
    ck_assert(run_list_equal(&first, &again));
    run_list_free(&again);
    run_near_close(&near);
    for (int threads = 1; threads <= 3; threads++) {
      if (l > 0 && threads != 2) continue;
      near = run_near_open((md_precision)_i, threads, &spec, &c);
      run_near_rebuild(&near);
      again = run_list_read(near.ctx, near.list);
      ck_assert_msg(run_list_equal(&first, &again), "list %d differs with %d threads", l, threads);
      run_list_free(&again);
      run_near_close(&near);
    }
    run_list_free(&first);
  }
  run_case_free(&c);
}
END_TEST

/* Two atoms an ulp nearer than r_list, also across faces and along a diagonal, are neighbours; a
 * little beyond the relative 1e-5 they are not. */
START_TEST(the_reach_is_exact)
{
  static const double second[][3] = {
      {3.75, 1, 1}, {1, 7, 1}, {1, 1, 7}, {1, 2.65, 3.2}, {1, 7.1, 1}};
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < 5 * RUN_LISTS * BIN_SIZES * 2; k++) {
    const bool inside = k / 5 / RUN_LISTS / BIN_SIZES;
    run_case c = {.box = {{0, 0, 0}, {8.75, 8.75, 8.75}}, .n = 2, .x = ref_alloc(6, 8)};
    double r_sq = 0;
    for (int d = 0; d < 3; d++) {
      c.x[d] = 1, c.x[3 + d] = run_round(precision, second[k % 5][d]);
      r_sq += pow(remainder(c.x[3 + d] - 1, 8.75), 2);
    }
    const double r = sqrt(r_sq), ulps = precision == MD_SINGLE ? 0x1p-21 : 0x1p-50;
    neighbor_spec spec = run_near_spec(inside ? r * (1 + ulps) : r * (1 - 2e-5), 1);
    spec.bin_size = bin_sizes[k / 5 / RUN_LISTS % BIN_SIZES] * r;
    run_set_list(&spec, k / 5 % RUN_LISTS);
    run_near near = run_near_open(precision, 1, &spec, &c);
    run_near_rebuild(&near);
    run_snapshot s = run_snapshot_take(near.atoms);
    run_list list = run_list_read(near.ctx, near.list);
    int64_t n = 0;
    free(run_list_actions(&list, &s, &n, "two atoms"));
    ck_assert_msg(n == (inside ? 2 : 0), "%s, list %d, bins %g: %lld pairs at %.17g within %.17g",
                  md_precision_words[precision], k / 5 % RUN_LISTS, spec.bin_size, (long long)n, r,
                  spec.r_list);
    run_list_free(&list);
    run_snapshot_free(&s);
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

/* Too many atoms for direct search: half lists of several chunks hold the pairs of the full one.
 * Not in single precision, where the rounding of a ghost may decide at r_list. */
START_TEST(large_lists_hold_the_same_pairs)
{
  run_case c = run_case_fcc("large", (int[]){13, 11, 12}, (double[]){4, -20, 0}, 0.1);
  run_action *first = NULL;
  int64_t n = 0, n_first = 0;
  for (int k = 0; k < 4; k++) {
    neighbor_spec spec = run_near_spec(2.8, k == 0 ? 0.5 : 1);
    run_set_list(&spec, (k + 1) / 2);
    run_near near = run_near_open((md_precision)_i, 1 + k, &spec, &c);
    run_near_rebuild(&near);
    run_snapshot s = run_snapshot_take(near.atoms);
    run_list list = run_list_read(near.ctx, near.list);
    run_action *actions = run_list_actions(&list, &s, &n, c.name);
    ck_assert_int_gt(n, 70 * c.n);
    if (k == 0) {
      first = actions, n_first = n;
    } else {
      ck_assert_msg(n == n_first && memcmp(first, actions, (size_t)n * sizeof *actions) == 0,
                    "%s: list %d differs", md_precision_words[_i], k);
      free(actions);
    }
    run_list_free(&list);
    run_snapshot_free(&s);
    run_near_close(&near);
  }
  free(first);
  run_case_free(&c);
}
END_TEST

/* As many bins as before, but smaller ones: more of them are within reach. */
START_TEST(a_box_may_change)
{
  neighbor_spec spec = run_near_spec(1, 0.5);
  spec.stencil = NEIGHBOR_SPHERE;
  int64_t entries[2];
  for (int fresh = 0; fresh < 2; fresh++) {
    run_case c = run_case_make(0, MD_DOUBLE);
    run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
    for (int smaller = fresh; smaller < 2; smaller++) {
      const double edge = smaller ? 2.55 : 2.95;
      double x[3 * 250]; /* two in each of 5 x 5 x 5 bins, in opposite corners */
      for (int i = 0; i < 250; i++)
        for (int d = 0, bin = i / 2; d < 3; d++, bin /= 5)
          x[3 * i + d] = edge / 5 * (bin % 5 + (i % 2 ? 0.999 : 0.001));
      md_atoms *atoms;
      ck_ok(md_atoms_create(near.ctx, &(md_box){{0, 0, 0}, {edge, edge, edge}}, &atoms));
      ck_ok(md_atoms_set(atoms, 250, x, NULL, NULL, NULL));
      ck_ok(comm_migrate(near.cm, atoms));
      ck_ok(comm_borders(near.cm, atoms, spec.r_list));
      ck_ok(neighbor_build(near.list, atoms));
      ck_assert_int_eq(neighbor_list_grid(near.list)->n[0], 5 + 2 * 2);
      entries[fresh] = neighbor_list_view(near.list)->n_entries;
      md_atoms_destroy(atoms);
    }
    run_near_close(&near);
    run_case_free(&c);
  }
  ck_assert_int_gt(entries[1], 0);
  ck_assert_int_eq(entries[0], entries[1]);
}
END_TEST

START_TEST(ghosts_must_reach_as_far_as_the_list)
{
  run_case c = run_case_make(0, MD_DOUBLE);
  const neighbor_spec spec = run_near_spec(2.8, 0.5);
  run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
  ck_ok(comm_migrate(near.cm, near.atoms));
  ck_assert_int_eq(neighbor_build(near.list, near.atoms), MD_EINVAL);
  ck_ok(comm_borders(near.cm, near.atoms, 2.5));
  ck_assert_int_eq(neighbor_build(near.list, near.atoms), MD_EINVAL);
  ck_assert_int_eq(neighbor_list_view(near.list)->n_rows, 0);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

START_TEST(senseless_settings_are_refused)
{
  const double bad[] = {0, -1, NAN, -INFINITY};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (int k = 0; k < 8; k++) {
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    neighbor_list *list = (neighbor_list *)ctx;
    if (k < 4)
      spec.r_list = bad[k];
    else
      spec.bin_size = bad[k - 4];
    ck_assert_int_eq(neighbor_create(ctx, &spec, &list), MD_EINVAL);
    ck_assert_ptr_null(list);
  }
  neighbor_destroy(NULL);
  md_ctx_destroy(ctx);
}
END_TEST

/* Bins far too small for memory: an error that says so, or larger bins; never a wrong list. */
START_TEST(tiny_bins_do_no_harm)
{
  run_case c = run_case_make(0, MD_DOUBLE);
  const neighbor_spec spec = run_near_spec(2.8, 1e-5);
  run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
  ck_ok(comm_migrate(near.cm, near.atoms));
  ck_ok(comm_borders(near.cm, near.atoms, spec.r_list));
  const md_status status = neighbor_build(near.list, near.atoms);
  if (status) {
    ck_assert_int_ne(status, MD_ECUDA);
    run_list empty = run_list_read(near.ctx, near.list);
    ck_assert_int_eq(empty.view.n_rows, 0);
    run_list_free(&empty);
  } else {
    ref_pairs want = pairs_of_case(&c, MD_DOUBLE, 2.8);
    check_list(&near, &want, "tiny bins");
    ref_pairs_free(&want);
  }
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("neighbor");
  TCase *tc = tcase_create("neighbor");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, lists_equal_direct_search, 0, run_case_count() * MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, lists_grow_and_shrink, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, lists_are_reproducible, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, the_reach_is_exact, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, large_lists_hold_the_same_pairs, MD_MIXED, MD_PRECISION_COUNT);
  tcase_add_test(tc, a_box_may_change);
  tcase_add_test(tc, ghosts_must_reach_as_far_as_the_list);
  tcase_add_test(tc, senseless_settings_are_refused);
  tcase_add_test(tc, tiny_bins_do_no_harm);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
