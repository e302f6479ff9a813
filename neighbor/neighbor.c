/* neighbor/neighbor.c - sorting; what all backends share of a build. */
#include "neighbor/neighbor_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const neighbor_list_words[NEIGHBOR_LIST_COUNT] = {NEIGHBOR_LISTS(WORD)};
const char *const neighbor_stencil_words[NEIGHBOR_STENCIL_COUNT] = {NEIGHBOR_STENCILS(WORD)};
#undef WORD

static neighbor_keys_fn *const cpu_keys[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(neighbor_cpu_keys);
static neighbor_build_fn *const cpu_build[MD_PRECISION_COUNT][MD_ISA_COUNT] =
    SIMD_TABLE(neighbor_cpu_build);
static neighbor_keys_fn *const gpu_keys[MD_PRECISION_COUNT] = PREC_TABLE(neighbor_gpu_keys);
static neighbor_build_fn *const gpu_build[MD_PRECISION_COUNT] = PREC_TABLE(neighbor_gpu_build);
static neighbor_build_fn *const gpu_tiles[MD_PRECISION_COUNT] = PREC_TABLE(neighbor_gpu_tiles);
static neighbor_settle_fn *const gpu_settle_rows[MD_PRECISION_COUNT] =
    PREC_TABLE(neighbor_gpu_settle_rows);
static neighbor_settle_fn *const gpu_settle_tiles[MD_PRECISION_COUNT] =
    PREC_TABLE(neighbor_gpu_settle_tiles);
static neighbor_close_fn *const gpu_close[MD_PRECISION_COUNT] = PREC_TABLE(neighbor_gpu_close);

md_status neighbor_create(md_ctx *ctx, const neighbor_spec *spec, neighbor_list **out)
{
  *out = NULL;
  MD_REQUIRE(spec->r_list > 0 && isfinite(spec->r_list), MD_EINVAL,
             "the reach of a neighbour list must be > 0 and finite, not %g", spec->r_list);
  MD_REQUIRE(spec->bin_size > 0, MD_EINVAL, "the bin size must be > 0, not %g", spec->bin_size);
  neighbor_list *list = calloc(1, sizeof *list);
  MD_REQUIRE(list, MD_ENOMEM, "out of memory for a neighbour list");
  list->ctx = ctx;
  list->spec = *spec;
  if (spec->kind == NEIGHBOR_TILE && ctx->backend == MD_CPU) list->spec.kind = NEIGHBOR_FULL;
  const md_status status = ordering_sorter_create(ctx, &list->sorter);
  if (status) {
    neighbor_destroy(list);
    return status;
  }
  *out = list;
  return MD_OK;
}

void neighbor_destroy(neighbor_list *list)
{
  if (!list) return;
  ordering_sorter_destroy(list->sorter);
  if (gpu_close[list->ctx->precision]) gpu_close[list->ctx->precision](list);
  md_buffer *buffers[] = {
      &list->stencil,  &list->curve,      &list->key,      &list->place,      &list->bin_start,
      &list->spare[0], &list->spare[1],   &list->spare[2], &list->spare[3],   &list->nbr,
      &list->start,    &list->count,      &list->atom,     &list->shared,     &list->chunk,
      &list->result,   &list->rows,       &list->row_of,   &list->tile,       &list->work,
      &list->unfolded, &list->halo,       &list->halos,    &list->groups,     &list->totals,
      &list->line,     &list->line_start, &list->ghost,    &list->ghost_start};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
    md_buffer_free(list->ctx, buffers[k]);
  free(list);
}

/* The curve through the bins, as their table.  One of several ranks has empty bins before its first
 * ones (neighbor_grid.c): the curve begins behind them, or its pieces would all lie one off. */
static md_status set_curve(neighbor_list *list, const ordering *order, int64_t *bins)
{
  const neighbor_grid *grid = &list->grid;
  ordering curve = *order;
  int32_t n[3];
  *bins = 1;
  for (int d = 0; d < 3; d++) {
    *bins *= n[d] = grid->n[d] - 2 * grid->margin[d];
    curve.turn[d] = grid->first[d] > 0 && n[d] > 1;
  }
  if (memcmp(n, list->curve_n, sizeof n) == 0 && curve.kind == list->curve_is.kind &&
      memcmp(curve.turn, list->curve_is.turn, sizeof curve.turn) == 0)
    return MD_OK;
  memset(list->curve_n, 0, sizeof list->curve_n);
  MD_TRY(md_buffer_reserve(list->ctx, &list->curve, (size_t)*bins * sizeof(uint32_t), 0));
  MD_TRY(ordering_index(list->ctx, &curve, n, list->curve.data));
  memcpy(list->curve_n, n, sizeof n);
  list->curve_is = curve;
  return MD_OK;
}

/* Bins of the first `count` atoms, and the atoms in the order of their bins; what else is to be in
 * it. */
static md_status bin(neighbor_list *list, const md_atoms *atoms, int64_t count, int64_t bins,
                     const uint32_t *curve, int32_t *start, int n_items,
                     const ordering_items *items)
{
  md_ctx *ctx = list->ctx;
  MD_TRY(md_buffer_reserve(ctx, &list->key, (size_t)count * sizeof(uint32_t), 0));
  MD_TRY(
      md_buffer_reserve(ctx, &list->place, (size_t)(count + NEIGHBOR_SLACK) * sizeof(int32_t), 0));
  MD_TRY(ordering_count_keys(list->sorter, count, (uint32_t)bins, &list->counter));
  MD_TRY(SIMD_PICK(ctx, cpu_keys, gpu_keys)(list, atoms, count, curve));
  return ordering_sort_move(list->sorter, count, list->key.data, (uint32_t)bins, list->place.data,
                            start, n_items, items);
}

md_status neighbor_sort(neighbor_list *list, md_atoms *atoms)
{
  if (list->spec.order.kind == ORDERING_NONE || atoms->n == 0) return MD_OK;
  md_ctx *ctx = list->ctx;
  int64_t bins;
  MD_TRY(neighbor_set_grids(list, atoms));
  MD_TRY(set_curve(list, &list->spec.order, &bins));
  const size_t state = 4 * md_state_size(ctx->precision);
  md_buffer *from[] = {&atoms->x, &atoms->v, &atoms->id, &atoms->image};
  const size_t bytes[] = {state, state, sizeof(int64_t), 3 * sizeof(int32_t)};
  enum { PARTS = sizeof bytes / sizeof *bytes };
  ordering_items items[PARTS];
  for (int k = 0; k < PARTS; k++) {
    MD_TRY(md_buffer_match(ctx, &list->spare[k], from[k]));
    items[k] = (ordering_items){bytes[k], from[k]->data, list->spare[k].data};
  }
  MD_TRY(bin(list, atoms, atoms->n, bins, list->curve.data, NULL, PARTS, items));
  atoms->n_ghost = 0;
  atoms->r_ghost = 0;
  for (int k = 0; k < PARTS; k++)
    md_buffer_swap(from[k], &list->spare[k]);
  list->in_order = true;
  return MD_OK;
}

/* The atoms of the rows of tiles: those that follow each other must be near each other. */
static md_status order_rows(neighbor_list *list, const md_atoms *atoms)
{
  static const ordering gilbert = {.kind = ORDERING_GILBERT};
  const bool compact = ordering_has(&list->spec.order, ORDERING_COMPACT);
  if (compact && list->in_order) return MD_OK;
  int64_t bins;
  MD_TRY(set_curve(list, compact ? &list->spec.order : &gilbert, &bins));
  MD_TRY(bin(list, atoms, atoms->n, bins, list->curve.data, NULL, 0, NULL));
  md_buffer_swap(&list->rows, &list->place);
  list->view.atom = list->rows.data;
  return MD_OK;
}

static md_status build(neighbor_list *list, const md_atoms *atoms)
{
  md_ctx *ctx = list->ctx;
  MD_REQUIRE(atoms->n == 0 || atoms->r_ghost >= list->spec.r_list, MD_EINVAL,
             "ghosts reach %g beyond the owned part; the list needs %g", atoms->r_ghost,
             list->spec.r_list);
  MD_TRY(neighbor_set_grids(list, atoms));
  list->view.kind = list->spec.kind;
  list->view.newton = list->spec.newton;
  list->view.r_list = list->spec.r_list;
  if (atoms->n == 0) return MD_OK;
  const int32_t *n = list->near.n;
  const int64_t bins = (int64_t)n[0] * n[1] * n[2];
  const bool tiles = list->spec.kind == NEIGHBOR_TILE;
  if (tiles) MD_TRY(order_rows(list, atoms));
  list->in_order = false;
  MD_TRY(md_buffer_reserve(ctx, &list->bin_start, (size_t)(bins + 1) * sizeof(int32_t), 0));
  const int64_t all = atoms->n + atoms->n_ghost;
  const size_t state = 4 * md_state_size(ctx->precision);
  if (tiles) MD_TRY(md_buffer_reserve(ctx, &list->work, (size_t)all * state, 0));
  const ordering_items positions = {state, list->x, list->work.data};
  MD_TRY(bin(list, atoms, all, bins, NULL, list->bin_start.data, tiles, &positions));
  list->view.n_rows = atoms->n;
  list->view.n_ghost = atoms->n_ghost;
  return tiles ? gpu_tiles[ctx->precision](list, atoms)
               : SIMD_PICK(ctx, cpu_build, gpu_build)(list, atoms);
}

md_status neighbor_build_early(neighbor_list *list, const md_atoms *atoms)
{
  list->view = (neighbor_view){.n_ghost = atoms->n_ghost}; /* also of a rank without atoms */
  list->early = NULL;
  const md_status status = build(list, atoms);
  if (status) list->view = (neighbor_view){0};
  return status;
}

md_status neighbor_settle(neighbor_list *list, bool *again)
{
  md_status status = MD_OK;
  const bool tiles = list->spec.kind == NEIGHBOR_TILE;
  if (again) *again = false;
  if (list->early)
    status = (tiles ? gpu_settle_tiles : gpu_settle_rows)[list->ctx->precision](list, again);
  list->early = NULL;
  if (status) list->view = (neighbor_view){0};
  return status;
}

bool neighbor_settled(const neighbor_list *list)
{
  return list->early == NULL;
}

md_status neighbor_build(neighbor_list *list, const md_atoms *atoms)
{
  MD_TRY(neighbor_build_early(list, atoms));
  return neighbor_settle(list, NULL);
}

void neighbor_forget_lines(neighbor_list *list)
{
  list->view.line = NULL;
}

const neighbor_view *neighbor_list_view(const neighbor_list *list)
{
  return &list->view;
}

const neighbor_grid *neighbor_list_grid(const neighbor_list *list)
{
  return &list->grid;
}
