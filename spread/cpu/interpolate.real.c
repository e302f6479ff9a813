/* spread/cpu/interpolate.real.c - interpolation on the CPU for particles sorted by tile.
 *
 * The transpose of tiled.real.c: a tile's points are copied into a block in the first cache
 * (block_cpu.h), from where each particle sums p^2 pieces of rows, a window wide, with its weights.
 * Few particles read the mesh itself.  Results go to places in no order, which are prefetched a
 * chunk ahead: else the processor waits for lines that it is about to write. */
#include "spread/cpu/block_cpu.h"

/* Sums over the points of one particle, lanes apart: value, derivatives along each axis. */
typedef struct {
  piece value, slope[3];
} lane_sums;

/* One row of the window, from column v on, summed over both slow axes: with weights only, with the
 * slope along the outer axis, with that along the middle axis. */
typedef struct {
  piece value, outer, middle;
} column_sums;

MD_INLINE column_sums sum_column(const int p, const weights *w, const weights *slope, int32_t k,
                                 const real *at, int32_t slab, const int32_t row)
{
  column_sums sum = {{0}, {0}, {0}};
  for (int i = 0; i < p; i++, at += slab) {
    piece line = *(const piece *)at * w->slow[1][0][k];
    SPREAD_UNROLL
    for (int j = 1; j < p; j++)
      line += *(const piece *)(at + j * row) * w->slow[1][j][k];
    sum.value += line * w->slow[0][i][k];
    if (!slope) continue;
    piece change = *(const piece *)at * slope->slow[1][0][k];
    SPREAD_UNROLL
    for (int j = 1; j < p; j++)
      change += *(const piece *)(at + j * row) * slope->slow[1][j][k];
    sum.outer += line * slope->slow[0][i][k];
    sum.middle += change * w->slow[0][i][k];
  }
  return sum;
}

/* Particle k of a chunk, whose window begins at `at`. */
MD_INLINE lane_sums read_particle(const int p, const weights *w, const weights *slope, int32_t k,
                                  const real *at, int32_t slab, const int32_t row)
{
  lane_sums sums = {{0}, {{0}, {0}, {0}}};
  const size_t place = (size_t)k * WINDOW_WIDTH(p);
  for (int v = 0; v < WINDOW_WIDTH(p); v += PIECE) {
    const column_sums sum = sum_column(p, w, slope, k, at + v, slab, row);
    const piece fast = *(const piece *)(w->row + place + v);
    sums.value += fast * sum.value;
    if (!slope) continue;
    sums.slope[0] += fast * sum.outer;
    sums.slope[1] += fast * sum.middle;
    sums.slope[2] += *(const piece *)(slope->row + place + v) * sum.value;
  }
  return sums;
}

/* The sum of the lanes, those of 16 bytes last. */
MD_INLINE real add_lanes(const piece *lanes)
{
  typedef real unit __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
  const unit *from = (const unit *)lanes;
  unit sum = from[0];
  SPREAD_UNROLL
  for (size_t u = 1; u < sizeof *lanes / sizeof *from; u++)
    sum += from[u];
#if MD_PREC == 2
  return sum[0] + sum[1];
#else
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
#endif
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

/* order: the particles of a chunk, behind which come those of the next. */
MD_INLINE void read_chunk(const int p, const weights *w, const weights *slope, int32_t count,
                          const real *at, int32_t slab, const int32_t row, const int32_t *order,
                          const target *to)
{
  for (int32_t k = 0; k < count; k++) {
    const int64_t particle = order[k];
    prefetch_results(to, order[k + CHUNK]);
    const lane_sums sums = read_particle(p, w, slope, k, at + w->first[k], slab, row);
    if (to->value) to->value[particle] = add_lanes(&sums.value);
    for (int a = 0; a < 3 && slope; a++)
      to->gradient[3 * particle + a] = to->scale[a] * add_lanes(&sums.slope[a]);
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

/* slope: room for derivatives, or NULL. */
MD_INLINE void read_tile(const int p, const spread_part *part, const block *b, weights *w,
                         weights *slope, const real *const *at, const target *to)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  for (int32_t i = b->begin; i < b->end; i += CHUNK) {
    const int32_t count = b->end - i < CHUNK ? b->end - i : CHUNK;
    chunk_weights(p, b, record + i, count, w, slope);
    for (int32_t g = 0; g < to->vectors; g++) {
      const target one = target_of(to, g);
      if (b->straight)
        read_chunk(p, w, slope, count, at[g], b->slab, b->row, order + i, &one);
      else
        read_chunk(p, w, slope, count, at[g], b->slab, SPREAD_ROW, order + i, &one);
    }
  }
}

static void read_block(const int order, const spread_part *part, const block *b, weights *w,
                       weights *slope, const real *const *at, const target *to)
{
  switch (order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    if (to->gradient)                                                                              \
      read_tile(p, part, b, w, slope, at, to);                                                     \
    else                                                                                           \
      read_tile(p, part, b, w, NULL, at, to);                                                      \
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
        const real *at[GROUP];
        for (int32_t g = 0; g < to.vectors; g++) {
          real *mesh = (real *)job->mesh + (v + g) * grid->points;
          at[g] = b.straight ? mesh + first_point(grid, &b) : b.at[g];
          if (!b.straight) exchange(grid, &b, g, mesh, true);
        }
        read_block(grid->order, part, &b, &w, &slope, at, &to);
      }
    }
  }
  return MD_OK;
}
