/* minimd/shell/bandwidth.c - see bandwidth.h. */
#include "minimd/shell/bandwidth.h"
#include "cachemodel/machine/machine.h"
#include "core/time/stopwatch.h"
#include "minimd/shell/median.h"

enum { BYTES = 256 << 20, REPEATS = 5 };

static md_status time_copies(md_ctx *ctx, void *to, void *from, md_stopwatch *watch, double *out)
{
  double seconds[REPEATS + 1] = {0};
  MD_TRY(md_fill(ctx, from, 1, BYTES));
  MD_TRY(md_fill(ctx, to, 2, BYTES));
  for (int k = 0; k <= REPEATS; k++) {
    MD_TRY(md_stopwatch_start(watch, false));
    MD_TRY(md_copy(ctx, to, from, BYTES));
    MD_TRY(md_stopwatch_stop(watch, &seconds[k]));
  }
  *out = 2.0 * BYTES / median_of(seconds + 1, REPEATS);
  return MD_OK;
}

md_status bandwidth_measure(md_ctx *ctx, double *out)
{
  md_buffer from = {0}, to = {0};
  md_stopwatch watch;
  md_status status = md_stopwatch_create(ctx, &watch);
  if (!status) status = md_buffer_reserve(ctx, &from, BYTES, 0);
  if (!status) status = md_buffer_reserve(ctx, &to, BYTES, 0);
  if (!status) status = time_copies(ctx, to.data, from.data, &watch, out);
  md_stopwatch_destroy(&watch);
  md_buffer_free(ctx, &from);
  md_buffer_free(ctx, &to);
  return status;
}

int64_t cache_bytes(const md_ctx *ctx)
{
  machine host;
  md_gpu_info gpu;
  if (ctx->backend == MD_GPU) return md_gpu_describe(&gpu) ? 0 : gpu.l2_bytes;
  return machine_find("host", &host) ? 0 : host.level[host.n_levels - 1].bytes;
}
