/* cachemodel/stack/cells.c - the cells of a sweep in the order of their visit, and memory
 * checks. */
#include "cachemodel/stack/cachemodel_impl.h"
#include "core/sizes.h"

#include <inttypes.h>
#include <stdlib.h>

/* Two tables of 4 B a cell, and at worst an LRU stack that is being moved together. */
#define BYTES_PER_CELL 8.0
#define BYTES_PER_LINE 56.0

md_status cachemodel_room(double bytes, const char *what)
{
  const double available = (double)md_memory_free();
  MD_REQUIRE(bytes <= available, MD_ENOMEM, "%s needs %.3f GB of memory and %.3f GB are free", what,
             bytes / 1e9, available / 1e9);
  return MD_OK;
}

md_status cachemodel_sweep_check(const cachemodel_sweep *s, int copies)
{
  const int32_t *n = s->n;
  double cells = 1;
  MD_REQUIRE(s->line >= 1, MD_EINVAL, "line %" PRId64 ": expected at least one cell", s->line);
  for (int a = 0; a < 3; a++) {
    MD_REQUIRE(n[a] >= 1, MD_EINVAL, "size %d: expected at least one cell along each axis", n[a]);
    MD_REQUIRE(n[a] > 2 * s->stencil.g, MD_EINVAL,
               "size %d is too small for a stencil that reaches %d cells: expected at least %d",
               n[a], s->stencil.g, 2 * s->stencil.g + 1);
    cells *= n[a];
  }
  MD_TRY(ordering_whole_tiles(&s->order, n));
  const double bytes = cells * (BYTES_PER_CELL + BYTES_PER_LINE / (double)s->line);
  MD_REQUIRE(cells < 4294967296.0, MD_ECAPACITY,
             "a grid of %d x %d x %d has %.0f cells and needs %.3f GB of memory; an index holds "
             "fewer than 4294967296 cells",
             n[0], n[1], n[2], cells, bytes / 1e9);
  return cachemodel_room(bytes * copies, "a sweep over a grid of this size");
}

int64_t cachemodel_sweep_accesses(const cachemodel_sweep *s)
{
  int64_t centres = 1;
  for (int a = 0; a < 3; a++)
    centres *= s->n[a] - 2 * s->stencil.g;
  const int64_t bins = ordering_stencil_bins(&s->stencil);
  return md_size_times(centres, s->half ? bins / 2 + 1 : bins);
}

/* Keep the cells of the order that lie at least g inside; returns how many. */
static int64_t keep_centres(const cachemodel_sweep *s, int64_t n_cells, uint32_t *cell)
{
  const uint32_t n1 = (uint32_t)s->n[1], n2 = (uint32_t)s->n[2];
  const int32_t g = s->stencil.g;
  int64_t kept = 0;
  for (int64_t b = 0; b < n_cells; b++) {
    const uint32_t row = cell[b] / n2;
    const int32_t c[3] = {(int32_t)(row / n1), (int32_t)(row % n1), (int32_t)(cell[b] % n2)};
    bool inside = true;
    for (int a = 0; a < 3; a++)
      inside = inside && c[a] >= g && c[a] < s->n[a] - g;
    if (inside) cell[kept++] = cell[b];
  }
  return kept;
}

static md_status fill(const cachemodel_sweep *s, md_ctx *ctx, cachemodel_cells *out)
{
  const int32_t *n = s->n;
  out->n_cells = (int64_t)n[0] * n[1] * n[2];
  out->table = malloc((size_t)out->n_cells * sizeof *out->table);
  out->centre = malloc((size_t)out->n_cells * sizeof *out->centre);
  MD_REQUIRE(out->table && out->centre, MD_ENOMEM, "out of memory: index tables take %.3f GB",
             8e-9 * (double)out->n_cells);
  MD_TRY(ordering_index(ctx, &s->order, n, out->table));
  MD_TRY(ordering_cells(ctx, &s->order, n, out->centre));
  out->n_centre = keep_centres(s, out->n_cells, out->centre);
  int32_t(*d)[3] = NULL;
  MD_TRY(ordering_stencil_offsets(&s->stencil, s->half, &d, &out->n_offset));
  out->offset = malloc((size_t)out->n_offset * sizeof *out->offset);
  for (int64_t k = 0; out->offset && k < out->n_offset; k++)
    out->offset[k] = (uint32_t)(((int64_t)d[k][0] * n[1] + d[k][1]) * n[2] + d[k][2]);
  free(d);
  MD_REQUIRE(out->offset, MD_ENOMEM, "out of memory for a stencil");
  return MD_OK;
}

md_status cachemodel_cells_create(const cachemodel_sweep *sweep, cachemodel_cells *out)
{
  *out = (cachemodel_cells){0};
  MD_TRY(cachemodel_sweep_check(sweep, 1));
  md_ctx *ctx;
  MD_TRY(md_ctx_create(&(md_ctx_spec){.backend = MD_CPU, .threads = 1}, &ctx));
  const md_status status = fill(sweep, ctx, out);
  md_ctx_destroy(ctx);
  if (status) cachemodel_cells_destroy(out);
  return status;
}

void cachemodel_cells_destroy(cachemodel_cells *cells)
{
  free(cells->table);
  free(cells->centre);
  free(cells->offset);
  *cells = (cachemodel_cells){0};
}
