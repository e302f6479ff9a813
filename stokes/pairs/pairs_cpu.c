/* stokes/pairs/pairs_cpu.c - the pair list with OpenMP; a row belongs to one thread, and an equal
 * share of rows to each of several ranks. */
#include "comm/world.h"
#include "stokes/pairs/pairs_impl.h"
#include "stokes/team.h"

#include <stdlib.h>
#include <string.h>

static md_status extent(stokes_pairs *pairs, const stokes_view *spheres, pairs_extent *out)
{
  const double *x = spheres->x;
  double low = INFINITY, high = 0, reach = 0;
  bool bad = false;
#pragma omp parallel for schedule(static) num_threads(team_size(pairs->ctx, spheres->n))           \
    reduction(min                                                                                  \
              : low) reduction(max                                                                 \
                               : high, reach) reduction(||                                         \
                                                        : bad)
  for (int64_t i = 0; i < spheres->n; i++) {
    const double *s = x + 4 * i;
    for (int d = 0; d < 3; d++) {
      reach = fmax(reach, fabs(s[d]));
      bad = bad || !isfinite(s[d]);
    }
    bad = bad || !isfinite(s[3]);
    low = fmin(low, s[3]);
    high = fmax(high, s[3]);
  }
  *out = (pairs_extent){low, high, bad ? INFINITY : reach, 0};
  return MD_OK;
}

/* The spheres that this rank looks at; of several ranks it notes those of all. */
static void share_of(stokes_pairs *pairs, int64_t n, int64_t *first, int64_t *end)
{
  *first = 0;
  *end = n;
  if (!pairs->share) return;
  for (int r = 0; r <= world_count(); r++)
    pairs->share[r] = n * r / world_count();
  *first = pairs->share[world_rank()];
  *end = pairs->share[world_rank() + 1];
}

/* A sphere of another radius, or one that is not finite, has moved infinitely far. */
static md_status moved(stokes_pairs *pairs, const stokes_view *spheres, double *out)
{
  const double *now = spheres->x, *then = pairs->built.data;
  int64_t first, end;
  double most = 0;
  share_of(pairs, spheres->n, &first, &end);
#pragma omp parallel for schedule(static) num_threads(team_size(pairs->ctx, spheres->n))           \
    reduction(max                                                                                  \
              : most)
  for (int64_t i = first; i < end; i++) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
      const double step = now[4 * i + d] - then[4 * i + d];
      sum += step * step;
    }
    const bool same = isfinite(sum) && now[4 * i + 3] == then[4 * i + 3];
    most = fmax(most, same ? sum : INFINITY);
  }
  if (pairs->share) world_most(&most, 1);
  *out = most;
  return MD_OK;
}

static md_status sort(stokes_pairs *pairs, const stokes_view *spheres)
{
  MD_TRY(pairs_reserve(pairs, spheres->n, 0));
  uint32_t *key = pairs->key;
#pragma omp parallel for schedule(static) num_threads(team_size(pairs->ctx, spheres->n))
  for (int64_t i = 0; i < spheres->n; i++)
    key[i] = (uint32_t)search_cell(&pairs->grid, spheres->x + 4 * i);
  return ordering_sort(pairs->sorter, spheres->n, key, (uint32_t)pairs->grid.n_cells, pairs->order,
                       pairs->cell_start);
}

/* How long rows are: of all, summed up. */
static md_status count_rows(stokes_pairs *pairs, const stokes_view *spheres, int64_t first,
                            int64_t end)
{
  int64_t *start = pairs->start.data;
#pragma omp parallel for schedule(dynamic, 256) num_threads(team_size(pairs->ctx, end - first))
  for (int64_t i = first; i < end; i++)
    start[i + 1] =
        search_row(&pairs->grid, spheres->x, pairs->cell_start, pairs->order, i, 0, 1, NULL);
  if (pairs->share) MD_TRY(world_complete(start + 1, pairs->share, sizeof *start));
  start[0] = 0;
  for (int64_t i = 0; i < spheres->n; i++)
    start[i + 1] += start[i];
  pairs->n_entries = start[spheres->n];
  return MD_OK;
}

static int compare(const void *a, const void *b)
{
  const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
  return (i > j) - (i < j);
}

/* Insertion is quadratic, but rows of lubrication are short and almost sorted along a curve.  Those
 * of a mobility's near part can have thousands of entries. */
static void sort_row(int32_t *row, int32_t n)
{
  if (n <= 512)
    search_sort(row, n);
  else
    qsort(row, (size_t)n, sizeof *row, compare);
}

static md_status rows(stokes_pairs *pairs, const stokes_view *spheres)
{
  const int64_t *start = pairs->start.data;
  int64_t first, end;
  share_of(pairs, spheres->n, &first, &end);
  MD_TRY(count_rows(pairs, spheres, first, end));
  MD_TRY(md_buffer_reserve(pairs->ctx, &pairs->neighbor, (size_t)pairs->n_entries * sizeof(int32_t),
                           0));
  int32_t *neighbor = pairs->neighbor.data;
#pragma omp parallel for schedule(dynamic, 256) num_threads(team_size(pairs->ctx, end - first))
  for (int64_t i = first; i < end; i++) {
    int32_t count = 0;
    const search_list list = {neighbor + start[i], &count};
    sort_row(list.out,
             search_row(&pairs->grid, spheres->x, pairs->cell_start, pairs->order, i, 0, 1, &list));
  }
  if (!pairs->share) return MD_OK;
  int64_t *entries = pairs->share + world_count() + 1;
  for (int r = 0; r <= world_count(); r++)
    entries[r] = start[pairs->share[r]];
  return world_complete(neighbor, entries, sizeof *neighbor);
}

const pairs_backend pairs_cpu = {extent, moved, sort, rows, 1};
