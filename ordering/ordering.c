/* ordering/ordering.c - names of orderings; checks of arguments; the table of backends. */
#include "ordering/ordering_impl.h"
#include "core/parse/parse.h"
#include "ordering/curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word, help, traits) word,
const char *const ordering_words[ORDERING_COUNT] = {ORDERINGS(WORD)};
#undef WORD

bool ordering_has(const ordering *order, int traits)
{
#define TRAITS(name, word, help, traits) traits,
  static const int has[ORDERING_COUNT] = {ORDERINGS(TRAITS)};
#undef TRAITS
  return (has[order->kind] & traits) == traits;
}

static md_status parse_kind(const char *text, const char *what, ordering_kind *out)
{
  int kind = 0;
  const md_status status = md_parse_word(text, ordering_words, ORDERING_COUNT, &kind);
  if (status) return MD_FAIL(status, "%s: %s", what, md_message());
  *out = (ordering_kind)kind;
  return MD_OK;
}

/* `OUTER/INNER:T`; text may be written to. */
static md_status parse_hybrid(char *text, ordering *out)
{
  char *slash = strchr(text, '/');
  char *colon = slash ? strrchr(slash, ':') : NULL;
  MD_REQUIRE(slash && colon, MD_EINVAL,
             "ordering 'hybrid:%.60s': expected hybrid:OUTER/INNER:T, as hybrid:hilbert/row:4",
             text);
  *slash = *colon = '\0';
  MD_TRY(parse_kind(text, "hybrid's outer ordering", &out->outer));
  MD_TRY(parse_kind(slash + 1, "hybrid's inner ordering", &out->inner));
  const ordering_kind parts[2] = {out->outer, out->inner};
  for (int p = 0; p < 2; p++)
    MD_REQUIRE(parts[p] != ORDERING_NONE && parts[p] != ORDERING_HYBRID, MD_EINVAL,
               "a hybrid cannot be made of '%s'", ordering_words[parts[p]]);
  int64_t tile;
  if (md_parse_int64(colon + 1, 1, INT32_MAX, &tile))
    return MD_FAIL(MD_EINVAL, "hybrid's tile edge T: %s", md_message());
  out->tile = (int32_t)tile;
  return MD_OK;
}

md_status ordering_parse(const char *text, ordering *out)
{
  static const char hybrid[] = "hybrid:", random[] = "random:";
  ordering order = {0};
  if (strncmp(text, hybrid, sizeof hybrid - 1) == 0) {
    char *copy = strdup(text + sizeof hybrid - 1);
    MD_REQUIRE(copy, MD_ENOMEM, "out of memory for the name of an ordering");
    order.kind = ORDERING_HYBRID;
    const md_status status = parse_hybrid(copy, &order);
    free(copy);
    MD_TRY(status);
  } else if (strncmp(text, random, sizeof random - 1) == 0) {
    order.kind = ORDERING_RANDOM;
    if (md_parse_uint64(text + sizeof random - 1, &order.seed))
      return MD_FAIL(MD_EINVAL, "seed of the random ordering: %s", md_message());
  } else {
    MD_TRY(parse_kind(text, "ordering", &order.kind));
    MD_REQUIRE(order.kind != ORDERING_HYBRID, MD_EINVAL,
               "ordering 'hybrid': expected hybrid:OUTER/INNER:T, as hybrid:hilbert/row:4");
  }
  *out = order;
  return MD_OK;
}

void ordering_format(const ordering *order, char *text, size_t size)
{
  if (order->kind == ORDERING_HYBRID)
    snprintf(text, size, "hybrid:%s/%s:%d", ordering_words[order->outer],
             ordering_words[order->inner], order->tile);
  else if (order->kind == ORDERING_RANDOM && order->seed)
    snprintf(text, size, "random:%" PRIu64, order->seed);
  else
    snprintf(text, size, "%s", ordering_words[order->kind]);
}

md_status ordering_whole_tiles(const ordering *order, const int32_t n[3])
{
  for (int a = 0; order->kind == ORDERING_HYBRID && a < 3; a++)
    MD_REQUIRE(n[a] % order->tile == 0, MD_EINVAL,
               "hybrid tiles of %d cells do not divide a size of %d: expected a tile edge that "
               "does",
               order->tile, n[a]);
  return MD_OK;
}

md_status ordering_check(const ordering *order, const int32_t n[3])
{
  MD_REQUIRE(n[0] >= 1 && n[1] >= 1 && n[2] >= 1, MD_EINVAL,
             "a grid needs at least one cell along each axis, not %d x %d x %d", n[0], n[1], n[2]);
  const double cells = (double)n[0] * n[1] * n[2];
  MD_REQUIRE(cells < 4294967296.0, MD_ECAPACITY,
             "a grid of %d x %d x %d has %.0f cells; an index holds fewer than 4294967296", n[0],
             n[1], n[2], cells);
  for (int a = 0; a < 3; a++)
    MD_REQUIRE(order->turn[a] >= 0 && order->turn[a] < n[a], MD_EINVAL,
               "a turn of %d cells along axis %d: expected 0 to %d", order->turn[a], a, n[a] - 1);
  return MD_OK;
}

