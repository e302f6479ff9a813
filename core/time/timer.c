/* core/time/timer.c - the phase timer.  On the GPU an event marks where a phase begins, and so
 * where the one before ends; times between events are added up in batches. */
#include "core/time/timer.h"
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORD(name, word) word,
const char *const md_phase_words[MD_PHASE_COUNT] = {MD_PHASES(WORD)};
#undef WORD

enum { MARKS = 1024, NO_PHASE = MD_PHASE_COUNT };

struct md_timer {
  double total[MD_PHASE_COUNT + 1], begun; /* NO_PHASE: between phases */
  void **events;                           /* [MARKS], GPU only */
  int phase[MARKS];                        /* that begins at an event */
  int used;                                /* events waiting to be added up */
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
  if (ctx->backend == MD_GPU) return md_gpu_events_create(MARKS, &ctx->timer->events);
#endif
  return MD_OK;
}

void md_timer_destroy(md_ctx *ctx)
{
  if (!ctx->timer) return;
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) md_gpu_events_destroy(MARKS, ctx->timer->events);
#endif
  free(ctx->timer);
  ctx->timer = NULL;
}

#ifdef MD_HAVE_CUDA
/* The last event stays, as the first of those to come. */
static void add_up(struct md_timer *timer)
{
  const int last = timer->used - 1;
  for (int k = 0; k < last; k++)
    timer->total[timer->phase[k]] += md_gpu_event_seconds(timer->events[k], timer->events[k + 1]);
  void *const event = timer->events[0];
  timer->events[0] = timer->events[last], timer->events[last] = event;
  timer->phase[0] = timer->phase[last];
  timer->used = 1;
}

/* A phase begins here, unless it is at work already. */
static void mark(md_ctx *ctx, int phase)
{
  struct md_timer *timer = ctx->timer;
  if (timer->used > 0 && timer->phase[timer->used - 1] == phase) return;
  if (timer->used == MARKS) add_up(timer);
  md_gpu_event_record(ctx, timer->events[timer->used]);
  timer->phase[timer->used++] = phase;
}
#endif

static void settle(md_ctx *ctx)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend != MD_GPU) return;
  mark(ctx, NO_PHASE);
  add_up(ctx->timer);
#else
  (void)ctx;
#endif
}

void md_phase_begin(md_ctx *ctx, md_phase phase)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    md_gpu_range_push(md_phase_words[phase]);
    mark(ctx, (int)phase);
    return;
  }
#endif
  (void)phase;
  ctx->timer->begun = md_wall_seconds();
}

void md_phase_end(md_ctx *ctx, md_phase phase)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend == MD_GPU) {
    md_gpu_range_pop();
    return;
  }
#endif
  ctx->timer->total[phase] += md_wall_seconds() - ctx->timer->begun;
}

double md_phase_seconds(md_ctx *ctx, md_phase phase)
{
  settle(ctx);
  return ctx->timer->total[phase];
}

void md_timer_reset(md_ctx *ctx)
{
  settle(ctx);
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
