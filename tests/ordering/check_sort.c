/* tests/ordering/check_sort.c - tables, encoders, sort and permutation against their
 * definitions. */
#include "ordering/curve.h"
#include "tests/ref/ref_ordering.h"

START_TEST(encoders_agree_with_bits)
{
  read_states();
  static const ordering_kind kinds[] = {ORDERING_MORTON, ORDERING_MORTON_KJI, ORDERING_HILBERT};
  enum { N = 150 };
  static int32_t c[3][N];
  uint64_t key[N], seed = 99;
  md_ctx ctx = {.isa = MD_PORTABLE};
  for (; ctx.isa <= md_isa_detect(); ctx.isa++)
    for (int levels = 0; levels <= 21; levels++) {
      for (int k = 0; k < 3 * N; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        c[k / N][k % N] = (int32_t)(seed >> 40) & ((1 << levels) - 1);
      }
      for (int q = 0; q < 3; q++) {
        ck_ok(ordering_keys(&ctx, kinds[q], levels, N, c[0], c[1], c[2], key));
        for (int k = 0; k < N; k++) {
          const int32_t cell[3] = {c[0][k], c[1][k], c[2][k]};
          ck_assert_uint_eq(key[k], ref_octree_key(kinds[q], levels, cell));
        }
      }
    }
  ck_assert_int_eq(ordering_keys(&ctx, ORDERING_ROW, 3, N, c[0], c[1], c[2], key), MD_EINVAL);
  ck_assert_int_eq(ordering_keys(&ctx, ORDERING_MORTON, 22, N, c[0], c[1], c[2], key), MD_EINVAL);
}
END_TEST

/* An array on the backend under test. */
static void *on_backend(md_ctx *ctx, md_buffer *buffer, const void *host, size_t bytes)
{
  ck_ok(md_buffer_reserve(ctx, buffer, bytes ? bytes : 4, 0));
  if (host) ck_ok(md_write(ctx, buffer->data, host, bytes));
  return buffer->data;
}

static const char *const tabled[] = {"none",
                                     "column",
                                     "morton",
                                     "morton:kji",
                                     "hilbert",
                                     "gilbert",
                                     "random:2",
                                     "hybrid:hilbert/gilbert:3",
                                     "hybrid:random/row:4"};
enum { N_TABLED = sizeof tabled / sizeof *tabled };
START_TEST(tables_hold_every_cell)
{
  static const int32_t boxes[][3] = {{1, 1, 1},   {16, 16, 16}, {13, 5, 70}, {1, 90, 3},
                                     {16, 16, 8}, {8, 16, 16},  {4, 2, 4}};
  const ordering order = parsed(tabled[_i]);
  const ordering meant = order.kind == ORDERING_NONE ? parsed("row") : order;
  for (int threads = 1; threads <= 3; threads += 2)
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
      md_ctx *ctx = test_ctx(MD_DOUBLE, threads, false);
      const int32_t *n = boxes[b];
      const size_t cells = (size_t)(n[0] * n[1] * n[2]), bytes = cells * sizeof(uint32_t);
      uint32_t *host = malloc(bytes), *inverse = malloc(bytes);
      md_buffer table = {0};
      ck_ok(ordering_index(ctx, &order, n, on_backend(ctx, &table, NULL, bytes)));
      ck_ok(md_read(ctx, host, table.data, bytes));
      ck_ok(ordering_cells(ctx, &order, n, table.data));
      ck_ok(md_read(ctx, inverse, table.data, bytes));
      for (uint32_t cell = 0; cell < cells; cell++) {
        const int32_t k = (int32_t)cell % n[2], row = (int32_t)cell / n[2];
        const int32_t c[3] = {row / n[1], row % n[1], k};
        ck_assert_uint_eq(host[cell], curve_index(&meant, n, c));
        ck_assert_uint_eq(inverse[host[cell]], cell);
      }
      free(host);
      free(inverse);
      md_buffer_free(ctx, &table);
      md_ctx_destroy(ctx);
    }
}
END_TEST

START_TEST(bad_grids_are_refused)
{
  md_ctx *ctx = test_ctx(MD_DOUBLE, 1, false);
  const ordering order = parsed("hilbert");
  const int32_t empty[3] = {4, 0, 4}, huge[3] = {65536, 65536, 1};
  ck_assert_int_eq(ordering_index(ctx, &order, empty, NULL), MD_EINVAL);
  ck_assert_int_eq(ordering_cells(ctx, &order, huge, NULL), MD_ECAPACITY);
  ck_assert_ptr_nonnull(strstr(md_message(), "4294967296"));
  const int32_t fine[3] = {4, 3, 2}, turns[] = {-1, 3};
  for (int k = 0; k < 2; k++) {
    ordering turned = order;
    turned.turn[1] = turns[k];
    ck_assert_int_eq(ordering_index(ctx, &turned, fine, NULL), MD_EINVAL);
    ck_assert_ptr_nonnull(strstr(md_message(), "expected 0 to 2"));
  }
  md_ctx_destroy(ctx);
}
END_TEST

