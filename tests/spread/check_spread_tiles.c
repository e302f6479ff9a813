/* tests/spread/check_spread_tiles.c - the tiles of CPU spreading: those of one colour, which
 * threads take side by side, share no mesh point.  A race that follows from less shows rarely. */
#include "spread/spread_impl.h"
#include "tests/test.h"

/* The mesh points, on a circle, of the particles of tile t along an axis. */
static bool touches(const spread_tiles *tiles, int axis, int32_t t, int32_t mesh, int32_t order,
                    int32_t point)
{
  for (int32_t c = tiles->first[axis][t]; c < tiles->first[axis][t + 1]; c++)
    if ((point - c + mesh) % mesh < order) return true;
  return false;
}

static bool share(const spread_grid *grid, const spread_tiles *tiles, const int32_t a[3],
                  const int32_t b[3])
{
  for (int d = 0; d < 3; d++) {
    bool any = false;
    for (int32_t p = 0; p < grid->mesh[d] && !any; p++)
      any = touches(tiles, d, a[d], grid->mesh[d], grid->order, p) &&
            touches(tiles, d, b[d], grid->mesh[d], grid->order, p);
    if (!any) return false;
  }
  return true;
}

static void check_colours(const spread_grid *grid, const spread_tiles *tiles)
{
  const int32_t *n = tiles->n, count = n[0] * n[1] * n[2];
  const int32_t *colour = tiles->colour_start, *block = tiles->block_start;
  bool *seen = calloc((size_t)count, sizeof *seen);
  ck_assert_int_eq(colour[0], 0);
  ck_assert_int_eq(block[0], 0);
  ck_assert_int_eq(block[colour[tiles->n_colours]], count);
  for (int32_t c = 0; c < tiles->n_colours; c++)
    for (int32_t k = colour[c]; k < colour[c + 1]; k++)
      for (int32_t i = block[k]; i < block[k + 1]; i++) {
        const int32_t t = tiles->by_block[i];
        const int32_t a[3] = {t / (n[1] * n[2]), t / n[2] % n[1], t % n[2]};
        ck_assert(t >= 0 && t < count && !seen[t]);
        seen[t] = true;
        for (int32_t l = block[colour[c]]; l < block[k]; l++) { /* in other blocks */
          const int32_t u = tiles->by_block[l];
          const int32_t b[3] = {u / (n[1] * n[2]), u / n[2] % n[1], u % n[2]};
          ck_assert_msg(!share(grid, tiles, a, b), "mesh %d x %d x %d, order %d: tiles %d and %d",
                        grid->mesh[0], grid->mesh[1], grid->mesh[2], grid->order, t, u);
        }
      }
  free(seen);
}

START_TEST(tiles_of_a_colour_are_apart)
{
  static const int32_t meshes[][3] = {{10, 10, 10},   {16, 24, 32},  {17, 25, 33}, {39, 40, 41},
                                      {12, 57, 20},   {11, 11, 70},  {65, 10, 23}, {28, 33, 47},
                                      {144, 128, 32}, {170, 159, 23}};
  for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++)
    for (int order = SPREAD_ORDER_MIN; order <= SPREAD_ORDER_MAX; order++) {
      spread_grid grid = {.order = order, .points = 1};
      spread_tiles tiles;
      for (int a = 0; a < 3; a++) {
        grid.mesh[a] = meshes[m][a];
        grid.points *= meshes[m][a];
      }
      ck_ok(spread_tiles_create(&grid, &tiles));
      for (int a = 0; a < 3; a++) { /* every cell is of one tile, which is not too large */
        ck_assert(tiles.first[a][0] == 0 && tiles.first[a][tiles.n[a]] == grid.mesh[a]);
        for (int32_t c = 0; c < grid.mesh[a]; c++) {
          const int32_t t = tiles.of_cell[a][c];
          ck_assert(tiles.first[a][t] <= c && c < tiles.first[a][t + 1]);
          ck_assert(a < 2 || tiles.first[a][t + 1] - tiles.first[a][t] + order - 1 <= SPREAD_ROW);
        }
      }
      check_colours(&grid, &tiles);
      if (grid.mesh[0] == 144) /* rows of tiles, and two of them where one reaches far enough */
        ck_assert_int_eq(tiles.colour_start[tiles.n_colours],
                         tiles.n[0] * tiles.n[1] / (order < 10 ? 2 : 1));
      spread_tiles_destroy(&tiles);
    }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spread_tiles");
  TCase *tc = tcase_create("tiles");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, tiles_of_a_colour_are_apart);
  suite_add_tcase(suite, tc);
  return test_main(suite);
}
