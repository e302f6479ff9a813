/* stokes/separate.c - spheres that a finite time step has pushed into each other.
 *
 * All pairs are looked at once, by all threads.  The few spheres that overlap another one, and from
 * then on those near one that was moved, are then swept one after the other, so that the result
 * does not depend on the number of threads. */
#include "stokes/run.h"
#include "stokes/search.h"
#include "stokes/team.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
  const double *box;
  const stokes_pair_view *pairs;
  double gap_min, *x;
  char *marked; /* [n]: look at this sphere in the next sweep */
} separation;

static bool overlap(const separation *s, int64_t i, int64_t j)
{
  const double sum = s->x[4 * i + 3] + s->x[4 * j + 3];
  return search_distance_sq(s->box, s->x + 4 * i, s->x + 4 * j) < sum * sum;
}

/* Mark spheres that overlap one with a larger number; returns the number of pairs. */
static int64_t mark(const separation *s, int threads)
{
  int64_t count = 0;
#pragma omp parallel for schedule(static, 256) num_threads(threads) reduction(+ : count)
  for (int64_t i = 0; i < s->pairs->n; i++) {
    int64_t found = 0;
    for (int64_t k = s->pairs->start[i]; k < s->pairs->start[i + 1]; k++)
      found += s->pairs->neighbor[k] > i && overlap(s, i, s->pairs->neighbor[k]);
    s->marked[i] = found > 0;
    count += found;
  }
  return count;
}

static void push(const separation *s, int64_t i, int64_t j)
{
  double *a = s->x + 4 * i, *b = s->x + 4 * j, e[3];
  const double sum = a[3] + b[3], target = sum * (1 + s->gap_min / 2);
  for (int d = 0; d < 3; d++)
    e[d] = search_difference(b[d], a[d], s->box[d]);
  double r = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  if (!(r > 0)) r = 1, e[0] = 1, e[1] = e[2] = 0; /* coincident: any direction will do */
  const double apart = (target - r) / r;
  for (int d = 0; d < 3; d++) {
    a[d] -= apart * b[3] / sum * e[d];
    b[d] += apart * a[3] / sum * e[d];
  }
  for (int side = 0; side < 2; side++) {
    const int64_t moved = side ? j : i;
    s->marked[moved] = 1;
    for (int64_t k = s->pairs->start[moved]; k < s->pairs->start[moved + 1]; k++)
      s->marked[s->pairs->neighbor[k]] = 1;
  }
}

static bool sweep(const separation *s)
{
  bool moved = false;
  for (int64_t i = 0; i < s->pairs->n; i++) {
    if (!s->marked[i]) continue;
    s->marked[i] = 0;
    for (int64_t k = s->pairs->start[i]; k < s->pairs->start[i + 1]; k++) {
      const int64_t j = s->pairs->neighbor[k];
      if (!overlap(s, i, j)) continue;
      push(s, i, j);
      moved = true;
    }
  }
  return moved;
}

static md_status separate(int threads, separation *s, int64_t *overlaps)
{
  enum { SWEEPS = 1000 };
  s->marked = malloc((size_t)s->pairs->n);
  MD_REQUIRE(s->marked, MD_ENOMEM, "out of memory for %" PRId64 " spheres", s->pairs->n);
  *overlaps = mark(s, threads);
  bool moved = *overlaps > 0;
  for (int k = 0; moved && k < SWEEPS; k++)
    moved = sweep(s);
  free(s->marked);
  MD_REQUIRE(!moved, MD_ENUMERIC,
             "spheres still overlap after %d sweeps that move them apart: take a shorter time step",
             SWEEPS);
  return MD_OK;
}

/* The same with copies of a GPU's spheres and pairs; what was moved goes back. */
static md_status separate_copies(md_ctx *ctx, const separation *s, int64_t *overlaps)
{
  const stokes_pair_view *from = s->pairs;
  const size_t n = (size_t)from->n, entries = (size_t)from->n_entries;
  int64_t *start = malloc((n + 1) * sizeof *start);
  int32_t *neighbor = malloc((entries + 1) * sizeof *neighbor);
  double *x = malloc(n * 4 * sizeof *x);
  md_status status = start && neighbor && x
                         ? MD_OK
                         : MD_FAIL(MD_ENOMEM, "out of memory for %zu pairs on the host", entries);
  if (!status) status = md_read(ctx, start, from->start, (n + 1) * sizeof *start);
  if (!status) status = md_read(ctx, neighbor, from->neighbor, entries * sizeof *neighbor);
  if (!status) status = md_read(ctx, x, s->x, n * 4 * sizeof *x);
  const stokes_pair_view pairs = {from->n, from->n_entries, start, neighbor};
  separation copy = {s->box, &pairs, s->gap_min, x, NULL};
  if (!status) status = separate(team_size(ctx, from->n), &copy, overlaps);
  if (!status && *overlaps > 0) status = md_write(ctx, s->x, x, n * 4 * sizeof *x);
  free(start);
  free(neighbor);
  free(x);
  return status;
}

md_status stokes_separate(md_ctx *ctx, const double *box, const stokes_pair_view *pairs,
                          double gap_min, double *x, int64_t *overlaps)
{
  separation s = {box, pairs, gap_min, x, NULL};
  if (ctx->backend == MD_GPU) return separate_copies(ctx, &s, overlaps);
  return separate(team_size(ctx, pairs->n), &s, overlaps);
}