/* Sort n keys and compare with the definition: stable, ascending, with the bounds of each key. */
static void check_sort(md_ctx *ctx, ordering_sorter *sorter, int32_t n, uint32_t key_end,
                       bool bounds, uint64_t seed)
{
  uint32_t *keys = malloc(((size_t)n + 1) * 4);
  int32_t *order = malloc(((size_t)n + 1) * 4);
  for (int32_t k = 0; k < n; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    keys[k] = (uint32_t)((seed >> 20) % key_end);
  }
  md_buffer in = {0}, out = {0}, start = {0};
  on_backend(ctx, &in, keys, (size_t)n * 4);
  on_backend(ctx, &out, NULL, (size_t)n * 4);
  if (bounds) on_backend(ctx, &start, NULL, ((size_t)key_end + 1) * 4);
  ck_ok(ordering_sort(sorter, n, in.data, key_end, out.data, start.data));
  ck_ok(md_read(ctx, order, out.data, (size_t)n * 4));
  char *seen = calloc((size_t)n + 1, 1);
  for (int32_t k = 0; k < n; k++) {
    ck_assert(order[k] >= 0 && order[k] < n && !seen[order[k]]++);
    if (k == 0) continue;
    const uint32_t before = keys[order[k - 1]], here = keys[order[k]];
    ck_assert(before < here || (before == here && order[k - 1] < order[k]));
  }
  if (bounds) {
    int32_t *first = malloc(((size_t)key_end + 1) * 4);
    ck_ok(md_read(ctx, first, start.data, ((size_t)key_end + 1) * 4));
    for (int64_t c = 0, k = 0; c <= key_end; c++) {
      while (k < n && keys[order[k]] < c)
        k++;
      ck_assert_int_eq(first[c], k);
    }
    free(first);
  }
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &out);
  md_buffer_free(ctx, &start);
  free(keys);
  free(order);
  free(seen);
}

START_TEST(sort_is_stable_for_any_threads)
{
  static const struct {
    int32_t n;
    uint32_t key_end;
    bool bounds;
  } cases[] = {{0, 1, true},
               {0, 9, true},
               {1, 1, true},
               {5, 1, true},
               {100, 3, true},
               {1000, 4096, true},
               {1000, 4097, true},
               {70000, 1, true},
               {70000, 90000, true},
               {99999, 5000, false},
               {300000, 3000000, true},
               {200, 1 << 25, false},
               {70000, 4294967295u, false}};
  for (int threads = 1; threads <= 4; threads++) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, threads, false);
    ordering_sorter *sorter;
    ck_ok(ordering_sorter_create(ctx, &sorter));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
      check_sort(ctx, sorter, cases[k].n, cases[k].key_end, cases[k].bounds, k + 1);
    ck_assert_int_eq(ordering_sort(sorter, INT64_C(1) << 31, NULL, 2, NULL, NULL), MD_ECAPACITY);
    ordering_sorter_destroy(sorter);
    md_ctx_destroy(ctx);
  }
}
END_TEST

START_TEST(permute_moves_items_of_any_size)
{
  static const size_t sizes[] = {4, 8, 12, 16, 20, 32, 48};
  for (int q = 0; q < 2 * 7; q++) {
    md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
    const int32_t n = q < 7 ? 30000 : 7;
    const size_t size = sizes[q % 7], words = size / 4, bytes = size * (size_t)n;
    uint32_t *from = malloc(bytes), *to = malloc(bytes);
    int32_t *order = malloc((size_t)n * 4);
    for (size_t w = 0; w < words * (size_t)n; w++)
      from[w] = (uint32_t)(w * 2654435761u);
    for (int32_t k = 0; k < n; k++)
      order[k] = (int32_t)((int64_t)k * 17 % n);
    md_buffer in = {0}, out = {0}, places = {0};
    on_backend(ctx, &in, from, bytes);
    on_backend(ctx, &out, NULL, bytes);
    on_backend(ctx, &places, order, (size_t)n * 4);
    ck_ok(ordering_permute(ctx, n, places.data, size, in.data, out.data));
    ck_ok(md_read(ctx, to, out.data, bytes));
    for (int32_t k = 0; k < n; k++)
      for (size_t w = 0; w < words; w++)
        ck_assert_uint_eq(to[(size_t)k * words + w], from[(size_t)order[k] * words + w]);
    ck_assert_int_eq(ordering_permute(ctx, n, places.data, 6, in.data, out.data), MD_EINVAL);
    md_buffer_free(ctx, &in);
    md_buffer_free(ctx, &out);
    md_buffer_free(ctx, &places);
    free(from);
    free(to);
    free(order);
    md_ctx_destroy(ctx);
  }
}
END_TEST

