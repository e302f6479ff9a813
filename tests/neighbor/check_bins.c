/* tests/neighbor/check_bins.c - bins, sorting along a curve, memory of lists. */
#include "tests/ref/ref.h"
#include "tests/drive/run_lists.h"
#include "tests/test.h"

/* Place along the curve of each owned atom's bin, or -1 where rounding could choose another. */
static int64_t *curve_keys(const run_near *near, const run_snapshot *s)
{
  const neighbor_grid *grid = neighbor_list_grid(near->list);
  int32_t n[3];
  md_buffer buffer = {0};
  for (int d = 0; d < 3; d++)
    n[d] = grid->n[d] - 2 * grid->margin[d];
  const int64_t cells = (int64_t)n[0] * n[1] * n[2];
  uint32_t *index = ref_alloc(cells, 4);
  ck_ok(md_buffer_reserve(near->ctx, &buffer, (size_t)cells * 4, 0));
  ck_ok(ordering_index(near->ctx, &near->spec.order, n, buffer.data));
  ck_ok(md_read(near->ctx, index, buffer.data, (size_t)cells * 4));
  md_buffer_free(near->ctx, &buffer);
  int64_t *keys = ref_alloc(s->n, sizeof *keys);
  for (int64_t i = 0; i < s->n; i++) {
    int64_t cell = 0;
    bool clear = true;
    for (int d = 0; d < 3; d++) {
      const double at = (s->x[3 * i + d] - grid->lo[d]) / grid->side[d];
      const int64_t bin = (int64_t)fmin(fmax(floor(at), 0), n[d] - 1);
      clear = clear && fabs(at - nearbyint(at)) > 1e-5;
      cell = cell * n[d] + bin;
    }
    keys[i] = clear ? (int64_t)index[cell] : -1;
  }
  free(index);
  return keys;
}

