/* stokes/step/separate.c - spheres that a finite time step has pushed into each other.
 *
 * All pairs are looked at once, by all threads.  The few spheres that overlap another one, and from
 * then on those near one that was moved, are then swept one after the other, so that the result
 * does not depend on the number of threads.  Of several ranks each looks at its own rows, and all
 * sweep alike. */
#include "comm/world.h"
#include "stokes/step/run.h"
#include "stokes/step/separate_impl.h"
#include "stokes/team.h"

#include <inttypes.h>

/* marked[i]: look at sphere i in the next sweep; here those that overlap one with a larger number.
 * Returns the number of pairs. */
static int64_t mark(const separation *s, char *marked, int threads)
{
  const int64_t first = s->cut ? s->cut[world_rank()] : 0;
  const int64_t end = s->cut ? s->cut[world_rank() + 1] : s->pairs.n;
  int64_t count = 0;
#pragma omp parallel for schedule(static, 256) num_threads(threads) reduction(+ : count)
  for (int64_t i = first; i < end; i++) {
    int64_t found = 0;
    for (int64_t k = s->pairs.start[i]; k < s->pairs.start[i + 1]; k++)
      found += s->pairs.neighbor[k] > i && separate_overlap(s, i, s->pairs.neighbor[k]);
    marked[i] = found > 0;
    count += found;
  }
  return count;
}

static void push(const separation *s, int64_t i, int64_t j, char *marked)
{
  double step[2][3];
  separate_step(s, i, j, step[0]);
  separate_step(s, j, i, step[1]);
  for (int side = 0; side < 2; side++) {
    const int64_t moved = side ? j : i;
    for (int d = 0; d < 3; d++)
      s->x[4 * moved + d] += step[side][d];
    marked[moved] = 1;
    for (int64_t k = s->pairs.start[moved]; k < s->pairs.start[moved + 1]; k++)
      marked[s->pairs.neighbor[k]] = 1;
  }
}

/* Returns how many pairs were moved. */
static int64_t sweep(const separation *s, char *marked)
{
  int64_t moved = 0;
  for (int64_t i = 0; i < s->pairs.n; i++) {
    if (!marked[i]) continue;
    marked[i] = 0;
    for (int64_t k = s->pairs.start[i]; k < s->pairs.start[i + 1]; k++) {
      const int64_t j = s->pairs.neighbor[k];
      if (!separate_overlap(s, i, j)) continue;
      push(s, i, j, marked);
      moved++;
    }
  }
  return moved;
}

md_status separate_cpu(md_ctx *ctx, const separation *s, md_buffer *scratch, int64_t *overlaps,
                       int64_t *left)
{
  MD_TRY(md_buffer_reserve(ctx, scratch, (size_t)s->pairs.n, 0));
  *overlaps = mark(s, scratch->data, team_size(ctx, s->pairs.n));
  if (s->cut) world_sum(overlaps, 1);
  if (s->cut && *overlaps > 0) MD_TRY(world_complete(scratch->data, s->cut, 1));
  *left = *overlaps;
  for (int k = 0; *left > 0 && k < SEPARATE_SWEEPS; k++)
    *left = sweep(s, scratch->data);
  return MD_OK;
}

md_status stokes_separate(md_ctx *ctx, const double *box, const stokes_pair_view *pairs,
                          double gap_min, const int64_t *cut, double *x, md_buffer *scratch,
                          int64_t *overlaps)
{
  static separate_fn *const table[MD_BACKEND_COUNT] = {separate_cpu, MD_GPU(separate_gpu)};
  const separation s = {{box[0], box[1], box[2]}, *pairs, gap_min, x, cut};
  int64_t left;
  MD_TRY(table[ctx->backend](ctx, &s, scratch, overlaps, &left));
  MD_REQUIRE(left == 0, MD_ENUMERIC,
             "spheres still overlap after %d sweeps that move them apart: take a shorter time step",
             SEPARATE_SWEEPS);
  return MD_OK;
}
