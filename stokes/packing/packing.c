/* stokes/packing/packing.c - packings in memory: made, checked, sorted. */
#include "stokes/packing/packing.h"
#include "stokes/packing/pack_impl.h"
#include "stokes/pairs/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

md_status stokes_packing_create(int64_t n, stokes_packing *out)
{
  *out = (stokes_packing){0};
  MD_REQUIRE(n >= 1 && n <= INT32_MAX, MD_EINVAL, "a packing holds 1 to %d spheres, not %" PRId64,
             INT32_MAX, n);
  out->x = calloc((size_t)n * 4, sizeof *out->x);
  MD_REQUIRE(out->x, MD_ENOMEM, "out of memory for %" PRId64 " spheres", n);
  out->n = n;
  return MD_OK;
}

void stokes_packing_free(stokes_packing *packing)
{
  free(packing->x);
  *packing = (stokes_packing){0};
}

double stokes_packing_occupancy(const stokes_packing *packing)
{
  double sum = 0;
  for (int64_t i = 0; i < packing->n; i++)
    sum += pow(packing->x[4 * i + 3], 3);
  return 4.1887902047863905 * sum / (packing->box[0] * packing->box[1] * packing->box[2]);
}

md_status stokes_packing_values(const stokes_packing *packing)
{
  const double *box = packing->box;
  stokes_radius_range seen = {0};
  for (int d = 0; d < 3; d++)
    MD_REQUIRE(box[d] >= STOKES_LENGTH_MIN && box[d] <= STOKES_LENGTH_MAX, MD_EINVAL,
               "the box edges must be > 0, in %g..%g, not %g", STOKES_LENGTH_MIN, STOKES_LENGTH_MAX,
               box[d]);
  for (int64_t i = 0; i < packing->n; i++) {
    const double *x = packing->x + 4 * i;
    bool near = true;
    for (int d = 0; d < 3; d++)
      near = near && fabs(x[d]) <= STOKES_BOXES_MAX * box[d];
    MD_REQUIRE(near, MD_EINVAL,
               "sphere %" PRId64 " is at (%g, %g, %g), expected a place within %g boxes", i + 1,
               x[0], x[1], x[2], STOKES_BOXES_MAX);
    const md_status status = stokes_radius_admit(&seen, x[3]);
    if (status) return MD_FAIL(status, "sphere %" PRId64 ": %s", i + 1, md_message());
  }
  return MD_OK;
}

static md_status check_gaps(const stokes_packing *packing, const stokes_pairs *pairs,
                            double *gap_min)
{
  const stokes_pair_view list = stokes_pairs_view(pairs);
  const double *x = packing->x;
  double least = STOKES_GAP_SEEN;
  for (int64_t i = 0; i < packing->n; i++)
    for (int64_t k = list.start[i]; k < list.start[i + 1]; k++) {
      const int64_t j = list.neighbor[k];
      const double r_sq = search_distance_sq(packing->box, x + 4 * i, x + 4 * j);
      const double contact = x[4 * i + 3] + x[4 * j + 3], gap = 2 * sqrt(r_sq) / contact - 2;
      MD_REQUIRE(r_sq >= contact * contact, MD_EINVAL,
                 "spheres %" PRId64 " and %" PRId64 " overlap: their gap is %.3g of their mean "
                 "radius, expected >= 0",
                 i + 1, j + 1, gap);
      least = fmin(least, gap);
    }
  if (gap_min) *gap_min = least;
  return MD_OK;
}

static md_status require_cpu(const md_ctx *ctx)
{
  MD_REQUIRE(ctx->backend == MD_CPU, MD_EINVAL, "packings are handled on the CPU");
  return MD_OK;
}

md_status stokes_packing_check(md_ctx *ctx, const stokes_packing *packing, double *gap_min)
{
  MD_TRY(require_cpu(ctx));
  MD_TRY(stokes_packing_values(packing));
  stokes_pairs *pairs;
  MD_TRY(stokes_pairs_create(ctx, 1 + STOKES_GAP_SEEN / 2, 0, &pairs));
  const stokes_view view = pack_view(packing);
  md_status status = stokes_pairs_update(pairs, &view, 0);
  if (!status) status = check_gaps(packing, pairs, gap_min);
  stokes_pairs_destroy(pairs);
  return status;
}

/* What sorting needs; freed together. */
typedef struct {
  ordering_sorter *sorter;
  uint32_t *index, *key;
  int32_t *place;
  double *sorted;
} sorting;

static md_status sort(md_ctx *ctx, stokes_packing *packing, const ordering *order, sorting *s)
{
  const size_t n = (size_t)packing->n;
  const double *box = packing->box, width = cbrt(box[0] * box[1] * box[2] / (double)n);
  int32_t cells[3];
  const double want[3] = {ceil(box[0] / width), ceil(box[1] / width), ceil(box[2] / width)};
  search_cells(want, fmin(8 * (double)n + 64, INT32_MAX), cells);
  const size_t total = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  MD_TRY(ordering_sorter_create(ctx, &s->sorter));
  s->index = malloc(total * sizeof *s->index);
  s->key = malloc(n * sizeof *s->key);
  s->place = malloc(n * sizeof *s->place);
  s->sorted = malloc(n * 4 * sizeof *s->sorted);
  MD_REQUIRE(s->index && s->key && s->place && s->sorted, MD_ENOMEM,
             "out of memory for sorting %zu spheres", n);
  MD_TRY(ordering_index(ctx, order, cells, s->index));
  for (size_t i = 0; i < n; i++) {
    size_t cell = 0;
    for (int d = 0; d < 3; d++) {
      const double x = search_wrap(packing->x[4 * i + (size_t)d], box[d]);
      const int32_t k = (int32_t)(x / box[d] * cells[d]);
      cell = cell * (size_t)cells[d] + (size_t)(k < cells[d] ? k : cells[d] - 1);
    }
    s->key[i] = s->index[cell];
  }
  MD_TRY(ordering_sort(s->sorter, packing->n, s->key, (uint32_t)total, s->place, NULL));
  MD_TRY(ordering_permute(ctx, packing->n, s->place, 4 * sizeof(double), packing->x, s->sorted));
  memcpy(packing->x, s->sorted, n * 4 * sizeof(double));
  return MD_OK;
}

md_status stokes_packing_sort(md_ctx *ctx, stokes_packing *packing, const ordering *order,
                              int32_t *place)
{
  MD_TRY(require_cpu(ctx));
  sorting s = {0};
  const md_status status = sort(ctx, packing, order, &s);
  if (!status && place) memcpy(place, s.place, (size_t)packing->n * sizeof *place);
  ordering_sorter_destroy(s.sorter);
  free(s.index);
  free(s.key);
  free(s.place);
  free(s.sorted);
  return status;
}
