/* engine/windows.c - see windows.h.
 *
 * Window k begins at the least id below which k * most atoms of all ranks lie.  All these ids are
 * found together by halving the range of ids: ranks count their own atoms below the middle, by
 * binary search, and add up. */
#include "engine/windows.h"
#include "engine/system/system.h"

#include <stdlib.h>
#include <string.h>

int64_t engine_window(const engine_spec *spec)
{
  return spec->window > 0 ? spec->window : ENGINE_WINDOW;
}

static int64_t row_of(const engine_windows *w, int64_t k)
{
  return w->order ? w->order[k] : k;
}

/* Of this rank's n atoms those with an id below `id`. */
static int64_t count_below(const engine_windows *w, int64_t n, int64_t id)
{
  const int64_t *ids = w->column[0].rows;
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (ids[row_of(w, mid)] < id)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int64_t middle(int64_t low, int64_t high)
{
  return (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
}

/* Where windows begin among this rank's atoms.  low, high [count + 1]: memory. */
static void find_begins(engine_windows *w, int64_t most, int64_t n, int64_t *low, int64_t *high)
{
  const int64_t count = w->count;
  int64_t *below = w->begin;
  for (int64_t k = 1; k < count; k++)
    low[k] = INT64_MIN, high[k] = INT64_MAX;
  for (int bit = 0; bit < 64 && count > 1; bit++) {
    for (int64_t k = 1; k < count; k++)
      below[k] = count_below(w, n, middle(low[k], high[k]));
    world_sum(below + 1, count - 1);
    for (int64_t k = 1; k < count; k++) {
      const int64_t mid = middle(low[k], high[k]);
      if (below[k] >= k * most || mid == high[k])
        high[k] = mid;
      else
        low[k] = mid + 1;
    }
  }
  for (int64_t k = 1; k < count; k++)
    below[k] = count_below(w, n, low[k]);
}

/* Atoms of the largest of windows that begin so. */
static int64_t largest_of(int64_t count, const int64_t *begin)
{
  int64_t most = 0;
  for (int64_t k = 0; k < count; k++)
    if (begin[k + 1] - begin[k] > most) most = begin[k + 1] - begin[k];
  return most;
}

static md_status cut(engine_windows *w, int64_t most, int64_t n)
{
  int64_t all = n;
  world_sum(&all, 1);
  w->count = (all + most - 1) / most;
  const size_t room = (size_t)w->count + 1;
  int64_t *range = malloc(2 * room * sizeof *range);
  w->begin = calloc(room, sizeof *w->begin);
  const md_status status =
      world_agree(range && w->begin ? MD_OK
                                    : MD_FAIL(MD_ENOMEM, "out of memory for %lld windows of atoms",
                                              (long long)w->count));
  if (!status && world_count() > 1)
    find_begins(w, most, n, range, range + room);
  else if (!status)
    for (int64_t k = 1; k < w->count; k++)
      w->begin[k] = k * most;
  if (!status) {
    w->begin[w->count] = n;
    memcpy(range, w->begin, room * sizeof *range);
    world_sum(range, w->count + 1);
    w->largest = largest_of(w->count, range);
  }
  free(range);
  return status;
}

/* Memory for the largest window, of all ranks on rank 0, else of this one; atoms of one rank come
 * in their order. */
static md_status reserve(engine_windows *w)
{
  const size_t ranks = (size_t)world_count();
  const bool sorts = ranks > 1 && world_rank() == 0;
  const int64_t largest = world_rank() == 0 ? w->largest : largest_of(w->count, w->begin);
  int64_t all_bytes = 0;
  w->sizes = malloc(ranks * sizeof *w->sizes);
  w->message = malloc(ranks * ENGINE_COLUMNS * sizeof *w->message);
  if (sorts) w->by_id = malloc((size_t)(largest + 1) * sizeof *w->by_id);
  bool good = w->sizes && w->message && (w->by_id || !sorts);
  for (int c = 0; c < w->n_columns; c++) {
    const size_t bytes = (size_t)(largest + 1) * w->column[c].bytes;
    w->came[c] = malloc(bytes);
    if (sorts) w->rows[c] = malloc(bytes);
    good = good && w->came[c] && (w->rows[c] || !sorts);
    all_bytes += (int64_t)bytes;
  }
  const int64_t messages = (int64_t)ranks * w->n_columns;
  return world_agree(
      good ? world_reserve(messages, all_bytes)
           : MD_FAIL(MD_ENOMEM, "out of memory for windows of %lld atoms", (long long)largest));
}

md_status engine_windows_open(int64_t most, int64_t n, const int64_t *order, int n_columns,
                              const engine_column *columns, engine_windows *out)
{
  *out = (engine_windows){.n_columns = n_columns, .order = order};
  memcpy(out->column, columns, (size_t)n_columns * sizeof *columns);
  MD_TRY(cut(out, most, n));
  return reserve(out);
}

/* This rank's atoms of window k. */
static void pack(engine_windows *w, int64_t k)
{
  const int64_t begin = w->begin[k], n = w->begin[k + 1] - begin;
  for (int c = 0; c < w->n_columns; c++) {
    const size_t bytes = w->column[c].bytes;
    const char *from = w->column[c].rows;
    char *to = w->came[c];
    for (int64_t i = 0; i < n; i++)
      memcpy(to + (size_t)i * bytes, from + (size_t)row_of(w, begin + i) * bytes, bytes);
  }
}

static void send(engine_windows *w, int64_t n)
{
  for (int c = 0; c < w->n_columns; c++)
    w->message[c] = (world_message){0, w->came[c], (size_t)n * w->column[c].bytes};
  world_start(NULL, 0, w->message, n > 0 ? w->n_columns : 0);
}

/* Behind the atoms of rank 0 those of the others. */
static void receive(engine_windows *w)
{
  int n = 0;
  w->n = w->sizes[0];
  for (int r = 1; r < world_count(); w->n += w->sizes[r++])
    for (int c = 0; c < w->n_columns && w->sizes[r] > 0; c++) {
      const size_t bytes = w->column[c].bytes;
      w->message[n++] = (world_message){r, (char *)w->came[c] + (size_t)w->n * bytes,
                                        (size_t)w->sizes[r] * bytes};
    }
  world_start(w->message, n, NULL, 0);
}

static void sort(engine_windows *w)
{
  system_sort_ids(w->n, w->came[0], w->by_id);
  for (int c = 0; c < w->n_columns; c++) {
    const size_t bytes = w->column[c].bytes;
    for (int64_t i = 0; i < w->n; i++)
      memcpy((char *)w->rows[c] + (size_t)i * bytes,
             (char *)w->came[c] + (size_t)w->by_id[i] * bytes, bytes);
  }
}

void engine_windows_get(engine_windows *w, int64_t k)
{
  const int64_t n = w->begin[k + 1] - w->begin[k];
  pack(w, k);
  if (world_count() == 1) {
    w->n = n;
    memcpy(w->rows, w->came, sizeof w->rows);
    return;
  }
  world_gather(&n, sizeof n, w->sizes);
  if (world_rank() == 0)
    receive(w);
  else
    send(w, n);
  world_wait();
  if (world_rank() == 0) sort(w);
}

/* Memory for windows of all ranks where there is none yet. */
static md_status reserve_rows(engine_windows *w)
{
  bool good = true;
  for (int c = 0; c < w->n_columns && world_rank() > 0; c++) {
    if (!w->rows[c]) w->rows[c] = malloc((size_t)(w->largest + 1) * w->column[c].bytes);
    good = good && w->rows[c];
  }
  return world_agree(
      good ? MD_OK
           : MD_FAIL(MD_ENOMEM, "out of memory for windows of %lld atoms", (long long)w->largest));
}

md_status engine_windows_share(engine_windows *w, int64_t k)
{
  MD_TRY(reserve_rows(w));
  engine_windows_get(w, k);
  world_broadcast(&w->n, sizeof w->n);
  for (int c = 0; c < w->n_columns; c++)
    world_broadcast(w->rows[c], (size_t)w->n * w->column[c].bytes);
  return MD_OK;
}

void engine_windows_close(engine_windows *w)
{
  for (int c = 0; c < w->n_columns; c++) {
    if (w->rows[c] != w->came[c]) free(w->rows[c]);
    free(w->came[c]);
  }
  free(w->begin);
  free(w->sizes);
  free(w->by_id);
  free(w->message);
  *w = (engine_windows){0};
}
