/* tests/ordering/check_ordering.c - every ordering of every box against tables computed elsewhere
 * and against keys made bit by bit. */
#include "ordering/curve.h"
#include "tests/ref/ref_ordering.h"

/* A number that grows along the curve through a box of n cells; only its order matters. */
static uint64_t ref_key(ordering_kind kind, const int32_t n[3], const int32_t c[3])
{
  int levels = 0;
  while (1 << levels < n[0] || 1 << levels < n[1] || 1 << levels < n[2])
    levels++;
  if (kind == ORDERING_ROW) return (uint64_t)(10000 * c[0] + 100 * c[1] + c[2]);
  if (kind == ORDERING_COLUMN) return (uint64_t)(10000 * c[2] + 100 * c[1] + c[0]);
  return ref_octree_key(kind, levels, c);
}

/* The same for hybrids of such curves: tiles first. */
static uint64_t ref_order_key(const ordering *o, const int32_t n[3], const int32_t c[3])
{
  if (o->kind != ORDERING_HYBRID) return ref_key(o->kind, n, c);
  const int32_t T = o->tile, whole[3] = {T, T, T};
  const int32_t tiles[3] = {(n[0] + T - 1) / T, (n[1] + T - 1) / T, (n[2] + T - 1) / T};
  const int32_t t[3] = {c[0] / T, c[1] / T, c[2] / T}, u[3] = {c[0] % T, c[1] % T, c[2] % T};
  return ref_key(o->outer, tiles, t) << 32 | ref_key(o->inner, whole, u);
}

typedef enum { WALK = 0, WALK_RANKS = 1, WALK_STEPS = 2, WALK_ALONG = 4 } walk_checks;

/* Walk along a curve through a box.  Always: every index has a cell inside the box and that cell
 * has this index, which makes a bijection.  RANKS: the reference key grows, so the index is the
 * rank of the key.  STEPS: neighbours on the curve are neighbours in space, across a face where all
 * sizes are even, else across a corner at worst.  ALONG: from the corner at 0 to the other end of
 * the first longest edge. */
static void walk(const ordering *o, const int32_t n[3], walk_checks checks)
{
  const bool even = n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 2 == 0;
  const uint32_t cells = (uint32_t)(n[0] * n[1] * n[2]);
  int32_t last[3] = {0, 0, 0};
  uint64_t key = 0;
  for (uint32_t index = 0; index < cells; index++) {
    int32_t c[3];
    curve_cell(o, n, index, c);
    bool good = curve_index(o, n, c) == index;
    int sum = 0, most = 0;
    for (int a = 0; a < 3; a++) {
      good = good && c[a] >= 0 && c[a] < n[a];
      const int step = abs(c[a] - last[a]);
      sum += step;
      most = step > most ? step : most;
      last[a] = c[a];
    }
    if (checks & WALK_RANKS) {
      const uint64_t before = key;
      key = ref_order_key(o, n, c);
      good = good && (index == 0 || key > before);
    }
    if (checks & WALK_STEPS)
      good = good && most <= 1 && (index == 0 ? sum == 0 : sum == 1 || !even);
    if (!good) ck_abort_msg("index %u of %d x %d x %d", index, n[0], n[1], n[2]);
  }
  if (!(checks & WALK_ALONG)) return;
  int longest = 0;
  for (int a = 1; a < 3; a++)
    longest = n[a] > n[longest] ? a : longest;
  for (int a = 0; a < 3; a++)
    ck_assert_msg(last[a] == (a == longest ? n[a] - 1 : 0), "%d x %d x %d ends at %d, %d, %d", n[0],
                  n[1], n[2], last[0], last[1], last[2]);
}

static void walk_each_box(int edge, const ordering *o, walk_checks checks)
{
  int32_t n[3];
  for (n[0] = 1; n[0] <= edge; n[0]++)
    for (n[1] = 1; n[1] <= edge; n[1]++)
      for (n[2] = 1; n[2] <= edge; n[2]++)
        walk(o, n, checks);
}

static const char *const ranked[] = {"row",
                                     "column",
                                     "morton",
                                     "morton:kji",
                                     "hilbert",
                                     "hybrid:hilbert/row:3",
                                     "hybrid:row/hilbert:4",
                                     "hybrid:morton:kji/column:5",
                                     "hybrid:column/morton:6",
                                     "hybrid:hilbert/hilbert:1",
                                     "hybrid:morton/morton:kji:32"};
