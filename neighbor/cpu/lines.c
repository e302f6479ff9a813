/* neighbor/cpu/lines.c - which cache lines of coordinates force kernels should prefetch.
 *
 * Rows that follow each other are near each other, so that nearly all coordinates that a slice
 * reads are in a cache since the slices before it.  The few others cost a kernel as much as its
 * arithmetic: no hardware prefetcher foresees them, and prefetching every entry costs more than it
 * saves.  Hence a list of them, which serves until the next build.
 *
 * It comes from the tiles, not from the entries, which are five times as many: a tile's rows read
 * nothing but its halo.  Lines of a halo that no tile of the last LINES_KEPT / 2 rows had are
 * listed, spread over the slices of the window before the tile's first row, so that they arrive in
 * time.  A thread walks along an equal part of the windows, about those whose forces it computes,
 * and keeps for each line when a tile had it last; what its first window needs comes in its first
 * slice.
 *
 * Bytes a candidate: 4 of place, in runs, and a stamp in the second cache.  Stamps take 2 bytes an
 * atom and thread (1 where coordinates are floats), of pages that hold atoms near its rows. */
#include "neighbor/cpu/lines.h"

#include <stdlib.h>
#include <string.h>

/* Rows whose coordinates are taken to be kept, by groups of half as many. */
enum { LINES_KEPT = 512, GROUP = LINES_KEPT / 2 };

/* A thread's windows first .. end - 1, and the n lines they list. */
typedef struct {
  const tiling *ts;
  int64_t first, end, n, room;
  int32_t *line, *stamp;
  int64_t tile; /* the next one */
} lines_part;

static bool grow(lines_part *part, int64_t n)
{
  if (n <= part->room) return true;
  int32_t *more = realloc(part->line, (size_t)(2 * n) * sizeof *more);
  if (!more) return false;
  part->line = more;
  part->room = 2 * n;
  return true;
}

/* List lines of `count` candidates at `place`, group `now` of rows. */
MD_INLINE void take_run(lines_part *part, const int32_t *place, int64_t count, int32_t now,
                        const int shift)
{
  int32_t *to = part->line + part->n;
  for (int64_t p = 0; p < count; p++) {
    const int32_t line = place[p] >> shift, last = part->stamp[line];
    *to = line;
    to += last < now - 1;
    part->stamp[line] = now;
  }
  part->n = to - part->line;
}

/* The columns that tile t reaches: the runs of candidates in them are asked for, or taken. */
MD_INLINE bool take_halo(lines_part *part, const tile *t, int32_t now, bool ask, const int shift)
{
  const tiling *ts = part->ts;
  const neighbor_grid *g = ts->grid;
  int32_t lo[2], hi[2];
  for (int d = 0; d < 2; d++) {
    lo[d] = t->lo[d] > g->margin[d] ? t->lo[d] - g->margin[d] : 0;
    hi[d] = t->hi[d] < g->n[d] - g->margin[d] ? t->hi[d] + g->margin[d] : g->n[d] - 1;
  }
  for (int32_t i = lo[0]; i <= hi[0]; i++)
    for (int32_t j = lo[1]; j <= hi[1]; j++) {
      int64_t begin, end;
      if (!tiles_column(ts, t, i, j, &begin, &end)) continue;
      if (ask) {
        __builtin_prefetch(ts->place + begin);
      } else {
        if (!grow(part, part->n + end - begin)) return false;
        take_run(part, ts->place + begin, end - begin, now, shift);
      }
    }
  return true;
}

/* The halos of the tiles that begin before row `end`. */
MD_INLINE bool take_tiles(lines_part *part, int64_t end, const int shift)
{
  const tiling *ts = part->ts;
  for (; part->tile < ts->count && ts->tiles[part->tile].first_row < end; part->tile++) {
    const tile *t = &ts->tiles[part->tile];
    const int64_t rows = t->first_row - part->first * LINES_WINDOW;
    const int32_t now = (int32_t)((rows > 0 ? rows : 0) / GROUP) + 2; /* 0: by no tile */
    take_halo(part, t, now, true, shift);
    if (!take_halo(part, t, now, false, shift)) return false;
  }
  return true;
}

