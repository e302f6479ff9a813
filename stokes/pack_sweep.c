/* stokes/pack_sweep.c - Gauss-Seidel sweeps over pairs (relaxation) and spheres (Monte Carlo).
 *
 * Both are sequential within a block of the box and parallel over blocks of one colour, which are
 * too far apart to touch the same sphere; the result does not depend on the number of threads. */
#include "stokes/normal.h"
#include "stokes/pack_impl.h"
#include "stokes/search.h"

#include <inttypes.h>
#include <stdlib.h>

static int32_t even_blocks(double edge, double width)
{
  const int32_t n = (int32_t)(edge / width);
  return n < 2 ? 1 : n - n % 2;
}

static int32_t block_of(const pack_blocks *blocks, const double *box, const double *x)
{
  int32_t at = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t k = (int32_t)(search_wrap(x[d], box[d]) / box[d] * blocks->n[d]);
    at = at * blocks->n[d] + (k < blocks->n[d] ? k : blocks->n[d] - 1);
  }
  return at;
}

md_status pack_blocks_build(pack_blocks *blocks, const stokes_packing *packing, double reach)
{
  pack_blocks_free(blocks);
  int32_t total = 1;
  for (int d = 0; d < 3; d++)
    total *= blocks->n[d] = even_blocks(packing->box[d], 2 * reach);
  blocks->start = calloc((size_t)total + 2, sizeof *blocks->start);
  blocks->sphere = malloc((size_t)packing->n * sizeof *blocks->sphere);
  MD_REQUIRE(blocks->start && blocks->sphere, MD_ENOMEM, "out of memory for %" PRId64 " spheres",
             packing->n);
  const double *x = packing->x;
  for (int64_t i = 0; i < packing->n; i++)
    blocks->start[block_of(blocks, packing->box, x + 4 * i) + 2]++;
  for (int32_t b = 0; b < total; b++)
    blocks->start[b + 2] += blocks->start[b + 1];
  for (int64_t i = 0; i < packing->n; i++)
    blocks->sphere[blocks->start[block_of(blocks, packing->box, x + 4 * i) + 1]++] = (int32_t)i;
  return MD_OK;
}

void pack_blocks_free(pack_blocks *blocks)
{
  free(blocks->start);
  free(blocks->sphere);
  *blocks = (pack_blocks){0};
}

/* A packing being swept. */
typedef struct {
  md_ctx *ctx;
  const stokes_pack_spec *spec;
  stokes_packing *packing;
  stokes_pairs *pairs;
  pack_blocks blocks;
  int64_t builds; /* of the pair list when the blocks were made */
  double radius_max, radius_min;
  double step; /* of the walk */
  int64_t sweep;
} sweeper;

/* What one block does; returns how many pairs were pushed or moves accepted. */
typedef int64_t block_fn(const sweeper *s, const int32_t *sphere, int32_t count);

static int64_t sweep_colours(const sweeper *s, block_fn *block)
{
  const int32_t *n = s->blocks.n;
  int64_t total = 0;
  for (int colour = 0; colour < 8; colour++) {
    int32_t first[3], count[3], tasks = 1;
    for (int d = 0; d < 3; d++) {
      first[d] = colour >> d & 1;
      count[d] = (n[d] - first[d] + 1) / 2;
      tasks *= count[d];
    }
#pragma omp parallel for schedule(dynamic) num_threads(tasks > 1 ? s->ctx->threads : 1) reduction(+ : total)
    for (int32_t t = 0; t < tasks; t++) {
      const int32_t a = first[0] + 2 * (t / (count[1] * count[2]));
      const int32_t b = first[1] + 2 * (t / count[2] % count[1]);
      const int32_t c = first[2] + 2 * (t % count[2]);
      const int32_t at = (a * n[1] + b) * n[2] + c;
      const int32_t start = s->blocks.start[at];
      total += block(s, s->blocks.sphere + start, s->blocks.start[at + 1] - start);
    }
  }
  return total;
}

static md_status update(sweeper *s, double scale, double skin, double ahead)
{
  const stokes_view view = pack_view(s->packing);
  MD_TRY(stokes_pairs_update(s->pairs, &view, ahead));
  if (s->builds == stokes_pairs_builds(s->pairs)) return MD_OK;
  s->builds = stokes_pairs_builds(s->pairs);
  return pack_blocks_build(&s->blocks, s->packing, 2 * scale * s->radius_max + skin);
}

static void measure(sweeper *s)
{
  const double *x = s->packing->x;
  s->radius_min = s->radius_max = x[3];
  for (int64_t i = 1; i < s->packing->n; i++) {
    s->radius_min = fmin(s->radius_min, x[4 * i + 3]);
    s->radius_max = fmax(s->radius_max, x[4 * i + 3]);
  }
}

/* Move both spheres of a pair along the line of centres until their gap is right; shares are such
 * that the smaller sphere moves more.  Pairs are pushed slightly too far, or the last few would
 * creep. */
