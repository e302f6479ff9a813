/* force/eam/eam_pair.h - a pair of embedded atoms as GPU kernels compute it, from words of 16
 * bytes or packed ones (eam_pack.c, eam_pack_wide.c); on the host too, so that tests run the same
 * arithmetic.
 *
 * In double the functions are the file's, by distance: word m is {f, f' step} at knot m, and two
 * neighbouring words are a cubic:
 *     f/r = -[ ((r phi)' - phi) / r + (F'_i + F'_j) rho' ] / r
 * In float, where a root and quotients would cost more digits than a second table, word m is a
 * whole cubic against r^2, at EAM_SQUARES equal steps up to the cutoff:
 *     f/r = pair(r^2) + (F'_i + F'_j) slope(r^2),    pair = -phi'/r,  slope = -rho'/r
 * which agree with the file's to 1e-7 of their size beyond 1 Angstrom.  Nearer than the first step
 * (0.22 Angstrom at a cutoff of 4.95) they are constant. */
#ifndef EAM_PAIR_H
#define EAM_PAIR_H

#include "force/force_impl.h"

#include <string.h>

typedef struct {
#if MD_PREC == 2
  double f, d; /* value; slope times the step */
#else
  float c[4];
#endif
} eam_word;

/* How words are entered. */
typedef struct {
  real r_cut_sq;
  real inv_step;      /* steps by unit of r (double) or of r^2 */
  real last;          /* the last one that begins an interval */
  real near_sq;       /* lists by tiles: nearer pairs have no words in shared memory */
  real packed;        /* steps of packed words by unit of r (double), or units of r^2 */
  int32_t first, end; /* in float as in eam_packing */
} eam_grid;

/* Where a pair is: p of the way from knot m to the next.  inv_r: in double. */
typedef struct {
  int32_t m;
  real p, inv_r;
  int32_t part; /* in packed words in double: p + 1/2, in 2^-EAM_PART_BITS */
} eam_spot;

/* a * b + c in one instruction by name: instances of a kernel with and without energies must not
 * contract in two ways. */
MD_INLINE real eam_fma(real a, real b, real c)
{
  return sizeof(real) == 4 ? (real)fmaf((float)a, (float)b, (float)c)
                           : (real)fma((double)a, (double)b, (double)c);
}

/* The whole part of t, 0 <= t < 2^22: adding SHIFT leaves it in the low bits. */
MD_INLINE real eam_floor(real t, int32_t *m)
{
#ifndef __CUDA_ARCH__
  *m = (int32_t)t;
  return (real)*m;
#elif MD_PREC == 2
  const double shifted = __dadd_rd(t, 0x1p52);
  *m = __double2loint(shifted);
  return shifted - 0x1p52;
#else
  const float shifted = __fadd_rd(t, 0x1p23f);
  *m = __float_as_int(shifted) - 0x4b000000;
  return shifted - 0x1p23f;
#endif
}

/* inv_r is read in double only.  Any r_sq, also none, gives a knot that there is. */
MD_INLINE eam_spot eam_locate(const eam_grid *grid, real r_sq, real inv_r)
{
  eam_spot at;
  const real along = sizeof(real) == 8 ? r_sq * inv_r : r_sq, t = along * grid->inv_step;
  const real inside = t < grid->last ? t : grid->last;
  const real p = eam_fma(along, grid->inv_step, -eam_floor(inside, &at.m));
  at.p = p < 1 ? p : 1;
  at.inv_r = inv_r, at.part = 0;
  return at;
}

/* A cubic's value, and slope by the step. */
MD_INLINE real eam_cubic(const real c[4], real p)
{
  return eam_fma(p, eam_fma(p, eam_fma(p, c[3], c[2]), c[1]), c[0]);
}
MD_INLINE real eam_cubic_slope(const real c[4], real p)
{
  return eam_fma(p, eam_fma(p, 3 * c[3], 2 * c[2]), c[1]);
}

/* The bits of a that are in mask, those of more turned; in one instruction. */
MD_INLINE uint32_t eam_merge(uint32_t a, uint32_t mask, uint32_t more)
{
#ifdef __CUDA_ARCH__
  uint32_t merged;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(merged) : "r"(a), "r"(mask), "r"(more));
  return merged;
#else
  return (a & mask) ^ more;
#endif
}

/* In float: bits of r^2 that have a word in common; density is smoother than what forces need. */
enum { EAM_DENSITY_BITS = 17, EAM_FORCE_BITS = 16 };

