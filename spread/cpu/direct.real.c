/* spread/cpu/direct.real.c - particles that add to the mesh themselves: particle and coloured,
 * and interpolation in the given order.
 *
 * particle: threads share the particles and the mesh, so several threads add atomically; a
 * deterministic context uses one thread.  coloured ([Guo] section 2, multicolouring): particles lie
 * sorted by tile; tiles of one colour share no mesh point, so a thread takes a tile and adds
 * plainly.  Bytes a particle: record 16 or 32, charge, and p^3 reals of the mesh read and written,
 * from whichever cache the order of the particles leaves them in. */
#include "spread/bspline.h"
#include "spread/spread_impl.h"

MD_INLINE void cell_of_point(const spread_grid *grid, uint32_t point, int32_t cell[3])
{
  const uint32_t n1 = (uint32_t)grid->mesh[1], n2 = (uint32_t)grid->mesh[2];
  cell[2] = (int32_t)(point % n2);
  cell[1] = (int32_t)(point / n2 % n1);
  cell[0] = (int32_t)(point / n2 / n1);
}

/* line[k] += c * w[k] from point `at` on, wrapped. */
MD_INLINE void add_line(const int p, real *line, int32_t at, int32_t n, real c, const real *w,
                        const bool atomic)
{
  for (int k = 0; k < p; k++) {
    real *to = line + spread_wrap(at + k, n);
    const real part = c * w[k];
    if (atomic) {
#pragma omp atomic
      *to += part;
    } else {
      *to += part;
    }
  }
}

MD_INLINE void add_particle(const int p, const spread_grid *grid, const int32_t cell[3],
                            const real f[3], real q, real *mesh, const bool atomic)
{
  const int32_t *n = grid->mesh;
  real w[3][SPREAD_ORDER_MAX];
  for (int a = 0; a < 3; a++)
    bspline_weights(p, f[a], w[a]);
  const bool inside = cell[2] + p <= n[2];
  for (int i = 0; i < p; i++)
    for (int j = 0; j < p; j++) {
      const int64_t slab = spread_wrap(cell[0] + i, n[0]);
      real *line = mesh + (slab * n[1] + spread_wrap(cell[1] + j, n[1])) * n[2];
      const real c = q * w[0][i] * w[1][j];
      if (atomic || !inside)
        add_line(p, line, cell[2], n[2], c, w[2], atomic);
      else
        for (int k = 0; k < p; k++)
          line[cell[2] + k] += c * w[2][k];
    }
}

MD_INLINE void add_given(const int p, const spread_plan *plan, const spread_part *part,
                         const real *q, real *mesh)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int threads = plan->ctx->deterministic ? 1 : plan->ctx->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int32_t i = 0; i < part->n; i++) {
    int32_t cell[3];
    cell_of_point(&plan->grid, record[i].word, cell);
    if (threads == 1)
      add_particle(p, &plan->grid, cell, record[i].f, q[i], mesh, false);
    else
      add_particle(p, &plan->grid, cell, record[i].f, q[i], mesh, true);
  }
}

md_status KERNEL(spread_cpu_particle)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *q = (const real *)job->q + v * job->q_stride;
    real *mesh = (real *)job->mesh + v * plan->grid.points;
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    add_given(p, plan, part, q, mesh);                                                             \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
  }
  return MD_OK;
}

MD_INLINE void add_tile(const int p, const spread_plan *plan, const spread_part *part, int32_t tile,
                        const real *q, real *mesh)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const int32_t *order = part->buffer[SPREAD_ORDER].data;
  const int32_t *start = part->buffer[SPREAD_START].data;
  int32_t origin[3];
  spread_tile_origin(&plan->tiles, tile, origin);
  for (int32_t i = start[tile]; i < start[tile + 1]; i++) {
    int32_t cell[3];
    for (int a = 0; a < 3; a++)
      cell[a] = origin[a] + (int32_t)(record[i].word >> (16 - 8 * a) & 0xff);
    add_particle(p, &plan->grid, cell, record[i].f, q[order[i]], mesh, false);
  }
}

