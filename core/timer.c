/* core/timer.c - the phase timer.  GPU phases queue event pairs and add them up in batches. */
#include "core/timer.h"
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORD(name, word) word,
const char *const md_phase_words[MD_PHASE_COUNT] = {MD_PHASES(WORD)};
#undef WORD

enum { PAIRS = 1024 };

struct md_timer {
  double total[MD_PHASE_COUNT], begun;
  void **events; /* [2 PAIRS], GPU only */
  md_phase owner[PAIRS];
  int used; /* pairs waiting to be added up */
};

static double seconds(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double md_wall_seconds(void)
{
  return seconds(CLOCK_MONOTONIC);
}

double md_cpu_seconds(void)
{
  return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

md_status md_timer_create(md_ctx *ctx)
{
  ctx->timer = calloc(1, sizeof *ctx->timer);
  MD_REQUIRE(ctx->timer, MD_ENOMEM, "out of memory for the timer");
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) return md_gpu_events_create(2 * PAIRS, &ctx->timer->events);
#endif
  return MD_OK;
}

void md_timer_destroy(md_ctx *ctx)
{
  if (!ctx->timer) return;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) md_gpu_events_destroy(2 * PAIRS, ctx->timer->events);
#endif
  free(ctx->timer);
  ctx->timer = NULL;
}

static void add_up(struct md_timer *timer)
{
#ifdef MD_HAVE_CUDA
  for (int k = 0; k < timer->used; k++)
    timer->total[timer->owner[k]] +=
        md_gpu_event_seconds(timer->events[2 * k], timer->events[2 * k + 1]);
#endif
  timer->used = 0;
}

void md_phase_begin(md_ctx *ctx, md_phase phase)
{
  struct md_timer *timer = ctx->timer;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    if (timer->used == PAIRS) add_up(timer);
    md_gpu_range_push(md_phase_words[phase]);
    md_gpu_event_record(ctx, timer->events[2 * timer->used]);
    return;
  }
#endif
  (void)phase;
  timer->begun = md_wall_seconds();
}

void md_phase_end(md_ctx *ctx, md_phase phase)
{
  struct md_timer *timer = ctx->timer;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    md_gpu_event_record(ctx, timer->events[2 * timer->used + 1]);
    md_gpu_range_pop();
    timer->owner[timer->used++] = phase;
    return;
  }
#endif
  timer->total[phase] += md_wall_seconds() - timer->begun;
}

double md_phase_seconds(md_ctx *ctx, md_phase phase)
{
  add_up(ctx->timer);
  return ctx->timer->total[phase];
}

void md_timer_reset(md_ctx *ctx)
{
  add_up(ctx->timer);
  memset(ctx->timer->total, 0, sizeof ctx->timer->total);
}

void md_profiler(const md_ctx *ctx, bool on)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) md_gpu_profiler(on);
#else
  (void)ctx;
  (void)on;
#endif
}
