/* spread/cpu/tiled.real.c - tiled spreading on the CPU.
 *
 * The particles of a tile add to a block in the first cache (block_cpu.h), which is then added to
 * the mesh.  Tiles of one colour touch different points (spread_tiles.c), so nothing is atomic and
 * the result does not depend on the number of threads.  Few particles add to the mesh itself.
 *
 * A particle costs p^2 multiply-adds of a window's width, and p^2 such pieces are loaded, added to
 * and stored once for a run of particles that share column and window.  A tile costs
 * (8 + p - 1)^2 rows to clear and to add, whatever it holds.  Charges come in no order: those of
 * the next chunk are prefetched, a few with each run, as many at once would wait for each other. */
#include "spread/cpu/block_cpu.h"

/* `held` strips of each slab, from strip m on: sums over a run in registers, then added. */
MD_INLINE void add_strips(const int p, const int held, const weights *w, const real (*outer)[CHUNK],
                          int32_t k, int32_t end, int m, real *at, int32_t slab)
{
  simd_real sum[SPREAD_ORDER_MAX][REGISTERS];
  SPREAD_UNROLL
  for (int i = 0; i < p; i++)
    SPREAD_UNROLL
  for (int c = 0; c < held; c++)
    sum[i][c] = (simd_real){0};
  for (; k < end; k++) {
    SPREAD_UNROLL
    for (int c = 0; c < held; c++) {
      const simd_real part = strip_weight(p, w->row, w->slow[1], k, m + c);
      SPREAD_UNROLL
      for (int i = 0; i < p; i++)
        sum[i][c] += part * outer[i][k];
    }
  }
  SPREAD_UNROLL
  for (int i = 0; i < p; i++)
    SPREAD_UNROLL
  for (int c = 0; c < held; c++)
    add_strip(p, at + i * slab, m + c, sum[i][c], SPREAD_ROW);
}

/* The same for a particle that is alone: straight to the points, which are loaded and stored once
 * whatever is held. */
MD_INLINE void add_alone(const int p, const weights *w, const real (*outer)[CHUNK], int32_t k,
                         real *at, int32_t slab, const int32_t row)
{
  enum { MOST = SPREAD_ORDER_MAX * SPREAD_ROW / SIMD_LANES };
  const int strips = STRIPS(p);
  simd_real part[MOST];
  SPREAD_UNROLL
  for (int m = 0; m < strips; m++)
    part[m] = strip_weight(p, w->row, w->slow[1], k, m);
  for (int i = 0; i < p; i++) {
    SPREAD_UNROLL
    for (int m = 0; m < strips; m++)
      add_strip(p, at + i * slab, m, part[m] * outer[i][k], row);
  }
}

/* A chunk to the points of one vector; outer: weights along the slowest axis times charges. */
MD_INLINE void add_chunk(const int p, const weights *w, const real (*outer)[CHUNK], int32_t count,
                         real *at, int32_t slab, const real *q, const int32_t *next)
{
  for (int32_t k = 0, end; k < count; k = end) {
    end = run_end(w, k, count);
    int m = 0;
    for (int32_t l = k; l < end; l++)
      __builtin_prefetch(q + next[l]);
    if (end == k + 1) {
      add_alone(p, w, outer, k, at + w->first[k], slab, SPREAD_ROW);
      continue;
    }
    for (; m + HELD(p) <= STRIPS(p); m += HELD(p))
      add_strips(p, HELD(p), w, outer, k, end, m, at + w->first[k], slab);
    if (STRIPS(p) % HELD(p))
      add_strips(p, STRIPS(p) % HELD(p), w, outer, k, end, m, at + w->first[k], slab);
  }
}

/* A chunk to the mesh itself; at: the tile's first point there. */
MD_INLINE void add_straight(const int p, const weights *w, const real (*outer)[CHUNK],
                            int32_t count, real *at, const block *b, const real *q,
                            const int32_t *next)
{
  const int32_t row = b->row, slab = b->slab;
  for (int32_t k = 0; k < count; k++) {
    __builtin_prefetch(q + next[k]);
    add_alone(p, w, outer, k, at + w->first[k], slab, row);
  }
}

/* Charges of a chunk times its weights along the slowest axis.  All are loaded before the first
 * vector of them is, which would wait for the stores of its numbers. */
MD_INLINE void scale_weights(const int p, const weights *w, const int32_t *order, int32_t count,
                             const real *q, real (*outer)[CHUNK])
{
  _Alignas(64) real charge[CHUNK];
  for (int32_t k = 0; k < count; k++)
    charge[k] = q[order[k]];
  for (int32_t k = count; k % SIMD_LANES; k++)
    charge[k] = 0;
  for (int32_t k = 0; k < count; k += SIMD_LANES)
    SPREAD_UNROLL
  for (int j = 0; j < p; j++)
    *(simd_real *)(outer[j] + k) =
        *(const simd_real *)(w->slow[0][j] + k) * *(const simd_real *)(charge + k);
}

/* vectors: charges q[vector * stride + particle]; at: where each begins. */
MD_INLINE void add_tile(const int p, const spread_part *part, const real *q, int64_t stride,
                        int32_t vectors, const block *b, real *const *at, weights *w)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  _Alignas(64) real outer[SPREAD_ORDER_MAX][CHUNK];
  for (int32_t i = b->begin; i < b->end; i += CHUNK) {
    const int32_t count = b->end - i < CHUNK ? b->end - i : CHUNK;
    chunk_weights(p, b, record + i, count, w, NULL);
    for (int32_t g = 0; g < vectors; g++) {
      scale_weights(p, w, order + i, count, q + g * stride, outer);
      if (b->straight)
        add_straight(p, w, outer, count, at[g], b, q + g * stride, order + i + CHUNK);
      else
        add_chunk(p, w, outer, count, at[g], b->slab, q + g * stride, order + i + CHUNK);
    }
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
  real *at[GROUP];
  for (int32_t g = 0; g < vectors; g++) {
    at[g] = b->straight ? mesh + g * plan->grid.points + first_point(&plan->grid, b) : b->at[g];
    if (!b->straight) memset(at[g], 0, (size_t)(b->points[0] * b->slab) * sizeof(real));
  }
  switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    add_tile(p, part, q, job->q_stride, vectors, b, at, w);                                        \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
  for (int32_t g = 0; g < vectors && !b->straight; g++)
    exchange(&plan->grid, b, g, mesh + g * plan->grid.points, false);
}

md_status KERNEL(spread_cpu_tiled)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  const spread_tiles *tiles = &plan->tiles;
#pragma omp parallel num_threads(plan->ctx->threads)
  {
    block b;
    weights w;
    for (int32_t vector = 0; vector < job->vectors; vector += GROUP)
      for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
        for (int32_t k = tiles->colour_start[c]; k < tiles->colour_start[c + 1]; k++)
          for (int32_t t = tiles->block_start[k]; t < tiles->block_start[k + 1]; t++)
            spread_tile(plan, part, job, vector, tiles->by_block[t], &b, &w);
      }
  }
  return MD_OK;
}
