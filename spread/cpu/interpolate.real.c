/* spread/cpu/interpolate.real.c - interpolation on the CPU for particles sorted by tile.
 *
 * The transpose of tiled.real.c: a tile's points are copied into a block in the first cache
 * (block_cpu.h).  The strips of a run of particles are loaded once and stay in registers, and each
 * particle sums them with its weights.  Results go to places in no order, which are prefetched a
 * chunk ahead: else the processor waits for lines that it is about to write. */
#include "spread/cpu/block_cpu.h"

/* Sums of a chunk's particles whose lanes are not added yet: value, derivatives along each axis. */
enum { VALUE, OUTER_SLOPE, MIDDLE_SLOPE, FAST_SLOPE, SUMS };
typedef struct {
  simd_real lanes[CHUNK];
} lane_sums;

/* `held` strips of each slab, from strip m on, which all particles of a run read. */
MD_INLINE void read_strips(const int p, const int held, const weights *w, const weights *slope,
                           int32_t k, int32_t end, int m, const real *at, int32_t slab,
                           lane_sums *sums)
{
  simd_real strip[SPREAD_ORDER_MAX][REGISTERS];
  SPREAD_UNROLL
  for (int i = 0; i < p; i++)
    SPREAD_UNROLL
  for (int c = 0; c < held; c++)
    strip[i][c] = load_strip(p, at + i * slab, m + c);
  for (; k < end; k++)
    SPREAD_UNROLL
  for (int c = 0; c < held; c++) {
    const simd_real weight = strip_weight(p, w->row, w->slow[1], k, m + c);
    simd_real line = strip[0][c] * w->slow[0][0][k];
    SPREAD_UNROLL
    for (int i = 1; i < p; i++)
      line += strip[i][c] * w->slow[0][i][k];
    sums[VALUE].lanes[k] += weight * line;
    if (!slope) continue;
    simd_real change = strip[0][c] * slope->slow[0][0][k];
    SPREAD_UNROLL
    for (int i = 1; i < p; i++)
      change += strip[i][c] * slope->slow[0][i][k];
    sums[OUTER_SLOPE].lanes[k] += weight * change;
    sums[MIDDLE_SLOPE].lanes[k] += strip_weight(p, w->row, slope->slow[1], k, m + c) * line;
    sums[FAST_SLOPE].lanes[k] += strip_weight(p, slope->row, w->slow[1], k, m + c) * line;
  }
}

/* Where results of `vectors` vectors go; NULL: not wanted. */
typedef struct {
  real *value, *gradient;
  int32_t vectors;
  int64_t stride;
  real scale[3];
} target;

MD_INLINE void prefetch_results(const target *to, int64_t particle)
{
  if (to->value) __builtin_prefetch(to->value + particle, 1);
  if (!to->gradient) return;
  __builtin_prefetch(to->gradient + 3 * particle, 1);
  __builtin_prefetch(to->gradient + 3 * particle + 2, 1);
}

/* next: the particles of the chunk to come. */
MD_INLINE void read_chunk(const int p, const weights *w, const weights *slope, int32_t count,
                          const real *at, int32_t slab, lane_sums *sums, const target *to,
                          const int32_t *next)
{
  for (int s = 0; s < (slope ? SUMS : 1); s++)
    memset(sums[s].lanes, 0, (size_t)count * sizeof *sums[s].lanes);
  for (int32_t k = 0, end; k < count; k = end) {
    end = run_end(w, k, count);
    for (int32_t l = k; l < end; l++)
      prefetch_results(to, next[l]);
    const real *first = at + w->first[k];
    int m = 0;
    for (; m + HELD(p) <= STRIPS(p); m += HELD(p))
      read_strips(p, HELD(p), w, slope, k, end, m, first, slab, sums);
    if (STRIPS(p) % HELD(p))
      read_strips(p, STRIPS(p) % HELD(p), w, slope, k, end, m, first, slab, sums);
  }
}

/* The lanes of a vector, four or two at a time first. */
MD_INLINE real add_lanes(const simd_real *lanes)
{
  typedef real unit __attribute__((vector_size(16), may_alias));
  const unit *part = (const unit *)lanes;
  unit sum = part[0];
  SPREAD_UNROLL
  for (int u = 1; u < SIMD_BYTES / 16; u++)
    sum += part[u];
#if MD_PREC == 2
  return sum[0] + sum[1];
#else
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
#endif
}

MD_INLINE void write_chunk(const lane_sums *sums, const int32_t *order, int32_t count,
                           const target *to)
{
  for (int32_t k = 0; k < count; k++) {
    const int64_t particle = order[k];
    if (to->value) to->value[particle] = add_lanes(&sums[VALUE].lanes[k]);
    for (int a = 0; a < 3 && to->gradient; a++)
      to->gradient[3 * particle + a] = to->scale[a] * add_lanes(&sums[OUTER_SLOPE + a].lanes[k]);
  }
}

/* Results of vector g. */
static target target_of(const target *all, int32_t g)
{
  target one = *all;
  if (one.value) one.value += g * one.stride;
  if (one.gradient) one.gradient += 3 * g * one.stride;
  return one;
}

MD_INLINE void read_tile(const int p, const spread_part *part, const block *b, weights *w,
                         weights *slope, const target *to)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data, slab = b->points[1] * SPREAD_ROW;
  lane_sums sums[SUMS];
  for (int32_t i = b->begin; i < b->end; i += CHUNK) {
    const int32_t count = b->end - i < CHUNK ? b->end - i : CHUNK;
    chunk_weights(p, b, record + i, count, w, slope);
    for (int32_t g = 0; g < to->vectors; g++) {
      const target one = target_of(to, g);
      read_chunk(p, w, slope, count, b->at[g], slab, sums, &one, order + i + CHUNK);
      write_chunk(sums, order + i, count, &one);
    }
  }
}

static void read_block(const int order, const spread_part *part, const block *b, weights *w,
                       weights *slope, const target *to)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (to->gradient)                                                                              \
      read_tile(p, part, b, w, slope, to);                                                         \
    else                                                                                           \
      read_tile(p, part, b, w, NULL, to);                                                          \
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
    weights w, slope;
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
        read_block(grid->order, part, &b, &w, &slope, &to);
      }
    }
  }
  return MD_OK;
}
