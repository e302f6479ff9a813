/* minimd/stokes/suspension.c - see suspension.h. */
#include "minimd/stokes/suspension.h"
#include "comm/world.h"
#include "minimd/shell/memory.h"
#include "stokes/pairs/pairs.h"

#include <stdlib.h>
#include <string.h>

/* Spheres of a box that is copied, at least. */
enum { TILE = 5000, MOST_COPIES = 4 };

const suspension_matrix suspension_matrices[SUSPENSION_MATRICES] = {
    {"mat1", 300000, 0.1, 2.12}, {"mat2", 395000, 0.5, 2.06}, {"mat3", 395000, 0.5, 3.02}};

/* `copies` boxes along each edge. */
static md_status repeat(const stokes_packing *one, int copies, stokes_packing *out)
{
  MD_TRY(stokes_packing_create(one->n * copies * copies * copies, out));
  for (int d = 0; d < 3; d++)
    out->box[d] = copies * one->box[d];
  double *x = out->x;
  for (int c = 0; c < copies * copies * copies; c++) {
    const int shift[3] = {c / (copies * copies), c / copies % copies, c % copies};
    for (int64_t i = 0; i < one->n; i++, x += 4) {
      for (int d = 0; d < 3; d++)
        x[d] = one->x[4 * i + d] + shift[d] * one->box[d];
      x[3] = one->x[4 * i + 3];
    }
  }
  return MD_OK;
}

md_status suspension_make(md_ctx *ctx, const suspension_spec *spec, stokes_packing *out)
{
  int copies = 1;
  while (copies < MOST_COPIES && spec->n / ((copies + 1) * (copies + 1) * (copies + 1)) >= TILE)
    copies++;
  stokes_pack_spec pack =
      stokes_pack_defaults(spec->n / (copies * copies * copies), spec->occupancy);
  pack.seed = spec->seed;
  stokes_radii radii;
  MD_TRY(stokes_radii_read("ecoli", &radii));
  stokes_packing one = {0};
  md_status status = stokes_pack(ctx, &radii, &pack, &one, NULL);
  stokes_radii_free(&radii);
  if (status) return status;
  status = repeat(&one, copies, out);
  stokes_packing_free(&one);
  if (status) return status;
  status = stokes_packing_sort(ctx, out, &(ordering){.kind = ORDERING_HILBERT}, NULL);
  if (status) stokes_packing_free(out);
  return status;
}

static md_status load(suspension *s, const stokes_packing *packing)
{
  const size_t bytes = (size_t)packing->n * 4 * sizeof(double);
  MD_TRY(md_buffer_reserve(s->ctx, &s->x, bytes, 0));
  MD_TRY(md_write(s->ctx, s->x.data, packing->x, bytes));
  s->view =
      (stokes_view){packing->n, {packing->box[0], packing->box[1], packing->box[2]}, s->x.data};
  MD_TRY(stokes_pairs_create(s->ctx, 1 + s->law.gap_cut / 2, 0, &s->pairs));
  return stokes_pairs_update(s->pairs, &s->view, 0);
}

md_status suspension_open(md_ctx *ctx, const suspension_spec *spec, const stokes_resistance *law,
                          int vectors, suspension *out)
{
  /* Blocks to a row grow with the occupancy and the cutoff; two copies of 76 bytes, and lists.  A
   * rank has all spheres and lists, and its rows of the rest. */
  const double blocks = 1 + 3.9 * spec->occupancy * law->gap_cut * (4 + law->gap_cut);
  const double rows = (double)spec->n / world_count();
  const double bytes =
      (double)spec->n * (blocks * 8 + 600) + rows * (blocks * 2 * 76 + 48.0 * vectors);
  stokes_packing packing;
  md_ctx *host;
  *out = (suspension){.ctx = ctx, .law = *law};
  MD_TRY(memory_announce("the matrix", bytes, spec->quiet));
  MD_TRY(md_ctx_create(&(md_ctx_spec){MD_CPU, MD_DOUBLE, ctx->threads, false}, &host));
  md_status status = suspension_make(host, spec, &packing);
  md_ctx_destroy(host);
  if (status) return status;
  status = load(out, &packing);
  stokes_packing_free(&packing);
  return status;
}

