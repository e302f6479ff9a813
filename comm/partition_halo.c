/* comm/partition_halo.c - what other ranks need of a rank's cells.
 *
 * A cell is needed by the owner of every cell that some offset of a stencil leads to; where the
 * offset leaves the cell's frame, as an image.  Cells deep inside a rank's part are needed by
 * nobody. */
#include "comm/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of positions must not hide an image. */
static const double WIDEN = 1 + 1e-6;

/* Targets of the cells, as they are found. */
typedef struct {
  partition_halo *halo;
  int64_t used, room;   /* of to */
  int32_t targets_room; /* of target */
  bool failed;
} finder;

static int compare(const void *a, const void *b)
{
  const partition_target *p = a, *q = b;
  if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
  return (p->shift > q->shift) - (p->shift < q->shift);
}

/* The number of a target, a new one if need be; they are few, the last one comes most often. */
static int32_t number_target(finder *f, partition_target t)
{
  partition_halo *halo = f->halo;
  for (int32_t k = halo->n_targets - 1; k >= 0; k--)
    if (compare(&halo->target[k], &t) == 0) return k;
  if (halo->n_targets == f->targets_room) {
    const int32_t room = 2 * f->targets_room + 32;
    partition_target *more = realloc(halo->target, (size_t)room * sizeof *more);
    f->failed = f->failed || !more;
    if (!more) return 0;
    halo->target = more;
    f->targets_room = room;
  }
  halo->target[halo->n_targets] = t;
  return halo->n_targets++;
}

/* A target of the cell whose own begin at `begin`, once. */
static void add(finder *f, int64_t begin, partition_target t)
{
  const int32_t k = number_target(f, t);
  for (int64_t e = begin; e < f->used; e++)
    if (f->halo->to[e] == k) return;
  if (f->used == f->room) {
    const int64_t room = 2 * f->room + 1024;
    int32_t *more = realloc(f->halo->to, (size_t)room * sizeof *more);
    f->failed = f->failed || !more;
    if (!more) return;
    f->halo->to = more;
    f->room = room;
  }
  f->halo->to[f->used++] = k;
}

/* Offsets along each axis that can be within reach, and whether one of them is. */
typedef struct {
  double side[3], reach_sq;
  int32_t most[3];
} stencil;

static stencil make_stencil(const partition *p, double reach)
{
  stencil s = {.reach_sq = reach * reach * WIDEN * WIDEN};
  for (int d = 0; d < 3; d++) {
    s.side[d] = p->side[d];
    s.most[d] = (int32_t)ceil(reach * WIDEN / p->side[d]);
  }
  return s;
}

static bool in_reach(const stencil *s, int32_t i, int32_t j, int32_t k)
{
  const int32_t at[3] = {i, j, k};
  double gap_sq = 0;
  for (int d = 0; d < 3; d++) {
    const double gap = (abs(at[d]) > 0 ? abs(at[d]) - 1 : 0) * s->side[d];
    gap_sq += gap * gap;
  }
  return gap_sq < s->reach_sq;
}

/* How many whole parts of m lie below place `at`. */
static int32_t parts_below(int32_t at, int32_t m)
{
  return at >= 0 ? at / m : -((m - 1 - at) / m);
}

/* The cell of the box that stands for the one `by` cells beyond `at` along axis d, and how many
 * frames away that is. */
static int32_t wrap(const partition *p, int d, int32_t at, int32_t by, int *frames)
{
  const int32_t m = p->in_frame[d], to = at + by;
  *frames = parts_below(to, m) - at / m;
  return to - parts_below(to, p->n[d]) * p->n[d];
}

/* Everyone within reach of cell `at`.  An image of it that is near a cell some frames away lies,
 * seen from that cell's own frame, as many frames the other way. */
static void find_targets(finder *f, const partition *p, int rank, const stencil *s,
                         const int32_t at[3])
{
  const int64_t begin = f->used;
  int away[3];
  for (int32_t i = -s->most[0]; i <= s->most[0]; i++) {
    const int64_t a = wrap(p, 0, at[0], i, &away[0]);
    for (int32_t j = -s->most[1]; j <= s->most[1]; j++) {
      const int64_t b = wrap(p, 1, at[1], j, &away[1]);
      for (int32_t k = -s->most[2]; k <= s->most[2]; k++) {
        const int64_t c = wrap(p, 2, at[2], k, &away[2]);
        const int32_t owner = p->owner[(a * p->n[1] + b) * p->n[2] + c];
        const int32_t shift = md_shift_pack(-away[0], -away[1], -away[2]);
        if ((owner == rank && shift == 0) || !in_reach(s, i, j, k)) continue;
        add(f, begin, (partition_target){owner, shift});
      }
    }
  }
}

/* The bounding box of a rank's cells; returns their number. */
static int64_t bound(const partition *p, int rank, partition_halo *halo)
{
  int32_t hi[3] = {0, 0, 0};
  int64_t owned = 0;
  memcpy(halo->lo, p->n, sizeof halo->lo);
  for (int64_t c = 0; c < p->cells; c++) {
    if (p->owner[c] != rank) continue;
    const int32_t at[3] = {(int32_t)(c / p->n[2] / p->n[1]), (int32_t)(c / p->n[2] % p->n[1]),
                           (int32_t)(c % p->n[2])};
    for (int d = 0; d < 3; d++) {
      halo->lo[d] = at[d] < halo->lo[d] ? at[d] : halo->lo[d];
      hi[d] = at[d] + 1 > hi[d] ? at[d] + 1 : hi[d];
    }
    owned++;
  }
  for (int d = 0; d < 3; d++) {
    halo->n[d] = owned > 0 ? hi[d] - halo->lo[d] : 0;
    if (owned == 0) halo->lo[d] = 0;
  }
  return owned;
}

