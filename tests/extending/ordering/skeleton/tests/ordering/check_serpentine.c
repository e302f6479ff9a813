/* tests/ordering/check_serpentine.c - the ordering against a walk by loops, in every small box. */
#include "ordering/curve.h"
#include "tests/test.h"

static const ordering serpentine = {.kind = ORDERING_SERPENTINE};

/* Every index has a cell inside the box, and that cell has this index: a bijection. */
static void check_bijection(const ordering *o, const int32_t n[3])
{
  for (int32_t index = 0; index < n[0] * n[1] * n[2]; index++) {
    int32_t c[3] = {-1, -1, -1};
    curve_cell(o, n, (uint32_t)index, c);
    for (int d = 0; d < 3; d++)
      if (c[d] < 0 || c[d] >= n[d]) ck_abort_msg("index %d is outside the box", index);
    if (curve_index(o, n, c) != (uint32_t)index) ck_abort_msg("the cell of %d has another", index);
  }
}

/* The slow twin: the cells [n0 n1 n2][3] of a box in this order. */
static void walk(const int32_t n[3], int32_t (*cell)[3])
{
  (void)n, (void)cell;
  ck_abort_msg("fill in the loops that visit the cells of a box in serpentine order");
}

enum { EDGE = 7 };

static void check_walk(const int32_t n[3])
{
  int32_t cell[EDGE * EDGE * EDGE][3];
  walk(n, cell);
  for (int32_t k = 0; k < n[0] * n[1] * n[2]; k++)
    if (curve_index(&serpentine, n, cell[k]) != (uint32_t)k)
      ck_abort_msg("cell %d, %d, %d has not index %d", cell[k][0], cell[k][1], cell[k][2], k);
}

START_TEST(every_box_is_walked_as_the_loops_do)
{
  int32_t n[3];
  for (n[0] = 1; n[0] <= EDGE; n[0]++)
    for (n[1] = 1; n[1] <= EDGE; n[1]++)
      for (n[2] = 1; n[2] <= EDGE; n[2]++)
        check_walk(n);
}
END_TEST

/* Alone, and between and within the tiles of hybrids, which the box may cut. */
START_TEST(every_box_is_a_bijection)
{
  static const char *const texts[] = {"serpentine", "hybrid:serpentine/row:3",
                                      "hybrid:row/serpentine:2", "hybrid:serpentine/serpentine:3"};
  ordering o;
  ck_ok(ordering_parse(texts[_i], &o));
  int32_t n[3];
  for (n[0] = 1; n[0] <= EDGE; n[0]++)
    for (n[1] = 1; n[1] <= EDGE; n[1]++)
      for (n[2] = 1; n[2] <= EDGE; n[2]++)
        check_bijection(&o, n);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("serpentine");
  TCase *tc = tcase_create("serpentine");
  tcase_add_test(tc, every_box_is_walked_as_the_loops_do);
  tcase_add_loop_test(tc, every_box_is_a_bijection, 0, 4);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
