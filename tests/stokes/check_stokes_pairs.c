/* tests/stokes/check_stokes_pairs.c - pair lists, compared with all pairs. */
#include "stokes/pairs/search.h"
#include "tests/ref/ref.h"
#include "tests/ref/ref_stokes.h"
#include "tests/test.h"

/* The list on the host, compared with all pairs; a missing or an extra one fails. */
static void compare_list(md_ctx *ctx, const stokes_pairs *pairs, const stokes_packing *p,
                         double scale, double reach_more, bool exact)
{
  const stokes_pair_view list = stokes_pairs_view(pairs);
  int64_t *start = ref_alloc(list.n + 1, sizeof *start);
  int32_t *neighbor = ref_alloc(list.n_entries, sizeof *neighbor);
  ck_assert_int_eq(list.n, p->n);
  ck_ok(md_read(ctx, start, list.start, (size_t)(list.n + 1) * sizeof *start));
  ck_ok(md_read(ctx, neighbor, list.neighbor, (size_t)list.n_entries * sizeof *neighbor));
  ck_assert_int_eq(start[list.n], list.n_entries);
  for (int64_t i = 0; i < p->n; i++) {
    int64_t k = start[i];
    for (int64_t j = 0; j < p->n; j++) {
      double sum = 0;
      for (int d = 0; d < 3; d++) {
        double step = p->x[4 * i + d] - p->x[4 * j + d];
        step -= p->box[d] * round(step / p->box[d]);
        sum += step * step;
      }
      const double reach = scale * (p->x[4 * i + 3] + p->x[4 * j + 3]) + reach_more;
      const bool near = i != j && sqrt(sum) < reach;
      const bool listed = k < start[i + 1] && neighbor[k] == j;
      if (near && !listed) ck_abort_msg("pair %d %d is missing", (int)i, (int)j);
      if (listed && !near && exact) ck_abort_msg("pair %d %d is too far", (int)i, (int)j);
      k += listed;
    }
    if (k != start[i + 1]) ck_abort_msg("row %d is not ascending", (int)i);
  }
  free(start);
  free(neighbor);
}

START_TEST(wrapped_coordinates_lie_in_the_box)
{
  static const double x[] = {0, -1e-300, -1e-20, -1e-17, 1e-20, 7, -7, 6.999999999999999, 21, 3.5};
  for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
    const double wrapped = search_wrap(x[k], 7);
    ck_assert_msg(wrapped >= 0 && wrapped < 7, "%g became %.17g", x[k], wrapped);
    ck_assert_double_eq_tol(remainder(wrapped - x[k], 7), 0, 1e-14);
  }
}
END_TEST

/* Also where the memory in which lists are built is lent, and used for something else after. */
START_TEST(pair_lists_are_complete)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_packing p = ref_packing(1500, 0.4, _i == 1, 8);
  p.box[1] *= 1.5; /* no cube */
  for (int64_t i = 0; i < p.n; i += 3)
    p.x[4 * i + 2] += (double)(i % 7 - 3) * p.box[2]; /* outside the box */
  const double scale = 1.25, skin = 8;
  md_buffer x = {0}, lent = {0};
  const size_t bytes = (size_t)p.n * 4 * sizeof(double);
  ck_ok(md_buffer_reserve(ctx, &x, bytes, 0));
  ck_ok(md_write(ctx, x.data, p.x, bytes));
  const stokes_view view = {p.n, {p.box[0], p.box[1], p.box[2]}, x.data};
  stokes_pairs *pairs;
  ck_ok(stokes_pairs_create(ctx, scale, skin, &pairs));
  if (_i == 1) stokes_pairs_lend(pairs, &lent);
  ck_ok(stokes_pairs_update(pairs, &view, 0));
  ck_assert_int_eq(lent.bytes > 0, _i == 1);
  compare_list(ctx, pairs, &p, scale, skin, true);
  for (int step = 0; step < 6; step++) { /* random steps of up to 1.6 */
    double *move = ref_vector(3 * p.n, (uint64_t)step);
    for (int64_t k = 0; k < 3 * p.n; k++)
      p.x[4 * (k / 3) + k % 3] += 0.9 * move[k];
    free(move);
    ck_ok(md_write(ctx, x.data, p.x, bytes));
    ck_ok(stokes_pairs_update(pairs, &view, 0));
    if (lent.bytes > 0) ck_ok(md_fill(ctx, lent.data, 255, lent.bytes));
    compare_list(ctx, pairs, &p, scale, 0, false);
  }
  ck_assert_int_ge(stokes_pairs_builds(pairs), 2);
  ck_assert_int_le(stokes_pairs_builds(pairs), 4);
  const int64_t builds = stokes_pairs_builds(pairs);
  ck_ok(stokes_pairs_update(pairs, &view, skin)); /* would move too far */
  ck_assert_int_eq(stokes_pairs_builds(pairs), builds + 1);
  p.x[3] *= 1.01; /* a sphere that grows reaches farther */
  ck_ok(md_write(ctx, x.data, p.x, bytes));
  ck_ok(stokes_pairs_update(pairs, &view, 0));
  ck_assert_int_eq(stokes_pairs_builds(pairs), builds + 2);
  stokes_pairs_destroy(pairs);
  md_buffer_free(ctx, &lent);
  md_buffer_free(ctx, &x);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* Rows of 20 to 900 neighbours; one sphere is far away. */