MD_INLINE void add_colours(const int p, const spread_plan *plan, const spread_part *part,
                           const real *q, real *mesh)
{
  const spread_tiles *tiles = &plan->tiles;
#pragma omp parallel num_threads(plan->ctx->threads)
  for (int32_t c = 0; c < tiles->n_colours; c++) {
#pragma omp for schedule(dynamic, 1)
    for (int32_t k = tiles->colour_start[c]; k < tiles->colour_start[c + 1]; k++)
      for (int32_t t = tiles->block_start[k]; t < tiles->block_start[k + 1]; t++)
        add_tile(p, plan, part, tiles->by_block[t], q, mesh);
  }
}

md_status KERNEL(spread_cpu_coloured)(spread_plan *plan, spread_part *part, const spread_job *job)
{
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *q = (const real *)job->q + v * job->q_stride;
    real *mesh = (real *)job->mesh + v * plan->grid.points;
    switch (plan->grid.order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    add_colours(p, plan, part, q, mesh);                                                           \
    break;
      SPREAD_ORDERS(CASE)
#undef CASE
    }
  }
  return MD_OK;
}

/* Value and gradient in cells at one particle: out[0], out[1..3]. */
MD_INLINE void read_particle(const int p, const spread_grid *grid, const spread_particle *particle,
                             const real *mesh, real out[4])
{
  const int32_t *n = grid->mesh;
  int32_t cell[3];
  real w[3][SPREAD_ORDER_MAX], d[3][SPREAD_ORDER_MAX];
  cell_of_point(grid, particle->word, cell);
  for (int a = 0; a < 3; a++)
    bspline_derivatives(p, particle->f[a], w[a], d[a]);
  for (int m = 0; m < 4; m++)
    out[m] = 0;
  for (int i = 0; i < p; i++)
    for (int j = 0; j < p; j++) {
      const int64_t slab = spread_wrap(cell[0] + i, n[0]);
      const real *line = mesh + (slab * n[1] + spread_wrap(cell[1] + j, n[1])) * n[2];
      real sum = 0, slope = 0;
      for (int k = 0; k < p; k++) {
        const real m = line[spread_wrap(cell[2] + k, n[2])];
        sum += w[2][k] * m;
        slope += d[2][k] * m;
      }
      out[0] += w[0][i] * w[1][j] * sum;
      out[1] += d[0][i] * w[1][j] * sum;
      out[2] += w[0][i] * d[1][j] * sum;
      out[3] += w[0][i] * w[1][j] * slope;
    }
}

md_status KERNEL(spread_cpu_direct_interpolate)(spread_plan *plan, spread_part *part,
                                                const spread_job *job)
{
  const spread_particle *record = part->buffer[SPREAD_RECORD].data;
  const spread_grid *grid = &plan->grid;
  for (int32_t v = 0; v < job->vectors; v++) {
    const real *mesh = (const real *)job->mesh + v * grid->points;
    real *value = job->value ? (real *)job->value + v * job->q_stride : NULL;
    real *gradient = job->gradient ? (real *)job->gradient + 3 * v * job->q_stride : NULL;
#pragma omp parallel for num_threads(plan->ctx->threads) schedule(static)
    for (int32_t i = 0; i < part->n; i++) {
      real out[4] = {0};
      switch (grid->order) {
#define CASE(p)                                                                                    \
  case p:                                                                                          \
    read_particle(p, grid, &record[i], mesh, out);                                                 \
    break;
        SPREAD_ORDERS(CASE)
#undef CASE
      }
      if (value) value[i] = out[0];
      for (int a = 0; a < 3 && gradient; a++)
        gradient[3 * (int64_t)i + a] = out[1 + a] * (real)spread_slope_scale(grid, a);
    }
  }
  return MD_OK;
}
