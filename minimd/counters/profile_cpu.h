/* minimd/counters/profile_cpu.h - `minimd profile --backend cpu`: the force kernel of one thread,
 * as the processor's counters or cachegrind see it, beside the model of the same caches. */
#ifndef PROFILE_CPU_H
#define PROFILE_CPU_H

#include "minimd/counters/cachegrind.h"
#include "minimd/counters/perf.h"
#include "minimd/locality/locality.h"

MD_BEGIN_C

#define PROFILE_WITH(X) X(PERF, "perf") X(CACHEGRIND, "cachegrind") X(MODEL, "model")
#define MD_ENUM_(name, word) PROFILE_WITH_##name,
typedef enum { PROFILE_WITH(MD_ENUM_) PROFILE_WITH_COUNT } profile_with;
#undef MD_ENUM_
extern const char *const profile_with_words[PROFILE_WITH_COUNT];

typedef struct {
  const options *opts;
  unsigned listed; /* of settings_read */
  const config *cfg;
  char **orders, **lists; /* lists NULL: what the configuration says */
  int n_orders, n_lists;
  int64_t launches;
  bool warm, cold;
  machine m; /* a CPU */
  profile_with with;
  bool model, times;
  bool addresses; /* with cachegrind by address as well; with times: launch for a tracer instead */
  options_format format;
} profile_cpu_job;

/* Rows to the stream.  Without counters a warning says why, and the model stands alone.
 * Errors: those of the engine, the model and cachegrind; MD_EINVAL (neither counters nor model). */
md_status profile_cpu(const profile_cpu_job *job, FILE *stream);

/* What is printed, an atom and computation of forces; NaN: not counted, or not modelled. */
#define PROFILE_CPU_QUANTITIES(X)                                                                  \
  X(CYCLES, "cycles_per_atom")                                                                     \
  X(INSTRUCTIONS, "instructions_per_atom")                                                         \
  X(LOADS, "loads_per_atom")                                                                       \
  X(L1_LOAD_MISSES, "l1_load_misses_per_atom")                                                     \
  X(L1_MISSES, "l1_misses_per_atom")                                                               \
  X(LLC_LOAD_MISSES, "llc_load_misses_per_atom")                                                   \
  X(LLC_MISSES, "llc_misses_per_atom")                                                             \
  X(DTLB_LOAD_MISSES, "dtlb_load_misses_per_atom")                                                 \
  X(ARRAY_ACCESSES, "array_accesses_per_atom") /* from here on by address: addresses.h */          \
  X(ARRAY_DIFFERENCES, "array_differences_per_atom")                                               \
  X(OTHER_ACCESSES, "other_accesses_per_atom")                                                     \
  X(L1_ARRAY_MISSES, "l1_array_misses_per_atom")                                                   \
  X(LLC_ARRAY_MISSES, "llc_array_misses_per_atom")                                                 \
  X(L1_TRACED_MISSES, "l1_traced_misses_per_atom") /* in arrays or not */                          \
  X(LLC_TRACED_MISSES, "llc_traced_misses_per_atom")
#define MD_ENUM_(name, word) PROFILE_CPU_##name,
typedef enum { PROFILE_CPU_QUANTITIES(MD_ENUM_) PROFILE_CPU_QUANTITY_COUNT } profile_cpu_quantity;
#undef MD_ENUM_

typedef double profile_cpu_figures[PROFILE_CPU_QUANTITY_COUNT];
void profile_cpu_of_perf(const perf_reading *readings, double atoms, profile_cpu_figures out);
/* counts of `launches` computations. */
void profile_cpu_of_cachegrind(const int64_t *counts, double launches, double atoms,
                               profile_cpu_figures out);
void profile_cpu_of_model(const hierarchy_result *result, neighbor_kind kind, int levels,
                          profile_cpu_figures out);

MD_END_C
#endif
