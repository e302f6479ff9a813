/* tests/comm/check_comm.c - the periodic wrap and the ghosts, against brute force. */
#include "comm/comm.h"
#include "engine/integrate/integrate.h"
#include "tests/ref/ref.h"
#include "tests/drive/run_cases.h"
#include "tests/test.h"

typedef struct {
  md_ctx *ctx;
  md_atoms *atoms;
  comm *cm;
} fixture;

static fixture fixture_open(md_precision precision, int threads, const run_case *c)
{
  fixture fx = {.ctx = test_ctx(precision, threads, false)};
  fx.atoms = run_case_atoms(fx.ctx, c, NULL);
  ck_ok(comm_create(fx.ctx, &fx.cm));
  return fx;
}

static void fixture_close(fixture *fx)
{
  comm_destroy(fx->cm);
  md_atoms_destroy(fx->atoms);
  md_ctx_destroy(fx->ctx);
}

static double largest_coordinate(const md_box *box)
{
  double most = 0;
  for (int d = 0; d < 3; d++)
    most = fmax(most, fmax(fabs(box->lo[d]), fabs(box->hi[d])));
  return most;
}

/* Boxes with and without 0 at a face, with edges that no float and no double holds exactly. */
static const md_box wrap_boxes[] = {{{-1.5, 0, 2}, {2.5, 3, 7.25}},
                                    {{0.1, 0.7, -0.3}, {3.3, 10.1, 0.9}},
                                    {{-1e-9, -16.796, -7}, {16.796, 0, -0.1}},
                                    {{1000.1, -5000.7, 33.3}, {1001.4, -4990.2, 34.6}}};

enum { WRAPS = 16 };

/* Positions on, beside and far from the faces along one axis. */
static void wrap_inputs(md_precision precision, double lo, double hi, double x[WRAPS])
{
  const double edge = hi - lo;
  const double values[WRAPS] = {lo,
                                hi,
                                run_next(precision, lo, -INFINITY),
                                run_next(precision, lo, INFINITY),
                                run_next(precision, hi, -INFINITY),
                                run_next(precision, hi, INFINITY),
                                -0.0,
                                -1e-300,
                                1e-300,
                                lo + 0.3 * edge,
                                lo + 1000.25 * edge,
                                lo - 1000.75 * edge,
                                lo + 2 * edge,
                                lo - edge,
                                lo - 123456.5 * edge,
                                lo - 1e-20};
  for (int k = 0; k < WRAPS; k++)
    x[k] = run_round(precision, values[k]);
}

static void check_wrapped(const run_snapshot *s, const run_case *c, double unit, int box)
{
  for (int64_t k = 0; k < 3 * s->n; k++) {
    const int d = (int)(k % 3);
    const double lo = c->box.lo[d], hi = c->box.hi[d], in = c->x[k], x = s->x[k];
    const int crossed = s->image[k] - (7 - d); /* image was 7, 6, 5 before */
    ck_assert_msg(x >= lo && x < hi, "box %d: %.17g became %.17g, outside [%.17g, %.17g)", box, in,
                  x, lo, hi);
    if (in >= lo && in < hi)
      ck_assert_msg(x == in && crossed == 0,
                    "box %d: %.17g lies in [%.17g, %.17g) but moved to %.17g, image %d", box, in,
                    lo, hi, x, crossed);
    const long double back = x + crossed * ((long double)hi - lo);
    const double scale = fabs(in) + fabs(lo) + fabs(hi);
    ck_assert_msg(fabsl(back - in) <= 4 * unit * scale, "box %d: %.17g became %.17g, image %d", box,
                  in, x, crossed);
  }
}

START_TEST(wraps_and_counts_crossings)
{
  const md_precision precision = (md_precision)_i;
  for (int b = 0; b < (int)(sizeof wrap_boxes / sizeof *wrap_boxes); b++) {
    run_case c = {.box = wrap_boxes[b], .n = 3 * WRAPS, .x = ref_alloc(9 * WRAPS, 8)};
    int32_t image[9 * WRAPS];
    for (int axis = 0; axis < 3; axis++) {
      double x[WRAPS];
      wrap_inputs(precision, c.box.lo[axis], c.box.hi[axis], x);
      for (int k = 0; k < WRAPS; k++)
        for (int d = 0; d < 3; d++) {
          const double middle = (float)((c.box.lo[d] + c.box.hi[d]) / 2);
          c.x[3 * (axis * WRAPS + k) + d] = d == axis ? x[k] : middle;
        }
    }
    for (int k = 0; k < 9 * WRAPS; k++)
      image[k] = 7 - k % 3;
    fixture fx = fixture_open(precision, 1, &c);
    ck_ok(md_atoms_set(fx.atoms, c.n, c.x, NULL, NULL, image));
    ck_ok(comm_migrate(fx.cm, fx.atoms));
    run_snapshot s = run_snapshot_take(fx.atoms);
    check_wrapped(&s, &c, run_unit(precision), b);
    run_snapshot_free(&s);
    fixture_close(&fx);
    run_case_free(&c);
  }
}
END_TEST

