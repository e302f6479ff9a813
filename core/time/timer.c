/* core/time/timer.c - the phase timer.  On the GPU an event marks where a phase begins, and so
 * where the one before ends; times between events are added up in batches.  A mark costs some 3 us
 * between two kernels, so most laps have none (docs/decisions/65-phases-of-a-few-laps.md). */
#include "core/time/timer.h"
#include "core/context_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORD(name, word) word,
const char *const md_phase_words[MD_PHASE_COUNT] = {MD_PHASES(WORD)};
#undef WORD

enum {
  MARKS = 1024,
  NO_PHASE = MD_PHASE_COUNT, /* between phases */
  ALL_PHASES,                /* of laps that are not followed */
  KINDS,
  FIRST_LAPS = 4, /* that are followed, then about one in so many */
  ONE_IN = 16
};

/* What the phases of now are counted for. */
typedef enum { NO_LAP, FOLLOWED, WHOLE } lap_state;

/* What begins at an event. */
typedef struct {
  int kind; /* a phase or one of the above */
  lap_state lap;
} timer_mark;

struct md_timer {
  double total[KINDS], begun;
  double followed[MD_PHASE_COUNT]; /* of that, in followed laps: the shares of ALL_PHASES */
  void **events;                   /* [MARKS], GPU only */
  timer_mark mark[MARKS];
  int used; /* events waiting to be added up */
  lap_state lap;
  uint32_t laps; /* begun since the last reset */
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

/* Phases that every lap has; the others come when a run asks for them. */
static bool is_of_laps(int phase)
{
  return phase < NO_PHASE && phase != MD_PHASE_THERMO && phase != MD_PHASE_OUTPUT;
}

#ifdef MD_HAVE_CUDA
/* The last event stays, as the first of those to come. */
static void add_up(struct md_timer *timer)
{
  const int last = timer->used - 1;
  for (int k = 0; k < last; k++) {
    const timer_mark *mark = &timer->mark[k];
    const double seconds = md_gpu_event_seconds(timer->events[k], timer->events[k + 1]);
    timer->total[mark->kind] += seconds;
    if (mark->lap == FOLLOWED && mark->kind < NO_PHASE) timer->followed[mark->kind] += seconds;
  }
  void *const event = timer->events[0];
  timer->events[0] = timer->events[last], timer->events[last] = event;
  timer->mark[0] = timer->mark[last];
  timer->used = 1;
}

/* A phase begins here, unless it is at work already. */
static void mark(md_ctx *ctx, int phase)
{
  struct md_timer *timer = ctx->timer;
  const int kind = timer->lap == WHOLE && is_of_laps(phase) ? ALL_PHASES : phase;
  if (timer->used > 0 && timer->mark[timer->used - 1].kind == kind) return;
  if (timer->used == MARKS) add_up(timer);
  md_gpu_event_record(ctx, timer->events[timer->used]);
  timer->mark[timer->used++] = (timer_mark){kind, timer->lap};
}

/* A lap by its number: chance keeps step with no period of a run. */
static bool is_followed(uint32_t lap)
{
  lap = (lap ^ lap >> 16) * 0x7feb352du;
  lap = (lap ^ lap >> 15) * 0x846ca68bu;
  return (lap ^ lap >> 16) % ONE_IN == 0;
}
#endif

void md_timer_lap(md_ctx *ctx)
{
#ifdef MD_HAVE_CUDA
  struct md_timer *timer = ctx->timer;
  if (ctx->backend != MD_GPU) return;
  const uint32_t lap = timer->laps++;
  timer->lap = lap < FIRST_LAPS || is_followed(lap) ? FOLLOWED : WHOLE;
#else
  (void)ctx;
#endif
}

static void settle(md_ctx *ctx)
{
#ifdef MD_HAVE_CUDA
  if (ctx->backend != MD_GPU) return;
  mark(ctx, NO_PHASE);
  add_up(ctx->timer);
  ctx->timer->lap = NO_LAP;
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
  const struct md_timer *timer = ctx->timer;
  double followed = 0;
  for (int k = 0; k < MD_PHASE_COUNT; k++)
    if (is_of_laps(k)) followed += timer->followed[k];
  const double rest = timer->total[ALL_PHASES];
  const bool shares = rest > 0 && is_of_laps((int)phase);
  return timer->total[phase] + (shares ? rest * timer->followed[phase] / followed : 0);
}

void md_timer_reset(md_ctx *ctx)
{
  settle(ctx);
  struct md_timer *timer = ctx->timer;
  memset(timer->total, 0, sizeof timer->total);
  memset(timer->followed, 0, sizeof timer->followed);
  timer->laps = 0;
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
