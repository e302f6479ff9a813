/* spread/pencil.h - the geometry of GPU pencils, and the particle as it lies in one.
 *
 * A pencil is a column of mesh cells along the slowest axis: `middle` x `fast` cells of every
 * plane.  The p x p points of its particles fall into a patch of w columns along the fastest and H
 * rows along the middle axis, which the lanes of a warp own: lane l has column l % w and the R rows
 * from l / w R on.  So H = 32 R / w, fast = w - p + 1 and middle = H - p + 1 cells.
 *
 *   wide    w = 16, R = (p + 3) / 2    few points a cell to add to the mesh: for few particles
 *   narrow  w = 8, R = (p + 5) / 4     few idle points a particle: for many particles; p <= 7
 *
 * Pencils are numbered along the fastest axis first; the key of a particle is pencil K1 + plane. */
#ifndef PENCIL_H
#define PENCIL_H

#include "spread/spread_impl.h"

enum { PENCIL_WIDE = 16, PENCIL_NARROW = 8, PENCIL_NARROW_ORDER = 7 };

#define PENCIL_ROWS(p, w) ((w) == PENCIL_WIDE ? ((p) + 3) / 2 : ((p) + 5) / 4)
#define PENCIL_HEIGHT(p, w) (PENCIL_ROWS(p, w) * (32 / (w)))

/* Every order and width. */
#define PENCIL_LOW_(X, w) X(2, w) X(3, w) X(4, w) X(5, w) X(6, w) X(7, w)
#define PENCIL_SHAPES(X) PENCIL_LOW_(X, 8) PENCIL_LOW_(X, 16) X(8, 16) X(9, 16) X(10, 16)
/* A number for each. */
#define PENCIL_SHAPE(p, w) (16 * (p) + (w))

MD_INLINE void pencils_cut(const spread_grid *grid, int32_t width, spread_pencils *pencils)
{
  const int32_t reach = grid->order - 1;
  pencils->width = width;
  pencils->cells[0] = PENCIL_HEIGHT(grid->order, width) - reach;
  pencils->cells[1] = width - reach;
  for (int a = 0; a < 2; a++)
    pencils->n[a] = (grid->mesh[a + 1] + pencils->cells[a] - 1) / pencils->cells[a];
}

/* Number of keys. */
MD_INLINE int64_t pencils_keys(const spread_grid *grid, const spread_pencils *pencils)
{
  return (int64_t)pencils->n[0] * pencils->n[1] * grid->mesh[0];
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
