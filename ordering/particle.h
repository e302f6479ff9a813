/* ordering/particle.h - the key of a particle: the index of its cell along a curve. */
#ifndef ORDERING_PARTICLE_H
#define ORDERING_PARTICLE_H

#include "ordering/curve.h"

#include <math.h>

MD_BEGIN_C

/* Particles of a grid that was checked. */
typedef struct {
  ordering order;
  double lo[3], inv_edge[3]; /* [length], [1/length] */
  int32_t cells[3];
  bool single; /* x is float, else double */
  const void *x;
  int64_t n, stride;
} particle_grid;

/* False where a coordinate is NaN, infinite or beyond 2^50 boxes. */
MD_INLINE bool particle_key(const particle_grid *g, int64_t i, uint32_t *key)
{
  int32_t cell[3];
  for (int a = 0; a < 3; a++) {
    const int64_t at = i * g->stride + a;
    const double x = g->single ? (double)((const float *)g->x)[at] : ((const double *)g->x)[at];
    const double u = (x - g->lo[a]) * g->inv_edge[a];
    if (!(fabs(u) < 0x1p50)) return false; /* NaN too */
    const int32_t c = (int32_t)((u - floor(u)) * g->cells[a]);
    cell[a] = c < g->cells[a] ? c : g->cells[a] - 1;
  }
  *key = curve_index(&g->order, g->cells, cell);
  return true;
}

/* Keys of all particles, and the first one without a cell, or n: *first is on the backend. */
typedef md_status particle_keys_fn(md_ctx *ctx, const particle_grid *g, uint32_t *key,
                                   uint64_t *first);
particle_keys_fn particle_cpu_keys, particle_gpu_keys;

MD_END_C
#endif
