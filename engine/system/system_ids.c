/* engine/system/system_ids.c - identities of the atoms of a file: all different, found again by
 * binary search. */
#include "engine/system/system_impl.h"
#include "comm/world.h"
#include "engine/windows.h"

#include <stdlib.h>

static int compare(const void *a, const void *b, void *id)
{
  const int64_t p = ((const int64_t *)id)[*(const int64_t *)a];
  const int64_t q = ((const int64_t *)id)[*(const int64_t *)b];
  return (p > q) - (p < q);
}

/* Most often the ids are all there are between two numbers. */
static bool count_ids(int64_t n, const int64_t *id, int64_t *by_id)
{
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (int64_t k = 0; k < n; k++) {
    if (id[k] < least) least = id[k];
    if (id[k] > most) most = id[k];
    by_id[k] = -1;
  }
  if (n == 0 || (uint64_t)most - (uint64_t)least != (uint64_t)n - 1) return n == 0;
  for (int64_t k = 0; k < n; k++) {
    int64_t *place = &by_id[id[k] - least];
    if (*place >= 0) return false; /* two have one id, and another is missing */
    *place = k;
  }
  return true;
}

void system_sort_ids(int64_t n, const int64_t *id, int64_t *by_id)
{
  if (count_ids(n, id, by_id)) return;
  for (int64_t k = 0; k < n; k++)
    by_id[k] = k;
  qsort_r(by_id, (size_t)n, sizeof *by_id, compare, (void *)id);
}

/* This rank's atoms by rising id, or NULL: they lie so, and no two have one id. */
static md_status sort(const system_state *state, int64_t **by_id)
{
  const int64_t n = state->n;
  int64_t sorted = 1;
  *by_id = NULL;
  while (sorted < n && state->id[sorted] > state->id[sorted - 1])
    sorted++;
  if (sorted >= n) return MD_OK;
  *by_id = malloc((size_t)n * sizeof **by_id);
  MD_REQUIRE(*by_id, MD_ENOMEM, "out of memory for %lld ids", (long long)n);
  system_sort_ids(n, state->id, *by_id);
  return MD_OK;
}

/* On all ranks: the least id that two atoms have, on rank 0; 0: none. */
static md_status find_twice(const system_state *state, const int64_t *by_id, int64_t *twice)
{
  const engine_column ids = {state->id, sizeof *state->id};
  engine_windows w;
  int64_t last = *twice = 0; /* ids are positive */
  const md_status status = engine_windows_open(ENGINE_WINDOW, state->n, by_id, 1, &ids, &w);
  for (int64_t k = 0; k < w.count && !status; k++) {
    engine_windows_get(&w, k);
    const int64_t *id = w.rows[0];
    for (int64_t i = 0; i < w.n && !*twice; last = id[i++])
      if (id[i] == last) *twice = last;
  }
  engine_windows_close(&w);
  return status;
}

md_status system_rank_ids(const md_text *in, const system_state *state, int64_t **by_id)
{
  int64_t twice;
  MD_TRY(world_agree(sort(state, by_id)));
  if (world_count() == 1 && !*by_id) return MD_OK;
  MD_TRY(find_twice(state, *by_id, &twice));
  return world_agree(twice ? md_text_fail(in, "two atoms have id %lld", (long long)twice) : MD_OK);
}

int64_t system_find_id(const system_state *state, const int64_t *by_id, int64_t id)
{
  int64_t lo = 0, hi = state->n; /* the last atom in lo..hi-1 with an id <= id */
  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (state->id[by_id ? by_id[mid] : mid] <= id)
      lo = mid;
    else
      hi = mid;
  }
  if (state->n == 0) return -1;
  const int64_t found = by_id ? by_id[lo] : lo;
  return state->id[found] == id ? found : -1;
}
