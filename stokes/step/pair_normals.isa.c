/* stokes/step/pair_normals.isa.c - normal_three of stokes/normal.h for many items at once.
 *
 * Loops without branches over a fixed number of items, which compilers turn into vectors: the same
 * bits for an item wherever it stands.  Logarithms are those of stokes/matrix/inverse.h, sine and
 * cosine of an eighth of a turn at most are Taylor series; both to the last bits. */
#include "stokes/step/pair_force_impl.h"

#include <string.h>

typedef struct {
  uint32_t word[4][PAIR_BATCH];
} batch_bits;

static void draw(uint64_t seed, normal_use use, int number, const uint64_t *index,
                 const uint64_t *step, batch_bits *out)
{
#pragma omp simd
  for (int b = 0; b < PAIR_BATCH; b++) {
    const normal_bits bits = normal_draw(seed, use, index[b], step[b], number);
    for (int w = 0; w < 4; w++)
      out->word[w][b] = bits.word[w];
  }
}

static inline uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* k as a double, k < 2^52. */
static inline double whole(uint64_t k)
{
  return double_of(k | 0x4330000000000000u) - 0x1p52;
}

/* Uniform in (0, 1), as normal_uniform. */
static inline double uniform(uint32_t high, uint32_t low)
{
  return (whole(((uint64_t)high << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

static inline double logarithm(double x)
{
  const uint64_t bits = bits_of(x);
  const uint64_t e = (bits + (0x4000000000000000u - 0x3fe6a09e00000000u)) >> 52; /* + 1024 */
  const double m = double_of(bits - (e << 52) + (1024ull << 52));
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 19;
  for (int k = 17; k > 1; k -= 2)
    sum = sum * z + 1.0 / k;
  return (whole(e) - 1024) * 0.6931471805599453 + (2 * s * z * sum + 2 * s);
}

/* Cosine and sine of u turns, 0 < u < 1: of the angle to the nearest quarter, then turned. */
static inline void turn(double u, double *cosine, double *sine)
{
  const double shifted = 4 * u + 0x1.8p52;
  const uint64_t quarter = bits_of(shifted);
  const double a = 6.283185307179586 * (u - 0.25 * (shifted - 0x1.8p52)), z = a * a;
  double s = 1, c = 1;
  for (int k = 16; k > 1; k -= 2) {
    s = 1 - s * z * (1.0 / (k * (k + 1)));
    c = 1 - c * z * (1.0 / (k * (k - 1)));
  }
  s *= a;
  const uint64_t odd = -(quarter & 1), sine_bits = bits_of(s), cosine_bits = bits_of(c);
  const uint64_t to_cosine = (cosine_bits & ~odd) | (sine_bits & odd);
  const uint64_t to_sine = (sine_bits & ~odd) | (cosine_bits & odd);
  *cosine = double_of(to_cosine ^ ((quarter + 1) >> 1 & 1) << 63);
  *sine = double_of(to_sine ^ (quarter >> 1 & 1) << 63);
}

void ISA(pair_normals)(uint64_t seed, normal_use use, const uint64_t index[PAIR_BATCH],
                       const uint64_t step[PAIR_BATCH], double z[3][PAIR_BATCH])
{
  batch_bits first, second;
  draw(seed, use, 0, index, step, &first);
  draw(seed, use, 1, index, step, &second);
#pragma omp simd
  for (int b = 0; b < PAIR_BATCH; b++) {
    double cosine, sine, unused;
    const double radius = sqrt(-2 * logarithm(uniform(first.word[0][b], first.word[1][b])));
    turn(uniform(first.word[2][b], first.word[3][b]), &cosine, &sine);
    z[0][b] = radius * cosine;
    z[1][b] = radius * sine;
    turn(uniform(second.word[2][b], second.word[3][b]), &cosine, &unused);
    z[2][b] = sqrt(-2 * logarithm(uniform(second.word[0][b], second.word[1][b]))) * cosine;
  }
}