#if MD_PREC == 2
/* Word m of a function against r, for p = -1/2 .. 1/2 of a step around m + 1/2 steps:
 *     value + p (line + p (curve + (p + 1/2) bend))
 * The value is a double, of which the bend is the lowest EAM_BEND_BITS bits, which have a sign; the
 * line's uppermost EAM_LINE_MORE bits are the lowest of `curve`.  Numbers that share a word are
 * rounded so that nobody has to take the other's bits away.  A step adds 2^EAM_BEND_SHIFT of the
 * curve's units for each of the bend's: they are added as whole numbers, by one instruction. */
typedef struct {
  uint32_t low, high; /* of the value */
  uint32_t line, curve;
} eam_packed;
typedef eam_wide_units eam_scale;
enum { EAM_BEND_BITS = 14, EAM_LINE_MORE = 4, EAM_PART_BITS = 23 };
enum { EAM_BEND_SHIFT = EAM_PART_BITS - EAM_BEND_BITS };

MD_INLINE double eam_double_of(uint32_t high, uint32_t low)
{
#ifdef __CUDA_ARCH__
  return __hiloint2double((int)high, (int)low);
#else
  const uint64_t bits = (uint64_t)high << 32 | low;
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
#endif
}

/* Where a pair at r is among packed words, fewer than 2^12: m counted from EAM_FROM, which costs
 * nothing.  2^13 more leave a whole part in all but the lowest bits of the upper half, whose next
 * byte is 0. */
enum { EAM_FROM = 0x818000, EAM_REST_BITS = 7 };
MD_INLINE eam_spot eam_locate_packed(const eam_grid *grid, const eam_scale *scale, real r_sq,
                                     real r, int word_bits)
{
  (void)scale, (void)r_sq, (void)word_bits;
  const double t = eam_fma(r, grid->packed, 0x1p13);
#ifdef __CUDA_ARCH__
  const uint32_t high = (uint32_t)__double2hiint(t), low = (uint32_t)__double2loint(t);
  const uint32_t rest = eam_merge(high, (1u << EAM_REST_BITS) - 1, 0x40c00000u);
  const uint32_t part = __byte_perm(low, rest, 0x5432);
#else
  uint64_t as_bits;
  memcpy(&as_bits, &t, sizeof as_bits);
  const uint32_t high = (uint32_t)(as_bits >> 32), low = (uint32_t)as_bits;
  const uint32_t rest = eam_merge(high, (1u << EAM_REST_BITS) - 1, 0x40c00000u);
  const uint32_t part = (rest & 0xffff) << 16 | low >> 16;
#endif
  return (eam_spot){(int32_t)(high >> EAM_REST_BITS), eam_double_of(rest, low) - (0x1p13 + 0.5), 0,
                    (int32_t)part};
}

MD_INLINE double eam_field(const eam_bits *bits, uint32_t more, uint32_t low)
{
  return eam_double_of(bits->high | more, low) - bits->zero;
}

/* The upper half of a b + 2^32 c. */
MD_INLINE uint32_t eam_high_of(int32_t a, int32_t b, uint32_t c)
{
#ifdef __CUDA_ARCH__
  uint32_t high;
  asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(high) : "r"(a), "r"(b), "r"(c));
  return high;
#else
  return (uint32_t)((int64_t)a * b >> 32) + c;
#endif
}

MD_INLINE real eam_unpack(eam_packed word, const eam_scale *scale, eam_spot at)
{
  const int32_t bend = (int32_t)(word.low << (32 - EAM_BEND_BITS));
  const double curve = eam_field(&scale->curve, 0, eam_high_of(bend, at.part, word.curve));
  const double line = eam_field(&scale->line, word.curve & ((1u << EAM_LINE_MORE) - 1), word.line);
  const double value = eam_double_of(word.high, word.low);
  return eam_fma(at.p, eam_fma(at.p, curve, line), value);
}

/* The first function and `slopes` times the second. */
MD_INLINE real eam_unpack_two(const eam_packed word[2], const eam_scale scale[2], real slopes,
                              eam_spot at)
{
  return eam_fma(slopes, eam_unpack(word[1], scale + 1, at), eam_unpack(word[0], scale, at));
}
#else
/* Word m of a function against r^2:
 *     value + p (line + p units.curve curve)
 * line is all of `rest`, a whole number with a sign, and curve its lower 12 bits, which have a sign
 * too.  A word holds where all bits but the lowest of r^2 as a float are the same, so that steps
 * are in proportion to r^2 within a factor of 2; p is what these lowest bits are, in units.line, 0
 * in the middle.  Word 0 is 0, for pairs that are too near, and so is the last, which begins at the
 * cutoff. */