/* Of a line of n bytes, `step` apart, that stand for cells from `begin` on of frames of m: keep
 * those 1 that have `most` more of them on either side in their frame. */
static void keep_inner(uint8_t *line, int64_t step, int32_t n, int32_t begin, int32_t m,
                       int32_t most)
{
  int32_t run = 0;
  for (int32_t k = 0; k < n; k++) {
    if ((begin + k) % m == 0) run = 0;
    run = line[k * step] ? run + 1 : 0;
    if (k >= most) line[(k - most) * step] = run > 2 * most;
  }
  for (int32_t k = n > most ? n - most : 0; k < n; k++)
    line[k * step] = 0;
}

/* For each cell of a rank's bounding box: is it the rank's, and all around it, in the same frame?
 * Nobody needs such cells, which most cells of a large box are.  NULL: out of memory. */
static uint8_t *find_inner(const partition *p, int rank, const stencil *s,
                           const partition_halo *halo)
{
  const int32_t *lo = halo->lo, *n = halo->n;
  const int64_t step[3] = {(int64_t)n[1] * n[2], n[2], 1};
  uint8_t *inner = malloc((size_t)(step[0] * n[0]) + 1);
  if (!inner) return NULL;
  for (int64_t i = 0; i < n[0]; i++)
    for (int64_t j = 0; j < n[1]; j++) {
      const int32_t *owner = p->owner + ((i + lo[0]) * p->n[1] + j + lo[1]) * p->n[2] + lo[2];
      for (int32_t k = 0; k < n[2]; k++)
        inner[i * step[0] + j * step[1] + k] = owner[k] == rank;
    }
  for (int d = 0; d < 3; d++) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (int32_t i = 0; i < n[a]; i++)
      for (int32_t j = 0; j < n[b]; j++)
        keep_inner(inner + i * step[a] + j * step[b], step[d], n[d], lo[d], p->in_frame[d],
                   s->most[d]);
  }
  return inner;
}

/* Targets by rank, then by shift. */
static md_status sort_targets(finder *f)
{
  partition_halo *halo = f->halo;
  const size_t n = (size_t)halo->n_targets;
  if (n == 0) return MD_OK;
  partition_target *sorted = malloc(n * sizeof *sorted);
  int32_t *place = malloc(n * sizeof *place);
  const bool good = sorted && place;
  if (good) {
    memcpy(sorted, halo->target, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t k = 0; k < n; k++) {
      const partition_target *at = bsearch(&halo->target[k], sorted, n, sizeof *sorted, compare);
      place[k] = (int32_t)(at - sorted);
    }
    for (int64_t e = 0; e < f->used; e++)
      halo->to[e] = place[halo->to[e]];
    memcpy(halo->target, sorted, n * sizeof *sorted);
  }
  free(sorted);
  free(place);
  MD_REQUIRE(good, MD_ENOMEM, "out of memory for the neighbours of a rank");
  return MD_OK;
}

md_status partition_halo_make(const partition *p, int rank, double reach, partition_halo *out)
{
  *out = (partition_halo){0};
  const stencil s = make_stencil(p, reach);
  finder f = {.halo = out};
  bound(p, rank, out);
  const int64_t cells = (int64_t)out->n[0] * out->n[1] * out->n[2];
  out->first = calloc((size_t)cells + 1, sizeof *out->first);
  uint8_t *inner = find_inner(p, rank, &s, out);
  f.failed = !out->first || !inner;
  int64_t c = 0;
  int32_t at[3];
  for (at[0] = out->lo[0]; at[0] < out->lo[0] + out->n[0] && !f.failed; at[0]++)
    for (at[1] = out->lo[1]; at[1] < out->lo[1] + out->n[1]; at[1]++)
      for (at[2] = out->lo[2]; at[2] < out->lo[2] + out->n[2]; at[2]++) {
        const int64_t number = ((int64_t)at[0] * p->n[1] + at[1]) * p->n[2] + at[2];
        if (p->owner[number] == rank && !inner[c]) find_targets(&f, p, rank, &s, at);
        out->first[++c] = f.used;
      }
  free(inner);
  const md_status status = f.failed
                               ? MD_FAIL(MD_ENOMEM, "out of memory for the neighbours of a rank")
                               : sort_targets(&f);
  if (status) partition_halo_free(out);
  return status;
}

void partition_halo_free(partition_halo *halo)
{
  free(halo->first);
  free(halo->to);
  free(halo->target);
  *halo = (partition_halo){0};
}

partition_load partition_weigh(const partition *p, int rank, const partition_halo *halo,
                               const int64_t *weight)
{
  partition_load load = {0, 0, 0};
  int64_t c = 0;
  for (int32_t i = 0; i < halo->n[0]; i++)
    for (int32_t j = 0; j < halo->n[1]; j++)
      for (int32_t k = 0; k < halo->n[2]; k++, c++) {
        const int64_t cell =
            (((int64_t)i + halo->lo[0]) * p->n[1] + j + halo->lo[1]) * p->n[2] + k + halo->lo[2];
        if (p->owner[cell] != rank) continue;
        load.atoms += weight[cell];
        load.images += weight[cell] * (halo->first[c + 1] - halo->first[c]);
      }
  for (int32_t t = 0; t < halo->n_targets; t++)
    load.neighbors += halo->target[t].rank != rank &&
                      (t == 0 || halo->target[t].rank != halo->target[t - 1].rank);
  return load;
}
