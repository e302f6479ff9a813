/* minimd/counters/perf.h - the processor's counters around a piece of this thread, by
 * perf_event_open(2).
 *
 * More events than the processor has counters take turns: the kernel says for how long an event was
 * wanted (enabled) and counted (running), and its count is scaled by their ratio. */
#ifndef PERF_H
#define PERF_H

#include "core/md.h"

MD_BEGIN_C

#define PERF_EVENTS(X)                                                                             \
  X(CYCLES, "cycles")                                                                              \
  X(INSTRUCTIONS, "instructions")                                                                  \
  X(L1_LOADS, "L1-dcache-loads")                                                                   \
  X(L1_LOAD_MISSES, "L1-dcache-load-misses")                                                       \
  X(LLC_LOADS, "LLC-loads")                                                                        \
  X(LLC_LOAD_MISSES, "LLC-load-misses")                                                            \
  X(DTLB_LOAD_MISSES, "dTLB-load-misses")
#define MD_ENUM_(name, word) PERF_##name,
typedef enum { PERF_EVENTS(MD_ENUM_) PERF_EVENT_COUNT } perf_event;
#undef MD_ENUM_
extern const char *const perf_event_words[PERF_EVENT_COUNT];

typedef struct {
  uint64_t value, enabled, running; /* as read(2) gives them: count, ns, ns */
} perf_reading;

/* The count, scaled; NaN where the event never ran. */
double perf_count(const perf_reading *reading);

typedef struct {
  int fd[PERF_EVENT_COUNT]; /* -1: this processor has no such event */
} perf_counters;

/* Open the counters of this thread, user mode only.  *missing is NULL, or says why there are none
 * and what helps; free it.  Errors: MD_ENOMEM. */
md_status perf_open(perf_counters *out, char **missing);
void perf_close(perf_counters *counters);
void perf_start(const perf_counters *counters);
/* Stop, and read; 0 of events that are not there.  Errors: MD_EIO. */
md_status perf_stop(const perf_counters *counters, perf_reading readings[PERF_EVENT_COUNT]);

/* Why perf_event_open failed with this errno, in words: paranoid is the number in
 * /proc/sys/kernel/perf_event_paranoid, 99 where it is not there.  free it; NULL: no memory. */
char *perf_explain(int error, int paranoid);

MD_END_C
#endif