typedef struct {
  float value;
  uint32_t rest;
} eam_packed;
typedef eam_units eam_scale;

/* Where a pair is among packed words of so many of these bits; m counted from EAM_FROM. */
enum { EAM_FROM = 0 };

MD_INLINE float eam_as_float(uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
#endif
}

MD_INLINE int32_t eam_bits_of(float f)
{
#ifdef __CUDA_ARCH__
  return __float_as_int(f);
#else
  int32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
#endif
}

/* a + b, not beyond most and not below 0; a >= 0 >= b. */
MD_INLINE int32_t eam_clamp(int32_t a, int32_t b, int32_t most)
{
#ifdef __CUDA_ARCH__
  return __viaddmin_s32_relu(a, b, most);
#else
  const int32_t sum = a + b;
  return sum < 0 ? 0 : sum < most ? sum : most;
#endif
}

MD_INLINE eam_spot eam_locate_packed(const eam_grid *grid, const eam_scale *scale, real r_sq,
                                     real r, int bits)
{
  (void)r;
  const int32_t word = 1 << bits;
  const int32_t at = eam_clamp(eam_bits_of((float)r_sq * (float)grid->packed), word - grid->first,
                               grid->end - grid->first + word);
  const uint32_t unit = (uint32_t)eam_bits_of(scale->line);
  const float p = eam_as_float(eam_merge((uint32_t)at, (uint32_t)word - 1, unit)) - scale->middle;
  return (eam_spot){at >> bits, p, 0, 0};
}

typedef struct {
  float value, line, curve;
} eam_parabola;

MD_INLINE eam_parabola eam_open_word(eam_packed word, const eam_scale *scale)
{
  const float bits = eam_as_float(eam_merge(word.rest, 0xfff, 0x4b000800u)); /* and more */
  return (eam_parabola){word.value, (float)(int32_t)word.rest,
                        fmaf(bits, scale->curve, -(0x1p23f + 0x1p11f) * scale->curve)};
}

MD_INLINE real eam_unpack(eam_packed word, const eam_scale *scale, eam_spot at)
{
  const eam_parabola c = eam_open_word(word, scale);
  return fmaf((float)at.p, fmaf((float)at.p, c.curve, c.line), c.value);
}

/* The first function and `slopes` times the second, which have units in common. */
MD_INLINE real eam_unpack_two(const eam_packed word[2], const eam_scale *scale, real slopes,
                              eam_spot at)
{
  const float s = (float)slopes, q = (float)at.p;
  const eam_parabola a = eam_open_word(word[0], scale), b = eam_open_word(word[1], scale);
  const float line = fmaf(s, b.line, a.line), curve = fmaf(s, b.curve, a.curve);
  return fmaf(q, fmaf(q, curve, line), fmaf(s, b.value, a.value));
}
#endif

/* The cubic from a word to the one behind it, which float does not need. */
MD_INLINE void eam_between(const eam_word word[2], real c[4])
{
#if MD_PREC == 2
  const double rise = word[1].f - word[0].f;
  c[0] = word[0].f, c[1] = word[0].d;
  c[3] = eam_fma(-2, rise, word[0].d + word[1].d);
  c[2] = rise - word[0].d - c[3];
#else
  for (int k = 0; k < 4; k++)
    c[k] = word[0].c[k];
#endif
}

/* Force over r; slopes: F' of both atoms, added. */
MD_INLINE real eam_pull(const eam_grid *grid, eam_spot at, const real pair[4], const real slope[4],
                        real slopes)
{
#if MD_PREC == 2
  const real d_pair = eam_cubic_slope(pair, at.p) * grid->inv_step;
  const real d_rho = eam_cubic_slope(slope, at.p) * grid->inv_step;
  const real d_phi = eam_fma(-eam_cubic(pair, at.p), at.inv_r, d_pair) * at.inv_r;
  return -at.inv_r * eam_fma(slopes, d_rho, d_phi);
#else
  (void)grid;
  return eam_fma(slopes, eam_cubic(slope, at.p), eam_cubic(pair, at.p));
#endif
}

#endif
