/* tests/force/check_tiles.c - lists by tiles hold the pairs of full lists, where that is hard; on
 * the CPU they are full lists. */
#include "tests/ref/ref.h"
#include "tests/drive/run_md.h"
#include "tests/test.h"

/* What makes tiles hard: halos beyond what 16 bits tell apart, rows of hundreds of entries, atoms
 * far between, boxes half empty or hardly longer than the reach, orders that are not compact.
 * `scale` stretches the liquid, `empty` is added to the box along x. */
typedef struct {
  const char *name;
  int cells[3];
  double scale, empty, r_list, bins;
  ordering_kind order;
} tile_case;

static const tile_case tile_cases[] = {
    {"dense", {8, 8, 8}, 0.7, 0, 4.2, 0.5, ORDERING_HILBERT},
    {"dilute", {6, 7, 5}, 3, 0, 5, 0.5, ORDERING_HILBERT},
    {"half empty", {9, 5, 7}, 1, 15, 2.8, 0.5, ORDERING_MORTON},
    {"hardly longer than the reach", {2, 2, 9}, 1, 0, 3.3, 0.5, ORDERING_HILBERT},
    {"creation order", {9, 9, 9}, 1, 0, 2.8, 0.5, ORDERING_NONE},
    {"random order", {9, 10, 8}, 1, 0, 2.8, 0.5, ORDERING_RANDOM},
    {"rows of large bins", {10, 9, 9}, 1, 0, 2.8, 3, ORDERING_ROW},
    {"a curve that jumps", {11, 11, 11}, 1, 0, 2.8, 0.3, ORDERING_HILBERT},
    {"hybrid", {10, 10, 10}, 1, 0, 2.8, 0.5, ORDERING_HYBRID}};
enum { TILE_CASES = sizeof tile_cases / sizeof *tile_cases };

static run_action *actions_of(const neighbor_spec *spec, const run_case *c, md_precision precision,
                              int64_t *n)
{
  run_near near = run_near_open(precision, 1, spec, c);
  run_near_rebuild(&near);
  run_snapshot s = run_snapshot_take(near.atoms);
  run_list list = run_list_read(near.ctx, near.list);
  run_action *actions = run_list_actions(&list, &s, n, c->name);
  run_list_free(&list);
  run_snapshot_free(&s);
  run_near_close(&near);
  return actions;
}

START_TEST(tiles_hold_the_pairs_of_full_lists)
{
  const tile_case *t = &tile_cases[_i / MD_PRECISION_COUNT];
  const md_precision precision = (md_precision)(_i % MD_PRECISION_COUNT);
  run_case c = run_case_fcc(t->name, t->cells, (double[]){0, 0, 0}, 0.1);
  for (int64_t k = 0; k < 3 * c.n; k++)
    c.x[k] = run_round(precision, c.x[k] * t->scale);
  for (int d = 0; d < 3; d++)
    c.box.hi[d] = c.box.hi[d] * t->scale + (d == 0 ? t->empty : 0);
  neighbor_spec spec = run_near_spec(t->r_list, t->bins);
  spec.order = (ordering){t->order, ORDERING_HILBERT, ORDERING_ROW, 3, 5, {0, 0, 0}};
  int64_t n, n_tile;
  run_action *full = actions_of(&spec, &c, precision, &n);
  spec.kind = NEIGHBOR_TILE;
  run_action *tile = actions_of(&spec, &c, precision, &n_tile);
  ck_assert_int_gt(n, c.n);
  ck_assert_msg(n == n_tile && memcmp(full, tile, (size_t)n * sizeof *full) == 0,
                "%s, %s: %lld pairs, not the %lld of the full list", t->name,
                md_precision_words[precision], (long long)n_tile, (long long)n);
  free(full), free(tile);
  run_case_free(&c);
}
END_TEST

/* A liquid thinned out: along Hilbert's curve through octants of the box come five lone atoms, far
 * from each other, nothing, a small cube, and the whole liquid of the fourth octant, which lies
 * between the first and the third; *apart gets how many come before it. */
static run_case far_pieces(md_precision precision, int64_t *apart)
{
  run_case c = run_case_fcc("far pieces", (int[]){19, 19, 19}, (double[]){0, 0, 0}, 0.1);
  const double half = c.box.hi[0] / 2;
  int64_t kept = 0, lone = 0;
  *apart = 0;
  for (int64_t i = 0; i < c.n; i++) {
    double *x = c.x + 3 * i, away = 0; /* from the middle of the atom's octant */
    const bool up[3] = {x[0] >= half, x[1] >= half, x[2] >= half};
    for (int d = 0; d < 3; d++)
      away = fmax(away, fabs(x[d] - (up[d] ? 1.5 : 0.5) * half));
    const bool first = !up[0] && !up[1] && !up[2] && lone < 5;
    const bool third = !up[0] && up[1] && up[2] && away < 4;
    if (first) x[0] = x[2] = half / 2, x[1] = (2 * (double)lone++ + 1) / 10 * half;
    if (!first && !third && (up[0] || up[1] || !up[2])) continue;
    *apart += first || third;
    for (int d = 0; d < 3; d++)
      c.x[3 * kept + d] = run_round(precision, x[d]);
    kept++;
  }
  c.n = kept;
  return c;
}

