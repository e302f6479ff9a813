/* comm/partition.c - the grid of cells, and three ways to give them to ranks. */
#include "comm/partition.h"
#include "core/buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
const char *const partition_cut_words[PARTITION_CUT_COUNT] = {PARTITION_CUTS(WORD)};
#undef WORD

/* Cells of a brick with the ghosts around it, about two cells on each side; and a fine for each
 * brick that has no cell. */
static double brick_cost(const partition *p, const int32_t by[3])
{
  double cells = 1, idle = 0;
  for (int d = 0; d < 3; d++) {
    cells *= (double)p->n[d] / by[d] + 4;
    if (by[d] > p->n[d]) idle += by[d] - p->n[d];
  }
  return cells * (1 + 1e3 * idle);
}

/* Along each axis, so many bricks. */
static void find_bricks(partition *p)
{
  int32_t *best = p->bricks;
  best[0] = p->ranks, best[1] = best[2] = 1;
  for (int32_t a = 1; a <= p->ranks; a++)
    for (int32_t b = 1; p->ranks % a == 0 && b <= p->ranks / a; b++) {
      const int32_t by[3] = {a, b, p->ranks / a / b};
      if (p->ranks / a % b == 0 && brick_cost(p, by) < brick_cost(p, best))
        memcpy(best, by, sizeof p->bricks);
    }
}

/* As many cells along each axis as bricks can share evenly, where that makes cells hardly longer:
 * of 153 cells one of two ranks would have a 76th more than the other.  Curves follow: they fill
 * a half of an even box before the other. */
static void even_cells(partition *p)
{
  enum { MANY = 32 };
  find_bricks(p);
  int32_t most = 1;
  for (int d = 0; d < 3; d++)
    if (p->bricks[d] > most) most = p->bricks[d];
  for (int d = 0; d < 3; d++) {
    if (p->in_frame[d] >= MANY * most) p->in_frame[d] -= p->in_frame[d] % most;
    p->n[d] = p->in_frame[d] * p->frames[d];
  }
}

md_status partition_create(const md_box *frame, const int32_t frames[3], double reach, int ranks,
                           partition **out)
{
  *out = NULL;
  partition *p = calloc(1, sizeof *p);
  MD_REQUIRE(p, MD_ENOMEM, "out of memory for a partition");
  double cells = 1;
  p->ranks = ranks;
  for (int d = 0; d < 3; d++) {
    const double n = fmax(1, floor(2 * (frame->hi[d] - frame->lo[d]) / reach));
    cells *= n * frames[d];
    p->frames[d] = frames[d];
    p->in_frame[d] = n < INT32_MAX ? (int32_t)n : INT32_MAX;
    p->n[d] = cells < INT32_MAX ? p->in_frame[d] * frames[d] : 0; /* too many: refused below */
  }
  if (cells < INT32_MAX) even_cells(p);
  for (int d = 0; d < 3; d++) {
    const double edge = frame->hi[d] - frame->lo[d];
    p->lo[d] = frame->lo[d];
    p->side[d] = edge / p->in_frame[d];
    p->inv_side[d] = p->in_frame[d] / edge;
  }
  p->cells = cells < INT32_MAX ? (int64_t)p->n[0] * p->n[1] * p->n[2] : 0;
  p->owner = p->cells > 0 ? calloc((size_t)p->cells, sizeof *p->owner) : NULL;
  if (p->owner) {
    *out = p;
    return MD_OK;
  }
  partition_destroy(p);
  MD_REQUIRE(cells < INT32_MAX, MD_ECAPACITY,
             "a box of %.3g cells for ranks: at most %d are possible", cells, INT32_MAX - 1);
  return MD_FAIL(MD_ENOMEM, "out of memory for a partition of %.3g cells", cells);
}

void partition_destroy(partition *p)
{
  if (!p) return;
  free(p->owner);
  free(p);
}

static int64_t sum_of(const int64_t *weight, int64_t n)
{
  int64_t sum = 0;
  for (int64_t c = 0; c < n; c++)
    sum += weight[c];
  return sum;
}

/* A cell goes to the rank in whose share of the weight along the curve its middle lies. */
static md_status cut_curve(partition *p, md_ctx *ctx, const ordering *order, const int64_t *weight)
{
  bool even = true;
  for (int d = 0; d < 3; d++)
    even = even && p->n[d] == p->n[0] && (p->n[d] & (p->n[d] - 1)) == 0;
  const bool fits =
      ordering_has(order, ORDERING_COMPACT) && (even || !ordering_has(order, ORDERING_JUMPS));
  const ordering curve = fits ? *order : (ordering){.kind = ORDERING_GILBERT};
  const size_t bytes = (size_t)p->cells * sizeof(uint32_t);
  uint32_t *cell = malloc(bytes);
  MD_REQUIRE(cell, MD_ENOMEM, "out of memory for a curve of %lld cells", (long long)p->cells);
  md_buffer table = {NULL, 0}; /* where the context computes */
  md_status status = md_buffer_reserve(ctx, &table, bytes, 0);
  if (!status) status = ordering_cells(ctx, &curve, p->n, table.data);
  if (!status) status = md_read(ctx, cell, table.data, bytes);
  md_buffer_free(ctx, &table);
  const int64_t sum = sum_of(weight, p->cells), total = sum > 0 ? sum : p->cells;
  int64_t before = 0;
  for (int64_t k = 0; k < p->cells && !status; k++) {
    const int64_t here = sum > 0 ? weight[cell[k]] : 1;
    const __int128 middle = 2 * (__int128)before + here;
    const int64_t rank = (int64_t)(middle * p->ranks / (2 * (__int128)total));
    p->owner[cell[k]] = (int32_t)(rank < p->ranks ? rank : p->ranks - 1);
    before += here;
  }
  free(cell);
  return status;
}

