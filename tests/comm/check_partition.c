/* tests/comm/check_partition.c - who owns a cell, and who needs it, against brute force. */
#include "comm/partition.h"
#include "tests/ref/ref.h"
#include "tests/test.h"

enum { MOST_RANKS = 24 };

/* Boxes of powers of two and others, one flat, one of a single cell, one below the reach; boxes of
 * several frames along one axis and two, of frames shorter than the reach, and of some with cells
 * that nobody needs. */
static const struct {
  md_box frame;
  double reach;
  int32_t frames[3];
} cases[] = {{{{0, 0, 0}, {8, 8, 8}}, 2, {1, 1, 1}},
             {{{-3, 1, 2}, {4.1, 6.3, 9.7}}, 2.2, {1, 1, 1}},
             {{{0, 0, 0}, {19, 3, 2.5}}, 2, {1, 1, 1}},
             {{{0, 0, 0}, {1, 1.2, 1.1}}, 2.8, {1, 1, 1}},
             {{{-5, -5, -5}, {5, 5, 5}}, 2.8, {1, 1, 1}},
             {{{0, 0, 0}, {1.3, 9, 1.3}}, 2.8, {1, 1, 1}},
             {{{0, 0, 0}, {5.6, 5.6, 5.6}}, 2.8, {1, 1, 1}},
             {{{-2, -1, 0}, {2, 2.5, 2.5}}, 2, {4, 1, 1}},
             {{{-2, -1, -1.5}, {2, 1, 1.5}}, 1.9, {2, 1, 3}},
             {{{0, -0.8, 0}, {3, 0.8, 2}}, 2, {1, 5, 1}},
             {{{0, 0, 0}, {3.3, 5.5, 5.5}}, 2, {2, 1, 1}}};
enum { CASES = sizeof cases / sizeof *cases };

/* Atoms of each cell: none, uniform, and a quarter that is dense. */
static int64_t *make_weights(const partition *p, int kind)
{
  int64_t *weight = ref_alloc(p->cells, sizeof *weight);
  for (int64_t c = 0; c < p->cells; c++) {
    const bool dense = c < p->cells / 4;
    weight[c] = kind == 0 ? 0 : kind == 1 ? 5 : dense ? 37 + c % 7 : c % 2;
  }
  return weight;
}

static partition *cut(int which, int ranks, partition_cut kind, int density, int64_t **weight)
{
  static const ordering hilbert = {.kind = ORDERING_HILBERT};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  partition *p;
  ck_ok(partition_create(&cases[which].frame, cases[which].frames, cases[which].reach, ranks, &p));
  *weight = make_weights(p, density);
  ck_ok(partition_make(p, ctx, kind, &hilbert, *weight));
  md_ctx_destroy(ctx);
  return p;
}

/* Cells and weight of each rank. */
static void count(const partition *p, const int64_t *weight, int64_t *cells, int64_t *atoms)
{
  memset(cells, 0, MOST_RANKS * sizeof *cells);
  memset(atoms, 0, MOST_RANKS * sizeof *atoms);
  for (int64_t c = 0; c < p->cells; c++) {
    ck_assert_msg(p->owner[c] >= 0 && p->owner[c] < p->ranks, "cell %lld has owner %d of %d",
                  (long long)c, p->owner[c], p->ranks);
    cells[p->owner[c]]++;
    atoms[p->owner[c]] += weight[c];
  }
}