/* A tile whose rows lie in more pieces than have boxes of their own does not have all that lies
 * between them for a halo. */
START_TEST(a_tile_of_many_pieces_sees_what_is_near_them)
{
  int64_t apart, seen = 0;
  run_case c = far_pieces((md_precision)_i, &apart);
  neighbor_spec spec = run_near_spec(2.8, 0.5);
  spec.kind = NEIGHBOR_TILE;
  run_near near = run_near_open((md_precision)_i, 1, &spec, &c);
  run_near_rebuild(&near);
  const neighbor_tiles *tiles = neighbor_list_view(near.list)->tiles;
  const size_t bytes = (size_t)tiles->passes * sizeof(neighbor_piece);
  neighbor_piece *halo = malloc(bytes);
  ck_ok(md_read(near.ctx, halo, tiles->halos, bytes));
  for (int32_t p = 0; p < tiles->passes; p++)
    seen += halo[p].count;
  ck_assert_int_gt(apart, tiles->rows);
  ck_assert_msg(seen <= apart, "%s: a halo of %lld where %lld atoms are near the rows", c.name,
                (long long)seen, (long long)apart);
  free(halo);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

/* All atoms into the lower half of the box. */
static void squeeze(run_md *md)
{
  run_snapshot s = run_snapshot_take(md->atoms);
  for (int64_t k = 0; k < 3 * s.n; k += 3)
    s.x[k] = run_round(md->spec.precision, s.x[k] / 2);
  ck_ok(md_atoms_place(md->atoms, s.x));
  run_snapshot_free(&s);
}

/* Before atoms move by a list that did not fit the room of the one before, it is built again. */
START_TEST(a_list_that_does_not_fit_is_built_again)
{
  const int steps = _i / MD_PRECISION_COUNT + 1, cells[3] = {8, 7, 6};
  const double kick = 1e-4, drift = 1e-3;
  run_spec spec = run_spec_default();
  run_snapshot state[2];
  spec.precision = (md_precision)(_i % MD_PRECISION_COUNT);
  spec.list.kind = NEIGHBOR_TILE;
  run_case c = run_case_fcc("stretched", cells, (double[]){0, 0, 0}, 0.1);
  for (int64_t k = 0; k < 3 * c.n; k += 3)
    c.x[k] = run_round(spec.precision, c.x[k] * 2);
  c.box.hi[0] *= 2;
  double *v = run_velocities(c.n, 1, 7);
  for (int early = 0; early < 2; early++) {
    run_md md = run_md_open(&spec, &c, v);
    const int64_t room = neighbor_list_view(md.list)->tiles->n_list;
    squeeze(&md);
    run_md_rebuild(&md);
    if (early) { /* a list that never was so large */
      run_md other = run_md_open(&spec, &c, v);
      squeeze(&other);
      ck_ok(comm_migrate_early(other.cm, other.atoms, spec.force.r_cut + spec.skin, -1));
      ck_ok(neighbor_sort(other.list, other.atoms));
      ck_ok(comm_borders(other.cm, other.atoms, spec.force.r_cut + spec.skin));
      ck_ok(neighbor_build_early(other.list, other.atoms));
      ck_assert_ptr_nonnull(neighbor_list_view(other.list)->tiles->unfit);
      run_md_close(&md);
      md = other;
    }
    ck_ok(force_advance(md.fc, md.atoms, md.list, kick, drift, steps, NULL));
    ck_assert_int_gt(neighbor_list_view(md.list)->tiles->n_list, room * 3 / 2);
    ck_assert_ptr_null(neighbor_list_view(md.list)->tiles->unfit);
    state[early] = run_snapshot_take(md.atoms);
    run_md_close(&md);
  }
  run_snapshots_match(state);
  free(v);
  run_case_free(&c);
}
END_TEST

START_TEST(on_the_cpu_they_are_full_lists)
{
  run_case c = run_case_make(0, MD_DOUBLE);
  neighbor_spec spec = run_near_spec(2.8, 0.5);
  spec.kind = NEIGHBOR_TILE;
  run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
  run_near_rebuild(&near);
  ck_assert_int_eq(neighbor_list_view(near.list)->kind, NEIGHBOR_FULL);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tiles");
  TCase *tc = tcase_create("tiles");
  tcase_set_timeout(tc, 60);
  if (test_backend() == MD_GPU) {
    tcase_add_loop_test(tc, tiles_hold_the_pairs_of_full_lists, 0, TILE_CASES * MD_PRECISION_COUNT);
    tcase_add_loop_test(tc, a_tile_of_many_pieces_sees_what_is_near_them, 0, MD_PRECISION_COUNT);
    tcase_add_loop_test(tc, a_list_that_does_not_fit_is_built_again, 0, 4 * MD_PRECISION_COUNT);
  } else
    tcase_add_test(tc, on_the_cpu_they_are_full_lists);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
