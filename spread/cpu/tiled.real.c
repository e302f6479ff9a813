/* spread/cpu/tiled.real.c - tiled spreading on the CPU.
 *
 * The particles of a tile add to a block in the first cache (block_cpu.h), which is then added to
 * the mesh.  Tiles of one colour touch different points (spread_tiles.c), so nothing is atomic and
 * the result does not depend on the number of threads.
 *
 * A particle costs p^2 row updates: 16 reals loaded, multiplied and added, and stored.  A tile
 * costs (8 + p - 1)^2 rows to clear and to add, whatever it holds. */
#include "spread/cpu/block_cpu.h"

/* Lane l to the points of one vector, whose row has been scaled by the charge. */
MD_INLINE void add_rows(const int p, const weights *w, int32_t l, const real *middle,
                        const simd_real *row, simd_real *at, int32_t slab)
{
  for (int i = 0; i < p; i++, at += slab * PARTS) {
    const real outer = w->slow[0][i][l];
    SPREAD_UNROLL
    for (int v = 0; v < PARTS; v++) {
      const simd_real part = row[v] * outer;
      SPREAD_UNROLL
      for (int j = 0; j < p; j++)
        at[j * PARTS + v] += part * middle[j];
    }
  }
}

MD_INLINE void add_particle(const int p, block *b, const weights *w, int32_t l, int32_t vectors,
                            const real (*charge)[SIMD_LANES])
{
  simd_real row[PARTS], scaled[PARTS];
  real middle[SPREAD_ORDER_MAX];
  const int32_t first = first_row(b, w->word[l]);
  place_row(w, l, row);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    middle[j] = w->slow[1][j][l];
  for (int32_t g = 0; g < vectors; g++) {
    SPREAD_UNROLL
    for (int v = 0; v < PARTS; v++)
      scaled[v] = row[v] * charge[g][l];
    add_rows(p, w, l, middle, scaled, (simd_real *)b->at[g] + first * PARTS, b->points[1]);
  }
}

/* vectors: charges q[vector * stride + particle]. */
MD_INLINE void add_tile(const int p, const spread_part *part, const real *q, int64_t stride,
                        int32_t vectors, block *b, weights *w)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  const size_t rows = (size_t)(b->points[0] * b->points[1]);
  for (int32_t g = 0; g < vectors; g++)
    memset(b->at[g], 0, rows * SPREAD_ROW * sizeof(real));
  for (int32_t i = b->begin; i < b->end; i += SIMD_LANES) {
    const int32_t count = b->end - i < SIMD_LANES ? b->end - i : SIMD_LANES;
    simd_real f[3], fast[SPREAD_ORDER_MAX];
    real charge[GROUP][SIMD_LANES];
    load_batch(record + i, count, f, w->word);
    for (int32_t g = 0; g < vectors; g++)
      for (int32_t l = 0; l < count; l++)
        charge[g][l] = q[g * stride + order[i + l]];
    bspline_weights(p, f[0], w->slow[0]);
    bspline_weights(p, f[1], w->slow[1]);
    bspline_weights(p, f[2], fast);
    store_rows(p, fast, w->row);
    for (int32_t l = 0; l < count; l++)
      add_particle(p, b, w, l, vectors, charge);
  }
}

static void spread_tile(const spread_plan *plan, const spread_part *part, const spread_job *job,
                        int32_t vector, int32_t tile, block *b, weights *w)
{
  const int32_t left = job->vectors - vector, vectors = left < GROUP ? left : GROUP;
  const real *q = (const real *)job->q + vector * job->q_stride;
  real *mesh = (real *)job->mesh + vector * plan->grid.points;
  open_block(plan, part, tile, b);
  if (b->begin == b->end) return;
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    add_tile(p, part, q, job->q_stride, vectors, b, w);                                            \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  for (int32_t g = 0; g < vectors; g++)
    exchange(&plan->grid, b, g, mesh + g * plan->grid.points, false);
}

md_status KERNEL(spread_cpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const spread_tiles *tiles = &plan->tiles;
#pragma omp parallel num_threads(plan->ctx->threads)
  {
    block b;
    weights w;
    memset(w.row, 0, sizeof w.row);
    for (int32_t vector = 0; vector < job->vectors; vector += GROUP)
      for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = tiles->colour_start[c]; t < tiles->colour_start[c + 1]; t++)
          spread_tile(plan, part, job, vector, tiles->by_colour[t], &b, &w);
      }
  }
  return MD_OK;
}