enum { N_RANKED = sizeof ranked / sizeof *ranked };
START_TEST(every_box_is_compacted_by_rank)
{
  read_states();
  const ordering order = parsed(ranked[_i]);
  walk_each_box(order.kind == ORDERING_HYBRID ? 13 : 20, &order, WALK_RANKS);
}
END_TEST

static const char *const others[] = {"random:7", "hybrid:random/gilbert:4",
                                     "hybrid:gilbert/random:3", "hybrid:gilbert/hilbert:2",
                                     "hybrid:row/gilbert:5"};
enum { N_OTHERS = sizeof others / sizeof *others };
/* These, and every word of the list of orderings: alone, and between and within tiles. */
START_TEST(every_box_is_a_bijection)
{
  char text[128];
  const int word = _i - N_OTHERS;
  if (word == ORDERING_HYBRID || word == ORDERING_NONE) return;
  const ordering order = parsed(word < 0 ? others[_i] : ordering_words[word]);
  walk_each_box(order.kind == ORDERING_HYBRID ? 11 : 20, &order, WALK);
  if (word < 0) return;
  snprintf(text, sizeof text, "hybrid:%s/%s:3", ordering_words[word], ordering_words[word]);
  const ordering tiled = parsed(text);
  walk_each_box(9, &tiled, WALK);
}
END_TEST

START_TEST(gilbert_never_jumps)
{
  const ordering order = parsed("gilbert");
  walk_each_box(20, &order, WALK_STEPS | WALK_ALONG);
  const int32_t long_box[3] = {3, 200, 2}, even_box[3] = {40, 6, 30};
  walk(&order, long_box, WALK_STEPS | WALK_ALONG);
  walk(&order, even_box, WALK_STEPS | WALK_ALONG);
}
END_TEST

START_TEST(hybrid_tiles_are_contiguous)
{
  /* Cells of a tile have neighbouring indices, also where the box cuts the tile. */
  static const char *const names[] = {"hybrid:hilbert/row:4", "hybrid:gilbert/random:3",
                                      "hybrid:random/gilbert:5", "hybrid:morton/hilbert:7"};
  const int32_t n[3] = {11, 14, 9};
  for (int k = 0; k < 4; k++) {
    const ordering o = parsed(names[k]);
    int visited[216] = {0}, last = -1, tiles = 0;
    for (uint32_t index = 0; index < 11 * 14 * 9; index++) {
      int32_t c[3];
      curve_cell(&o, n, index, c);
      const int tile = (c[0] / o.tile * 6 + c[1] / o.tile) * 6 + c[2] / o.tile;
      if (tile != last) {
        ck_assert_int_eq(visited[tile]++, 0);
        tiles++;
      }
      last = tile;
    }
    const int T = o.tile;
    ck_assert_int_eq(tiles, ((11 + T - 1) / T) * ((14 + T - 1) / T) * ((9 + T - 1) / T));
  }
}
END_TEST

static void check_oracle(const char *name, int edge, const char *const *orders, int n_orders)
{
  FILE *file = oracle(name);
  const int32_t n[3] = {edge, edge, edge};
  int32_t c[3];
  int rows = 0;
  while (fscanf(file, "%d,%d,%d", &c[0], &c[1], &c[2]) == 3) {
    for (int k = 0; k < n_orders; k++) {
      unsigned expected;
      ck_assert_int_eq(fscanf(file, ",%u", &expected), 1);
      const ordering order = parsed(orders[k]);
      ck_assert_uint_eq(curve_index(&order, n, c), expected);
    }
    rows++;
  }
  fclose(file);
  ck_assert_int_eq(rows, edge * edge * edge);
}

START_TEST(tables_agree_with_the_oracle)
{
  static const char *const orders[] = {"row",
                                       "hilbert",
                                       "morton:kji",
                                       "morton",
                                       "hybrid:morton:kji/row:2",
                                       "hybrid:morton/row:2",
                                       "hybrid:hilbert/row:2",
                                       "hybrid:row/hilbert:2",
                                       "hybrid:morton:kji/row:4",
                                       "hybrid:morton/row:4",
                                       "hybrid:hilbert/row:4",
                                       "hybrid:row/hilbert:4"};
  check_oracle("index_M4.csv", 4, orders, 8);
  check_oracle("index_M8.csv", 8, orders, 12);
}
END_TEST