START_TEST(pair_lists_have_rows_of_any_length)
{
  static const double reach[] = {1.3, 1.75, 2.3, 2.9, 3.7, 4.7, 1.3, 4.9};
  enum { N = 2000 };
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_packing p;
  ck_ok(stokes_packing_create(N, &p));
  double *place = ref_vector(3 * N, 5);
  for (int64_t k = 0; k < 3 * N; k++)
    p.x[4 * (k / 3) + k % 3] = 5 * place[k];
  for (int d = 0; d < 3; d++)
    p.box[d] = 10;
  p.x[4 * 77 + 1] += 70000 * p.box[1];
  md_buffer x = {0};
  const size_t bytes = (size_t)N * 4 * sizeof(double);
  ck_ok(md_buffer_reserve(ctx, &x, bytes, 0));
  const stokes_view view = {N, {10, 10, 10}, x.data};
  for (size_t k = 0; k < sizeof reach / sizeof *reach; k++) {
    for (int64_t i = 0; i < N; i++)
      p.x[4 * i + 3] = 0.1 * reach[k];
    ck_ok(md_write(ctx, x.data, p.x, bytes));
    stokes_pairs *pairs;
    ck_ok(stokes_pairs_create(ctx, 5, 0, &pairs));
    for (int again = 0; again < 2; again++) { /* with no room, and with room */
      ck_ok(stokes_pairs_update(pairs, &view, 1));
      compare_list(ctx, pairs, &p, 5, 0, true);
    }
    stokes_pairs_destroy(pairs);
  }
  free(place);
  md_buffer_free(ctx, &x);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* A list of spheres that lie anywhere in a box, three of them many boxes away, made twice. */
static void check_box(md_ctx *ctx, int n, const double *box, const double *radius, double scale)
{
  stokes_packing p;
  stokes_pairs *pairs;
  md_buffer x = {0};
  const size_t bytes = (size_t)n * 4 * sizeof(double);
  double *place = ref_vector(3 * n, (uint64_t)n);
  ck_ok(stokes_packing_create(n, &p));
  for (int d = 0; d < 3; d++)
    p.box[d] = box[d];
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++)
      p.x[4 * i + d] = box[d] * place[3 * i + d];
    p.x[4 * i + 3] = radius[i % 4];
  }
  for (int d = 0; d < 3; d++)
    p.x[4 * ((n / 2 + d) % n) + d] -= 1e5 * box[d];
  ck_ok(md_buffer_reserve(ctx, &x, bytes, 0));
  ck_ok(md_write(ctx, x.data, p.x, bytes));
  const stokes_view view = {n, {box[0], box[1], box[2]}, x.data};
  ck_ok(stokes_pairs_create(ctx, scale, 0, &pairs));
  for (int again = 0; again < 2; again++) {
    ck_ok(stokes_pairs_update(pairs, &view, 1));
    compare_list(ctx, pairs, &p, scale, 0, true);
  }
  stokes_pairs_destroy(pairs);
  md_buffer_free(ctx, &x);
  stokes_packing_free(&p);
  free(place);
}

/* Boxes of few cells and needles, whose longest edge is any of the three; equal spheres, similar
 * ones, and some hundreds of times as large as others; a few and many. */