/* Positions that have no place in the box, or so far that no image can count them. */
START_TEST(reports_positions_that_are_no_number)
{
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e30};
  for (int p = 0; p < MD_PRECISION_COUNT; p++)
    for (int k = 0; k < 4; k++) {
      const int64_t ids[] = {11, 5012, 13, 7077, 15};
      run_case c = {.box = {{0, 0, 0}, {3, 4, 5}}, .n = 5, .x = ref_alloc(15, 8)};
      for (int m = 0; m < 15; m++)
        c.x[m] = 0.2 * m;
      c.x[3 + k % 3] = c.x[9 + (k + 1) % 3] = bad[k];
      fixture fx = fixture_open((md_precision)p, 1, &c);
      ck_ok(md_atoms_set(fx.atoms, 5, c.x, NULL, ids, NULL));
      ck_assert_msg(comm_migrate(fx.cm, fx.atoms) == MD_ENUMERIC, "%g was accepted in %s", bad[k],
                    md_precision_words[p]);
      ck_assert_msg(strstr(md_message(), "5012") || strstr(md_message(), "7077"), "no id in: %s",
                    md_message());
      ck_assert_msg(strchr(md_message(), '2'), "no number of atoms in: %s", md_message());
      run_snapshot s = run_snapshot_take(fx.atoms);
      ck_assert(s.x[3 + k % 3] == (p == MD_SINGLE ? (double)(float)bad[k] : bad[k]) ||
                (k == 0 && isnan(s.x[3])));
      run_snapshot_free(&s);
      fixture_close(&fx);
      run_case_free(&c);
    }
}
END_TEST

typedef struct {
  int32_t home, shift;
} ghost_key;

static int ghost_compare(const void *a, const void *b)
{
  const ghost_key *p = a, *q = b;
  if (p->home != q->home) return p->home < q->home ? -1 : 1;
  return (p->shift > q->shift) - (p->shift < q->shift);
}

/* 1: a ghost, 0: none, -1: so near the bound that rounding decides. */
static int is_ghost(const md_box *box, const double *x, const int *s, double reach, double margin)
{
  int verdict = 1;
  for (int d = 0; d < 3; d++) {
    const long double at = x[d] + s[d] * ((long double)box->hi[d] - box->lo[d]);
    const long double above = at - ((long double)box->lo[d] - reach);
    const long double below = (long double)box->hi[d] + reach - at;
    if (above < -margin || below < -margin) return 0;
    if (above < margin || below < margin) verdict = -1;
  }
  return verdict;
}

/* The ghosts present, sorted; each must be allowed and lie where its home's image lies. */
static ghost_key *ghosts_sorted(const run_snapshot *s, const md_box *box, double reach,
                                double margin, const char *name)
{
  ghost_key *keys = ref_alloc(s->n_ghost, sizeof *keys);
  for (int64_t g = 0; g < s->n_ghost; g++) {
    int shift[3];
    keys[g] = (ghost_key){s->home[g], s->shift[g]};
    md_shift_unpack(s->shift[g], shift);
    ck_assert_msg(s->home[g] >= 0 && s->home[g] < s->n && s->shift[g] != 0,
                  "%s: ghost %lld is atom %d shifted by %d", name, (long long)g, s->home[g],
                  s->shift[g]);
    const double *x = s->x + 3 * s->home[g], *at = s->x + 3 * (s->n + g);
    ck_assert_msg(is_ghost(box, x, shift, reach, margin) != 0,
                  "%s: atom %d shifted by %d %d %d lies outside", name, s->home[g], shift[0],
                  shift[1], shift[2]);
    for (int d = 0; d < 3; d++) {
      const long double want = x[d] + shift[d] * ((long double)box->hi[d] - box->lo[d]);
      ck_assert_msg(fabsl(at[d] - want) <= margin / 2, "%s: ghost %lld at %.17g, not %.17Lg", name,
                    (long long)g, at[d], want);
    }
  }
  if (s->n_ghost > 0) qsort(keys, (size_t)s->n_ghost, sizeof *keys, ghost_compare);
  for (int64_t g = 1; g < s->n_ghost; g++)
    ck_assert_msg(ghost_compare(&keys[g - 1], &keys[g]) != 0, "%s: atom %d twice", name,
                  keys[g].home);
  return keys;
}

