/* spread/spread_cpu_tiled.c - tiled spreading on the CPU.
 *
 * The particles of a tile add to a block in the first cache (block_cpu.h), which is then added to
 * the mesh.  Tiles of one colour touch different points (spread_tiles.c), so nothing is atomic and
 * the result does not depend on the number of threads.
 *
 * A particle costs p^2 row updates: 16 reals loaded, multiplied and added, and stored.  A tile
 * costs (8 + p - 1)^2 rows to clear and to add, whatever it holds. */
#include "spread/block_cpu.h"

MD_INLINE void add_particle(const int p, block *b, const weights *w, int32_t l)
{
  simd_real row[PARTS];
  real middle[SPREAD_ORDER_MAX];
  place_row(w, l, row);
  SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    middle[j] = w->slow[1][j][l];
  simd_real *at = first_row(b, w->word[l]);
  for (int i = 0; i < p; i++, at += b->points[1] * PARTS) {
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

MD_INLINE void add_tile(const int p, const spread_part *part, const real *q, block *b, weights *w)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  memset(b->at, 0, (size_t)(b->points[0] * b->points[1]) * SPREAD_ROW * sizeof(real));
  for (int32_t i = b->begin; i < b->end; i += SIMD_LANES) {
    const int32_t count = b->end - i < SIMD_LANES ? b->end - i : SIMD_LANES;
    simd_real f[3], fast[SPREAD_ORDER_MAX];
    real charge[SIMD_LANES];
    load_batch(record + i, count, f, w->word);
    for (int32_t l = 0; l < SIMD_LANES; l++)
      charge[l] = q[order[i + (l < count ? l : count - 1)]];
    bspline_weights(p, f[0], w->slow[0]);
    bspline_weights(p, f[1], w->slow[1]);
    bspline_weights(p, f[2], fast);
    SPREAD_UNROLL
    for (int j = 0; j < p; j++)
      fast[j] *= ((const loose *)charge)->v;
    store_rows(p, fast, w->row);
    for (int32_t l = 0; l < count; l++)
      add_particle(p, b, w, l);
  }
}

md_status KERNEL(spread_cpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const spread_tiles *tiles = &plan->tiles;
#pragma omp parallel num_threads(plan->ctx->threads)
  {
    block b;
    weights w;
    memset(w.row, 0, sizeof w.row);
    for (int32_t vector = 0; vector < job->vectors; vector++) {
      const real *q = (const real *)job->q + vector * job->q_stride;
      real *mesh = (real *)job->mesh + vector * plan->grid.points;
      for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = tiles->colour_start[c]; t < tiles->colour_start[c + 1]; t++) {
          open_block(plan, part, tiles->by_colour[t], &b);
          if (b.begin == b.end) continue;
          switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    add_tile(p, part, q, &b, &w);                                                                  \
    break;
            SPREAD_ORDERS(CASE)
#undef CASE
          }
          exchange(&plan->grid, &b, mesh, false);
        }
      }
    }
  }
  return MD_OK;
}
