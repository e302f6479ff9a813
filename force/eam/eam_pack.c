/* force/eam/eam_pack.c - functions of embedded atoms in words of 8 bytes (eam_pair.h), for the GPU
 * in single and mixed precision.
 *
 * A word is a parabola: its value in a float, its slope in a whole number of 32 bits, the lower 12
 * of which are the curvature.  Units of r^2 decide where words begin.  Some are tried, in all of
 * which the cutoff begins a word, and the best taken: a word in which a function changes its form
 * is off most.  That is measured at many points of each; where it is not below EAM_GOAL of the
 * largest value, as with a rough file, there are no words, and kernels take the cubics of
 * eam_words.c. */
#define MD_PREC 0
#include "force/eam/eam_pair.h"

#include <math.h>

enum {
  CURVES = 1 << 12,            /* numbers that a curvature may be, */
  MOST_CURVE = CURVES / 2 - 1, /* to this one */
  POINTS = 9,                  /* of a word, where the difference is measured */
  UNITS = 16                   /* that are tried */
};
static const double EAM_GOAL = 0x1p-21; /* eight roundings of a float */
static const double FIRST = 0.16;       /* of the cutoff's r^2 */

typedef struct {
  double value, line, curve;
} parabola;

typedef struct {
  const eam_potential *eam;
  eam_function which;
  const eam_packing *packing;
} packed_function;

static int bits_of(eam_function which)
{
  return which == EAM_OF_DENSITY ? EAM_DENSITY_BITS : EAM_FORCE_BITS;
}

int32_t eam_pack_words(const eam_packing *packing, eam_function which)
{
  return ((packing->end - packing->first) >> bits_of(which)) + 2;
}

/* At p = -1/2 .. 1/2 of a word from its middle. */
static double at_point(const packed_function *f, int32_t m, double p)
{
  const int bits = bits_of(f->which);
  const int32_t from = f->packing->first + ((m - 1) << bits);
  const double low = (double)eam_as_float((uint32_t)from),
               high = (double)eam_as_float((uint32_t)(from + (1 << bits)));
  return eam_of_square(f->eam, f->which, (low + (p + 0.5) * (high - low)) / f->packing->per);
}

/* Through three points where a parabola's error is the same at all ends. */
static parabola fit(const packed_function *f, int32_t m)
{
  const double d = 0.43301270189221932;
  const double low = at_point(f, m, -d), mid = at_point(f, m, 0), high = at_point(f, m, d);
  return (parabola){mid, (high - low) / (2 * d), (high - 2 * mid + low) / (2 * d * d)};
}

/* The word of a parabola; returns what it is off by. */
static double round_word(const packed_function *f, int32_t m, parabola c, const eam_units *units,
                         uint32_t word[2])
{
  const double step = exp2(bits_of(f->which) - 23) * (double)units->line; /* of p, a word */
  const int32_t curve = (int32_t)round(c.curve / (step * step) / (double)units->curve);
  const uint32_t low = (uint32_t)curve % CURVES;
  word[1] = (uint32_t)(llround((c.line / step - low) / CURVES) * CURVES) + low;
  const double a = step * (double)(int32_t)word[1];
  const double b = step * step * (double)units->curve * curve;
  double least = INFINITY, most = -INFINITY;
  for (int k = 0; k < POINTS; k++) {
    const double p = k / (POINTS - 1.0) - 0.5, left = at_point(f, m, p) - p * (a + p * b);
    least = fmin(least, left), most = fmax(most, left);
  }
  const float value = (float)((least + most) / 2);
  memcpy(&word[0], &value, sizeof value);
  return fmax(most - (double)value, (double)value - least);
}

/* What slopes and curvatures by a word are at most, and values. */
static parabola largest(const packed_function *f)
{
  parabola most = {0};
  for (int32_t m = 1; m < eam_pack_words(f->packing, f->which) - 1; m++) {
    const parabola c = fit(f, m);
    most.line = fmax(most.line, fabs(c.line)), most.curve = fmax(most.curve, fabs(c.curve));
    most.value = fmax(most.value, fabs(c.value));
  }
  return most;
}

/* Units in which such a slope and curvature fit their bits. */
static eam_units units_for(parabola most, int bits)
{
  const double steps = exp2(23 - bits), line = exp2(ceil(log2(most.line * 1.01 * steps / 0x1p31)));
  eam_units units = {.line = (float)line};
  units.middle = units.line * (float)(1 + 0.5 / steps);
  const double curve = most.curve * 1.01 * steps * steps / (line * line) / MOST_CURVE;
  units.curve = (float)exp2(ceil(log2(curve)));
  return units;
}

/* All words of a function; returns what they are off by. */
static double pack_function(const packed_function *f, uint32_t (*words)[2], const eam_units *units)
{
  const int32_t last = eam_pack_words(f->packing, f->which) - 1;
  double off = 0;
  words[0][0] = words[0][1] = words[last][0] = words[last][1] = 0;
  for (int32_t m = 1; m < last; m++)
    off = fmax(off, round_word(f, m, fit(f, m), units, words[m]));
  return off;
}

/* In units of which the cutoff is this number, which begins a word. */
static double pack_in(const eam_potential *eam, float end, uint32_t *words, eam_packing *out)
{
  const double cut_sq = eam->cutoff * eam->cutoff;
  parabola most[EAM_PACKED_FUNCTIONS];
  double off = 0;
  *out = (eam_packing){.end = eam_bits_of(end), .per = (double)end / cut_sq};
  out->first = eam_bits_of((float)(FIRST * (double)end)) >> EAM_DENSITY_BITS << EAM_DENSITY_BITS;
  for (int k = 0; k < EAM_PACKED_FUNCTIONS; k++)
    most[k] = largest(&(packed_function){eam, (eam_function)k, out});
  out->units[EAM_OF_DENSITY] = units_for(most[EAM_OF_DENSITY], EAM_DENSITY_BITS);
  const parabola both = {0, fmax(most[EAM_OF_PAIR].line, most[EAM_OF_SLOPE].line),
                         fmax(most[EAM_OF_PAIR].curve, most[EAM_OF_SLOPE].curve)};
  out->units[EAM_OF_PAIR] = out->units[EAM_OF_SLOPE] = units_for(both, EAM_FORCE_BITS);
  for (int k = 0; k < EAM_PACKED_FUNCTIONS; k++) {
    const packed_function f = {eam, (eam_function)k, out};
    if (!(isfinite(out->units[k].line) && isfinite(out->units[k].curve))) return INFINITY;
    uint32_t(*to)[2] = (uint32_t(*)[2])words + (size_t)k * EAM_PACKED_MOST;
    off = fmax(off, pack_function(&f, to, &out->units[k]) / most[k].value);
  }
  return off;
}

void eam_pack(const eam_potential *eam, uint32_t *words, eam_packing *out)
{
  float best = 1;
  double least = INFINITY;
  for (int k = 0; k < UNITS; k++) {
    const float end = 1 + (float)k / UNITS;
    const double off = pack_in(eam, end, words, out);
    if (off < least) least = off, best = end;
  }
  if (!(pack_in(eam, best, words, out) <= EAM_GOAL)) out->end = 0;
}