START_TEST(every_cell_has_an_owner_and_the_curve_is_fair)
{
  for (int which = 0; which < CASES; which++)
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
      for (int density = 0; density < 3; density++) {
        int64_t *weight, cells[MOST_RANKS], atoms[MOST_RANKS], total = 0, heaviest = 0;
        partition *p = cut(which, ranks, (partition_cut)_i, density, &weight);
        count(p, weight, cells, atoms);
        for (int64_t c = 0; c < p->cells; c++) {
          total += weight[c];
          heaviest = weight[c] > heaviest ? weight[c] : heaviest;
        }
        for (int r = 0; r < ranks && _i == PARTITION_CURVE; r++) {
          ck_assert_msg(llabs(atoms[r] * ranks - total) <= heaviest * ranks,
                        "case %d: rank %d of %d has %lld of %lld atoms", which, r, ranks,
                        (long long)atoms[r], (long long)total);
          if (density == 0)
            ck_assert_msg(llabs(cells[r] * ranks - p->cells) <= ranks, "rank %d has %lld cells", r,
                          (long long)cells[r]);
        }
        free(weight);
        partition_destroy(p);
      }
}
END_TEST

/* Along the curve owners only rise; where the grid is a cube of a power of two, along the one that
 * was asked for. */
START_TEST(a_rank_owns_a_range_of_the_curve)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  for (int which = 0; which < CASES; which++)
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 3) {
      int64_t *weight;
      partition *p = cut(which, ranks, PARTITION_CURVE, 2, &weight);
      const ordering curve = {.kind =
                                  which == 0 || which == 6 ? ORDERING_HILBERT : ORDERING_GILBERT};
      uint32_t *cell = ref_alloc(p->cells, sizeof *cell);
      ck_ok(ordering_cells(ctx, &curve, p->n, cell));
      for (int64_t k = 1; k < p->cells; k++)
        ck_assert_msg(p->owner[cell[k]] >= p->owner[cell[k - 1]], "case %d, %d ranks: place %lld",
                      which, ranks, (long long)k);
      free(cell);
      free(weight);
      partition_destroy(p);
    }
  md_ctx_destroy(ctx);
}
END_TEST

START_TEST(bricks_and_bisections_are_boxes)
{
  for (int which = 0; which < CASES; which++)
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
      int64_t *weight, cells[MOST_RANKS], atoms[MOST_RANKS];
      partition *p = cut(which, ranks, _i ? PARTITION_BRICKS : PARTITION_BISECTION, 1, &weight);
      count(p, weight, cells, atoms);
      for (int r = 0; r < ranks; r++) {
        partition_halo halo;
        ck_ok(partition_halo_make(p, r, cases[which].reach, &halo));
        ck_assert_msg((int64_t)halo.n[0] * halo.n[1] * halo.n[2] == cells[r],
                      "rank %d of %d: no box", r, ranks);
        if (which == 0 && ranks == 8) ck_assert(cells[r] == p->cells / 8);
        partition_halo_free(&halo);
      }
      free(weight);
      partition_destroy(p);
    }
}
END_TEST

/* Numbers of cells that are odd or primes. */
START_TEST(bricks_share_many_cells_evenly)
{
  static const md_box frame = {{0, 0, 0}, {97, 67, 65}};
  static const int32_t whole[3] = {97, 67, 65}, one[3] = {1, 1, 1};
  for (int ranks = 1; ranks <= 4; ranks++) {
    int64_t cells[MOST_RANKS], atoms[MOST_RANKS];
    md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
    partition *p;
    ck_ok(partition_create(&frame, one, 2, ranks, &p));
    int64_t *weight = make_weights(p, 1);
    ck_ok(partition_make(p, ctx, PARTITION_BRICKS, NULL, weight));
    count(p, weight, cells, atoms);
    for (int r = 1; r < ranks; r++)
      ck_assert_int_eq(cells[r], cells[0]);
    for (int d = 0; d < 3; d++) {
      if (ranks == 1) ck_assert_int_eq(p->n[d], whole[d]);
      ck_assert_double_ge(p->side[d], 1);
      ck_assert_double_le(p->side[d], 1 + 1. / 31);
      ck_assert_double_eq_tol(p->side[d] * p->n[d], whole[d], 1e-9);
    }
    free(weight);
    partition_destroy(p);
    md_ctx_destroy(ctx);
  }
}
END_TEST

