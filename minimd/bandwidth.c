/* minimd/bandwidth.c - see bandwidth.h. */
#include "minimd/bandwidth.h"
#include "core/buffer.h"
#include "core/timer.h"
#include "minimd/median.h"

enum { BYTES = 256 << 20, REPEATS = 5 };

static md_status time_copy(md_ctx *ctx, void *to, const void *from, double *seconds)
{
  MD_TRY(md_ctx_sync(ctx));
  const double began = md_wall_seconds();
  MD_TRY(md_copy(ctx, to, from, BYTES));
  MD_TRY(md_ctx_sync(ctx));
  *seconds = md_wall_seconds() - began;
  return MD_OK;
}

static md_status time_copies(md_ctx *ctx, void *to, void *from, double *out)
{
  double seconds[REPEATS] = {0};
  MD_TRY(md_fill(ctx, from, 1, BYTES));
  MD_TRY(md_fill(ctx, to, 2, BYTES));
  for (int k = -1; k < REPEATS; k++)
    MD_TRY(time_copy(ctx, to, from, &seconds[k < 0 ? 0 : k]));
  *out = 2.0 * BYTES / median_of(seconds, REPEATS);
  return MD_OK;
}

md_status bandwidth_measure(md_ctx *ctx, double *out)
{
  md_buffer from = {0}, to = {0};
  md_status status = md_buffer_reserve(ctx, &from, BYTES, 0);
  if (!status) status = md_buffer_reserve(ctx, &to, BYTES, 0);
  if (!status) status = time_copies(ctx, to.data, from.data, out);
  md_buffer_free(ctx, &from);
  md_buffer_free(ctx, &to);
  return status;
}