START_TEST(pair_lists_in_any_box)
{
  static const double radii[][4] = {
      {1, 1, 1, 1}, {1, 1.3, 0.8, 2}, {1, 1, 0.05, 0.004}, {1, 0.01, 0.01, 0.01}};
  static const double boxes[][3] = {{8, 8, 8},   {8.1, 60, 8}, {8, 9, 900},
                                    {400, 8, 8}, {30, 25, 31}, {8, 90, 70}};
  static const int counts[] = {4, 33, 400};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
      for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        check_box(ctx, counts[k], boxes[b], radii[r], r == 1 ? 1 : 2);
  md_ctx_destroy(ctx);
}
END_TEST

/* Rows i, i + step, ... of a list, against all spheres. */
static void compare_some(md_ctx *ctx, const stokes_pairs *pairs, const stokes_packing *p,
                         double scale, int64_t step)
{
  const stokes_pair_view list = stokes_pairs_view(pairs);
  int64_t *start = ref_alloc(list.n + 1, sizeof *start);
  int32_t *neighbor = ref_alloc(list.n_entries, sizeof *neighbor);
  ck_ok(md_read(ctx, start, list.start, (size_t)(list.n + 1) * sizeof *start));
  ck_ok(md_read(ctx, neighbor, list.neighbor, (size_t)list.n_entries * sizeof *neighbor));
  for (int64_t i = 0; i < p->n; i += step) {
    int64_t k = start[i];
    for (int64_t j = 0; j < p->n; j++) {
      double sum = 0;
      for (int d = 0; d < 3; d++) {
        const double away = fabs(p->x[4 * i + d] - p->x[4 * j + d]);
        const double least = fmin(away, p->box[d] - away);
        sum += least * least;
      }
      if (i == j || sqrt(sum) >= scale * (p->x[4 * i + 3] + p->x[4 * j + 3])) continue;
      ck_assert_msg(k < start[i + 1] && neighbor[k] == j, "row %d lacks %d", (int)i, (int)j);
      k++;
    }
    ck_assert_msg(k == start[i + 1], "row %d has too many", (int)i);
  }
  free(start);
  free(neighbor);
}

/* Spheres on the edges and faces of cells, a hair nearer or farther than they reach; also where
 * single precision rounds all distances, a few of them and so many that lines follow a curve. */
