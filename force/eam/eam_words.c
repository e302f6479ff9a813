/* force/eam/eam_words.c - tables of embedded atoms as GPU kernels read them, in single and mixed
 * precision also those of the CPU: words of 16 bytes (eam_pair.h), of each function all knots one
 * after the other, so that neighbouring words lie in neighbouring banks of shared memory. */
#include "force/eam/eam_at.h"
#include "force/force_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEHIND = 2 }; /* knots beyond the cutoff, for slopes at it */

double eam_of_square(const eam_potential *eam, eam_function which, double r_sq)
{
  const double r = sqrt(r_sq);
  double d_rho, d_z;
  const double rho = eam_on(&eam->density, r, &d_rho), phi = eam_on(&eam->pair, r, &d_z) / r;
  switch (which) {
  case EAM_OF_DENSITY:
    return rho;
  case EAM_OF_PAIR:
    return -(d_z - phi) / (r * r);
  case EAM_OF_SLOPE:
    return -d_rho / r;
  default:
    return phi;
  }
}

/* One function's cubics at words[0..EAM_SQUARES][4]. */
static md_status fill_squares(const eam_potential *eam, eam_function which, double *words)
{
  double values[EAM_SQUARES + 1 + BEHIND];
  const double step = eam->cutoff * eam->cutoff / EAM_SQUARES;
  eam_curve curve;
  for (int k = 0; k <= EAM_SQUARES + BEHIND; k++)
    values[k] = eam_of_square(eam, which, (k > 0 ? k : 1) * step);
  MD_TRY(eam_curve_make(values, EAM_SQUARES + 1 + BEHIND, step, &curve));
  for (int64_t k = 0; k < 4 * (EAM_SQUARES + 1); k++)
    words[k] = curve.knot[k / 4][k % 4];
  free(curve.knot);
  return MD_OK;
}

/* A curve's values and slopes at words[0..n - 1][2]. */
static void fill_words(const eam_curve *curve, int64_t n, double *words)
{
  for (int64_t m = 0; m < n; m++)
    words[2 * m] = curve->knot[m][0], words[2 * m + 1] = curve->knot[m][1];
}

int64_t eam_words(const force *fc, const eam_potential *eam)
{
  if (fc->ctx->precision != MD_DOUBLE) return EAM_SQUARES + 1;
  const double reach = eam->cutoff / eam->density.step + 3;
  return reach < (double)eam->density.n ? (int64_t)reach : eam->density.n;
}

/* In double: words of 16 bytes of rho, then of one function of forces, then of the other. */
static md_status set_packed_wide(force *fc, const eam_potential *eam)
{
  const size_t n = (size_t)eam_wide_words(eam), bytes = EAM_PACKED_FUNCTIONS * n * 16;
  fc->packing = (eam_packing){.end = 0};
  if (n == 0) return MD_OK;
  uint32_t *words = calloc(bytes, 1);
  if (!words) return eam_no_memory(n);
  eam_pack_wide(eam, words, &fc->packing);
  md_status status = md_buffer_reserve(fc->ctx, &fc->tile_words, bytes, 0);
  if (!status) status = md_write(fc->ctx, fc->tile_words.data, words, bytes);
  free(words);
  return status;
}

/* Rows of words of rho, then of both functions of forces: each word as often as fills a row, which
 * is what shared memory serves at a time, so that a lane has its own. */
static void fill_rows(const eam_packing *packing, uint32_t (*from)[EAM_PACKED_MOST][2],
                      unsigned char *rows)
{
  const int32_t n = eam_pack_words(packing, EAM_OF_DENSITY);
  for (int32_t at = 0; at < n * EAM_PACKED_ROW; at += 8)
    memcpy(rows + at, from[EAM_OF_DENSITY][at / EAM_PACKED_ROW], 8);
  rows += (size_t)n * EAM_PACKED_ROW;
  for (int32_t at = 0; at < eam_pack_words(packing, EAM_OF_PAIR) * EAM_PACKED_ROW; at += 16) {
    memcpy(rows + at, from[EAM_OF_PAIR][at / EAM_PACKED_ROW], 8);
    memcpy(rows + at + 8, from[EAM_OF_SLOPE][at / EAM_PACKED_ROW], 8);
  }
}

static md_status set_packed(force *fc, const eam_potential *eam)
{
  const size_t bytes = (size_t)2 * EAM_PACKED_MOST * EAM_PACKED_ROW;
  uint32_t(*from)[EAM_PACKED_MOST][2] = calloc(EAM_PACKED_FUNCTIONS, sizeof *from);
  unsigned char *rows = calloc(bytes, 1);
  md_status status = from && rows ? MD_OK : eam_no_memory(EAM_PACKED_MOST);
  if (!status) eam_pack(eam, from[0][0], &fc->packing);
  if (!status && fc->packing.end > 0) fill_rows(&fc->packing, from, rows);
  if (!status) status = md_buffer_reserve(fc->ctx, &fc->tile_words, bytes, 0);
  if (!status) status = md_write(fc->ctx, fc->tile_words.data, rows, bytes);
  free(from);
  free(rows);
  return status;
}

md_status eam_set_words(force *fc, const eam_potential *eam)
{
  md_ctx *ctx = fc->ctx;
  const int64_t n = eam_words(fc, eam);
  const bool wide = ctx->precision == MD_DOUBLE;
  const size_t one = (size_t)n * (wide ? 2 : 4), rest = one * (wide ? 1 : EAM_FUNCTIONS - 1);
  double *density = malloc(one * sizeof *density), *others = malloc(rest * sizeof *others);
  md_status status = density && others ? MD_OK : eam_no_memory((size_t)n);
  if (!status && wide) {
    fill_words(&eam->density, n, density);
    fill_words(&eam->pair, n, others);
  } else if (!status) {
    status = fill_squares(eam, EAM_OF_DENSITY, density);
    for (int f = EAM_OF_PAIR; f < EAM_FUNCTIONS && !status; f++)
      status = fill_squares(eam, (eam_function)f, others + (size_t)(f - EAM_OF_PAIR) * one);
  }
  if (!status) status = eam_write_reals(ctx, density, one, &fc->density_knots);
  if (!status) status = eam_write_reals(ctx, others, rest, &fc->force_knots);
  free(density);
  free(others);
  MD_TRY(status);
  if (ctx->backend == MD_CPU) return MD_OK; /* it evaluates F on its own */
  MD_TRY(wide ? set_packed_wide(fc, eam) : set_packed(fc, eam));
  const size_t embed = (size_t)eam->embed.n * sizeof *eam->embed.knot;
  MD_TRY(md_buffer_reserve(ctx, &fc->embed_knots, embed, 0));
  MD_TRY(md_write(ctx, fc->embed_knots.data, eam->embed.knot, embed));
  MD_TRY(md_buffer_reserve(ctx, &fc->beyond_now, sizeof(int64_t), 0));
  return md_fill(ctx, fc->beyond_now.data, 0, sizeof(int64_t));
}