START_TEST(sort_follows_the_curve_and_loses_nothing)
{
  const md_precision precision = (md_precision)_i;
  const int cases[] = {1, 11, 14, 2};
  for (int k = 0; k < 4 * ORDERING_COUNT; k++) {
    run_case c = run_case_make(cases[k / ORDERING_COUNT], precision);
    double *v = run_velocities(c.n, 1, 2);
    int32_t *image = ref_alloc(3 * c.n, sizeof *image);
    for (int64_t m = 0; m < 3 * c.n; m++)
      image[m] = (int32_t)(5 * m + 1);
    neighbor_spec spec = run_near_spec(2.8, 0.4);
    spec.order = run_order(k);
    if (k % 2) spec.kind = NEIGHBOR_TILE;
    run_near near = run_near_open(precision, 1 + k % 3, &spec, &c);
    ck_ok(md_atoms_set(near.atoms, c.n, c.x, v, NULL, image));
    ck_ok(comm_migrate(near.cm, near.atoms));
    run_snapshot before = run_snapshot_take(near.atoms);
    run_near_rebuild(&near);
    run_snapshot after = run_snapshot_take(near.atoms);
    int64_t *keys = curve_keys(&near, &after), last = -1;
    bool *seen = ref_alloc(c.n, sizeof *seen);
    for (int64_t i = 0; i < c.n; i++) {
      const int64_t was = after.id[i] - 1;
      ck_assert_msg(was >= 0 && was < c.n && !seen[was], "%s: id %lld", c.name, (long long)was + 1);
      seen[was] = true;
      ck_assert_msg(memcmp(after.x + 3 * i, before.x + 3 * was, 24) == 0 &&
                        memcmp(after.v + 3 * i, before.v + 3 * was, 24) == 0 &&
                        memcmp(after.image + 3 * i, before.image + 3 * was, 12) == 0,
                    "%s, %s: atom %lld was changed", c.name, ordering_words[spec.order.kind],
                    (long long)was);
      if (spec.order.kind == ORDERING_NONE) {
        ck_assert_msg(was == i, "%s: atom %lld moved to %lld", c.name, (long long)was,
                      (long long)i);
      } else if (keys[i] >= 0) {
        ck_assert_msg(last < 0 || keys[last] < keys[i] ||
                          (keys[last] == keys[i] && after.id[last] < after.id[i]),
                      "%s, %s: atom %lld is out of order", c.name, ordering_words[spec.order.kind],
                      (long long)i);
        last = i;
      }
    }
    run_near_rebuild(&near); /* sorting what is sorted changes nothing */
    run_snapshot again = run_snapshot_take(near.atoms);
    ck_assert_mem_eq(again.id, after.id, (size_t)c.n * 8);
    run_snapshot_free(&before);
    run_snapshot_free(&after);
    run_snapshot_free(&again);
    free(keys), free(seen), free(image), free(v);
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

START_TEST(bins_cover_the_box)
{
  enum { SIZES = 6 };
  const double sizes[SIZES] = {0.3, 0.5, 1, 2, 3, 40};
  for (int k = 0; k < run_case_count() * SIZES; k++) {
    run_case c = run_case_make(k / SIZES, MD_DOUBLE);
    const neighbor_spec spec = run_near_spec(2.8, sizes[k % SIZES]);
    run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
    run_near_rebuild(&near);
    const neighbor_grid *grid = neighbor_list_grid(near.list);
    for (int d = 0; d < 3 && c.n > 0; d++) {
      const int32_t inner = grid->n[d] - 2 * grid->margin[d];
      const double edge = c.box.hi[d] - c.box.lo[d];
      ck_assert_msg(inner >= 1 && fabs(inner * grid->side[d] - edge) <= 1e-12 * edge,
                    "%s, bins %g: %d bins of %g in %g", c.name, spec.bin_size, inner, grid->side[d],
                    edge);
      ck_assert_msg(inner == 1 || grid->side[d] >= spec.bin_size * (1 - 1e-12),
                    "%s: bins of %g, not %g", c.name, grid->side[d], spec.bin_size);
      ck_assert_msg(grid->margin[d] * grid->side[d] >= spec.r_list * (1 - 1e-12),
                    "%s: a margin of %d bins of %g", c.name, grid->margin[d], grid->side[d]);
      ck_assert_double_eq(grid->lo[d], c.box.lo[d]);
    }
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

/* Where a GPU's tiles would have to jump otherwise. */
START_TEST(bins_of_few_tiles_are_powers_of_two)
{
  static const ordering_kind orders[] = {ORDERING_HILBERT, ORDERING_MORTON, ORDERING_GILBERT,
                                         ORDERING_ROW};
  for (int k = 0; k < 4 * run_case_count(); k++) {
    run_case c = run_case_make(k / 4, MD_DOUBLE);
    neighbor_spec spec = run_near_spec(2.8, 0.9);
    spec.kind = NEIGHBOR_TILE;
    spec.order = (ordering){.kind = orders[k % 4]};
    run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
    run_near_rebuild(&near);
    const bool powers = near.ctx->backend == MD_GPU && k % 4 < 2;
    const neighbor_grid *grid = neighbor_list_grid(near.list);
    for (int d = 0; d < 3 && c.n > 0; d++) {
      const int32_t inner = grid->n[d] - 2 * grid->margin[d];
      const double fit = fmax(1, floor((c.box.hi[d] - c.box.lo[d]) / spec.bin_size));
      const double off = inner / fit;
      ck_assert_msg(
          powers ? (inner & (inner - 1)) == 0 && off * off < 2 && off * off > 0.5 : off == 1,
          "%s, %s: %d bins where %g fit", c.name, ordering_words[spec.order.kind], inner, fit);
    }
    run_near_close(&near);
    run_case_free(&c);
  }
}
END_TEST

/* Many tiles, too, but not in a slab of one bin: 49 bins along y would be 32 + 16 + 1.  A rank that
 * has half of the box is expected to have few. */
START_TEST(bins_of_many_tiles_leave_no_thin_slab)
{
  static const int32_t fit[3] = {47, 49, 50};
  run_case c = run_case_fcc("many tiles", (int[]){40, 41, 42}, (double[]){0, 0, 0}, 0.1);
  neighbor_spec spec = run_near_spec(2.8, 0.5);
  spec.kind = NEIGHBOR_TILE;
  spec.order = (ordering){.kind = _i == 0 ? ORDERING_HILBERT : ORDERING_GILBERT};
  run_near near = run_near_open(MD_SINGLE, 1, &spec, &c);
  run_near_rebuild(&near);
  const neighbor_grid *grid = neighbor_list_grid(near.list);
  const bool fewer = near.ctx->backend == MD_GPU && _i == 0;
  for (int d = 0; d < 3; d++)
    ck_assert_int_eq(grid->n[d] - 2 * grid->margin[d], fit[d] - (d == 1 && fewer));
  near.atoms->part.lo[0] = (c.box.lo[0] + c.box.hi[0]) / 2; /* of one of two ranks */
  ck_ok(neighbor_sort(near.list, near.atoms));
  for (int d = 0; d < 3; d++)
    ck_assert_int_eq(grid->whole[d], fewer ? 64 : fit[d]);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

/* The position below a face may be rounded to the bin behind the last one, which is the first of
 * the next row. */
START_TEST(the_last_position_is_in_the_last_bin)
{
  int rounded = 0;
  neighbor_spec spec = run_near_spec(1, 0.5);
  spec.order = (ordering){.kind = ORDERING_ROW};
  for (int k = 0; k < 400; k++) {
    const double edge = 3 + 0.0731 * k, last = nextafter(edge, 0);
    const double x[] = {0.1, 0.7, 0.1, 0.1, 0.1, last}; /* in the second and in the first row */
    run_case c = run_case_make(0, MD_DOUBLE);
    run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
    md_atoms *atoms;
    int64_t id[2];
    ck_ok(md_atoms_create(near.ctx, &(md_box){{0, 0, 0}, {edge, edge, edge}}, &atoms));
    ck_ok(md_atoms_set(atoms, 2, x, NULL, NULL, NULL));
    ck_ok(comm_migrate(near.cm, atoms));
    ck_ok(neighbor_sort(near.list, atoms));
    ck_ok(md_atoms_get(atoms, NULL, NULL, NULL, id, NULL));
    const neighbor_grid *grid = neighbor_list_grid(near.list);
    rounded += last * (1 / grid->side[2]) >= grid->n[2] - 2 * grid->margin[2];
    ck_assert_msg(id[0] == 2 && id[1] == 1, "%.17g in a box of %.17g", last, edge);
    md_atoms_destroy(atoms);
    run_near_close(&near);
    run_case_free(&c);
  }
  ck_assert_int_gt(rounded, 0);
}
END_TEST

/* An atom in each of 8 x 16 x 16 bins, the upper half of a box of 16^3: a Hilbert curve fills a
 * half without a jump, although bin 7, where rounding might put an atom, is another rank's. */
START_TEST(the_curve_of_a_part_begins_where_its_atoms_do)
{
  enum { EDGE = 16, ATOMS = EDGE * EDGE * EDGE / 2 };
  static double x[3 * ATOMS], sorted[3 * ATOMS];
  neighbor_spec spec = run_near_spec(1, 1);
  spec.order = (ordering){.kind = ORDERING_HILBERT};
  run_case c = run_case_make(0, MD_DOUBLE);
  run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
  md_atoms *atoms;
  for (int k = 0; k < ATOMS; k++) {
    const int bin[3] = {k / EDGE / EDGE, k / EDGE % EDGE - 8, k % EDGE - 8};
    for (int d = 0; d < 3; d++)
      x[3 * k + d] = bin[d] + 0.5;
  }
  ck_ok(md_atoms_create(near.ctx, &(md_box){{-8, -8, -8}, {8, 8, 8}}, &atoms));
  ck_ok(md_atoms_set(atoms, ATOMS, x, NULL, NULL, NULL));
  ck_ok(comm_migrate(near.cm, atoms));
  atoms->part.lo[0] = 0; /* as that of the second of two ranks */
  ck_ok(neighbor_sort(near.list, atoms));
  ck_ok(md_atoms_get(atoms, sorted, NULL, NULL, NULL, NULL));
  const neighbor_grid *grid = neighbor_list_grid(near.list);
  ck_assert_int_eq(grid->first[0], 7);
  ck_assert_int_eq(grid->n[0] - 2 * grid->margin[0], 9);
  for (int k = 1; k < ATOMS; k++) {
    double steps = 0;
    for (int d = 0; d < 3; d++)
      steps += fabs(sorted[3 * k + d] - sorted[3 * (k - 1) + d]);
    ck_assert_msg(steps == 1, "%g bins from atom %d to the next", steps, k - 1);
  }
  md_atoms_destroy(atoms);
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

/* Frames of a long box have the same bins, whole ones, and are whole bins apart: each would have a
 * slab of its own otherwise that the next bin's edge cuts. */
START_TEST(frames_have_whole_bins)
{
  neighbor_spec spec = run_near_spec(1, 0.5);
  run_case c = run_case_make(0, MD_SINGLE);
  run_near near = run_near_open(MD_SINGLE, 1, &spec, &c);
  for (int k = 0; k < 50; k++) {
    const md_box box = {{0, 0, 0}, {20 + 0.0731 * k, 9, 30 + 0.1171 * k}};
    const double x[] = {0.1, 0.7, 0.1, 19, 8, 29};
    md_atoms *atoms;
    ck_ok(md_atoms_create(near.ctx, &box, &atoms));
    ck_ok(md_atoms_cut(atoms, 10));
    ck_ok(md_atoms_set(atoms, 2, x, NULL, NULL, NULL));
    ck_ok(comm_migrate(near.cm, atoms));
    ck_ok(neighbor_sort(near.list, atoms));
    const neighbor_grid *grid = neighbor_list_grid(near.list);
    for (int d = 0; d < 3; d++) {
      const double edge = atoms->frame.hi[d] - atoms->frame.lo[d], frames = atoms->frames[d];
      const double bins = edge / grid->side[d], whole = nearbyint(bins);
      ck_assert_msg(fabs(bins - whole) < 1e-9 && whole == floor(edge / spec.bin_size),
                    "%g bins in a frame of %g", bins, edge);
      if (frames == 1) continue;
      const double between = (grid->whole[d] - frames * whole) / (frames - 1);
      ck_assert_msg(between == nearbyint(between) &&
                        between * grid->side[d] >= 4 * spec.r_list * (1 - 1e-9),
                    "%g bins between frames", between);
    }
    md_atoms_destroy(atoms);
  }
  run_near_close(&near);
  run_case_free(&c);
}
END_TEST

START_TEST(memory_is_foreseen)
{
  run_case c = run_case_fcc("liquid", (int[]){10, 10, 10}, (double[]){0, 0, 0}, 0.1);
  for (int l = 0; l < RUN_LISTS; l++) {
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_set_list(&spec, l);
    run_near near = run_near_open((md_precision)_i, 1, &spec, &c);
    const int64_t before = near.ctx->bytes_allocated;
    ck_ok(comm_migrate(near.cm, near.atoms));
    ck_ok(comm_borders(near.cm, near.atoms, spec.r_list));
    const int64_t ghosts = near.ctx->bytes_allocated;
    ck_ok(neighbor_build(near.list, near.atoms));
    const double used = (double)(near.ctx->bytes_allocated - ghosts);
    double edge[3];
    for (int d = 0; d < 3; d++)
      edge[d] = c.box.hi[d] - c.box.lo[d];
    const double said =
        neighbor_memory(near.ctx, &spec, (double)c.n, (double)near.atoms->n_ghost, edge);
    ck_assert_msg(ghosts >= before && said > 0.3 * used && said < 4 * used,
                  "list %d: %g bytes foreseen, %g used", l, said, used);
    run_near_close(&near);
  }
  run_case_free(&c);
}
END_TEST

/* Sorting exchanges buffers of several sizes: it must not grow any of them again and again. */
START_TEST(sorts_again_take_no_more_memory)
{
  run_case c = run_case_fcc("liquid", (int[]){3, 3, 3}, (double[]){0, 0, 0}, 0.1);
  for (int room = 1; room <= 20; room++) { /* of positions, in tenths of the atoms */
    neighbor_spec spec = run_near_spec(2.8, 0.5);
    run_near near = run_near_open(MD_DOUBLE, 1, &spec, &c);
    md_buffer x = {0};
    const size_t bytes = near.atoms->x.bytes;
    ck_ok(md_buffer_reserve(near.ctx, &x, bytes + bytes * (size_t)room / 10, 0));
    ck_ok(md_copy(near.ctx, x.data, near.atoms->x.data, bytes));
    md_buffer_swap(&x, &near.atoms->x);
    md_buffer_free(near.ctx, &x);
    int64_t settled = 0;
    for (int k = 0; k < 30; k++) {
      ck_ok(neighbor_sort(near.list, near.atoms));
      if (k == 3) settled = near.ctx->bytes_allocated;
    }
    ck_assert_int_eq(near.ctx->bytes_allocated, settled);
    run_near_close(&near);
  }
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("bins");
  TCase *tc = tcase_create("bins");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, sort_follows_the_curve_and_loses_nothing, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, bins_cover_the_box);
  tcase_add_test(tc, bins_of_few_tiles_are_powers_of_two);
  tcase_add_loop_test(tc, bins_of_many_tiles_leave_no_thin_slab, 0, 2);
  tcase_add_test(tc, the_last_position_is_in_the_last_bin);
  tcase_add_test(tc, the_curve_of_a_part_begins_where_its_atoms_do);
  tcase_add_test(tc, frames_have_whole_bins);
  tcase_add_loop_test(tc, memory_is_foreseen, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, sorts_again_take_no_more_memory);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
