/* force/eam/eam_launch_gpu.h - embedded atoms on a GPU: what the host does before, between and
 * after two passes. */
#ifndef EAM_LAUNCH_GPU_H
#define EAM_LAUNCH_GPU_H

#include "force/eam/eam_gpu.h"

/* Whether tiles keep packed words, not those of knots. */
static bool eam_is_packed(const force *fc)
{
  return fc->packing.end > 0;
}

static void show_held(const force *fc, eam_tables *eam)
{
  const bool packed = eam_is_packed(fc);
  const unsigned char *words = (const unsigned char *)fc->tile_words.data;
  const size_t two = (size_t)fc->packing.end * sizeof(uint4);
  const size_t one =
      MD_PREC == 2 ? two : (size_t)eam_pack_words(&fc->packing, EAM_OF_DENSITY) * EAM_PACKED_ROW;
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
  eam->grid.first = fc->packing.first, eam->grid.end = fc->packing.end;
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