START_TEST(pair_lists_of_a_lattice)
{
  const int edge = _i == 2 ? 26 : 12, N = edge * edge * edge;
  const double step = _i > 0 ? 1.1 : 1;
  const double box[3] = {edge * step, edge * step, edge * step};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  stokes_packing p;
  md_buffer x = {0};
  const size_t bytes = (size_t)N * 4 * sizeof(double);
  ck_ok(stokes_packing_create(N, &p));
  for (int64_t i = 0; i < N; i++) {
    const int64_t at[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (int d = 0; d < 3; d++)
      p.x[4 * i + d] = step * (double)at[d];
    p.x[4 * i + 3] = 0.5 * step;
  }
  memcpy(p.box, box, sizeof box);
  ck_ok(md_buffer_reserve(ctx, &x, bytes, 0));
  ck_ok(md_write(ctx, x.data, p.x, bytes));
  const stokes_view view = {N, {box[0], box[1], box[2]}, x.data};
  static const double reach[] = {1 - 1e-9, 1 + 1e-9, 2 - 1e-9, 2 + 1e-9, 3 - 1e-9, 3 + 1e-9};
  static const int expect[] = {0, 6, 26, 32, 92, 122};
  for (size_t k = 0; k < sizeof reach / sizeof *reach; k++) {
    stokes_pairs *pairs;
    ck_ok(stokes_pairs_create(ctx, reach[k], 0, &pairs));
    ck_ok(stokes_pairs_update(pairs, &view, 1));
    if (_i < 2)
      compare_list(ctx, pairs, &p, reach[k], 0, true);
    else
      compare_some(ctx, pairs, &p, reach[k], 61);
    ck_assert_int_eq(stokes_pairs_view(pairs).n_entries, (int64_t)N * expect[k]);
    stokes_pairs_destroy(pairs);
  }
  md_buffer_free(ctx, &x);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

/* So many spheres that a GPU looks whether they follow a curve: they do; they do for ten or four at
 * a time; not at all; they do, but in one corner rows are longer than a warp has room for.  Equal
 * ones, and ten radii. */
START_TEST(pair_lists_of_many_spheres)
{
  enum { N = 40000, APART = N / 2 };
  static const int together[] = {N, 10, 4, 1, N};
  const int way = _i % 5;
  const double edge = 34, radius = 0.5, scale = way < 4 ? 2.7 : 2.2;
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false), *host;
  ck_ok(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, 2, false}, &host));
  stokes_packing sorted, p;
  ck_ok(stokes_packing_create(N, &sorted));
  ck_ok(stokes_packing_create(N, &p));
  double *place = ref_vector(3 * N, 7);
  for (int64_t i = 0; i < N; i++) {
    const double part = way == 4 && i % 16 == 0 ? 0.1 : 1;
    for (int d = 0; d < 3; d++)
      sorted.x[4 * i + d] = edge * part * (0.5 + 0.499 * place[3 * i + d]);
    sorted.x[4 * i + 3] = radius * (_i < 5 ? 1 : 0.5 + 0.05 * (double)(i % 10));
  }
  for (int d = 0; d < 3; d++)
    sorted.box[d] = p.box[d] = edge;
  ck_ok(stokes_packing_sort(host, &sorted, &(ordering){.kind = ORDERING_HILBERT}, NULL));
  for (int64_t i = 0; i < N; i++) { /* runs of `together`, from two places in turn */
    const int64_t run = i / together[way], from = run % 2 * APART + run / 2 * together[way];
    const int64_t k = together[way] < N ? from + i % together[way] : i;
    memcpy(p.x + 4 * i, sorted.x + 4 * k, 4 * sizeof(double));
  }
  md_buffer x = {0};
  const size_t bytes = (size_t)N * 4 * sizeof(double);
  ck_ok(md_buffer_reserve(ctx, &x, bytes, 0));
  ck_ok(md_write(ctx, x.data, p.x, bytes));
  const stokes_view view = {N, {edge, edge, edge}, x.data};
  stokes_pairs *pairs;
  ck_ok(stokes_pairs_create(ctx, scale, 0, &pairs));
  for (int again = 0; again < 2; again++) {
    ck_ok(stokes_pairs_update(pairs, &view, 1));
    compare_some(ctx, pairs, &p, scale, 61);
  }
  stokes_pairs_destroy(pairs);
  md_buffer_free(ctx, &x);
  free(place);
  stokes_packing_free(&p);
  stokes_packing_free(&sorted);
  md_ctx_destroy(host);
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(pair_lists_refuse_bad_spheres)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  stokes_packing p = ref_packing(300, 0.3, true, 8);
  stokes_pairs *pairs;
  ck_assert_int_eq(stokes_pairs_create(ctx, 0, 1, &pairs), MD_EINVAL);
  ck_assert_int_eq(stokes_pairs_create(ctx, 1, -1, &pairs), MD_EINVAL);
  ref_suspension s = ref_suspend(ctx, &p, 0.5);
  const double bad = INFINITY;
  ck_ok(md_write(ctx, (double *)s.x.data + 4 * 100 + 1, &bad, sizeof bad));
  ck_assert_int_eq(stokes_pairs_update(s.pairs, &s.view, 0), MD_EINVAL);
  ck_ok(md_write(ctx, s.x.data, p.x, (size_t)p.n * 4 * sizeof(double)));
  ck_ok(stokes_pairs_update(s.pairs, &s.view, 0));
  stokes_view narrow = s.view;
  narrow.box[2] = 2 * (2.5 * 30 + 3) - 0.1;
  ck_assert_int_eq(stokes_pairs_update(s.pairs, &narrow, 0), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "at least 156"));
  ref_suspension_free(&s);
  stokes_packing_free(&p);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("stokes_pairs");
  TCase *lists = tcase_create("lists");
  tcase_add_test(lists, wrapped_coordinates_lie_in_the_box);
  tcase_add_loop_test(lists, pair_lists_are_complete, 0, 2);
  tcase_add_test(lists, pair_lists_have_rows_of_any_length);
  tcase_add_test(lists, pair_lists_in_any_box);
  tcase_add_test(lists, pair_lists_refuse_bad_spheres);
  tcase_set_timeout(lists, 60);
  suite_add_tcase(suite, lists);
  TCase *lattice = test_long_case("lattice");
  tcase_add_loop_test(lattice, pair_lists_of_a_lattice, 0, 3);
  suite_add_tcase(suite, lattice);
  TCase *many = tcase_create("many");
  tcase_add_loop_test(many, pair_lists_of_many_spheres, 0, 10);
  tcase_set_timeout(many, 60);
  suite_add_tcase(suite, many);
  return test_main(suite);
}
