/* force/eam/eam_pack.c - functions of embedded atoms in words of 8 bytes (eam_pair.h), for the GPU
 * in single and mixed precision.
 *
 * Word m is a parabola around r^2 = m steps: its value in a float, its slope and curvature as whole
 * numbers of 20 and 12 bits.  What such words differ from the file's functions by is measured at
 * many points of each; where it is not below EAM_GOAL of the largest value, as with a rough file,
 * there are none, and kernels take the cubics of eam_words.c. */
#include "force/force_impl.h"

#include <math.h>
#include <string.h>

enum {
  LINE_BITS = 20,
  CURVE_BITS = 12,
  POINTS = 16, /* of a word, where the difference is measured */
  FIRST = 164  /* the first word, from 0.4 of the cutoff on; even, for copies of 16 bytes */
};
static const double EAM_GOAL = 0x1p-21; /* eight roundings of a float */

typedef struct {
  double value, line, curve;
} parabola;

typedef struct {
  const eam_potential *eam;
  eam_function which;
  double step; /* of r^2 */
} packed_function;

/* Point k of a word, from -1/2 to 1/2 but not beyond the cutoff. */
static double point(int32_t m, int k)
{
  const double top = m == EAM_PACKED ? 0 : 0.5;
  return -0.5 + (top + 0.5) * k / (POINTS - 1);
}

static double at_point(const packed_function *f, int32_t m, double p)
{
  return eam_of_square(f->eam, f->which, (m + p) * f->step);
}

/* Through three points where a parabola's error is the same at all ends. */
static parabola fit(const packed_function *f, int32_t m)
{
  const double top = m == EAM_PACKED ? 0 : 0.5, middle = (top - 0.5) / 2, half = (top + 0.5) / 2;
  const double d = half * 0.86602540378443865;
  const double low = at_point(f, m, middle - d), mid = at_point(f, m, middle),
               high = at_point(f, m, middle + d);
  const double curve = (high - 2 * mid + low) / (2 * d * d), line = (high - low) / (2 * d);
  return (parabola){mid - middle * (line - middle * curve), line - 2 * middle * curve, curve};
}

/* The word whose slope and curvature are rounded; returns what it is off by. */
static double round_word(const packed_function *f, int32_t m, parabola c, const eam_units *units,
                         uint32_t word[2])
{
  const double line = round(c.line / (double)units->line);
  const double curve = round(c.curve / ((double)units->line * (double)units->curve));
  const double a = line * (double)units->line,
               b = curve * (double)units->line * (double)units->curve;
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < POINTS; k++) {
    const double p = point(m, k), left = at_point(f, m, p) - p * (a + p * b);
    low = fmin(low, left), high = fmax(high, left);
  }
  const float value = (float)((low + high) / 2);
  memcpy(&word[0], &value, sizeof value);
  word[1] = (uint32_t)((int32_t)line + (1 << (LINE_BITS - 1))) |
            (uint32_t)((int32_t)curve + (1 << (CURVE_BITS - 1))) << LINE_BITS;
  return fmax(high - (double)value, (double)value - low);
}

/* Units in which the largest slope and curvature fit their bits. */
static eam_units units_for(double line, double curve)
{
  eam_units units;
  units.line = (float)(line * 1.0001 / ((1 << (LINE_BITS - 1)) - 1));
  const double least = curve / ((1 << (CURVE_BITS - 1)) - 1) / (double)units.line;
  units.curve = (float)exp2(ceil(log2(least)));
  return units;
}

/* All words of a function; whether they are near enough to it. */
static bool pack_function(const packed_function *f, uint32_t (*words)[2], eam_units *units)
{
  double line = 0, curve = 0, off = 0, most = 0;
  for (int32_t m = FIRST; m <= EAM_PACKED; m++) {
    const parabola c = fit(f, m);
    line = fmax(line, fabs(c.line)), curve = fmax(curve, fabs(c.curve));
    most = fmax(most, fabs(c.value));
  }
  *units = units_for(line, curve);
  if (!(units->line > 0 && isfinite(units->curve) && units->curve > 0)) return false;
  for (int32_t m = FIRST; m <= EAM_PACKED; m++)
    off = fmax(off, round_word(f, m, fit(f, m), units, words[m]));
  return off <= EAM_GOAL * most;
}

void eam_pack(const eam_potential *eam, uint32_t *words, eam_packing *out)
{
  const double step = eam->cutoff * eam->cutoff / EAM_PACKED;
  *out = (eam_packing){
      .first = FIRST, .end = EAM_PACKED + 1, .per = EAM_PACKED / (eam->cutoff * eam->cutoff)};
  for (int k = 0; k < EAM_PACKED_FUNCTIONS; k++) {
    const packed_function f = {eam, (eam_function)k, step};
    uint32_t(*to)[2] = (uint32_t(*)[2])words + (size_t)k * (EAM_PACKED + 1);
    if (!pack_function(&f, to, &out->units[k])) out->end = 0;
  }
}