/* Lines of a part's windows, the last of which ends with row n; start counts from the part's first
 * line.  False when memory runs out. */
MD_INLINE bool find(lines_part *part, int64_t n, int32_t width, int64_t *start, const int shift)
{
  const int64_t each = LINES_WINDOW / width, slices = (n + width - 1) / width;
  const int64_t rows = part->end * LINES_WINDOW < n ? part->end * LINES_WINDOW : n;
  int64_t urgent = 0;
  if (part->first == part->end) return true;
  part->tile = tiles_of_row(part->ts, part->first * LINES_WINDOW);
  for (int64_t w = part->first; w < part->end; w++) {
    const int64_t before = part->n, next = (w + 2) * LINES_WINDOW;
    if (w == part->first) {
      if (!take_tiles(part, (w + 1) * LINES_WINDOW, shift)) return false;
      urgent = part->n;
    } else {
      urgent = before;
    }
    if (!take_tiles(part, next < rows ? next : rows, shift)) return false;
    start[w * each] = before;
    for (int64_t s = 1; s < each && w * each + s < slices; s++)
      start[w * each + s] = urgent + (part->n - urgent) * s / each;
  }
  return true;
}

/* Put the parts one behind the other. */
static md_status join(neighbor_list *list, const lines_part *part, int64_t slices)
{
  md_ctx *ctx = list->ctx;
  const int64_t each = LINES_WINDOW / list->view.width;
  int64_t *start = list->line_start.data, n = 0;
  for (int p = 0; p < ctx->threads; p++)
    n += part[p].n;
  MD_TRY(md_buffer_reserve(ctx, &list->line, (size_t)(n + n / 16) * sizeof(int32_t), 0));
  int32_t *line = list->line.data;
  n = 0;
  for (int p = 0; p < ctx->threads; p++) {
    if (part[p].n > 0) memcpy(line + n, part[p].line, (size_t)part[p].n * sizeof *line);
    for (int64_t s = part[p].first * each; s < part[p].end * each && s < slices; s++)
      start[s] += n;
    n += part[p].n;
  }
  start[slices] = n;
  list->view.line = line;
  list->view.line_start = start;
  return MD_OK;
}

md_status lines_find(neighbor_list *list, const tiling *ts)
{
  md_ctx *ctx = list->ctx;
  const neighbor_view *view = &list->view;
  const bool wide = md_coord_size(ctx->precision) == sizeof(double);
  const int64_t n = view->n_rows, windows = (n + LINES_WINDOW - 1) / LINES_WINDOW;
  const int64_t slices = (n + view->width - 1) / view->width;
  const size_t lines = (size_t)(n + view->n_ghost) / 2 + 1;
  const int parts = ctx->threads;
  MD_TRY(md_buffer_reserve(ctx, &list->line_start, (size_t)(slices + 1) * sizeof(int64_t), 0));
  int64_t *start = list->line_start.data;
  lines_part *part = calloc((size_t)parts, sizeof *part);
  bool failed = !part;
#pragma omp parallel for schedule(static, 1) num_threads(parts) reduction(| : failed)
  for (int p = 0; p < parts; p++) {
    if (!part) continue;
    lines_part own = {.ts = ts,
                      .first = windows * p / parts,
                      .end = windows * (p + 1) / parts,
                      .stamp = calloc(lines, sizeof(int32_t))};
    failed = !own.stamp ||
             !(wide ? find(&own, n, view->width, start, 1) : find(&own, n, view->width, start, 2));
    free(own.stamp);
    own.stamp = NULL;
    part[p] = own;
  }
  md_status status = MD_OK;
  if (failed)
    status = MD_FAIL(MD_ENOMEM, "out of memory while building a neighbour list");
  else
    status = join(list, part, slices);
  for (int p = 0; part && p < parts; p++)
    free(part[p].line);
  free(part);
  return status;
}