/* A cell, and its corner in its frame. */
static void place_of(const partition *p, int64_t c, double corner[3], int32_t at[3])
{
  at[0] = (int32_t)(c / p->n[2] / p->n[1]);
  at[1] = (int32_t)(c / p->n[2] % p->n[1]);
  at[2] = (int32_t)(c % p->n[2]);
  for (int d = 0; d < 3; d++)
    corner[d] = p->lo[d] + at[d] % (p->n[d] / p->frames[d]) * p->side[d];
}

/* Distance between a cell, shifted by frames, and another: infinite where that is of a frame that
 * the first was not shifted to. */
static double gap_of(const partition *p, int64_t a, const int s[3], int64_t b)
{
  double x[3], y[3], sq = 0;
  int32_t from[3], to[3];
  place_of(p, a, x, from);
  place_of(p, b, y, to);
  for (int d = 0; d < 3; d++) {
    const int32_t m = p->n[d] / p->frames[d];
    if ((from[d] / m - s[d] - to[d] / m) % p->frames[d] != 0) return INFINITY;
    const double away = fabs(x[d] + s[d] * (m * p->side[d]) - y[d]) - p->side[d];
    if (away > 0) sq += away * away;
  }
  return sqrt(sq);
}

static bool has_target(const partition *p, const partition_halo *halo, int64_t c, int rank,
                       int32_t shift)
{
  int32_t at[3];
  double corner[3];
  place_of(p, c, corner, at);
  int64_t k = 0;
  for (int d = 0; d < 3; d++)
    k = k * halo->n[d] + at[d] - halo->lo[d];
  int found = 0;
  for (int64_t e = halo->first[k]; e < halo->first[k + 1]; e++)
    found += halo->target[halo->to[e]].rank == rank && halo->target[halo->to[e]].shift == shift;
  ck_assert_msg(found <= 1, "cell %lld goes to rank %d %d times", (long long)c, rank, found);
  return found;
}

/* For each rank and shift: is the nearest of its cells within reach? */
static void check_halo(const partition *p, int rank, double reach, const int64_t *weight)
{
  partition_halo halo;
  ck_ok(partition_halo_make(p, rank, reach, &halo));
  int most[3];
  for (int d = 0; d < 3; d++)
    most[d] = (int)ceil(reach / (p->n[d] / p->frames[d] * p->side[d])) + 1;
  int64_t images = 0, atoms = 0, listed = 0;
  bool neighbor[MOST_RANKS] = {false};
  for (int64_t c = 0; c < p->cells; c++) {
    if (p->owner[c] != rank) continue;
    atoms += weight[c];
    int s[3];
    for (s[0] = -most[0]; s[0] <= most[0]; s[0]++)
      for (s[1] = -most[1]; s[1] <= most[1]; s[1]++)
        for (s[2] = -most[2]; s[2] <= most[2]; s[2]++) {
          double nearest[MOST_RANKS];
          for (int r = 0; r < p->ranks; r++)
            nearest[r] = INFINITY;
          for (int64_t e = 0; e < p->cells; e++)
            nearest[p->owner[e]] = fmin(nearest[p->owner[e]], gap_of(p, c, s, e));
          const int32_t shift = md_shift_pack(s[0], s[1], s[2]);
          for (int r = 0; r < p->ranks; r++) {
            const bool is = has_target(p, &halo, c, r, shift), self = r == rank && shift == 0;
            if (is) listed++, images += weight[c], neighbor[r] = true;
            ck_assert_msg(!(is && self), "a cell goes to its owner unshifted");
            if (!self && nearest[r] < reach * (1 - 1e-9))
              ck_assert_msg(is, "rank %d lacks cell %lld shifted by %d %d %d", r, (long long)c,
                            s[0], s[1], s[2]);
            if (nearest[r] > reach * (1 + 1e-5)) ck_assert_msg(!is, "rank %d needs it not", r);
          }
        }
  }
  const int64_t cells = (int64_t)halo.n[0] * halo.n[1] * halo.n[2];
  ck_assert_msg(listed == halo.first[cells], "%lld targets of %lld are none",
                (long long)(halo.first[cells] - listed), (long long)halo.first[cells]);
  const partition_load load = partition_weigh(p, rank, &halo, weight);
  int64_t neighbors = 0;
  for (int r = 0; r < p->ranks; r++)
    neighbors += neighbor[r] && r != rank;
  ck_assert(load.atoms == atoms && load.images == images && load.neighbors == neighbors);
  for (int32_t t = 1; t < halo.n_targets; t++) {
    const partition_target *a = &halo.target[t - 1], *b = &halo.target[t];
    ck_assert(a->rank < b->rank || (a->rank == b->rank && a->shift < b->shift));
  }
  partition_halo_free(&halo);
}

