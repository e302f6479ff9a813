/* minimd/counters/profile_cpu_impl.h - what profile_valgrind.c does for profile_cpu.c. */
#ifndef PROFILE_CPU_IMPL_H
#define PROFILE_CPU_IMPL_H

#include "minimd/counters/profile_cpu.h"

/* One order and list. */
typedef struct {
  const char *order, *list; /* list NULL: the configuration's */
  neighbor_kind kind;
  int64_t atoms;
} profile_cpu_case;

/* What cachegrind counts of a launch that finds the caches as the one before left them; *missing as
 * valgrind_run's.  Errors: those of cachegrind_run. */
md_status profile_cpu_grind(const profile_cpu_job *job, const profile_cpu_case *c,
                            profile_cpu_figures measured, char **missing);
/* Adds the quantities of the kernel's arrays (addresses.h) of both; sim stands where the kernel is
 * launched.  Errors: those of addresses_run. */
md_status profile_cpu_trace(const profile_cpu_job *job, const profile_cpu_case *c,
                            const engine *sim, profile_cpu_figures measured,
                            profile_cpu_figures modelled, char **missing);

#endif