static bool push(const sweeper *s, double *a, double *b)
{
  const double *box = s->packing->box, target = (a[3] + b[3]) * (1 + s->spec->gap / 2);
  double e[3];
  for (int d = 0; d < 3; d++)
    e[d] = search_difference(b[d], a[d], box[d]);
  const double r_sq = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
  if (r_sq >= target * target) return false;
  double r = sqrt(r_sq);
  if (r < 1e-9 * target) {
    e[0] = r = 1e-9 * target;
    e[1] = e[2] = 0;
  }
  const double amount = ((target - r) * 1.02 + 1e-9 * target) / r, share = b[3] / (a[3] + b[3]);
  for (int d = 0; d < 3; d++) {
    a[d] -= share * amount * e[d];
    b[d] += (1 - share) * amount * e[d];
  }
  return true;
}

static int64_t push_block(const sweeper *s, const int32_t *sphere, int32_t count)
{
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  double *x = s->packing->x;
  int64_t pushed = 0;
  for (int32_t k = 0; k < count; k++) {
    const int64_t i = sphere[k];
    for (int64_t p = list.start[i]; p < list.start[i + 1]; p++) {
      const int64_t j = list.neighbor[p];
      if (j > i) pushed += push(s, x + 4 * i, x + 4 * j);
    }
  }
  return pushed;
}

static md_status relax(sweeper *s, int iterations, int *used, bool *done)
{
  const double scale = 1 + s->spec->gap / 2, skin = s->radius_min / 4;
  MD_TRY(stokes_pairs_create(s->ctx, scale, skin, &s->pairs));
  *done = false;
  for (*used = 0; !*done && *used < iterations; ++*used) {
    MD_TRY(update(s, scale, skin, 0));
    *done = sweep_colours(s, push_block) == 0;
  }
  return MD_OK;
}

static void release(sweeper *s)
{
  stokes_pairs_destroy(s->pairs);
  pack_blocks_free(&s->blocks);
}

md_status pack_relax(md_ctx *ctx, const stokes_pack_spec *spec, stokes_packing *packing,
                     int iterations, int *used, bool *done)
{
  sweeper s = {.ctx = ctx, .spec = spec, .packing = packing};
  measure(&s);
  const md_status status = relax(&s, iterations, used, done);
  release(&s);
  return status;
}

static bool fits(const sweeper *s, const stokes_pair_view *list, int64_t i, const double *trial)
{
  const double *x = s->packing->x;
  for (int64_t p = list->start[i]; p < list->start[i + 1]; p++) {
    const double *other = x + 4 * (int64_t)list->neighbor[p], contact = trial[3] + other[3];
    if (search_distance_sq(s->packing->box, trial, other) < contact * contact) return false;
  }
  return true;
}

static int64_t walk_block(const sweeper *s, const int32_t *sphere, int32_t count)
{
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  int64_t accepted = 0;
  for (int32_t k = 0; k < count; k++) {
    const int64_t i = sphere[k];
    double *x = s->packing->x + 4 * i;
    const normal_bits a =
        normal_draw(s->spec->seed, NORMAL_MOVE, (uint64_t)i, (uint64_t)s->sweep, 0);
    const normal_bits b =
        normal_draw(s->spec->seed, NORMAL_MOVE, (uint64_t)i, (uint64_t)s->sweep, 1);
    const double trial[4] = {x[0] + s->step * (2 * normal_uniform(a, 0) - 1),
                             x[1] + s->step * (2 * normal_uniform(a, 1) - 1),
                             x[2] + s->step * (2 * normal_uniform(b, 0) - 1), x[3]};
    if (!fits(s, &list, i, trial)) continue;
    for (int d = 0; d < 3; d++)
      x[d] = trial[d];
    accepted++;
  }
  return accepted;
}

/* Steps grow and shrink so that about four moves in ten are accepted. */
static md_status walk(sweeper *s, double *accepted)
{
  const double skin = s->radius_min / 2, longest = skin / 8;
  int64_t moves = 0, good = 0;
  s->step = longest / 2;
  MD_TRY(stokes_pairs_create(s->ctx, 1, skin, &s->pairs));
  for (s->sweep = 0; s->sweep < s->spec->sweeps; s->sweep++) {
    MD_TRY(update(s, 1, skin, sqrt(3) * s->step));
    const int64_t now = sweep_colours(s, walk_block);
    moves += s->packing->n, good += now;
    const bool often = (double)now > 0.4 * (double)s->packing->n;
    s->step = fmin(s->step * (often ? 1.1 : 0.9), longest);
  }
  *accepted = moves ? (double)good / (double)moves : 0;
  return MD_OK;
}

md_status pack_walk(md_ctx *ctx, const stokes_pack_spec *spec, stokes_packing *packing,
                    double *accepted)
{
  sweeper s = {.ctx = ctx, .spec = spec, .packing = packing};
  measure(&s);
  const md_status status = walk(&s, accepted);
  release(&s);
  return status;
}