static void check_ghosts(const md_atoms *atoms, double reach, const char *name)
{
  run_snapshot s = run_snapshot_take(atoms);
  const md_box *box = &atoms->box;
  const double margin = 8 * run_unit(atoms->ctx->precision) * (largest_coordinate(box) + reach);
  ghost_key *keys = ghosts_sorted(&s, box, reach, margin, name);
  int most[3];
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(reach / (box->hi[d] - box->lo[d])) + 1;
  for (int32_t i = 0; i < s.n; i++)
    for (int a = -most[0]; a <= most[0]; a++)
      for (int b = -most[1]; b <= most[1]; b++)
        for (int c = -most[2]; c <= most[2]; c++) {
          const int shift[3] = {a, b, c};
          const ghost_key key = {i, md_shift_pack(a, b, c)};
          if (key.shift == 0 || is_ghost(box, s.x + 3 * i, shift, reach, margin) != 1) continue;
          ck_assert_msg(
              s.n_ghost > 0 && bsearch(&key, keys, (size_t)s.n_ghost, sizeof key, ghost_compare),
              "%s, reach %g: atom %d shifted by %d %d %d is missing", name, reach, i, a, b, c);
        }
  free(keys);
  run_snapshot_free(&s);
}

/* Differences of fixed-point coordinates must be differences of positions, to a step. */
static void check_fixed(const md_atoms *atoms, double reach, const char *name)
{
  if (atoms->ctx->precision != MD_MIXED) {
    ck_assert_double_eq(atoms->coord_scale, 1);
    return;
  }
  run_snapshot s = run_snapshot_take(atoms);
  const double step = atoms->coord_scale, wrap = step * 0x1p32;
  double widest = 0;
  for (int d = 0; d < 3; d++)
    widest = fmax(widest, atoms->box.hi[d] - atoms->box.lo[d] + 2 * reach);
  ck_assert_msg(step > 0 && wrap > 2 * reach && step <= 4 * widest * 0x1p-32,
                "%s: a step of %g for an extent of %g", name, step, widest);
  for (int64_t i = 0; i < s.n + s.n_ghost; i++)
    for (int d = 0; d < 3; d++) {
      const uint32_t steps = (uint32_t)s.fixed[4 * i + d] - (uint32_t)s.fixed[d];
      const double off = remainder((double)steps * step - (s.x[3 * i + d] - s.x[d]), wrap);
      ck_assert_msg(fabs(off) <= 1.01 * step, "%s: atom %lld is %g steps off", name, (long long)i,
                    off / step);
    }
  run_snapshot_free(&s);
}

START_TEST(ghosts_are_all_images_within_reach)
{
  const double reaches[] = {0.4, 5.1, 2.8};
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < run_case_count(); k++) {
    run_case c = run_case_make(k, precision);
    fixture fx = fixture_open(precision, 1, &c);
    for (int r = 0; r < 3; r++) {
      ck_ok(comm_migrate(fx.cm, fx.atoms));
      ck_assert_int_eq(fx.atoms->n_ghost, 0);
      ck_ok(comm_borders(fx.cm, fx.atoms, reaches[r]));
      ck_assert_int_eq(fx.atoms->n, c.n);
      ck_assert_double_eq(fx.atoms->r_ghost, reaches[r]);
      check_ghosts(fx.atoms, reaches[r], c.name);
      check_fixed(fx.atoms, reaches[r], c.name);
    }
    fixture_close(&fx);
    run_case_free(&c);
  }
}
END_TEST

/* lo - r_ghost <= x < hi + r_ghost, with numbers that every precision holds. */
START_TEST(reach_is_half_open)
{
  run_case c = {.box = {{0, 0, 0}, {8, 8, 8}}, .n = 2, .x = ref_alloc(6, 8)};
  const double x[] = {6, 4, 4, 2, 4, 4};
  memcpy(c.x, x, sizeof x);
  fixture fx = fixture_open((md_precision)_i, 1, &c);
  ck_ok(comm_migrate(fx.cm, fx.atoms));
  ck_ok(comm_borders(fx.cm, fx.atoms, 2));
  run_snapshot s = run_snapshot_take(fx.atoms);
  ck_assert_int_eq(s.n_ghost, 1);
  ck_assert_int_eq(s.home[0], 0);
  ck_assert_int_eq(s.shift[0], md_shift_pack(-1, 0, 0));
  ck_assert_double_eq(s.x[6], -2);
  run_snapshot_free(&s);
  fixture_close(&fx);
  run_case_free(&c);
}
END_TEST