START_TEST(halos_are_what_lies_within_reach)
{
  static const int ranks[] = {1, 2, 3, 5, 8, 24};
  const int step = getenv("ASAN_OPTIONS") ? 5 : 1; /* there arithmetic is ten times as slow */
  for (int which = 0; which < CASES; which++)
    for (int k = 0; k < 6; k += step) {
      int64_t *weight;
      partition *p = cut(which, ranks[k], (partition_cut)_i, 2, &weight);
      /* Ranks of the whole system are many: the first, a middle and the last will do. */
      const int some[] = {0, ranks[k] / 2, ranks[k] - 1};
      for (int r = 0; r < 3; r++)
        if (r == 0 || some[r] != some[r - 1]) check_halo(p, some[r], cases[which].reach, weight);
      free(weight);
      partition_destroy(p);
    }
}
END_TEST

START_TEST(positions_have_cells)
{
  partition *p;
  for (int which = 0; which < CASES; which++) {
    const int32_t *frames = cases[which].frames;
    ck_ok(partition_create(&cases[which].frame, frames, cases[which].reach, 3, &p));
    for (int64_t c = 0; c < p->cells; c++) {
      double corner[3];
      int32_t at[3], image[3];
      place_of(p, c, corner, at);
      for (int d = 0; d < 3; d++) {
        corner[d] += 0.3 * p->side[d];
        image[d] = at[d] / (p->n[d] / frames[d]) + frames[d] * ((int32_t)(c % 5) - 2);
      }
      ck_assert_int_eq(partition_cell(p, corner, image), c);
    }
    /* Outside of a frame is not in the next one. */
    const double far[2][3] = {{-1e9, -1e9, -1e9}, {1e9, INFINITY, 1e9}};
    const int32_t first[3] = {0, 0, 0}, last[3] = {frames[0] - 1, -1, 2 * frames[2] - 1};
    ck_assert_int_eq(partition_cell(p, far[0], first), 0);
    ck_assert_int_eq(partition_cell(p, far[1], last), p->cells - 1);
    partition_destroy(p);
  }
  static const md_box huge = {{0, 0, 0}, {1e6, 1e6, 1e6}};
  ck_assert_int_eq(partition_create(&huge, (int32_t[]){1, 1, 1}, 2, 3, &p), MD_ECAPACITY);
  ck_assert(p == NULL);
  static const int32_t many[3] = {1 << 20, 1 << 20, 1};
  ck_assert_int_eq(partition_create(&cases[0].frame, many, 2, 3, &p), MD_ECAPACITY);
  ck_assert(p == NULL);
}
END_TEST

int main(void)
{
  if (test_needs_cpu()) return 0;
  Suite *suite = suite_create("partition");
  TCase *tc = tcase_create("partition");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, every_cell_has_an_owner_and_the_curve_is_fair, PARTITION_CURVE,
                      PARTITION_CUT_COUNT);
  tcase_add_test(tc, a_rank_owns_a_range_of_the_curve);
  tcase_add_loop_test(tc, bricks_and_bisections_are_boxes, 0, 2);
  tcase_add_loop_test(tc, halos_are_what_lies_within_reach, PARTITION_CURVE, PARTITION_CUT_COUNT);
  tcase_add_test(tc, bricks_share_many_cells_evenly);
  tcase_add_test(tc, positions_have_cells);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
