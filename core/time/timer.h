/* core/time/timer.h - time spent in each phase of a run, on the backend that does the work.
 *
 * On the CPU a phase is wall time from its beginning to its end.  On the GPU it lies between two
 * events in the stream, so that the host never waits for a measurement, and lasts until another
 * phase begins or the time is asked for: a phase that follows itself costs no event.  Each phase is
 * an NVTX range of the same name.  Phases do not nest.
 *
 * Events take time on the GPU.  Who repeats the same phases says where a repeat, a lap, begins:
 * then the first laps and one in some 16 later ones, by chance, are followed.  Of the others the
 * time of all phases together is measured, but thermo and output, and taken to have the same
 * shares. */
#ifndef TIMER_H
#define TIMER_H

#include "core/context.h"

MD_BEGIN_C

#define MD_PHASES(X)                                                                               \
  X(INTEGRATE, "integrate")                                                                        \
  X(SORT, "sort")                                                                                  \
  X(GHOSTS, "ghosts")                                                                              \
  X(EXCHANGE, "exchange")                                                                          \
  X(NEIGHBOR, "neighbor")                                                                          \
  X(FORCE, "force")                                                                                \
  X(COULOMB, "coulomb")                                                                            \
  X(THERMO, "thermo")                                                                              \
  X(OUTPUT, "output")

#define MD_ENUM_(name, word) MD_PHASE_##name,
typedef enum { MD_PHASES(MD_ENUM_) MD_PHASE_COUNT } md_phase;
#undef MD_ENUM_
extern const char *const md_phase_words[MD_PHASE_COUNT];

md_status md_timer_create(md_ctx *ctx); /* by md_ctx_create */
void md_timer_destroy(md_ctx *ctx);

void md_timer_lap(md_ctx *ctx); /* here a lap begins; it lasts until a time is asked for */
void md_phase_begin(md_ctx *ctx, md_phase phase);
void md_phase_end(md_ctx *ctx, md_phase phase);
/* Total so far [s]; waits for the GPU. */
double md_phase_seconds(md_ctx *ctx, md_phase phase);
void md_timer_reset(md_ctx *ctx);

/* What a GPU's profiler that waits for it (`--profile-from-start off`) looks at lies between on and
 * off. */
void md_profiler(const md_ctx *ctx, bool on);

/* Monotonic wall clock and processor time of the whole process [s]. */
double md_wall_seconds(void);
double md_cpu_seconds(void);

MD_END_C
#endif
