/* stokes/mobility/rpy_table.h - f and g of two radii by the gap between their surfaces, for host
 * and device.
 *
 * f and g (rpy_pair.h) take some hundred operations in double precision.  From contact to the
 * cutoff they are smooth, on the scale of 1 / xi, and a cubic in each of RPY_STEPS steps is as
 * exact as single precision: the cubic through the ends of a step and two points between. */
#ifndef RPY_TABLE_H
#define RPY_TABLE_H

#include "stokes/mobility/rpy_pair.h"

enum { RPY_STEPS = 128 };

/* In u = 0 .. 1 through a step, lowest power first. */
typedef struct {
  float f[4], g[4];
} rpy_cubic;

/* Through y at u = 0, 1/3, 2/3, 1 (Newton's differences). */
MD_INLINE void rpy_cubic_through(const double y[4], float out[4])
{
  const double first = y[1] - y[0], second = y[2] - 2 * y[1] + y[0];
  const double third = y[3] - 3 * y[2] + 3 * y[1] - y[0];
  out[0] = (float)y[0];
  out[1] = (float)(3 * (first - second / 2 + third / 3));
  out[2] = (float)(9 * (second - third) / 2);
  out[3] = (float)(27 * third / 6);
}

/* Gaps 0 .. cut of radii a and b. */
MD_INLINE void rpy_table_fill(double a, double b, double xi, double viscosity, double cut,
                              rpy_cubic table[RPY_STEPS])
{
  for (int k = 0; k < RPY_STEPS; k++) {
    double f[4], g[4];
    for (int p = 0; p < 4; p++) {
      const double gap = cut * (k + p / 3.0) / RPY_STEPS;
      const rpy_block pair = rpy_near_pair(a + b + gap, a, b, xi, viscosity);
      f[p] = pair.f, g[p] = pair.g;
    }
    rpy_cubic_through(f, table[k].f);
    rpy_cubic_through(g, table[k].g);
  }
}

typedef struct {
  float f, g;
} rpy_rounded;

/* inv_step: RPY_STEPS / cut; gaps beyond it count as the last step's. */
MD_INLINE rpy_rounded rpy_table_at(const rpy_cubic *table, float gap, float inv_step)
{
  const float at = gap * inv_step;
  const int k = at < RPY_STEPS - 1 ? (int)at : RPY_STEPS - 1;
  const float u = at - (float)k;
  const rpy_cubic *c = &table[k];
  return (rpy_rounded){c->f[0] + u * (c->f[1] + u * (c->f[2] + u * c->f[3])),
                       c->g[0] + u * (c->g[1] + u * (c->g[2] + u * c->g[3]))};
}

/* Number of the table of radii p and q, of all pairs. */
MD_INLINE int rpy_table_of(int p, int q)
{
  const int low = p < q ? p : q, high = p < q ? q : p;
  return high * (high + 1) / 2 + low;
}

#endif