START_TEST(hilbert_makes_unit_steps)
{
  const ordering order = parsed("hilbert");
  for (int levels = 1; levels <= 6; levels++) {
    const int32_t edge = 1 << levels, n[3] = {edge, edge, edge};
    walk(&order, n, WALK_STEPS);
    int32_t end[3];
    curve_cell(&order, n, (uint32_t)(edge * edge * edge - 1), end);
    ck_assert(end[0] == edge - 1 && end[1] == 0 && end[2] == 0);
  }
}
END_TEST

START_TEST(random_is_random)
{
  const int32_t n[3] = {17, 19, 23};
  const int cells = 17 * 19 * 23;
  const ordering a = parsed("random"), b = parsed("random:1");
  int same = 0, fixed = 0;
  double distance = 0, jump = 0;
  for (int index = 0, before = 0; index < cells; index++) {
    int32_t c[3];
    curve_cell(&a, n, (uint32_t)index, c);
    const int cell = (c[0] * 19 + c[1]) * 23 + c[2];
    same += curve_index(&b, n, c) == (uint32_t)index;
    fixed += cell == index;
    distance += abs(cell - index);
    jump += index > 0 ? abs(cell - before) : 0;
    before = cell;
  }
  ck_assert_int_lt(same, 12); /* 1 expected */
  ck_assert_int_lt(fixed, 12);
  ck_assert_double_eq_tol(distance / cells / cells, 1.0 / 3, 0.02);
  ck_assert_double_eq_tol(jump / cells / cells, 1.0 / 3, 0.02);
}
END_TEST

START_TEST(big_grids_keep_their_bits)
{
  /* No table could be made of these: 2^32 - 1 cells, edges up to 2^31 - 1. */
  static const int32_t boxes[][3] = {{65537, 65535, 1},
                                     {1, 1, 2147483647},
                                     {3, 1431655765, 1},
                                     {1625, 1625, 1626},
                                     {2, 2147483647, 1}};
  static const char *const names[] = {"row",
                                      "column",
                                      "morton",
                                      "hilbert",
                                      "gilbert",
                                      "random:3",
                                      "hybrid:hilbert/gilbert:1000",
                                      "hybrid:random/morton:65536",
                                      "hybrid:gilbert/column:2147483647"};
  uint64_t seed = 12345;
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      const ordering order = parsed(names[k]);
      const uint64_t cells = (uint64_t)boxes[b][0] * (uint64_t)boxes[b][1] * (uint64_t)boxes[b][2];
      for (int t = 0; t < 200; t++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint32_t index = t == 0 ? (uint32_t)(cells - 1) : (uint32_t)((seed >> 11) % cells);
        int32_t c[3];
        curve_cell(&order, boxes[b], index, c);
        for (int a = 0; a < 3; a++)
          ck_assert(c[a] >= 0 && c[a] < boxes[b][a]);
        ck_assert_uint_eq(curve_index(&order, boxes[b], c), index);
      }
    }
}
END_TEST

/* The first cells along an axis come behind the last: as a table, and for one cell. */
START_TEST(turned_orders_begin_behind_their_first_cells)
{
  static const int32_t boxes[][3] = {{8, 8, 8}, {9, 8, 5}, {2, 3, 1}};
  static const int32_t turns[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 2, 0}};
  for (int k = 0; k < 4 * ORDERING_COUNT * 3; k++) {
    const int32_t *n = boxes[k / 4 / ORDERING_COUNT];
    const int kind = k / 4 % ORDERING_COUNT;
    const ordering plain =
        parsed(kind == ORDERING_HYBRID ? "hybrid:hilbert/row:2" : ordering_words[kind]);
    ordering turned = plain;
    memcpy(turned.turn, turns[k % 4], sizeof turned.turn);
    md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
    const int32_t cells = n[0] * n[1] * n[2];
    uint32_t table[8 * 8 * 8];
    md_buffer on_backend = {0};
    ck_ok(md_buffer_reserve(ctx, &on_backend, (size_t)cells * 4, 0));
    ck_ok(ordering_index(ctx, &turned, n, on_backend.data));
    ck_ok(md_read(ctx, table, on_backend.data, (size_t)cells * 4));
    for (int32_t cell = 0; cell < cells; cell++) {
      const int32_t c[3] = {cell / n[2] / n[1], cell / n[2] % n[1], cell % n[2]};
      int32_t at[3], back[3];
      for (int a = 0; a < 3; a++)
        at[a] = (c[a] + n[a] - turned.turn[a]) % n[a];
      const uint32_t expected = curve_index(&plain, n, at);
      ck_assert_uint_eq(table[cell], expected);
      ck_assert_uint_eq(curve_index(&turned, n, c), expected);
      curve_cell(&turned, n, expected, back);
      ck_assert_mem_eq(back, c, sizeof back);
    }
    md_buffer_free(ctx, &on_backend);
    md_ctx_destroy(ctx);
  }
}
END_TEST