static void cut_bricks(partition *p)
{
  const int32_t *by = p->bricks;
  for (int64_t c = 0; c < p->cells; c++) {
    const int64_t at[3] = {c / p->n[2] / p->n[1], c / p->n[2] % p->n[1], c % p->n[2]};
    int64_t rank = 0;
    for (int d = 0; d < 3; d++)
      rank = rank * by[d] + at[d] * by[d] / p->n[d];
    p->owner[c] = (int32_t)rank;
  }
}

/* A box of cells. */
typedef struct {
  int32_t lo[3], hi[3];
} cell_box;

static int64_t number(const partition *p, const int32_t at[3])
{
  return ((int64_t)at[0] * p->n[1] + at[1]) * p->n[2] + at[2];
}

/* Call for each cell of a box. */
#define FOR_CELLS(at, box)                                                                         \
  for (at[0] = (box)->lo[0]; at[0] < (box)->hi[0]; at[0]++)                                        \
    for (at[1] = (box)->lo[1]; at[1] < (box)->hi[1]; at[1]++)                                      \
      for (at[2] = (box)->lo[2]; at[2] < (box)->hi[2]; at[2]++)

/* Where along axis d `part` of `ranks` shares of the weight end. */
static int32_t find_plane(const partition *p, const cell_box *box, int d, int part, int ranks,
                          const int64_t *weight, int64_t *slice)
{
  const int32_t n = box->hi[d] - box->lo[d];
  int32_t at[3];
  memset(slice, 0, (size_t)n * sizeof *slice);
  FOR_CELLS(at, box) slice[at[d] - box->lo[d]] += weight[number(p, at)];
  int64_t total = sum_of(slice, n), before = 0;
  for (int32_t k = 0; total == 0 && k < n; k++)
    slice[k] = 1;
  if (total == 0) total = n;
  int32_t k = 0;
  while (k < n - 1 && (2 * (__int128)before + slice[k]) * ranks < 2 * (__int128)total * part)
    before += slice[k++];
  return box->lo[d] + (k > 0 || n == 1 ? k : 1);
}

/* Ranks first .. first + ranks - 1 share a box; slice: room for as many numbers as cells along any
 * axis. */
static void bisect(partition *p, const cell_box *box, int first, int ranks, const int64_t *weight,
                   int64_t *slice)
{
  int32_t at[3];
  if (ranks == 1) {
    FOR_CELLS(at, box) p->owner[number(p, at)] = first;
    return;
  }
  int d = 0;
  for (int e = 1; e < 3; e++)
    if ((box->hi[e] - box->lo[e]) * p->side[e] > (box->hi[d] - box->lo[d]) * p->side[d]) d = e;
  cell_box low = *box, high = *box;
  low.hi[d] = high.lo[d] = find_plane(p, box, d, ranks / 2, ranks, weight, slice);
  bisect(p, &low, first, ranks / 2, weight, slice);
  bisect(p, &high, first + ranks / 2, ranks - ranks / 2, weight, slice);
}

static md_status cut_bisection(partition *p, const int64_t *weight)
{
  const cell_box whole = {{0, 0, 0}, {p->n[0], p->n[1], p->n[2]}};
  const int32_t wide = p->n[0] > p->n[1] ? p->n[0] : p->n[1];
  int64_t *slice = malloc((size_t)(wide > p->n[2] ? wide : p->n[2]) * sizeof *slice);
  MD_REQUIRE(slice, MD_ENOMEM, "out of memory for a partition");
  bisect(p, &whole, 0, p->ranks, weight, slice);
  free(slice);
  return MD_OK;
}

md_status partition_make(partition *p, md_ctx *ctx, partition_cut cut, const ordering *order,
                         const int64_t *weight)
{
  if (cut == PARTITION_CURVE) return cut_curve(p, ctx, order, weight);
  if (cut == PARTITION_BISECTION) return cut_bisection(p, weight);
  MD_REQUIRE(cut == PARTITION_BRICKS, MD_EINVAL,
             "no way to cut: expected curve, bricks, bisection");
  cut_bricks(p);
  return MD_OK;
}
