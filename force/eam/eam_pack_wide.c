/* force/eam/eam_pack_wide.c - functions of embedded atoms in packed words of 16 bytes (eam_pair.h),
 * for lists by tiles in double.
 *
 * The intervals between a file's knots are cut in as many parts as there is room for, and a word is
 * a cubic in one part, so that no knot, where the file's cubics change, lies inside a word.  Its
 * coefficients have as many bits as what they are multiplied by leaves to be seen: a value the 50
 * upper ones of a double, slope, curvature and third coefficient 36, 28 and 14.  What the words
 * differ from the file's functions by is measured at many points of each; where it is not below
 * EAM_GOAL of the largest value, there are none, and kernels take the file's cubics. */
#define MD_PREC 2
#include "force/eam/eam_pair.h"

#include <math.h>

enum {
  LINE_BITS = 32 + EAM_LINE_MORE,
  CURVE_BITS = 32, /* the lowest are the line's */
  POINTS = 17,     /* of a word, where the difference is measured */
  ROOM = 1536      /* words that leave a tile's shared memory its halo */
};
static const double EAM_GOAL = 0x1p-35, FIRST = 0.4; /* of the cutoff */

typedef struct {
  const eam_potential *eam;
  eam_function which;
  double per; /* words by unit of r */
} packed_function;

/* Words by interval of the file. */
static double parts_of(const eam_potential *eam)
{
  const double intervals = (1 - FIRST) * eam->cutoff / eam->density.step;
  return floor((ROOM - 3) / intervals);
}

int32_t eam_wide_words(const eam_potential *eam)
{
  const double parts = parts_of(eam);
  return parts < 1 ? 0 : (int32_t)(eam->cutoff / eam->density.step * parts) + 2;
}

static double at_point(const packed_function *f, int32_t m, double p)
{
  const double r = (m + 0.5 + p) / f->per;
  return eam_of_square(f->eam, f->which, r * r);
}

/* Through four points where a cubic's error is the same at all ends: cosines of pi/8, 3 pi/8. */
static void fit(const packed_function *f, int32_t m, double c[4])
{
  static const double far = 0.46193976625564338, near = 0.19134171618254489;
  const double apart = far * far - near * near;
  const double a = at_point(f, m, far), b = at_point(f, m, -far);
  const double d = at_point(f, m, near), e = at_point(f, m, -near);
  const double odd = (d - e) / (2 * near);
  c[2] = ((a + b) - (d + e)) / (2 * apart);
  c[3] = ((a - b) / (2 * far) - odd) / apart;
  c[0] = (d + e) / 2 - near * near * c[2];
  c[1] = odd - near * near * c[3];
}

/* Units, powers of two, in which numbers up to `most` fit the bits. */
static double unit_for(double most, int bits)
{
  const double fits = most * 1.0001 / (exp2(bits - 1) - 1);
  return exp2(ceil(log2(fmax(fits, 0x1p-900))));
}

static eam_bits bits_for(double unit, int bits)
{
  const double base = 0x1p52 * unit;
  uint64_t as_bits;
  memcpy(&as_bits, &base, sizeof as_bits);
  return (eam_bits){(uint32_t)(as_bits >> 32), base + exp2(bits - 1) * unit};
}

/* The number of units that is nearest to c, 2^(bits - 1) more. */
static uint64_t count_units(double c, double unit, int bits)
{
  return (uint64_t)((int64_t)round(c / unit) + ((int64_t)1 << (bits - 1)));
}

/* The double nearest to a whose lowest bits are these. */
static uint64_t ending_with(double a, uint64_t low)
{
  const uint64_t sign = (uint64_t)1 << 63, some = (uint64_t)1 << EAM_BEND_BITS;
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  const uint64_t size = (bits & ~sign) + some / 2;
  return (bits & sign) | (size > low ? (size - low) / some * some : 0) | low;
}

typedef struct {
  double line, curve, bend;
} word_units;

/* The word of a cubic; returns what it is off by.  What rounding takes from the bend goes to the
 * line as far as a line can follow it. */
static double round_word(const packed_function *f, int32_t m, const double c[4],
                         const word_units *unit, const eam_wide_units *scale, eam_packed *word)
{
  const int64_t bend = (int64_t)round(c[3] / unit->bend);
  const double bent = (double)bend * unit->bend, lost = c[3] - bent;
  const uint64_t line = count_units(c[1] + lost * 3 / 16, unit->line, LINE_BITS);
  const uint64_t more = line >> 32, some = 1u << EAM_LINE_MORE;
  const uint64_t curve = count_units(c[2] - bent / 2 - (double)more * unit->curve,
                                     unit->curve * (double)some, CURVE_BITS - EAM_LINE_MORE);
  const uint64_t last = (uint64_t)bend & ((1u << EAM_BEND_BITS) - 1);
  *word = (eam_packed){
      .low = (uint32_t)last, .line = (uint32_t)line, .curve = (uint32_t)(curve * some + more)};
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < POINTS; k++) {
    const double p = k / (POINTS - 1.0) - 0.5;
    const double part = fmin((p + 0.5) * (1 << EAM_PART_BITS), (1 << EAM_PART_BITS) - 1);
    const eam_spot at = {.p = p, .part = (int32_t)part};
    const double off = at_point(f, m, p) - eam_unpack(*word, scale, at);
    low = fmin(low, off), high = fmax(high, off);
  }
  const uint64_t bits = ending_with((low + high) / 2, last);
  word->low = (uint32_t)bits, word->high = (uint32_t)(bits >> 32);
  const double is = eam_double_of(word->high, word->low);
  return fmax(high - is, is - low);
}

/* All words of a function; whether they are near enough to it. */
static bool pack_function(const packed_function *f, const eam_packing *packing, eam_packed *words,
                          eam_wide_units *scale)
{
  double most[4] = {0}, off = 0, c[4];
  for (int32_t m = packing->first; m < packing->end; m++) {
    fit(f, m, c);
    for (int k = 0; k < 4; k++)
      most[k] = fmax(most[k], fabs(c[k]));
  }
  const double shift = 1 << EAM_BEND_SHIFT;
  const double curve =
      fmax(unit_for(most[2] + most[3], CURVE_BITS), unit_for(most[3], EAM_BEND_BITS) / shift);
  const word_units unit = {unit_for(most[1], LINE_BITS), curve, curve * shift};
  *scale = (eam_wide_units){bits_for(unit.line, LINE_BITS), bits_for(unit.curve, CURVE_BITS)};
  for (int32_t m = packing->first; m < packing->end; m++) {
    fit(f, m, c);
    off = fmax(off, round_word(f, m, c, &unit, scale, &words[m]));
  }
  return off <= EAM_GOAL * most[0];
}

void eam_pack_wide(const eam_potential *eam, uint32_t *words, eam_packing *out)
{
  const double per = parts_of(eam) / eam->density.step;
  *out = (eam_packing){
      .first = (int32_t)(FIRST * eam->cutoff * per), .end = eam_wide_words(eam), .per = per};
  const eam_packing all = *out;
  for (int k = 0; k < EAM_PACKED_FUNCTIONS; k++) {
    const packed_function f = {eam, (eam_function)k, per};
    eam_packed *to = (eam_packed *)words + (size_t)k * (size_t)all.end;
    if (!pack_function(&f, &all, to, &out->wide[k])) out->end = 0;
  }
}
