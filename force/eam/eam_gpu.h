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

/* Whether tiles keep packed words, not those of knots. */
static bool eam_is_packed(const force *fc)
{
  return fc->packing.end > 0;
}

static void show_held(const force *fc, eam_tables *eam)
{
  const bool packed = eam_is_packed(fc);
  const unsigned char *words = (const unsigned char *)fc->tile_words.data;
  const size_t n = (size_t)fc->packing.end, two = n * sizeof(uint4);
  const size_t one = MD_PREC == 2 ? two : EAM_PACKED_ROOM * sizeof(uint2);
  eam->held[EAM_DENSITIES] = packed ? (const void *)words : eam->density;
  eam->held[EAM_FORCES] = packed ? (const void *)(words + one) : eam->pair;
  eam->held_slope = packed ? (const void *)(words + one + two) : eam->slope;
#if MD_PREC == 2
  memcpy(eam->scale, fc->packing.wide, sizeof eam->scale);
#else
  memcpy(eam->scale, fc->packing.units, sizeof eam->scale);
#endif
}

/* Room for what both passes of so many blocks write, totals only with a tally: those of sum F come
 * first, twice, since the pairs behind them count half. */
static md_status eam_open(force *fc, const force_job *job, int64_t blocks, eam_tables *eam)
{
  const eam_potential *from = fc->eam;
  const int64_t n = eam_words(fc, from);
  const bool wide = sizeof(real) == 8;
  const size_t all = (size_t)(job->n + job->n_ghost);
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->slope, all * sizeof(real), 0));
  if (job->tally)
    MD_TRY(md_buffer_reserve(fc->ctx, &fc->partial, (4 * (size_t)blocks + 2) * sizeof(double), 0));
  const eam_word *density = (const eam_word *)fc->density_knots.data;
  const eam_word *others = (const eam_word *)fc->force_knots.data;
  const double cut_sq = from->cutoff * from->cutoff;
  MD_TRY(md_buffer_reserve(fc->ctx, &fc->close, (size_t)job->n, 0));
  *eam = (eam_tables){};
  eam->grid.r_cut_sq = (real)cut_sq;
  eam->grid.inv_step = (real)(wide ? 1 / from->density.step : EAM_SQUARES / cut_sq);
  eam->grid.last = (real)(n - (wide ? 2 : 1));
  eam->grid.packed = (real)fc->packing.per;
  eam->density = density, eam->pair = others;
  eam->slope = wide ? density : others + n, eam->energy = wide ? NULL : others + 2 * n;
  eam->embed = (eam_curve){from->embed.n, from->embed.step, (double(*)[4])fc->embed_knots.data};
  eam->slopes = (real *)fc->slope.data;
  eam->close = (uint8_t *)fc->close.data;
  show_held(fc, eam);
  eam->first = fc->fill ? NULL : job->first;
  eam->beyond = (unsigned long long *)fc->beyond_now.data;
  return MD_OK;
}

/* A ghost's F' is that of its home, where it has one. */
static __global__ void eam_images(int64_t n, int64_t n_ghost, const int32_t *__restrict__ home,
                                  real *slopes)
{
  const int64_t g = md_thread();
  if (g < n_ghost && home[g] >= 0) slopes[n + g] = slopes[home[g]];
}

/* Between the passes, where other processes take part: F' of all ghosts. */
static md_status eam_share(const force *fc, const force_job *job)
{
  enum { BLOCK = 256 };
  if (!fc->fill) return MD_OK;
  if (job->n_ghost > 0) {
    eam_images<<<md_blocks(job->n_ghost, BLOCK), BLOCK, 0, (cudaStream_t)fc->ctx->stream>>>(
        job->n, job->n_ghost, job->home, (real *)fc->slope.data);
    MD_LAUNCHED();
  }
  return fc->fill(fc->fill_arg, fc->slope.data);
}

/* After the passes, where sums are asked for. */
static md_status eam_read(force *fc, const force_job *job, int64_t blocks, double share)
{
  MD_TRY(read_tally(fc, job, 2 * blocks, share));
  return md_read(fc->ctx, &fc->beyond, fc->beyond_now.data, sizeof fc->beyond);
}

#endif
