/* spread/cpu/interpolate.real.c - interpolation on the CPU for particles sorted by tile.
 *
 * The transpose of tiled.real.c: a tile's points are copied into a block in the first cache
 * (block_cpu.h), from where each particle sums p^2 rows with its weights. */
#include "spread/cpu/block_cpu.h"

/* The derivatives of weights. */
typedef struct {
  simd_real slow[2][SPREAD_ORDER_MAX];
  real row[SIMD_LANES][SPREAD_ORDER_MAX];
} slopes;

/* Sums over the slow axes, a row each: with weights only, with the slope along the outer axis, with
 * that along the middle axis. */
typedef struct {
  simd_real row[3][PARTS];
} row_sums;

MD_INLINE row_sums sum_rows(const int p, const block *b, int32_t vector, const weights *w,
                            const slopes *d, int32_t l, const bool sloped)
{
  row_sums sums = {0};
  const simd_real *at = (const simd_real *)b->at[vector] + first_row(b, w->word[l]) * PARTS;
  for (int i = 0; i < p; i++, at += b->points[1] * PARTS) {
    const real outer = w->slow[0][i][l], outer_slope = sloped ? d->slow[0][i][l] : 0;
    SPREAD_UNROLL
    for (int v = 0; v < PARTS; v++) {
      simd_real line = at[v] * w->slow[1][0][l], slope = line;
      SPREAD_UNROLL
      for (int j = 1; j < p; j++)
        line += at[j * PARTS + v] * w->slow[1][j][l];
      sums.row[0][v] += line * outer;
      if (!sloped) continue;
      slope = at[v] * d->slow[1][0][l];
      SPREAD_UNROLL
      for (int j = 1; j < p; j++)
        slope += at[j * PARTS + v] * d->slow[1][j][l];
      sums.row[1][v] += line * outer_slope;
      sums.row[2][v] += slope * outer;
    }
  }
  return sums;
}

/* The dot product of a row with p weights from column `at` on. */
MD_INLINE real dot_row(const int p, const simd_real *row, uint32_t at, const real *w)
{
  real line[SPREAD_ROW], sum = 0;
  for (int v = 0; v < PARTS; v++)
    ((loose *)(line + v * SIMD_LANES))->v = row[v];
  SPREAD_UNROLL
  for (int k = 0; k < p; k++)
    sum += line[at + (uint32_t)k] * w[k];
  return sum;
}

MD_INLINE void batch_weights(const int p, const spread_particle *record, int32_t count, weights *w,
                             slopes *d, const bool sloped)
{
  simd_real f[3], fast[SPREAD_ORDER_MAX], fast_slope[SPREAD_ORDER_MAX];
  load_batch(record, count, f, w->word);
  for (int a = 0; a < 2; a++)
    if (sloped)
      bspline_derivatives(p, f[a], w->slow[a], d->slow[a]);
    else
      bspline_weights(p, f[a], w->slow[a]);
  if (sloped)
    bspline_derivatives(p, f[2], fast, fast_slope);
  else
    bspline_weights(p, f[2], fast);
  store_rows(p, fast, w->row);
  for (int32_t l = 0; l < SIMD_LANES && sloped; l++)
    for (int j = 0; j < p; j++)
      d->row[l][j] = fast_slope[j][l];
}

/* Where results of `vectors` vectors go; NULL: not wanted. */
typedef struct {
  real *value, *gradient;
  int32_t vectors;
  int64_t stride;
  real scale[3];
} target;

MD_INLINE void read_particle(const int p, const block *b, const weights *w, const slopes *d,
                             int32_t l, int64_t particle, const target *to, const bool sloped)
{
  const uint32_t at = w->word[l] & 0xff;
  const real *fast = w->row[l] + SPREAD_ROW;
  for (int32_t g = 0; g < to->vectors; g++, particle += to->stride) {
    const row_sums sums = sum_rows(p, b, g, w, d, l, sloped);
    if (to->value) to->value[particle] = dot_row(p, sums.row[0], at, fast);
    if (!sloped) continue;
    real *gradient = to->gradient + 3 * particle;
    gradient[0] = to->scale[0] * dot_row(p, sums.row[1], at, fast);
    gradient[1] = to->scale[1] * dot_row(p, sums.row[2], at, fast);
    gradient[2] = to->scale[2] * dot_row(p, sums.row[0], at, d->row[l]);
  }
}

MD_INLINE void read_tile(const int p, const spread_part *part, const block *b, weights *w,
                         const target *to, const bool sloped)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  slopes d;
  for (int32_t i = b->begin; i < b->end; i += SIMD_LANES) {
    const int32_t count = b->end - i < SIMD_LANES ? b->end - i : SIMD_LANES;
    batch_weights(p, record + i, count, w, &d, sloped);
    for (int32_t l = 0; l < count; l++)
      read_particle(p, b, w, &d, l, order[i + l], to, sloped);
  }
}

static void read_block(const int order, const spread_part *part, const block *b, weights *w,
                       const target *to)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (to->gradient)                                                                              \
      read_tile(p, part, b, w, to, true);                                                          \
    else                                                                                           \
      read_tile(p, part, b, w, to, false);                                                         \
    break;
    SPREAD_ORDERS(CASE)
#undef CASE
  }
}

md_status KERNEL(spread_cpu_tiled_interpolate)(spread_plan *plan, spread_part *part,
                                               const spread_job *job)
{
  const spread_grid *grid = &plan->grid;
  const int32_t *n = plan->tiles.n, n_tiles = n[0] * n[1] * n[2];
#pragma omp parallel num_threads(plan->ctx->threads)
  {
    block b;
    weights w;
    memset(w.row, 0, sizeof w.row);
    for (int32_t v = 0; v < job->vectors; v += GROUP) {
      target to = {job->value ? (real *)job->value + v * job->q_stride : NULL,
                   job->gradient ? (real *)job->gradient + 3 * v * job->q_stride : NULL,
                   job->vectors - v < GROUP ? job->vectors - v : GROUP,
                   job->q_stride,
                   {0}};
      for (int a = 0; a < 3; a++)
        to.scale[a] = (real)spread_slope_scale(grid, a);
#pragma omp for schedule(dynamic, 1)
      for (int32_t t = 0; t < n_tiles; t++) {
        open_block(plan, part, t, &b);
        if (b.begin == b.end) continue;
        for (int32_t g = 0; g < to.vectors; g++)
          exchange(grid, &b, g, (real *)job->mesh + (v + g) * grid->points, true);
        read_block(grid->order, part, &b, &w, &to);
      }
    }
  }
  return MD_OK;
}
