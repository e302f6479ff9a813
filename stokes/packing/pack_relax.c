/* stokes/packing/pack_relax.c - spheres that overlap are pushed apart: Gauss-Seidel sweeps over
 * pairs.
 *
 * A sweep is sequential within a block of the box and parallel over blocks of one colour, which are
 * too far apart to touch the same sphere; the result does not depend on the number of threads. */
#include "stokes/packing/pack_impl.h"
#include "stokes/pairs/search.h"

#include <inttypes.h>
#include <stdlib.h>

/* Spheres by block: block b has sphere[start[b] .. start[b + 1]). */
typedef struct {
  int32_t n[3]; /* blocks along each axis: even, or one */
  int32_t *start, *sphere;
} blocks_of_spheres;

static int32_t even_blocks(double edge, double width)
{
  const int32_t n = (int32_t)(edge / width);
  return n < 2 ? 1 : n - n % 2;
}

static int32_t block_of(const blocks_of_spheres *blocks, const double *box, const double *x)
{
  int32_t at = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t k = (int32_t)(search_wrap(x[d], box[d]) / box[d] * blocks->n[d]);
    at = at * blocks->n[d] + (k < blocks->n[d] ? k : blocks->n[d] - 1);
  }
  return at;
}

static void free_blocks(blocks_of_spheres *blocks)
{
  free(blocks->start);
  free(blocks->sphere);
  *blocks = (blocks_of_spheres){0};
}

/* Blocks at least 2 reach wide.  Errors: MD_ENOMEM. */
static md_status build_blocks(blocks_of_spheres *blocks, const stokes_packing *packing,
                              double reach)
{
  free_blocks(blocks);
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

/* A packing being swept. */
typedef struct {
  md_ctx *ctx;
  stokes_packing *packing;
  double gap;
  stokes_pairs *pairs;
  blocks_of_spheres blocks;
  int64_t builds; /* of the pair list when the blocks were made */
  double radius_max, radius_min;
} sweeper;

/* Move both spheres of a pair along the line of centres until their gap is right; shares are such
 * that the smaller sphere moves more.  Pairs are pushed slightly too far, or the last few would
 * creep. */
static bool push(const sweeper *s, double *a, double *b)
{
  const double *box = s->packing->box, target = (a[3] + b[3]) * (1 + s->gap / 2);
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

/* Returns how many pairs were pushed. */
static int64_t sweep_colours(const sweeper *s)
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
#pragma omp parallel for schedule(dynamic) reduction(+ : total)                                    \
    num_threads(tasks > 1 ? s->ctx->threads : 1)
    for (int32_t t = 0; t < tasks; t++) {
      const int32_t a = first[0] + 2 * (t / (count[1] * count[2]));
      const int32_t b = first[1] + 2 * (t / count[2] % count[1]);
      const int32_t c = first[2] + 2 * (t % count[2]);
      const int32_t at = (a * n[1] + b) * n[2] + c;
      const int32_t start = s->blocks.start[at];
      total += push_block(s, s->blocks.sphere + start, s->blocks.start[at + 1] - start);
    }
  }
  return total;
}

static md_status update(sweeper *s, double scale, double skin)
{
  const stokes_view view = pack_view(s->packing);
  MD_TRY(stokes_pairs_update(s->pairs, &view, 0));
  if (s->builds == stokes_pairs_builds(s->pairs)) return MD_OK;
  s->builds = stokes_pairs_builds(s->pairs);
  return build_blocks(&s->blocks, s->packing, 2 * scale * s->radius_max + skin);
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

static md_status relax(sweeper *s, const stokes_pack_spec *spec, int *used)
{
  const double scale = 1 + s->gap / 2, skin = s->radius_min / 4;
  MD_TRY(stokes_pairs_create(s->ctx, scale, skin, &s->pairs));
  int64_t pushed = 1;
  for (*used = 0; pushed > 0 && *used < spec->iterations; ++*used) {
    MD_TRY(update(s, scale, skin));
    pushed = sweep_colours(s);
    if (spec->progress) spec->progress(spec->watcher, *used + 1, spec->iterations);
  }
  MD_REQUIRE(pushed == 0, MD_ENUMERIC,
             "%" PRId64
             " spheres at an occupancy of %g were not pushed apart to gaps of %.2g in %d "
             "iterations: %" PRId64 " pairs were nearer in the last one",
             s->packing->n, spec->occupancy, s->gap, *used, pushed);
  return MD_OK;
}

md_status pack_relax(md_ctx *ctx, const stokes_pack_spec *spec, double gap, stokes_packing *packing,
                     int *used)
{
  sweeper s = {.ctx = ctx, .packing = packing, .gap = gap};
  measure(&s);
  const md_status status = relax(&s, spec, used);
  stokes_pairs_destroy(s.pairs);
  free_blocks(&s.blocks);
  return status;
}
