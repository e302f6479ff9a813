/* spread/pencil.h - the geometry of GPU pencils, and the particle as it lies in one.
 *
 * A pencil is a column of mesh cells along the slowest axis: cells[0] x cells[1] of every plane,
 * along the middle and the fastest axis.  The p x p points of its particles fall into a patch of
 * H lines of 16 columns, H = 8 up to order 6 and 16 above: tiles of 16 x 8 points, which tensor
 * cores multiply into (pair_gpu.h).  So cells[0] = H - p + 1 and cells[1] = 16 - p + 1.
 *
 * Pencils are numbered along the fastest axis first; the key of a particle is pencil K1 + plane. */
#ifndef PENCIL_H
#define PENCIL_H

#include "spread/spread_impl.h"

enum { PENCIL_WIDTH = 16, PENCIL_TILES_MAX = 2 };
#define PENCIL_PATCHES(p) ((p) <= 6 ? 1 : PENCIL_TILES_MAX)
#define PENCIL_HEIGHT(p) (8 * PENCIL_PATCHES(p))

MD_INLINE void pencils_cut(const spread_grid *grid, spread_pencils *pencils)
{
  const int32_t reach = grid->order - 1;
  pencils->cells[0] = PENCIL_HEIGHT(grid->order) - reach;
  pencils->cells[1] = PENCIL_WIDTH - reach;
  for (int a = 0; a < 2; a++)
    pencils->n[a] = (grid->mesh[a + 1] + pencils->cells[a] - 1) / pencils->cells[a];
}

/* Vectors that tiled spreading sums at once: rings of planes of a patch, in words of 4 bytes a
 * lane, that leave registers for the rest.  As measured: in double precision four take longer than
 * two. */
#define RING_WORDS(p, real_size) ((p)*PENCIL_PATCHES(p) * (real_size))
#define SWEEP_VECTORS(p, real_size)                                                                \
  ((real_size) == 4 && RING_WORDS(p, real_size) <= 32 ? 4 : RING_WORDS(p, real_size) <= 64 ? 2 : 1)

/* Number of keys. */
MD_INLINE int64_t pencils_keys(const spread_grid *grid, const spread_pencils *pencils)
{
  return (int64_t)pencils->n[0] * pencils->n[1] * grid->mesh[0];
}

/* Blocks that fill columns of the mesh (spread_columns.single.cu), COLUMN_HEIGHT x COLUMN_WIDTH
 * points of each plane: so many along the middle and the fastest axis. */
enum { COLUMN_WIDTH = 8, COLUMN_HEIGHT = 16 };
MD_INLINE void columns_cut(const spread_grid *grid, int32_t n[2])
{
  n[0] = (grid->mesh[1] + COLUMN_HEIGHT - 1) / COLUMN_HEIGHT;
  n[1] = (grid->mesh[2] + COLUMN_WIDTH - 1) / COLUMN_WIDTH;
}

/* They take so many vectors together.  Whether they take some of a job's for a part of n particles:
 * where most planes of a column have some. */
#define FILL_VECTORS(p) ((p) > 8 ? 8 : 16)
MD_INLINE bool spread_many_by_columns(const spread_plan *plan, int64_t n, int32_t vectors)
{
  const md_ctx *ctx = plan->ctx;
  int32_t columns[2];
  columns_cut(&plan->grid, columns);
  return ctx->backend == MD_GPU && ctx->precision != MD_DOUBLE && !ctx->deterministic &&
         vectors >= FILL_VECTORS(plan->grid.order) &&
         n >= (int64_t)2 * columns[0] * columns[1] * plan->grid.mesh[0];
}

/* The same of interpolation by blocks (interpolate_stacks.single.cu), which load all of the mesh:
 * where there are so many particles for 100 mesh points, as measured at orders 4, 6, 8 and 10. */
MD_INLINE bool spread_many_by_stacks(const spread_plan *plan, int64_t n, int32_t vectors)
{
  const md_ctx *ctx = plan->ctx;
  const int32_t order = plan->grid.order, least = order == 6 ? 3 : order == 8 ? 16 : 30;
  return ctx->backend == MD_GPU && ctx->precision != MD_DOUBLE && vectors >= FILL_VECTORS(order) &&
         100 * n >= least * plan->grid.points;
}

/* Whether both take charges and values by particle, as they lie: in quads of 16 bytes. */
MD_INLINE bool spread_many_take_rows(const spread_plan *plan, int32_t vectors, const void *rows)
{
  return vectors % FILL_VECTORS(plan->grid.order) == 0 && (uintptr_t)rows % 16 == 0;
}

#ifdef MD_PREC
/* A particle in its pencil: fractions, cell offsets along the middle and the fastest axis, index in
 * the given order.  In single precision fractions are multiples of 2^-24 and all fits into 16
 * bytes. */
#if MD_PREC == 2
typedef struct __attribute__((aligned(16))) {
  double f[3];
  uint32_t at, index;
} pencil_particle;
#else
typedef struct __attribute__((aligned(16))) {
  uint32_t packed[3]; /* fraction << 8; the first holds the offsets below */
  uint32_t index;
} pencil_particle;
#endif

MD_INLINE pencil_particle pencil_pack(const double f[3], uint32_t middle, uint32_t fast,
                                      uint32_t index)
{
  pencil_particle particle;
  const uint32_t at = middle << 4 | fast;
#if MD_PREC == 2
  for (int a = 0; a < 3; a++)
    particle.f[a] = f[a];
  particle.at = at;
#else
  for (int a = 0; a < 3; a++) {
    const uint32_t steps = (uint32_t)(f[a] * 0x1p24 + 0.5);
    particle.packed[a] = (steps < 0xffffff ? steps : 0xffffff) << 8;
  }
  particle.packed[0] |= at;
#endif
  particle.index = index;
  return particle;
}

MD_INLINE void pencil_unpack(const pencil_particle *particle, real f[3], uint32_t *middle,
                             uint32_t *fast)
{
#if MD_PREC == 2
  for (int a = 0; a < 3; a++)
    f[a] = particle->f[a];
  const uint32_t at = particle->at;
#else
  for (int a = 0; a < 3; a++)
    f[a] = (real)(particle->packed[a] >> 8) * (real)0x1p-24;
  const uint32_t at = particle->packed[0] & 0xff;
#endif
  *middle = at >> 4;
  *fast = at & 15;
}
#endif

#endif