void suspension_close(suspension *s)
{
  stokes_pairs_destroy(s->pairs);
  if (s->ctx) md_buffer_free(s->ctx, &s->x);
  *s = (suspension){0};
}

md_status suspension_assemble(const suspension *s, int vectors, stokes_matrix *matrix)
{
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  return stokes_matrix_assemble(matrix, &s->view, &list, &s->law, vectors);
}

/* Some spheres of a suspension: those of rows lo ... hi - 1 and all near them, by rising number. */
typedef struct {
  int64_t lo, hi, n, n_entries;
  int32_t *name;   /* [n] */
  int32_t *number; /* [all]: place among them, or a mark */
  double *x;       /* [n][4] */
  int64_t *start;  /* [n + 1]; rows that are not asked for are empty */
  int32_t *neighbor;
} excerpt;

/* Which spheres they are. */
static md_status find_spheres(const stokes_pair_view *list, excerpt *out)
{
  enum { ABSENT = -1, PRESENT = -2 };
  out->number = malloc((size_t)list->n * sizeof *out->number + 1);
  MD_REQUIRE(out->number, MD_ENOMEM, "out of memory for the spheres of a rank");
  for (int64_t i = 0; i < list->n; i++)
    out->number[i] = i >= out->lo && i < out->hi ? PRESENT : ABSENT;
  for (int64_t p = list->start[out->lo]; p < list->start[out->hi]; p++)
    out->number[list->neighbor[p]] = PRESENT;
  for (int64_t i = 0; i < list->n; i++)
    if (out->number[i] == PRESENT) out->number[i] = (int32_t)out->n++;
  return MD_OK;
}

static md_status copy_spheres(const suspension *s, const stokes_pair_view *list, excerpt *out)
{
  const size_t n = (size_t)out->n;
  out->n_entries = list->start[out->hi] - list->start[out->lo];
  out->name = malloc(n * sizeof *out->name + 1);
  out->x = malloc(n * 4 * sizeof *out->x + 1);
  out->start = malloc((n + 1) * sizeof *out->start);
  out->neighbor = malloc((size_t)out->n_entries * sizeof *out->neighbor + 1);
  MD_REQUIRE(out->name && out->x && out->start && out->neighbor, MD_ENOMEM,
             "out of memory for the spheres of a rank");
  int64_t at = 0;
  for (int64_t i = 0; i < list->n; i++) {
    const int32_t k = out->number[i];
    if (k < 0) continue;
    out->name[k] = (int32_t)i;
    memcpy(out->x + 4 * (int64_t)k, s->view.x + 4 * i, 4 * sizeof *out->x);
    out->start[k] = at;
    const bool asked = i >= out->lo && i < out->hi;
    for (int64_t p = list->start[i]; asked && p < list->start[i + 1]; p++)
      out->neighbor[at++] = out->number[list->neighbor[p]];
  }
  out->start[out->n] = at;
  return MD_OK;
}

md_status suspension_assemble_rows(const suspension *s, int64_t lo, int64_t hi,
                                   stokes_matrix *matrix, int32_t **name)
{
  const stokes_pair_view list = stokes_pairs_view(s->pairs);
  excerpt some = {.lo = lo, .hi = hi};
  md_status status = find_spheres(&list, &some);
  if (!status) status = copy_spheres(s, &list, &some);
  if (!status) {
    stokes_view spheres = s->view;
    spheres.n = some.n;
    spheres.x = some.x;
    const stokes_pair_view pairs = {
        .n = some.n, .n_entries = some.n_entries, .start = some.start, .neighbor = some.neighbor};
    status = stokes_matrix_assemble(matrix, &spheres, &pairs, &s->law, 1);
  }
  *name = status ? NULL : some.name;
  if (status) free(some.name);
  free(some.number);
  free(some.x);
  free(some.start);
  free(some.neighbor);
  return status;
}
