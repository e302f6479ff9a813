/* stokes/normal.h - random numbers that depend on what they are for, not on who draws them when.
 *
 * Philox 4 x 32 with ten rounds (Salmon et al., SC 2011) turns a counter and a key into 128 random
 * bits.  The counter holds the sphere and the step, the key the seed: the same numbers on any
 * backend, for any number of threads and any order of the spheres, and none to store for a
 * restart. */
#ifndef NORMAL_H
#define NORMAL_H

#include <math.h>

#include "core/md.h"

/* What a draw is for; keeps the streams of one seed apart. */
typedef enum {
  NORMAL_BROWNIAN,
  NORMAL_PROBE,
  NORMAL_PLACE,
  NORMAL_MOVE,
  NORMAL_PAIR,
  NORMAL_MESH
} normal_use;

typedef struct {
  uint32_t word[4];
} normal_bits;

MD_INLINE normal_bits normal_philox(uint64_t seed, uint64_t index, uint64_t step_and_use)
{
  uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)step_and_use,
                   (uint32_t)(step_and_use >> 32)};
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                              (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
    for (int i = 0; i < 4; i++)
      c[i] = next[i];
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return (normal_bits){{c[0], c[1], c[2], c[3]}};
}

/* Draw number `draw` (0..15) of item `index` at `step` (< 2^56). */
MD_INLINE normal_bits normal_draw(uint64_t seed, normal_use use, uint64_t index, uint64_t step,
                                  int draw)
{
  return normal_philox(seed, index, step << 8 | (uint64_t)use << 4 | (uint64_t)draw);
}

/* Uniform in (0, 1), 53 bits, from words 2 which and 2 which + 1. */
MD_INLINE double normal_uniform(normal_bits bits, int which)
{
  const uint64_t word = (uint64_t)bits.word[2 * which] << 32 | bits.word[2 * which + 1];
  return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/* Three independent standard normal numbers (Box and Muller). */
MD_INLINE void normal_three(uint64_t seed, normal_use use, uint64_t index, uint64_t step, double *z)
{
  const double tau = 6.283185307179586;
  const normal_bits first = normal_draw(seed, use, index, step, 0);
  const normal_bits second = normal_draw(seed, use, index, step, 1);
  const double radius = sqrt(-2 * log(normal_uniform(first, 0)));
  const double angle = tau * normal_uniform(first, 1);
  z[0] = radius * cos(angle);
  z[1] = radius * sin(angle);
  z[2] = sqrt(-2 * log(normal_uniform(second, 0))) * cos(tau * normal_uniform(second, 1));
}

#endif
