/* core/real.h - the number types of one compilation.
 *
 * Every numeric source file is compiled three times, with MD_PREC = 0, 1, 2:
 *
 *            state   coord   real    accum
 *   single   float   float   float   double
 *   mixed    double  int32   float   double
 *   double   double  double  double  double
 *
 * state  positions and velocities are integrated in it
 * coord  pair arithmetic reads positions in it.  In mixed precision a position is a fixed-point
 *        number of steps of md_atoms.coord_scale, so that the difference of two positions is exact
 *        and the float that follows keeps its 24 bits for the pair, not for the box
 * real   pair arithmetic
 * accum  totals
 *
 * PREC(name) adds the suffix: force_cpu.prec.c yields force_cpu_full_single(), ..._mixed(),
 * ..._double(). */
#ifndef REAL_H
#define REAL_H

#include "core/md.h"

#include <math.h>

#if MD_PREC == 0
typedef float state;
typedef float coord;
typedef float real;
#define PREC(name) name##_single
#elif MD_PREC == 1
typedef double state;
typedef int32_t coord;
typedef float real;
#define PREC(name) name##_mixed
#else
typedef double state;
typedef double coord;
typedef double real;
#define PREC(name) name##_double
#endif
typedef double accum;

/* a - b in units of coord_scale (mixed) or of length.  Fixed-point differences wrap, so that a
 * position may leave the range as long as the two are less than half of it apart. */
MD_INLINE real coord_difference(coord a, coord b)
{
#if MD_PREC == 1
  return (real)(int32_t)((uint32_t)a - (uint32_t)b);
#else
  return a - b;
#endif
}

/* Nearest fixed-point coordinate of a position; the identity where coord is a float type.  0 for
 * what 64 bits do not hold, as positions of a run that has blown up, which its next rebuild
 * refuses. */
MD_INLINE coord coord_from(state x, double inv_scale)
{
#if MD_PREC == 1
  const double far = x * inv_scale, steps = fabs(far) < 0x1p62 ? far : 0;
  return (coord)(uint32_t)(uint64_t)(int64_t)(steps < 0 ? steps - 0.5 : steps + 0.5);
#else
  (void)inv_scale;
  return x;
#endif
}

#endif
