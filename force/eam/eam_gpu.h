/* force/eam/eam_gpu.h - what GPU kernels of embedded atoms share: tables, the end of a density, and
 * what the host does between two passes.
 *
 * The first pass evaluates F and F' where it has summed rho_i and writes F' to the atom and its
 * images, so that the second finds all it reads. */
#ifndef EAM_GPU_H
#define EAM_GPU_H

#include "force/eam/eam_at.h"
#include "force/eam/eam_pair.h"
#include "force/totals_gpu.h"

/* What a kernel sums, if atoms are embedded at all. */
typedef enum { EAM_NONE, EAM_DENSITIES, EAM_FORCES } eam_pass;

typedef struct {
  eam_grid grid;
  const eam_word *density, *pair,
      *slope;             /* slope: in double rho itself, of which kernels take it */
  const eam_word *energy; /* phi; in double nothing */
  const void *held[EAM_FORCES + 1], *held_slope; /* what tiles keep of each pass, and of a second
                                                    function, by words from the first on */
  eam_scale scale[EAM_PACKED_FUNCTIONS];         /* of those, packed */
  eam_curve embed;
  real *slopes;               /* [n + n_ghost]: F' */
  uint8_t *close;             /* [n]: whether a tile's row has pairs nearer than near_sq */
  const int32_t *first;       /* int32 [n + 1], of the images of atoms; NULL: others see to them */
  unsigned long long *beyond; /* densities that were */
} eam_tables;

/* 1 / sqrt(a) within an ulp or two: the hardware's approximation and a step of third order.  Only
 * double needs one. */
static __device__ __forceinline__ real eam_inverse_root(real a)
{
#if MD_PREC == 2
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a * y, y, 1.0);
  return fma(y * e, fma(e, 0.375, 0.5), y);
#else
  return a;
#endif
}

/* sqrt(a) within 2^-43 of it, for words: the approximation, which sees the upper half of a only, so
 * that it is rounded, and a step of second order. */
static __device__ __forceinline__ real eam_root(real a)
{
#if MD_PREC == 2
  double y;
  const int high = __double2hiint(a) + (int)((uint32_t)__double2loint(a) >> 31);
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(__hiloint2double(high, 0)));
  const double half = __hiloint2double(__double2hiint(y) - (1 << 20), 0), root = a * y;
  return fma(root, fma(-root, half, 0.5), root);
#else
  return a;
#endif
}

/* The words at a knot and the one behind it, as far as they are needed. */
static __device__ __forceinline__ void eam_load_words(const eam_word *table, int32_t m,
                                                      eam_word word[2])
{
#if MD_PREC == 2
  const double2 *at = (const double2 *)table + m;
  const double2 a = __ldg(at), b = __ldg(at + 1);
  word[0] = (eam_word){a.x, a.y}, word[1] = (eam_word){b.x, b.y};
#else
  const float4 a = __ldg((const float4 *)table + m);
  word[0] = (eam_word){{a.x, a.y, a.z, a.w}};
#endif
}

static __device__ __forceinline__ void eam_load_cubic(const eam_word *table, int32_t m, real c[4])
{
  eam_word word[2];
  eam_load_words(table, m, word);
  eam_between(word, c);
}

/* phi of a pair. */
static __device__ __forceinline__ double eam_energy(const eam_tables *eam, eam_spot at,
                                                    const real pair[4])
{
#if MD_PREC == 2
  return eam_cubic(pair, at.p) * at.inv_r;
#else
  real c[4];
  eam_load_cubic(eam->energy, at.m, c);
  return (double)eam_cubic(c, at.p);
#endif
}

/* F and F' of an atom whose density is known. */
static __device__ __forceinline__ double eam_close(const eam_tables *eam, real density, real *slope)
{
  double d;
  const double u = eam_on(&eam->embed, (double)density, &d);
  if ((double)density > eam_end(&eam->embed)) atomicAdd(eam->beyond, 1ull);
  *slope = (real)d;
  return u;
}

#endif