static md_status table(md_ctx *ctx, const ordering *order, const int32_t n[3], bool inverse,
                       uint32_t *out)
{
  static ordering_table_fn *const tables[MD_BACKEND_COUNT] = {ordering_cpu_table,
                                                              MD_GPU(ordering_gpu_table)};
  MD_TRY(ordering_check(order, n));
  return tables[ctx->backend](ctx, order, n, inverse, out);
}

md_status ordering_index(md_ctx *ctx, const ordering *order, const int32_t n[3], uint32_t *index)
{
  return table(ctx, order, n, false, index);
}

md_status ordering_cells(md_ctx *ctx, const ordering *order, const int32_t n[3], uint32_t *cell)
{
  return table(ctx, order, n, true, cell);
}

md_status ordering_keys(const md_ctx *ctx, ordering_kind kind, int levels, int64_t n,
                        const int32_t *i, const int32_t *j, const int32_t *k, uint64_t *key)
{
  const int state = curve_octree(kind);
  MD_REQUIRE(state >= 0, MD_EINVAL, "keys exist for morton, morton:kji and hilbert, not for %s",
             ordering_words[kind]);
  MD_REQUIRE(levels >= 0 && levels <= 21, MD_EINVAL, "a key of 64 bits holds 0..21 levels, not %d",
             levels);
  ordering_encoders[ctx->isa](state, levels, n, i, j, k, key);
  return MD_OK;
}

md_status ordering_sorter_create(md_ctx *ctx, ordering_sorter **out)
{
  *out = calloc(1, sizeof **out);
  MD_REQUIRE(*out, MD_ENOMEM, "out of memory for a sorter");
  (*out)->ctx = ctx;
  return MD_OK;
}

void ordering_sorter_destroy(ordering_sorter *sorter)
{
  if (!sorter) return;
  md_buffer_free(sorter->ctx, &sorter->keys);
  for (int k = 0; k < 2; k++)
    md_buffer_free(sorter->ctx, &sorter->pairs[k]);
  md_buffer_free(sorter->ctx, &sorter->iota);
  md_buffer_free(sorter->ctx, &sorter->scratch);
  md_buffer_free(sorter->ctx, &sorter->count);
  md_buffer_free(sorter->ctx, &sorter->scan_status);
  md_buffer_free(sorter->ctx, &sorter->particle);
  free(sorter);
}

md_status ordering_sort(ordering_sorter *sorter, int64_t n, const uint32_t *keys, uint32_t key_end,
                        int32_t *order, int32_t *start)
{
  return ordering_sort_move(sorter, n, keys, key_end, order, start, 0, NULL);
}

static md_status check_item(size_t bytes)
{
  MD_REQUIRE(bytes > 0 && bytes % 4 == 0, MD_EINVAL,
             "items of %zu bytes: a multiple of 4 is expected", bytes);
  return MD_OK;
}

md_status ordering_permute(md_ctx *ctx, int64_t n, const int32_t *order, size_t item_bytes,
                           const void *from, void *to)
{
  static ordering_permute_fn *const permutes[MD_BACKEND_COUNT] = {ordering_cpu_permute,
                                                                  MD_GPU(ordering_gpu_permute)};
  MD_TRY(check_item(item_bytes));
  return n > 0 ? permutes[ctx->backend](ctx, n, order, item_bytes, from, to) : MD_OK;
}

md_status ordering_sort_move(ordering_sorter *sorter, int64_t n, const uint32_t *keys,
                             uint32_t key_end, int32_t *order, int32_t *start, int n_items,
                             const ordering_items *items)
{
  static ordering_sort_move_fn *const sort_moves[MD_BACKEND_COUNT] = {
      NULL, MD_GPU(ordering_gpu_sort_move)};
  md_ctx *ctx = sorter->ctx;
  MD_REQUIRE(n >= 0 && n <= INT32_MAX, MD_ECAPACITY,
             "%" PRId64 " particles in one process; at most 2147483647 are possible", n);
  MD_REQUIRE(n_items <= ORDERING_MOST_ITEMS, MD_EINVAL, "%d sets of items: at most %d are moved",
             n_items, ORDERING_MOST_ITEMS);
  for (int k = 0; k < n_items; k++)
    MD_TRY(check_item(items[k].bytes));
  if (sort_moves[ctx->backend])
    return sort_moves[ctx->backend](sorter, n, keys, key_end, order, start, n_items, items);
  MD_TRY(ordering_cpu_sort(sorter, n, keys, key_end, order, start));
  for (int k = 0; k < n_items; k++)
    MD_TRY(ordering_permute(ctx, n, order, items[k].bytes, items[k].from, items[k].to));
  return MD_OK;
}

md_status ordering_count_keys(ordering_sorter *sorter, int64_t n, uint32_t key_end,
                              ordering_counter *out)
{
  static ordering_counter_fn *const counters[MD_BACKEND_COUNT] = {NULL,
                                                                  MD_GPU(ordering_gpu_counter)};
  *out = (ordering_counter){0};
  return counters[sorter->ctx->backend] ? counters[sorter->ctx->backend](sorter, n, key_end, out)
                                        : MD_OK;
}