/* Sets of items of these sizes where sorting puts them, of keys that are many, few and one. */
static void check_moves(md_ctx *ctx, ordering_sorter *sorter, int32_t n, uint32_t key_end,
                        const size_t size[ORDERING_MOST_ITEMS])
{
  uint32_t *keys = malloc((size_t)n * 4), *from[ORDERING_MOST_ITEMS];
  int32_t *order = malloc((size_t)n * 4);
  md_buffer in = {0}, places = {0}, sets[ORDERING_MOST_ITEMS] = {0}, to[ORDERING_MOST_ITEMS] = {0};
  ordering_items items[ORDERING_MOST_ITEMS];
  for (int32_t k = 0; k < n; k++)
    keys[k] = (uint32_t)k * 2654435761u % key_end;
  on_backend(ctx, &in, keys, (size_t)n * 4);
  on_backend(ctx, &places, NULL, (size_t)n * 4);
  for (int s = 0; s < ORDERING_MOST_ITEMS; s++) {
    from[s] = malloc(size[s] * (size_t)n);
    for (size_t w = 0; w < size[s] / 4 * (size_t)n; w++)
      from[s][w] = (uint32_t)(w * 2654435761u) + (uint32_t)s;
    on_backend(ctx, &sets[s], from[s], size[s] * (size_t)n);
    on_backend(ctx, &to[s], NULL, size[s] * (size_t)n);
    items[s] = (ordering_items){size[s], sets[s].data, to[s].data};
  }
  ck_ok(ordering_sort_move(sorter, n, in.data, key_end, places.data, NULL, ORDERING_MOST_ITEMS,
                           items));
  ck_ok(md_read(ctx, order, places.data, (size_t)n * 4));
  for (int32_t k = 1; k < n; k++)
    ck_assert(keys[order[k - 1]] < keys[order[k]] ||
              (keys[order[k - 1]] == keys[order[k]] && order[k - 1] < order[k]));
  for (int s = 0; s < ORDERING_MOST_ITEMS; s++) {
    uint32_t *moved = malloc(size[s] * (size_t)n);
    ck_ok(md_read(ctx, moved, to[s].data, size[s] * (size_t)n));
    for (int32_t k = 0; k < n; k++)
      ck_assert(memcmp((char *)moved + size[s] * (size_t)k,
                       (char *)from[s] + size[s] * (size_t)order[k], size[s]) == 0);
    free(moved);
    free(from[s]);
    md_buffer_free(ctx, &sets[s]);
    md_buffer_free(ctx, &to[s]);
  }
  md_buffer_free(ctx, &in);
  md_buffer_free(ctx, &places);
  free(keys);
  free(order);
}

START_TEST(sorting_moves_items_of_any_size)
{
  static const size_t sizes[][ORDERING_MOST_ITEMS] = {{16, 32, 8, 12}, {4, 48, 20, 16}};
  static const uint32_t ends[] = {1, 3, 5000, 90000, 1 << 25};
  md_ctx *ctx = test_ctx(MD_DOUBLE, 2, false);
  ordering_sorter *sorter;
  ck_ok(ordering_sorter_create(ctx, &sorter));
  for (int q = 0; q < 2; q++)
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
      check_moves(ctx, sorter, 30000, ends[e], sizes[q]);
      check_moves(ctx, sorter, 7, ends[e], sizes[q]);
    }
  const ordering_items odd = {6, NULL, NULL};
  ck_assert_int_eq(ordering_sort_move(sorter, 1, NULL, 1, NULL, NULL, 1, &odd), MD_EINVAL);
  ck_assert_int_eq(ordering_sort_move(sorter, 1, NULL, 1, NULL, NULL, 5, &odd), MD_EINVAL);
  ordering_sorter_destroy(sorter);
  md_ctx_destroy(ctx);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("sort");
  TCase *arrays = tcase_create("arrays");
  tcase_set_timeout(arrays, 300);
  tcase_add_test(arrays, encoders_agree_with_bits);
  tcase_add_loop_test(arrays, tables_hold_every_cell, 0, N_TABLED);
  tcase_add_test(arrays, bad_grids_are_refused);
  tcase_add_test(arrays, sort_is_stable_for_any_threads);
  tcase_add_test(arrays, permute_moves_items_of_any_size);
  tcase_add_test(arrays, sorting_moves_items_of_any_size);
  suite_add_tcase(suite, arrays);
  return test_main(suite);
}
