/* engine/system/system_ids.c - identities of the atoms of a file: all different, found again by
 * binary search. */
#include "engine/system/system_impl.h"

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

md_status system_rank_ids(const md_text *in, const system_state *state, int64_t **by_id)
{
  const int64_t n = state->n;
  int64_t *id = state->id, sorted = 1;
  *by_id = NULL;
  while (sorted < n && id[sorted] > id[sorted - 1])
    sorted++;
  if (sorted >= n) return MD_OK;
  int64_t *rank = *by_id = malloc((size_t)n * sizeof *rank);
  MD_REQUIRE(rank, MD_ENOMEM, "out of memory for %lld ids", (long long)n);
  system_sort_ids(n, id, rank);
  for (int64_t k = 1; k < n; k++)
    if (id[rank[k]] == id[rank[k - 1]])
      return md_text_fail(in, "two atoms have id %lld", (long long)id[rank[k]]);
  return MD_OK;
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
  const int64_t found = by_id ? by_id[lo] : lo;
  return state->id[found] == id ? found : -1;
}