START_TEST(ghosts_come_in_one_order)
{
  run_case c = run_case_make(0, MD_DOUBLE);
  run_snapshot first = {0};
  for (int threads = 0; threads < 4; threads++) {
    fixture fx = fixture_open((md_precision)_i, threads > 0 ? threads : 1, &c);
    ck_ok(comm_migrate(fx.cm, fx.atoms));
    ck_ok(comm_borders(fx.cm, fx.atoms, 2.8));
    run_snapshot s = run_snapshot_take(fx.atoms);
    if (threads == 0) {
      first = s;
    } else {
      ck_assert_int_eq(s.n_ghost, first.n_ghost);
      ck_assert_mem_eq(s.home, first.home, (size_t)s.n_ghost * 4);
      ck_assert_mem_eq(s.shift, first.shift, (size_t)s.n_ghost * 4);
      run_snapshot_free(&s);
    }
    fixture_close(&fx);
  }
  run_snapshot_free(&first);
  run_case_free(&c);
}
END_TEST

START_TEST(forward_refreshes_ghosts)
{
  const md_precision precision = (md_precision)_i;
  for (int k = 0; k < run_case_count(); k++) {
    run_case c = run_case_make(k, precision);
    double *v = run_velocities(c.n, 1, 5);
    fixture fx = fixture_open(precision, 1, &c);
    ck_ok(md_atoms_set(fx.atoms, c.n, c.x, v, NULL, NULL));
    ck_ok(comm_migrate(fx.cm, fx.atoms));
    ck_ok(comm_borders(fx.cm, fx.atoms, 2.8));
    run_snapshot before = run_snapshot_take(fx.atoms);
    for (int step = 0; step < 2; step++) {
      ck_ok(integrate_advance(fx.atoms, NULL, 0, 0.01));
      ck_ok(comm_forward(fx.cm, fx.atoms));
    }
    run_snapshot after = run_snapshot_take(fx.atoms);
    ck_assert_int_eq(after.n_ghost, before.n_ghost);
    ck_assert_mem_eq(after.home, before.home, (size_t)after.n_ghost * 4);
    ck_assert_mem_eq(after.shift, before.shift, (size_t)after.n_ghost * 4);
    for (int64_t i = 0; i < 3 * after.n; i++)
      ck_assert_msg(fabs(after.x[i] - before.x[i] - 0.02 * before.v[i]) < 1e-4, "%s: atom %lld",
                    c.name, (long long)i / 3);
    const double margin = 8 * run_unit(precision) * (largest_coordinate(&c.box) + 2.8);
    free(ghosts_sorted(&after, &c.box, 2.8 + 0.1, margin, c.name));
    check_fixed(fx.atoms, 2.8, c.name);
    run_snapshot_free(&before);
    run_snapshot_free(&after);
    fixture_close(&fx);
    free(v);
    run_case_free(&c);
  }
}
END_TEST

START_TEST(a_box_too_small_is_refused)
{
  run_case c = {.box = {{0, 0, 0}, {9, 0.005, 9}}, .n = 1, .x = ref_alloc(3, 8)};
  c.x[0] = c.x[2] = 4.5;
  fixture fx = fixture_open((md_precision)_i, 1, &c);
  ck_ok(comm_migrate(fx.cm, fx.atoms));
  ck_assert_int_eq(comm_borders(fx.cm, fx.atoms, 2.8), MD_EINVAL);
  ck_assert_msg(strstr(md_message(), "0.0054") || strstr(md_message(), "0.0055"),
                "the smallest edge, 0.00548, is not named: %s", md_message());
  ck_ok(comm_borders(fx.cm, fx.atoms, 0.9975)); /* y from -0.995 to 1.0 */
  ck_assert_int_eq(fx.atoms->n_ghost, 199 + 200);
  static const double senseless[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    ck_assert_int_eq(comm_borders(fx.cm, fx.atoms, senseless[k]), MD_EINVAL);
    ck_assert(strstr(md_message(), "> 0 far") && fx.atoms->n_ghost == 199 + 200);
  }
  double values[3] = {1.5, -2, 0};
  ck_ok(comm_sum(fx.cm, values, 3));
  ck_assert(values[0] == 1.5 && values[1] == -2 && values[2] == 0);
  comm_destroy(NULL);
  fixture_close(&fx);
  run_case_free(&c);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("comm");
  TCase *tc = tcase_create("comm");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, wraps_and_counts_crossings, 0, MD_PRECISION_COUNT);
  tcase_add_test(tc, reports_positions_that_are_no_number);
  tcase_add_loop_test(tc, ghosts_are_all_images_within_reach, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, reach_is_half_open, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, ghosts_come_in_one_order, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, forward_refreshes_ghosts, 0, MD_PRECISION_COUNT);
  tcase_add_loop_test(tc, a_box_too_small_is_refused, 0, MD_PRECISION_COUNT);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
