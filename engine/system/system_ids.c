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

void system_sort_ids(int64_t n, const int64_t *id, int64_t *by_id)
{
  bool counted = true; /* most often they are 1..n */
  for (int64_t k = 0; k < n; k++) {
    counted = counted && id[k] >= 1 && id[k] <= n;
    by_id[k] = k;
  }
  for (int64_t k = 0; counted && k < n; k++)
    by_id[id[k] - 1] = k;
  if (counted) return;
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