/* A kind without a branch of its own in ordering/curve.h would be row-major. */
START_TEST(every_ordering_is_another_one)
{
  static const int32_t n[3] = {6, 8, 10}; /* in a cube of 8 gilbert is hilbert */
  enum { CELLS = 6 * 8 * 10 };
  static uint32_t table[ORDERING_COUNT][CELLS];
  for (int k = 0; k < ORDERING_COUNT; k++) {
    const ordering order = parsed(k == ORDERING_HYBRID ? "hybrid:row/column:2" : ordering_words[k]);
    for (int32_t at = 0; at < CELLS; at++) {
      const int32_t c[3] = {at / 80, at / 10 % 8, at % 10};
      table[k][at] = curve_index(&order, n, c);
    }
    for (int other = ORDERING_ROW; other < k; other++)
      ck_assert_msg(memcmp(table[k], table[other], sizeof table[k]) != 0, "%s is %s",
                    ordering_words[k], ordering_words[other]);
    ck_assert(!ordering_has(&order, ORDERING_JUMPS) || ordering_has(&order, ORDERING_COMPACT));
  }
  ck_assert(memcmp(table[ORDERING_NONE], table[ORDERING_ROW], sizeof table[0]) == 0);
}
END_TEST

START_TEST(names_are_read_and_written)
{
  static const char *const good[] = {"none",
                                     "row",
                                     "column",
                                     "morton",
                                     "morton:kji",
                                     "hilbert",
                                     "gilbert",
                                     "random",
                                     "random:18446744073709551615",
                                     "hybrid:hilbert/row:4",
                                     "hybrid:morton:kji/morton:kji:1",
                                     "hybrid:random/gilbert:2147483647"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    char text[64];
    const ordering order = parsed(good[k]);
    ordering_format(&order, text, sizeof text);
    ck_assert_str_eq(text, good[k]);
  }
  static const char *const bad[] = {"",
                                    "Row",
                                    "hilbrt",
                                    "random:",
                                    "random:-1",
                                    "random:1x",
                                    "random:18446744073709551616",
                                    "hybrid",
                                    "hybrid:",
                                    "hybrid:row:4",
                                    "hybrid:row/hilbert",
                                    "hybrid:row/hilbert:",
                                    "hybrid:row/hilbert:0",
                                    "hybrid:row/hilbert:2147483648",
                                    "hybrid:none/row:2",
                                    "hybrid:row/hybrid:2",
                                    "hybrid:/row:2",
                                    "hilbert "};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    ordering order = {.kind = ORDERING_COUNT};
    ck_assert_msg(ordering_parse(bad[k], &order) == MD_EINVAL, "'%s' was accepted", bad[k]);
    ck_assert_int_eq(order.kind, ORDERING_COUNT);
  }
  ordering order;
  ck_assert_int_eq(ordering_parse("hilbrt", &order), MD_EINVAL);
  ck_assert_ptr_nonnull(strstr(md_message(), "'hilbert'"));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ordering");
  TCase *curves = tcase_create("curves");
  tcase_set_timeout(curves, 300);
  tcase_add_test(curves, hybrid_tiles_are_contiguous);
  tcase_add_test(curves, tables_agree_with_the_oracle);
  tcase_add_test(curves, hilbert_makes_unit_steps);
  tcase_add_test(curves, random_is_random);
  tcase_add_test(curves, big_grids_keep_their_bits);
  tcase_add_test(curves, every_ordering_is_another_one);
  tcase_add_test(curves, turned_orders_begin_behind_their_first_cells);
  tcase_add_test(curves, names_are_read_and_written);
  suite_add_tcase(suite, curves);
  TCase *boxes = test_long_case("boxes");
  tcase_add_loop_test(boxes, every_box_is_compacted_by_rank, 0, N_RANKED);
  tcase_add_loop_test(boxes, every_box_is_a_bijection, 0, N_OTHERS + ORDERING_COUNT);
  tcase_add_test(boxes, gilbert_never_jumps);
  suite_add_tcase(suite, boxes);
  return test_main(suite);
}
